"""Gradients against differences of the function itself, in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def assert_gradient(
    function: Callable[[Any], Any], backward: Callable[[Any], Any], x: Any, tolerance: float = 1e-7, step: float = 1e-5
) -> None:
    """`backward(dy)` is the gradient of `function` at x: along random directions, outputs change as it says."""
    rng = np.random.default_rng(0)
    dy = rng.standard_normal(function(x).shape)
    dx = backward(dy)
    assert dx.shape == x.shape
    for _ in range(5):
        way = rng.standard_normal(x.shape)
        slope = ((function(x + step * way) - function(x - step * way)) * dy).sum() / (2 * step)
        assert abs((dx * way).sum() - slope) <= tolerance * max(1.0, np.abs(dx).sum())
