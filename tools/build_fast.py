"""Makes `fast.ll`, the text that users get, of `fast.c`. See `build_pool.py`, which does the same for the pool.

    python -m pip install ziglang
    python tools/build_fast.py
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from build_pool import OPTIONS, stripped

SOURCE = Path(__file__).resolve().parents[1] / "src" / "tileproof" / "runtime" / "fast" / "native" / "fast.c"


def build(source: Path, tool: str) -> None:
    """Compiles, strips and writes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.ll"
        subprocess.run([sys.executable, "-m", "ziglang", "cc", *OPTIONS, "-o", made, source], check=True)
        text = made.read_text(encoding="utf-8")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    heading = f"; Made by {tool} of {source.name}, whose sha256 is {digest}\n\n"
    source.with_suffix(".ll").write_text(heading + stripped(text), encoding="utf-8")


if __name__ == "__main__":
    build(SOURCE, "tools/build_fast.py")
