"""Rules that strike out candidates before they are launched: each a function that gives its reason, or None.

A rule sees what one candidate compiled to, and those that the rules before it left. Most strike only where another
candidate is better in the same respect: if all spill, all are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tileproof.backends.cuda.remarks import Remark
from tileproof.ir.ops import Block, KernelIR, Load, RangeLoop, TilesLoop, While, blocks

_SPILLED: Final = 64
"""Bytes of each thread that may go through memory: a few registers around a loop cost nothing."""
_BOX: Final = 1024
"""Bytes that the copy engine should move at once, at least."""
_RESERVED: Final = 1024
"""Bytes of shared memory that the system takes for each block."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a multiprocessor has."""

    shared: int
    """Bytes of shared memory."""
    shared_of_block: int
    """What one block can have of it."""
    registers: int = 65536


_SMALL, _LARGE = Limits(100 << 10, 99 << 10), Limits(228 << 10, 227 << 10)
LIMITS: Final[Mapping[str, Limits]] = {
    "sm_80": Limits(164 << 10, 163 << 10), "sm_86": _SMALL, "sm_87": Limits(164 << 10, 163 << 10), "sm_89": _SMALL,
    "sm_90": _LARGE, "sm_100": _LARGE, "sm_103": _LARGE, "sm_110": _LARGE, "sm_120": _SMALL, "sm_121": _SMALL,
}  # fmt: skip
UNITS: Final = {"sm_80": 108, "sm_86": 84, "sm_89": 128, "sm_90": 132, "sm_100": 148, "sm_103": 148, "sm_120": 170}
"""How many multiprocessors the usual GPU of an architecture has, where there is none to ask."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a candidate before it runs."""

    label: str
    identity: object
    """Equal where the same would run."""
    blocks: int
    """Of the grid."""
    occupancy: int = 1
    is_persistent: bool = False
    spilled: int = 0
    """Bytes of each thread that do not fit into registers."""
    shared: int = 0
    """Bytes of each block."""
    registers: int = 0
    """Of each block."""
    small_boxes: float = 0.0
    """What part of the loaded bytes comes by the copy engine in boxes under 1 KB."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What candidates would run on."""

    units: int
    limits: Limits | None = None


Rule: TypeAlias = Callable[[Facts, Sequence[Facts], Machine], str | None]


def struck(candidates: Sequence[Facts], machine: Machine, kept: str) -> dict[str, str]:
    """Which candidates need not be tried, and why. The one that is `kept`, the default, always stays."""
    reasons: dict[str, str] = {}
    left = list(candidates)
    for rule in RULES:
        found = {each.label: rule(each, left, machine) for each in left if each.label != kept}
        reasons |= {label: reason for label, reason in found.items() if reason is not None}
        left = [each for each in left if each.label not in reasons]
    return reasons


def is_double(one: Facts, others: Sequence[Facts], machine: Machine) -> str | None:
    """The same code on the same grid: hints that the compiler passes over make no difference."""
    for other in others:
        if other.label == one.label:
            return None
        if other.identity == one.identity:
            return f"compiles to the same as {other.label}"
    return None


def is_too_large(one: Facts, others: Sequence[Facts], machine: Machine) -> str | None:
    """More shared memory or registers than there are, for one block or for as many as it asks for."""
    if machine.limits is None:
        return None
    limits = machine.limits
    if one.shared > limits.shared_of_block:
        return f"needs {one.shared} bytes of shared memory, and a block has {limits.shared_of_block}"
    if one.registers > limits.registers:
        return f"needs {one.registers} registers, and a multiprocessor has {limits.registers}"
    if one.is_persistent and one.occupancy > 1:
        memory = one.occupancy * (one.shared + _RESERVED)
        if memory > limits.shared or one.occupancy * one.registers > limits.registers:
            return f"asks for {one.occupancy} programs on a multiprocessor, which do not fit"
    return None


def spills(one: Facts, others: Sequence[Facts], machine: Machine) -> str | None:
    """Registers that go through memory."""
    if one.spilled <= _SPILLED or all(other.spilled > _SPILLED for other in others):
        return None
    return f"spills {one.spilled} bytes of each thread"


def loads_small_boxes(one: Facts, others: Sequence[Facts], machine: Machine) -> str | None:
    """Most of what it loads comes in boxes that the copy engine is slow with."""
    if one.small_boxes <= 0.5 or all(other.small_boxes > 0.5 for other in others):
        return None
    return f"loads {one.small_boxes:.0%} of its bytes by TMA in boxes under {_BOX} bytes"


def leaves_idle(one: Facts, others: Sequence[Facts], machine: Machine) -> str | None:
    """A grid that fills less than half of the machine, where another fills it."""
    if 2 * one.blocks >= machine.units or not any(other.blocks >= machine.units for other in others):
        return None
    return f"has {one.blocks} blocks for {machine.units} units, and others fill them"


RULES: Final[Sequence[Rule]] = (is_double, is_too_large, spills, loads_small_boxes, leaves_idle)
"""In this order."""


# What is loaded how.


def small_boxes_of(kernel: KernelIR, remarks: Sequence[Remark]) -> float:
    """The part of loaded bytes that comes by TMA in small boxes: in the innermost loops, or wherever there is none."""
    engine = {each.line for each in remarks if each.kind == "load" and "by TMA" in each.text and not each.missed}
    loads = list(_loads(kernel.body, 0))
    deepest = max((depth for depth, _ in loads), default=0)
    total = small = 0
    for depth, load in loads:
        size = _bytes(load)
        if depth == deepest and size:
            total += size
            small += size if size < _BOX and load.span.line in engine else 0
    return small / total if total else 0.0


def _loads(block: Block, depth: int) -> Iterator[tuple[int, Load]]:
    for op in block.ops:
        if isinstance(op, Load):
            yield depth, op
        for inner in blocks(op):
            yield from _loads(inner, depth + isinstance(op, TilesLoop | RangeLoop | While))


def _bytes(load: Load) -> int:
    """Of the tile; 0 for single elements, which are no box."""
    lengths = [axis.length for axis in load.result.type.axes]
    if not lengths or not all(isinstance(length, int) for length in lengths):
        return 0
    count = 1
    for length in lengths:
        count *= int(length)  # type: ignore[arg-type]
    return count * load.result.type.dtype.bits // 8
