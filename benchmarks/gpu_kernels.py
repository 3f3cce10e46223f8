"""Kernels of the GPU benchmark: safe ones, each with the tile sizes and schedules that are worth a try.

All but `gather` leave no check for run time: `deny_checks` says so. How programs are laid over the GPU is no part of a
kernel, so a candidate is a kernel, its tile sizes and a schedule; `python -m benchmarks.gpu --sweep` times them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import tileproof as tp
from tileproof import In, Out, Schedule, T, f32, i32

# Elementwise, and rows of a matrix.


@tp.kernel(deny_checks=True)
def add(z: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], *, BN: int) -> None:
    """z = x + y."""
    for n in tp.parallel(N=BN):
        z[n] = x[n] + y[n]


@tp.kernel(deny_checks=True)
def softmax(y: Out[T, "R C"], x: In[T, "R C"], *, C: int, BR: int) -> None:
    """exp(x) of each row, divided by its sum; whole rows in one tile, because C is static."""
    for r in tp.parallel(R=BR):
        row = x[r, :].to(f32)
        weight = tp.exp(row - row.max(axis=1, keepdims=True))
        y[r, :] = weight / weight.sum(axis=1, keepdims=True)


@tp.kernel(deny_checks=True)
def rms_norm(y: Out[T, "R C"], x: In[T, "R C"], w: In[T, "C"], eps: f32, *, C: int, BR: int) -> None:
    """Each row of x divided by its root mean square, times w."""
    for r in tp.parallel(R=BR):
        row = x[r, :].to(f32)
        y[r, :] = row * tp.rsqrt((row * row).mean(axis=1, keepdims=True) + eps) * w[:].to(f32)


@tp.kernel
def gather(y: Out[T, "N D"], table: In[T, "V D"], ids: In[i32, "N"], *, BD: int) -> None:
    """y[n] = table[ids[n]]. Nobody promises what the numbers are: each is tested before it is used."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[n, d] = table[ids[n], d]


# Products of matrices.


@tp.kernel(deny_checks=True)
def matmul(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int, BN: int, BK: int) -> None:
    """c = a @ b."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = acc


@tp.kernel(deny_checks=True)
def matmul_nt(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "N K"], *, BM: int, BN: int, BK: int) -> None:
    """c = a @ b.T, the form of a linear layer."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        c[i, j] = acc


# A matrix times a vector. Which form streams best is for the GPU to say.


@tp.kernel(deny_checks=True)
def matvec(y: Out[T, "N"], w: In[T, "N K"], x: In[T, "K"], *, BN: int, BK: int) -> None:
    """y = w @ x. Sums of each lane are carried through the loop and added up once, behind it."""
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n, BK))
        for k in tp.tiles(K=BK):
            acc += (w[n, k].to(f32) * x[k].to(f32)).fill(0)
        y[n] = acc.sum(axis=1)


@tp.kernel(deny_checks=True)
def matvec_by_turns(y: Out[T, "N"], w: In[T, "N K"], x: In[T, "K"], *, BN: int, BK: int) -> None:
    """y = w @ x. Every turn of the loop adds up its tile."""
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            acc += (w[n, k].to(f32) * x[k].to(f32)).sum(axis=1)
        y[n] = acc


@tp.kernel(deny_checks=True)
def matvec_mma(y: Out[T, "N"], w: In[T, "N K"], x: In[T, "K"], *, BN: int, BK: int) -> None:
    """y = w @ x on tensor cores, which take no fewer than eight columns: all eight hold x."""
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n, 8), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(w[n, k], x[k][:, None] + tp.zeros((1, 8), x.dtype), acc)
        y[n] = acc.max(axis=1)


# Attention.


def weighed(state: Any, scores: Any, values: Any, scale: Any) -> Any:
    """One more tile of keys in a softmax that runs along: greatest score, total weight and weighted sum so far."""
    top, total, acc = state
    new = tp.maximum(top, scores.max(axis=1) * scale)
    weight, fade = tp.exp2(scores * scale - new[:, None]), tp.exp2(top - new)
    return new, total * fade + weight.sum(axis=1), acc * fade[:, None] + weight.to(values.dtype) @ values


def mean_of(state: Any) -> Any:
    """The weighted mean. One quotient for each row: tiles of them take two more products for each element."""
    _, total, acc = state
    return acc * (1.0 / total)[:, None]


