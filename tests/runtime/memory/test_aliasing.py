"""Memory of a launch: what shares it is rejected, what does not is accepted, and deciding takes little work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import tileproof as tp
from support.tiers import examples
from tileproof import In, InOut, Out, T, U, f32
from tileproof.runtime.memory import aliasing as memory
from tileproof.runtime.memory.aliasing import Overlap, overlap_of, self_overlap

Array = np.ndarray[Any, Any]
F32 = np.float32
thorough = settings(max_examples=examples(150), deadline=None, database=None, derandomize=True)


@tp.kernel
def copy(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def copy_matrix(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = x[m, n]


@tp.kernel
def ones_beside(y: Out[T, "N"], x: In[U, "M"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = tp.full((n,), 1, y.dtype)


@tp.kernel
def ones_matrix_beside(y: Out[f32, "M N"], x: In[f32, "K L"]) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = tp.full((m, n), 1.0)


@tp.kernel
def add(y: Out[f32, "N"], a: In[f32, "N"], b: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = a[n] + b[n]


@tp.kernel
def two_outputs(y: Out[f32, "N"], z: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = z[n]
        z[n] = 0.0


@tp.kernel
def copy_into(x: In[f32, "N"], y: Out[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def copy_scalar(y: Out[f32, ""], x: In[f32, ""]) -> None:
    y[()] = x[()]


def ramp(*shape: int, dtype: Any = F32) -> Array:
    return np.arange(1, np.prod(shape, dtype=int) + 1).astype(dtype).reshape(shape)


def addresses(array: Array) -> list[int]:
    """The address of every element, one by one."""
    results = [int(array.__array_interface__["data"][0])] if array.size else []
    for stride, extent in zip(array.strides, array.shape, strict=True):
        results = [address + stride * position for address in results for position in range(extent)]
    return results


def taken(array: Array) -> set[int]:
    """Every byte of an array."""
    return {address + byte for address in addresses(array) for byte in range(array.itemsize)}


def whole(array: Array) -> bytes:
    """The memory an array is a view of."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root.tobytes()


def rejection(kernel: tp.Kernel, *args: Any) -> tp.LaunchError:
    """What a launch raises. It has changed nothing, in the arguments or beside them."""
    before = [whole(arg) if isinstance(arg, np.ndarray) else b"" for arg in args]
    with pytest.raises(tp.LaunchError) as raised:
        kernel(*args)
    assert [whole(arg) if isinstance(arg, np.ndarray) else b"" for arg in args] == before
    return raised.value


# Against brute force.

BUFFER = 160


@st.composite
def strided(draw: st.DrawFn, buffer: Array) -> Array:
    """Any view of a buffer that stays inside it: strides of all kinds, zero and odd ones too."""
    dtype = np.dtype(draw(st.sampled_from([np.uint8, np.int16, np.float32, np.float64])))
    shape: list[int] = []
    strides: list[int] = []
    room = BUFFER - dtype.itemsize
    for _ in range(draw(st.integers(0, 3))):
        extent = draw(st.sampled_from([1, 2, 3, 4, 5, 0]))
        most = room // max(extent - 1, 1)
        stride = draw(st.integers(-min(most, 24), min(most, 24)))
        room -= abs(stride) * max(extent - 1, 0)
        shape.append(extent)
        strides.append(stride)
    behind = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0 < extent)
    return np.ndarray(shape, dtype, buffer, behind + draw(st.integers(0, room)), strides)


@st.composite
def frame(draw: st.DrawFn) -> Array:
    """An array in which each stride passes over all that the smaller ones reach, contiguous or with gaps."""
    dtype = np.dtype(draw(st.sampled_from([np.uint8, np.float32])))
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    if draw(st.booleans()):
        return np.zeros(shape, dtype)
    strides, reach = [], dtype.itemsize
    for extent in shape:
        strides.append(reach + draw(st.integers(0, 7)))
        reach += strides[-1] * (extent - 1)
    return np.ndarray(shape, dtype, np.zeros(reach, np.uint8), 0, strides)


