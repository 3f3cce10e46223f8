"""`tileproof tune`: on the CPU, on a file of the user's, and what it says when it is asked wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli_samples import Ran
from tileproof.cli.command_line import UsageError
from tileproof.cli.tune import library, read_sizes
from tileproof.tuning import records, tuner
from tileproof.tuning.tuner import Result

Run = Callable[..., Ran]
Write = Callable[[str, str], str]
MINE = '''
    import tileproof as tp
    from tileproof import In, Out, T
    from tileproof.tuning import Choice, Tunable, choices

    @tp.kernel(deny_checks=True)
    def double(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
        """y = 2 x."""
        for n in tp.parallel(N=B):
            y[n] = x[n] * 2

    @tp.kernel(deny_checks=True)
    def triple(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
        """Not the same."""
        for n in tp.parallel(N=B):
            y[n] = x[n] * 3

    DOUBLE = Tunable(
        "double", (double, triple), lambda sizes, target: Choice(double, {"B": 64}),
        lambda sizes, target: (*choices(double, "B=64 B=128"), Choice(triple, {"B": 64})),
    )
    TUNABLES = (DOUBLE,)
'''


@pytest.fixture(autouse=True)
def no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(records.VARIABLE, raising=False)


def test_a_file_of_the_user_is_tuned_on_the_cpu_and_goes_on(tileproof: Run, write: Write, tmp_path: Path) -> None:
    file = write("mine.py", MINE)
    command = ("tune", file, "--shapes", "N=100|200", "--arch", "cpu", "--into", "kept", "--seed", "1")
    ran = tileproof(*command)
    assert ran.code == 0, ran.err
    assert "N=100 f32" in ran.out
    assert "triple B=64: wrong: `y`: off by" in ran.out
    (path,) = (tmp_path / "kept").glob("double.cpu-*.json")
    assert [each["sizes"] for each in json.loads(path.read_text())["entries"]] == [{"N": 100}, {"N": 200}]
    assert f"{records.VARIABLE}=kept" in ran.out
    before = path.read_text()
    assert tileproof(*command).code == 0
    assert path.read_text() == before, "what is recorded is not tuned again"
    entries = json.loads(before)["entries"]
    path.write_text(before.replace(json.dumps(entries[0]["seconds"]), "1e9"))
    assert tileproof(*command, "--again").code == 0
    assert "1000000000.0" not in path.read_text()


def test_without_time_it_says_that_it_goes_on(tileproof: Run, write: Write) -> None:
    ran = tileproof("tune", write("mine.py", MINE), "--shapes", "N=100", "--arch", "cpu", "--minutes", "0")
    assert (ran.code, "the same command continues" in ran.out) == (1, True)


def test_ctrl_c_leaves_the_shapes_that_are_settled(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settle = tuner._Work.settle

    def stopping(work: tuner._Work, result: Result) -> None:
        if result.sizes["N"] == 200:
            raise KeyboardInterrupt
        settle(work, result)

    monkeypatch.setattr(tuner._Work, "settle", stopping)
    ran = tileproof("tune", write("mine.py", MINE), "--shapes", "N=100|200", "--arch", "cpu", "--into", "kept")
    assert (ran.code, "kept: the same command continues" in ran.err) == (130, True)
    (path,) = (tmp_path / "kept").glob("*.json")
    assert [each["sizes"] for each in json.loads(path.read_text())["entries"]] == [{"N": 100}]


def test_without_a_gpu_it_only_compiles(tileproof: Run, write: Write) -> None:
    ran = tileproof(
        "tune", write("mine.py", MINE), "--kernel", "double", "--shapes", "N=4096", "--arch", "sm_90", "--compile-only",
        "--element", "f32",
    )  # fmt: skip
    assert (ran.code, ran.out) == (0, "double N=4096 f32: 3 compiled, 0 rejected\n")


def test_check_names_stale_records(tileproof: Run, tmp_path: Path) -> None:
    assert tileproof("tune", "--check").code == 0
    (tmp_path / "matmul.sm_90.json").write_text("{}")
    ran = tileproof("tune", "--check", "--into", str(tmp_path))
    assert (ran.code, "is damaged" in ran.out, "1 stale" in ran.out) == (1, True, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name what to tune"),
        (("no_such",), "there is no tunable of that name"),
        (("soft_max", "--shapes", "R=1,C=1"), "did you mean `softmax`?"),
        (("softmax",), '--shapes "R=...,C=..."'),
        (("softmax", "--shapes", "R"), "is not a dimension and its extent"),
        (("softmax", "--shapes", "R=1,R=2"), "is given twice"),
        (("softmax", "--shapes", "R=1,C=1", "--element", "f33"), "there is no such type"),
        (("softmax", "--shapes", "R=1,C=1", "--jobs", "0"), "at least 1"),
        (("softmax", "--shapes", "R=1", "--arch", "cpu"), "needs a size for C"),
        (("softmax", "--shapes", "R=1,C=1", "--arch", "sm_75"), "--compile-only"),
        (("softmax", "--shapes", "R=1,C=1", "--compile-only"), "say which with --arch"),
        (("softmax", "--kernel", "x", "--shapes", "R=1,C=1"), "--kernel is about a file"),
        (("all", "--shapes", "ODD=3"), "no tunable has these dimensions"),
        (("none.py", "--shapes", "N=3"), "cannot be read"),
    ],
)
def test_what_is_typed_wrongly_is_said_with_its_cure(tileproof: Run, words: tuple[str, ...], said: str) -> None:
    ran = tileproof("tune", *words)
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_a_file_without_tunables_says_how_to_write_them(tileproof: Run, write: Write) -> None:
    file = write("mine.py", MINE.partition("    DOUBLE =")[0])
    ran = tileproof("tune", file, "--shapes", "N=3")
    assert (ran.code, "TUNABLES = (Tunable(...),)" in ran.err) == (2, True)


def test_several_extents_make_several_shapes() -> None:
    assert list(read_sizes("M=1|2, N=3,K=4|5")) == [
        {"M": 1, "N": 3, "K": 4}, {"M": 1, "N": 3, "K": 5}, {"M": 2, "N": 3, "K": 4}, {"M": 2, "N": 3, "K": 5}
    ]  # fmt: skip
    with pytest.raises(UsageError):
        list(read_sizes(""))


def test_names_of_tunables_are_names_of_files() -> None:
    assert all(name.isidentifier() for name in library())
