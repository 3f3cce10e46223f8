"""The number of kernels: what changes it, and what does not."""

from __future__ import annotations

import linecache
from itertools import count

import pytest

from tileproof.language.kernel import Kernel
from tileproof.tuning.provenance import source_hash

TEXT = '''
import tileproof as tp
from tileproof import In, Out, T, f32

FACTOR = 2
OTHER = 3

def helper(x):
    """Helps."""
    return deeper(x) * FACTOR

def deeper(x):
    return x + 1

def beside(x):
    return x

@tp.kernel
def scale(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    """Scales."""
    for n in tp.parallel(N=B):
        y[n] = helper(x[n]).to(y.dtype)  # a comment
'''
_numbers = count()


def number_of(text: str) -> str:
    name = f"<text {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, object] = {}
    exec(compile(text, name, "exec"), space)
    kernel = space["scale"]
    assert isinstance(kernel, Kernel)
    return source_hash((kernel,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", ""), ('"""Scales."""', '"""Multiplies."""'), ('    """Helps."""\n', ""),
        ("OTHER = 3", "OTHER = 4"),
        ("import tileproof", "\n\nimport tileproof"), ("def beside(x):\n    return x", "def beside(x):\n    return 1"),
        ("y[n] = helper(x[n])", "y[n] = helper(\n            x[n])"),
        ("@tp.kernel\n", "@tp.kernel(deny_checks=True)\n"),
    ],
)  # fmt: skip
def test_what_means_the_same_has_the_same_number(old: str, new: str) -> None:
    assert old in TEXT
    assert number_of(TEXT.replace(old, new)) == number_of(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 2", "FACTOR = 2.0"), ("x + 1", "x + 2"), ("* FACTOR", "+ FACTOR"), ("B: int = 64", "B: int = 128"),
        ("helper(x[n])", "deeper(x[n])"), ('x: In[T, "N"]', 'x: In[f32, "N"]'),
        ("def scale(y: Out", "def scale(y: tp.InOut"),
        ("@tp.kernel\n", "@tp.kernel(deterministic=True)\n"),
    ],
)  # fmt: skip
def test_what_means_something_else_has_another(old: str, new: str) -> None:
    assert old in TEXT
    assert number_of(TEXT.replace(old, new)) != number_of(TEXT)


def test_the_number_is_the_same_in_every_version_of_python() -> None:
    assert number_of(TEXT) == "eef0e52605ce2928"
