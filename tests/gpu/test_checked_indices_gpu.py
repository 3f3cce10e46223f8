"""Checked copies of index tensors on a GPU: as on the CPU, whatever the tensors hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_arrays import DeviceArray
from gpu_runs import assert_agrees
from index_launches import WRONG, checked_indices, copies, copy

import tileproof as tp
from tileproof.runtime.checked_indices import checked_copy, report
from tileproof.runtime.facts import measure

pytestmark = pytest.mark.gpu
LAUNCHES = checked_indices()


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches_of_a_checked_copy(name: str) -> None:
    assert assert_agrees(LAUNCHES[name]) == []


@pytest.mark.parametrize(("kind", "lies", "dtype"), list(copies()))
def test_a_copy_is_as_wanted_and_what_is_wrong_is_told(kind: str, lies: str, dtype: Any) -> None:
    for wrong in WRONG:
        made = copy(kind, lies, dtype, wrong)
        room = made.room()
        checked_copy(made.wanted, made.source, *room, complete=made.complete)
        source, arrays = DeviceArray(made.source), [DeviceArray(array) for array in room]
        with tp.backend("cuda"):
            checked_copy(made.wanted, source, *arrays, complete=made.complete)
        scratch, flags = arrays[0].numpy(), arrays[1].numpy()
        source.assert_is_kept()
        for array in arrays:
            array.assert_rest_is_kept()
        assert measure(scratch, made.wanted.kind).meets(made.wanted) is True
        assert np.array_equal(scratch, room[0])
        assert report(made.wanted, flags, source.shape) == report(made.wanted, room[1], source.shape)
