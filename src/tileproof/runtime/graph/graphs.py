"""Graphs: launches that are recorded once and replayed often, for next to nothing each.

    with tp.Graph() as step:
        matmul(h, x, w)
        relu(y, h)
    step.replay()

Nothing runs while a graph is recorded. Everything a launch checks by shapes is checked then, once; what memory holds is
looked at on the device, at every replay. The graph keeps the memory of its tensors, and every replay takes their
leases, so whoever drops a tensor, writes one from the host, or launches on another stream meets the same law as any
launch. Inputs change by copying into them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from contextvars import Token
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Self

import numpy as np

from tileproof.backends.base import device_name, device_of
from tileproof.compiler.proved import Proved
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.frontend.signature import Signature, parse
from tileproof.ir.types import Access
from tileproof.language.kernel import Kernel
from tileproof.runtime.interop.describe import torch_of
from tileproof.runtime.launch import backend_choice as choice
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare_recorded
from tileproof.runtime.launch.premises import GraphPremises
from tileproof.runtime.memory.block import NOTHING, Block, Written
from tileproof.runtime.memory.ledger import Outdated, Runs, Span, Work, ledger_of, raise_again
from tileproof.runtime.memory.recorder import recording
from tileproof.runtime.native.readers import Place, place_of_array
from tileproof.runtime.stream.operations import Operation
from tileproof.runtime.stream.streams import Stream, chosen_stream, current_stream
from tileproof.runtime.tensor.tensors import Tensor

from .description import Description, Node


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """One launch or copy of a graph."""

    node: Node
    work: Work
    part: Any
    """What the player of its device made of it."""
    tensors: tuple[tuple[Tensor, bool, bool], ...]
    """The tensors of our own that it uses: whether it reads what they hold, and whether it writes them."""
    stream: Stream | None
    """The stream of the `with` block it was recorded in."""


class Graph:
    """Launches that are recorded once and replayed often."""

    def __init__(self) -> None:
        self._begin(trusts=True)

    def _begin(self, *, trusts: bool) -> None:
        self.device: int | None = None
        self._recorded: list[Recorded] = []
        self._state = "new"
        self._token: Token[Any] | None = None
        self._player: Any = None
        """What replays it on its device."""
        self._others_write = False
        """Whether others can write memory there while kernels run."""
        self._premises = GraphPremises(trusts=trusts)
        self._reads: tuple[Span, ...] = ()
        """What replays read that they have not written before."""
        self._writes: tuple[Span, ...] = ()
        self._read_first: tuple[tuple[Tensor, Runs, str], ...] = ()
        """Tensors that a replay reads, the bytes of each that must have been written before it, and who reads them."""
        self._blocks: tuple[Block, ...] = ()
        self._outputs: tuple[tuple[Block, Any], ...] = ()
        self._unnoted: tuple[tuple[Block, Any], ...] = ()
        """The same until a replay notes that it was written: what was written once stays written."""
        self._calls: list[Callable[[Graph], None]] = []
        """What was recorded, to record it again."""
        self._careful: Graph | None = None
        """The same graph with copies of all premises, for replays while others can reach what was trusted."""
        self._foreign: list[tuple[Any, Place, int, tuple[int, ...]]] = []
        """Arrays of other libraries, where their addresses are read, the address and the shape when recorded."""
        self._is_own = True
        self._writes_foreign = False
        """Whether replays write arrays of another library."""

    # Recording.

    def __enter__(self) -> Self:
        if self._state != "new":
            _reject("a graph is recorded once, and this one was", "make another: `with tp.Graph() as g:`")
        if recording.get() is not None:
            _reject("a graph is recorded inside another", "record one after the other; `a.replay()` runs each")
        self._state = "recording"
        self._token = recording.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        with suppress(ValueError):  # it is closed in another context, where it was not recorded
            recording.reset(self._token)
        self._token = None
        if error is not None:
            self._state = "not recorded: an error came in between"
            self._recorded.clear()
            return
        self._finish()

    def _finish(self) -> None:
        self._sort_memory()
        edges, watches = self._description().edges, self._premises.watches
        device = device_of(self.device)
        self._ledger = ledger_of(self.device)
        self._player, self._others_write = device.player_of(self._recorded, edges, watches), device.others_write
        self._state = "recorded"

    def record(self, kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Takes a launch into the graph."""
        with _not_recording():
            proved, bound = prepare_recorded(kernel, args, named)
            self._demand_device(kernel.name, bound.device)
            self._note_foreign((*args, *named.values()))
            separated = self._premises.separate(proved, bound)
            for to, source in separated.copies:
                self._add_copy(to, source)
            for test, its_args, constants in separated.launches:
                self._add(test, its_args, constants, *prepare_recorded(test, its_args, constants), is_internal=True)
            self._add(kernel, args, named, proved, bound)
            self._calls.append(lambda graph: graph.record(kernel, args, named))

    def _add(
        self, kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], proved: Proved, bound: Bound, *,
        is_internal: bool = False,
    ) -> None:  # fmt: skip
        signature = parse(kernel).signature
        stream = chosen_stream(bound.device)
        ahead = next((earlier.part for earlier in reversed(self._recorded) if earlier.stream is stream), None)
        backend = choice.backend_for(choice.current(), kernel.name, bound.device)
        work, part = device_of(bound.device).part_of(backend, args, named, proved, bound, ahead)
        own = tuple(
            (bound.own[t.name], t.is_read, t.access is not Access.IN) for t in signature.tensors if t.name in bound.own
        )
        self._is_own = self._is_own and (is_internal or len(own) == len(bound.tensors))
        written = [tensor.name for tensor in signature.tensors if tensor.access is not Access.IN]
        self._writes_foreign = self._writes_foreign or any(name not in bound.own for name in written if not is_internal)
        node = Node("kernel", kernel.name, tuple(_used(signature, bound)))
        self._recorded.append(Recorded(node, work, part, own, stream))
        self._premises.note(proved, bound, work.writes)

    def add_copy(self, to: Tensor, source: Tensor) -> None:
        """Takes a copy into the graph."""
        self._add_copy(to, source)
        self._calls.append(lambda graph: graph.add_copy(to, source))

    def _add_copy(self, to: Tensor, source: Tensor) -> None:
        device, label = to.block.device, f"copy{list(to.shape)}"
        work, part = device_of(device).copy_part(to, source)
        self._demand_device("a copy", device)
        self._is_own = self._is_own and not (to.block.is_shared or source.block.is_shared)
        tensors = (to, False, True), (source, True, False)
        self._recorded.append(Recorded(Node("copy", label, ()), work, part, tensors, chosen_stream(device)))
        self._premises.touch(work.writes)

    def _note_foreign(self, args: Sequence[Any]) -> None:
        """Writes down where arrays of other libraries are, some of which can be moved."""
        for value in args:
            place = _place_of(value)
            if place is not None and not any(value is known for known, *_ in self._foreign):
                self._foreign.append((value, place, place.value, tuple(value.shape)))

    def _demand_in_place(self) -> None:
        for value, place, address, shape in self._foreign:
            if place.value != address or value.shape != shape:
                _reject(
                    f"an array of shape {shape} in the graph has other memory or another shape now",
                    "record the graph again, or keep the array as it is: `x[...] = values` writes into it",
                )

    def _demand_device(self, name: str, device: int | None) -> None:
        if self._state != "recording":
            _reject(f"`{name}` comes when the graph is {self._state}", "launch inside its `with` block")
        if not self._recorded:
            self.device = device
        elif device != self.device:
            where, other = device_name(device), device_name(self.device)
            _reject(f"`{name}` is on {where}, and the graph on {other}", "record a graph for each device")

    # Replaying.

    def replay(self, stream: Stream | None = None) -> None:
        """Runs all of it, in order, on a stream: the current one if none is named. Returns at once, as launches do.

        On the CPU a replay whose memory others can reach runs on the calling thread, and is done when this returns.
        """
        if self._state != "recorded":
            self._demand_recorded()
        if recording.get() is not None:
            _reject("a graph is replayed while another is recorded", "replay it outside the `with` block")
        if not self._recorded:
            return
        if stream is not None and stream.device != self.device:
            where, other = device_name(self.device), device_name(stream.device)
            _reject(f"a graph of {where} is replayed on a stream of {other}", f'make one: `tp.Stream("{where}")`')
        if self._foreign:
            self._demand_in_place()
        if self._read_first:
            self._demand_written()
        if self._ledger.poisoned:
            self._demand_whole()
        self._start(stream, self._is_awaited())

    def _start(self, stream: Stream | None, is_awaited: bool) -> None:
        """Starts a replay under one lease. Its premises are checked when that is taken, by `Replay.is_current`."""
        work = Replay(self, self._player, is_awaited)
        try:
            if is_awaited and work.player.run_here is not None:
                work.player.run_here(work)
                return
            chosen = current_stream(self.device) if stream is None else stream
            turn = work.player.replay(chosen, work)
        except Outdated:  # somebody got hold of its memory
            if is_awaited or any(block.lent for block in self._premises.trusted):
                self._as_careful().replay(stream)
            else:
                self._start(stream, True)
            return
        if is_awaited:
            chosen.until(turn)
            chosen.settle((turn,))
            work.raise_learned()

    def _as_careful(self) -> Graph:
        """The same graph, which trusts no memory that others can reach."""
        if self._careful is None:
            graph = Graph.__new__(Graph)
            graph._begin(trusts=False)
            graph._state = "recording"
            for call in self._calls:
                call(graph)
            graph._finish()
            self._careful = graph
        return self._careful

    def _is_awaited(self) -> bool:
        """Whether others could read what a replay writes without learning that a check failed; on the CPU, at all."""
        if self._others_write:
            if not self._is_own:
                return True
            for block in self._blocks:  # noqa: SIM110  a generator takes a tenth of a replay
                if block.account is None or block.lent:
                    return True
            return False
        return self._player.has_checks and (self._writes_foreign or any(block.is_shared for block, _ in self._outputs))

    def op(self) -> Operation[None]:
        """A replay as an operation: `(copy >> g.op()).run()`."""

        return Operation.of(f"replay of {self.name}", self.replay)

    def __await__(self) -> Generator[Any, None, None]:
        """Replays it while other tasks go on."""
        return self.op().__await__()

    def _demand_written(self) -> None:
        """What is read was written, by an earlier part of the graph or before."""
        for tensor, runs, name in self._read_first:
            if tensor.block.written is not None and not tensor.block.is_written(runs):
                message = f"`{name}` reads a tensor of shape {tensor.shape} that nobody has written"
                raise LaunchError(Diagnostic(Code.UNINITIALISED, message, help="fill it before the replay"))
        self._read_first = ()  # what was written once stays written

    def _demand_whole(self) -> None:
        """What is read was written by nothing that failed."""
        error = next(filter(None, map(self._ledger.known_poison, self._reads)), None)
        if error is not None:
            self._ledger.mark_reported(error)
            raise_again(error)

    def _sort_memory(self) -> None:
        """Finds out, once, what replays read from outside and what they write."""
        written = NOTHING
        inputs: list[Span] = []
        first: dict[tuple[Any, ...], tuple[Tensor, Runs, str]] = {}
        outputs: dict[Block, Written] = {}
        blocks: dict[Block, None] = {}
        for entry in self._recorded:
            inputs += [span for span in entry.work.reads if not written.has(np.array([span]))]
            for tensor, is_read, _ in entry.tensors:
                blocks[tensor.block] = None
                if is_read and not written.has(tensor.runs):
                    key = (tensor.address, tensor.key)
                    first.setdefault(key, (tensor, written.lacking(tensor.runs), entry.node.name))
            for tensor, _, is_written in entry.tensors:
                if is_written:
                    written = written.joined(tensor.runs)
                    outputs[tensor.block] = outputs.get(tensor.block, NOTHING).joined(tensor.runs)
        self._reads = _merged(inputs)
        self._writes = _merged(span for entry in self._recorded for span in entry.work.writes)
        self._read_first = tuple(first.values())
        self._blocks = tuple(blocks)
        self._outputs = self._unnoted = tuple((block, written_there.runs) for block, written_there in outputs.items())

    def _demand_recorded(self) -> None:
        if self._state != "recorded":
            _reject(f"a graph is replayed that is {self._state}", "leave its `with` block first")

    # Looking.

    def describe(self) -> Description:
        """What it does, and what waits for what; `.dot()` gives Graphviz a picture of it."""
        self._demand_recorded()
        return self._description()

    def _description(self) -> Description:
        edges: list[tuple[int, int]] = []
        before: list[int] = []  # of each node, a number with a bit for every node that comes before it
        for later, one in enumerate(self._recorded):
            reached = 0
            for earlier in range(later - 1, -1, -1):
                if reached == (1 << later) - 1:
                    break
                other = self._recorded[earlier]
                if not reached >> earlier & 1 and (one.stream is other.stream or _meet(one.work, other.work)):
                    edges.append((earlier, later))
                    reached |= before[earlier] | 1 << earlier
            before.append(reached)
        nodes = tuple(entry.node for entry in self._recorded)
        return Description(device_name(self.device), nodes, tuple(sorted(edges)))

    @cached_property
    def name(self) -> str:
        """What it is called in messages."""
        names = [entry.node.name for entry in self._recorded]
        return f"a graph ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"

    def __repr__(self) -> str:
        return f"<graph of {device_name(self.device)}, {self._state}, {len(self._recorded)} nodes>"


