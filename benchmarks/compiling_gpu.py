"""Time from source to the bytecode of a GPU kernel, and of the assembler behind it. Needs no GPU.

The kernels are the examples, at the small sizes they run with, and some of the library, as the GPU book launches them.

    python -m benchmarks compile
    python -m benchmarks compile --rows matmul --rounds 20
    python -m benchmarks compile --save benchmarks/results      write <device>/compile.json there

Each round reads the source, compiles, proves and lowers it with nothing kept; times are of the processor, the best of
the rounds. The assembler is a process of its own, so its times are on the wall, the best of fewer rounds. The goal,
60 ms from source to bytecode for matmul, is stated for a machine of two cores.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from tileproof.backends.cuda.assembling import Assembled, assemble
from tileproof.backends.cuda.toolchain import find
from tileproof.compiler.pipeline import compile_for, with_checks
from tileproof.frontend.signature import parse
from tileproof.language.kernel import Kernel
from tileproof.runtime import gpu
from tileproof.runtime.arguments import Bound, bind
from tileproof.runtime.check import compiled_for, verdict_for

from .book import cpu_slug
from .cpu_report import processor
from .gpu_launches import launches_of_row
from .tables import columns, markdown

V = TypeVar("V")
EXAMPLES: Final = Path(__file__).resolve().parents[1] / "examples"
ARCH: Final = "sm_90"
GOALS: Final = {"matmul": 60.0, "library: matmul 4096": 60.0}
"""Milliseconds from source to bytecode."""
LARGE: Final = ("softmax 4096", "rms_norm 4096", "matvec 4B qkv", "matmul 4096", "attention causal 8192")
"""Rows of the GPU book."""
FILE: Final = "compile.json"
_ALIGNED: Final = 256
"""What every GPU allocation is a multiple of."""
HEADS: Final = (
    "kernel", "front end", "proof", "lowering", "to bytecode", "assembler", "bytecode", "cubin", "registers", "spills",
    "goal",
)  # fmt: skip


@dataclass(frozen=True)
class Compiled:
    """Milliseconds of each step, and what came of them."""

    kernel: str
    front_end: float
    proof: float
    lowering: float
    assembler: float
    bytecode: int
    """Bytes, as of the cubin."""
    cubin: int
    registers: int
    spills: int

    @property
    def total(self) -> float:
        """From source to bytecode."""
        return self.front_end + self.proof + self.lowering

    @property
    def is_met(self) -> bool | None:
        """Whether its goal is; None without one."""
        goal = GOALS.get(self.kernel)
        return None if goal is None else self.total <= goal

    @property
    def cells(self) -> tuple[str, ...]:
        verdict = "" if self.is_met is None else f"{GOALS[self.kernel]:.0f} ms: {'met' if self.is_met else 'MISSED'}"
        steps = (self.front_end, self.proof, self.lowering, self.total)
        return (
            self.kernel, *(f"{each:.1f} ms" for each in steps), f"{self.assembler:.0f} ms", f"{self.bytecode} B",
            f"{self.cubin / 1024:.0f} KB", str(self.registers), str(self.spills), verdict,
        )  # fmt: skip


def launches() -> Iterator[tuple[str, Kernel, list[Any], dict[str, Any]]]:
    """Name, kernel, arguments and constants of all that is compiled."""
    yield from examples()
    for name in LARGE:
        kernel, args, constants = launches_of_row(name, ARCH)[0]
        yield f"library: {name}", kernel, list(args), constants


def examples() -> Iterator[tuple[str, Kernel, list[Any], dict[str, Any]]]:
    """The same of every example."""
    sys.path.insert(0, str(EXAMPLES))
    for path in sorted(EXAMPLES.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        kernel = getattr(module, path.stem, None)
        if isinstance(kernel, Kernel):
            args, constants = module.arguments()
            arrays = [np.ascontiguousarray(each) if isinstance(each, np.ndarray) else each for each in args]
            yield kernel.name, kernel, arrays, constants


def compiled(name: str, kernel: Kernel, args: list[Any], constants: Mapping[str, Any], rounds: int) -> Compiled:
    """Compiles a kernel for a launch, so many times."""
    bound = bind(parse(kernel).signature, tuple(args), dict(constants))
    taken = [_round(kernel, bound) for _ in range(rounds)]
    bytecode = taken[0][1]
    made = [assemble(bytecode, ARCH, kernel=kernel.name) for _ in range(min(rounds, 3))]
    best: Assembled = min(made, key=lambda each: each.seconds)
    front_end, proof, lowering = (min(times[step] for times, _ in taken) for step in range(3))
    return Compiled(
        name, front_end, proof, lowering, best.seconds * 1e3, len(bytecode), len(best.cubin),
        max(each.registers for each in best.resources), sum(each.spill_bytes for each in best.resources),
    )  # fmt: skip


def _round(kernel: Kernel, bound: Bound) -> tuple[tuple[float, float, float], bytes]:
    kernel.forget()
    front_end, elaborated = _timed(lambda: compile_for(kernel, bound.specialisation))
    proof, _ = _timed(lambda: with_checks(verdict_for(kernel, bound.specialisation, elaborated.ir)))
    found = compiled_for(kernel, bound.specialisation)
    addresses = dict.fromkeys(bound.tensors, _ALIGNED)

    def lowered() -> bytes:
        wanted = gpu.variant(found, bound, gpu.space_of(found, bound), ARCH, addresses=addresses)
        return wanted.request().lowered().bytecode

    lowering, bytecode = _timed(lowered)
    return (front_end, proof, lowering), bytecode


def _timed(work: Callable[[], V]) -> tuple[float, V]:
    """Milliseconds of processor time, for which a busy machine matters less."""
    begin = time.thread_time()
    result = work()
    return (time.thread_time() - begin) * 1e3, result


@dataclass(frozen=True)
class Found:
    """What was compiled, and where."""

    processor: str
    machine: str
    kernels: tuple[Compiled, ...]


def machine() -> str:
    """What the figures depend on."""
    load = f"load average {os.getloadavg()[1]:.1f} on {len(os.sched_getaffinity(0))} cores"
    return f"Python {platform.python_version()}, assembler {find().version}, {load}, {datetime.now(UTC):%Y-%m-%d}"


def save(folder: Path, found: Found) -> Path:
    """Writes the data."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return folder / FILE


