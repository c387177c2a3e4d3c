"""Hugging Face LLaMA eager style: fp32 norms, rotary embedding, KV heads copied to all heads
before the matmul, softmax in fp32 and cast back, SwiGLU, no biases (q, k, v may have them)."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import framework
import parts
from networks.base import Network


class Block(nn.Module):
    def __init__(self, c, precision):
        super().__init__()
        self.c = c
        self.precision = precision
        h, q_width, kv_width = c.hidden, c.heads * c.head_dim, c.kv_heads * c.head_dim
        self.norm_1 = parts.RmsNorm(precision, h, c.norm, c.mean)
        self.q = parts.Linear(precision, h, q_width, c.qkv_bias)
        self.k = parts.Linear(precision, h, kv_width, c.qkv_bias)
        self.v = parts.Linear(precision, h, kv_width, c.qkv_bias)
        self.out = parts.Linear(precision, q_width, h, False)
        self.norm_2 = parts.RmsNorm(precision, h, c.norm, c.mean)
        self.gate = parts.Linear(precision, h, c.ffn, False)
        self.up = parts.Linear(precision, h, c.ffn, False)
        self.down = parts.Linear(precision, c.ffn, h, False)

    def forward(self, x, mask, cos, sin):
        # One frame for the whole block: y, q, k, v and the weights are held until they are
        # assigned again or the block returns.
        c, low = self.c, self.precision.low
        b, s, _ = x.shape
        y = self.norm_1(x)
        q = self.q(y).view(b, s, c.heads, c.head_dim).transpose(1, 2)
        k = self.k(y).view(b, s, c.kv_heads, c.head_dim).transpose(1, 2)
        v = self.v(y).view(b, s, c.kv_heads, c.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if c.attention == "flash":
            context = self.flash(q, k, v).transpose(1, 2)
        else:
            k = self.to_all_heads(k)
            v = self.to_all_heads(v)
            weights = parts.in_order(low, q, k.transpose(2, 3), torch.matmul)
            weights = weights * (1.0 / math.sqrt(c.head_dim))
            weights = weights + mask
            weights = F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype)
            context = parts.in_order(low, weights, v, torch.matmul)
            context = context.transpose(1, 2).contiguous()
        context = self.out(context.reshape(b, s, -1))
        x = x + context
        y = self.norm_2(x)
        y = self.down(F.silu(self.gate(y)) * self.up(y))
        return x + y

    def flash(self, *qkv):
        """2.x has fused attention on autocast's list of casts to 16 bits, 1.13 has not: it takes
        q and k as the rotary positions made them, in fp32 (autocast_mode.cpp)."""
        if self.c.autocast_attention == "2.x":
            qkv = [self.precision.low(t) for t in reversed(qkv)][::-1]
        return parts.flash_attention(*qkv)

    def to_all_heads(self, x):
        b, kv, s, d = x.shape
        heads = self.c.heads
        return x if kv == heads else x[:, :, None].expand(b, kv, heads // kv, s, d).reshape(
            b, heads, s, d)


def rotate(x, cos, sin):
    half = x.size(-1) // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Llama(Network):
    def __init__(self, c, precision, watch):
        super().__init__(c, precision, watch)
        self.tokens = parts.Table(precision, c.vocab, c.hidden)
        self.final_norm = parts.RmsNorm(precision, c.hidden, c.norm, c.mean)
        self.head = self.new_head()
        steps = torch.arange(0, c.head_dim, 2, dtype=torch.float32, device=framework.DEVICE)
        self.frequencies = 1.0 / (10000.0 ** (steps / c.head_dim))
        self.constants = [self.frequencies]
        self.blocks = nn.ModuleList(Block(c, precision) for _ in range(c.layers))

    def forward(self, tokens, positions, labels):
        with self.watch.at("embed"):
            x = self.tokens(tokens)
        with self.watch.at("mask"):
            mask, cos, sin = self.tables(tokens.size(1), x.dtype)
        x = self.run_blocks(x, mask, cos, sin)
        with self.watch.at("head"):
            x = self.final_norm(x)
            return self.loss(self.head(x), labels)

    def tables(self, s, dtype):
        mask = None
        if self.config.attention != "flash":
            mask = torch.full((s, s), torch.finfo(dtype).min, dtype=dtype,
                              device=framework.DEVICE).triu_(1)[None, None]
        half = torch.outer(torch.arange(s, device=framework.DEVICE, dtype=torch.float32), self.frequencies)
        angles = torch.cat((half, half), dim=-1)[None, None]
        return mask, angles.cos().to(dtype), angles.sin().to(dtype)
