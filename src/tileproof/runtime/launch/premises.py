"""Premises hold while a kernel runs: shared memory never supplies one.

Whatever a proof depends on (`analysis.premise_tensors`) and others could write is copied once, under the lease of the
launch, into memory of its own. Contents are measured in the copy, and the kernel reads the copy. Memory of our own that
nobody else can reach is used as it is: there the leases keep writers away.

What memory holds when a graph is recorded says nothing about its replays. So a graph makes the copies at every replay,
and of an index tensor one that is tested on the device and harmless whatever the tensor holds (`index_kernels`). Where
an earlier launch of the graph writes the tensor and vouches for it, there is nothing to test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from tileproof.backends.base import device_of
from tileproof.compiler.proved import Proved, signature_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span as Place
from tileproof.frontend.signature import ContentOf, Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.dtypes import I64
from tileproof.runtime.interop.describe import Array, byte_range, plain_array
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.contents import Key, Measured, Wanted, key_of
from tileproof.runtime.memory.ledger import Outdated, Span, Work, ledger_of
from tileproof.runtime.stream.cpu_streams import caller
from tileproof.runtime.tensor.creation import empty, over
from tileproof.runtime.tensor.tensors import Tensor

from .binding import Bound, fail
from .contracts import check_content, check_contents, fault_of, incurable, reject, wanted_of
from .index_kernels import Launch, copied, words_for
from .owned import Knowing, proved_contents

_SMALL: Final = 1 << 16
"""Bytes that are copied in less time than it takes to take leases."""


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


def separate(proved: Proved, signature: Signature, bound: Bound, *, all_of_them: bool = False) -> None:
    """Gives a launch memory of its own for the premises that others can write; or for all of them.

    Those that stay where they are become guards: when the launch takes its leases, nobody may have got hold of them.
    """
    bound.guards.clear()
    if not device_of(bound.device).others_write:
        return
    done = {copy.tensor.name for copy in bound.copies}
    for tensor in signature.tensors:
        if tensor.name not in proved.premises or tensor.access is Access.OUT or tensor.name in done:
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


def fill(copies: Sequence[Copy], proved: Proved, signature: Signature, dimensions: Mapping[str, int]) -> None:
    """Copies the premises that a launch only reads, and looks at what index tensors among all copies hold."""
    if not copies:
        return
    if not _filled_now(copies):
        caller().run(
            Work(f"what `{signature.name}` depends on", [copy.span for copy in copies], ()), lambda _: _copy_all(copies)
        )
    for copy in copies:
        if isinstance(copy.tensor.element, ContentOf):
            check_content(signature, copy.tensor, copy.private, dimensions, proved.holes, proved.verdict.complete)


def _filled_now(copies: Sequence[Copy]) -> bool:
    """Copies a few premises while nothing is under way, which takes less than to take leases."""
    if sum(copy.private.nbytes for copy in copies) > _SMALL:
        return False
    ledger = ledger_of(None)
    ledger.demand_free()
    with ledger.lock, ledger.door:
        if not ledger.is_quiet:
            return False
        _copy_all(copies)
    return True


def _copy_all(copies: Sequence[Copy]) -> None:
    for copy in copies:
        np.copyto(copy.private, copy.original)


def bring(copies: Sequence[Copy]) -> None:
    """Copies what a kernel reads and writes in place of its arguments, while the launch has its leases.

    The entries of an index tensor were looked at before; `Outdated` if others have written them since.
    """
    for copy in copies:
        if copy.is_back and not isinstance(copy.tensor.element, ContentOf):
            np.copyto(copy.private, copy.original)
        elif copy.is_back and not np.array_equal(copy.private, copy.original):
            raise Outdated


def bring_back(copies: Sequence[Copy]) -> None:
    """Copies what the kernel wrote to where the caller looks for it."""
    for copy in copies:
        if copy.is_back:
            np.copyto(copy.original, copy.private)


def check_own_contents(
    proved: Proved, signature: Signature, premises: Sequence[tuple[int, TensorParameter]], args: Sequence[Any],
    dimensions: Mapping[str, int],
) -> list[tuple[Block, int]]:  # fmt: skip
    """Looks at the index tensors among tensors of our own; the memory that was looked at, and its version."""
    own = {tensor.name: args[place] for place, tensor in premises if type(args[place]) is Tensor}
    known = Knowing(own)
    bound = Bound({name: tensor.seen_by_launch() for name, tensor in own.items()}, dimensions=dict(dimensions))
    check_contents(signature, bound, proved.holes, proved.verdict.complete, known)
    return known.guards


# In graphs.

_FLAGS: Final = 512
"""Words that are made at once for what tests find."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What the test of an index tensor wrote down, to be looked at when a replay is done."""

    signature: Signature
    tensor: TensorParameter
    wanted: Wanted
    flags: Tensor
    shape: tuple[int, ...]
    loaded_at: Place | None

    def failure(self, flags: Array) -> BaseException | None:
        """What was wrong; `flags` are those of one replay, where others may have begun."""
        fault = fault_of(self.wanted, flags, self.shape)
        if fault is None:
            return None
        try:
            reject(self.signature, self.tensor, self.wanted, fault, self.loaded_at)
        except LaunchError as error:
            return error.with_traceback(None)


@dataclass(slots=True)
class Separated:
    """What makes, at every replay, the memory that a launch of a graph has in place of its premises."""

    known: dict[tuple[Key, Wanted | None, bool], Tensor]
    """Copies that were made, and are as good as new while nobody writes what they were made of."""
    copies: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    """Plain copies, to and from; they come first."""
    launches: list[Launch] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)


