"""The host reads and writes memory of tensors: when it may, and what it may write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import InFlight, LaunchError
from tileproof.diagnostics.values import shown
from tileproof.language.dtypes import ALL, BOOL, DType, by_storage

from . import gpu_access
from .devices import described, host_copy
from .foreign import Unusable
from .host_arrays import Array, on_host
from .leases import ledger_of
from .views import refused

if TYPE_CHECKING:
    from .streams import Stream
    from .tensors import Tensor

_RANKS: Final = {"bool": 0, "uint": 1, "int": 1, "float": 2}
"""Values of a kind can be told as those of the same or a later kind."""


@contextmanager
def reading(tensor: Tensor, doing: str) -> Iterator[Array]:
    """The elements, in a `with` block during which no kernel writes them. They must not be kept, nor written."""
    tensor.demand_written(doing)
    if tensor.block.device is not None:
        yield gpu_access.read(tensor)
        return
    ledger = ledger_of(None)
    while True:
        ledger.wait_for_host(tensor.span, writing=False)
        with ledger.lock:
            # Nothing is given to a stream while the lock is held; but something was, maybe, before it was taken.
            if not ledger.holders(tensor.span, False) and ledger.poison_in(tensor.span) is None:
                yield tensor._array
                return


def read(tensor: Tensor, doing: str) -> Array:
    """A copy of the elements, in a row."""
    with reading(tensor, doing) as elements:
        return elements.copy()


def write(tensor: Tensor, values: Array) -> None:
    """Writes elements, which were made to fit by `fitting`."""
    if tensor.block.device is not None:
        gpu_access.write(tensor, values)
        return
    with ledger_of(None).lock:
        tensor._for_writing()
        np.copyto(tensor._array, values, casting="unsafe")


def read_only(tensor: Tensor) -> LaunchError:
    """Why the host may not write a tensor, ever."""
    return LaunchError(
        Diagnostic(
            Code.READ_ONLY,
            f"a tensor of shape {tensor.shape} is written by the host, and its memory is read-only",
            help="write a copy: `x.copy()`",
        )
    )


def in_flight(tensor: Tensor, stream: Stream, turn: int) -> InFlight:
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
    """A number or an array of anyone's, as elements of a type and shape. Nothing is lost but digits of floats."""
    if dtype is BOOL and isinstance(value, int) and value in (0, 1):
        value = bool(value)
    array = np.asarray(value) if isinstance(value, bool | int | float | np.generic) else host_array(value)
    own = by_storage().get(array.dtype.newbyteorder("="))
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
    if dtype.kind in ("int", "uint") and own.kind in ("int", "uint") and array.size:
        limits = np.iinfo(dtype.storage)
        for extreme in () if np.can_cast(array.dtype, dtype.storage) else (int(array.min()), int(array.max())):
            if not limits.min <= extreme <= limits.max:
                raise _too_large(extreme, dtype)
    if array.shape == shape:
        return array
    while array.ndim > len(shape) and array.shape[0] == 1:
        array = array[0]
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        message = f"could not broadcast values of shape {array.shape} into a tensor of shape {shape}"
        raise refused(ValueError, message, "write as many values as there are elements, or one for all") from None


def _too_large(value: int, dtype: DType) -> Exception:
    return refused(OverflowError, f"{shown(value)} does not fit elements of {dtype}", "use a wider element type")


def host_array(value: Any) -> Array:
    """What is an array, or can be made one, where the host can look at it."""
    if isinstance(value, np.ma.MaskedArray):
        raise refused(TypeError, "a masked array has elements that are none", "fill them first: `value.filled(0)`")
    try:
        there = described(value)
        found = on_host(value) if there is None else host_copy(there)
    except Unusable as error:
        raise not_usable(error) from None
    if found is None:
        try:
            found = np.asarray(value)
        except ValueError as error:  # lists of different lengths
            raise refused(ValueError, str(error), "write lists of one length on each level") from None
    return found


def not_usable(error: Unusable) -> LaunchError:
    """The same as a diagnostic about a value that has no name."""
    return LaunchError(Diagnostic(error.code, f"the array {error.message}", notes=error.notes, help=error.help))


def element_type(given: Any, default: DType) -> DType:
    """An element type: ours, its name, or what numpy or torch call it."""
    if given is None:
        return default
    if type(given) is DType and given.storage is not None:
        return given
    name = given.name if isinstance(given, DType) else given if isinstance(given, str) else ""
    found = next((dtype for dtype in ALL if dtype.name == name), None)
    if found is None and not isinstance(given, DType):
        found = _by_other_name(given)
    if found is None or found.storage is None:
        is_index = name.startswith("index")
        why = "which is for positions in kernels" if is_index else "which exists in tiles only"
        known = ", ".join(dtype.name for dtype in ALL if dtype.storage is not None)
        raise LaunchError(
            Diagnostic(
                Code.ARGUMENT_DTYPE,
                f"a tensor cannot have elements of {shown(given)}" + (f", {why}" if isinstance(given, DType) else ""),
                notes=(f"element types are {known}",),
                help="use `tp.i64`" if is_index else "use `tp.f32`",
            )
        )
    return found


def _by_other_name(given: Any) -> DType | None:
    """What numpy or torch call an element type; letters such as "f8" mean other things here, and are not read."""
    text = given if isinstance(given, str) else ""
    if type(given).__module__ == "torch":
        text = given = str(given).removeprefix("torch.")
    try:
        stored = np.dtype(given)
    except (TypeError, ValueError):
        return None
    return None if text and stored.name != text else by_storage().get(stored)
