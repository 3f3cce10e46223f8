"""Every example compiles for processors this machine is not, and its code calls nothing that a process may lack."""

import re
from functools import cache
from pathlib import Path

import pytest

import tileproof as tp
from support.cpu_assembly import assembly
from support.source_files import load_file
from tileproof.backends.cpu.codegen.program import module
from tileproof.backends.cpu.device.loaded_code import Lowered
from tileproof.backends.cpu.target import depth_for, named
from tileproof.compiler.pipeline import Cpu, lower
from tileproof.compiler.proved import Proved
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("demo"))
MATH = {"fma", "fmaf", "sin", "cos", "erf", "pow"}
"""Of the C library, for f64 and for processors without fused multiply-add."""
MEMORY = {"memset", "memcpy"}
"""What LLVM makes of loops that set or copy memory."""
CALL = re.compile(r"^\s+(?:callq?|bl|jmp|b|movabsq)\s+\$?([A-Za-z_]\w*)(?:@PLT)?(?:,.*)?$", re.M)
"""Addresses of 64 bits are loaded before they are called."""


@cache
def prepared(name: str) -> tuple[Proved, Bound]:
    """An example and its own arguments: proved once, for all processors."""
    example = load_file(EXAMPLES / f"{name}.py")
    kernels = [value for value in vars(example).values() if isinstance(value, tp.Kernel)]
    args, constants = example.arguments(0)
    return prepare(getattr(example, name, kernels[-1]), tuple(args), constants)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("processor", ["neoverse-n1", "sapphirerapids", "sse2"])
@pytest.mark.parametrize("name", NAMES)
def test_an_example_compiles_for_a_processor(name: str, processor: str) -> None:
    proved, bound = prepared(name)
    target = named(processor)
    ready = lower(proved.ready, Cpu(depth_for(target)))
    specialization = Lowered(ready).specialization(bound.tensors, bound.dimensions, target.caches.l3)
    result = module(ready, specialization, target, "kernel")
    code = assembly(result.text, target)
    called = set(CALL.findall(code))
    inside = set(re.findall(r"^([A-Za-z_][\w.]*):", code, re.M))
    assert {one for one in called if one not in inside} <= MATH | MEMORY
    assert "kernel.main:" in code


def test_a_call_that_is_not_allowed_would_be_seen() -> None:
    text = """
        declare float @surprise(float)
        define float @f(float %x) {
          %y = call float @surprise(float %x)
          %z = fadd float %y, %y
          ret float %z
        }"""
    for processor in ("neoverse-n1", "avx2"):
        assert "surprise" in CALL.findall(assembly(text, named(processor)))
