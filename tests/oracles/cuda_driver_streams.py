"""Streams, events and graphs of the stand-in for the CUDA driver.

Work is done when it is given, unless something before it on its stream waits: for a value in memory, or for an event of
a stream that waits. It is then done as soon as anybody looks. A stream that records keeps its work as nodes instead.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from oracles.cuda_driver_names import CUgraphNodeType

PATIENCE = 30.0
"""Seconds after which waiting for a stream that nobody lets go on is a mistake of the test."""


@dataclass(eq=False)
class Step:
    """One thing that a stream is given."""

    kind: CUgraphNodeType | None
    """None for what leaves no node in a graph."""
    act: Callable[[], object] = lambda: None
    is_ready: Callable[[], bool] = lambda: True
    kernel: int = 0


@dataclass(eq=False)
class Graph:
    """What was recorded: steps, and which comes after which."""

    origin: int
    steps: list[Step] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    tails: dict[int, set[int]] = field(default_factory=dict)
    """The last nodes of each stream that takes part."""
    is_invalid: bool = False

    def add(self, stream: int, step: Step) -> None:
        place = len(self.steps)
        self.steps.append(step)
        self.edges += [(before, place) for before in sorted(self.tails[stream])]
        self.tails[stream] = {place}

    def is_joined(self) -> bool:
        """Whether all that was recorded comes before the end of the stream that began."""
        seen, left = set(), list(self.tails[self.origin])
        while left:
            place = left.pop()
            seen.add(place)
            left += [before for before, after in self.edges if after == place and before not in seen]
        return all(tails <= seen for tails in self.tails.values())


@dataclass(eq=False)
class Moment:
    """What an event stands for since it was recorded last."""

    is_over: bool = False
    graph: Graph | None = None
    tails: set[int] = field(default_factory=set)


@dataclass
class Streams:
    """All streams of a process."""

    waiting: dict[int, deque[Step]] = field(default_factory=dict)
    """What streams have still to do."""
    recording: dict[int, Graph] = field(default_factory=dict)
    moments: dict[int, Moment] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def give(self, stream: int, *steps: Step) -> None:
        """Gives work to a stream."""
        with self.lock:
            for step in steps:
                if graph := self.recording.get(stream):
                    if step.kind is not None:
                        graph.add(stream, step)
                else:
                    self.waiting.setdefault(stream, deque()).append(step)
            self.go_on()

    def go_on(self) -> None:
        """Does what can be done."""
        with self.lock:
            went_on = True
            while went_on:
                went_on = False
                for steps in list(self.waiting.values()):
                    while steps and steps[0].is_ready():
                        went_on = True
                        steps.popleft().act()

    def is_done(self, stream: int) -> bool:
        """Whether a stream has nothing left to do."""
        self.go_on()
        return not self.waiting.get(stream)

    def is_over(self, event: int) -> bool:
        """Whether the moment of an event has come; that of one which was never recorded has."""
        self.go_on()
        return event not in self.moments or self.moments[event].is_over

    def wait(self, is_done: Callable[[], bool]) -> None:
        """Waits until somebody has let a stream go on."""
        end = time.monotonic() + PATIENCE
        while not is_done():
            assert time.monotonic() < end, "waited for a stream that nobody lets go on"
            time.sleep(0.0005)

    def record(self, event: int, stream: int) -> None:
        with self.lock:
            if graph := self.recording.get(stream):
                self.moments[event] = Moment(graph=graph, tails=set(graph.tails[stream]))
                return
            moment = self.moments[event] = Moment()

            def over() -> None:
                moment.is_over = True

            self.give(stream, Step(None, over))

    def graph_of(self, event: int) -> Graph | None:
        """What is being recorded, or was, with an event in it."""
        return self.moments[event].graph if event in self.moments else None

    def wait_for(self, stream: int, event: int) -> bool:
        """Has a stream wait for an event; False if it records and the event is of another time."""
        with self.lock:
            moment = self.moments.get(event, Moment(is_over=True))
            graph = self.recording.get(stream)
            if moment.graph is not None:
                if graph not in (None, moment.graph):
                    return False
                self.recording[stream] = moment.graph
                moment.graph.tails[stream] = moment.graph.tails.get(stream, set()) | moment.tails
            elif graph is not None:
                graph.is_invalid = True
                return False
            else:
                self.give(stream, Step(None, is_ready=lambda: moment.is_over))
            return True

    def begin(self, stream: int) -> None:
        """Has a stream record."""
        self.recording[stream] = Graph(stream, tails={stream: set()})

    def end(self, graph: Graph) -> None:
        """Has all streams that record a graph do their work again."""
        self.recording = {stream: each for stream, each in self.recording.items() if each is not graph}