class Replay(Work):
    """A replay in flight."""

    __slots__ = ("graph", "is_awaited", "learned", "outcome", "player")

    def __init__(self, graph: Graph, player: Any, is_awaited: bool) -> None:
        # Written out, because a call of the one above takes a tenth of a replay.
        self.name, self.reads, self.writes, self.keep = graph.name, graph._reads, graph._writes, graph
        self.turn = self.number = 0
        self.guards, self.note, self.views = (), None, None
        self.graph, self.player = graph, player
        self.is_awaited = is_awaited
        """Whether the host waits for it, so that others may look at its memory."""
        self.learned: BaseException | None = None
        self.outcome: Callable[[], BaseException | None] | None = player.failure
        """Finds what went wrong with this very replay; others may have begun since."""

    def is_current(self) -> bool:
        graph = self.graph
        may_be_lent = self.is_awaited or not graph._others_write
        for block in graph._premises.trusted if may_be_lent else graph._blocks:  # noqa: SIM110  as above
            if block.lent:
                return False
        return True

    def note_writes(self) -> None:
        graph = self.graph
        for block, _ in graph._outputs:
            block.writes += 1
        if graph._unnoted:
            for block, runs in graph._unnoted:
                block.note_write(runs)
            graph._unnoted = ()

    def may_fail(self) -> bool:
        return bool(self.player.has_checks)

    def failure(self) -> BaseException | None:
        return None if self.outcome is None else self.outcome()

    def learn(self, error: BaseException) -> None:
        self.learned = error

    def raise_learned(self) -> None:
        """Raises what went wrong with the work that wrote what it read: others can reach what it made of that."""
        if self.learned is not None:
            self.graph._ledger.mark_reported(self.learned)
            raise_again(self.learned)

    def leave(self) -> None:
        self.player.forget_reports()

    def written(self) -> Sequence[Span]:
        return [(int(low), int(high)) for block, runs in self.graph._outputs if block.is_owned for low, high in runs]


