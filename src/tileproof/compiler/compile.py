"""What `tileproof check` asks: every mistake of a kernel, and how each of its obligations is discharged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tileproof.analysis.prove import prove
from tileproof.analysis.verdict import Verdict
from tileproof.backends.interpreter.replay import replay
from tileproof.compiler.pipeline import compile_for, passed, with_checks
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, KernelError
from tileproof.frontend.dimensions import resolve
from tileproof.frontend.elaborate import accepted
from tileproof.frontend.optional import forms
from tileproof.frontend.signature import Elaborated, Signature, parse
from tileproof.frontend.source import RuledOut
from tileproof.frontend.specialization import ConstantValue, Specialization
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import Named, Undecided, symbol
from tileproof.language.kernel import Kernel

_ANY_SIZE = 5040
"""A size with many divisors, to see which sizes follow from others."""


def check(kernel: Kernel, **constants: ConstantValue) -> list[Diagnostic]:
    """The mistakes of a kernel as objects: `code.id`, `message`, `span`, `notes`, `help`, `edit`. Launches nothing.

    Dimensions bound as constants stay symbolic unless given, as `tileproof check --with D=128` would.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"tp.check takes a kernel, not {type(kernel).__name__}: decorate it with @tp.kernel")
    return check_kernel(kernel, constants)


def check_kernel(kernel: Kernel, constants: Mapping[str, ConstantValue]) -> list[Diagnostic]:
    """The mistakes of `kernel`, in all its forms."""
    try:
        every = [verdict(form, constants) for form in forms(kernel)]
    except KernelError as error:
        return list(error.diagnostics)
    return merged(every)


def merged(verdicts: Iterable[Verdict]) -> list[Diagnostic]:
    """What was found of the forms of a kernel: a mistake that several of them have counts once."""
    findings = (finding for each in verdicts for finding in each.findings)
    return list({(each.kernel, each.code, str(each.span), each.message): each for each in findings}.values())


def verdict(
    kernel: Kernel,
    constants: Mapping[str, ConstantValue] | None = None,
    *,
    deny_checks: bool = False,
) -> Verdict:
    """How a form of a kernel fares for all launches: for the first class of element types it compiles for.

    A form that a contract rules out is accepted: it has no launches.
    """
    try:
        ir = passed(accepted(kernel, constants or {})).ir
    except RuledOut:
        return Verdict(None)
    except KernelError as error:
        return Verdict(None, findings=tuple(replace(finding, kernel=kernel.name) for finding in error.diagnostics))
    open_extent = _open_extent(parse(kernel).signature)
    if open_extent is not None:
        return Verdict(None, findings=(open_extent,))
    return prove(ir, replay, deny_checks=deny_checks or kernel.deny_checks)


def _open_extent(signature: Signature) -> Diagnostic | None:
    """The mistake of an expression whose names no arguments determine: every launch would be rejected."""
    named = {name for equation in signature.equations for name in (equation.dimension, *equation.names)}
    constants = {one.name: one.default for one in signature.constants if type(one.default) is int}
    sizes: dict[str, Any] = dict.fromkeys((*signature.dimensions, *named), _ANY_SIZE) | constants
    for _ in signature.equations:
        sizes |= {equation.dimension: equation.value(sizes) for equation in signature.equations}
    axes = {one.name for tensor in signature.tensors for one in tensor.dimensions if isinstance(one, Named)}
    axes |= {one.name for one in signature.constants}
    known = resolve(signature.equations, {name: sizes[name] for name in sizes if name in axes}, {})
    for equation in signature.equations:
        missing = [name for name in equation.names if name not in known]
        if missing:
            message = f"the extent of {equation.text} follows from no arguments: {', '.join(missing)} is open"
            cure = f"give some tensor the axis {missing[0]}, or the axis {equation.text} a name of its own"
            label = "no launch can decide it"
            return Diagnostic(Code.DIMENSION_DIFFERS, message, equation.span, label, help=cure, kernel=signature.name)
    return None


def scope_of(kernel: Kernel, constants: Mapping[str, ConstantValue], verdict: Verdict) -> str:
    """Whether a verdict holds for all constants, or for those it was made with; empty if there are none to choose."""
    if not verdict.accepted:
        return ""
    signature = parse(kernel).signature
    chosen = {
        constant.name: constants.get(constant.name, constant.default)
        for constant in signature.constants
        if constant.name not in signature.static
    }
    if not chosen:
        return ""
    open_ = {name: symbol(name) for name, value in chosen.items() if type(value) is int and name not in constants}
    if len(open_) == len(chosen):
        try:
            ir = passed(accepted(kernel, {**constants, **open_})).ir
            general = prove(ir, deny_checks=kernel.deny_checks)
            # Without sizes to try, an index that leaves its tensor shows only as one more check.
            if general.accepted and len(general.residuals) <= len(verdict.residuals):
                return "for all constants"
        except (KernelError, Undecided):
            pass
    return "for " + ", ".join(f"{name}={value}" for name, value in chosen.items())


def proved(kernel: Kernel, specialization: Specialization) -> tuple[Elaborated, Verdict, KernelIR]:
    """A kernel compiled and proved, and its IR as it runs. Raises `KernelError` if it is not proved."""
    elaborated = compile_for(kernel, specialization)
    result = verdict_for(kernel, specialization, elaborated.ir)
    if result.findings:
        raise KernelError(*result.findings)
    return elaborated, result, with_checks(result)


def verdict_for(kernel: Kernel, specialization: Specialization, ir: KernelIR) -> Verdict:
    """How a kernel fares.

    What is proved for all extents is proved for these, also where numbers hide from the checker what names told it.
    """
    result = prove(ir, replay, deny_checks=kernel.deny_checks)
    return result if result.accepted else _general(kernel, specialization, ir) or result


def _general(kernel: Kernel, specialization: Specialization, ir: KernelIR) -> Verdict | None:
    """The verdict with dimensions bound as constants left open, if it accepts and leaves nothing for run time."""
    static = parse(kernel).signature.static
    opened = tuple((name, symbol(name) if name in static else value) for name, value in specialization.constants)
    if opened == specialization.constants:
        return None
    try:
        open_ir = compile_for(kernel, Specialization(specialization.dtypes, opened)).ir
    except (KernelError, Undecided):
        return None
    result = prove(open_ir, deny_checks=kernel.deny_checks)
    return replace(result, kernel=ir, full=()) if result.accepted and not result.residuals else None
