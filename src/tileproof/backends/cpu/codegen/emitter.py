"""Writes LLVM IR as text. A value is its name (`%v12`) or a literal; who asks for it knows its type.

Code is written into *levels*: the function, and every loop, branch and nest that is open. An operation that computes
goes to the outermost level that has all its operands, so what does not depend on a loop is computed before it, and an
operation that was already written there is not written again.

How elements are held: in memory as their bits, in registers in the type they are computed in. A float of 16 bits or
less is a `float` in a register, always one that its own type can represent; a bool is an `i1`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final, TypeAlias

from tileproof.language.dtypes import BF16, BOOL, F8E4M3, F8E5M2, F16, F32, F64, TF32, DType

Operand: TypeAlias = str
"""The name of a value, or a literal."""
Body: TypeAlias = Callable[[Operand, list[Operand]], Sequence[Operand]]
"""What a loop does in a turn: its variable and the values it carries in, the values for the next turn out."""


@dataclass(slots=True)
class Level:
    """Lines of one open construct, the label they belong to, and the operations already written there."""

    label: str
    lines: list[str] = field(default_factory=list)
    written: dict[tuple[str, ...], Operand] = field(default_factory=dict)
    known: dict[Hashable, Operand] = field(default_factory=dict)
    """Values of larger things, remembered by who asked for them."""


class Emitter:
    """The text of one function, and what it needs of the module around it."""

    def __init__(self) -> None:
        self.levels = [Level("entry")]
        self.globals: dict[str, str] = {}
        """Declarations and definitions of the module, by name."""
        self._depth: dict[Operand, int] = {}
        self._count = 0
        self._floor = 0

    # Operations.

    def op(self, template: str, *operands: Operand) -> Operand:
        """Writes an operation that computes: `{}` in the template stands for the operands in order."""
        depths, depth = self._depth, 0
        for operand in operands:  # faster than `max`, and most of the text of a kernel comes through here
            depth = max(depth, depths[operand]) if operand in depths else depth
        return self._written(depth, template, operands)

    def read(self, template: str, *operands: Operand) -> Operand:
        """Writes an operation that reads memory which the nest around it leaves alone."""
        depth = max(self._floor, *map(self.depth, operands))
        return self._written(depth, template, operands)

    def here(self, template: str, *operands: Operand) -> Operand:
        """Writes an operation exactly here, also if it was written before."""
        name = self.name(len(self.levels) - 1)
        self.levels[-1].lines.append(f"  {name} = {template.format(*operands)}")
        return name

    def do(self, template: str, *operands: Operand) -> None:
        """Writes a statement that gives nothing: a store, a call, a prefetch."""
        self.levels[-1].lines.append(f"  {template.format(*operands)}")

    def name(self, depth: int) -> Operand:
        """A new name for a value that belongs to a level."""
        self._count += 1
        name = f"%v{self._count}"
        self._depth[name] = depth
        return name

    def declare(self, name: str, result: str, *parameters: str) -> str:
        """The name of a function from outside, which the module then declares."""
        self.globals.setdefault(name, f"declare {result} @{name}({', '.join(parameters)})")
        return name

    def define(self, name: str, text: Callable[[], str]) -> str:
        """The name of a function or constant of the module, whose text is written once."""
        if name not in self.globals:
            self.globals[name] = ""
            self.globals[name] = text()
        return name

    def depth(self, operand: Operand) -> int:
        """The level a value belongs to; a literal belongs to the outermost."""
        return self._depth.get(operand, 0)

    def remember(self, key: Hashable, operand: Operand) -> Operand:
        """Keeps a value for as long as its level is open."""
        self.levels[self.depth(operand)].known[key] = operand
        return operand

    def recall(self, key: Hashable) -> Operand | None:
        """A value that was remembered and still can be used."""
        for level in reversed(self.levels):
            if key in level.known:
                return level.known[key]
        return None

    @contextmanager
    def outside(self, depth: int) -> Iterator[None]:
        """Writes into an outer level: code that the levels within it find done when they begin."""
        inner, self.levels = self.levels[depth + 1 :], self.levels[: depth + 1]
        floor, self._floor = self._floor, min(self._floor, depth)
        yield
        self._floor = floor
        self.levels += inner

    def _written(self, depth: int, template: str, operands: tuple[Operand, ...]) -> Operand:
        level, key = self.levels[depth], (template, *operands)
        name = level.written.get(key)
        if name is None:
            name = level.written[key] = self.name(depth)
            level.lines.append(f"  {name} = {template.format(*operands)}")
        return name

    # Control.

    def mark(self) -> str:
        """A new label."""
        self._count += 1
        return f"b{self._count}"

    @contextmanager
    def nest(self) -> Iterator[None]:
        """A stretch of code during which memory that `read` looks at does not change."""
        floor, self._floor = self._floor, len(self.levels) - 1
        level = self.levels[-1]
        written, known = len(level.written), len(level.known)
        yield
        self._floor = floor
        while len(level.written) > written:
            level.written.popitem()
        while len(level.known) > known:
            level.known.popitem()

    def loop(
        self,
        low: Operand,
        high: Operand,
        step: int,
        body: Body,
        carried: Sequence[tuple[str, Operand]] = (),
    ) -> list[Operand]:
        """Turns while `low + turns * step < high`; `carried` are types and first values. Gives the last values."""
        sure = is_number(low) and is_number(high)
        if sure and int(high) <= int(low):
            return [value for _, value in carried]
        if sure and int(low) + step >= int(high):
            return list(body(low, [value for _, value in carried]))
        enter, leave = self.mark(), self.mark()
        first = "true" if sure else self.op("icmp slt i64 {}, {}", low, high)
        depth = len(self.levels)
        variable, *names = (self.name(depth) for _ in range(len(carried) + 1))
        self.levels.append(Level(enter))
        last = list(body(variable, names))
        following = self.here("add nuw nsw i64 {}, {}", variable, str(step))
        again = self.here("icmp slt i64 {}, {}", following, high)
        self.do(f"br i1 {again}, label %{enter}, label %{leave}")
        inner = self.levels.pop()
        outer = self.levels[-1]
        outer.lines.append(f"  br i1 {first}, label %{enter}, label %{leave}")
        outer.lines.append(f"{enter}:")
        outer.lines.append(f"  {variable} = phi i64 [{low}, %{outer.label}], [{following}, %{inner.label}]")
        for name, (of, start), end in zip(names, carried, last, strict=True):
            outer.lines.append(f"  {name} = phi {of} [{start}, %{outer.label}], [{end}, %{inner.label}]")
        outer.lines += [*inner.lines, f"{leave}:"]
        results = [self.name(depth - 1) for _ in carried]
        for name, (of, start), end in zip(results, carried, last, strict=True):
            outer.lines.append(f"  {name} = phi {of} [{start}, %{outer.label}], [{end}, %{inner.label}]")
        outer.label = leave
        return results

    def each(self, low: Operand, high: Operand, step: int, body: Callable[[Operand], object]) -> None:
        """A loop that carries nothing."""

        def turn(here: Operand, _: list[Operand]) -> Sequence[Operand]:
            body(here)
            return ()

        self.loop(low, high, step, turn)

    def when(self, condition: Operand, then: Callable[[], object], orelse: Callable[[], object] = tuple) -> None:
        """Runs one of two bodies that hand nothing on."""

        def arm(body: Callable[[], object]) -> Sequence[Operand]:
            body()
            return ()

        self.branch(condition, lambda: arm(then), lambda: arm(orelse))

    def branch(
        self,
        condition: Operand,
        then: Callable[[], Sequence[Operand]],
        orelse: Callable[[], Sequence[Operand]] = tuple,
        types: Sequence[str] = (),
    ) -> list[Operand]:
        """Runs one of two bodies. Gives what it hands on, of the types named."""
        arms: list[tuple[str, Level, Sequence[Operand]]] = []
        floor = self._floor
        for body in (then, orelse):
            label = self.mark()
            self.levels.append(Level(label))
            self._floor = len(self.levels) - 1  # what an arm reads may not be there without its condition
            values = body()
            arms.append((label, self.levels.pop(), values))
        self._floor = floor
        outer, join = self.levels[-1], self.mark()
        outer.lines.append(f"  br i1 {condition}, label %{arms[0][0]}, label %{arms[1][0]}")
        for label, arm, _ in arms:
            outer.lines += [f"{label}:", *arm.lines, f"  br label %{join}"]
        outer.lines.append(f"{join}:")
        outer.label = join
        depth = len(self.levels) - 1
        results = []
        for of, one, two in zip(types, arms[0][2], arms[1][2], strict=True):
            name = self.name(depth)
            outer.lines.append(f"  {name} = phi {of} [{one}, %{arms[0][1].label}], [{two}, %{arms[1][1].label}]")
            results.append(name)
        return results

    def until(
        self,
        carried: Sequence[tuple[str, Operand]],
        test: Callable[[list[Operand]], Operand],
        body: Callable[[list[Operand]], Sequence[Operand]],
    ) -> list[Operand]:
        """Turns while `test` of the carried values holds. Gives the last values."""
        head, enter, begin, leave = self.mark(), self.mark(), self.mark(), self.mark()
        depth = len(self.levels)
        names = [self.name(depth) for _ in carried]
        self.levels.append(Level(head))
        condition = test(names)
        self.do(f"br i1 {condition}, label %{enter}, label %{leave}")
        self.levels[-1].lines.append(f"{enter}:")
        self.levels[-1].label = enter
        self.levels.append(Level(begin))  # a block of its own: `outside` may still add blocks to the level around it
        last = list(body(names))
        self.do(f"br label %{head}")
        turn = self.levels.pop()
        inner = self.levels.pop()
        outer = self.levels[-1]
        outer.lines += [f"  br label %{head}", f"{head}:"]
        for name, (of, start), end in zip(names, carried, last, strict=True):
            outer.lines.append(f"  {name} = phi {of} [{start}, %{outer.label}], [{end}, %{turn.label}]")
        outer.lines += [*inner.lines, f"  br label %{begin}", f"{begin}:", *turn.lines, f"{leave}:"]
        outer.label = leave
        for name in names:
            self._depth[name] = depth - 1
        return names

    def function(self, signature: str, result: str = "ret void") -> str:
        """The text of the function, its body what was written."""
        (whole,) = self.levels
        return "\n".join([f"define {signature} {{", "entry:", *whole.lines, f"  {result}", "}"])


def is_number(operand: Operand) -> bool:
    """Whether an operand is a whole number known here."""
    return operand.lstrip("-").isdigit()


@cache
def register(dtype: DType) -> str:
    """The LLVM type of one element in a register."""
    if dtype.is_float:
        return "double" if dtype == F64 else "float"
    return "i1" if dtype == BOOL else f"i{dtype.bits}"


@cache
def memory(dtype: DType) -> str:
    """The LLVM type of one element in memory."""
    if dtype in (F64, F16, TF32) or (dtype.is_float and dtype.bits == 32):
        return {64: "double", 32: "float", 16: "half"}[dtype.bits]
    return f"i{dtype.bits}"


def nbytes(dtype: DType) -> int:
    """How many bytes an element takes in memory."""
    return dtype.bits // 8


def vector(element: str, lanes: int) -> str:
    """The LLVM type of so many lanes; one lane is no vector."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def suffix(element: str, lanes: int) -> str:
    """How an intrinsic names a type: `v8f32`, `i64`."""
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(element, element)
    return short if lanes == 1 else f"v{lanes}{short}"


