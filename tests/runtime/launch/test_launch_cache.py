"""Launches like an earlier one: none runs that the full way would reject, and all give what it gives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from support import repeated
from support.launch_caches import forget_launches, fully_launched
from support.repeated import (
    KERNELS,
    gather,
    grouped,
    looked_up,
    moved,
    numbers,
    permuted,
    ragged,
    raised,
    rejection,
    required,
    same_launch,
    scale,
    scatter,
    shifted,
    weak,
    wide,
    window,
)
from support.tiers import examples
from tileproof.backends.cpu.target import VARIABLE, host
from tileproof.diagnostics.codes import Code
from tileproof.runtime.launch import cpu_launches, launch_cache
from tileproof.runtime.launch.launch_cache import FORMS
from tileproof.runtime.native.plans import MOST

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True, params=[nullcontext, lambda: tp.backend("cpu")], ids=["native", "in Python"])
def cpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a backend is chosen, launches that are like an earlier one are recognised by Python."""
    for kernel in KERNELS:
        forget_launches(kernel)
    with request.param():
        yield


@pytest.fixture
def full() -> Iterator[list[str]]:
    """The kernels of which a launch goes the full way."""
    with fully_launched() as kernels:
        yield kernels


def test_a_launch_like_an_earlier_one_goes_the_short_way(full: list[str]) -> None:
    """Without this the others would show nothing."""
    for by, rows in ((1.0, 4), (2.0, 4), (3.0, 6)):
        y, x = np.zeros((rows, 8), np.float32), numbers(rows, 8)
        scale(y, x, by)
        np.testing.assert_array_equal(y, x * by * 2)
    assert full == ["scale"]


def test_outputs_that_nobody_has_written(full: list[str]) -> None:
    """They are noted as written: what is beside them is not."""
    x = tp.from_numpy(numbers(4, 8))
    for by in (1.0, 2.0):
        whole, part = tp.empty((4, 8)), tp.empty((8, 8))
        full.clear()
        scale(whole, x, by)
        assert full == ["scale"] * (by == 1.0)
        scale(part[::2], x, by)
        assert full[-1] == "scale", "what was written of a part is noted one by one"
        assert whole.tolist() == part[::2].tolist() == (numbers(4, 8) * by * 2).tolist()
        assert (whole.is_initialised, part.is_initialised, whole.version) == (True, False, 1)
        assert rejection(scale, whole, part[1::2], by) is Code.UNINITIALISED


# Arrays.


def test_outputs_that_share_memory() -> None:
    memory = np.zeros(200, np.float32)
    y, x = memory[:32].reshape(4, 8), memory[64:96].reshape(4, 8)
    assert same_launch(scale, y, x, 2.0) == []
    assert rejection(scale, x, x, 2.0) == Code.ALIASED
    for start in (1, 16, 31):
        assert rejection(scale, y, memory[start : start + 32].reshape(4, 8), 2.0) == Code.ALIASED
    assert same_launch(scale, y, memory[32:64].reshape(4, 8), 2.0) == []


def test_views_that_run_backwards_or_are_interleaved() -> None:
    memory = np.zeros(64, np.float32)
    assert same_launch(moved, memory[0:32:2], memory[1:33:2]) == []
    assert same_launch(moved, memory[1:33:2], memory[0:32:2]) == []
    assert rejection(moved, memory[0:32:2], memory[2:34:2]) == Code.ALIASED
    assert same_launch(moved, memory[15::-1], memory[31:15:-1]) == []
    assert rejection(moved, memory[15::-1], memory[16:0:-1]) == Code.ALIASED
    assert rejection(moved, memory[15::-1], memory[15::-1]) == Code.ALIASED


def test_arrays_that_cannot_be_written(full: list[str]) -> None:
    y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
    scale(y, x, 1.0)
    y.flags.writeable = False
    assert rejection(scale, y, x, 2.0) == Code.READ_ONLY
    x.flags.writeable = False
    full.clear()
    scale(np.zeros((4, 8), np.float32), x, 3.0)
    assert full == []
    assert same_launch(scale, np.zeros((4, 8), np.float32), x, 2.0) == []


def test_arrays_at_odd_addresses() -> None:
    memory = bytearray(400)
    y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
    scale(y, x, 1.0)
    odd = np.frombuffer(memory, np.float32, 32, offset=1 + -np.frombuffer(memory, np.uint8).ctypes.data % 4)
    assert rejection(scale, odd.reshape(4, 8), x, 2.0) == Code.MISALIGNED
    assert rejection(scale, y, odd.reshape(4, 8), 2.0) == Code.MISALIGNED


