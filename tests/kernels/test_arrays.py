"""Arrays in other shapes: what is written to a view is written to the array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tileproof.diagnostics.errors import LaunchError
from tileproof.kernels import arrays


class FixedShape(np.ndarray):
    """An array whose shape cannot be set, which NumPy 2.5 deprecates for all."""

    @property
    def shape(self) -> Any:
        return np.ndarray.shape.__get__(self)


@pytest.mark.parametrize("kind", [np.ndarray, FixedShape])
@pytest.mark.parametrize("shape", [(24,), (4, 6), (2, 1, 12), (2, 3, 4)])
def test_what_is_written_to_a_view_is_written_to_the_array(kind: type[Any], shape: tuple[int, ...]) -> None:
    array = np.zeros((2, 3, 4), np.float32).view(kind)
    arrays.view(array, shape)[...] = 1
    assert (np.asarray(array) == 1).all()


def test_rows_with_gaps_keep_them() -> None:
    array = np.zeros((6, 8), np.float32)
    arrays.view(array[:, :4], (2, 3, 4))[...] = 1
    assert (array == [1, 1, 1, 1, 0, 0, 0, 0]).all()


@pytest.mark.parametrize("shape", [(24,), (12, 2)])
def test_no_view_is_made_by_copying(shape: tuple[int, ...]) -> None:
    with pytest.raises(LaunchError, match="it is not contiguous"):
        arrays.view(np.zeros((6, 8), np.float32)[:, :4], shape)
    with pytest.raises(LaunchError, match="it is not contiguous"):
        arrays.view(np.zeros((4, 6), np.float32).T, shape)


def test_an_array_without_elements_has_any_shape_without_elements() -> None:
    assert arrays.view(np.zeros((0, 8), np.float32)[:, :4], (2, 0, 3)).shape == (2, 0, 3)
    with pytest.raises(LaunchError, match=r"an array of shape \(0, 8\) cannot be seen as \(2,\)"):
        arrays.view(np.zeros((0, 8), np.float32), (2,))
