"""Launches whose indices are checked as they run, each with arguments that pass and with some that do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.example_launches import example
from samples.launch import Made, Make
from tileproof import In, InOut, Out, Sum, f32, i32, i64


@tp.kernel
def gathered(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """A tile of indices."""
    for n in tp.parallel(N=8):
        y[n] = table[at[n]]


@tp.kernel
def pages_read(y: Out[f32, "B S"], pages: In[f32, "P S"], table: In[i32, "B L"], used: In[i32, "B"], *, S: int) -> None:
    """A table of pages that a loop goes through."""
    for b in tp.parallel(B=tp.each):
        total = tp.zeros((S,))
        for n in tp.tiles(L=tp.each, stop=used[b]):
            total = total + pages[table[b, n], :]
        y[b, :] = total


@tp.kernel
def shifted_in_place(y: InOut[f32, "N"], by: In[i64, "1"]) -> None:
    """Writes where it should not, if it is let."""
    for n in tp.parallel(N=tp.each):
        if n.start == 0:
            y[by[0]] = 100.0


@tp.kernel(schedule=tp.Schedule(persistent=True))
def gathered_by_few(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """Each block goes through many programs."""
    for n in tp.parallel(N=tp.each):
        y[n] = table[at[n]]


@tp.kernel
def joined_pick(y: Out[f32, "1"], x: In[f32, "N"], table: In[f32, "V"], at: In[i32, "1"], *, SN: int = 6) -> None:
    """A check behind the join."""
    for z in tp.parallel(N=tp.split(SN)):
        total = tp.join(x[z].sum(), over=z)
        y[0] = total + table[at[0]]


@tp.kernel
def counted(count: Sum[i32, "V"], at: In[i32, "N"]) -> None:
    """An update that is held back."""
    for n in tp.parallel(N=8):
        count[at[n]] += 1


@tp.kernel
def cut(cache: InOut[f32, "C"], at: In[i32, "1"], x: In[f32, "N"]) -> None:
    """A check before all programs."""
    _, fresh = tp.split_at(cache, "C", at[0])
    for n in tp.parallel(N=4):
        fresh[n] = x[n]


def floats(*shape: int) -> Any:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def _gathered(kernel: tp.Kernel, wrong: dict[int, int]) -> Made:
    at = (np.arange(21) * 5 % 9).astype(np.int32)
    for place, index in wrong.items():
        at[place] = index
    return kernel, [floats(21), floats(9), at], {}


def _pages(wrong: dict[tuple[int, int], int]) -> Made:
    table = (np.arange(12) * 7 % 5).astype(np.int32).reshape(3, 4)
    for place, page in wrong.items():
        table[place] = page
    return pages_read, [floats(3, 6), floats(5, 6), table, ints(4, 2, 3)], {}


def _example(name: str, pos: int) -> Made:
    arguments, constants = example(name).arguments(pos=pos)
    return getattr(example(name), name), arguments, constants


Both = tuple[Make, tuple[Make, ...]]
CHECKS: Final[dict[str, Both]] = {
    "gathered": (
        partial(_gathered, gathered, {}),
        tuple(partial(_gathered, gathered, wrong) for wrong in ({3: 9}, {20: -1}, {5: 2**31 - 1, 17: -(2**31)})),
    ),
    "pages": (
        partial(_pages, {}),
        tuple(partial(_pages, wrong) for wrong in ({(0, 3): 5}, {(1, 0): -7}, {(2, 2): 10**9, (2, 3): 10**9})),
    ),
    "shifted": (
        lambda: (shifted_in_place, [floats(7), np.array([3])], {}),
        tuple(
            (lambda by=by: (shifted_in_place, [floats(7), np.array([by])], {})) for by in (7, -1, 2**62, -(2**63))
        ),
    ),
    "persistent": (
        partial(_gathered, gathered_by_few, {}),
        tuple(partial(_gathered, gathered_by_few, wrong) for wrong in ({0: 9}, {20: 10**6, 19: -1})),
    ),
    "joined": (
        lambda: (joined_pick, [floats(1), floats(20), floats(4), ints(3)], {}),
        ((lambda: (joined_pick, [floats(1), floats(20), floats(4), ints(4)], {})),),
    ),
    "counted": (
        lambda: (counted, [ints(0, 0, 0), ints(*(n % 3 for n in range(21)))], {}),
        ((lambda: (counted, [ints(0, 0, 0), ints(*(n % 3 for n in range(20)), 3)], {})),),
    ),
    "cut": (
        lambda: (cut, [floats(11), ints(4), floats(6)], {}),
        tuple((lambda at=at: (cut, [floats(11), ints(at), floats(6)], {})) for at in (-1, 6, 12)),
    ),
    "kv_append": (partial(_example, "kv_append", 14), tuple(partial(_example, "kv_append", pos) for pos in (15, -1))),
    "append_attention": (
        partial(_example, "append_attention", 24),
        (partial(_example, "append_attention", 25), partial(_example, "append_attention", -3)),
    ),
    "qkv": (partial(_example, "qkv", 8), (partial(_example, "qkv", 9), partial(_example, "qkv", -(2**31)))),
}
"""By name: a launch that passes, and launches that do not."""


def checks() -> dict[str, Make]:
    """Those that pass, by name: the others run the same code."""
    results: dict[str, Make] = {f"check {name}": passing for name, (passing, _) in CHECKS.items()}
    results["check cut, no programs"] = without_programs
    return results


def without_programs(at: int = 4) -> Made:
    """No program is there to make the check."""
    return cut, [floats(11), ints(at), floats(0)], {}


def failing(name: str) -> tuple[Callable[[], Made], ...]:
    """The launches of one kernel that do not pass."""
    return CHECKS[name][1]
