"""A configuration and its result as one row of tests/data/autograd/*.csv."""

CONFIG = {
    "model": ["architecture", "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab",
              "max_positions", "tied_embeddings", "qkv_bias", "dropout"],
    "training": ["micro_batch", "sequence", "micro_batches", "precision"],
    "kernels": ["attention", "causal", "norm", "loss", "keep_logits", "optimizer", "dropout_mask",
                "accumulate", "mean", "zero_grad"],
    "checkpoint": ["n", "reentrant"],
}
PHASES = ["forward", "backward", "optimizer"]
RESULT = (["parameters", "live_begin"] + [f"live_after_{p}" for p in PHASES] + ["live_end"]
          + [f"peak_{p}" for p in PHASES] + [f"peak_{p}_op" for p in PHASES]
          + ["peak_phase", "first_step_peak", "saved_per_layer", "weight_copies_per_layer"])
COLUMNS = (["name", "evidence"] + [key if section != "checkpoint" else f"checkpoint_{key}"
                                   for section, keys in CONFIG.items() for key in keys] + RESULT)
COLUMNS = ["optimizer_kernel" if c == "optimizer" else c for c in COLUMNS]

DEFAULTS = {"attention": "eager", "causal": "mask", "norm": "eager", "dropout_mask": "bool",
            "qkv_bias": False, "dropout": 0, "n": 0, "reentrant": True, "micro_batches": 1}


def row(name, evidence, document, result):
    cells = {"name": name, "evidence": evidence}
    for section, keys in CONFIG.items():
        for key in keys:
            column = {"n": "checkpoint_n", "reentrant": "checkpoint_reentrant",
                      "optimizer": "optimizer_kernel"}.get(key, key)
            default = document["model"]["heads"] if key == "kv_heads" else DEFAULTS.get(key)
            cells[column] = _text(document[section].get(key, default))
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
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value
