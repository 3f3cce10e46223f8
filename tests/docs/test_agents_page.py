"""The page for coding agents: its mistakes are mistakes, its cures are cures, and its fields are those of the JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pages import ROOT, code, load, printed, table

from tileproof.compiler.compile import check_kernel

TEXT = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
KERNEL = """
import tileproof as tp
from tileproof import In, Out, f16, f32

@tp.kernel
def tried(y: Out[f32, "M N"], x: In[f32, "M N"], r: In[f32, "M"], h: In[f16, "M N"]) -> None:
    for i, j in tp.parallel(M=4, N=4):
        y[i, j] = 0.0
        s = 0.0
        {}
"""
MISTAKES = table("mistakes", "agents.md")


def codes(line: str, folder: Path) -> list[str]:
    (statement,) = code(line)
    return [result.code.id for result in check_kernel(load(KERNEL.format(statement), folder).tried, {})]


@pytest.mark.parametrize(("wrong", "reason", "right"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_has_its_code_and_its_cure(wrong: str, reason: str, right: str, tmp_path: Path) -> None:
    assert codes(wrong, tmp_path) == [reason]
    assert codes(right, tmp_path) == []


def test_there_are_ten_mistakes() -> None:
    assert len(MISTAKES) == 10


def test_every_field_of_the_json_is_explained() -> None:
    (text,) = [block.text for block in printed() if "json" in block.what]
    report = json.loads(text)
    section = TEXT.partition("| field | meaning |")[2].partition("\n\n")[0]
    explained = {field for row in section.splitlines()[2:] for field in code(row.split("|")[1])}
    assert explained == set(report) | set(report["findings"][0])


def test_the_page_is_one_page() -> None:
    assert len(re.sub(r"```json.*?```", "", TEXT, flags=re.DOTALL).splitlines()) < 300
