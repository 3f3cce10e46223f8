"""What a launch demands beyond the signature: memory that is not shared, contents in range, groups that divide."""

from __future__ import annotations

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic, Label
from tileproof.diagnostics.errors import LaunchError
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.ops import Group, KernelIR
from tileproof.ir.types import Access
from tileproof.ir.walk import walk

from .arguments import Array, Bound, fail

_OVERLAP_WORK = 10_000


def check_memory(signature: Signature, bound: Bound) -> None:
    """A written argument shares memory with no other, nor one of its elements with another of its own."""
    tensors = signature.tensors
    for number, tensor in enumerate(tensors):
        array = bound.tensors[tensor.name]
        if _is_written(tensor) and _overlaps_itself(array):
            fail(
                signature,
                Code.ALIASED,
                f"`{tensor.name}` is written, and several of its elements share one place in memory",
                tensor,
                notes=(f"the array has the shape {array.shape} and the strides {array.strides} (in bytes)",),
                help="pass an array with memory of its own, for instance a copy",
            )
        for other in tensors[number + 1 :]:
            if (_is_written(tensor) or _is_written(other)) and _share(array, bound.tensors[other.name]):
                fail(
                    signature,
                    Code.ALIASED,
                    f"`{tensor.name}` and `{other.name}` share memory, and one of them is written",
                    other,
                    labels=(Label(tensor.span, f"declared as {tensor.access}"),),
                    label=f"declared as {other.access}",
                    help="pass a copy of one of them, or write an in-place kernel with one InOut",
                )


def _is_written(tensor: TensorParameter) -> bool:
    return tensor.access is not Access.IN


def _share(left: Array, right: Array) -> bool:
    if not np.may_share_memory(left, right):
        return False
    try:
        return bool(np.shares_memory(left, right, max_work=_OVERLAP_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(array: Array) -> bool:
    """Whether two indices may mean one place: strides sorted, each must pass over all that smaller ones reach."""
    if array.size <= 1:
        return False
    reach = array.itemsize
    for stride, extent in sorted(
        (abs(stride), extent) for stride, extent in zip(array.strides, array.shape, strict=True)
    ):
        if extent > 1:
            if stride < reach:
                return True
            reach += stride * (extent - 1)
    return False


def check_contents(signature: Signature, bound: Bound) -> None:
    """Every entry of an index tensor is -1 or inside its dimension."""
    for tensor in signature.tensors:
        if not isinstance(tensor.element, ContentOf):
            continue
        array, extent = bound.tensors[tensor.name], bound.dimensions[tensor.element.dimension]
        wrong = (array < -1) | (array >= extent)
        if wrong.any():
            place = tuple(int(position) for position in np.argwhere(wrong)[0])
            shown = ", ".join(map(str, place))
            fail(
                signature,
                Code.CONTENTS,
                f"`{tensor.name}[{shown}]` is {array[place]}, and {tensor.element.dimension} has {extent} elements",
                tensor,
                notes=(f"{int(wrong.sum())} of {array.size} entries are outside",),
                help="entries are -1 (none) or count from 0",
            )


def check_groups(kernel: KernelIR, bound: Bound) -> None:
    """`tp.group` cuts a dimension into equal runs, so its extent is a multiple of the number of groups."""
    for op in walk(kernel.body):
        if not isinstance(op, Group):
            continue
        extent, groups = bound.dimensions[op.dimension], bound.dimensions[op.into]
        if groups < 1 or extent % groups:
            raise LaunchError(
                Diagnostic(
                    Code.CONTRACT,
                    f"tp.group needs {op.dimension} to be a multiple of {op.into}, and they are {extent} and {groups}",
                    op.span,
                    help=f"pass arguments where {op.into} divides {op.dimension}",
                    kernel=kernel.name,
                )
            )

