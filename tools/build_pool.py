"""Makes `pool.ll`, the text that users get, of `pool.c`.

    python -m pip install ziglang
    python tools/build_pool.py

The compiler is the one in the `ziglang` package. What it says of its own processor and of its own version is removed:
the text is for every 64-bit processor, and every LLVM that llvmlite brought since 0.45 reads it.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "tileproof" / "backends" / "cpu" / "native"
SOURCE, RESULT = FOLDER / "pool.c", FOLDER / "pool.ll"
OPTIONS = (
    *("-target", "x86_64-linux-gnu", "-std=c11", "-O2", "-g0", "-Wall", "-Wextra", "-Werror"),
    *("-fno-builtin", "-fno-sanitize=all", "-fno-stack-protector", "-fno-vectorize", "-fno-unroll-loops"),
    *("-S", "-emit-llvm", "-Wno-unused-command-line-argument"),
)
DROPPED_LINES = re.compile(
    r"^(?:;|target |source_filename|attributes |!|.*@llvm\.(?:lifetime\.|experimental\.noalias))"
)
DROPPED_WORDS = re.compile(
    r" (?:local_unnamed_addr|noundef|nonnull|noalias|immarg|writeonly|captures\(none\)|dereferenceable\(\d+\)|#\d+)"
    r"(?=\W|$)"
    r"|(?<=inbounds) nuw|, !(?:tbaa|tbaa\.struct|nonnull|noundef|noalias|alias\.scope|llvm\.loop) !\d+| +; preds = .*"
)


def main() -> None:
    """Compiles, strips and writes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "pool.ll"
        subprocess.run([sys.executable, "-m", "ziglang", "cc", *OPTIONS, "-o", made, SOURCE], check=True)
        text = made.read_text(encoding="utf-8")
    RESULT.write_text(heading() + stripped(text), encoding="utf-8")


def heading() -> str:
    """Ties the text to the source it was made of."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()
    return f"; Made by tools/build_pool.py of pool.c, whose sha256 is {digest}\n\n"


def stripped(text: str) -> str:
    """The text without attributes and metadata, which are not needed and change with every version of LLVM."""
    kept = (line for line in text.splitlines() if not DROPPED_LINES.match(line))
    lines = (DROPPED_WORDS.sub("", line) for line in kept)
    joined = "\n".join(re.sub(r"^(define .*) \{$", r"\1 nounwind {", line) for line in lines)
    return re.sub(r"\n{3,}", "\n\n", joined).strip() + "\n"


if __name__ == "__main__":
    main()
