"""Keys and values of new tokens go to their pages at the end of a step, all layers at once.

Where attention takes the key and value of a new token from the row it was made of, nobody needs them in their page
before the next step. Then one launch appends those of all layers, from rows that are kept one behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import tileproof as tp

from ..models.decoder import Caches
from . import kernels as ops
from .ir import Buffer, Op, Step

_NAMES: Final = "attend_new", "attend_new_plain"
"""Operations that append nothing."""


def appended_at_end(step: Step, caches: Caches) -> Step:
    """The step with one append behind the attention of the last layer, if that of no layer appends."""
    late = [op for op in step.ops if op.name in _NAMES]
    if not late:
        return step
    rows = late[0].reads[0]
    whole = Buffer((len(late), *rows.shape), rows.dtype)
    parts = {
        id(op.reads[0]): Buffer(rows.shape, rows.dtype, whole=whole, number=number) for number, op in enumerate(late)
    }

    def moved(buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
        return tuple(parts.get(id(buffer), buffer) for buffer in buffers)

    done: list[Op] = []
    for op in step.ops:
        done.append(replace(op, writes=moved(op.writes), reads=moved(op.reads)))
        if op is late[-1]:
            done.append(_append(late, whole, caches))
    return replace(step, ops=done)


def _append(late: Sequence[Op], whole: Buffer, caches: Caches) -> Op:
    has_norms = late[0].name == _NAMES[0]
    norms, eps = (_stacked([op.given[1] for op in late]), late[0].given[2]) if has_norms else (None, 0.0)
    positions, slots = late[0].given[9:11] if has_norms else late[0].given[4:6]
    given = caches.all_keys, caches.all_values, caches.cos, caches.sin, positions, slots, norms, eps
    return Op("append_layers", ops.append_layers, (), (whole,), given)


def _stacked(rows: Sequence[Any]) -> Any:
    """Weights of all layers, as rows of one tensor."""
    found = tp.zeros((len(rows), *rows[0].shape), rows[0].dtype, rows[0].device)
    for number, row in enumerate(rows):
        found[number].copy_from(row)
    return found
