"""The codes and their pages: every wrong example is refused with its code, every right one is accepted.

A page is `# TP0301: title`, a paragraph, `## Wrong` with one block of code, `## Right` with another, and at most
a closing paragraph. A block is one of two kinds:

- `python`: a whole file. It is imported as `tileproof check` imports it, so what importing finds (TP0002, TP0903),
  what a launch (TP06) or `tp.interpret` (TP07) in it raises, and what checking its kernels finds, all count.
- `console`: one command, `$ tileproof ...`, run from the root of the repository.

The examples of `ELSEWHERE` need a GPU, a model, a second process, or a machine that is set up wrongly. They are read,
and other tests raise the codes.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tileproof.cli.explain import GROUPS
from tileproof.cli.kernel_file import load
from tileproof.cli.main import main
from tileproof.compiler.compile import check_kernel
from tileproof.diagnostics import Code, Diagnostic, Edit, page, render

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "errors"
ELSEWHERE = {
    Code.ARCH_LACKS,
    Code.FORKED,
    Code.NO_GPU,
    Code.DRIVER_TOO_OLD,
    Code.WRONG_ARCH,
    Code.OUT_OF_DEVICE_MEMORY,
    Code.CUDA_FAILED,
    Code.DEVICES_DIFFER,
    Code.MEMORY_KIND,
    Code.NO_ASSEMBLER,
    Code.ASSEMBLER_VERSION,
    Code.ASSEMBLER_FAILED,
    Code.ASSEMBLER_TIMEOUT,
    Code.MODEL_FILE,
    Code.MODEL_KIND,
    Code.MODEL_TENSOR,
    Code.PROMPT,
    Code.MODEL_MEMORY,
    Code.MISSING_PACKAGE,
}
HERE = [pytest.param(code, id=code.id) for code in Code if code not in ELSEWHERE]
WITHOUT_PLACE = {
    Code.NO_SOURCE,
    Code.NO_BACKEND,
    Code.BAD_SETTING,
    Code.NO_DEVICE,
    Code.IN_FLIGHT,
    Code.OUT_OF_MEMORY,
    Code.SPENT,
    Code.NOT_IN_GRAPH,
    Code.NO_FILE,
    Code.NO_KERNEL,
    Code.CHAT_TEMPLATE,
    Code.SAMPLING,
    Code.GRAMMAR,
}
"""No text of a kernel to point at: there is none, or it is not a file, or a command or a call of the host is wrong."""
INTERNAL = re.compile(
    r"\b(Value|Known|Bundle|Method|Poison|Extent|Opaque|Fixed|Named|Unnamed|Anything|ContentOf|DTypeVar|Each|Lowest)\b"
    r"|\w+(Type|Tag|Parameter|Fn)\b|Access\.|<\w+[ .]|object at 0x|%\d"
)
"""Names of ours that mean nothing to a user."""
LAYOUT = re.compile(
    r"# (?P<id>TP\d{4}): (?P<title>[^\n]+)\n\n"
    r"(?P<why>(?:[^\n#`][^\n]*|`[^`\n]+`[^\n]*)(?:\n[^\n#]+)*)\n\n"
    r"## Wrong\n\n```(?P<wrong_kind>python|console)\n(?P<wrong>.+?)```\n\n"
    r"## Right\n\n```(?P<right_kind>python|console)\n(?P<right>.+?)```\n"
    r"(?:\n(?P<more>[^\n#]+(?:\n[^\n#]+)*)\n)?",
    re.DOTALL,
)
Findings = Callable[[str], list[Diagnostic]]
FINDING = re.compile(r"^error\[(TP\d{4})\]: ", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """The code of a block, and what language it is in."""

    kind: str
    text: str


@dataclass(frozen=True)
class Page:
    title: str
    wrong: Example
    right: Example


def read(code: Code) -> Page:
    match = LAYOUT.fullmatch(page(code))
    assert match is not None, f"{code.id}.md is not laid out as a page"
    assert match["id"] == code.id
    examples = (Example(match[f"{which}_kind"], match[which]) for which in ("wrong", "right"))
    return Page(match["title"], *examples)


@pytest.fixture
def findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Findings]:
    """Writes a file, imports it, and gives every mistake found in it."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    written = iter(range(100))

    def check(text: str) -> list[Diagnostic]:
        path = tmp_path / f"example_{next(written)}.py"
        path.write_text(text, encoding="utf-8")
        loaded = load(str(path))
        return [*loaded.problems, *(result for kernel in loaded.kernels for result in check_kernel(kernel, {}))]

    yield check
    for name in set(sys.modules) - before:
        if name.startswith("example_"):
            del sys.modules[name]


def command(text: str) -> list[str]:
    """The words of a console block behind `$ tileproof`."""
    prompt, program, *words = shlex.split(text)
    assert (prompt, program) == ("$", "tileproof")
    return words


