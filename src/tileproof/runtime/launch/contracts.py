"""What a launch demands beyond the signature: memory of its own, contents in range, groups that divide."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import numpy as np

from tileproof.analysis.verdict import Verdict
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Label, LaunchError
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.ops import Group
from tileproof.ir.types import INDEX_LIMIT, Access
from tileproof.runtime.interop.describe import Array, host_copy
from tileproof.runtime.memory.aliasing import Overlap, overlap_of, self_overlap
from tileproof.runtime.memory.contents import Measured, Wanted, in_rows, measure

from .binding import Bound, fail

if TYPE_CHECKING:
    from tileproof.analysis.launch_guards import Compare, Fits

Known: TypeAlias = Callable[[TensorParameter, Any, Wanted], Measured]
"""What is known of the contents of an argument: remembered, or measured now."""


def measured_now(tensor: TensorParameter, array: Any, wanted: Wanted) -> Measured:
    """What the entries are at this moment."""
    return measure(host_copy(array), wanted.kind, wanted.rows)


def check_contents(
    signature: Signature, bound: Bound, read_through: Mapping[str, Span], complete: Collection[str] = (),
    known: Known = measured_now, but: Collection[str] = (),
) -> None:  # fmt: skip
    """Index tensors, `but` some, hold what their element type says.

    They hold no -1 where the kernel loads through them, nor where an `Out` is covered through them, as through those
    that are `complete`: an entry that is none would leave a place unwritten.
    """
    for tensor in signature.tensors:
        if not isinstance(tensor.element, ContentOf) or tensor.name in but or tensor.name not in bound.tensors:
            continue
        check_content(signature, tensor, bound.tensors[tensor.name], bound.dimensions, read_through, complete, known)


def check_content(
    signature: Signature, tensor: TensorParameter, array: Any, dimensions: Mapping[str, int],
    read_through: Mapping[str, Span], complete: Collection[str] = (), known: Known = measured_now,
) -> None:  # fmt: skip
    """The same of one index tensor."""
    assert isinstance(tensor.element, ContentOf)
    extent = dimensions[tensor.element.dimension]
    if tensor.access is not Access.IN and extent - 1 > np.iinfo(array.dtype).max:
        fail(
            signature,
            Code.CONTENTS,
            f"`{tensor.name}` is stored as {array.dtype}, which cannot hold every position of "
            f"{tensor.element.dimension} ({extent})",
            tensor,
            help="pass an array of int64",
        )
    if tensor.access is not Access.OUT:
        wanted = wanted_of(tensor, dimensions, read_through, complete)
        demand(signature, tensor, wanted, known(tensor, array, wanted), array, read_through.get(tensor.name))


def wanted_of(
    tensor: TensorParameter, dimensions: Mapping[str, int], read_through: Collection[str], complete: Collection[str]
) -> Wanted:
    """What a kernel demands of an index tensor."""
    content = tensor.element
    assert isinstance(content, ContentOf)
    holes_allowed = tensor.name not in read_through and tensor.name not in complete
    rows = math.prod(dimensions[name] for name in content.per)
    return Wanted(content.kind, dimensions[content.dimension], holes_allowed, content.ends_early, rows)


def demand(
    signature: Signature, tensor: TensorParameter, wanted: Wanted, measured: Measured, array: Any,
    loaded_at: Span | None = None,
) -> None:  # fmt: skip
    """Refuses a launch whose index tensor is not as wanted; unless what was measured settles it, by its entries now.

    `loaded_at` is where the kernel loads through it; without it, holes are forbidden because an `Out` is covered by it.
    """
    fault = None if measured.meets(wanted) else fault_in(host_copy(array), wanted)
    if fault is not None:
        reject(signature, tensor, wanted, fault, loaded_at)


class Wrong(Enum):
    """What can be wrong with an index tensor."""

    OUTSIDE = "an entry is no position of its dimension"
    TWICE = "two entries are the same position"
    NONE = "an entry is -1 where none may be"
    FALLS = "a border is less than the one before it"
    ENDS = "the borders do not go from 0 to the extent"
    EMPTY = "there is no border"
    CROWDED = "there are fewer positions than entries that need one"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the entries of an index tensor, and where."""

    wrong: Wrong
    places: tuple[tuple[int, ...], ...]
    """Of an entry; of both, if they are `TWICE`; of the lower border, if it `FALLS`."""
    values: tuple[int, ...]
    """Of that entry; of the borders before and at the place, or of the first and the last."""
    count: int = 1
    """How many entries are so."""
    size: int = 1
    """Of how many."""


