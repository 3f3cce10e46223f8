"""The bytecode of every example as the vendor's disassembler reads it, kept in `goldens/`. To write them anew:

    python tests/backends/cuda/goldens.py

One of them is kept with the source line of each operation.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    _tests = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(_tests.parent / "src"), str(_tests)]

from oracles.cuda_programs import lowered
from samples.example_launches import NAMES, own

FOLDER = Path(__file__).resolve().parent / "goldens"
LOCATED = "add"
"""The example whose text says where in its source each operation comes from."""


def disassembler() -> str | None:
    """Where the program is, if it is installed."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    result = (path for root in roots for path in Path(root).glob("*/bin/tileirdisasm"))
    return shutil.which("tileirdisasm") or next((str(path) for path in result), None)


def path_of(name: str) -> Path:
    """Where the text of an example is kept."""
    return FOLDER / f"{name}.mlir"


def text_of(name: str, *options: str) -> str:
    """What the disassembler says of an example at its own sizes."""
    program = disassembler()
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "module.tileirbc")
        file.write_bytes(lowered(*own(name)).program.bytecode)
        done = subprocess.run([program, *options, str(file)], capture_output=True, text=True, check=True)
    return done.stdout


def expected(name: str) -> str:
    """What is to be kept of an example."""
    return text_of(name, *(("-g",) if name == LOCATED else ()))


def main() -> None:
    """Writes all of them, and removes those of examples that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.mlir"):
        if path.stem not in NAMES:
            path.unlink()
    for name in NAMES:
        path_of(name).write_text(expected(name), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main()
