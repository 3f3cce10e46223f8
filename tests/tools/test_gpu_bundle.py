"""`tools/gpu_bundle.py`: every launch that is told of is in the folder, and nothing else."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from oracles.tile_ir_operations import has_assembler
from tileproof.compiler.cache import Cache, digest

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
TOOLS = Path(__file__).resolve().parents[2] / "tools"
LAUNCHES = '''
import numpy as np

import tileproof as tp
from tileproof import In, Out, f32


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 64) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2


class Described:
    """What only looks like an array."""

    shape, dtype, strides = (100,), np.float32, (8,)


def launches(*, sweep: bool = True):
    y, x = np.empty(100, np.float32), np.ones(100, np.float32)
    yield "plain", double, (y, x), {}
    yield "again", double, (np.empty(300, np.float32), np.ones(300, np.float32)), {"B": 64}
    yield "sparse", double, (y, Described()), {}
    if sweep:
        yield "candidate", double, (y, x), {"B": 32}
    if WRONG:
        yield "wrong", double, (y, x[:50]), {}
'''


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the tool on launches of the test's own; gives the exit code and what was printed."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(TOOLS), *sys.path])
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", "off")  # which the tool sets
    tool: Any = import_module("gpu_bundle")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "SOURCES", {"none_launches": "none_launches.py", "some_launches": "some_launches.py"})

    def call(*arguments: str, wrong: bool = False) -> tuple[int, str]:
        (tmp_path / "some_launches.py").write_text(dedent(LAUNCHES).replace("if WRONG", f"if {wrong}"))
        monkeypatch.delitem(sys.modules, "some_launches", raising=False)
        monkeypatch.setattr(sys, "argv", ["gpu_bundle.py", "--into", str(tmp_path / "made"), *arguments])
        # The file is written anew within a second, which byte code beside it would not notice.
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return tool.main(), capsys.readouterr().out

    return call


def test_every_launch_is_compiled_once_and_then_kept(run: Any, tmp_path: Path) -> None:
    code, result = run()
    assert (code, "none_launches.py: not there\n" in result) == (0, True)
    assert "some_launches.py: 3 launches proved" in result
    assert "3 launches for sm_90 come to 2 kernels: 0 kept, 2 made\n" in result
    other = Cache(tmp_path / "made")
    other.put(digest("of an earlier version"), b"old")
    code, result = run()
    assert (code, "come to 2 kernels: 2 kept, 0 made\n" in result) == (0, True)
    assert "removed 1 entries" in result
    assert other.get(digest("of an earlier version")) is None


def test_candidates_are_compiled_if_asked_for(run: Any) -> None:
    code, result = run("--sweep")
    assert (code, "4 launches for sm_90 come to 3 kernels: " in result) == (0, True)


def test_a_launch_that_is_refused_is_told_and_removes_nothing(run: Any, tmp_path: Path) -> None:
    Cache(tmp_path / "made").put(digest("other"), b"kept")
    code, result = run(wrong=True)
    assert (code, "1 FAILED; nothing was removed\n" in result) == (1, True)
    assert "\nfailed: wrong\nerror[TP0604]: " in result
    assert Cache(tmp_path / "made").get(digest("other")) == b"kept"


def test_a_change_of_the_source_meanwhile_is_noticed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tileproof.compiler.proofs import fingerprint

    monkeypatch.setattr(fingerprint, "__wrapped__", lambda: "changed")
    code, result = run()
    assert (code, "changed meanwhile" in result) == (1, True)


def test_a_change_of_the_source_asks_the_assembler_only_for_other_code(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tileproof.runtime.launch import ahead_of_time as ahead
    from tileproof.runtime.launch import cuda_code as gpu

    tool: Any = import_module("gpu_bundle")
    asked: list[Any] = []
    real = tool.assemble_each

    def counted(jobs: Any, *args: Any, **options: Any) -> Any:
        asked.extend(jobs)
        return real(jobs, *args, **options)

    monkeypatch.setattr(tool, "assemble_each", counted)
    assert run()[0] == 0
    before = len(asked)
    for module in (ahead, gpu):
        monkeypatch.setattr(module, "fingerprint", lambda: "another")
    code, result = run("--sweep")
    assert (code, "come to 3 kernels: 0 kept, 3 made\n" in result) == (0, True)
    assert (before, len(asked)) == (2, 3)
