"""What a launch demands beyond the signature: memory that is not shared, contents in range, groups that divide."""

from __future__ import annotations

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic, Label
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.spans import Span
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.ops import Get, Group, KernelIR, Load, blocks, operands, results
from tileproof.ir.types import Access, AnyValue, TileType
from tileproof.ir.walk import walk
from tileproof.language.dtypes import ENTRY

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
                f"`{tensor.name}` is written, and its strides let several elements share one place in memory",
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


def check_contents(signature: Signature, bound: Bound, kernel: KernelIR) -> None:
    """Index tensors hold what their element type says, and no -1 where the kernel loads through them."""
    read_through = holes_matter(kernel)
    for tensor in signature.tensors:
        if not isinstance(tensor.element, ContentOf):
            continue
        array, extent = bound.tensors[tensor.name], bound.dimensions[tensor.element.dimension]
        if tensor.element.kind == "Offsets":
            _check_offsets(signature, tensor, array, extent)
            continue
        _check_range(signature, tensor, tensor.element.dimension, array, extent)
        if tensor.element.kind == "Unique":
            _check_unique(signature, tensor, array)
        if tensor.name in read_through and (array == -1).any():
            place = _shown(array == -1)
            fail(
                signature,
                Code.CONTENTS,
                f"`{tensor.name}[{place}]` is -1 (none), and the kernel loads through it",
                tensor,
                labels=(Label(read_through[tensor.name], "a load at none has no value"),),
                help="give every entry a position, or read with `x.get(index, fill)`",
            )


def _check_range(signature: Signature, tensor: TensorParameter, dimension: str, array: Array, extent: int) -> None:
    wrong = (array < -1) | (array >= extent)
    if wrong.any():
        fail(
            signature,
            Code.CONTENTS,
            f"`{tensor.name}[{_shown(wrong)}]` is {array[_first(wrong)]}, and {dimension} has {extent} elements",
            tensor,
            notes=(f"{int(wrong.sum())} of {array.size} entries {'is' if wrong.sum() == 1 else 'are'} outside",),
            help="entries are -1 (none) or count from 0",
        )


def _check_unique(signature: Signature, tensor: TensorParameter, array: Array) -> None:
    entries = array.ravel()
    values, counts = np.unique(entries[entries >= 0], return_counts=True)
    if (counts > 1).any():
        value = values[np.argmax(counts > 1)]
        places = [tuple(map(int, place)) for place in np.argwhere(array == value)[:2]]
        one, two = (f"`{tensor.name}[{', '.join(map(str, place))}]`" for place in places)
        fail(
            signature,
            Code.CONTENTS,
            f"{one} and {two} are both {value}, and the entries of a Unique tensor differ",
            tensor,
            help="remove the duplicate, or mark it -1 (none)",
        )


def _check_offsets(signature: Signature, tensor: TensorParameter, array: Array, extent: int) -> None:
    ends = array.size >= 1 and array[0] == 0 and array[-1] == extent
    falls = array[1:] < array[:-1]
    if ends and not falls.any():
        return
    if not array.size:
        message = f"`{tensor.name}` is empty, and segments need at least one border"
    elif falls.any():
        at = int(np.argmax(falls))
        message = f"`{tensor.name}` falls from {array[at]} to {array[at + 1]} at {at + 1}, and borders never fall"
    else:
        message = f"`{tensor.name}` goes from {array[0]} to {array[-1]}, and its segments divide 0 to {extent}"
    fail(signature, Code.CONTENTS, message, tensor, help="start at 0, end at the extent, one border more than segments")


def _first(wrong: Array) -> tuple[int, ...]:
    return tuple(int(position) for position in np.argwhere(wrong)[0])


def _shown(wrong: Array) -> str:
    return ", ".join(map(str, _first(wrong)))


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


def holes_matter(kernel: KernelIR) -> dict[str, Span]:
    """The index tensors whose entries a plain load goes through, and where: these may hold no -1."""
    sources: dict[AnyValue, tuple[AnyValue, ...]] = {}
    loaded: dict[AnyValue, str] = {}
    for op in walk(kernel.body):
        yields = tuple(value for block in blocks(op) for value in block.yields)
        for result in results(op):
            sources[result] = (*operands(op), *yields)
        for carried in getattr(op, "carried", ()):
            sources[carried] = (*operands(op), *yields)
        if isinstance(op, Load | Get):
            loaded[op.result] = op.tensor.name
    found: dict[str, Span] = {}
    for op in walk(kernel.body):
        if not isinstance(op, Load):
            continue
        pending: list[AnyValue] = [value for value in operands(op) if _is_entry(value)]
        seen: set[AnyValue] = set()
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                if value in loaded:
                    found.setdefault(loaded[value], op.span)
                else:
                    pending.extend(one for one in sources.get(value, ()) if _is_entry(one))
    return found


def _is_entry(value: AnyValue) -> bool:
    return isinstance(value.type, TileType) and value.type.dtype is ENTRY
