"""Graphs of GPUs: graphs of the driver, captured when a graph of ours was recorded.

While it is recorded, nothing is given to the driver: launches are only made ready, so that a mistake in between leaves
no capture open, and other threads and libraries see none. Then all of it is captured at once. What a launch needs
beside its arguments, scratch and reports, is memory of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tileproof.backends.cuda import running, starting
from tileproof.backends.cuda.checks import WORDS
from tileproof.backends.cuda.driver import Device, ExecutableGraph
from tileproof.backends.cuda.pinned import LARGEST, Pinned, pinned
from tileproof.backends.launching import require
from tileproof.diagnostics.codes import Code
from tileproof.frontend.elaborate import parse
from tileproof.language.dtypes import U8
from tileproof.language.kernel import Kernel

from . import gpu
from .arguments import Bound, fail
from .check import Proved
from .cuda_streams import CudaStream
from .devices import Array, address_of
from .leases import Work
from .making import empty
from .owned import spans_of
from .streams import Stream, device_name
from .tensors import Tensor

if TYPE_CHECKING:
    from .graph_indices import Watch
    from .graphs import Recorded


class _Launch(starting.Launch):
    """A launch that is captured: its memory is the graph's."""

    take: Callable[[int], int]

    def _take(self, amount: int) -> int:
        return self.take(amount)


@dataclass(eq=False, slots=True)
class Part:
    """A launch of a graph, ready to be captured."""

    bound: Bound
    loaded: running.Loaded
    space: running.Space
    memory: list[Tensor] = field(default_factory=list)
    note: Pinned | None = None
    """Where the driver copies what checks find."""
    started: starting.Started | None = None

    @property
    def is_dependent(self) -> bool:
        """Whether it may begin before the one ahead of it has ended, and lets the next one do so."""
        return self.loaded.can_depend(self.space, self.bound.tensors)

    def capture(self, handle: int, *, dependent: bool) -> None:
        """Gives it to a stream that records."""
        bound = self.bound
        addresses = {name: address_of(array) for name, array in bound.tensors.items()}
        launch = _Launch(
            self.loaded, bound.tensors, addresses, bound.scalars, bound.dimensions, self.space, handle, dependent
        )
        launch.take = self._take
        self.started = started = launch.start()
        if started.error is not None:
            raise started.error
        if started.report:
            self.note = pinned(self.loaded.device, min(started.nbytes, LARGEST))
            self.note.array[...] = 0
            self.loaded.device.copy_async(self.note.address, started.report, self.note.nbytes, handle)

    def _take(self, amount: int) -> int:
        made = empty(max(amount, 16), U8, device_name(self.bound.device))
        # It is there when its stream comes to it; replays may be on any.
        made.wait()
        self.memory.append(made)
        return made.address

    def failure(self) -> BaseException | None:
        """What its checks found at the last replay."""
        if self.note is None or self.started is None:
            return None
        words = self.note.array.view(np.int64)
        if not words[0]:
            return None
        found = words[WORDS:].copy()
        words[0] = 0
        return self.loaded.failure(found, self.started.dimensions, self.started.borders)


class _Recorded(Work):
    """A launch of a graph as work: it knows of its checks."""

    __slots__ = ("part",)

    part: Part

    def failure(self) -> BaseException | None:
        return self.part.failure()


@dataclass(frozen=True, slots=True)
class CopyPart:
    """A copy within a GPU, ready to be captured."""

    device: Device
    to: int
    source: int
    count: int

    is_dependent = False

    def capture(self, handle: int, *, dependent: bool) -> None:
        """Gives it to a stream that records."""
        self.device.copy_async(self.to, self.source, self.count, handle)


