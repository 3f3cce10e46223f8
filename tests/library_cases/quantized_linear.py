"""Calls of the functions that quantize, and of layers with quantized weights, with what float64 says they give."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.library import DTYPES, Case, Made, random, wide_of
from tileproof.kernels.quantized_linear import (
    fp8_linear,
    int4_linear,
    int8_linear,
    quantize_fp8,
    quantize_int4,
    quantize_int8,
)

# Weights as they are.


def spread(scale: Any, group: int, columns: int) -> Any:
    """A scale for each column."""
    return np.repeat(wide_of(scale)[0], group, axis=1)[:, :columns]


def from_int8(q: Any, scale: Any, group: int | None) -> Any:
    """Weights of integers with a scale for each group, or for each row."""
    columns = q.shape[1]
    return wide_of(q)[0] * spread(scale, group or max(columns, 1), columns)


def from_int4(q: Any, scale: Any, columns: int, zero: Any = 8) -> Any:
    """Weights of two integers in a byte."""
    bits = np.concatenate([q & 15, q >> 4], axis=2).astype(np.float64)
    scale, zero = wide_of(scale, zero)
    base = zero[:, :, None] if isinstance(zero, np.ndarray) else zero
    whole = (bits - base) * scale[:, :, None]
    return whole.reshape(len(q), q.shape[1] * bits.shape[2])[:, :columns]


def from_fp8(q: Any, scale: Any) -> Any:
    """Weights of 8-bit floats with a scale for each row."""
    q, scale = wide_of(q, scale)
    return q * scale[:, None]


def layer(x: Any, weights: Any) -> Any:
    (x,) = wide_of(x)
    return x @ weights.T


def quantized(w: Any, group: int | None, most: float, scale_dtype: Any = np.float32) -> tuple[Any, Any]:
    """Numbers in units of their scale, before they are rounded, and the scale."""
    rows, columns = w.shape
    count = 1 if group is None else -(-columns // group)
    group = group or columns
    padded = np.zeros((rows, count * group), np.float32)
    padded[:, :columns] = w
    parts = padded.reshape(rows, count, group)
    scale = (np.abs(parts).max(axis=2, initial=0) / np.float32(most)).astype(scale_dtype)
    step = scale.astype(np.float32)[:, :, None]
    with np.errstate(all="ignore"):
        units = np.where(step > 0, parts / step, np.float32(0))
    return units.reshape(rows, count * group), scale


# References of functions that quantize.


def int8_reference(w: Any, group: int | None = 64) -> tuple[Any, Any]:
    units, scale = quantized(w, group, 127)
    return np.clip(np.rint(units), -127, 127)[:, : w.shape[1]].astype(np.int64), scale


def fp8_reference(w: Any) -> tuple[Any, Any]:
    units, scale = quantized(w, None, 448)
    return units[:, : w.shape[1]].astype(DTYPES["f8e4m3"]).astype(np.float64), scale[:, 0]


def int4_reference(w: Any, group: int = 128) -> tuple[Any, Any]:
    units, scale = quantized(w, group, 7)
    bits = (np.clip(np.rint(units), -7, 7) + 8).astype(np.int64).reshape(*scale.shape, group)
    return bits[:, :, : group // 2] | bits[:, :, group // 2 :] << 4, scale


# Cases.

_SIZES = ((1, 33, 256), (1, 13, 100), (3, 20, 100), (70, 130, 192), (0, 4, 5), (3, 4, 0), (3, 0, 70), (1, 1, 1))
"""Rows of x, outputs, and columns: whole and short groups, one row and several."""


def weights(rows: int, columns: int, dtype: str = "f32", layout: str = "dense") -> Any:
    return random(np.random.default_rng(rows + columns), (rows, columns), dtype, layout)


def cases() -> list[Case]:
    """Layers against products of the weights as they are, and quantising against numpy."""
    made: list[Case] = []

    def add(name: str, m: int, n: int, k: int, dtype: str = "f32", layout: str = "dense", **more: Any) -> None:
        kind, _, how = name.partition(" ")
        group = int(how.split()[0]) if how[:1].isdigit() else None
        zeroed, scales = "zero" in how, DTYPES["f16" if "f16" in how else "f32"]
        tolerance = 1e-3 if "integer" in how and dtype == "f32" else None

        def make() -> Made:
            rng = np.random.default_rng(m + n + k)
            x = random(rng, (m, k), dtype, layout)
            q, scale = {
                "int8": lambda: quantize_int8(weights(n, k), group),
                "fp8": lambda: quantize_fp8(weights(n, k)),
                "int4": lambda: quantize_int4(weights(n, k), group or 32),
            }[kind]()
            if layout != "dense":
                q = laid(q)
            args, named = [x, q, scale.astype(scales)], {}
            if "integer" in how:
                # What is rounded already loses nothing when it is rounded again.
                units, grain = int8_reference(wide_of(x)[0], group)
                args[0] = (units * spread(grain, group or max(k, 1), k)).astype(x.dtype)
                named = {"activations": "int8"}
            if zeroed:
                named = {"zero": rng.integers(0, 16, scale.shape).astype(np.uint8)}
            return args, named

        def reference(x: Any, q: Any, scale: Any, zero: Any = 8, activations: str = "float") -> Any:
            match kind:
                case "int8":
                    return layer(x, from_int8(q, scale, group))
                case "fp8":
                    return layer(x, from_fp8(q, scale))
            return layer(x, from_int4(q, scale, k, zero))

        function = {"int8": int8_linear, "fp8": fp8_linear, "int4": int4_linear}[kind]
        title = f"{name} {m}x{n}x{k} {dtype} {layout}"
        made.append(Case(title, function, make, reference, **{"tolerance": tolerance, **more}))

    every = ("int8 64", "int8", "int8 64 integer", "int8 rows integer", "fp8", "int4 32", "int4 64 zero")
    for name in every:
        for m, n, k in _SIZES:
            add(name, m, n, k, on_gpu=(m, n, k) in ((1, 13, 100), (3, 4, 0)), on_interpreter=m < 70)
        add(name, 1, 33, 256, "bf16", on_gpu=True)
        add(name, 70, 130, 192, "bf16", on_gpu=True, on_interpreter=False)
        for spaced in ("sliced", "transposed"):
            add(name, 3, 20, 128, layout=spaced)
    add("int8 128 f16", 3, 20, 300)
    add("int4 128 f16", 3, 20, 300)
    for name in ("int8 64", "fp8", "int4 32"):
        add(name, 3, 20, 100, "f64")
        add(name, 3, 20, 100, "f16")
    made += _quantising()
    return made


def laid(q: Any) -> Any:
    """The same numbers as a slice of something larger."""
    larger = np.zeros(tuple(extent + 3 for extent in q.shape), q.dtype)
    inner = larger[tuple(slice(2, 2 + extent) for extent in q.shape)]
    inner[...] = q
    return inner


def _quantising() -> list[Case]:
    made: list[Case] = []

    def add(name: str, function: Any, reference: Any, w: Any, *given: Any, on_gpu: bool) -> None:
        made.append(Case(name, function, lambda: ([w, *given], {}), reference, tolerance=1e-6, on_gpu=on_gpu))

    for rows, columns in ((5, 100), (1, 1), (20, 256), (0, 7), (3, 0)):
        for dtype in ("f32", "bf16"):
            w = weights(rows, columns, dtype)
            # Quotients of bf16 may lie just between two steps, where a GPU's division may round either way.
            title, on_gpu = f"{rows}x{columns} {dtype}", rows == 5 and dtype != "bf16"
            for group in (16, 64, None):
                add(f"quantize_int8 {group} {title}", quantize_int8, int8_reference, w, group, on_gpu=on_gpu)
            add(f"quantize_fp8 {title}", quantize_fp8, fp8_reference, w, on_gpu=on_gpu)
            add(f"quantize_int4 {title}", quantize_int4, int4_reference, w, 32, on_gpu=on_gpu)
    return made
