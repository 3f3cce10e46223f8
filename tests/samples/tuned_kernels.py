"""Small tunables, right and wrong, that tests of the tuner share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tileproof as tp
from tileproof import In, InOut, Out, T, f32, i32
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import takes

FACTOR = 2.0


def doubled(tile: object) -> object:
    """A function that a kernel names."""
    return tile * FACTOR  # type: ignore[operator]


@tp.kernel(deny_checks=True)
def double_kernel(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """y = 2 x."""
    for n in tp.parallel(N=B):
        y[n] = doubled(x[n])


@tp.kernel(deny_checks=True)
def double_by_adding_kernel(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """y = x + x."""
    for n in tp.parallel(N=B):
        y[n] = x[n] + x[n]


@tp.kernel(deny_checks=True)
def wrong_by_one_kernel(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """All but element 7 is right."""
    for n in tp.parallel(N=B):
        y[n] = x[n].to(f32) * 2 + tp.where(n.elements == 7, 1.0, 0.0)


@tp.kernel(deny_checks=True)
def nan_in_one_place_kernel(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """NaN in the last element, and nowhere else."""
    for n in tp.parallel(N=B):
        y[n] = x[n].to(f32) * 2 + tp.where(n.elements == tp.dim("N") - 1, tp.inf - tp.inf, 0.0)


@tp.kernel(deny_checks=True)
def unwritten_kernel(y: InOut[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """Writes the first 99 elements of each hundred."""
    for n in tp.parallel(N=tp.each):
        if n % 100 < 99:
            y[n] = x[n] * 2


@tp.kernel(deny_checks=True)
def accumulating_kernel(y: InOut[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """Adds to what is there."""
    for n in tp.parallel(N=B):
        y[n] = y[n] + x[n] * 2


@tp.kernel(deny_checks=True)
def writes_its_input_kernel(y: Out[T, "N"], x: InOut[T, "N"], *, B: int = 64) -> None:
    """Right, and leaves its input changed."""
    for n in tp.parallel(N=B):
        v = x[n]
        y[n] = v * 2
        x[n] = v * 0.5


@tp.kernel(deny_checks=True)
def slightly_off_kernel(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """Every element is off by a hundredth, which no single element shows in bf16."""
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2.02


WRONG = {
    kernel.name: kernel
    for kernel in (
        wrong_by_one_kernel, nan_in_one_place_kernel, unwritten_kernel, accumulating_kernel, writes_its_input_kernel,
        slightly_off_kernel,
    )
}  # fmt: skip
"""Candidates that must not get through the gate."""


def _default(sizes: Sizes, target: str) -> Choice:
    return Choice(double_kernel, {"B": 64})


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    yield from choices(double_kernel, "B=64 B=128 B=256")
    yield from choices(double_by_adding_kernel, "B=128")


DOUBLE = Tunable("double", (double_kernel, double_by_adding_kernel), _default, _space)


def planted(*names: str) -> Tunable:
    """The same with wrong candidates among the right ones."""
    wrong = [WRONG[name] for name in names]

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        yield from (Choice(kernel, {"B": 128}) for kernel in wrong)
        yield from _space(sizes, target)

    return Tunable("planted", (double_kernel, double_by_adding_kernel, *wrong), _default, space)


@tp.kernel(deny_checks=True)
def append_kernel(total: InOut[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """total += x."""
    for n in tp.parallel(N=B):
        total[n] = total[n] + x[n]


APPEND = Tunable(
    "append", (append_kernel,), lambda sizes, target: Choice(append_kernel, {"B": 64}),
    lambda sizes, target: choices(append_kernel, "B=64 B=128"),
)  # fmt: skip


@tp.kernel(deny_checks=True)
def remembering_kernel(y: Out[T, "N"], calls: InOut[i32, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """y = 2 x, and counts its launches."""
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2
        calls[n] = calls[n] + 1


@tp.kernel(deny_checks=True)
def first_call_kernel(y: Out[T, "N"], calls: InOut[i32, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """The same, and counts twice."""
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2
        calls[n] = calls[n] + 2


COUNTED = Tunable(
    "counted", (remembering_kernel, first_call_kernel), lambda sizes, target: Choice(remembering_kernel, {"B": 64}),
    lambda sizes, target: (Choice(remembering_kernel, {"B": 128}), Choice(first_call_kernel, {"B": 128})),
)  # fmt: skip


@tp.kernel(deny_checks=True)
def scaled_kernel(y: Out[T, "N"], x: In[T, "N"], a: f32, *, B: int = 64) -> None:
    """y = a x."""
    for n in tp.parallel(N=B):
        y[n] = x[n].to(f32) * a


SCALED = Tunable(
    "scaled", (scaled_kernel,), lambda sizes, target: Choice(scaled_kernel, {"B": 64}),
    lambda sizes, target: choices(scaled_kernel, "B=64 B=128"), scalars={"a": 0.5}, exact=("N",),
)  # fmt: skip
TUNABLES = (DOUBLE, APPEND, SCALED)


@tp.kernel(deny_checks=True)
def double_rows_kernel(y: Out[T, "J P"], x: In[T, "J P"], *, P: int) -> None:
    """y = 2 x, of arrays that are seen as rows of P."""
    for j in tp.parallel(J=tp.each):
        y[j, :] = x[j, :] * 2


def _in_rows(constants: Any, y: Any, x: Any) -> tuple[Any, ...]:
    return y.reshape(-1, constants["P"]), x.reshape(-1, constants["P"])


takes(double_rows_kernel, _in_rows)
FORMED = Tunable(
    "formed", (double_kernel, double_rows_kernel), _default,
    lambda sizes, target: choices(double_rows_kernel, "P=50 P=64 P=100"),
)  # fmt: skip
"""One of its kernels takes other forms of the arguments."""


@tp.kernel(deny_checks=True)
def product_kernel(
    c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 128, BN: int = 128, BK: int = 64
) -> None:
    """c = a @ b."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = acc


@tp.kernel(deny_checks=True)
def product_split_kernel(
    c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 128, BN: int = 128, SK: int = 1024, BK: int = 64
) -> None:
    """The same, added up in another order."""
    for i, j, z in tp.parallel(M=BM, N=BN, K=tp.split(SK)):
        acc = tp.zeros((i, j), f32)
        for k in z.tiles(BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = tp.join(acc, over=z)