class GraphPremises:
    """What the launches of a graph, so far, depend on, and the memory of the graph's own where they find it."""

    def __init__(self, *, trusts: bool) -> None:
        self.trusts = trusts
        """Whether premises in memory of our own that nobody else can reach are read where they lie."""
        self.trusted: dict[Block, None] = {}
        """Such memory, as long as nobody else can reach it."""
        self.watches: list[Watch] = []
        self._known: dict[Key, Measured] = {}
        """What earlier launches vouch for."""
        self._copies: dict[tuple[Key, Wanted | None, bool], Tensor] = {}
        self._flags: Tensor | None = None
        self._taken = 0

    def separate(self, proved: Proved, bound: Bound) -> Separated:
        """Gives a launch memory of the graph's own for the premises that others can write, and for index tensors."""
        separated = Separated(dict(self._copies))
        for tensor in signature_of(proved).tensors:
            is_index = isinstance(tensor.element, ContentOf)
            if tensor.access is Access.OUT or not (is_index or tensor.name in proved.premises):
                continue
            array, own = bound.tensors[tensor.name], bound.own.get(tensor.name)
            original, key = over(array) if own is None else own, key_of(array)
            is_trusted = not device_of(bound.device).others_write or self._trusts(own)
            if tensor.access is not Access.IN and (is_index or not is_trusted):
                _reject_written(proved, tensor, is_index=is_index)
            source = original if is_trusted else self._copied(original, key, separated)
            if is_index:
                fact = self._known.get(key) if is_trusted else None
                source = self._tested(proved, bound, tensor, source, key, fact, separated)
            if source is not original:
                bound.own[tensor.name], bound.tensors[tensor.name] = source, source.seen_by_launch()
        self._copies = separated.known  # not before: where a launch is rejected, nothing is copied for it
        self.watches += separated.watches
        return separated

    def note(self, proved: Proved, bound: Bound, writes: Sequence[Span]) -> None:
        """A launch writes: what it vouches for is known, and nothing else of what it writes is."""
        self.touch(writes)
        for tensor, fact in proved_contents(proved, bound, bound.tensors):
            self._known[key_of(bound.tensors[tensor.name])] = fact

    def touch(self, writes: Sequence[Span]) -> None:
        """Something writes."""

        def is_kept(key: Key) -> bool:
            return not any(low < key[1] and key[0] < high for low, high in writes)

        self._known = {key: fact for key, fact in self._known.items() if is_kept(key)}
        self._copies = {of: copy for of, copy in self._copies.items() if is_kept(of[0])}

    def _trusts(self, own: Tensor | None) -> bool:
        if own is None or own.block.is_shared or not self.trusts:
            return False
        self.trusted[own.block] = None
        return True

    def _copied(self, source: Tensor, key: Key, separated: Separated) -> Tensor:
        """A copy as it is."""
        name = key, None, False
        if name not in separated.known:
            copy = separated.known[name] = empty(source.shape, source.dtype, source.device)
            separated.copies.append((copy, source))
        return separated.known[name]

    def _tested(
        self, proved: Proved, bound: Bound, tensor: TensorParameter, source: Tensor, key: Key, fact: Measured | None,
        separated: Separated,
    ) -> Tensor:  # fmt: skip
        """A copy of an index tensor that is tested; the tensor itself if there is nothing to test."""
        assert isinstance(tensor.element, ContentOf)
        signature, loaded_at = signature_of(proved), proved.holes.get(tensor.name)
        wanted = wanted_of(tensor, bound.dimensions, proved.holes, proved.verdict.complete)
        if (fact is not None and fact.meets(wanted)) or (not source.size and wanted.kind != "Offsets"):
            return source
        name = key, wanted, loaded_at is not None
        if name not in separated.known:
            fault = incurable(wanted, source.shape)
            if fault is not None:
                reject(signature, tensor, wanted, fault, loaded_at)
            if bound.device is None and not source.is_contiguous:
                source = self._copied(source, key, separated)
            flags = self._words(words_for(wanted, source.size), source.device)
            copy, launches = copied(wanted, source, flags, is_loaded=loaded_at is not None)
            separated.known[name] = copy
            separated.launches += launches
            separated.watches.append(Watch(signature, tensor, wanted, flags, copy.shape, loaded_at))
        return separated.known[name]

    def _words(self, count: int, device: str) -> Tensor:
        """Words for what a test finds, next to those of the last one: neighbours are copied to the host together."""
        if self._flags is None or self._taken + count > self._flags.shape[0]:
            self._flags, self._taken = empty(max(count, _FLAGS), I64, device), 0
        self._taken += count
        return self._flags[self._taken - count : self._taken]


def _reject_written(proved: Proved, tensor: TensorParameter, *, is_index: bool) -> None:
    """Refuses a premise that is read and written, where a graph would have to replace it."""
    message = f"`{tensor.name}` is an index tensor that is read and written, which a graph cannot test"
    cure = "read one tensor and write another: In and Out"
    if not is_index:
        message = (
            f"`{tensor.name}` decides which memory `{proved.kernel.name}` touches, and is read and written where "
            "others can write it, too"
        )
        cure = "use a tensor of tileproof, and drop views of it (`x.numpy()`) before the replay"
    fail(signature_of(proved), Code.NOT_IN_GRAPH, message, tensor, help=cure)


__all__ = [
    "Copy", "GraphPremises", "Watch", "bring", "bring_back", "check_own_contents", "copy_for", "fill", "separate",
]  # fmt: skip
