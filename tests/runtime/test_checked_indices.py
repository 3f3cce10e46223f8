"""Checked copies of index tensors: always as wanted, equal to what is right, and a true report of what is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from evaluating_gpu import Gpu, GpuArray
from hypothesis import given, settings
from hypothesis import strategies as st
from tileir_computing import has_assembler

import tileproof as tp
from tileproof import In, Index, Offsets, Out, Unique, f32
from tileproof.frontend.parse import parse
from tileproof.runtime.check import verdict
from tileproof.runtime.checked_indices import WORDS, checked_copy, impossible, launches, needs, report
from tileproof.runtime.contracts import Fault, Wrong, refuse
from tileproof.runtime.facts import Wanted, measure
from tileproof.runtime.index_kernels import KERNELS, copy_index, copy_unique
from tileproof.runtime.making import from_numpy

Array = Any
DTYPES = [np.int32, np.int64]
FAR = [2**31 - 1, -(2**31), 2**31 - 2]


def memory(wanted: Wanted, source: Array) -> tuple[Array, Array, Array]:
    """The memory of a checked copy, full of nonsense."""
    need = needs(wanted, source)
    return (
        np.full(source.shape, 77, source.dtype), np.full(need.flags, 77, np.int64),
        np.full(need.places, 77, need.places_dtype),
    )  # fmt: skip


def copied(wanted: Wanted, source: Array, *, complete: bool = False) -> tuple[Array, Fault | None]:
    """The copy, and what was found."""
    scratch, flags, places = memory(wanted, source)
    checked_copy(wanted, source, scratch, flags, places, complete=complete)
    return scratch, report(wanted, flags, source.shape)


def interpreted(wanted: Wanted, source: Array, order: Any, *, complete: bool = False) -> tuple[Array, Fault | None]:
    """The same, by the interpreter, which watches every access."""
    scratch, flags, places = memory(wanted, source)
    for kernel, arguments, constants in launches(wanted, source, scratch, flags, places, complete=complete):
        tp.interpret(kernel, *arguments, order=order, **constants)
    return scratch, report(wanted, flags, source.shape)


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


def told(array: Array, wanted: Wanted, complete: bool, fault: Fault | None) -> None:
    """What a fault says is so."""
    asked = wanted if not complete else Wanted(wanted.kind, wanted.extent, holes_allowed=False)
    assert (fault is None) is measure(array, wanted.kind).meets(asked)
    if fault is None:
        return
    values = [int(array[place]) for place in fault.places]
    match fault.wrong:
        case Wrong.OUTSIDE:
            outside = (array < -1) | (array >= wanted.extent)
            assert (values[0], fault.count, fault.size) == (fault.values[0], outside.sum(), array.size)
            assert fault.places[0] == tuple(np.argwhere(outside)[0])
        case Wrong.TWICE:
            assert values == [fault.values[0]] * 2
            assert fault.places[0] < fault.places[1]
            assert 0 <= values[0] < wanted.extent
        case Wrong.NONE:
            assert fault.places[0] == tuple(np.argwhere(array == -1)[0])
        case _:
            pytest.fail(f"{fault}")


@settings(deadline=None, max_examples=40)
@given(layouts(), st.sampled_from(["Index", "Unique"]), st.integers(0, 15), st.booleans(), st.booleans(), st.data())
def test_a_copy_of_entries_is_as_wanted_whatever_they_are(
    source: Array, kind: str, extent: int, holes: bool, complete: bool, data: st.DataObject
) -> None:
    wanted = Wanted(kind, extent, holes)
    if impossible(wanted, source) is not None:
        with pytest.raises(ValueError, match="no copy"):
            copied(wanted, source)
        return
    before = source.copy()
    scratch, fault = copied(wanted, source, complete=complete)
    assert (source == before).all()
    assert measure(scratch, kind).meets(wanted) is True
    told(source, wanted, complete, fault)
    if fault is None:
        assert (scratch == source).all()
    elif kind == "Index" or holes:
        kept = np.unique(source[scratch == source])
        right = np.unique(source[(source >= 0) & (source < extent)])
        assert np.isin(right, kept).all(), "what is right stays"
    seed = data.draw(st.sampled_from(["forward", "reverse", 1]))
    again, found = interpreted(wanted, source, seed, complete=complete)
    assert ((again == scratch).all(), found) == (True, fault)


@settings(deadline=None)
@given(
    st.lists(st.integers(-2, 9) | st.sampled_from(FAR), max_size=7), st.integers(0, 9), st.sampled_from(DTYPES),
    st.sampled_from([1, 2, -1]),
)  # fmt: skip
def test_a_copy_of_borders_rises_from_zero_to_the_extent(
    entries: list[int], extent: int, dtype: Any, step: int
) -> None:
    source, wanted = np.array(entries, dtype)[::step], Wanted("Offsets", extent)
    if impossible(wanted, source) is not None:
        assert measure(source, "Offsets").meets(wanted) is False
        return
    scratch, fault = copied(wanted, source)
    assert measure(scratch, "Offsets").meets(wanted) is True
    is_right = measure(source, "Offsets").meets(wanted)
    assert (fault is None) is is_right is bool((scratch == source).all())
    if fault is not None and fault.wrong is Wrong.FALLS:
        ((at,),) = fault.places
        assert fault.values == (source[at - 1], source[at])
        assert (source[1:at] >= source[: at - 1]).all()
    elif fault is not None:
        assert (fault.wrong, fault.values) == (Wrong.ENDS, (source[0], source[-1]))
        assert (source[1:] >= source[:-1]).all()
    again, found = interpreted(wanted, source, "forward")
    assert ((again == scratch).all(), found) == (True, fault)


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
    scratch, fault = copied(wanted, source)
    assert (scratch[last], fault is None) == ((source[last], True) if kind == "Index" else (-1, False))
    source[last] = -1
    _, fault = copied(wanted, source, complete=True)
    assert fault is not None
    assert (fault.wrong, fault.places) == (Wrong.NONE, (last,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_borders_are_compared_over_tiles(dtype: Any) -> None:
    source = np.arange(5000, dtype=dtype)
    wanted = Wanted("Offsets", 4999)
    assert copied(wanted, source)[1] is None
    source[2048] = 7
    scratch, fault = copied(wanted, source)
    assert fault == Fault(Wrong.FALLS, ((2048,),), (2047, 7), 1, 5000)
    assert (scratch[2048], scratch[2049]) == (2047, 2049)


def test_where_a_kernel_loads_through_a_unique_a_wrong_one_makes_all_count() -> None:
    wanted = Wanted("Unique", 4, holes_allowed=False)
    assert copied(wanted, np.array([3, 1, 0]))[0].tolist() == [3, 1, 0]
    for wrong in ([3, 1, 3], [3, 1, -1], [3, 1, 9]):
        scratch, fault = copied(wanted, np.array(wrong))
        assert (scratch.tolist(), fault is None) == ([0, 1, 2], False)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("entry", [3, -1, 9])
def test_one_entry_is_not_looked_for_twice(entry: int, holes: bool) -> None:
    wanted, source = Wanted("Unique", 4, holes), np.array([entry])
    assert needs(wanted, source).places == 0
    scratch, flags, places = memory(wanted, source)
    assert len(list(launches(wanted, source, scratch, flags, places))) == 1
    scratch, fault = copied(wanted, source)
    assert measure(scratch, "Unique").meets(wanted)
    told(source, wanted, False, fault)


def test_a_table_beyond_what_entries_can_name_needs_no_more_memory() -> None:
    source = np.array([2**31 - 1, -1, 5], np.int32)
    scratch, fault = copied(Wanted("Index", 2**40), source)
    assert (scratch.tolist(), fault) == (source.tolist(), None)
    assert needs(Wanted("Unique", 2**40), source).places == 2**31


def test_records_are_few_also_where_rows_are_short() -> None:
    table = np.zeros((8192, 32), np.int32)[:, :16]
    assert needs(Wanted("Index", 4), table).flags <= 8192
    assert needs(Wanted("Index", 4), np.zeros((64, 64), np.int32)).flags == 4 * WORDS


def test_no_kernel_of_a_copy_has_a_check_left_for_run_time() -> None:
    for kernel in KERNELS:
        for constants in ({}, {"BR": 16, "BC": 256}) if kernel.name != "copy_offsets" else ({},):
            found = verdict(kernel, constants)
            assert (found.accepted, found.residuals, kernel.deny_checks) == (True, (), True)
    for kernel, name in ((copy_index, "LOADED"), (copy_index, "COMPLETE"), (copy_unique, "WHOLE")):
        assert verdict(kernel, {name: True}).accepted


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
    ids, wanted = np.array(entries, np.int32), Wanted(kind, 6, kind != "Index")
    with pytest.raises(tp.LaunchError) as expected:
        kernel(*arguments(ids))
    _, fault = copied(wanted, ids, complete=kind == "Unique")
    assert fault is not None
    signature = parse(kernel).signature
    tensor = next(tensor for tensor in signature.tensors if tensor.name == "ids")
    (diagnostic,) = expected.value.diagnostics
    spans = [label.span for label in diagnostic.labels]
    with pytest.raises(tp.LaunchError) as found:
        refuse(signature, tensor, wanted, fault, *spans)
    assert found.value.diagnostics == expected.value.diagnostics


@pytest.mark.parametrize(
    ("wanted", "source", "wrong", "said"),
    [
        (Wanted("Index", 0, False), np.zeros(2, int), Wrong.CROWDED, "2 entries"),
        (Wanted("Unique", 2, False), np.zeros(3, int), Wrong.CROWDED, "V has 2 elements"),
        (Wanted("Offsets", 3), np.zeros(0, int), Wrong.EMPTY, "is empty"),
        (Wanted("Offsets", 3), np.zeros(1, int), Wrong.ENDS, "divide 0 to 3"),
        (Wanted("Index", 3), np.zeros((4,) * 5, int)[(slice(None, None, 2),) * 5], Wrong.SCATTERED, "gaps"),
        (Wanted("Index", 3), np.zeros((4,) * 4, int)[(slice(None, None, 2),) * 4], None, ""),
        (Wanted("Index", 0, False), np.zeros(0, int), None, ""),
        (Wanted("Offsets", 0), np.zeros(1, int), None, ""),
    ],
)  # fmt: skip
def test_what_no_copy_can_cure_is_known_before(wanted: Wanted, source: Array, wrong: Wrong | None, said: str) -> None:
    fault = impossible(wanted, source)
    assert (None if fault is None else fault.wrong) is wrong
    if fault is None:
        assert copied(wanted, source)[1] is None
        return
    signature = parse(gather).signature
    with pytest.raises(tp.LaunchError, match="TP0607") as found:
        refuse(signature, signature.tensors[2], wanted, fault)
    (diagnostic,) = found.value.diagnostics
    assert said in diagnostic.message
    assert diagnostic.help


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_memory_of_another_size_is_not_used(wrong: int) -> None:
    source, wanted = np.arange(6), Wanted("Unique", 6)
    room = list(memory(wanted, source))
    for other in (room[wrong][:-1], np.repeat(room[wrong], 2)[::2], room[wrong].astype(np.int16)):
        given = [*room[:wrong], other, *room[wrong + 1 :]]
        with pytest.raises(ValueError, match=f"{('scratch', 'flags', 'places')[wrong]} is to be"):
            checked_copy(wanted, source, *given)


@pytest.mark.parametrize("kind", ["Index", "Unique", "Offsets"])
def test_tensors_of_our_own_are_copied_as_arrays_are(kind: str) -> None:
    whole = np.array([[0, 9, 2], [2, -7, 5]], np.int32)
    source, own_source = (each[:, ::2] if kind != "Offsets" else each[0] for each in (whole, from_numpy(whole)))
    wanted, room = Wanted(kind, 4), memory(Wanted(kind, 4), source)
    checked_copy(wanted, source, *room)
    own = [from_numpy(array) for array in memory(wanted, source)]
    checked_copy(wanted, own_source, *own)
    assert np.array_equal(own[0].numpy(), room[0])
    assert report(wanted, own[1].numpy(), source.shape) == report(wanted, room[1], source.shape) is not None


# On a GPU that is not here.


def forget() -> None:
    for kernel in KERNELS:
        kernel.forget()


@pytest.fixture
def fresh(gpu: Gpu) -> Iterator[None]:
    """Kernels that remember no driver, neither another nor, afterwards, this one."""
    forget()
    yield
    forget()


@pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("kind", ["Index", "Unique", "Offsets"])
def test_tensors_on_a_gpu_are_copied_there(gpu: Gpu, kind: str) -> None:
    source = np.array([[0, 9, 2], [2, -7, 5]], np.int32)[:, ::2]
    source = source if kind != "Offsets" else source[:, 0]
    wanted = Wanted(kind, 4, holes_allowed=kind != "Unique")
    room = memory(wanted, source)
    checked_copy(wanted, source, *room)
    given, arrays = GpuArray(source), [GpuArray(array) for array in memory(wanted, source)]
    checked_copy(wanted, given, *arrays)
    scratch, flags = arrays[0].numpy(), arrays[1].numpy()
    assert np.array_equal(scratch, room[0])
    assert report(wanted, flags, source.shape) == report(wanted, room[1], source.shape) is not None
    assert gpu.named("cuMemAllocAsync") == [], "a graph can hold the launches"
    assert np.array_equal(given.numpy(), source)
