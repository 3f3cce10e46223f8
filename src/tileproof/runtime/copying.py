"""Copies as work of a stream: ordered, leased, and recorded in graphs like launches."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from tileproof.backends.cpu.queue import copy_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError
from tileproof.ir.types import Access

from . import gpu_access
from .cpu_streams import Called, current
from .leases import Work, ledger_of
from .making import asarray
from .operations import Operation
from .streams import recording, refuse_recording
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
    given = source if isinstance(source, Tensor) else asarray(source)
    _demand_alike(to, given)
    _demand_apart(to, given)
    if to.block.device is not None or given.block.device is not None:
        _on_gpu(to, given)
        return to
    if recording.get() is None:
        given.demand_written("a copy")
    work, steps = _on_cpu(to, given)
    is_own = not (to.block.is_shared or given.block.is_shared)
    graph = recording.get()
    if graph is not None:
        graph.add_copy(work, steps, ((to, Access.OUT), (given, Access.IN)), is_own, f"copy{list(to.shape)}")
        return to
    if not is_own:
        ledger_of(None).wait_for_host(given.span, writing=False)  # others would not be told what went wrong with it
    stream = current()
    work.note = to.note_write
    turn = stream.push(work, steps)
    if not is_own:
        stream.until(turn)
        stream.settle((turn,))
    return to


def copy_op(to: Tensor, source: Any) -> Operation[Tensor]:
    """`tp.copy` as an operation; its value is the tensor that was written."""

    return Operation.of("copy", lambda: copy(to, source))


def _on_cpu(to: Tensor, source: Tensor) -> tuple[Work, array[int]]:
    reads, writes = (source.span,), (to.span,)
    own = (to,) if to.block.is_owned else ()
    if to.is_contiguous and source.is_contiguous:
        steps = array("Q", copy_of(to.address, source.address, to.nbytes))
        work = Work("copy", reads, writes, (to, source, steps))
        work.views = own
        return work, steps
    into, outof = to._array, source._array
    called = Called("copy", lambda: np.copyto(into, outof), reads, writes, (to, source))
    called.views = own
    return called, called.steps


def _on_gpu(to: Tensor, source: Tensor) -> None:
    """A copy to, from, or within a GPU."""
    device = to.block.device
    graph = recording.get()
    if graph is None:
        source.demand_written("a copy")
    if device is None or source.block.device is None:
        refuse_recording("memory is copied between the host and a GPU", "copy before the replay: `tp.copy(x, y)`")
        if device is None:
            to.copy_from(source)
        else:
            gpu_access.send(to, source.numpy())
        return
    if not (to.is_contiguous and source.is_contiguous):
        message = "a tensor with gaps is copied within a GPU"
        cure = "copy it with a kernel: `y[i, j] = x[i, j]`"
        raise LaunchError(Diagnostic(Code.DIMENSION_DIFFERS, message, help=cure))
    if graph is None:
        gpu_access.copy(to, source)
        return
    from tileproof.backends.cuda.driver import Device

    from .cuda_graphs import CopyPart

    if device != source.block.device:
        refuse_recording("memory is copied between two GPUs", "copy before the replay")
    work = Work("copy", (source.span,), (to.span,), (to, source))
    part = CopyPart(Device(device), to.address, source.address, to.nbytes)
    is_own = not (to.block.is_shared or source.block.is_shared)
    graph.add_copy(work, part, ((to, Access.OUT), (source, Access.IN)), is_own, f"copy{list(to.shape)}")


def _demand_alike(to: Tensor, source: Tensor) -> None:
    if to.shape != source.shape or to.storage != source.storage:
        message = f"a tensor of shape {source.shape} and {source.dtype} is copied to one of {to.shape} and {to.dtype}"
        cure = "pass tensors of one shape and element type; `x[...] = value` broadcasts, a kernel converts"
        raise LaunchError(Diagnostic(Code.DIMENSION_DIFFERS, message, help=cure))
    if not to.block.is_writeable:
        message = "a copy is made into memory that is read-only"
        raise LaunchError(Diagnostic(Code.READ_ONLY, message, help="copy into a tensor of its own"))


def _demand_apart(to: Tensor, source: Tensor) -> None:
    if to.block.device == source.block.device and to.span[0] < source.span[1] and source.span[0] < to.span[1]:
        from .memory import Overlap, overlap_of

        if overlap_of(to.seen_by_launch(), source.seen_by_launch()) is not Overlap.NONE:
            message = "a tensor is copied to memory that it shares"
            raise LaunchError(Diagnostic(Code.ALIASED, message, help="copy it to other memory first"))
