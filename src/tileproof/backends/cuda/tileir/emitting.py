"""The part of a builder that writes an operation down: where, from which line, and with which results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from . import checks
from .operations import TERMINATORS
from .types import Block, Entry, Group, Hints, Location, Op, Type, Value

_NOTHING: Final[Mapping[str, object]] = {}


class Emitter:
    """Writes operations of one entry into a block, which `inside` changes."""

    def __init__(
        self, name: str, parameters: Sequence[Type], hints: Hints | None = None, location: Location | None = None
    ) -> None:
        self.location: Location | None = location
        """Attached to each operation from now on."""
        values = tuple(Value(kind) for kind in parameters)
        for value in values:
            if checks.tile("entry", value).shape:
                raise checks.wrong("entry", "a parameter must be a scalar", value)
        self.entry: Final = Entry(name, Block(values), checks.entry_hints(hints or {}), location)
        self.block: Block = self.entry.body
        """Where operations go."""

    @property
    def parameters(self) -> tuple[Value, ...]:
        """What a launch passes."""
        return self.entry.parameters

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Operations go to `block` until the end of the `with`."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def emit(
        self,
        name: str,
        operands: tuple[Group, ...],
        types: Sequence[Type],
        attributes: Mapping[str, object] = _NOTHING,
        regions: tuple[Block, ...] = (),
    ) -> tuple[Value, ...]:
        """Write an operation as it is, and give its results."""
        ops = self.block.ops
        if ops and ops[-1].name in TERMINATORS:
            raise checks.wrong(name, f"the block already ends in {ops[-1].name}")
        results = tuple([Value(kind) for kind in types])
        ops.append(Op(name, operands, results, attributes, regions, self.location))
        return results

    def one(
        self, name: str, operands: tuple[Group, ...], kind: Type, attributes: Mapping[str, object] = _NOTHING
    ) -> Value:
        """Write an operation with one result."""
        return self.emit(name, operands, (kind,), attributes)[0]