def each(lanes: int, number: str, element: str) -> str:
    """A literal in every lane."""
    return number if lanes == 1 else f"splat ({element} {number})"


@dataclass(frozen=True, slots=True)
class Format:
    """A float type: bits of its significand, exponent of its least step, largest finite value, what lies beyond."""

    precision: int
    step: int
    largest: float
    saturates: bool = False

    def holds(self, other: Format) -> bool:
        """Whether every value of another type is one of this."""
        finer = self.precision >= other.precision and self.step <= other.step
        return finer and self.largest >= other.largest and not self.saturates


FORMATS: Final = {
    F64: Format(53, -1074, (2.0 - 2.0**-52) * 2.0**1023),
    F32: Format(24, -149, (2.0 - 2.0**-23) * 2.0**127),
    TF32: Format(11, -136, (2.0 - 2.0**-10) * 2.0**127),
    BF16: Format(8, -133, (2.0 - 2.0**-7) * 2.0**127),
    F16: Format(11, -24, 65504.0),
    F8E4M3: Format(4, -9, 448.0, saturates=True),
    F8E5M2: Format(3, -16, 57344.0, saturates=True),
}


def rounded(value: float, dtype: DType) -> float:
    """The number of a float type nearest to a number, ties to even."""
    form = FORMATS[dtype]
    beyond = form.largest if form.saturates else math.inf
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        value = float(value)
    if value != value or value == 0:
        return float(value)
    if abs(value) == math.inf:
        return math.copysign(beyond, value)
    nearest = _nearest(abs(value), form)
    return math.copysign(beyond if nearest > form.largest else float(nearest), value)


