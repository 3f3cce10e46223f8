"""The rows of the CPU book by name. Their functions make arguments, the same work in torch and numpy, and a limit.

Everybody works on the same memory, which is aligned as torch aligns its own. Where torch has a form that writes into
memory it is given, that is used; where it has several ways, all race and the fastest counts.
"""

from __future__ import annotations

from collections.abc import Callable

from . import cpu_rows_products as products
from . import cpu_rows_streams as streams
from . import cpu_rows_tables as tables
from .cpu_row import Row

ROWS: dict[str, Callable[[bool], Row]] = {
    made.__name__: made
    for made in (
        streams.add, streams.saxpy, streams.gelu_add, streams.gelu, streams.silu_mul, streams.transpose,
        streams.rms_norm, streams.add_rms_norm, streams.layer_norm, streams.softmax, streams.log_softmax,
        streams.cross_entropy, streams.total, streams.argmax, streams.cumsum, streams.top_k,
        streams.histogram, tables.embedding, tables.rope, tables.sample,
        products.matmul_f32, products.matmul_gpu, products.matmul_bf16, products.matmul_int8, products.linear_few,
        products.matvec, products.matvec_int8, products.matvec_int4, products.grouped_matmul,
        products.attention, products.attention_full, products.attention_gpu, products.decode,
    )
}  # fmt: skip
"""How to make each row, small for a trial or in full."""