@tp.kernel(deny_checks=True)
def attention(
    o: Out[T, "H S D"], q: In[T, "H S D"], k: In[T, "G S D"], v: In[T, "G S D"], scale: f32, *, D: int, BS: int, BT: int
) -> None:
    """Query s of each head looks at the first s + 1 keys; H / G heads share keys. `scale` is for powers of 2.

    Keys before the first query of a tile are seen by all its queries, so only the tiles behind need a mask. Both walks
    begin and end at multiples of BT: none of their tiles is short.
    """
    for h, s in tp.parallel(H=tp.each, S=BS):
        g, query = tp.group(h, "G"), q[h, s, :]
        state = tp.full((s,), -tp.inf), tp.zeros((s,)), tp.zeros((s, D))
        edge = s.start // BT * BT
        for t in tp.tiles(S=BT, stop=edge):
            state = weighed(state, query @ k[g, t, :].T, v[g, t, :], scale)
        for t in tp.tiles(S=BT, start=edge, stop=tp.cdiv(s.stop, BT) * BT):
            seen = s.elements[:, None] >= t.elements[None, :]
            state = weighed(state, tp.where(seen, query @ k[g, t, :].T, -tp.inf), v[g, t, :], scale)
        o[h, s, :] = mean_of(state)


@tp.kernel(deny_checks=True)
def attention_one_loop(
    o: Out[T, "H S D"], q: In[T, "H S D"], k: In[T, "G S D"], v: In[T, "G S D"], scale: f32, *, D: int, BS: int, BT: int
) -> None:
    """The same with one loop, and the mask on every tile."""
    for h, s in tp.parallel(H=tp.each, S=BS):
        g, query = tp.group(h, "G"), q[h, s, :]
        state = tp.full((s,), -tp.inf), tp.zeros((s,)), tp.zeros((s, D))
        for t in tp.tiles(S=BT, stop=tp.cdiv(s.stop, BT) * BT):
            seen = s.elements[:, None] >= t.elements[None, :]
            state = weighed(state, tp.where(seen, query @ k[g, t, :].T, -tp.inf), v[g, t, :], scale)
        o[h, s, :] = mean_of(state)


@tp.kernel(deny_checks=True)
def full_attention(
    o: Out[T, "H S D"], q: In[T, "H S D"], k: In[T, "G S D"], v: In[T, "G S D"], scale: f32, *, D: int, BS: int, BT: int
) -> None:
    """Every query looks at all keys; H / G heads share keys. `scale` is for powers of 2."""
    for h, s in tp.parallel(H=tp.each, S=BS):
        g, query = tp.group(h, "G"), q[h, s, :]
        state = tp.full((s,), -tp.inf), tp.zeros((s,)), tp.zeros((s, D))
        for t in tp.tiles(S=BT):
            state = weighed(state, query @ k[g, t, :].T, v[g, t, :], scale)
        o[h, s, :] = mean_of(state)


# Candidates.


