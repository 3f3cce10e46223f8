"""Kernels are ordinary Python to the tools people already have: no false alarms, no plugins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.py"))
WRONG = '''
import tileproof as tp
from tileproof import In, Out, f32


@tp.kernel
def wrong(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i] + B.size


wrong.lunch()
'''


def run(tool: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", tool, *arguments]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict", "--follow-imports=silent", *EXAMPLES],
        ["ruff", "check", "examples"],
        ["basedpyright", "--pythonpath", sys.executable, "examples"],
    ],
    ids=lambda command: command[0],
)
def test_the_examples_are_clean(command: list[str]) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr


def test_checkers_still_see_mistakes_in_kernels(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    done = run("mypy", "--strict", "--follow-imports=silent", "wrong.py", cwd=tmp_path)
    assert '"int" has no attribute "size"' in done.stdout
    assert '"Kernel" has no attribute "lunch"' in done.stdout
    assert "Found 2 errors" in done.stdout
