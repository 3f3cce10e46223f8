"""`tileproof check`: verdicts, formats, exit codes, and files that cannot be checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from textwrap import dedent

import pytest

from support.cli_samples import BAD, GOOD, HEAD, Ran

Run = Callable[..., Ran]
Write = Callable[[str, str], str]


def test_an_accepted_kernel_is_named_and_counted(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("good.py", GOOD))
    assert (ran.code, ran.err) == (0, "")
    first, last = ran.out.splitlines()
    assert first == "good.py: double: proved, for all constants"
    assert re.fullmatch(r"1 kernel in 1 file: 1 proved \(\d+\.\d\d s\)", last)


def test_a_finding_is_printed_with_its_source_and_a_pointer_to_its_page(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("bad.py", BAD), write("good.py", GOOD))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0301]: ")
    assert "\n --> bad.py:7:" in ran.out
    counted = "\nbad.py: turn: rejected\ngood.py: double: proved, for all constants\n2 kernels in 2 files: 1 proved, "
    assert counted in ran.out
    assert "\nsee: tileproof explain TP0301" in ran.out.split(counted)[1]


def test_json_has_findings_and_kernels(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("bad.py", BAD), write("good.py", GOOD), "--format", "json")
    report = json.loads(ran.out)
    assert ran.code == 1
    verdicts = {kernel["kernel"]: kernel["accepted"] for kernel in report["kernels"]}
    assert verdicts == {"turn": False, "double": True}
    finding = report["findings"][0]
    assert (finding["file"], finding["line"], finding["code"]) == ("bad.py", 7, "TP0301")
    assert finding["kernel"] == "turn"
    (double,) = (kernel for kernel in report["kernels"] if kernel["kernel"] == "double")
    assert double["scope"] == "for all constants"
    assert {(one["goal"], one["what"], one["rung"], one["by"]) for one in double["discharged"]} == {
        ("in bounds", "x[i]", 1, "construction"),
        ("in bounds", "y[i]", 1, "construction"),
        ("disjoint", "y[i]", 1, "construction"),
        ("covered", "y", 1, "construction"),
    }


def test_sarif_has_results(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("bad.py", BAD), "--format=sarif")
    results = json.loads(ran.out)["runs"][0]["results"]
    assert (ran.code, results[0]["ruleId"]) == (1, "TP0301")


def test_a_file_without_kernels_is_no_error(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("plain.py", "x = 1\n"))
    assert (ran.code, ran.out.splitlines()[0]) == (0, "plain.py: no kernels")


def test_a_file_that_speaks_of_no_kernel_is_not_imported(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("other.py", "import a_module_nobody_has\n"))
    assert (ran.code, ran.out.splitlines()[0]) == (0, "other.py: no kernels")


def test_only_kernels_of_the_file_itself_are_checked(tileproof: Run, write: Write) -> None:
    write("good.py", GOOD)
    assert "user.py: no kernels" in tileproof("check", write("user.py", "from good import double\n")).out


def test_a_kernel_is_checked_with_the_constants_given(tileproof: Run, write: Write) -> None:
    text = HEAD + (
        "@tp.kernel\n"
        'def first(y: Out[f32, "N 4"], x: In[f32, "N D"], *, D: int) -> None:\n'
        "    for n in tp.parallel(N=tp.each):\n"
        "        y[n, :] = x[n, :].reshape(4)\n"
    )
    file = write("first.py", text)
    assert tileproof("check", file, "--with", "D=4").code == 0
    assert tileproof("check", file, "--with", "D=5").code == 1


def test_constants_reach_only_the_kernels_that_have_them(tileproof: Run, write: Write) -> None:
    other = GOOD.replace("double", "twice").replace("B: int = 256", "SIZE: int").replace("N=B", "N=SIZE")
    ran = tileproof("check", write("good.py", GOOD), write("twice.py", other), "--with", "SIZE=64")
    assert (ran.code, "twice: proved, for SIZE=64" in ran.out) == (0, True)


def test_an_unknown_constant_is_refused_with_those_there_are(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("good.py", GOOD), "--with", "D=4")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("no kernel has a constant of that name; the constants are: B\n")


@pytest.mark.parametrize("text", ["D", "D=", "D=x", "=4", "D=1.5"])
def test_a_constant_is_a_name_and_an_integer(tileproof: Run, text: str) -> None:
    ran = tileproof("check", "x.py", "--with", text)
    assert (ran.code, f"`{text}` is not a name and an integer" in ran.err) == (2, True)


@pytest.mark.parametrize("constant", ["B", "D"])
def test_a_constant_of_thousands_of_digits_is_too_large(tileproof: Run, write: Write, constant: str) -> None:
    text = GOOD.replace("B: int = 256", "B: int = 256, D: int").replace('"N"', '"N D"').replace("[n]", "[n, :]")
    file = write("good.py", text)
    ran = tileproof("check", file, "--with", f"{constant}=0x{'f' * 5000}")
    assert (ran.code, "error[TP0608]: " in ran.out, "about 10**6020 is given" in ran.out) == (1, True, True)
    assert tileproof("check", file, "--with", f"{constant}={'9' * 5000}").code == 2


def test_no_file_at_all_is_wrong_usage(tileproof: Run) -> None:
    assert tileproof("check").code == 2


def test_a_missing_file_is_a_finding(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", "missing.py", write("good.py", GOOD))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0901]: `missing.py` cannot be read\n")
    assert "good.py: double: proved, for all constants" in ran.out


def test_a_folder_is_answered_with_its_files(tileproof: Run, write: Write) -> None:
    write("folder/good.py", GOOD)
    assert "help: name the files in it: folder/*.py" in tileproof("check", "folder").out


def test_a_module_that_pytest_skips_is_a_finding(tileproof: Run, write: Write) -> None:
    source = "import pytest\npytest.importorskip('no_such_module')\n# kernel\n"
    ran = tileproof("check", write("test_kernel.py", source))
    assert ran.code == 1
    assert "importing `test_kernel.py` raises Skipped" in ran.out


def test_a_syntax_error_is_shown_in_its_place(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("broken.py", "x = 1\ny = = 2\n"))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0002]: the file is not valid Python: invalid syntax\n")
    assert "\n --> broken.py:2:5\n" in ran.out
    assert "2 | y = = 2\n  |     ^\n" in ran.out


@pytest.mark.parametrize("data", [b"x = '\xff'\n", b"# coding: nonsense\n", b"x = 1\0\n"])
def test_bytes_that_are_no_text_are_a_finding(tileproof: Run, write: Write, data: bytes) -> None:
    with open(write("binary.py", ""), "wb") as file:
        file.write(data)
    ran = tileproof("check", "binary.py")
    assert (ran.code, ran.out.startswith("error[TP0002]: ")) == (1, True)


def test_a_file_that_raises_is_shown_at_its_own_line_that_ran_last(tileproof: Run, write: Write) -> None:
    write("settings.py", "def read():\n    raise KeyError('HOME')\n")
    ran = tileproof("check", write("user.py", "import settings\n# no kernel\nvalue = 1 + settings.read()\n"))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0903]: importing `user.py` raises KeyError: 'HOME'\n")
    assert "\n --> user.py:3:13\n" in ran.out
    assert "3 | value = 1 + settings.read()\n  |             ^^^^^^^^^^^^^^^ raised here\n" in ran.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_module_anywhere  # for kernels\n", "install the module"),
        ("raise SystemExit(3)  # before any kernel\n", '`if __name__ == "__main__":`'),
        ("import tileproof as tp\ny: tp.Out[i8, 'N']  # of a kernel\n", "`from tileproof import i8`"),
        ("from tileproof import In, bool  # for kernels\n", "Python's own `bool`"),
    ],
)
def test_a_file_that_cannot_be_imported_is_met_with_a_cure(
    tileproof: Run, write: Write, text: str, message: str
) -> None:
    ran = tileproof("check", write("user.py", text))
    assert (ran.code, "error[TP0903]" in ran.out, message in ran.out) == (1, True, True)


def test_what_a_file_prints_does_not_mix_with_the_report(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("loud.py", "print('hello')\n" + GOOD), "--format", "json")
    assert json.loads(ran.out)["findings"] == []
    assert ran.err == "hello\n"


def test_modules_beside_two_files_may_have_the_same_name(tileproof: Run, write: Write) -> None:
    for folder, size in (("one", 16), ("two", 32)):
        write(f"{folder}/sizes.py", f"SIZE = {size}\n")
        write(f"{folder}/kernels.py", f"from sizes import SIZE\nassert SIZE == {size}\n" + GOOD)
    ran = tileproof("check", "one/kernels.py", "two/kernels.py")
    assert (ran.code, ran.out.count(": proved, for all constants\n")) == (0, 2)


def test_a_file_of_a_package_may_import_its_neighbours(tileproof: Run, write: Write) -> None:
    write("somepackage/__init__.py", "")
    write("somepackage/sizes.py", "SIZE = 16\n")
    ran = tileproof("check", write("somepackage/kernels.py", "from .sizes import SIZE\n" + GOOD))
    assert (ran.code, "double: proved, for all constants" in ran.out) == (0, True)


LOOKED_UP = HEAD + dedent('''
    @tp.kernel
    def look_up(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
        for n in tp.parallel(N=tp.each):
            y[n] = x[at[n]]
    ''')
LOOKED_UP = LOOKED_UP.replace("T, f32\n", "T, f32, i32\n")


def test_every_access_is_explained(tileproof: Run, write: Write) -> None:
    ran = tileproof("check", write("look_up.py", LOOKED_UP), "--explain")
    assert ran.code == 0
    assert ran.out.splitlines()[:-1] == [
        "look_up.py: look_up: proved; 1 check at run time",
        "  5:13  y         covered    1 construction  every program writes its own point, and the points are all there "
        "are",
        "   7:9  y[n]      in bounds  1 construction  n walks N",
        "   7:9  y[n]      disjoint   1 construction  n is this program's own",
        "  7:16  x[at[n]]  in bounds  5 pre-check     0 <= at[n] < V: tested before any loop",
        "  7:18  at[n]     in bounds  1 construction  n walks N",
        "",
    ]


def test_checks_that_would_stay_can_be_denied(tileproof: Run, write: Write) -> None:
    file = write("look_up.py", LOOKED_UP)
    ran = tileproof("check", file, "--deny-checks")
    assert (ran.code, ran.out.startswith("error[TP0812]: ")) == (1, True)
    denying = write("denying.py", LOOKED_UP.replace("@tp.kernel", "@tp.kernel(deny_checks=True)"))
    assert tileproof("check", denying).code == 1
    assert tileproof("check", file).code == 0


def test_what_a_launch_compares_is_told(tileproof: Run, write: Write) -> None:
    text = LOOKED_UP.replace("at: In[i32, \"N\"]", "c: i32").replace("at[n]", "n + c")
    ran = tileproof("check", write("moved.py", text), "--explain")
    assert (ran.code, "moved.py: look_up: proved; 2 compares at launch" in ran.out) == (0, True)
    assert [line for line in ran.out.splitlines() if "at launch: " in line] == [
        "  at launch: 0 <= c",
        "  at launch: N + c <= V",
    ]


def test_a_compare_that_alone_keeps_programs_apart_says_how_they_race(tileproof: Run, write: Write) -> None:
    text = HEAD + (
        "@tp.kernel\n"
        'def shifted(x: tp.InOut[f32, "N"], offset: tp.i32) -> None:\n'
        "    for n in tp.parallel(N=tp.each):\n"
        "        x[n] = x.get(n + offset, 0.0)\n"
    )
    ran = tileproof("check", write("shifted.py", text))
    race = "program n=0 reads x[1], which program n=1 writes, with N=2, where offset is 1"
    assert f"  races unless offset <= 0: {race}" in ran.out.splitlines()


def test_a_race_is_shown_in_both_places_with_sizes_that_show_it(tileproof: Run, write: Write) -> None:
    text = HEAD + (
        "@tp.kernel\n"
        'def shifted(y: Out[f32, "N+1"], x: In[f32, "N"]) -> None:\n'
        "    for n in tp.parallel(N=tp.each):\n"
        "        y[n.start] = x[n]\n"
        "        y[n + 1] = 0.0\n"
    )
    ran = tileproof("check", write("shifted.py", text))
    assert ran.code == 1
    assert ran.out.startswith("error[TP0801]: programs n=0 and n=1 both write y[1]\n --> shifted.py:6:9\n")
    assert "program n=1 writes it here" in ran.out
    assert "program n=0 writes it here" in ran.out
    assert "= note: with N=2" in ran.out