@lru_cache(maxsize=4096)
def _nearest(value: float, form: Format) -> Fraction:
    """The multiple of a format's steps nearest to a number above 0. Kernels write the same few numbers often."""
    exact = Fraction(value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= exact < Fraction(2) ** exponent
    step = Fraction(2) ** max(exponent - form.precision + 1, form.step)
    return round(exact / step) * step


def literal(value: float, dtype: DType, lanes: int) -> str:
    """A number in every lane, in the register form of a type."""
    element = register(dtype)
    if dtype.is_float:
        (bits,) = struct.unpack(">Q", struct.pack(">d", rounded(value, dtype)))
        return each(lanes, f"0x{bits:016X}", element)
    if element == "i1":
        return each(lanes, "true" if value else "false", element)
    return each(lanes, str(int(value)), element)


_WHOLE: Final = re.compile(r"(?:splat \(i\d+ )?(-?\d+)\)?")


def whole(operand: str) -> int | None:
    """The whole number that a literal has in every lane, if it is one."""
    match = _WHOLE.fullmatch(operand)
    return int(match.group(1)) if match else None


@dataclass(frozen=True, slots=True)
class Spot:
    """A coordinate for each axis. Along axis `lane` it stands for `lanes` neighbours; without one, for one element.

    Elements that do not exist are never touched: where `mask` (lane by lane) or `when` (for all) is false, what is
    asked for may be anything.
    """

    coords: tuple[Operand, ...]
    lane: int | None = None
    lanes: int = 1
    mask: Operand | None = None
    when: Operand | None = None

    def moved(self, coords: tuple[Operand, ...], lane: int | None) -> Spot:
        """The same elements in a tile with other axes; a single one if it has no axis for the lanes."""
        if lane is None:
            return Spot(coords, when=self.when)
        return replace(self, coords=coords, lane=lane)