def edited(text: str, edit: Edit) -> str:
    """A file after an edit."""
    lines = text.splitlines(keepends=True)
    span = edit.span
    before = lines[span.line - 1][: span.column - 1]
    after = lines[span.end_line - 1][span.end_column - 1 :]
    lines[span.line - 1 : span.end_line] = [before + edit.replacement + after]
    return "".join(lines)


def place(result: Diagnostic) -> tuple[Code, str, int, int]:
    line, column = (result.span.line, result.span.column) if result.span else (0, 0)
    return result.code, result.message, line, column


def is_told_well(result: Diagnostic) -> bool:
    """Whether a finding is said in the user's words, at a place, with a way out."""
    words = [result.message, result.label, result.help, *result.notes, *(label.text for label in result.labels)]
    assert result.message, result
    assert not result.message.endswith("."), result.message
    assert (result.span is None) == (result.code in WITHOUT_PLACE), result
    assert result.help or result.code is Code.NOT_PYTHON, f"no help: {result.message}"
    for text in words:
        assert not INTERNAL.search(text), text
        assert "\n" not in text, text
    return True


def test_codes_are_numbered_once() -> None:
    ids = [code.id for code in Code]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"TP[01]\d{3}", token_id) for token_id in ids)
    assert ids == sorted(ids)


def test_a_code_is_found_in_any_case() -> None:
    assert Code.of("tp0301") is Code.WRONG_DIMENSION
    assert Code.of("TP9999") is None


def test_there_is_no_page_without_a_code() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"index.md", *(f"{code.id}.md" for code in Code)}


