"""Where the kernels that PyTorch issues are seen: `see(name, kernel, args, kwargs)` stands between
autograd and the device, and returns what the kernel returns."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    """For 1.13."""

    def __init__(self, see):
        super().__init__()
        self.see = see

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.see(str(func), func, args, kwargs or {})


class Key:
    """For 2.x, where the engine and many derivatives avoid work in place as soon as a mode is on
    (ATen/TensorSubclassLikeUtils.h). A dispatch key that nothing else uses, just below autograd,
    changes nothing."""

    _key = None
    _library = None
    _current = None

    def __init__(self, see):
        if Key._library is None:
            Key._key = torch._C._dispatch_key_parse("Fake")
            Key._library = torch.library.Library("_", "IMPL")
            Key._library.fallback(Key._seen, "Fake")
        self.see = see

    def __enter__(self):
        self.guard = torch._C._IncludeDispatchKeyGuard(Key._key)
        self.guard.__enter__()
        Key._current = self

    def __exit__(self, *error):
        Key._current = None
        self.guard.__exit__(*error)

    @staticmethod
    def _seen(kernel, *args, **kwargs):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(Key._key)):
            return Key._current.see(str(kernel), kernel, args, kwargs)


class Under:
    """While a mode of the script's own is on. The dispatcher then looks for Python kernels at that
    mode's interpreter and finds no fallback of Key's, so Key rests; a mode below the script's sees
    what the script's lets through."""

    def __init__(self, see, mode):
        self.modes = [Mode(see), mode]

    def __enter__(self):
        self.guard = torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(Key._key))
        self.guard.__enter__()
        for mode in self.modes:
            mode.__enter__()

    def __exit__(self, *error):
        for mode in reversed(self.modes):
            mode.__exit__(*error)
        self.guard.__exit__(*error)
