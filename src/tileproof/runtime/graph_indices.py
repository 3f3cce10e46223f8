"""Index tensors inside graphs: what an earlier launch of the graph vouches for, and copies that are tested otherwise.

What the host knows of an index tensor when a graph is recorded says nothing about its replays. So a launch is given a
copy that is made, and made harmless, on the device at every replay; what was wrong is told when the replay is done.
Where an earlier launch of the same graph writes the tensor and vouches for it, nothing has to be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.spans import Span as Place
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.dtypes import I32, I64

from . import checked_indices
from .arguments import Bound, fail
from .checked_indices import Launch
from .contracts import refuse
from .devices import Array
from .facts import Key, Measured, Wanted, key_of, minted
from .leases import Span
from .making import empty
from .owned import spans_of, vouched
from .proved import Proved
from .streams import device_name
from .tensors import Tensor

_FLAGS: Final = 512
"""Words that are made at once for what tests find."""


@dataclass(slots=True)
class Vouched:
    """What the launches of a graph, so far, vouch for."""

    known: dict[Key, Measured] = field(default_factory=dict)
    copies: dict[tuple[Key, Wanted, bool], Tensor] = field(default_factory=dict)
    """Copies that were made, and are as good as new while nobody writes what they were made of."""
    _flags: Tensor | None = None
    _taken: int = 0

    def flags(self, count: int, device: str) -> Tensor:
        """Words for what a test finds, next to those of the last one: neighbours are copied to the host together."""
        if self._flags is None or self._taken + count > self._flags.shape[0]:
            self._flags, self._taken = empty(max(count, _FLAGS), I64, device), 0
        self._taken += count
        return self._flags[self._taken - count : self._taken]

    def note(self, signature: Signature, bound: Bound, found: Proved) -> None:
        """A launch writes: what it vouches for is known, and nothing else of what it writes is."""
        _, writes = spans_of(signature, bound)
        self.touch(writes)
        for tensor, fact in _minted(signature, bound, found):
            self.known[key_of(bound.tensors[tensor.name])] = fact

    def touch(self, writes: list[Span]) -> None:
        """Something writes."""
        self.known = {key: fact for key, fact in self.known.items() if not touched(key, writes)}
        self.copies = {made: copy for made, copy in self.copies.items() if not touched(made[0], writes)}


def touched(key: Key, writes: Sequence[Span]) -> bool:
    """Whether something that writes these bytes writes a view of memory."""
    return any(low < key[1] and key[0] < high for low, high in writes)


def _minted(signature: Signature, bound: Bound, found: Proved) -> list[tuple[TensorParameter, Measured]]:
    facts = []
    for tensor in signature.tensors:
        if tensor.access is Access.OUT and isinstance(tensor.element, ContentOf) and tensor.name in vouched(found):
            extent = bound.dimensions[tensor.element.dimension]
            facts.append((tensor, minted(extent, vouched(found)[tensor.name])))
    return facts


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What a checked copy wrote down, to be looked at when a replay is done."""

    signature: Signature
    tensor: TensorParameter
    wanted: Wanted
    flags: Tensor
    shape: tuple[int, ...]
    loaded_at: Place | None

    def failure(self, flags: Array) -> BaseException | None:
        """What was wrong; `flags` are those of one replay, where others may have begun."""
        fault = checked_indices.report(self.wanted, flags, self.shape)
        if fault is None:
            return None
        try:
            refuse(self.signature, self.tensor, self.wanted, fault, self.loaded_at)
        except LaunchError as error:
            return error.with_traceback(None)


def checked(
    signature: Signature, bound: Bound, found: Proved, known: Vouched
) -> tuple[dict[str, Tensor], list[Watch], list[Launch]]:
    """The copies that a launch is to be given in place of index tensors, and the launches that make them."""
    copies: dict[str, Tensor] = {}
    watches: list[Watch] = []
    launches: list[Launch] = []
    made: list[tuple[tuple[Key, Wanted, bool], Tensor]] = []
    for tensor in signature.tensors:
        if not isinstance(tensor.element, ContentOf) or tensor.access is Access.OUT:
            continue
        if tensor.access is not Access.IN:
            fail(
                signature,
                Code.NOT_IN_GRAPH,
                f"`{tensor.name}` is an index tensor that is read and written, which a graph cannot test",
                tensor,
                help="read one tensor and write another: In and Out",
            )
        given: Any = bound.own.get(tensor.name, bound.tensors[tensor.name])
        extent = bound.dimensions[tensor.element.dimension]
        is_complete = tensor.name in found.verdict.complete
        wanted = Wanted(tensor.element.kind, extent, tensor.name not in found.holes)
        key = key_of(bound.tensors[tensor.name])
        fact = known.known.get(key)
        if fact is not None and fact.meets(wanted) and (not is_complete or fact.has_none is False):
            continue
        if (key, wanted, is_complete) in known.copies:
            copies[tensor.name] = known.copies[key, wanted, is_complete]
            continue
        impossible = checked_indices.impossible(wanted, given)
        if impossible is not None:
            refuse(signature, tensor, wanted, impossible, found.holes.get(tensor.name))
        device, needs = device_name(bound.device), checked_indices.needs(wanted, given)
        element = I32 if bound.tensors[tensor.name].itemsize == 4 else I64
        copy = copies[tensor.name] = empty(bound.tensors[tensor.name].shape, element, device)
        flags = known.flags(needs.flags, device)
        places = empty(needs.places, I32 if needs.places_dtype.itemsize == 4 else I64, device) if needs.places else None
        watches.append(Watch(signature, tensor, wanted, flags, copy.shape, found.holes.get(tensor.name)))
        launches += checked_indices.launches(wanted, given, copy, flags, places, complete=is_complete)
        made.append(((key, wanted, is_complete), copy))
    known.copies.update(made)
    return copies, watches, launches
