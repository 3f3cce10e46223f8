"""What is known of a kernel before and after it is elaborated. Launches load this, and no more of the front end."""

from __future__ import annotations

from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import KernelError
from tileproof.diagnostics.records import dataclass
from tileproof.ir.ops import KernelIR
from tileproof.language.kernel import Kernel, Memo

from .names import Capture
from .signature import Signature, read_signature
from .source import FunctionSource, Refused, check_syntax, read_function, refuse


@dataclass(frozen=True, slots=True)
class Elaborated:
    """Typed IR, and the values from outside it was made with: stale as soon as one of them changes."""

    ir: KernelIR
    captures: tuple[Capture, ...]

    @property
    def is_current(self) -> bool:
        return all(capture.is_current for capture in self.captures)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A kernel's source and signature: what does not depend on element types and constants."""

    source: FunctionSource
    signature: Signature


_parsed: Final = Memo[list[Parsed]](list)


def parse(kernel: Kernel) -> Parsed:
    """Source and signature of a kernel; raises `KernelError` with every mistake of syntax."""
    known = _parsed.of(kernel)
    if known:
        return known[0]
    try:
        source = read_function(kernel.function, kernel.source_lines)
        try:
            mistakes = check_syntax(source)
        except RecursionError:
            raise too_deep(source) from None
        if mistakes:
            raise KernelError(*mistakes)
        parsed = Parsed(source, read_signature(source))
    except Refused as refused:
        raise KernelError(refused.diagnostic) from None
    known.append(parsed)
    return parsed


def too_deep(source: FunctionSource) -> Refused:
    """That a kernel is nested deeper than Python can follow."""
    message = f"the expressions or helpers of `{source.name}` are nested too deeply"
    return refuse(Code.UNSUPPORTED_EXPRESSION, message, source.header, help="give names to parts of them")