@dataclass(frozen=True)
class Candidate:
    """A kernel with tile sizes and a schedule."""

    kernel: tp.Kernel
    tiles: Mapping[str, int]
    schedule: Schedule
    scheduled: tp.Kernel = field(init=False, repr=False)
    """The kernel as it is launched."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheduled", self.kernel.with_schedule(self.schedule))

    @property
    def label(self) -> str:
        """`matmul 128x128x64 persistent group=8`, different for each."""
        said = repr(self.schedule).removeprefix("Schedule(").removesuffix(")").replace("=True", "")
        return " ".join([self.kernel.name, "x".join(map(str, self.tiles.values())), *said.split(", ")]).strip()


def candidates(kernel: tp.Kernel, tiles: str, *schedules: Schedule) -> Iterator[Candidate]:
    """A candidate for every tile, as `BM=128,BN=64` with spaces between, under every schedule."""
    for text, schedule in product(tiles.split(), schedules):
        sizes = (each.split("=") for each in text.split(","))
        yield Candidate(kernel, {name: int(size) for name, size in sizes}, schedule)


def _plain(*occupancies: int) -> list[Schedule]:
    return [Schedule(occupancy=each) for each in occupancies]


def _lasting(*occupancies: int) -> list[Schedule]:
    """As many programs as the GPU holds."""
    return [Schedule(persistent=True, occupancy=each) for each in occupancies]


_GROUPED = (Schedule(group=8), Schedule(persistent=True, group=8))
_WIDE = (Schedule(group=8, warps=8), Schedule(persistent=True, group=8, warps=8), Schedule(group=8, cluster=2))
"""For accumulators that are too large for the registers of four warps."""


def _matmul(kernel: tp.Kernel) -> list[Candidate]:
    return [
        *candidates(kernel, "BM=128,BN=128,BK=64", Schedule(), *_GROUPED, Schedule(group=16),
                    Schedule(persistent=True), Schedule(persistent=True, group=16), Schedule(group=8, occupancy=2),
                    *_WIDE),
        *candidates(kernel, "BM=128,BN=256,BK=64 BM=256,BN=128,BK=64", *_WIDE, Schedule(group=4, warps=8),
                    Schedule(persistent=True, group=4, warps=8)),
        *candidates(kernel, "BM=64,BN=256,BK=64 BM=128,BN=128,BK=128 BM=128,BN=64,BK=64", *_GROUPED),
        *candidates(kernel, "BM=64,BN=128,BK=64 BM=128,BN=64,BK=64", Schedule(group=8, occupancy=2)),
        *candidates(kernel, "BM=128,BN=128,BK=64 BM=256,BN=128,BK=64", Schedule(group=8, cluster=2, occupancy=2)),
    ]  # fmt: skip


def _attention(*kernels: tp.Kernel) -> list[Candidate]:
    twice = (
        Schedule(occupancy=2), Schedule(occupancy=2, persistent=True), Schedule(occupancy=2, reverse=True),
        Schedule(occupancy=2, persistent=True, reverse=True),
    )  # fmt: skip
    eight = (Schedule(warps=8), Schedule(warps=8, latency=1), Schedule(warps=8, persistent=True))
    return [
        each
        for kernel in kernels
        for each in (
            *candidates(kernel, "BS=64,BT=128", *twice),
            *candidates(kernel, "BS=64,BT=64", twice[0], Schedule(occupancy=2, latency=3)),
            *candidates(kernel, "BS=128,BT=128", *eight, Schedule(cluster=2, occupancy=2),
                        Schedule(cluster=2, occupancy=2, reverse=True), Schedule(warps=8, reverse=True)),
            *candidates(kernel, "BS=128,BT=64", eight[0]),
            *candidates(kernel, "BS=256,BT=128", Schedule(cluster=2, warps=8)),
        )
    ]


def _rows(kernel: tp.Kernel) -> list[Candidate]:
    return [
        *candidates(kernel, "BR=1 BR=2", Schedule(), *_plain(2, 4), *_lasting(1, 2, 4)),
        *candidates(kernel, "BR=4", *_plain(2), *_lasting(1, 2)),
        *candidates(kernel, "BR=1", Schedule(occupancy=4, tma=False), Schedule(occupancy=8, tma=False)),
        *candidates(kernel, "BR=2", Schedule(occupancy=4, tma=False)),
    ]


_NARROW = "BN=8,BK=256 BN=16,BK=256 BN=4,BK=512 BN=8,BK=512 BN=16,BK=512 BN=4,BK=1024 BN=32,BK=128"
_SMALL = "BN=8,BK=256 BN=16,BK=256 BN=4,BK=512 BN=8,BK=512 BN=32,BK=128"
CANDIDATES: dict[str, list[Candidate]] = {
    "add": list(candidates(add, "BN=1024 BN=2048 BN=4096", Schedule(), *_plain(8), *_lasting(8))),
    "softmax": _rows(softmax),
    "rms_norm": _rows(rms_norm),
    "gather": list(candidates(gather, "BD=1024 BD=2048 BD=4096", Schedule(), *_plain(8))),
    "matmul": _matmul(matmul),
    "matmul_nt": _matmul(matmul_nt),
    "matvec": [
        *candidates(matvec, _NARROW, Schedule(), *_plain(2, 4), *_lasting(1, 2)),
        *candidates(matvec_by_turns, _SMALL, *_plain(2, 4), *_lasting(1)),
        *candidates(matvec_mma, "BN=64,BK=128 BN=64,BK=256", *_plain(1), *_lasting(1, 2)),
    ],
    "attention": _attention(attention, attention_one_loop),
    "full_attention": _attention(full_attention),
}  # fmt: skip
"""What is worth a try, by the kind of work."""


def candidate(kind: str, label: str) -> Candidate:
    """A candidate by its label."""
    return next(each for each in CANDIDATES[kind] if each.label == label)
