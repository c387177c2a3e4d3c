"""Selective checkpoints of 2.4 and later: policy `ops` of a scenario as a policy of PyTorch's."""
from collections import Counter

import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

aten = torch.ops.aten
PRODUCTS = {aten.mm.default, aten.addmm.default}
KINDS = {  # what `keep` lists -> the framework's ops
    "matmul": PRODUCTS,
    "batched_matmul": {aten.bmm.default, aten.baddbmm.default},
    "attention": {aten._scaled_dot_product_flash_attention.default},
    "softmax": {aten._softmax.default},
    "dropout": {aten.native_dropout.default},
}


def contexts(config, watch):
    """For torch.utils.checkpoint's `context_fn`. Products are counted as torchtitan does it: from
    one, in forward and in the replay (_get_custom_policy)."""
    kept = set().union(*(KINDS[name] for name in config.keep))
    count = Counter()

    def policy(context, op, *args, **kwargs):
        if op not in kept:
            return CheckpointPolicy.PREFER_RECOMPUTE
        if op in PRODUCTS and config.every_second:
            count[context.is_recompute] += 1
            if count[context.is_recompute] % 2 == 0:
                return CheckpointPolicy.PREFER_RECOMPUTE
        return CheckpointPolicy.MUST_SAVE

    return tuple(map(watch.under, create_selective_checkpoint_contexts(policy)))
