"""Making bundles: what was compiled ahead, with its proof and the contract of its launches, as one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tileproof.analysis.compares import Compare
from tileproof.backends.cuda.running import Code
from tileproof.frontend.parse import parse
from tileproof.frontend.signature import ContentOf, ScalarParameter, TensorParameter
from tileproof.ir.types import TensorType

from .ahead import Made, Plan
from .bundles import pack
from .gpu import Variant
from .proofs import write_entry
from .whole_files import write_whole


def write_bundle(path: str | os.PathLike[str], made: Iterable[Made], *, version: str, assembler: str) -> int:
    """Writes a bundle of all that was made; gives its bytes. What lies there is replaced, as a whole or not at all."""
    by_plan: dict[Plan, list[tuple[Variant, Code]]] = {}
    for each in made:
        assert isinstance(each.outcome, Code), "what failed is in no bundle"
        by_plan.setdefault(each.plan, []).append((each.variant, each.outcome))
    entries: dict[str, bytes] = {}
    for plan, forms in by_plan.items():
        entries |= plan.proof
        # How long the assembler took would make every bundle another.
        entries |= {wanted.key: write_entry(replace(code, seconds=0.0), ()) for wanted, code in forms}
    data = pack(version, assembler, [_kernel(plan, forms) for plan, forms in by_plan.items()], entries)
    write_whole(Path(path), data)
    return len(data)


def _kernel(plan: Plan, forms: Sequence[tuple[Variant, Code]]) -> dict[str, Any]:
    """What the manifest says of a kernel."""
    found, bound = plan.found, plan.bound
    first = forms[0][0]
    return {
        "kernel": found.kernel.name,
        "file": Path(found.kernel.filename).name,
        "line": found.kernel.first_line,
        "shapes": shapes_of(plan),
        "strides": {name: list(array.strides) for name, array in bound.tensors.items()},
        "constants": dict(bound.constants),
        "dimensions": dict(bound.dimensions),
        "contract": {**_contract(plan), "has_checks": any(code.has_report for _, code in forms)},
        "facts": asdict(first.facts),
        "schedule": dict(first.schedule.key),
        "proof": sorted(plan.proof, key=lambda key: key == found.key),
        "code": {wanted.target.arch: {"key": wanted.key, **summary(code)} for wanted, code in forms},
    }


def summary(code: Code) -> dict[str, int]:
    """What machine code takes of a GPU: the most of any of its entries."""
    return {
        "registers": max(each.registers for each in code.resources),
        "spills": max(each.spill_bytes for each in code.resources),
        "shared": max(each.shared_bytes for each in code.resources),
        "bytes": len(code.cubin),
    }


def shapes_of(plan: Plan) -> str:
    """The arguments of a launch as `tileproof compile --shapes` takes them."""
    stored = {
        parameter.value.name: parameter.value.type.stored_as.name
        for parameter in plan.found.ir.parameters
        if isinstance(parameter.value.type, TensorType)
    }
    tensors = {
        name: f"{'x'.join(map(str, array.shape))}:{stored[name]}" for name, array in plan.bound.tensors.items()
    }
    given = {**tensors, **{name: repr(value) for name, value in plan.bound.scalars.items()}}
    names = (parameter.name for parameter in parse(plan.found.kernel).signature.arguments)
    return ",".join(f"{name}={given[name]}" for name in names)


def _contract(plan: Plan) -> dict[str, Any]:
    """What a launch is checked for, in the words of the language."""
    verdict = plan.found.verdict
    return {
        "parameters": [_parameter(each) for each in parse(plan.found.kernel).signature.arguments],
        "compares": [
            each.demand if isinstance(each, Compare) else f"the index at line {each.span.line} fits 64 bits"
            for each in verdict.compares
        ],
        "without_holes": sorted({*plan.found.holes, *verdict.complete}),
    }


def _parameter(parameter: TensorParameter | ScalarParameter) -> Mapping[str, str]:
    match parameter.element:
        case ContentOf(kind=kind, dimension=dimension):
            element = f'{kind}["{dimension}"]'
        case known:
            element = getattr(known, "name", "Any")
    if isinstance(parameter, ScalarParameter):
        return {"name": parameter.name, "element": element}
    dimensions = " ".join(map(str, parameter.dimensions))
    return {"name": parameter.name, "access": str(parameter.access), "element": element, "dimensions": dimensions}
