"""The non-reentrant checkpoint of PyTorch 2.1 and later, for PyTorch 1.13: as torch.utils.checkpoint
there has it, but that a replay ends where the last of the tensors that forward saved is caught.
torch/utils/checkpoint.py of 2.1: _recomputation_hook, _checkpoint_hook, _StopRecomputationError."""
import weakref

import torch
from torch.autograd.graph import saved_tensors_hooks


class StopRecomputation(RuntimeError):
    """1.13 makes another RuntimeError of it on its way through an op; the name stays."""


class Holder:
    pass


def checkpoint(function, *args):
    places = []  # weak references to what stands for each saved tensor, in order
    caught = weakref.WeakKeyDictionary()
    replayed = False

    def pack(_):
        holder = Holder()
        places.append(weakref.ref(holder))
        return holder

    def replay():
        count = 0

        def catch(inner):
            nonlocal count
            holder = places[count]()
            count += 1
            if holder is not None:
                caught[holder] = inner.detach()
            if count == len(places):
                raise StopRecomputation(StopRecomputation.__name__)

        def never(_):
            raise AssertionError("nothing goes back through a replay")

        try:
            with torch.enable_grad(), saved_tensors_hooks(catch, never):
                function(*args)
        except RuntimeError as error:
            if StopRecomputation.__name__ not in str(error):
                raise

    def unpack(holder):
        nonlocal replayed
        if not replayed:
            replayed = True
            replay()
        return caught.pop(holder)  # handed over: it goes with the node's kernels

    with saved_tensors_hooks(pack, unpack):
        return function(*args)
