"""Modules to bytecode. The same module gives the same bytes, whatever was encoded before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from os.path import basename, dirname
from typing import Any, NamedTuple, cast

from . import types
from .operation_table import OPERATIONS, TERMINATORS, VERSIONS, Arity, Attribute, Kind, Operation, Version
from .wire import (
    DYNAMIC,
    ENTRY,
    HINTED,
    MAGIC,
    DebugTag,
    Section,
    Tag,
    TypeTag,
    align,
    put,
    put_array,
    put_signed,
    put_table,
)


def encode(module: types.Module, version: Version = (13, 4)) -> bytes:
    """The bytecode of a module; ValueError if the version has no words for something in it."""
    if version not in VERSIONS:
        raise ValueError(f"bytecode {version[0]}.{version[1]} cannot be written, only {_listed()}")
    return _Writer(version).file(module)


def _listed() -> str:
    return " and ".join(f"{major}.{minor}" for major, minor in VERSIONS)


class _Layout(NamedTuple):
    """An operation at one version, made ready for writing."""

    row: Operation
    written: tuple[Attribute, ...]
    missing: tuple[Attribute, ...]
    flags: tuple[tuple[int, str, int], ...]
    """Bit, attribute (or nothing) and place of the operand group."""
    bare: bool
    """Whether every group of operands is one value."""
    indices: int
    """The place of the group that is counted by an attribute of one bool for each index."""


@cache
def _layout(name: str, version: Version) -> _Layout:
    row = OPERATIONS.get(name)
    if row is None:
        raise ValueError(f"there is no operation {name}")
    if row.since > version:
        raise ValueError(f"{name} needs bytecode {row.since[0]}.{row.since[1]}, not {version[0]}.{version[1]}")
    places = {group.name: place for place, group in enumerate(row.operands)}
    known = row.at(version)
    attributes = {attribute.name for attribute in known if attribute.flagged}
    flags = tuple(
        (1 << bit, name if name in attributes else "", places.get(name, 0))
        for bit, name in enumerate(row.flags(version))
    )
    written = tuple(attribute for attribute in known if attribute.kind is not Kind.FLAG)
    missing = tuple(attribute for attribute in row.attributes if attribute.since > version)
    return _Layout(row, written, missing, flags, not row.totalled and not row.segmented, places.get("index", 0))


class _Numbers(dict[types.Value, int]):
    """The numbers of the values that are defined where the writer is."""

    def __missing__(self, value: types.Value) -> int:
        raise ValueError(f"a value of type {value.type} is used where it is not defined")


class _Writer:
    """The tables of one file, filled while its entries are written."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.strings: dict[bytes, int] = {}
        self.types: dict[bytes, int] = {}
        self.constants: dict[bytes, int] = {}
        self.debug: dict[bytes, int] = {}
        self.lists: list[list[int]] = []
        # A module keeps its types and locations alive, so their addresses stand for them while it is written.
        self.known: dict[int, int] = {}
        self.places: dict[int, int] = {}
        self.numbers = _Numbers()
        self.next = 0
        self.scope = 0
        self.locations: list[int] = []
        self.layouts: dict[str, _Layout] = {}

    def file(self, module: types.Module) -> bytes:
        """All sections in order."""
        functions = bytearray()
        put(functions, len(module.entries))
        for entry in module.entries:
            self.entry(functions, entry)
        out = bytearray(MAGIC)
        out += bytes((*self.version, 0, 0))
        _section(out, Section.FUNCTIONS, functions, 8)
        if self.constants:
            _section(out, Section.CONSTANTS, _table(self.constants, 8), 8)
        if self.lists:
            _section(out, Section.DEBUG, self.debugging(), 8)
        producer = bytearray()
        if module.producer:
            put(producer, self.string(module.producer))
            _section(out, Section.PRODUCER, producer, 1)
        _section(out, Section.TYPES, _table(self.types, 4), 4)
        _section(out, Section.STRINGS, _table(self.strings, 4), 4)
        out.append(Section.END)
        return bytes(out)

    def string(self, text: str) -> int:
        return self.strings.setdefault(text.encode(), len(self.strings))

    def constant(self, data: bytes) -> int:
        entry = bytearray()
        put(entry, len(data))
        return self.constants.setdefault(bytes(entry + data), len(self.constants))

    # Entries and operations.

    def entry(self, out: bytearray, entry: types.Entry) -> None:
        put(out, self.string(entry.name))
        parameters = tuple(value.type for value in entry.parameters)
        put(out, self.typed(types.Function(parameters)))
        out.append(ENTRY | HINTED if entry.hints else ENTRY)
        self.numbers, self.next, self.scope, self.places = _Numbers(), 0, 0, {}
        self.locations = [0 if entry.location is None else self.location(entry, entry.location)]
        body = bytearray()
        _ended(entry.name, entry.body)
        self.define(entry.parameters)
        self.ops(body, entry, entry.body.ops)
        if any(self.locations):
            self.lists.append(self.locations)
            put(out, len(self.lists))
        else:
            out.append(0)
        if entry.hints:
            out.append(Tag.HINTS)
            self.hints(out, entry.hints)
        put(out, len(body))
        out += body

    def define(self, values: Sequence[types.Value]) -> None:
        number = self.next
        for value in values:
            self.numbers[value] = number
            number += 1
        self.next = number

    def ops(self, out: bytearray, entry: types.Entry, ops: Sequence[types.Op]) -> None:
        version, layouts, known, numbers = self.version, self.layouts, self.known, self.numbers
        for op in ops:
            name = op.name
            layout = layouts.get(name)
            if layout is None:
                layout = layouts[name] = _layout(name, version)
            row = layout.row
            location = op.location
            self.locations.append(0 if location is None else self.location(entry, location))
            out.append(row.code)
            if row.counts_results:
                put(out, len(op.results))
            for value in op.results:
                place_of_type = known.get(id(value.type))
                put(out, self.type(value.type) if place_of_type is None else place_of_type)
            if layout.flags:
                word = 0
                for bit, attribute, place in layout.flags:
                    if attribute:
                        setting = op.attributes.get(attribute)
                        if setting is not None and setting is not False:
                            word |= bit
                    elif op.operands[place] is not None:
                        word |= bit
                put(out, word)
            for attribute_row in layout.missing:
                self.absent(op, attribute_row)
            for attribute_row in layout.written:
                setting = op.attributes.get(attribute_row.name)
                if setting.__class__ is attribute_row.kind:
                    out.append(cast(int, setting))
                else:
                    self.attribute(out, op, layout, attribute_row)
            if layout.bare and len(op.operands) == len(row.operands):
                for operand in cast(Sequence[types.Value], op.operands):
                    put(out, numbers[operand])
            else:
                self.operands(out, op, row)
            if row.regions:
                if len(op.regions) != row.regions:
                    raise ValueError(f"{name} has {row.regions} regions, not {len(op.regions)}")
                out.append(row.regions)
                for block in op.regions:
                    # Only the second block of a branch that gives nothing may be left out.
                    if block.ops or name != "if" or op.results or block is op.regions[0]:
                        _ended(name, block)
                    self.region(out, entry, block)
            number = self.next
            for value in op.results:
                numbers[value] = number
                number += 1
            self.next = number

    def operands(self, out: bytearray, op: types.Op, row: Operation) -> None:
        numbers, groups = self.numbers, op.operands
        if len(groups) != len(row.operands):
            raise ValueError(f"{op.name} has {len(row.operands)} groups of operands, not {len(groups)}")
        if row.totalled:
            put(out, sum(1 if isinstance(group, types.Value) else len(group or ()) for group in groups))
        for group, described in zip(groups, row.operands, strict=True):
            if isinstance(group, types.Value):
                put(out, numbers[group])
            elif group is None:
                if described.arity is not Arity.OPTIONAL:
                    raise ValueError(f"{op.name} lacks its operand {described.name}")
            else:
                if row.segmented:
                    put(out, len(group))
                for value in group:
                    put(out, numbers[value])

    def region(self, out: bytearray, entry: types.Entry, block: types.Block) -> None:
        """A region. Its values are numbered from where it begins, and forgotten where it ends."""
        if not block.ops:
            out.append(0)
            return
        out.append(1)
        put(out, len(block.arguments))
        for value in block.arguments:
            put(out, self.type(value.type))
        put(out, len(block.ops))
        before = self.next
        self.define(block.arguments)
        self.ops(out, entry, block.ops)
        for value in block.arguments:
            del self.numbers[value]
        for op in block.ops:
            for value in op.results:
                del self.numbers[value]
        self.next = before

    # Attributes.

    def absent(self, op: types.Op, attribute: Attribute) -> None:
        """Refuse an attribute that the version lacks, unless it says what the version means anyway."""
        value = op.attributes.get(attribute.name)
        is_set = any(cast(Sequence[bool], value or ())) if attribute.kind is Kind.BOOLS else value != attribute.default
        if is_set and value is not None:
            since, version = attribute.since, self.version
            raise ValueError(
                f"{attribute.name} of {op.name} needs bytecode {since[0]}.{since[1]}, not {version[0]}.{version[1]}"
            )

    def attribute(self, out: bytearray, op: types.Op, layout: _Layout, attribute: Attribute) -> None:
        value: Any = op.attributes.get(attribute.name)
        kind = attribute.kind
        if value is None and kind is not Kind.BOOLS:
            if not attribute.optional:
                raise ValueError(f"{op.name} lacks its attribute {attribute.name}")
            return
        if not isinstance(kind, Kind):
            raise ValueError(f"{attribute.name} of {op.name} must be one of {kind.__name__}, not {value!r}")
        match kind:
            case Kind.CONSTANT:
                put(out, self.constant(value))
            case Kind.INTEGER:
                put(out, value)
            case Kind.BOOLS:
                indices = cast(Sequence[types.Value], op.operands[layout.indices])
                put(out, len(indices))
                out += bytes(value or len(indices))
            case Kind.HINTS:
                self.hints(out, value)
            case Kind.LITERALS:
                put(out, len(value))
                for literal in value:
                    self.literal(out, literal)
            case Kind.PROMISE:
                _promise(out, value)
            case Kind.BOOL:
                out.append(bool(value))
            case Kind.INTEGERS:
                put_array(out, value, 4)
            case Kind.STRING:
                put(out, self.string(value))
            case Kind.FLAG:
                pass

    def hints(self, out: bytearray, hints: types.Hints) -> None:
        put(out, len(hints))
        for architecture, settings in hints.items():
            put(out, self.string(architecture))
            out.append(Tag.DICTIONARY)
            put(out, len(settings))
            for key, setting in settings.items():
                put(out, self.string(key))
                if isinstance(setting, bool):
                    out += bytes((Tag.BOOL, setting))
                else:
                    self.literal(out, types.Literal(types.I32, setting))

    def literal(self, out: bytearray, literal: types.Literal) -> None:
        """Integers are written as they are and floats with the sign in front, both as patterns of bits."""
        element = cast(types.Number, literal.element)
        bits = literal.bits & ((1 << element.bits) - 1)
        out.append(Tag.INTEGER if element.is_integer else Tag.FLOAT)
        put(out, self.type(element))
        if element.is_integer:
            put(out, bits)
        elif element.bits <= 8:
            out.append(bits)
        else:
            put_signed(out, bits)

    # Types.

    def type(self, kind: types.Type) -> int:
        place = self.known.get(id(kind))
        if place is None:
            place = self.known[id(kind)] = self.typed(kind)
        return place

    def typed(self, kind: types.Type) -> int:
        """The place of a type in the table; the types that it is made of come before it."""
        out = bytearray()
        match kind:
            case types.Number():
                put(out, kind.tag)
            case types.Token():
                out.append(TypeTag.TOKEN)
            case types.Pointer(to):
                out.append(TypeTag.POINTER)
                self.no_pointer_attribute(out)
                put(out, self.type(to))
            case types.Tile(element, shape):
                out.append(TypeTag.TILE)
                put(out, self.type(element))
                put_array(out, shape, 8)
            case types.TensorView(number, lengths, strides):
                out.append(TypeTag.TENSOR_VIEW)
                self.no_pointer_attribute(out)
                put(out, self.type(number))
                put_array(out, [DYNAMIC if length is None else length for length in lengths], 8)
                put_array(out, [DYNAMIC if stride is None else stride for stride in strides], 8)
            case types.PartitionView(tile, of, order, padding):
                out += bytes((TypeTag.PARTITION_VIEW, padding is not None))
                put_array(out, tile, 4)
                put(out, self.type(of))
                put_array(out, order, 4)
                _padding(out, padding)
            case types.StridedView(tile, steps, of, order, padding):
                out += bytes((TypeTag.STRIDED_VIEW, padding is not None))
                put_array(out, tile, 4)
                put_array(out, steps, 4)
                put(out, self.type(of))
                put_array(out, order, 4)
                _padding(out, padding)
            case types.Function(parameters, results):
                out.append(TypeTag.FUNCTION)
                for group in (parameters, results):
                    put(out, len(group))
                    for one in group:
                        put(out, self.type(one))
        return self.types.setdefault(bytes(out), len(self.types))

    def no_pointer_attribute(self, out: bytearray) -> None:
        if self.version >= (13, 4):
            out.append(0)

    # Where things are in the source.

    def location(self, entry: types.Entry, location: types.Location) -> int:
        place = self.places.get(id(location))
        if place is None:
            if not self.scope:
                self.scope = self.subprogram(entry, location)
            row = (self.scope, self.string(location.file), location.line, location.column)
            place = self.places[id(location)] = self.described(DebugTag.LOCATION, *row)
        return place

    def subprogram(self, entry: types.Entry, first: types.Location) -> int:
        """The debug entry of a kernel, which begins where its first location is."""
        names = self.string(basename(first.file)), self.string(dirname(first.file))
        file = self.described(DebugTag.FILE, *names)
        unit = self.described(DebugTag.COMPILE_UNIT, file)
        name = self.string(entry.name)
        return self.described(DebugTag.SUBPROGRAM, file, first.line, name, name, unit, first.line)

    def described(self, tag: DebugTag, *fields: int) -> int:
        out = bytearray((tag,))
        for number in fields:
            put(out, number)
        return self.debug.setdefault(bytes(out), len(self.debug) + 1)

    def debugging(self) -> bytearray:
        out = bytearray()
        put(out, len(self.lists))
        align(out, 4)
        start = 0
        for places in self.lists:
            out += start.to_bytes(4, "little")
            start += len(places)
        put(out, start)
        align(out, 8)
        for places in self.lists:
            for place in places:
                out += place.to_bytes(8, "little")
        put_table(out, self.debug, 4)
        return out


def _ended(name: str, block: types.Block) -> None:
    if not block.ops or block.ops[-1].name not in TERMINATORS:
        raise ValueError(f"a block of {name} does not end in {', '.join(sorted(TERMINATORS))}")


def _promise(out: bytearray, promise: types.Promise) -> None:
    match promise:
        case types.Divisible(divisor):
            out.append(Tag.DIVISIBLE)
            put(out, divisor)
            out.append(0)  # of every element, along no axis
        case types.Bounded(low, high):
            out.append(Tag.BOUNDED)
            out.append((low is not None) + 2 * (high is not None))
            for number in (low, high):
                if number is not None:
                    put_signed(out, number)


def _padding(out: bytearray, padding: types.Padding | None) -> None:
    if padding is not None:
        out.append(padding)


def _table(table: dict[bytes, int], width: int) -> bytearray:
    out = bytearray()
    put_table(out, table, width)
    return out


def _section(out: bytearray, section: Section, body: bytearray, alignment: int) -> None:
    out.append(section | 0x80 if alignment > 1 else section)
    put(out, len(body))
    if alignment > 1:
        put(out, alignment)
        align(out, alignment)
    out += body
