"""What a launch tells the compiler about its arguments: part of the key a compiled kernel is kept under.

A fact is stated only if the launch verified it, and a kernel compiled for some facts runs only where they hold.
"""

from __future__ import annotations

from tileproof.diagnostics.records import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """Of the arguments of a launch."""

    unit: tuple[tuple[bool, ...], ...]
    """For each tensor and axis, whether neighbours along it are neighbours in memory."""
    divided: tuple[tuple[str, int], ...]
    """Dimensions and the tile sizes that divide them."""
    stream: tuple[bool, ...]
    """For each tensor, whether it is so large that stores had better pass by the caches."""
    packed: tuple[bool, ...] = ()
    """For each operand of a product that can be packed beforehand, whether it is worth it."""
