"""Angles of the rows of a step, looked up once for all layers.

Attention that turns its queries itself reads them by rows: a GPU does not read pages ahead of time in a kernel that
looks something up by position.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tileproof.language.dtypes import F32

from . import ops
from .step import Buffer, Op, Step

_NAMES: Final = "attend_turned", "attend_turned_plain"
"""Operations that read angles behind what they are made of."""


def with_angles(step: Step) -> Step:
    """The step with one look-up ahead of all, if anything in it reads what that finds."""
    first = next((op for op in step.ops if op.name in _NAMES), None)
    if first is None:
        return step
    cos, sin, positions = first.given[7:10] if first.name == _NAMES[0] else first.given[2:5]
    shape = positions.shape[0], cos.shape[1]
    rows = Buffer(shape, F32), Buffer(shape, F32)
    reading = (replace(op, reads=(*op.reads, *rows)) if op.name in _NAMES else op for op in step.ops)
    return replace(step, ops=[Op("angles", ops.angles, rows, given=(cos, sin, positions)), *reading])
