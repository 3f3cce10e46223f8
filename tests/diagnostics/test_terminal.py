"""What people read: the printed form of diagnostics, compared with whole texts."""

from __future__ import annotations

import os
from textwrap import dedent

import pytest

from tileproof.diagnostics import Code, Diagnostic, Edit, Frame, Label, Source, Span, render

MATMUL = Source(
    os.path.abspath("kernels/matmul.py"),
    tuple(
        dedent('''\
        @tp.kernel
        def matmul(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"]) -> None:
            for i, j in tp.parallel(M=128, N=128):
                acc = tp.zeros((i, j), f32)
                for k in tp.tiles(K=64):
                    acc = tp.mma(a[k, i], b[k, j], acc)
                c[i, j] = acc
                c[i, j] = helper(acc,
                                 2)
        ''').splitlines(keepends=True)
    ),
)


def span(line: int, text: str, source: Source = MATMUL) -> Span:
    column = source.line(line).index(text) + 1
    return Span(source, line, column, line, column + len(text))


def shows(diagnostic: Diagnostic, expected: str) -> None:
    assert render(diagnostic) == dedent(expected).strip("\n")


def test_spans_of_one_file_are_merged_into_one_listing_in_line_order() -> None:
    shows(
        Diagnostic(
            Code.WRONG_DIMENSION,
            "axis 0 of `a` is M, but `k` walks K",
            span(6, "k, i"),
            "`k` stands for axis 0",
            labels=(Label(span(5, "k"), "`k` walks K"), Label(span(2, '"M K"'), "axis 0 is M")),
            notes=("a tensor is indexed by walkers of its own dimensions",),
            help="swap the indices",
            edit=Edit(span(6, "k, i"), "i, k"),
        ),
        """
        error[TP0301]: axis 0 of `a` is M, but `k` walks K
         --> kernels/matmul.py:6:28
          |
        2 | def matmul(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"]) -> None:
          |                                       ----- axis 0 is M
        ...
        5 |         for k in tp.tiles(K=64):
          |             - `k` walks K
        6 |             acc = tp.mma(a[k, i], b[k, j], acc)
          |                            ^^^^ `k` stands for axis 0
          |
          = note: a tensor is indexed by walkers of its own dimensions
          = help: swap the indices
          |
        6 +             acc = tp.mma(a[i, k], b[k, j], acc)
          |                            ~~~~
        """,
    )


def test_several_spans_of_one_line_hang_below_it() -> None:
    shows(
        Diagnostic(
            Code.TAGS_MEET,
            "two tags meet",
            span(6, "a[k, i]"),
            "a tile of M",
            labels=(Label(span(6, "b[k, j]"), "a tile of N"), Label(span(6, "acc)"), "")),
        ),
        """
        error[TP0303]: two tags meet
         --> kernels/matmul.py:6:26
          |
        6 |             acc = tp.mma(a[k, i], b[k, j], acc)
          |                          ^^^^^^^  -------  ----
          |                          |        |
          |                          |        a tile of N
          |                          a tile of M
        """,
    )


def test_a_span_inside_another_keeps_both_words() -> None:
    shows(
        Diagnostic(
            Code.BAD_INDEX, "no", span(6, "k, i"), "inner", labels=(Label(span(6, "a[k, i]"), "outer"),)
        ),
        """
        error[TP0312]: no
         --> kernels/matmul.py:6:28
          |
        6 |             acc = tp.mma(a[k, i], b[k, j], acc)
          |                          --^^^^-
          |                          | |
          |                          | inner
          |                          outer
        """,
    )


def test_one_line_between_two_is_shown_rather_than_left_out() -> None:
    shows(
        Diagnostic(Code.RACE, "both", span(7, "c[i, j]"), "here", labels=(Label(span(5, "k"), "there"),)),
        """
        error[TP0701]: both
         --> kernels/matmul.py:7:9
          |
        5 |         for k in tp.tiles(K=64):
          |             - there
        6 |             acc = tp.mma(a[k, i], b[k, j], acc)
        7 |         c[i, j] = acc
          |         ^^^^^^^ here
        """,
    )


def test_a_span_of_several_lines_is_underlined_on_its_first() -> None:
    shows(
        Diagnostic(Code.BAD_CALL, "too many arguments", Span(MATMUL, 8, 19, 9, 28), "this call"),
        """
        error[TP0112]: too many arguments
         --> kernels/matmul.py:8:19
          |
        8 |         c[i, j] = helper(acc,
          |                   ^^^^^^^^^^^ this call
        """,
    )


