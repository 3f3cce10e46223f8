"""The order of accesses within one program. The law kept here: accesses to a tensor the kernel writes happen in program
order; everything else is free.

Tile IR orders memory by tokens alone. A load of a tensor that nobody writes takes no token, so it can be issued early;
neither does a tensor with a single store that never meets itself. Programs need no order between them: they touch no
common element.

Kernels that begin before the one ahead of them on their stream has ended (programmatic dependent launch). The law kept
here: nothing but reads of *frozen* tensors, which the kernel ahead does not write, happens before that kernel has
ended, on any path. Each entry waits for that once, and every other access, a failed check's report too, is ordered
behind its token: where an operation stands orders nothing. Right behind the wait the kernel lets the next one begin.
That one waits in its turn until this one has ended, so at most two are under way at a time, and what the kernel before
both of them wrote can be seen by either, before its wait too.

The wait ends at once where a launch was not made dependent: such code runs in any launch, frozen tensors or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import TOKEN, Block, Entry, Op, Value
from tileproof.ir import ops
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import Access, AnyValue, Tensor, TensorType, Tile, Walker
from tileproof.ir.types import Tile as IrTile
from tileproof.ir.types import Value as IrValue
from tileproof.ir.walk import walk


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
        tensors: dict[Tensor, None] = {}
        for block in blocks:
            for op in walk(block):
                if isinstance(op, ops.Load | ops.Get | ops.Store | ops.Update) and op.tensor in self.roots:
                    tensors[self.roots[op.tensor]] = None
        return list(tensors)

    def handed(self, tensors: Sequence[Tensor]) -> list[Value]:
        """Two tokens for each tensor: its last write, and everything so far."""
        tokens = []
        for tensor in tensors:
            chain = self._chain(tensor)
            store = chain.store or self.b.make_token()
            tokens += [store, self._joined([store, *chain.since]) or store]
        return tokens

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

    Updates meet in any order, unless `parameters` says that theirs counts too.
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
    needed = {root for root, accesses in sites.items() if _needs_order(accesses)}
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


_SINCE: Final = (13, 4)
"""The first version of the bytecode that has words for it."""
_CAPABILITY: Final = 90
"""The first GPUs that can do it."""
_ROOM: Final = 1 << 15
"""The most bytes that a program reads before the wait: half of the registers of four warps, with 64 for each thread."""
_LOADS: Final = frozenset(("load_view_tko", "load_ptr_tko"))
_WRITES: Final = frozenset(("store_view_tko", "store_ptr_tko", "atomic_rmw_tko"))
_PASSING: Final = frozenset(("gdc_launch_dependents_tko", "print_tko"))
"""Operations that touch no memory, but hand an order on."""
_SAME_MEMORY: Final = frozenset(
    ("assume", "broadcast", "make_partition_view", "make_strided_view", "make_tensor_view", "offset", "permute",
     "reshape")
)  # fmt: skip
"""Operations whose result points into the memory that their first operand points into."""


@dataclass(frozen=True, slots=True)
class Dependent:
    """A kernel is compiled so that it may begin early, and lets the next one begin early."""

    frozen: frozenset[str] = frozenset()
    """The tensor parameters whose memory the kernel ahead does not write, such as weights."""
    first: int = 0
    """Programs that read them early, counted from the first. Those that come later would only wait twice in a row."""

    @property
    def key(self) -> tuple[str | int, ...]:
        """What it says, in an order that is always the same."""
        return self.first, *sorted(self.frozen)


def can_wait(capability: int, version: tuple[int, int]) -> bool:
    """Whether a GPU, and the bytecode written for it, know of dependent launches."""
    return capability >= _CAPABILITY and version >= _SINCE


def read_early(kernel: KernelIR, dependent: Dependent) -> frozenset[Tensor]:
    """The tensors that may be read before the wait: frozen parameters that the kernel itself only reads."""
    tensors = []
    for parameter in kernel.parameters:
        match parameter.value:
            case IrValue(type=TensorType(access=Access.IN)) as tensor if tensor.name in dependent.frozen:
                tensors.append(tensor)
            case _:
                pass
    return frozenset(tensors)


def wait_first(b: Builder) -> Value:
    """Waits for the kernel ahead and lets the next one begin; gives the token that accesses wait for."""
    wait = b.gdc_wait()
    b.gdc_launch_dependents(wait)
    return wait


def first_ops(body: ops.Block, frozen: Collection[Tensor], most: int) -> list[ops.AnyOp]:
    """The operations of a program that may stand before the wait: reads of frozen tensors, and what these need.

    None behind a check or a loop is among them, none in a branch, and no read of more than `most` bytes. What a loop
    stands before would have to be kept through it; and all that is read is kept in registers until the wait is over.
    """
    movable: list[ops.AnyOp] = []
    behind: set[AnyValue] = set()
    room = _ROOM
    for op in body.ops:
        if isinstance(op, ops.Check | ops.TilesLoop | ops.RangeLoop | ops.While):
            break
        size = 0
        is_free = isinstance(op, ops.PureOp | ops.Shift)
        if isinstance(op, ops.Load | ops.Get):
            size = _bytes(op.result)
            is_free = op.tensor in frozen and size <= min(most, room)
        if is_free and not behind.intersection(ops.operands(op)):
            movable.append(op)
            room -= size
        else:
            behind.update(ops.results(op))
    early: list[ops.AnyOp] = []
    needed: set[AnyValue] = set()
    for op in reversed(movable):
        if isinstance(op, ops.Load | ops.Get) or needed.intersection(ops.results(op)):
            needed.update(ops.operands(op))
            early.append(op)
    return early[::-1]


def _bytes(tile: IrTile) -> int:
    lanes = [axis.length for axis in tile.type.axes]
    return prod(each for each in lanes if isinstance(each, int)) * tile.type.dtype.bits // 8


def verify(entry: Entry, frozen: Collection[Value]) -> None:
    """Raises an AssertionError if an access may happen before the wait; `frozen` are the pointers to frozen tensors.

    It knows nothing of how the entry was made, and looks at every compiled kernel that is dependent.
    """
    waits = [op for op in entry.body.ops if op.name == "gdc_wait_tko"]
    assert len(waits) == 1, f"{entry.name} waits {len(waits)} times on every path, not once"
    _Walk(entry.name, set(frozen), entry.body.ops[-1]).block(entry.body)


@dataclass(slots=True)
class _Loop:
    """A loop around an operation: which of the tokens it hands on are behind the wait, and what leaves it."""

    kept: tuple[bool, ...]
    left: list[tuple[bool, ...]] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    """Finds which tokens are behind the wait, operation after operation."""

    name: str
    frozen: set[Value]
    """Pointers into frozen tensors, and views of them."""
    end: Op
    """The last operation of the entry."""
    behind: set[Value] = field(default_factory=set)
    loops: list[_Loop] = field(default_factory=list)

    def block(self, block: Block) -> tuple[bool, ...]:
        """Walks through a block; for each value it yields at its end, whether that is behind the wait."""
        for op in block.ops:
            self._op(op)
        last = block.ops[-1] if block.ops else None
        return self._which(_many(last.operands[0])) if last is not None and last.name == "yield" else ()

    def _op(self, op: Op) -> None:
        if op.name == "gdc_wait_tko":
            self.behind.add(op.results[0])
        elif op.name in _LOADS or op.name in _WRITES:
            self._access(op)
        elif op.name in _PASSING or op.name == "join_tokens":
            self._pass(op)
        elif op.name in _SAME_MEMORY:
            if op.operands[0] in self.frozen:
                self.frozen.update(op.results)
        elif op.name == "for":
            self._loop(op, _many(op.operands[3]), op.regions[0].arguments[1:])
        elif op.name == "loop":
            self._loop(op, _many(op.operands[0]), op.regions[0].arguments)
        elif op.name == "if":
            ends = [(region, self.block(region)) for region in op.regions]
            both = zip(*(kept for region, kept in ends if _goes_on(region)), strict=True)
            self._mark(op.results, [all(each) for each in both])
        elif op.name == "continue":
            now, kept = self._which(_many(op.operands[0])), self.loops[-1].kept
            is_kept = all(later or not first for first, later in zip(kept, now, strict=True))
            assert is_kept, f"a loop of {self.name} loses the order behind the wait"
        elif op.name == "break":
            self.loops[-1].left.append(self._which(_many(op.operands[0])))
        else:
            # A program that ends lets the next kernel begin.
            assert op.name != "return" or op is self.end, f"{self.name} may end before its wait"
            assert not op.name.endswith("_tko"), f"it is not known what {op.name} of {self.name} touches"
            for region in op.regions:
                self.block(region)

    def _access(self, op: Op) -> None:
        token = op.operands[-1]
        if token in self.behind:
            self.behind.add(op.results[-1])
            return
        is_frozen = op.name in _LOADS and op.operands[0] in self.frozen
        assert is_frozen, f"{op.name} of {self.name} may happen before the wait"

    def _pass(self, op: Op) -> None:
        before = [value for group in op.operands for value in _many(group) if value.type == TOKEN]
        self._mark(op.results, [any(self._which(before))] * len(op.results))
        is_trigger = op.name == "gdc_launch_dependents_tko"
        assert not is_trigger or op.results[0] in self.behind, f"{self.name} lets the next kernel begin before its wait"

    def _loop(self, op: Op, inits: Sequence[Value], arguments: Sequence[Value]) -> None:
        kept = self._which(inits)
        self._mark(arguments, kept)
        loop = _Loop(kept)
        self.loops.append(loop)
        self.block(op.regions[0])
        self.loops.pop()
        left = kept if op.name == "for" else [all(each) for each in zip(*loop.left, strict=True)]
        self._mark(op.results, left)

    def _which(self, values: Sequence[Value]) -> tuple[bool, ...]:
        return tuple(value in self.behind for value in values)

    def _mark(self, values: Sequence[Value], which: Sequence[bool]) -> None:
        self.behind.update(value for value, is_behind in zip(values, which, strict=False) if is_behind)


def _goes_on(region: Block) -> bool:
    """Whether what follows a branch comes behind it: it does not where the branch ends a loop or the turn of one."""
    return not region.ops or region.ops[-1].name not in ("break", "continue", "return")


def _many(group: Value | tuple[Value, ...] | None) -> tuple[Value, ...]:
    """The values of a group of operands."""
    if group is None:
        return ()
    return (group,) if isinstance(group, Value) else group