class Loud(np.ndarray[Any, Any]):
    """A subclass that says it lies elsewhere."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {**np.asarray(self).__array_interface__, "data": (8, False)}


def test_arrays_of_other_kinds() -> None:
    y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
    scale(y, x, 1.0)
    assert rejection(scale, y, np.ma.masked_array(x), 2.0) == Code.ARGUMENT_KIND
    assert rejection(scale, y, x.tolist(), 2.0) == Code.ARGUMENT_KIND
    assert rejection(scale, y, x.astype(">f4"), 2.0) == Code.ARGUMENT_DTYPE
    assert rejection(scale, y, x.astype(np.float16), 2.0) == Code.ARGUMENT_DTYPE
    assert rejection(scale, y, x[:3], 2.0) == Code.DIMENSION_DIFFERS
    assert rejection(scale, y, x[0], 2.0) == Code.ARGUMENT_RANK
    assert same_launch(scale, y, x.view(Loud), 3.0) == []
    np.testing.assert_array_equal(y, x * 6)
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float64):
        assert same_launch(scale, np.zeros((4, 8), dtype), numbers(4, 8, dtype=dtype), 2.0) == []
    assert same_launch(scale, np.zeros((8, 4), np.float32).T, x, 2.0) == []
    assert rejection(scale, np.broadcast_to(np.float32(0), (4, 8)), x, 2.0) == Code.READ_ONLY


def test_one_shape_with_other_strides() -> None:
    """Code that counts on neighbours lying side by side is not run where they do not."""
    for make in (np.ascontiguousarray, np.asfortranarray, lambda a: np.repeat(a, 3, 1)[:, ::3], lambda a: a[:, ::-1]):
        y, x = make(np.zeros((5, 16), np.float32)), make(numbers(5, 16))
        for _ in range(2):
            assert same_launch(scale, y, x, 1.5) == []
            np.testing.assert_array_equal(y, x * 3)


def test_empty_arrays() -> None:
    for shape in ((0, 8), (4, 0), (0, 0), (4, 8), (0, 8)):
        y, x = np.zeros(shape, np.float32), numbers(*shape)
        for _ in range(2):
            assert same_launch(scale, y, x, 1.5) == []
    memory = np.zeros(32, np.float32)
    for _ in range(2):
        assert same_launch(scale, memory[8:8].reshape(0, 8), memory[:0].reshape(0, 8), 1.0) == []


# Numbers.


@pytest.mark.parametrize(
    "by", [3, 0.1, -0.0, 1e-50, 1e38, 3.5e38, -1e39, 2**127, 2**128, 10**400, float("inf"), float("-inf"), float("nan"),
           True, np.float32(2), np.float64(2), np.int64(3), np.array(2.0), "2", None, 1j],
    ids=lambda by: f"{type(by).__name__} {str(by)[:9]}",
)  # fmt: skip
def test_numbers_of_all_kinds(by: Any) -> None:
    x = numbers(4, 8)
    for first in (1.0, 1):
        scale(np.zeros((4, 8), np.float32), x, first)
    same_launch(scale, np.zeros((4, 8), np.float32), x, by)


@pytest.mark.sweep(16)
@pytest.mark.parametrize("by", [1.5, 10**400, -(10**400), 1e308, float("inf"), float("nan"), 2**1023, 2**1024, 3],
                         ids=lambda by: f"{type(by).__name__} {str(by)[:9]}")
@pytest.mark.parametrize("up", [0, -128, 127, 128, -129, 1.0, True])
def test_numbers_that_may_not_fit(by: Any, up: Any) -> None:
    for first in (1.0, 1):
        wide(np.zeros(5), first, 1, 1)
    for at in (0, 2**64 - 1, 2**64, -1):
        result = same_launch(wide, np.zeros(5), by, up, at)
        fits = 0 <= at < 2**64 and type(up) is int and -128 <= up < 128 and not (type(by) is int and abs(by) >= 2**1024)
        assert (result == []) == fits


def test_numbers_whose_kind_decides_the_type() -> None:
    y = np.zeros(5, np.float32)
    for by, expected in ((2, 2), (0.5, 0.5), (3, 3), (-0.25, -0.25)):
        assert same_launch(weak, y, by) == []
        np.testing.assert_array_equal(y, np.full(5, expected))
    assert rejection(weak, y, 2**31) == Code.ARGUMENT_DTYPE


# Contents and contracts.


def test_index_tensors_whose_contents_change(full: list[str]) -> None:
    y, table, ids = np.zeros(3, np.float32), numbers(5), np.array([0, 4, 2], np.int32)
    for _ in range(2):
        gather(y, table, ids)
    assert full == ["gather"]
    for wrong in (5, -1, -2, 2**31 - 1, -(2**31)):
        ids[1] = wrong
        assert rejection(gather, y, table, ids) == Code.CONTENTS
    ids[1] = 3
    assert same_launch(gather, y, table, ids) == []
    np.testing.assert_array_equal(y, table[ids])


def test_unique_tensors_whose_contents_change() -> None:
    y, x, to = np.zeros(5, np.float32), numbers(3), np.array([0, 4, 2], np.int64)
    for _ in range(2):
        assert same_launch(scatter, y, x, to) == []
    to[1] = 2
    assert rejection(scatter, y, x, to) == Code.CONTENTS
    to[1] = -1
    assert same_launch(scatter, y, x, to) == []
    to[1] = 5
    assert rejection(scatter, y, x, to) == Code.CONTENTS
    y, to = np.zeros(3, np.float32), np.array([2, 0, 1])
    for _ in range(2):
        assert same_launch(permuted, y, x, to) == []
    to[0] = -1
    assert rejection(permuted, y, x, to) == Code.CONTENTS


def test_offsets_whose_contents_change() -> None:
    y, off = np.zeros(6, np.float32), np.array([0, 2, 6], np.int32)
    for _ in range(2):
        assert same_launch(ragged, y, off) == []
    for wrong in ([0, 7, 6], [1, 2, 6], [0, 2, 5], [0, -1, 6], [0, 2, 600]):
        off[:] = wrong
        assert rejection(ragged, y, off) == Code.CONTENTS
    off[:] = [0, 5, 6]
    assert same_launch(ragged, y, off) == []


def test_contracts_of_extents_and_numbers() -> None:
    x = numbers(6)
    for _ in range(2):
        assert same_launch(grouped, np.zeros(6, np.float32), numbers(3)) == []
        assert rejection(grouped, np.zeros(6, np.float32), numbers(4)) == Code.CONTRACT
        assert same_launch(required, np.zeros(6, np.float32), x, 6) == []
        assert rejection(required, np.zeros(6, np.float32), x, 7) == Code.CONTRACT
        assert same_launch(window, np.zeros(3, np.float32), x, 3) == []
        for first in (4, -1, 2**31 - 1):
            assert len(same_launch(window, np.zeros(3, np.float32), x, first)) == 1


def test_checks_that_fail_later(full: list[str]) -> None:
    y, table, ids = np.zeros(40, np.float32), numbers(5), np.arange(40, dtype=np.int32) % 5
    for _ in range(2):
        looked_up(y, table, ids)
    assert full == ["looked_up"]
    ids[[17, 30]] = 9, -4
    line = looked_up.first_line + 3
    assert same_launch(looked_up, y, table, ids) == [
        (
            tp.OutOfBounds,
            Code.OUT_OF_BOUNDS,
            f"program n=17: the index of axis 0 of table is 9, and 0:5 is allowed at {line}",
        )
    ]
    ids[[17, 30]] = 1, 2
    assert same_launch(looked_up, y, table, ids) == []
    np.testing.assert_array_equal(y, table[ids])


@pytest.mark.parametrize("is_in_flight", [False, True])
def test_a_check_that_failed_in_the_first_launch_fails_in_no_other(is_in_flight: bool, full: list[str]) -> None:
    y, table, ids = np.zeros(4, np.float32), numbers(5), np.array([0, 9, 2, 1], np.int32)
    make: Any = tp.from_numpy if is_in_flight else np.copy
    for wrong in (9, -3, 2, 77):
        ids[1] = wrong

        def run() -> None:
            looked_up(make(y), make(table), make(ids))
            tp.current_stream().synchronize()

        result = raised(run)
        assert [str(wrong) in message for _, _, message in result] == ([True] if wrong != 2 else [])
    assert len(full) == (1 if is_in_flight else 3), "what was waited for is remembered when it went well"


# What is around a launch.


def test_arguments_by_position_and_by_name() -> None:
    y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
    ways_to_say: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((y, x, 2), {}), ((y, x, 2), {"B": 2}), ((y, x), {"by": 2}), ((y,), {"by": 2, "x": x}),
        ((), {"x": x, "by": 2, "y": y}), ((y, x), {"B": 3, "by": 2}), ((y, x), {"by": 2, "B": 3}),
        ((y, x, 2), {"B": np.int64(3)}),
    ]  # fmt: skip
    for args, named in ways_to_say * 2:
        y[...] = 0
        scale(*args, **named)
        np.testing.assert_array_equal(y, x * 4)
    wrong: list[dict[str, Any]] = [{"B": 0}, {"B": True}, {"B": 2.0}, {"C": 2}, {"by": 2}, {"B": None}]
    for named in wrong:
        assert len(same_launch(scale, y, x, 2, **named)) == 1
    assert len(same_launch(scale, x, 2, B=2)) == 1
    assert len(same_launch(scale, y, x, 2, 3)) == 1


def test_captured_values_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
    for factor in (2.0, 3.0, 3, 0.5, -0.0, 2.0):
        monkeypatch.setattr(repeated, "FACTOR", factor)
        assert same_launch(scale, y, x, 1.0) == []
        np.testing.assert_array_equal(y, x * np.float32(factor))
    monkeypatch.setattr(repeated, "FACTOR", [2.0])
    assert rejection(scale, y, x, 1.0) == Code.MUTABLE_CAPTURE
    monkeypatch.undo()
    assert same_launch(scale, y, x, 1.0) == []


def test_helpers_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = np.zeros(6, np.float32), numbers(6)
    for by in (0.0, 1.0, 5.0):
        monkeypatch.setattr(shifted, "__defaults__", (by,))
        assert same_launch(moved, y, x) == []
        np.testing.assert_array_equal(y, x + by)


def test_settings_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
    targets = [host().name]
    scale(y, x, 1.0)
    for level in ("sse2", "avx2", "neon", "host", "nonsense"):
        monkeypatch.setenv(VARIABLE, level)
        result = same_launch(scale, y, x, 1.0)
        targets += [] if result else [host().name]
    assert len(set(targets)) >= 2
    monkeypatch.delenv(VARIABLE)
    cpu_launches.pool().start()  # then the number of threads is settled
    for threads in ("1", "7", "none"):
        monkeypatch.setenv("TILEPROOF_THREADS", threads)
        assert same_launch(scale, np.zeros((40, 80), np.float32), numbers(40, 80), 2.0) == []
    with tp.backend("interpreter"):
        scale(y, x, 4.0)
    np.testing.assert_array_equal(y, x * 8)


def test_a_launch_follows_none_whose_code_is_for_another_processor(
    monkeypatch: pytest.MonkeyPatch, full: list[str]
) -> None:  # fmt: skip
    y, x, levels = np.zeros((4, 8), np.float32), numbers(4, 8), ("host", "neon" if host().is_arm else "sse2")
    for level in levels * 2:
        if level == "host":
            monkeypatch.delenv(VARIABLE, raising=False)
        else:
            monkeypatch.setenv(VARIABLE, level)
        for by in (1.0, 2.0):
            scale(y, x, by)
            np.testing.assert_array_equal(y, x * by * 2)
    (forms,) = FORMS.of(scale).values()
    assert full == ["scale"] * len({form.target for form in forms})
    assert len(forms) == len({host(), *(form.target for form in forms)}) == 2


def test_no_more_than_some_launches_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_cache, "_MOST", 2)
    for n in (*range(1, 2 * MOST), *range(1, 2 * MOST)):
        y, x = np.zeros(2 * n, np.float32), numbers(n)
        grouped(y, x)
        np.testing.assert_array_equal(y, np.repeat(x, 2))
    ((form,),) = FORMS.of(grouped).values()
    assert len(form.plans.kept) == MOST
    for rows in (1, 2, 3, 1):
        y, x = np.zeros((4, 8), np.float32), numbers(4, 8)
        scale(y, x, 2.0, B=rows)
        np.testing.assert_array_equal(y, x * 4)
    assert len(FORMS.of(scale)) == len(scale.launch_cache) <= 2


@pytest.mark.sweep(1)
def test_threads_that_launch_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own arguments, many share a form, and what is remembered is forgotten all the time."""
    monkeypatch.setattr(launch_cache, "_MOST", 3)
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            with tp.backend("cpu") if seed % 2 else nullcontext():
                for _ in range(150):
                    n = int(random.integers(1, 6))
                    y, x, by = np.zeros((4, n), np.float32), numbers(4, n), float(random.integers(9))
                    scale(y, x, by, B=int(random.integers(1, 6)))
                    np.testing.assert_array_equal(y, x * by * 2)
                    ids = random.integers(-1, 6, 4).astype(np.int32)
                    actual, table = np.zeros(4, np.float32), numbers(5)
                    is_wrong = bool((ids < 0).any() or (ids > 4).any())
                    assert bool(raised(lambda: looked_up(actual, table, ids))) == is_wrong  # noqa: B023
        except BaseException as problem:
            problems.append(problem)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert problems == []


