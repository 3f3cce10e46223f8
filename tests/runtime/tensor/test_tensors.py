"""Tensors: how they are made, and what the host reads and writes while kernels use them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from support.gates import Gate
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import InFlight, LaunchError, TileproofError
from tileproof.language.dtypes import ALL, BOOL, ENTRY, F32, I32, I64, INDEX, DType
from tileproof.runtime.stream.cpu_streams import CpuStream
from tileproof.runtime.tensor.creation import arange, asarray, empty, from_numpy, full, ones, zeros
from tileproof.runtime.tensor.tensors import Tensor

STORED = [dtype for dtype in ALL if dtype.storage is not None]


def code_of(error: pytest.ExceptionInfo[TileproofError]) -> Code:
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.help
    return diagnostic.code


class Held:
    """A stream whose work is held until the host waits for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate, self.stream = Gate(), CpuStream()
        self.gate.hold(self.stream)
        until = self.stream.until

        def opening(turn: int) -> None:
            self.gate.open()
            until(turn)

        monkeypatch.setattr(self.stream, "until", opening)

    def writes(self, tensor: Tensor, value: Any) -> None:
        """Has the stream write a tensor as a kernel would."""

        def write() -> None:
            if isinstance(value, Exception):
                raise value
            tensor._array[...] = value

        self.stream.call("fill", write, (), (tensor.span,), tensor)
        tensor.note_write()

    def reads(self, tensor: Tensor) -> None:
        self.stream.call("look", lambda: None, (tensor.span,), (), tensor)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held(monkeypatch)
    yield held
    held.gate.open()
    held.stream.until(held.stream.turn)
    held.stream.errors.clear()


# Making.


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_every_element_type_can_be_stored(dtype: DType) -> None:
    for named in (dtype, dtype.name, dtype.storage):
        x = full((2, 3), 1, named)
        assert (x.shape, x.dtype, x.device) == ((2, 3), dtype, "cpu")
        assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert zeros(2, dtype).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, F32), ("float32", F32), (np.float32, F32), (bool, BOOL), (int, I64), ("int32", I32), ("bfloat16", tp.bf16)],
)
def test_element_types_go_by_the_names_of_numpy(given: Any, expected: DType) -> None:
    assert empty(1, given).dtype is expected


@pytest.mark.slow
def test_element_types_go_by_the_names_of_torch() -> None:
    torch = pytest.importorskip("torch")
    assert [empty(1, dtype).dtype for dtype in (torch.bfloat16, torch.float8_e4m3fn)] == [tp.bf16, tp.f8e4m3]


@pytest.mark.parametrize("dtype", [tp.tf32, "tf32", INDEX, ENTRY, "f8", "float", np.complex64, object, "U3", "nothing"])
def test_what_no_memory_holds_is_no_element_type(dtype: Any) -> None:
    with pytest.raises(LaunchError, match="cannot have elements of") as caught:
        empty(3, dtype)
    assert code_of(caught) is Code.ARGUMENT_DTYPE


@pytest.mark.parametrize("shape", [7, (7,), [7], (), (2, 0, 3), np.int64(4), (np.int32(2), 3)])
def test_a_shape_is_a_number_or_a_sequence(shape: Any) -> None:
    assert zeros(shape).shape == np.zeros(shape).shape


def test_a_shape_has_no_negative_extent_and_no_fraction() -> None:
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        zeros((2, -1))
    with pytest.raises(TypeError, match="whole numbers"):
        zeros(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", 0])
def test_only_devices_that_can_be_named_are_taken(device: Any) -> None:
    for make in (lambda: zeros(3, device=device), lambda: zeros(3).to(device)):
        with pytest.raises(LaunchError):
            make()


def test_memory_is_aligned_for_vectors() -> None:
    assert all(zeros(shape, tp.u8).address % 64 == 0 for shape in (1, 3, 1000, 12345))


def test_values_that_do_not_fit_are_refused() -> None:
    x = zeros(3, tp.u8)
    for value in (256, -1, np.array([0, 300, 0]), 2**70):
        with pytest.raises(OverflowError, match="does not fit elements of u8"):
            x[...] = value
    for value in (2.5, np.ones(3), "a", [1j]):
        with pytest.raises(LaunchError) as caught:
            x[...] = value
        assert code_of(caught) is Code.ARGUMENT_DTYPE
    with pytest.raises(ValueError, match="could not broadcast"):
        x[...] = [1, 2]
    assert x.tolist() == [0, 0, 0]


def test_values_of_any_kind_that_fit_are_written() -> None:
    x = zeros((2, 3), tp.bf16)
    x[0] = [1, 2, 3]
    x[1] = np.array([[4.5]], ">f8")
    assert x.tolist() == [[1, 2, 3], [4.5, 4.5, 4.5]]
    x[:, ::-1] = x
    assert x.tolist() == [[3, 2, 1], [4.5, 4.5, 4.5]]
    x[...] = asarray([7, 8, 9])
    assert x.tolist() == [[7, 8, 9], [7, 8, 9]]


@pytest.mark.slow
def test_values_of_torch_are_written() -> None:
    torch, x = pytest.importorskip("torch"), zeros((2, 3), tp.bf16)
    x[1] = torch.arange(3)
    assert x.tolist() == [[0, 0, 0], [0, 1, 2]]


@pytest.mark.parametrize(
    ("result", "dtype", "values"),
    [
        (lambda: arange(3), I64, [0, 1, 2]),
        (lambda: arange(2.5), I64, [0, 1, 2]),
        (lambda: arange(3, tp.bf16), tp.bf16, [0, 1, 2]),
        (lambda: arange(-3), I64, []),
    ],
)
def test_ranges_are_whole_numbers_unless_a_type_is_given(
    result: Callable[[], Tensor], dtype: DType, values: Any
) -> None:
    assert (result().dtype, result().tolist()) == (dtype, values)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([1, 2], I64), ([1, 2.5], F32), (3, I64), (2.5, F32), ([True], BOOL), ([], F32), (np.float64(2), tp.f64)],
)
def test_numbers_and_lists_become_tensors_of_their_own(value: Any, dtype: DType) -> None:
    x = asarray(value)
    assert (x.dtype, x.tolist(), x.block.is_owned) == (dtype, np.asarray(value).tolist(), True)


