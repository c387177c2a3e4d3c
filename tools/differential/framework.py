"""The PyTorch at hand: 1.13 on the meta device, or 2.1 and later on a CUDA device without memory.

On the meta device 1.13 does what it does on a GPU, but for the rules that came later. From 2.1 on
the engine does not sum gradients in place there, nor does autocast cast: the stand-in is for
that (stand_in/cuda.cpp)."""
import contextlib

import torch

import stand_in

VERSION = tuple(int(number) for number in torch.__version__.split("+")[0].split(".")[:2])
LATER = VERSION >= (2, 1)
DEVICE = "cuda" if LATER else "meta"

if LATER:
    stand_in.load()


class Unsupported(Exception):
    """A rule of another version than the one at hand."""


def check(config):
    """This PyTorch's own rules are the only ones that a later one can be held to."""
    if not LATER:
        return
    for key, rules in (("accumulate", ("inplace",)), ("mean", ("2.x",)),
                       ("autocast_attention", ("2.x",)), ("replayed", ("2.x",)),
                       ("optimizer_kernel", ("single", "foreach2x", "fused"))):
        if getattr(config, key) not in rules:
            raise Unsupported(f"PyTorch {torch.__version__} has no {key}: {getattr(config, key)}")


def autocast(enabled):
    if LATER and enabled:
        return torch.autocast(DEVICE, torch.bfloat16)
    return contextlib.nullcontext()
