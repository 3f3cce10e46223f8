"""Every example gives on a GPU what it gives on the interpreter, whatever its sizes, types and layouts."""

from __future__ import annotations

import pytest

from samples.example_launches import examples
from support.gpu_runs import assert_agrees

pytestmark = pytest.mark.gpu
EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_agrees_with_the_interpreter(name: str) -> None:
    assert assert_agrees(EXAMPLES[name]) == []