def test_interrupted_launches_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = np.zeros((100, 200), np.float32), numbers(100, 200)
    scale(y, x, 1.0)
    with monkeypatch.context() as patch:
        def stopped(*_: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(cpu_launches.pool(), "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            scale(y, x, 2.0)
    assert same_launch(scale, y, x, 3.0) == []
    np.testing.assert_array_equal(y, x * 6)


# Random sequences.

EXTENTS = st.sampled_from([0, 1, 3, 8])
DTYPES = st.sampled_from([np.float32, np.float16, np.int32])
NUMBERS = st.sampled_from([0, 1, -1, 2, 6, 2**31 - 1, 2**31, 10**400, 0.5, -2.0, 1e39, float("nan"), True])
MEMORY = st.sampled_from(["own", "own", "own", "shared", "backwards", "spread", "read-only", "odd"])


@st.composite
def arrays(draw: st.DrawFn, dtype: Any, shape: tuple[int, ...], pool: Array) -> Array:
    """An array that lies in memory in some way, perhaps where others lie."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    match draw(MEMORY):
        case "shared":
            start = draw(st.sampled_from([0, 8, 64, 256]))
            return pool[start : start + size].view(dtype).reshape(shape)
        case "odd":
            return pool[1 : 1 + size].view(dtype).reshape(shape)
        case "backwards":
            return np.ones(shape, dtype)[::-1]
        case "spread":
            return np.ones((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        case "read-only":
            array = np.ones(shape, dtype)
            array.flags.writeable = False
            return array
        case _:
            return np.ones(shape, dtype)


@st.composite
def launches(draw: st.DrawFn, pool: Array) -> tuple[tp.Kernel, list[Any], dict[str, Any]]:
    m, n, v = draw(EXTENTS), draw(EXTENTS), draw(EXTENTS)
    entries = draw(st.lists(st.integers(-1, 8), min_size=n, max_size=n))
    ids = np.array(entries, draw(st.sampled_from([np.int32, np.int64])))

    def vector(extent: int) -> Array:
        return draw(arrays(np.float32, (extent,), pool))

    match draw(st.sampled_from(["scale", "gather", "scatter", "permuted", "window", "looked_up", "grouped"])):
        case "scale":
            dtype = draw(DTYPES)
            others, shapes = st.sampled_from([dtype, dtype, np.float32]), st.sampled_from([(m, n), (m, n), (n, m)])
            args = [draw(arrays(dtype, (m, n), pool)), draw(arrays(draw(others), draw(shapes), pool)), draw(NUMBERS)]
            return scale, args, draw(st.sampled_from([{}, {"B": 2}, {"B": 0}, {"B": True}]))
        case "gather":
            return gather, [vector(n), vector(v), ids], {}
        case "scatter":
            return scatter, [vector(v), vector(n), ids], {}
        case "permuted":
            return permuted, [vector(n), vector(n), ids], {}
        case "window":
            return window, [vector(n), vector(v), draw(NUMBERS)], {}
        case "grouped":
            return grouped, [vector(n), vector(v)], {}
        case _:
            return looked_up, [vector(n), vector(v), ids.astype(np.int32)], {}


@pytest.mark.sweep(1)
@settings(max_examples=examples(80), deadline=None)
@given(data=st.data())
def test_random_sequences_of_launches(data: st.DataObject) -> None:
    """What one launch leaves behind does not change what the next does."""
    for _ in range(6):
        pool = np.zeros(2048, np.uint8)
        kernel, args, named = data.draw(launches(pool))
        same_launch(kernel, *args, **named)
