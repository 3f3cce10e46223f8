"""Small files to run commands on, and what comes of a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

HEAD = "import tileproof as tp\nfrom tileproof import In, Out, T, f32\n"

GOOD = HEAD + dedent('''
    @tp.kernel
    def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 256) -> None:
        for i in tp.parallel(N=B):
            y[i] = x[i] * 2
    ''')

BAD = HEAD + dedent('''
    @tp.kernel
    def turn(y: Out[f32, "N M"], x: In[f32, "M N"], *, B: int = 16) -> None:
        for i, j in tp.parallel(M=B, N=B):
            y[j, i] = x[j, i].T
    ''')


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Makes a file in a folder of the test's own, which becomes the working directory."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return name

    return make
