"""Gates: work of a stream is held in flight until a test opens the gate."""

from __future__ import annotations

from types import TracebackType

from tileproof.backends.cpu.device.queue import Queue
from tileproof.runtime.stream.cpu_streams import CpuStream
from tileproof.runtime.stream.streams import current_stream
from tileproof.runtime.stream.thread_pool import queue_code


class Gate:
    """What is given to a stream after `hold` begins when the gate is open. Leaving the `with` block opens it."""

    def __init__(self) -> None:
        self._queue = Queue(queue_code(), None)

    def hold(self, stream: CpuStream | None = None) -> None:
        """Holds a stream, the current one of the CPU if none is named."""
        kept = current_stream(None) if stream is None else stream
        assert isinstance(kept, CpuStream)
        with kept.ledger.lock:
            kept.turn = kept.queue.wait(self._queue, 1)

    @property
    def is_open(self) -> bool:
        return self._queue.done >= 1

    def open(self) -> None:
        self._queue.reach(1)

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open()
