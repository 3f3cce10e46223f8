"""The ledger against a model that keeps, for every byte, who wrote it last and who has read it since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from tileproof.runtime.memory.ledger import Ledger, Span, Work
from tileproof.runtime.stream.streams import Stream

BYTES = 24


class Fake(Stream):
    """A stream whose work is done when the test says so."""

    def __init__(self, name: str) -> None:
        self._begin(None)
        self.name = name
        self._done = 0
        self.waits: list[tuple[Stream, int]] = []

    @property
    def done(self) -> int:
        return self._done

    def has_done(self, turn: int) -> bool:
        return self._done >= turn

    def order_behind(self, other: Stream, turn: int) -> None:
        self.waits.append((other, turn))

    def __repr__(self) -> str:
        return self.name


class Bytes:
    """The model: of each byte, its last writer and the readers since."""

    def __init__(self) -> None:
        self.writer: list[Any] = [None] * BYTES
        self.readers: list[set[Any]] = [set() for _ in range(BYTES)]

    def users(self, span: Span, writing: bool) -> set[Any]:
        results = set()
        for byte in range(*span):
            if self.writer[byte] is not None:
                results.add(self.writer[byte])
            if writing:
                results |= self.readers[byte]
        return results

    def read(self, span: Span, use: Any) -> None:
        for byte in range(*span):
            self.readers[byte].add(use)

    def write(self, span: Span, use: Any) -> None:
        for byte in range(*span):
            self.writer[byte], self.readers[byte] = use, set()


spans = st.tuples(st.integers(0, BYTES), st.integers(0, BYTES)).map(lambda ends: (min(ends), max(ends)))


def newest(uses: Iterator[Any] | set[Any]) -> dict[Stream, int]:
    """Of each stream the last use: whoever waits for it waits for all before it."""
    results: dict[Stream, int] = {}
    for stream, turn in uses:
        results[stream] = max(turn, results.get(stream, 0))
    return results


def open_of(result: dict[Stream, int]) -> dict[Stream, int]:
    """Without what is done."""
    return {stream: turn for stream, turn in result.items() if not stream.has_done(turn)}


def meets(used: tuple[int, int, bool], span: Span, writing: bool) -> bool:
    low, high, is_written = used
    return (is_written or writing) and max(low, span[0]) < min(high, span[1])


uses = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.lists(spans, max_size=2),
        st.lists(spans, max_size=2),
        st.integers(0, 2),
        st.sampled_from(["none", "one", "all"]),
    ),
    max_size=40,
)


def before(stream: Fake, turn: int, waited: dict[Any, dict[Stream, int]]) -> dict[Stream, int]:
    """All that is done when some work begins: what its stream waited for until then, and what those waited for."""
    results: dict[Stream, int] = {}
    todo = [(stream, turn)]
    while todo:
        each, at = todo.pop()
        if results.get(each, 0) >= at:
            continue
        results[each] = at
        for number in range(1, at + 1):
            todo += waited.get((each, number), {}).items()
    return results


@given(uses)
@settings(max_examples=examples(120), deadline=None)
def test_work_waits_for_all_that_it_must_and_hosts_see_who_is_in_the_way(wanted: list[Any]) -> None:
    """Random work on three streams, finished at random: alone, together, and alone again."""
    streams = [Fake(name) for name in "abc"]
    ledger, model = Ledger(None), Bytes()
    waited: dict[Any, dict[Stream, int]] = {}
    arguments: list[tuple[Any, list[tuple[int, int, bool]]]] = []
    for each in streams:
        each.ledger = ledger
    for place, reads, writes, finisher, how in wanted:
        stream = streams[place]
        needed: set[Any] = set()
        for span in reads:
            needed |= model.users(span, False)
        for span in writes:
            needed |= model.users(span, True)
        stream.waits.clear()
        turn = stream.submit(Work("work", reads, writes), lambda stream=stream: stream.turn + 1)
        waited[stream, turn] = newest(iter(stream.waits))
        seen = before(stream, turn, waited)
        for other, at in needed:
            assert other.has_done(at) or seen.get(other, 0) >= at
        for span in reads:
            model.read(span, (stream, turn))
        for span in writes:
            model.write(span, (stream, turn))
        arguments.append(((stream, turn), [(*span, False) for span in reads] + [(*span, True) for span in writes]))
        one = streams[finisher]
        if how != "none":
            # What is done must be possible: a stream comes to its next work when what that waits for is done.
            for at in range(one.done + 1, one.turn + 1 if how == "all" else min(one.turn, one.done + 1) + 1):
                if all(other.has_done(of) for other, of in waited.get((one, at), {}).items()):
                    one._done = at
                else:
                    break
        for low in range(0, BYTES, 3):
            for writing in (False, True):
                with ledger.lock:
                    kept = newest(iter(ledger.holders((low, low + 3), writing)))
                needed = open_of(newest(model.users((low, low + 3), writing)))
                # Who wrote before the last writer may be named too; that one waits for it.
                assert all(kept[each] >= turn for each, turn in needed.items())
                meeting = {use for use, used in arguments if any(meets(each, (low, low + 3), writing) for each in used)}
                assert kept == open_of(newest(meeting))


@given(uses)
@settings(max_examples=examples(100), deadline=None)
def test_nothing_is_kept_of_work_that_is_done(wanted: list[Any]) -> None:
    streams = [Fake(name) for name in "abc"]
    ledger = Ledger(None)
    for each in streams:
        each.ledger = ledger
    for place, reads, writes, *_ in wanted:
        stream = streams[place]
        stream.submit(Work("work", reads, writes), lambda stream=stream: stream.turn + 1)
    for each in streams:
        each._done = each.turn
    with ledger.lock:
        ledger.retire()
    assert not any(each.pending for each in streams)
    last = Fake("last")
    last.ledger = ledger
    last.submit(Work("work", [(0, BYTES)], [(0, BYTES)]), lambda: 1)
    assert last.waits == []
    assert ledger.under_way() == [last]
    assert not any(each.seen for each in streams)


class Failing(Work):
    """Work that fails."""

    def failure(self) -> BaseException | None:
        return ValueError(self.name)


@given(st.lists(st.tuples(spans, spans, st.integers(0, 3)), max_size=40))
@settings(max_examples=examples(80), deadline=None)
def test_poison_follows_every_byte(wanted: list[tuple[Span, Span, int]]) -> None:
    ledger, stream = Ledger(None), Fake("a")
    stream.ledger = ledger
    spoiled = [False] * BYTES
    for read, write, kind in wanted:
        make = Failing if kind == 0 else Work
        stream._done = stream.submit(make("work", [read], [write]), lambda: stream.turn + 1)
        is_bad = kind == 0 or any(spoiled[slice(*read)])
        spoiled[slice(*write)] = [is_bad] * (write[1] - write[0])
        with ledger.lock:
            ledger.retire()
        assert [ledger.poison_in((byte, byte + 1)) is not None for byte in range(BYTES)] == spoiled


class Failed(Work):
    """Work that went wrong."""

    def failure(self) -> BaseException | None:
        return ValueError("it failed")


class Scripted(Fake):
    """A stream that gets on while it is looked at."""

    marks: Iterator[int] = iter(())

    @property
    def done(self) -> int:
        self._done = next(self.marks, self._done)
        return self._done


def _given(ledger: Ledger, work: list[tuple[Stream, int, Work]]) -> None:
    """Has work of several streams under way, in this order."""
    for stream, turn, each in work:
        stream.ledger = ledger
        ledger.note(stream, turn, each)


def _spoiled_and_mended(one: Stream, two: Stream) -> list[tuple[Stream, int, Work]]:
    """Something goes wrong on a stream at turn 9 and is written anew at turn 10; then the other stream reads it."""
    early: list[tuple[Stream, int, Work]] = [(one, turn, Work("early", (), ())) for turn in range(1, 9)]
    return [*early, (one, 9, Failed("wrong", (), ((0, 4),))), (one, 10, Work("mends", (), ((0, 4),))),
            (two, 1, Work("reads", ((0, 4),), ((8, 12),)))]  # fmt: skip


def test_work_is_not_taken_to_be_done_before_what_it_waited_for() -> None:
    """However often streams get on while their counters are read."""
    ledger = Ledger(None)
    one, two = Scripted("a"), Scripted("b")
    one.marks, two.marks = iter(range(1, 11)), iter([*[0] * 8, 1])  # the first gets on right behind the ninth look
    _given(ledger, _spoiled_and_mended(one, two))
    with ledger.lock:
        ledger.retire()
    assert ledger.poisoned == []


def test_a_stream_that_is_settled_does_not_run_ahead_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, one, two = Ledger(None), Fake("a"), Fake("b")
    _given(ledger, _spoiled_and_mended(one, two))
    one._done = 9
    retire = Ledger.retire

    def and_more(self: Ledger) -> None:
        retire(self)
        one._done, two._done = 10, 1  # both get on behind the look at them

    monkeypatch.setattr(Ledger, "retire", and_more)
    two.settle()
    monkeypatch.undo()
    two.settle()
    assert ledger.poisoned == []
