"""Calls that take rows by number, and convolutions, and what numpy says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from support.library import DTYPES, LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.gather_scatter import conv2d, embedding, embedding_backward, gather_rows, scatter_rows


def embedding_reference(ids: Any, table: Any) -> Any:
    return wide_of(table)[0][ids] if table.shape[0] else np.zeros((*ids.shape, table.shape[1]))


def backward_reference(dy: Any, ids: Any, rows: int) -> Any:
    total, flat = np.zeros((rows, dy.shape[-1])), ids.reshape(-1)
    np.add.at(total, flat[flat >= 0], dy.astype(np.float64).reshape(len(flat), dy.shape[-1])[flat >= 0])
    return total


def gather_reference(x: Any, ids: Any) -> Any:
    is_there = (ids >= 0)[:, None]
    return np.where(is_there, wide_of(x)[0][np.maximum(ids, 0)], 0) if len(x) else np.zeros((len(ids), x.shape[1]))


def scatter_reference(x: Any, ids: Any, out: Any) -> Any:
    found = wide_of(out.copy())[0]
    found[ids[ids >= 0]] = x[ids >= 0]
    return found


def conv2d_reference(x: Any, w: Any, stride: int = 1, padding: int = 0) -> Any:
    """Window by window."""
    x, w = wide_of(x, w)
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    high, wide = (
        (extent - size) // stride + 1 for extent, size in zip(padded.shape[2:], w.shape[2:], strict=True)
    )  # fmt: skip
    made = np.zeros((x.shape[0], w.shape[0], high, wide))
    for i in range(high):
        for j in range(wide):
            window = padded[:, :, i * stride : i * stride + w.shape[2], j * stride : j * stride + w.shape[3]]
            made[:, :, i, j] = np.einsum("bcrs,ocrs->bo", window, w)
    return made


def cases() -> list[Case]:
    """All of them."""
    return [*_rows(), *_convolutions()]


ROWS = ((9, 6, 21), (1, 1, 1), (0, 6, 21), (9, 6, 0), (300, 17, 21), (5, 6, 300))
"""Ids, rows of the table and columns."""


def _rows() -> Iterator[Case]:
    for sizes in ROWS:
        for name in ("embedding", "embedding_backward", "gather_rows", "scatter_rows"):
            yield _row_case(name, *sizes, on_gpu=sizes in ((9, 6, 21), (300, 17, 21), (5, 6, 300)))
    for name in ("embedding", "gather_rows", "scatter_rows"):
        for dtype in ("f64", "f16", "bf16", "i8", "i32", "u8"):
            yield _row_case(name, 9, 6, 21, dtype)
        for layout in LAYOUTS[1:]:
            yield _row_case(name, 9, 6, 21, layout=layout, on_gpu=layout in ("sliced", "transposed"))
        yield _row_case(name, 9, 6, 21, kind="i64")
        yield _row_case(name, 40, 600, 4100, "bf16", on_gpu=True, on_interpreter=False)
    for dtype in ("f64", "bf16"):
        yield _row_case("embedding_backward", 40, 6, 21, dtype, on_gpu=dtype == "bf16")
    yield _row_case("embedding_backward", 40, 6, 21, layout="wide", kind="i64")
    yield _row_case("embedding_backward", 200, 7, 2560, "bf16", on_gpu=True, on_interpreter=False)


def _row_case(
    name: str, count: int, rows: int, columns: int, dtype: str = "f32", layout: str = "dense", kind: str = "i32", *,
    on_gpu: bool = False, on_interpreter: bool = True,
) -> Case:  # fmt: skip
    def make() -> Made:
        rng = np.random.default_rng(count + rows + columns)
        least = 0 if name == "embedding" else -1
        ids = rng.integers(least, rows, count).astype(DTYPES[kind])
        match name:
            case "embedding":
                return [ids, random(rng, (rows, columns), dtype, layout)], {}
            case "embedding_backward":
                return [random(rng, (count, columns), dtype, layout), ids, rows], {}
            case "gather_rows":
                return [random(rng, (rows, columns), dtype, layout), ids], {}
            case _:
                places = np.full(count, -1, DTYPES[kind])
                chosen = rng.permutation(count)[: min(rows, count - count // 4)]
                places[chosen] = rng.permutation(rows)[: len(chosen)]
                out = random(rng, (rows, columns), dtype, layout)
                return [random(rng, (count, columns), dtype, layout), places, out], {}

    function, reference = {
        "embedding": (embedding, embedding_reference), "embedding_backward": (embedding_backward, backward_reference),
        "gather_rows": (gather_rows, gather_reference), "scatter_rows": (scatter_rows, scatter_reference),
    }[name]  # fmt: skip
    tolerance = None if name == "embedding_backward" else 0
    label = f"{name} {count}x{rows}x{columns} {dtype} {layout} {kind}"
    return Case(label, function, make, reference, tolerance, on_gpu=on_gpu, on_interpreter=on_interpreter)


def _convolutions() -> Iterator[Case]:
    yield _convolution((2, 3, 9, 11), (5, 3, 3, 3), on_gpu=True)
    yield _convolution((2, 3, 9, 11), (5, 3, 3, 3), 2, 1, on_gpu=True)
    yield _convolution((1, 1, 1, 1), (1, 1, 1, 1))
    yield _convolution((1, 2, 5, 5), (3, 2, 2, 4), 3, 2)
    yield _convolution((0, 3, 9, 11), (5, 3, 3, 3))
    yield _convolution((2, 0, 4, 4), (5, 0, 3, 3))
    yield _convolution((2, 3, 9, 11), (0, 3, 3, 3))
    yield _convolution((2, 3, 2, 2), (4, 3, 3, 3))
    for dtype in ("bf16", "f16", "f64"):
        yield _convolution((2, 3, 9, 11), (5, 3, 3, 3), 2, 1, dtype, on_gpu=dtype == "bf16")
    for layout in LAYOUTS[1:]:
        yield _convolution((2, 3, 9, 11), (5, 3, 3, 3), 2, 1, layout=layout, on_gpu=layout == "sliced")
    yield _convolution((2, 70, 20, 40), (40, 70, 1, 1), on_interpreter=False)
    yield _convolution((1, 40, 33, 35), (70, 40, 3, 3), 1, 1, "bf16", on_interpreter=False, on_gpu=True)
    yield _convolution((2, 3, 30, 30), (16, 3, 7, 7), 2, 3, "bf16", on_interpreter=False, on_gpu=True)


def _convolution(
    images: Sequence[int], filters: Sequence[int], stride: int = 1, padding: int = 0, dtype: str = "f32",
    layout: str = "dense", *, on_gpu: bool = False, on_interpreter: bool = True,
) -> Case:  # fmt: skip
    def make() -> Made:
        rng = np.random.default_rng(sum(images) + sum(filters))
        given = [random(rng, images, dtype, layout), random(rng, filters, dtype, layout)]
        return given, {"stride": stride, "padding": padding}

    sizes = " ".join("x".join(map(str, each)) for each in (images, filters, (stride, padding)))
    name = f"conv2d {sizes} {dtype} {layout}"
    return Case(name, conv2d, make, conv2d_reference, on_gpu=on_gpu, on_interpreter=on_interpreter)
