"""Sums of products of 8-bit integers wrap on a GPU, as everywhere."""

from __future__ import annotations

import pytest

from samples.limit_launches import limits
from support.gpu_runs import assert_agrees

pytestmark = pytest.mark.gpu
LIMITS = limits()


@pytest.mark.parametrize("name", LIMITS)
def test_sums_of_integers_wrap(name: str) -> None:
    assert assert_agrees(LIMITS[name]) == []
