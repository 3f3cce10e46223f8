"""Tiles that end with their tensor neither read nor write what lies behind it."""

from __future__ import annotations

import pytest

from samples.edge_launches import edges
from support.gpu_runs import assert_agrees

pytestmark = pytest.mark.gpu
EDGES = edges()


@pytest.mark.parametrize("name", EDGES)
def test_what_lies_behind_a_tensor_is_left_alone(name: str) -> None:
    assert assert_agrees(EDGES[name]) == []
