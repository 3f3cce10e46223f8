"""Views of tensors are those of numpy, share memory, and copy nothing."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileproof.language.dtypes import F64, I32
from tileproof.runtime.tensor.creation import arange, asarray, empty, from_numpy, zeros
from tileproof.runtime.tensor.tensors import Tensor
from tileproof.runtime.tensor.views import runs_of

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
parts = st.one_of(
    st.integers(-5, 5),
    st.slices(5),
    st.just(slice(None, None, -1)),
    st.none(),
    st.just(Ellipsis),
)


def numbered(shape: tuple[int, ...]) -> tuple[Tensor, np.ndarray[Any, Any]]:
    """A tensor whose elements all differ, and the same for numpy."""
    reference = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    return from_numpy(reference), reference


def assert_same(view: Tensor, reference: np.ndarray[Any, Any]) -> None:
    assert view.shape == reference.shape
    if reference.size:
        assert view.strides == reference.strides
    assert view.tolist() == reference.tolist()


@given(shapes, st.lists(parts, max_size=5).map(tuple))
def test_indices_select_what_they_select_in_numpy(shape: tuple[int, ...], index: tuple[Any, ...]) -> None:
    tensor, reference = numbered(shape)
    try:
        expected = reference[index]
    except (IndexError, ValueError) as error:
        refusal = error
    else:
        assert_same(tensor[index], expected)
        assert tensor[index].block is tensor.block
        return
    with pytest.raises(type(refusal)) as caught:
        tensor[index]
    message, cure = str(caught.value).replace("tensor", "array").splitlines()
    assert message in str(refusal)
    assert cure.startswith("  help: ")


@given(shapes, st.lists(parts, min_size=1, max_size=4).map(tuple), st.integers(-9, 9))
def test_writing_through_an_index_writes_what_numpy_writes(
    shape: tuple[int, ...], index: tuple[Any, ...], value: int
) -> None:
    tensor, reference = numbered(shape)
    try:
        reference[index] = value
    except IndexError:
        with pytest.raises(IndexError):
            tensor[index] = value
    else:
        tensor[index] = value
    assert tensor.tolist() == reference.tolist()


@given(shapes, st.lists(st.slices(4), max_size=4).map(tuple), st.permutations(range(4)), shapes)
def test_a_view_is_reshaped_where_numpy_need_not_copy(
    shape: tuple[int, ...], index: tuple[Any, ...], order: list[int], wanted: tuple[int, ...]
) -> None:
    tensor, reference = numbered(shape)
    axes = [axis for axis in order if axis < len(shape)]
    index = index[: len(shape)]
    view, seen = tensor[index].permute(*axes), reference[(*index, ...)].transpose(axes)
    fits = [*_factored(seen.size), wanted]
    for extents in fits:
        if math.prod(extents) != seen.size:
            with pytest.raises(ValueError, match="cannot reshape a tensor"):
                view.reshape(extents)
            continue
        expected = seen.reshape(extents)
        if not seen.size or np.shares_memory(expected, seen):
            result = view.reshape(extents)
            assert (result.shape, result.tolist()) == (expected.shape, expected.tolist())
        else:
            with pytest.raises(ValueError, match=r"x\.copy\(\)\.reshape"):
                view.reshape(extents)
            assert view.copy().reshape(extents).tolist() == expected.tolist()


def _factored(size: int) -> list[tuple[int, ...]]:
    """A few shapes of so many elements."""
    pairs = [(divisor, size // divisor) for divisor in range(1, size + 1) if not size % divisor]
    return [
        (size,),
        (1, size, 1),
        *pairs,
        *((a, 1, b) for a, b in pairs),
        *((2, a // 2, b) for a, b in pairs if not a % 2),
    ]


@given(shapes, st.lists(st.slices(4), max_size=4).map(tuple))
def test_the_pieces_of_a_view_are_the_bytes_of_its_elements(shape: tuple[int, ...], index: tuple[Any, ...]) -> None:
    tensor, _ = numbered(shape)
    view = tensor[index[: len(shape)]]
    addresses = {view[place].address + byte for place in np.ndindex(view.shape) for byte in range(view.itemsize)}
    pieces = [byte for low, high in view.runs.tolist() for byte in range(low, high)]
    assert set(pieces) == addresses
    assert len(pieces) == len(addresses)
    assert not pieces or view.span == (min(pieces), max(pieces) + 1)


def test_an_axis_without_a_stride_is_one_piece() -> None:
    assert runs_of(((3, 2), (0, 4)), 4, 1000).tolist() == [[1000, 1008]]


def test_the_axes_of_a_view_are_named_from_either_end() -> None:
    tensor, reference = numbered((2, 3, 1, 4))
    assert_same(tensor.T, reference.T)
    assert_same(tensor.permute(1, -1, 0, 2), reference.transpose(1, 3, 0, 2))
    assert_same(tensor.permute((3, 2, 1, 0)), reference.T)
    assert_same(tensor.squeeze(), reference.squeeze())
    assert_same(tensor.squeeze(-2), reference.squeeze(-2))
    assert_same(tensor.flatten(), reference.reshape(-1))
    assert_same(tensor.view(6, -1), reference.reshape(6, -1))
    assert_same(tensor[:0].flatten(), reference[:0].reshape(-1))


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (lambda x: x[[0, 1]], IndexError, "in a kernel, with an `Index`"),
        (lambda x: x[np.array([0, 1])], IndexError, "in a kernel, with an `Index`"),
        (lambda x: x[asarray([0, 1])], IndexError, "in a kernel, with an `Index`"),
        (lambda x: x[True], IndexError, "in a kernel, with an `Index`"),
        (lambda x: x[np.bool_(True)], IndexError, "in a kernel, with an `Index`"),
        (lambda x: x[zeros((), bool)], IndexError, "in a kernel, with an `Index`"),
        (lambda x: x[1.0], IndexError, "a whole number or a slice"),
        (lambda x: x["a"], IndexError, "only integers, slices"),
        (lambda x: x[2], IndexError, "index 2 is out of bounds for axis 0 with size 2"),
        (lambda x: x[0, -4], IndexError, "index -4 is out of bounds for axis 1 with size 3"),
        (lambda x: x[0, 0, 0], IndexError, "tensor is 2-dimensional, but 3 were indexed"),
        (lambda x: x[..., ...], IndexError, "single ellipsis"),
        (lambda x: x[::0], ValueError, "slice step cannot be zero"),
        (lambda x: x.reshape(4), ValueError, "product is 6"),
        (lambda x: x.reshape(-1, -1), ValueError, "write -1 once"),
        (lambda x: x.reshape(-2, 3), ValueError, "negative extent"),
        (lambda x: x.reshape(-1, 4), ValueError, "product is 6"),
        (lambda x: x.reshape("6"), TypeError, "whole numbers"),
        (lambda x: x.permute(0), ValueError, "name every axis once"),
        (lambda x: x.permute(0, 0), ValueError, "name each axis once"),
        (lambda x: x.permute(0, 2), IndexError, "axis 2 is out of bounds"),
        (lambda x: x.squeeze(1), ValueError, "has 3 elements"),
        (lambda x: len(x[0, 0]), TypeError, "without axes"),
        (lambda x: iter(x[0, 0]), TypeError, "without axes"),
    ],
)
def test_what_is_no_view_is_refused_with_the_cure(wrong: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        wrong(zeros((2, 3)))
    assert message in str(caught.value)


def test_an_element_of_an_integer_tensor_is_an_index() -> None:
    places, x = asarray([2, 0]), arange(5)
    assert x[places[0]].item() == 2
    assert list(range(10))[places[0]] == 2
    with pytest.raises(TypeError, match="no whole number"):
        x[:1].__index__()
    with pytest.raises(TypeError, match="no whole number"):
        zeros(()).__index__()


def test_iteration_gives_views() -> None:
    x = zeros((3, 2), I32)
    for place, row in enumerate(x):
        row[...] = place
    assert x.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert len(x) == 3


def test_a_shallow_copy_is_a_view_and_a_deep_one_is_not() -> None:
    x = zeros(3)
    view, other = copy.copy(x), copy.deepcopy(x)
    x[0] = 1
    assert (view.tolist(), other.tolist()) == ([1, 0, 0], [0, 0, 0])
    assert view is not x


def test_a_view_keeps_the_memory() -> None:
    x = arange(1000, F64)
    row = x[990:]
    block = x.block
    del x
    assert row.block is block
    assert row.tolist() == list(range(990, 1000))


def test_elements_are_initialised_one_by_one() -> None:
    x = empty((4, 6), I32)
    x[:, ::2] = 1
    assert x[1, ::2].is_initialised
    assert not x[1, 1:3].is_initialised
    assert not x.is_initialised
    x[::-1, 1::2] = 2
    assert x.is_initialised
    assert x.block.written is None


def test_many_pieces_are_initialised_exactly() -> None:
    x = empty((20_000, 2), I32)
    x[:, 0] = 1
    assert x[:, 0].is_initialised
    assert not x[:, 1].is_initialised
    assert not x[5000:5001, 1].is_initialised
    x[:, 1] = 1
    assert x.block.written is None
