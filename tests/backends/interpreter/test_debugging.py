"""What a kernel shows and assumes while it runs."""

from __future__ import annotations

import numpy as np
import pytest
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import run
from tileproof.diagnostics import Code, SanitizerError
from tileproof.ir import ops
from tileproof.ir.ops import Along, BinaryFn
from tileproof.ir.types import INDEX_SCALAR, Access, TileType
from tileproof.language.dtypes import BF16, BOOL, F32, INDEX

pytestmark = pytest.mark.filterwarnings("error")


def test_print_shows_the_program_the_label_and_live_elements(capsys: pytest.CaptureFixture[str]) -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "M N")
    b.do(ops.Print, "before", (b(ops.Extents, INDEX_SCALAR, "N"),))
    i, j = walker("i", "M", 2), walker("j", "N", None)
    with b.parallel(i, j):
        column = b.load(x, Along(i), Along(j))
        b.do(ops.Print, "column", (column, b(ops.Start, INDEX_SCALAR, j)))
        b.do(ops.Print, "here", ())
    run(b.kernel(), {"x": np.arange(3, dtype=np.float32).reshape(3, 1) / 2}, {"M": 3, "N": 1})
    assert capsys.readouterr().out.splitlines() == [
        "[kernel] before: 1",
        "[kernel i=0:2, j=0] column: [0. , 0.5], 0",
        "[kernel i=0:2, j=0] here",
        "[kernel i=2:3, j=0] column: [1.], 0",
        "[kernel i=2:3, j=0] here",
    ]


def test_rows_stand_below_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, BF16, "M N")
    i, j = walker("i", "M", 2), walker("j", "N", 2)
    with b.parallel(i, j):
        b.do(ops.Print, "x", (b.load(x, Along(i), Along(j)),))
    run(b.kernel(), {"x": np.arange(4).reshape(2, 2).astype(BF16.storage)}, {"M": 2, "N": 2})
    assert capsys.readouterr().out.splitlines() == [
        "[kernel i=0:2, j=0:2] x: [[0, 1],",
        "                          [2, 3]]",
    ]


def test_after_a_join_the_walkers_that_are_left_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for walks in (True, False):
        b = Builder()
        b.tensor("x", Access.IN, F32, "M K")
        i, z = walker("i", "M", 2), walker("z", "K", 2, is_piece=True)
        with b.parallel(*((i, z) if walks else (z,))):
            (total,) = b.join(z, b.constant(1.0, F32), by=BinaryFn.ADD)
            b.do(ops.Print, "total", (total,))
        run(b.kernel(), {"x": np.zeros((2, 5), np.float32)}, {"M": 2, "K": 5})
    assert capsys.readouterr().out.splitlines() == ["[kernel i=0:2] total: 3.", "[kernel] total: 3."]


def test_a_false_assumption_is_found_by_the_sanitizer() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    n = walker("n", "N", 2)
    with b.parallel(n):
        four = b(ops.Broadcast, TileType(INDEX, (tagged(n),)), b.constant(4))
        positions = b(ops.Elements, TileType(INDEX, (tagged(n),)), n)
        below = b(ops.Binary, TileType(BOOL, (tagged(n),)), BinaryFn.LT, positions, four)
        every = b(ops.Reduce, TileType(BOOL), ops.ReduceFn.ALL, below, 0)
        line = b.do(ops.Assume, every, "the host said so")
    run(b.kernel(), {"x": np.zeros(4, np.float32)}, {"N": 4})
    run(b.kernel(), {"x": np.zeros(5, np.float32)}, {"N": 5}, sanitize=False)
    with pytest.raises(SanitizerError) as caught:
        run(b.kernel(), {"x": np.zeros(5, np.float32)}, {"N": 5})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.FALSE_ASSUMPTION
    assert diagnostic.message == "program n=4:5 assumes something that is false"
    assert "the reason given: the host said so" in diagnostic.notes
    assert diagnostic.span is not None
    assert diagnostic.span.line == line
