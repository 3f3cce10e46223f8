"""Kernels are ordinary Python to the tools people already have: no false alarms, no plugins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.py"))
TOOLS = {"ruff": ["check", "examples"], "basedpyright": ["--pythonpath", sys.executable, "examples"]}
WRONG = '''
import tileproof as tp
from tileproof import In, Out, f32


@tp.kernel
def wrong(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i] + B.size


wrong.lunch()
'''


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", tool, *arguments]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_the_examples_are_clean(tool: str) -> None:
    done = run(tool, *TOOLS[tool])
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_sees_the_mistakes_of_a_kernel_and_none_in_the_examples(tmp_path: Path) -> None:
    """In one run: most of its time goes to what they all import."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    done = run("mypy", "--strict", *EXAMPLES, str(wrong))
    assert '"int" has no attribute "size"' in done.stdout
    assert '"Kernel" has no attribute "lunch"' in done.stdout
    assert "Found 2 errors in 1 file" in done.stdout, done.stdout + done.stderr
