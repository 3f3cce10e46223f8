"""`tp.check`: the mistakes of a kernel as objects, without a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_files import kernel, load

import tileproof as tp
from tileproof.diagnostics import Code

ROWS = '''
@tp.kernel
def k(y: Out[f32, "N 4"], x: In[f32, "N D"], *, D: int) -> None:
    for n in tp.parallel(N=tp.each):
        y[n, :] = x[n, :].reshape(4)
'''
MIXED = '''
@tp.kernel
def k(y: Out[f32, "N"], x: In[f16, "N"], s: In[f32, "N"], *, B: int = 8) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] * s[n]
        y[n] = x[n] + nowhere
'''


def test_a_right_kernel_has_no_mistakes() -> None:
    assert tp.check(kernel(MIXED.replace("x[n] * s[n]", "s[n]").replace("x[n] + nowhere", "s[n]"))) == []


def test_every_mistake_is_an_object_with_its_place_and_its_cure() -> None:
    mixed, unknown = tp.check(kernel(MIXED))
    assert (mixed.code, mixed.code.id, unknown.code) == (Code.MIXED_TYPES, "TP0201", Code.UNKNOWN_NAME)
    assert (mixed.kernel, mixed.message) == ("k", "f16 meets f32")
    assert mixed.span is not None
    assert mixed.span.text == "x[n] * s[n]"
    assert mixed.edit is not None
    assert (mixed.edit.span.text, mixed.edit.replacement) == ("x[n]", "x[n].to(f32)")
    assert {label.span.text for label in mixed.labels} == {"x[n]", "s[n]"}


def test_an_edit_applied_is_a_cure() -> None:
    (found,) = tp.check(kernel(MIXED.replace("x[n] + nowhere", "s[n]")))
    assert found.edit is not None
    place = found.edit.span
    lines = list(place.source.lines)
    line = lines[place.line - 1]
    lines[place.line - 1] = line[: place.column - 1] + found.edit.replacement + line[place.end_column - 1 :]
    assert tp.check(load("".join(lines), head="").k) == []


def test_dimensions_stay_symbolic_unless_they_are_given() -> None:
    assert [found.code for found in tp.check(kernel(ROWS))] == [Code.LENGTHS_DIFFER]
    assert tp.check(kernel(ROWS), D=4) == []
    assert [found.code for found in tp.check(kernel(ROWS), D=5)] == [Code.LENGTHS_DIFFER]


def test_nothing_is_launched_and_a_call_raises_the_same_mistakes() -> None:
    wrong = kernel(MIXED)
    arguments = [np.full(3, 7, np.float32), np.ones(3, np.float16), np.ones(3, np.float32)]
    with pytest.raises(tp.KernelError) as caught:
        wrong(*arguments)
    assert [found.code for found in caught.value.diagnostics] == [found.code for found in tp.check(wrong)]
    assert (arguments[0] == 7).all()


@pytest.mark.parametrize("value", [3, None, len, lambda x: x])
def test_only_kernels_can_be_checked(value: Any) -> None:
    with pytest.raises(TypeError, match=r"tp\.check takes a kernel, not \w+: decorate it with @tp\.kernel"):
        tp.check(value)
