"""A configuration and its result as one row of tests/data/autograd/*.csv."""
CONFIG = {
    "model": ["architecture", "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab",
              "max_positions", "tied_embeddings", "qkv_bias", "dropout"],
    "training": ["micro_batch", "sequence", "micro_batches", "precision", "optimizer"],
    "kernels": ["attention", "causal", "norm", "loss", "keep_logits", "optimizer", "dropout_mask",
                "accumulate", "mean", "zero_grad", "autocast_attention", "replayed"],
    "checkpoint": ["n", "reentrant", "early_stop"],
}
PHASES = ["forward", "backward", "optimizer"]
RESULT = (["parameters", "live_begin"] + [f"live_after_{p}" for p in PHASES] + ["live_end"]
          + [f"peak_{p}" for p in PHASES] + [f"peak_{p}_op" for p in PHASES]
          + ["peak_phase", "first_step_peak", "saved_per_layer", "weight_copies_per_layer"])


def _column(section, key):
    if section == "checkpoint":
        return f"checkpoint_{key}"
    return "optimizer_kernel" if (section, key) == ("kernels", "optimizer") else key


SELECTIVE = ["keep", "every_second"]  # more of `checkpoint`


def columns(selective):
    configuration = [_column(section, key) for section, keys in CONFIG.items() for key in keys]
    if selective:
        configuration += [_column("checkpoint", key) for key in SELECTIVE]
    return ["name", "evidence"] + configuration + RESULT


DEFAULTS = {"attention": "eager", "causal": "mask", "norm": "eager", "dropout_mask": "bool",
            "qkv_bias": False, "dropout": 0, "n": 0, "reentrant": True, "micro_batches": 1,
            "early_stop": False, "autocast_attention": "2.x"}


def row(name, evidence, document, result):
    cells = {"name": name, "evidence": evidence}
    for section, keys in CONFIG.items():
        for key in keys:
            column = _column(section, key)
            default = document["model"]["heads"] if key == "kv_heads" else DEFAULTS.get(key)
            cells[column] = _text(document[section].get(key, default))
    if document["checkpoint"]["policy"] == "ops":
        cells["checkpoint_n"], cells["checkpoint_reentrant"] = 1, "false"
        for key in SELECTIVE:
            cells[_column("checkpoint", key)] = _text(document["checkpoint"][key])
    for phase in PHASES:
        cells[f"live_after_{phase}"] = result["live_after"][phase]
        cells[f"peak_{phase}"] = result["peaks"][phase]["bytes"]
        cells[f"peak_{phase}_op"] = result["peaks"][phase]["op"]
    cells["peak_phase"] = result["peak"]["phase"]
    for key in ("parameters", "live_begin", "live_end", "first_step_peak", "saved_per_layer",
                "weight_copies_per_layer"):
        cells[key] = result[key]
    return cells


def _text(value):
    if isinstance(value, list):
        return " ".join(value)
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value