def part_of(
    kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], found: Proved, bound: Bound
) -> tuple[Work, Any]:
    """A launch for a graph."""
    assert bound.device is not None
    signature = parse(kernel).signature
    parallel = running.parallel_of(found.ready)
    if parallel is not None and parallel.segments:
        fail(
            signature,
            Code.NOT_IN_GRAPH,
            f"`{signature.name}` walks segments, and how many there are is known when it is launched only",
            help="launch it outside the graph; graphs of the CPU take it",
        )
    require(found.ready, bound.scalars, bound.dimensions)
    space = gpu.space_of(found, bound)
    loaded = gpu.ready(found, gpu.variant(found, bound, space, gpu.arch_of(bound.device)), bound.device)
    work = _Recorded(signature.name, *spans_of(signature, bound), (args, named))
    work.part = Part(bound, loaded, space)
    return work, work.part


class Player:
    """A graph of the driver."""

    def __init__(self, executable: ExecutableGraph, reporting: Sequence[Work], keep: object) -> None:
        self.executable = executable
        self.reporting = reporting
        """Launches with checks."""
        self._keep = keep

    def replay(self, stream: Stream, work: Work) -> int:
        """Has a stream run it."""
        assert isinstance(stream, CudaStream)
        return stream.begin(work, lambda: self.executable.launch(stream.handle))


def player_of(
    recorded: Sequence[Recorded], edges: Sequence[tuple[int, int]], watches: Sequence[Watch]
) -> Player | None:
    """What replays a graph: all of it captured, with what its edges say."""
    if not recorded:
        return None
    device = Device(_device_of(recorded[0]))
    lanes = {id(each.stream): device.make_stream() for each in recorded}
    main = lanes[id(recorded[0].stream)]
    notes = [pinned(device, watch.flags.nbytes) for watch in watches]
    events = []

    def order(first: int, then: int) -> None:
        event = device.event()
        event.record(first)
        event.wait_on(then)
        events.append(event)

    device.begin_capture(main)
    try:
        for handle in lanes.values():
            if handle != main:
                order(main, handle)
        _capture(recorded, edges, lanes, device, events)
        for handle in lanes.values():
            if handle != main:
                order(handle, main)
        for watch, note in zip(watches, notes, strict=True):
            device.copy_async(note.address, watch.flags.address, watch.flags.nbytes, main)
            watch.look.append(_looking(note))
        captured = device.end_capture(main)
    except BaseException:
        device.abandon_capture(main)
        raise
    finally:
        for event in events:
            event.give_back()
    executable = captured.instantiate()
    executable.upload(main)
    device.synchronize(main)
    for handle in lanes.values():
        device.end_stream(handle)
    checked = [each.work for each in recorded if isinstance(each.part, Part) and each.part.note is not None]
    return Player(executable, checked, (notes, [each.part for each in recorded]))


def _capture(
    recorded: Sequence[Recorded], edges: Sequence[tuple[int, int]], lanes: dict[int, int], device: Device,
    events: list[Any],
) -> None:  # fmt: skip
    """Gives all launches to the streams that record, in order, each behind those of other streams it waits for."""
    before: dict[int, list[int]] = {}
    for earlier, later in edges:
        before.setdefault(later, []).append(earlier)
    after = {earlier for earlier, later in edges if recorded[earlier].stream is not recorded[later].stream}
    done: dict[int, Any] = {}
    last: dict[int, Any] = {}
    for place, each in enumerate(recorded):
        handle = lanes[id(each.stream)]
        others = [earlier for earlier in before.get(place, ()) if recorded[earlier].stream is not each.stream]
        for earlier in others:
            done[earlier].wait_on(handle)
        ahead = last.get(handle)
        is_early = not others and ahead is not None and ahead.is_dependent and each.part.is_dependent
        each.part.capture(handle, dependent=is_early)
        last[handle] = each.part
        if place in after:
            done[place] = device.event()
            done[place].record(handle)
            events.append(done[place])


def _device_of(recorded: Recorded) -> int:
    part: Any = recorded.part
    return part.device.ordinal if isinstance(part, CopyPart) else part.bound.device


def _looking(note: Pinned) -> Callable[[], Array]:
    return lambda: note.array.view(np.int64)
