"""Extents that follow from others by the equations of a signature."""

from __future__ import annotations

from typing import Any

import pytest

import tileproof as tp
from tileproof import In, Out, T
from tileproof.frontend.dimensions import resolve
from tileproof.frontend.signature import parse


@tp.kernel
def padded(y: Out[T, "P=N+2*H"], x: In[T, "N"], z: Out[T, "P/B"], *, H: int, B: int = 4) -> None:
    for p in tp.parallel(P=16):
        y[p] = tp.zeros((p,), x.dtype)


@pytest.mark.parametrize(
    ("extents", "constants", "found"),
    [
        ({"N": 6}, {"H": 1, "B": 4}, {"N": 6, "P": 8, "P/B": 2}),
        ({"P": 8}, {"H": 1, "B": 4}, {"P": 8, "N": 6, "P/B": 2}),
        ({"P": 8, "N": 6}, {"B": 3}, {"P": 8, "N": 6, "H": 1, "P/B": 3}),
        ({"P": 8, "N": 5}, {"B": 4}, {"P": 8, "N": 5, "P/B": 2}),
        ({"N": 6}, {}, {"N": 6}),
        ({"P": 8}, {"B": 4}, {"P": 8, "P/B": 2}),
        ({"P": 8, "N": 9}, {"H": 1, "B": 4}, {"P": 8, "N": 9, "P/B": 2}),
        ({}, {"H": 1, "B": 4}, {}),
    ],
    ids=["forwards", "backwards", "a constant", "no whole number", "a name is open", "two names are open",
         "a contradiction", "nothing"],
)  # fmt: skip
def test_what_follows_from_extents_is_found(
    extents: dict[str, Any], constants: dict[str, Any], found: dict[str, Any]
) -> None:
    given = dict(extents)
    assert resolve(parse(padded).signature.equations, extents, constants) == found
    assert extents == given


@tp.kernel
def contradicting(y: Out[T, "P=N+1"], x: In[T, "P=N+2"]) -> None:
    for p in tp.parallel(P=16):
        y[p] = x[p]


def test_a_computed_dimension_has_one_meaning() -> None:
    with pytest.raises(tp.KernelError, match="`P` is `N\\+1` in one place and `N\\+2` in another"):
        parse(contradicting)
