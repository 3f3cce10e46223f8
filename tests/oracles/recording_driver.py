"""A driver that writes down what it is given, and arguments and plans to give it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import host
from tileproof.language.dtypes import DType, by_storage
from tileproof.runtime import native as fast
from tileproof.runtime.interop.describe import byte_range
from tileproof.runtime.native import CPU, Plan, Plans, ScalarArgument, TensorArgument
from tileproof.runtime.native.structures import StateData

Array = np.ndarray[Any, Any]

_DRIVER = """
; The function is the place where the call is written down: how many words there are, what to answer, how many calls
; there were; then grid, block and shared bytes, the stream, what "extra" is, and the words.
define i32 @test_fast_driver(ptr %call, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
                             ptr %stream, ptr %words, ptr %extra) {
entry:
  %count = load i64, ptr %call
  %answer.place = getelementptr i64, ptr %call, i64 1
  %answer = load i64, ptr %answer.place
  %calls.place = getelementptr i64, ptr %call, i64 2
  %calls = load i64, ptr %calls.place
  %more = add i64 %calls, 1
  store i64 %more, ptr %calls.place
  %numbers = getelementptr i64, ptr %call, i64 3
  %n0 = insertvalue [7 x i32] undef, i32 %gx, 0
  %n1 = insertvalue [7 x i32] %n0, i32 %gy, 1
  %n2 = insertvalue [7 x i32] %n1, i32 %gz, 2
  %n3 = insertvalue [7 x i32] %n2, i32 %bx, 3
  %n4 = insertvalue [7 x i32] %n3, i32 %by, 4
  %n5 = insertvalue [7 x i32] %n4, i32 %bz, 5
  %n6 = insertvalue [7 x i32] %n5, i32 %shared, 6
  store [7 x i32] %n6, ptr %numbers, align 4
  %stream.place = getelementptr i64, ptr %call, i64 7
  store ptr %stream, ptr %stream.place
  %extra.place = getelementptr i64, ptr %call, i64 8
  store ptr %extra, ptr %extra.place
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %turn, label %end
turn:
  %place = phi i64 [ 0, %entry ], [ %next, %turn ]
  %from.place = getelementptr ptr, ptr %words, i64 %place
  %from = load ptr, ptr %from.place
  %word = load i64, ptr %from
  %to.number = add i64 %place, 9
  %to = getelementptr i64, ptr %call, i64 %to.number
  store i64 %word, ptr %to
  %next = add i64 %place, 1
  %again = icmp slt i64 %next, %count
  br i1 %again, label %turn, label %end
end:
  %told = trunc i64 %answer to i32
  ret i32 %told
}

; The same with a structure that says how: "extra" is then the attribute and its value, if there is one.
define i32 @test_fast_early(ptr %config, ptr %call, ptr %words, ptr %extra) {
  %gy.place = getelementptr i32, ptr %config, i64 1
  %gz.place = getelementptr i32, ptr %config, i64 2
  %bx.place = getelementptr i32, ptr %config, i64 3
  %by.place = getelementptr i32, ptr %config, i64 4
  %bz.place = getelementptr i32, ptr %config, i64 5
  %shared.place = getelementptr i32, ptr %config, i64 6
  %stream.place = getelementptr i64, ptr %config, i64 4
  %attributes.place = getelementptr i64, ptr %config, i64 5
  %count.place = getelementptr i64, ptr %config, i64 6
  %gx = load i32, ptr %config
  %gy = load i32, ptr %gy.place
  %gz = load i32, ptr %gz.place
  %bx = load i32, ptr %bx.place
  %by = load i32, ptr %by.place
  %bz = load i32, ptr %bz.place
  %shared = load i32, ptr %shared.place
  %stream = load ptr, ptr %stream.place
  %attributes = load ptr, ptr %attributes.place
  %count = load i32, ptr %count.place
  %value.place = getelementptr i32, ptr %attributes, i64 2
  %id = load i32, ptr %attributes
  %value = load i32, ptr %value.place
  %high = shl i32 %value, 8
  %both = or i32 %high, %id
  %told = mul i32 %both, %count
  %wide = zext i32 %told to i64
  %seen = inttoptr i64 %wide to ptr
  %answer = call i32 @test_fast_driver(ptr %call, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
                                       ptr %stream, ptr %words, ptr %seen)
  ret i32 %answer
}

; Adds one to the numbers that the first two words point at.
define i32 @test_fast_counter(ptr %f, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
                              ptr %stream, ptr %words, ptr %extra) {
  %first.word = load ptr, ptr %words
  %first = load ptr, ptr %first.word
  %one = atomicrmw add ptr %first, i64 1 seq_cst
  %second.place = getelementptr ptr, ptr %words, i64 1
  %second.word = load ptr, ptr %second.place
  %second = load ptr, ptr %second.word
  %two = atomicrmw add ptr %second, i64 1 seq_cst
  ret i32 0
}

