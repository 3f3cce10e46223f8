"""What a launch owes to tensors of our own, and what it may take from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from tileproof.compiler.proved import Proved, signature_of
from tileproof.diagnostics.codes import Code
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.kernel import Memo
from tileproof.runtime.interop.describe import Described, byte_range, host_copy
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.contents import Measured, Wanted, contents_of_output, key_of, measure
from tileproof.runtime.memory.ledger import Outdated, Span, Work, ledger_of, raise_again
from tileproof.runtime.tensor.tensors import Tensor

from .binding import Bound, fail
from .contracts import measured_now


def check_own(signature: Signature, bound: Bound) -> None:
    """What is read was written, and by nothing that failed."""
    for tensor in signature.tensors:
        own = bound.own.get(tensor.name)
        if own is None:
            continue
        if tensor.is_read:
            if not own.is_initialised:
                fail(
                    signature,
                    Code.UNINITIALISED,
                    f"`{tensor.name}` is read, and not all of it was ever written",
                    tensor,
                    label=f"declared as {tensor.access}",
                    help=f"fill it first: `{tensor.name}[...] = 0`, or make it by `tp.zeros`",
                )
            ledger = ledger_of(own.block.device)
            error = ledger.known_poison(own.span)
            if error is not None:
                ledger.mark_reported(error)
                raise_again(error)


class Knowing:
    """What is known of contents: of tensors of our own it is remembered until they are written.

    `guards` is the memory that was relied on, with its version: a launch that takes its leases while these hold reads
    what was looked at.
    """

    def __init__(self, own: Mapping[str, Tensor]) -> None:
        self.own = own
        self.guards: list[tuple[Block, int]] = []

    def __call__(self, tensor: TensorParameter, array: Any, wanted: Wanted) -> Measured:
        owner = self.own.get(tensor.name)
        if owner is None:
            if isinstance(array, Described):
                # Work of ours on another stream may be about to write the entries: this launch comes after it.
                ledger_of(array.device).wait_for_host(byte_range(array), writing=False)
            return measured_now(tensor, array, wanted)
        block, key = owner.block, key_of(array)
        version, was_shared = block.version, block.is_shared
        self.guards.append((block, version))
        measured = None if was_shared else block.facts.lookup(version, key, wanted)
        if measured is None or not measured.meets(wanted):
            # The entries are looked at, so whoever writes them is waited for.
            ledger_of(block.device).wait_for_host(owner.span, writing=False)
            measured = measure(host_copy(array), wanted.kind, wanted.rows)
            if block.version != version:
                raise Outdated  # work that came meanwhile may have written half of what was looked at
            if not (was_shared or block.is_shared):
                block.facts.remember(version, key, measured)
        return measured


def spans_of(signature: Signature, bound: Bound) -> tuple[list[Span], list[Span]]:
    """The bytes that a launch reads, and those that it writes."""
    reads, writes = [], []
    for tensor in signature.tensors:
        own = bound.own.get(tensor.name)
        span = byte_range(bound.tensors[tensor.name]) if own is None else own.span
        if tensor.is_read:
            reads.append(span)
        if tensor.access is not Access.IN:
            writes.append(span)
    for copy in bound.copies:
        if copy.is_back:  # others are read before, under a lease of their own
            reads.append(copy.span)
            writes.append(copy.span)
    return reads, writes


def work_of(signature: Signature, bound: Bound, keep: object) -> Work:
    """A launch as work."""
    work = Work(signature.name, *spans_of(signature, bound), keep)
    work.guards = bound.guards
    written = [bound.own[t.name] for t in signature.tensors if t.name in bound.own and t.access is not Access.IN]
    work.views = [tensor for tensor in written if tensor.block.is_owned]
    return work


def note_writes(signature: Signature, bound: Bound, proved: Proved) -> None:
    """Writes down what a launch that was just given to a stream will have done to tensors of our own."""
    for tensor in signature.tensors:
        own = bound.own.get(tensor.name)
        if own is None or tensor.access is Access.IN:
            continue
        own.note_write()
    unshared = [name for name, own in bound.own.items() if not own.block.is_shared]
    for tensor, fact in proved_contents(proved, bound, unshared):
        block = bound.own[tensor.name].block
        block.facts.remember(block.version, key_of(bound.tensors[tensor.name]), fact)


def proved_contents(proved: Proved, bound: Bound, among: Collection[str]) -> Iterator[tuple[TensorParameter, Measured]]:
    """The index tensors of `among` that a launch writes with entries proved to be in range, each with that range."""
    for tensor in signature_of(proved).tensors:
        element = tensor.element
        if tensor.access is not Access.OUT or not isinstance(element, ContentOf) or tensor.name not in among:
            continue
        if tensor.name in vouched(proved):
            yield tensor, contents_of_output(bound.dimensions[element.dimension], vouched(proved)[tensor.name])


_vouched: Final = Memo[list[dict[str, bool | None]]](list)


def vouched(proved: Proved) -> dict[str, bool | None]:
    """The index tensors whose entries the kernel vouches for; none while a check could stop it halfway."""
    known = _vouched.of(proved)
    if not known:
        from tileproof.analysis.index_entries import proved_entries  # the prover, which most launches do without

        has_checks = proved.ready is not proved.ir and any_check(proved)
        known.append({} if has_checks else proved_entries(proved.ir))
    return known[0]


def any_check(proved: Proved) -> bool:
    """Whether a check of the kernel can fail at run time."""
    from tileproof.ir.ops import Check
    from tileproof.ir.walk import walk

    return any(isinstance(op, Check) for op in walk(proved.ready.body))


def is_own(bound: Bound) -> bool:
    """Whether nobody else can reach the memory of a launch, so that it may be in flight."""
    return len(bound.own) == len(bound.tensors) and not any(own.block.is_shared for own in bound.own.values())
