"""The Python module, and files that Python reads: run by ctest with the program as TIDEMARK."""

import io
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "python"))
import tidemark  # noqa: E402

SEVEN = ROOT / "scenarios" / "7b-on-80gb.yaml"
EVERY_BLOCK = "checkpoint every block"


class PlainUnpickler(pickle.Unpickler):
    """Reads data, and no class or function."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")


class Records(unittest.TestCase):
    def test_a_run_is_a_record_with_dotted_names(self):
        records = tidemark.run(SEVEN)
        by_name = {record["strategy"]: record for record in records}
        everything = by_name["keep everything"]
        self.assertFalse(everything["fits"])
        self.assertEqual(everything["scenario"], "7B on one 80 GB GPU")
        # Busy times and stalls add up to the step.
        waits = sum(value for key, value in everything.items() if key.startswith("stall_s."))
        self.assertAlmostEqual(everything["busy_s"] + waits, everything["step_time_s"], places=9)
        self.assertEqual(everything["out_of_memory.tier"], "hbm")

    def test_settings_and_strategies_reach_the_program(self):
        [one] = tidemark.run(SEVEN, EVERY_BLOCK)
        [four] = tidemark.run(SEVEN, [EVERY_BLOCK], {"training.micro_batch": 4})
        self.assertEqual(one["strategy"], EVERY_BLOCK)
        self.assertEqual(four["model_flops"], 4 * one["model_flops"])

    def test_a_ledger_has_the_states_of_the_model(self):
        records = tidemark.ledger(SEVEN, EVERY_BLOCK)
        states = sum(record["bytes"] for record in records if record["kind"] == "state")
        self.assertEqual(states, 112_000_000_000)  # 16 bytes a parameter of 7 billion
        softmax = [r for r in records if r["kind"] == "saved" and r["name"] == "_softmax"]
        # fp32 or bf16 scores of 32 heads, 2048 x 2048.
        self.assertEqual(softmax[0]["shape"].split("x")[-2:], ["2048", "2048"])

    def test_a_comparison_has_a_record_a_policy(self):
        records = tidemark.compare(ROOT / "scenarios" / "checkpoint-policies.yaml", "keep everything",
                                   policies=["none", "full"])
        self.assertEqual([record["policy"] for record in records], ["none", "full"])
        self.assertEqual(records[0]["recompute_s"], 0)
        self.assertLess(records[1]["hbm_peak_bytes"], records[0]["hbm_peak_bytes"])

    def test_one_name_stands_for_a_list_of_one(self):
        scenario = ROOT / "scenarios" / "checkpoint-policies.yaml"
        for policies in ("full", ["full"], ("full",)):
            records = tidemark.compare(scenario, "keep everything", policies=policies)
            self.assertEqual([record["policy"] for record in records], ["full"])
        records = tidemark.compare(scenario, "keep everything", "none,full")
        self.assertEqual([record["policy"] for record in records], ["none", "full"])
        one = tidemark.run_json(SEVEN, EVERY_BLOCK, extra="--why-not-fit")
        self.assertIn("remedies", one["runs"][0])

    def test_an_explanation_has_a_record_a_tensor_and_the_same_figures_as_the_json(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "small.yaml"
            scenario.write_text(
                "model: {architecture: gpt, layers: 2, hidden: 256, heads: 4, vocab: 512,\n"
                "  max_positions: 128}\ntraining: {sequence: 128}\nhardware: a100-80gb-sxm\n"
                "strategies: [{name: core, checkpoint: selective}]\n", encoding="utf-8")
            records = tidemark.explain(scenario)
            [run] = tidemark.explain_json(scenario)["runs"]
        tensors = [tensor for group in run["blocks"] for tensor in group["tensors"]]
        of_blocks = [record for record in records if record["blocks"]]
        self.assertEqual([record["tensor"] for record in of_blocks], [t["name"] for t in tensors])
        self.assertEqual([record["bytes"] for record in of_blocks], [t["bytes"] for t in tensors])
        self.assertTrue(any(record["fate"] == "made_again" for record in of_blocks))
        for record in records:
            self.assertEqual(record["recompute_s"] is not None, record["fate"] == "made_again")

    def test_every_topic_has_names_and_no_name_twice(self):
        for topic in ("models", "hardware", "policies", "strategies", "allocators", "keys"):
            rows = tidemark.names(topic)
            found = [row["name"] for row in rows]
            self.assertEqual(len(found), len(set(found)), topic)
            self.assertTrue(all(row["description"] for row in rows), topic)
        [every_n] = [row for row in tidemark.names("policies") if row["name"] == "every-n"]
        self.assertEqual([option["name"] for option in every_n["options"]][:1], ["n"])

    def test_sensitivity_has_figures_and_needed_rates(self):
        records = tidemark.sensitivity(SEVEN, "checkpoint + optimizer on NVMe")
        self.assertEqual({record["kind"] for record in records}, {"figure", "needed"})
        [write] = [r for r in records if r["kind"] == "figure" and r["name"] == "nvme_write"]
        self.assertEqual(write["to_per_s"], write["from_per_s"] * 11 // 10)

    def test_a_timeline_ends_where_the_report_says_and_peaks_there(self):
        records = tidemark.timeline(SEVEN, EVERY_BLOCK)
        levels, peak = {}, 0
        for record in records:
            if record["tier"] == "hbm":
                levels[record["category"]] = record["bytes"]
                peak = max(peak, sum(levels.values()))
        [run] = tidemark.run(SEVEN, EVERY_BLOCK)
        self.assertEqual(peak, run["hbm.peak_bytes"])
        self.assertEqual(sum(levels.values()), run["hbm.end_bytes"])

    def test_faults_are_told_with_what_the_program_said(self):
        with self.assertRaises(tidemark.TidemarkError) as caught:
            tidemark.run(SEVEN, "keep evrything")
        self.assertIn("did you mean 'keep everything'", str(caught.exception))
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaisesRegex(tidemark.TidemarkError, "there is no program"):
            tidemark.run(SEVEN, program="/nowhere/tidemark")
        with self.assertRaisesRegex(tidemark.TidemarkError, "runs: name one strategy"):
            tidemark.timeline(SEVEN)


class Snapshots(unittest.TestCase):
    def test_python_reads_the_pickle_without_any_class_and_as_the_json(self):
        scenario = ROOT / "scenarios" / "fragmentation.yaml"
        with tempfile.TemporaryDirectory() as folder:
            tidemark._call(["run", str(scenario), "--out", folder,
                            "--out-files", "snapshot.pickle,snapshot.json"])
            pickles = sorted(pathlib.Path(folder).glob("*.snapshot.pickle"))
            self.assertGreaterEqual(len(pickles), 2)
            for file in pickles:
                read = PlainUnpickler(io.BytesIO(file.read_bytes())).load()
                text = file.with_suffix(".json").read_text(encoding="utf-8")
                self.assertEqual(read, json.loads(text))
                self.assertEqual(set(read), {"segments", "device_traces", "allocator_settings",
                                             "external_annotations"})
                for segment in read["segments"]:
                    self.assertEqual(sum(block["size"] for block in segment["blocks"]),
                                     segment["total_size"])

    def test_a_snapshot_is_a_dictionary(self):
        snapshot = tidemark.snapshot(SEVEN, "checkpoint + optimizer on the host")
        frames = [event["frames"] for event in snapshot["device_traces"][0]]
        self.assertIn("block 31", {frame["filename"] for each in frames for frame in each})


class Plot(unittest.TestCase):
    def test_the_example_draws_a_picture(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("matplotlib is not installed")
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "memory.png"
            subprocess.run([sys.executable, str(ROOT / "tools" / "python" / "plot_memory.py"),
                            str(SEVEN), EVERY_BLOCK, str(target)], check=True)
            self.assertEqual(target.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
