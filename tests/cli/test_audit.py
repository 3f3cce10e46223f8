"""`tileproof audit`: which blocks are found, under which names, and what the exit code says."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from support.cli_samples import GOOD, Ran

Run = Callable[..., Ran]
Write = Callable[[str, str], str]

PERMUTE = """\
import tileproof as tp
from tileproof import In, Out, f32, i32

@tp.kernel
def permute(y: Out[f32, "N"], x: In[f32, "N"], order: In[i32, "N"]) -> None:
    for n in tp.parallel(N=4):
        with tp.unsafe("order is a permutation: the host sorted it"):
            tp.raw.assume((order[n] >= 0).all())
            t = tp.raw.load(x, order[n])
        y[n] = t
"""


@pytest.fixture
def blocks(tileproof: Run, write: Write) -> Callable[[str], list[dict[str, Any]]]:
    """The blocks listed for the text of a file."""

    def audit(text: str) -> list[dict[str, Any]]:
        ran = tileproof("audit", write("kernels.py", text), "--format", "json")
        return list(json.loads(ran.out)["blocks"])

    return audit


Blocks = Callable[[str], list[dict[str, Any]]]


def test_a_block_is_listed_with_its_kernel_its_reason_and_its_uses(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", write("permute.py", PERMUTE))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "permute.py:7: kernel permute",
        "  reason: order is a permutation: the host sorted it",
        "  permute.py:8: tp.raw.assume",
        "  permute.py:9: tp.raw.load",
        "",
        "1 unsafe block, 2 uses of tp.raw, 1 file read",
    ]


def test_json_says_the_same(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", write("permute.py", PERMUTE), "--format", "json", "--max", "1")
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "format": 1,
        "files": 1,
        "max": 1,
        "exceeded": False,
        "blocks": [
            {
                "file": "permute.py",
                "line": 7,
                "end_line": 9,
                "kind": "kernel",
                "name": "permute",
                "reason": "order is a permutation: the host sorted it",
                "written": "'order is a permutation: the host sorted it'",
                "certain": True,
                "raw": [{"line": 8, "name": "raw.assume"}, {"line": 9, "name": "raw.load"}],
            }
        ],
        "findings": [],
    }


def test_files_without_blocks_are_counted(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", write("good.py", GOOD), write("plain.py", "x = 1\n"))
    assert (ran.code, ran.out) == (0, "0 unsafe blocks, 0 uses of tp.raw, 2 files read\n")


@pytest.mark.parametrize(("limit", "code"), [("0", 1), ("1", 0), ("2", 0)])
def test_more_blocks_than_allowed_is_exit_1(tileproof: Run, write: Write, limit: str, code: int) -> None:
    ran = tileproof("audit", write("permute.py", PERMUTE), "--max", limit)
    assert (ran.code, f"--max {limit} allows fewer" in ran.out) == (code, code == 1)


def test_json_says_that_the_limit_is_exceeded(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", write("permute.py", PERMUTE), "--max=0", "--format=json")
    assert (ran.code, json.loads(ran.out)["exceeded"]) == (1, True)


@pytest.mark.parametrize(
    "arguments", [(), ("x.py", "--max", "-1"), ("x.py", "--max", "few"), ("x.py", "--format", "sarif")]
)
def test_wrong_use_is_exit_2(tileproof: Run, arguments: tuple[str, ...]) -> None:
    assert tileproof("audit", *arguments).code == 2


def test_help_has_examples(tileproof: Run) -> None:
    ran = tileproof("audit", "--help")
    assert (ran.code, "tileproof audit src --max 0" in ran.out, "with tp.unsafe(" in ran.out) == (0, True, True)


# Which files.


def test_folders_are_read_to_the_bottom_in_order(tileproof: Run, write: Write) -> None:
    for name in ("src/b.py", "src/a/deep/c.py", "src/a/notes.txt"):
        write(name, PERMUTE)
    result = json.loads(tileproof("audit", "src", "--format", "json").out)
    assert [block["file"] for block in result["blocks"]] == [
        os.path.join("src", "b.py"),
        os.path.join("src", "a/deep/c.py"),
    ]


@pytest.mark.parametrize("name", [".git/a.py", "__pycache__/a.py", "env/lib/a.py"])
def test_folders_that_are_not_the_users_are_left_out(tileproof: Run, write: Write, name: str) -> None:
    write("env/pyvenv.cfg", "")
    write(name, PERMUTE)
    assert "0 unsafe blocks" in tileproof("audit", ".").out


def test_a_file_given_by_name_and_by_folder_counts_once(tileproof: Run, write: Write) -> None:
    file = write("src/permute.py", PERMUTE)
    assert "1 unsafe block, 2 uses of tp.raw, 1 file read" in tileproof("audit", file, "src", f"./{file}").out


def test_a_missing_path_is_a_finding(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", "missing", write("permute.py", PERMUTE))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0901]: `missing` cannot be read\n")
    assert "permute.py:7: kernel permute\n" in ran.out


def test_a_folder_that_cannot_be_listed_is_a_finding(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("src/closed/permute.py", PERMUTE)
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    ran = tileproof("audit", "src")
    assert (ran.code, "error[TP0901]: `src/closed` cannot be listed" in ran.out) == (1, True)


def test_a_syntax_error_is_a_finding_and_the_other_files_are_read(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", write("broken.py", "x = 1\ny = = 2\n"), write("permute.py", PERMUTE))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0002]: the file is not valid Python: invalid syntax\n --> broken.py:2:5\n")
    assert "permute.py:7: kernel permute\n" in ran.out
    assert ran.out.endswith("not everything could be read: there may be more blocks\n")


@pytest.mark.parametrize("data", [b"x = '\xff'\n", b"# coding: nonsense\n", b"x = 1\0\n", b"x = " + b"(" * 9999])
def test_bytes_that_are_no_python_are_a_finding(tileproof: Run, write: Write, data: bytes) -> None:
    Path(write("binary.py", "")).write_bytes(data)
    ran = tileproof("audit", "binary.py", "--format", "json")
    assert (ran.code, [each["code"] for each in json.loads(ran.out)["findings"]]) == (1, ["TP0002"])


@pytest.mark.parametrize(("coding", "encoding"), [("latin-1", "latin-1"), ("cp1251", "cp1251"), ("utf-8", "utf-8-sig")])
def test_a_file_is_read_in_its_own_encoding(tileproof: Run, write: Write, coding: str, encoding: str) -> None:
    reason = "доказано" if coding == "cp1251" else "für alle Größen"
    text = f"# coding: {coding}\n" + PERMUTE.replace("order is a permutation", reason)
    Path(write("permute.py", "")).write_bytes(text.encode(encoding))
    (block,) = json.loads(tileproof("audit", "permute.py", "--format", "json").out)["blocks"]
    assert block["reason"] == f"{reason}: the host sorted it"


def test_a_file_is_not_imported(tileproof: Run, write: Write) -> None:
    ran = tileproof("audit", write("permute.py", "raise SystemExit(7)\n" + PERMUTE))
    assert (ran.code, "permute.py:8: kernel permute" in ran.out) == (0, True)


def test_an_expression_may_be_very_deep(blocks: Blocks) -> None:
    assert len(blocks(PERMUTE + "text = " + " + ".join(["'a'"] * 900) + "\n")) == 1


# Which names.

BODY = """\
@{kernel}
def load(y, x):
    with {unsafe}("sound"):
        y[0] = {raw}(x, 0)
