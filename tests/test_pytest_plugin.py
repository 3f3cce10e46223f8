"""`pytest --tileproof-check` on files made for the test; what is imported is seen in a process of its own."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HEAD = "import tileproof as tp\nfrom tileproof import In, Out, f32\n"
GOOD = (
    HEAD
    + """
@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 256) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i] * 2
"""
)
BAD = (
    HEAD
    + """
@tp.kernel
def turn(y: Out[f32, "N M"], x: In[f32, "M N"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        y[j, i] = x[j, i].T
"""
)


@pytest.fixture(autouse=True)
def _no_settings_of_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        monkeypatch.delenv(name, raising=False)


def collected(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    """The node ids pytest finds."""
    ran = pytester.runpytest_inprocess("--collect-only", "-q", *arguments)
    return [line for line in ran.outlines if "::" in line]


def test_an_accepted_kernel_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(kernels=GOOD)
    ran = pytester.runpytest_subprocess("--tileproof-check", "--strict-markers", "-v")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["kernels.py::double PASSED*"])


def test_a_refused_kernel_fails_with_its_findings_and_no_traceback(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(kernels=BAD)
    ran = pytester.runpytest_inprocess("--tileproof-check")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        [
            "*_ kernel turn _*",
            "error[[]TP0301[]]: *",
            " --> kernels.py:7:*",
            "see: tileproof explain TP0301",
            "FAILED kernels.py::turn - error[[]TP0301[]]: *",
        ]
    )
    ran.stdout.no_fnmatch_line("*pytest_plugin*")
    ran.stdout.no_fnmatch_line("*Refused*")


def test_without_the_option_nothing_is_collected(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(kernels=BAD, test_nothing="def test_nothing(): pass\n")
    assert collected(pytester) == ["test_nothing.py::test_nothing"]


def test_without_the_option_the_tools_are_not_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_modules="""
        import sys

        def test_modules():
            assert "tileproof.pytest_plugin" in sys.modules
            assert [name for name in sys.modules if name.startswith("tileproof.cli")] == []
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_kernels_stand_beside_the_tests_of_a_file(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_double=GOOD + "\ndef test_double(): pass\n", kernels=BAD)
    both = collected(pytester, "--tileproof-check")
    assert sorted(both) == ["kernels.py::turn", "test_double.py::double", "test_double.py::test_double"]


def test_the_mark_selects_kernels(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_double=GOOD + "\ndef test_double(): pass\n")
    assert collected(pytester, "--tileproof-check", "-m", "tileproof") == ["test_double.py::double"]


def test_a_kernel_is_selected_by_its_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(kernels=GOOD + GOOD.replace("double", "twice"))
    assert collected(pytester, "--tileproof-check", "kernels.py::twice") == ["kernels.py::twice"]


def test_files_without_kernels_are_not_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        kernels=GOOD,
        ends="raise SystemExit(7)\n",
        of_others="import taichi as ti\n\n@ti.kernel\ndef fill(): pass\n",
        inside="import tileproof as tp\nraise SystemExit(7)\ndef make():\n    @tp.kernel\n    def inner(): pass\n",
        words="this is no kernel, and not Python\n",
    )
    pytester.runpytest_inprocess("--tileproof-check").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_module_anywhere\n" + GOOD, "error[[]TP0903[]]: importing `kernels.py` raises *"),
        (GOOD + "y = = 2\n", "error[[]TP0002[]]: the file is not valid Python: *"),
    ],
)
def test_a_file_that_cannot_be_imported_is_an_error(pytester: pytest.Pytester, text: str, said: str) -> None:
    pytester.makepyfile(kernels=text)
    ran = pytester.runpytest_inprocess("--tileproof-check")
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["*ERROR collecting kernels.py*", said])
    ran.stdout.no_fnmatch_line("*Traceback*")


def test_kernels_are_found_through_a_name_of_their_own_package(pytester: pytest.Pytester) -> None:
    package = pytester.mkpydir("mine")
    (package / "common.py").write_text("import tileproof as tp\n")
    (package / "kernels.py").write_text(GOOD.replace("import tileproof as tp", "from .common import tp"))
    (package / "more.py").write_text(GOOD.replace("import tileproof as tp", "from mine.common import tp"))
    assert collected(pytester, "--tileproof-check") == ["mine/kernels.py::double", "mine/more.py::double"]


def test_checks_left_for_run_time_can_be_denied(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(kernels=GOOD)
    for option, denied in (("--tileproof-check", False), ("--tileproof-deny-checks", True)):
        (item,), _ = pytester.inline_genitems(option)
        assert item.kernel.deny_checks is denied  # type: ignore[attr-defined]


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"tileproof": "tileproof.pytest_plugin"}
