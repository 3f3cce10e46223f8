"""What a launch works out on the host for compiled code, whatever it was compiled for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tileproof.ir.types import Walker
from tileproof.language.dtypes import DType

from .interpreter import semantics
from .interpreter.points import evaluate, size_of


def places(walker: Walker, dimensions: Mapping[str, int]) -> int:
    """How many places a walker of the parallel space has, where it does not go by segments."""
    count = -(-dimensions[walker.type.dimension] // evaluate(size_of(walker), dimensions))
    return max(count, 1) if walker.type.is_piece else count


def bits_of(dtype: DType, given: Any) -> int:
    """A scalar as a word of 64 bits."""
    value = semantics.constant(np.asarray(given).item(), dtype)
    return int.from_bytes(value.tobytes().ljust(8, b"\0"), "little")


def segment_table(borders: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Start, stop, number and segment of every tile of a ragged walk."""
    starts, stops = borders[:-1], borders[1:]
    counts = -(-(stops - starts) // size)
    segment = np.repeat(np.arange(len(counts)), counts)
    turn = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = starts[segment] + turn * size
    return np.ascontiguousarray(np.stack([begin, np.minimum(begin + size, stops[segment]), turn, segment], axis=1))
