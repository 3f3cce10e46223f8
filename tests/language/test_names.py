"""The public names: complete, documented, and helpful when used in the wrong place."""

import inspect
from types import FunctionType
from typing import Any

import pytest

import tileproof as tp
from tileproof.language import annotations, kernel, spaces, tiles

SENTINELS = {"Each", "Lowest", "NoPosition", "Split"}
ON_HOST = {"zeros", "full", "arange", "all"}
"""Words that mean something on the host too."""
WORDS = [
    name for name in spaces.__all__ + tiles.__all__
    if isinstance(getattr(tp, name, None), FunctionType) and name not in ON_HOST
]  # fmt: skip


def test_every_name_of_the_language_is_public() -> None:
    for module in (annotations, kernel, spaces, tiles):
        for name in set(module.__all__) - SENTINELS:
            assert name in tp.__all__
            assert getattr(tp, name) is getattr(module, name)


def test_public_names_exist_once() -> None:
    assert len(set(tp.__all__)) == len(tp.__all__)
    assert all(hasattr(tp, name) for name in tp.__all__)


def test_public_functions_and_classes_say_what_they_are() -> None:
    values = {name: getattr(tp, name) for name in tp.__all__}
    described = {name: value for name, value in values.items() if isinstance(value, type | FunctionType)}
    assert [name for name, value in described.items() if not inspect.getdoc(value)] == []


@pytest.mark.parametrize("name", WORDS)
def test_outside_a_kernel_a_word_explains_itself(name: str) -> None:
    function = getattr(tp, name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    with pytest.raises(RuntimeError, match=rf"tp\.{name} works on tiles inside a @tp\.kernel"):
        function(*(None for p in needed if p.default is p.empty))


def test_words_that_make_tiles_make_tensors_on_the_host() -> None:
    assert tp.zeros((2, 3), tp.i32).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert tp.full(2, 0.5).tolist() == [0.5, 0.5]
    assert tp.arange(3).tolist() == [0, 1, 2]


def test_all_takes_operations_on_the_host() -> None:
    assert tp.all(tp.value_op(1), tp.value_op(2), tp.value_op(3), tp.value_op(4)).run() == (1, 2, 3, 4)
    with pytest.raises(TypeError, match=r"inside a kernel tp\.all reduces a tile"):
        tp.all([True])


@pytest.mark.parametrize("word", [tp.In, tp.Out, tp.InOut, tp.Sum, tp.Max, tp.Min, tp.Index])
def test_annotations_cost_nothing_when_python_evaluates_them(word: Any) -> None:
    assert word[tp.f32, "M N"] is word
    with pytest.raises(TypeError, match="belongs in a kernel's signature"):
        word()


def test_a_kernel_knows_its_source_as_it_was_defined() -> None:
    @tp.kernel
    def double(y: tp.Out[tp.f32, "N"], x: tp.In[tp.f32, "N"], *, B: int = 8) -> None:
        """Twice x."""
        for i in tp.parallel(N=B):
            y[i] = x[i] * 2

    assert (double.name, double.__doc__) == ("double", "Twice x.")
    assert double.source_lines[double.first_line - 1].strip() == "@tp.kernel"
    assert repr(double).startswith("<kernel double at ")
    assert repr(double).endswith(f"test_names.py:{double.first_line}>")
    assert (double.deny_checks, double.deterministic) == (False, False)


def test_a_kernel_keeps_its_options() -> None:
    @tp.kernel(deny_checks=True, deterministic=True)
    def nothing() -> None:
        pass

    assert (nothing.deny_checks, nothing.deterministic) == (True, True)


def test_only_functions_become_kernels() -> None:
    with pytest.raises(TypeError, match="decorates a function, not int"):
        tp.kernel(3)  # type: ignore[call-overload]
