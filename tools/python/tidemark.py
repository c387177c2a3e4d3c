"""Runs Tidemark and gives back what it found as lists of dictionaries, which pandas takes as they are.

    import pandas, tidemark
    runs = pandas.DataFrame(tidemark.run("scenarios/7b-on-80gb.yaml"))
    print(runs[["strategy", "fits", "step_time_s", "hbm.peak_bytes"]])

Needs Python 3.8 or later and nothing else. The program is looked for in the environment variable
TIDEMARK, then on the PATH; every function takes another as `program`.
"""

import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile

__all__ = ["TidemarkError", "compare", "explain", "explain_json", "ledger", "names", "run",
           "run_json", "sensitivity", "snapshot", "timeline"]


class TidemarkError(RuntimeError):
    """What the program said on standard error; `status` is its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def _call(arguments, program=None):
    program = program or os.environ.get("TIDEMARK", "tidemark")
    try:
        done = subprocess.run([str(program), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", check=False)
    except FileNotFoundError as error:
        raise TidemarkError(f"there is no program '{program}': set TIDEMARK", None) from error
    if done.returncode != 0:
        raise TidemarkError(done.stderr.strip(), done.returncode)
    return done.stdout


def _arguments(command, scenario, strategies, settings):
    arguments = [command, os.fspath(scenario)]
    for name in [strategies] if isinstance(strategies, str) else strategies or ():
        arguments += ["--strategy", name]
    for key, value in (settings or {}).items():
        text = str(value).lower() if isinstance(value, bool) else value
        arguments += ["--set", f"{key}={text}"]
    return arguments


def _list(names):
    """What an option takes with commas between: a string as it is, or a string for each of several."""
    return names if isinstance(names, str) else ",".join(names)


def _value(text):
    """A cell of a CSV file: a number, True, False, None where it is empty, or text."""
    if text == "":
        return None
    if text in ("true", "false"):
        return text == "true"
    if text.lstrip("-")[:1].isdigit():  # "nan" and "infinity" are names to us
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                pass
    return text


def _records(text):
    return [{key: _value(cell) for key, cell in row.items()}
            for row in csv.DictReader(io.StringIO(text))]


def _flat(value, name, record):
    if isinstance(value, dict):
        for key, each in value.items():
            _flat(each, f"{name}.{key}" if name else key, record)
    elif not isinstance(value, list):  # lists are tables of their own: see run_json()
        record[name] = value


def run_json(scenario, strategies=None, settings=None, program=None, extra=()):
    """The result JSON of `tidemark run` as it is (tools/schema/result.schema.json). `extra`: more
    arguments of the command, a string each."""
    arguments = _arguments("run", scenario, strategies, settings)
    arguments += [extra] if isinstance(extra, str) else extra
    return json.loads(_call([*arguments, "--json", "-"], program))


def run(scenario, strategies=None, settings=None, program=None):
    """A record a run: "strategy", swept keys by their dotted names, "step_time_s", "fits", and what
    the GPU's rank has, such as "hbm.peak_bytes", "stall_s.pcie_d2h" and "traffic_bytes.pcie_h2d".

    `settings` is what --set takes: {"training.micro_batch": 4}.
    """
    result = run_json(scenario, strategies, settings, program)
    records = []
    for each in result["runs"]:
        record = {"scenario": result["scenario"]}
        ranks = each.pop("ranks")
        point = each.pop("point")
        _flat(each, "", record)
        record.update(point)
        for tier, held in ranks[0]["tiers"].items():
            _flat(held, tier, record)
        _flat(ranks[0]["compute"], "", record)
        _flat(ranks[0]["traffic_bytes"], "traffic_bytes", record)
        _flat(ranks[0]["allocator"], "allocator", record)
        records.append(record)
    return records


def compare(scenario, strategy=None, policies=None, budgets=None, settings=None, program=None):
    """A record a checkpoint policy, as `tidemark compare --csv` has them.

    `policies` and `budgets` are names and sizes, or one string: "full", ["full", "layered"],
    "40GB,60GB".
    """
    arguments = _arguments("compare", scenario, strategy, settings)
    if policies:
        arguments += ["--policies", _list(policies)]
    if budgets:
        arguments += ["--budgets", _list(budgets)]
    return _records(_call([*arguments, "--csv", "-"], program))


def ledger(scenario, strategies=None, settings=None, program=None):
    """A record a state, a saved tensor, the policy and an option, as `tidemark ledger --csv` has them."""
    arguments = _arguments("ledger", scenario, strategies, settings)
    return _records(_call([*arguments, "--csv", "-"], program))


def sensitivity(scenario, strategies=None, settings=None, program=None):
    """A record a figure of the machine and a rate needed, as `tidemark sensitivity --csv` has them."""
    arguments = _arguments("sensitivity", scenario, strategies, settings)
    return _records(_call([*arguments, "--csv", "-"], program))


def explain(scenario, strategies=None, settings=None, program=None):
    """A record a tensor of each kind of block: its "fate", "bytes", and how long it is in HBM, as
    `tidemark explain --csv` has them."""
    arguments = _arguments("explain", scenario, strategies, settings)
    return _records(_call([*arguments, "--csv", "-"], program))


def explain_json(scenario, strategies=None, settings=None, program=None):
    """The peak, what holds each run up and what helps most, as `tidemark explain --json` has them."""
    arguments = _arguments("explain", scenario, strategies, settings)
    return json.loads(_call([*arguments, "--json", "-"], program))


def names(topic, program=None):
    """A record a name that a scenario may use: "kind", "name", "description" and "options"; `topic`
    is one of `tidemark list`, such as "hardware" or "policies"."""
    return json.loads(_call(["list", topic, "--json", "-"], program))["rows"]


def _file_of_run(name, scenario, strategy, settings, program):
    with tempfile.TemporaryDirectory() as folder:
        arguments = _arguments("run", scenario, strategy, settings)
        _call([*arguments, "--out", folder, "--out-files", name], program)
        files = list(pathlib.Path(folder).iterdir())
        if len(files) != 1:
            raise TidemarkError(f"{len(files)} runs: name one strategy, and set what is swept", None)
        return files[0].read_text(encoding="utf-8")


def timeline(scenario, strategy=None, settings=None, program=None):
    """A record each time that memory changes in one run's step: "time_s", "tier", "category" and
    "bytes", which the category holds in the tier from then on."""
    return _records(_file_of_run("timeline.csv", scenario, strategy, settings, program))


def snapshot(scenario, strategy=None, settings=None, program=None):
    """One run's memory snapshot as torch.cuda.memory._snapshot() would give it."""
    return json.loads(_file_of_run("snapshot.json", scenario, strategy, settings, program))
