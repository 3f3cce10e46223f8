"""`tileproof explain`: pages, the list, and codes that do not exist."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.cli_samples import Ran
from tileproof.diagnostics import Code, page

Run = Callable[..., Ran]


@pytest.mark.parametrize("text", ["TP0301", "tp0301", "0301", "301"])
def test_a_code_gives_its_page(tileproof: Run, text: str) -> None:
    ran = tileproof("explain", text)
    assert (ran.code, ran.out) == (0, page(Code.WRONG_DIMENSION).rstrip("\n") + "\n")


def test_without_a_code_every_code_is_listed_once(tileproof: Run) -> None:
    lines = tileproof("explain").out.splitlines()
    for code in Code:
        assert lines.count(f"  {code.id}  {code.title}") == 1
    assert lines[0] == "Source and syntax"


def test_an_unknown_code_is_answered_with_the_nearest(tileproof: Run) -> None:
    ran = tileproof("explain", "TP0399")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tileproof explain: there is no code `TP0399`; the nearest are\n  TP03")


def test_what_is_no_code_at_all_is_answered_with_the_list(tileproof: Run) -> None:
    ran = tileproof("explain", "banana")
    assert (ran.code, "`tileproof explain` alone lists all codes" in ran.err) == (2, True)
