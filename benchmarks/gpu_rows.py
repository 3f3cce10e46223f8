"""All rows of the GPU book, by name: what the library's functions are timed at on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from . import gpu_rows_attention, gpu_rows_products, gpu_rows_streams, gpu_rows_tables
from .gpu_row import Row, chosen

CHAINS: Final = ("chain 4B", "chain 32B")
LAUNCH: Final = "launch"
MORE: Final = (*CHAINS, LAUNCH)
"""What is timed in ways of its own: all products of a token in one graph, and the host's part of a launch."""


@cache
def rows(small: bool = False) -> dict[str, Row]:
    """Every row by name; small ones have the same names where there are any."""
    families = (gpu_rows_products, gpu_rows_attention, gpu_rows_streams, gpu_rows_tables)
    return {row.name: row for family in families for row in family.rows(small)}


_FIRST: Final = ("matmul", "linear", "attention", "decode", "chain", "matvec", "rows", "elementwise", LAUNCH)
"""Groups in the order they are timed in: what has a goal comes first, for a run that is ended early."""


def names(words: Sequence[str] = ()) -> list[str]:
    """Names with one of the words in them, or of such a group; all without words."""
    groups = {row.name: row.group for row in rows().values()} | {name: name.split()[0] for name in MORE}
    places = {name: _FIRST.index(group) if group in _FIRST else len(_FIRST) for name, group in groups.items()}
    return chosen(dict(sorted(groups.items(), key=lambda each: places[each[0]])), words)
