"""Kernels from source text: written to a file and imported, as a user's would be."""

from __future__ import annotations

import os
from contextlib import suppress
from textwrap import dedent, indent
from typing import Any

import tileproof as tp
from support.source_files import load_text
from tileproof.compiler.compile import check_kernel
from tileproof.compiler.pipeline import compile_for
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, KernelError
from tileproof.frontend.elaborate import accepted
from tileproof.frontend.signature import parse
from tileproof.frontend.specialization import generic

HEAD = """\
import math

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Max, Min, Out, Sum, T, U
from tileproof import bf16, f8e4m3, f8e5m2, f16, f32, f64, i8, i16, i32, i64, tf32, u8, u16, u32, u64

"""


def load(text: str, head: str = HEAD) -> Any:
    """The module a source text makes. Its file stays: helpers are read when a kernel is compiled."""
    return load_text(head + dedent(text))


def kernel(text: str) -> tp.Kernel:
    """The kernel `k` of a source text."""
    found = load(text).k
    assert isinstance(found, tp.Kernel)
    return found


def with_body(body: str, before: str = "") -> str:
    """A kernel of small static and ragged tensors with `body` inside its parallel space."""
    signature = (
        '@tp.kernel\ndef k(y: InOut[f32, "M N"], x: In[f32, "M N"], v: In[f32, "M"], w: In[f32, "N"],\n'
        '      d: In[f32, "M D"], n: In[i32, "M"], *, D: int, BM: int = 2, BN: int = 3) -> None:\n'
        "    for i, j in tp.parallel(M=BM, N=BN):\n"
    )
    return dedent(before) + signature + indent(dedent(body).strip("\n"), " " * 8) + "\n"


def mistakes(text: str) -> list[Diagnostic]:
    """What `tileproof check` finds in the kernel `k`. What the front end accepts must pass every step that follows."""
    return found_in(kernel(text))


def found_in(checked: tp.Kernel) -> list[Diagnostic]:
    found = check_kernel(checked, {})
    if all(mistake.code.id.startswith("TP08") for mistake in found):
        verify_read(checked)
    return found


def verify_read(checked: tp.Kernel) -> None:
    """The front end accepts a kernel, whether or not it is proved, and what each pass makes of it is verified."""
    assert os.environ["TILEPROOF_VERIFY"]
    accepted(checked, {})
    for specialization in generic(parse(checked).signature, {}):
        with suppress(KernelError):  # of some element types: it is accepted for others
            compile_for(checked, specialization)


def codes(text: str) -> list[Code]:
    return [diagnostic.code for diagnostic in mistakes(text)]
