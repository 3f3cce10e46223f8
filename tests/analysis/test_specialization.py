"""Generic and specialized checking agree: what is proved for all launches is proved for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from corpus import SAFE, UNSAFE
from samples.example_kernels import example_files, kernel_of
from tileproof import In, InOut, f32
from tileproof.analysis.verdict import Rung
from tileproof.compiler.compile import scope_of, verdict
from tileproof.frontend.signature import parse
from tileproof.runtime.launch.launch import prepare

EXAMPLES = example_files()
KERNELS = [
    *((name, kernel_of(module), [module.arguments(seed) for seed in range(2)]) for name, module in EXAMPLES.items()),
    *((case.kernel.name, case.kernel, case.launches()) for case in SAFE if case.kernel.name not in EXAMPLES),
]
SIZES = (1, 2, 3, 5, 16, 100)


@pytest.mark.sweep(14)
@pytest.mark.parametrize(("kernel", "launches"), [one[1:] for one in KERNELS], ids=[one[0] for one in KERNELS])
def test_what_is_proved_for_all_launches_is_proved_for_each(kernel: tp.Kernel, launches: list[Any]) -> None:
    generic = verdict(kernel)
    assert generic.accepted
    for args, constants in launches:
        try:
            found, _ = prepare(kernel, tuple(args), constants)
        except tp.LaunchError:
            continue
        assert found.verdict.findings == ()
        # A number in place of a name never leaves more to do at run time.
        checks = [discharged for discharged in found.verdict.discharged if discharged.rung >= Rung.PRECHECK]
        before = [discharged for discharged in generic.discharged if discharged.rung >= Rung.PRECHECK]
        assert len(checks) <= len(before)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_verdict_for_all_constants_holds_for_any(name: str) -> None:
    kernel = kernel_of(EXAMPLES[name])
    if scope_of(kernel, {}, verdict(kernel)) != "for all constants":
        assert scope_of(kernel, {}, verdict(kernel)) == ""  # nothing to choose
        return
    signature = parse(kernel).signature
    sizes = [one.name for one in signature.constants if one.name not in signature.static]
    tried = {tuple((size, other)[number % 2] for number in range(len(sizes))) for size in SIZES for other in (1, 7)}
    for values in sorted(tried):
        chosen = dict(zip(sizes, values, strict=True))
        found = verdict(kernel, chosen)
        codes = {finding.code.id for finding in found.findings}
        assert all(code < "TP08" for code in codes), (chosen, codes)


@pytest.mark.sweep(30)
@pytest.mark.parametrize(
    "case", [case for case in UNSAFE if case.fault in ("race", "bounds", "coverage")], ids=lambda case: case.kernel.name
)
def test_a_fault_is_refused_when_it_would_be_launched_too(case: Any) -> None:
    """Whatever launch shows the fault, the checker refuses it before anything is touched."""
    for args, constants in case.launches():
        try:
            tp.interpret(case.kernel, *args, **constants)
        except tp.SanitizerError:
            with pytest.raises((tp.KernelError, tp.LaunchError)):
                case.kernel(*args, **constants)
        except tp.TileproofError:
            pass


@tp.kernel
def mirrored(y: InOut[f32, "M+1"], x: In[f32, "D"], *, D: int) -> None:
    for j in tp.parallel(M=4):
        y[tp.dim("D") - j.elements] = 1.0


def test_a_number_does_not_turn_a_demand_into_a_refusal() -> None:
    """M <= D + 1 may be asked of a launch; M <= 2, for D = 1, would be a limit on sizes."""
    assert tp.check(mirrored) == []
    y = np.zeros(2, np.float32)
    mirrored(y, np.zeros(1, np.float32))
    assert y.tolist() == [0, 1]
    with pytest.raises(tp.LaunchError, match="needs M <= D"):
        mirrored(np.zeros(6, np.float32), np.zeros(1, np.float32))
