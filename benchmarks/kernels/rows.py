"""All rows by name. Those with goals are timed first, for a run that is ended early."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from ..harness.row import Place, Row, chosen
from . import attention, elementwise, gemm, gemv, norms, reductions, sampling, tables

FAMILIES: Final = (gemm, attention, gemv, norms, elementwise, sampling, reductions, tables)
_FIRST: Final = ("matmul", "linear", "attention", "decode", "chain", "matvec", "rows", "elementwise", "launch")


@cache
def rows(at: Place = Place()) -> dict[str, Row]:  # noqa: B008 - it is frozen
    """Every row of a place."""
    every = [row for family in FAMILIES for row in family.rows(at)]
    every.sort(key=lambda row: _FIRST.index(row.group) if row.group in _FIRST else len(_FIRST))
    return {row.name: row for row in every}


def names(words: Sequence[str] = (), at: Place = Place()) -> list[str]:  # noqa: B008
    """Names with one of the words in them, or of such a group; all without words."""
    return chosen({name: row.group for name, row in rows(at).items()}, words)
