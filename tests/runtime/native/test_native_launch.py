"""Launches like an earlier one: the driver gets exactly what it should, and whatever is unusual is left alone."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from oracles.recording_driver import CONTEXT, Buffer, Driver, buffer_of, entries, plan_of, plans_of, tensor
from tileproof.language.dtypes import BF16, BOOL, F32, F64, I8, I32, I64, U64, DType
from tileproof.runtime import native as fast
from tileproof.runtime.native import CPU, CUDA, Plans, ScalarArgument, TensorArgument, record
from tileproof.runtime.native.plans import MOST

Array = np.ndarray[Any, Any]
Launch = Callable[[Plans, tuple[Any, ...]], bool]


@pytest.fixture
def launch() -> Launch:
    return fast.launch


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def arrays(*shape: int, count: int = 3, dtype: Any = np.float32) -> tuple[Array, ...]:
    return tuple(np.zeros(shape, dtype) for _ in range(count))


# What the driver gets.


def test_the_driver_gets_words_grid_and_stream(launch: Launch) -> None:
    first, others = (*arrays(4, 8), 1.5, -3, True), (*arrays(4, 8), -0.1, 2**31 - 1, False)
    driver = Driver()
    plans = plans_of(plan_of(first, driver, stream=99, block=(5, 6, 7), shared_bytes=8))
    assert launch(plans, others)
    call = driver.latest
    assert (driver.calls, call.grid, call.block, call.shared_bytes) == (1, (4, 2, 3), (5, 6, 7), 8)
    assert (call.stream, call.extra) == (99, 0)
    single = struct.unpack("<I", struct.pack("<f", -0.1))[0]
    assert call.words == (77, *map(address, others[:3]), single, 2**31 - 1, 0)


def test_an_argument_that_the_kernel_does_not_take_is_checked_and_left_out(launch: Launch) -> None:
    array, unused = arrays(4, count=2)
    driver = Driver()
    arguments = (tensor(array, 1, written=True), tensor(unused, None))
    plans = plans_of(plan_of((), driver, arguments=arguments, words=(5, 6)))
    assert launch(plans, (array, unused))
    assert driver.latest.words == (5, address(array))
    assert not launch(plans, (array, np.zeros(5, np.float32)))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, ml_dtypes.bfloat16])
def test_arrays_of_every_element_type_are_recognised(launch: Launch, dtype: Any) -> None:
    driver = Driver()
    assert launch(plans_of(plan_of(arrays(3, dtype=dtype), driver)), arrays(3, dtype=dtype))
    assert driver.calls == 1


def test_strides_backward_and_gaps_are_recognised(launch: Launch) -> None:
    def view() -> Array:
        return np.zeros((6, 10), np.int32)[::-2, 1:9:3].T

    driver = Driver()
    plans = plans_of(plan_of((view(), view()), driver))
    second = view(), view()
    assert launch(plans, second)
    assert driver.latest.words[1:] == (address(second[0]), address(second[1]))
    assert not launch(plans, (second[0][::-1], second[1]))


def test_a_stride_does_not_count_where_there_is_no_second_element(launch: Launch) -> None:
    plans = plans_of(plan_of((np.zeros((1, 8), np.float32), np.zeros((0, 3), np.float32))))
    assert launch(plans, (np.zeros((5, 16), np.float32)[2:3, :8], np.zeros((9, 6), np.float32)[:0, ::2]))


def test_a_grid_without_programs_is_launched_by_doing_nothing(launch: Launch) -> None:
    driver = Driver()
    plans = plans_of(plan_of(arrays(0), driver, grid=(0, 1, 1)))
    assert launch(plans, arrays(0))
    assert driver.calls == 0
    assert not launch(plans, arrays(1))


def test_no_arguments_and_no_words(launch: Launch) -> None:
    driver = Driver()
    assert launch(plans_of(plan_of((), driver, words=())), ())


@pytest.mark.parametrize("releases_gil", [True, False])
def test_the_gil_is_released_or_not(launch: Launch, releases_gil: bool) -> None:
    driver = Driver()
    assert launch(plans_of(plan_of(arrays(2), driver, releases_gil=releases_gil)), arrays(2))
    assert driver.calls == 1


# Numbers.


def word_of(launch: Launch, dtype: DType, value: Any, **narrowed: int) -> int | None:
    """The word that a number becomes, or None if it is not recognised."""
    driver = Driver()
    argument = ScalarArgument(dtype, type(value), 0, **narrowed)
    plan = plan_of((), driver, arguments=(argument,), words=(0,))
    return driver.latest.words[0] if launch(plans_of(plan), (value,)) else None


@pytest.mark.parametrize(
    ("dtype", "value", "word"),
    [
        (I8, 127, 127), (I8, 128, None), (I8, -128, 2**64 - 128), (I8, -129, None),
        (I64, -(2**63), 2**63), (I64, 2**63 - 1, 2**63 - 1), (I64, 2**63, None), (I64, -(2**200), None),
        (U64, 2**63 - 1, 2**63 - 1), (U64, 2**63, None), (U64, -1, None),
        (BOOL, True, 1), (BOOL, False, 0),
    ],
)  # fmt: skip
def test_whole_numbers_within_their_range(launch: Launch, dtype: DType, value: int, word: int | None) -> None:
    assert word_of(launch, dtype, value) == word


@pytest.mark.parametrize(
    "value", [0.1, -0.0, 1e-45, 1e-300, 16777217.0, 3.4028234663852886e38, math.inf, -math.inf, 7, 2**62 + 1]
)
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_floats_are_rounded_once(launch: Launch, dtype: DType, value: float) -> None:
    stored = np.asarray(float(value), dtype.storage)
    assert word_of(launch, dtype, value) == int.from_bytes(stored.tobytes(), "little")


@pytest.mark.parametrize(
    ("dtype", "value"), [(F32, 3.5e38), (F32, -1e300), (F32, math.nan), (F64, math.nan), (F64, 2**70)]
)
def test_floats_that_do_not_fit_are_left_to_the_full_launch(launch: Launch, dtype: DType, value: float) -> None:
    assert word_of(launch, dtype, value) is None


def test_a_whole_number_may_be_narrowed(launch: Launch) -> None:
    assert word_of(launch, I32, 7, least=7, most=7) == 7
    assert word_of(launch, I32, 8, least=7, most=7) is None
    assert word_of(launch, F32, 8, least=0, most=7) is None


@pytest.mark.parametrize("value", [1, True, np.float32(1), np.int32(1), "1", None, np.zeros(())])
def test_a_number_of_another_type_is_left_to_the_full_launch(launch: Launch, value: Any) -> None:
    driver = Driver()
    plans = plans_of(plan_of((1.0,), driver))
    assert launch(plans, (2.0,))
    assert not launch(plans, (value,))


def test_a_subclass_of_a_number_is_left_to_the_full_launch(launch: Launch) -> None:
    class Odd(int):
        def __index__(self) -> int:
            raise AssertionError("nobody asks")

    assert not launch(plans_of(plan_of((1,))), (Odd(1),))


# What is rejected.


class Subclass(np.ndarray):
    """Arrays that may mean something else."""


def fixed(array: Array) -> Array:
    array.flags.writeable = False
    return array


UNLIKE: dict[str, Callable[[Array], Any]] = {
    "another extent": lambda x: np.zeros((4, 9), np.float32),
    "another rank": lambda x: np.zeros((4, 8, 1), np.float32),
    "no rank": lambda x: np.zeros((), np.float32),
    "another order": lambda x: np.zeros((8, 4), np.float32).T,
    "a gap": lambda x: np.zeros((4, 16), np.float32)[:, :8],
    "every second": lambda x: np.zeros((4, 16), np.float32)[:, ::2],
    "backward": lambda x: x[::-1],
    "one place": lambda x: np.broadcast_to(np.zeros(8, np.float32), (4, 8)),
    "another element type": lambda x: x.view(np.int32),
    "bytes in the other order": lambda x: x.view(">f4"),
    "a subclass": lambda x: x.view(Subclass),
    "a masked array": lambda x: np.ma.masked_array(x),
    "misaligned": lambda x: np.frombuffer(bytearray(4 * 32 + 1), np.float32, 32, 1).reshape(4, 8),
    "not an array": lambda x: x.tolist(),
    "nothing": lambda x: None,
    "a number": lambda x: 1.0,
}


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("change", UNLIKE.values(), ids=UNLIKE)
def test_an_array_unlike_the_earlier_one(launch: Launch, change: Callable[[Array], Any], place: int) -> None:
    args = arrays(4, 8)
    driver = Driver()
    plans = plans_of(plan_of(args, driver))
    assert launch(plans, args)
    changed = list(args)
    changed[place] = change(changed[place])
    assert not launch(plans, tuple(changed))
    assert driver.calls == 1


def test_an_array_that_is_written_must_be_writable(launch: Launch) -> None:
    plans = plans_of(plan_of(arrays(4)))
    y, x, z = arrays(4)
    assert launch(plans, (y, fixed(x), z))
    assert not launch(plans, (fixed(y), x, z))


def test_the_number_of_arguments(launch: Launch) -> None:
    args = (*arrays(4), 1.0)
    plans = plans_of(plan_of(args))
    assert not any(launch(plans, wrong) for wrong in ((), args[:-1], (*args, 1.0), args * 20))


def test_an_address_that_is_less_aligned(launch: Launch) -> None:
    memory = np.zeros(64, np.float32)
    start = -address(memory) // 4 % 4
    plans = plans_of(plan_of((), arguments=(tensor(memory[:8], 0, alignment=16),), words=(0,)))
    assert launch(plans, (memory[start : start + 8],))
    assert not any(launch(plans, (memory[start + off : start + off + 8],)) for off in (1, 2, 3))


def test_memory_of_another_device(launch: Launch) -> None:
    args = arrays(4)
    assert not launch(plans_of(plan_of(args, device=(CUDA, 0))), args)


@pytest.mark.parametrize(
    ("first", "second", "is_apart"),
    [
        (slice(0, 8), slice(8, 16), True), (slice(0, 8), slice(7, 15), False), (slice(8, 16), slice(0, 8), True),
        (slice(0, 8), slice(0, 8), False), (slice(7, 15), slice(0, 8), False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("written", [(0,), (1,), (0, 1), ()])
def test_a_written_array_between_the_bytes_of_another(
    launch: Launch, first: slice, second: slice, is_apart: bool, written: tuple[int, ...]
) -> None:
    memory = np.zeros(32, np.float32)
    driver = Driver()
    plans = plans_of(plan_of(arrays(8, count=2), driver, written=written))
    assert launch(plans, (memory[first], memory[second])) is (is_apart or not written)
    assert driver.calls == (is_apart or not written)


def test_arrays_that_run_backward_reach_below_their_address(launch: Launch) -> None:
    memory = np.zeros(32, np.float32)
    plans = plans_of(plan_of((np.zeros(8, np.float32)[::-1], np.zeros(8, np.float32))))
    assert launch(plans, (memory[8:16][::-1], memory[0:8]))
    assert launch(plans, (memory[8:16][::-1], memory[16:24]))
    assert not launch(plans, (memory[8:16][::-1], memory[1:9]))
    assert not launch(plans, (memory[8:16][::-1], memory[15:23]))


def test_an_empty_array_overlaps_nothing(launch: Launch) -> None:
    memory = np.zeros((4, 8), np.float32)
    plans = plans_of(plan_of((np.zeros((0, 8), np.float32), memory)))
    assert launch(plans, (memory[2:2], memory))


def test_interleaved_arrays_are_left_to_the_full_launch(launch: Launch) -> None:
    memory = np.zeros(16, np.float32)
    args = memory[::2], memory[1::2]
    assert not launch(plans_of(plan_of(args)), args)


def test_what_is_no_tuple_or_no_plans(launch: Launch) -> None:
    args = arrays(4)
    plans: Any = plans_of(plan_of(args))
    wrong: list[tuple[Any, Any]] = [(plans, list(args)), (None, args), (args, args), (plans, None)]
    assert not any(launch(*pair) for pair in wrong)

    class Tuple(tuple):  # type: ignore[type-arg]
        __slots__ = ()

    assert not launch(plans, Tuple(args))


def test_a_driver_that_refuses(launch: Launch) -> None:
    args = arrays(4)
    driver = Driver(answer=700)
    assert not launch(plans_of(plan_of(args, driver)), args)
    assert driver.calls == 1


@pytest.mark.parametrize(("context", "entry", "goes"), [
    (CONTEXT, "context", True), (CONTEXT + 1, "context", False), (CONTEXT, "no_context", False), (0, "context", False),
])  # fmt: skip
def test_the_right_context_must_be_current(launch: Launch, context: int, entry: str, goes: bool) -> None:
    driver = Driver()
    plan = plan_of(arrays(4), driver, context=context, context_entry=entries()[entry])
    assert launch(plans_of(plan), arrays(4)) is goes
    assert driver.calls == goes


# Tensors of our own.


def test_buffers_are_read_through_their_record(launch: Launch) -> None:
    args = arrays(4, 8)
    driver = Driver()
    plans = plans_of(plan_of(args, driver))
    assert launch(plans, tuple(map(buffer_of, args)))
    assert driver.latest.words == (77, *map(address, args))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (8, 4)}, {"strides": (4, 16)}, {"dtype": I32}, {"device": (CUDA, 0)}, {"address": 0},
        {"is_writable": False}, {"shape": (32,), "strides": (4,)}, {"address": 2}, {"dtype": BF16, "strides": (16, 2)},
    ],
)  # fmt: skip
def test_a_buffer_unlike_the_earlier_one(launch: Launch, change: dict[str, Any]) -> None:
    args = arrays(4, 8)
    assert not launch(plans_of(plan_of(args)), (buffer_of(args[0], **change), *args[1:]))


class Text(bytes):
    """Bytes that may not be what they seem."""


@pytest.mark.parametrize(
    "held",
    [None, 5, "text", bytearray(80), Text(buffer_of(arrays(4, 8)[0]).record)],
    ids=lambda held: type(held).__name__,
)
def test_a_buffer_without_a_record(launch: Launch, held: object) -> None:
    args = arrays(4, 8)
    assert not launch(plans_of(plan_of(args)), (Buffer(held), *args[1:]))
    assert not launch(plans_of(plan_of(args)), (object.__new__(Buffer), *args[1:]))


def test_memory_at_the_end_of_all_addresses(launch: Launch) -> None:
    args = arrays(4, 8)
    plans = plans_of(plan_of(args))
    assert launch(plans, (args[0], buffer_of(args[1], address=2**64 - 256), args[2]))
    assert not launch(plans, (args[0], buffer_of(args[1], address=2**64 - 64), args[2]))


def test_memory_that_begins_where_no_system_has_any(launch: Launch) -> None:
    backward = arrays(4)[0][::-1]
    plans = plans_of(plan_of((backward,)))
    assert launch(plans, (buffer_of(backward, address=2**16 + 12),))
    assert not any(launch(plans, (buffer_of(backward, address=place),)) for place in (0, 8, 2**16 - 4, 2**16 + 8))


# Several plans.


def test_every_plan_is_tried(launch: Launch) -> None:
    drivers = [Driver() for _ in range(MOST)]
    plans = plans_of(*(plan_of(arrays(n + 1), driver) for n, driver in enumerate(drivers)))
    for turn in range(3):
        for n in range(MOST):
            assert launch(plans, arrays(n + 1))
            assert [driver.calls for driver in drivers] == [turn + 1] * (n + 1) + [turn] * (MOST - n - 1)
    assert not launch(plans, arrays(MOST + 1))


def test_the_plan_that_was_used_last_is_tried_first() -> None:
    plans = plans_of(*(plan_of(arrays(n + 1)) for n in range(3)))
    latest = plans._table[1]
    for n in (2, 2, 0, 1):
        assert fast.launch(plans, arrays(n + 1))
        assert latest.value == n


def test_the_latest_plans_are_kept(launch: Launch) -> None:
    plans = Plans()
    for n in range(MOST + 3):
        plans.add(plan_of(arrays(n + 1)))
    assert [launch(plans, arrays(n + 1)) for n in range(MOST + 3)] == [False] * 3 + [True] * MOST


def test_cleared_plans_are_gone_and_new_ones_work(launch: Launch) -> None:
    args, driver = arrays(4), Driver()
    plans = plans_of(plan_of(args))
    plans.clear()
    assert not launch(plans, args)
    assert plans.kept == ()
    plans.add(plan_of(args, driver))
    assert launch(plans, args)
    assert driver.calls == 1


def test_no_plans(launch: Launch) -> None:
    assert not launch(Plans(), arrays(4))


def test_launches_that_are_too_large_are_not_remembered() -> None:
    plans = Plans()
    for plan in (
        plan_of(arrays(1, count=33)),
        plan_of((), words=(0,) * 161),
        plan_of((np.zeros((1,) * 9, np.float32),)),
        plan_of((), arguments=(TensorArgument(F32, (2**40, 2**40), (2**42, 4), 4, False, None),)),
    ):
        plans.add(plan)
    assert plans.kept == ()


def test_the_largest_launch(launch: Launch) -> None:
    args = tuple(np.zeros((2,) * 8, np.float32) for _ in range(32))
    driver = Driver()
    plan = plan_of(args, driver, words=(7,) * 160)
    assert launch(plans_of(plan), args)
    assert driver.latest.words == (7, *map(address, args), *[7] * 127)


# Plans that make no sense.


@pytest.mark.parametrize(
    "make",
    [
        lambda: TensorArgument(F32, (4,), (4, 4), 4, False, 0),
        lambda: TensorArgument(F32, (4,), (4,), 12, False, 0),
        lambda: TensorArgument(F32, (4,), (4,), 2, False, 0),
        lambda: TensorArgument(F32, (-4,), (4,), 4, False, 0),
        lambda: record(0, F32, (4,), (6,), CPU),
        lambda: TensorArgument(F32, (4,), (6,), 4, False, 0),
        lambda: ScalarArgument(BF16, float, 0),
        lambda: ScalarArgument(I32, float, 0),
        lambda: ScalarArgument(I32, bool, 0),
        lambda: plan_of((1,), words=(0,)),
        lambda: plan_of((1,), words=(0, 2**64)),
        lambda: plan_of((1,), grid=(2**31, 1, 1)),
        lambda: plan_of((1,), block=(1, -1, 1)),
        lambda: plan_of((), arguments=(ScalarArgument(I32, int, 0), ScalarArgument(I32, int, 0)), words=(0,)),
    ],
)
def test_plans_and_records_that_make_no_sense(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()
