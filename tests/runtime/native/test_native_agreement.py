"""The native code and Python agree on every list of arguments, and neither launches what the full launch refuses."""

from __future__ import annotations

import os
import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from oracles.recording_driver import Driver, buffer_of, plan_of, plans_of
from tileproof.runtime import native as fast
from tileproof.runtime.memory.aliasing import Overlap, overlap_of, self_overlap
from tileproof.runtime.native import TensorArgument, matcher

Array = np.ndarray[Any, Any]

LAUNCHES = int(os.environ.get("TILEPROOF_AGREEMENTS", "20000"))
"""How many are generated; 100,000 take six seconds."""
MEMORY = np.zeros(4096, np.uint8)
TYPES = (np.float32, np.float32, np.float32, np.int32, np.float16, np.float64, np.uint8)
NUMBERS = (0, 1, -1, 2**31, 2**63 - 1, 2**63, -(2**64), 0.5, -1e39, float("inf"), float("nan"), True, False, None, "x")


def any_array(rng: random.Random) -> Array:
    """Some view of the memory: gaps, steps backward, no elements, axes in any order, places at odd addresses."""
    dtype = np.dtype(rng.choice(TYPES))
    start = rng.choice((0, 0, 0, 64, 256, 1024, rng.randrange(64)))
    whole = MEMORY[start : start + 2048 // dtype.itemsize * dtype.itemsize].view(dtype)
    array = whole[: 4 * 8 * 2].reshape(rng.choice(((8, 8), (4, 16), (4, 8, 2), (64,), (2, 2, 2, 8))))
    for axis in range(array.ndim):
        size = array.shape[axis]
        cut = rng.choice((slice(None),) * 5 + (slice(0, 1), slice(0, 0), slice(None, None, -1), slice(1, size, 2)))
        array = array[(slice(None),) * axis + (cut,)]
    if rng.random() < 0.2:
        array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    if rng.random() < 0.05:
        array = np.broadcast_to(array[:1], array.shape) if array.shape[0] > 1 else array
    return array


def like(rng: random.Random, array: Array) -> Any:
    """The same shape, element type and strides elsewhere, or nearly so."""
    chance = rng.random()
    if chance < 0.1:
        return any_array(rng)
    if chance < 0.15:
        return rng.choice(NUMBERS)
    place, low = array.__array_interface__["data"][0], MEMORY.__array_interface__["data"][0]
    before = -sum(min(step * (size - 1), 0) for step, size in zip(array.strides, array.shape, strict=True))
    moved = place - low + rng.choice((0, 0, 0, 512, 1024, 1536, 4, 1, -8))
    if array.size and before <= moved < 2048:
        array = np.ndarray(array.shape, array.dtype, MEMORY, moved, array.strides)
    if chance < 0.2:
        array = array[:]
        array.flags.writeable = False
    if chance > 0.75:
        steps = [step % array.itemsize for step, size in zip(array.strides, array.shape, strict=True) if size > 1]
        if array.dtype.isnative and not any(steps):
            return buffer_of(array)
    return array


def any_launch(rng: random.Random) -> tuple[Any, ...]:
    numbers = [rng.choice(NUMBERS[:-3]) for _ in range(rng.randrange(3))]
    args: list[Any] = [any_array(rng) for _ in range(rng.randrange(1, 5))] + numbers
    rng.shuffle(args)
    return tuple(args)


def is_planned(argument: Any) -> bool:
    """Whether a plan can be made of an argument: misaligned strides are rejected by every full launch."""
    if not isinstance(argument, np.ndarray):
        return type(argument) is not int or abs(argument) < 2**31
    steps = [step for step, size in zip(argument.strides, argument.shape, strict=True) if size > 1]
    return argument.size == 0 or not any(step % argument.itemsize for step in steps)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(4))
def test_both_ways_agree_and_launch_only_what_is_safe(seed: int) -> None:
    rng = random.Random(seed)
    went = {True: 0, False: 0}
    while sum(went.values()) < LAUNCHES // 4:
        family = []
        while len(family) < 3:
            args = any_launch(rng)
            if all(map(is_planned, args)):
                family.append(args)
        drivers = [Driver() for _ in family]
        written = tuple(place for place in range(6) if rng.random() < 0.4)
        results = [
            plan_of(args, driver, written=written, grid=(n + 1, 1, 1))
            for n, (args, driver) in enumerate(zip(family, drivers, strict=True))
        ]
        plans = plans_of(*results)
        for _ in range(24):
            base = rng.choice(family)
            args = tuple(like(rng, each) if isinstance(each, np.ndarray) else changed(rng, each) for each in base)
            native, python = fast.match(plans, args), matcher.match(plans, args)
            assert native == python, args
            calls = [driver.calls for driver in drivers]
            assert fast.launch(plans, args) is (native is not None)
            called = [driver.calls - before for driver, before in zip(drivers, calls, strict=True)]
            went[native is not None] += 1
            if native is None:
                assert called == [0, 0, 0]
                continue
            words = np.frombuffer(native, np.uint64).tolist()
            plan = results[words[0]]
            assert called == [number == words[0] for number in range(3)]
            assert drivers[words[0]].latest.words == tuple(words[2 : 2 + len(plan.words)])
            check(plan.arguments, args)
    assert min(went.values()) > LAUNCHES // 100


def changed(rng: random.Random, number: Any) -> Any:
    if rng.random() < 0.1:
        return rng.choice(NUMBERS)
    return -number if type(number) is int and rng.random() < 0.5 else number


def check(wanted: tuple[Any, ...], args: tuple[Any, ...]) -> None:
    """The full launch would not reject the memory of these arguments, but for what it rejected of the first ones."""
    tensors = [(form, seen(form, arg)) for form, arg in zip(wanted, args, strict=True) if is_tensor(form)]
    for form, array in tensors:
        assert array.shape == form.shape
        if array.size:
            assert array.__array_interface__["data"][0] % array.itemsize == 0
            assert bool(self_overlap(array)) is bool(self_overlap(as_first(form)))
    for (one, first), (two, second) in combinations(tensors, 2):
        assert not (one.is_written or two.is_written) or overlap_of(first, second) is Overlap.NONE


def is_tensor(form: Any) -> bool:
    return isinstance(form, TensorArgument)


def as_first(form: TensorArgument) -> Array:
    return np.lib.stride_tricks.as_strided(np.zeros(1, form.dtype.storage), form.shape, form.strides)


def seen(form: TensorArgument, argument: Any) -> Array:
    """An argument as an array, whatever it is."""
    if isinstance(argument, np.ndarray):
        return argument
    start = MEMORY.__array_interface__["data"][0]
    offset = int.from_bytes(argument.record[:8], "little") - start
    return np.ndarray(form.shape, form.dtype.storage, MEMORY, offset if form.shape and 0 not in form.shape else 0,
                      form.strides)  # fmt: skip
