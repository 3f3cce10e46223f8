"""Arguments that live on a GPU, whichever library made them.

`described` reads what an array says of itself into a `Described`, which has those attributes of a numpy array that a
launch reads, so that binding and checking are the same on every device. Tensors of torch are read by their own
attributes, which all of them have; other arrays by `__cuda_array_interface__`; DLPack is for those that have nothing
else. The driver, not the array, says what kind of memory lies at the address.
"""

from __future__ import annotations

import math
import sys
import weakref
from contextlib import suppress
from ctypes import c_size_t
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tileproof.backends.memory import Memory
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.records import dataclass

from . import dlpack
from .foreign import (
    Unusable,
    check_owner,
    dtype_of,
    is_immutable,
    malformed,
    stored,
    torch_device,
    torch_memory,
    torch_of,
    without_gaps,
)

if TYPE_CHECKING:
    from tileproof.backends.cuda.driver import Device

Array = np.ndarray[Any, Any]


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
    if isinstance(value, DeviceBuffer):
        return value.described()
    torch = torch_of(value)
    if torch is not None:
        return _torch_on_gpu(torch, value, name)
    if is_immutable(value):  # its DLPack, and not its interface, orders our work behind its own
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
    check_owner(array.keep, name)
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
    # For now contents are tested on the host: all bytes are copied, behind what the stream has yet to do, and waited
    # for. A test on the GPU will take the place of this.
    from tileproof.backends.cuda.driver import Device

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
        from tileproof.backends.cuda.driver import Device, Event

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
    found = torch_memory(torch, value, name)
    given = found.address, found.shape, found.strides, found.dtype, found.device
    return _checked(*given, name, keep=value, capsule=found.keep)


def _interface_on_gpu(interface: Any, value: Any, name: str) -> Described:
    try:
        address, read_only = interface["data"]
        shape = tuple(int(extent) for extent in interface["shape"])
        dtype = dtype_of(interface["typestr"], value)
        given = interface.get("strides")
        strides = without_gaps(shape, dtype.itemsize) if given is None else tuple(int(stride) for stride in given)
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
    device = 0
    if not dlpack.is_capsule(value):
        if not (hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")):
            return None
        try:
            kind, device = value.__dlpack_device__()
        except Exception as error:
            raise malformed("__dlpack_device__", error) from None
        if int(kind) not in dlpack.CUDA_KINDS:
            return None
    try:
        # The stream that its library orders its work for; ours waits for that one if it is another.
        stream = None if dlpack.is_capsule(value) else current_stream(int(device))
        capsule = value if stream is None else dlpack.capsule_of(value, stream)
        found = dlpack.read(capsule)
    except Exception as error:
        raise malformed("__dlpack__", error) from None
    if found.device_type not in dlpack.CUDA_KINDS:
        return None
    dtype = stored(found.element)
    if dtype is None:
        cure = "convert it to an element type before the launch"
        raise Unusable(Code.ARGUMENT_DTYPE, f"holds {found.element}, which is not an element type", cure)
    steps = found.strides
    strides = without_gaps(found.shape, dtype.itemsize) if steps is None else tuple(s * dtype.itemsize for s in steps)
    return _checked(
        found.address, found.shape, strides, dtype, found.device, name, writeable=found.writeable, stream=stream,
        keep=value, capsule=capsule,
    )  # fmt: skip


def _checked(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], device: int, name: str, *,
    writeable: bool = True, stream: int | None = None, keep: object, capsule: object = None,
) -> Described:  # fmt: skip
    """An array as its library describes it, once the driver has said where its memory is."""
    from tileproof.backends.cuda.driver import place_of

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


# Arrays of our own.


class DeviceBuffer:
    """An array on a GPU that tileproof owns, without gaps: for programs without torch or cupy."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int = 0) -> None:
        from tileproof.backends.cuda.driver import Device

        self.shape, self.dtype, self.device = shape, dtype, device
        owner = Device(device)
        self.address = owner.allocate(math.prod(shape) * dtype.itemsize)
        weakref.finalize(self, _release, owner, self.address)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = self.address, False
        # No stream: what made the contents has been waited for.
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": None, "version": 3}

    def described(self) -> Described:
        """What a launch reads of it."""
        strides = without_gaps(self.shape, self.dtype.itemsize)
        return Described(self.address, self.shape, strides, self.dtype, self.device, True, Memory.DEVICE, keep=self)

    def numpy(self) -> Array:
        """A copy on the host, made when the current stream has done what it was given."""
        return host_copy(self.described())


def _release(owner: Device, address: int) -> None:
    # Where the context is lost, the memory went with it.
    with suppress(LaunchError):
        owner.free(address)


def to_device(array: Array, device: int = 0) -> DeviceBuffer:
    """A copy of a numpy array on a GPU."""
    from tileproof.backends.cuda.driver import Device

    source = np.asarray(array, order="C")
    if source.dtype.hasobject:
        raise TypeError(f"elements of {source.dtype} are objects of Python, and stay on the host")
    buffer = DeviceBuffer(source.shape, source.dtype, device)
    Device(device).copy_from_host(buffer.address, source, current_stream(device))
    return buffer
