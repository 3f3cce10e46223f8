"""What arrays of other libraries say of themselves, wherever they are, and why a kernel cannot use some of them.

`devices` reads those on a GPU with this, `host_arrays` those on the CPU. No library is loaded to find out: an array of
a library that is not loaded cannot be here.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.records import dataclass
from tileproof.language.dtypes import ALL, DType

_OF_TORCH: Final = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
}  # fmt: skip
_JAX: Final = ("JAX", "jax.dlpack.from_dlpack")
_IMMUTABLE: Final = {"jax": _JAX, "jaxlib": _JAX, "tensorflow": ("TensorFlow", "tf.experimental.dlpack.from_dlpack")}
"""Libraries that take it for granted that an array never changes, whatever its interface says; how one is made."""


class Unusable(Exception):
    """Why a kernel cannot use an argument; the message goes on after its name."""

    def __init__(self, code: Code, message: str, help: str, *notes: str) -> None:
        super().__init__(message)
        self.code, self.message, self.help, self.notes = code, message, help, notes


@dataclass(frozen=True, slots=True)
class TorchMemory:
    """The memory of a plain tensor of torch; strides are in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int
    keep: Any
    """A tensor over the same storage that nobody else has: it cannot be given another shape or another storage, and its
    storage on the CPU no other memory."""


def torch_of(value: Any) -> Any:
    """The module torch if a value is a tensor of it, else None."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(value, getattr(torch, "Tensor", ())) else None


def of_torch(value: Any) -> str | None:
    """The name of the element type of a tensor of torch; None if we have none like it."""
    return _OF_TORCH.get(str(value.dtype).removeprefix("torch."))


def to_torch(torch: Any, name: str) -> Any:
    """The element type of torch that is ours."""
    return getattr(torch, next(theirs for theirs, ours in _OF_TORCH.items() if ours == name))


def torch_device(torch: Any, value: Any) -> str:
    """The kind of device that a tensor of torch says it is on: "cpu", "cuda", "meta" and others."""
    with torch._C.DisableTorchFunctionSubclass():
        return str(value.device.type)


def torch_memory(torch: Any, value: Any, name: str) -> TorchMemory:
    """Where the elements of a tensor lie; `Unusable` if it is not what lies in its memory."""
    # A subclass may answer for its attributes itself; the memory is judged, not what is said of it.
    with torch._C.DisableTorchFunctionSubclass():
        _check_torch(torch, value, name)
        plain = value.as_subclass(torch.Tensor).detach()
        dtype = stored(_OF_TORCH.get(str(plain.dtype).removeprefix("torch.")))
        if dtype is None:
            cure = f"convert it: `{name}.to(torch.float32)`"
            raise Unusable(Code.ARGUMENT_DTYPE, f"holds {plain.dtype}, which is not an element type", cure)
        try:
            storage = plain.untyped_storage()
            if plain.is_cpu and storage.resizable():
                # numpy looks at the storage, which from then on refuses to be given other memory.
                torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
            address, begin, room = plain.data_ptr(), storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError) as error:
            cure = "launch outside `torch.func` transforms and tracing, on the tensors themselves"
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise Unusable(Code.ARGUMENT_KIND, "is a tensor without memory", cure, f"torch says: {said}") from None
        shape = tuple(plain.shape)
        strides = tuple(stride * dtype.itemsize for stride in plain.stride())
        device = plain.device.index or 0
    reach = sum(stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True)) + dtype.itemsize
    if 0 not in shape and not begin <= address <= address + reach <= begin + room:
        cure = f"make `{name}` anew; `untyped_storage().resize_(...)` took its memory"
        raise Unusable(Code.ARGUMENT_KIND, "is a tensor of torch whose storage is too small for it", cure)
    return TorchMemory(address, shape, strides, dtype, device, plain)


def _check_torch(torch: Any, value: Any, name: str) -> None:
    """Refuses tensors that are not what lies in their memory."""
    kind = type(value).__name__
    if kind == "FakeTensor":
        cure = (
            "launch on real tensors, outside `FakeTensorMode`; what `torch.compile` or `torch.export` trace calls a "
            "kernel through `tp.torch_op`"
        )
        raise Unusable(Code.ARGUMENT_KIND, "is a FakeTensor of torch, which has no memory", cure)
    if value.layout is not torch.strided or value.is_nested:
        what = "nested" if value.is_nested else str(value.layout).removeprefix("torch.")
        cure = f"pass its parts, or `{name}.to_dense()`" if not value.is_nested else "pass its parts one by one"
        raise Unusable(Code.ARGUMENT_KIND, f"is a tensor of torch with the layout {what}, not a plain one", cure)
    if type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        cure = "pass the plain tensors it is made of; of a DTensor, `.to_local()` is one"
        raise Unusable(Code.ARGUMENT_KIND, f"is a {kind}, which only stands for other tensors", cure)
    for bit, meaning in (("conj", "conjugate"), ("neg", "negative")):
        if getattr(value, f"is_{bit}")():
            message = f"is a tensor of torch whose memory holds the {meaning} of its values"
            raise Unusable(Code.ARGUMENT_KIND, message, f"pass `{name}.resolve_{bit}()`")


def is_immutable(value: Any) -> bool:
    """Whether an array belongs to a library whose arrays never change."""
    return type(value).__module__.partition(".")[0] in _IMMUTABLE


def check_owner(owner: Any, name: str) -> None:
    """Raises `Unusable` if the library that an array belongs to would not know of what a kernel writes."""
    torch = torch_of(owner)
    if torch is not None and torch.is_grad_enabled():
        with torch._C.DisableTorchFunctionSubclass():
            requires_grad = owner.requires_grad
        if requires_grad:
            message = "is written, and requires grad: autograd would not see what a kernel does to it"
            cure = f"launch under `with torch.no_grad():`, or pass `{name}.detach()`"
            raise Unusable(Code.READ_ONLY, message, cure)
    if is_immutable(owner):
        library, made = _IMMUTABLE[type(owner).__module__.partition(".")[0]]
        cure = f"pass an array of numpy, torch or cupy, and make one of {library} from it: `{made}(...)`"
        raise Unusable(Code.READ_ONLY, f"is written, and an array of {library} never changes", cure)


def malformed(what: str, error: Exception) -> Unusable:
    """Why an array cannot be used whose description of itself makes no sense, or raises."""
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    cure = "pass an array of numpy, torch, cupy or numba, or what `tileproof.runtime.devices.to_device` makes"
    return Unusable(Code.ARGUMENT_KIND, f"has a {what} that cannot be used", cure, f"it says: {said}")


def dtype_of(typestr: str, value: Any) -> np.dtype[Any]:
    """The element type of an array; letters do not tell bf16 and 8-bit floats from others, so its own word counts."""
    own = getattr(value, "dtype", None)
    return own if isinstance(own, np.dtype) and own.str == typestr else np.dtype(typestr)


@cache
def stored(name: str | None) -> np.dtype[Any] | None:
    """The numpy type that holds an element type; None for a name that is not one of ours."""
    found: DType | None = next((dtype for dtype in ALL if dtype.name == name), None)
    return None if found is None else found.storage


@lru_cache(maxsize=256)
def without_gaps(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of rows that follow each other."""
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[: len(shape)]))
