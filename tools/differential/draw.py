"""Configurations at random, and smaller ones that are still legal."""
import copy
import random

KERNELS = {  # architecture -> option -> values; the first is what shrinking goes back to
    "common": {
        "loss": ["fp32", "native", "fp32_shift"],
        "keep_logits": [False, True],
        "optimizer": ["single", "foreach", "foreach2x", "fused"],
        "accumulate": ["inplace", "out_of_place"],
        "mean": ["2.x", "1.13"],
        "zero_grad": ["set_to_none", "keep"],
    },
    "gpt": {
        "attention": ["eager", "flash"],
        "causal": ["fill", "fill_inplace", "fused"],
        "dropout_mask": ["bool", "dtype"],
    },
    "gpt2": {"dropout_mask": ["bool", "dtype"]},
    "llama": {"attention": ["eager", "flash"], "norm": ["eager", "fused"],
              "autocast_attention": ["2.x", "1.13"]},
    "cs336": {},
}
PRECISIONS = ["bf16-mixed", "fp32", "bf16", "autocast"]
SIZES = {"heads": [1, 2, 3, 4, 6, 8], "head_dim": [2, 4, 6, 8, 10, 16],
         "ffn": [1, 7, 16, 33, 64, 100, 256], "vocab": [2, 11, 50, 97, 512, 1000],
         "sequence": [2, 3, 5, 8, 16, 17, 33, 64], "micro_batch": [1, 2, 3, 4],
         "layers": [1, 2, 3, 4, 5]}


def options(architecture):
    return {**KERNELS["common"], **KERNELS[architecture]}


def draw(seed, architectures):
    """The configuration of a seed: the same on every machine and in every version of Python 3."""
    rng = random.Random(seed)
    architecture = rng.choice(architectures)
    size = {key: rng.choice(values) for key, values in SIZES.items()}
    heads, head_dim, sequence = size["heads"], size["head_dim"], size["sequence"]
    llama = architecture == "llama"
    kv_heads = rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    hidden = heads * head_dim
    if llama and rng.random() < 0.2:
        hidden = rng.choice([3, 12, 40])  # a head's width need not be hidden / heads
    slack, dropout, bias = rng.choice([0, 0, 3, 9]), rng.choice([0, 0.1]), rng.random() < 0.2
    model = {"architecture": architecture, "layers": size["layers"], "hidden": hidden,
             "heads": heads, "head_dim": head_dim, "ffn": size["ffn"], "vocab": size["vocab"],
             "max_positions": sequence + slack, "tied_embeddings": rng.choice([True, False])}
    if llama:
        model.update(kv_heads=kv_heads, qkv_bias=bias)
    elif architecture in ("gpt", "gpt2"):
        model["dropout"] = dropout
    training = {"micro_batch": size["micro_batch"], "sequence": sequence,
                "micro_batches": rng.choice([1, 1, 1, 2, 3]), "precision": rng.choice(PRECISIONS), "optimizer": "adamw"}
    kernels = {key: rng.choice(values) for key, values in options(architecture).items()}
    every = rng.choice([0, 0, 1, 2, 3])
    checkpoint = {"policy": "none", "reentrant": rng.choice([True, False])}
    if every:
        checkpoint.update(policy="every-n", n=every)
    if not checkpoint["reentrant"]:
        checkpoint["early_stop"] = rng.choice([True, False])
    kernels["replayed"] = "2.x" if checkpoint.get("early_stop") else "1.13"
    return {"model": model, "training": training, "kernels": kernels, "checkpoint": checkpoint}


LATER_RULES = {"accumulate": "inplace", "mean": "2.x", "autocast_attention": "2.x",
               "replayed": "2.x"}


def for_later(seed, document):
    """The same configuration under the rules of 2.x, with what only a later PyTorch is asked."""
    rng = random.Random(-1 - seed)
    kernels, model = document["kernels"], document["model"]
    kernels.update({key: rule for key, rule in LATER_RULES.items() if key in kernels})
    if kernels["optimizer"] == "foreach":
        kernels["optimizer"] = "foreach2x"
    optimizer = rng.choice(["adamw", "adamw", "sgd", "sgd-momentum"])
    document["training"]["optimizer"] = optimizer
    if optimizer != "adamw" and kernels["optimizer"] == "fused":
        kernels["optimizer"] = "single"  # the fused kernel that is held is AdamW's
    if kernels.get("attention") == "flash":
        if document["training"]["precision"] == "fp32":
            kernels["attention"] = "eager"  # flash attention takes 16 bits
        _widen_heads(model)
    return document