@st.composite
def sliced(draw: st.DrawFn, array: Array) -> Array:
    """A slice with any steps, some axes dropped, the others in any order."""
    index: list[int | slice] = []
    for extent in array.shape:
        if draw(st.integers(0, 4)) == 0:
            index.append(draw(st.integers(0, extent - 1)))
        else:
            index.append(draw(st.slices(extent)))
    view = array[(*index, ...)]  # the dots keep an element a view, not a copy
    return view.transpose(draw(st.permutations(range(view.ndim))))


@thorough
@given(st.data())
def test_no_shared_byte_is_overlooked_whatever_the_strides(data: st.DataObject) -> None:
    buffer = np.zeros(BUFFER, np.uint8)
    one, two = data.draw(strided(buffer)), data.draw(strided(buffer))
    result = overlap_of(one, two)
    assert result is Overlap.UNKNOWN or (result is Overlap.SOME) == bool(taken(one) & taken(two))


@thorough
@given(st.data())
def test_slices_of_one_frame_are_told_apart_exactly(data: st.DataObject) -> None:
    array = data.draw(frame())
    one, two = data.draw(sliced(array)), data.draw(sliced(array))
    assert overlap_of(one, two) is (Overlap.SOME if taken(one) & taken(two) else Overlap.NONE)


@thorough
@given(st.data())
def test_overlap_does_not_depend_on_the_order_of_the_arguments(data: st.DataObject) -> None:
    buffer = np.zeros(BUFFER, np.uint8)
    one, two = data.draw(strided(buffer)), data.draw(strided(buffer))
    assert (overlap_of(one, two) is Overlap.NONE) == (overlap_of(two, one) is Overlap.NONE)


@thorough
@given(st.data())
def test_no_element_in_the_place_of_another_is_overlooked(data: st.DataObject) -> None:
    array = data.draw(strided(np.zeros(BUFFER, np.uint8)))
    if not self_overlap(array):
        assert len(taken(array)) == array.size * array.itemsize


@thorough
@given(st.data())
def test_a_slice_of_a_frame_never_overlaps_itself(data: st.DataObject) -> None:
    assert self_overlap(data.draw(sliced(data.draw(frame())))) == ""


def test_deciding_takes_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    # Strides of this kind make the general question a knapsack of 40 axes.
    strides = [int(stride) * 8 for stride in np.random.default_rng(0).integers(2**30, 2**31, 20)]
    buffer = np.zeros(2)
    one, two = (as_strided(buffer[start:], (3,) * 20, strides) for start in (0, 1))
    asked = 0
    reaches = memory._reaches

    def counted(*args: Any) -> bool:
        nonlocal asked
        asked += 1
        return reaches(*args)

    monkeypatch.setattr(memory, "_reaches", counted)
    assert overlap_of(one, two) is not Overlap.SOME
    assert asked <= 40 * 2 * memory._POSSIBILITIES


@pytest.mark.parametrize("rank", [2, 8, 16])
def test_slices_of_contiguous_frames_of_many_axes_are_told_apart(rank: int) -> None:
    x = np.zeros((2,) * rank + (6,), np.uint8)
    pairs = [(x[..., ::2], x[..., 1::2]), (x[..., ::-3], x[..., 1::3]), (x[0], x[1]), (x[..., 0, :], x[..., 1, :])]
    assert {overlap_of(*pair) for pair in pairs} == {Overlap.NONE}
    assert overlap_of(x[..., ::2], x[..., ::3]) is Overlap.SOME


# Accepted.


def both(make: Callable[[Array], tuple[Array, Array]]) -> Callable[[], tuple[Array, Array]]:
    return lambda: make(ramp(6, 8))


APART: dict[str, Callable[[], tuple[Array, Array]]] = {
    "interleaved columns": both(lambda x: (x[:, ::2], x[:, 1::2])),
    "interleaved columns, backward": both(lambda x: (x[:, ::-2], x[:, ::2])),
    "steps that never meet": both(lambda x: (x[:, 0:4:3], x[:, 1:8:4])),
    "left and right": both(lambda x: (x[:, :4], x[:, 4:])),
    "above and below": both(lambda x: (x[:3], x[3:])),
    "halves, one reversed": both(lambda x: (x[2::-1], x[3:])),
    "transposed quarters": both(lambda x: (x[:3, 4:7].T, x[:3, :3])),
    "nested slices": both(lambda x: (x[1:][::2][:, 1:][:, ::3], x[1::2, ::3])),
    "rows in turn": both(lambda x: (x[::2], x[1::2])),
}


