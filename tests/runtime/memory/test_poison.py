"""A failed check spoils what it should have written, and what was made of it, until that is written anew."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.host_kernels import add, columns, double, errors_of, fill, looked_up, numbers, whole
from support.gates import Gate
from support.launch_caches import fully_launched
from tileproof.runtime.memory.ledger import ledger_of
from tileproof.runtime.stream.cpu_streams import CpuStream


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    errors_of()
    before = list(ledger_of(None).poisoned)  # what other files left, and nobody uses any more
    yield
    tp.current_stream().until(tp.current_stream().turn)
    errors_of()
    gc.collect()
    tp.memory()
    assert [each for each in ledger_of(None).poisoned if each not in before] == []


@pytest.fixture
def gate() -> Iterator[Gate]:
    with Gate() as result:
        yield result


def failing(y: tp.Tensor) -> None:
    """Gives work to the current stream whose check will fail."""
    ids = [0] * (y.size - 1) + [77]
    looked_up(y, tp.ones(4), whole(*ids))


def spoiled(tensor: tp.Tensor) -> bool:
    """Whether a read is rejected because of a failed check."""
    try:
        tensor.tolist()
    except tp.TileproofError as error:
        return "77" in error.diagnostics[0].message
    return False


def test_a_failed_check_is_raised_once_by_synchronize(gate: Gate) -> None:
    y = tp.zeros(4)
    gate.hold()
    failing(y)
    assert y.is_in_flight
    gate.open()
    assert "77" in errors_of()[0]
    assert errors_of() == []
    assert spoiled(y)
    assert spoiled(y)


def test_a_failed_check_that_was_told_by_a_read_is_not_told_by_synchronize(gate: Gate) -> None:
    y = tp.zeros(4)
    gate.hold()
    failing(y)
    assert y.is_in_flight
    gate.open()
    assert spoiled(y)
    assert errors_of() == []


def test_a_stream_that_did_not_fail_tells_nothing(gate: Gate) -> None:
    one, two = tp.Stream(), tp.Stream()
    y, z, a = tp.zeros(4), tp.zeros(4), tp.ones(4)
    gate.hold(one)
    with one:
        failing(y)
    with two:
        add(z, a, a)
    gate.open()
    two.synchronize()
    assert z.tolist() == [2, 2, 2, 2]
    assert len(errors_of(one)) == 1


def test_what_is_made_of_it_is_spoiled_too_on_whatever_stream(gate: Gate) -> None:
    one, two, three = (tp.Stream() for _ in range(3))
    y, z, w, a = tp.zeros(4), tp.zeros(4), tp.zeros(4), tp.ones(4)
    total = tp.zeros(4)
    gate.hold(one)
    with one:
        failing(y)
    with two:
        add(z, y, a)
    with three:
        double(z)
        tp.copy(w, z)
        columns(total, w.reshape(1, 4))
    assert all(each.is_in_flight for each in (y, z, w, total))
    gate.open()
    assert spoiled(total)
    assert spoiled(w)
    assert spoiled(z)
    assert spoiled(y)
    assert not spoiled(a)
    assert errors_of(two) == []
    assert errors_of(three) == []


def test_a_launch_that_would_read_it_is_refused() -> None:
    y, z, a = tp.zeros(4), tp.zeros(4), tp.ones(4)
    failing(y)
    assert len(errors_of()) == 1
    with pytest.raises(tp.TileproofError, match="77"):
        add(z, y, a)
    with pytest.raises(tp.TileproofError, match="77"):
        double(y)
    with pytest.raises(tp.TileproofError, match="77"):
        y.numpy()
    with pytest.raises(tp.TileproofError, match="77"):
        y.copy()
    assert z.tolist() == [0, 0, 0, 0]


def test_writing_it_anew_cures_it() -> None:
    by_kernel, by_host, by_copy, by_jobs = (tp.zeros(4) for _ in range(4))
    for each in (by_kernel, by_host, by_copy, by_jobs):
        failing(each)
    assert len(errors_of()) == 1
    fill(by_kernel, 3.0)
    by_host[...] = 3
    tp.copy(by_copy, tp.full(4, 3))
    columns(by_jobs, tp.ones((3, 4)))
    for each in (by_kernel, by_host, by_copy, by_jobs):
        assert each.tolist() == [3, 3, 3, 3]


def test_writing_it_anew_while_the_failure_is_in_flight_cures_it(gate: Gate) -> None:
    y = tp.zeros(4)
    gate.hold()
    failing(y)
    fill(y, 3.0)
    assert y.is_in_flight
    gate.open()
    assert y.tolist() == [3, 3, 3, 3]
    assert len(errors_of()) == 1


@pytest.mark.parametrize("is_kernel", [True, False])
def test_what_lies_between_the_elements_that_were_written_anew_stays_spoiled(is_kernel: bool) -> None:
    y = tp.zeros(7)
    failing(y)
    errors_of()
    if is_kernel:
        add(y[::2], tp.ones(4), tp.ones(4))
    else:
        tp.copy(y[::2], tp.full(4, 2))
    assert y[::2].is_contiguous is False
    assert spoiled(y)
    assert spoiled(y[1::2])
    if is_kernel:
        add(y[1::2], tp.ones(3), tp.ones(3))
    else:
        tp.copy(y[1::2], tp.full(3, 2))
    assert y.tolist() == [2] * 7


def test_what_lies_between_elements_of_a_graph_stays_spoiled() -> None:
    y, ones = tp.zeros(7), tp.ones(4)
    with tp.Graph() as graph:
        add(y[::2], ones, ones)
    failing(y)
    errors_of()
    graph.replay()
    tp.current_stream().synchronize()
    assert spoiled(y)
    y[...] = 0


def test_half_of_it_can_be_cured() -> None:
    y = tp.zeros(8)
    failing(y)
    errors_of()
    y[:4] = 1
    assert y[:4].tolist() == [1, 1, 1, 1]
    assert spoiled(y)
    assert spoiled(y[4:])
    fill(y[4:], 2.0)
    assert y.tolist() == [1] * 4 + [2] * 4


def test_memory_that_goes_back_takes_its_failure_along(gate: Gate) -> None:
    gate.hold()
    for _ in range(8):
        failing(tp.zeros(256))
    assert len(tp.current_stream().pending) >= 8
    gate.open()
    errors_of()
    gc.collect()
    fresh = [tp.zeros(256) for _ in range(16)]
    assert all(each.tolist() == [0] * 256 for each in fresh)


@pytest.mark.parametrize("first", ["alone", "behind others"])
def test_a_launch_that_is_waited_for_spoils_its_tensors_too(first: str) -> None:
    """A numpy array among the arguments: it fails on the spot."""
    y, table = tp.zeros(4), tp.ones(4)
    if first == "alone":
        looked_up(y, table, np.zeros(4, np.int32))
    else:
        fill(y, 1.0)
    with pytest.raises(tp.TileproofError, match="77"):
        looked_up(y, table, np.array([0, 0, 0, 77], np.int32))
    assert spoiled(y)
    assert errors_of() == []
    looked_up(y, table, np.zeros(4, np.int32))
    other = tp.zeros(4)
    looked_up(other, table, np.zeros(4, np.int32))
    assert y.tolist() == [1, 1, 1, 1]


def test_memory_of_others_is_never_spoiled() -> None:
    """Whoever owns it writes it without telling us, so nobody could say that it is good again."""
    theirs, table, z = np.zeros(4, np.float32), tp.ones(4), tp.zeros(4)
    y = tp.asarray(theirs)
    with pytest.raises(tp.TileproofError, match="77"):
        looked_up(y, table, whole(0, 0, 0, 77))
    theirs[:] = 5
    assert y.tolist() == [5, 5, 5, 5]
    add(z, y, table)
    assert z.tolist() == [6, 6, 6, 6]


def test_memory_of_others_in_a_graph_is_never_spoiled() -> None:
    theirs, table, ids, z = np.zeros(4, np.float32), tp.ones(4), whole(0, 0, 0, 77), tp.zeros(4)
    with tp.Graph() as graph:
        looked_up(theirs, table, ids)
    with pytest.raises(tp.TileproofError, match="77"):
        graph.replay()
    theirs[:] = 5
    add(z, tp.asarray(theirs), table)
    assert z.tolist() == [6, 6, 6, 6]


def test_every_thread_that_reads_it_is_told(gate: Gate) -> None:
    y = tp.zeros(4)
    gate.hold()
    failing(y)
    assert y.is_in_flight
    results: list[bool] = []
    readers = [threading.Thread(target=lambda: results.append(spoiled(y))) for _ in range(4)]
    for reader in readers:
        reader.start()
    gate.open()
    for reader in readers:
        reader.join()
    assert results == [True] * 4


def test_a_launch_that_is_waited_for_raises_in_its_own_thread() -> None:
    """Another thread that looks at the ledger at the same moment must not take the error away."""
    over = threading.Event()

    def look() -> None:
        x = tp.zeros(4)
        while not over.is_set():
            fill(x, 1.0)
            x.tolist()

    looker = threading.Thread(target=look)
    looker.start()
    try:
        bad, table, y = np.array([0, 77], np.int32), np.ones(4, np.float32), np.zeros(2, np.float32)
        for _ in range(300):
            with pytest.raises(tp.TileproofError, match="77"):
                looked_up(y, table, bad)
    finally:
        over.set()
        looker.join()


def test_the_first_of_several_failures_is_raised(gate: Gate) -> None:
    one, two, table = tp.zeros(2), tp.zeros(2), numbers(1, 2)
    gate.hold()
    looked_up(one, table, whole(0, 41))
    looked_up(two, table, whole(0, 42))
    assert two.is_in_flight
    gate.open()
    assert "41" in errors_of()[0]
    assert errors_of() == []
    with pytest.raises(tp.TileproofError, match="42"):
        two.tolist()
    fill(one, 0.0)
    fill(two, 0.0)


def test_what_is_spoiled_does_not_hold_up_other_launches() -> None:
    y, z, a = tp.zeros(4), tp.zeros(4), tp.ones(4)
    x, u = np.ones(4, np.float32), np.zeros(4, np.float32)
    add(z, a, a)
    add(u, x, x)
    failing(y)
    assert "77" in errors_of()[0]
    assert ledger_of(None).poisoned
    with fully_launched() as kernels:
        add(z, a, a)
        add(u, x, x)
        assert kernels == []
        with pytest.raises(tp.TileproofError, match="77"):
            add(z, y, a)
        assert kernels == ["add"]


def test_what_is_written_anew_at_the_very_moment_somebody_looks_is_not_spoiled(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = CpuStream(), CpuStream()
    y, a, ledger = tp.zeros(4), tp.ones(4), ledger_of(None)
    with Gate() as first:
        first.hold(one)
        with one:
            failing(y)
        gate.hold(two)
        with two:
            add(y, a, a)
    one.until(one.turn)
    retire = ledger.retire

    def and_then_it_is_done() -> None:
        retire()
        gate.open()
        two.queue.until(two.turn)

    ledger.retire()
    assert ledger.poisoned
    with monkeypatch.context() as patch:
        patch.setattr(ledger, "retire", and_then_it_is_done)
        assert ledger.known_poison(y.span) is None
    errors_of(one)
    assert y.tolist() == [2, 2, 2, 2]


def test_what_failed_ends_with_its_memory_and_is_no_fault_of_who_has_the_address_next() -> None:
    y = tp.zeros(4)
    failing(y)
    assert spoiled(y)
    span = y.span
    with ledger_of(None).lock:
        assert ledger_of(None).poison_in(span) is not None
        gc.collect()
        del y  # nothing of ours is asked for memory before another library is
        assert ledger_of(None).poison_in(span) is None


def test_what_failed_on_a_stream_reaches_work_of_a_thread_that_goes_on(gate: Gate) -> None:
    """A thread that launches on arrays of others looks at its last launch when it begins the next."""
    a, y, z, theirs, side = tp.ones(4), tp.zeros(4), tp.zeros(4), np.ones(4, np.float32), CpuStream()
    with side:
        failing(y)
        gate.hold(side)  # it is not idle, whatever is done
        double(tp.zeros(4))
    with pytest.raises(tp.TileproofError, match="77"):
        add(z, y, theirs)
    add(tp.zeros(4), a, theirs)
    assert spoiled(z)
    assert spoiled(y)


def _interpreted(*args: Any) -> None:
    with tp.backend("interpreter"):
        add(*args)


def _lent(out: Any, y: tp.Tensor, a: tp.Tensor) -> None:
    own = tp.zeros(4)
    seen = own.numpy()
    try:
        add(own, y, a)
    finally:
        out[...] = seen


READERS = {
    "a launch": add,
    "a launch of several jobs": lambda out, y, a: columns(out, y.reshape(1, 4)),
    "a launch on memory that was handed out": _lent,
    "an operation": lambda out, y, a: add.op(out, y, a).run(),
    "the interpreter": _interpreted,
    "a copy": lambda out, y, a: tp.copy(tp.asarray(out), y),
}


@pytest.mark.parametrize("reader", [*READERS, "a replay"])
@pytest.mark.parametrize("is_done", [False, True])
def test_what_failed_in_flight_is_told_to_who_makes_memory_of_others_of_it(
    gate: Gate, reader: str, is_done: bool
) -> None:
    """Nobody would be told who reads that."""
    a, y, out, side = tp.ones(4), tp.zeros(4), np.full(4, 5, np.float32), CpuStream()
    with tp.Graph() as graph:
        add(out, y, a)
    read: Any = READERS.get(reader, lambda *_: graph.replay())
    gate.hold(side)
    with side:
        failing(y)
        double(tp.zeros(4))
    if is_done:
        gate.open()
        side.until(side.turn)
    opening = threading.Timer(0.01, gate.open)
    opening.start()
    with pytest.raises(tp.TileproofError, match="77"):
        read(out, y, a)
    opening.join()
    assert side.errors == {}, "it was told"
