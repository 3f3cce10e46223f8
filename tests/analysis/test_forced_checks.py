"""All bounds forced to be tested where they are used: the same results, and the same launches accepted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from corpus import SAFE
from samples.example_kernels import example_files, kernel_of
from support.agreement import assert_alike
from tileproof.analysis.collect import Collector
from tileproof.analysis.sites import Bounded, Site
from tileproof.analysis.verdict import Residual, Rung, Verdict
from tileproof.backends import interpreter
from tileproof.backends.cpu.codegen import program
from tileproof.backends.cpu.codegen.parameters import Specialization
from tileproof.backends.cpu.device import loaded_code as running
from tileproof.backends.cpu.device import split_launch as parts
from tileproof.backends.cpu.target import host
from tileproof.compiler.pipeline import with_checks
from tileproof.compiler.proved import Proved
from tileproof.ir import ops
from tileproof.ir.verifier import verify
from tileproof.language.kernel import Kernel
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare
from tileproof.runtime.launch.premises import bring, bring_back
from tileproof.runtime.stream.thread_pool import pool

EXAMPLES = example_files()
NUMBERS = count()


@pytest.fixture(autouse=True)
def nothing_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof that another test stored has no kernel in its verdict, and these tests want one."""
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", "off")


def forced(found: Verdict) -> Verdict:
    """The verdict with every bound left to a check in place, proved or not."""
    assert found.kernel is not None
    residuals: list[Residual] = []
    for demand in Collector(found.kernel).collect().demands:
        match demand:
            case Site(op=ops.Load() | ops.Store() | ops.Update() as op) if not getattr(op, "raw", False):
                residuals += [Residual(op, axis, Rung.IN_PLACE) for axis in range(len(op.picks))]
            case Bounded(op=op):
                residuals.append(Residual(op, None, Rung.IN_PLACE))
            case _:
                pass
    contents = [one for one in found.residuals if one.axis is None and isinstance(one.op, ops.Store)]
    return replace(found, residuals=(*residuals, *contents))


def copies(args: list[Any]) -> list[Any]:
    return [one.copy() if isinstance(one, np.ndarray) else one for one in args]


class Everywhere:
    """A kernel with every bound tested, and its native code for each kind of launch."""

    def __init__(self, found: Proved) -> None:
        self.found = found
        self.ir = with_checks(forced(found.verdict))
        self.loaded: dict[Specialization, running.Loaded] = {}
        verify(self.ir)

    def interpret(self, bound: Bound) -> None:
        bring(bound.copies)
        interpreter.run(self.ir, {**bound.tensors, **bound.scalars}, bound.dimensions, sanitize=False)
        bring_back(bound.copies)

    def run(self, bound: Bound) -> None:
        arguments, target = {**bound.tensors, **bound.scalars}, host()
        lowered = running.Lowered(self.ir)
        specialization = lowered.specialization(arguments, bound.dimensions, target.caches.l3)
        if specialization not in self.loaded:
            code = program.compile_kernel(self.ir, specialization, target, f"forced_{next(NUMBERS)}")
            self.loaded[specialization] = running.Loaded(lowered, specialization, code)
        bring(bound.copies)
        parts.run(self.loaded[specialization], arguments, bound.dimensions, pool())
        bring_back(bound.copies)


def agree(kernel: Kernel, launches: Iterable[tuple[list[Any], dict[str, Any]]]) -> None:
    """Runs a kernel as it is proved, and with every bound tested, on every backend."""
    made: list[Everywhere] = []
    for args, constants in launches:
        found, _ = prepare(kernel, tuple(args), constants)
        if not any(each.found is found for each in made):
            made.append(Everywhere(found))
        (everywhere,) = (each for each in made if each.found is found)
        _agree(kernel, everywhere, list(args), constants)


def _agree(kernel: Kernel, everywhere: Everywhere, args: list[Any], constants: dict[str, Any]) -> None:
    plain, tested, native = copies(args), copies(args), copies(args)
    caught: list[type[Exception] | None] = []
    for run in (
        lambda: _launched(kernel, plain, constants),
        lambda: everywhere.interpret(prepare(kernel, tuple(tested), constants)[1]),
        lambda: everywhere.run(prepare(kernel, tuple(native), constants)[1]),
    ):
        try:
            run()
            caught.append(None)
        except tp.OutOfBounds as error:
            caught.append(type(error))
    assert caught[0] == caught[1] == caught[2]
    if caught[0] is None:
        for one, other, third in zip(plain, tested, native, strict=True):
            np.testing.assert_array_equal(one, other)
            assert_alike(third, other)


def _launched(kernel: Kernel, args: list[Any], constants: dict[str, Any]) -> None:
    with tp.backend("interpreter"):
        kernel(*args, **constants)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_the_same_with_every_bound_tested(name: str) -> None:
    agree(kernel_of(EXAMPLES[name]), [EXAMPLES[name].arguments(seed) for seed in range(2)])


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    "case", [case for case in SAFE if case.kernel.name not in EXAMPLES], ids=lambda case: case.kernel.name
)
def test_a_safe_kernel_gives_the_same_with_every_bound_tested(case: Any) -> None:
    agree(case.kernel, case.launches())
