"""Pieces that the networks are made of, and operators written from their description.

`recalled` operators are not in this PyTorch: only what they allocate and save is written down,
after the sources named at each."""
import torch
from torch import nn
import torch.nn.functional as F

import framework

STATISTICS_BLOCK = 128  # rows that the flash backward pads its row buffers to


class Precision:
    """Casts that 1.13 has no autocast for on the meta device; later versions cast by
    themselves within `context`, from a function's last operand to its first. Under autocast matmul-like operators run in bf16 on cached casts of the weights,
    norms, softmax and loss in fp32, everything else by type promotion (PyTorch's autocast
    operator lists)."""

    def __init__(self, name):
        self.autocast = name == "autocast"
        self.parameters = torch.float32 if name in ("fp32", "autocast") else torch.bfloat16
        self._casts = {}
        self.by_hand = self.autocast and not framework.LATER

    def context(self):
        return framework.autocast(self.autocast)

    def weight(self, parameter):
        if not self.by_hand or parameter is None:
            return parameter
        if parameter not in self._casts:
            self._casts[parameter] = parameter.to(torch.bfloat16)
        return self._casts[parameter]

    def forget(self):
        """The end of the autocast context drops the cached casts."""
        self._casts.clear()

    def low(self, x):
        return x.to(torch.bfloat16) if self.by_hand else x

    def high(self, x):
        return x.to(torch.float32) if self.by_hand else x


def in_order(low, a, b, product):
    """product(a, b) with autocast's casts: the last operand's is the first."""
    b = low(b)
    return product(low(a), b)


class Part(nn.Module):
    def __init__(self, precision):
        super().__init__()
        self.precision = precision

    def new(self, *shape):
        return nn.Parameter(torch.empty(*shape, device=framework.DEVICE, dtype=self.precision.parameters))


class Linear(Part):
    def __init__(self, precision, inputs, outputs, bias=True):
        super().__init__(precision)
        self.weight = self.new(outputs, inputs)
        self.bias = self.new(outputs) if bias else None

    def forward(self, x):
        cast = self.precision
        bias, weight = cast.weight(self.bias), cast.weight(self.weight)
        return F.linear(cast.low(x), weight, bias)


class Table(Part):
    """Rows that indices pick."""

    def __init__(self, precision, rows, width):
        super().__init__(precision)
        self.weight = self.new(rows, width)

    def forward(self, indices):
        return F.embedding(indices, self.weight)


class Conv1d(Part):
    """The projection of the first GPT-2 code: weight [inputs, outputs], addmm on a flat view."""

    def __init__(self, precision, inputs, outputs):
        super().__init__(precision)
        self.weight = self.new(inputs, outputs)
        self.bias = self.new(outputs)

    def forward(self, x):
        cast = self.precision
        weight = cast.weight(self.weight)
        low = cast.low(x).view(-1, x.size(-1))
        flat = torch.addmm(cast.weight(self.bias), low, weight)
        del low
        return flat.view(*x.shape[:-1], self.weight.size(1))


class LayerNorm(Part):
    def __init__(self, precision, width):
        super().__init__(precision)
        self.weight = self.new(width)
        self.bias = self.new(width)

    def forward(self, x):
        return F.layer_norm(self.precision.high(x), (x.size(-1),), self.weight, self.bias)


class RmsNorm(Part):
    """fp32 inside; the scaled result goes back to the input's type before the weight."""

    def __init__(self, precision, width, kernel, mean):
        super().__init__(precision)
        self.weight = self.new(width)
        self.fused = kernel == "fused"
        self.mean = row_mean_of(mean)

    def forward(self, x):
        if self.fused:
            return FusedRmsNorm.apply(x, self.weight)
        wide = x.to(torch.float32)
        variance = self.mean(wide.pow(2))
        wide = wide * torch.rsqrt(variance + 1e-5)
        return self.weight * wide.to(x.dtype)


