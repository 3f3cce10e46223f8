"""What the tiles of Tile IR are made of, and operations on tiles of integers as `backends.integers` wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I32, Number, Predicate, Rounding, Tile, Value
from tileproof.backends.integers import Integers, is_signed
from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import BOOL, DType

PREDICATES: Final = {
    BinaryFn.EQ: Predicate.EQUAL, BinaryFn.NE: Predicate.NOT_EQUAL, BinaryFn.LT: Predicate.LESS,
    BinaryFn.LE: Predicate.LESS_EQUAL, BinaryFn.GT: Predicate.GREATER, BinaryFn.GE: Predicate.GREATER_EQUAL,
}  # fmt: skip


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape a tile is held in."""
    assert isinstance(value.type, Tile)
    return value.type.shape


def element_of(value: Value) -> Number:
    """The numbers a tile is made of."""
    assert isinstance(value.type, Tile)
    assert isinstance(value.type.element, Number)
    return value.type.element


def like(b: Builder, value: Value, number: bool | int | float, element: Number | None = None) -> Value:
    """A number in every lane of a value's shape, in its element type or another."""
    return b.constant(Tile(element or element_of(value), shape_of(value)), number)


def spread(b: Builder, scalar: Value, shape: tuple[int, ...]) -> Value:
    """A scalar in every lane of a shape."""
    return b.broadcast(b.reshape(scalar, (1,) * len(shape)), shape) if shape else scalar


@dataclass(frozen=True, slots=True)
class IntegerTiles(Integers[Value]):
    """Writes operations on tiles of one integer type and of the shape of `like`."""

    b: Builder
    dtype: DType
    like: Value

    def constant(self, value: int) -> Value:
        return like(self.b, self.like, value)

    def apply(self, fn: BinaryFn, x: Value, y: Value, *, signed: bool | None = None) -> Value:
        b, signed = self.b, is_signed(self.dtype) if signed is None else signed
        plain = {
            BinaryFn.ADD: b.addi, BinaryFn.SUB: b.subi, BinaryFn.MUL: b.muli, BinaryFn.AND: b.andi, BinaryFn.OR: b.ori,
            BinaryFn.XOR: b.xori, BinaryFn.SHL: b.shli,
        }  # fmt: skip
        if fn in plain:
            return plain[fn](x, y)
        return {BinaryFn.MIN: b.mini, BinaryFn.MAX: b.maxi, BinaryFn.SHR: b.shri}[fn](x, y, signed=signed)

    def compare(self, fn: BinaryFn, x: Value, y: Value, *, signed: bool | None = None) -> Value:
        b = self.b
        if self.dtype != BOOL:
            return b.cmpi(PREDICATES[fn], x, y, signed=is_signed(self.dtype) if signed is None else signed)
        if fn not in (BinaryFn.EQ, BinaryFn.NE):
            raise TypeError(f"{fn} of {BOOL}")
        differs = b.xori(x, y)
        return differs if fn is BinaryFn.NE else b.xori(differs, like(b, x, True))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        return self.b.select(condition, yes, no)

    def both(self, one: Value, two: Value) -> Value:
        return self.b.andi(one, two)

    def either(self, one: Value, two: Value) -> Value:
        return self.b.ori(one, two)

    def divide(self, x: Value, y: Value, *, up: bool = False) -> Value:
        signed = is_signed(self.dtype)
        rounding = Rounding.UP if up else Rounding.DOWN if signed else Rounding.ZERO
        return self.b.divi(x, y, signed=signed, rounding=rounding)

    def remainder(self, x: Value, y: Value) -> Value:
        return self.b.subi(x, self.b.muli(self.divide(x, y), y))

    def repeat(self, count: int, body: Callable[..., Sequence[Value]], *carried: Value) -> Sequence[Value]:
        b = self.b
        lower, upper, step = (b.constant(Tile(I32), number) for number in (0, count, 1))
        loop = b.for_(lower, upper, step, carried)
        with b.inside(loop.block):
            b.continue_(*body(*loop.arguments[1:]))
        return loop.results

    def outlined(self, name: str, body: Callable[..., Value], x: Value, y: Value) -> Value:
        return body(self, x, y)
