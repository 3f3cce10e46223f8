"""Every function of the kernel library gives on a GPU what float64 says, and writes nothing beside its results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import tileproof as tp
from samples.library_launches import cases
from support.library import assert_right, results
from tileproof.diagnostics.codes import Code

pytestmark = pytest.mark.gpu
CASES = cases()
_TWICE = list(CASES)[::7]


@contextmanager
def where_it_can_be_assembled() -> Iterator[None]:
    """A launch on arrays without elements may ask for other code than was made ahead: memory lies elsewhere."""
    try:
        yield
    except tp.LaunchError as error:
        if error.diagnostics[0].code is not Code.NO_ASSEMBLER:
            raise
        pytest.skip("it is assembled on the spot, and there is no assembler here")


@pytest.mark.parametrize("name", CASES)
def test_a_function_of_the_library_is_right(name: str) -> None:
    with where_it_can_be_assembled():
        assert_right(CASES[name], "cuda")


@pytest.mark.parametrize("name", _TWICE)
def test_a_second_call_gives_the_same_bits(name: str) -> None:
    if "embedding_backward" in name:
        pytest.skip("a sum of floats by many programs depends on their order on a GPU, and says so")
    with where_it_can_be_assembled():
        one, two = (results(CASES[name], "cuda") for _ in range(2))
    for first, second in zip(one, two, strict=True):
        assert first.tobytes() == second.tobytes()
