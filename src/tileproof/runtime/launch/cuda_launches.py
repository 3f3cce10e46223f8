"""Launches on a GPU as work of a stream: what they keep, whom they wait for, and when their checks are looked at.

Tensors of our own are not kept: their memory goes back in the order of the streams that use it. Arrays of another
library are kept until the work is done, unless it is on the stream that the library itself would use: then the library
frees them in that order. Where torch's current stream is another one, each waits for the other round the launch,
because torch orders nothing across streams.

A check is read when the work is done and somebody asks for it; what a failed one leaves is poisoned. Memory that
others can reach cannot be poisoned: there the launch is waited for, and raises at once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device import stream_launch as starting
from tileproof.backends.cuda.device.driver import Device
from tileproof.backends.cuda.device.stream_launch import Started
from tileproof.compiler.proved import Proved
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError, TileproofError
from tileproof.frontend.signature import ContentOf, Signature, parse
from tileproof.ir.types import Access
from tileproof.runtime.interop.describe import Array, Described, address_of, host_copy, torch_of, wait_for_owner
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.contents import Key, key_of
from tileproof.runtime.memory.ledger import Span, Work, raise_again, untraced
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream, torch_cuda
from tileproof.runtime.stream.streams import chained, chosen_stream
from tileproof.runtime.tensor import cuda_copies
from tileproof.runtime.tensor.tensors import Tensor

from .binding import Bound, fail
from .owned import note_writes, spans_of

_in_foreign_graphs: list[Block] = []
"""Memory that launches use which another library has captured."""
_entries: weakref.WeakKeyDictionary[Block, tuple[int, dict[Key, Array]]] = weakref.WeakKeyDictionary()
"""The contents of index tensors of our own that decide about the programs of a launch, for a version of the memory."""


class Launch(Work):
    """A launch on a GPU."""

    __slots__ = ("exact", "is_awaited", "ours", "started")

    started: Started | None
    is_awaited: bool
    """Whether whoever starts it looks at its checks."""
    ours: Sequence[Block]
    """Memory that nobody else may be able to reach when it is given to a stream."""
    exact: Sequence[Span]
    """What it writes of tensors of our own, without gaps."""

    def is_current(self) -> bool:
        return super().is_current() and not any(block.lent for block in self.ours)

    def written(self) -> Sequence[Span]:
        return self.exact

    def may_fail(self) -> bool:
        started = self.started
        return started is not None and not self.is_awaited and (started.note is not None or started.error is not None)

    def failure(self) -> BaseException | None:
        if self.started is None or self.is_awaited:
            return None
        try:
            return self.started.failure()
        except LaunchError as error:
            return untraced(error)


def give(proved: Proved, bound: Bound, loaded: running.Loaded, space: running.LaunchSpace) -> None:
    """Gives a launch to the current stream."""
    assert bound.device is not None
    signature = parse(proved.kernel).signature
    stream = current_cuda_stream(bound.device)
    _demand_entries(signature, stream)
    torch_stream = torch_stream_to_order(stream, is_theirs=_is_theirs(bound))
    work = Launch(signature.name, *spans_of(signature, bound))
    work.started = None
    work.guards = bound.guards
    work.note = lambda: _note_writes(signature, bound, proved, work)
    work.keep = tuple(_kept(bound, stream, torch_stream is not None))
    written = [bound.own.get(tensor.name) for tensor in signature.tensors if tensor.access is not Access.IN]
    work.exact = [span for own in written if own is not None for span in _spans(own)]
    has_checks = loaded.code.has_report
    is_ours = all(own is not None and not own.block.is_shared for own in written)
    # A stream that records a graph says that nobody can wait for a check there.
    work.is_awaited = has_checks and (not is_ours or stream.is_recording)
    work.ours = [own.block for own in written if own is not None] if is_ours and has_checks else ()
    addresses = {name: address_of(array) for name, array in bound.tensors.items()}
    is_waiting = any(array.stream not in (None, stream.handle) for array in bound.tensors.values())
    can_depend = torch_stream is None and not is_waiting and loaded.can_depend(space, bound.tensors)

    def start() -> None:
        is_early = can_depend and chained.get() and stream.ahead == stream.turn
        for array in bound.tensors.values():
            wait_for_owner(array, stream.handle)
        if torch_stream is not None:
            order(stream.gpu, torch_stream, stream.handle)
        work.started = started = starting.start(
            loaded, bound.tensors, addresses, bound.scalars, bound.dimensions, space, stream.handle, dependent=is_early
        )
        stream.ahead = stream.turn + 1 if can_depend else 0
        try:
            if has_checks and not work.is_awaited:
                started.copy_report()
            if torch_stream is not None:
                order(stream.gpu, stream.handle, torch_stream)
        except LaunchError as error:  # the kernel is under way, so its leases are needed
            started.error = started.error or error.with_traceback(None)

    stream.ledger.demand_free()
    turn = stream.begin(work, start)
    if bound.own and stream.is_recording:
        _keep_for_good(bound)
    work.note, work.guards, work.ours = None, (), ()  # they hold memory that may go before the work is done
    assert work.started is not None
    if work.is_awaited:
        _wait(signature, bound, stream, turn, work.started)
    elif work.started.error is not None:
        raise_again(work.started.error)


def _wait(signature: Signature, bound: Bound, stream: CudaStream, turn: int, started: Started) -> None:
    """Waits for a launch and raises what a check found. What it wrote of our own tensors holds nothing that counts."""
    try:
        started.wait()
    except TileproofError as error:
        written = [bound.own[tensor.name] for tensor in signature.tensors
                   if tensor.name in bound.own and tensor.access is not Access.IN]  # fmt: skip
        spans, ledger = [own.span for own in written if own.block.is_owned], stream.ledger
        with ledger.lock:
            with suppress(LaunchError):  # the context may be lost
                stream.know(turn)
                # It and what wrote the same bytes before would otherwise be taken to have cured them later.
                for span in spans:
                    ledger.holders(span, True)
            ledger.retire()
            ledger.poison(spans, untraced(error))
        raise
    stream.know(turn)


def _note_writes(signature: Signature, bound: Bound, proved: Proved, work: Launch) -> None:
    note_writes(signature, bound, proved)
    if work.started is None or work.started.error is not None:
        # It broke off: what the kernel vouches for may not have come about.
        for tensor in signature.tensors:
            if tensor.name in bound.own and tensor.access is not Access.IN:
                bound.own[tensor.name].note_write()


def _demand_entries(signature: Signature, stream: CudaStream) -> None:
    """Refuses launches that go by entries of an index tensor where a library records them: nobody would look again."""
    for tensor in signature.tensors:
        if isinstance(tensor.element, ContentOf) and tensor.access is not Access.OUT and stream.is_recording:
            fail(
                signature,
                Code.NOT_IN_GRAPH,
                f"`{signature.name}` goes by the entries of `{tensor.name}`, and another library records a graph",
                tensor,
                help="record it in a graph of tileproof, `with tp.Graph() as g:`, which looks at them at every replay",
            )


def _spans(own: Tensor) -> list[Span]:
    return [own.span] if own.is_contiguous else [(low, high) for low, high in own.runs.tolist()]


def _keep_for_good(bound: Bound) -> None:
    """A graph of another library holds addresses of our tensors, and nobody says when it ends: they stay, as lent."""
    for own in bound.own.values():
        own.block.lent.append(None)
        _in_foreign_graphs.append(own.block)


# Arrays of others.


def _foreign(bound: Bound) -> Iterator[Described]:
    """The arguments whose memory is another library's, as that library describes them."""
    for name, array in bound.tensors.items():
        own = bound.own.get(name)
        if own is None:
            yield array
        elif not own.block.is_owned and isinstance(own.block.owner, Described):
            yield own.block.owner


