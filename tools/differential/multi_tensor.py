"""Multi-tensor kernels on the meta device, for which this PyTorch has none: the same results,
tensor by tensor, as one operation."""
import torch


def _each(value, count):
    """The argument of each tensor in turn: a list has one for each, anything else serves all."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def run(name, args, kwargs):
    operation = name.split(".")[1][len("_foreach_"):]
    tensors = args[0]
    count = len(tensors)
    if operation in ("addcmul_", "addcdiv_"):
        scales = args[3] if len(args) > 3 else kwargs.get("value", kwargs.get("scalars", 1))
        columns = [_each(args[1], count), _each(args[2], count), _each(scales, count)]
        results = [getattr(t, operation)(a, b, value=s)
                   for t, a, b, s in zip(tensors, *columns)]
    elif len(args) > 1:
        others = _each(args[1], count)
        results = [getattr(t, operation)(o, **(kwargs if isinstance(o, torch.Tensor) else {}))
                   for t, o in zip(tensors, others)]
    else:
        results = [getattr(t, operation)() for t in tensors]
    return None if operation.endswith("_") else results
