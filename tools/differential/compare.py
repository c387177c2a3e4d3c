"""Two results side by side: every quantity that differs."""

FLASH_BACKWARD = "_scaled_dot_product_flash_attention_backward"
# Operators written from their description have names of their own in Tidemark.
RECALLED = {
    "flash_attention": {"empty", "empty_like", "_scaled_dot_product_flash_attention"},
    "flash_attention_backward": {"empty", "empty_like", "sum", FLASH_BACKWARD},
    "empty": {FLASH_BACKWARD, "empty_like"},  # what its workspace is made of; one name for both
    "sum": {FLASH_BACKWARD},
    "clone": {"new_empty_strided"},  # a leaf's copy of its gradient
    "fused_rms_norm": {"empty", "empty_like"},
    "fused_rms_norm_backward": {"empty_like"},
    "fused_softmax": {"_softmax"},
    "_fused_adamw_": {"mul_", "add_", "addcmul_", "addcdiv_", "zeros_like"},
}


def flatten(result):
    rows = {"parameters": result["parameters"], "live at the start": result["live_begin"],
            "saved per layer": result["saved_per_layer"],
            "first step's peak": result["first_step_peak"], "live at the end": result["live_end"],
            "peak": result["peak"]["bytes"], "peak's phase": result["peak"]["phase"],
            "peak's op": result["peak"]["op"]}
    for phase, level in result["live_after"].items():
        rows[f"live after {phase}"] = level
    for phase, peak in result["peaks"].items():
        rows[f"peak in {phase}"] = peak["bytes"]
    return rows


def differences(tidemark, autograd):
    """{quantity: (Tidemark's, autograd's)}, empty where they agree."""
    ours, theirs = flatten(tidemark), flatten(autograd)
    return {key: (ours[key], theirs[key]) for key in theirs
            if ours[key] != theirs[key] and not _same_op(key, ours[key], theirs[key])}


def _same_op(key, ours, theirs):
    return key == "peak's op" and theirs in RECALLED.get(ours, ())
