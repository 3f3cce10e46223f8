"""Copies and fills on GPUs as work of a stream.

Nobody waits for a GPU but who reads on the host. What the host gives is copied to pinned memory first, so its owner may
change it as soon as the call returns. More than a piece of that goes piece by piece: each byte keeps the law, but all
together are not one step for other threads.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.backends.cuda.device.pinned import LARGEST, Pinned, in_pinned, pinned
from tileproof.diagnostics.errors import LaunchError
from tileproof.runtime.interop.describe import Array
from tileproof.runtime.memory.ledger import Span, Work, ledger_of, raise_again
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream, settle_checks

from .tensors import Tensor

_MOST_RUNS: Final = {True: 64, False: 4096}
"""How many pieces of a tensor with gaps are read, or written, one by one. More are copied with what lies between them,
and to write that has to be waited for."""
_Piece: TypeAlias = tuple[int, int, int]
"""Bytes of the GPU, and their place among all that are copied."""
_Copy: TypeAlias = tuple[int, int, int]
"""Where to, where from, and how many bytes."""


def fill(tensor: Tensor, value: Any) -> None:
    """Has the current stream write one value to all elements."""
    if not tensor.size:
        return
    stream = _stream_of(tensor)
    if not tensor.is_contiguous:
        from_host(tensor, np.broadcast_to(np.array(value, tensor.storage), tensor.shape))
        return
    pattern = np.array(value, tensor.storage).tobytes()
    width = next((width for width in (1, 2, 4) if pattern == pattern[:width] * (len(pattern) // width)), 0)
    gpu, address, total = stream.gpu, tensor.address, tensor.nbytes
    if width:
        number = int.from_bytes(pattern[:width], "little")
        count = total // width
        _write(stream, "fill", tensor, lambda: gpu.memset_async(address, number, count, stream.handle, width=width))
        return
    # CUDA sets no 8 bytes at once: what is there is copied after itself.
    first = in_pinned(gpu, np.frombuffer(pattern * min(tensor.size, 4096), np.uint8))

    copies, done = [(address, first.address, first.nbytes)], first.nbytes
    while done < total:
        count = min(done, total - done)
        copies.append((address + done, address, count))
        done += count
    _give(stream, Work("fill", (), (tensor.span,), first), copies, tensor)


def from_host(tensor: Tensor, array: Array) -> None:
    """Has the current stream write elements; `array` has the shape of the tensor, or broadcasts to it."""
    values = np.ascontiguousarray(np.broadcast_to(np.asarray(array, tensor.storage), tensor.shape))
    if not values.size:
        return
    stream, runs = _stream_of(tensor), _runs(tensor, reading=False)
    if runs is not None:
        _send(stream, tensor, runs, values.reshape(-1).view(np.uint8))
    else:
        # What lies between the elements is written as it was: nobody may write it meanwhile.
        with stream.ledger.lock, stream.ledger.lanes.closed():
            raw = _fetched(stream, [tensor.span])
            _seen(tensor, raw)[...] = values
            _send(stream, tensor, [tensor.span], raw)


def to_host(tensor: Tensor) -> Array:
    """A copy of the elements, when all is done that is about to write them; raises what went wrong with that."""
    if not tensor.size:
        return np.empty(tensor.shape, tensor.storage)
    runs = _runs(tensor, reading=True)
    raw = _fetched(_stream_of(tensor), [tensor.span] if runs is None else runs)
    ledger_of(tensor.block.device).wait_for_host(tensor.span, writing=False)
    if runs is None:
        return np.ascontiguousarray(_seen(tensor, raw))
    return raw.view(tensor.storage).reshape(tensor.shape)


def _seen(tensor: Tensor, raw: Array) -> Array:
    """The elements among the bytes of the span of a tensor."""
    return np.ndarray(tensor.shape, tensor.storage, raw.data, tensor.address - tensor.span[0], tensor.strides)


def _send(stream: CudaStream, tensor: Tensor, runs: Sequence[Span], raw: Array) -> None:
    """Has a stream copy bytes of the host to a tensor on the GPU."""
    turns: deque[int] = deque()
    for pieces, start, stop in _cut(runs):
        if len(turns) > 1:  # so much pinned memory is enough
            stream.until(turns.popleft())
        staged = in_pinned(stream.gpu, raw[start:stop])
        work = Work("copy from the host", (), [(low, high) for low, high, _ in pieces], staged)
        if len(runs) == 1 and not tensor.is_contiguous:
            work.views = (tensor,)  # what lies between its elements stays what it was
        turns.append(_give(stream, work, _copies(pieces, staged, start, is_to_host=False), tensor))


def _fetched(stream: CudaStream, runs: Sequence[Span]) -> Array:
    """Bytes of the GPU, copied by a stream."""
    raw = np.empty(sum(high - low for low, high in runs), np.uint8)
    under_way: deque[tuple[int, Pinned, int, int]] = deque()

    def take() -> None:
        turn, staged, start, stop = under_way.popleft()
        stream.until(turn)
        raw[start:stop] = staged.array

    for pieces, start, stop in _cut(runs):
        staged = pinned(stream.gpu, stop - start)
        work = Work("copy to the host", [(low, high) for low, high, _ in pieces], (), staged)
        turn = _give(stream, work, _copies(pieces, staged, start, is_to_host=True))
        under_way.append((turn, staged, start, stop))
        if len(under_way) > 1:
            take()
    while under_way:
        take()
    return raw


class _Fetch(Work):
    """A copy to the host that remembers what is wrong with what it read: later work may cure it."""

    __slots__ = ("error",)

    error: BaseException | None

    def learn(self, error: BaseException) -> None:
        self.error = error


def fetch(tensor: Tensor) -> Callable[[], Array]:
    """Has the current stream copy the elements to the host; gives what waits for that, and for nothing after it."""
    if not tensor.is_contiguous or tensor.nbytes > LARGEST or not tensor.size:
        values = to_host(tensor)
        return lambda: values
    stream = _stream_of(tensor)
    staged = pinned(stream.gpu, tensor.nbytes)
    work = _Fetch("copy to the host", [tensor.span], (), staged)
    work.error = None
    turn = _give(stream, work, [(staged.address, tensor.address, tensor.nbytes)])
    stream.mark(turn)

    def finish() -> Array:
        stream.until(turn)
        with stream.ledger.lock:
            stream.ledger.retire()
        if work.error is not None:
            stream.ledger.mark_reported(work.error)
            raise_again(work.error)
        return staged.array.view(tensor.storage).reshape(tensor.shape).copy()

    return finish


def device_to_device(to: Tensor, source: Tensor) -> None:
    """Has the current stream copy a tensor without gaps to another of its shape and type, on the same GPU or not."""
    if not to.size:
        return
    stream, other = _stream_of(to), _stream_of(source)
    if stream.device == other.device:
        _give(stream, Work("copy", (source.span,), (to.span,)), [(to.address, source.address, to.nbytes)], to)
        return
    # What failed work left in the source is known to the ledger of its GPU only.
    settle_checks(source.block.device, source.span)
    with ExitStack() as locks:
        # Both at once, and always in one order: nobody comes between the three steps, or waits for ever.
        for ledger in sorted((stream.ledger, other.ledger), key=lambda ledger: ledger.device or 0):
            locks.enter_context(ledger.lock)
        turn = stream.begin(Work("copy", (), (to.span,)), lambda: None)
        other.order_behind(stream, turn)
        peer = lambda: stream.gpu.copy_from_peer(  # noqa: E731
            to.address, other.gpu, source.address, to.nbytes, other.handle
        )
        turn = other.begin(Work("copy", (source.span,), ()), peer)
        stream.order_behind(other, turn)
        stream.begin(Work("copy", (), (to.span,)), lambda: None)
        to.note_write()


# Pieces.


def _cut(runs: Sequence[Span]) -> Iterator[tuple[list[_Piece], int, int]]:
    """Bytes in groups that a piece of pinned memory can hold, and where each group begins and ends among all bytes."""
    group: list[_Piece] = []
    begin = place = 0
    for low, high in runs:
        while low < high:
            end = min(high, low + begin + LARGEST - place)
            group.append((low, end, place))
            place += end - low
            low = end
            if place - begin == LARGEST:
                yield group, begin, place
                group, begin = [], place
    if group:
        yield group, begin, place


def _runs(tensor: Tensor, *, reading: bool) -> list[Span] | None:
    """The bytes of a tensor, run by run, in order of its elements; None if there are many runs."""
    shape, strides, length = list(tensor.shape), list(tensor.strides), tensor.itemsize
    while shape and (shape[-1] == 1 or strides[-1] == length):
        length *= shape.pop()
        strides.pop()
    if math.prod(shape) > _MOST_RUNS[reading]:
        return None
    axes = zip(shape, strides, strict=True)
    starts = product(*([stride * place for place in range(extent)] for extent, stride in axes))
    return [(tensor.address + sum(offsets), tensor.address + sum(offsets) + length) for offsets in starts]


def _copies(pieces: Sequence[_Piece], staged: Pinned, begin: int, *, is_to_host: bool) -> list[_Copy]:
    """What brings pieces to pinned memory, or back."""
    copies = []
    for low, high, place in pieces:
        here = staged.address + place - begin
        copies.append((here, low, high - low) if is_to_host else (low, here, high - low))
    return copies


def _give(stream: CudaStream, work: Work, copies: Sequence[_Copy], written: Tensor | None = None) -> int:
    """Gives copies to a stream as one piece of work, which writes a tensor.

    If the driver takes only some of them, these are under way: the work has its leases, and then the error is raised.
    """
    errors: list[LaunchError] = []

    def start() -> None:
        for place, (to, source, count) in enumerate(copies):
            try:
                stream.gpu.copy_async(to, source, count, stream.handle)
            except LaunchError as error:
                if not place:
                    raise
                errors.append(error)
                return

    if written is not None:
        work.note = written.note_write  # before anybody can launch after it
    turn = stream.begin(work, start)
    work.note = None
    if errors:
        raise errors.pop()
    return turn


def _write(stream: CudaStream, name: str, tensor: Tensor, start: Callable[[], object]) -> None:
    work = Work(name, (), (tensor.span,))
    work.note = tensor.note_write
    stream.begin(work, start)
    work.note = None


def _stream_of(tensor: Tensor) -> CudaStream:
    assert tensor.block.device is not None
    return current_cuda_stream(tensor.block.device)
