"""Launches on a GPU, compared with the same launch on the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tileproof as tp
from samples.launch import Make
from support.agreement import assert_alike, outcome
from support.device_arrays import DeviceArray, to_gpu


def assert_agrees(make: Make, compare: Callable[[Any, Any], None] = assert_alike) -> list[tuple[str, str]]:
    """Launches on both, each with arguments of its own; gives the codes and messages of what both raised.

    Where nothing is raised all arguments agree; in any case nothing is written beside them.
    """
    kernel, expected, constants = make()
    _, arguments, _ = make()
    with tp.backend("interpreter"), np.errstate(all="ignore"):
        wanted = outcome(lambda: kernel(*expected, **constants))
    arrays = to_gpu(arguments)
    with tp.backend("cuda"):
        raised = outcome(lambda: kernel(*arrays, **constants))
    assert raised == wanted
    for array, other in zip(arrays, expected, strict=True):
        if isinstance(array, DeviceArray):
            array.assert_rest_is_kept()
            if not wanted:
                compare(array.numpy(), other)
    return wanted
