"""Bytecode to modules. What the encoder wrote comes back as it was, and other writers' modules where we have words for
them. Bytes that make no sense are a ValueError that says where."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, TypeVar

from . import types
from .operation_table import CODES, VERSIONS, Arity, Attribute, Kind, Operation, Version
from .wire import DYNAMIC, ENTRY, HINTED, MAGIC, DebugTag, Reader, Section, Tag, TypeTag

_DEEPEST: Final = 100
"""More regions inside each other than this are no program."""

_TAGS: Final = {number.tag: number for number in types.NUMBERS}

_Named = TypeVar("_Named", bound=IntEnum)
_Kind = TypeVar("_Kind", bound=types.Type)


def version_of(data: bytes) -> Version:
    """The version that bytecode is written in."""
    if data[: len(MAGIC)] != MAGIC or len(data) < len(MAGIC) + 4:
        raise ValueError("bad bytecode: it does not begin as Tile IR does")
    version = data[len(MAGIC)], data[len(MAGIC) + 1]
    if version not in VERSIONS:
        raise ValueError(f"bad bytecode: version {version[0]}.{version[1]} cannot be read")
    return version


def decode(data: bytes) -> types.Module:
    """The module that bytecode stands for."""
    return _Decoder(data).module()


class _Decoder:
    """The tables of one file, and what has been read of it."""

    def __init__(self, data: bytes) -> None:
        self.version = version_of(data)
        self.sections = _sections(data)
        self.strings = self.table(Section.STRINGS, 4)
        self.encoded = self.table(Section.TYPES, 4)
        self.constants = self.table(Section.CONSTANTS, 8)
        self.types: dict[int, types.Type] = {}
        self.pending: set[int] = set()
        self.starts: list[int] = []
        self.places: list[int] = []
        self.described: list[bytes] = []
        self.locations: dict[int, types.Location | None] = {}
        self.read_debug()

    def module(self) -> types.Module:
        """Everything, in the order of the file."""
        producer = ""
        if Section.PRODUCER in self.sections:
            producer = self.string(self.reader(Section.PRODUCER))
        reader = self.reader(Section.FUNCTIONS)
        entries = tuple(self.entry(reader) for _ in range(reader.count()))
        return types.Module(entries, producer)

    def reader(self, section: Section) -> Reader:
        if section not in self.sections:
            raise ValueError(f"bad bytecode: there is no section of {section.name.lower()}")
        return Reader(self.sections[section], f"the section of {section.name.lower()}")

    def table(self, section: Section, width: int) -> list[bytes]:
        return self.reader(section).table(width) if section in self.sections else []

    def string(self, reader: Reader) -> str:
        raw = _entry(reader, self.strings, reader.number(), "string")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise reader.fail("a string is not UTF-8") from None

    def constant(self, reader: Reader) -> bytes:
        inner = Reader(_entry(reader, self.constants, reader.number(), "constant"), "a constant")
        return inner.take(inner.number())

    # Types.

    def type_at(self, reader: Reader) -> types.Type:
        place = reader.number()
        if place not in self.types:
            raw = _entry(reader, self.encoded, place, "type")
            if place in self.pending:
                raise reader.fail(f"type {place} is made of itself")
            self.pending.add(place)
            self.types[place] = self.read_type(Reader(raw, f"type {place}"))
            self.pending.remove(place)
        return self.types[place]

    def typed(self, reader: Reader, expected: type[_Kind]) -> _Kind:
        kind = self.type_at(reader)
        if not isinstance(kind, expected):
            raise reader.fail(f"{kind} is not a {expected.__name__}")
        return kind

    def read_type(self, reader: Reader) -> types.Type:
        tag = reader.number()
        if tag in _TAGS:
            return _TAGS[tag]
        match _named(reader, TypeTag, tag):
            case TypeTag.TOKEN:
                return types.TOKEN
            case TypeTag.POINTER:
                self.no_pointer_attribute(reader)
                return types.Pointer(self.typed(reader, types.Number))
            case TypeTag.TILE:
                element = self.type_at(reader)
                if not isinstance(element, types.Number | types.Pointer):
                    raise reader.fail(f"{element} cannot be in a tile")
                return types.Tile(element, reader.array(8))
            case TypeTag.TENSOR_VIEW:
                self.no_pointer_attribute(reader)
                element = self.typed(reader, types.Number)
                return types.TensorView(element, _open(reader.array(8)), _open(reader.array(8)))
            case TypeTag.PARTITION_VIEW:
                padded, tile = reader.flag(), reader.array(4)
                of, order = self.typed(reader, types.TensorView), reader.array(4)
                return types.PartitionView(tile, of, order, _padding(reader, padded))
            case TypeTag.STRIDED_VIEW:
                padded, tile, steps = reader.flag(), reader.array(4), reader.array(4)
                of, order = self.typed(reader, types.TensorView), reader.array(4)
                return types.StridedView(tile, steps, of, order, _padding(reader, padded))
            case TypeTag.FUNCTION:
                taken = tuple(self.type_at(reader) for _ in range(reader.count()))
                return types.Function(taken, tuple(self.type_at(reader) for _ in range(reader.count())))

    def no_pointer_attribute(self, reader: Reader) -> None:
        if self.version >= (13, 4) and reader.number():
            raise reader.fail("attributes of pointers cannot be read")

    # Where things are in the source.

    def read_debug(self) -> None:
        if Section.DEBUG not in self.sections:
            return
        reader = self.reader(Section.DEBUG)
        count = reader.count()
        reader.align(4)
        self.starts = [reader.fixed(4) for _ in range(count)]
        total = reader.count()
        reader.align(8)
        self.places = [reader.fixed(8) for _ in range(total)]
        self.starts.append(total)
        self.described = reader.table(4)

    def location(self, reader: Reader, place: int) -> types.Location | None:
        """What a debug entry says; of a call that was inlined, where it was written."""
        if place not in self.locations:
            self.locations[place] = None
            if place:
                inner = Reader(_entry(reader, self.described, place - 1, "debug entry"), f"debug entry {place}")
                tag = inner.number()
                if tag == DebugTag.LOCATION:
                    inner.number()
                    self.locations[place] = types.Location(self.string(inner), inner.number(), inner.number())
                elif tag == DebugTag.CALL_SITE:
                    self.locations[place] = self.location(inner, inner.number())
        return self.locations[place]

    # Entries and operations.

    def entry(self, reader: Reader) -> types.Entry:
        name, signature = self.string(reader), self.typed(reader, types.Function)
        flags, listed = reader.byte(), reader.number()
        if not flags & ENTRY or flags & ~(ENTRY | HINTED) or signature.results:
            raise reader.fail(f"{name} is not a kernel")
        if listed >= max(1, len(self.starts)):
            raise reader.fail(f"there is no debug list {listed}")
        hints = {}
        if flags & HINTED:
            if reader.byte() != Tag.HINTS:
                raise reader.fail(f"{name} should have hints")
            hints = self.hints(reader)
        body = Reader(reader.take(reader.number()), f"the body of {name}")
        places = self.places[self.starts[listed - 1] : self.starts[listed]] if listed else []
        return _Body(self, body, places).entry(name, signature, hints)

    def hints(self, reader: Reader) -> dict[str, dict[str, int | bool]]:
        return {self.string(reader): self.settings(reader) for _ in range(reader.count())}

    def settings(self, reader: Reader) -> dict[str, int | bool]:
        if reader.byte() != Tag.DICTIONARY:
            raise reader.fail("hints should be in a dictionary")
        return {self.string(reader): self.setting(reader) for _ in range(reader.count())}

    def setting(self, reader: Reader) -> int | bool:
        tag = reader.byte()
        if tag == Tag.BOOL:
            return reader.flag()
        if tag != Tag.INTEGER or self.type_at(reader) != types.I32:
            raise reader.fail("a hint should be a bool or an i32")
        return reader.number()

    def literal(self, reader: Reader) -> types.Literal:
        tag, element = reader.byte(), self.typed(reader, types.Number)
        if tag != (Tag.INTEGER if element.is_integer else Tag.FLOAT):
            raise reader.fail(f"a number of {element} cannot have tag {tag}")
        if element.is_integer:
            return types.Literal(element, reader.number())
        mask = (1 << element.bits) - 1
        return types.Literal(element, reader.byte() if element.bits <= 8 else reader.signed() & mask)


class _Body:
    """One entry being read: its bytes, its values by number, and the debug entries of what is still to come."""

    def __init__(self, tables: _Decoder, reader: Reader, places: list[int]) -> None:
        self.tables = tables
        self.reader = reader
        self.values: list[types.Value] = []
        self.places = iter(places)
        self.depth = 0

    def entry(self, name: str, signature: types.Function, hints: dict[str, dict[str, int | bool]]) -> types.Entry:
        location = self.location()
        body = types.Block(tuple(types.Value(kind) for kind in signature.parameters))
        self.values += body.arguments
        while not self.reader.done:
            body.ops.append(self.op())
        return types.Entry(name, body, hints, location)

    def location(self) -> types.Location | None:
        return self.tables.location(self.reader, next(self.places, 0))

    def op(self) -> types.Op:
        tables, reader = self.tables, self.reader
        code, location = reader.byte(), self.location()
        row = CODES.get(code)
        if row is None or row.since > tables.version:
            raise reader.fail(f"there is no operation {code:#04x} in this version")
        count = reader.count() if row.counts_results else row.results or 0
        if row.results not in (None, count):
            raise reader.fail(f"{row.name} has {row.results} results, not {count}")
        results = tuple(types.Value(tables.type_at(reader)) for _ in range(count))
        named = row.flags(tables.version)
        word = reader.number() if named else 0
        if word >> len(named):
            raise reader.fail(f"{row.name} has no flags {word:#x}")
        present = {name for bit, name in enumerate(named) if word >> bit & 1}
        attributes = {attribute.name: self.attribute(row, attribute, present) for attribute in row.attributes}
        operands = self.operands(row, present)
        regions: tuple[types.Block, ...] = ()
        if row.regions:
            if reader.number() != row.regions:
                raise reader.fail(f"{row.name} has {row.regions} regions")
            regions = tuple(self.region() for _ in range(row.regions))
        self.values += results
        return types.Op(row.name, operands, results, attributes, regions, location)

    def value(self) -> types.Value:
        number = self.reader.number()
        if number >= len(self.values):
            raise self.reader.fail(f"value {number} is not defined")
        return self.values[number]

    def operands(self, row: Operation, present: set[str]) -> tuple[types.Value | tuple[types.Value, ...] | None, ...]:
        reader = self.reader
        fixed = sum(group.arity is Arity.ONE for group in row.operands)
        spare = reader.count() - fixed if row.totalled else 0
        if spare < 0:
            raise reader.fail(f"{row.name} has too few operands")
        groups: list[types.Value | tuple[types.Value, ...] | None] = []
        for group in row.operands:
            if group.arity is Arity.ONE:
                groups.append(self.value())
            elif group.arity is Arity.OPTIONAL:
                there = group.name in present if row.segmented else spare
                if there > 1:
                    raise reader.fail(f"{row.name} has too many operands")
                groups.append(self.value() if there else None)
            else:
                count = reader.count() if row.segmented else spare
                groups.append(tuple(self.value() for _ in range(count)))
        return tuple(groups)

    def region(self) -> types.Block:
        reader = self.reader
        blocks, before = reader.number(), len(self.values)
        if blocks > 1 or self.depth == _DEEPEST:
            raise reader.fail("a region has more than one block, or is too deep")
        if not blocks:
            return types.Block()
        self.depth += 1
        block = types.Block(tuple(types.Value(self.tables.type_at(reader)) for _ in range(reader.count())))
        self.values += block.arguments
        for _ in range(reader.count()):
            block.ops.append(self.op())
        del self.values[before:]
        self.depth -= 1
        return block

    def attribute(self, row: Operation, attribute: Attribute, present: set[str]) -> object:
        reader, kind = self.reader, attribute.kind
        if attribute.since > self.tables.version:
            return attribute.default
        if attribute.optional and attribute.name not in present:
            return None
        if not isinstance(kind, Kind):
            return _named(reader, kind, reader.number())
        match kind:
            case Kind.FLAG:
                return attribute.name in present
            case Kind.BOOL:
                return reader.flag()
            case Kind.INTEGER:
                return reader.number()
            case Kind.STRING:
                return self.tables.string(reader)
            case Kind.INTEGERS:
                return reader.array(4)
            case Kind.BOOLS:
                return tuple(reader.flag() for _ in range(reader.count()))
            case Kind.CONSTANT:
                return self.tables.constant(reader)
            case Kind.HINTS:
                return self.tables.hints(reader)
            case Kind.LITERALS:
                return tuple(self.tables.literal(reader) for _ in range(reader.count()))
            case Kind.PROMISE:
                return _promise(reader)


def _sections(data: bytes) -> dict[Section, bytes]:
    reader = Reader(data, "the file", len(MAGIC) + 2)
    if reader.fixed(2):
        raise reader.fail("preview features cannot be read")
    sections: dict[Section, bytes] = {}
    while True:
        marked = reader.byte()
        section = _named(reader, Section, marked & 0x7F)
        if section is Section.END:
            break
        length = reader.number()
        if marked & 0x80:
            alignment = reader.number()
            if not 1 <= alignment <= 4096:
                raise reader.fail(f"a section cannot be aligned to {alignment}")
            reader.align(alignment)
        if section in sections:
            raise reader.fail(f"the section of {section.name.lower()} comes twice")
        sections[section] = reader.take(length)
    if not reader.done:
        raise reader.fail("something follows the end")
    return sections


def _promise(reader: Reader) -> types.Promise:
    tag = reader.byte()
    if tag not in (Tag.DIVISIBLE, Tag.BOUNDED):
        raise reader.fail(f"an assumption cannot have tag {tag}")
    divisor = reader.number() if tag == Tag.DIVISIBLE else 0
    flags = reader.byte()
    if divisor and flags:
        raise reader.fail("a divisor of some elements only cannot be read")
    first = reader.signed() if flags & 1 else None
    second = reader.signed() if flags & 2 else None
    return types.Divisible(divisor) if tag == Tag.DIVISIBLE else types.Bounded(first, second)


def _entry(reader: Reader, table: list[bytes], place: int, what: str) -> bytes:
    if place >= len(table):
        raise reader.fail(f"there is no {what} {place}")
    return table[place]


def _named(reader: Reader, kind: type[_Named], number: int) -> _Named:
    try:
        return kind(number)
    except ValueError:
        raise reader.fail(f"{number} is no {kind.__name__}") from None


def _open(numbers: tuple[int, ...]) -> tuple[int | None, ...]:
    return tuple(None if number == DYNAMIC else number for number in numbers)


def _padding(reader: Reader, padded: bool) -> types.Padding | None:
    return _named(reader, types.Padding, reader.number()) if padded else None
