"""Kernels that were proved, as launches use them. Those whose proofs are on disk load no compiler and no prover."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from tileproof.analysis.verdict import Verdict
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.frontend.captures import watch
from tileproof.frontend.signature import Elaborated, Signature, parse
from tileproof.frontend.specialization import Specialization
from tileproof.ir.ops import Group, KernelIR
from tileproof.ir.walk import walk
from tileproof.language.kernel import Kernel

from .proofs import Stored, keep, recall


@dataclass(frozen=True, slots=True)
class Proved:
    """A kernel that was proved for some element types and constants, and what is left to every launch of it."""

    kernel: Kernel
    specialization: Specialization
    elaborated: Elaborated
    verdict: Verdict
    """How its obligations were discharged."""
    ready: KernelIR
    """The kernel as it runs, with the checks that the proof left."""
    key: str
    """What its proof is kept under on disk; "" if it cannot be kept."""
    watch: Callable[[], bool]
    """Whether what it captured is still what it was, asked quickly; it may doubt without reason."""
    holes: Mapping[str, Span]
    """The index tensors that must hold no -1, because the kernel loads through them, and where."""
    groups: tuple[Group, ...]
    """Every `tp.group`."""
    premises: frozenset[str]
    """The tensors whose contents decide which memory it touches."""
    memos: dict[Any, Any] = field(default_factory=dict, compare=False)
    """What backends made of it: see `Memo`."""

    @property
    def is_current(self) -> bool:
        """Whether what the kernel captured is still what it was."""
        return self.watch() or self.elaborated.is_current

    @property
    def ir(self) -> KernelIR:
        """The kernel as it was proved, without checks."""
        return self.elaborated.ir


def signature_of(proved: Proved) -> Signature:
    """The signature of a proved kernel."""
    return parse(proved.kernel).signature


def compiled_for(kernel: Kernel, specialization: Specialization) -> Proved:
    """A kernel proved for one specialization, found on disk or proved now. Raises `KernelError` if it is not proved."""
    stored = recall(kernel, specialization)
    if stored is None:
        stored = _stored_now(kernel, specialization)
    return Proved(
        kernel, specialization, stored.elaborated, stored.verdict, stored.ready, stored.key,
        watch(stored.elaborated.captures), stored.holes, groups_of(stored.elaborated.ir), stored.premises,
    )  # fmt: skip


def _stored_now(kernel: Kernel, specialization: Specialization) -> Stored:
    """A kernel proved now, and written to disk if that can be."""
    # The compiler and the prover, which a kernel that was proved before does not need.
    from tileproof.analysis.index_entries import loaded_through
    from tileproof.analysis.premise_tensors import premises_of

    from .compile import proved

    elaborated, verdict, ready = proved(kernel, specialization)
    stored = Stored("", elaborated, verdict, ready, loaded_through(elaborated.ir), premises_of(ready))
    return replace(stored, key=keep(kernel, specialization, stored))


def groups_of(ir: KernelIR) -> tuple[Group, ...]:
    """Every `tp.group` of a kernel."""
    return tuple(op for op in walk(ir.body) if isinstance(op, Group))
