"""Every word of the language has an example in its docstring, and every example is a kernel that runs."""

import inspect
import textwrap
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.source_files import load_file
from tileproof.language import spaces, tiles

WORDS = [name for name in spaces.__all__ + tiles.__all__ if isinstance(getattr(tp, name, None), FunctionType)]
F32, I32 = np.float32, np.int32
M, N = 11, 13

FRAME = 'y: InOut[f32, "M N"], q: InOut[i32, "M N"], r: InOut[f32, "M"], x: In[f32, "M N"], p: In[i32, "M N"]'
COPY = 'y: Out[f32, "M N"], x: In[f32, "M N"], *, BM: int = 4, BN: int = 8'
SPLIT = 'r: Out[f32, "M"], x: In[f32, "M N"], *, BM: int = 4, BN: int = 8'
SIGNATURES = {
    "parallel": COPY,
    "require": COPY,
    "group": 'y: Out[f32, "H S"], k: In[f32, "G S"], *, BS: int = 4',
    "split": SPLIT,
    "join": SPLIT,
    "segments": 'y: Out[f32, "M N"], x: In[f32, "M N"], scales: In[f32, "E"], borders: In[Offsets["M"], "E+1"], '
    "*, BM: int = 4, BN: int = 8",
    "split_at": 'cache: InOut[f32, "C D"], new: In[f32, "N D"], pos: In[i32, "1"], *, D: int',
    "update": 'top: Max[f32, "B"], group: In[Index["B"], "N"], x: In[f32, "N"], *, BN: int = 4',
}
"""Examples that hold the whole body of a kernel, and the signature around it."""


def example_of(name: str) -> str:
    """The lines below `Example:` in a docstring."""
    _, found, example = (inspect.getdoc(getattr(tp, name)) or "").partition("\nExample:\n")
    assert found, f"tp.{name} has no example"
    return textwrap.dedent(example)


def kernel_of(name: str) -> str:
    example = example_of(name)
    if name in SIGNATURES:
        signature, body = SIGNATURES[name], example
    else:
        signature = f"{FRAME}, *, N: int"
        body = "for i in tp.parallel(M=4):\n" + textwrap.indent(example, "    ")
    return f"@tp.kernel\ndef try_{name}({signature}) -> None:\n{textwrap.indent(body, '    ')}\n"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path: Path = tmp_path_factory.mktemp("docstrings") / "kernels.py"
    header = "import tileproof as tp\nfrom tileproof import In, InOut, Index, Max, Offsets, Out, f32, i32\n"
    path.write_text("\n\n".join([header, *map(kernel_of, WORDS)]))
    return load_file(path)


def arguments(name: str) -> list[Any]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (M, N)).astype(F32)
    match name:
        case "parallel" | "require":
            return [np.empty((M, N), F32), x]
        case "group":
            return [np.empty((4, N), F32), x[:2]]
        case "split" | "join":
            return [np.empty(M, F32), x]
        case "segments":
            return [np.empty((M, N), F32), x, x[0, :3].copy(), np.array([0, 4, 4, M], I32)]
        case "split_at":
            return [np.zeros((9, N), F32), x[:4].copy(), np.array([5], I32)]
        case "update":
            return [np.empty(3, F32), rng.integers(0, 3, N).astype(I32), x[0]]
        case _:
            p = rng.integers(-50, 50, (M, N)).astype(I32)
            return [np.zeros((M, N), F32), np.zeros((M, N), I32), np.zeros(M, F32), x, p]


@pytest.mark.parametrize("name", WORDS)
def test_the_example_runs(name: str, kernels: ModuleType) -> None:
    tp.interpret(getattr(kernels, f"try_{name}"), *arguments(name), sanitize=True)
