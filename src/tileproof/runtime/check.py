"""What `tileproof check` asks: every mistake of a kernel, and how each of its obligations is settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tileproof.analysis.checking import prove
from tileproof.analysis.holes import holes_matter
from tileproof.analysis.verdict import Verdict
from tileproof.backends.interpreter.replay import replay
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import KernelError
from tileproof.diagnostics.spans import Span
from tileproof.frontend.elaborate import Elaborated, parse
from tileproof.frontend.lazily import lazily
from tileproof.frontend.pipeline import accepted, compile_for, passed, verified
from tileproof.frontend.specialisation import ConstantValue, Specialisation
from tileproof.frontend.tidy import tidy
from tileproof.frontend.watching import watch
from tileproof.ir.extent import Undecided, symbol
from tileproof.ir.ops import Group, KernelIR
from tileproof.ir.walk import walk
from tileproof.language.kernel import Kernel
from tileproof.lowering.checks import place_checks

from .proofs import Stored, keep, recall


def check(kernel: Kernel, **constants: ConstantValue) -> list[Diagnostic]:
    """The mistakes of a kernel as objects: `code.id`, `message`, `span`, `notes`, `help`, `edit`. Launches nothing.

    Dimensions bound as constants stay symbolic unless given, as `tileproof check --with D=128` would.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"tp.check takes a kernel, not {type(kernel).__name__}: decorate it with @tp.kernel")
    return check_kernel(kernel, constants)


def check_kernel(kernel: Kernel, constants: Mapping[str, ConstantValue]) -> list[Diagnostic]:
    """The mistakes of `kernel`."""
    return list(verdict(kernel, constants).findings)


def verdict(
    kernel: Kernel,
    constants: Mapping[str, ConstantValue] | None = None,
    *,
    deny_checks: bool = False,
) -> Verdict:
    """How a kernel fares for all launches: for the first class of element types it compiles for."""
    try:
        ir = passed(accepted(kernel, constants or {})).ir
    except KernelError as error:
        return Verdict(None, findings=tuple(replace(each, kernel=kernel.name) for each in error.diagnostics))
    return prove(ir, replay, deny_checks=deny_checks or kernel.deny_checks)


def scope_of(kernel: Kernel, constants: Mapping[str, ConstantValue], found: Verdict) -> str:
    """Whether a verdict holds for all constants, or for those it was made with; empty if there are none to choose."""
    if not found.accepted:
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
            ir = tidy(accepted(kernel, {**constants, **open_}).ir)
            general = prove(ir, deny_checks=kernel.deny_checks)
            # Without sizes to try, an index that leaves its tensor shows only as one more check.
            if general.accepted and len(general.residuals) <= len(found.residuals):
                return "for all constants"
        except (KernelError, Undecided):
            pass
    return "for " + ", ".join(f"{name}={value}" for name, value in chosen.items())


@dataclass(frozen=True)
class Proved:
    """A kernel compiled for some element types and constants, and the verdict on it."""

    elaborated: Elaborated
    kernel: Kernel
    specialisation: Specialisation
    stored: Stored | None = None
    """What of it was found on disk."""
    native: dict[Any, Any] = field(default_factory=dict, compare=False)
    """Its native forms, by what they rely on."""

    @property
    def is_current(self) -> bool:
        """Whether what the kernel captured is still what it was."""
        return self.watch() or self.elaborated.is_current

    @lazily
    def watch(self) -> Callable[[], bool]:
        """The same, asked quickly; it may doubt without reason."""
        return watch(self.elaborated.captures)

    @property
    def ir(self) -> KernelIR:
        """The kernel as it was proved, without checks."""
        return self.elaborated.ir

    @lazily
    def verdict(self) -> Verdict:
        """Its obligations, settled or reported, when first asked for.

        What is proved for all extents is proved for these, also where numbers hide from the checker what names told it.
        """
        if self.stored is not None:
            return self.stored.verdict
        found = prove(self.ir, replay, deny_checks=self.kernel.deny_checks)
        return found if found.accepted else self._general or found

    @property
    def _general(self) -> Verdict | None:
        """The verdict with dimensions bound as constants left open, if it accepts and leaves nothing for run time."""
        static = parse(self.kernel).signature.static
        opened = tuple(
            (name, symbol(name) if name in static else value) for name, value in self.specialisation.constants
        )
        if opened == self.specialisation.constants:
            return None
        try:
            ir = compile_for(self.kernel, Specialisation(self.specialisation.dtypes, opened)).ir
        except (KernelError, Undecided):
            return None
        found = prove(ir, deny_checks=self.kernel.deny_checks)
        return replace(found, kernel=self.ir, full=()) if found.accepted and not found.residuals else None

    @lazily
    def ready(self) -> KernelIR:
        """The kernel as it runs: refused if a law is broken, with the checks that stayed."""
        if self.stored is not None:
            return self.stored.ready
        if self.verdict.findings:
            raise KernelError(*self.verdict.findings)
        return verified(place_checks(self.verdict))

    @lazily
    def key(self) -> str:
        """What its proof is kept under on disk; "" if it cannot be kept."""
        if self.stored is not None:
            return self.stored.key
        return keep(self.kernel, self.specialisation, self.elaborated, self.verdict, self.ready)

    @lazily
    def holes(self) -> Mapping[str, Span]:
        """The index tensors that must hold no -1, because the kernel loads through them, and where."""
        return holes_matter(self.ir)

    @lazily
    def groups(self) -> tuple[Group, ...]:
        """Every `tp.group` of the kernel."""
        return tuple(op for op in walk(self.ir.body) if isinstance(op, Group))


def compiled_for(kernel: Kernel, specialisation: Specialisation) -> Proved:
    """The kernel for one specialisation, from disk if it was proved before."""
    stored = recall(kernel, specialisation)
    if stored is not None:
        return Proved(stored.elaborated, kernel, specialisation, stored)
    return Proved(compile_for(kernel, specialisation), kernel, specialisation)
