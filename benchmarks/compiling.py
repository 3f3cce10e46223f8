"""How long a kernel takes to compile, step by step, and to load from the cache on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from tileproof.backends.cpu import llvm, program, running
from tileproof.backends.cpu.parameters import Facts
from tileproof.backends.cpu.target import depth_for, host
from tileproof.compiler.pipeline import Cpu, compile_for, lower, with_checks
from tileproof.frontend.elaborate import Elaborated
from tileproof.frontend.signature import _parsed, parse
from tileproof.frontend.specialisation import Specialisation
from tileproof.ir.ops import KernelIR
from tileproof.language.kernel import Kernel
from tileproof.runtime import proofs
from tileproof.runtime.arguments import bind
from tileproof.runtime.cache import default, digest
from tileproof.runtime.check import verdict_for
from tileproof.runtime.proved import compiled_for

V = TypeVar("V")
ROUNDS = 3
_names = count()


@dataclass(frozen=True)
class Steps:
    """Milliseconds, the best of some rounds of each step."""

    front_end: float
    proof: float
    lowering: float
    llvm: float
    load: float
    """Instead of all the others, where an earlier process left the kernel on disk."""

    @property
    def cold(self) -> float:
        return self.front_end + self.proof + self.lowering + self.llvm


def compile_steps(kernel: Kernel, args: list[Any], constants: dict[str, Any], rounds: int = ROUNDS) -> Steps:
    """Compiles a kernel for a launch a few times. Nothing is kept between the rounds."""
    return Steps(*map(min, zip(*(_round(kernel, args, constants) for _ in range(rounds)), strict=True)))


def _round(kernel: Kernel, args: list[Any], constants: dict[str, Any]) -> tuple[float, ...]:
    bound = bind(parse(kernel).signature, tuple(args), constants)
    specialisation = bound.specialisation
    front_end, elaborated = _timed(lambda: _front_end(kernel, specialisation))
    proof, ready = _timed(lambda: _proof(kernel, specialisation, elaborated))
    target, name = host(), f"compiled{next(_names)}"
    passes, ir = _timed(lambda: lower(ready, Cpu(depth_for(target))))
    facts = running.Lowered(ir).facts(bound.tensors, bound.dimensions, target.caches.l3)
    writing, made = _timed(lambda: program.module(ir, facts, target, name))
    generating, _ = _timed(lambda: llvm.compile_object(made.text, target))
    key = digest("benchmark", name)
    assert compiled_for(kernel, specialisation).key  # the proof is on disk
    default().put(key, proofs.write_entry(program.compile_kernel(ir, facts, target, name), ()))
    load, _ = _timed(lambda: _load(kernel, specialisation, facts, key), time.perf_counter)
    return front_end, proof, passes + writing, generating, load


def _front_end(kernel: Kernel, specialisation: Specialisation) -> Any:
    kernel.forget()
    return compile_for(kernel, specialisation)


def _proof(kernel: Kernel, specialisation: Specialisation, elaborated: Elaborated) -> KernelIR:
    return with_checks(verdict_for(kernel, specialisation, elaborated.ir))


def _load(kernel: Kernel, specialisation: Specialisation, facts: Facts, key: str) -> None:
    """What a first launch does where both the proof and the code are on disk."""
    parsed = parse(kernel)
    kernel.forget()
    _parsed.of(kernel).append(parsed)  # a launch needs the signature to look at its arguments, found on disk or not
    stored = proofs.recall(kernel, specialisation)
    if stored is None:
        raise LookupError(f"the proof of {kernel.name} is not found on disk again")
    lowered = running.Lowered(lower(stored.ready, Cpu(depth_for(host()))))
    running.Loaded(lowered, facts, proofs.read_entry(default(), key, ()))


def _timed(work: Callable[[], V], clock: Callable[[], float] = time.thread_time) -> tuple[float, V]:
    """Milliseconds of processor time, for which a busy machine matters less; of the wall for what reads the disk."""
    begin = clock()
    result = work()
    return (clock() - begin) * 1e3, result
