"""What a case of the corpus is, and arrays for its launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tileproof import Kernel

Launches: TypeAlias = list[tuple[list[Any], dict[str, Any]]]


@dataclass(frozen=True)
class Case:
    """A kernel, what it is launched with, and its fault.

    `launches` makes fresh arguments and constants at each call. `fault` is what is wrong: race, bounds, coverage,
    dimension or access of the kernel, alias, contents or sizes of every launch, None where nothing is. `data` says of a
    safe kernel that an index is read from memory, so that a check at run time may be left.
    """

    kernel: Kernel
    launches: Callable[[], Launches]
    fault: str | None = None
    data: bool = False


def one(*arguments: Any, **constants: Any) -> Launches:
    """A single launch; several are added together."""
    return [(list(arguments), constants)]


def at(make: Callable[..., list[Any]], *sizes: Any, **constants: Any) -> Callable[[], Launches]:
    """Launches whose arguments are made for each of some sizes, all with the same constants."""
    return lambda: [(make(*size) if isinstance(size, tuple) else make(size), constants) for size in sizes]


def floats(*shape: int) -> Any:
    """Elements that all differ."""
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def blank(*shape: int) -> Any:
    """Memory to be written."""
    return np.full(shape, -7, np.float32)


def ints(*values: int) -> Any:
    """A vector of i32."""
    return np.array(values, np.int32)


def counts(*shape: int) -> Any:
    """Memory for integers to be written."""
    return np.full(shape, -7, np.int32)
