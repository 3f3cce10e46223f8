"""What `tileproof check` asks of the front end: every mistake of a kernel, as diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import KernelError
from tileproof.language.kernel import Kernel

from .pipeline import accepted
from .specialisation import ConstantValue


def check(kernel: Kernel, **constants: ConstantValue) -> list[Diagnostic]:
    """The mistakes of a kernel as objects: `code.id`, `message`, `span`, `notes`, `help`, `edit`. Launches nothing.

    Dimensions bound as constants stay symbolic unless given, as `tileproof check --with D=128` would.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"tp.check takes a kernel, not {type(kernel).__name__}: decorate it with @tp.kernel")
    return check_kernel(kernel, constants)


def check_kernel(kernel: Kernel, constants: Mapping[str, ConstantValue]) -> list[Diagnostic]:
    """The mistakes of `kernel`; none if it compiles for at least one class of element types."""
    try:
        accepted(kernel, constants)
    except KernelError as error:
        return [replace(diagnostic, kernel=kernel.name) for diagnostic in error.diagnostics]
    return []
