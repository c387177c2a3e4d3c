"""Which storage lives from which operation to which, seen from outside.

A tap (taps.py) sees every kernel that PyTorch issues. Each storage that a kernel returns is
remembered by a weak reference only; before every following kernel the mode asks which of them
have died. So a storage lives from the kernel that returned it to the last kernel that ran while
it was still there:

    op 4  mm        returns A             A: born 4
    op 5  gelu      returns B             B: born 5
    op 6  add       (A is gone by now)    A: died 5

What a kernel allocates and releases inside itself is not seen; workspaces.py adds the large ones.
"""
import contextlib
import ctypes
from dataclasses import dataclass
from typing import Optional

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_flatten

import framework
import multi_tensor
import taps
import workspaces

LASTING = frozenset({"parameters", "master_weights", "optimizer_state", "inputs", "constants"})


@dataclass(eq=False)
class Storage:
    """Bytes that live from op `born` to op `died` (None: still there)."""
    size: int
    born: int
    phase: str
    place: str
    replay: int            # number of the replayed segment that made it; 0: none did
    dtype: str
    shape: tuple
    op: str
    category: Optional[str] = None
    died: Optional[int] = None
    weight_copy: bool = False

    def alive_at(self, op):
        return self.born <= op and (self.died is None or self.died >= op)


@dataclass(frozen=True)
class OpRecord:
    """`live`: bytes alive when the op started plus those it returned."""
    name: str
    phase: str
    place: str
    live: int
    made: tuple


