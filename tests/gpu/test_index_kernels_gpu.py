"""Copies of index tensors on a GPU: as on the CPU, whatever the tensors hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from samples.index_launches import KINDS, WRONG, Copy, checked_indices, copies, entries
from support.device_arrays import DeviceArray
from support.gpu_runs import assert_agrees
from tileproof.runtime.memory.contents import Wanted, measure

pytestmark = pytest.mark.gpu
LAUNCHES = checked_indices()


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches_of_a_checked_copy(name: str) -> None:
    assert assert_agrees(LAUNCHES[name]) == []


@pytest.mark.parametrize(("kind", "lies", "dtype"), list(copies()))
def test_a_copy_is_as_wanted_and_what_is_wrong_is_told(kind: str, lies: str, dtype: Any) -> None:
    wanted, is_loaded = KINDS[kind]
    for wrong in WRONG:
        given = entries(kind, lies, dtype, wrong)
        here, source = Copy(wanted, is_loaded, given), DeviceArray(given)
        there = Copy(wanted, is_loaded, source, "cuda")
        here.run()
        there.run()
        copy = there.copy.numpy()
        source.assert_is_kept()
        harmless = Wanted(wanted.kind, wanted.extent, holes_allowed=not is_loaded)
        assert measure(copy, wanted.kind).meets(harmless) is True
        assert np.array_equal(copy, here.copy.numpy())
        assert there.fault == here.fault
