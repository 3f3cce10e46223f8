"""Launches that try one family of operations each, for all element types, and kernels of the corpus."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial
from typing import Final

from fuzz.random_launches import LAYOUTS, launch
from samples.launch import Made, Make
from samples.shaped_kernels import shaped
from samples.small_kernels import Small, of_axes, of_elements
from tileproof.language.dtypes import BF16, F16, F32, F64, I8, I32, I64, U8, DType

NUMBERS: Final[tuple[DType, ...]] = (F32, BF16, I32, F64, I8, F16, I64, U8)
"""What `T` stands for in one kernel after another."""
LENGTHS: Final = {"L": 2, "M": 7, "N": 53, "K": 33, "V": 11, "D": 6, "R": 4}
"""Extents that no tile divides."""


def element_operations() -> dict[str, Make]:
    """Every operation on elements, of corners of types."""
    few = ("arithmetic_f32_2", "arithmetic_bf16_3", *(f"bits_{of}_1" for of in ("i8", "u16", "bf16", "f32", "f64")))
    return {
        small.name: partial(_small, small, number, "all")
        for number, small in enumerate(of_elements())
        if small.name in few or (small.name.endswith("_1") and small.name.startswith(("arithmetic", "cast")))
    }


def axis_operations() -> dict[str, Make]:
    """Reductions, sums up to each element and products."""
    results: dict[str, Make] = {}
    for number, small in enumerate(of_axes()):
        family, dtype, form = small.name.split("_")
        usual = dtype in ("i32", "bf16", "f32", "f64") if family == "reduce" else dtype in ("f16", "bf16", "f32", "u8")
        if usual or form in ("axis1", "nn"):
            results[small.name] = partial(_small, small, number, "plain")
    return results


def movements() -> dict[str, Make]:
    """Kernels that move elements, walk, branch, carry and combine."""
    results: dict[str, Make] = {}
    for number, small in enumerate(shaped()):
        # Backends group what they fold in different ways, so that only what does not depend on it can be compared.
        grouped = replace(small, text=small.text.replace("a + b + b", "tp.where(b > 0, b, a)"))
        results[small.name] = partial(_small, grouped, number, "halves")
    return results


def _small(small: Small, number: int, values: str) -> Made:
    kernel = small.kernel()
    dtype = NUMBERS[number % len(NUMBERS)]
    layouts = LAYOUTS if values == "halves" else ("plain",)
    extents = {**LENGTHS, **small.extents}
    if small.name == "cut":
        extents["N"] = 13  # what is appended fits behind what is there
    arguments, constants = launch(kernel, number, dtype=dtype, extents=extents, layouts=layouts, values=values)
    return kernel, arguments, constants


def corpus() -> dict[str, Make]:
    """Some safe kernels of the corpus, all that check an index among them, one launch of each."""
    from corpus import SAFE
    from corpus.safe_examples import NAMES

    results: dict[str, Make] = {}
    for place, case in enumerate(SAFE):
        name = case.kernel.name
        if name not in NAMES and (case.data or zlib.crc32(name.encode()) % 13 == 0):
            results[f"corpus_{name}"] = partial(_of_corpus, place)
    return results


def _of_corpus(place: int) -> Made:
    from corpus import SAFE

    arguments, constants = SAFE[place].launches()[-1]
    return SAFE[place].kernel, arguments, constants
