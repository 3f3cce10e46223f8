"""Arrays of other libraries, on the host and on GPUs: what they say of themselves, and why a kernel cannot use some.

`on_host` makes a numpy array over the same memory; `described` reads an array on a GPU into a `Described`, which has
those attributes of a numpy array that a launch reads, so that binding and checking are the same on every device.
Tensors of torch are read by their own attributes, which all of them have; arrays of JAX, which may still be computed,
by DLPack once they are ready; others by `__array_interface__` or `__cuda_array_interface__`, or else by DLPack. The
driver, not the array, says what kind of memory lies at an address on a GPU.

Nothing is copied, and no library is loaded to find out: an array of a library that is not loaded cannot be here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from ctypes import c_size_t
from dataclasses import field
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.backends.base import Memory
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.language.dtypes import ALL, DType

from . import dlpack

Array = np.ndarray[Any, Any]
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
    # A subclass may answer for its attributes itself; the memory counts, not its description.
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
                # numpy looks at the storage, which from then on does not accept other memory.
                torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
            address, begin, room = plain.data_ptr(), storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError) as error:
            cure = "launch outside `torch.func` transforms and tracing, on the tensors themselves"
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise Unusable(Code.ARGUMENT_KIND, "is a tensor without memory", cure, f"torch says: {reason}") from None
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


def check_library_allows_writes(owner: Any, name: str) -> None:
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
        library, maker = _IMMUTABLE[type(owner).__module__.partition(".")[0]]
        cure = f"pass an array of numpy, torch or cupy, and make one of {library} from it: `{maker}(...)`"
        raise Unusable(Code.READ_ONLY, f"is written, and an array of {library} never changes", cure)


def malformed(what: str, error: Exception) -> Unusable:
    """Why an array cannot be used whose description of itself makes no sense, or raises."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    cure = 'pass an array of numpy, torch, cupy or numba, or a tensor: `tp.from_numpy(x, "cuda")`'
    return Unusable(Code.ARGUMENT_KIND, f"has a {what} that cannot be used", cure, f"it says: {reason}")


def dtype_of(typestr: str, value: Any) -> np.dtype[Any]:
    """The element type of an array; letters do not tell bf16 and 8-bit floats from others, so its own word counts."""
    own = getattr(value, "dtype", None)
    return own if isinstance(own, np.dtype) and own.str == typestr else np.dtype(typestr)


@cache
def stored(name: str | None) -> np.dtype[Any] | None:
    """The numpy type that holds an element type; None for a name that is not one of ours."""
    element: DType | None = next((dtype for dtype in ALL if dtype.name == name), None)
    return None if element is None else element.storage