def kept(folder: Path) -> Found | None:
    """What an earlier run left."""
    if not (folder / FILE).exists():
        return None
    data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return Found(data["processor"], data["machine"], tuple(Compiled(**each) for each in data["kernels"]))


def part(found: Found, tried: str) -> str:
    """A chapter of the machine's page."""
    return "\n".join([
        "## From source to GPU code", "",
        f"For {ARCH}: {found.machine}.",
        "Front end, proof and lowering are processor time of one thread, with nothing kept, the best of the rounds;",
        "the assembler is NVIDIA's, and its time is on the wall, where a busy machine counts. A launch does this once:",
        "afterwards code and proof are found in the cache. Kernels of the library are as the GPU book launches them,",
        "the others are the examples.", "",
        markdown(HEADS, [each.cells for each in found.kernels]), "", *([tried, ""] if tried else []),
    ])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compile", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="kernels with these words in their names")
    parser.add_argument("--rounds", type=int, default=5, help="how often each kernel is compiled (default 5)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write <device>/compile.json there")
    given = parser.parse_args(arguments)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEPROOF_CACHE_DIR"] = folder
        for name, kernel, args, constants in launches():
            if not given.rows or any(word in name for word in given.rows):
                print(f"{name} ...", file=sys.stderr, flush=True)
                found.append(compiled(name, kernel, args, constants, given.rounds))
    print(columns(HEADS, [each.cells for each in found]))
    if given.save is not None:
        print(f"written: {save(given.save / cpu_slug(), Found(processor(), machine(), tuple(found)))}")
    return 1 if any(each.is_met is False for each in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
