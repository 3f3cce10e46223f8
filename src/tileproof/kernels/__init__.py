"""The kernel library: functions on arrays, each on kernels that are proved safe before they run.

    import tileproof.kernels as tk

    y = tk.rms_norm(x, w, eps=1e-6)
    c = tk.matmul(a, b)

Arrays are of numpy, torch or `tileproof`, on the CPU or on a GPU; results are of the same library and on the same
device, or go to `out`. The kernel beneath a function is public too: `rms_norm_kernel` beneath `rms_norm`.
"""

from importlib import import_module
from typing import Any

FAMILIES = {
    "elementwise": "add mul silu_mul silu_mul_backward gelu gelu_backward dropout cast copy transpose",
    "softmaxes": "softmax softmax_backward log_softmax log_softmax_backward cross_entropy cross_entropy_backward",
    "reductions": "sum max argmax cumsum top_k histogram",
    "norms": "rms_norm rms_norm_backward add_rms_norm add_rms_norm_backward layer_norm layer_norm_backward",
    "gemm": "matmul linear batched_matmul fused_linear silu_linear grouped_matmul",
    "quantized_linear": (
        "int8_linear fp8_linear int4_linear quantize_int8 norm_quantize_int8 quantize_fp8 quantize_int4"
    ),
    "int8_gemv": (
        "norm_int8_matvec norm_int8_matvec_silu int8_matvec_add parts_matvec parts_matvec_add parts_matvec_silu "
        "parts_silu_parts parts_matvec_pieces int8_parts norm_int8_parts add_norm_int8_parts"
    ),
    "gemv": "matvec norm_matvec matvec_add matvec_silu norm_matvec_silu",
    "flash_attention": "attention attention_backward varlen_attention",
    "kv_cache": "decode_attention paged_attention paged_append",
    "fused_decode": "fused_decode_attention",
    "paged_prefill": "prefill_attention ragged_attention",
    "rotary": "advance rope rope_backward norm_rope_append append_layers",
    "gather_scatter": "embedding embedding_backward gather_rows scatter_rows conv2d",
    "sampling": "greedy sample penalized count_tokens mask_logits token_logprobs top_logprobs",
}
"""The functions of the library by the file that holds them."""

_FILES = {name: family for family, names in FAMILIES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A function or a kernel that nobody asked for yet: its file is loaded."""
    function = name.removesuffix("_kernel")
    if function not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_FILES[function]}", __name__), name)
    return value


def __dir__() -> list[str]:
    """All names, also those that are not loaded yet."""
    return sorted({*globals(), *_FILES})
