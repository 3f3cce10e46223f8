"""How long a kernel takes to compile, step by step, for the CPU and for a GPU, with nothing kept between rounds."""

from __future__ import annotations

import ast
import inspect
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.codegen import program
from tileproof.backends.cpu.codegen.parameters import Specialization
from tileproof.backends.cpu.device import loaded_code as running
from tileproof.backends.cpu.target import depth_for, host
from tileproof.backends.cuda.assembler.assemble import Assembled, Job, assemble
from tileproof.compiler import proofs
from tileproof.compiler.cache import default, digest
from tileproof.compiler.compile import verdict_for
from tileproof.compiler.pipeline import Cpu, compile_for, lower, with_checks
from tileproof.compiler.proved import compiled_for
from tileproof.frontend.signature import _parsed, parse
from tileproof.language.kernel import Kernel
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.binding import Bound, bind

V = TypeVar("V")
ARCH: Final = "sm_90"
_ALIGNED: Final = 256
"""What every GPU allocation is a multiple of."""
_names = count()


@dataclass(frozen=True, slots=True)
class Steps:
    """Milliseconds of each step: of processor time, because a busy machine matters less for it."""

    front_end: float
    proof: float
    lowering: float
    backend: float
    """LLVM's; for a GPU the assembler's, on the wall, because it is another process."""
    load: float = 0.0
    """Of the CPU's, instead of all others, where an earlier process left the kernel on disk; on the wall."""

    @property
    def parts(self) -> tuple[float, float, float, float]:
        return self.front_end, self.proof, self.lowering, self.backend


def cpu_steps(kernel: Kernel, args: list[Any], constants: dict[str, Any], rounds: int = 3) -> Steps:
    """For the CPU: the best of some rounds of each step."""
    bound = bind(parse(kernel).signature, tuple(args), constants)
    return Steps(*map(min, zip(*(_cpu_round(kernel, bound) for _ in range(rounds)), strict=True)))


def _checked(kernel: Kernel, bound: Bound) -> tuple[float, float, Any]:
    """Milliseconds of front end and proof, and the IR with the checks that the proof left."""
    kernel.forget()
    front_end, result = timed(lambda: compile_for(kernel, bound.specialization))
    proof, ready = timed(lambda: with_checks(verdict_for(kernel, bound.specialization, result.ir)))
    return front_end, proof, ready


def _cpu_round(kernel: Kernel, bound: Bound) -> tuple[float, ...]:
    front_end, proof, ready = _checked(kernel, bound)
    target, name = host(), f"compiled{next(_names)}"
    passes, ir = timed(lambda: lower(ready, Cpu(depth_for(target))))
    specialization = running.Lowered(ir).specialization(bound.tensors, bound.dimensions, target.caches.l3)
    writing, result = timed(lambda: program.module(ir, specialization, target, name))
    generating, _ = timed(lambda: llvm.compile_object(result.text, target))
    key = digest("benchmark", name)
    assert compiled_for(kernel, bound.specialization).key  # the proof is on disk
    default().put(key, proofs.write_entry(program.compile_kernel(ir, specialization, target, name), ()))
    load, _ = timed(lambda: _load(kernel, bound, specialization, key), time.perf_counter)
    return front_end, proof, passes + writing, generating, load


def _load(kernel: Kernel, bound: Bound, specialization: Specialization, key: str) -> None:
    """What a first launch does where both the proof and the code are on disk."""
    parsed = parse(kernel)
    kernel.forget()
    _parsed.of(kernel).append(parsed)  # a launch needs the signature to look at its arguments, found on disk or not
    stored = proofs.recall(kernel, bound.specialization)
    if stored is None:
        raise LookupError(f"the proof of {kernel.name} is not found on disk again")
    lowered = running.Lowered(lower(stored.ready, Cpu(depth_for(host()))))
    running.Loaded(lowered, specialization, proofs.read_entry(default(), key, ()))


def gpu_steps(
    kernel: Kernel, args: list[Any], constants: Mapping[str, Any], rounds: int
) -> tuple[list[Steps], bytes, Assembled]:
    """For a GPU: every round, the bytecode, and what the assembler made of it when it was fastest."""
    bound = bind(parse(kernel).signature, tuple(args), dict(constants))
    taken = [_gpu_round(kernel, bound) for _ in range(rounds)]
    bytecode = taken[0][1]
    job = Job(bytecode, ARCH, kernel=kernel.name)
    results = [assemble(job) for _ in range(min(rounds, 3))]
    best = min(results, key=lambda result: result.seconds)
    return [Steps(*times, best.seconds * 1e3) for times, _ in taken], bytecode, best


def _gpu_round(kernel: Kernel, bound: Bound) -> tuple[tuple[float, float, float], bytes]:
    front_end, proof, _ = _checked(kernel, bound)
    result = compiled_for(kernel, bound.specialization)
    addresses = dict.fromkeys(bound.tensors, _ALIGNED)

    def lowered() -> bytes:
        wanted = gpu.variant(result, bound, gpu.space_of(result, bound), ARCH, addresses=addresses)
        return wanted.request().lowered().bytecode

    lowering, bytecode = timed(lowered)
    return (front_end, proof, lowering), bytecode


def parsing(kernel: Kernel) -> float:
    """Milliseconds that Python needs to read and to parse the source of a kernel: no front end can take less."""

    def work() -> None:
        source = Path(inspect.getsourcefile(kernel.function) or "").read_text(encoding="utf-8")
        lines, first = source.splitlines(), kernel.function.__code__.co_firstlineno - 1
        ast.parse(textwrap.dedent("\n".join(inspect.getblock([f"{line}\n" for line in lines[first:]]))))

    return min(timed(work)[0] for _ in range(5))


def timed(work: Callable[[], V], clock: Callable[[], float] = time.thread_time) -> tuple[float, V]:
    """Milliseconds of some work."""
    begin = clock()
    result = work()
    return (clock() - begin) * 1e3, result
