"""What a mistake says to write instead is right for that mistake, and an edit leads to a kernel that compiles."""

from __future__ import annotations

import pytest
from kernel_files import mistakes, with_body

from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.frontend import elsewhere


def said(body: str) -> Diagnostic:
    """The one mistake in a body."""
    (found,) = mistakes(with_body(body))
    return found


def corrected(body: str) -> str:
    """The body with the edit of its mistake made."""
    text = with_body(body)
    (found,) = mistakes(text)
    assert found.edit is not None
    changed = text.replace(found.edit.span.text, found.edit.replacement)
    assert mistakes(changed) == []
    return changed


def test_a_slip_in_a_name_of_the_language_is_corrected() -> None:
    assert "tp.sigmoid(x[i, j])" in corrected("y[i, j] = tp.sigmod(x[i, j])")


def test_a_name_that_is_only_similar_is_no_correction() -> None:
    found = said("y[i, j] = tp.logit(x[i, j])")
    assert (found.help, found.edit) == ("did you mean `log`?", None)


@pytest.mark.parametrize("name", elsewhere.FUNCTIONS)
def test_a_function_of_another_language_has_its_word_here(name: str) -> None:
    assert said(f"t = tp.{name}(x[i, j])").help == elsewhere.FUNCTIONS[name]


@pytest.mark.parametrize("name", elsewhere.ATTRIBUTES)
def test_an_attribute_of_another_library_has_its_word_here(name: str) -> None:
    assert said(f"t = x[i, j].{name}").help == elsewhere.ATTRIBUTES[name]


def test_arange_from_0_is_arange() -> None:
    assert "tp.arange(3)" in corrected("y[i, j] = x[i, j] + tp.arange(0, 3).to(f32)")


def test_arange_from_elsewhere_is_added_to() -> None:
    found = said("y[i, j] = x[i, j] + tp.arange(1, 4).to(f32)")
    assert (found.help, found.edit) == ("write `1 + tp.arange(4 - (1))`", None)
