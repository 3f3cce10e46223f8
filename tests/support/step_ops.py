"""Operations of a step that no kernel launches: for tests of passes and memory."""

from __future__ import annotations

from dataclasses import dataclass

from tileproof.language.dtypes import BF16
from tileproof.llm.step.ir import Buffer, Op, Read, Scratch, Step, StepClass, Written

KIND = StepClass(1, 1, 8, True)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Make(Op):
    out: Written


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Map(Op):
    out: Written
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Join(Op):
    out: Written
    x: Read
    y: Read
    room: Scratch = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Use(Op):
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MapKeeping(Op):
    out: Written
    kept: Written
    x: Read


class A(Map):
    pass


class B(Map):
    pass


class C(Map):
    pass


def row() -> Buffer:
    return Buffer((1, 64), BF16)


def chain(*kinds: type[Map]) -> Step:
    """Operations that each read what the one before writes."""
    step = Step(KIND)
    x = step.add(Make(out=row())).out
    for kind in kinds:
        x = step.add(kind(out=row(), x=x)).out
    return step


def names_of(step: Step) -> list[str]:
    return [op.name for op in step.ops]
