"""A ratchet: what discharges the obligations of each example, frozen.

A change here is a change of what users are promised or pay. Fewer at a high rung is progress, to be written down; more
is a step back, to be argued for. `python tests/analysis/test_rungs.py` prints the table anew.
"""

from __future__ import annotations

import pytest

from samples.example_kernels import example_files, kernel_of
from tileproof.compiler.compile import scope_of, verdict

EXAMPLES = example_files()

# Obligations discharged by: construction, proof, contract, launch, pre-check, in place; then for which constants.
RUNGS: dict[str, tuple[tuple[int, ...], str]] = {
    "add": ((5, 0, 0, 0, 0, 0), "for all constants"),
    "append_attention": ((29, 11, 0, 0, 3, 0), "for all constants"),
    "argmax": ((5, 1, 0, 0, 0, 0), "for all constants"),
    "argmax_two_stage": ((5, 2, 0, 0, 0, 0), "for all constants"),
    "attention": ((12, 0, 2, 0, 0, 0), "for all constants"),
    "conv2d": ((8, 2, 0, 0, 0, 0), "for all constants"),
    "cumsum": ((7, 1, 0, 0, 0, 0), "for all constants"),
    "decode_attention": ((14, 2, 0, 0, 0, 0), "for all constants"),
    "dropout": ((4, 0, 0, 1, 0, 0), "for all constants"),
    "embedding": ((6, 0, 1, 0, 0, 0), "for all constants"),
    "embedding_backward": ((4, 0, 1, 0, 0, 0), "for all constants"),
    "gram": ((8, 0, 0, 0, 0, 0), "for all constants"),
    "grouped_matmul": ((8, 1, 0, 0, 0, 0), "for all constants"),
    "histogram": ((1, 0, 1, 0, 0, 0), "for all constants"),
    "int4_matvec": ((12, 2, 0, 0, 0, 0), "for all constants"),
    "int8_matvec": ((10, 0, 0, 0, 0, 0), "for all constants"),
    "kv_append": ((5, 2, 0, 0, 1, 0), ""),
    "layer_norm": ((8, 0, 0, 0, 0, 0), ""),
    "layer_norm_backward": ((11, 0, 0, 0, 0, 0), "for all constants"),
    "matmul": ((8, 0, 0, 0, 0, 0), "for all constants"),
    "matmul_split": ((8, 1, 0, 0, 0, 0), "for all constants"),
    "paged_append": ((11, 0, 6, 0, 0, 0), ""),
    "paged_attention": ((20, 0, 2, 2, 0, 0), "for all constants"),
    "qkv": ((12, 10, 0, 0, 0, 4), "for all constants"),
    "ragged_attention": ((12, 1, 3, 0, 0, 0), "for all constants"),
    "rms_norm": ((7, 0, 0, 0, 0, 0), ""),
    "rope": ((23, 5, 0, 0, 0, 0), ""),
    "scatter_rows": ((4, 0, 3, 0, 0, 0), "for all constants"),
    "silu_mul": ((12, 2, 0, 0, 0, 0), "for all constants"),
    "softmax": ((7, 1, 0, 0, 0, 0), "for all constants"),
    "top_k": ((9, 1, 0, 0, 0, 0), "for all constants"),
    "transpose": ((6, 0, 0, 0, 0, 0), "for all constants"),
}


def counted(name: str) -> tuple[tuple[int, ...], str]:
    """What discharges the obligations of an example, and the scope of its verdict."""
    kernel = kernel_of(EXAMPLES[name])
    found = verdict(kernel)
    assert found.findings == ()
    return tuple(found.rungs.get(rung, 0) for rung in range(1, 7)), scope_of(kernel, {}, found)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_settled_as_before(name: str) -> None:
    assert counted(name) == RUNGS[name]


def test_every_example_is_in_the_table() -> None:
    assert set(RUNGS) == set(EXAMPLES)


if __name__ == "__main__":
    for each in EXAMPLES:
        print(f"    {each!r}: {counted(each)!r},".replace("'", '"'))