def test_the_index_lists_every_code_under_its_group() -> None:
    listed: list[str] = []
    for line in (FOLDER / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            listed.append(line.removeprefix("## "))
        elif row := re.fullmatch(r"\| \[(TP\d{4})\]\((TP\d{4}\.md)\) \| (.+) \|", line):
            assert row[2] == f"{row[1]}.md"
            listed.append(f"{row[1]}: {row[3]}")
    wanted: list[str] = []
    for prefix, heading in GROUPS.items():
        wanted += [heading, *(f"{code.id}: {code.title}" for code in Code if code.id.startswith(prefix))]
    assert listed == wanted


def test_a_page_is_headed_by_its_code_and_fits_a_terminal() -> None:
    assert {code.id: read(code).title for code in Code} == {code.id: code.title for code in Code}
    assert [(code.id, line) for code in Code for line in page(code).splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("code", sorted(ELSEWHERE, key=lambda code: code.id), ids=lambda code: code.id)
def test_a_code_whose_examples_are_not_run_is_raised_by_another_test(code: Code) -> None:
    page = read(code)
    assert page.right != page.wrong
    for example in (page.wrong, page.right):
        if example.kind == "python":
            ast.parse(example.text)
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    assert any(re.search(rf"\bCode\.{code.name}\b", text) for text in texts)


@pytest.mark.parametrize("code", HERE)
def test_the_wrong_example_is_refused_with_its_code(
    code: Code,
    findings: Findings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = read(code).wrong
    if wrong.kind == "console":
        monkeypatch.chdir(ROOT)
        status = main(command(wrong.text))
        printed = capsys.readouterr()
        assert (status, FINDING.findall(printed.out + printed.err)) == (1, [code.id])
        return
    result = findings(wrong.text)
    assert {each.code for each in result} == {code}, "\n\n".join(map(render, result))
    assert all(map(is_told_well, result))


@pytest.mark.parametrize("code", HERE)
def test_the_right_example_is_accepted(code: Code, findings: Findings, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, right = read(code).wrong, read(code).right
    assert right != wrong
    if right.kind == "console":
        monkeypatch.chdir(ROOT)
        assert main(command(right.text)) == 0
        return
    result = findings(right.text)
    assert result == [], "\n\n".join(map(render, result))


@pytest.mark.parametrize("code", HERE)
def test_an_edit_that_is_offered_cures_the_mistake(code: Code, findings: Findings) -> None:
    wrong = read(code).wrong
    for result in findings(wrong.text) if wrong.kind == "python" else []:
        if result.edit is not None:
            after = findings(edited(wrong.text, result.edit))
            assert place(result) not in map(place, after), render(result)
            assert not any(each.code is Code.NOT_PYTHON for each in after), render(result)


HEAD = """\
import math

import numpy as np

import tileproof as tp
from tileproof import In, InOut, Out, T, bf16, f32, i32


@tp.kernel
"""
KERNEL = (
    HEAD
    + """\
def work(
    y: Out[f32, "M N"], t: InOut[T, "M N"], k: InOut[i32, "N"], x: In[f32, "M N"], h: In[bf16, "M N"],
    p: In[i32, "M N"], rgb: In[f32, "N 3"], rest: In[f32, "N _"], flag: bool, *, B: int = 16,
) -> None:
    for i, n in tp.parallel(M=B, N=tp.each):
        {}
"""
)
LINES = [
    "y[i, n] = tp.where(not x[i, n] > 0, 1.0, 0.0)",
    "y[i, n] = tp.where(x[i, n] > 0 or x[i, n] < -1 or flag, 1.0, 0.0)",
    "y[i, n] = 1.0 if flag and n > 0 else 2.0",
    "y[i, n] = tp.where(0 < x[i, n] <= p[i, n].to(f32) < 9, 1.0, 0.0)",
    "y[i, n] = x[i, n] + h[i, n]",
    "y[i, n] = h[i, n] * 2 + x[i, n]",
    "y[i, n] = x[i, n] + (h[i, n] * 2)",
    "y[i, n] = x[i, n] + -h[i, n]",
    "y[i, n] = x[i, n] + p[i, n]",
    "y[i, n] = tp.maximum(h[i, n], x[i, n])",
    "y[i, n] = tp.where(flag, h[i, n], x[i, n])",
    "y[i, n] = p[i, n] + 1",
    "y[i, n] = i.elements",
    "t[i, n] = i.elements - n",
    "k[n] += n",
    "k[n] = n",
    "k[n] = -n",
    "y[i, n] = rgb[n, -1]",
    "y[i, n] = rest[n, -2]",
    "y[i, n] = x[i, -1]",
    "y[i, n] = math.sqrt(2.0) * x[i, n]",
    "y[i, n] = np.exp(x[i, n])",
    "y[i, n] = x[i, N - 1]",
]
SIGNATURES = [
    'def work(y: Out["N"]) -> None: pass',
    'def work(y: Out["M", "N"]) -> None: pass',
    'def work(y: Out["N", f32]) -> None: pass',
    'def work(y: Out["f32", "N"]) -> None: pass',
    'def work(y: Out[f32, "M, N"]) -> None: pass',
    "async def work(y: Out[f32, 'N']) -> None: pass",
    'def work(y: Out[f32, "N"],\n         x: In["M",\n               "N"]) -> None: pass',
]
OTHER_NAMES = """\
import tileproof as tile
from tileproof import In, Out


@tile.kernel
def work(y: Out[tile.f32, "N"], h: In[tile.bf16, "N"], p: In[tile.i32, "N"], *, B: int = 16) -> None:
    for n in tile.parallel(N=B):
        {}
"""
OTHER_LINES = ["y[n] = h[n] + p[n]", "y[n] = p[n]", "y[n] = h[-1]", "y[n] = h[N - 1]"]
TEXTS = [*map(KERNEL.format, LINES), *(f"{HEAD}{line}\n" for line in SIGNATURES), *map(OTHER_NAMES.format, OTHER_LINES)]


@pytest.mark.parametrize("text", TEXTS, ids=[*LINES, *SIGNATURES, *OTHER_LINES])
def test_every_kind_of_edit_leaves_nothing_to_cure(text: str, findings: Findings) -> None:
    (result,) = findings(text)
    assert result.edit is not None, render(result)
    assert is_told_well(result)
    after = findings(edited(text, result.edit))
    left = [each for each in after if not each.code.id.startswith("TP08")]  # one statement keeps no law
    assert left == [], "\n\n".join(map(render, left))


def test_no_edit_is_offered_on_the_left_of_an_assignment(findings: Findings) -> None:
    (result,) = findings(KERNEL.format("t[i, n] = 0.0; acc = h[i, n]; acc += x[i, n]"))
    assert (result.code, result.edit) == (Code.MIXED_TYPES, None)
    assert result.help == "write it out, with a cast: `acc = acc.to(f32) ...`"


def test_an_edit_speaks_of_the_element_type_the_signature_leaves_open(
    findings: Findings,
) -> None:
    text = (
        HEAD
        + """\
def work(y: Out[T, "N"], x: In[T, "N"], p: In[i32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = tp.exp(x[n]) * (p[n] + 1)
"""
    )
    (result,) = findings(text)
    assert result.edit is not None
    assert (result.edit.replacement, result.notes[-1]) == ("(p[n] + 1).to(T)", "checked with T = bf16")
    assert findings(edited(text, result.edit)) == []


def test_of_several_element_types_the_one_that_got_furthest_is_shown(
    findings: Findings,
) -> None:
    (result,) = findings(KERNEL.format("t[i, n] = (t[i, n] & 1) + undefined"))
    assert result.code is Code.UNKNOWN_NAME


def test_every_refusal_says_what_to_do() -> None:
    silent = []
    for path in sorted((ROOT / "src" / "tileproof" / "frontend").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="refuse"), keywords=named) if all(item.arg != "help" for item in named):
                    silent.append(f"{path.name}:{node.lineno}")
    assert silent == []
