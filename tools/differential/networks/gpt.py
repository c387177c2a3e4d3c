"""Megatron style: [s, b, h], one projection for q, k, v, biases everywhere, gelu as one kernel."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import framework
import parts
from networks.base import Network

MASKED = -10000.0


class Block(nn.Module):
    def __init__(self, c, precision, mask):
        super().__init__()
        self.c = c
        self.precision = precision
        self.mask = mask
        h = c.hidden
        self.norm_1 = parts.LayerNorm(precision, h)
        self.qkv = parts.Linear(precision, h, 3 * h)
        self.out = parts.Linear(precision, h, h)
        self.norm_2 = parts.LayerNorm(precision, h)
        self.mlp_in = parts.Linear(precision, h, c.ffn)
        self.mlp_out = parts.Linear(precision, c.ffn, h)
        self.dropout = parts.Dropout(c.dropout, c.dropout_mask)

    def forward(self, x):
        context = self.flash(x) if self.c.attention == "flash" else self.eager(x)
        projected = self.out(context)
        del context
        x = x + self.dropout(projected)
        del projected
        y = self.norm_2(x)
        y = self.mlp_in(y)
        y = F.gelu(y)
        y = self.mlp_out(y)
        return x + self.dropout(y)

    def heads(self, x):
        s, b, _ = x.shape
        c = self.c
        return self.qkv(self.norm_1(x)).view(s, b, c.heads, 3 * c.head_dim).chunk(3, dim=-1)

    def flash(self, x):
        context = parts.flash_attention(*(t.permute(1, 2, 0, 3) for t in self.heads(x)))
        return context.permute(2, 0, 1, 3).contiguous().view(x.shape)

    def eager(self, x):
        s, b, _ = x.shape
        c = self.c
        q, k, v = (t.view(s, b * c.heads, c.head_dim).transpose(0, 1) for t in self.heads(x))
        weights = self.dropout(self.softmax(self.scores(q, k)))
        flat = weights.view(b * c.heads, s, s)
        del weights
        context = parts.in_order(self.precision.low, flat, v, torch.bmm)
        del flat, q, k, v
        context = context.view(b, c.heads, s, c.head_dim).permute(2, 0, 1, 3).contiguous()
        return context.view(x.shape)

    def scores(self, q, k):
        rows, s, d = q.shape
        scores = torch.baddbmm(torch.empty(rows, s, s, device=framework.DEVICE, dtype=q.dtype), q,
                               k.transpose(1, 2), beta=0.0, alpha=1.0 / math.sqrt(d))
        return scores.view(-1, self.c.heads, s, s)

    def softmax(self, scores):
        kind = self.c.causal
        if kind == "fused":
            return parts.FusedCausalSoftmax.apply(self.precision.high(scores))
        if kind == "fill":
            scores = scores.masked_fill(self.mask, MASKED)
        else:
            scores.masked_fill_(self.mask, MASKED)
        return F.softmax(self.precision.high(scores), dim=-1)


class Gpt(Network):
    def __init__(self, c, precision, watch):
        super().__init__(c, precision, watch)
        self.tokens = parts.Table(precision, c.vocab, c.hidden)
        self.positions = parts.Table(precision, c.max_positions, c.hidden)
        self.final_norm = parts.LayerNorm(precision, c.hidden)
        self.head = self.new_head()
        self.mask = torch.ones(c.sequence, c.sequence, dtype=torch.bool,
                               device=framework.DEVICE).triu_(1)[None, None]
        self.constants = [self.mask]
        self.dropout = parts.Dropout(c.dropout, c.dropout_mask)
        self.blocks = nn.ModuleList(Block(c, precision, self.mask) for _ in range(c.layers))

    def forward(self, tokens, positions, labels):
        with self.watch.at("embed"):
            x = self.tokens(tokens) + self.positions(positions)
            x = self.dropout(x.transpose(0, 1).contiguous())
        x = self.run_blocks(x)
        with self.watch.at("head"):
            x = self.final_norm(x)
            return self.loss(self.head(x), labels.transpose(0, 1))
