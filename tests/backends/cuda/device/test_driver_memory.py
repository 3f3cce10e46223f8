"""Pools, pinned memory, copies and patterns, on a stand-in for the driver."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from oracles.cuda_driver import CUresult, Stub
from oracles.driver_refusals import rejection
from support.driver_state import PoolUse, pool_use
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Device, Memory, Place
from tileproof.diagnostics.codes import Code


def read(address: int, count: int) -> bytes:
    return ctypes.string_at(address, count)


def test_a_pool_is_told_once_to_keep_what_is_freed(stub: Stub) -> None:
    gpu = Device(1)
    assert gpu.pool() == gpu.pool()
    ((pool, which, value),) = stub.named("cuMemPoolSetAttribute")
    assert (pool, which.name, int(value)) == (0xB001, "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD", (1 << 64) - 1)


def test_a_pool_that_could_not_be_set_up_is_set_up_next_time(stub: Stub) -> None:
    gpu = Device(0)
    stub.failing["cuMemPoolSetAttribute"] = CUresult.CUDA_ERROR_INVALID_VALUE
    assert "memory pool" in rejection(gpu.pool).message
    stub.failing.clear()
    gpu.pool()
    assert len(stub.named("cuMemPoolSetAttribute")) == 2


def test_a_pool_knows_what_is_used_and_keeps_it_until_it_is_trimmed(stub: Stub) -> None:
    gpu = Device(0)
    pool = gpu.pool()
    first, second = gpu.allocate_async(100, 3), gpu.allocate_async(50, 3)
    assert pool_use(pool) == PoolUse(used=150, used_high=150, reserved=150, reserved_high=150)
    gpu.free_async(first, 3)
    assert pool_use(pool) == PoolUse(used=50, used_high=150, reserved=150, reserved_high=150)
    gpu.trim_pool(keep=120)
    assert pool_use(pool).reserved == 120
    gpu.trim_pool()
    assert pool_use(pool) == PoolUse(used=50, used_high=150, reserved=50, reserved_high=150)
    gpu.free_async(second, 3)


def test_free_and_whole_memory_are_read_together(stub: Stub) -> None:
    assert Device(1).memory_info() == (1 << 32, 1 << 34)


def test_pinned_memory_is_the_hosts_and_for_all_gpus(stub: Stub) -> None:
    gpu = Device(0)
    address = gpu.allocate_host(64)
    assert stub.named("cuMemHostAlloc") == [(64, 1)]
    assert driver.place_of(address) == Place(Memory.HOST, 0)


def test_too_little_pinned_memory_is_not_blamed_on_the_gpu(stub: Stub) -> None:
    stub.failing["cuMemHostAlloc"] = CUresult.CUDA_ERROR_OUT_OF_MEMORY
    diagnostic = rejection(Device(0).allocate_host, 3 << 30)
    assert diagnostic.code is Code.OUT_OF_DEVICE_MEMORY
    assert diagnostic.message == "the host has too little memory: allocating 3.0 GiB of pinned memory failed"
    assert not any("free" in note for note in diagnostic.notes)


def test_bytes_go_from_the_host_to_a_gpu_within_it_and_back_without_a_wait(stub: Stub) -> None:
    gpu = Device(0)
    host, here, there = gpu.allocate_host(8), gpu.allocate(8), gpu.allocate(8)
    ctypes.memmove(host, b"abcdefgh", 8)
    gpu.copy_async(here, host, 8, 5)
    gpu.copy_async(there + 4, here, 4, 5)
    gpu.copy_async(host, there + 4, 4, 5)
    assert read(host, 8) == b"abcdefgh"
    assert read(there + 4, 4) == b"abcd"
    assert stub.named("cuMemcpyAsync")[0] == (here, host, 8, 5)
    assert stub.named("cuStreamSynchronize") == []


def test_bytes_go_from_one_gpu_to_another_by_their_contexts(stub: Stub) -> None:
    first, second = Device(0), Device(1)
    source, to = first.allocate(4), second.allocate(4)
    first.memset_async(source, 9, 4, 0)
    second.copy_from_peer(to, first, source, 4, 6)
    assert stub.named("cuMemcpyPeerAsync") == [(to, 1001, source, 1000, 4, 6)]
    assert read(to, 4) == b"\t\t\t\t"
    stub.failing["cuMemcpyPeerAsync"] = CUresult.CUDA_ERROR_INVALID_VALUE
    diagnostic = rejection(second.copy_from_peer, to, first, source, 4, 6)
    assert diagnostic.message == "CUDA failed while copying 4 bytes from GPU 0 to GPU 1"


@pytest.mark.parametrize(("width", "kind"), [(1, np.uint8), (2, np.uint16), (4, np.uint32)])
def test_a_pattern_fills_as_many_elements_as_were_asked_for(stub: Stub, width: int, kind: type) -> None:
    gpu = Device(0)
    address = gpu.allocate(8 * width)
    value = 0xFEDCBA98 & ((1 << 8 * width) - 1)
    gpu.memset_async(address + width, value, 3, 2, width=width)
    array = np.frombuffer(read(address, 8 * width), kind)
    assert (array[1:4] == value).all()
    assert (array[[0, 4]] != value).all()


def test_no_bytes_need_no_call(stub: Stub) -> None:
    gpu = Device(0)
    stub.calls.clear()
    assert gpu.allocate_host(0) == 0
    gpu.copy_async(0, 0, 0, 1)
    gpu.copy_from_peer(0, gpu, 0, 0, 1)
    gpu.memset_async(0, 0, 0, 1, width=4)
    assert stub.calls == []
