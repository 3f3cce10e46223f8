"""Tensors of torch, arrays of JAX and capsules of DLPack on a GPU, played by objects with the attributes that are read.

`tests/gpu/test_arguments_gpu.py` passes real ones.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import Stub
from oracles.foreign_arrays import BASE, F32, Foreign, accepted, copy, copy_matrix, rejection
from tileproof.diagnostics.codes import Code
from tileproof.runtime.interop import dlpack
from tileproof.runtime.interop.describe import described

Array = np.ndarray[Any, Any]


# Torch, played by a module with the attributes that are read.


class Strided:
    def __str__(self) -> str:
        return "torch.strided"


class Sparse:
    def __str__(self) -> str:
        return "torch.sparse_coo"


STRIDED = Strided()


class Tensor:
    """A tensor on GPU 0, or elsewhere."""

    __torch_dispatch__: Any = None

    def __init__(self, *shape: int, at: int = BASE, dtype: str = "float32", **more: Any) -> None:
        self.shape, self.dtype, self.at = shape, f"torch.{dtype}", at
        self.device = SimpleNamespace(type="cuda", index=0)
        self.layout: Any = STRIDED
        self.steps: tuple[int, ...] = np.zeros(shape, np.int8).strides
        self.room = 1 << 20
        self.is_nested = self.requires_grad = self.conj = self.neg = self.is_without_memory = False
        for name, value in more.items():
            setattr(self, name, value)

    def stride(self) -> tuple[int, ...]:
        return self.steps

    def data_ptr(self) -> int:
        if self.is_without_memory:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        return self.at

    def untyped_storage(self) -> Any:
        return SimpleNamespace(data_ptr=lambda: BASE, nbytes=lambda: self.room, resizable=lambda: False)

    def is_conj(self) -> bool:
        return self.conj

    def is_neg(self) -> bool:
        return self.neg

    def as_subclass(self, _: type) -> Tensor:
        return self

    def detach(self) -> Tensor:
        return self

    @property
    def is_cpu(self) -> bool:
        return bool(self.device.type == "cpu")


class FakeTensor(Tensor):
    __torch_dispatch__ = "traces"


class DTensor(Tensor):
    __torch_dispatch__ = "stands for others"


class Plain(Tensor):
    """A subclass that is no more than a name."""


class NoFunctions:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: Any) -> None: ...


@pytest.fixture
def torch(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType("torch")
    module.Tensor, module.strided = Tensor, STRIDED
    module.is_grad_enabled = lambda: True
    module._C = SimpleNamespace(DisableTorchFunctionSubclass=NoFunctions)
    monkeypatch.setitem(sys.modules, "torch", module)
    for kind in (Tensor, FakeTensor, DTensor, Plain):
        monkeypatch.setattr(kind, "__module__", "torch.somewhere")
    return module


@pytest.mark.parametrize(
    ("dtype", "ours"),
    [("float32", "f32"), ("bfloat16", "bf16"), ("float8_e4m3fn", "f8e4m3"), ("int64", "i64"), ("bool", "bool")],
)
def test_a_tensor_of_torch_is_read_by_its_own_attributes(torch: Any, dtype: str, ours: str) -> None:
    value = Tensor(4, 3, at=BASE + 64, dtype=dtype, steps=(1, 4))
    result = described(value)
    assert result is not None
    size = result.itemsize
    assert (result.address, result.shape, result.strides) == (BASE + 64, (4, 3), (size, 4 * size))
    assert (result.device, result.keep) == (0, value)
    assert [each.name for each in tp.language.dtypes.ALL if each.storage == result.dtype] == [ours]


def test_tensors_of_torch_and_plain_subclasses_are_arguments(torch: Any) -> None:
    assert accepted(copy, Plain(4), Tensor(4, at=BASE + 64)).device == 0


UNFIT: dict[str, tuple[Callable[[], Tensor], Code, str, str]] = {
    "fake": (lambda: FakeTensor(4), Code.ARGUMENT_KIND, "FakeTensor", "FakeTensorMode"),
    "sparse": (lambda: Tensor(4, layout=Sparse()), Code.ARGUMENT_KIND, "sparse_coo", "`x.to_dense()`"),
    "nested": (lambda: Tensor(4, is_nested=True), Code.ARGUMENT_KIND, "nested", "one by one"),
    "conjugate": (lambda: Tensor(4, conj=True), Code.ARGUMENT_KIND, "conjugate", "`x.resolve_conj()`"),
    "negative": (lambda: Tensor(4, neg=True), Code.ARGUMENT_KIND, "negative", "`x.resolve_neg()`"),
    "distributed": (lambda: DTensor(4), Code.ARGUMENT_KIND, "DTensor", "`.to_local()`"),
    "a tracer": (lambda: Tensor(4, is_without_memory=True), Code.ARGUMENT_KIND, "without memory", "torch.func"),
    "freed storage": (lambda: Tensor(4, room=0), Code.ARGUMENT_KIND, "storage", "anew"),
    "short storage": (lambda: Tensor(4, at=BASE + (1 << 20) - 12), Code.ARGUMENT_KIND, "storage", "anew"),
    "complex": (lambda: Tensor(4, dtype="complex64"), Code.ARGUMENT_DTYPE, "torch.complex64", "`x.to(torch.float32)`"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_tensors_of_torch_that_are_not_what_lies_in_memory_are_refused_by_name(torch: Any, name: str) -> None:
    make, code, words, cure = UNFIT[name]
    diagnostic = rejection(copy, Tensor(4, at=BASE + 64), make())
    assert diagnostic.code is code
    assert words in diagnostic.message
    assert cure in diagnostic.help


def test_a_tensor_that_requires_grad_is_read_and_not_written(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = Tensor(4, requires_grad=True)
    accepted(copy, Tensor(4, at=BASE + 64), leaf)
    diagnostic = rejection(copy, leaf, Tensor(4, at=BASE + 64))
    assert diagnostic.code is Code.READ_ONLY
    assert "torch.no_grad()" in diagnostic.help
    assert "`y.detach()`" in diagnostic.help
    monkeypatch.setattr(torch, "is_grad_enabled", lambda: False)
    accepted(copy, leaf, Tensor(4, at=BASE + 64))


@pytest.mark.parametrize(
    ("kind", "device", "words", "cure"),
    [
        (Tensor, "meta", "a meta tensor of torch, which has no memory", 'device="cpu"'),
        (Tensor, "mps", "on the device mps", "`y.cpu()`"),
        (FakeTensor, "cpu", "a FakeTensor of torch, which has no memory", "`tp.torch_op`"),
        (FakeTensor, "meta", "a FakeTensor of torch, which has no memory", "`tp.torch_op`"),
    ],
)
def test_a_tensor_that_is_neither_on_the_cpu_nor_on_a_gpu_is_refused(
    torch: Any, kind: type[Tensor], device: str, words: str, cure: str
) -> None:
    diagnostic = rejection(copy, kind(4, device=SimpleNamespace(type=device)), np.zeros(4, F32))
    assert diagnostic.code is Code.ARGUMENT_KIND
    assert words in diagnostic.message
    assert cure in diagnostic.help


def test_a_cpu_tensor_beside_one_on_a_gpu_is_on_a_different_device(torch: Any) -> None:
    on_cpu = Tensor(4, device=SimpleNamespace(type="cpu", index=None))
    for y, x, message in (
        (on_cpu, Tensor(4), "`x` is on GPU 0, and `y` on the CPU"),
        (Tensor(4), on_cpu, "`x` is on the CPU, and `y` on GPU 0"),
    ):
        diagnostic = rejection(copy, y, x)
        assert (diagnostic.code, diagnostic.message) == (Code.DEVICES_DIFFER, message)


# JAX, whose arrays never change.


class Immutable:
    """Offers both ways, and takes no part in what either says about writing."""

    def __init__(self, capsule: Callable[[], Any]) -> None:
        self.capsule, self.asked = capsule, {}

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **asked: Any) -> Any:
        self.asked = asked
        return self.capsule()


Immutable.__module__ = "jaxlib.array"


# DLPack.


def capsule(
    shape: tuple[int, ...], *, at: int = BASE, strides: tuple[int, ...] | None = None,
    device: tuple[int, int] = (2, 0), offset: int = 0, code: int = 2, bits: int = 32, lanes: int = 1, flags: int = 0,
    major: int = 1, is_old: bool = False,
) -> Any:  # fmt: skip
    """A capsule as a library makes it; what it points at lives for the test."""
    whole = dlpack._Versioned()
    tensor = whole.tensor
    whole.major, whole.minor, whole.flags = major, 0, flags
    tensor.data, tensor.device_type, tensor.device_id, tensor.ndim = at, *device, len(shape)
    tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset = code, bits, lanes, offset
    numbers = [(ctypes.c_int64 * len(each))(*each) for each in (shape, strides or ())]
    tensor.shape = ctypes.cast(numbers[0], ctypes.POINTER(ctypes.c_int64))
    if strides is not None:
        tensor.strides = ctypes.cast(numbers[1], ctypes.POINTER(ctypes.c_int64))
    LIVING.append((whole, numbers))
    make = ctypes.pythonapi.PyCapsule_New
    make.argtypes, make.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
    place = ctypes.addressof(tensor) if is_old else ctypes.addressof(whole)
    return make(place, b"dltensor" if is_old else b"dltensor_versioned", None)


LIVING: list[Any] = []


@dataclass
class Exchanging:
    """An array that offers DLPack alone; one from before version 1 knows fewer words."""

    capsule: Any
    is_old: bool = False
    device: tuple[int, int] = (2, 0)
    asked: dict[str, Any] = field(default_factory=dict)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **asked: Any) -> Any:
        if self.is_old and "max_version" in asked:
            raise TypeError("unexpected keyword max_version")
        self.asked = asked
        return self.capsule


@pytest.mark.parametrize("is_old", [False, True])
def test_an_array_that_offers_dlpack_alone_is_an_argument(stub: Stub, is_old: bool) -> None:
    x = Exchanging(capsule((2, 3), strides=(1, 2), is_old=is_old, offset=64), is_old=is_old)
    result = described(x)
    assert result is not None
    assert (result.address, result.shape, result.strides, result.dtype) == (BASE + 64, (2, 3), (4, 8), F32)
    assert (result.device, result.keep, result.capsule) == (0, x, x.capsule)
    assert x.asked["stream"] == 1
    assert accepted(copy_matrix, Foreign((2, 3)), x).device == 0


def test_a_bare_capsule_is_an_argument(stub: Stub) -> None:
    assert accepted(copy, Foreign((4,)), capsule((4,), at=BASE + 64)).dimensions == {"N": 4}


@pytest.mark.parametrize(
    ("code", "bits", "stored"),
    [(0, 64, np.int64), (1, 8, np.uint8), (2, 16, np.float16), (4, 16, ml_dtypes.bfloat16), (6, 8, np.bool_),
     (10, 8, ml_dtypes.float8_e4m3fn), (12, 8, ml_dtypes.float8_e5m2)],
)  # fmt: skip
def test_dlpack_names_element_types_by_number(stub: Stub, code: int, bits: int, stored: Any) -> None:
    result = described(capsule((4,), code=code, bits=bits))
    assert result is not None
    assert result.dtype == np.dtype(stored)


@pytest.mark.parametrize(("flags", "is_writeable"), [(0, True), (1, False), (2, False)])
def test_what_is_read_only_or_a_copy_is_not_written(stub: Stub, flags: int, is_writeable: bool) -> None:
    y, x = capsule((4,), flags=flags), Foreign((4,), BASE + 64)
    accepted(copy, x, y)
    if is_writeable:
        accepted(copy, y, x)
    else:
        assert rejection(copy, y, x).code is Code.READ_ONLY


def test_what_dlpack_cannot_say_is_refused(stub: Stub) -> None:
    y = Foreign((4,))
    assert rejection(copy, y, capsule((4,), code=5, bits=64)).code is Code.ARGUMENT_DTYPE
    assert rejection(copy, y, capsule((4,), lanes=4)).code is Code.ARGUMENT_DTYPE
    assert "version 2.0" in rejection(copy, y, capsule((4,), major=2)).notes[0]
    assert "consumed" in rejection(copy, y, Exchanging("no capsule")).notes[0]


def test_dlpack_of_the_host_is_on_no_gpu(stub: Stub) -> None:
    assert described(Exchanging(capsule((4,), device=(1, 0)), device=(1, 0))) is None
    assert described(capsule((4,), device=(1, 0))) is None
    diagnostic = rejection(copy, Foreign((4,)), Exchanging(capsule((4,), device=(1, 0)), device=(1, 0)))
    assert diagnostic.code is Code.DEVICES_DIFFER


@pytest.mark.parametrize("array", [np.zeros((2, 3), np.int16)[:, ::2], np.zeros((), np.float64), np.ones((0, 2), bool)])
def test_a_capsule_of_numpy_is_read(array: Array) -> None:
    for asked in ({}, {"max_version": (1, 0)}):
        content = dlpack.read(array.__dlpack__(**asked))
        assert content.shape == array.shape
        assert (content.strides or ()) == tuple(stride // array.itemsize for stride in array.strides)
        assert (content.device_type, content.element) == (
            1,
            {"int16": "i16", "float64": "f64", "bool": "bool"}[str(array.dtype)],
        )


def test_an_array_of_jax_is_read_and_never_written(stub: Stub) -> None:
    array = Immutable(lambda: capsule((4,)))
    accepted(copy, Foreign((4,), BASE + 64), array)
    diagnostic = rejection(copy, array, Foreign((4,), BASE + 64))
    assert (diagnostic.code, "JAX" in diagnostic.message) == (Code.READ_ONLY, True)
