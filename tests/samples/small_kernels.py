"""Kernels that try one family of operations each, made from tables: all operations, element types and ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent, indent
from typing import Final

import tileproof as tp
from support.source_files import load_text

HEAD = """\
import tileproof as tp
from tileproof import In, Index, InOut, Max, Min, Offsets, Out, Sum, T, Unique
from tileproof import bf16, f8e4m3, f8e5m2, f16, f32, f64, i8, i16, i32, i64, tf32, u8, u16, u32, u64

"""
FLOATS: Final = ("f16", "bf16", "f32", "f64")
SIGNED: Final = ("i8", "i16", "i32", "i64")
INTEGERS: Final = (*SIGNED, "u8", "u16", "u32", "u64")
BYTES: Final = ("f8e4m3", "f8e5m2")
TYPES: Final = ("bool", *INTEGERS, *FLOATS, *BYTES)
SUMS: Final = {"f16": "f32", "bf16": "f32", "bool": "i32", "i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32"}
"""The sum type, where it is another."""


@dataclass(frozen=True)
class Small:
    """A kernel as text, and what its launches need."""

    name: str
    text: str
    extents: Mapping[str, int] = field(default_factory=dict)
    """Extents that are not free."""

    def kernel(self) -> tp.Kernel:
        """The kernel, read anew."""
        text = load_text(HEAD + dedent(self.text)).k
        assert isinstance(text, tp.Kernel)
        return text


SPACES: Final = {
    1: ("N", "n", "N=20"),
    2: ("M N", "m, n", "M=3, N=20"),
    3: ("L M N", "l, m, n", "L=tp.each, M=2, N=20"),
}
"""By rank: dimensions, walkers, the parallel space."""


def elementwise(name: str, dtype: str, rank: int, results: Mapping[str, str]) -> Small:
    """Expressions of `x`, `y` and `c` with the element types they give, each stored into an output of its own."""
    dimensions, walkers, space = SPACES[rank]
    outputs = ", ".join(f'o{n}: Out[{of}, "{dimensions}"]' for n, of in enumerate(results.values()))
    lines = "\n".join(f"        o{n}[{walkers}] = {expression}" for n, expression in enumerate(results))
    return Small(
        f"{name}_{dtype}_{rank}",
        f"@tp.kernel\n"
        f'def k({outputs}, a: In[{dtype}, "{dimensions}"], b: In[{dtype}, "{dimensions}"], '
        f'd: In[bool, "{dimensions}"]) -> None:\n'
        f"    for {walkers} in tp.parallel({space}):\n"
        f"        x, y, c = a[{walkers}], b[{walkers}], d[{walkers}]\n"
        f"{lines}\n",
        {"L": 2, "M": 3} if rank == 3 else {},
    )


def _arithmetic(dtype: str) -> dict[str, str]:
    """Every operation that a type has, and the type it gives."""
    same = ["tp.where(c, x, y)"]
    tests: list[str] = []
    if dtype not in BYTES:
        tests += ["x == y", "x != y"]
    if dtype in ("bool", *INTEGERS):
        same += ["x & y", "x | y", "x ^ y", "~x"]
    if dtype in INTEGERS:
        same += ["x << y", "x >> y", "tp.cdiv(x, y)"]
    if dtype in (*INTEGERS, *FLOATS):
        same += ["x + y", "x - y", "x * y", "-x", "tp.abs(x)", "x // y", "x % y", "x ** y"]
        same += ["tp.maximum(x, y)", "tp.minimum(x, y)", "tp.clip(x, y, 3)"]
        tests += ["x < y", "x <= y", "x > y", "x >= y"]
    if dtype in FLOATS:
        names = "exp exp2 log log2 sqrt rsqrt tanh sigmoid sin cos erf floor ceil round"
        same += ["x / y", *(f"tp.{name}(x)" for name in names.split())]
        tests += ["tp.isnan(x)"]
    return dict.fromkeys(same, dtype) | dict.fromkeys(tests, "bool")


def _casts(dtype: str) -> dict[str, str]:
    return {f"x.to({other})": other for other in TYPES if other != dtype and (other != "bool" or dtype != "index")}


def _bits(dtype: str) -> dict[str, str]:
    widths = {"8": ("i8", "u8", *BYTES), "16": ("i16", "u16", "f16", "bf16"), "32": ("i32", "u32", "f32")}
    same = widths.get(dtype.lstrip("iubf"), ("i64", "u64", "f64"))
    return {f"tp.bitcast(x, {other})": other for other in same}


def _reductions(dtype: str) -> list[Small]:
    """Reductions of all axes of tiles of two and three axes, short ones among them."""
    results = []
    wide = SUMS.get(dtype, dtype)
    calls: dict[str, str] = {}
    if dtype not in BYTES:
        calls |= {"sum": wide}
    if dtype in FLOATS:
        calls |= {"mean": wide}
    if dtype in (*INTEGERS, *FLOATS):
        calls |= {"max": dtype, "min": dtype, "argmax": "i64", "argmin": "i64"}
    if dtype == "bool":
        calls |= {"any": "bool", "all": "bool"}
    for axis, kept in enumerate(("N", "M")):
        walker, whole = ("n", "[:, n]") if axis == 0 else ("m", "[m, :]")
        outputs = ", ".join(f'o{n}: Out[{of}, "{kept}"]' for n, of in enumerate(calls.values()))
        lines = [
            f"o{n}[{walker}] = t.{call}(axis={axis}){'.to(i64)' if 'arg' in call else ''}"
            for n, call in enumerate(calls)
        ]
        static = "M" if axis == 0 else "N"
        results.append(
            Small(
                f"reduce_{dtype}_axis{axis}",
                f"@tp.kernel\n"
                f'def k({outputs}, s: Out[{wide}, "M N"], a: In[{dtype}, "M N"], *, {static}: int) -> None:\n'
                f"    tp.require({static} >= 1)\n"
                f"    for {walker} in tp.parallel({kept}=6):\n"
                f"        t = a{whole}\n" + indent("\n".join(lines), "        ") + "\n"
                f"        s{whole} = t.cumsum(axis={axis})\n",
            )
        )
    results.append(
        Small(
            f"reduce_{dtype}_walked",
            f"""
            @tp.kernel
            def k(o: Out[{wide}, "L"], p: Out[{wide}, "L M"], s: Out[{wide}, "L M N"], a: In[{dtype}, "L M N"],
                  *, N: int) -> None:
                for l, m in tp.parallel(L=tp.each, M=3):
                    p[l, m] = a[l, m, :].sum(axis=1)
                    s[l, m, :] = a[l, m, :].cumsum(axis=1)
                    if m.start == 0:
                        total = tp.zeros((), {wide})
                        for k in tp.tiles(M=5):
                            total += a[l, k, :].sum()
                        o[l] = total
            """,
        )
    )
    return results


def _products() -> list[Small]:
    """Products of all element types, with both operands also transposed."""
    built = []
    results = {"i8": "i32", "u8": "i32", "f64": "f64"}
    for dtype in ("i8", "u8", *BYTES, *FLOATS, "tf32"):
        stored = "f32" if dtype == "tf32" else dtype
        cast = ".to(tf32)" if dtype == "tf32" else ""
        result = results.get(dtype, "f32")
        few = () if dtype in ("f32", "i8", "f64") else ("nt", "tn")
        for left in ("a[i, k]", "a[k, i].T"):
            for right in ("b[k, j]", "b[j, k].T"):
                first = "M K" if left == "a[i, k]" else "K M"
                second = "K N" if right == "b[k, j]" else "N K"
                rotated = f"{'t' if first == 'K M' else 'n'}{'t' if second == 'N K' else 'n'}"
                if rotated in few:
                    continue
                built.append(
                    Small(
                        f"mma_{dtype}_{rotated}",
                        f"""
                        @tp.kernel
                        def k(o: Out[{result}, "M N"], once: Out[{result}, "M N"], a: In[{stored}, "{first}"],
                              b: In[{stored}, "{second}"], *, BM: int = 7, BN: int = 19, BK: int = 6) -> None:
                            for i, j in tp.parallel(M=BM, N=BN):
                                acc = tp.full((i, j), 1, {result})
                                last = tp.zeros((i, j), {result})
                                for k in tp.tiles(K=BK):
                                    x, y = {left}{cast}, {right}{cast}
                                    acc = tp.mma(x, y, acc)
                                    last = x @ y
                                o[i, j] = acc
                                once[i, j] = last
                        """,
                    )
                )
    return built


def of_elements() -> list[Small]:
    """Kernels that compute each element for itself, one operation for each output."""
    results = [elementwise("arithmetic", dtype, 1, _arithmetic(dtype)) for dtype in TYPES]
    results += [elementwise("arithmetic", dtype, 2, _arithmetic(dtype)) for dtype in ("bool", "i64", "f32")]
    results += [elementwise("arithmetic", dtype, 3, _arithmetic(dtype)) for dtype in ("u8", "f8e4m3", "bf16")]
    results += [elementwise("cast", dtype, 1, _casts(dtype)) for dtype in TYPES]
    results += [elementwise("bits", dtype, 1, _bits(dtype)) for dtype in (*INTEGERS, *FLOATS)]
    return results


def of_axes() -> list[Small]:
    """Kernels that add and compare along axes: reductions and products."""
    return [*(small for dtype in TYPES if dtype not in BYTES for small in _reductions(dtype)), *_products()]
