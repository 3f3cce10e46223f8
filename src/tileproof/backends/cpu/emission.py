"""Writes LLVM IR as text. A value is its name (`%v12`) or a literal; who asks for it knows its type.

Code is written into *levels*: the function, and every loop, branch and nest that is open. An operation that computes
goes to the outermost level that has all its operands, so what does not depend on a loop is computed before it, and an
operation that was already written there is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

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
        found = level.written.get(key)
        if found is None:
            found = level.written[key] = self.name(depth)
            level.lines.append(f"  {found} = {template.format(*operands)}")
        return found

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