class _not_recording:  # noqa: N801
    """What happens inside is done now, also while a graph is recorded."""

    def __enter__(self) -> None:
        self._token = recording.set(None)

    def __exit__(self, *_: object) -> None:
        recording.reset(self._token)


def _used(signature: Signature, bound: Bound) -> Sequence[str]:
    return [f"{tensor.access} {tensor.name}{list(bound.tensors[tensor.name].shape)}" for tensor in signature.tensors]


def _meet(one: Work, other: Work) -> bool:
    """Whether two of them use a byte that one of them writes."""
    return _overlap(one.writes, other.writes) or _overlap(one.writes, other.reads) or _overlap(one.reads, other.writes)


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(low < end and start < high for low, high in some for start, end in others)


def _merged(spans: Any) -> tuple[Span, ...]:
    """The same bytes in as few pieces as possible."""
    merged: list[Span] = []
    for low, high in sorted(span for span in spans if span[0] < span[1]):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


class _TorchPlace:
    """Where a tensor of torch has its elements, as `Place` gives it for an array."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    @property
    def value(self) -> int:
        return int(self._tensor.data_ptr())


def _place_of(value: Any) -> Place | None:
    """Where an array of another library has its elements, if it can be given other memory."""
    if type(value) is np.ndarray:
        return place_of_array(value) if value.flags.owndata else None
    return _TorchPlace(value) if torch_of(value) is not None else None


def _reject(message: str, cure: str) -> None:
    raise LaunchError(Diagnostic(Code.NOT_IN_GRAPH, message, help=cure))


__all__ = ["Graph"]
