"""What native launches read of tensors on the CPU, and what they write down there."""

from __future__ import annotations

import threading

import numpy as np

import tileproof as tp
from tileproof.runtime.native.plan import CPU
from tileproof.runtime.native.readers import Seen
from tileproof.runtime.native.readers import _seen_in as seen_in
from tileproof.runtime.native.structures import RecordData, StateData
from tileproof.runtime.tensor.creation import asarray, empty, zeros
from tileproof.runtime.tensor.tensors import Tensor


def seen_of(tensor: Tensor) -> Seen | None:
    record = tensor.make_record()
    assert record is not None
    return seen_in(record)


def state_of(tensor: Tensor) -> StateData:
    record = tensor.make_record()
    assert record is not None
    return StateData.from_address(RecordData.from_buffer_copy(record).state)


def test_a_record_is_made_when_it_is_asked_for_and_kept() -> None:
    x = zeros((4, 6), tp.i16)
    assert x._record is None
    record = x.make_record()
    assert record is not None
    assert x._record is x.make_record() is record


def test_a_record_describes_a_view() -> None:
    x = zeros((4, 6), tp.i16)[::-1, 1:4]
    seen = seen_of(x)
    assert seen is not None
    assert (seen.address, seen.shape, seen.strides, seen.device) == (x.address, (4, 3), (-12, 2), CPU)
    assert seen.is_writable


def test_writes_that_native_launches_count_are_versions_for_all_views() -> None:
    x = empty(8)
    before = x.version
    state_of(x[2:]).version += 1
    x[0] = 1
    state_of(x).version += 1
    assert x.version == before + 3


def test_what_native_launches_filled_was_written() -> None:
    x = empty(8)
    state = state_of(x)
    assert (state.low, state.high, state.unwritten) == (*x.span, 1)
    assert not x.is_initialised
    state.unwritten = 0
    assert x.is_initialised


def test_what_the_host_filled_native_launches_may_read() -> None:
    x, y = zeros(8), empty(8)
    assert not state_of(x).unwritten
    assert state_of(y).unwritten
    y[...] = 1
    assert not state_of(y).unwritten


def test_a_record_says_whether_memory_is_lent_now() -> None:
    x = zeros(8)
    results = []
    for is_lent in (False, True, False):
        view = x.numpy() if is_lent else None
        seen = seen_of(x)
        assert seen is not None
        results.append(seen.is_lent)
        del view
    assert results == [False, True, False]


def test_memory_of_others_has_a_record() -> None:
    theirs = np.ones(8, np.float32)
    seen = seen_of(asarray(theirs))
    assert seen is not None
    assert (seen.address, seen.shape, seen.is_writable) == (theirs.ctypes.data, (8,), True)
    theirs.flags.writeable = False
    seen = seen_of(asarray(theirs))
    assert seen is not None
    assert not seen.is_writable


def test_views_in_several_threads_share_one_state() -> None:
    for _ in range(20):
        x = zeros(8)
        views = [x[place:] for place in range(4)]
        start = threading.Barrier(4)

        def make(view: Tensor, start: threading.Barrier = start) -> None:
            start.wait()
            view.make_record()

        threads = [threading.Thread(target=make, args=(view,)) for view in views]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        before = x.version
        for view in views:
            state_of(view).version += 1
        assert x.version == before + 4
