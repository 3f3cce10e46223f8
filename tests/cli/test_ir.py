"""`tileproof ir`: which kernels, which pass, and what is said when there is none such."""

from __future__ import annotations

from collections.abc import Callable

from cli_samples import BAD, GOOD, HEAD, Ran

from tileproof.frontend import pipeline

Run = Callable[..., Ran]
Write = Callable[[str, str], str]

TWO = GOOD + GOOD.removeprefix(HEAD).replace("double", "twice")


def test_every_kernel_of_a_file_is_printed(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("two.py", TWO))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.index("double") < ran.out.index("twice")


def test_one_kernel_can_be_chosen(tileproof: Run, write: Write) -> None:
    write("two.py", TWO)
    ran = tileproof("ir", "two.py:twice")
    assert (ran.code, "twice" in ran.out, "double" in ran.out) == (0, True, False)


def test_every_pass_can_be_printed_after(tileproof: Run, write: Write) -> None:
    write("good.py", GOOD)
    for name in pipeline.names():
        assert "double" in tileproof("ir", "good.py", "--after", name, "--with", "B=64").out


def test_an_unknown_pass_is_answered_with_the_passes(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("good.py", GOOD), "--after", "nonsense")
    assert (ran.code, ran.out) == (2, "")
    assert f"the passes are, in order: {', '.join(pipeline.names())}" in ran.err


def test_an_unknown_kernel_is_answered_with_the_kernels(tileproof: Run, write: Write) -> None:
    write("two.py", TWO)
    ran = tileproof("ir", "two.py:dubble")
    assert (ran.code, ran.out) == (1, "")
    assert "error[TP0902]: `two.py` has no kernel `dubble`; did you mean `double`?\n" in ran.err
    assert "its kernels are: double, twice" in ran.err


def test_a_file_without_kernels_is_an_error(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("plain.py", "x = 1\n"))
    assert (ran.code, "error[TP0902]: `plain.py` has no kernel\n" in ran.err) == (1, True)


def test_a_file_that_cannot_be_imported_is_an_error(tileproof: Run) -> None:
    ran = tileproof("ir", "missing.py:x")
    assert (ran.code, "error[TP0901]: `missing.py` cannot be read" in ran.err) == (1, True)


def test_a_wrong_kernel_is_reported_on_standard_error(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("bad.py", BAD))
    assert (ran.code, ran.out, "error[TP0301]" in ran.err) == (1, "", True)


def test_an_unknown_constant_is_refused(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("good.py", GOOD), "--with", "b=4")
    assert (ran.code, "the constants are: B" in ran.err) == (2, True)


def test_checks_that_stay_are_the_last_pass(tileproof: Run, write: Write) -> None:
    text = HEAD + (
        "from tileproof import i32\n"
        "@tp.kernel\n"
        'def look_up(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:\n'
        "    for n in tp.parallel(N=tp.each):\n"
        "        y[n] = x[at[n]]\n"
    )
    file = write("look_up.py", text)
    chosen = (), ("--after", "checks"), ("--after", "tidy")
    last, named, before = (tileproof("ir", file, *more).out for more in chosen)
    assert last == named
    assert 'check %1 in 0:%c2, "the index of axis 0 of x" : bool' in last.replace("%c3", "%c2").replace("%2", "%1")
    assert "check" not in before


def test_a_kernel_that_is_not_proved_is_printed_as_it_was_before(tileproof: Run, write: Write) -> None:
    text = HEAD + (
        "@tp.kernel\n"
        'def race(y: Out[f32, "1"], x: In[f32, "N"]) -> None:\n'
        "    for n in tp.parallel(N=tp.each):\n"
        "        y[0] = x[n]\n"
    )
    file = write("race.py", text)
    assert tileproof("ir", file).code == 0
    ran = tileproof("ir", file, "--after", "checks")
    assert (ran.code, ran.err.startswith("error[TP0801]: ")) == (1, True)