"""


@pytest.mark.parametrize(
    ("imports", "kernel", "unsafe", "raw"),
    [
        ("import tileproof", "tileproof.kernel", "tileproof.unsafe", "tileproof.raw.load"),
        ("import tileproof as X", "X.kernel", "X.unsafe", "X.raw.load"),
        ("from tileproof import kernel, unsafe, raw as r", "kernel", "unsafe", "r.load"),
        ("from tileproof import kernel as k, unsafe as u, raw", "k()", "u", "raw.load"),
        ("from tileproof import *", "kernel(deny_checks=True)", "unsafe", "raw.load"),
        ("import tileproof as tp\nu, load = tp.unsafe, tp.raw.load", "tp.kernel", "u", "load"),
        ("import tileproof as tp\nlib = tp\nr: type = lib.raw", "lib.kernel", "lib.unsafe", "r.load"),
        ("import tileproof.language.unsafe as m, tileproof as tp", "tp.kernel", "m.unsafe", "m.raw.load"),
        (
            "try:\n    import tileproof as tp\nexcept ImportError:\n    tp = None",
            "tp.kernel",
            "tp.unsafe",
            "tp.raw.load",
        ),
    ],
)
def test_tileproof_is_found_under_any_name(blocks: Blocks, imports: str, kernel: str, unsafe: str, raw: str) -> None:
    (block,) = blocks(f"{imports}\n\n" + BODY.format(kernel=kernel, unsafe=unsafe, raw=raw).replace("load(y", "k0(y"))
    assert (block["kind"], block["certain"], [use["name"] for use in block["raw"]]) == ("kernel", True, ["raw.load"])


def test_an_import_inside_a_function_counts_there(blocks: Blocks) -> None:
    inner = "import tileproof as tp\n" + BODY.format(kernel="tp.kernel", unsafe="tp.unsafe", raw="tp.raw.load")
    (block,) = blocks("def make():\n" + indent(inner, "    ") + "    return load\n")
    assert (block["kind"], block["name"], block["line"]) == ("kernel", "make.load", 5)


@pytest.mark.parametrize(
    ("imports", "unsafe"),
    [("from .common import tp", "tp.unsafe"), ("from lib import unsafe", "unsafe"), ("from lib import *", "unsafe")],
)
def test_a_name_that_may_be_tileproofs_is_listed_as_such(
    tileproof: Run, write: Write, imports: str, unsafe: str
) -> None:
    file = write("helper.py", f'{imports}\ndef helper(x):\n    with {unsafe}("sound"):\n        pass\n')
    ran = tileproof("audit", file)
    assert ran.out.splitlines()[:3] == [
        "helper.py:3: function helper",
        "  reason: sound",
        "  possibly: the file does not show that the block is tileproof's",
    ]


def test_every_with_of_a_kernel_is_listed(blocks: Blocks) -> None:
    text = BODY.format(kernel="tp.kernel", unsafe="trusted", raw="tp.raw.load")
    (block,) = blocks(f"import tileproof as tp\nfrom lib import trusted\n{text}")
    assert (block["kind"], block["certain"]) == ("kernel", False)


@pytest.mark.parametrize(
    "text",
    [
        "import yaml\ndef f():\n    with yaml.unsafe_load('a'):\n        pass\n",
        "import ctypes\ndef f():\n    with ctypes.unsafe('a'):\n        pass\n",
        "class C:\n    def f(self):\n        with self.unsafe('a'):\n            pass\n",
        "def unsafe(why): ...\ndef f():\n    with unsafe('a'):\n        pass\n",
        "text = '''with tp.unsafe(\"a\"):'''  # with tp.unsafe('a'):\n",
    ],
)
def test_what_is_not_tileproofs_is_not_listed(blocks: Blocks, text: str) -> None:
    assert blocks(text) == []


def test_a_name_counts_in_the_whole_file(blocks: Blocks) -> None:
    text = "def f(tp):\n    with tp.unsafe('a'):\n        pass\ndef g():\n    import tileproof as tp\n"
    assert len(blocks(text)) == 1


def test_every_block_that_a_with_opens_is_listed(blocks: Blocks) -> None:
    text = "import tileproof as tp\nwith tp.unsafe('a'), tp.unsafe('b'):\n    tp.raw.assume(0)\n"
    assert [block["reason"] for block in blocks(text)] == ["a", "b"]


# What stands in a block.


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('"one "\n            "two"', "one two"),
        ('"""one\n        two"""', "one two"),
        ("WHY", "not a literal: WHY"),
        ('f"below {N}"', "not a literal: f'below {N}'"),
        ('"a" + WHY', "not a literal: 'a' + WHY"),
        ("7", "not a literal: 7"),
        ("", "none is given"),
        ('" "', "none is given"),
        ('reason="by name"', "by name"),
    ],
)
def test_the_reason_is_shown_as_it_is(tileproof: Run, write: Write, given: str, said: str) -> None:
    text = f"import tileproof as tp\n\ndef helper(x):\n    with tp.unsafe({given}):\n        tp.raw.assume(x)\n"
    assert f"helper.py:4: function helper\n  reason: {said}\n" in tileproof("audit", write("helper.py", text)).out


def test_a_use_belongs_to_the_innermost_block(blocks: Blocks) -> None:
    text = (
        "import tileproof as tp\n"
        "def helper(x):\n"
        "    with tp.unsafe('outer'):\n"
        "        tp.raw.assume(x)\n"
        "        with tp.unsafe('inner'):\n"
        "            tp.raw.load(x, 0)\n"
        "        tp.raw.store(x, 0, 1)\n"
        "    tp.raw.load(x, 1)\n"
    )
    uses = {block["reason"]: [use["line"] for use in block["raw"]] for block in blocks(text)}
    assert uses == {"outer": [4, 7], "inner": [6]}


def test_a_local_name_raw_is_no_use(blocks: Blocks) -> None:
    text = "import tileproof as tp\ndef helper(x, raw):\n    with tp.unsafe('a'):\n        y = raw.sum()\n"
    assert [block["raw"] for block in blocks(text)] == [[]]


def test_a_block_that_needs_no_raw_can_go(tileproof: Run, write: Write) -> None:
    text = "import tileproof as tp\ndef helper(x):\n    with tp.unsafe('a'):\n        pass\n"
    assert "  uses no tp.raw: remove the block\n" in tileproof("audit", write("helper.py", text)).out


def test_a_block_outside_functions_is_listed_too(blocks: Blocks) -> None:
    text = "import tileproof as tp\nwith tp.unsafe('a'):\n    pass\nclass C:\n    with tp.unsafe('b'):\n        pass\n"
    assert [(block["kind"], block["name"]) for block in blocks(text)] == [("module", ""), ("class", "C")]
