"""Loops and branches: what runs gives what Python would, the rest has its code."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kernel_files import codes, mistakes, with_body
from small_runs import Tile, check

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


@pytest.mark.sweep(8)
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


@pytest.mark.sweep(5)
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
