"""The choices an operation's attributes offer. A member's value is its number in the bytecode."""

from __future__ import annotations

from enum import IntEnum


class Padding(IntEnum):
    """What a view gives for elements past the edge of its tensor."""

    ZERO = 0
    NEGATIVE_ZERO = 1
    NAN = 2
    INFINITY = 3
    NEGATIVE_INFINITY = 4


class Rounding(IntEnum):
    """How a result that is not representable becomes one that is."""

    NEAREST = 0
    ZERO = 1
    DOWN = 2
    UP = 3
    APPROXIMATE = 4
    FULL = 5
    INTEGER = 6
    """Towards zero to an integer: what a conversion from float to integer does."""


class Overflow(IntEnum):
    """Which overflow the writer promises cannot happen; a broken promise is undefined behaviour."""

    NONE = 0
    NO_SIGNED = 1
    NO_UNSIGNED = 2
    NO_WRAP = 3


class Signedness(IntEnum):
    """How an operation reads its integers: the types themselves carry no sign."""

    UNSIGNED = 0
    SIGNED = 1


class Predicate(IntEnum):
    """What a comparison asks."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS = 2
    LESS_EQUAL = 3
    GREATER = 4
    GREATER_EQUAL = 5


class Ordering(IntEnum):
    """What a comparison with a NaN answers: ordered is false, unordered is true."""

    UNORDERED = 0
    ORDERED = 1


class Order(IntEnum):
    """How an access is ordered against the accesses of other blocks."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQUIRE_RELEASE = 4


class Scope(IntEnum):
    """Which programs an ordered access is visible to."""

    BLOCK = 0
    DEVICE = 1
    SYSTEM = 2


class Mode(IntEnum):
    """What an atomic access does to the element it finds."""

    AND = 0
    OR = 1
    XOR = 2
    ADD = 3
    ADDF = 4
    MAX = 5
    MIN = 6
    UMAX = 7
    UMIN = 8
    EXCHANGE = 9
