"""How the elements of an array lie in memory, whichever library made it."""

from __future__ import annotations

from typing import Any


def is_dense(array: Any) -> bool:
    """Whether the elements lie in a row, without gaps."""
    flags = getattr(array, "flags", None)
    if flags is not None:
        return bool(flags.c_contiguous)
    told = array.is_contiguous
    return bool(told() if callable(told) else told)


def joined(x: Any, y: Any) -> tuple[int, ...]:
    """The shape of two arrays with as few axes as possible: those become one that follow each other in both."""
    if 0 in x.shape:
        return (0,)
    shape: list[int] = []
    last: tuple[int, ...] = ()
    for extent, *steps in zip(x.shape, _strides(x), _strides(y), strict=True):
        if extent == 1:
            continue
        if shape and all(outer == inner * extent for outer, inner in zip(last, steps, strict=True)):
            shape[-1] *= extent
        else:
            shape.append(extent)
        last = tuple(steps)
    return tuple(shape) or (1,)


def _strides(array: Any) -> tuple[int, ...]:
    return tuple(array.stride()) if hasattr(array, "stride") else tuple(array.strides)
