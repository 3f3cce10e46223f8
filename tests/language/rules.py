"""What the tests of the rules share: kernels from text, launched on every backend and interpreted; mistakes told by
their codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

import numpy as np

import tileproof as tp
from support.agreement import assert_alike
from support.source_files import load_text
from tileproof.frontend.elaborate import accepted
from tileproof.frontend.signature import TensorParameter, parse
from tileproof.ir.types import Access

Array = np.ndarray[Any, Any]
ORDERS: tuple[Any, ...] = ("forward", "reverse", 1)

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
    """Launches a kernel that is proved, and demands that the interpreter gives the same in all orders of programs.

    The arguments then hold what the CPU gave.
    """
    mistakes = [found.message for found in tp.check(kernel)]
    assert not mistakes, mistakes
    copies, launched = _copied(args), _copied(args)
    interpreted(kernel, *copies, **constants)
    with tp.backend("interpreter"):
        kernel(*launched, **constants)
    _assert_same(launched, copies)
    with tp.backend("cpu"):
        kernel(*args, **constants)
    for arg, copy in zip(args, copies, strict=True):
        assert_alike(arg, copy)


def interpreted(kernel: tp.Kernel, *args: Any, **constants: Any) -> None:
    """Runs a kernel on the interpreter alone: it is right for these arguments, whatever a launch demands of others.

    The front end accepts it, the sanitizer finds nothing, and all orders of its programs give the same.
    """
    assert accepted(kernel, {})
    others = []
    for order in ORDERS[1:]:
        copies = _copied(args)
        tp.interpret(kernel, *copies, order=order, **constants)
        others.append(copies)
    tp.interpret(kernel, *args, order=ORDERS[0], **constants)
    for copies in others:
        _assert_same(args, copies)


def fails(kernel: tp.Kernel, *args: Any, **constants: Any) -> str:
    """The code of what a launch raises, the same on every backend.

    It has changed nothing; a check that fails on the CPU leaves behind what was written until then, in what the kernel
    may write.
    """
    with tp.backend("interpreter"):
        code = _raised(lambda *given: kernel(*given, **constants), args)
    with tp.backend("cpu"):
        assert _raised(lambda *given: kernel(*given, **constants), args, _written(kernel)) == code
    return code


def _written(kernel: tp.Kernel) -> list[int]:
    """Which of a kernel's arguments it may write."""
    if not accepted(kernel, {}):
        return []
    arguments = parse(kernel).signature.arguments
    return [n for n, one in enumerate(arguments) if isinstance(one, TensorParameter) and one.access is not Access.IN]


def faults(kernel: tp.Kernel, *args: Any, **constants: Any) -> str:
    """The code of what the interpreter finds while a kernel runs, the same in all orders. It has changed nothing."""
    assert accepted(kernel, {})
    (code,) = {
        _raised(lambda *given, order=order: tp.interpret(kernel, *given, order=order, **constants), args)
        for order in ORDERS
    }
    return code


def _raised(call: Callable[..., None], args: tuple[Any, ...], written: Sequence[int] = ()) -> str:
    """What a call raises. It has changed nothing; what may be written and a failed check left behind is set back."""
    before = _copied(args)
    try:
        call(*args)
    except tp.TileproofError as error:
        if isinstance(error, tp.OutOfBounds):
            for n in written:
                args[n][...] = before[n]
        _assert_same(args, before)
        return error.diagnostics[0].code.id
    raise AssertionError("nothing is raised")


def _copied(args: Sequence[Any]) -> list[Any]:
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def _assert_same(args: Sequence[Any], others: Sequence[Any]) -> None:
    for arg, other in zip(args, others, strict=True):
        np.testing.assert_array_equal(arg, other)


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


def ramp(*shape: int, dtype: Any = np.float32) -> Array:
    """0, 1, 2, ... row by row."""
    return np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)
