"""Modules as text for people: one operation a line, with types and, if asked for, the source line of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from .literals import WRITABLE, elements, number_of
from .operation_table import OPERATIONS, Arity
from .types import Block, Bounded, Divisible, Entry, Literal, Location, Module, Number, Op, Tile, Value

_SHOWN: Final = 8
"""How many elements of a constant are written out."""


def show(module: Module, locations: bool = False) -> str:
    """The text of a module."""
    lines = [f"// {module.producer}"] if module.producer else []
    for entry in module.entries:
        lines += _Printer(locations).entry(entry)
    return "\n".join(lines) + "\n"


class _Printer:
    """The text of one entry; values get numbers in the order in which they are met."""

    def __init__(self, locations: bool) -> None:
        self.locations = locations
        self.names: dict[Value, str] = {}

    def entry(self, entry: Entry) -> Iterator[str]:
        hints = f" hints={_attribute(entry.hints)}" if entry.hints else ""
        yield f"entry @{entry.name}({self.typed(entry.parameters)}){hints} {{{self.at(entry.location)}"
        yield from self.block(entry.body, 1)
        yield "}"

    def block(self, block: Block, depth: int) -> Iterator[str]:
        for op in block.ops:
            yield from self.op(op, depth)

    def op(self, op: Op, depth: int) -> Iterator[str]:
        margin = "  " * depth
        words = [op.name, *self.operands(op)]
        settings = ((name, value) for name, value in op.attributes.items() if _is_set(value))
        words += [f"{name}={self.attribute(op, name, value)}" for name, value in settings]
        results = f"{', '.join(self.name(value) for value in op.results)} = " if op.results else ""
        types = f" : {', '.join(str(value.type) for value in op.results)}" if op.results else ""
        line = f"{margin}{results}{' '.join(words)}{types}"
        blocks = [block for block in op.regions if block.ops]
        if not blocks:
            yield line + self.at(op.location)
            return
        for place, block in enumerate(blocks):
            opening = f" ({self.typed(block.arguments)}) {{" if block.arguments else " {"
            yield (line + opening if not place else f"{margin}}} else{opening}") + self.at(op.location)
            yield from self.block(block, depth + 1)
        yield f"{margin}}}"

    def name(self, value: Value) -> str:
        return self.names.setdefault(value, f"%{len(self.names)}")

    def typed(self, values: tuple[Value, ...]) -> str:
        return ", ".join(f"{self.name(value)}: {value.type}" for value in values)

    def operands(self, op: Op) -> Iterator[str]:
        """The operands; those of a group that need not be there have its name in front, unless it is the only one."""
        rows = OPERATIONS[op.name].operands
        for row, group in zip(rows, op.operands, strict=True):
            label = f"{row.name}=" if row.arity is not Arity.ONE and len(rows) > 1 else ""
            if isinstance(group, Value):
                yield label + self.name(group)
            elif group:
                yield f"{label}[{', '.join(self.name(value) for value in group)}]"

    def attribute(self, op: Op, name: str, value: object) -> str:
        if isinstance(value, bytes):
            kind = op.results[0].type if op.results else None
            return _elements(kind, value) if isinstance(kind, Tile) else value.hex()
        return _attribute(value)

    def at(self, location: Location | None) -> str:
        if not self.locations or location is None:
            return ""
        return f"  // {location.file}:{location.line}:{location.column}"


def _is_set(value: object) -> bool:
    """Whether an attribute says anything: flags that are off and choices not made do not."""
    return value is not None and value is not False and not (isinstance(value, tuple) and not any(value))


def _attribute(value: object) -> str:
    match value:
        case IntEnum():
            return value.name.lower()
        case Literal(Number() as element, bits):
            return f"{number_of(element, bits) if element in WRITABLE else bits}: {element}"
        case Divisible(divisor):
            return f"divisible({divisor})"
        case Bounded(low, high):
            return f"bounded({'?' if low is None else low}, {'?' if high is None else high})"
        case Mapping():
            return f"{{{', '.join(f'{key}: {_attribute(setting)}' for key, setting in value.items())}}}"
        case tuple() | list():
            return f"[{', '.join(_attribute(item) for item in value)}]"
        case _:
            return repr(value) if isinstance(value, str) else str(value)


def _elements(kind: Tile, data: bytes) -> str:
    if kind.element not in WRITABLE:
        return data.hex()
    numbers = elements(kind, data)
    listed = ", ".join(str(number) for number in numbers[:_SHOWN])
    if len(numbers) == 1:
        return listed
    return f"[{listed}{', ...' if len(numbers) > _SHOWN else ''}]"
