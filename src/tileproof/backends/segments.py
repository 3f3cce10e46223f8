"""Ragged walks: the tiles that borders cut a dimension into, as a table a launch hands to its programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def segment_table(borders: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Start, stop, number and segment of every tile of a ragged walk."""
    starts, stops = borders[:-1], borders[1:]
    counts = -(-(stops - starts) // size)
    segment = np.repeat(np.arange(len(counts)), counts)
    turn = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = starts[segment] + turn * size
    return np.ascontiguousarray(np.stack([begin, np.minimum(begin + size, stops[segment]), turn, segment], axis=1))
