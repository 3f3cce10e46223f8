"""The law of dimensions and the law of tags: what may index what, what may meet, and that no phantom element counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_files import codes, kernel, mistakes, verify_read

import tileproof as tp
from tileproof.diagnostics.codes import Code

SIGNATURE = """
@tp.kernel
def k(c: InOut[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], col: In[f32, "M"], row: In[f32, "N"],
      d: In[f32, "M D"], e: In[f32, "E"], f: In[f32, "4 _"], ids: In[Index["M"], "N"], u: In[u64, "N"],
      s: f32, *, D: int, E: int, BM: int = 2, BN: int = 2, BK: int = 2) -> None:
    for i, j in tp.parallel(M=BM, N=BN):
"""


def text(body: str, tiles: str = "BM: int = 2, BN: int = 2, BK: int = 2") -> str:
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    return SIGNATURE.replace("BM: int = 2, BN: int = 2, BK: int = 2", tiles) + lines


REFUSED = {
    # Dimensions.
    "c[i, j] = tp.zeros((i, j)) + a[j, i].sum()": Code.WRONG_DIMENSION,
    "for k in tp.tiles(K=BK):\n    c[i, j] = a[k, i] @ b[k, j]": Code.WRONG_DIMENSION,
    "c[j, i] = 1.0": Code.WRONG_DIMENSION,
    "c[i, i] = 1.0": Code.WRONG_DIMENSION,
    "c[i, j] = row[i]": Code.WRONG_DIMENSION,
    "c[i, j] = f[i, 0].sum()": Code.WRONG_DIMENSION,
    "for n in tp.tiles(K=tp.each):\n    c[i, j] = col[n]": Code.WRONG_DIMENSION,
    "c[i] = 1.0": Code.WRONG_RANK,
    "c[i, j, 0] = 1.0": Code.WRONG_RANK,
    "c[i, j] = a[:, :].sum()": Code.DYNAMIC_SLICE,
    "c[i, j] = f[0, :].sum()": Code.DYNAMIC_SLICE,
    "for q in tp.tiles(Q=2):\n    pass": Code.UNKNOWN_DIMENSION,
    'c[i, j] = tp.dim("Q").to(f32)': Code.UNKNOWN_DIMENSION,
    # Positions.
    "c[i, j] = col[i + 1]": Code.TILE_ARITHMETIC,
    "c[i, j] = i.to(f32)": Code.NO_ATTRIBUTE,
    "c[i, j] = tp.exp(i)": Code.TILE_ARITHMETIC,
    "c[i, j] = col[-1]": Code.NEGATIVE_INDEX,
    "c[i, j] = col[-2:].sum()": Code.NEGATIVE_INDEX,
    "c[i, j] = f[4, 0]": Code.CONSTANT_OUTSIDE,
    "c[i, j] = f[2:5, 0].sum()": Code.CONSTANT_OUTSIDE,
    "c[i, j] = f[3:1, 0].sum()": Code.BAD_INDEX,
    "c[i, j] = f[0:4:2, 0].sum()": Code.BAD_INDEX,
    "c[i, j] = col[None]": Code.BAD_INDEX,
    "c[i, j] = col[True]": Code.BAD_INDEX,
    "c[i, j] = col[0.5]": Code.BAD_INDEX,
    "c[i, j] = col['a']": Code.BAD_INDEX,
    "c[i, j] = col[s]": Code.BAD_INDEX,
    "c[i, j] = col[row[j]]": Code.BAD_INDEX,
    "c[i, j] = col[u[j]]": Code.UNSIGNED_INDEX,
    "c[i, j] = col[i.elements[:, None] + j.elements]": Code.BAD_INDEX,
    "c[i, j] = col[0:i.start].sum()": Code.NOT_CONSTANT,
    "c[i, j] = col[i][i]": Code.BAD_INDEX,
    "c[i, j] = col[i][-1]": Code.NEGATIVE_INDEX,
    "c[i, j] = c[i, j][0, 0, 0]": Code.WRONG_RANK,
    "c[i, j] = col[i][:, 0:1]": Code.WRONG_RANK,
    # Tags. Tiles are square here: lengths alone would let all of these pass.
    "c[i, j] = c[i, j] + col[i]": Code.TAGS_MEET,
    "c[i, j] = col[i]": Code.TAGS_MEET,
    "c[i, j] = col[i][None, :]": Code.TAGS_MEET,
    "c[i, j] = row[j][:, None]": Code.TAGS_MEET,
    "c[i, j] = col[i] * row[j]": Code.TAGS_MEET,
    "c[i, j] = c[i, j].T": Code.TAGS_MEET,
    "c[i, j] = c[i, j] + c[i, j].T": Code.TAGS_MEET,
    "c[i, j] = tp.where(col[i] > 0.0, row[j], 0.0)": Code.TAGS_MEET,
    "c[i, j] = tp.zeros((j, i))": Code.TAGS_MEET,
    "for p in tp.tiles(M=BM):\n    c[i, j] = (col[i] + col[p])[:, None]": Code.TAGS_MEET,
    "for p in tp.tiles(M=BM):\n    c[i, j] = col[p][:, None]": Code.TAGS_MEET,
    "for p in tp.tiles(K=BK):\n    c[i, j] = a[i, p]": Code.TAGS_MEET,
    "c[i, j] = d[i, :]": Code.TAGS_MEET,
    "c[i, j] = (d[i, :] + e[:]).sum(axis=1)[:, None]": Code.TAGS_MEET,
    "c[i, j] = col[ids[j]][:, None]": Code.TAGS_MEET,
    "c[i, j] = tp.cat((tp.zeros((1, i)), tp.zeros((1, j)))).sum()": Code.TAGS_MEET,
    # Lengths.
    "c[i, j] = c[i, j] + tp.zeros((3,))": Code.LENGTHS_DIFFER,
    "c[i, j] = tp.zeros((3, 2)) + tp.zeros((2, 3))": Code.LENGTHS_DIFFER,
    "c[i, j] = tp.zeros((1, BM, BN))": Code.LENGTHS_DIFFER,
    "c[i, j] = tp.zeros((4,)).reshape(2, 3).sum()": Code.LENGTHS_DIFFER,
    "c[i, j] = tp.cat((tp.zeros((2, 2)), tp.zeros((2, 3)))).sum()": Code.LENGTHS_DIFFER,
    "c[i, j] = tp.cat((tp.zeros((2,)), tp.zeros((2, 2)))).sum()": Code.LENGTHS_DIFFER,
    # Turns of a loop.
    "t = tp.zeros((BK,))\nfor p in tp.tiles(K=BK):\n    t = t + b[p, 0]\nc[i, j] = t.sum()": Code.CARRIED_TAG,
    "t = 0.0\nfor p in tp.tiles(K=BK):\n    t = t + b[p, 0]\nc[i, j] = 1.0": Code.CARRIED_TAG,
    "t = (0.0, 0.0)\nfor p in tp.tiles(K=BK):\n    t = (t[1], b[p, 0])\nc[i, j] = 1.0": Code.CARRIED_TAG,
    "t = tp.zeros((BK,))\nfor p in tp.tiles(K=BK):\n    t = b[p, 0]\nc[i, j] = t.sum()": Code.CARRIED_TAG,
    "t = 0\nfor p in tp.tiles(K=BK):\n    for q in tp.tiles(K=BK):\n        t = t + a[i, q] + a[i, p]": Code.TAGS_MEET,
    "for p in tp.tiles(K=BK):\n    t = b[p, 0]\nc[i, j] = t.sum()": Code.MAYBE_UNBOUND,
    # What needs full axes.
    "c[i, j] = c[i, j].reshape(BM * BN).sum()": Code.RAGGED_RESHAPE,
    "c[i, j] = col[i][0:1].sum()": Code.RAGGED_RESHAPE,
    "c[i, j] = tp.cat((col[i], col[i])).sum()": Code.RAGGED_RESHAPE,
    "c[i, j] = e[:].reshape(j).sum()": Code.BAD_SHAPE,
    # Products.
    "c[i, j] = a[i, 0] @ b[0, j]": Code.MMA_SHAPE,
    "c[i, j] = c[i, j] @ c[i, j]": Code.MMA_SHAPE,
    "c[i, j] = d[i, :] @ tp.zeros((i, j))": Code.MMA_SHAPE,
    "for k in tp.tiles(K=BK):\n    for q in tp.tiles(K=BK):\n        c[i, j] = a[i, k] @ b[q, j]": Code.MMA_SHAPE,
    "for k in tp.tiles(K=BK):\n    c[i, j] = tp.mma(a[i, k], b[k, j], c[i, j].T)": Code.MMA_SHAPE,
    "for k in tp.tiles(K=BK):\n    c[i, j] = tp.mma(a[i, k], b[k, j], tp.zeros((2, i, j)))": Code.MMA_SHAPE,
    "c[i, j] = tp.zeros((2, 1)) @ tp.zeros((2, 2))": Code.MMA_SHAPE,
    "c[i, j] = (tp.zeros((2, i, 4)) @ tp.zeros((4, j))).sum(axis=0)": Code.MMA_SHAPE,
    "c[i, j] = (tp.zeros((2, i, 4)) @ tp.zeros((3, 4, j))).sum(axis=0)": Code.MMA_SHAPE,
    "c[i, j] = (tp.zeros((i, 2, 4)) @ tp.zeros((j, 4, 2))).sum(axis=0)": Code.MMA_SHAPE,
    "c[i, j] = (tp.zeros((1, i, 4)) @ tp.zeros((2, 4, j))).sum(axis=0)": Code.MMA_SHAPE,
    "c[i, j] = tp.mma(tp.zeros((i, 4)), tp.zeros((4, j)), tp.zeros((2, i, j))).sum(axis=0)": Code.MMA_SHAPE,
    # Axes and shapes.
    "c[i, j] = c[i, j].sum(axis=2)": Code.BAD_AXIS,
    "c[i, j] = c[i, j].sum(axis=-3)": Code.BAD_AXIS,
    "c[i, j] = c[i, j].sum(axis=0.5)": Code.BAD_AXIS,
    "c[i, j] = c[i, j].sum(axis=True)": Code.BAD_AXIS,
    "c[i, j] = c[i, j].argmax().to(f32)": Code.BAD_AXIS,
    "c[i, j] = c[i, j].cumsum()": Code.BAD_AXIS,
    "c[i, j] = s.sum()": Code.BAD_AXIS,
    "c[i, j] = c[i, j].sum(axis=i.start)": Code.NOT_CONSTANT,
    "c[i, j] = c[i, j].sum(axis=0, keepdims=D)": Code.BAD_CALL,
    "c[i, j] = tp.zeros((i.start,)).sum()": Code.BAD_SHAPE,
    'c[i, j] = tp.zeros((tp.dim("M"),)).sum()': Code.BAD_SHAPE,
    "c[i, j] = tp.zeros((-1,)).sum()": Code.BAD_SHAPE,
    "c[i, j] = tp.zeros((1.5,)).sum()": Code.BAD_SHAPE,
    "c[i, j] = tp.zeros((True,)).sum()": Code.BAD_SHAPE,
    "c[i, j] = tp.arange(i).to(f32)": Code.BAD_SHAPE,
    "c[i, j] = tp.group(i, 'N').to(f32)": Code.BAD_GROUP,
    "c[i, j] = tp.bitcast(c[i, j], f16).to(f32)": Code.WRONG_TYPE,
    "c[0:2, j] = c[i, j]": Code.TAGS_MEET,
    "if s > 0.0:\n    g = col[i]\nelse:\n    g = row[j]\nc[i, j] = g.sum()": Code.BRANCH_TYPE,
    "c[i, j] = tp.zeros((min(D, 4),)).sum()": Code.UNDECIDED,
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_does_not_belong_together_is_refused(body: str) -> None:
    assert codes(text(body)) == [REFUSED[body]]


@pytest.mark.parametrize(
    "body",
    [body for body, code in REFUSED.items() if code is Code.TAGS_MEET and "zeros((1" not in body and "0:2" not in body],
)
def test_tags_are_told_apart_whatever_the_sizes(body: str) -> None:
    """Also where every tile is one element long, and where lengths differ as well."""
    for tiles in ("BM: int = 1, BN: int = 1, BK: int = 1", "BM: int = 2, BN: int = 3, BK: int = 5"):
        assert codes(text(body, tiles)) == [Code.TAGS_MEET]


ACCEPTED = [
    "c[i, j] = col[i][:, None] + row[j]",
    "c[i, j] = col[i][:, None] * row[j][None, :]",
    "c[i, j] = row[j]",
    "c[i, j] = c[i, j].T.T",
    "c[i, j] = tp.zeros((BM, BN))",
    "c[i, j] = tp.zeros((1, BN)) + tp.zeros((BM, 1))",
    "c[i, j] = tp.zeros((i, BN)) + tp.zeros((BM, j))",
    "t = tp.zeros((BM, BN))\nfor k in tp.tiles(K=BK):\n    t = t + a[i, k] @ b[k, j]\nc[i, j] = t",
    "t = 0.0\nfor p in tp.tiles(K=BK):\n    t = t + b[p, 0].sum()\nc[i, j] = t",
    "t = tp.zeros((BK,))\nfor p in tp.tiles(K=BK):\n    t = b[p, 0]\n    c[i, j] = t.sum()",
    "t = 0.0\nfor p in tp.tiles(M=BM):\n    t = t + col[p].sum()\nc[i, j] = t",
    "c[i, j] = (d[i, :] * d[i, :]).sum(axis=1)[:, None]",
    "c[i, j] = d[i, 0:2] @ tp.zeros((2, j))",
    "c[i, j] = d[i, :] @ tp.zeros((D, j))",
    "c[i, j] = d[i, :] @ d[i, :].T @ tp.zeros((i, j))",
    "c[i, j] = col[ids[j]]",
    "c[i, j] = col[tp.arange(4)].sum()",
    "c[i, j] = f[0, 0] + f[tp.arange(4), 0].sum() + f[0:4, 0].sum() + f[:, 1].sum()",
    "c[i, j] = col[i.start] + col[i.stop - 1] + row[j.elements]",
    "c[i, j] = e[:].reshape(1, E).reshape(E)[0:1]",
    "c[i, j] = tp.cat((e[:], e[:], tp.zeros((3,)))).sum()",
    "c[i, j] = tp.cat((d[i, :], d[i, 0:1]), axis=1).sum(axis=1)[:, None]",
    "c[i, j] = c[i, j].sum(axis=0, keepdims=True) + c[i, j].sum(axis=1, keepdims=True)",
    "for p in tp.tiles(N=BN):\n    c[i, j] = c[i, j] + row[p].sum()",
]


@pytest.mark.parametrize("body", ACCEPTED)
def test_what_belongs_together_is_accepted(body: str) -> None:
    assert codes(text(body)) == []


def test_what_belongs_together_is_read_also_where_programs_would_meet() -> None:
    race = text("for p in tp.tiles(N=BN):\n    c[i, p] = c[i, p] + row[p]")
    verify_read(kernel(race))
    assert codes(race) == [Code.NOT_DISJOINT]


def test_the_message_names_both_tiles_and_both_places() -> None:
    (found,) = mistakes(text("total = c[i, j] + col[i]"))
    assert "`j`, a tile of N by 2" in found.message
    assert "`i`, a tile of M by 2" in found.message
    assert [label.span.text for label in found.labels] == ["c[i, j]", "col[i]"]


def test_the_message_says_where_a_walker_belongs() -> None:
    (found,) = mistakes(text("for k in tp.tiles(K=BK):\n    c[i, j] = a[k, i] @ b[k, j]"))
    assert found.message == "axis 0 of `a` is M, and `k` walks K"
    assert found.help == "`k` belongs at axis 1 of `a`: write `a[i, k]`"
    assert found.span is not None
    assert found.span.text == "k"


def test_two_static_dimensions_of_one_extent_stay_two() -> None:
    compiled = kernel(
        """
        @tp.kernel
        def k(y: Out[f32, "M"], d: In[f32, "M D"], e: In[f32, "E"], *, D: int, E: int) -> None:
            for i in tp.parallel(M=2):
                y[i] = (d[i, :] + e[:]).sum(axis=1)
        """
    )
    with pytest.raises(tp.KernelError) as caught:
        compiled(np.zeros(2, np.float32), np.zeros((2, 3), np.float32), np.zeros(3, np.float32))
    assert [d.code for d in caught.value.diagnostics] == [Code.TAGS_MEET]


# No phantom elements: every tile but the last is full, and all elements are negative, so that a zero, or an element
# counted twice, would show.

EDGES: dict[str, Callable[[Any, Any], Any]] = {
    "x[i, j].sum(axis=1)[:, None]": lambda x, v: x.sum(1)[:, None],
    "x[i, j].sum(axis=0)": lambda x, v: x.sum(0),
    "x[i, j].sum()": lambda x, v: x.sum(),
    "x[i, j].max(axis=1)[:, None]": lambda x, v: x.max(1)[:, None],
    "x[i, j].min(axis=0)": lambda x, v: x.min(0),
    "(-x[i, j]).min()": lambda x, v: (-x).min(),
    "x[i, j].mean(axis=1, keepdims=True)": lambda x, v: x.mean(1, keepdims=True),
    "x[i, j].mean(axis=0)": lambda x, v: x.mean(0),
    "x[i, j].mean()": lambda x, v: x.mean(),
    "x[i, j].argmax(axis=1)[:, None].to(f32)": lambda x, v: x.argmax(1)[:, None],
    "x[i, j].argmin(axis=0).to(f32)": lambda x, v: x.argmin(0),
    "(x[i, j] < 0.0).all(axis=1)[:, None].to(f32)": lambda x, v: 1,
    "(x[i, j] >= 0.0).any().to(f32)": lambda x, v: 0,
    "x[i, j].cumsum(axis=1)": lambda x, v: x.cumsum(1),
    "x[i, j].T.cumsum(axis=1).T": lambda x, v: x.cumsum(0),
    "(x[i, j] * 0.0 + 1.0).sum()": lambda x, v: x.size,
    "tp.full((BM, BN), 1.0).sum()": lambda x, v: BM * BN,
    "tp.full((i, j), 1.0).sum()": lambda x, v: x.size,
    "tp.full((i, BN), 1.0).sum()": lambda x, v: len(x) * BN,
    "(tp.zeros((BM, BN)) + x[i, j]).sum()": lambda x, v: x.sum(),
    "(tp.full((BM, BN), 1.0) * v[i][:, None]).sum(axis=0, keepdims=True).sum()": lambda x, v: v.sum() * BN,
    "(tp.full((BM,), 1.0) + v[i]).sum()": lambda x, v: (v + 1).sum(),
    "tp.where(tp.full((BM, 1), True, bool), x[i, j], 0.0).max()": lambda x, v: x.max(),
    "v[i].mean()": lambda x, v: v.mean(),
    "(v[i] - v[i].mean()).sum()": lambda x, v: (v - v.mean()).sum(),
    "v[i][:, None].max()": lambda x, v: v.max(),
    "(x[i, j] @ x[i, j].T).sum(axis=1)[:, None]": lambda x, v: (x @ x.T).sum(1)[:, None],
    "(x[i, j].T @ v[i][:, None] + x[i, j].sum(axis=0)[:, None]).T": lambda x, v: x.T @ v + x.sum(0),
    "(x[i, j] @ tp.full((BN, 1), 1.0))": lambda x, v: x.sum(1)[:, None],
    "(tp.full((1, BM), 1.0) @ x[i, j])": lambda x, v: x.sum(0)[None, :],
    "i.elements.max().to(f32)": lambda x, v: i_of(v)[-1],
    "(i.stop - i.start).to(f32)": lambda x, v: len(v),
    "(tp.arange(BM) + i.elements).sum().to(f32)": lambda x, v: (np.arange(len(v)) + i_of(v)).sum(),
    "v[i.elements].sum()": lambda x, v: v.sum(),
    "x[i, j].shape[0] * x[i, j]": lambda x, v: BM * x,
}
BM, BN = 3, 2


def i_of(v: Any) -> Any:
    """The positions of a tile of v, which holds -1 - position."""
    return (-1 - v).astype(int)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("expression", EDGES)
def test_only_elements_that_exist_count(expression: str) -> None:
    compiled = kernel(
        f"""
        @tp.kernel
        def k(y: Out[f32, "M N"], x: In[f32, "M N"], v: In[f32, "M"], *, BM: int, BN: int) -> None:
            for i, j in tp.parallel(M=BM, N=BN):
                y[i, j] = {expression}
        """
    )
    rng = np.random.default_rng(3)
    for rows, columns, order in itertools.product((0, 1, 3, 4, 8), (0, 1, 2, 5), ("forward", 1)):
        x = -1 - rng.integers(0, 9, (rows, columns)).astype(np.float32)
        v = -1 - np.arange(rows, dtype=np.float32)
        y, expected = np.zeros_like(x), np.zeros_like(x)
        for i, j in itertools.product(range(0, rows, BM), range(0, columns, BN)):
            tile = (slice(i, i + BM), slice(j, j + BN))
            expected[tile] = EDGES[expression](x[tile], v[i : i + BM])
        tp.interpret(compiled, y, x, v, BM=BM, BN=BN, order=order)
        np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_reductions_of_nothing_have_their_values() -> None:
    compiled = kernel(
        """
        @tp.kernel
        def k(y: Out[f32, "7"], x: In[f32, "D"], n: In[i8, "D"], *, D: int) -> None:
            y[0] = x[:].sum()
            y[1] = x[:].max()
            y[2] = x[:].min()
            y[3] = x[:].mean()
            y[4] = n[:].max().to(f32)
            y[5] = n[:].min().to(f32)
            y[6] = (x[:] > 0.0).any().to(f32) + 2.0 * (x[:] > 0.0).all().to(f32)
        """
    )
    y = np.zeros(7, np.float32)
    tp.interpret(compiled, y, np.zeros(0, np.float32), np.zeros(0, np.int8))
    np.testing.assert_array_equal(y, [0, -np.inf, np.inf, np.nan, -128, 127, 2])


def test_a_walk_is_clipped_at_its_stop_and_at_the_axis() -> None:
    compiled = kernel(
        """
        @tp.kernel
        def k(y: Out[f32, "M"], x: In[f32, "M K"], low: i32, high: i32, *, BK: int = 4) -> None:
            for i in tp.parallel(M=2):
                count, total, mean = 0.0, 0.0, 0.0
                for q in tp.tiles(K=BK, start=low, stop=high):
                    part = x[i, q]
                    count = count + (part * 0.0 + 1.0).sum(axis=1)
                    total = total + part.sum(axis=1)
                    mean = mean + part.mean(axis=1) * (q.stop - q.start).to(f32)
                y[i] = total + 100.0 * count + 10000.0 * (mean - total)
        """
    )
    rng = np.random.default_rng(4)
    for extent, low, high in itertools.product((0, 3, 7, 9), (0, 1, 6), (-2, 0, 5, 20)):
        x = rng.integers(1, 5, (3, extent)).astype(np.float32)
        y, part = np.zeros(3, np.float32), x[:, low : max(high, 0)]
        tp.interpret(compiled, y, x, low, high)
        np.testing.assert_allclose(y, part.sum(1) + 100 * part.shape[1], atol=0.1)
