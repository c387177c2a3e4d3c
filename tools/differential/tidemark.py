"""Runs configurations through the tidemark command, many in one scenario."""
import json
import subprocess
import tempfile

HARDWARE = "{base: h200, hbm: {capacity: 1 TB}, runtime: {context: 0 B, workspace: 0 B}}"


class Failed(Exception):
    """The command refused a scenario or broke; the text is what it said."""


def scenario(documents, names):
    """One strategy a configuration; each writes every key that its architecture has, so that
    nothing is inherited. All must be of one architecture."""
    lines = ["name: differential", f"model: {json.dumps(documents[0]['model'])}",
             f"training: {json.dumps(documents[0]['training'])}", f"hardware: {HARDWARE}",
             "strategies:"]
    for document, name in zip(documents, names):
        lines.append(f"  - name: {json.dumps(name)}")
        lines += [f"    {section}: {json.dumps(document[section])}" for section in document]
    return "\n".join(lines) + "\n"


def run(command, documents):
    """The result of each configuration in the words of `measure.measure`."""
    names = [str(i) for i in range(len(documents))]
    results = [None] * len(documents)
    for architecture in sorted({d["model"]["architecture"] for d in documents}):
        chosen = [i for i, d in enumerate(documents) if d["model"]["architecture"] == architecture]
        text = scenario([documents[i] for i in chosen], [names[i] for i in chosen])
        for entry in _run(command, text)["runs"]:
            results[int(entry["strategy"])] = _result(entry)
    return results


def _run(command, text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([command, "run", file.name, "--json", "-"], text=True,
                              capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {done.stderr.strip()}\n{text}")
    return json.loads(done.stdout)


def _result(entry):
    hbm = entry["ranks"][0]["tiers"]["hbm"]
    return {"parameters": entry["parameters"], "live_begin": hbm["start_bytes"],
            "live_end": hbm["end_bytes"], "live_after": hbm["live_after"],
            "peaks": {phase: {"bytes": n} for phase, n in hbm["phase_peaks"].items()},
            "first_step_peak": hbm["first_step_peak_bytes"],
            "saved_per_layer": hbm["saved_per_layer_bytes"],
            "peak": {"bytes": hbm["peak_bytes"], "phase": hbm["peak"]["phase"],
                     "op": hbm["peak"]["op"]}}
