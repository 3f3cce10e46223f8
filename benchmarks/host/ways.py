"""What the host benchmark times: ways to have many small operations done, and what each part of a launch costs.

A way does its operations once when it is called, and says how many seconds they took. What belongs to no operation is
outside its clock: to make tensors, to wait where only the host's own time is asked for, to start an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Final, TypeAlias

import numpy as np

import tileproof as tp

from .add import LARGE, SMALL, add
from .places import OnCpu, OnGpu

OURS, TORCH, PYTHON = "tileproof", "torch", "Python"
BATCH: Final = 500
"""Launches that are timed together where the host runs ahead: fewer than a stream takes before the host must wait."""
FEW: Final = 50
"""The same where a second stream must be at work all the time."""
COUNTED: Final = ("sync each", "chained", "awaited chain", "awaited each", "replay")
"""Ways that are timed for several numbers of operations."""
Hold: TypeAlias = Callable[[Any], AbstractContextManager[None]]
"""Has a stream begin nothing meanwhile."""


@dataclass(frozen=True, eq=False)
class Way:
    """One way to do something, by someone, so many times."""

    what: str
    who: str
    operations: int
    call: Callable[[], float]
    """Does it; the seconds of all its operations."""
    result: Any = None
    """What is 3 everywhere afterwards, if anything is."""


class Ways:
    """All ways on a device."""

    def __init__(self, place: OnCpu | OnGpu, counts: list[int], batch: int = BATCH) -> None:
        self.place, self.counts, self.batch = place, counts, batch
        self.torch = place.torch
        self.runner = asyncio.Runner()
        self.args = self.z, self.x, self.y = _own_args(SMALL, place.name)
        self.stream = tp.current_stream(place.name)

    def all(self) -> list[Way]:
        """All of them."""
        results = [Way("call", PYTHON, self.batch, _timed(lambda: _called(self.batch, self.args)))]
        results += self._launching()
        results += [way for count in self.counts for way in self._counted(count)]
        results += self._making()
        if self.torch is not None:
            results += [*(way for count in self.counts for way in self._counted_by_torch(count)), *self._by_torch()]
        return results

    def close(self) -> None:
        """Ends the event loop."""
        self.runner.close()

    # Many operations.

    def _counted(self, count: int) -> Iterator[Way]:
        args, stream = self.args, self.stream

        def each() -> None:
            for _ in range(count):
                add(*args)
                stream.synchronize()

        def chained() -> None:
            for _ in range(count):
                add(*args)
            stream.synchronize()

        def run() -> None:
            self._chain(count).run()

        async def awaited() -> None:
            await self._chain(count)

        async def awaited_each() -> None:
            for _ in range(count):
                await add.op(*args)

        with tp.Graph() as graph:
            for _ in range(count):
                add(*args)

        def replay() -> None:
            graph.replay()
            stream.synchronize()

        yield self._way("sync each", count, _timed(each))
        yield self._way("chained", count, _timed(chained))
        yield self._way("run chain", count, _timed(run))
        yield self._way("awaited chain", count, self._awaited(awaited))
        yield self._way("awaited each", count, self._awaited(awaited_each))
        yield self._way("replay", count, _timed(replay))

    def _chain(self, count: int) -> tp.Operation[Any]:
        """Operations one after the other, put together in pairs: a thousand deep they would meet Python's limit."""
        results: list[tp.Operation[Any]] = [add.op(*self.args) for _ in range(count)]
        while len(results) > 1:
            last = results[len(results) - len(results) % 2 :]
            results = [one >> other for one, other in zip(results[::2], results[1::2], strict=False)] + last
        return results[0]

    def _awaited(self, work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], float]:
        async def timed() -> float:
            begun = perf_counter()
            await work()
            return perf_counter() - begun

        return lambda: self.runner.run(timed())

    def _way(self, what: str, count: int, call: Callable[[], float]) -> Way:
        return Way(what, OURS, count, call, self.z)

    # The host's own time.

    def _launching(self) -> Iterator[Way]:
        place, args, batch = self.place, self.args, self.batch
        device = place.name
        yield self._way("launch", batch, self._ahead(lambda: add(*args)))
        if device == "cpu":
            yield self._way("launch held", batch, self._ahead(lambda: add(*args), place.held))
            lent = tuple(np.full(SMALL, value, np.float32) for value in (0, 1, 2))
            yield Way("launch on numpy", OURS, batch, self._ahead(lambda: add(*lent)), lent[0])
        else:
            large = _own_args(LARGE, device)
            yield Way("launch 2^20", OURS, batch, self._ahead(lambda: add(*large)), large[0])
        yield self._way("leases", batch, self._leased(place.with_leases))
        yield self._way("no leases", batch, self._leased(place.without_leases))
        if device == "cpu" or self.torch is not None:
            few = min(batch, FEW)
            yield self._way("two streams", few, self._beside(few))

    def _ahead(
        self, launch: Callable[[], None], hold: Hold = lambda _: nullcontext(), count: int | None = None
    ) -> Callable[[], float]:
        """The host's time for a batch of launches: the clock stops before the wait."""
        stream, batch = self.stream, range(self.batch if count is None else count)

        def call() -> float:
            with hold(stream):
                begun = perf_counter()
                for _ in batch:
                    launch()
                taken = perf_counter() - begun
            stream.synchronize()
            return taken

        return call

    def _leased(self, how: Callable[[tuple[Any, ...]], AbstractContextManager[Any]]) -> Callable[[], float]:
        def call() -> float:
            with how(self.args) as launch:
                return self._ahead(launch, self.place.held)()

        return call

    def _beside(self, count: int) -> Callable[[], float]:
        """Launches while a second stream has work under way, on other memory."""
        device = self.place.name
        other, (besides, *_) = tp.Stream(device), _own_args(SMALL, device)

        def call() -> float:
            with self.place.busy(other):
                with other:
                    add(besides, self.x, self.y)
                taken = self._ahead(lambda: add(*self.args), self.place.held, count)()
            other.synchronize()
            return taken

        return call

    def _making(self) -> Iterator[Way]:
        device, many = self.place.name, partial(_many, self.batch, self.stream.synchronize)
        source, to = tp.full(SMALL, 3, device=device), tp.full(SMALL, 0, device=device)
        yield Way("empty", OURS, self.batch, many(lambda: tp.empty(SMALL, device=device)))
        yield Way("zeros", OURS, self.batch, many(lambda: tp.zeros(SMALL, device=device)))
        yield Way("copy", OURS, self.batch, many(lambda: tp.copy(to, source)), to)
        with tp.Graph() as graph:
            add(*self.args)
        yield self._way("replay call", self.batch, many(graph.replay))

    # Torch.

    def _counted_by_torch(self, count: int) -> Iterator[Way]:
        torch, wait = self.torch, self.place.wait_for_torch
        z, x, y = self._torch_args(SMALL)

        def each() -> None:
            for _ in range(count):
                torch.add(x, y, out=z)
                wait()

        def chained() -> None:
            for _ in range(count):
                torch.add(x, y, out=z)
            wait()

        yield Way("sync each", TORCH, count, _timed(each), z)
        yield Way("chained", TORCH, count, _timed(chained), z)
        if self.place.name == "cuda":
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, capture_error_mode="relaxed"):
                for _ in range(count):
                    torch.add(x, y, out=z)

            def replay() -> None:
                graph.replay()
                wait()

            yield Way("replay", TORCH, count, _timed(replay), z)

    def _by_torch(self) -> Iterator[Way]:
        torch, device = self.torch, self.place.name
        many = partial(_many, self.batch, self.place.wait_for_torch)
        z, x, y = self._torch_args(SMALL)
        yield Way("launch", TORCH, self.batch, many(lambda: torch.add(x, y, out=z)), z)
        if device == "cuda":
            to, one, other = self._torch_args(LARGE)
            yield Way("launch 2^20", TORCH, self.batch, many(lambda: torch.add(one, other, out=to)), to)
        arguments = self._torch_args(SMALL)
        yield Way("launch on torch", OURS, self.batch, many(lambda: add(*arguments)), arguments[0])
        yield Way("empty", TORCH, self.batch, many(lambda: torch.empty(SMALL, device=device)))
        yield Way("zeros", TORCH, self.batch, many(lambda: torch.zeros(SMALL, device=device)))
        three = x + y
        yield Way("copy", TORCH, self.batch, many(lambda: z.copy_(three)), z)

    def _torch_args(self, elements: int) -> tuple[Any, Any, Any]:
        z, x, y = (self.torch.full((elements,), float(value), device=self.place.name) for value in (0, 1, 2))
        return z, x, y


def _timed(work: Callable[[], None]) -> Callable[[], float]:
    def call() -> float:
        begun = perf_counter()
        work()
        return perf_counter() - begun

    return call


def _many(count: int, wait: Callable[[], None], call: Callable[[], object]) -> Callable[[], float]:
    """The host's time for so many calls: the clock stops before the wait."""

    def timed() -> float:
        begun = perf_counter()
        for _ in range(count):
            call()
        taken = perf_counter() - begun
        wait()
        return taken

    return timed


def _called(count: int, args: tuple[Any, ...]) -> None:
    """A call of a Python function, and nothing else: no launch from Python can take less."""

    def nothing(z: Any, x: Any, y: Any) -> None:
        pass

    for _ in range(count):
        nothing(*args)


def _own_args(elements: int, device: str) -> tuple[Any, Any, Any]:
    z, x, y = (tp.full(elements, value, device=device) for value in (0, 1, 2))
    return z, x, y