def _kept(bound: Bound, stream: CudaStream, is_beside_torch: bool) -> Iterator[Described]:
    """What must live until the launch is done."""
    is_chosen = chosen_stream(stream.device) is stream
    for array in _foreign(bound):
        if torch_of(array.keep) is None:
            if array.capsule is not None or array.stream != stream.handle:
                yield array
        elif is_beside_torch or is_chosen:
            # Torch may have made it on a stream of its own, and would give it to others there.
            array.keep.record_stream(stream.external(torch_cuda()))  # type: ignore[attr-defined]
            yield array


def torch_stream_to_order(stream: CudaStream, *, is_theirs: Callable[[], bool]) -> int | None:
    """Torch's current stream, if work is on another one and torch can reach some of its memory."""
    cuda = torch_cuda()
    handle = stream.handle if cuda is None else int(cuda.current_stream(stream.device).cuda_stream)
    return None if handle == stream.handle or not is_theirs() else handle


def _is_theirs(bound: Bound) -> Callable[[], bool]:
    """Tells whether torch can reach memory of a launch."""
    return lambda: is_torchs(bound) or any(own.block.exports for own in bound.own.values())


def is_torchs(bound: Bound) -> bool:
    """Whether some memory of a launch is torch's."""
    return any(torch_of(array.keep) is not None for array in _foreign(bound))


def order(gpu: Device, first: int, then: int) -> None:
    """Has a stream wait for another."""
    event = gpu.event()
    event.record(first)
    event.wait_on(then)
    event.give_back()


# Contents.


def entries_of(bound: Bound, name: str) -> Any:
    """The entries of an index tensor on the host: of our own they are copied once for each time they are written."""
    own, array = bound.own.get(name), bound.tensors[name]
    if own is None or own.block.is_shared or not isinstance(array, Described):
        return host_copy(array)
    block, key = own.block, key_of(array)
    version = block.version
    bound.guards.append((block, version))
    at, known = _entries.get(block, (-1, {}))
    if at != version:
        known = {}
    if key not in known:
        known = {**known, key: cuda_copies.to_host(own)}
        _entries[block] = version, known
    return known[key]
