"""Which tensors supply premises: those whose contents an index, a guard, a bound, a branch or an entry depends on."""

from __future__ import annotations

from typing import Any

import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Out, f32, i32
from tileproof.analysis.premise_tensors import premises_of
from tileproof.compiler.pipeline import passed
from tileproof.frontend.elaborate import accepted


@tp.kernel
def clipped(y: Out[Index["V"], "N"], x: In[i32, "N"], w: In[f32, "V"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = tp.clip(x[n], 0, tp.dim("V") - 1)


@tp.kernel
def clipped_elsewhere(y: Out[Index["V"], "N"], x: In[i32, "N"], w: In[f32, "V"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = tp.clip(x[n], 0, tp.dim("N") - 1)


@tp.kernel
def chosen(y: Out[Index["V"], "N"], x: In[f32, "N"], w: In[i32, "V"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = tp.where(x[n] > 0, tp.clip(w[0], 0, tp.dim("V") - 1), -1)


@tp.kernel
def limited(y: Out[Index["V"], "N"], x: In[i32, "N"], w: In[f32, "V"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = tp.where((x[n] >= 0) & (x[n] < tp.dim("V")), x[n], -1)


@tp.kernel
def static(y: Out[Index["V"], "N"], x: In[i32, "N"], w: In[f32, "V"], *, V: int, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = tp.minimum(V - 1, tp.maximum(x[n], -1))


@tp.kernel
def low(y: Out[Index["V"], "N"], x: In[i32, "N"], w: In[f32, "V"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = tp.clip(x[n], -2, tp.dim("V") - 1)


@tp.kernel
def guarded(y: InOut[f32, "N"], x: In[f32, "N"], w: In[f32, "N"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        if w[0] > 0:
            y[n] = x[n]


@tp.kernel
def gathered(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[at[n]]


@tp.kernel
def taken(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x.get(at[n], 0.0)


@tp.kernel
def taken_from_written(x: InOut[f32, "V"], at: In[i32, "1"]) -> None:
    for v in tp.parallel(V=tp.each):
        if at[0] == v:
            x[v] = x.get(at[0], 0.0) + 1


@tp.kernel
def taken_by_entries(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x.get(at[n], 0.0)


@tp.kernel
def taken_of_a_tile(y: InOut[f32, "N"], x: In[f32, "N"], at: In[i32, "1"], *, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n] + x[n][at[0]]


CASES: tuple[tuple[Any, dict[str, int], set[str]], ...] = (
    (clipped, {}, set()),
    (clipped_elsewhere, {}, {"x"}),
    (chosen, {}, set()),
    (limited, {}, {"x"}),
    (static, {"V": 7}, set()),
    (low, {}, {"x"}),
    (guarded, {}, {"w"}),
    (gathered, {}, {"at"}),
    (taken, {}, set()),
    (taken_by_entries, {}, {"at"}),
    (taken_of_a_tile, {}, {"at"}),
    (taken_from_written, {}, {"at"}),
)


@pytest.mark.parametrize(("kernel", "constants", "expected"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_premises_are_what_memory_accesses_and_entries_depend_on(
    kernel: Any, constants: dict[str, int], expected: set[str]
) -> None:
    assert premises_of(passed(accepted(kernel, constants)).ir) == expected
