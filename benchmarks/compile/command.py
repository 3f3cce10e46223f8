"""From source to the bytecode of a GPU kernel, and the assembler after it. Needs no GPU.

The kernels are the examples, at the small sizes they run with, and some of the library, as the GPU rows launch them.

    python -m benchmarks compile
    python -m benchmarks compile --rows matmul --rounds 20
    python -m benchmarks compile --save benchmarks/results      write <device>/compile.json there

Each round reads the source, compiles, proves and lowers it with nothing kept; times are of the processor, the best of
the rounds. The peer is the assembler, which takes what we make; the limit is what Python needs to read and parse the
source. The goal, 60 ms from source to bytecode for matmul, is stated for a machine of two cores.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from tileproof.backends.cuda.assembler.toolchain import find
from tileproof.language.kernel import Kernel

from ..harness.device import cpu_machine, cpu_slug
from ..harness.examples import examples
from ..harness.page import Section, terminal
from ..harness.result import Figure, Goal, Line, Results, kept, save
from ..harness.row import chosen
from .steps import ARCH, gpu_steps, parsing

_GOAL: Final = Goal(60e-3, "at most")
_JUDGED: Final = ("matmul", "matmul 4096")
LARGE: Final = ("softmax 4096", "rms_norm 4096", "matvec 4B qkv", "matmul 4096", "attention causal 8192")
"""GPU rows."""
SECTION: Final = Section(
    "compile.json", "From source to GPU code",
    f"For {ARCH}. Front end, proof and lowering are processor time of one thread, with nothing kept, the best of the "
    "rounds. The peer is NVIDIA's assembler, which goes on with our bytecode; its time is on the wall, where a "
    "busy machine counts. The limit is reading and parsing the source by Python's `ast`. A launch does this once: "
    "afterwards code and proof are in the cache.",
    {"example": "Examples", "library": "Library, as the GPU rows launch it"},
)  # fmt: skip


def launches() -> Iterator[tuple[str, str, Kernel, list[Any], dict[str, Any]]]:
    """Group, name, kernel, arguments and constants of all that is compiled."""
    from ..kernels.launches import launches_of_row

    for name, kernel, module in examples():
        args, constants = module.arguments()
        arrays = [np.ascontiguousarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        yield "example", name, kernel, arrays, constants
    for name in LARGE:
        kernel, arguments, constants = launches_of_row(name, ARCH)[0]
        yield "library", name, kernel, list(arguments), constants


def compile_row(group: str, name: str, kernel: Kernel, args: list[Any], constants: dict[str, Any], rounds: int) -> Line:
    """Compiles a kernel for a launch in some rounds; returns its row."""
    steps, bytecode, result = gpu_steps(kernel, args, constants, rounds)
    best = min(steps, key=lambda step: sum(step.parts[:3]))
    times = [min(column) for column in zip(*(step.parts[:3] for step in steps), strict=True)]
    registers, spills = max(use.registers for use in result.resources), sum(use.spill_bytes for use in result.resources)
    return Line(
        name, group, f"{len(bytecode)} B, {len(result.cubin) / 1024:.0f} KB",
        tileproof=Figure("tileproof", (sum(times) / 1e3,)),
        peers={"assembler": (Figure("assembler", (best.backend / 1e3,)),)},
        yardsticks={"ast.parse": Figure("ast.parse", (parsing(kernel) / 1e3,))},
        goals=(_GOAL,) if name in _JUDGED else (),
        facts={"front end": f"{times[0]:.1f} ms", "proof": f"{times[1]:.1f} ms", "lowering": f"{times[2]:.1f} ms",
               "registers": str(registers), "spills": str(spills)},
    )  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Prints the table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compile", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="kernels with these words in their names")
    parser.add_argument("--rounds", type=int, default=5, help="how often each kernel is compiled (default 5)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write <device>/compile.json there")
    parser.add_argument("--list", action="store_true", help="print the names of kernels")
    values = parser.parse_args(arguments)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEPROOF_CACHE_DIR"] = folder
        every = list(launches())
        wanted = chosen({name: group for group, name, *_ in every}, values.rows)
        if values.list:
            print("\n".join(wanted))
            return 0
        for group, name, kernel, args, constants in every:
            if name in wanted:
                print(f"{name} ...", file=sys.stderr, flush=True)
                lines.append(compile_row(group, name, kernel, args, constants, values.rounds))
    print(terminal(lines))
    if values.save is not None:
        file = values.save / cpu_slug() / SECTION.file
        about = {**cpu_machine(), "assembler": find().version}
        print(f"written: {save(file, kept(file).joined(Results(tuple(lines), (about,))))}")
    return 1 if any(line.missed for line in lines) else 0
