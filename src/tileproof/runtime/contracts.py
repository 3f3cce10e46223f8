"""What a launch demands beyond the signature: contents in range, groups that divide. `memory` has the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileproof.analysis.ranges import INDEX_LIMIT
from tileproof.analysis.terms import AxisExtent, DimensionExtent, Scalar
from tileproof.analysis.verdict import Compare, Fits, Verdict
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic, Label
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.spans import Span
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.ops import Group
from tileproof.ir.types import Access

from .arguments import Bound, fail
from .devices import Array, host_copy


def check_contents(signature: Signature, bound: Bound, read_through: Mapping[str, Span]) -> None:
    """Index tensors hold what their element type says, and no -1 where the kernel loads through them."""
    for tensor in signature.tensors:
        if not isinstance(tensor.element, ContentOf):
            continue
        array, extent = bound.tensors[tensor.name], bound.dimensions[tensor.element.dimension]
        if tensor.access is not Access.IN and extent - 1 > np.iinfo(array.dtype).max:
            fail(
                signature,
                Code.CONTENTS,
                f"`{tensor.name}` is stored as {array.dtype}, which cannot hold every position of "
                f"{tensor.element.dimension} ({extent})",
                tensor,
                help="pass an array of int64",
            )
        if tensor.access is Access.OUT:
            continue
        array = host_copy(array)
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


def check_complete(signature: Signature, bound: Bound, complete: Sequence[str]) -> None:
    """No -1 where an `Out` is covered through an index tensor: an entry that is none would leave a place unwritten."""
    for tensor in signature.tensors:
        if tensor.name not in complete:
            continue
        array = host_copy(bound.tensors[tensor.name])
        if (array == -1).any():
            fail(
                signature,
                Code.CONTENTS,
                f"`{tensor.name}[{_shown(array == -1)}]` is -1 (none), and an Out is to be written through all entries",
                tensor,
                help="give every entry a position, or declare the output InOut to keep what is not written",
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


def check_groups(signature: Signature, bound: Bound, groups: Sequence[Group]) -> None:
    """`tp.group` cuts a dimension into equal runs, so its extent is a multiple of the number of groups."""
    for op in groups:
        extent, into = bound.dimensions[op.dimension], bound.dimensions[op.into]
        if into < 1 or extent % into:
            raise LaunchError(
                Diagnostic(
                    Code.CONTRACT,
                    f"tp.group needs {op.dimension} to be a multiple of {op.into}, and they are {extent} and {into}",
                    op.span,
                    help=f"pass arguments where {op.into} divides {op.dimension}",
                    kernel=signature.name,
                )
            )


def check_compares(signature: Signature, bound: Bound, verdict: Verdict) -> None:
    """What the checker left to be compared at launch: relations of extents and scalars."""

    def known(atom: DimensionExtent | AxisExtent | Scalar) -> int:
        match atom:
            case DimensionExtent(name):
                return bound.dimensions[name]
            case AxisExtent(tensor, axis):
                return int(bound.tensors[tensor].shape[axis])
            case Scalar(name):
                return int(bound.scalars[name])

    axes = [(f"axis {axis} of {name}", extent) for name, array in bound.tensors.items()
            for axis, extent in enumerate(array.shape)]  # fmt: skip
    for name, extent in (*bound.dimensions.items(), *axes):
        if extent >= INDEX_LIMIT:
            fail(
                signature,
                Code.CONTRACT,
                f"{name} has {extent} elements, and no dimension may have 2**48 or more",
                help="pass smaller arrays; one this long has no elements in memory anyway",
            )
    if not verdict.accepted:
        return
    for compare in verdict.compares:
        if compare.holds(known):
            continue
        match compare:
            case Compare(demand=demand, span=span, why=why):
                message, label = f"{signature.name} needs {demand}", f"so that {why} is right"
                help = "pass arguments that meet it, or guard the access with `if`"
            case Fits(span=span):
                message, label = f"{signature.name} computes an index that does not fit 64 bits", "for these sizes"
                help = "if it is not a position, compute it in a type that wraps: .to(i64)"
        sizes = ", ".join(f"{name}={extent}" for name, extent in (*bound.dimensions.items(), *bound.scalars.items()))
        raise LaunchError(
            Diagnostic(Code.CONTRACT, message, span, label, (), (f"with {sizes}",), help, kernel=signature.name)
        )
