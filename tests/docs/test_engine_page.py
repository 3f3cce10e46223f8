"""What the page on the engine shows of Python runs: with a tiny model in place of the real one."""

from __future__ import annotations

import re
from pathlib import Path

from pages import ROOT

from support.checkpoints import random_weights, tiny, write_folder

BLOCK = re.compile(r'^```py title="engine.py"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""Not a snippet like others, which run without a model."""
REAL = ("Paris", "perplexity")
"""Words in the asserts that only a real model holds to."""


def test_what_is_shown_of_a_real_model_runs_with_a_tiny_one(tmp_path: Path) -> None:
    (text,) = BLOCK.findall((ROOT / "docs" / "engine.md").read_text(encoding="utf-8"))
    config = tiny("qwen3", max_position_embeddings=1024)
    model = write_folder(tmp_path / "model", config, random_weights(config))
    lines = text.replace('"smollm2"', repr(str(model))).splitlines()
    kept = [line for line in lines if not (line.startswith("assert ") and any(word in line for word in REAL))]
    assert len(kept) == len(lines) - 3
    exec(compile("\n".join(kept), "engine.py", "exec"), {})
