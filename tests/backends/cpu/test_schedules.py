"""Schedules change speed and nothing else: sums that begin with what they are added to, deeper steps of loops, operands
packed once for all programs. Each is compared with the interpreter, and with the same code without the schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from support.agreement import assert_alike, on_both
from tileproof import In, InOut, Out, T, f32, i8, i32
from tileproof.backends.cpu.codegen import parameters
from tileproof.backends.cpu.device.loaded_code import Lowered
from tileproof.backends.cpu.device.pool import Pool
from tileproof.backends.cpu.target import VARIABLE, host
from tileproof.compiler.pipeline import Cpu, lower
from tileproof.ir import ops
from tileproof.ir.walk import walk
from tileproof.runtime.launch import cpu_launches
from tileproof.runtime.launch.launch import prepare

Array = np.ndarray[Any, Any]
DEPTH = 192
"""How deep steps are made here, whatever the caches of this machine."""


def is_able(level: str) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, level)
        try:
            host()
        except tp.LaunchError:
            return False
    return True


LEVELS = [level for level in ("host", "avx512", "avx2", "sse2", "neon") if is_able(level)]


def in_turn_on(*cases: Any) -> list[Any]:
    """Cases, each on one kind of processor."""
    return [pytest.param(LEVELS[number % len(LEVELS)], case) for number, case in enumerate(cases)]


on_levels = pytest.mark.parametrize("level", LEVELS, indirect=True)


@pytest.fixture
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A kind of processor, and steps of one depth on all of them."""
    monkeypatch.setenv(VARIABLE, request.param)
    monkeypatch.setattr(cpu_launches, "depth_for", lambda _: DEPTH)
    return str(request.param)


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return random.integers(least, most, shape, dtype=dtype, endpoint=True)
    return random.standard_normal(shape).astype(dtype)


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.full(shape, 77, dtype)


def copied(args: tuple[Any, ...]) -> list[Any]:
    """The arguments anew; those that are one array, or views of one, stay so."""
    bases: dict[int, Array] = {}

    def of(array: Array) -> Array:
        base = array if array.base is None else array.base
        assert isinstance(base, np.ndarray)
        mine = bases.setdefault(id(base), base.copy(order="K"))
        offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, mine, offset, array.strides)

    return [of(arg) if isinstance(arg, np.ndarray) else arg for arg in args]