KEPT = ["matmul", "batched_matmul", "attention", "softmax", "dropout"]


def selectively(seed, document):
    """A configuration of 2.x with a selective checkpoint around each block."""
    rng = random.Random(f"selective {seed}")
    kernels = document["kernels"]
    keep = rng.sample(KEPT, rng.choice([0, 1, 1, 2, 2, 3, 5]))
    products = "batched_matmul" if document["model"]["architecture"] == "cs336" else "matmul"
    if products not in keep and rng.random() < 0.7:
        keep.insert(0, products)
    if kernels.get("causal") == "fused" and "softmax" in keep:
        keep.remove("softmax")  # an extension's own; here a list of the framework's ops
    if kernels.get("causal") == "fill_inplace" and "batched_matmul" in keep:
        kernels["causal"] = "fill"  # what has been written over is not replayed
    document["checkpoint"] = {"policy": "ops", "keep": keep,
                              "every_second": rng.choice([False, False, True]),
                              "early_stop": rng.choice([True, False])}
    return document


def _widen_heads(model):
    """Fused attention copies heads whose width is no multiple of 8 into wider ones."""
    width = -(-model["head_dim"] // 8) * 8
    if model["hidden"] == model["heads"] * model["head_dim"]:
        model["hidden"] = model["heads"] * width
    model["head_dim"] = width


def smaller(document):
    """Legal configurations with one thing smaller or plainer, the largest steps first."""
    for section, key, value in _steps(document):
        other = copy.deepcopy(document)
        other[section][key] = value
        if section == "checkpoint" and key == "policy":
            for option in ("n", "keep", "every_second"):
                other["checkpoint"].pop(option, None)
            other["checkpoint"].setdefault("reentrant", False)
        if section == "checkpoint" and key == "reentrant":
            other["checkpoint"].pop("early_stop", None)
        model = other["model"]
        if key in ("heads", "head_dim"):
            model["hidden"] = model["heads"] * model["head_dim"]
        if key == "heads" and "kv_heads" in model:
            model["kv_heads"] = model["heads"]
        if key == "sequence":
            model["max_positions"] = value
        yield other


def _steps(document):
    model, training, checkpoint = document["model"], document["training"], document["checkpoint"]
    if checkpoint["policy"] != "none":
        yield "checkpoint", "policy", "none"
    if checkpoint["policy"] == "ops":
        keep = checkpoint["keep"]
        yield from (("checkpoint", "keep", keep[:i] + keep[i + 1:]) for i in range(len(keep)))
        if checkpoint["every_second"]:
            yield "checkpoint", "every_second", False
    else:
        yield from (("checkpoint", "n", n) for n in range(1, checkpoint.get("n", 1)))
    if not checkpoint.get("reentrant", True):
        yield "checkpoint", "reentrant", True
    for key, values in options(model["architecture"]).items():
        if document["kernels"][key] != values[0]:
            yield "kernels", key, values[0]
    if training["precision"] != PRECISIONS[0]:
        yield "training", "precision", PRECISIONS[0]
    for key, plain in (("tied_embeddings", False), ("qkv_bias", False), ("dropout", 0),
                       ("max_positions", training["sequence"]), ("kv_heads", model["heads"])):
        if model.get(key, plain) != plain:
            yield "model", key, plain
    for section, key, least in (("model", "layers", 1), ("training", "micro_batches", 1),
                                ("training", "micro_batch", 1), ("training", "sequence", 2),
                                ("model", "heads", 1), ("model", "head_dim", 2),
                                ("model", "ffn", 1), ("model", "vocab", 2)):
        value = document[section][key]
        step = 2 if key == "head_dim" else 1  # rotary positions turn pairs
        halves = {least, value // 2 // step * step, value - step}
        yield from ((section, key, v) for v in sorted(halves) if least <= v < value)
