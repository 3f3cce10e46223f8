"""Every way to launch wrongly: a named exception with its code and a way out, and nothing is touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.repeated import gather, grouped, ragged, scatter
from tileproof import In, InOut, Max, Out, Sum, T, f16, f32, i8, i32

Array = np.ndarray[Any, Any]
F32, I32 = np.float32, np.int32


@tp.kernel
def scale(y: Out[T, "M N"], x: In[T, "M N"], by: f32, *, B: int = 4) -> None:
    for m, n in tp.parallel(M=2, N=B):
        y[m, n] = (x[m, n].to(f32) * by).to(T)


@tp.kernel
def swap(a: InOut[f32, "N"], b: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        t = a[n]
        a[n] = b[n]
        b[n] = t


@tp.kernel
def totals(s: Sum[f32, "1"], top: Max[f32, "1"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        s[0] += x[n].sum()
        tp.update(top, 0, x[n].max())


@tp.kernel
def halves(y: InOut[f32, "N"], s: Sum[f32, "1"], at: i32) -> None:
    tp.require(tp.dim("N") % 2 == 0)
    tp.require(at >= 0)
    for n in tp.parallel(N=2):
        y[n] = y[n] / 2
        s[0] += y[n].sum()


@tp.kernel
def rows(
    y: Out[f32, "N D"], x: In[f32, "N D"], small: i8, half: f16, flag: bool, *, D: int, fast: bool = False
) -> None:
    for n in tp.parallel(N=tp.each):
        y[n, :] = x[n, :]


@tp.kernel
def pixels(y: Out[f32, "N 3"], tiles: In[f32, "N/B"], *, B: int) -> None:
    for n in tp.parallel(N=B):
        y[n, :] = tp.zeros((n, 3))


@tp.kernel
def fresh(y: Out[f32, "N"], *, B: int) -> None:
    for n in tp.parallel(N=B):
        y[n] = tp.zeros((n,))


def ramp(*shape: int, dtype: Any = F32) -> Array:
    return np.arange(1, np.prod(shape, dtype=int) + 1).astype(dtype).reshape(shape)


def ints(*values: int) -> Array:
    return np.array(values, I32)


def locked(array: Array) -> Array:
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class Wrong:
    """A launch, the code of what it raises, what the message names, and a word of the help."""

    kernel: tp.Kernel
    args: Callable[[Array], tuple[Any, ...]]
    code: str
    names: tuple[str, ...]
    help: str
    constants: dict[str, Any] = field(default_factory=dict)


M = ramp(4, 6)
"""An array given by name; never written, since its launch is rejected."""
GOOD = (1, 1.0, True)

WRONG: dict[str, Wrong] = {
    # Memory.
    "aliased": Wrong(scale, lambda x: (x, x, 2.0), "TP0610", ("`y`", "`x`"), "copy of `x`"),
    "aliased by name": Wrong(scale, lambda x: (), "TP0610", ("`y`", "`x`"), "copy", {"x": M, "y": M, "by": 2.0}),
    "overlapping": Wrong(scale, lambda x: (x[1:], x[:-1], 2.0), "TP0610", ("`y`", "`x`"), "copy of `x`"),
    "overlapping, transposed": Wrong(scale, lambda x: (x[:3, :3], x[:3, :3].T, 2.0), "TP0610", ("`y`", "`x`"), "copy"),
    "two written": Wrong(swap, lambda x: (x[0], x[0, ::-1]), "TP0610", ("`a`", "`b`"), "of its own"),
    "two sums": Wrong(totals, lambda x: (x[0, :1], x[0, :1], x[1]), "TP0610", ("`s`", "`top`"), "of its own"),
    "a sum and what is summed": Wrong(totals, lambda x: (x[0, 3:4], x[1, :1], x[0]), "TP0610", ("`s`", "`x`"), "`x`"),
    "overlapping itself": Wrong(
        scale,
        lambda x: (np.lib.stride_tricks.as_strided(x, (4, 6), (0, 4)), ramp(4, 6), 2.0),
        "TP0610",
        ("`y`",),
        "copy of `y`",
    ),
    "read-only output": Wrong(scale, lambda x: (locked(ramp(4, 6)), x, 2.0), "TP0609", ("`y`",), "writable"),
    "read-only sum": Wrong(totals, lambda x: (locked(ramp(1)), ramp(1), x[0]), "TP0609", ("`s`",), "writable"),
    "unaligned": Wrong(
        swap, lambda x: (np.zeros(9, np.uint8)[1:].view(F32), x[0, :2]), "TP0612", ("`a`",), "pass a copy"
    ),
    # Shapes and element types.
    "wrong dimensions": Wrong(scale, lambda x: (x, ramp(4, 5), 2.0), "TP0604", ("`y`", "`x`", "N"), "shapes agree"),
    "wrong fixed dimension": Wrong(pixels, lambda x: (x, ramp(2)), "TP0604", ("`y`", "3"), "3", {"B": 2}),
    "wrong expression": Wrong(pixels, lambda x: (x[:, :3], ramp(3)), "TP0604", ("N/B", "`tiles`"), "shapes", {"B": 2}),
    "wrong element type": Wrong(scale, lambda x: (x, ramp(4, 6, dtype=np.float64), 2.0), "TP0603", ("`x`",), "astype"),
    "wrong fixed element type": Wrong(swap, lambda x: (x[0], ints(1, 2, 3, 4, 5, 6)), "TP0603", ("`b`",), "np.float32"),
    "wrong byte order": Wrong(
        scale, lambda x: (x, x.astype(x.dtype.newbyteorder()), 2.0), "TP0603", ("`x`",), "newbyteorder"
    ),
    "no element type": Wrong(scale, lambda x: (x, x.astype(object), 2.0), "TP0603", ("`x`",), "astype"),
    "index of a wrong type": Wrong(
        gather, lambda x: (x[0], x[1], np.zeros(6, np.int16)), "TP0603", ("`ids`", "i32 or i64"), "astype"
    ),
    "too many axes": Wrong(swap, lambda x: (x[0], x), "TP0602", ("`b`",), "one axis for each"),
    "too few axes": Wrong(scale, lambda x: (x, x[0], 2.0), "TP0602", ("`x`",), "one axis for each"),
    # Kinds and counts.
    "a list": Wrong(swap, lambda x: (x[0], [1.0] * 6), "TP0606", ("`b`", "list"), "np.asarray(b"),
    "nothing": Wrong(swap, lambda x: (x[0], None), "TP0606", ("`b`",), "numpy array"),
    "a masked array": Wrong(swap, lambda x: (x[0], np.ma.array(x[1])), "TP0606", ("`b`",), "mask"),
    "an array for a scalar": Wrong(scale, lambda x: (x, ramp(4, 6), x), "TP0606", ("`by`",), "number"),
    "missing argument": Wrong(scale, lambda x: (x, ramp(4, 6)), "TP0601", ("`by`",), "it takes y, x, by"),
    "no arguments": Wrong(swap, lambda x: (), "TP0601", ("`a`", "`b`"), "it takes a, b"),
    "too many arguments": Wrong(scale, lambda x: (x, ramp(4, 6), 2.0, 8), "TP0601", ("3", "4"), "B"),
    "given twice": Wrong(scale, lambda x: (x, ramp(4, 6), 2.0), "TP0601", ("`by`",), "once", {"by": 3.0}),
    "unknown keyword": Wrong(
        scale, lambda x: (x, ramp(4, 6), 2.0), "TP0601", ("`BM`",), "it has y, x, by, B", {"BM": 8}
    ),
    # Scalars.
    "scalar above its range": Wrong(
        rows, lambda x: (x, ramp(4, 6), 128, 1.0, True), "TP0603", ("`small`",), "-128 to 127"
    ),
    "scalar below its range": Wrong(rows, lambda x: (x, ramp(4, 6), -129, 1.0, True), "TP0603", ("`small`",), "127"),
    "a float for an integer": Wrong(rows, lambda x: (x, ramp(4, 6), 1.0, 1.0, True), "TP0603", ("`small`",), "whole"),
    "nan for an integer": Wrong(rows, lambda x: (x, ramp(4, 6), math.nan, 1.0, True), "TP0603", ("`small`",), "whole"),
    "float out of range": Wrong(rows, lambda x: (x, ramp(4, 6), 1, 1e5, True), "TP0603", ("`half`",), "65504"),
    "a truth value for a number": Wrong(
        rows, lambda x: (x, ramp(4, 6), True, 1.0, True), "TP0603", ("`small`",), "int"
    ),
    "a number for a truth value": Wrong(rows, lambda x: (x, ramp(4, 6), 1, 1.0, 1), "TP0603", ("`flag`",), "True or"),
    # Constants.
    "wrong constant": Wrong(scale, lambda x: (x, ramp(4, 6), 2.0), "TP0608", ("`B`", "2.5"), "type int", {"B": 2.5}),
    "a constant that is no number": Wrong(
        scale, lambda x: (x, ramp(4, 6), 2.0), "TP0608", ("`B`",), "type int", {"B": "8"}
    ),
    "missing constant": Wrong(fresh, lambda x: (x[0],), "TP0608", ("`B`",), "`B=...`"),
    "a dimension with another extent": Wrong(
        rows, lambda x: (x, ramp(4, 6), *GOOD), "TP0608", ("`D`", "6", "5"), "leave it out", {"D": 5}
    ),
    "a number for a constant truth value": Wrong(
        rows, lambda x: (x, ramp(4, 6), *GOOD), "TP0608", ("`fast`",), "type bool", {"fast": 1}
    ),
    # Contents.
    "out-of-range Index": Wrong(gather, lambda x: (x[0, :2], x[1], ints(0, 6)), "TP0607", ("`ids[1]`", "6"), "from 0"),
    "Index below none": Wrong(gather, lambda x: (x[0, :2], x[1], ints(-2, 0)), "TP0607", ("`ids[0]`", "-2"), "from 0"),
    "none where a load goes through": Wrong(
        gather, lambda x: (x[0, :2], x[1], ints(0, -1)), "TP0607", ("`ids[1]`", "-1"), "x.get"
    ),
    "non-unique Unique": Wrong(
        scatter, lambda x: (x[0], x[1, :3], ints(4, 1, 4)), "TP0607", ("`to[0]`", "`to[2]`", "4"), "duplicate"
    ),
    "out-of-range Unique": Wrong(scatter, lambda x: (x[0], x[1, :1], ints(6)), "TP0607", ("`to[0]`",), "from 0"),
    "Offsets not monotone": Wrong(
        ragged, lambda x: (x[0], ints(0, 4, 3, 6)), "TP0607", ("`off`", "falls"), "start at 0"
    ),
    "Offsets with a wrong end": Wrong(ragged, lambda x: (x[0], ints(0, 3, 5)), "TP0607", ("`off`", "5", "6"), "end at"),
    "Offsets with a wrong start": Wrong(ragged, lambda x: (x[0], ints(1, 6)), "TP0607", ("`off`", "1"), "start at 0"),
    # Contracts.
    "group not dividing": Wrong(grouped, lambda x: (x[0], ramp(4)), "TP0605", ("H", "G", "6", "4"), "G divides H"),
    "no groups": Wrong(grouped, lambda x: (x[0], ramp(0)), "TP0605", ("H", "G", "0"), "G divides H"),
    "require of a dimension false": Wrong(halves, lambda x: (x[0, :5], x[1, :1], 0), "TP0605", ("halves",), "meet it"),
    "require of a scalar false": Wrong(halves, lambda x: (x[0], x[1, :1], -1), "TP0605", ("halves",), "meet it"),
}


def whole(array: Array) -> bytes:
    """The memory an array is a view of."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root.tobytes()


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_launch_is_refused_by_name_and_touches_nothing(wrong: Wrong) -> None:
    args = wrong.args(ramp(4, 6))
    arrays = [value for value in (*args, *wrong.constants.values()) if isinstance(value, np.ndarray)]
    before = [whole(array) for array in arrays]
    with pytest.raises(tp.LaunchError) as raised:
        wrong.kernel(*args, **wrong.constants)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code.id == wrong.code, str(raised.value)
    assert [name for name in wrong.names if name not in diagnostic.message] == [], diagnostic.message
    assert diagnostic.help, diagnostic.message
    assert wrong.help in diagnostic.help
    assert diagnostic.span is not None
    assert [whole(array) for array in arrays] == before


