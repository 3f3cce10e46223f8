"""What a launch tells the compiler about its arguments: part of the key a compiled kernel is kept under.

A fact is stated only if the launch verified it, and a kernel compiled for some facts runs only where they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileproof.diagnostics.records import dataclass
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import TensorType
from tileproof.lowering.walks import walks


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


def facts_of(
    kernel: KernelIR,
    dimensions: Mapping[str, int],
    strides: Sequence[Sequence[int]],
    sizes: Sequence[int],
    cache: int,
) -> Facts:
    """The facts of a launch; strides in elements and sizes in bytes, for each tensor in order."""
    tensors = [parameter.value.type for parameter in kernel.parameters if isinstance(parameter.value.type, TensorType)]
    return Facts(
        tuple(tuple(stride == 1 for stride in steps) for steps in strides),
        tuple((name, size) for name, size in walks(kernel) if dimensions[name] and dimensions[name] % size == 0),
        tuple(of.access.writes and amount >= cache for of, amount in zip(tensors, sizes, strict=True)),
    )
