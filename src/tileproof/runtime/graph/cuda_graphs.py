"""Graphs of GPUs: graphs of the driver, captured when a graph of ours was recorded.

While it is recorded, nothing is given to the driver: launches are only made ready, so that a mistake in between leaves
no capture open, and other threads and libraries see none. Then all of it is captured at once. What a launch needs
besides its arguments, scratch and reports, is memory of the graph.

The last nodes of a graph gather what its checks report. Behind each replay its stream copies that to the host, to a
place of that replay's own: others may be on their way by the time somebody looks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tileproof.backends.base import device_name
from tileproof.backends.cuda.codegen.checks import WORDS
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device import stream_launch as starting
from tileproof.backends.cuda.device.driver import Device, ExecutableGraph
from tileproof.backends.cuda.device.pinned import LARGEST, Pinned, pinned
from tileproof.backends.scalars import require
from tileproof.compiler.proved import Proved, signature_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.ir.types import Access
from tileproof.language.dtypes import U8
from tileproof.runtime.interop.describe import Array, Described, address_of, byte_range, torch_of, wait_for_owner
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.binding import Bound, fail
from tileproof.runtime.launch.cuda_launches import order, torch_stream_to_order
from tileproof.runtime.launch.owned import spans_of
from tileproof.runtime.launch.premises import Watch
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.ledger import Work, raise_again
from tileproof.runtime.stream.cuda_streams import CudaStream
from tileproof.runtime.stream.streams import Stream
from tileproof.runtime.tensor.creation import empty
from tileproof.runtime.tensor.tensors import Tensor

from .graphs import Recorded, Replay

_MUCH: Final = 1 << 26
"""How much memory of the host reports of replays under way may take, besides that of small ones."""
_MOST_UNDER_WAY: Final = 4096
_LINE: Final = 128
"""Bytes that caches of GPUs keep together."""


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
    space: running.LaunchSpace
    written: Sequence[Array | Described]
    """The arrays that it writes."""
    behind: Part | None = field(default=None, repr=False)
    """The only launch, if there is one, whose end its code does not wait for before its first read."""
    memory: list[Tensor] = field(default_factory=list)
    started: starting.Started | None = None

    @property
    def is_dependent(self) -> bool:
        """Whether it may begin before the one ahead of it has ended, and lets the next one do so.

        What a join needs between its stages is memory of the graph, so nothing comes between these either.
        """
        loaded = self.loaded
        if loaded.is_joined:
            return loaded.code.is_dependent and self.space.programs > 0
        return loaded.can_depend(self.space, self.bound.tensors)

    def can_begin(self, ahead: Part | CopyPart | None) -> bool:
        """Whether it may begin before this one has ended, which is ahead of it on its stream."""
        if not isinstance(ahead, Part) or not ahead.is_dependent or not self.is_dependent:
            return False
        return self.behind is None or self.behind is ahead

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

    def _take(self, amount: int) -> int:
        memory = empty(max(amount, 16), U8, device_name(self.bound.device))
        # It is there when its stream comes to it; replays may be on any.
        memory.wait()
        self.memory.append(memory)
        return memory.address

    def failure(self, words: Array) -> BaseException | None:
        """What its checks found, as one replay reported it."""
        assert self.started is not None
        return self.loaded.failure(words[WORDS:], self.started.dimensions, self.started.borders) if words[0] else None


@dataclass(frozen=True, slots=True)
class CopyPart:
    """A copy within a GPU, ready to be captured."""

    device: Device
    to: int
    source: int
    count: int

    def can_begin(self, ahead: Part | CopyPart | None) -> bool:
        """Whether it may begin before this one has ended."""
        return False

    def capture(self, handle: int, *, dependent: bool) -> None:
        """Gives it to a stream that records."""
        self.device.copy_async(self.to, self.source, self.count, handle)


def part_of(
    args: tuple[Any, ...], named: dict[str, Any], proved: Proved, bound: Bound, ahead: Any
) -> tuple[Work, Part]:
    """A launch for a graph, after another part or nothing."""
    assert bound.device is not None
    signature = signature_of(proved)
    parallel = running.parallel_of(proved.ready)
    if parallel is not None and parallel.segments:
        fail(
            signature,
            Code.NOT_IN_GRAPH,
            f"`{signature.name}` walks segments, and how many there are is known when it is launched only",
            help="launch it outside the graph; graphs of the CPU take it",
        )
    require(proved.ready, bound.scalars, bound.dimensions)
    space = gpu.space_of(proved, bound)
    wanted = gpu.variant(proved, bound, space, gpu.arch_of(bound.device))
    written = [bound.tensors[tensor.name] for tensor in signature.tensors if tensor.access is not Access.IN]
    work = Work(signature.name, *spans_of(signature, bound), (args, named))
    loaded = None
    if wanted.dependent is not None and isinstance(ahead, Part) and ahead.is_dependent:
        read = (tensor.name for tensor in signature.tensors if tensor.access is Access.IN)
        unwritten = frozenset(name for name in read if not _is_near(bound.tensors[name], ahead.written))
        loaded = gpu.early(proved, wanted, unwritten, bound.device)
    if loaded is not None:
        return work, Part(bound, loaded, space, written, ahead)
    return work, Part(bound, gpu.ready(proved, wanted, bound.device), space, written)


def _is_near(array: Array | Described, others: Sequence[Array | Described]) -> bool:
    """Whether an array may have a line of a cache in common with others: whoever reads a line gets all of it."""
    low, high = byte_range(array)
    ranges = map(byte_range, others)
    return any(low // _LINE <= (end - 1) // _LINE and start // _LINE <= (high - 1) // _LINE for start, end in ranges)


@dataclass(frozen=True, slots=True)
class Report:
    """What a launch, or a test of an index tensor, writes down at every replay."""

    address: int
    nbytes: int
    failure: Callable[[Array], BaseException | None]
    """What went wrong, by the words of one replay."""


class Player:
    """A graph of the driver."""

    run_here: Final = None
    failure: Final = None
    """Of a replay that reported nothing."""

    def __init__(
        self, executable: ExecutableGraph, recorded: Sequence[Recorded], reports: Sequence[Report],
        gathered: Tensor | None,
    ) -> None:  # fmt: skip
        self.executable = executable
        self._parts = [entry.part for entry in recorded]
        self._reports = reports
        self._gathered = gathered
        self._lenders = [array for array in _arrays(recorded) if array.stream is not None]
        self._has_torch = any(map(_is_torchs, _arrays(recorded)))
        self._under_way: deque[tuple[CudaStream, int]] = deque()
        """Replays whose reports take much memory of the host."""

    @property
    def has_checks(self) -> bool:
        """Whether a replay may fail."""
        return bool(self._reports)

    def replay(self, stream: Stream, work: Replay) -> int:
        """Has a stream run it."""
        assert isinstance(stream, CudaStream)
        if stream.is_recording:
            message = "a graph is replayed on a stream of which another library records a graph"
            raise LaunchError(Diagnostic(Code.NOT_IN_GRAPH, message, help="replay it when that is recorded"))
        gpu, handle, gathered = stream.gpu, stream.handle, self._gathered
        blocks = work.graph._blocks
        torch_stream = torch_stream_to_order(
            stream, is_theirs=lambda: self._has_torch or any(block.exports for block in blocks)
        )
        nbytes = 0 if gathered is None else gathered.nbytes
        self._keep_up(nbytes)
        staged = [pinned(gpu, min(LARGEST, nbytes - start)) for start in range(0, nbytes, LARGEST)]
        errors: list[LaunchError] = []

        def start() -> None:
            for array in self._lenders:
                wait_for_owner(array, handle)
            if torch_stream is not None:
                order(gpu, torch_stream, handle)
            self.executable.launch(handle)
            try:
                for place, piece in enumerate(staged):
                    assert gathered is not None
                    gpu.copy_async(piece.address, gathered.address + place * LARGEST, piece.nbytes, handle)
                if torch_stream is not None:
                    order(gpu, handle, torch_stream)
            except LaunchError as error:  # it is under way, so its leases are needed
                errors.append(error.with_traceback(None))

        work.keep = work.keep, staged
        if staged:
            work.outcome = lambda: errors[0] if errors else self._failure(gpu, staged)
        stream.ledger.demand_free()
        turn = stream.begin(work, start)
        if errors:
            raise_again(errors[0])
        if nbytes > _MUCH // _MOST_UNDER_WAY:
            self._under_way.append((stream, turn))
        return turn

    def _keep_up(self, nbytes: int) -> None:
        """Waits for earlier replays where reports take much memory."""
        while self._under_way and len(self._under_way) * nbytes > _MUCH:
            with suppress(IndexError):  # other threads do the same
                stream, turn = self._under_way.popleft()
                stream.until(turn)

    def _failure(self, gpu: Device, staged: Sequence[Pinned]) -> BaseException | None:
        if gpu.driver.lost is not None:
            return gpu.driver.gone("looking at the checks of a graph")
        pieces = [piece.array for piece in staged]
        words = (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)).view(np.int64)
        place, error = 0, None
        for report in self._reports:
            if error is None:
                error = report.failure(words[place : place + report.nbytes // 8])
            place += report.nbytes // 8
        return error


def _arrays(recorded: Sequence[Recorded]) -> Iterator[Any]:
    """All that the launches and copies of a graph use."""
    for entry in recorded:
        if isinstance(entry.part, Part):
            yield from entry.part.bound.tensors.values()
        else:
            yield from (tensor.seen_by_launch() for tensor, *_ in entry.tensors)


def _is_torchs(array: Any) -> bool:
    """Whether memory is torch's, also where it is only a part of an array that is meant."""
    if not isinstance(array, Described):
        return False
    keep: Any = array.keep
    if isinstance(keep, Block):
        return _is_torchs(keep.owner)
    return torch_of(keep) is not None or _is_torchs(getattr(keep, "keep", None))


