"""Two training steps of a configuration without memory: what was alive, when and why."""
import gc
import statistics
from collections import defaultdict

import torch

import framework
import lifetimes
import networks
import parts
import updates

PHASES = ("forward", "backward", "optimizer")


def measure(config):
    """A dictionary with the parameters and, for the second step, live bytes at the borders of the
    phases, the peak of each phase, bytes saved per layer; and the first step's peak."""
    gc.collect()
    gc.disable()  # cycles must not be swept at a moment that depends on earlier runs
    try:
        watch, step_of, count = _run(config)
    finally:
        gc.enable()
    result = {"parameters": count, "first_step_peak": max(
        op.live for op in watch.ops[step_of[0]["first_op"]:step_of[1]["first_op"]])}
    result.update(_describe(watch, step_of[1]))
    return result


def record(config):
    """The watch and the borders of both steps, for printing them op by op."""
    gc.collect()
    gc.disable()
    try:
        return _run(config)
    finally:
        gc.enable()


def _run(config):
    framework.check(config)
    if not framework.LATER and lifetimes._unshared is None:
        lifetimes.calibrate()
    watch = lifetimes.Lifetimes(config.accumulate)
    precision = parts.Precision(config.precision)
    network = networks.ARCHITECTURES[config.architecture](config, precision, watch)
    parameters = list(network.parameters())
    update = updates.make(config, parameters)
    shape = (config.micro_batch, config.sequence)
    batch = [torch.empty(shape, dtype=torch.int64, device=framework.DEVICE) for _ in range(3)]
    update.declare(watch)
    for tensor in batch:
        watch.declare(tensor, "inputs")
    for tensor in network.constants:
        watch.declare(tensor, "constants")
    with watch:
        steps = [_step(config, watch, network, update, batch) for _ in range(2)]
    return watch, steps, sum(p.numel() for p in parameters)


def _step(config, watch, network, update, batch):
    """One step as a training script's loop body has it; returns its borders.

    With several micro-batches the script's names hold the last loss (and the logits that it keeps)
    until the next ones are assigned."""
    seen = {"first_op": len(watch.ops), "windows": defaultdict(list), "live_after": {},
            "live_begin": watch.border("idle")}

    def during(phase, work):
        watch.border(phase)
        watch.place = ""
        first = len(watch.ops)
        value = work()
        seen["windows"][phase].append((first, len(watch.ops)))
        return value

    def ended(phase):
        seen["live_after"][phase] = watch.border("idle")

    for _ in range(config.micro_batches):
        loss, kept = during("forward", lambda: _forward(network, batch))
        ended("forward")
        during("backward", loss.backward)
        ended("backward")
    for parameter in update.parameters:
        watch.declare(parameter.grad, "gradients")
    during("optimizer", lambda: update.step(watch))
    ended("optimizer")
    update.declare(watch)
    update.zero()
    del loss, kept
    seen["live_end"] = watch.border("idle")
    seen["end_op"] = len(watch.ops)
    return seen


def _forward(network, batch):
    with network.precision.context():
        return network(*batch)


def _describe(watch, step):
    out = {"live_begin": step["live_begin"], "live_end": step["live_end"],
           "live_after": step["live_after"], "peaks": {}}
    for phase in PHASES:
        ops = [op for first, end in step["windows"][phase] for op in range(first, end)]
        out["peaks"][phase] = _peak(watch, step, ops)
    out["peak"] = max(out["peaks"].values(), key=lambda p: p["bytes"])
    first, end = step["windows"]["forward"][-1]
    by_layer, copies = defaultdict(int), defaultdict(int)
    for storage in watch.storages:
        if first <= storage.born < end and _outlives(storage, end - 1):
            pool = copies if storage.weight_copy else by_layer
            if storage.place.startswith("layer"):
                pool[storage.place] += storage.size
    out["saved_per_layer"] = int(statistics.median(by_layer.values())) if by_layer else 0
    out["weight_copies_per_layer"] = int(statistics.median(copies.values())) if copies else 0
    return out


def _peak(watch, step, ops):
    """The first op at which most was alive."""
    top = max(ops, key=lambda op: watch.ops[op].live)
    record = watch.ops[top]
    by_category = defaultdict(int)
    for storage in watch.storages:
        if storage.alive_at(top):
            by_category[_category(watch, step, storage)] += storage.size
    return {"bytes": record.live, "op": short(record.name), "phase": record.phase,
            "layer": int(record.place[5:]) if record.place.startswith("layer") else -1,
            "place": record.place, "by_category": dict(by_category)}


def short(name):
    return name.replace("aten.", "").split(".")[0]


def _category(watch, step, storage):
    if storage.category:
        return storage.category
    if storage.phase == "forward":
        ends = [end - 1 for first, end in step["windows"]["forward"] if first <= storage.born < end]
        return "activations" if ends and _outlives(storage, ends[0]) else "temporaries"
    if storage.phase == "recompute":
        saved = _outlives(storage, watch.replay_ends[storage.replay])
        return "recomputed" if saved else "temporaries"
    return "temporaries"


def _outlives(storage, op):
    return storage.died is None or storage.died > op