@contextmanager
def unscheduled() -> Iterator[None]:
    """Neither deeper steps nor operands packed beforehand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu_launches, "depth_for", lambda _: 0)
        patch.setattr(parameters, "_MOST", 0)
        yield


def assert_same(kernel: tp.Kernel, *args: Any, **constants: Any) -> None:
    """The kernel agrees with the interpreter, and bit by bit with itself without schedules."""
    assert on_both(kernel, lambda: (copied(args), constants)) == []
    with tp.backend("cpu"):
        actual, plain = copied(args), copied(args)
        kernel(*actual, **constants)
        kernel.forget()
        with unscheduled():
            kernel(*plain, **constants)
        kernel.forget()
    for one, other in zip(actual, plain, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()


def fused(kernel: tp.Kernel, *args: Any, **constants: Any) -> ops.KernelIR:
    return lower(prepare(kernel, args, constants)[0].ready, Cpu(DEPTH))


def count(kernel: ops.KernelIR, wanted: Callable[[ops.AnyOp], bool]) -> int:
    return sum(map(wanted, walk(kernel.body)))


def is_addition(op: ops.AnyOp) -> bool:
    return isinstance(op, ops.Binary) and op.fn is ops.BinaryFn.ADD


def packed(kernel: tp.Kernel, *args: Any, **constants: Any) -> tuple[bool, ...]:
    """Which operands a launch packs beforehand."""
    proved, bound = prepare(kernel, args, constants)
    return Lowered(lower(proved.ready, Cpu(DEPTH))).specialization(bound.tensors, bound.dimensions, 1 << 20).packed


def step(kernel: tp.Kernel, *args: Any, **constants: Any) -> int:
    """How many elements the one loop of a kernel goes on by."""
    (result,) = [op.walker.type.size for op in walk(fused(kernel, *args, **constants).body)
                if isinstance(op, ops.TilesLoop)]  # fmt: skip
    assert isinstance(result, int)
    return result


# Products that begin with what they are added to.


@tp.kernel
def added(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        y[i, j] = x[i, j] + a[i, :] @ b[:, j]


@tp.kernel
def added_to(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        y[i, j] = a[i, :] @ b[:, j] + x[i, j]


@tp.kernel
def two_products(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        y[i, j] = a[i, :] @ b[:, j] + (x[i, j] + tp.exp(a[i, :]) @ b[:, j])


@tp.kernel
def of_a_row(y: Out[f32, "M N"], x: In[f32, "N"], a: In[f32, "M K"], b: In[f32, "K N"], by: f32, *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        y[i, j] = x[j] + a[i, :] @ b[:, j] + by


@tp.kernel
def used_twice(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        p = a[i, :] @ b[:, j]
        y[i, j] = (x[i, j] + p) * p


@tp.kernel
def doubled(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        p = a[i, :] @ b[:, j]
        y[i, j] = p + p


@tp.kernel
def handed_on(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], n: i32, *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        p = tp.zeros((i, j))
        t = x[i, j]
        for _ in range(n):
            t = t + p
            p = a[i, :] @ b[:, j]
        if n > 1:
            q = a[i, :] @ b[:, j]
        else:
            q = t
        y[i, j] = t + p + q


@tp.kernel
def of_integers(y: Out[i32, "M N"], x: In[i32, "M N"], a: In[i8, "M K"], b: In[i8, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=4, N=16):
        y[i, j] = x[i, j] + a[i, :] @ b[:, j]


@tp.kernel
def of_what_is_written(y: InOut[f32, "M K"], b: In[f32, "K K"], *, K: int) -> None:
    for i in tp.parallel(M=4):
        p = y[i, :] @ b[:, :]
        y[i, :] = p * 0.5
        q = y[i, :] @ b[:, :]
        y[i, :] = y[i, :] + q + p


SIZES = [(64, 12, 32), (65, 13, 33), (3, 1, 1), (5, 0, 7)]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("level", "sizes"), in_turn_on(*SIZES), indirect=["level"])
def test_sums_that_begin_with_something(level: str, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    y, x, a, b = zeros(m, n), numbers(m, n), numbers(m, k), numbers(k, n)
    for kernel in (added, added_to, two_products, used_twice):
        assert_same(kernel, y, x, a, b)
    assert_same(of_a_row, y, numbers(n), a, b, 1.5)
    assert_same(doubled, y, a, b)
    for turns in (0, 1, 3):
        assert_same(handed_on, y, x, a, b, turns)
    assert_same(of_what_is_written, numbers(m, k) / (k + 1), numbers(k, k))


@pytest.mark.sweep(6)
@on_levels
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_sums_of_integers_wrap_alike(level: str, m: int, k: int, n: int) -> None:
    x = numbers(m, n, dtype=np.int32)
    assert_same(of_integers, zeros(m, n, dtype=np.int32), x, numbers(m, k, dtype=np.int8), numbers(k, n, dtype=np.int8))


def test_which_sums_are_fused() -> None:
    y, x, a, b = zeros(8, 8), numbers(8, 8), numbers(8, 8), numbers(8, 8)
    left = {kernel.name: count(fused(kernel, y, x, a, b), is_addition) for kernel in (added, added_to, two_products)}
    assert left == {"added": 0, "added_to": 0, "two_products": 0}
    assert count(fused(used_twice, y, x, a, b), is_addition) == 1
    assert count(fused(doubled, y, a, b), is_addition) == 1


# Deeper steps.


@tp.kernel
def matmul(
    y: Out[f32, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 4, BN: int = 16, BK: int = 8
) -> None:
    for i, j in tp.parallel(M=BM, N=BN):
        s = tp.zeros((i, j))
        for k in tp.tiles(K=BK):
            s = tp.mma(a[i, k], b[k, j], s)
        y[i, j] = s


@tp.kernel
def turned(y: Out[f32, "M N"], a: In[T, "K M"], b: In[T, "N K"], *, BK: int = 8) -> None:
    for i, j in tp.parallel(M=4, N=16):
        s = tp.zeros((i, j))
        for k in tp.tiles(K=BK):
            s = tp.mma(a[k, i].T, b[j, k].T, s)
        y[i, j] = s


@tp.kernel
def bounded(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], start: i32, stop: i32, *, BK: int = 5) -> None:
    for i, j in tp.parallel(M=4, N=16):
        s = tp.zeros((i, j))
        for k in tp.tiles(K=BK, start=start, stop=stop):
            s = tp.mma(a[i, k], b[k, j], s)
        y[i, j] = s


@tp.kernel
def several(y: Out[f32, "M N"], z: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], c: In[f32, "K N"]) -> None:
    for i, j in tp.parallel(M=4, N=16):
        s = tp.full((i, j), 1.0)
        t = tp.zeros((i, j))
        for k in tp.tiles(K=6):
            t = tp.mma(a[i, k], c[k, j], t)
            s = tp.mma(a[i, k], b[k, j], s)
        y[i, j] = s
        z[i, j] = t


@tp.kernel
def exact(y: Out[i32, "M N"], a: In[i8, "M K"], b: In[i8, "K N"], *, BK: int = 8) -> None:
    for i, j in tp.parallel(M=4, N=16):
        s = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            s = tp.mma(a[i, k], b[k, j], s)
        y[i, j] = s


@tp.kernel
def watched(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"]) -> None:
    for i, j in tp.parallel(M=4, N=16):
        s = tp.zeros((i, j))
        for k in tp.tiles(K=8):
            s = tp.mma(a[i, k], b[k, j], s * 0.5)
        y[i, j] = s


@tp.kernel
def numbered(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], w: In[f32, "K/8"]) -> None:
    for i, j in tp.parallel(M=4, N=16):
        s = tp.zeros((i, j))
        for k in tp.tiles(K=8):
            s = tp.mma(a[i, k] * w.get(k.number, 0.0), b[k, j], s)
        y[i, j] = s


DEPTHS = [0, 1, 5, 8, 191, 192, 193, 400]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("level", "k"), in_turn_on(*DEPTHS), indirect=["level"])
def test_deeper_steps_give_the_same_bits(level: str, k: int) -> None:
    m, n = 9, 17
    y, a, b = zeros(m, n), numbers(m, k), numbers(k, n)
    for size in (1, 5, 8, 100):
        assert_same(matmul, y, a, b, BK=size)
    assert_same(several, y, zeros(m, n), a, b, numbers(k, n, seed=2))
    assert_same(turned, y, a.T.copy(), b.T.copy())
    assert_same(turned, y, a.T, b.T)
    assert_same(matmul, y, a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16))
    ints = zeros(m, n, dtype=np.int32)
    assert_same(exact, ints, numbers(m, k, dtype=np.int8), numbers(k, n, dtype=np.int8))


@pytest.mark.sweep(10)
@on_levels
@pytest.mark.parametrize(("start", "stop"), [(0, 400), (3, 300), (199, 200), (7, 7), (9, 2), (400, 500), (0, -3)])
def test_deeper_steps_between_bounds(level: str, start: int, stop: int) -> None:
    a, b = numbers(9, 400), numbers(400, 17)
    outside = np.ones(400, bool)
    outside[start : max(stop, 0)] = False
    a[:, outside], b[outside] = np.nan, np.inf
    assert step(bounded, zeros(9, 17), a, b, start, stop) == DEPTH // 5 * 5
    assert_same(bounded, zeros(9, 17), a, b, start, stop)


def test_a_start_before_the_axis_is_refused() -> None:
    args = (zeros(4, 16), numbers(4, 40), numbers(40, 16), -1, 9)
    ((code, _),) = on_both(bounded, lambda: (copied(args), {}))
    assert code == "TP0605"


def test_which_steps_become_deeper() -> None:
    y, a, b = zeros(4, 16), numbers(4, 400), numbers(400, 16)
    assert step(matmul, y, a, b) == DEPTH
    assert step(matmul, y, a, b, BK=100) == 100
    assert step(several, y, zeros(4, 16), a, b, b) == DEPTH
    assert step(watched, y, a, b) == 8
    assert step(numbered, y, a, b, numbers(50)) == 8


@pytest.mark.sweep(1)
@on_levels
def test_loops_that_use_more_than_products_are_left_alone(level: str) -> None:
    y, a, b = zeros(9, 17), numbers(9, 400), numbers(400, 17)
    assert_same(watched, y, a, b)
    assert_same(numbered, y, a, b, numbers(50))


# Operands packed beforehand.


@tp.kernel
def one_tile_two_ways(y: Out[f32, "M K"], a: In[f32, "M K"], b: In[f32, "K K"], *, K: int) -> None:
    for i in tp.parallel(M=4):
        w = b[:, :]
        y[i, :] = a[i, :] @ (w @ w) + a[i, :] @ w


@tp.kernel
def heads(
    y: Out[f32, "H M D"], q: In[f32, "H M D"], k: In[T, "G N D"], v: In[T, "G N D"], stop: i32, *, D: int, BN: int = 8
) -> None:
    for h, i in tp.parallel(H=tp.each, M=4):
        g = tp.group(h, "G")
        out = tp.zeros((i, D))
        for n in tp.tiles(N=BN, stop=stop):
            p = q[h, i, :].to(T) @ k[g, n, :].T
            out = tp.mma(p.to(T), v[g, n, :], out)
        y[h, i, :] = out


@tp.kernel
def causal(y: Out[f32, "M D"], q: In[f32, "M D"], k: In[f32, "N D"], v: In[f32, "N D"], *, D: int) -> None:
    for i in tp.parallel(M=4):
        out = tp.zeros((i, D))
        for n in tp.tiles(N=8, stop=i.stop):
            seen = i.elements[:, None] >= n.elements[None, :]
            p = tp.where(seen, q[i, :] @ k[n, :].T, 0.0)
            out = tp.mma(p, v[n, :], out)
        y[i, :] = out


@tp.kernel
def in_turn(y: Out[f32, "B M N"], a: In[f32, "B M K"], w: In[f32, "3 K N"], *, K: int, N: int) -> None:
    for t, i in tp.parallel(B=tp.each, M=4):
        y[t, i, :] = a[t, i, :] @ w[t % 3, :, :]


MANY = [(64, 32, 64), (65, 33, 67), (128, 1, 1), (0, 8, 16), (64, 0, 64), (64, 8, 0), (65, 33, 67), (65, 33, 67)]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("level", "sizes"), in_turn_on(*MANY), indirect=["level"])
def test_operands_packed_beforehand(level: str, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    y, a, b = zeros(m, n), numbers(m, k), numbers(k, n)
    assert packed(matmul, y, a, b) == ((m > 0 and k > 0 and n > 16), m * k * n > 0)
    assert_same(matmul, y, a, b)
    assert_same(turned, y, a.T, b.T.copy())
    assert_same(matmul, y, a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16))
    ints = zeros(m, n, dtype=np.int32)
    assert_same(exact, ints, numbers(m, k, dtype=np.int8), numbers(k, n, dtype=np.int8))


@pytest.mark.sweep(1)
@on_levels
def test_a_tile_that_is_both_left_and_right(level: str) -> None:
    y, a, b = zeros(64, 20), numbers(64, 20), numbers(20, 20)
    assert sum(packed(one_tile_two_ways, y, a, b)) >= 3
    assert_same(one_tile_two_ways, y, a, b)


@pytest.mark.sweep(1)
@on_levels
def test_operands_that_are_one_array(level: str) -> None:
    x = numbers(64, 64)
    assert_same(matmul, zeros(64, 64), x, x)
    assert_same(matmul, zeros(64, 64), x, x.T)
    assert_same(matmul, zeros(64, 64), x, np.ndarray((64, 64), np.float32, x, 0, (4, 4)))
    assert_same(matmul, zeros(64, 64), x[::-1], x[:, ::-1])


@on_levels
def test_no_more_is_packed_than_the_limit_allows(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    y, a, b = zeros(64, 64), numbers(64, 32), numbers(32, 64)
    tile = 4 * 64 * DEPTH
    for limit, expected in ((tile, (True, False)), (tile // 8, (False, False))):
        monkeypatch.setattr(parameters, "_MOST", limit)
        assert packed(matmul, y, a, b) == expected
        with tp.backend("cpu"):
            matmul.forget()
            matmul(y, a, b)
        assert_alike(y, a @ b)
    matmul.forget()


def test_a_launch_between_two_jobs_of_another_is_an_error_and_spoils_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # As when a handler of a signal launches between them.
    y, a, b = zeros(64, 64), numbers(64, 32), numbers(32, 64)
    other, c, d = zeros(64, 64), numbers(64, 32, seed=1), numbers(32, 64, seed=2)
    assert packed(matmul, y, a, b)[0]
    real, came = Pool.run, list[bool]()

    def run(*args: Any) -> None:
        real(*args)
        if not came:
            came.append(True)
            with pytest.raises(tp.InFlight, match="launched, or waited for"):
                matmul(other, c, d)

    monkeypatch.setattr(Pool, "run", run)
    with tp.backend("cpu"):
        matmul(y, a, b)
        assert came
        assert_alike(y, a @ b)
        matmul(other, c, d)
    assert_alike(other, c @ d)


@tp.kernel
def errors_of(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=64, N=64):
        p = a[i, :] @ b[:, j]
        tp.print("sum", p.sum())
        y[i, j] = p + p


@tp.kernel
def untold(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=64, N=64):
        p = a[i, :] @ b[:, j]
        y[i, j] = p * 3.0


def test_a_launch_from_where_a_kernel_prints_is_an_error_and_spoils_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    y, a, b = zeros(64, 64), numbers(64, 64), numbers(64, 64, seed=1)
    other, c, d = zeros(64, 64), numbers(64, 64, seed=2), numbers(64, 64, seed=3)
    written = list[str]()

    def write(text: str) -> None:
        written.append(text)
        with pytest.raises(tp.InFlight, match="launched, or waited for"):
            untold(other, c, d)

    monkeypatch.setattr("sys.stdout", SimpleNamespace(write=write, flush=lambda: None))
    with tp.backend("cpu"):
        errors_of(y, a, b)
    assert "sum" in "".join(written)
    assert_alike(y, 2 * (a @ b))
    with tp.backend("cpu"):
        untold(other, c, d)
    assert_alike(other, 3 * (c @ d))


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("level", "stop"), in_turn_on(0, 1, 7, 8, 20, 37, 40, 99, -1), indirect=["level"])
def test_what_lies_behind_the_stop_of_a_loop_is_not_seen(level: str, stop: int) -> None:
    q, k, v = numbers(6, 16, 5), numbers(2, 37, 5, seed=1), numbers(2, 37, 5, seed=2)
    k[:, max(stop, 0) :], v[:, max(stop, 0) :] = np.nan, np.inf
    y = zeros(6, 16, 5)
    assert_same(heads, y, q, k, v, stop)
    assert_same(heads, y, q, k, v, stop, BN=16)
    assert_same(heads, y, q, k.astype(ml_dtypes.bfloat16), v.astype(ml_dtypes.bfloat16), stop)
    with tp.backend("cpu"):
        heads(y, q, k, v, stop)
    assert np.isfinite(y).all()


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("level", "m"), in_turn_on(1, 4, 30, 64, 30, 30), indirect=["level"])
def test_causal_loops(level: str, m: int) -> None:
    q, k, v = numbers(m, 6), numbers(m, 6, seed=1), numbers(m, 6, seed=2)
    assert_same(causal, zeros(m, 6), q, k, v)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("level", "batch"), in_turn_on(0, 1, 2, 7, 30, 29, 28), indirect=["level"])
def test_tiles_at_computed_places(level: str, batch: int) -> None:
    assert_same(in_turn, zeros(batch, 9, 10), numbers(batch, 9, 12), numbers(3, 12, 10))
