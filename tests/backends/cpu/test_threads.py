"""How many threads there are: said by a variable, else counted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tileproof.backends.cpu.device import pool as counting
from tileproof.backends.cpu.device.pool import cores, threads
from tileproof.diagnostics import Code
from tileproof.diagnostics.errors import LaunchError


@pytest.fixture(autouse=True)
def without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEPROOF_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize(
    ("own", "others", "count"), [("3", "5", 3), ("", "5", 5), ("", "4,2,1", 4), (" 7 ", "", 7), ("1024", "x", 1024)]
)
def test_a_variable_says_it(monkeypatch: pytest.MonkeyPatch, own: str, others: str, count: int) -> None:
    monkeypatch.setenv("TILEPROOF_THREADS", own)
    monkeypatch.setenv("OMP_NUM_THREADS", others)
    assert threads() == count


@pytest.mark.parametrize("variable", ["TILEPROOF_THREADS", "OMP_NUM_THREADS"])
@pytest.mark.parametrize("value", ["0", "-1", "all", "2.5", "1025", "99999999999999999999", ","])
def test_a_bad_number_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(LaunchError) as caught:
        threads()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.BAD_SETTING
    assert diagnostic.message.startswith(f"{variable} is ")
    assert diagnostic.help == f"unset {variable}, or set it to a number from 1 to 1024"


def test_without_a_variable_there_is_a_thread_for_each_core() -> None:
    assert threads() == cores() >= 1


def group(monkeypatch: pytest.MonkeyPatch, folder: Path, own: str, files: dict[str, str]) -> int:
    """How many of 64 cores a process may use whose groups are described by these files."""
    (folder / "own").write_text(own)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(counting, "_GROUPS", folder)
    monkeypatch.setattr(counting, "_OWN_GROUPS", folder / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    return cores.__wrapped__()


@pytest.mark.parametrize(
    ("own", "files", "count"),
    [
        ("0::/\n", {}, 64),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "400000 100000\n"}, 4),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/box/job\n", {"box/cpu.max": "200000 100000\n", "box/job/cpu.max": "900000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "garbage\n"}, 64),
        (
            "4:cpu,cpuacct:/box\n2:memory:/box\n",
            {"cpu,cpuacct/box/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/box/cpu.cfs_period_us": "100000\n"},
            3,
        ),
        (
            "4:cpu,cpuacct:/\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
            64,
        ),
    ],
)
def test_a_quota_of_the_group_limits_the_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own: str, files: dict[str, str], count: int
) -> None:
    assert group(monkeypatch, tmp_path, own, files) == count
