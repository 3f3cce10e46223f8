"""The codes and their pages."""

from __future__ import annotations

import re

import pytest

from tileproof.diagnostics import Code, page


def test_codes_are_numbered_once() -> None:
    ids = [code.id for code in Code]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"TP0\d{3}", each) for each in ids)
    assert ids == sorted(ids)


@pytest.mark.parametrize("code", Code, ids=lambda code: code.id)
def test_every_code_has_a_page_that_begins_with_it(code: Code) -> None:
    text = page(code)
    assert text.startswith(f"# {code.id}: ")
    assert len(text.splitlines()) > 5


def test_a_code_is_found_in_any_case() -> None:
    assert Code.of("tp0301") is Code.WRONG_DIMENSION
    assert Code.of("TP9999") is None
