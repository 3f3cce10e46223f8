"""What tests of the host's side of a GPU share: gates, a clean slate, and a torch that has streams."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import Stub
from tileproof.backends import base
from tileproof.runtime.memory import accounting
from tileproof.runtime.memory import ledger as leases
from tileproof.runtime.memory.ledger import Span, Work
from tileproof.runtime.stream import cuda_streams
from tileproof.runtime.stream.cuda_streams import CudaStream


class CudaGate:
    """What is given to a stream after `hold` begins when the gate is open. Leaving the `with` block opens it."""

    def __init__(self, *streams: CudaStream) -> None:
        self._gpu = None if not streams else streams[0].gpu
        self._address = 0
        for stream in streams:
            self.hold(stream)

    def hold(self, stream: CudaStream) -> None:
        if not self._address:
            self._gpu = stream.gpu
            self._address = stream.gpu.allocate_host(64)
            ctypes.c_int32.from_address(self._address).value = 0
        stream.gpu.call("waiting for a value", "cuStreamWaitValue32", stream.handle, self._address, 1, 0)

    def open(self) -> None:
        if self._address:
            ctypes.c_int32.from_address(self._address).value = 1

    def __enter__(self) -> CudaGate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open()


def stream_of(device: str = "cuda") -> CudaStream:
    """A new stream."""
    result: Any = tp.Stream(device)
    assert isinstance(result, CudaStream)
    return result


def use(stream: CudaStream, reads: tuple[Span, ...] = (), writes: tuple[Span, ...] = ()) -> int:
    """Work that uses some bytes and takes no time."""
    return stream.begin(Work("work", reads, writes), lambda: None)


def waits(stub: Stub, stream: CudaStream) -> int:
    """How often a stream was told to wait for an event."""
    return sum(args[0] == stream.handle for args in stub.named("cuStreamWaitEvent"))


@contextmanager
def clean_slate(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody has used a GPU before, and all memory goes back in the end."""
    monkeypatch.setattr(leases, "_ledgers", {None: leases.ledger_of(None)})
    monkeypatch.setattr(accounting, "_accounts", {None: accounting.account_of(None)})
    monkeypatch.setattr(cuda_streams, "_foreign", {})
    monkeypatch.setattr(base, "_devices", {None: base.device_of(None)})
    yield
    gc.collect()
    for device, account in accounting._accounts.items():
        if device is not None:
            with account.lock:
                account.settle()
            assert account.in_use == 0


# Torch.


class TorchStream:
    """A stream of torch."""

    def __init__(self, cuda_stream: int, device: int = 0) -> None:
        self.cuda_stream, self.device = cuda_stream, device


class TorchTensor:
    """A tensor of torch on GPU 0, over memory that somebody else keeps."""

    __torch_dispatch__: Any = None
    is_nested = requires_grad = is_cpu = False
    layout = "strided"

    def __init__(self, address: int, array: np.ndarray[Any, Any]) -> None:
        self.address, self.array = address, array
        self.shape, self.dtype = array.shape, f"torch.{array.dtype}"
        self.device = SimpleNamespace(type="cuda", index=0)
        self.recorded: list[int] = []

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def data_ptr(self) -> int:
        return self.address

    def untyped_storage(self) -> Any:
        return SimpleNamespace(data_ptr=lambda: self.address, nbytes=lambda: self.array.nbytes)

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    def as_subclass(self, _: type) -> TorchTensor:
        return self

    def detach(self) -> TorchTensor:
        return self

    def record_stream(self, stream: TorchStream) -> None:
        self.recorded.append(stream.cuda_stream)


class _NoFunctions:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


class FakeTorch(ModuleType):
    """Torch, as far as it has streams and tensors."""

    def __init__(self) -> None:
        super().__init__("torch")
        self.current = {0: TorchStream(0), 1: TorchStream(0, 1)}
        self.Tensor, self.strided = TorchTensor, "strided"
        self.is_grad_enabled = lambda: True
        self._C = SimpleNamespace(DisableTorchFunctionSubclass=_NoFunctions)
        self.cuda = SimpleNamespace(
            is_initialized=lambda: True,
            current_stream=lambda device: self.current[device],
            default_stream=lambda device: TorchStream(0, device),
            ExternalStream=lambda handle, device: TorchStream(handle, device),
            stream=self.stream,
        )

    @contextmanager
    def stream(self, stream: TorchStream) -> Iterator[None]:
        before = self.current[stream.device]
        self.current[stream.device] = stream
        try:
            yield
        finally:
            self.current[stream.device] = before

    @property
    def handle(self) -> int:
        """The current stream of GPU 0."""
        return self.current[0].cuda_stream

    def use(self, monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
        """Has programs find it."""
        monkeypatch.setitem(sys.modules, "torch", self)
        return self
