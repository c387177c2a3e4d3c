"""A configuration in Tidemark's own words, as a scenario's sections write it."""
from dataclasses import dataclass
from typing import Optional

import framework


class Unknown(Exception):
    """A key or value that this client does not know."""


@dataclass(frozen=True)
class Config:
    architecture: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    max_positions: int
    tied_embeddings: bool
    qkv_bias: bool
    dropout: float
    micro_batch: int
    sequence: int
    micro_batches: int
    precision: str
    optimizer: str
    attention: str
    causal: str
    norm: str
    loss: str
    keep_logits: bool
    optimizer_kernel: str
    dropout_mask: str
    accumulate: str
    mean: str
    autocast_attention: str
    replayed: str
    keep_gradients: bool
    keep: Optional[tuple]  # of a selective checkpoint; None: not selective
    every_second: bool
    checkpoint_every: int
    reentrant: bool
    early_stop: bool


CHOICES = {
    "architecture": ("gpt", "gpt2", "llama", "cs336"),
    "precision": ("fp32", "bf16", "bf16-mixed", "autocast"),
    "optimizer": ("adamw", "sgd", "sgd-momentum"),
    "attention": ("eager", "flash"),
    "causal": ("fill", "fill_inplace", "mask", "fused"),
    "norm": ("eager", "fused"),
    "loss": ("native", "fp32", "fp32_shift"),
    "optimizer_kernel": ("single", "foreach", "foreach2x", "fused"),
    "dropout_mask": ("bool", "dtype"),
    "accumulate": ("inplace", "out_of_place"),
    "mean": ("2.x", "1.13"),
    "autocast_attention": ("2.x", "1.13"),
    "replayed": ("2.x", "1.13"),
}


KEPT = ("matmul", "batched_matmul", "attention", "softmax", "dropout")


def parse(document):
    """Reads {model, training, kernels, checkpoint}; every key but the model's sizes is optional."""
    document = {section: dict(document.get(section) or {})
                for section in ("model", "training", "kernels", "checkpoint")}
    model, training, kernels, checkpoint = document.values()
    heads = model["heads"]
    torch_version = str(kernels.pop("torch", "2.x"))
    architecture = model.pop("architecture")
    selective = checkpoint.get("policy") == "ops"
    replay = checkpoint.pop("replay", "block") if selective else "block"
    config = Config(
        architecture=architecture,
        layers=model.pop("layers"),
        hidden=model["hidden"],
        heads=heads,
        kv_heads=model.pop("kv_heads", heads),
        head_dim=model.pop("head_dim", model["hidden"] // heads),
        ffn=model.pop("ffn", 4 * model["hidden"]),
        vocab=model.pop("vocab"),
        max_positions=model.pop("max_positions", training["sequence"]),
        tied_embeddings=model.pop("tied_embeddings", False),
        qkv_bias=model.pop("qkv_bias", False),
        dropout=float(model.pop("dropout", 0.0)),
        micro_batch=training.pop("micro_batch", 1),
        sequence=training.pop("sequence"),
        micro_batches=training.pop("micro_batches", 1),
        precision=training.pop("precision", "bf16-mixed"),
        optimizer=training.pop("optimizer", "adamw"),
        attention=kernels.pop("attention", "eager"),
        causal=kernels.pop("causal", "fill" if architecture == "gpt" else "mask"),
        norm=kernels.pop("norm", "eager"),
        loss=kernels.pop("loss", "fp32"),
        keep_logits=kernels.pop("keep_logits", False),
        optimizer_kernel=kernels.pop("optimizer", "single"),
        dropout_mask=kernels.pop("dropout_mask", "bool"),
        accumulate=kernels.pop("accumulate",
                               "out_of_place" if torch_version == "1.13" else "inplace"),
        mean=str(kernels.pop("mean", torch_version)),
        autocast_attention=str(kernels.pop("autocast_attention", torch_version)),
        replayed=str(kernels.pop("replayed", torch_version)),
        keep_gradients=kernels.pop("zero_grad", "set_to_none") == "keep",
        keep=_kept(checkpoint),
        every_second=checkpoint.pop("every_second", False),
        checkpoint_every=_every(checkpoint),
        reentrant=checkpoint.pop("reentrant", not selective),
        early_stop=checkpoint.pop("early_stop", torch_version != "1.13"),
    )
    del model["hidden"], model["heads"]
    for section, rest in document.items():
        if rest:
            raise Unknown(f"unknown keys in {section}: {', '.join(sorted(rest))}")
    if config.architecture in ("gpt2", "cs336") and config.attention != "eager":
        raise Unknown(f"{config.architecture} has eager attention only")
    if selective and not framework.LATER:
        raise Unknown("selective checkpoints are of 2.x")
    if selective and (config.reentrant or replay != "block"):
        raise Unknown("selective checkpoints are not reentrant, and replay blocks")
    handed_over = config.replayed == "2.x"
    if handed_over != config.early_stop and not (config.reentrant or framework.LATER):
        raise Unknown("on PyTorch 1.13 replays that stop early hand over what they make, others do "
                      "not: early_stop and replayed go together")
    for key, known in CHOICES.items():
        if getattr(config, key) not in known:
            raise Unknown(f"{key}: {getattr(config, key)!r} is none of {', '.join(known)}")
    return config


def _kept(checkpoint):
    """The kinds of op that a selective checkpoint caches; None where there is none."""
    if checkpoint.get("policy") != "ops":
        return None
    kept = checkpoint.pop("keep", ["matmul", "attention"])
    unknown = [kind for kind in kept if kind not in KEPT]
    if unknown:
        raise Unknown(f"keep: {unknown[0]!r} is none of {', '.join(KEPT)}")
    return tuple(kept)


def _every(checkpoint):
    policy = checkpoint.pop("policy", "none")
    n = checkpoint.pop("n", 1)
    if policy not in ("none", "full", "ops", "every-n"):
        raise Unknown(f"checkpoint policy {policy!r}")
    return {"none": 0, "full": 1, "ops": 1, "every-n": n}[policy]
