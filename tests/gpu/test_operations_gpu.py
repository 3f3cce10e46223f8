"""Operations of every kind and element type give on a GPU what they give on the interpreter."""

from __future__ import annotations

from functools import partial

import pytest

from samples.operation_launches import axis_operations, corpus, element_operations, movements
from support.agreement import assert_agree, assert_alike
from support.gpu_runs import assert_agrees
from tileproof.language.dtypes import F32, F64

pytestmark = pytest.mark.gpu
ELEMENTS, AXES, MOVEMENTS, CORPUS = element_operations(), axis_operations(), movements(), corpus()


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_operation_on_elements(name: str) -> None:
    assert assert_agrees(ELEMENTS[name], assert_agree) == []


@pytest.mark.parametrize("name", AXES)
def test_an_operation_along_an_axis(name: str) -> None:
    computed = F64 if "f64" in name else F32
    assert assert_agrees(AXES[name], partial(assert_alike, computed=computed)) == []


@pytest.mark.parametrize("name", MOVEMENTS)
def test_movement_walks_branches_and_combiners(name: str) -> None:
    assert assert_agrees(MOVEMENTS[name]) == []


@pytest.mark.parametrize("name", CORPUS)
def test_a_safe_kernel_of_the_corpus(name: str) -> None:
    assert assert_agrees(CORPUS[name]) == []
