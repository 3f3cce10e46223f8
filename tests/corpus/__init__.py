"""Kernels with known answers: SAFE ones must be accepted, UNSAFE ones refused for the fault they have."""

from __future__ import annotations

from . import (
    blind_one,
    blind_two,
    early_ends,
    entries,
    nested_arithmetic,
    partitions,
    positions,
    safe_arithmetic,
    safe_contents,
    safe_examples,
    safe_forms,
    safe_walks,
    tiles,
    unsafe_access,
    unsafe_bounds,
    unsafe_corners,
    unsafe_coverage,
    unsafe_dimension,
    unsafe_forms,
    unsafe_launch,
    unsafe_race_contents,
    unsafe_race_walks,
)
from .case import Case

SAFE: list[Case] = [
    *safe_examples.CASES,
    *safe_walks.CASES,
    *safe_forms.CASES,
    *safe_arithmetic.CASES,
    *safe_contents.CASES,
    *partitions.SAFE,
    *blind_one.SAFE,
    *blind_two.SAFE,
    *early_ends.SAFE,
    *entries.SAFE,
    *nested_arithmetic.SAFE,
    *tiles.SAFE,
    *positions.SAFE,
]
UNSAFE: list[Case] = [
    *unsafe_race_walks.CASES,
    *unsafe_race_contents.CASES,
    *unsafe_bounds.CASES,
    *unsafe_coverage.CASES,
    *unsafe_corners.CASES,
    *unsafe_dimension.CASES,
    *unsafe_access.CASES,
    *unsafe_launch.CASES,
    *unsafe_forms.CASES,
    *partitions.UNSAFE,
    *blind_one.UNSAFE,
    *blind_two.UNSAFE,
    *early_ends.UNSAFE,
    *entries.UNSAFE,
    *nested_arithmetic.UNSAFE,
    *tiles.UNSAFE,
    *positions.UNSAFE,
]

__all__ = ["SAFE", "UNSAFE", "Case"]
