"""How far the results of two backends may lie apart: the table of "What backends may differ in" in docs/language.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

import tileproof as tp
from tileproof.language.dtypes import BF16, F8E4M3, F8E5M2, F16, F32, F64, DType

Array = npt.NDArray[Any]

UNITS: Final[dict[DType, int]] = {F64: 4, F32: 4, F16: 1, BF16: 1, F8E4M3: 1, F8E5M2: 1}
"""Units in the last place between two results of one operation: of the result itself, or where numbers are added of
the sum of their magnitudes. Bools, integers and indices are equal."""
LONG: Final = 32
"""So many times as much for a kernel of several operations, and of its largest result."""

_DTYPES = {dtype.storage: dtype for dtype in UNITS}


def assert_agree(actual: Any, expected: Any, *, scale: Any = 0.0) -> None:
    """Two results of one operation are as near as backends promise; `scale` is the sum of magnitudes it added."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    dtype = _DTYPES.get(expected.dtype)
    if dtype is None:
        np.testing.assert_array_equal(actual, expected)
    else:
        _assert_within(actual, expected, UNITS[dtype] * _unit(dtype), np.asarray(scale, np.float64))


def assert_alike(actual: Any, expected: Any, *, computed: DType = F32) -> None:
    """Two results of a kernel that computes in `computed` are the same but for rounding."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    dtype = _DTYPES.get(expected.dtype)
    if dtype is None:
        np.testing.assert_array_equal(actual, expected)
        return
    allowed = max(UNITS[dtype] * _unit(dtype), LONG * UNITS[computed] * _unit(computed))
    sizes = np.abs(expected.astype(np.float64))
    _assert_within(actual, expected, allowed, sizes.max(where=np.isfinite(sizes), initial=1.0))


def outcome(run: Callable[[], None]) -> list[tuple[str, str]]:
    """Codes and messages of what a launch raises; none if it does not."""
    try:
        run()
    except tp.TileproofError as error:
        return [(result.code.id, result.message) for result in error.diagnostics]
    return []


def on_both(
    kernel: tp.Kernel,
    make: Callable[[], tuple[Sequence[Any], dict[str, Any]]],
    compare: Callable[[Any, Any], None] = assert_alike,
) -> list[tuple[str, str]]:
    """Launches a kernel on the interpreter and on the CPU, each with arguments of its own.

    Both raise the same, whose codes and messages are given back; where nothing is raised all arguments agree.
    """
    (expected, constants), (actual, _) = make(), make()
    with tp.backend("interpreter"):
        wanted = outcome(lambda: kernel(*expected, **constants))
    with tp.backend("cpu"):
        raised = outcome(lambda: kernel(*actual, **constants))
    assert raised == wanted
    if not wanted:
        for one, other in zip(actual, expected, strict=True):
            if isinstance(one, np.ndarray):
                compare(one, other)
    return wanted


def _unit(dtype: DType) -> float:
    """The unit in the last place of 1."""
    return float(ml_dtypes.finfo(dtype.storage).eps)


def _assert_within(actual: Array, expected: Array, allowed: float, scale: Array) -> None:
    with np.errstate(all="ignore"):
        left, right = actual.astype(np.float64), expected.astype(np.float64)
        smallest = float(ml_dtypes.finfo(expected.dtype).smallest_subnormal)
        room = allowed * np.maximum(np.abs(right), scale) + smallest
        near = (left == right) | (np.isnan(left) & np.isnan(right)) | (np.abs(left - right) <= room)
    wrong = np.argwhere(~near)
    assert not len(wrong), (
        f"{len(wrong)} of {near.size} differ, first at {wrong[0].tolist()}: "
        f"{left[tuple(wrong[0])]!r} is not {right[tuple(wrong[0])]!r}"
    )