def test_numbers_can_be_told_their_type() -> None:
    assert asarray([1, 2], dtype=tp.i32).dtype is I32
    with pytest.raises(ValueError, match="one length on each level"):
        asarray([[1], [1, 2]])
    with pytest.raises(LaunchError, match="leave `dtype` out"):
        asarray(np.ones(3), dtype=tp.f32)


def test_copies_of_arrays_are_apart() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = from_numpy(array.T)
    array[...] = 0
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.is_contiguous
    assert x.block.is_owned


def test_arrays_without_an_element_type_are_refused() -> None:
    for array in (np.arange(3, dtype=">i4"), np.ones(3, complex), np.array(["a"])):
        for make in (from_numpy, asarray):
            with pytest.raises(LaunchError) as caught:
                make(array)
            assert code_of(caught) is Code.ARGUMENT_DTYPE
    with pytest.raises(TypeError, match="filled"):
        asarray(np.ma.masked_array([1, 2], [False, True]))


# Reading.


def test_the_value_of_one_element_is_a_number() -> None:
    x = full((1, 1), 3, I32)
    assert (x.item(), float(x), int(x), bool(x)) == (3, 3.0, 3, True)
    assert type(zeros(1, bool).item()) is bool
    assert type(full(1, 1.5, tp.f8e4m3).item()) is float
    for read in (lambda: zeros(2).item(), lambda: bool(zeros(2)), lambda: bool(zeros(0))):
        with pytest.raises(ValueError, match="elements"):
            read()


@pytest.mark.parametrize(
    "read",
    [lambda x: x.item(), lambda x: x.tolist(), lambda x: x.copy(), lambda x: float(x), lambda x: zeros(1).copy_from(x),
     pickle.dumps, copy.deepcopy, lambda x: np.array(x), lambda x: np.asarray(x, np.float64)],
)  # fmt: skip
def test_what_nobody_has_written_is_not_read(read: Callable[[Tensor], Any]) -> None:
    with pytest.raises(LaunchError, match="nobody has written") as caught:
        read(empty(1))
    assert code_of(caught) is Code.UNINITIALISED


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_a_stored_tensor_is_read_again(dtype: DType) -> None:
    x = full((2, 2), 1, dtype)
    x[0, 0] = 0
    again = pickle.loads(pickle.dumps(x.T))
    assert (again.dtype, again.tolist(), again.block.is_owned) == (dtype, x.T.tolist(), True)


def test_tensors_are_told_apart_by_identity() -> None:
    x, y = zeros(2), zeros(2)
    assert x == x
    assert x != y
    assert len({x, y, x}) == 2


def test_a_tensor_is_taken_to_another_device_and_never_to_another_type() -> None:
    x = zeros(3)
    assert x.to("cpu") is x
    for wrong in (lambda: x.to(tp.f16), lambda: x.to("f16"), lambda: x.to("cpu", dtype=tp.f16)):
        with pytest.raises(LaunchError, match="changes no element type") as caught:
            wrong()
        assert code_of(caught) is Code.ARGUMENT_DTYPE


# In flight.


