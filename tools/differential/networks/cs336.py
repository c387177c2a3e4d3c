"""The network behind the published GPU log: RMSNorm, rotary pairs, einsum projections, SwiGLU,
softmax and cross-entropy written by hand. After the course's own model file
(Wedsonlin/assignment2-systems, cs336-basics) and the log's sizes, in order."""
import math

import torch
from torch import nn

import framework
import parts
from networks.base import Network


class Einsum(parts.Part):
    """[.., inputs] with a weight [outputs, inputs], no bias."""

    def __init__(self, precision, inputs, outputs):
        super().__init__(precision)
        self.weight = self.new(outputs, inputs)

    def forward(self, x):
        cast = self.precision
        weight = cast.weight(self.weight)
        return torch.einsum("bsi,oi->bso", cast.low(x), weight)


class Norm(parts.Part):
    """fp32 throughout; only the weighted result goes back to the input's type."""

    def __init__(self, precision, width, mean):
        super().__init__(precision)
        self.weight = self.new(width)
        self.mean = parts.row_mean_of(mean)

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        scale = torch.rsqrt(self.mean(x.pow(2)) + 1e-5)
        x = x * scale
        return (self.weight * x).to(kind)


class RowMax(torch.autograd.Function):
    """max over the last dimension; its derivative scatters in place, which this PyTorch does too
    when no dispatch mode watches."""

    @staticmethod
    def forward(ctx, x):
        values, places = torch.max(x, dim=-1, keepdim=True)
        ctx.sizes = x.shape
        ctx.save_for_backward(places)
        return values

    @staticmethod
    def backward(ctx, gradient):
        places, = ctx.saved_tensors
        return torch.zeros(ctx.sizes, device=framework.DEVICE, dtype=gradient.dtype).scatter_(
            -1, places, gradient)


class Pick(torch.autograd.Function):
    """gather of one element a row; the same remark. It keeps its input."""

    @staticmethod
    def forward(ctx, x, places):
        ctx.save_for_backward(x, places)
        return torch.gather(x, -1, places)

    @staticmethod
    def backward(ctx, gradient):
        x, places = ctx.saved_tensors
        return torch.zeros(x.shape, device=framework.DEVICE, dtype=x.dtype).scatter_add_(
            -1, places, gradient), None


class Block(nn.Module):
    def __init__(self, c, precision, table):
        super().__init__()
        self.c = c
        self.precision = precision
        self.table = table
        h = c.hidden
        self.q = Einsum(precision, h, h)
        self.k = Einsum(precision, h, h)
        self.v = Einsum(precision, h, h)
        self.out = Einsum(precision, h, h)
        self.gate = Einsum(precision, h, c.ffn)
        self.down = Einsum(precision, c.ffn, h)
        self.up = Einsum(precision, h, c.ffn)
        self.norm_1 = Norm(precision, h, c.mean)
        self.norm_2 = Norm(precision, h, c.mean)

    def forward(self, x):
        attended = self.attend(self.norm_1(x))
        y = x + attended
        out = self.feed(self.norm_2(y))
        return y + out

    def feed(self, x):
        return self.down(silu(self.gate(x)) * self.up(x))

    def attend(self, x):
        c = self.c
        b, s, _ = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        q, k, v = (t.view(b, s, c.heads, c.head_dim).transpose(1, 2) for t in (q, k, v))
        q = self.rotate(q)
        k = self.rotate(k)
        place = torch.arange(s, device=framework.DEVICE)
        mask = (place[:, None] >= place[None, :])[None, None]
        context = self.weigh(q, k, v, mask)
        context = context.transpose(1, 2).reshape(b, s, -1)
        return self.out(context)

    def rotate(self, x):
        first, second = x.reshape(*x.shape[:-1], -1, 2).permute(4, 0, 1, 2, 3).unbind(0)
        cos, sin = self.table[:, :x.size(-2)].unbind(0)
        turned = cos * first - sin * second
        other = sin * first + cos * second
        return torch.cat((turned, other), dim=-1)

    def weigh(self, q, k, v, mask):
        low, high = self.precision.low, self.precision.high
        scores = parts.in_order(low, q, k,
                                lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b))
        scores = scores / math.sqrt(q.size(-1))
        scores = torch.where(mask, scores, torch.full([], float("-inf"), dtype=scores.dtype,
                                                      device=framework.DEVICE))
        weights = softmax(scores, high)
        return parts.in_order(low, weights, v,
                              lambda a, b: torch.einsum("bhqk,bhkd->bhqd", a, b))


def row_max(x):
    if framework.LATER:
        return torch.max(x, dim=-1, keepdim=True)[0]
    return RowMax.apply(x)


def pick(x, places):
    return torch.gather(x, -1, places) if framework.LATER else Pick.apply(x, places)


def silu(x):
    return x * torch.sigmoid(x)


def softmax(x, high):
    shifted = x - row_max(x)
    exponentials = torch.exp(high(shifted))
    return exponentials / torch.sum(exponentials, dim=-1, keepdim=True)


def log_softmax(x, high):
    largest = row_max(x)
    x = x - largest
    return x - torch.log(torch.sum(torch.exp(high(x)), dim=-1, keepdim=True))


class Cs336(Network):
    def __init__(self, c, precision, watch):
        super().__init__(c, precision, watch)
        self.tokens = parts.Table(precision, c.vocab, c.hidden)
        self.table = torch.empty(2, c.max_positions, c.head_dim // 2, device=framework.DEVICE,
                                 dtype=self.tokens.weight.dtype)
        self.constants = [self.table]
        self.blocks = nn.ModuleList(Block(c, precision, self.table) for _ in range(c.layers))
        self.final_norm = Norm(precision, c.hidden, c.mean)
        self.head = Einsum(precision, c.hidden, c.vocab)
        if c.tied_embeddings:
            self.head.weight = self.tokens.weight

    def forward(self, tokens, positions, labels):
        return self.loss(self.read(tokens), labels)

    def read(self, tokens):
        """The model proper: its variables are gone when the loss begins."""
        with self.watch.at("embed"):
            x = self.tokens(tokens)
        x = self.run_blocks(x)
        with self.watch.at("head"):
            x = self.final_norm(x)
            return self.head(x)

    def cross_entropy(self, logits, labels):
        surprise = -log_softmax(logits, self.precision.high)
        return torch.mean(pick(surprise, labels.unsqueeze(-1)))