def test_the_launches_are_wrong_in_one_way_only() -> None:
    x = ramp(4, 6)
    scale(np.empty_like(x), x, 2.0, B=8)
    swap(x[0], x[1])
    totals(x[0, :1], x[1, :1], ramp(6))
    gather(x[0, :2], x[1], ints(0, 5))
    scatter(x[0], x[1, :3], ints(4, 1, -1))
    ragged(x[0], ints(0, 3, 3, 6))
    grouped(x[0], ramp(3))
    halves(x[0], x[1, :1], 0)
    rows(np.empty_like(x), x, 127, 65504.0, False, D=6, fast=True)
    pixels(x[:, :3], ramp(2), B=2)
    fresh(x[0], B=3)


@tp.kernel
def packed(y: Out[i32, "N/8"]) -> None:
    for b in tp.parallel(("N/8", 4)):
        y[b] = b.elements.to(i32)


def test_an_extent_that_no_argument_gives_is_to_be_named() -> None:
    with pytest.raises(tp.LaunchError) as raised:
        packed(np.zeros(3, I32))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "the extent of N/8 does not follow from the arguments: N is open"
    assert diagnostic.help == "give some tensor the axis N, or the axis N/8 a name of its own"


def test_a_kernel_is_launched_without_a_grid() -> None:
    with pytest.raises(tp.LaunchError, match="launched without a grid") as raised:
        scale[(1,)]
    assert raised.value.diagnostics[0].help == "call it: `scale(...)`"