def player_of(
    recorded: Sequence[Recorded], edges: Sequence[tuple[int, int]], watches: Sequence[Watch]
) -> Player | None:
    """What replays a graph: all of it captured, with what its edges say."""
    if not recorded:
        return None
    device = Device(_device_of(recorded[0]))
    lanes = {id(entry.stream): device.make_stream() for entry in recorded}
    main = lanes[id(recorded[0].stream)]
    reports: list[Report] = []
    gathered: Tensor | None = None
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
        reports += _reports(recorded, watches)
        if reports:
            gathered = empty(sum(report.nbytes for report in reports), U8, device_name(device.ordinal))
            gathered.wait()  # replays may be on any stream
            to = gathered.address
            for address, nbytes in _neighbours(reports):
                device.copy_async(to, address, nbytes, main)
                to += nbytes
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
    return Player(executable, recorded, reports, gathered)


def _neighbours(reports: Sequence[Report]) -> Iterator[tuple[int, int]]:
    """The bytes of reports in their order, those without a gap between them together."""
    start = end = 0
    for report in reports:
        if report.address != end:
            if end > start:
                yield start, end - start
            start = end = report.address
        end += report.nbytes
    if end > start:
        yield start, end - start


def _reports(recorded: Sequence[Recorded], watches: Sequence[Watch]) -> Iterator[Report]:
    for entry in recorded:
        started = entry.part.started if isinstance(entry.part, Part) else None
        if started is not None and started.report:
            yield Report(started.report, started.nbytes, entry.part.failure)
    for watch in watches:
        if watch.flags.nbytes:
            yield Report(watch.flags.address, watch.flags.nbytes, watch.failure)


def _capture(
    recorded: Sequence[Recorded], edges: Sequence[tuple[int, int]], lanes: dict[int, int], device: Device,
    events: list[Any],
) -> None:  # fmt: skip
    """Gives all launches to the streams that record, in order, each after those of other streams it waits for."""
    before: dict[int, list[int]] = {}
    for earlier, later in edges:
        before.setdefault(later, []).append(earlier)
    after = {earlier for earlier, later in edges if recorded[earlier].stream is not recorded[later].stream}
    done: dict[int, Any] = {}
    last: dict[int, Any] = {}
    for place, entry in enumerate(recorded):
        handle = lanes[id(entry.stream)]
        others = [earlier for earlier in before.get(place, ()) if recorded[earlier].stream is not entry.stream]
        for earlier in others:
            done[earlier].wait_on(handle)
        is_early = not others and entry.part.can_begin(last.get(handle))
        entry.part.capture(handle, dependent=is_early)
        last[handle] = entry.part
        if place in after:
            done[place] = device.event()
            done[place].record(handle)
            events.append(done[place])


def _device_of(recorded: Recorded) -> int:
    part: Any = recorded.part
    return part.device.ordinal if isinstance(part, CopyPart) else part.bound.device
