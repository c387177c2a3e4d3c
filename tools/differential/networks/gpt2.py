"""Hugging Face GPT-2 style: [b, s, h], Conv1d projections, gelu from elementary operators."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import framework
import parts
from networks.base import Network


class Block(nn.Module):
    def __init__(self, c, precision, mask):
        super().__init__()
        self.c = c
        self.precision = precision
        self.mask = mask
        h = c.hidden
        self.norm_1 = parts.LayerNorm(precision, h)
        self.qkv = parts.Conv1d(precision, h, 3 * h)
        self.out = parts.Conv1d(precision, h, h)
        self.norm_2 = parts.LayerNorm(precision, h)
        self.mlp_in = parts.Conv1d(precision, h, c.ffn)
        self.mlp_out = parts.Conv1d(precision, c.ffn, h)
        self.dropout = parts.Dropout(c.dropout, c.dropout_mask)

    def forward(self, x):
        c, low = self.c, self.precision.low
        b, s, h = x.shape
        y = self.norm_1(x)  # held until the second norm
        q, k, v = self.qkv(y).split(h, dim=2)
        q, k, v = (t.view(b, s, c.heads, c.head_dim).permute(0, 2, 1, 3) for t in (q, k, v))
        weights = parts.in_order(low, q, k.transpose(-1, -2), torch.matmul)
        weights = weights / math.sqrt(c.head_dim)
        floor = torch.full([], torch.finfo(weights.dtype).min, dtype=weights.dtype, device=framework.DEVICE)
        weights = torch.where(self.mask[:, :, :s, :s], weights, floor)
        weights = F.softmax(self.precision.high(weights), dim=-1)
        weights = weights.type(v.dtype)
        weights = self.dropout(weights)
        context = parts.in_order(low, weights, v, torch.matmul)
        del weights, q, k, v
        context = context.permute(0, 2, 1, 3).contiguous().view(b, s, h)
        context = self.out(context)
        context = self.dropout(context)
        x = context + x
        del context
        y = self.norm_2(x)
        y = self.mlp_in(y)
        y = gelu(y, self.precision.high)
        y = self.mlp_out(y)
        y = self.dropout(y)
        return x + y


def gelu(x, high):
    """Autocast computes pow in fp32."""
    return 0.5 * x * (1.0 + torch.tanh(
        math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(high(x), 3.0))))


class Gpt2(Network):
    def __init__(self, c, precision, watch):
        super().__init__(c, precision, watch)
        self.tokens = parts.Table(precision, c.vocab, c.hidden)
        self.positions = parts.Table(precision, c.max_positions, c.hidden)
        self.final_norm = parts.LayerNorm(precision, c.hidden)
        self.head = self.new_head()
        n = c.max_positions
        self.mask = torch.ones(n, n, dtype=torch.bool, device=framework.DEVICE).tril_()[None, None]
        self.constants = [self.mask]
        self.dropout = parts.Dropout(c.dropout, c.dropout_mask)
        self.blocks = nn.ModuleList(Block(c, precision, self.mask) for _ in range(c.layers))

    def forward(self, tokens, positions, labels):
        with self.watch.at("embed"):
            x = self.tokens(tokens) + self.positions(positions[:1])
            x = self.dropout(x)
        x = self.run_blocks(x)
        with self.watch.at("head"):
            x = self.final_norm(x)
            return self.loss(self.head(x), labels)
