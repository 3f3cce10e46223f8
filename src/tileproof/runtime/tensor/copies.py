"""Copies as work of a stream: ordered, leased, and recorded in graphs like launches."""

from __future__ import annotations

from typing import Any

from tileproof.backends.base import device_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.runtime.memory.aliasing import Overlap, overlap_of
from tileproof.runtime.memory.recorder import recording, reject_recording
from tileproof.runtime.stream.operations import Operation

from .creation import asarray
from .tensors import Tensor


def copy(to: Tensor, source: Any) -> Tensor:
    """Copies into a tensor, on the current stream: returns at once, and what is launched later sees the copy.

    `source` has the shape and element type of `to`; it may be on another device. Of an array that is no tensor of ours,
    or that others can reach, the copy is made when this returns.

        tp.copy(x, new_x)
        graph.replay()
    """
    if not isinstance(to, Tensor):
        raise TypeError(f"tp.copy writes into a tp.Tensor, not {type(to).__name__}: x.copy_from(...) is for the host")
    origin = source if isinstance(source, Tensor) else asarray(source)
    _demand_alike(to, origin)
    _demand_apart(to, origin)
    graph, device = recording.get(), device_of(to.block.device)
    if graph is None:
        origin.demand_written("a copy")
    if (to.block.device is None) != (origin.block.device is None):
        reject_recording("memory is copied between the host and a GPU", "copy before the replay: `tp.copy(x, y)`")
        device.send(to, origin.numpy())
    elif graph is None:
        device.copy(to, origin)
    else:
        graph.add_copy(to, origin)
    return to


def copy_op(to: Tensor, source: Any) -> Operation[Tensor]:
    """`tp.copy` as an operation; its value is the tensor that was written."""

    return Operation.of("copy", lambda: copy(to, source))


def _demand_alike(to: Tensor, source: Tensor) -> None:
    if to.shape != source.shape or to.storage != source.storage:
        message = f"a tensor of shape {source.shape} and {source.dtype} is copied to one of {to.shape} and {to.dtype}"
        cure = "pass tensors of one shape and element type; `x[...] = value` broadcasts, a kernel converts"
        raise LaunchError(Diagnostic(Code.DIMENSION_DIFFERS, message, help=cure))
    if not to.block.is_writeable:
        message = "a copy is made into memory that is read-only"
        raise LaunchError(Diagnostic(Code.READ_ONLY, message, help="copy into a tensor of its own"))


def _demand_apart(to: Tensor, source: Tensor) -> None:
    if to.block.device != source.block.device or not (to.span[0] < source.span[1] and source.span[0] < to.span[1]):
        return
    if overlap_of(to.seen_by_launch(), source.seen_by_launch()) is not Overlap.NONE:
        message = "a tensor is copied to memory that it shares"
        raise LaunchError(Diagnostic(Code.ALIASED, message, help="copy it to other memory first"))
