"""The parallel space, and what many programs combine: what runs gives what numpy would, the rest has its code."""

from __future__ import annotations

import itertools
from textwrap import dedent

import numpy as np
import pytest
from kernel_files import codes, kernel, with_body
from small_runs import BM, BN, M, N, arguments

import tileproof as tp
from tileproof.diagnostics.codes import Code

# The parallel space.


def test_a_kernel_without_a_parallel_space_is_one_program() -> None:
    compiled = kernel(
        """
        @tp.kernel
        def k(y: InOut[f32, "N"], x: In[f32, "N"], total: Out[f32, "1"], *, B: int = 2) -> None:
            carried = 0.0
            for n in tp.tiles(N=B):
                y[n] = x[n].cumsum() + carried + y[n]
                carried += x[n].sum()
            total[0] = carried
        """
    )
    for size in (0, 1, 5):
        x, y, total = np.arange(1, size + 1, dtype=np.float32), np.full(size, 10, np.float32), np.ones(1, np.float32)
        tp.interpret(compiled, y, x, total)
        np.testing.assert_array_equal(y, x.cumsum() + 10)
        np.testing.assert_array_equal(total, [x.sum()])


SPACES = [
    ("for i in tp.parallel(M=2):\n    for j in tp.parallel(N=2):\n        pass", Code.PARALLEL_PLACE),
    ("for i in tp.parallel(M=2):\n    y[i] = 1.0\nfor i in tp.parallel(M=2):\n    y[i] = 1.0", Code.PARALLEL_TWICE),
    ("if s > 0.0:\n    for i in tp.parallel(M=2):\n        y[i] = 1.0", Code.PARALLEL_PLACE),
    ("for r in range(2):\n    for i in tp.parallel(M=2):\n        y[i] = 1.0", Code.PARALLEL_PLACE),
    ("space = tp.parallel\ny[0] = 1.0\nfor i in space(M=2):\n    y[i] = 1.0", Code.PARALLEL_PLACE),
    ("y[0] = 1.0\nfor i in tp.parallel(M=2):\n    y[i] = 1.0", Code.WRITE_OUTSIDE),
    ("a = y[0]\nfor i in tp.parallel(M=2):\n    y[i] = a", Code.READS_OUTSIDE),
    ("a = 1.0\nfor i in tp.parallel(M=2):\n    a = 2.0\n    y[i] = a", Code.OUTER_REBOUND),
    ("a = 1.0\nfor i in tp.parallel(M=2):\n    a += 2.0\n    y[i] = a", Code.OUTER_REBOUND),
    ("i = 1.0\nfor i in tp.parallel(M=2):\n    y[i] = 1.0", Code.OUTER_REBOUND),
    ("a = 1\nfor i in tp.parallel(M=2):\n    for a in range(2):\n        y[i] = 1.0", Code.OUTER_REBOUND),
    ("for i in tp.parallel(M=2):\n    a = 1.0\n    y[i] = a\nb = a", Code.MAYBE_UNBOUND),
    ("for i, j in tp.parallel(M=2):\n    pass", Code.WALKER_COUNT),
    ("for i in tp.parallel(Q=2):\n    pass", Code.UNKNOWN_DIMENSION),
    ("for i in tp.parallel(M=0):\n    pass", Code.BAD_SIZE),
    ("for i in tp.parallel(M=s):\n    pass", Code.BAD_SIZE),
    ("for i in tp.parallel():\n    pass", Code.BAD_CALL),
    ("for i in tp.parallel(2):\n    pass", Code.BAD_CALL),
    ("for i in tp.parallel(**s):\n    pass", Code.STARRED),
    ("for i in tp.tiles(M=2, N=2):\n    pass", Code.BAD_CALL),
    ("for i in tp.tiles(M=2, stop=0.5):\n    pass", Code.BAD_INDEX),
    ("for i in tp.parallel(M=2):\n    tp.require(s > 0.0)\n    y[i] = 1.0", Code.REQUIRE_PLACE),
    ("if s > 0.0:\n    tp.require(s > 0.0)\nfor i in tp.parallel(M=2):\n    y[i] = 1.0", Code.REQUIRE_PLACE),
    ('_, late = tp.split_at(y, "M", 1)\nfor i in tp.parallel(M=2):\n    y[i] = 1.0', Code.MAYBE_UNBOUND),
    ("tp.require(x[0] > 0.0)\nfor i in tp.parallel(M=2):\n    y[i] = 1.0", Code.REQUIRE_PLACE),
    ("for i in tp.parallel(M=2):\n    y[i] = 1.0\nreturn 1", Code.EARLY_RETURN),
]


