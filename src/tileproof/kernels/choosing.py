"""How a library function comes by its kernel: from its tunable, by the sizes and the place of its arrays."""

from __future__ import annotations

from typing import Any

from tileproof.tuning import Choice, Tunable

from . import arrays


def chosen(tunable: Tunable, like: Any, **sizes: int) -> Choice:
    """The choice for work on arrays like this one, with these extents of dimensions."""
    return tunable.choose(arrays.target_of(like), arrays.element_of(like).name, sizes)
