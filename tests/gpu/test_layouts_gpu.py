"""Arrays that lie in memory in any way, that need more than 32 bits, and grids that hold less than all programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.layout_launches import FAR, MANY, far, layouts, many, schedules
from support.gpu_runs import assert_agrees
from tileproof.backends.cuda.device.driver import Device

pytestmark = pytest.mark.gpu
LAYOUTS, SCHEDULES = layouts(), schedules()


class Bytes:
    """Memory of a GPU as an array of i8, without a copy on the host."""

    def __init__(self, gpu: Device, count: int) -> None:
        self.gpu, self.shape, self.dtype = gpu, (count,), np.dtype(np.int8)
        self.address = gpu.allocate(count)

    def fill(self, value: int) -> None:
        self.gpu.memset_async(self.address, value, self.shape[0], 0)

    def part(self, start: int, count: int) -> Any:
        return self.gpu.copy_to_host(self.address + start, count, 0).view(np.int8)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": "|i1", "data": (self.address, False), "strides": None, "version": 3}


@contextmanager
def two(gpu: Device, count: int) -> Iterator[tuple[Bytes, Bytes]]:
    arrays = Bytes(gpu, count), Bytes(gpu, count)
    try:
        yield arrays
    finally:
        for array in arrays:
            gpu.free(array.address)


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_that_lie_in_any_way(name: str) -> None:
    assert assert_agrees(LAYOUTS[name]) == []


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_product_on_another_schedule(name: str) -> None:
    assert assert_agrees(SCHEDULES[name]) == []


def test_a_tensor_with_more_elements_than_32_bits_count(gpu: Device) -> None:
    if gpu.memory_info()[0] < 3 * FAR:
        pytest.skip("the GPU has too little memory")
    with two(gpu, FAR) as (y, x):
        y.fill(0)
        x.fill(5)
        with tp.backend("cuda"):
            far(y, x)
        for start in (0, 2**31 - 500, FAR - 1000):
            assert (y.part(start, 1000) == 6).all()
        assert (x.part(FAR - 1000, 1000) == 5).all()


def test_more_programs_than_a_launch_has_blocks(gpu: Device) -> None:
    with two(gpu, MANY) as (y, x):
        y.fill(0)
        x.fill(7)
        with tp.backend("cuda"):
            many(y, x)
        assert (y.part(0, MANY) == 8).all()