@pytest.mark.parametrize(("body", "code"), SPACES, ids=[body[:60] for body, _ in SPACES])
def test_a_space_in_a_wrong_place_or_shape_is_refused(body: str, code: Code) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = '@tp.kernel\ndef k(y: InOut[f32, "M"], x: In[f32, "M N"], s: f32) -> None:\n' + lines
    text = text.replace("x[0]", "x[0, 0]")
    assert codes(text) == [code]


# Combining.


def test_a_sum_grows_by_every_lane_of_every_program() -> None:
    compiled = kernel(
        """
        @tp.kernel
        def k(s: Sum[i32, "B"], t: Sum[f32, "M"], top: Max[f32, "B"], low: Min[i8, "1"], b: In[Index["B"], "M N"],
              x: In[f32, "M N"], *, BM: int = 2, BN: int = 3) -> None:
            for i, j in tp.parallel(M=BM, N=BN):
                t[i] += x[i, j].sum(axis=1)
                tp.update(t, i, 1.0)
                tp.update(low, 0, x[i, j].min().to(i8))
                for r in range(i.start, i.stop):
                    s[b[r, j]] += 1
                    tp.update(top, b[r, j], x[r, j])
        """
    )
    rng = np.random.default_rng(1)
    for rows, columns, order in ((5, 7, "forward"), (4, 1, "reverse"), (3, 8, 5), (0, 4, 1)):
        b = rng.integers(0, 3, (rows, columns))
        x = rng.integers(-8, 8, (rows, columns)).astype(np.float32)
        s, t, top, low = np.ones(3, np.int32), np.ones(rows, np.float32), np.ones(3, np.float32), np.ones(1, np.int8)
        tp.interpret(compiled, s, t, top, low, b, x, order=order)
        np.testing.assert_array_equal(s, np.bincount(b.ravel(), minlength=3))
        np.testing.assert_array_equal(t, x.sum(1) + -(-columns // 3))
        np.testing.assert_array_equal(top, [x[b == n].max(initial=-np.inf) for n in range(3)])
        np.testing.assert_array_equal(low, [x.min(initial=127)])


def test_augmented_stores_load_combine_and_store() -> None:
    text = with_body(
        """
        y[i, j] += x[i, j]
        y[i, j] *= 2.0
        y[i, j] -= v[i][:, None]
        y[i, j] @= tp.full((BN, BN), 1.0)
        """
    )
    y, x, v, w, d, n = arguments()
    expected = y.copy()
    for i, j in itertools.product(range(0, M, BM), range(0, N, BN)):
        tile = (slice(i, i + BM), slice(j, j + BN))
        made = (y[tile] + x[tile]) * 2 - v[i : i + BM, None]
        expected[tile] = made.sum(1, keepdims=True)
    tp.interpret(kernel(text), y, x, v, w, d, n)
    np.testing.assert_allclose(y, expected)


COMBINING = [
    ("Sum", "f32", "s[i] = 1.0", Code.READS_SUM),
    ("Max", "f32", "s[i] = 1.0", Code.READS_SUM),
    ("Sum", "f32", "a = s[i]", Code.READS_SUM),
    ("Sum", "f32", "s[i] -= 1.0", Code.BAD_REDUCTION),
    ("Max", "f32", "s[i] += 1.0", Code.BAD_REDUCTION),
    ("Out", "f32", "s[i] += 1.0", Code.READS_OUT),
    ("In", "f32", "s[i] += 1.0", Code.WRITES_IN),
    ("InOut", "f32", "tp.update(s, i, 1.0)", Code.BAD_REDUCTION),
    ("Sum", "f32", "tp.update(i, i, 1.0)", Code.BAD_REDUCTION),
    ("Sum", "i32", "s[i] += 1.0", Code.LITERAL_RANGE),
    ("Sum", "i32", "s[i] += tp.zeros((i,))", Code.STORE_CAST),
    ("Sum", "bool", "s[i] += True", Code.WRONG_TYPE),
    ("Max", "bool", "tp.update(s, i, True)", Code.WRONG_TYPE),
    ("Min", "f8e4m3", "tp.update(s, i, 1.0)", Code.WRONG_TYPE),
    ("Sum", "f32", "s[j] += 1.0", Code.WRONG_DIMENSION),
    ("Sum", "f32", "s[i] += tp.zeros((j,))", Code.TAGS_MEET),
]


@pytest.mark.parametrize(("access", "dtype", "line", "code"), COMBINING)
def test_an_access_that_is_not_allowed_is_refused(access: str, dtype: str, line: str, code: Code) -> None:
    text = dedent(
        f"""
        @tp.kernel
        def k(s: {access}[{dtype}, "M"], x: In[f32, "M N"]) -> None:
            for i, j in tp.parallel(M=2, N=2):
                {line}
        """
    )
    assert codes(text) == [code]
