"""Work that can be done in several ways, as it is described: its kernels, and which choices are worth a try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tileproof.language.kernel import Kernel

from .choices import Choice

Sizes: TypeAlias = Mapping[str, int]
"""Extents of dimensions by name: `{"M": 512, "N": 6144, "K": 2560}`."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work that can be done in several ways, all with the same arguments in the same order."""

    name: str
    """As it is typed: `tileproof tune NAME`."""
    kernels: Sequence[Kernel]
    """Those that can do it. The signature of the first says what the arguments are."""
    default: Callable[[Sizes, str], Choice]
    """What is launched where no record fits, from the sizes and the target ("cpu" or "sm_90")."""
    space: Callable[[Sizes, str], Iterable[Choice]]
    """All that is worth a try for these sizes on this target; rules of the tuner strike out more."""
    exact: Sequence[str] = ()
    """Dimensions that a record must have exactly; the others are rounded up to a power of two to find one."""
    scalars: Mapping[str, float] = field(default_factory=dict)
    """Values of scalar arguments while it is tuned."""
    inputs: Callable[[Any, dict[str, Any]], None] | None = None
    """Puts what random numbers would not give into the arguments of a trial: gets a numpy generator and the arrays and
    scalars by name."""
    operations: Callable[[Sizes], float] | None = None
    """How many operations on numbers it takes, for TFLOP/s; None where memory is what counts."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Element types of type variables that are not the element it is chosen by, such as {"U": "f32"}; of an argument of
    `Any`, by the argument's name."""

    def class_of(self, sizes: Sizes) -> dict[str, int]:
        """The class a record is kept under: exact dimensions as they are, the others rounded up to a power of two."""
        return {
            name: extent if name in self.exact else 1 << max(extent - 1, 0).bit_length()
            for name, extent in sizes.items()
        }
