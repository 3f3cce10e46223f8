"""Accepted kernels never fail: a search with a fresh seed, and tests of the searcher itself.

The fast tier examines a few kernels of each profile; `make test-all` searches for `TILEPROOF_SEARCH_SECONDS`.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tileproof as tp
from fuzz import search
from fuzz.minimizer import shrink
from fuzz.random_kernels import HEAD, PROFILES, generate
from support.source_files import load_text

SECONDS = float(os.environ.get("TILEPROOF_SEARCH_SECONDS", "6"))
FEATURES = {
    "an output": r": Out\[",
    "an InOut": r": InOut\[",
    "a Sum": r": Sum\[",
    "Index entries": r"Index\[",
    "Unique entries": r"Unique\[",
    "Offsets": r"Offsets\[",
    "i32 data": r"data\d+: In\[i32",
    "an integer scalar": r"p\d+: i(32|64)\b",
    "a float scalar": r"s\d+: f32",
    "two walkers": r"for \w+, \w+ in tp\.parallel",
    "no space": r"-> None:\n(?!(.|\n)*tp\.parallel)",
    "each": r"tp\.parallel\(.*tp\.each",
    "a size": r"tp\.parallel\(.*(=|, )(\d|B\d)",
    "pairs of one dimension": r'tp\.parallel\(.*\("(\w)", .*\("\1", ',
    "a split and a join": r"tp\.split\((.|\n)*tp\.join\(",
    "segments": r"tp\.segments\(",
    "a store after a join": r"tp\.join\(.*\n(.*\n)*? +y\d+\[.*\] = ",
    "n": r"y\d+\[n\]",
    "n + c": r"\[n \+ [1-9]\]",
    "c * n + k": r"\d \* n \+ \d|n \* \d \+ k",
    "N - 1 - n": r'tp\.dim\("N"\) - 1 - n',
    "n // c": r"\[n // \d",
    "n % c": r"n % \d\]",
    "i.start + k": r"i\.start \+ k",
    "i.elements * c": r"i\.elements \* 2",
    "i.number": r"i\.number",
    "a position from memory": r"pos\d+\[0\] \+ [nmh]\b",
    "a position from a scalar": r"p\d+ \+ [nmh]\b",
    "an entry": r"\[(perm|ids)\d+\[",
    "minimum": r"tp\.minimum\(",
    "maximum": r"tp\.maximum\(",
    "clip": r"tp\.clip\(",
    "where": r"tp\.where\(",
    "group": r"tp\.group\(",
    "if, elif, else": r" if .*:\n(.|\n)* elif .*:\n(.|\n)* else:",
    "a guard on an index": r"if [nm] [<>=!]+ \d",
    "a guard on an extent": r"if .*< tp\.dim",
    "a guard on a scalar": r"if .*p\d+ [<>] \d",
    "a guard on data": r"if .*data\d+[^:]* > ",
    "both of two guards": r"if .*\) & \(",
    "one of two guards": r"if .*\) \| \(",
    "tiles with a start": r"tp\.tiles\(\w+=\d, start=",
    "tiles with a stop": r"tp\.tiles\(.*stop=",
    "sub-tiles": r"for \w+ in i\.tiles\(",
    "a range with a step": r"range\(.*, -?\d\):",
    "a while with a counter": r"while k\d+ < ",
    "a shift": r"\.shift\(",
    "a constant slice": r"\[(\w+, )?\d:\d",
    "a whole axis": r"\[:\]|, :\]|\[:, ",
    "get": r"\.get\(",
    "split_at": r"tp\.split_at\(",
    "require": r"tp\.require\(",
    "several stores to a tensor": r"(y\d+)\[.*\] = .*\n(.*\n)*? +\1\[.*\] = ",
    "a read of an InOut": r" (y\d+)\[.*\] = .*\b\1\[",
    "a helper": r"\b(same|turned|below|bumped|put)\(.*\)",
}


@cache
def texts(profile: str, count: int) -> tuple[str, ...]:
    return tuple(generate(seed, profile) for seed in range(count))


def test_every_feature_occurs() -> None:
    made = [text.partition("@tp.kernel")[2] for text in texts("plausible", 500)]
    assert [name for name, pattern in FEATURES.items() if not any(re.search(pattern, text) for text in made)] == []


def test_a_seed_gives_the_same_kernels_in_every_process() -> None:
    code = (
        "import hashlib; from fuzz.random_kernels import generate, PROFILES\n"
        "made = ''.join(generate(seed, profile) for profile in PROFILES for seed in range(40))\n"
        "print(hashlib.sha256(made.encode()).hexdigest())"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    made = "".join(text for profile in PROFILES for text in texts(profile, 40))
    assert shown.stdout.strip() == hashlib.sha256(made.encode()).hexdigest()


@pytest.mark.parametrize("profile", PROFILES)
def test_the_front_end_takes_most_kernels(profile: str) -> None:
    found = [search.front_end(load_text(text).k) for text in texts(profile, 150)]
    assert found.count([]) > 0.7 * len(found)


@dataclass(frozen=True)
class Discharged:
    goal: str
    rung: int
    span: Any = None


@dataclass(frozen=True)
class Verdict:
    accepted: bool = True
    findings: tuple[Any, ...] = ()
    discharged: tuple[Discharged, ...] = ()


WRONG = {
    "race": ('y: InOut[f32, "N"]', "y[n // 2] = 1.0"),
    "unwritten": ('y: Out[f32, "N"]', "if n > 0: y[n] = 1.0"),
    "outside": ('y: Out[f32, "N"], x: In[f32, "N"]', "y[n] = x[n + 1]"),
}


def wrong(kind: str) -> str:
    parameters, line = WRONG[kind]
    return f"{HEAD}@tp.kernel\ndef k({parameters}) -> None:\n    for n in tp.parallel(N=tp.each):\n        {line}\n"


def examined(text: str, answer: Verdict, monkeypatch: pytest.MonkeyPatch) -> search.Bug | None:
    monkeypatch.setattr(search, "verdict", lambda kernel: answer)
    monkeypatch.setattr(search.Examination, "compare", lambda *_: None)  # a plain launch asks the real checker
    return search.examine(0, text, search.Tally(), search.DEFAULT)


@pytest.mark.parametrize("kind", WRONG)
def test_an_accepted_kernel_that_fails_is_a_bug(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = examined(wrong(kind), Verdict(), monkeypatch)
    assert found is not None
    assert found.kind == kind


def test_a_fault_that_a_check_reports_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Verdict(discharged=(Discharged("in bounds", 5),))
    assert examined(wrong("outside"), answer, monkeypatch) is None


def test_a_proof_excuses_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Verdict(discharged=(Discharged("in bounds", 4), Discharged("fits", 5)))
    assert examined(wrong("outside"), answer, monkeypatch) is not None


def test_a_checker_that_accepts_everything_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def accepts(kernel: tp.Kernel) -> Verdict:
        findings = tuple(search.front_end(kernel))
        return Verdict(not findings, findings)

    monkeypatch.setattr(search, "verdict", accepts)
    monkeypatch.setattr(search, "SHRINK_S", 0.0)
    tallies = (search.search(seed, math.inf, count=1, profile="disturbed") for seed in range(100))
    assert any(bug.kind in WRONG for tally in tallies for bug in tally.bugs)


def test_shrinking_takes_away_what_does_not_matter() -> None:
    body = """
    for n in tp.parallel(N=tp.each):
        if n > 2:
            v = same(x[n])
            y[0] = 1.0 + v
        else:
            y[n] = 2.0
"""
    helper = "def same(a):\n    return a\n\n"
    text = f'{HEAD}{helper}@tp.kernel\ndef k(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:{body}'
    small = shrink(text, lambda made: "y[0]" in made and "tp.parallel" in made, 10.0)
    assert "y[0] = 1.0" in small
    assert not re.search(r"same|if |else|y\[n\]|x: In", small)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("count", [8, pytest.param(None, marks=pytest.mark.slow)], ids=["few", "many"])
def test_accepted_kernels_never_fail(profile: str, count: int | None) -> None:
    seed, seconds = search.fresh_seed(), math.inf if count else SECONDS
    print(f"seed {seed}, profile {profile}")
    tally = search.search(seed, seconds, count=count, profile=profile)
    shown = search.report(tally, seed, profile, seconds)
    print(shown)
    assert not tally.bugs, shown
