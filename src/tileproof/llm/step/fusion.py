"""The table of fusions: which operations in a row become one, and when.

A fused operation takes what the others took, in their order: it writes what the last writes, reads what none of them
made, and is given all that they were given. Scratch is its own. Every entry has its unfused form as the reference,
which tests hold it to: without the table the same step computes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .ir import Buffer, Op, Step, StepClass


@dataclass(frozen=True, slots=True)
class Fusion:
    """Some operations that one does as well."""

    names: tuple[str, ...]
    made: str
    call: Callable[..., Any]
    applies: Callable[[StepClass, Sequence[Op]], bool] = lambda kind, ops: True
    keeps: bool = False
    """Whether what one of the operations before writes is written too, behind what the last does: others read it."""
    scratch: Callable[[Sequence[Op]], tuple[Buffer, ...]] = lambda ops: ()


def fused(step: Step, table: Sequence[Fusion]) -> Step:
    """The step with every match of the table replaced; of several that match, the first in the table."""
    left, done = list(step.ops), list[Op]()
    while left:
        for fusion in table:
            ops = left[: len(fusion.names)]
            if tuple(op.name for op in ops) == fusion.names and fusion.applies(step.kind, ops):
                found = _one(fusion, ops, left[len(ops) :])
                if found is not None:
                    done.append(found)
                    del left[: len(ops)]
                    break
        else:
            done.append(left.pop(0))
    return replace(step, ops=done)


def _one(fusion: Fusion, ops: Sequence[Op], later: Sequence[Op]) -> Op | None:
    """The operation that does all of these, unless something else needs what lies between them."""
    made = [buffer for op in ops for buffer in op.writes]
    between = made[: -len(ops[-1].writes)]
    kept = [buffer for buffer in between if buffer.is_output or any(_reads(op, buffer) for op in later)]
    if kept and not (fusion.keeps and any(kept == list(op.writes) for op in ops[:-1])):
        return None
    if fusion.keeps and not kept:
        return None
    reads: list[Buffer] = []
    for op in ops:
        reads += [each for each in op.reads if not any(each is other for other in [*made, *reads])]
    given = tuple(each for op in ops for each in op.given)
    return Op(fusion.made, fusion.call, (*ops[-1].writes, *kept), tuple(reads), given, fusion.scratch(ops))


def _reads(op: Op, buffer: Buffer) -> bool:
    return any(each is buffer for each in op.reads)
