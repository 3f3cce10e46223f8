"""The rules of docs/language.md on what backends may differ in, one test for each."""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
from rules import each, ints, kernel, ramp, zeros

import tileproof as tp
from support.agreement import assert_agree


def test_on_the_cpu_a_failed_check_ends_the_stores_of_its_program_and_of_no_other() -> None:
    k = each('y: InOut[f32, "N 2"], x: In[f32, "V"], at: In[i32, "N"]', "y[n, 0] = x[at[n]]\ny[n, 1] = 9.0")
    y, x, at = zeros(5, 2), ramp(3) + 1, ints(0, 7, 2, -1, 1)
    with tp.backend("cpu"), pytest.raises(tp.OutOfBounds, match="program n=1"):
        k(y, x, at)
    assert y.tolist() == [[1, 9], [0, 0], [3, 9], [0, 0], [2, 9]]
    assert (x.tolist(), at.tolist()) == ([1, 2, 3], [0, 7, 2, -1, 1])


def test_on_the_cpu_what_a_program_stored_before_its_failed_check_stays() -> None:
    body = "for k in tp.tiles(K=tp.each):\n    y[n, k] = x[at[n, k]]"
    k = each('y: InOut[f32, "N K"], x: In[f32, "V"], at: In[i32, "N K"]', body)
    y = zeros(2, 3)
    with tp.backend("cpu"), pytest.raises(tp.OutOfBounds, match="program n=1"):
        k(y, ramp(3) + 1, ints(0, 1, 2, 2, 3, 0).reshape(2, 3))
    assert y.tolist() == [[1, 2, 3], [3, 0, 0]]


def test_on_the_cpu_nothing_is_stored_after_a_join_if_a_piece_failed() -> None:
    body = "total = 0.0\nfor n in z.tiles(tp.each):\n    total += x[at[n]]\ny[0] = tp.join(total, over=z)"
    k = kernel(
        'y: InOut[f32, "1"], x: In[f32, "V"], at: In[i32, "N"]',
        "for z in tp.parallel(N=tp.split(2)):\n" + indent(body, "    "),
    )
    y = zeros(1)
    with tp.backend("cpu"):
        k(y, ramp(3), ints(0, 1, 2, 2))
        assert y.tolist() == [5]
        with pytest.raises(tp.OutOfBounds):
            k(y, ramp(3) + 1, ints(0, 1, 3, 2))
    assert y.tolist() == [5]


def test_backends_agree_but_for_the_rounding_of_floats() -> None:
    k = each('y: Out[f32, "N 2"], top: Out[i32, "N"], x: In[f32, "N D"], *, D: int',
             "y[n, 0] = x[n, :].sum()\ny[n, 1] = tp.exp(x[n, 0]) * x[n, 1] + x[n, 2]\n"
             "top[n] = x[n, :].argmax().to(i32)")  # fmt: skip
    x = np.random.default_rng(0).normal(size=(20, 1000)).astype(np.float32)
    found = {}
    for backend in ("interpreter", "cpu"):
        found[backend] = zeros(20, 2), zeros(20, dtype=np.int32)
        with tp.backend(backend):
            k(*found[backend], x)
    (expected, at), (got, there) = found["interpreter"], found["cpu"]
    assert_agree(got[:, 0], expected[:, 0], scale=np.abs(x).sum(axis=1))
    assert_agree(got[:, 1], expected[:, 1], scale=np.abs(np.exp(x[:, 0]) * x[:, 1]) + np.abs(x[:, 2]))
    assert_agree(there, at)


def test_the_result_of_the_cpu_does_not_depend_on_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "for n in tp.parallel(N=3):\n    s[:] += x[n, :].sum(axis=0)"
    k = kernel('s: Sum[f32, "D"], x: In[f32, "N D"], *, D: int', body)
    x = np.random.default_rng(0).normal(size=(100, 7)).astype(np.float32)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TILEPROOF_THREADS", threads)
        found.append(zeros(7))
        with tp.backend("cpu"):
            k(found[-1], x)
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()