; Says in the first of two numbers that it was called, and waits for the second.
define i32 @test_fast_gate(ptr %f, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
                           ptr %stream, ptr %words, ptr %extra) {
entry:
  %word = load ptr, ptr %words
  %gate = load ptr, ptr %word
  store atomic i64 1, ptr %gate seq_cst, align 8
  %open.place = getelementptr i64, ptr %gate, i64 1
  br label %turn
turn:
  %open = load atomic i64, ptr %open.place seq_cst, align 8
  %is.shut = icmp eq i64 %open, 0
  br i1 %is.shut, label %turn, label %end
end:
  ret i32 0
}

define i32 @test_fast_context(ptr %context) {
  store i64 4660, ptr %context
  ret i32 0
}

define i32 @test_fast_no_context(ptr %context) {
  store i64 4660, ptr %context
  ret i32 201
}
"""
EARLY = 1 << 8 | 6
"""What a launch says that may come to the GPU while the one ahead of it runs."""
CONTEXT = 4660
"""The context that is always current."""
MOST_WORDS = 200


@cache
def entries() -> dict[str, int]:
    """The addresses of the driver's functions: driver, early, counter, gate, context, no_context."""
    names = ["driver", "early", "counter", "gate", "context", "no_context"]
    result = llvm.load_object(llvm.compile_object(_DRIVER, host()), [f"test_fast_{name}" for name in names])
    return dict(zip(names, result.values(), strict=True))


@dataclass(frozen=True)
class Call:
    """What the driver was given."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int
    stream: int
    extra: int
    words: tuple[int, ...]


class Driver:
    """A function that can be launched, and the latest launch of it."""

    def __init__(self, answer: int = 0) -> None:
        self._memory = (ctypes.c_int64 * (MOST_WORDS + 9))(0, answer)

    def expect(self, words: int) -> None:
        """Says how many words a launch has."""
        self._memory[0] = words

    @property
    def function(self) -> int:
        return ctypes.addressof(self._memory)

    @property
    def calls(self) -> int:
        return self._memory[2]

    @property
    def latest(self) -> Call:
        memory = self._memory
        numbers = (ctypes.c_int32 * 7).from_buffer(memory, 24)
        words = (ctypes.c_uint64 * memory[0]).from_buffer(memory, 72)
        return Call(tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6], memory[7], memory[8], tuple(words))


def tensor(array: Array, word: int | None, *, written: bool = False, alignment: int = 0) -> TensorArgument:
    """A tensor like an array."""
    dtype: DType = by_storage()[array.dtype]
    return TensorArgument(dtype, array.shape, array.strides, alignment or array.itemsize, written, word)


def plan_of(
    args: tuple[Any, ...], driver: Driver | None = None, *, written: tuple[int, ...] = (0,), **changes: Any
) -> Plan:
    """A plan of a launch of numpy arrays and numbers: every argument is a word, and one word is none's."""
    from tileproof.language.dtypes import BOOL, F32, I32

    dtypes = {bool: BOOL, int: I32, float: F32}
    arguments: list[TensorArgument | ScalarArgument] = []
    for place, argument in enumerate(args):
        if isinstance(argument, np.ndarray):
            arguments.append(tensor(argument, place + 1, written=place in written))
        else:
            arguments.append(ScalarArgument(dtypes[type(argument)], type(argument), place + 1))
    driver = driver or Driver()
    values = {
        "arguments": tuple(arguments), "words": (77, *[0] * len(args)), "function": driver.function,
        "grid": (4, 2, 3), "entry": entries()["driver"], "device": CPU, "stream": 0, "keep": driver,
    }  # fmt: skip
    plan = Plan(**{**values, **changes})
    driver.expect(len(plan.words))
    return plan


def plans_of(*plans: Plan) -> Plans:
    """Plans, the first added last, so that it is looked at first."""
    result = Plans()
    for plan in reversed(plans):
        result.add(plan)
    return result


class Buffer:
    """A tensor type of our own."""

    __slots__ = ("name", "record", "zeal")

    def __init__(self, record: object) -> None:
        self.record = record


fast.register_buffer(Buffer, "record")


def buffer_of(array: Array, **changes: Any) -> Buffer:
    """The memory of an array as a tensor of our own type."""
    arguments = {
        "address": array.__array_interface__["data"][0], "dtype": by_storage()[array.dtype], "shape": array.shape,
        "strides": array.strides, "device": CPU, "is_writable": bool(array.flags.writeable),
    }  # fmt: skip
    return Buffer(fast.record(**{**arguments, **changes}))


class Own:
    """A tensor of our own that knows what is true of its memory."""

    __slots__ = ("array", "lent", "record", "state")

    def __init__(self, array: Array, *, whole: Array | None = None, unwritten: bool = False) -> None:
        low, high = byte_range(array if whole is None else whole)
        self.array = array
        self.lent: list[None] = []
        self.state = StateData(low=low, high=high, unwritten=unwritten, lent=id(self.lent))
        self.record = buffer_of(array, state=ctypes.addressof(self.state)).record


fast.register_buffer(Own, "record")
