"""The part of a builder that makes regions: loops, branches, reductions, and what ends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .builder_checks import Emitter, carried, expect, scalars, tile, well_formed, wrong
from .literals import WRITABLE, Scalar, bits_of
from .types import I1, Block, Hints, Literal, Location, Number, Tile, Type, Value


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """An operation with one block: what the block is given, the block to fill, and what comes out at the end."""

    arguments: tuple[Value, ...]
    block: Block
    results: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A choice between two blocks to fill. Without results, `orelse` may stay empty."""

    then: Block
    orelse: Block
    results: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a block belongs to: the operation, the block around it, and the types that each ending must have."""

    op: str
    around: Block
    ends: dict[str, tuple[Type, ...]]


class Control(Emitter):
    """Operations with regions. The builder writes into a region's block under `with b.inside(block)`."""

    def __init__(
        self, name: str, parameters: Sequence[Type], hints: Hints | None = None, location: Location | None = None
    ) -> None:
        super().__init__(name, parameters, hints, location)
        self._frames: Final[dict[Block, _Frame]] = {}

    def for_(self, lower: Value, upper: Value, step: Value, inits: Sequence[Value]) -> Region:
        """A loop from `lower` while below `upper`; its block gets the counter and what is carried, and continues."""
        counter = scalars("for", "the bounds", lower, upper, step)
        types = tuple(value.type for value in inits)
        carried("for", types)
        operands = (lower, upper, step, tuple(inits))
        return self._region("for", operands, (counter, *types), types, {"continue": types}, {"unsigned": False})

    def loop(self, inits: Sequence[Value], result_types: Sequence[Type]) -> Region:
        """A loop until a break, which gives the results; its block gets what is carried."""
        types, results = tuple(value.type for value in inits), tuple(result_types)
        carried("loop", (*types, *results))
        return self._region("loop", (tuple(inits),), types, results, {"continue": types, "break": results}, {})

    def if_(self, condition: Value, result_types: Sequence[Type] = ()) -> Branch:
        """A choice by a scalar of i1. Both blocks yield the results."""
        expect("if", "the condition", condition, Tile(I1))
        types = tuple(result_types)
        carried("if", types)
        then, orelse = Block(), Block()
        for block in (then, orelse):
            self._frames[block] = _Frame("if", self.block, {"yield": types})
        return Branch(then, orelse, self.emit("if", (condition,), types, regions=(then, orelse)))

    def reduce(self, tiles: Sequence[Value], axis: int, identities: Sequence[Scalar]) -> Region:
        """Tiles without one of their dimensions. The block gets (element0, so_far0, element1, ...) and yields."""
        kinds, literals = self._folded("reduce", tiles, axis, identities)
        results = tuple(Tile(kind.element, kind.shape[:axis] + kind.shape[axis + 1 :]) for kind in kinds)
        return self._fold("reduce", tiles, kinds, results, {"axis": axis, "identities": literals})

    def scan(self, tiles: Sequence[Value], axis: int, identities: Sequence[Scalar]) -> Region:
        """Tiles of what a reduction has so far at each place, itself included. The block is that of a reduction."""
        kinds, literals = self._folded("scan", tiles, axis, identities)
        attributes = {"axis": axis, "reverse": False, "identities": literals}
        return self._fold("scan", tiles, kinds, tuple(kinds), attributes)

    # What ends a block.

    def yield_(self, *values: Value) -> None:
        """End a block of a branch or a reduction, and give its results."""
        frame = self._frames.get(self.block)
        self._end("yield", frame, values)

    def continue_(self, *values: Value) -> None:
        """Go on with the next round of the innermost loop."""
        self._end("continue", self._innermost("continue"), values)

    def break_(self, *values: Value) -> None:
        """Leave the innermost loop, which must be one until a break, with its results."""
        self._end("break", self._innermost("break"), values)

    def return_(self) -> None:
        """End the program."""
        self.emit("return", ((),), ())

    # What several of the above share.

    def _innermost(self, op: str) -> _Frame:
        frame = self._frames.get(self.block)
        while frame is not None and frame.op == "if":
            frame = self._frames.get(frame.around)
        if frame is None:
            raise wrong(op, "there is no loop around it")
        return frame

    def _end(self, op: str, frame: _Frame | None, values: tuple[Value, ...]) -> None:
        if frame is None or op not in frame.ends:
            raise wrong(op, f"it cannot end {'a program' if frame is None else f'a block of {frame.op}'}")
        types = frame.ends[op]
        if tuple(value.type for value in values) != types:
            raise wrong(op, f"{frame.op} needs ({', '.join(map(str, types))})", *values)
        self.emit(op, (values,), ())

    def _region(
        self,
        op: str,
        operands: tuple[Value | tuple[Value, ...], ...],
        arguments: Sequence[Type],
        results: Sequence[Type],
        ends: dict[str, tuple[Type, ...]],
        attributes: dict[str, object],
    ) -> Region:
        block = Block(tuple(Value(kind) for kind in arguments))
        self._frames[block] = _Frame(op, self.block, ends)
        return Region(block.arguments, block, self.emit(op, operands, results, attributes, (block,)))

    def _folded(
        self, op: str, tiles: Sequence[Value], axis: int, identities: Sequence[Scalar]
    ) -> tuple[list[Tile], tuple[Literal, ...]]:
        if not tiles or len(tiles) != len(identities):
            raise wrong(op, f"{len(tiles)} tiles need as many identities, not {len(identities)}")
        kinds = [tile(op, value) for value in tiles]
        if any(kind.shape != kinds[0].shape for kind in kinds) or not 0 <= axis < kinds[0].rank:
            raise wrong(op, f"the tiles must have one shape, with a dimension {axis}", *tiles)
        literals = []
        for kind, number in zip(kinds, identities, strict=True):
            if not isinstance(kind.element, Number) or kind.element not in WRITABLE:
                raise wrong(op, "the tiles must be numbers", *tiles)
            literals.append(Literal(kind.element, bits_of(kind.element, number)))
        return kinds, tuple(literals)

    def _fold(
        self,
        op: str,
        tiles: Sequence[Value],
        kinds: Sequence[Tile],
        results: tuple[Tile, ...],
        attributes: dict[str, object],
    ) -> Region:
        scalars = tuple(Tile(kind.element) for kind in kinds)
        arguments = [scalar for scalar in scalars for _ in range(2)]
        for kind in results:
            well_formed(op, kind)
        return self._region(op, (tuple(tiles),), arguments, results, {"yield": scalars}, attributes)
