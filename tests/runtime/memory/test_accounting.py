"""Memory of tensors is counted, limited, and given back."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

import tileproof as tp
from support import interruption
from support.gates import Gate
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError, OutOfMemory
from tileproof.runtime.memory.accounting import Account, account_of
from tileproof.runtime.stream.cpu_streams import CpuStream
from tileproof.runtime.tensor.creation import empty, zeros


@pytest.fixture(autouse=True)
def account(still_memory: None) -> Iterator[Account]:
    """The memory of the CPU, which other tests do not touch."""
    result = account_of(None)
    yield result
    result.limit = None


def test_tensors_have_memory_of_their_own_at_whole_lines() -> None:
    kept = [empty(extent, tp.u8) for extent in (0, 1, 63, 64, 65, 4095, 4096, 4097) for _ in range(40)]
    kept += [zeros(tensor.shape, tp.u8) for tensor in kept[::3]]
    spans = sorted(tensor.span for tensor in kept if tensor.size)
    assert all(high <= low for (_, high), (low, _) in pairwise(spans))
    assert all(tensor.address % 64 == 0 for tensor in kept)


def test_zeros_are_zeros_where_others_wrote() -> None:
    for extent in (1, 64, 4096, 5000):
        for _ in range(40):
            x = zeros(extent, tp.u8)
            assert not any(x.tolist())
            x[...] = 7
            empty(extent, tp.u8)[...] = 7


def test_memory_lives_as_long_as_an_array_over_it() -> None:
    arrays = []
    for value in range(40):
        x = empty(16)
        x[...] = value
        arrays.append(x.numpy())
        empty(16)[...] = -1
    del x
    for value, array in enumerate(arrays):
        assert array.tolist() == [value] * 16


def test_memory_is_counted_while_a_tensor_or_a_view_of_it_lives() -> None:
    before = tp.memory()
    x = zeros((10, 10))
    assert tp.memory().in_use - before.in_use == 400
    view = x[3:].T
    del x
    assert tp.memory().in_use - before.in_use == 400
    del view
    assert tp.memory().in_use == before.in_use


def test_the_most_that_was_in_use_is_remembered(account: Account) -> None:
    before = tp.memory().in_use
    account.high_water = before
    x = zeros(1000, tp.u8)
    y = zeros(500, tp.u8)
    del x
    z = zeros(100, tp.u8)
    assert tp.memory().high_water - before == 1500
    assert tp.memory().in_use - before == 600
    del y, z


def test_a_tensor_beyond_the_limit_is_refused_with_the_sizes() -> None:
    tp.limit_memory(tp.memory().in_use + 4096)
    x = zeros(1000)
    with pytest.raises(OutOfMemory) as caught:
        zeros((8, 1024))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.OUT_OF_MEMORY
    assert "a tensor of shape (8, 1024) and f32 takes 32.0 KiB on cpu" in diagnostic.message
    assert "tensors" in diagnostic.notes[0]
    assert "drop tensors" in str(diagnostic.help)
    assert isinstance(caught.value, MemoryError)
    del x
    zeros(1024)


def test_a_limit_is_written_as_people_write_it(account: Account) -> None:
    for text, amount in (("2 GiB", 2 << 30), ("1.5kb", 1500), (12, 12), (None, None)):
        tp.limit_memory(text)
        assert account.limit == amount
    with pytest.raises(LaunchError, match="no amount of memory"):
        tp.limit_memory("much")


@pytest.mark.parametrize("extent", [1 << 45, 1 << 61, 1 << 80])
def test_a_tensor_larger_than_any_memory_is_refused(extent: int) -> None:
    before = tp.memory().in_use
    with pytest.raises(OutOfMemory, match="the system has no more"):
        empty((extent, 2))
    assert tp.memory().in_use == before


def test_memory_that_work_in_flight_uses_is_not_given_back() -> None:
    before, stream = tp.memory().in_use, CpuStream()
    with Gate() as gate:
        gate.hold(stream)
        x = zeros(1000, tp.u8)
        stream.call("look", lambda: None, (x.span,), (), x)
        del x
        assert tp.memory().in_use - before == 1000
        gate.open()
        stream.synchronize()
    assert tp.memory().in_use == before


def test_finished_work_makes_room_under_a_limit() -> None:
    stream = CpuStream()
    x = zeros(1000, tp.u8)
    stream.until(stream.call("look", lambda: None, (x.span,), (), x))
    del x
    tp.limit_memory(tp.memory().in_use + 500)
    zeros(1000, tp.u8)


def test_tensors_that_come_and_go_leave_nothing() -> None:
    before = tp.memory()
    for _ in range(100_000):
        empty(16)
    for _ in range(1000):
        zeros(16)[::2].numpy()[3] = 1
    after = tp.memory()
    assert (after.in_use, after.tensors) == (before.in_use, before.tensors)
    assert len(account_of(None).dropped) == 0


@pytest.mark.parametrize("handler", [interruption.stop, lambda: empty(5)])
def test_memory_is_counted_whatever_a_handler_of_a_signal_interrupts(handler: Callable[[], object]) -> None:
    before = tp.memory()

    def work() -> None:
        x = empty(8)
        y = zeros((4, 4))
        del x
        tp.memory()
        z = y[1:]
        del y, z

    for came in interruption.at_every_moment(work, handler):
        after = tp.memory()
        assert (after.in_use, after.tensors) == (before.in_use, before.tensors), came


def test_a_tensor_in_a_cycle_is_given_back_when_the_cycle_is() -> None:
    before = tp.memory().in_use
    x = zeros(100)
    cycle: list[object] = [x, x.numpy()]
    cycle.append(cycle)
    del x, cycle
    gc.collect()
    assert tp.memory().in_use == before


def test_memory_is_shown_in_words() -> None:
    x = zeros(1 << 20, tp.u8)
    assert f"{tp.memory().tensors} tensors" in str(tp.memory())
    assert "MiB" in str(tp.memory())
    assert np.all(x.numpy() == 0)