WORDS: Final = 5
"""Of a record of what is wrong with entries; `index_kernels` says what they mean."""


def fault_in(array: Array, wanted: Wanted) -> Fault | None:
    """What is wrong with entries on the host; None if they are as wanted."""
    entries = np.array(array).reshape(-1)  # a copy: what is said of it is of one moment
    wrong = is_outside = (entries < -1) | (entries >= wanted.extent)
    other = np.arange(entries.size)
    if wanted.kind == "Offsets":
        if not entries.size:
            return incurable(wanted, array.shape)
        wrong = is_outside = np.append(False, entries[1:] < entries[:-1])
        other = np.append(entries[-1], entries[:-1])
        if not wrong.any() and (entries[0] != 0 or not wanted.is_end(entries[-1])):
            return fault_of(wanted, np.array([1, 0, 0, entries[-1], entries[0]]), array.shape)
    if wanted.kind == "Unique":
        _, first, which = np.unique(in_rows(entries, wanted.rows), return_index=True, return_inverse=True)
        other = first[which.reshape(-1)]
        wrong = wrong | ((entries >= 0) & (other != np.arange(entries.size)))
    if not wanted.holes_allowed:
        wrong = wrong | (entries == -1)
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    return fault_of(wanted, np.array([1, is_outside.sum(), at, entries[at], other[at]]), array.shape)


def fault_of(wanted: Wanted, records: Array, shape: tuple[int, ...]) -> Fault | None:
    """What is wrong with an index tensor of some shape, by the records of all its entries; None if all is well."""
    records = records.reshape(-1, WORDS)
    wrong = records[records[:, 0] != 0]
    if not len(wrong):
        return None
    _, _, at, value, other = map(int, wrong[0])
    count, size = int(records[:, 1].sum()), math.prod(shape)
    if wanted.kind == "Offsets":
        if count:
            return Fault(Wrong.FALLS, ((at,),), (other, value), count, size)
        return Fault(Wrong.ENDS, (), (other, value), 1, size)
    place, before = (tuple(map(int, np.unravel_index(min(number, size - 1), shape))) for number in (at, other))
    if value < -1 or value >= wanted.extent:
        return Fault(Wrong.OUTSIDE, (place,), (value,), count, size)
    if value == -1:
        return Fault(Wrong.NONE, (place,), (value,), 1, size)
    return Fault(Wrong.TWICE, (before, place), (value,), 1, size)


def incurable(wanted: Wanted, shape: tuple[int, ...]) -> Fault | None:
    """What is wrong with an index tensor of some shape whatever it holds, so that no copy of it is as wanted."""
    size = math.prod(shape)
    if wanted.kind == "Offsets":
        if not size:
            return Fault(Wrong.EMPTY, (), (), 0, 0)
        # One border is the first and the last at once.
        return Fault(Wrong.ENDS, (), (0, 0), 1, 1) if size == 1 and not wanted.is_end(0) else None
    least = size // max(wanted.rows, 1) if wanted.kind == "Unique" else min(size, 1)
    is_crowded = not wanted.holes_allowed and wanted.extent < least
    return Fault(Wrong.CROWDED, (), (), size, size) if is_crowded else None


