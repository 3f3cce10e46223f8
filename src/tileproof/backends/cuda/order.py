"""The order of accesses within one program. The law kept here: accesses to a tensor the kernel writes happen in program
order; everything else is free.

Tile IR orders memory by tokens alone. A load of a tensor that nobody writes takes no token, so it can be issued early;
neither does a tensor with a single store that never meets itself. Programs need no order between them: they touch no
common element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tileproof.ir import ops
from tileproof.ir.types import Tensor, TensorType, Tile, Walker
from tileproof.ir.types import Value as IrValue
from tileproof.ir.walk import walk

from .tileir.builder import Builder
from .tileir.types import Value


@dataclass(slots=True)
class Chain:
    """What a later access to a tensor must wait for."""

    store: Value | None = None
    """The last write; reads wait for it."""
    since: list[Value] = field(default_factory=list)
    """The reads since; the next write waits for them too."""


@dataclass
class Order:
    """The tokens of one entry."""

    b: Builder
    roots: dict[Tensor, Tensor]
    """The tensors whose accesses are ordered, and the parameter each belongs to."""
    chains: dict[Tensor, Chain] = field(default_factory=dict)
    wait: Value | None = None
    """What every access comes after, if the kernel waits for the one ahead of it."""
    frozen: frozenset[Tensor] = frozenset()
    """The tensors that may be read before that."""

    def before_load(self, tensor: Tensor) -> Value | None:
        root = self.roots.get(tensor)
        if root is None:
            return None if tensor in self.frozen else self.wait
        return self._chain(root).store

    def after_load(self, tensor: Tensor, token: Value) -> None:
        root = self.roots.get(tensor)
        if root is not None:
            self._chain(root).since.append(token)

    def before_store(self, tensor: Tensor) -> Value | None:
        root = self.roots.get(tensor)
        if root is None:
            return self.wait
        chain = self._chain(root)
        return self._joined([*([] if chain.store is None else [chain.store]), *chain.since])

    def after_store(self, tensor: Tensor, token: Value) -> None:
        root = self.roots.get(tensor)
        if root is not None:
            self.chains[root] = Chain(token)

    # Regions hand tokens in and out.

    def touched(self, blocks: Sequence[ops.Block]) -> list[Tensor]:
        """The ordered tensors that blocks access."""
        found: dict[Tensor, None] = {}
        for block in blocks:
            for op in walk(block):
                if isinstance(op, ops.Load | ops.Get | ops.Store | ops.Update) and op.tensor in self.roots:
                    found[self.roots[op.tensor]] = None
        return list(found)

    def handed(self, tensors: Sequence[Tensor]) -> list[Value]:
        """Two tokens for each tensor: its last write, and everything so far."""
        found = []
        for tensor in tensors:
            chain = self._chain(tensor)
            store = chain.store or self.b.make_token()
            found += [store, self._joined([store, *chain.since]) or store]
        return found

    def take(self, tensors: Sequence[Tensor], tokens: Sequence[Value]) -> None:
        """Goes on from tokens that a region was handed or handed out."""
        for number, tensor in enumerate(tensors):
            self.chains[tensor] = Chain(tokens[2 * number], [tokens[2 * number + 1]])

    def saved(self) -> dict[Tensor, Chain]:
        return {tensor: Chain(chain.store, list(chain.since)) for tensor, chain in self.chains.items()}

    def _chain(self, root: Tensor) -> Chain:
        return self.chains.setdefault(root, Chain(self.wait))

    def _joined(self, tokens: list[Value]) -> Value | None:
        different = list(dict.fromkeys(tokens))
        if len(different) > 1:
            return self.b.join_tokens(different)
        return different[0] if different else None


def ordered(kernel: ops.KernelIR, *, combined: bool) -> dict[Tensor, Tensor]:
    """The tensors whose accesses need an order, each with the parameter whose memory it is.

    Updates meet in any order, unless `combined` says that theirs counts too.
    """
    belongs: dict[Tensor, Tensor] = {}
    free: set[Tensor] = set()
    for parameter in kernel.parameters:
        match parameter.value:
            case IrValue(type=TensorType()) as tensor:
                belongs[tensor] = tensor
    sites: dict[Tensor, list[tuple[ops.AnyOp, tuple[ops.AnyOp, ...]]]] = {}
    for op, loops in _accesses(kernel.body, ()):
        match op:
            case ops.SplitAt(past=past, fresh=fresh, tensor=tensor):
                # What lies before the cut is only read, and what lies behind it is another part of memory. A program
                # that is alone may have written to it before it was cut.
                belongs[past] = belongs[fresh] = belongs[tensor]
                if not any(isinstance(earlier, ops.Store) for earlier, _ in sites.get(belongs[tensor], ())):
                    free.add(past)
            case ops.Load(tensor=tensor) | ops.Get(tensor=tensor) | ops.Store(tensor=tensor):
                if tensor not in free:
                    sites.setdefault(belongs[tensor], []).append((op, loops))
            case _:
                pass
    needed = {root for root, found in sites.items() if _needs_order(found)}
    if combined:
        needed |= {tensor for tensor in belongs if tensor.type.access.combines}
    return {tensor: root for tensor, root in belongs.items() if root in needed and tensor not in free}


def _accesses(
    block: ops.Block, loops: tuple[ops.AnyOp, ...]
) -> Iterator[tuple[ops.AnyOp, tuple[ops.AnyOp, ...]]]:
    for op in block.ops:
        yield op, loops
        inside = (*loops, op) if isinstance(op, ops.TilesLoop | ops.RangeLoop | ops.While) else loops
        for inner in ops.blocks(op):
            yield from _accesses(inner, inside)


def _needs_order(sites: list[tuple[ops.AnyOp, tuple[ops.AnyOp, ...]]]) -> bool:
    stores = [(op, loops) for op, loops in sites if isinstance(op, ops.Store)]
    if not stores:
        return False
    if len(sites) > 1:
        return True
    store, loops = stores[0]
    assert isinstance(store, ops.Store)
    return not all(_moves(store, loop) for loop in loops)


def _moves(store: ops.Store, loop: ops.AnyOp) -> bool:
    """Whether each turn of a loop stores elsewhere, because the loop's own walker or variable picks the place."""
    moving: Walker | Tile
    match loop:
        case ops.TilesLoop(walker=walker):
            moving = walker
        case ops.RangeLoop(variable=variable):
            moving = variable
        case _:
            return False
    for pick in store.picks:
        match pick:
            case ops.Along(walker) if walker is moving:
                return True
            case ops.At(index) if index is moving:
                return True
            case _:
                pass
    return False
