"""`tp.Tensor`: memory of our own, which may be in flight.

A tensor never changes what it is a view of; what lies there changes. The host reaches it through methods that keep the
law of the `ledger`: reads wait for kernels that write, writes are rejected while a kernel uses the memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, Self

import numpy as np

from tileproof.backends.base import Memory, device_name, device_number, device_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import formatted
from tileproof.language.dtypes import ALL, DType
from tileproof.runtime.interop import dlpack
from tileproof.runtime.interop.describe import Described, address_of, without_gaps
from tileproof.runtime.memory.accounting import account_of
from tileproof.runtime.memory.block import Block, View
from tileproof.runtime.memory.ledger import Runs, Span, ledger_of

from . import export as exporting
from . import host_access, views
from .host_access import Fetched
from .views import rejection

_MOST: Final = 200
"""How many elements are text_of in full."""
_MARGIN: Final = "Tensor("


def text_of(tensor: View) -> str:
    """What a tensor holds, or why that cannot be told now; its shape, element type and device."""
    contents = "its contents cannot be read"
    with suppress(Exception):
        contents = _contents(tensor)
    return f"{_MARGIN}{contents}, shape={tensor.shape}, dtype={tensor.dtype}, device={tensor.device})"


def _contents(tensor: View) -> str:
    ledger = ledger_of(tensor.block.device)
    with ledger.lock, ledger.door:
        if ledger.holders(tensor.span, False):
            return "in flight"
        ledger.retire()
        error = ledger.poison_in(tensor.span)
        if error is not None:
            return f"poisoned: {_first_line(error)}"
        if not tensor.is_initialised:
            return "uninitialised"
        if tensor.block.device is None:
            return _elements(tensor._array)
    if tensor.size > _MOST:
        return "[...]"  # to show it would copy much from the GPU
    text: str = device_of(tensor.block.device).look(tensor, _elements)
    return text


def _elements(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    # Numpy writes bf16 and 8-bit floats as if they were objects.
    plain = values if values.dtype.isbuiltin == 1 or values.size > _MOST else values.astype(np.float32)
    return np.array2string(plain, separator=", ", prefix=_MARGIN, threshold=_MOST)


def _first_line(error: BaseException) -> str:
    diagnostics = getattr(error, "diagnostics", ())
    text = diagnostics[0].message if diagnostics else str(error)
    return text.strip().split("\n")[0] or type(error).__name__


Array = np.ndarray[Any, Any]
_new: Final = object.__new__


class _Stored(dict[DType, tuple[np.dtype[Any], int]]):
    """The numpy type and the bytes of an element, by element type. On demand: few programs use those of `ml_dtypes`."""

    def __missing__(self, dtype: DType) -> tuple[np.dtype[Any], int]:
        storage = dtype.storage
        if storage is None:
            raise KeyError(dtype)
        stored = self[dtype] = storage, storage.itemsize
        return stored


_STORED: Final = _Stored()
"""The element types that tensors have: how numpy stores them, and their size."""


class Tensor:
    """An array of our own on the CPU or a GPU: a view of memory that kernels may be using.

    Example:
        x = tp.zeros((4, 8), tp.f32)
        x[0] = 1  # the host writes: rejected while a kernel uses it
        double(x)  # a kernel: returns at once
        x.tolist()  # the host reads: waits
    """

    __slots__ = ("__weakref__", "_lent", "_record", "_runs", "_seen", "address", "block", "dtype", "key", "shape",
                 "span", "storage", "strides")  # fmt: skip

    _seen: Array | Described | None
    """The memory as launches see it, made when it is first asked for, and never handed out."""
    _lent: exporting.Export | None
    """That others read this very object's `__cuda_array_interface__`."""
    _record: bytes | None
    """The same for native launches: see `make_record`."""
    _runs: Runs | None
    address: int
    """Of the first element, which is not the lowest where a stride is negative."""
    block: Block
    """The memory it is a view of."""
    dtype: DType
    """The element type: `tp.f32`."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes."""
    span: Span
    """From the lowest byte to the end of the highest, with the gaps."""
    storage: np.dtype[Any]
    """The element type as numpy knows it."""
    key: tuple[Any, ...]
    """What decides, besides the address, which launches are like one another."""

    def __init__(self) -> None:
        raise TypeError("tensors are made by tp.empty, tp.zeros, tp.full, tp.from_numpy and tp.asarray")

    @classmethod
    def _of(
        cls, block: Block, dtype: DType, address: int, shape: tuple[int, ...], strides: tuple[int, ...],
        span: Span | None = None,
    ) -> Tensor:  # fmt: skip
        """A view of a block; `span` is what follows from the rest, if it is known."""
        self = _new(cls)
        storage, size = _STORED[dtype]
        self.block = block
        self.dtype = dtype
        self.storage = storage
        self.address = address
        self.shape = shape
        self.strides = strides
        if span is None:
            low = high = address
            if 0 not in shape:
                high += size
                for stride, extent in zip(strides, shape):  # noqa: B905 - to compare lengths takes longer than the rest
                    if stride < 0:
                        low += stride * (extent - 1)
                    else:
                        high += stride * (extent - 1)
            span = low, high
        self.span = span
        self._seen = self._runs = self._record = self._lent = None
        device = block.device
        if device is None:
            self.key = storage, shape, strides
        else:
            self.key = storage, shape, strides, device
            self.make_record()
        return self

    def _on_gpu(self, device: int) -> Described:
        block, lender = self.block, self.block.owner
        memory, stream = (lender.memory, lender.stream) if isinstance(lender, Described) else (Memory.DEVICE, None)
        return Described(
            self.address, self.shape, self.strides, self.storage, device, block.is_writeable, memory, stream, keep=block
        )

    # What it is.

    @property
    def device(self) -> str:
        """Where it is: "cpu", "cuda:0"."""
        return device_name(self.block.device)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.storage.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.storage.itemsize

    @property
    def version(self) -> int:
        """How often its memory was given to someone who writes."""
        return self.block.version

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in a row, without gaps."""
        return views.is_in_a_row((self.shape, self.strides), self.itemsize)

    @property
    def runs(self) -> Runs:
        """The bytes of its elements, piece by piece."""
        if self._runs is None:
            self._runs = views.runs_of((self.shape, self.strides), self.itemsize, self.span[0])
        return self._runs

    @property
    def is_initialised(self) -> bool:
        """Whether all its elements were ever written, by a kernel or by the host."""
        return self.block.written is None or self.block.is_written(self.runs)

    @property
    def is_in_flight(self) -> bool:
        """Whether a kernel is using it, or is about to."""
        ledger = ledger_of(self.block.device)
        with ledger.lock:
            return bool(ledger.holders(self.span, True))

    def seen_by_launch(self) -> Array | Described:
        """What a launch reads of it: a numpy array over its memory, or what there is to say of memory on a GPU."""
        if self._seen is None:
            device = self.block.device
            if device is None:
                owner: Any = self.block.owner
                self._seen = np.ndarray(self.shape, self.storage, owner, self.address - address_of(owner), self.strides)
            else:
                self._seen = self._on_gpu(device)
        return self._seen

    @property
    def _array(self) -> Any:
        return self._seen if self._seen is not None else self.seen_by_launch()

    def make_record(self) -> bytes | None:
        """What native launches read of it, which is kept for them; None if each launch must look closer.

        On a GPU every tensor has one from the start, on the CPU from the first launch that asks.
        """
        if self._record is None:
            self._record = self.block.record(self.dtype, self.address, self.shape, self.strides)
        return self._record

    # Waiting.

    def wait(self) -> Self:
        """Waits until no kernel uses it, and raises if one that should have written it failed."""
        ledger_of(self.block.device).wait_for_host(self.span, writing=True)
        return self

    def demand_written(self, doing: str) -> None:
        """Refuses to read what nobody wrote."""
        if not self.is_initialised:
            raise LaunchError(
                Diagnostic(
                    Code.UNINITIALISED,
                    f"{doing} reads a tensor of shape {self.shape} that nobody has written",
                    help="fill it first: `x[...] = 0`, or make it by `tp.zeros`",
                )
            )

    def note_write(self) -> None:
        """Says that all its elements are about to be written, or will have been by work that was given to a stream."""
        block = self.block
        if block.written is not None:
            if self.span != block.span or not self.is_contiguous:
                block.note_write(self.runs)
                return
            block.written = None
        block.writes += 1

    # Views.

    def _view(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Tensor:
        return Tensor._of(self.block, self.dtype, self.address + offset, shape, strides)

    def __getitem__(self, index: Any) -> Tensor:
        """A view: whole numbers, slices, `None` and `...` as in numpy."""
        return self._view(*views.sliced(self.shape, self.strides, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Writes from the host: a number, or an array that broadcasts."""
        (self if index is Ellipsis else self[index]).copy_from(value)

    def __len__(self) -> int:
        if not self.shape:
            raise rejection(TypeError, "len() of a tensor without axes", "`x.size` is the number of elements")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """Views along the first axis; `tolist` gives numbers."""
        if not self.shape:
            raise rejection(TypeError, "iteration over a tensor without axes", "`x.item()` is its value")
        return (self[place] for place in range(self.shape[0]))

    def reshape(self, *shape: Any) -> Tensor:
        """A view with another shape; -1 stands for the extent that follows from the others. Nothing is ever copied."""
        extents = views.without_guess(views.shape_of(shape), self.size)
        strides = views.reshaped((self.shape, self.strides), extents, self.itemsize)
        if strides is None:
            layout = f"shape {self.shape} and strides {self.strides}"
            message = f"a tensor of {layout} cannot be seen as one of shape {extents}"
            raise rejection(ValueError, message, "copy it first: `x.copy().reshape(...)`")
        return self._view(extents, strides)

    def view(self, *shape: Any) -> Tensor:
        """The same as `reshape`, for those who know it by this name."""
        return self.reshape(*shape)

    def flatten(self) -> Tensor:
        """A view with one axis."""
        return self.reshape(-1 if self.size else 0)

    def permute(self, *axes: Any) -> Tensor:
        """A view with the axes in another order."""
        order = views.normalized_axes(views.shape_of(axes, "an order of axes"), self.ndim)
        return self._view(*views.permuted((self.shape, self.strides), order))

    @property
    def T(self) -> Tensor:  # noqa: N802
        """A view with the axes in reverse order."""
        return self._view(self.shape[::-1], self.strides[::-1])

    def squeeze(self, *axes: Any) -> Tensor:
        """A view without axes of one element: all of them, or those that are named."""
        named = views.normalized_axes(views.shape_of(axes, "a list of axes"), self.ndim) if axes else None
        return self._view(*views.squeezed((self.shape, self.strides), named))

    # Reading and writing from the host.

    def numpy(self) -> Array:
        """On the CPU a numpy array over the same memory, once no kernel uses it; of a GPU a copy.

        While such an array lives, launches on this memory are waited for.
        """
        return exporting.as_numpy(self) if self.block.device is None else host_access.read(self, "numpy")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        wanted = self.storage if dtype is None else np.dtype(dtype)
        is_copy = copy or self.block.device is not None or wanted != self.storage
        if is_copy and copy is False:
            message = "Unable to avoid copy while creating an array as requested"
            raise rejection(ValueError, message, "allow a copy: `np.asarray(x)`")
        return host_access.read(self, "a copy").astype(wanted, copy=False) if is_copy else self.numpy()

    def fetch(self) -> Fetched:
        """A copy of the elements on its way to the host, after what the current stream was given: returns at once.

        Work that is launched after it may write the tensor. `x.fetch().numpy()` waits for the copy.
        """
        return Fetched(self)

    def item(self) -> bool | int | float:
        """The value of the only element, once it is there."""
        if self.size != 1:
            message = f"a tensor of {self.size} elements has not one value"
            raise rejection(ValueError, message, "choose an element: `x[0, 0].item()`, or take all: `x.tolist()`")
        return self._as_python("item", np.ndarray.item)  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """The values as nested lists, once they are there; without axes, the value."""
        return self._as_python("tolist", np.ndarray.tolist)

    def _as_python(self, doing: str, make: Callable[[Array], Any]) -> Any:
        """What is made of elements that Python has a type for: to numpy, bf16 and 8-bit floats are objects."""
        if self.storage.isbuiltin == 1:
            return host_access.look(self, doing, make)
        return make(host_access.read(self, doing).astype(np.float64))

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            message = f"The truth value of a tensor with {self.size} elements is ambiguous"
            raise rejection(ValueError, message, "look at one element, or reduce them in a kernel")
        return bool(self.item())

    def __index__(self) -> int:
        if self.shape or not self.dtype.is_integer:
            message = f"a tensor of shape {self.shape} and {self.dtype} is no whole number"
            raise rejection(TypeError, message, "only an element of an integer tensor is: `x[0]`")
        return int(self.item())

    def copy_from(self, value: Any) -> Self:
        """Writes elements from the host: from a number, an array of any library, or a tensor. Values broadcast.

        It is rejected while a kernel uses this memory. On a GPU a stream writes it, in order with other copies.
        Floats lose digits where they must; what does not fit is rejected.
        """
        ledger_of(self.block.device).demand_free()
        if not isinstance(value, Tensor):
            host_access.write(self, host_access.fitting(value, self.dtype, self.shape))
        elif self._is_like(value) and self.block.device is not None and value.block.device is not None:
            value.demand_written("copy_from")
            device_of(self.block.device).copy(self, value)
        else:
            host_access.look(
                value, "copy_from",
                lambda values: host_access.write(self, host_access.fitting(values, self.dtype, self.shape)),
            )  # fmt: skip
        return self

    def _is_like(self, other: Tensor) -> bool:
        """Whether both have one shape and type, and no gaps."""
        return self.key[:3] == other.key[:3] and self.is_contiguous

    def copy(self) -> Tensor:
        """A tensor of its own with the same elements, without gaps, on the same device."""
        return fresh(self.block.device, self.dtype, self.shape).copy_from(self)

    def to(self, device: str, dtype: Any = None) -> Tensor:
        """The same on another device: a copy, or the tensor itself if it is there."""
        if dtype is not None or not isinstance(device, str) or device in {dtype.name for dtype in ALL}:
            raise LaunchError(
                Diagnostic(
                    Code.ARGUMENT_DTYPE,
                    "`to` takes a tensor to another device, and changes no element type",
                    help="convert in a kernel: `y[n] = x[n].to(f16)`; or on the host: `x.numpy().astype(...)`",
                )
            )
        number = device_number(device)
        if number == self.block.device:
            return self
        return fresh(number, self.dtype, self.shape).copy_from(self)

    # Handing it to others.

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self.block.device
        return (dlpack.CPU, 0) if device is None else (dlpack.CUDA, device)

    def __dlpack__(
        self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        """A capsule over the memory, for other libraries: see DLPack."""
        here = self.__dlpack_device__()
        there = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if there == here:
            lent = self.copy() if copy else self
        elif there == (dlpack.CPU, 0) and copy is not False:
            lent, stream = self.to("cpu"), None
        else:
            message = f"a tensor on {self.device} cannot be lent to device {formatted(there)} of DLPack"
            raise rejection(BufferError, message, "copy it there first: `x.to(...)`")
        return exporting.as_capsule(lent, stream, max_version, is_copy=lent is not self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For libraries that know GPUs by this protocol."""
        if self.block.device is None:
            raise AttributeError("a tensor on the CPU has no __cuda_array_interface__")
        return exporting.as_interface(self)

    def __copy__(self) -> Tensor:
        """Another view of the same memory."""
        return self._view(self.shape, self.strides)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (host_access.read(self, "pickle"), self.dtype, self.device)

    def __repr__(self) -> str:
        return text_of(self)


def _again(values: Array, dtype: DType, device: str) -> Tensor:
    """A tensor that was pickled."""
    return fresh(device_number(device), dtype, values.shape).copy_from(values)


def fresh(device: int | None, dtype: DType, shape: tuple[int, ...], is_zero: bool = False) -> Tensor:
    """A tensor with memory of its own, which nobody has written, or of zeros."""
    size = _STORED[dtype][1]
    strides: tuple[int, ...]
    if len(shape) == 1:
        nbytes, strides = shape[0] * size, (size,)
    else:
        nbytes, strides = math.prod(shape) * size, without_gaps(shape, size)
    block = account_of(device).take(nbytes, (shape, dtype), is_zero)
    address = block.address
    return Tensor._of(block, dtype, address, shape, strides, (address, address + nbytes))
