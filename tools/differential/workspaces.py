"""Bytes that a GPU's kernels allocate and release inside themselves, where they are large."""
import torch

BLOCK = 128  # rows that flash attention's backward pads its row buffers to


def of(name, args):
    return _flash_backward(*args[1:4]) if name.startswith(
        "aten._scaled_dot_product_flash_attention_backward") else 0


def _flash_backward(q, k, v):
    """flash_api.cpp, mha_bwd: row sums and the sum of dq in fp32, and with fewer KV heads dk and dv
    of every head. q [b, heads, s, d], k and v [b, kv, s, d]."""
    batch, heads, rows, width = q.shape
    padded = -(-rows // BLOCK) * BLOCK
    fp32 = torch.float32.itemsize * batch * padded * heads * (1 + width)
    return fp32 + (0 if k.size(1) == heads else 2 * q.numel() * q.element_size())
