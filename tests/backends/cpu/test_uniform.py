"""`tp.random` gives the interpreter's numbers, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from support.cpu_elements import Case, compiled
from tileproof.backends.cpu.codegen.lanes import uniform
from tileproof.backends.interpreter import semantics
from tileproof.language.dtypes import F32, I64


@pytest.mark.sweep(10)
@pytest.mark.parametrize("w", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("seed", [0, 1, -1, 2**40 + 3, -(2**63)])
def test_numbers_are_those_of_the_interpreter(seed: int, w: int) -> None:
    generator = np.random.default_rng(w)
    offset = np.concatenate([np.arange(100), generator.integers(-(2**63), 2**63 - 1, 100), [-1, -(2**63), 2**63 - 1]])
    run = compiled({"uniform": Case([I64], F32, lambda e, x, w: uniform(e, str(seed), x, w))}, w)["uniform"]
    expected = semantics.uniform(np.full(len(offset), seed), offset)
    assert run(offset).tolist() == expected.tolist()
