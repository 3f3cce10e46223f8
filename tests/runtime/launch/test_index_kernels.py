"""Copies of index tensors: always as wanted, equal to what is right, and a true report of what is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from oracles.evaluated_gpu import Gpu, GpuArray
from oracles.tile_ir_operations import has_assembler
from samples.index_launches import Copy, on_arrays
from support.cuda_host import clean_slate
from support.tiers import examples
from tileproof import In, Index, Offsets, Out, Unique, f32
from tileproof.compiler.compile import verdict
from tileproof.frontend.signature import parse
from tileproof.runtime.launch.contracts import WORDS, Fault, Wrong, fault_in, incurable, reject
from tileproof.runtime.launch.index_kernels import KERNELS, copy_index, words_for
from tileproof.runtime.memory.contents import Wanted, measure

Array = Any
DTYPES = [np.int32, np.int64]
FAR = [2**31 - 1, -(2**31), 2**31 - 2]


def copied(wanted: Wanted, source: Array, *, is_loaded: bool = False) -> tuple[Array, Fault | None]:
    """The copy, and what was found."""
    copy = Copy(wanted, is_loaded, source)
    copy.run()
    return copy.copy.numpy(), copy.fault


def interpreted(wanted: Wanted, source: Array, order: Any, *, is_loaded: bool) -> tuple[Array, Fault | None]:
    """The same, by the interpreter, which watches every access."""
    copy = Copy(wanted, is_loaded, source)
    for launch in copy.launches:
        kernel, arrays, constants = on_arrays(launch)
        tp.interpret(kernel, *arrays, order=order, **constants)
    return copy.copy.numpy(), copy.fault


@st.composite
def layouts(draw: st.DrawFn) -> Array:
    """Arrays of one to five axes as they may lie in memory: with gaps, backwards, across, over each other."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    entries = st.integers(-3, 14) | st.sampled_from(FAR)
    memory = np.array(draw(st.lists(entries, min_size=64, max_size=64)), dtype).reshape(4, 4, 4)
    view = memory[tuple(slice(0, extent) for extent in shape)]
    view = view[tuple(slice(None, None, draw(st.sampled_from([1, 1, -1, 2]))) for _ in shape)]
    view = view.transpose(draw(st.permutations(range(view.ndim))))
    if draw(st.booleans()):
        view = view[..., None, :]
    return np.broadcast_to(view, (2, *view.shape)) if draw(st.integers(0, 4)) == 0 else view


def first_fault(array: Array, wanted: Wanted) -> tuple[Wrong, tuple[tuple[int, ...], ...], int] | None:
    """What is wrong with the first wrong entry, and where; its value."""
    seen: dict[tuple[int, int], tuple[int, ...]] = {}
    for number, place in enumerate(np.ndindex(array.shape)):
        value = int(array[place])
        in_row = number * wanted.rows // array.size, value
        if value < -1 or value >= wanted.extent:
            return Wrong.OUTSIDE, (place,), value
        if value == -1 and not wanted.holes_allowed:
            return Wrong.NONE, (place,), value
        if wanted.kind == "Unique" and in_row in seen:
            return Wrong.TWICE, (seen[in_row], place), value
        if value >= 0:
            seen[in_row] = place
    return None


@settings(deadline=None, max_examples=examples(25))
@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(0, 5), st.booleans(), st.sampled_from(DTYPES), st.randoms(),
    st.sampled_from([0.0, 0.2]),
)  # fmt: skip
def test_a_copy_of_rows_has_no_position_twice_in_a_row(
    rows: int, length: int, extent: int, holes: bool, dtype: Any, rng: Any, wrong: float
) -> None:
    entries = [rng.sample(range(max(extent, length)), length) for _ in range(rows)]
    source = np.array(entries, dtype)
    for place in np.ndindex(source.shape):
        if rng.random() < wrong:
            source[place] = rng.choice([-1, -2, 0, 1, extent])
    wanted = Wanted("Unique", extent, holes, rows=rows)
    fault = fault_in(source, wanted)
    assert (fault is None) is measure(source, "Unique", rows).meets(wanted)
    assert first_fault(source, wanted) == (None if fault is None else (fault.wrong, fault.places, *fault.values))
    if incurable(wanted, source.shape) is not None:
        assert fault is not None
        return
    copy, result = copied(wanted, source, is_loaded=not holes)
    assert (result, (copy == source).all() or fault is not None) == (fault, True)
    assert measure(copy, "Unique", rows).meets(Wanted("Unique", extent, holes, rows=rows)) is True
    again, result = interpreted(wanted, source, "reverse", is_loaded=not holes)
    assert ((again == copy).all(), result) == (True, fault)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(40))
