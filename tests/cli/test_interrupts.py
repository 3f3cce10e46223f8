"""Ctrl-C while the command starts ends it without a traceback; programs that import tileproof are left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FINDER = """
import os, signal, sys

# Programs that a shell starts in the background ignore the signal, and so do their children.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("INTERRUPTED_AT"):
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""
SCRIPT = "import sys\nfrom tileproof.cli.main import main\nsys.exit(main())\n"
"""What pip writes for the command."""


def interrupted(tmp_path: Path, at: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Python, and sends it the signal when it looks for a module."""
    (tmp_path / "sitecustomize.py").write_text(FINDER)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "INTERRUPTED_AT": at}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("at", ["tileproof.language", "tileproof.cli", "tileproof.cli.command_line"])
@pytest.mark.parametrize("is_script", [True, False])
def test_ctrl_c_while_the_command_is_imported_ends_it_quietly(tmp_path: Path, at: str, is_script: bool) -> None:
    script = tmp_path / "tileproof"
    script.write_text(SCRIPT)
    done = interrupted(tmp_path, at, *([str(script)] if is_script else ["-m", "tileproof"]), "explain")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_in_a_command_is_one_line(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "tileproof.cli.explain", "-m", "tileproof", "explain")
    assert (done.returncode, done.stderr) == (130, "\nstopped\n")


def test_ctrl_c_in_a_program_that_imports_tileproof_raises(tmp_path: Path) -> None:
    program = "try:\n    import tileproof\nexcept KeyboardInterrupt:\n    print('raised')\n"
    done = interrupted(tmp_path, "tileproof.language", "-c", program, "-m", "tileproof")
    assert (done.returncode, done.stdout) == (0, "raised\n"), done.stderr
