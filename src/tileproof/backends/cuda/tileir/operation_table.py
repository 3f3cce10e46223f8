"""One table of the operations of Tile IR that kernels use: number, operands, attributes, results and regions.

The encoder, the decoder and the printer are driven by this table, and its order of attributes and operands is the
order of the bytes. Four laws make an operation's layout follow from its row:

- Results are counted in the bytes when some group of operands takes any number, or when the number of results varies.
- With one group of operands that is not exactly one value, the total of all operands is written once; with more such
  groups, each is written on its own (any number: a count first; optional: only if its flag is set).
- Flags are one word, in the order of the row: attributes that are optional or carry no payload, then optional operands.
- A row's or attribute's version is the first that knows it; an older version can only say the attribute's default.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import Final, TypeAlias

from .types import Mode, Order, Ordering, Overflow, Predicate, Rounding, Scope, Signedness

Version: TypeAlias = tuple[int, int]
VERSIONS: Final[tuple[Version, ...]] = ((13, 3), (13, 4))
"""The versions that are written and read."""

FIRST: Final[Version] = (13, 1)


class Kind(Enum):
    """How the value of an attribute lies in the bytes, where it is not a number of an enumeration."""

    FLAG = "a bit among the flags"
    BOOL = "a byte"
    INTEGER = "a number"
    STRING = "text"
    INTEGERS = "four-byte numbers"
    BOOLS = "a bool for each index; None is all false"
    CONSTANT = "bytes of the elements of the result"
    PROMISE = "what an assumption says"
    LITERALS = "numbers with their types"
    HINTS = "settings for each architecture"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A fact of an operation that is known when it is written. `default` is what older versions say by omission."""

    name: str
    kind: Kind | type[IntEnum]
    since: Version = FIRST
    default: object = None
    optional: bool = False

    @property
    def flagged(self) -> bool:
        """Whether the flags say that the attribute is there."""
        return self.optional or self.kind is Kind.FLAG


class Arity(Enum):
    """How many values a group of operands has."""

    ONE = ""
    OPTIONAL = "?"
    MANY = "*"


@dataclass(frozen=True, slots=True)
class Operands:
    """One group of operands."""

    name: str
    arity: Arity


@dataclass(frozen=True)
class Operation:
    """One row: what an operation is made of, and how that lies in the bytes. `results` of None may be any number."""

    name: str
    code: int
    operands: tuple[Operands, ...]
    attributes: tuple[Attribute, ...]
    results: int | None
    regions: int
    since: Version

    @cached_property
    def counts_results(self) -> bool:
        """Whether the number of results is written before their types."""
        return self.results is None or any(group.arity is Arity.MANY for group in self.operands)

    @cached_property
    def segmented(self) -> bool:
        """Whether each group of operands is written on its own."""
        return sum(group.arity is not Arity.ONE for group in self.operands) > 1

    @cached_property
    def totalled(self) -> bool:
        """Whether the operands of all groups are written together, their total first."""
        return sum(group.arity is not Arity.ONE for group in self.operands) == 1

    def at(self, version: Version) -> tuple[Attribute, ...]:
        """The attributes that a version knows."""
        return tuple(attribute for attribute in self.attributes if attribute.since <= version)

    def flags(self, version: Version) -> tuple[str, ...]:
        """The names of attributes and operands that have a bit among the flags, from the lowest."""
        named = [attribute.name for attribute in self.at(version) if attribute.flagged]
        if self.segmented:
            named += [group.name for group in self.operands if group.arity is Arity.OPTIONAL]
        return tuple(named)


def _op(
    name: str,
    code: int,
    operands: str = "",
    attributes: tuple[Attribute, ...] = (),
    *,
    results: int | None = 1,
    regions: int = 0,
    since: Version = FIRST,
) -> Operation:
    """A row; a group of operands that may be absent is written with `?`, one of any number with `*`."""
    groups = [(word[0], word[1:]) if word[0] in "?*" else ("", word) for word in operands.split()]
    return Operation(
        name, code, tuple(Operands(word, Arity(mark)) for mark, word in groups), attributes, results, regions, since
    )


