"""Races and unwritten elements, seen while they happen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import Order, run
from tileproof.diagnostics import Code, Race, Unwritten, render
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn, Gather, Window
from tileproof.ir.types import Access, Axis, Content, TileType
from tileproof.language.dtypes import F32, I32


def zeros(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.zeros(shape, np.float32)


def column_kernel() -> tuple[ops.KernelIR, int]:
    """`c[i, 0:4] = 1` in the space of i and j: all j write the same columns. With the line of the store."""
    b = Builder()
    c = b.tensor("c", Access.INOUT, F32, "M N")
    i, j = walker("i", "M", 2), walker("j", "N", 4)
    with b.parallel(i, j):
        one = b(ops.Broadcast, TileType(F32, (tagged(i), Axis(4))), b.constant(1.0, F32))
        line = b.do(ops.Store, c, (Along(i), Window(0, 4)), one)
    return b.kernel(), line


def test_two_programs_that_write_one_element() -> None:
    kernel, line = column_kernel()
    c = zeros(4, 8)
    with pytest.raises(Race) as caught:
        run(kernel, {"c": c}, {"M": 4, "N": 8})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.RACE
    assert diagnostic.message == "programs i=0:2, j=0:4 and i=0:2, j=4:8 both write c[0, 0]"
    assert diagnostic.span is not None
    assert (diagnostic.span.line, diagnostic.label) == (line, "program i=0:2, j=4:8 writes it here")
    labels = [(label.span.line, label.text) for label in diagnostic.labels]
    assert labels == [(line, "program i=0:2, j=0:4 writes it here")]
    assert "with M=4, N=8" in diagnostic.notes
    assert "index c with i and j" in diagnostic.help
    assert diagnostic.kernel == "kernel"
    assert not c.any()
    assert "TP0701" in render(diagnostic)


def test_the_order_of_points_changes_only_who_is_first() -> None:
    kernel, _ = column_kernel()
    with pytest.raises(Race, match="programs i=2:4, j=4:8 and i=2:4, j=0:4 both write"):
        run(kernel, {"c": zeros(4, 8)}, {"M": 4, "N": 8}, order="reverse")


def test_without_sanitizer_a_race_runs() -> None:
    kernel, _ = column_kernel()
    c = zeros(4, 8)
    run(kernel, {"c": c}, {"M": 4, "N": 8}, sanitize=False)
    assert c.tolist() == [[1] * 4 + [0] * 4] * 4


def neighbour_kernel(reads_first: bool) -> tuple[ops.KernelIR, int, int]:
    """Every program reads element 0 and writes its own; the lines of the read and of the write."""
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "N")
    n = walker("n", "N", None)
    with b.parallel(n):
        one = b.constant(1.0, F32)
        if not reads_first:
            write = b.do(ops.Store, x, (Along(n),), one)
        b.load(x, At(b.constant(0)))
        read = b.line
        if reads_first:
            write = b.do(ops.Store, x, (Along(n),), one)
    return b.kernel(), read, write


@pytest.mark.parametrize("reads_first", [False, True])
@pytest.mark.parametrize("order", ["forward", "reverse", 1])
def test_a_read_of_what_another_program_writes(reads_first: bool, order: Order) -> None:
    kernel, read, write = neighbour_kernel(reads_first)
    with pytest.raises(Race) as caught:
        run(kernel, {"x": zeros(3)}, {"N": 3}, order=order)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message.endswith("reads x[0], which program n=0 writes")
    assert not diagnostic.message.startswith("program n=0 ")
    lines = {diagnostic.span.line if diagnostic.span else 0, *(label.span.line for label in diagnostic.labels)}
    assert lines == {read, write}


@pytest.mark.parametrize("order", ["forward", "reverse", 4])
def test_reads_of_one_element_by_all_do_not_race(order: Order) -> None:
    kernel, _, _ = neighbour_kernel(reads_first=True)
    run(kernel, {"x": zeros(1)}, {"N": 1}, order=order)
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "N")
    n = walker("n", "N", None)
    with b.parallel(n):
        b.load(x, At(b.constant(0)))
    run(b.kernel(), {"x": zeros(5)}, {"N": 5}, order=order)


def test_one_program_may_read_and_write_its_elements_again() -> None:
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "N")
    n = walker("n", "N", 2)
    with b.parallel(n):
        for _ in range(2):
            value = b.load(x, Along(n))
            b.do(ops.Store, x, (Along(n),), b.binary(BinaryFn.ADD, value, value))
    out = np.ones(5, np.float32)
    run(b.kernel(), {"x": out}, {"N": 5}, order=2)
    assert out.tolist() == [4.0] * 5


def scripted_kernel() -> ops.KernelIR:
    """Program n reads x at `reads[n]`, then writes it at `writes[n]`."""
    b = Builder()
    x = b.tensor("x", Access.INOUT, F32, "V")
    reads = b.tensor("reads", Access.IN, Content("Index", "V", I32), "N R")
    writes = b.tensor("writes", Access.IN, Content("Index", "V", I32), "N W")
    n, r, w = walker("n", "N", None), walker("r", "R", 2), walker("w", "W", 2)
    with b.parallel(n):
        with b.block() as reading:
            b.load(x, Gather(b.load(reads, Along(n), Along(r))))
        b.do(ops.TilesLoop, (), r, None, None, (), (), ops.Block(tuple(reading)))
        with b.block() as writing:
            places = b.load(writes, Along(n), Along(w))
            one = b(ops.Broadcast, TileType(F32, (tagged(w),)), b.constant(1.0, F32))
            b.do(ops.Store, x, (Gather(places),), one)
        b.do(ops.TilesLoop, (), w, None, None, (), (), ops.Block(tuple(writing)))
    return b.kernel()


SCRIPTED = scripted_kernel()


@given(st.data())
def test_a_race_is_reported_exactly_when_there_is_one(data: st.DataObject) -> None:
    elements, programs = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    tables = {}
    for name in ("reads", "writes"):
        width = data.draw(st.integers(0, 3))
        width = min(width, elements)
        row = st.lists(st.integers(0, elements - 1), min_size=width, max_size=width, unique=name == "writes")
        table = data.draw(st.lists(row, min_size=programs, max_size=programs))
        tables[name] = np.array(table, np.int32).reshape(programs, width)
    touched = [set(r.tolist()) | set(w.tolist()) for r, w in zip(tables["reads"], tables["writes"], strict=True)]
    races = any(
        set(tables["writes"][p].tolist()) & touched[q] for p in range(programs) for q in range(programs) if p != q
    )
    arguments = {"x": zeros(elements), **tables}
    extents = {"V": elements, "N": programs, "R": tables["reads"].shape[1], "W": tables["writes"].shape[1]}
    order: Order = data.draw(st.sampled_from(["forward", "reverse", 0, 1]))
    if races:
        with pytest.raises(Race):
            run(SCRIPTED, arguments, extents, order=order)
    else:
        run(SCRIPTED, arguments, extents, order=order)


def diagonal_kernel() -> ops.KernelIR:
    b = Builder()
    c = b.tensor("c", Access.OUT, F32, "N N")
    n = walker("n", "N", None)
    with b.parallel(n):
        b.do(ops.Store, c, (Along(n), Along(n)), b.constant(1.0, F32))
    return b.kernel()


def test_an_element_nobody_writes() -> None:
    c = zeros(3, 3)
    with pytest.raises(Unwritten) as caught:
        run(diagonal_kernel(), {"c": c}, {"N": 3})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.UNWRITTEN
    assert diagnostic.message == "no program writes c[0, 1]"
    assert diagnostic.span == diagonal_kernel().parameters[0].span
    assert diagnostic.notes == ("6 elements are never written", "with N=3")
    assert "InOut" in diagnostic.help
    assert not c.any()


def test_without_sanitizer_unwritten_elements_stay() -> None:
    c = zeros(2, 2)
    run(diagonal_kernel(), {"c": c}, {"N": 2}, sanitize=False)
    assert c.tolist() == [[1, 0], [0, 1]]
    run(diagonal_kernel(), {"c": zeros(0, 0)}, {"N": 0})
