"""Where operations go while a kernel is compiled: the block being filled, and unique readable names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tileproof.ir.ops import (
    AnyOp,
    Assume,
    Block,
    Fold,
    If,
    Join,
    Parallel,
    Print,
    RangeLoop,
    Require,
    Scan,
    Shift,
    SplitAt,
    Store,
    TilesLoop,
    Update,
    While,
    results,
)  # fmt: skip
from tileproof.ir.types import Tensor, TensorType, Tile, TileType, Value, Walker, WalkerType

_UNNAMED = "%"
V = TypeVar("V", bound=TileType | WalkerType | TensorType)


@dataclass(slots=True)
class Builder:
    """Fills blocks with operations."""

    ops: list[AnyOp] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)

    def value(self, type_: V, name: str = _UNNAMED) -> Value[V]:
        """A new value, named after the user's name for it where there is one."""
        count = self.used.get(name, 0)
        self.used[name] = count + 1
        if name == _UNNAMED:
            return Value(f"{name}{count}", type_)
        return Value(f"{name}.{count}" if count else name, type_)

    def emit(self, op: AnyOp) -> None:
        self.ops.append(op)

    @contextmanager
    def block(self) -> Iterator[list[AnyOp]]:
        """Sends operations to a new block while the context lasts."""
        outer, self.ops = self.ops, []
        try:
            yield self.ops
        finally:
            self.ops = outer

    def rename_view(self, view: Tensor, name: str) -> Tensor:
        """`view` under the name it is assigned to, if the last operation has just cut it off."""
        last = self.ops[-1] if self.ops else None
        if not isinstance(last, SplitAt) or view not in results(last):
            return view
        named = self.value(view.type, name)
        self.ops[-1] = replace(last, past=named) if view is last.past else replace(last, fresh=named)
        return named

    def rename_walker(self, walker: Walker, name: str) -> Walker:
        """`walker` under the name it is assigned to, if the last operation has just shifted it there."""
        last = self.ops[-1] if self.ops else None
        if not isinstance(last, Shift) or walker is not last.result:
            return walker
        named = self.value(walker.type, name)
        self.ops[-1] = replace(last, result=named)
        return named

    def rename(self, tile: Tile, name: str) -> Tile:
        """`tile` under the name it is assigned to, if the last operation has just made it and it has none yet."""
        last = self.ops[-1] if self.ops else None
        if last is None or not tile.name.startswith(_UNNAMED) or tile not in results(last):
            return tile
        named = self.value(tile.type, name)
        match last:
            case Fold() | Scan() | Join():
                kept = tuple(named if one is tile else one for one in last.results)
                self.ops[-1] = replace(last, results=kept)
            case TilesLoop() | RangeLoop() | While() | If() | Parallel() | SplitAt() | Shift():
                return tile
            case Store() | Update() | Require() | Print() | Assume():
                return tile
            case _:
                self.ops[-1] = replace(last, result=named)
        return named


def finish(ops: list[AnyOp], yields: tuple[Tile, ...] = ()) -> Block:
    return Block(tuple(ops), yields)
