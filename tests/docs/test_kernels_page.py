"""docs/kernels.md against the library it speaks of: it names every function and kernel, and nothing else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pages import ROOT, code, table

import tileproof as tp
import tileproof.kernels as tk

PAGE = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
FUNCTIONS = {name for names in tk.FAMILIES.values() for name in names.split()}
MODULES = [import_module(f"{tk.__name__}.{iter_module.name}") for iter_module in iter_modules(tk.__path__)]
IN_GRAPHS = "Some allocate arrays, and are rejected in a graph"


def rows() -> Iterator[tuple[str, list[str]]]:
    """The family and the cells of every function on the page."""
    for family in tk.FAMILIES:
        for row in table(family, "kernels.md"):
            yield family, row


def kernels_of(module: ModuleType) -> set[str]:
    """The kernels that a module defines or takes from another of the library."""
    return {name for name, value in vars(module).items() if isinstance(value, tp.Kernel) and not value.absent}


def test_the_tables_have_the_functions_of_their_family_with_their_signatures() -> None:
    lines: dict[str, list[str]] = {family: [] for family in tk.FAMILIES}
    for family, row in rows():
        lines[family] += code(row[0])
    assert lines == {family: [written(name) for name in names.split()] for family, names in tk.FAMILIES.items()}


def written(name: str) -> str:
    """How a function is called: its name, its parameters and their defaults."""
    signature = inspect.signature(getattr(tk, name))
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def beneath(family: str) -> list[str]:
    """The kernels that follow the tables of a family."""
    parts = PAGE.split(f"<!-- table: {family} -->")[1:]
    return [name for after in parts for name in code(after.partition("\nKernels: ")[2].partition("\n\n")[0])]


def test_the_page_names_every_kernel_once() -> None:
    named = [name for family in tk.FAMILIES for name in beneath(family)]
    assert sorted(named) == sorted(set().union(*map(kernels_of, MODULES)))


def test_the_kernel_of_a_function_is_in_a_module_that_its_section_names() -> None:
    every = set().union(*map(kernels_of, MODULES))
    for family, names in tk.FAMILIES.items():
        assert {f"{name}_kernel" for name in names.split()} & every <= set(beneath(family)) != set()
        section = PAGE.partition(f"<!-- table: {family} -->")[0].rpartition("\n## ")[2]
        words = code(re.findall(r"^Modules? [^.:]*", section, re.MULTILINE)[0])
        modules = [import_module(f"{tk.__name__}.{word}") for word in words if word not in FUNCTIONS]
        assert set(beneath(family)) <= set().union(*map(kernels_of, modules))


def test_gradients_are_functions_of_the_library() -> None:
    named = {text.partition("(")[0] for _, row in rows() for text in code(row[3])}
    assert named <= FUNCTIONS
    missing = {name for name in FUNCTIONS if f"{name}_backward" in FUNCTIONS} - {
        code(row[0])[0].partition("(")[0] for _, row in rows() if code(row[3])
    }
    assert missing == set()


def test_the_page_names_nothing_that_does_not_exist() -> None:
    kernels = set().union(*map(kernels_of, MODULES))
    calls = set(re.findall(r"\btk\.(\w+)", PAGE))
    assert calls <= FUNCTIONS | {f"{name}_kernel" for name in FUNCTIONS}
    assert set(re.findall(r"\w+_kernel\b", PAGE)) <= kernels
    assert {name for name in re.findall(r"`(\w+)`", PAGE) if name.endswith("_backward")} <= FUNCTIONS


def test_every_kernel_beneath_forbids_checks_at_run_time() -> None:
    for module in MODULES:
        for name in kernels_of(module):
            assert getattr(module, name).deny_checks, name


# What graphs hold.


def refused_in_graphs() -> set[str]:
    """The functions that the page says no graph holds."""
    sentence = PAGE.partition(IN_GRAPHS)[2].partition(". So do")[0]
    return {name for name in code(sentence) if name in FUNCTIONS}


X, W = np.ones((4, 16), np.float32), np.ones(16, np.float32)
HEADS = np.ones((1, 2, 4, 16), np.float32)
NORMED = {"rms_norm_backward": (X, X, W), "add_rms_norm_backward": (X, X, X, W), "layer_norm_backward": (X, X, W)}
WITHOUT_OUT: dict[str, tuple[Any, ...]] = {
    **NORMED, "attention_backward": (HEADS, HEADS, HEADS, HEADS, HEADS, HEADS[..., 0]),
}  # fmt: skip


def test_functions_without_an_array_for_their_result_are_those_that_graphs_refuse() -> None:
    without = {name for name in FUNCTIONS if "out" not in inspect.signature(getattr(tk, name)).parameters}
    assert without - {"append_layers", "paged_append", "count_tokens"} == refused_in_graphs() == set(WITHOUT_OUT)


@pytest.mark.parametrize("name", WITHOUT_OUT)
def test_a_function_that_makes_arrays_is_refused_in_a_graph(name: str) -> None:
    arguments = [tp.from_numpy(each) if isinstance(each, np.ndarray) else each for each in WITHOUT_OUT[name]]
    with pytest.raises(tp.LaunchError, match="TP0619"), tp.Graph():
        getattr(tk, name)(*arguments)


def test_sums_of_several_rows_are_refused_in_a_graph_and_of_one_row_recorded() -> None:
    many, one, out = tp.from_numpy(X), tp.from_numpy(W), tp.empty(())
    for reduced in (tk.sum, tk.max):
        with pytest.raises(tp.LaunchError, match="TP0619"), tp.Graph():
            reduced(many, axis=None, out=out)
        with tp.Graph() as graph:
            reduced(one, axis=None, out=out)
        graph.replay()
        assert out.item() == (16 if reduced is tk.sum else 1)