@pytest.mark.parametrize(
    "read",
    [lambda x: x.tolist(), lambda x: x.numpy().tolist(), lambda x: x.copy().tolist(), lambda x: np.array(x).tolist(),
     lambda x: pickle.loads(pickle.dumps(x)).tolist(), lambda x: copy.deepcopy(x).tolist(),
     lambda x: [each.item() for each in x], lambda x: zeros(3).copy_from(x).tolist(),
     lambda x: x.wait()._array.tolist(),
     lambda x: np.asarray(x.T).tolist()],
)  # fmt: skip
def test_the_host_reads_what_a_kernel_in_flight_will_have_written(held: Held, read: Callable[[Tensor], Any]) -> None:
    x = zeros(3)
    held.writes(x, 7)
    assert x.is_in_flight
    assert read(x) == [7, 7, 7]
    assert not x.is_in_flight


def test_the_host_does_not_write_what_a_kernel_in_flight_uses(held: Held) -> None:
    x, y = zeros(3), zeros(3)
    held.writes(x, 7)
    held.reads(y)
    for tensor in (x, y):
        with pytest.raises(InFlight, match="wait first") as caught:
            tensor[0] = 1
        assert code_of(caught) is Code.IN_FLIGHT
    with pytest.raises(InFlight, match="`fill` uses it"):
        x.copy_from(0)
    assert y.tolist() == [0, 0, 0]
    assert not held.gate.is_open
    x.wait()
    x[0] = 1
    assert x.tolist() == [1, 7, 7]


def test_the_host_writes_beside_what_a_kernel_in_flight_uses(held: Held) -> None:
    x = zeros((2, 3))
    held.writes(x[0], 7)
    x[1] = 1
    assert x[1].tolist() == [1, 1, 1]
    assert not held.gate.is_open


def test_a_view_that_can_be_written_waits_for_readers(held: Held) -> None:
    x = zeros(3)
    held.reads(x)
    assert x.tolist() == [0, 0, 0]
    assert not held.gate.is_open
    x.numpy()
    assert held.gate.is_open


def test_what_failed_is_told_to_who_reads_until_it_is_written_anew(held: Held) -> None:
    x = zeros(3)
    held.writes(x, ValueError("it went wrong\nbadly"))
    for read in (Tensor.tolist, Tensor.numpy, Tensor.wait, Tensor.copy):
        with pytest.raises(ValueError, match="it went wrong"):
            read(x)
    assert x.block.exports == 0
    x[:2] = 1
    assert x[:2].tolist() == [1, 1]
    with pytest.raises(ValueError, match="it went wrong"):
        x.tolist()
    x[...] = 2
    assert x.tolist() == [2, 2, 2]


# Showing.


def test_a_tensor_is_shown_as_numpy_shows_arrays() -> None:
    x = from_numpy(np.array([[1.5, 2], [3, 4]], np.float32))
    assert repr(x) == "Tensor([[1.5, 2. ],\n        [3. , 4. ]], shape=(2, 2), dtype=f32, device=cpu)"
    assert repr(full((), 2, tp.bf16)) == "Tensor(2., shape=(), dtype=bf16, device=cpu)"
    assert repr(zeros((0, 2), bool)) == "Tensor([], shape=(0, 2), dtype=bool, device=cpu)"


def test_a_large_tensor_is_shown_in_part() -> None:
    for dtype in (F32, tp.bf16):
        text = repr(ones((1000, 1000), dtype))
        assert "..." in text
        assert len(text) < 600


def test_to_show_a_tensor_never_waits(held: Held) -> None:
    x, y = zeros(3), zeros(3)
    held.writes(x, ValueError("it went wrong\nbadly"))
    held.reads(y)
    assert repr(x) == "Tensor(in flight, shape=(3,), dtype=f32, device=cpu)"
    assert repr(y) == "Tensor([0., 0., 0.], shape=(3,), dtype=f32, device=cpu)"
    assert not held.gate.is_open
    held.stream.until(held.stream.turn)
    assert repr(x) == "Tensor(poisoned: it went wrong, shape=(3,), dtype=f32, device=cpu)"


def test_what_is_not_written_is_not_shown() -> None:
    x = empty(3, I32)
    assert repr(x) == "Tensor(uninitialised, shape=(3,), dtype=i32, device=cpu)"
    x[0] = 1
    assert "uninitialised" in repr(x)
    assert repr(x[:1]) == "Tensor([1], shape=(1,), dtype=i32, device=cpu)"


def test_to_show_a_tensor_never_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    x = zeros(3)
    monkeypatch.setattr(np, "array2string", lambda *_, **__: 1 / 0)
    assert repr(x) == "Tensor(its contents cannot be read, shape=(3,), dtype=f32, device=cpu)"


def test_the_elements_of_a_tensor_are_not_reached_behind_its_back() -> None:
    x = zeros(3)
    assert not hasattr(x, "__array_interface__")
    assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(TypeError, match=r"tp\.empty"):
        Tensor()
    assert np.asarray(full(2, 1.5, tp.bf16)).dtype == ml_dtypes.bfloat16
