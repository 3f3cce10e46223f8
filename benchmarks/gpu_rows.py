"""The rows of the GPU benchmark, as data: each a kind of work at one size, its arguments, and what it should reach.

Nothing here needs a GPU or torch: `gpu_launches` makes stand-ins of the arguments, `gpu_peers` tensors of torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .gpu_kernels import CANDIDATES, Candidate, candidate

BANDWIDTH: Final = 4.8e12
"""Bytes per second of an H200, from its datasheet."""
PRODUCTS: Final = 989e12
"""Operations per second of its tensor cores on bf16, dense, from the same."""
Element: TypeAlias = Literal["f32", "bf16", "i32"]
_BYTES: Final = {"f32": 4, "bf16": 2, "i32": 4}


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor argument."""

    shape: tuple[int, ...]
    element: Element
    below: int = 0
    """What integers stay under, from 0 on."""

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * _BYTES[self.element]


@dataclass(frozen=True, slots=True)
class Goal:
    """So many times as fast as a peer."""

    ratio: float
    peer: str


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of work at one size. The first argument is the output."""

    name: str
    kind: str
    size: str
    arguments: tuple[Array | float, ...]
    operations: float
    """On floats, as they are counted in this field: two for each product that is added up."""
    choice: str
    """The label of the candidate that was found best."""
    goal: Goal | None = None

    @property
    def arrays(self) -> tuple[Array, ...]:
        return tuple(each for each in self.arguments if isinstance(each, Array))

    @property
    def bytes(self) -> int:
        """What must move through memory at least: each input once, the output once."""
        return sum(each.nbytes for each in self.arrays)

    @property
    def is_streaming(self) -> bool:
        """Whether memory is what limits it, and not arithmetic."""
        return self.bytes / BANDWIDTH > self.operations / PRODUCTS

    @property
    def limit(self) -> float:
        """The seconds that the datasheet allows at best."""
        return max(self.bytes / BANDWIDTH, self.operations / PRODUCTS)

    @property
    def candidates(self) -> list[Candidate]:
        return CANDIDATES[self.kind]

    @property
    def chosen(self) -> Candidate:
        return candidate(self.kind, self.choice)


def _add() -> Row:
    x = Array((1 << 28,), "f32")
    return Row("add", "add", "2^28 f32", (x, x, x), 2.0**28, "add 1024", Goal(1.0, "torch"))


def _softmax(rows: int, columns: int) -> Row:
    x = Array((rows, columns), "bf16")
    size, goal = f"{rows} x {columns}", Goal(1.1, "torch")
    return Row("softmax", "softmax", size, (x, x), 5.0 * rows * columns, "softmax 1 occupancy=4 persistent", goal)


def _rms_norm(rows: int, columns: int) -> Row:
    x, w = Array((rows, columns), "bf16"), Array((columns,), "bf16")
    size, goal = f"{rows} x {columns}", Goal(1.1, "torch")
    return Row("rms_norm", "rms_norm", size, (x, x, w, 1e-6), 4.0 * rows * columns, "rms_norm 2 occupancy=4", goal)


def _gather(count: int, rows: int, columns: int) -> Row:
    y, table = Array((count, columns), "bf16"), Array((rows, columns), "bf16")
    arguments = y, table, Array((count,), "i32", below=rows)
    return Row("gather", "gather", f"{count} of {rows} x {columns}", arguments, 0.0, "gather 4096")


def _matmul(m: int, n: int, k: int, choice: str, goal: float | None = None, kind: str = "matmul") -> Row:
    size = f"{m}^3" if m == n == k else f"{m} x {n} x {k}"
    b = Array((k, n) if kind == "matmul" else (n, k), "bf16")
    return Row(
        f"{kind} {m}", kind, size, (Array((m, n), "bf16"), Array((m, k), "bf16"), b), 2.0 * m * n * k,
        f"{kind} {choice}", None if goal is None else Goal(goal, "cuBLAS"),
    )  # fmt: skip


def _matvec(model: str, what: str, n: int, k: int, choice: str) -> Row:
    vectors = Array((n,), "bf16"), Array((n, k), "bf16"), Array((k,), "bf16")
    return Row(f"matvec {model} {what}", "matvec", f"{n} x {k}", vectors, 2.0 * n * k, choice, Goal(1.0, "cuBLAS"))


def _attention(length: int, batch: int, *, is_causal: bool, choice: str, goal: float | None = None) -> Row:
    """32 query heads share 8 key heads of 128. A causal mask leaves half of the products."""
    heads, groups, depth = 32 * batch, 8 * batch, 128
    q, k = Array((heads, length, depth), "bf16"), Array((groups, length, depth), "bf16")
    seen = length**2 / 2 if is_causal else length**2
    kind = "attention" if is_causal else "full_attention"
    return Row(
        f"{kind} {length}", kind, f"{f'batch {batch}, ' if batch > 1 else ''}32/8 heads, S {length}, D {depth}",
        (q, q, k, k, depth**-0.5 * math.log2(math.e)), 4.0 * heads * seen * depth, f"{kind} {choice}",
        None if goal is None else Goal(goal, "cuDNN"),
    )  # fmt: skip


_ROWS: Final = "matvec 8x512 occupancy=2 persistent"
_LONG: Final = "matvec 4x1024 occupancy=2 persistent"
_FEW: Final = "matvec 8x256 occupancy=4"
_CORES: Final = "matvec_mma 64x256 occupancy=2 persistent"
ROWS: Final[dict[str, Row]] = {
    row.name: row
    for row in (
        _add(),
        _softmax(8192, 4096),
        _rms_norm(8192, 4096),
        _gather(65536, 65536, 4096),
        _matmul(2048, 2048, 2048, "256x128x64 group=8 persistent warps=8", 1.3),
        _matmul(4096, 4096, 4096, "128x128x64 group=8 persistent", 0.95),
        _matmul(8192, 8192, 8192, "128x128x64 group=8 warps=8", 0.95),
        _matmul(16384, 8192, 8192, "128x128x64 group=8 warps=8"),
        _matmul(8192, 8192, 8192, "128x128x64 group=8 warps=8", kind="matmul_nt"),
        _attention(2048, 1, is_causal=True, choice="64x128 occupancy=2 persistent", goal=1.0),
        _attention(8192, 1, is_causal=True, choice="64x128 occupancy=2", goal=0.95),
        _attention(4096, 4, is_causal=False, choice="128x128 cluster=2 occupancy=2"),
        _matvec("4B", "qkv", 6144, 2560, _ROWS),
        _matvec("4B", "o", 2560, 4096, _FEW),
        _matvec("4B", "gate_up", 19456, 2560, _ROWS),
        _matvec("4B", "down", 2560, 9728, _FEW),
        _matvec("4B", "head", 151936, 2560, _CORES),
        _matvec("32B", "qkv", 10240, 5120, _CORES),
        _matvec("32B", "o", 5120, 8192, _LONG),
        _matvec("32B", "gate_up", 51200, 5120, _LONG),
        _matvec("32B", "down", 5120, 25600, _LONG),
        _matvec("32B", "head", 151936, 5120, _ROWS),
    )
}
"""Matrices of Qwen3-4B and Qwen3-32B for one token are among them."""

LAUNCHES: Final = "launch"
_MILLION: Final = Array((1 << 20,), "f32")
LAUNCH: Final = Row(
    LAUNCHES, "add", "add of 2^20 f32, host", (_MILLION, _MILLION, _MILLION), 2.0**20, "add 1024", Goal(0.6, "torch")
)
"""Whose launch is timed on the host. Its goal is at most so much of the time that the peer takes."""
NAMES: Final = (*ROWS, LAUNCHES)
"""What can be chosen."""


def chosen(words: list[str]) -> list[str]:
    """The rows that have one of the words in their names; all without words."""
    unknown = [word for word in words if not any(word in name for name in NAMES)]
    if unknown:
        raise SystemExit(f"no row has {', '.join(unknown)} in its name; there are: {', '.join(NAMES)}")
    return [name for name in NAMES if not words or any(word in name for word in words)]
