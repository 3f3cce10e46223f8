"""The host reads and writes memory of tensors: when it may, and what it may write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from tileproof.backends.base import device_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, InFlight, LaunchError
from tileproof.diagnostics.values import formatted
from tileproof.language.dtypes import ALL, BOOL, DType, by_storage
from tileproof.runtime.interop.describe import Array, Unusable, described, host_copy, on_host
from tileproof.runtime.memory.block import View
from tileproof.runtime.memory.ledger import Stream
from tileproof.runtime.memory.recorder import reject_recording

from .views import rejection

R = TypeVar("R")
_RANKS: Final = {"bool": 0, "uint": 1, "int": 1, "float": 2}
"""Values of a kind can be told as those of the same or a later kind."""
_NUMBERS: Final = (float, int, bool, np.generic)


def look(tensor: View, doing: str, use: Callable[[Array], R]) -> R:
    """What a function makes of the elements, called while no kernel writes them. It must not keep nor write them."""
    tensor.demand_written(doing)
    result: R = device_of(tensor.block.device).look(tensor, use)
    return result


def read(tensor: View, doing: str) -> Array:
    """A copy of the elements, in a row."""
    return look(tensor, doing, np.ndarray.copy)


def write(tensor: View, values: Array) -> None:
    """Writes elements, which were made to fit by `fitting`."""
    device_of(tensor.block.device).write(tensor, values)


def read_only(tensor: View) -> LaunchError:
    """Why the host may not write a tensor, ever."""
    return LaunchError(
        Diagnostic(
            Code.READ_ONLY,
            f"a tensor of shape {tensor.shape} is written by the host, and its memory is read-only",
            help="write a copy: `x.copy()`",
        )
    )


def in_flight(tensor: View, stream: Stream, turn: int) -> InFlight:
    """Why the host may not write a tensor now."""
    name = next((work.name for at, work in tuple(stream.pending) if at == turn), "a launch")
    return InFlight(
        Diagnostic(
            Code.IN_FLIGHT,
            f"a tensor of shape {tensor.shape} is written by the host while `{name}` uses it",
            help="wait first: `x.wait()` or `stream.synchronize()`; or copy on the stream: `tp.copy(x, y)`",
        )
    )


def fitting(value: Any, dtype: DType, shape: tuple[int, ...]) -> Array:
    """A number, or an array of anyone's, as values that fit elements of a type and shape: one for each, or one for all.

    Nothing is lost but digits of floats.
    """
    if type(value) is np.ndarray and value.dtype == dtype.storage and value.shape == shape:
        return value
    if dtype is BOOL and isinstance(value, int) and value in (0, 1):
        value = bool(value)
    array = np.asarray(value) if isinstance(value, _NUMBERS) else host_array(value)
    own = by_storage().get(array.dtype) or by_storage().get(array.dtype.newbyteorder("="))
    if own is None and array.dtype.kind == "O" and isinstance(value, int):
        raise _too_large(value, dtype)
    if own is None or _RANKS[own.kind] > _RANKS[dtype.kind]:
        what = array.dtype if own is None else own
        raise LaunchError(
            Diagnostic(
                Code.ARGUMENT_DTYPE,
                f"elements of {dtype} are written from values of {what}",
                help=f"convert them first: `values.astype(np.{dtype.storage})`",
            )
        )
    assert dtype.storage is not None
    if dtype.is_integer and own.is_integer and own is not dtype and array.size:
        limits = np.iinfo(dtype.storage)
        for extreme in () if np.can_cast(array.dtype, dtype.storage) else (int(array.min()), int(array.max())):
            if not limits.min <= extreme <= limits.max:
                raise _too_large(extreme, dtype)
    if array.shape == shape or not array.ndim:
        return array
    while array.ndim > len(shape) and array.shape[0] == 1:
        array = array[0]
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        message = f"could not broadcast values of shape {array.shape} into a tensor of shape {shape}"
        raise rejection(ValueError, message, "write as many values as there are elements, or one for all") from None


def _too_large(value: int, dtype: DType) -> Exception:
    return rejection(OverflowError, f"{formatted(value)} does not fit elements of {dtype}", "use a wider element type")


def host_array(value: Any) -> Array:
    """What is an array, or can be made one, where the host can look at it."""
    if isinstance(value, np.ma.MaskedArray):
        raise rejection(TypeError, "a masked array has elements that are none", "fill them first: `value.filled(0)`")
    try:
        there = described(value)
        array = on_host(value) if there is None else host_copy(there)
    except Unusable as error:
        raise not_usable(error) from None
    if array is None:
        try:
            array = np.asarray(value)
        except ValueError as error:  # lists of different lengths
            raise rejection(ValueError, str(error), "write lists of one length on each level") from None
    return array


def not_usable(error: Unusable) -> LaunchError:
    """The same as a diagnostic about a value that has no name."""
    return LaunchError(Diagnostic(error.code, f"the array {error.message}", notes=error.notes, help=error.help))


def element_type(wanted: Any, default: DType) -> DType:
    """An element type: ours, its name, or what numpy or torch call it."""
    if wanted is None:
        return default
    if type(wanted) is DType and wanted.storage is not None:
        return wanted
    name = wanted.name if isinstance(wanted, DType) else wanted if isinstance(wanted, str) else ""
    matching = next((dtype for dtype in ALL if dtype.name == name), None)
    if matching is None and not isinstance(wanted, DType):
        matching = _by_other_name(wanted)
    if matching is None or matching.storage is None:
        is_index = name.startswith("index")
        why = "which is for positions in kernels" if is_index else "which exists in tiles only"
        known = ", ".join(dtype.name for dtype in ALL if dtype.storage is not None)
        raise LaunchError(
            Diagnostic(
                Code.ARGUMENT_DTYPE,
                f"a tensor cannot have elements of {formatted(wanted)}"
                + (f", {why}" if isinstance(wanted, DType) else ""),
                notes=(f"element types are {known}",),
                help="use `tp.i64`" if is_index else "use `tp.f32`",
            )
        )
    return matching


def _by_other_name(wanted: Any) -> DType | None:
    """What numpy or torch call an element type; letters such as "f8" mean other things here, and are not read."""
    text = wanted if isinstance(wanted, str) else ""
    if type(wanted).__module__ == "torch":
        text = wanted = str(wanted).removeprefix("torch.")
    try:
        stored = np.dtype(wanted)
    except (TypeError, ValueError):
        return None
    return None if text and stored.name != text else by_storage().get(stored)


class Fetched:
    """Elements on their way to the host. What is launched after it may write the tensor: this has its own copy."""

    __slots__ = ("_finish",)

    _finish: Callable[[], Array]

    def __init__(self, tensor: View) -> None:
        reject_recording("a tensor is read by the host", "fetch it when the graph was replayed; nothing runs before")
        tensor.demand_written("fetch")
        self._finish = device_of(tensor.block.device).fetch(tensor)

    def numpy(self) -> Array:
        """The elements, once they are there; raises what went wrong with the work that wrote them."""
        return self._finish()