class Lifetimes:
    """accumulate: 'out_of_place' leaves sums of gradients as 1.13 does them; 'inplace' lets the
    first addend take the sum where later versions would (see `_owns_itself`). Those do it
    themselves."""

    def __init__(self, accumulate):
        self.inplace = accumulate == "inplace" and not framework.LATER
        self._tap = (taps.Key if framework.LATER else taps.Mode)(self._see)
        self.phase = "build"
        self.place = ""
        self.live = 0
        self.ops = []
        self.storages = []
        self.replay_ends = {}
        self._replay = 0
        self._watched = {}   # weak pointer -> (weak reference, Storage), may die at any op
        self._lasting = {}   # the same for what lives across steps, asked at borders only

    def __enter__(self):
        self._tap.__enter__()
        return self

    def __exit__(self, *error):
        return self._tap.__exit__(*error)

    def under(self, mode):
        """A dispatch mode of the script's, and this still sees the kernels that it lets through."""
        return taps.Under(self._see, mode)

    # ---- labels ----
    @contextlib.contextmanager
    def at(self, place):
        before, self.place = self.place, place
        try:
            yield
        finally:
            self.place = before

    @contextlib.contextmanager
    def segment(self):
        """Around a checkpointed stretch; yields whether it is being replayed by backward."""
        if self.phase != "backward":
            yield False
            return
        number = len(self.replay_ends) + 1
        self.replay_ends[number] = None
        self.phase, self._replay = "recompute", number
        try:
            yield True
        finally:
            self.phase, self._replay = "backward", 0
            self.replay_ends[number] = len(self.ops) - 1

    def label_backward(self, tensor, place):
        """Backward is at `place` once it has the whole gradient of `tensor`."""
        def arrived(_):
            self.place = place
        if tensor.requires_grad:
            tensor.register_hook(arrived)

    def border(self, phase):
        """Ends one phase and begins another; returns the bytes alive in between."""
        self._bury(self._watched)
        self._bury(self._lasting)
        self.phase = phase
        return self.live

    def declare(self, tensor, category, replaced=False):
        """Names what the bytes of a tensor are for; `replaced`: it may die within a step although
        things of its category otherwise last."""
        if tensor is None or tensor.device.type != framework.DEVICE:
            return
        key, storage = self._note(tensor, "made outside")[:2]
        storage.category = category
        if category in LASTING and not replaced and key in self._watched:
            self._lasting[key] = self._watched.pop(key)

    # ---- what happens ----
    def _see(self, name, func, args, kwargs):
        if name.startswith("profiler."):
            return func(*args, **kwargs)
        self._bury(self._watched)
        if name == "aten.detach.default" and not isinstance(args[0], torch.Tensor):
            # A saved Python number that the non-reentrant checkpoint detaches: a host scalar.
            return torch.scalar_tensor(args[0])
        made = [s for _, s, fresh in map(self._note_operand, _tensors((args, kwargs))) if fresh]
        if name.startswith("aten._foreach_") and not framework.LATER:
            result = multi_tensor.run(name, args, kwargs)
        elif self.inplace and self._is_gradient_sum(name, args, kwargs):
            name = "aten.add_.Tensor"
            result = args[0].add_(args[1])
        else:
            result = func(*args, **kwargs)
        for tensor in _tensors(result):
            _, storage, fresh = self._note(tensor, name)
            if fresh:
                made.append(storage)
                if name == "aten._to_copy.default":
                    storage.weight_copy = self._is_parameter(args[0])
        live = self.live + workspaces.of(name, args)
        self.ops.append(OpRecord(name, self.phase, self.place, live, tuple(made)))
        return result

    def _note_operand(self, tensor):
        return self._note(tensor, "made outside")

    def _note(self, tensor, op):
        untyped = _storage(tensor)
        key = untyped._cdata
        known = self._watched.get(key) or self._lasting.get(key)
        if known:
            return key, known[1], False
        size = 0 if self._counts_steps(tensor) else untyped.nbytes()
        storage = Storage(size, len(self.ops), self.phase, self.place, self._replay,
                          str(tensor.dtype).split(".")[1], tuple(tensor.shape), op)
        self._watched[key] = (StorageWeakRef(untyped), storage)
        self.storages.append(storage)
        self.live += storage.size
        return key, storage, True

    def _counts_steps(self, tensor):
        """The fused optimizer of later versions keeps its step counts on the device, four bytes a
        parameter; Tidemark leaves them out."""
        return framework.LATER and self.phase == "optimizer" and tensor.dim() == 0

    def _bury(self, pool):
        for key in [key for key, (weak, _) in pool.items() if weak.expired()]:
            _, storage = pool.pop(key)
            storage.died = len(self.ops) - 1
            self.live -= storage.size

    def _is_parameter(self, tensor):
        known = self._lasting.get(_storage(tensor)._cdata)
        return known is not None and known[1].category == "parameters"

    def _is_gradient_sum(self, name, args, kwargs):
        if name != "aten.add.Tensor" or self.phase != "backward" or torch.is_grad_enabled():
            return False
        first, second = args[0], args[1]
        return (not kwargs and isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)
                and first.shape == second.shape and first.dtype == second.dtype
                and _owns_itself(first))


def _storage(tensor):
    return tensor.untyped_storage() if framework.LATER else tensor.storage()


def _tensors(tree):
    return [t for t in tree_flatten(tree)[0]
            if isinstance(t, torch.Tensor) and t.device.type == framework.DEVICE]


def _owners(tensor):
    """Owners of the tensor and of its storage: the first word after the vtable pointer of the
    C++ objects (c10/util/intrusive_ptr.h)."""
    word = ctypes.sizeof(ctypes.c_void_p)
    return tuple(ctypes.c_size_t.from_address(address + word).value
                 for address in (tensor._cdata, tensor.storage()._cdata))


_unshared = None


def _owns_itself(tensor):
    """Later versions add in place where nobody else holds the first addend or its storage
    (torch/csrc/autograd/input_buffer.cpp, `can_accumulate_inplace`)."""
    return _owners(tensor) == _unshared


def calibrate():
    """Learns how many owners the engine's own first addend has when nobody else holds it."""
    global _unshared
    seen = []

    def look(name, func, args, kwargs):
        if name == "aten.add.Tensor":
            seen.append(_owners(args[0]))
        return func(*args, **kwargs)

    leaf = torch.ones(2, requires_grad=True)
    middle = leaf.exp()
    end = middle.sin().sum().mul(middle.cos().sum())
    with taps.Mode(look):
        end.backward()
    _unshared = seen[0]
