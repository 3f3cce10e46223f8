"""The benchmark of dependent launches: what it launches, and what it says."""

from __future__ import annotations

import numpy as np

from benchmarks import dependent


def test_every_matrix_is_multiplied_in_both_ways() -> None:
    told = list(dependent.launches())
    assert len(told) == 2 * len(dependent.SHAPES)
    for _, kernel, (y, w, x), tiles in told:
        assert (y.shape, x.shape) == (w.shape[:1], w.shape[1:])
        assert y.dtype == np.dtype(w.dtype) == x.dtype
        assert w.shape[0] % tiles["BN"] == w.shape[1] % tiles["BK"] == 0
        assert kernel.schedule is not None
    assert {kernel.schedule.dependent for _, kernel, *_ in told if kernel.schedule} == {False, True}


def test_the_table_compares_with_kernels_that_wait() -> None:
    times = {"waits its turn": 300.0, "dependent": 200.0}
    found = {form: {"median": time, "least": time - 1, "most": time + 1} for form, time in times.items()}
    text = dependent.table(found, "a GPU")
    assert "| waits its turn | 300.0 | 299.0 to 301.0 | 1.000x |" in text
    assert "| dependent | 200.0 | 199.0 to 201.0 | 1.500x |" in text
