"""What a mistake says to write instead is right for that mistake, and an edit leads to a kernel that compiles."""

from __future__ import annotations

import pytest
from kernel_files import mistakes, with_body

from tileproof.diagnostics.errors import Diagnostic
from tileproof.frontend import hints


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


@pytest.mark.parametrize("name", hints.FUNCTION_HINTS)
def test_a_function_of_another_language_has_its_word_here(name: str) -> None:
    assert said(f"t = tp.{name}(x[i, j])").help == hints.FUNCTION_HINTS[name]


@pytest.mark.parametrize("name", hints.ATTRIBUTE_HINTS)
def test_an_attribute_of_another_library_has_its_word_here(name: str) -> None:
    assert said(f"t = x[i, j].{name}").help == hints.ATTRIBUTE_HINTS[name]


def test_arange_from_0_is_arange() -> None:
    assert "tp.arange(3)" in corrected("y[i, j] = x[i, j] + tp.arange(0, 3).to(f32)")


def test_arange_from_elsewhere_is_added_to() -> None:
    found = said("y[i, j] = x[i, j] + tp.arange(1, 4).to(f32)")
    assert (found.help, found.edit) == ("write `1 + tp.arange(4 - (1))`", None)


def test_a_carried_index_begins_as_a_number_or_is_cast() -> None:
    body = """
    best, at = tp.full((i,), tp.lowest), {}
    for k in tp.tiles(N=BN):
        more = x[i, k].max(axis=1) > best
        at = tp.where(more, {}, at)
        best = tp.maximum(best, x[i, k].max(axis=1))
    y[i, j] = at.to(f32)[:, None]
    """
    place = "k.start + x[i, k].argmax(axis=1)"
    found = said(body.format("tp.zeros((i,), i32)", place))
    assert found.help == "begin with a plain `0`, which takes the type it meets, or cast in the loop: `.to(i32)`"
    assert mistakes(with_body(body.format("0", place))) == []
    assert mistakes(with_body(body.format("tp.zeros((i,), i32)", f"({place}).to(i32)"))) == []


def test_a_return_without_a_value_is_no_result_to_be_named() -> None:
    found = said("if i.start > 0:\n    return\ny[i, j] = x[i, j]")
    assert found.help == "put what follows under an `if` instead"


SPACE = """\
@tp.kernel
def k({}, x: In[f32, "M N"], *, G: int = 4, B: int = 2) -> None:
    for i, j in tp.parallel({}):
        {}
"""


@pytest.mark.parametrize(
    ("parameter", "space", "body", "cure"),
    [
        ('m: Max[f32, "M"]', "M=B, N=B", "m[i] = tp.maximum(m[i], x[i, j].max(axis=1))", "`tp.update(m, i, t)`"),
        ('s: Sum[f32, "M"]', "M=B, N=B", "s[i] = s[i] + x[i, j].sum(axis=1)", "`s[i] += t`"),
        ('y: Out[f32, "M N"]', '("M", B), ("4", tp.each)', "y[i, 0] = 0.0", "`for n in range(4):`"),
    ],
)
def test_the_cure_is_named(parameter: str, space: str, body: str, cure: str) -> None:
    (found,) = mistakes(SPACE.format(parameter, space, body))
    assert cure in found.help


def test_what_programs_make_together_is_combined() -> None:
    text = """\
    @tp.kernel
    def k(y: Out[f32, "1"], x: In[f32, "N"], *, B: int = 4) -> None:
        total = 0.0
        for n in tp.parallel(N=B):
            total += x[n].sum()
            y[0] = total
    """
    (found,) = mistakes(text)
    assert "tp.split and tp.join" in found.help


def test_lengths_that_may_be_equal_for_some_value_say_so() -> None:
    found = said("y[i, j] = (d[i, : D // 2] * d[i, D // 2 :]).sum()")
    assert found.notes[-1] == "D has no value yet, and these are not equal for every D"
    assert "`check --with D=64`" in found.help


BORDERS = """\
@tp.kernel
def k(y: Out[f32, "E"], off: In[Offsets["N"], "E+1"], x: In[f32, "N"]) -> None:
    for e in tp.parallel(E=tp.each):
        total = 0.0
        for n in tp.tiles(N=4, start=off[{}], stop=off[e + 1]):
            total += x[n].sum()
        y[e] = total
"""


def test_an_element_of_a_dimension_that_the_axis_is_made_of_becomes_a_position() -> None:
    (found,) = mistakes("from tileproof import Offsets\n" + BORDERS.format("e"))
    assert found.edit is not None
    assert (found.edit.span.text, found.edit.replacement) == ("e", "e.start")
    assert mistakes("from tileproof import Offsets\n" + BORDERS.format("e.start")) == []


def test_tiles_of_indices_at_two_axes_are_told_to_be_independent() -> None:
    found = said("y[i, 0] = x.get((i.elements % 2, i.elements // 2), 0.0)")
    assert found.notes == ("tiles of indices at several axes are independent: what they pick is their product",)
    assert "`tp.each`" in found.help