@given(layouts(), st.sampled_from(["Index", "Unique"]), st.integers(0, 15), st.booleans(), st.booleans(), st.data())
def test_a_copy_of_entries_is_as_wanted_whatever_they_are(
    source: Array, kind: str, extent: int, holes: bool, loads: bool, data: st.DataObject
) -> None:
    wanted, is_loaded = Wanted(kind, extent, holes), loads and not holes
    fault = fault_in(source, wanted)
    assert (fault is None) is measure(source, kind).meets(wanted)
    assert first_fault(source, wanted) == (None if fault is None else (fault.wrong, fault.places, *fault.values))
    if incurable(wanted, source.shape) is not None:
        assert fault is not None
        return
    before = source.copy()
    copy, result = copied(wanted, source, is_loaded=is_loaded)
    assert (source == before).all()
    assert measure(copy, kind).meets(Wanted(kind, extent, holes_allowed=not is_loaded)) is True
    assert result == fault
    if fault is None:
        assert (copy == source).all()
    elif kind == "Index" or not is_loaded:
        kept = np.unique(source[copy == source])
        right = np.unique(source[(source >= 0) & (source < extent)])
        assert np.isin(right, kept).all(), "what is right stays"
    seed = data.draw(st.sampled_from(["forward", "reverse", 1]))
    again, result = interpreted(wanted, source, seed, is_loaded=is_loaded)
    assert ((again == copy).all(), result) == (True, fault)


@settings(deadline=None)
@given(
    st.lists(st.integers(-2, 9) | st.sampled_from(FAR), max_size=7), st.integers(0, 9), st.sampled_from(DTYPES),
    st.sampled_from([1, 2, -1]), st.booleans(),
)  # fmt: skip
def test_a_copy_of_borders_rises_from_zero_to_the_extent(
    entries: list[int], extent: int, dtype: Any, step: int, early: bool
) -> None:
    source, wanted = np.array(entries, dtype)[::step], Wanted("Offsets", extent, ends_early=early)
    if incurable(wanted, source.shape) is not None:
        assert measure(source, "Offsets").meets(wanted) is False
        return
    copy, fault = copied(wanted, source)
    assert measure(copy, "Offsets").meets(wanted) is True
    is_right = measure(source, "Offsets").meets(wanted)
    assert (fault is None) is is_right is bool((copy == source).all())
    assert fault == fault_in(source, wanted)
    if fault is not None and fault.wrong is Wrong.FALLS:
        ((at,),) = fault.places
        assert fault.values == (source[at - 1], source[at])
        assert (source[1:at] >= source[: at - 1]).all()
    elif fault is not None:
        assert (fault.wrong, fault.values) == (Wrong.ENDS, (source[0], source[-1]))
        assert (source[1:] >= source[:-1]).all()
    again, result = interpreted(wanted, source, "forward", is_loaded=False)
    assert ((again == copy).all(), result) == (True, fault)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5000,), (300, 20), (2, 70, 3), (3, 1500)])
