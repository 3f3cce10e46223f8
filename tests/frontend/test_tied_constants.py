"""Constants that a signature computes from each other are one unknown to `tileproof check`."""

import pytest

import tileproof as tp
from tileproof import In, Out, f32
from tileproof.compiler.compile import check_kernel
from tileproof.diagnostics.codes import Code


@tp.kernel
def swap_halves(y: Out[f32, "N D"], x: In[f32, "N D=2*E"], w: In[f32, "E"], *, D: int, E: int) -> None:
    for n in tp.parallel(N=tp.each):
        row = tp.zeros((D,)) + x[n, :] + w[:].sum()
        y[n, :] = tp.cat((row[E:], row[:E]))


@pytest.mark.parametrize("given", [{}, {"D": 8}, {"E": 4}, {"D": 8, "E": 4}])
def test_a_computed_constant_follows_from_the_other(given: dict[str, int]) -> None:
    assert check_kernel(swap_halves, given) == []


@pytest.mark.parametrize("given", [{"D": 7}, {"D": 8, "E": 3}])
def test_constants_that_contradict_the_signature_are_refused(given: dict[str, int]) -> None:
    (found,) = check_kernel(swap_halves, given)
    assert found.code is Code.CONSTANT_VALUE
    assert "`D` is 2*E" in found.message
