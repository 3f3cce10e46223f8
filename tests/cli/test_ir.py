"""`tileproof ir`: which kernels, which pass, and what is said when there is none such."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.cli_samples import BAD, GOOD, HEAD, Ran
from tileproof.backends.cuda.assembler.toolchain import ARCHITECTURES

Run = Callable[..., Ran]
Write = Callable[[str, str], str]

TWO = GOOD + GOOD.removeprefix(HEAD).replace("double", "twice")
PRODUCTS = (
    HEAD
    + """
@tp.kernel
def added(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"]) -> None:
    for i, j in tp.parallel(M=4, N=16):
        total = x[i, j]
        for k in tp.tiles(K=8):
            total = tp.mma(a[i, k], b[k, j], total)
        for k in tp.tiles(K=8):
            total = total + a[i, k] @ b[k, j]
        y[i, j] = total
"""
)
RACE = (
    HEAD
    + """
@tp.kernel
def race(y: Out[f32, "1"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[0] = x[n]
"""
)
SHARED = ["elaborate", "simplify", "checks"]
PASSES = {
    "interpreter": SHARED,
    "cpu": [*SHARED, "accumulate", "deepen"],
    "sm_90": [*SHARED, "accumulate"],
}
"""The passes of each target, in order."""


def test_every_kernel_of_a_file_is_printed(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("two.py", TWO))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.index("double") < ran.out.index("twice")


def test_one_kernel_can_be_chosen(tileproof: Run, write: Write) -> None:
    write("two.py", TWO)
    ran = tileproof("ir", "two.py:twice")
    assert (ran.code, "twice" in ran.out, "double" in ran.out) == (0, True, False)


@pytest.mark.parametrize(("target", "passes"), PASSES.items())
def test_every_pass_of_a_target_can_be_printed_after(
    target: str, passes: list[str], tileproof: Run, write: Write
) -> None:
    write("products.py", PRODUCTS)
    ran = [tileproof("ir", "products.py", "--target", target, "--after", name) for name in passes]
    assert all(each.code == 0 and each.out.startswith("kernel added(") for each in ran)
    assert tileproof("ir", "products.py", "--target", target).out == ran[-1].out


def test_passes_of_a_target_show_in_what_is_printed(tileproof: Run, write: Write) -> None:
    file = write("products.py", PRODUCTS)

    def printed(*options: str) -> tuple[int, int]:
        """How many products are added to something as tiles, and how many loops go by tiles of 8."""
        text = tileproof("ir", file, *options).out
        return text.count(" = total.4 + "), text.count("tile of K by 8,")

    assert printed() == printed("--target", "interpreter") == (1, 2)
    assert printed("--target", "sm_90") == printed("--target", "cpu", "--after", "accumulate") == (0, 2)
    assert printed("--target", "cpu") == (0, 1)


def test_all_architectures_of_gpus_are_targets(tileproof: Run, write: Write) -> None:
    file = write("products.py", PRODUCTS)
    assert len({tileproof("ir", file, "--target", arch).out for arch in ARCHITECTURES}) == 1


@pytest.mark.parametrize("target", [None, *PASSES])
def test_an_unknown_pass_is_answered_with_the_passes(target: str | None, tileproof: Run, write: Write) -> None:
    arguments = () if target is None else ("--target", target)
    ran = tileproof("ir", write("good.py", GOOD), "--after", "simplfy", *arguments)
    assert (ran.code, ran.out) == (2, "")
    known = ", ".join(PASSES[target or "cpu"])
    message = "there is no pass of that name; did you mean `simplify`?; the passes are, in order:"
    assert ran.err == f"tileproof ir: --after simplfy: {message} {known}\n"


def test_a_pass_that_another_target_has_is_answered_with_that_target(tileproof: Run, write: Write) -> None:
    file = write("good.py", GOOD)
    alone = tileproof("ir", file, "--after", "deepen")
    assert (alone.code, alone.out) == (2, "")
    assert "--after deepen: without --target, the passes are those of all targets; add --target cpu;" in alone.err
    other = tileproof("ir", file, "--after", "deepen", "--target", "sm_90")
    assert (other.code, other.out) == (2, "")
    assert "--after deepen: it is no pass of this target, but of cpu;" in other.err


def test_an_unknown_target_is_answered_with_the_targets(tileproof: Run, write: Write) -> None:
    ran = tileproof("ir", write("good.py", GOOD), "--target", "sm_91")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tileproof ir: --target sm_91: there is no such target; did you mean `sm_")
    assert ran.err.endswith(f"; there are cpu, {', '.join(ARCHITECTURES)}, interpreter\n")


def _listed(text: str) -> list[str]:
    """The passes of a listing; a line of the steps they belong to is not indented."""
    return [line.split()[0] for line in text.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize(("target", "passes"), list(PASSES.items())[1:])
def test_the_passes_of_a_target_are_listed_in_order_without_a_file(
    target: str, passes: list[str], tileproof: Run
) -> None:
    ran = tileproof("ir", "--list-passes", "--target", target)
    assert (ran.code, _listed(ran.out)) == (0, passes)


def test_the_passes_of_all_targets_are_listed_with_what_they_do(tileproof: Run) -> None:
    ran = tileproof("ir", "--list-passes")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "front end:\n"
        "  elaborate   translates the Python source to typed IR\n"
        "  simplify    removes unused values, and duplicates of numbers and positions\n"
        "after the proof, for every target:\n"
        "  checks      inserts the checks that remain at run time\n"
        "then for --target interpreter:\n"
        "  none\n"
        "then for --target cpu:\n"
        "  accumulate  `x + l @ r` becomes a product that accumulates into x\n"
        "  deepen      loops over products take longer steps along K\n"
        "then for --target sm_XX:\n"
        "  accumulate  `x + l @ r` becomes a product that accumulates into x\n"
    )


def test_without_a_file_there_is_nothing_to_print(tileproof: Run) -> None:
    ran = tileproof("ir")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "tileproof ir: name a Python file with kernels, or ask for the passes: --list-passes\n"


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
    chosen = (), ("--after", "checks"), ("--after", "simplify")
    last, named, before = (tileproof("ir", file, *more).out for more in chosen)
    assert last == named
    assert 'check %1 in 0:%c2, "the index of axis 0 of x" : bool' in last.replace("%c3", "%c2").replace("%2", "%1")
    assert "check" not in before


def test_a_kernel_that_is_not_proved_is_printed_as_it_was_before(tileproof: Run, write: Write) -> None:
    file = write("race.py", RACE)
    assert tileproof("ir", file).out == tileproof("ir", file, "--after", "simplify", "--target", "cpu").out != ""


@pytest.mark.parametrize("options", [("--after", "checks"), ("--target", "cpu"), ("--target", "interpreter")])
def test_a_kernel_that_is_not_proved_goes_through_no_later_pass(
    options: tuple[str, str], tileproof: Run, write: Write
) -> None:
    ran = tileproof("ir", write("race.py", RACE), *options)
    assert (ran.code, ran.out, ran.err.startswith("error[TP0801]: ")) == (1, "", True)