def reject(
    signature: Signature, tensor: TensorParameter, wanted: Wanted, fault: Fault, loaded_at: Span | None = None
) -> NoReturn:
    """Raises what a launch says of wrong contents."""
    assert isinstance(tensor.element, ContentOf)
    name, dimension, extent = tensor.name, tensor.element.dimension, wanted.extent
    entries = [f"`{name}[{', '.join(map(str, place))}]`" for place in fault.places]
    notes: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    help = "start at 0, end at the extent, one border more than segments"
    if wanted.ends_early:
        help = "start at 0, end at the extent or before, one border more than segments"
    match fault.wrong:
        case Wrong.OUTSIDE:
            message = f"{entries[0]} is {fault.values[0]}, and {dimension} has {extent} elements"
            notes = (f"{fault.count} of {fault.size} entries {'is' if fault.count == 1 else 'are'} outside",)
            help = "entries are -1 (none) or count from 0"
        case Wrong.TWICE:
            one, two = entries
            rows = f" within each {' '.join(tensor.element.per)}" if tensor.element.per else ""
            message = f"{one} and {two} are both {fault.values[0]}, and the entries of a Unique tensor differ{rows}"
            help = "remove the duplicate, or mark it -1 (none)"
        case Wrong.NONE if loaded_at is not None:
            message = f"{entries[0]} is -1 (none), and the kernel loads through it"
            labels = (Label(loaded_at, "a load at none has no value"),)
            help = "give every entry a position, guard the load by `if e >= 0:`, or read with `x.get(index, fill)`"
        case Wrong.NONE:
            message = f"{entries[0]} is -1 (none), and an Out is to be written through all entries"
            help = "give every entry a position, or declare the output InOut to keep what is not written"
        case Wrong.FALLS:
            before, at = fault.values
            message = f"`{name}` falls from {before} to {at} at {fault.places[0][0]}, and borders never fall"
        case Wrong.ENDS:
            first, last = fault.values
            divided = "end by" if wanted.ends_early else "divide 0 to"
            message = f"`{name}` goes from {first} to {last}, and its segments {divided} {extent}"
        case Wrong.EMPTY:
            message = f"`{name}` is empty, and segments need at least one border"
        case Wrong.CROWDED:
            message = f"`{name}` has {fault.size} entries, none of them -1, and {dimension} has {extent} elements"
            help = f"pass fewer entries, or more elements of {dimension}"
    fail(signature, Code.CONTENTS, message, tensor, labels=labels, notes=notes, help=help)


def check_memory(signature: Signature, bound: Bound) -> None:
    """Raises `LaunchError` where a written argument shares memory with another, or with itself."""
    tensors = signature.tensors
    for tensor in tensors:
        if _is_written(tensor) and (reason := self_overlap(bound.tensors[tensor.name])):
            array = bound.tensors[tensor.name]
            fail(
                signature,
                Code.ALIASED,
                f"`{tensor.name}` is written, and its strides may put two of its elements in one place",
                tensor,
                label=f"declared as {tensor.access}",
                notes=(f"the array has the shape {array.shape} and the strides {array.strides} (in bytes)", reason),
                help=f"pass an array with a place for each element: a copy of `{tensor.name}`, or a new one",
            )
    for number, tensor in enumerate(tensors):
        for other in tensors[number + 1 :]:
            if _is_written(tensor) or _is_written(other):
                _check_pair(signature, bound, tensor, other)


def _check_pair(signature: Signature, bound: Bound, tensor: TensorParameter, other: TensorParameter) -> None:
    overlap = overlap_of(bound.tensors[tensor.name], bound.tensors[other.name])
    if overlap is Overlap.NONE:
        return
    written, second = (tensor, other) if _is_written(tensor) else (other, tensor)
    notes: tuple[str, ...] = ()
    verb = "share"
    if overlap is Overlap.UNKNOWN:
        verb = "may share"
        notes = ("the ranges of their addresses meet, and their strides do not show that the elements are apart",)
    if _is_written(second):
        message = f"`{tensor.name}` and `{other.name}` {verb} memory, and both are written"
        cure = f"pass an array of its own for each of `{tensor.name}` and `{other.name}`"
    else:
        message = f"`{written.name}` and `{second.name}` {verb} memory, and `{written.name}` is written"
        cure = f"pass a copy of `{second.name}`, or write an in-place kernel with one InOut for both"
    fail(
        signature,
        Code.ALIASED,
        message,
        other,
        label=f"declared as {other.access}",
        labels=(Label(tensor.span, f"declared as {tensor.access}"),),
        notes=notes,
        help=cure,
    )


def _is_written(tensor: TensorParameter) -> bool:
    return tensor.access is not Access.IN


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
    if verdict.accepted and verdict.compares:
        from .relations import check_relations  # most kernels have none

        check_relations(signature, bound, verdict.compares)


def any_looks_at_scalars(compares: Sequence[Compare | Fits]) -> bool:
    """Whether what a launch compares may depend on more than extents."""
    if not compares:
        return False
    from .relations import looks_at_scalars

    return any(looks_at_scalars(compare) for compare in compares)