_OVERFLOW = Attribute("overflow", Overflow)
_ROUNDING = Attribute("rounding", Rounding)
_SIGN = Attribute("signedness", Signedness)
_SIGN_LEFT, _SIGN_RIGHT = Attribute("signedness_left", Signedness), Attribute("signedness_right", Signedness)
_FTZ = Attribute("ftz", Kind.FLAG, default=False)
_NAN = Attribute("propagate_nan", Kind.FLAG, default=False)
_PREDICATE = Attribute("predicate", Predicate)
_ORDER = Attribute("order", Order)
_SCOPE = Attribute("scope", Scope)
_ACCESS = (_ORDER, Attribute("scope", Scope, optional=True), Attribute("hints", Kind.HINTS, optional=True))
_INBOUNDS = Attribute("inbounds", Kind.BOOLS, since=(13, 4))
_AXIS = Attribute("axis", Kind.INTEGER)
_IDENTITIES = Attribute("identities", Kind.LITERALS)
_UNSIGNED = Attribute("unsigned", Kind.FLAG, (13, 2), False)
_FULL = Rounding.FULL

_ROWS: Final = (
    # Making and shaping tiles.
    _op("constant", 0x10, attributes=(Attribute("value", Kind.CONSTANT),)),
    _op("iota", 0x3A),
    _op("reshape", 0x5B, "source"),
    _op("broadcast", 0x0B, "source"),
    _op("permute", 0x53, "source", (Attribute("order", Kind.INTEGERS),)),
    _op("cat", 0x0C, "left right", (_AXIS,)),
    _op("extract", 0x26, "source *indices"),
    _op("bitcast", 0x09, "source"),
    _op("select", 0x5F, "condition yes no"),
    # Integers.
    _op("addi", 0x03, "left right", (_OVERFLOW,)),
    _op("subi", 0x68, "left right", (_OVERFLOW,)),
    _op("muli", 0x4E, "left right", (_OVERFLOW,)),
    _op("mulhii", 0x4D, "left right"),
    _op("divi", 0x15, "left right", (_SIGN, _ROUNDING)),
    _op("remi", 0x5A, "left right", (_SIGN,)),
    _op("negi", 0x50, "source", (Attribute("overflow", Overflow, (13, 2), Overflow.NONE),)),
    _op("absi", 0x01, "source"),
    _op("mini", 0x48, "left right", (_SIGN,)),
    _op("maxi", 0x46, "left right", (_SIGN,)),
    _op("andi", 0x04, "left right"),
    _op("ori", 0x52, "left right"),
    _op("xori", 0x6C, "left right"),
    _op("shli", 0x60, "left right", (_OVERFLOW,)),
    _op("shri", 0x61, "left right", (_SIGN,)),
    _op("cmpi", 0x0F, "left right", (_PREDICATE, _SIGN)),
    # Floats.
    _op("addf", 0x02, "left right", (_ROUNDING, _FTZ)),
    _op("subf", 0x67, "left right", (_ROUNDING, _FTZ)),
    _op("mulf", 0x4C, "left right", (_ROUNDING, _FTZ)),
    _op("divf", 0x14, "left right", (_ROUNDING, _FTZ)),
    _op("fma", 0x28, "left right added", (_ROUNDING, _FTZ)),
    _op("negf", 0x4F, "source"),
    _op("absf", 0x00, "source"),
    _op("ceil", 0x0D, "source"),
    _op("floor", 0x27, "source"),
    _op("minf", 0x47, "left right", (_NAN, _FTZ)),
    _op("maxf", 0x45, "left right", (_NAN, _FTZ)),
    _op("sqrt", 0x64, "source", (_ROUNDING, _FTZ)),
    _op("rsqrt", 0x5D, "source", (_FTZ,)),
    _op("exp2", 0x18, "source", (_FTZ,)),
    _op("exp", 0x17, "source", (Attribute("rounding", Rounding, (13, 3), _FULL),)),
    _op("tanh", 0x6A, "source", (Attribute("rounding", Rounding, (13, 2), _FULL),)),
    _op("log", 0x3F, "source"),
    _op("log2", 0x40, "source"),
    _op("sin", 0x62, "source"),
    _op("cos", 0x12, "source"),
    _op("pow", 0x54, "left right"),
    _op("cmpf", 0x0E, "left right", (_PREDICATE, Attribute("ordering", Ordering))),
    # Conversions.
    _op("exti", 0x25, "source", (_SIGN,)),
    _op("trunci", 0x6B, "source", (_OVERFLOW,)),
    _op("itof", 0x3B, "source", (_SIGN, _ROUNDING)),
    _op("ftoi", 0x2B, "source", (_SIGN, _ROUNDING, Attribute("saturating", Kind.FLAG, (13, 4), False))),
    _op("ftof", 0x2A, "source", (_ROUNDING,)),
    # Pointers.
    _op("offset", 0x51, "pointers offsets"),
    _op("int_to_ptr", 0x33, "source"),
    _op("ptr_to_int", 0x56, "source"),
    # Products of matrices.
    _op("mmaf", 0x49, "left right added", (Attribute("fast", Kind.FLAG, (13, 3), False),)),
    _op("mmai", 0x4A, "left right added", (_SIGN_LEFT, _SIGN_RIGHT)),
    # Regions and what ends them.
    _op("reduce", 0x58, "*tiles", (_AXIS, _IDENTITIES), results=None, regions=1),
    _op("scan", 0x5E, "*tiles", (_AXIS, Attribute("reverse", Kind.BOOL), _IDENTITIES), results=None, regions=1),
    _op("for", 0x29, "lower upper step *carried", (_UNSIGNED,), results=None, regions=1),
    _op("loop", 0x41, "*carried", results=None, regions=1),
    _op("if", 0x32, "condition", results=None, regions=2),
    _op("yield", 0x6D, "*values", results=0),
    _op("continue", 0x11, "*values", results=0),
    _op("break", 0x0A, "*values", results=0),
    _op("return", 0x5C, "*values", results=0),
    # Programs of the grid.
    _op("get_tile_block_id", 0x30, results=3),
    _op("get_num_tile_blocks", 0x2E, results=3),
    # Views.
    _op("make_tensor_view", 0x43, "base *shape *strides"),
    _op("make_partition_view", 0x42, "tensor"),
    _op("make_strided_view", 0x74, "tensor", since=(13, 3)),
    # Memory.
    _op("load_view_tko", 0x3E, "view *index ?token", (*_ACCESS, _INBOUNDS), results=2),
    _op("store_view_tko", 0x66, "tile view *index ?token", (*_ACCESS, _INBOUNDS)),
    _op("load_ptr_tko", 0x3D, "pointers ?mask ?padding ?token", _ACCESS, results=2),
    _op("store_ptr_tko", 0x65, "pointers value ?mask ?token", _ACCESS),
    _op("atomic_rmw_tko", 0x08, "pointers value ?mask ?token", (_ORDER, _SCOPE, Attribute("mode", Mode)), results=2),
    _op("make_token", 0x44),
    _op("join_tokens", 0x3C, "*tokens"),
    _op("gdc_launch_dependents_tko", 0x77, "?token", since=(13, 4)),
    _op("gdc_wait_tko", 0x78, "?token", since=(13, 4)),
    # Promises and debugging.
    _op("assume", 0x06, "source", (Attribute("promise", Kind.PROMISE),)),
    _op("print_tko", 0x55, "*values ?token", (Attribute("format", Kind.STRING),)),
)

OPERATIONS: Final = {row.name: row for row in _ROWS}
"""The rows by name."""

TERMINATORS: Final = frozenset(("yield", "continue", "break", "return"))
"""What ends a block, and stands nowhere else."""

CODES: Final = {row.code: row for row in _ROWS}
"""The rows by their number in the bytecode."""
