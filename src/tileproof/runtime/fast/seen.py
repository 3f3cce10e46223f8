"""A tensor as it is at one moment, and what a launch uses of it."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Used: TypeAlias = tuple[int, int, bool]
"""Bytes that a launch uses, from the first to behind the last, and whether it writes them."""


class Seen(NamedTuple):
    """What a plan compares of a tensor."""

    address: int
    element: Any
    """The element type: numpy's own object, or DLPack's code."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes."""
    device: tuple[int, int]
    is_writable: bool
    is_of_torch: bool = False
    state: int = 0
    """Where it stands what is true of its memory, for tensors of our own."""
    is_lent: bool = False
    """Whether others can reach memory of our own."""
