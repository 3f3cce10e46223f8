"""Premises hold while a kernel runs: shared memory never supplies one.

Whatever a proof depends on (`analysis.premises`) and others could write is copied once, under the lease of the launch,
into memory of its own. Contents are measured in the copy, and the kernel reads the copy. Memory of our own that nobody
else can reach is used as it is: there the leases keep writers away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tileproof.backends.base import device_of
from tileproof.diagnostics.records import dataclass
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.types import Access

from .arguments import Bound
from .contracts import check_complete, check_contents
from .cpu_streams import caller
from .devices import Array, byte_range
from .host_arrays import plain_array
from .leases import Outdated, Span, Work
from .owned import Knowing
from .proved import Proved
from .storage import Block
from .tensors import Tensor


@dataclass(frozen=True, slots=True)
class Copy:
    """Memory of a launch's own in place of an argument."""

    tensor: TensorParameter
    original: Array
    private: Array
    span: Span
    """The bytes of the original."""

    @property
    def is_back(self) -> bool:
        """Whether the kernel writes it, so that it is copied back."""
        return self.tensor.access is Access.INOUT


def copy_for(tensor: TensorParameter, value: Any) -> Copy | None:
    """Memory for a copy of an argument, not filled yet; None for what is no array."""
    if type(value) is Tensor:
        original: Any = value.seen_by_launch()
    elif type(value) is np.ndarray:
        original = value.view()  # nobody else can change what it is a view of
    else:
        original = plain_array(value)
    if original is None:
        return None
    return Copy(tensor, original, np.empty(original.shape, original.dtype), byte_range(original))


def separate(found: Proved, signature: Signature, bound: Bound, *, all_of_them: bool = False) -> None:
    """Gives a launch memory of its own for the premises that others can write; or for all of them.

    Those that stay where they are become guards: when the launch takes its leases, nobody may have got hold of them.
    """
    bound.guards.clear()
    if not device_of(bound.device).others_write:
        return
    done = {copy.tensor.name for copy in bound.copies}
    for tensor in signature.tensors:
        if tensor.name not in found.premises or tensor.access is Access.OUT or tensor.name in done:
            continue
        own = bound.own.get(tensor.name)
        if own is not None and not all_of_them:
            version = own.block.version  # before: who gets hold of it makes another one
            if not own.block.is_shared:
                bound.guards.append((own.block, version))
                continue
        copy = copy_for(tensor, own if own is not None else bound.tensors[tensor.name])
        if copy is not None:
            bound.copies.append(copy)
            bound.own.pop(tensor.name, None)
            bound.tensors[tensor.name] = copy.private


def fill(copies: Sequence[Copy], found: Proved, signature: Signature, dimensions: Mapping[str, int]) -> None:
    """Copies the premises that a launch only reads, and looks at what index tensors among all copies hold."""
    if not copies:
        return
    with caller().doing(Work(f"what `{signature.name}` depends on", [copy.span for copy in copies], ())):
        for copy in copies:
            np.copyto(copy.private, copy.original)
    bound = Bound({copy.tensor.name: copy.private for copy in copies}, dimensions=dict(dimensions))
    check_contents(signature, bound, found.holes)
    check_complete(signature, bound, found.verdict.complete)


@contextmanager
def copied_back(copies: Sequence[Copy]) -> Iterator[None]:
    """Copies what a kernel writes in place of its arguments, there and back, while the launch has its leases.

    The entries of an index tensor were looked at before; `Outdated` if others have written them since.
    """
    back = [copy for copy in copies if copy.is_back]
    for copy in back:
        if not isinstance(copy.tensor.element, ContentOf):
            np.copyto(copy.private, copy.original)
        elif not np.array_equal(copy.private, copy.original):
            raise Outdated
    yield
    for copy in back:
        np.copyto(copy.original, copy.private)


def check_own_contents(
    found: Proved, signature: Signature, premises: Sequence[tuple[int, TensorParameter]], args: Sequence[Any],
    dimensions: Mapping[str, int],
) -> list[tuple[Block, int]]:  # fmt: skip
    """Looks at the index tensors among tensors of our own; the memory that was looked at, and its version."""
    own = {tensor.name: args[place] for place, tensor in premises if type(args[place]) is Tensor}
    known = Knowing(own)
    bound = Bound({name: tensor.seen_by_launch() for name, tensor in own.items()}, dimensions=dict(dimensions))
    check_contents(signature, bound, found.holes, known)
    check_complete(signature, bound, found.verdict.complete, known)
    return known.guards


__all__ = ["Copy", "check_own_contents", "copied_back", "copy_for", "fill", "separate"]
