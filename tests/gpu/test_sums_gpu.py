"""What many programs combine into the same elements: all element types, NaN, duplicates, and the same every time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import tileproof as tp
from samples.sum_launches import FLOATS, combined, sums
from support.agreement import assert_agree
from support.device_arrays import to_gpu
from support.gpu_runs import assert_agrees

pytestmark = pytest.mark.gpu
SUMS = sums()


@pytest.mark.parametrize("name", SUMS)
def test_what_programs_combine(name: str) -> None:
    assert assert_agrees(SUMS[name]) == []


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_programs_combine_infinities_and_nan(dtype: str, deterministic: bool) -> None:
    for seed in range(4):
        make = partial(combined, dtype, special=True, deterministic=deterministic, seed=seed)
        x = make()[1][4].astype(np.float64)
        added = np.abs(x).sum(axis=0, where=np.isfinite(x)).max()
        assert assert_agrees(make, partial(assert_agree, scale=added)) == []


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_that_are_to_be_the_same_every_time_are(dtype: str) -> None:
    seen = set()
    for _ in range(5):
        kernel, given, constants = combined(dtype, deterministic=True)
        arrays = to_gpu(given)
        with tp.backend("cuda"):
            kernel(*arrays, **constants)
        seen.add(b"".join(array.numpy().tobytes() for array in arrays[:4]))
    assert len(seen) == 1


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_maxima_and_minima_of_one_element_from_many_programs(dtype: str) -> None:
    """All programs meet at one element; extremes lie in the first and the last."""
    kernel, given, constants = combined(dtype)
    given[4][...] = 0.5
    given[4][0, 0], given[4][76, 0] = -1e30, 1e30
    given[5][...] = 2
    arrays = to_gpu(given)
    with tp.backend("cuda"):
        kernel(*arrays, **constants)
    top, low = arrays[1].numpy(), arrays[2].numpy()
    assert (top[2], low[2]) == (np.asarray(1e30, top.dtype), np.asarray(-1e30, top.dtype))
    assert (np.delete(top, 2) == -np.inf).all()
    assert (np.delete(low, 2) == np.inf).all()