@lru_cache(maxsize=256)
def without_gaps(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of rows that follow each other."""
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[: len(shape)]))


@dataclass(frozen=True, slots=True)
class _Lent:
    """What numpy reads memory of others by; it is the base of the array, and so keeps what lends the memory."""

    __array_interface__: dict[str, Any]
    keep: object


def on_host(value: Any, name: str = "x", *, is_written: bool = False) -> Array | None:
    """A numpy array over the memory of an array on the CPU; None for what is none, or is elsewhere.

    `Unusable` if it has no memory that a kernel can use. `name` is what the argument is called in a cure.
    """
    if isinstance(value, np.generic | bool | int | float):
        return None
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):  # to name it loads a module
            return None
        # Another array over the same memory, which nobody else can change, and which only says what lies in memory: a
        # subclass may say otherwise.
        return np.ndarray.view(value, np.ndarray)
    torch = torch_of(value)
    array: Array | None
    if torch is not None:
        array = _torch_on_host(torch, value, name)
    elif is_immutable(value):
        array = _of_immutable(value)
    else:
        try:
            interface = value.__array_interface__
        except AttributeError:
            array = _dlpack_on_host(value)
        except Exception as error:
            raise malformed("__array_interface__", error) from None
        else:
            array = _interface_on_host(interface, value)
    if array is not None and is_written:
        check_library_allows_writes(value, name)
    return array


def keep_still(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments of a launch, with each plain tensor of torch as one that nobody else has, over memory that stays.

    None if one of them is not plain.
    """
    torch = sys.modules.get("torch")
    kinds = () if torch is None else (getattr(torch, "Tensor", None), getattr(torch.nn, "Parameter", None))
    if not kinds or not any(type(arg) in kinds for arg in args):
        return args
    kept: list[Any] = []
    for array in args:
        if type(array) not in kinds:
            kept.append(array)
            continue
        try:
            if not array.is_cpu or array.requires_grad or array.is_neg():
                return None
            kept.append(torch_memory(torch, array, "x").keep)
        except (Unusable, RuntimeError, NotImplementedError, TypeError):
            return None
    return tuple(kept)


def plain_array(value: Any) -> Array | None:
    """A numpy array over the memory of a plain array or tensor of torch on the CPU; None for all others."""
    try:
        return on_host(value)
    except Unusable:
        return None


def _torch_on_host(torch: Any, value: Any, name: str) -> Array:
    kind = torch_device(torch, value)
    if kind == "meta" and type(value).__name__ != "FakeTensor":
        cure = f'make `{name}` on the CPU or on a GPU: `torch.empty_like({name}, device="cpu")`'
        raise Unusable(Code.ARGUMENT_KIND, "is a meta tensor of torch, which has no memory", cure)
    if kind not in ("cpu", "meta"):
        cure = f"pass a copy on the CPU, `{name}.cpu()`, and copy back what the kernel writes"
        raise Unusable(Code.ARGUMENT_KIND, f"is a tensor of torch on the device {kind}, where no kernel runs", cure)
    memory = torch_memory(torch, value, name)
    return array_over(memory.address, memory.shape, memory.strides, memory.dtype, memory.keep)


def _of_immutable(value: Any) -> Array | None:
    core = getattr(sys.modules.get("jax"), "core", None)
    if isinstance(value, getattr(core, "Tracer", ())):
        cure = "launch outside `jax.jit` and other transforms, on the arrays themselves"
        raise Unusable(Code.ARGUMENT_KIND, "is a tracer of JAX, which has no memory", cure)
    try:
        # On the CPU no stream orders our reading after the library's own work.
        getattr(value, "block_until_ready", bool)()
    except Exception as error:
        raise malformed("block_until_ready", error) from None
    return _dlpack_on_host(value)


def _interface_on_host(interface: Any, value: Any) -> Array:
    try:
        fields = dict(interface)
        if fields.get("mask") is not None:
            cure = "pass an array without a mask"
            raise Unusable(Code.ARGUMENT_KIND, "has a mask, which a kernel does not see", cure)
        dtype = dtype_of(fields["typestr"], value)
        if dtype.hasobject:
            raise ValueError(f"elements of {dtype} are objects of Python")
        if fields.get("data") is None:  # the object itself is a buffer then
            fields["data"] = value
        fields.pop("descr", None)  # fields of records are no elements
        fields["typestr"] = _letters(dtype)
        array = np.asarray(_Lent(fields, value))
        if array.size and not array.__array_interface__["data"][0]:
            raise ValueError("the address is 0")
        return array.view(dtype)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed("__array_interface__", error) from None


_Lending: TypeAlias = tuple[dlpack.Exchanged, np.dtype[Any], tuple[int, ...], Any, int | None]
"""What a capsule says of an array, its element type, strides in bytes, the capsule, and the stream it is ordered on."""


def _lent_by_dlpack(value: Any, kinds: Collection[int]) -> _Lending | int | None:
    """An array lent by DLPack on devices of some kinds; the kind of another device; None for what knows no DLPack."""
    stream, is_capsule = None, dlpack.is_capsule(value)
    if not is_capsule:
        if not (hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")):
            return None
        try:
            kind, device = map(int, value.__dlpack_device__())
        except Exception as error:
            raise malformed("__dlpack_device__", error) from None
        if kind not in kinds:
            return kind
    try:
        if not is_capsule and dlpack.CPU not in kinds:
            # The stream that its library orders its work for; ours waits for that one if it is another.
            stream = current_stream(device)
        capsule = value if is_capsule else dlpack.capsule_of(value, stream)
        exchanged = dlpack.read(capsule)
    except Exception as error:
        raise malformed("__dlpack__", error) from None
    if exchanged.device_type not in kinds:
        return exchanged.device_type
    dtype = stored(exchanged.element)
    if dtype is None:
        cure = "convert it to an element type before the launch"
        raise Unusable(Code.ARGUMENT_DTYPE, f"holds {exchanged.element}, which is not an element type", cure)
    steps, size = exchanged.strides, dtype.itemsize
    strides = without_gaps(exchanged.shape, size) if steps is None else tuple(step * size for step in steps)
    return exchanged, dtype, strides, capsule, stream


def _dlpack_on_host(value: Any) -> Array | None:
    lent = _lent_by_dlpack(value, frozenset({dlpack.CPU}))
    if lent is None:
        return None
    if isinstance(lent, int):
        raise _elsewhere(lent)
    exchanged, dtype, strides, capsule, _ = lent
    try:
        return array_over(
            exchanged.address, exchanged.shape, strides, dtype, (value, capsule), is_read_only=not exchanged.writeable
        )
    except (TypeError, ValueError) as error:
        raise malformed("__dlpack__", error) from None


def _elsewhere(kind: int) -> Unusable:
    message = f"is on a device that DLPack calls type {kind}, where no kernel runs"
    return Unusable(Code.ARGUMENT_KIND, message, "pass a copy on the CPU, and copy back what the kernel writes")


def array_over(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], keep: object, *,
    is_read_only: bool = False,
) -> Array:  # fmt: skip
    """A numpy array over memory of others."""
    if 0 not in shape and not address:
        raise ValueError("the address is 0")
    data = address, is_read_only
    interface = {"version": 3, "typestr": _letters(dtype), "shape": shape, "strides": strides, "data": data}
    array = np.asarray(_Lent(interface, keep))
    return array if array.dtype is dtype else array.view(dtype)


def _letters(dtype: np.dtype[Any]) -> str:
    """An element type as numpy reads it: the letters of bf16 and 8-bit floats say nothing to it but their size."""
    return dtype.str if dtype.isbuiltin != 2 else f"|V{dtype.itemsize}"



@dataclass(frozen=True, slots=True)
class Described:
    """An array on a GPU: what a numpy array would say of it, and where it is."""

    address: int
    """Of the first element, which is not the lowest where a stride is negative."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes."""
    dtype: np.dtype[Any]
    device: int
    writeable: bool
    memory: Memory
    stream: int | None = None
    """The stream whose work must be done before the array is used, if its owner names one."""
    keep: object = field(default=None, repr=False, compare=False)
    """The array itself: its memory lives as long as this does."""
    capsule: object = field(default=None, repr=False, compare=False)
    """What lends the memory, if it came by DLPack."""

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize


def described(value: Any, name: str = "x") -> Described | None:
    """What lives on a GPU, read; None for anything else. `Unusable` if it has no memory that a kernel can use.

    `name` is what the argument is called in a cure.
    """
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        return None
    torch = torch_of(value)
    if torch is not None:
        return _torch_on_gpu(torch, value, name)
    if is_immutable(value):  # its DLPack, and not its interface, orders our work after its own
        return _dlpack_on_gpu(value, name)
    try:
        interface = value.__cuda_array_interface__
    except AttributeError:
        return _dlpack_on_gpu(value, name)
    except Exception as error:
        raise malformed("__cuda_array_interface__", error) from None
    return _interface_on_gpu(interface, value, name)


def address_of(array: Any) -> int:
    """Where the first element of an argument lies."""
    if type(array) is np.ndarray and _BEGINS_WITH_ADDRESS:  # its own description takes twenty times as long
        return _WORDS[(id(array) + object.__basicsize__) >> 3]
    return array.address if isinstance(array, Described) else int(array.__array_interface__["data"][0])


def _begins_with_address() -> bool:
    """Whether the address of its elements is the first thing in a numpy array, as numpy's interface for C has it."""
    sample = np.empty(1)
    return bool(_WORDS[(id(sample) + object.__basicsize__) >> 3] == sample.__array_interface__["data"][0])


_WORDS: Final = (c_size_t * (1 << 57)).from_address(0)
"""All memory of the process."""
_BEGINS_WITH_ADDRESS: Final = _begins_with_address()


def byte_range(array: Any) -> tuple[int, int]:
    """The lowest address of an argument, and the end of its highest element; an empty range if it has no elements."""
    low = high = address_of(array)
    if not array.size:
        return low, high
    for stride, extent in zip(array.strides, array.shape, strict=True):
        length = stride * (extent - 1)
        low, high = (low + length, high) if length < 0 else (low, high + length)
    return low, high + array.itemsize


def check_writeable(array: Described, name: str) -> None:
    """Raises `Unusable` if a kernel must not write an array."""
    check_library_allows_writes(array.keep, name)
    if not array.writeable:
        cure = "pass a writable array, for instance a copy"
        raise Unusable(Code.READ_ONLY, "is written, and the array is read-only", cure)
    if array.memory is not Memory.DEVICE:
        raise Unusable(
            Code.MEMORY_KIND,
            f"is written, and lies in {array.memory.value}",
            f'pass memory of the GPU: `torch.empty(..., device="cuda")`, `cupy.empty(...)`, or a copy of `{name}`',
            "the host could read or write it while the kernel runs",
        )


def host_copy(array: Any) -> Array:
    """The elements of an argument where the host can look at them: the array itself, or a copy from a GPU."""
    if not isinstance(array, Described):
        return np.asarray(array)
    # For now contents are tested on the host: all bytes are copied, after what the stream has yet to do, and waited
    # for. A test on the GPU will take the place of this.
    from tileproof.backends.cuda.device.driver import Device

    if not array.size:
        return np.empty(array.shape, array.dtype)
    low, high = byte_range(array)
    stream = current_stream(array.device)
    wait_for_owner(array, stream)
    copied = Device(array.device).copy_to_host(low, high - low, stream)
    return np.ndarray(array.shape, array.dtype, copied.data, array.address - low, array.strides)


def wait_for_owner(array: Described, stream: int) -> None:
    """Has a stream wait for what the owner of an array still does with it on another."""
    if array.stream is not None and array.stream != stream:
        from tileproof.backends.cuda.device.driver import Device, Event

        event = Event(Device(array.device))
        event.record(array.stream)
        event.wait_on(stream)


def current_stream(device: int) -> int:
    """The stream that work on a GPU goes to: torch's current one, else cupy's, else the default stream."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return int(cuda.current_stream(device).cuda_stream)
    of_cupy = getattr(getattr(sys.modules.get("cupy"), "cuda", None), "get_current_stream", None)
    return int(of_cupy(device).ptr) if of_cupy is not None else 0


# Reading.


def _torch_on_gpu(torch: Any, value: Any, name: str) -> Described | None:
    if torch_device(torch, value) != "cuda":
        return None
    memory = torch_memory(torch, value, name)
    layout = memory.address, memory.shape, memory.strides, memory.dtype, memory.device
    return _checked(*layout, name, keep=value, capsule=memory.keep)


def _interface_on_gpu(interface: Any, value: Any, name: str) -> Described:
    try:
        address, read_only = interface["data"]
        shape = tuple(int(extent) for extent in interface["shape"])
        dtype = dtype_of(interface["typestr"], value)
        steps = interface.get("strides")
        strides = without_gaps(shape, dtype.itemsize) if steps is None else tuple(int(stride) for stride in steps)
        stream, mask = interface.get("stream"), interface.get("mask")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed("__cuda_array_interface__", error) from None
    if mask is not None:
        raise Unusable(Code.ARGUMENT_KIND, "has a mask, which a kernel does not see", "pass an array without a mask")
    # The protocol says 1 for the default stream, which is 0 elsewhere.
    stream = None if stream is None else 0 if stream == 1 else int(stream)
    writeable, device = not read_only, _number_of(getattr(value, "device", None))
    return _checked(address or 0, shape, strides, dtype, device, name, writeable=writeable, stream=stream, keep=value)


def _dlpack_on_gpu(value: Any, name: str) -> Described | None:
    lent = _lent_by_dlpack(value, dlpack.CUDA_KINDS)
    if lent is None or isinstance(lent, int):
        return None
    exchanged, dtype, strides, capsule, stream = lent
    return _checked(
        exchanged.address, exchanged.shape, strides, dtype, exchanged.device, name, writeable=exchanged.writeable,
        stream=stream, keep=value, capsule=capsule,
    )  # fmt: skip


def _checked(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], device: int, name: str, *,
    writeable: bool = True, stream: int | None = None, keep: object, capsule: object = None,
) -> Described:  # fmt: skip
    """An array as its library describes it, once the driver has reported where its memory is."""
    from tileproof.backends.cuda.device.driver import place_of

    if len(shape) != len(strides) or min(shape, default=0) < 0 or dtype.hasobject:
        raise malformed("description", ValueError(f"the shape {shape}, the strides {strides} and {dtype}"))
    if 0 in shape:
        return Described(address, shape, strides, dtype, device, writeable, Memory.DEVICE, stream, keep, capsule)
    place = place_of(address)
    if place.memory is Memory.UNKNOWN:
        raise Unusable(
            Code.MEMORY_KIND,
            f"says that it is on a GPU, and lies in {place.memory.value}",
            f"pass `{name}` as a numpy array if it is on the host; if it was freed, make it anew",
            f"its address is {address:#x}",
        )
    return Described(address, shape, strides, dtype, place.device, writeable, place.memory, stream, keep, capsule)


def _number_of(device: Any) -> int:
    """The GPU that an array without elements says it is on."""
    number = getattr(device, "id", device)
    return number if isinstance(number, int) else 0
