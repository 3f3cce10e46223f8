"""Entries of index tensors: a position or none, and what each access does at none and outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import Builder, tagged, walker

from tileproof.backends.interpreter import run, semantics
from tileproof.diagnostics import Code, OutOfBounds, Race
from tileproof.ir import ops
from tileproof.ir.ops import Along, At, BinaryFn, Gather, UnaryFn, Whole, Window
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, TileType
from tileproof.language.dtypes import BF16, BOOL, ENTRY, F32, I8, I32, I64, INDEX, DType

pytestmark = pytest.mark.filterwarnings("error")

IDS = Content("Index", "V", I32)


def entries(*numbers: int) -> Any:
    return np.array(numbers, np.int32)


@given(st.lists(st.integers(-1, 2**63 - 1)), st.integers(1, 2**63 - 1))
def test_division_keeps_none(numbers: list[int], divisor: int) -> None:
    left, right = np.array(numbers, np.int64), np.full(len(numbers), divisor)
    for fn, python in ((BinaryFn.FLOORDIV, lambda n: n // divisor), (BinaryFn.MOD, lambda n: n % divisor)):
        expected = [-1 if number == -1 else python(number) for number in numbers]
        assert semantics.binary(fn, left, right, ENTRY).tolist() == expected


def test_no_other_arithmetic_is_there() -> None:
    one = np.asarray(1)
    for fn in BinaryFn:
        if fn not in (BinaryFn.FLOORDIV, BinaryFn.MOD):
            with pytest.raises(TypeError, match=r"of index\?"):
                semantics.binary(fn, one, one, ENTRY)
    with pytest.raises(TypeError, match=r"of index\?"):
        semantics.unary(UnaryFn.NEG, one, ENTRY)


@pytest.mark.parametrize(("dtype", "expected"), [(INDEX, -1), (I8, -1), (I64, -1), (F32, -1.0), (BOOL, True)])
def test_cast_to_a_number_none_is_minus_one(dtype: DType, expected: float) -> None:
    assert semantics.cast(np.array([-1, 7]), ENTRY, dtype)[0] == expected


def embedding(ids: Content, dimensions: str = "V") -> ops.KernelIR:
    b = Builder()
    y, table = b.tensor("y", Access.OUT, F32, "N"), b.tensor("table", Access.IN, F32, dimensions)
    rows = b.tensor("ids", Access.IN, ids, "N")
    n = walker("n", "N", 2)
    with b.parallel(n):
        b.do(ops.Store, y, (Along(n),), b.load(table, Gather(b.load(rows, Along(n)))))
    return b.kernel()


def test_a_load_at_none_is_outside() -> None:
    arguments = {"y": np.zeros(3, np.float32), "table": np.ones(4, np.float32), "ids": entries(0, 3, -1)}
    with pytest.raises(OutOfBounds) as caught:
        run(embedding(IDS), arguments, {"N": 3, "V": 4})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.OUT_OF_BOUNDS
    assert diagnostic.message == "program n=2:3 reads axis 0 of table at none"
    assert "table.get" in diagnostic.help
    with pytest.raises(OutOfBounds, match="index -1 of axis 0 of table, which has 4 elements"):
        run(embedding(Content("Offsets", "V", I32)), arguments, {"N": 3, "V": 4})


def scatter(kernel: type[ops.Store] | type[ops.Update], access: Access) -> ops.KernelIR:
    """`out[rows[n], columns[c]]` is written from x, or updated by it, in one access."""
    b = Builder()
    out, x = b.tensor("out", access, I32, "V W"), b.tensor("x", Access.IN, I32, "N C")
    rows = b.tensor("rows", Access.IN, IDS, "N")
    columns = b.tensor("columns", Access.IN, Content("Index", "W", I32), "C")
    n, c = walker("n", "N", 8), walker("c", "C", 8)
    with b.parallel(n, c):
        picks = (Gather(b.load(rows, Along(n))), Gather(b.load(columns, Along(c))))
        b.do(kernel, out, picks, b.load(x, Along(n), Along(c)))
    return b.kernel()


STORE, UPDATE = scatter(ops.Store, Access.INOUT), scatter(ops.Update, Access.SUM)


@pytest.mark.parametrize("sanitize", [False, True])
@given(st.data())
def test_elements_at_none_are_passed_over(sanitize: bool, data: st.DataObject) -> None:
    extents = [data.draw(st.integers(1, 4)) for _ in range(2)]
    places: list[list[int]] = []
    for extent in extents:
        order = data.draw(st.permutations(range(extent)))
        kept = order[: data.draw(st.integers(0, extent))]
        places.append(data.draw(st.permutations([*kept, *[-1] * data.draw(st.integers(0, 2))])))
    rows, columns = (entries(*picked) for picked in places)
    x = np.arange(1, rows.size * columns.size + 1, dtype=np.int32).reshape(rows.size, columns.size)
    expected = np.zeros(extents, np.int32)
    for n, row in enumerate(rows):
        for c, column in enumerate(columns):
            if row >= 0 and column >= 0:
                expected[row, column] = x[n, c]
    for kernel in (STORE, UPDATE):
        out = np.zeros(extents, np.int32)
        sizes = {"V": extents[0], "W": extents[1], "N": rows.size, "C": columns.size}
        run(kernel, {"out": out, "x": x, "rows": rows, "columns": columns}, sizes, sanitize=sanitize)
        assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("kernel", [STORE, UPDATE])
def test_an_element_that_is_none_along_one_axis_is_not_outside_along_another(kernel: ops.KernelIR) -> None:
    sizes = {"V": 2, "W": 2, "N": 2, "C": 2}
    arguments: dict[str, Any] = {"out": np.zeros((2, 2), np.int32), "x": np.ones((2, 2), np.int32)}
    run(kernel, {**arguments, "rows": entries(-1, -1), "columns": entries(0, 9)}, sizes)
    assert not arguments["out"].any()
    with pytest.raises(OutOfBounds, match="index 9 of axis 1 of out"):
        run(kernel, {**arguments, "rows": entries(-1, 0), "columns": entries(0, 9)}, sizes)


def test_an_index_is_outside_even_where_another_axis_is_empty() -> None:
    b = Builder()
    out, x = b.tensor("out", Access.INOUT, F32, "V D"), b.tensor("x", Access.IN, F32, "D")
    b.do(ops.Store, out, (At(b.constant(9)), Whole()), b.load(x, Whole()))
    with pytest.raises(OutOfBounds, match="index 9 of axis 0 of out"):
        run(b.kernel(), {"out": np.zeros((2, 0), np.float32), "x": np.zeros(0, np.float32)}, {"V": 2, "D": 0})


def test_an_element_at_none_leaves_the_tensor_alone() -> None:
    b = Builder()
    x, ids = b.tensor("x", Access.INOUT, F32, "V"), b.tensor("ids", Access.IN, IDS, "N")
    n = walker("n", "N", None)
    with b.parallel(n):
        slot = b.binary(BinaryFn.FLOORDIV, b.load(ids, Along(n)), b.constant(2, ENTRY))
        b.do(ops.Store, x, (At(slot),), b.constant(1.0, F32))
    out = np.zeros(4, np.float32)
    run(b.kernel(), {"x": out, "ids": entries(-1, 3, -1)}, {"V": 4, "N": 3})
    assert out.tolist() == [0, 1, 0, 0]


def test_two_lanes_of_a_store_at_one_element() -> None:
    sizes = {"V": 4, "W": 2, "N": 4, "C": 2}
    out = np.zeros((4, 2), np.int32)
    arguments = {"out": out, "x": np.ones((4, 2), np.int32), "rows": entries(2, -1, 3, 2), "columns": entries(1, 0)}
    with pytest.raises(Race) as caught:
        run(STORE, arguments, sizes)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.LANES_MEET
    assert diagnostic.message == "program n=0:4, c=0:2 writes out[2, 1] twice in one store"
    assert diagnostic.label == "lanes 0 and 3 along axis 0 meet"
    assert not out.any()
    run(STORE, arguments, sizes, sanitize=False)
    run(UPDATE, arguments, sizes)
    assert out.tolist() == [[0, 0], [0, 0], [2, 2], [1, 1]]
    run(STORE, {**arguments, "rows": entries(-1, -1, 3, -1)}, sizes)
    run(STORE, {**arguments, "columns": entries(-1, -1)}, sizes)


# Get.


@given(st.lists(st.integers(-3, 6)), st.integers(0, 4), st.booleans())
def test_get_reads_fill_where_there_is_nothing(places: list[int], extent: int, is_entry: bool) -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, BF16, "N"), b.tensor("x", Access.IN, BF16, "V")
    where = b.tensor("where", Access.IN, IDS, "N")
    n = walker("n", "N", 3)
    with b.parallel(n):
        index = b.load(where, Along(n))
        picked = index if is_entry else b.cast(index, INDEX)
        b.do(ops.Store, y, (Along(n),), b.get(x, Gather(picked), fill=b.constant(-7.0, BF16)))
    values, out = np.arange(extent).astype(BF16.storage), np.zeros(len(places)).astype(BF16.storage)
    run(b.kernel(), {"y": out, "x": values, "where": entries(*places)}, {"N": len(places), "V": extent})
    assert out.tolist() == [place if 0 <= place < extent else -7 for place in places]


def test_get_is_total_along_every_axis() -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "4 3"), b.tensor("x", Access.IN, I32, "M _")
    b.do(ops.Store, y, (Whole(), Whole()), b.get(x, Window(0, 4), Window(1, 3), fill=b.constant(9, I32)))
    out = np.zeros((4, 3), np.int32)
    run(b.kernel(), {"y": out, "x": np.arange(6, dtype=np.int32).reshape(2, 3)}, {"M": 2})
    assert out.tolist() == [[1, 2, 9], [4, 5, 9], [9, 9, 9], [9, 9, 9]]


def test_get_of_one_element_and_along_walkers_that_do_not_fit() -> None:
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "N"), b.tensor("x", Access.IN, I32, "_ _")
    n = walker("n", "N", 2)
    with b.parallel(n):
        row = b.binary(BinaryFn.SUB, b(ops.Start, INDEX_SCALAR, n), b.constant(2))
        b.do(ops.Store, y, (Along(n),), b.get(x, At(row), Along(n), fill=b.constant(-5, I32)))
    out = np.zeros(5, np.int32)
    run(b.kernel(), {"y": out, "x": np.arange(12, dtype=np.int32).reshape(3, 4)}, {"N": 5})
    assert out.tolist() == [-5, -5, 2, 3, -5]
    each = walker("e", "N", None)
    b = Builder()
    y, x = b.tensor("y", Access.OUT, I32, "N"), b.tensor("x", Access.IN, Content("Index", "N", I32), "_")
    with b.parallel(each):
        entry = b.get(x, Along(each), fill=b.constant(-1, ENTRY))
        b.do(ops.Store, y, (Along(each),), b.cast(entry, I32))
    run(b.kernel(), {"y": out, "x": entries(3, -1, 4)}, {"N": 5})
    assert out.tolist() == [3, -1, 4, -1, -1]


def test_get_reads_what_it_reads() -> None:
    """Elements that are there are watched like those of a load; the others belong to nobody."""
    b = Builder()
    x = b.tensor("x", Access.INOUT, I32, "N")
    n = walker("n", "N", None)
    with b.parallel(n):
        after = b.binary(BinaryFn.ADD, b(ops.Start, INDEX_SCALAR, n), b.constant(1))
        b.do(ops.Store, x, (Along(n),), b.get(x, At(after), fill=b.constant(3, I32)))
    one = np.zeros(1, np.int32)
    run(b.kernel(), {"x": one}, {"N": 1})
    assert one.tolist() == [3]
    with pytest.raises(Race, match=r"reads x\[1\], which program n=1 writes"):
        run(b.kernel(), {"x": np.zeros(2, np.int32)}, {"N": 2})


def test_a_raw_access_is_watched_too() -> None:
    b = Builder()
    y, x = b.tensor("y", Access.INOUT, F32, "2"), b.tensor("x", Access.IN, F32, "4")
    n = walker("n", "N", 2)
    b.tensor("z", Access.IN, F32, "N")
    with b.parallel(n):
        value = b(ops.Load, TileType(F32, (Axis(2),)), x, (Window(0, 2),), True)
        b.do(ops.Store, y, (Window(0, 2),), value, True)
        positions = b(ops.Elements, TileType(INDEX, (tagged(n),)), n)
        b(ops.Load, TileType(F32, (tagged(n),)), x, (Gather(positions),), True)
    arguments = {"y": np.zeros(2, np.float32), "x": np.ones(4, np.float32)}
    run(b.kernel(), {**arguments, "z": np.zeros(2, np.float32)}, {"N": 2})
    with pytest.raises(Race):
        run(b.kernel(), {**arguments, "z": np.zeros(4, np.float32)}, {"N": 4})
    with pytest.raises(OutOfBounds, match="index 4 of axis 0 of x"):
        run(b.kernel(), {**arguments, "z": np.zeros(6, np.float32)}, {"N": 6}, sanitize=False)