@pytest.mark.parametrize("make", APART.values(), ids=APART)
def test_slices_without_a_common_element_are_accepted(make: Callable[[], tuple[Array, Array]]) -> None:
    y, x = make()
    wanted = x.copy()
    copy_matrix(y, x)
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(x, wanted)


def test_a_column_and_a_matrix_beside_it_are_accepted() -> None:
    x = ramp(4, 5)
    ones_beside(x[:, 2], x[2, 3:])
    ones_matrix_beside(x[:, :2], x[:, 3:])
    assert x[:, :3].tolist() == [[1.0] * 3] * 4
    assert x[:, 3:].tolist() == ramp(4, 5)[:, 3:].tolist()


def test_reshapes_whose_elements_have_different_remainders_are_accepted() -> None:
    x = ramp(24)
    ones_matrix_beside(x.reshape(4, 6)[:, ::2], x[1::2].reshape(3, 4))
    assert x[1::2].tolist() == ramp(24)[1::2].tolist()


def test_parts_of_complex_numbers_are_apart() -> None:
    z = np.array([1 + 2j, 3 + 4j], np.complex64)
    copy(z.real, z.imag)
    assert z.tolist() == [2 + 2j, 4 + 4j]


def test_aligned_fields_of_a_record_are_apart() -> None:
    record = np.zeros(5, np.dtype([("kind", np.int8), ("weight", F32), ("count", np.int32)], align=True))
    ones_beside(record["weight"], record["count"])
    ones_beside(record["kind"], record["weight"])
    assert record.tolist() == [(1, 1.0, 0)] * 5


def test_what_is_only_read_may_overlap_and_be_broadcast() -> None:
    x, y = ramp(9), np.zeros(8, F32)
    add(y, x[:8], x[1:])
    assert y.tolist() == (x[:8] + x[1:]).tolist()
    add(y, np.broadcast_to(x[:1], 8), x[7::-1])
    assert y.tolist() == (x[0] + x[7::-1]).tolist()


def test_windows_are_read_beside_what_is_written() -> None:
    x = ramp(20)
    windows = sliding_window_view(x[::2], 3)
    ones_beside(x[1::2], windows[:, 0])
    ones_matrix_beside(x[1::2].reshape(2, 5), windows)
    assert x[1::2].tolist() == [1.0] * 10


def test_a_reversed_array_is_written() -> None:
    y = np.zeros((3, 4), F32)
    copy_matrix(y[::-1, ::-1], ramp(3, 4))
    assert y.tolist() == ramp(3, 4)[::-1, ::-1].tolist()


def test_an_array_without_elements_shares_nothing() -> None:
    x = ramp(4)
    copy(x[2:2], x[2:2])
    ones_beside(x, x[1:1])
    assert x.tolist() == [1.0] * 4


def test_an_axis_of_one_element_has_any_stride() -> None:
    y = as_strided(np.zeros(4, F32), (1, 4), (0, 4))
    copy_matrix(y, ramp(1, 4))
    copy_matrix(as_strided(y, (1, 4), (3, 4)), ramp(1, 4))
    assert y.tolist() == ramp(1, 4).tolist()


def test_arrays_without_axes_are_apart_or_the_same() -> None:
    x = ramp(2)
    copy_scalar(x[:1].reshape(()), x[1:].reshape(()))
    assert x.tolist() == [2.0, 2.0]
    assert rejection(copy_scalar, x[:1].reshape(()), x[:1].reshape(())).diagnostics[0].code.id == "TP0610"


def test_a_subclass_is_judged_by_its_memory() -> None:
    class Flat(np.ndarray[Any, Any]):
        """Says that it has one axis."""

        @property
        def ndim(self) -> int:
            return 1

    assert rejection(copy, ramp(2, 2).view(Flat), ramp(4)).diagnostics[0].code.id == "TP0602"


