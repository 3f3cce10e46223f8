"""Where the text of a kernel comes from: notebook cells, prompts, `exec`; files are the case of every other test."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof.diagnostics import Code, render
from tileproof.frontend import source

HEAD = "import tileproof as tp\nfrom tileproof import In, Out, f32\n"
DOUBLE = '''
@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2
'''


class Notebook:
    """Cells that share their names. The text of each is put where Python looks for lines, as IPython does."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.numbers = count(1)
        self.cells: list[str] = []

    def run(self, text: str) -> None:
        name = f"<ipython-input-{next(self.numbers)}-c0ffee>"
        self.cells.append(name)
        linecache.cache[name] = (len(text), None, dedent(text).splitlines(keepends=True), name)
        exec(compile(dedent(text), name, "exec"), self.names)


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    made = Notebook()
    made.run(HEAD)
    yield made
    for name in made.cells:
        linecache.cache.pop(name, None)


def doubled(kernel: tp.Kernel) -> list[float]:
    x = np.arange(3, dtype=np.float32)
    y = np.empty_like(x)
    kernel(y, x)
    return [float(value) for value in y]


def test_a_kernel_in_a_cell_runs(notebook: Notebook) -> None:
    notebook.run(DOUBLE)
    assert doubled(notebook.names["double"]) == [0, 2, 4]


def test_a_mistake_in_a_cell_is_shown_with_the_lines_of_the_cell(notebook: Notebook) -> None:
    notebook.run(DOUBLE.replace("x[n] * 2", "x[m] * 2"))
    (found,) = tp.check(notebook.names["double"])
    shown = render(found)
    assert " --> <ipython-input-2-c0ffee>:5:18\n" in shown
    assert "\n5 |         y[n] = x[m] * 2\n" in shown


def test_a_cell_may_use_helpers_and_constants_of_earlier_cells(notebook: Notebook) -> None:
    notebook.run("BY = 2\ndef scaled(t):\n    return t * BY\n")
    notebook.run(DOUBLE.replace("x[n] * 2", "scaled(x[n])"))
    double = notebook.names["double"]
    assert doubled(double) == [0, 2, 4]
    notebook.run("BY = 3")
    assert doubled(double) == [0, 3, 6]
    notebook.run("def scaled(t):\n    return t * BY + 1\n")
    assert doubled(double) == [1, 4, 7]


def test_a_cell_that_is_run_again_gives_a_new_kernel(notebook: Notebook) -> None:
    notebook.run(DOUBLE)
    first = notebook.names["double"]
    notebook.run(DOUBLE.replace("* 2", "* 5"))
    assert doubled(first) == [0, 2, 4]
    assert doubled(notebook.names["double"]) == [0, 5, 10]


def test_a_kernel_keeps_its_text_when_the_cell_is_forgotten(notebook: Notebook) -> None:
    notebook.run(DOUBLE)
    linecache.clearcache()
    assert doubled(notebook.names["double"]) == [0, 2, 4]


def test_a_prompt_keeps_what_is_typed_from_python_3_13_on(tmp_path: Path) -> None:
    launch = "\nimport numpy as np\nx = np.arange(3, dtype=np.float32)\ny = 0 * x\ndouble(y, x)\nprint(y)\n"
    environment = os.environ | {"PYTHONPATH": str(Path(tp.__file__).parents[1])}
    command = [sys.executable, "-i", "-q"]
    typed = HEAD + DOUBLE + launch
    done = subprocess.run(command, input=typed, cwd=tmp_path, env=environment, capture_output=True, text=True)
    if sys.version_info >= (3, 13):
        assert "[0. 2. 4.]" in done.stdout, done.stderr
    else:
        assert "error[TP0001]: the source of `double` cannot be read" in done.stderr
        assert "the prompt of Python 3.13 or newer" in done.stderr


def test_a_prompt_may_keep_the_text_by_function(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (HEAD + DOUBLE).splitlines(keepends=True)
    monkeypatch.setattr(inspect, "findsource", lambda function: (text, function.__code__.co_firstlineno - 1))
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("".join(text), "<python-input-0>", "exec"), names)
    assert doubled(names["double"]) == [0, 2, 4]


def test_code_made_by_exec_has_no_text() -> None:
    names: dict[str, Any] = {}
    exec(HEAD + DOUBLE, names)
    (found,) = tp.check(names["double"])
    assert (found.code, found.span) == (Code.NO_SOURCE, None)
    assert found.message == "the source of `double` cannot be read: Python kept no source text for it"
    assert found.help == "define it with `def` in a file, in a notebook cell, or at the prompt of Python 3.13 or newer"
    with pytest.raises(tp.KernelError, match="TP0001"):
        names["double"](np.zeros(3, np.float32), np.zeros(3, np.float32))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def other():\n    pass\n", "the text at its place holds `other`"),
        ("x = (1,\n", "the text at its place is not a function"),
        ("'''no end\n", "the text at its place is not a function"),
        ("@decorator\n", "the text at its place is not a function"),
        ("\n", "the text at its place is not a function"),
        ("\0\n", "the text at its place is not a function"),
        ("x = 1\n", "it is not a function written with `def`"),
    ],
)
def test_code_that_borrows_the_name_of_another_text_is_not_mistaken_for_it(
    text: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(linecache.cache, "<borrowed>", (len(text), None, text.splitlines(keepends=True), "<borrowed>"))
    names: dict[str, Any] = {"tp": tp, "Out": tp.Out, "In": tp.In, "f32": tp.f32}
    exec(compile(DOUBLE.lstrip("\n"), "<borrowed>", "exec"), names)
    (found,) = tp.check(names["double"])
    assert (found.code, found.message) == (Code.NO_SOURCE, f"the source of `double` cannot be read: {why}")


def test_a_lambda_is_not_a_kernel() -> None:
    (found,) = tp.check(tp.kernel(lambda y: None))
    assert (found.code, "not a function written with `def`" in found.message) == (Code.NO_SOURCE, True)


LAID_OUT = '''
import functools

def plain(a): return a
def brackets(
    a,
    b=(
1, 2),
):
# a comment at the margin
    text = """
at the margin
def is no function
"""

    return (
a +
    b)

@functools.cache
@functools.wraps(
plain)
def decorated(a):
    if a:
        return 1 + \\
2
    # the last line is a comment

class Inside:
    x = 1
    def method(self):
        def inner():
            pass
        return [
    inner]
    @property
    def other(self):
    \treturn 2
    y = 2
async def last(a):
    return a
    "text after the end"
'''


def test_the_text_of_a_function_ends_where_python_ends_it() -> None:
    for text in (LAID_OUT, Path(source.__file__).read_text(), Path(__file__).read_text()):
        lines = tuple(text.splitlines(keepends=True))
        functions = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]
        assert len(functions) > 5
        for node in functions:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found = source._statement_at(lines, first)
            assert ast.dump(found, include_attributes=True) == ast.dump(node, include_attributes=True)
