"""Copies between the host and GPUs, and among GPUs: in order with all other work, and without waiting."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import Stub
from support.cuda_host import CudaGate, clean_slate, stream_of
from tileproof.backends.cuda.device import pinned
from tileproof.runtime.tensor import cuda_copies


@pytest.fixture(autouse=True)
def slate(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_slate(monkeypatch):
        yield


def test_what_the_host_gives_is_copied_before_it_changes(stub: Stub) -> None:
    stream, values = stream_of(), np.arange(6, dtype=np.float32)
    with CudaGate(stream) as gate, stream:
        x = tp.from_numpy(values, "cuda")
        y = tp.full(6, 1.25, tp.f64, "cuda")
        values[:] = -1
        assert not stream.is_idle()
        gate.open()
        assert x.tolist() == [0, 1, 2, 3, 4, 5]
        assert y.tolist() == [1.25] * 6


def test_copies_are_in_order_with_other_streams(stub: Stub) -> None:
    one, two = stream_of(), stream_of()
    x, y = tp.zeros(6, device="cuda"), tp.zeros(6, device="cuda")
    with CudaGate(one) as gate:
        with one:
            x.copy_from(np.full(6, 3, np.float32))
        with two:
            tp.copy(y, x)
            x[2:4] = 7
        assert not two.is_idle()
        gate.open()
        assert y.tolist() == [3] * 6
        assert x.tolist() == [3, 3, 7, 7, 3, 3]


def test_a_fetch_waits_for_nothing_behind_it(stub: Stub) -> None:
    stream, seen = stream_of(), []
    with stream:
        fetched = tp.from_numpy(np.arange(6, dtype=np.float32), "cuda").fetch()
    with CudaGate(stream) as gate:
        reader = threading.Thread(target=lambda: seen.append(fetched.numpy().tolist()))
        reader.start()
        reader.join(20)
        assert seen == [[0, 1, 2, 3, 4, 5]]
        gate.open()
    reader.join()


def test_reading_waits_for_who_writes_and_who_writes_for_reading(stub: Stub) -> None:
    one, two, seen = stream_of(), stream_of(), []
    x = tp.full(6, 1, device="cuda")
    with CudaGate(one) as gate:
        with one:
            x.copy_from(2.0)

        def read() -> None:
            with two:
                seen.append(x.tolist())

        reader = threading.Thread(target=read)
        reader.start()
        gate.open()
        reader.join()
    assert seen == [[2] * 6]


@pytest.mark.parametrize("index", [np.s_[::2, :], np.s_[:, ::2], np.s_[::-1, 1:3], np.s_[3], np.s_[:, 0]])
@pytest.mark.parametrize("most", [64, 1])
def test_views_are_copied_without_what_lies_between(
    stub: Stub, index: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_copies, "_MOST_RUNS", {True: most, False: most})
    reference = np.arange(24, dtype=np.int32).reshape(6, 4)
    x = tp.from_numpy(reference, "cuda")
    assert np.array_equal(x[index].numpy(), reference[index])
    x[index] = -reference[index]
    reference[index] *= -1
    assert np.array_equal(x.numpy(), reference)


def test_large_arrays_go_piece_by_piece(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "LARGEST", 4096)
    monkeypatch.setattr(cuda_copies, "LARGEST", 4096)
    values = np.arange(5001, dtype=np.int32)
    x = tp.from_numpy(values, "cuda")
    assert np.array_equal(x.numpy(), values)
    assert max(count for _, _, count, _ in stub.named("cuMemcpyAsync")) == 4096
    x[::2] = 0
    values[::2] = 0
    assert np.array_equal(x.numpy(), values)


def test_a_copy_to_another_gpu_waits_for_both(stub: Stub) -> None:
    here, there = stream_of(), stream_of("cuda:1")
    x, y = tp.full(6, 1, device="cuda"), tp.full(6, 2, device="cuda:1")
    with CudaGate(here) as gate, CudaGate(there) as other:
        with here, there:
            x.copy_from(3.0)
            tp.copy(y, x)
            x.copy_from(4.0)
        gate.open()
        assert not there.is_idle()
        other.open()
        assert (x.tolist(), y.tolist()) == ([4] * 6, [3] * 6)
