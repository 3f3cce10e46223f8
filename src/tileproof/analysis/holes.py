"""Through which index tensors a kernel loads: these may hold no -1, for a load at none has no value."""

from __future__ import annotations

from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import Get, KernelIR, Load, blocks, operands, results
from tileproof.ir.types import AnyValue, TileType
from tileproof.ir.walk import walk
from tileproof.language.dtypes import ENTRY


def holes_matter(kernel: KernelIR) -> dict[str, Span]:
    """The index tensors whose entries a plain load goes through, and where: these may hold no -1."""
    sources: dict[AnyValue, tuple[AnyValue, ...]] = {}
    loaded: dict[AnyValue, str] = {}
    for op in walk(kernel.body):
        yields = tuple(value for block in blocks(op) for value in block.yields)
        for result in results(op):
            sources[result] = (*operands(op), *yields)
        for carried in getattr(op, "carried", ()):
            sources[carried] = (*operands(op), *yields)
        if isinstance(op, Load | Get):
            loaded[op.result] = op.tensor.name
    found: dict[str, Span] = {}
    for op in walk(kernel.body):
        if not isinstance(op, Load):
            continue
        pending: list[AnyValue] = [value for value in operands(op) if _is_entry(value)]
        seen: set[AnyValue] = set()
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                if value in loaded:
                    found.setdefault(loaded[value], op.span)
                else:
                    pending.extend(one for one in sources.get(value, ()) if _is_entry(one))
    return found


def _is_entry(value: AnyValue) -> bool:
    return isinstance(value.type, TileType) and value.type.dtype == ENTRY