# Refused: shared memory.


class Foreign:
    """Memory that another library describes: no view of the array, only its address."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


SHARED: dict[str, Callable[[], tuple[Array, Array]]] = {
    "the same array": lambda: (lambda x: (x, x))(ramp(6)),
    "shifted by one": lambda: (lambda x: (x[1:], x[:-1]))(ramp(6)),
    "reversed": lambda: (lambda x: (x, x[::-1]))(ramp(6)),
    "one element": lambda: (lambda x: (x[:4], x[3:]))(ramp(7)),
    "steps that meet": lambda: (lambda x: (x[::2][:3], x[1::3][:3]))(ramp(12)),
    "a row and a column": lambda: (lambda x: (x[2], x[:, 2]))(ramp(5, 5)),
    "a diagonal": lambda: (lambda x: (x.ravel()[::6], x[3]))(ramp(5, 5)),
    "a read-only view": lambda: (lambda x: (x, np.broadcast_to(x, x.shape)))(ramp(6)),
    "a broadcast element": lambda: (lambda x: (x, np.broadcast_to(x[3:4], x.shape)))(ramp(6)),
    "windows": lambda: (lambda x: (x[4:8], sliding_window_view(x, 3)[:4, 1]))(ramp(12)),
    "the same memory, described by another library": lambda: (lambda x: (x, np.asarray(Foreign(x))))(ramp(6)),
    "the same memory, exchanged": lambda: (lambda x: (x, np.from_dlpack(x)))(ramp(6)),
    "a file in memory": lambda: (lambda x: (np.frombuffer(x, F32), np.frombuffer(x, F32)[::-1]))(bytearray(24)),
}


@pytest.mark.parametrize("make", SHARED.values(), ids=SHARED)
def test_a_written_argument_that_shares_memory_is_refused(make: Callable[[], tuple[Array, Array]]) -> None:
    y, x = make()
    (diagnostic,) = rejection(copy, y, x).diagnostics
    assert diagnostic.code.id == "TP0610"
    assert diagnostic.message == "`y` and `x` share memory, and `y` is written"
    assert "a copy of `x`" in diagnostic.help


def test_elements_of_different_types_share_bytes() -> None:
    x = ramp(6)
    assert rejection(ones_beside, x, x.view(np.uint8)[5::4]).diagnostics[0].code.id == "TP0610"
    (diagnostic,) = rejection(ones_beside, x.view(np.int16)[::2], x[1:2]).diagnostics
    assert diagnostic.code.id == "TP0610"
    ones_beside(x.view(np.int16)[::2], x.view(np.int16)[1::2])


def test_two_written_arguments_are_both_named() -> None:
    x = ramp(6)
    (diagnostic,) = rejection(two_outputs, x[:4], x[2:]).diagnostics
    assert diagnostic.message == "`y` and `z` share memory, and both are written"
    assert "for each of `y` and `z`" in diagnostic.help


def test_every_argument_is_compared_with_what_is_written() -> None:
    x = ramp(6)
    (diagnostic,) = rejection(add, x, ramp(6), x).diagnostics
    assert diagnostic.message == "`y` and `b` share memory, and `y` is written"


def test_what_is_written_may_come_last() -> None:
    x = ramp(6)
    (diagnostic,) = rejection(copy_into, x[:5], x[1:]).diagnostics
    assert diagnostic.message == "`y` and `x` share memory, and `y` is written"


def test_ranges_that_meet_without_a_common_frame_are_refused_as_unknown() -> None:
    x = ramp(210)
    y, beside = as_strided(x, (2, 10), (4 * 100, 4 * 10)), as_strided(x[1:], (3, 9), (4 * 63, 4 * 7))
    assert overlap_of(y, beside) is Overlap.UNKNOWN
    (diagnostic,) = rejection(ones_matrix_beside, y, beside).diagnostics
    assert diagnostic.message == "`y` and `x` may share memory, and `y` is written"
    assert "strides do not show" in diagnostic.notes[0]


OVERLAPPING: dict[str, Callable[[], Array]] = {
    "a broadcast axis": lambda: as_strided(ramp(4), (3, 4), (0, 4)),
    "windows": lambda: sliding_window_view(ramp(6), 3, writeable=True),
    "backward windows": lambda: sliding_window_view(ramp(6), 3, writeable=True)[::-1, ::-1],
    "rows that begin within the last": lambda: as_strided(ramp(12), (3, 4), (12, 4)),
}


@pytest.mark.parametrize("make", OVERLAPPING.values(), ids=OVERLAPPING)
def test_a_written_argument_that_overlaps_itself_is_refused(make: Callable[[], Array]) -> None:
    y = make()
    (diagnostic,) = rejection(copy_matrix, y, np.zeros(y.shape, F32)).diagnostics
    assert diagnostic.code.id == "TP0610"
    assert "`y`" in diagnostic.message
    assert "axis" in diagnostic.notes[1]
    assert "copy of `y`" in diagnostic.help


# Refused: memory that kernels cannot address.


PACKED = np.dtype([("kind", np.int8), ("weight", F32)])
MISALIGNED: dict[str, Callable[[], Array]] = {
    "a field of a packed record": lambda: np.zeros(4, PACKED)["weight"],
    "an odd address": lambda: np.zeros(20, np.uint8)[1:17].view(F32),
    "an odd stride": lambda: as_strided(np.zeros(8, F32), (4,), (6,)),
    "an odd stride, backward": lambda: as_strided(np.zeros(8, F32)[7:], (4,), (-6,)),
    "one element at an odd address": lambda: np.zeros(8, np.uint8)[1:5].view(F32),
}


@pytest.mark.parametrize("place", ["read", "written"])
@pytest.mark.parametrize("make", MISALIGNED.values(), ids=MISALIGNED)
def test_elements_at_odd_places_are_refused(make: Callable[[], Array], place: str) -> None:
    odd = make()
    plain = np.zeros(odd.size, F32)
    (diagnostic,) = rejection(copy, *((plain, odd) if place == "read" else (odd, plain))).diagnostics
    assert diagnostic.code.id == "TP0612"
    assert ("`x`" if place == "read" else "`y`") in diagnostic.message
    assert "copy" in diagnostic.help


def test_an_array_without_elements_lies_nowhere() -> None:
    empty = np.zeros(20, np.uint8)[1:1].view(F32)
    copy(empty, empty)


def test_elements_in_the_other_byte_order_are_refused() -> None:
    array = ramp(4).astype(np.dtype(F32).newbyteorder())
    (diagnostic,) = rejection(copy, ramp(4), array).diagnostics
    assert diagnostic.code.id == "TP0603"
    assert "other order" in diagnostic.message
    assert "newbyteorder" in diagnostic.help


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4, object, np.complex64, "S4", "M8[s]", PACKED])
def test_what_is_no_element_type_is_refused(dtype: Any) -> None:
    array = np.zeros(4, dtype)
    with pytest.raises(tp.LaunchError, match="TP0603"):
        copy(array, array.copy())


def test_read_only_memory_is_not_written() -> None:
    y = ramp(4)
    y.setflags(write=False)
    for array in (y, np.broadcast_to(ramp(1), 4), np.frombuffer(bytes(16), F32)):
        (diagnostic,) = rejection(copy, array, ramp(4)).diagnostics
        assert diagnostic.code.id == "TP0609"
        assert "`y`" in diagnostic.message
        assert "writable" in diagnostic.help


# Refused: what is no numpy array.


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (np.ma.array(ramp(4), mask=[1, 0, 0, 0]), "`y.filled(...)`"),
        (F32(1), "`np.asarray(y)`"),
        (1.0, "`y: f32`"),
        ([1.0], "`np.asarray(y, np.float32)`"),
    ],
)
def test_what_is_no_numpy_array_is_refused_with_the_way_to_one(value: Any, cure: str) -> None:
    (diagnostic,) = rejection(copy, value, ramp(4)).diagnostics
    assert diagnostic.code.id == "TP0606"
    assert cure in diagnostic.help
