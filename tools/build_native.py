"""Compiles the C files of the package to the LLVM text that users get.

    python -m pip install ziglang
    python tools/build_native.py

The compiler is the one in the `ziglang` package. What it writes about its own processor and version is removed: the
text is for every 64-bit processor, and every LLVM that llvmlite brought since 0.45 reads it.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "tileproof"
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


def build(source: Path) -> None:
    """Compiles a file, and ties the text to the source by its digest."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output.ll"
        subprocess.run([sys.executable, "-m", "ziglang", "cc", *OPTIONS, "-o", output, source], check=True)
        text = output.read_text(encoding="utf-8")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    heading = f"; Made by tools/build_native.py of {source.name}, whose sha256 is {digest}\n\n"
    source.with_suffix(".ll").write_text(heading + stripped(text), encoding="utf-8")


def stripped(text: str) -> str:
    """The text without attributes and metadata, which are not needed and change with every version of LLVM."""
    kept = (line for line in text.splitlines() if not DROPPED_LINES.match(line))
    lines = (DROPPED_WORDS.sub("", line) for line in kept)
    joined = "\n".join(re.sub(r"^(define .*) \{$", r"\1 nounwind {", line) for line in lines)
    return re.sub(r"\n{3,}", "\n\n", joined).strip() + "\n"


if __name__ == "__main__":
    for path in sorted(PACKAGE.rglob("*.c")):
        build(path)