class Dropout(nn.Module):
    """mask 'bool': the GPU's kernel, which keeps one byte an element; 'dtype': the composite
    that keeps its noise in the input's own type."""

    def __init__(self, probability, mask):
        super().__init__()
        self.probability = probability
        self.fused = mask == "bool"

    def forward(self, x):
        if self.probability == 0:
            return x
        if self.fused and framework.LATER:
            return F.dropout(x, self.probability)
        if self.fused:
            return torch.native_dropout(x, self.probability, True)[0]
        keep = 1 - self.probability
        return x * torch.empty_like(x).bernoulli_(keep).div_(keep)


def row_mean(x):
    return x.mean(-1, keepdim=True)


def row_mean_of(version):
    return MeanKeepsSizes.apply if version == "2.x" and not framework.LATER else row_mean


class MeanKeepsSizes(torch.autograd.Function):
    """mean over the last dimension as 2.x derives it (derivatives.yaml, mean.dim: sizes only);
    1.13 keeps the whole input."""

    @staticmethod
    def forward(ctx, x):
        ctx.sizes = x.shape
        return row_mean(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.expand(ctx.sizes) / ctx.sizes[-1]


class FusedRmsNorm(torch.autograd.Function):
    """Recalled: keeps its input and one fp32 value a row (apex fused_layer_norm)."""

    @staticmethod
    def forward(ctx, x, weight):
        result = torch.empty_like(x)
        scales = torch.empty(x.shape[:-1], device=framework.DEVICE, dtype=torch.float32)
        ctx.save_for_backward(x, weight, scales)
        return result

    @staticmethod
    def backward(ctx, gradient):
        x, weight, _ = ctx.saved_tensors
        return torch.empty_like(x), torch.empty_like(weight)


class FusedCausalSoftmax(torch.autograd.Function):
    """Recalled: keeps its output; backward writes over the incoming gradient
    (Megatron's scaled_upper_triang_masked_softmax)."""

    @staticmethod
    def forward(ctx, scores):
        result = torch.softmax(scores, dim=-1)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        result, = ctx.saved_tensors
        return gradient.mul_(result)


def flash_attention(q, k, v):
    """Causal. q [b, heads, s, d], k and v [b, kv, s, d]; the result as q."""
    if framework.LATER:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True,
                                              enable_gqa=q.size(1) != k.size(1))
    return FlashAttention.apply(*(t.transpose(1, 2) for t in (q, k, v))).transpose(1, 2)


class FlashAttention(torch.autograd.Function):
    """Recalled: FlashAttention-2 (flash_api.cpp, mha_fwd and mha_bwd). q [b, s, heads, d],
    k and v [b, s, kv, d]; keeps them, the result and the fp32 logarithm of the row sums."""

    @staticmethod
    def forward(ctx, q, k, v):
        result = torch.empty_like(q)
        batch, rows, heads, _ = q.shape
        logsumexp = torch.empty(batch, heads, rows, device=framework.DEVICE, dtype=torch.float32)
        ctx.save_for_backward(q, k, v, result, logsumexp)
        return result

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, result, logsumexp = ctx.saved_tensors  # held until the end
        batch, rows, heads, width = q.shape
        dq, dk, dv = (torch.empty_like(t) for t in (q, k, v))
        padded = -(-rows // STATISTICS_BLOCK) * STATISTICS_BLOCK
        row_dots = torch.empty(batch, heads, padded, device=framework.DEVICE, dtype=torch.float32)
        accumulator = torch.empty(batch, padded, heads, width, device=framework.DEVICE, dtype=torch.float32)
        kv = k.size(2)
        if kv != heads:
            wide_k, wide_v = (torch.empty(batch, rows, heads, width, device=framework.DEVICE, dtype=q.dtype)
                              for _ in "kv")
            torch.sum(wide_k.view(batch, rows, kv, -1, width), 3, out=dk)
            torch.sum(wide_v.view(batch, rows, kv, -1, width), 3, out=dv)
            del wide_k, wide_v
        del row_dots, accumulator
        return dq, dk, dv
