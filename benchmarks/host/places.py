"""Where the host benchmark runs: what differs between the CPU and a GPU."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import tileproof as tp
from tileproof.backends.cpu.device.queue import Queue
from tileproof.runtime import native as fast
from tileproof.runtime.launch.launch_cache import FORMS
from tileproof.runtime.memory.ledger import Work
from tileproof.runtime.native import Plans
from tileproof.runtime.stream.cpu_streams import CpuStream
from tileproof.runtime.stream.thread_pool import queue_code

from .add import add


def torch_or_none(device: str) -> Any:
    """torch, if it is installed and can use the device."""
    if importlib.util.find_spec("torch") is None:
        return None
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)  # a small add on more of them waits for threads
    return torch if device == "cpu" or torch.cuda.is_available() else None


class OnCpu:
    """The CPU: streams can be held, and leases left out by another `submit`."""

    name = "cpu"

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self._gate = Queue(queue_code(), None)
        self._turn = 0

    def wait_for_torch(self) -> None:
        """Nothing: what torch did is done."""

    @contextmanager
    def held(self, stream: Any) -> Iterator[None]:
        """Has what a stream is given meanwhile begin at the end."""
        self._turn += 1
        with stream.ledger.lock:
            stream.turn = stream.queue.wait(self._gate, self._turn)
        try:
            yield
        finally:
            self._gate.reach(self._turn)

    @contextmanager
    def busy(self, stream: Any) -> Iterator[None]:
        """Has a stream under way meanwhile."""
        with self.held(stream):
            yield

    @contextmanager
    def without_leases(self, args: tuple[Any, ...]) -> Iterator[Any]:
        """A launch that takes no leases: it is given to its stream, and kept until the end."""
        kept: list[Work] = []
        submit = CpuStream.submit

        def bare(self: Any, work: Work, start: Callable[..., int], *values: int) -> int:
            self.turn = turn = start(*values)
            kept.append(work)
            return turn

        CpuStream.submit = bare  # type: ignore[method-assign]
        try:
            yield lambda: add(*args)
        finally:
            CpuStream.submit = submit  # type: ignore[method-assign]
            tp.current_stream().synchronize()

    @contextmanager
    def with_leases(self, args: tuple[Any, ...]) -> Iterator[Any]:
        """The same launch as it is."""
        yield lambda: add(*args)


class OnGpu:
    """A GPU: the host runs ahead of it anyway, and leases are left out by another plan."""

    name = "cuda"
    _CYCLES = 200_000_000
    """For which a stream sleeps: a tenth of a second, longer than a batch of launches."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        if torch is not None:
            torch.cuda.init()  # from here on its current stream is ours too

    def wait_for_torch(self) -> None:
        """Waits for the GPU."""
        self.torch.cuda.synchronize()

    @contextmanager
    def held(self, stream: Any) -> Iterator[None]:
        """Nothing: what a GPU does is not done by the host's processor."""
        yield

    @contextmanager
    def busy(self, stream: Any) -> Iterator[None]:
        """Has a stream under way meanwhile."""
        with stream:
            self.torch.cuda._sleep(self._CYCLES)
        yield

    @contextmanager
    def without_leases(self, args: tuple[Any, ...]) -> Iterator[Any]:
        """A launch that follows the remembered plan, but takes no leases."""
        bare = Plans()
        for plan in _plans().kept:
            bare.add(replace(plan, lanes=0))
        yield _followed(bare, args)
        tp.current_stream("cuda").synchronize()

    @contextmanager
    def with_leases(self, args: tuple[Any, ...]) -> Iterator[Any]:
        """The same launch with the plan as it is."""
        yield _followed(_plans(), args)


def _plans() -> Plans:
    """The launches of the kernel that others follow."""
    (forms,) = FORMS.of(add).values()
    plans: Plans = forms[0].plans
    return plans


def _followed(plans: Plans, args: tuple[Any, ...]) -> Callable[[], None]:
    """A launch that follows plans, and nothing around it."""
    launch, stream = fast.launch, tp.current_stream("cuda")
    where = 0, getattr(stream, "handle", 0), False
    add(*args)  # from here on it is the only stream that is at work
    stream.synchronize()
    if not launch(plans, args, *where):
        raise RuntimeError("a launch like an earlier one does not follow it")

    def follow() -> None:
        if not launch(plans, args, *where):  # its lane is full from time to time, and the ledger empties it
            add(*args)

    return follow


def place_of(device: str, torch: Any) -> OnCpu | OnGpu:
    """The place that a device names."""
    return OnCpu(torch) if device == "cpu" else OnGpu(torch)
