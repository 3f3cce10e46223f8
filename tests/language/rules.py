"""What the tests of the rules share: kernels from text, run in several orders; mistakes told by their codes."""

from __future__ import annotations

from textwrap import dedent, indent
from types import ModuleType
from typing import Any

import numpy as np
from source_files import load_text

import tileproof as tp

Array = np.ndarray[Any, Any]

HEAD = """\
from typing import Any

import tileproof as tp
from tileproof import In, Index, InOut, Max, Min, Offsets, Out, Sum, T, U, Unique
from tileproof import bf16, f8e4m3, f16, f32, f64, i8, i16, i32, i64, tf32, u8, u32, u64

"""


def module(text: str) -> ModuleType:
    """A module with this text. Its file stays: kernels and helpers are read from it."""
    return load_text(HEAD + dedent(text))


def kernel(signature: str, body: str, before: str = "") -> tp.Kernel:
    """A kernel with these parameters and this body; `before` is what stands above it in the file."""
    inside = indent(dedent(body).strip("\n"), "    ")
    made = module(f"{dedent(before)}\n@tp.kernel\ndef k({signature}) -> None:\n{inside}\n").k
    assert isinstance(made, tp.Kernel)
    return made


def each(signature: str, body: str, before: str = "") -> tp.Kernel:
    """A kernel with this body for each element `n` of N."""
    return kernel(signature, "for n in tp.parallel(N=tp.each):\n" + indent(dedent(body).strip("\n"), "    "), before)


def refused(kernel: tp.Kernel) -> str:
    """The code of the one mistake that checking a kernel finds."""
    (found,) = tp.check(kernel)
    return found.code.id


def run(kernel: tp.Kernel, *args: Any, **constants: Any) -> None:
    """Runs a kernel forward, and demands that other orders of its programs give the same."""
    mistakes = [found.message for found in tp.check(kernel)]
    assert not mistakes, mistakes
    others = []
    for order in ("reverse", 1):
        copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        tp.interpret(kernel, *copies, order=order, **constants)
        others.append(copies)
    kernel(*args, **constants)
    for copies in others:
        for arg, copy in zip(args, copies, strict=True):
            np.testing.assert_array_equal(arg, copy)


def fails(kernel: tp.Kernel, *args: Any, **constants: Any) -> str:
    """The code of what a launch raises. It has changed nothing."""
    before = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    try:
        kernel(*args, **constants)
    except tp.TileproofError as error:
        for arg, copy in zip(args, before, strict=True):
            np.testing.assert_array_equal(arg, copy)
        return error.diagnostics[0].code.id
    raise AssertionError("the launch succeeds")


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


def ramp(*shape: int, dtype: Any = np.float32) -> Array:
    """0, 1, 2, ... row by row."""
    return np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)