def test_places_in_other_files_have_listings_of_their_own() -> None:
    other = Source("/elsewhere/tools.py", ("def helper(x, n):\n", "    return x\n"))
    shows(
        Diagnostic(
            Code.BAD_CALL,
            "too few arguments",
            span(8, "helper(acc,"),
            labels=(Label(span(1, "n", other), "defined here"),),
            notes=("first line\nsecond line",),
        ),
        """
        error[TP0112]: too few arguments
         --> kernels/matmul.py:8:19
          |
        8 |         c[i, j] = helper(acc,
          |                   ^^^^^^^^^^^
          |
         ::: /elsewhere/tools.py:1:15
          |
        1 | def helper(x, n):
          |               - defined here
          |
          = note: first line
                  second line
        """,
    )


def test_calls_that_led_to_the_mistake_are_listed_outermost_first() -> None:
    lines = ("def outer(x):\n", "    return inner(x)\n", *["\n"] * 8, "def inner(x):\n", "    x.y\n")
    tools = Source("tools.py", lines)
    shows(
        Diagnostic(
            Code.NO_ATTRIBUTE,
            "a tile has no attribute `y`",
            span(12, "x.y", tools),
            stack=(Frame("matmul", span(8, "helper(acc,")), Frame("outer", span(2, "inner(x)", tools))),
            help="remove it",
        ),
        """
        error[TP0401]: a tile has no attribute `y`
          --> tools.py:12:5
           |
        12 |     x.y
           |     ^^^
           |
           = called from `matmul` at kernels/matmul.py:8
         8 |         c[i, j] = helper(acc,
           |                   -----------
           |
           = called from `outer` at tools.py:2
         2 |     return inner(x)
           |            --------
           |
           = help: remove it
        """,
    )


def test_without_a_span_only_the_sentences_are_printed() -> None:
    shows(
        Diagnostic(Code.NO_FILE, "`a.py` cannot be read", notes=("no such file",), help="check the path"),
        """
        error[TP0901]: `a.py` cannot be read
          = note: no such file
          = help: check the path
        """,
    )


def test_a_source_that_cannot_be_read_is_named_but_not_listed() -> None:
    shows(
        Diagnostic(
            Code.NO_SOURCE,
            "no source",
            Span(Source("<string>", ()), 3, 1, 3, 2),
            notes=("it was made by exec",),
        ),
        """
        error[TP0001]: no source
         --> <string>:3:1
          = note: it was made by exec
        """,
    )


@pytest.mark.parametrize(
    ("edit", "shown"),
    [
        (Edit(Span(MATMUL, 7, 1, 7, 22), ""), "7 -         c[i, j] = acc"),
        (
            Edit(Span(MATMUL, 8, 26, 9, 27), "acc, 2"),
            "8 +         c[i, j] = helper(acc, 2)\n  |                          ~~~~~~",
        ),
        (Edit(Span(MATMUL, 7, 9, 7, 9), "x = 1\n        "), "7 +         x = 1\n8 +         c[i, j] = acc"),
    ],
    ids=["deletion", "joined lines", "inserted line"],
)
def test_an_edit_shows_the_lines_it_makes(edit: Edit, shown: str) -> None:
    text = render(Diagnostic(Code.BAD_CALL, "x", span(7, "acc"), help="do this", edit=edit))
    assert text.endswith(f"= help: do this\n  |\n{shown}")


def test_tabs_and_wide_characters_keep_underlines_in_place() -> None:
    source = Source("wide.py", ("\tprint('日本', x)\n",))
    text = render(Diagnostic(Code.UNKNOWN_NAME, "`x` is not defined", span(1, "x", source)))
    # Two wide characters take four columns of a terminal.
    assert text.splitlines()[-2:] == ["1 |     print('日本', x)", "  |" + " " * 19 + "^"]


def test_control_characters_of_the_source_do_not_reach_the_terminal() -> None:
    source = Source("odd.py", ("x = '\x1b[2J'\n",))
    assert "\x1b" not in render(Diagnostic(Code.STRING, "text", span(1, "x", source)))


def test_an_empty_span_past_the_end_of_the_file_still_gets_a_mark() -> None:
    text = render(Diagnostic(Code.NOT_PYTHON, "unexpected end", Span(MATMUL, 10, 1, 10, 1)))
    assert text.splitlines()[-1].endswith("| ^")


def test_colour_adds_codes_and_changes_no_text() -> None:
    edit = Edit(span(6, "k, i"), "i, k")
    diagnostic = Diagnostic(Code.TAGS_MEET, "m", span(6, "a[k, i]"), "l", help="h", edit=edit)
    colored = render(diagnostic, color=True)
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;34m", "\x1b[1;32m"):
        assert code in colored
        colored = colored.replace(code, "")
    assert colored == render(diagnostic)


def test_files_outside_the_folder_one_is_in_are_shown_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    diagnostic = Diagnostic(Code.RACE, "m", span(7, "acc"))
    monkeypatch.chdir(tmp_path)
    assert f" --> {MATMUL.name}:7:19" in render(diagnostic)
