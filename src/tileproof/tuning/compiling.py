"""Candidates compiled before any is launched: several at a time, for all sizes together, also without a GPU.

Sizes decide little about code, so most candidates of one shape serve others too, and are compiled once. What is made
goes to the kernel cache, where the launch finds it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tileproof.backends.cuda.running import Code
from tileproof.diagnostics.errors import TileproofError
from tileproof.runtime.ahead import Launch, Made, Plan, compile_all, stand_in
from tileproof.runtime.gpu import space_of, variant
from tileproof.runtime.prepare import prepare

from .choices import Choice
from .inputs import Arguments, numbers
from .provenance import is_cpu
from .rules import Facts, small_boxes_of

_REGISTERS_AT_ONCE = 8


class OutOfTime(Exception):
    """The time that was given is over."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some sizes to tune for: what may be launched, by label, the default first."""

    element: str
    sizes: Mapping[str, int]
    arguments: Arguments
    default: Choice
    candidates: Mapping[str, Choice]


@dataclass(slots=True)
class Built:
    """What became of the candidates of a task."""

    facts: list[Facts] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Why candidates cannot be launched at all."""


def built(
    tasks: Sequence[Task], target: str, *, workers: int | None = None, deadline: float | None = None,
    step: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> list[Built]:  # fmt: skip
    """What the candidates of tasks compile to for a target. `step` is told how far it is."""
    found = [Built() for _ in tasks]
    planned: dict[str, Plan] = {}
    wanted: list[tuple[Built, str, Choice, str, int]] = []
    total = sum(len(task.candidates) for task in tasks)
    done = 0
    for task, result in zip(tasks, found, strict=True):
        args = _stand_ins(task.arguments)
        for label, choice in task.candidates.items():
            _demand_time(deadline)
            done += 1
            step("proved", done, total)
            try:
                plan, programs = _plan(choice, args, target)
            except Exception as error:  # also of a form that these arrays do not have
                result.refused[label] = reason_of(error)
                continue
            if is_cpu(target):
                same = (choice.kernel.name, tuple(sorted(choice.constants.items())))
                result.facts.append(Facts(label, same, programs))
                continue
            key = plan.variants[0].key or f"of its own {len(planned)}"
            planned.setdefault(key, plan)
            wanted.append((result, label, choice, key, programs))
    made = _compiled(planned, workers, deadline, step)
    for result, label, choice, key, programs in wanted:
        each = made[key]
        if isinstance(each.outcome, Code):
            result.facts.append(_facts(label, choice, each, each.outcome, programs))
        else:
            result.refused[label] = reason_of(each.outcome)
    return found


def _compiled(
    planned: Mapping[str, Plan], workers: int | None, deadline: float | None, step: Callable[[str, int, int], None]
) -> dict[str, Made]:
    keys = {id(plan): key for key, plan in planned.items()}
    made: dict[str, Made] = {}
    for each in compile_all(list(planned.values()), workers=workers) if planned else ():
        made[keys[id(each.plan)]] = each
        step("compiled", len(made), len(planned))
        _demand_time(deadline)
    return made


def _plan(choice: Choice, args: Sequence[Any], target: str) -> tuple[Plan, int]:
    """A launch, bound and proved, and how many programs it has. The kernel remembers its proof for the launch."""
    kernel, constants = choice.launched, dict(choice.constants)
    args = choice.arguments(args)
    found, bound = prepare(kernel, tuple(args), constants)
    space = space_of(found, bound)
    variants = () if is_cpu(target) else (variant(found, bound, space, target),)
    return Plan(Launch(kernel.name, kernel, args, constants), found, bound, variants, {}, 0.0), space.programs


def _facts(label: str, choice: Choice, made: Made, code: Code, programs: int) -> Facts:
    return Facts(
        label,
        (hashlib.sha256(code.cubin).digest(), code.is_persistent, code.occupancy, programs),
        programs * (choice.schedule.cluster or 1),
        code.occupancy,
        code.is_persistent,
        spilled=max((each.spill_bytes for each in code.resources), default=0),
        shared=max((each.shared_bytes for each in code.resources), default=0),
        registers=max((_rounded(each.registers) * each.threads for each in code.resources), default=0),
        small_boxes=small_boxes_of(made.variant.kernel, made.remarks),
    )


def _rounded(registers: int) -> int:
    return -(-registers // _REGISTERS_AT_ONCE) * _REGISTERS_AT_ONCE


def _stand_ins(arguments: Arguments) -> list[Any]:
    """Arrays that take no memory; index tensors hold what they may."""
    rng = np.random.default_rng(0)
    arrays = {}
    for each in arguments.tensors:
        array = arrays[each.name] = stand_in(each.shape, each.storage)
        if each.content is not None:
            array[...] = numbers(rng, each)
    return arguments.in_order(arrays)


def reason_of(error: BaseException) -> str:
    """The first sentence of what went wrong."""
    if isinstance(error, TileproofError) and error.diagnostics:
        first = error.diagnostics[0]
        return f"{first.code.id}: {first.message}"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _demand_time(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime


def labelled(choices: Iterable[Choice]) -> dict[str, Choice]:
    """Choices by label, each once."""
    found: dict[str, Choice] = {}
    for each in choices:
        found.setdefault(each.label, each)
    return found
