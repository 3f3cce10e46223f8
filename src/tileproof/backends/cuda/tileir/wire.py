"""How numbers, arrays and tables lie in a file of bytecode, and the numbers that say what follows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

MAGIC: Final = b"\x7fTileIR\x00"
PADDING: Final = 0xCB
"""What fills the gap before something that must be aligned."""

DYNAMIC: Final = -(1 << 63)
"""A length or stride that is known only at run time."""

_WORD: Final = (1 << 64) - 1


class Section(IntEnum):
    """The parts of a file."""

    END = 0
    STRINGS = 1
    FUNCTIONS = 2
    DEBUG = 3
    CONSTANTS = 4
    TYPES = 5
    PRODUCER = 7


class Tag(IntEnum):
    """What says of which kind an attribute is, where its place does not."""

    INTEGER = 1
    FLOAT = 2
    BOOL = 3
    DIVISIBLE = 8
    DICTIONARY = 10
    HINTS = 11
    BOUNDED = 12


class TypeTag(IntEnum):
    """The first byte of a type that is not a number."""

    POINTER = 0x0C
    TILE = 0x0D
    TENSOR_VIEW = 0x0E
    PARTITION_VIEW = 0x0F
    FUNCTION = 0x10
    TOKEN = 0x11
    STRIDED_VIEW = 0x15


class DebugTag(IntEnum):
    """The first byte of an entry of the debug table."""

    COMPILE_UNIT = 1
    FILE = 2
    LEXICAL_BLOCK = 3
    LOCATION = 4
    SUBPROGRAM = 5
    CALL_SITE = 6


ENTRY: Final = 0x02
HINTED: Final = 0x04
"""Flags of an entry: that it is a kernel, and that hints follow."""


def put(out: bytearray, number: int) -> None:
    """Append a number that is not negative, seven bits a byte, the lowest first."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def put_signed(out: bytearray, number: int) -> None:
    """Append a number of 64 bits; its sign goes to the lowest bit, in arithmetic that wraps at 64 bits.

    A pattern with bit 63 set is taken as the negative number that it is: shifting it as a longer number would write 65
    bits, of which the reader drops the highest, so that the f64 pattern of -inf would come back as that of +inf.
    """
    number &= _WORD
    put(out, (number << 1 & _WORD) ^ (_WORD if number >> 63 else 0))


def put_array(out: bytearray, numbers: Sequence[int], width: int) -> None:
    """Append how many numbers follow, and the numbers in `width` bytes each."""
    put(out, len(numbers))
    for number in numbers:
        out += number.to_bytes(width, "little", signed=True)


def align(out: bytearray, alignment: int) -> None:
    """Fill up to a multiple of `alignment`."""
    out += bytes((PADDING,)) * (-len(out) % alignment)


def put_table(out: bytearray, entries: Iterable[bytes], width: int) -> None:
    """Append a table: how many entries there are, where each begins in `width` bytes, and the entries."""
    data = list(entries)
    put(out, len(data))
    align(out, width)
    offset = 0
    for entry in data:
        out += offset.to_bytes(width, "little")
        offset += len(entry)
    for entry in data:
        out += entry


class Reader:
    """Reads what the functions above write; `what` names the part being read in messages."""

    __slots__ = ("at", "data", "what")

    def __init__(self, data: bytes, what: str, at: int = 0) -> None:
        self.data = data
        self.what = what
        self.at = at

    def fail(self, message: str) -> ValueError:
        """The error to raise when the bytes make no sense."""
        return ValueError(f"bad bytecode: {message} in {self.what}, at byte {self.at} of {len(self.data)}")

    @property
    def done(self) -> bool:
        """Whether all bytes have been read."""
        return self.at >= len(self.data)

    def byte(self) -> int:
        """One byte."""
        if self.at >= len(self.data):
            raise self.fail("the bytes end too early")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, length: int) -> bytes:
        """The next `length` bytes."""
        if self.at + length > len(self.data):
            raise self.fail(f"the bytes end too early: {length} more are needed")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self) -> int:
        """What `put` wrote."""
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise self.fail("a number is longer than ten bytes")
        if number > _WORD:
            raise self.fail("a number has more than 64 bits")
        return number

    def signed(self) -> int:
        """What `put_signed` wrote."""
        number = self.number()
        return number >> 1 ^ -(number & 1)

    def flag(self) -> bool:
        """A byte that is 0 or 1."""
        byte = self.byte()
        if byte > 1:
            raise self.fail(f"{byte} is neither true nor false")
        return byte == 1

    def count(self) -> int:
        """How many things follow: each takes at least a byte, so more than there are bytes cannot be."""
        count = self.number()
        if count > len(self.data) - self.at:
            raise self.fail(f"{count} things are announced, but fewer bytes follow")
        return count

    def array(self, width: int) -> tuple[int, ...]:
        """What `put_array` wrote."""
        count = self.count()
        data = self.take(count * width)
        return tuple(
            int.from_bytes(data[at : at + width], "little", signed=True) for at in range(0, count * width, width)
        )

    def fixed(self, width: int) -> int:
        """A number in `width` bytes."""
        return int.from_bytes(self.take(width), "little")

    def align(self, alignment: int) -> None:
        """Skip to a multiple of `alignment`."""
        self.take(-self.at % alignment)

    def table(self, width: int) -> list[bytes]:
        """What `put_table` wrote; the last entry ends where the bytes end."""
        count = self.count()
        self.align(width)
        starts = [self.fixed(width) for _ in range(count)]
        data = self.take(len(self.data) - self.at)
        ends = [*starts[1:], len(data)]
        for start, end in zip(starts, ends, strict=True):
            if not start <= end <= len(data):
                raise self.fail(f"an entry of a table runs from {start} to {end} of {len(data)} bytes")
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]
