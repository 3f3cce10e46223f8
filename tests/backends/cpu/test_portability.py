"""Code for other processors calls no library but the mathematical one, whose functions every process has."""

from __future__ import annotations

import re

import pytest

from support.cpu_assembly import assembly
from support.cpu_elements import Case, module
from tileproof.backends.cpu.codegen.arithmetic import binary, unary
from tileproof.backends.cpu.codegen.conversions import cast
from tileproof.backends.cpu.target import named
from tileproof.ir.ops import BinaryFn, UnaryFn
from tileproof.language.dtypes import ALL, BF16, F16, F32, F64, I32, U8

CALL = re.compile(r"^\s+(?:callq|jmp|movabsq|bl|b)\s+\$?\"?([A-Za-z_][\w.]*)", re.MULTILINE)
DOUBLE = {"sin", "cos", "erf", "pow"}
ROUNDING = {"fma", "fmaf", "floor", "floorf", "ceil", "ceilf", "rint", "rintf"}


def everything() -> dict[str, Case]:
    cases = {
        f"cast_{source}_{target}": Case([source], target, lambda e, x, w, s=source, t=target: cast(e, x, s, t, w))
        for source in ALL
        for target in ALL
    }
    for dtype in (F16, BF16, F32, F64):
        for fn in set(UnaryFn) - {UnaryFn.NOT, UnaryFn.ISNAN}:
            cases[f"{fn}_{dtype}"] = Case([dtype], dtype, lambda e, x, w, d=dtype, fn=fn: unary(e, fn, x, d, w))
    for dtype in (F32, F64, I32, U8):
        for fn in (BinaryFn.FLOORDIV, BinaryFn.MOD, BinaryFn.POW, BinaryFn.MAX):
            name = f"{fn}_of_{dtype}"
            cases[name] = Case([dtype, dtype], dtype, lambda e, x, y, w, d=dtype, fn=fn: binary(e, fn, x, y, d, w))
    return cases


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("processor", "allowed"),
    [("sse2", DOUBLE | ROUNDING), ("avx2", DOUBLE), ("avx512", DOUBLE), ("neoverse-n1", DOUBLE)],
)
def test_only_mathematical_functions_are_called(processor: str, allowed: set[str]) -> None:
    target = named(processor)
    text = assembly(module(everything(), 8, target), target)
    own = set(re.findall(r"^\"?([\w.]+)\"?:", text, re.MULTILINE))
    called = {name for name in CALL.findall(text) if not name.startswith((".L", "LBB"))}
    assert called - own <= allowed
    assert called >= DOUBLE
