"""Loops, branches, the parallel space and combining: what runs gives what Python would, the rest has its code."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from textwrap import dedent

import numpy as np
import pytest
from kernel_files import codes, kernel, mistakes, with_body
from small_runs import BM, BN, M, N, Tile, arguments, check

import tileproof as tp
from tileproof.diagnostics.codes import Code

LOOPS: dict[str, tuple[str, Callable[..., Tile]]] = {
    "a float literal takes the type of what is added": (
        """
        total = 0.0
        for k in tp.tiles(D=3):
            total = total + d[i, k].sum(axis=1)
        y[i, j] = total[:, None]
        """,
        lambda x, v, w, d, n: d.sum(1)[:, None],
    ),
    "a whole literal becomes a float": (
        """
        total = 0
        for k in tp.tiles(D=tp.each):
            total = total + d[i, k]
        y[i, j] = total[:, None]
        """,
        lambda x, v, w, d, n: d.sum(1)[:, None],
    ),
    "a whole literal that meets none is an index": (
        """
        count = 0
        for k in range(5):
            count = count + k
        y[i, j] = count.to(f32)
        """,
        lambda x, v, w, d, n: 10,
    ),
    "a literal that is only replaced": (
        """
        last = 0
        for k in range(3):
            last = 7
        y[i, j] = last.to(f32)
        """,
        lambda x, v, w, d, n: 7,
    ),
    "whole and float literals join to f32": (
        """
        last = 0
        for k in range(3):
            last = 2.5
        y[i, j] = last
        """,
        lambda x, v, w, d, n: 2.5,
    ),
    "a literal around a loop of no turns": (
        """
        total = 2.0
        for k in tp.tiles(D=2, start=4):
            total = total + d[i, k].sum(axis=1)
        y[i, j] = total[:, None]
        """,
        lambda x, v, w, d, n: 2.0,
    ),
    "lowest takes the type it meets": (
        """
        top = tp.lowest
        for k in tp.tiles(D=3):
            top = tp.maximum(top, d[i, k].max(axis=1))
        y[i, j] = top[:, None]
        """,
        lambda x, v, w, d, n: d.max(1)[:, None],
    ),
    "a flag": (
        """
        first, total = True, 0.0
        for k in range(3):
            total = total + (10.0 if first else 1.0)
            first = False
        y[i, j] = total
        """,
        lambda x, v, w, d, n: 12.0,
    ),
    "a tuple": (
        """
        pair = (0.0, 1.0)
        for k in range(6):
            pair = (pair[1], pair[0] + pair[1])
        y[i, j] = pair[0] * x[i, j]
        """,
        lambda x, v, w, d, n: 8 * x,
    ),
    "tuples in tuples": (
        """
        state = ((0.0, x[i, j]), 1.0)
        for k in range(3):
            (a, t), b = state
            state = ((a + b, t * 2.0), b + 1.0)
        y[i, j] = state[0][0] + state[0][1] + state[1]
        """,
        lambda x, v, w, d, n: 6 + 8 * x + 4,
    ),
    "values that change places": (
        """
        a, b = 1.0, 2.0
        for k in range(3):
            a, b = b, a
        y[i, j] = a * 10.0 + b
        """,
        lambda x, v, w, d, n: 21,
    ),
    "nested loops": (
        """
        total = 0.0
        for a in range(3):
            row = 0.0
            for b in range(a + 1):
                row = row + b.to(f32)
                total = total + 100.0
            total = total + row
        y[i, j] = total
        """,
        lambda x, v, w, d, n: 604,
    ),
    "a nested loop over tiles": (
        """
        total = tp.zeros((i,))
        for a in tp.tiles(D=2):
            for b in tp.tiles(D=3):
                total += d[i, a].sum(axis=1) * d[i, b].sum(axis=1)
        y[i, j] = total[:, None]
        """,
        lambda x, v, w, d, n: (d.sum(1) ** 2)[:, None],
    ),
    "an inner loop that reuses the name of an outer one": (
        """
        total = 0.0
        for a in range(3):
            total += a.to(f32)
            for a in range(2):
                total += 10.0 * a.to(f32)
        y[i, j] = total
        """,
        lambda x, v, w, d, n: 33,
    ),
    "range with a step": (
        """
        total = 0.0
        for a in range(2, 9, 3):
            total = total * 10.0 + a.to(f32)
        for a in range(5, -2, -3):
            total = total * 10.0 + a.to(f32)
        for a in range(5, 5):
            total = 0.0 * total
        y[i, j] = total
        """,
        lambda x, v, w, d, n: ((258 * 10 + 5) * 10 + 2) * 10 - 1,
    ),
    "range with bounds known on the device": (
        """
        total = 0.0
        low, high = n[i].min(), n[i].max()
        for a in range(low, high + 1, 2):
            total += a.to(f32)
        y[i, j] = total
        """,
        lambda x, v, w, d, n: sum(range(n.min(), n.max() + 1, 2)),
    ),
    "range with a step that is 0 on the device": (
        """
        total = 1.0
        zero = n[i].max() * 0
        for a in range(0, 5, zero):
            total += 1.0
        y[i, j] = total
        """,
        lambda x, v, w, d, n: 1.0,
    ),
    "tiles with start and stop": (
        """
        total = 0.0
        for k in tp.tiles(D=2, start=1, stop=n[i].max()):
            total = total + d[i, k].sum(axis=1)
        y[i, j] = total[:, None]
        """,
        lambda x, v, w, d, n: d[:, 1 : max(n.max(), 1)].sum(1)[:, None],
    ),
    "while": (
        """
        value, turns = x[i, j].max() + 40.0, 0
        while value > 1.0:
            value, turns = value / 2.0, turns + 1
        y[i, j] = turns.to(f32) + value
        """,
        lambda x, v, w, d, n: halved(x.max() + 40),
    ),
    "while that runs no turn": (
        """
        total = 3.0
        while total < 0.0:
            total = total + x[i, j].sum()
        y[i, j] = total
        """,
        lambda x, v, w, d, n: 3.0,
    ),
    "while with a constant that is false": (
        """
        total = 3.0
        while False:
            total = total + x[i, j].sum()
        while 0:
            total = total + x[i, j].sum()
        y[i, j] = total
        """,
        lambda x, v, w, d, n: 3.0,
    ),
    "while against a static dimension": (
        """
        count = 0
        while count < D:
            count = count + 3
        y[i, j] = count.to(f32)
        """,
        lambda x, v, w, d, n: 6,
    ),
    "a literal compared with a static dimension": (
        """
        count = 0
        for k in range(9):
            if count < D:
                count = count + 1
        y[i, j] = count.to(f32)
        """,
        lambda x, v, w, d, n: 4,
    ),
    "an element of a walk is carried by its position": (
        """
        best, where = tp.lowest, 0
        for k in tp.tiles(D=tp.each):
            value = d[i, k].sum()
            if value > best:
                best, where = value, k
        last = 0
        for k in tp.tiles(D=tp.each):
            last = k
        y[i, j] = where.to(f32) + 10.0 * last.to(f32)
        """,
        lambda x, v, w, d, n: d.sum(0).argmax() + 30,
    ),
    "a name of another type that each turn sets anew": (
        """
        t = n[i]
        for k in range(2):
            t = 1.5
            y[i, j] = x[i, j] * t
        """,
        lambda x, v, w, d, n: x * 1.5,
    ),
    "a tile without tags becomes what it is joined with": (
        """
        acc = tp.zeros((BM, BN))
        for k in tp.tiles(D=3):
            acc = acc + x[i, j]
        y[i, j] = acc
        """,
        lambda x, v, w, d, n: x * 2,
    ),
    "augmented assignment of names": (
        """
        a = x[i, j]
        for k in range(2):
            a += 1.0
            a *= 2.0
            a -= v[i][:, None]
        y[i, j] = a
        """,
        lambda x, v, w, d, n: ((x + 1) * 2 - v[:, None] + 1) * 2 - v[:, None],
    ),
}


def halved(value: float) -> float:
    turns = 0
    while value > 1:
        value, turns = value / 2, turns + 1
    return turns + value


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_carries(name: str) -> None:
    body, wanted = LOOPS[name]
    check(with_body(body), wanted)


BRANCHES: dict[str, tuple[str, Callable[..., Tile]]] = {
    "if, elif, else": (
        """
        total = x[i, j].sum()
        if total > 3.0:
            a = x[i, j]
        elif total > -2.0:
            a = x[i, j] * 2.0
        else:
            a = -x[i, j]
        y[i, j] = a
        """,
        lambda x, v, w, d, n: x if x.sum() > 3 else x * 2 if x.sum() > -2 else -x,
    ),
    "if without else": (
        """
        a = x[i, j]
        if a.sum() > 0.0:
            a = a + 1.0
        y[i, j] = a
        """,
        lambda x, v, w, d, n: x + (x.sum() > 0),
    ),
    "stores in one branch": (
        """
        y[i, j] = 0.0
        if x[i, j].sum() > 0.0:
            y[i, j] = x[i, j]
        """,
        lambda x, v, w, d, n: x if x.sum() > 0 else 0,
    ),
    "literals of both kinds": (
        """
        if x[i, j].sum() > 0.0:
            a, b, c = 1, 2, True
        else:
            a, b, c = 1.5, 3, False
        y[i, j] = tp.where(c, a, b.to(f32))
        """,
        lambda x, v, w, d, n: 1 if x.sum() > 0 else 3,
    ),
    "equal constants stay constants": (
        """
        if x[i, j].sum() > 0.0:
            half, huge = D // 2, 10**400
        else:
            half, huge = D // 2, 10**400
        y[i, j] = d[i, 0:half].sum(axis=1)[:, None]
        """,
        lambda x, v, w, d, n: d[:, :2].sum(1)[:, None],
    ),
    "a literal and a tile": (
        """
        if x[i, j].sum() > 0.0:
            a = 3
        else:
            a = x[i, j]
        y[i, j] = a
        """,
        lambda x, v, w, d, n: 3 if x.sum() > 0 else x,
    ),
    "a tile without tags and one with": (
        """
        if x[i, j].sum() > 0.0:
            a = tp.full((BM, BN), 2.0)
        else:
            a = x[i, j]
        y[i, j] = a
        """,
        lambda x, v, w, d, n: 2 if x.sum() > 0 else x,
    ),
    "tuples": (
        """
        if x[i, j].sum() > 0.0:
            p = (1.0, x[i, j])
        else:
            p = (2.0, x[i, j] * 2.0)
        y[i, j] = p[0] * p[1]
        """,
        lambda x, v, w, d, n: x if x.sum() > 0 else 4 * x,
    ),
    "a name bound in one branch and not used": (
        """
        if x[i, j].sum() > 0.0:
            a = 1.0
            y[i, j] = a
        else:
            y[i, j] = 2.0
        """,
        lambda x, v, w, d, n: 1 if x.sum() > 0 else 2,
    ),
    "a constant condition chooses while compiling": (
        """
        if BM > 1 and not BN == BM:
            a = x[i, j]
        else:
            a = nowhere
        if x.dtype == f32 or nowhere:
            a = a + 1.0
        if BM != 2:
            a = (1, 2)
        y[i, j] = a if 1 < BN < 5 else nowhere
        """,
        lambda x, v, w, d, n: x + 1,
    ),
    "conditional expressions": (
        """
        s = x[i, j].sum()
        a = (1.0 if s > 3.0 else s) if s > 0.0 else 3 if s > -3.0 else -s
        y[i, j] = a
        """,
        lambda x, v, w, d, n: (1 if x.sum() > 3 else x.sum()) if x.sum() > 0 else 3 if x.sum() > -3 else -x.sum(),
    ),
    "a conditional expression beside the name either": (
        """
        either = x[i, j]
        y[i, j] = either if x[i, j].sum() > 0.0 else -either
        """,
        lambda x, v, w, d, n: x if x.sum() > 0 else -x,
    ),
    "a branch in a loop in a branch": (
        """
        a = 0.0
        if x[i, j].sum() > 0.0:
            for k in range(4):
                if k % 2 == 0:
                    a = a + 1.0
                else:
                    a = a * 3.0
        y[i, j] = a
        """,
        lambda x, v, w, d, n: 12 if x.sum() > 0 else 0,
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_joins(name: str) -> None:
    body, wanted = BRANCHES[name]
    check(with_body(body), wanted)


NAMES = [
    ("y[i, j] = missing", Code.UNKNOWN_NAME),
    ("y[i, j] = M", Code.UNKNOWN_NAME),
    ("y[i, j] = tp.missing", Code.UNKNOWN_NAME),
    ("if x[i, j].sum() > 0.0:\n    a = 1.0\ny[i, j] = a", Code.MAYBE_UNBOUND),
    ("for a in range(3):\n    b = a\ny[i, j] = b.to(f32)", Code.MAYBE_UNBOUND),
    ("for a in range(3):\n    pass\ny[i, j] = a.to(f32)", Code.MAYBE_UNBOUND),
    ("for a in tp.tiles(D=2):\n    pass\ny[i, j] = d[i, a].sum()", Code.MAYBE_UNBOUND),
    ("a = 1\nfor a in range(3):\n    pass\ny[i, j] = a.to(f32)", Code.MAYBE_UNBOUND),
    ("while x[i, j].sum() > 0.0:\n    b = 1.0\ny[i, j] = b", Code.MAYBE_UNBOUND),
    ("if x[i, j].sum() > 0.0:\n    a = 1.0\nelse:\n    a = (1.0, 2.0)\ny[i, j] = a", Code.BRANCH_TYPE),
    ("if x[i, j].sum() > 0.0:\n    a = x[i, j]\nelse:\n    a = n[i]\ny[i, j] = a", Code.BRANCH_TYPE),
    ("y[i, j] = x[i, j] if x[i, j].sum() > 0.0 else n[i]", Code.BRANCH_TYPE),
    ("if x[i, j].sum() > 0.0:\n    a = True\nelse:\n    a = 1\ny[i, j] = a", Code.BRANCH_TYPE),
    ("a = 0.0\nfor b in range(3):\n    a = n[i] + a.to(i32)\ny[i, j] = 1.0", Code.LOOP_TYPE),
    ("a = x[i, j]\nfor b in range(3):\n    a = a.sum(axis=1)\ny[i, j] = 1.0", Code.LOOP_TYPE),
    ("a = n[i]\nfor b in range(3):\n    a = a + 1\n    a = 1.5\ny[i, j] = 1.0", Code.LOOP_TYPE),
    ("a = True\nfor b in range(3):\n    a = 1\ny[i, j] = a", Code.LOOP_TYPE),
    ("a = (1.0, 2.0)\nfor b in range(3):\n    a = (a, 1.0)\ny[i, j] = 1.0", Code.LOOP_TYPE),
    ("a = i\nfor b in tp.tiles(M=BM):\n    y[a, j] = 1.0\n    a = b", Code.LOOP_TYPE),
    ("while True:\n    pass\ny[i, j] = 1.0", Code.CONDITION),
    ("while x[i, j] > 0.0:\n    pass\ny[i, j] = 1.0", Code.CONDITION),
    ("if x[i, j]:\n    pass\ny[i, j] = 1.0", Code.CONDITION),
    ("if n[i].max():\n    pass\ny[i, j] = 1.0", Code.CONDITION),
    ("y[i, j] = 1.0 if x[i, j] > 0.0 else 2.0", Code.CONDITION),
    ("y[i, j] = tp.where(x[i, j] > 0.0 and w[j] > 0.0, 1.0, 2.0)", Code.BOOLEAN_OPERATOR),
    ("y[i, j] = tp.where(not x[i, j] > 0.0, 1.0, 2.0)", Code.BOOLEAN_OPERATOR),
    ("y[i, j] = tp.where(0.0 < x[i, j] < 1.0, 1.0, 2.0)", Code.CHAINED_COMPARISON),
    ("y[i, j] = 1.0 if tp.lowest < 0.0 < 1.0 else 2.0", Code.CHAINED_COMPARISON),
    ("for a in x:\n    pass", Code.NOT_ITERABLE),
    ("for a in range(0, 3, 0):\n    pass", Code.BAD_CALL),
    ("for a in range(0.5):\n    pass", Code.BAD_INDEX),
    ("for a, b in range(3):\n    pass", Code.WALKER_COUNT),
    ("for a.b in range(3):\n    pass", Code.ASSIGNMENT_TARGET),
    ("x[i, j] + 1.0", Code.UNSUPPORTED_STATEMENT),
    ("a, b = 1, 2, 3", Code.ASSIGNMENT_TARGET),
    ("a = x.shape[::0]", Code.BAD_INDEX),
    ("a = x.shape[2]", Code.CONSTANT_OUTSIDE),
    ("a.b = 1", Code.ASSIGNMENT_TARGET),
    ("x[i, j][0] = 1.0", Code.ASSIGNMENT_TARGET),
    ("x[i, j] = 1.0", Code.WRITES_IN),
    ("a = [1.0]\na[0] = 2.0", Code.ASSIGNMENT_TARGET),
    ("a = 2 ** 4096 ** 2", Code.LITERAL_RANGE),
    ("a = (2 ** 4096) ** 4096", Code.LITERAL_RANGE),
    ("a = 0x" + "F" * 9000, Code.LITERAL_RANGE),
    ("y[i, j] = x[i, j]" + " + 1.0" * 1500, Code.UNSUPPORTED_EXPRESSION),
]


@pytest.mark.parametrize(("body", "code"), NAMES, ids=[body[:60] for body, _ in NAMES])
def test_what_has_no_meaning_is_refused(body: str, code: Code) -> None:
    assert codes(with_body(body)) == [code]


def test_all_mistakes_are_reported_at_once_and_their_consequences_are_not() -> None:
    body = """
        a = missing
        b = a + 1.0
        for k in range(2):
            c = b * 2.0
            b = x[i, j]
            y[i, j] = n[i]
        if x[i, j].sum() > 0.0:
            e = x[i]
        else:
            e = x[i, j] + n[i]
        y[i, j] = e
        y[j, i] = 1.0
        """
    found = mistakes(with_body(body))
    assert [d.code for d in found] == [
        Code.UNKNOWN_NAME,
        Code.STORE_CAST,
        Code.WRONG_RANK,
        Code.MIXED_TYPES,
        Code.WRONG_DIMENSION,
    ]


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
