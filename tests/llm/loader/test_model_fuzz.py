"""Random model files are rejected with one error, or loaded as what they are. Longer: `python -m tests.fuzz.models`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def fuzzed(*options: str) -> str:
    command = [sys.executable, "-m", "tests.fuzz.models", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_random_files_are_loaded_as_what_they_are_or_rejected() -> None:
    out = fuzzed("--seed", "0", "--count", "8", "--work")
    assert "WRONG" not in out
    for kind in ("safetensors", "gguf", "config", "tokenizer", "template"):
        outcomes = [line.split()[2] for line in out.splitlines() if line.startswith(kind)]
        assert (len(outcomes), set(outcomes)) == (8, {"loaded", "rejected"})


@pytest.mark.slow
def test_random_files_for_longer() -> None:
    fuzzed("--seconds", os.environ.get("TILEPROOF_FUZZ_SECONDS", "60"))