@pytest.mark.parametrize("kind", ["Index", "Unique"])
def test_many_entries_take_many_programs(kind: str, shape: tuple[int, ...], dtype: Any) -> None:
    rng = np.random.default_rng(1)
    room = np.zeros((*shape[:-1], shape[-1] + 3), dtype)
    source = room[..., :-3]
    source[...] = rng.permutation(source.size).reshape(shape)
    wanted = Wanted(kind, source.size)
    assert copied(wanted, source)[1] is None
    last = tuple(extent - 1 for extent in shape)
    source[last] = source.size
    assert copied(wanted, source)[1] == Fault(Wrong.OUTSIDE, (last,), (source.size,), 1, source.size)
    source[last] = source[(0,) * len(shape)]
    copy, fault = copied(wanted, source)
    assert (copy[last], fault is None) == ((source[last], True) if kind == "Index" else (-1, False))
    source[last] = -1
    _, fault = copied(Wanted(kind, source.size, holes_allowed=False), source)
    assert fault is not None
    assert (fault.wrong, fault.places) == (Wrong.NONE, (last,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_borders_are_compared_over_tiles(dtype: Any) -> None:
    source = np.arange(5000, dtype=dtype)
    wanted = Wanted("Offsets", 4999)
    assert copied(wanted, source)[1] is None
    source[2048] = 7
    copy, fault = copied(wanted, source)
    assert fault == Fault(Wrong.FALLS, ((2048,),), (2047, 7), 1, 5000)
    assert (copy[2048], copy[2049]) == (2047, 2049)


def test_where_a_kernel_loads_through_a_unique_a_wrong_one_makes_all_count() -> None:
    wanted = Wanted("Unique", 4, holes_allowed=False)
    assert copied(wanted, np.array([3, 1, 0]), is_loaded=True)[0].tolist() == [3, 1, 0]
    for wrong in ([3, 1, 3], [3, 1, -1], [3, 1, 9]):
        copy, fault = copied(wanted, np.array(wrong), is_loaded=True)
        assert (copy.tolist(), fault is None) == ([0, 1, 2], False)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("entry", [3, -1, 9])
def test_one_entry_is_not_looked_for_twice(entry: int, holes: bool) -> None:
    wanted, source = Wanted("Unique", 4, holes), np.array([entry])
    assert len(Copy(wanted, not holes, source).launches) == 1
    copy, fault = copied(wanted, source, is_loaded=not holes)
    assert measure(copy, "Unique").meets(wanted)
    assert fault == fault_in(source, wanted)


def test_a_table_beyond_what_entries_can_name_needs_no_more_memory() -> None:
    source = np.array([2**31 - 1, -1, 5], np.int32)
    copy, fault = copied(Wanted("Index", 2**40), source)
    assert (copy.tolist(), fault) == (source.tolist(), None)
    result = Copy(Wanted("Unique", 2**40), False, source)
    assert result.launches[0][1][0].shape == (2**31,)


def test_records_are_few() -> None:
    assert words_for(Wanted("Index", 4), 8192 * 16) == 128 * WORDS
    assert words_for(Wanted("Offsets", 4), 8192 * 16) == WORDS


def test_no_kernel_of_a_copy_has_a_check_left_for_run_time() -> None:
    for kernel in KERNELS:
        judged = verdict(kernel, {})
        assert (judged.accepted, judged.residuals, kernel.deny_checks) == (True, (), True)
    for constants in ({"LEAST": 0}, {"LEAST": 0, "WRONG": 0}, {"UNIQUE": True}, {"UNIQUE": True, "LEAST": 0}):
        assert verdict(copy_index, constants).accepted


def test_a_copy_without_gaps_of_many_axes() -> None:
    whole = np.arange(4**5, dtype=np.int32).reshape((4,) * 5)
    source = whole[::2, :, ::2, ::2, ::-1]
    copy, fault = copied(Wanted("Unique", 4**5), source)
    assert (np.array_equal(copy, source), fault) == (True, None)


# What is reported reads as at a launch that looked itself.


@tp.kernel
def gather(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = table[ids[n]]


@tp.kernel
def put(y: Out[f32, "V"], x: In[f32, "N"], ids: In[Unique["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[ids[n]] = x[n]


@tp.kernel
def ragged(y: Out[f32, "V"], ids: In[Offsets["V"], "E+1"]) -> None:
    for e, i in tp.parallel(tp.segments(ids, V=4)):
        y[i] = e.to(f32)


FLOATS = np.zeros(6, np.float32)
CASES: dict[str, tuple[tp.Kernel, Callable[[Array], Any], list[list[int]]]] = {
    "Index": (gather, lambda ids: (FLOATS[: len(ids)].copy(), FLOATS, ids), [[0, 6, -5], [1, -1], [1, -2, -1]]),
    "Unique": (put, lambda ids: (FLOATS.copy(), FLOATS[: len(ids)], ids),
               [[4, 1, 4, 0, 2, 3], [0, 1, 2, 3, 4, -1], [9] * 6]),
    "Offsets": (ragged, lambda ids: (FLOATS, ids), [[0, 4, 3, 6], [1, 6], [0, 5], [-1, 7], [0, 7, 6]]),
}


@pytest.mark.parametrize(("kind", "entries"), [(kind, entries) for kind in CASES for entries in CASES[kind][2]])
def test_a_report_says_what_the_launch_would(kind: str, entries: list[int]) -> None:
    kernel, arguments, _ = CASES[kind]
    ids, wanted = np.array(entries, np.int32), Wanted(kind, 6, kind == "Offsets")
    with pytest.raises(tp.LaunchError) as expected:
        kernel(*arguments(ids))
    _, fault = copied(wanted, ids, is_loaded=kind == "Index")
    assert fault is not None
    signature = parse(kernel).signature
    tensor = next(tensor for tensor in signature.tensors if tensor.name == "ids")
    (diagnostic,) = expected.value.diagnostics
    spans = [label.span for label in diagnostic.labels]
    with pytest.raises(tp.LaunchError) as caught:
        reject(signature, tensor, wanted, fault, *spans)
    assert caught.value.diagnostics == expected.value.diagnostics


@pytest.mark.parametrize(
    ("wanted", "source", "wrong", "message"),
    [
        (Wanted("Index", 0, False), np.zeros(2, int), Wrong.CROWDED, "2 entries"),
        (Wanted("Unique", 2, False), np.zeros(3, int), Wrong.CROWDED, "V has 2 elements"),
        (Wanted("Offsets", 3), np.zeros(0, int), Wrong.EMPTY, "is empty"),
        (Wanted("Offsets", 3), np.zeros(1, int), Wrong.ENDS, "divide 0 to 3"),
        (Wanted("Index", 0, False), np.zeros(0, int), None, ""),
        (Wanted("Offsets", 0), np.zeros(1, int), None, ""),
    ],
)  # fmt: skip
def test_what_no_copy_can_cure_is_known_before(
    wanted: Wanted, source: Array, wrong: Wrong | None, message: str
) -> None:
    fault = incurable(wanted, source.shape)
    assert (None if fault is None else fault.wrong) is wrong
    if fault is None:
        return
    signature = parse(gather).signature
    with pytest.raises(tp.LaunchError, match="TP0607") as caught:
        reject(signature, signature.tensors[2], wanted, fault)
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.help


# On a GPU that is not here.


def forget() -> None:
    for kernel in KERNELS:
        kernel.forget()


@pytest.fixture
def fresh(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels that remember no driver, neither another nor, afterwards, this one."""
    forget()
    with clean_slate(monkeypatch):
        yield
    forget()


@pytest.mark.sweep(1)
@pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("kind", ["Index", "Unique", "Offsets"])
def test_tensors_on_a_gpu_are_copied_there(gpu: Gpu, kind: str) -> None:
    source = np.array([[0, 9, 2], [2, -7, 5]], np.int32)[:, ::2]
    source = source if kind != "Offsets" else source[:, 0]
    wanted, is_loaded = Wanted(kind, 4, holes_allowed=kind != "Unique"), kind == "Unique"
    copy, fault = copied(wanted, source, is_loaded=is_loaded)
    gpu_array = GpuArray(source)
    result = Copy(wanted, is_loaded, gpu_array, "cuda")
    taken = gpu.named("cuMemAllocAsync")
    result.run()
    assert gpu.named("cuMemAllocAsync") == taken, "a graph can hold the launches"
    assert np.array_equal(result.copy.numpy(), copy)
    assert result.fault == fault is not None
    assert np.array_equal(gpu_array.numpy(), source)
