"""The tables of docs/language.md against the code they describe."""

from __future__ import annotations

import math
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import ROOT, code, load, table

import tileproof as tp
from support.agreement import UNITS
from tileproof.compiler.compile import check_kernel
from tileproof.diagnostics.codes import Code
from tileproof.frontend.source import REJECTED
from tileproof.language.dtypes import ALL, INDEX, TF32, DType
from tileproof.runtime.launch.backend_choice import ON_HOST

TYPES = {dtype.name: dtype for dtype in (*ALL, INDEX)}
GROUPS = {
    "bool": ["bool"],
    "8-bit integers": ["i8", "u8"],
    "integers": ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"],
    "floats": ["f16", "bf16", "f32", "f64"],
    "8-bit floats": ["f8e4m3", "f8e5m2"],
    "tf32": ["tf32"],
    "index": ["index"],
    "all": list(TYPES),
}
"""What the words in a table stand for."""
HEAD = "import tileproof as tp\nfrom tileproof import *\nfrom builtins import *\n"
"""Brings the element types into reach, and Python's own `len`, `max`, ... back."""


def test_every_public_name_is_mentioned() -> None:
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    mentioned = set(re.findall(r"\w+", " ".join(re.findall(r"```python\n.*?```|`[^`\n]+`", text, re.DOTALL))))
    assert [name for name in tp.__all__ if name not in mentioned] == []


def sections() -> dict[str, str]:
    """The sections of the page by their headings."""
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_links_within_the_page_lead_to_a_section() -> None:
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in sections()}
    assert set(re.findall(r"\]\(#([^)]+)\)", "".join(sections().values()))) <= anchors


# Python that is not in the language.


def test_the_refused_constructs_are_those_of_the_front_end() -> None:
    for name, (reason, _, _) in REJECTED.items():
        rows = [row for row in table("refused") if any(fnmatchcase(name, pattern) for pattern in code(row[1]))]
        assert [row[2] for row in rows] == [reason.id], name


def test_every_pattern_of_the_refused_constructs_means_something() -> None:
    patterns = [pattern for row in table("refused") for pattern in code(row[1])]
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in REJECTED)] == []


LINE = """
@tp.kernel
def wrong(y: Out[f32, "N"], x: In[f32, "N"], v: f32) -> None:
    for n in tp.parallel(N=64):
        t = x[n]
        y[n] = t
        {}
"""


@pytest.mark.parametrize(("line", "reason"), [row[:2] for row in table("lines")], ids=lambda cell: cell.strip("`"))
def test_a_line_is_refused(line: str, reason: str, tmp_path: Path) -> None:
    (statement,) = code(line)
    kernel = load(HEAD + LINE.format(statement), tmp_path).wrong
    assert [result.code.id for result in check_kernel(kernel, {})] == [reason]


def test_a_loop_with_else_is_refused(tmp_path: Path) -> None:
    kernel = load(HEAD + LINE.format("for k in range(3): pass\n        else: pass"), tmp_path).wrong
    assert [result.code for result in check_kernel(kernel, {})] == [Code.LOOP_ELSE]


# Operations by element type.


def allowed(words: str) -> set[str]:
    """The element types that a cell names."""
    return {name for word in words.split(", ") for name in GROUPS[word]}


def result(words: str, name: str) -> str:
    """The element type that a cell promises for operands of type `name`."""
    dtype = TYPES[name]
    match words:
        case "the same":
            return name
        case "sum type" if dtype.bits >= 32:
            return name
        case "sum type":
            return "f32" if dtype.is_float else "i32"
        case "product type" if dtype.is_float:
            return "f64" if name == "f64" else "f32"
        case "product type":
            return "i32"
        case _:
            return words


def operands(name: str) -> tuple[str, str]:
    """How a kernel gets tiles of an element type: the parameters' type, and what is done to what they hold."""
    match TYPES[name]:
        case dtype if dtype is INDEX:
            return "i32", "tp.arange(4) + {}"
        case dtype if dtype is TF32:
            return "f32", "{}.to(tf32)"
        case _:
            return name, "{}"


def kernel_of(name: str, lines: list[str]) -> str:
    """A kernel that does `lines` with tiles `a` and `b` of an element type and `c` of bool."""
    stored, result = operands(name)
    body = [f"a, b = {result.format('x[:]')}, {result.format('y[:]')}", "c = z[:]", *lines]
    head = f'def work(x: In[{stored}, "4"], y: In[{stored}, "4"], z: In[bool, "4"]) -> None:'
    return f"{HEAD}\n@tp.kernel\n{head}\n" + "".join(f"    {line}\n" for line in body)


OPERATIONS = [(one, row[1], row[2]) for row in table("operations") for one in code(row[0])]


@pytest.mark.parametrize("name", TYPES)
def test_an_element_type_has_the_operations_of_the_table(name: str, tmp_path: Path) -> None:
    kernel = load(kernel_of(name, [f"r{n} = {one}" for n, (one, _, _) in enumerate(OPERATIONS)]), tmp_path).work
    rejected = {result.span.text for result in check_kernel(kernel, {}) if result.span is not None}
    assert rejected == {one for one, words, _ in OPERATIONS if name not in allowed(words)}


@pytest.mark.parametrize("name", TYPES)
def test_operations_give_the_types_of_the_table(name: str, tmp_path: Path) -> None:
    values = [(one, result(gives, name)) for one, words, gives in OPERATIONS if name in allowed(words)]
    wanted = {wanted: "tp.arange(1).dtype" if wanted == "index" else wanted for _, wanted in values}
    lines = [f"tp.require(({one}).dtype == {wanted[gives]})" for one, gives in values]
    stored = TYPES[operands(name)[0]].storage
    arguments = [np.ones(4).astype(stored), np.ones(4).astype(stored), np.ones(4, np.bool_)]
    load(kernel_of(name, lines), tmp_path).work(*arguments)


# Values.


def number(cell: str, dtype: DType) -> Any:
    """A cell as an array of one element."""
    words = {"true": True, "false": False, "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "": 0}
    value = words[cell] if cell in words else int(cell) if re.fullmatch(r"-?\d+", cell) else float(cell)
    return np.array([value]).astype(dtype.storage)


VALUE = """
@tp.kernel
def value(r: Out[{result}, "1"], p: In[{operand}, "1"], q: In[{operand}, "1"]) -> None:
    x, y = p[:], q[:]
    r[:] = {expression}
"""


@pytest.mark.sweep(30)
@pytest.mark.parametrize("row", table("total"), ids=lambda row: " ".join(row).replace("`", ""))
def test_every_backend_gives_the_value_of_the_table(row: list[str], tmp_path: Path) -> None:
    ((expression,), operand, result) = code(row[0]), TYPES[row[1]], TYPES[row[5]]
    text = HEAD + VALUE.format(result=result, operand=operand, expression=expression)
    wanted = number(row[4], result)
    kernel = load(text, tmp_path).value
    for backend in ON_HOST:
        actual = np.zeros_like(wanted)
        with tp.backend(backend):
            kernel(actual, number(row[2], operand), number(row[3], operand))
        np.testing.assert_array_equal(actual.astype(np.float64), wanted.astype(np.float64))


# What backends may differ in.


def test_the_table_of_differences_is_what_tests_allow() -> None:
    assert {TYPES[row[0]]: int(row[1]) for row in table("apart")} == UNITS
