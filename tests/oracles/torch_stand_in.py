"""torch with the CPU in place of a GPU: what the GPU book does can be tried where there is none. Times mean nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

_MAKERS = ("full", "empty", "ones", "randn", "randint", "randperm", "tensor")


class _Event:
    def __init__(self, enable_timing: bool = False) -> None:
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, later: Any) -> float:
        return max((later.at - self.at) * 1e3, 1e-6)


@contextmanager
def _refused(graph: Any, capture_error_mode: str) -> Iterator[None]:
    raise RuntimeError("there are no graphs here")
    yield


def _here(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, device=None, **named: make(*args, **named)


def standing_in(torch: Any) -> Any:
    """torch, but that what is made for the GPU is made on the CPU, and that the GPU's clock is the host's."""
    stream = SimpleNamespace(wait_stream=lambda other: None)
    named = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("__")}
    named |= {name: _here(getattr(torch, name)) for name in _MAKERS}
    named["__version__"] = torch.__version__
    named["cuda"] = SimpleNamespace(
        Event=_Event, CUDAGraph=object, graph=_refused, Stream=lambda: stream, current_stream=lambda: stream,
        stream=lambda values: nullcontext(), synchronize=lambda: None, empty_cache=lambda: None,
        is_available=lambda: False,
        get_device_properties=lambda number: SimpleNamespace(name="NVIDIA H200", multi_processor_count=132),
        get_device_name=lambda number: "NVIDIA H200",
    )  # fmt: skip
    return SimpleNamespace(**named)
