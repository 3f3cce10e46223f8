"""Entries of index tensors: which arguments may hold no -1, and what a kernel proves of the entries it stores.

A plain load has no value at none. So the launch demands entries without -1 of the tensors that a kernel loads through,
unless the branches around the load imply that its entries are positions: `if e >= 0: x[e]`. That is asked without what
the demand itself would imply.
"""

from __future__ import annotations

from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Content, TensorType, TileType
from tileproof.ir.walk import walk
from tileproof.language.dtypes import ENTRY

from .axioms import Axioms
from .collect import Collector
from .invariants import learn
from .obligations import Contents, goals
from .prover import Prover
from .terms import All, below, negation


def loaded_through(kernel: ops.KernelIR) -> dict[str, Span]:
    """The index tensors that may hold no -1 because a plain load uses their entries, and where."""
    sources: dict[AnyValue, tuple[AnyValue, ...]] = {}
    loaded: dict[AnyValue, str] = {}
    for op in walk(kernel.body):
        yields = tuple(value for block in ops.blocks(op) for value in block.yields)
        for value in (*ops.results(op), *getattr(op, "carried", ())):
            sources[value] = (*ops.operands(op), *yields)
        if isinstance(op, ops.Load | ops.Get):
            loaded[op.result] = op.tensor.name
    guarded = _guarded_loads(kernel)
    tensors: dict[str, Span] = {}
    for op in walk(kernel.body):
        if not isinstance(op, ops.Load) or id(op) in guarded:
            continue
        pending = [value for value in ops.operands(op) if _is_entry(value)]
        seen: set[AnyValue] = set()
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                if value in loaded:
                    tensors.setdefault(loaded[value], op.span)
                else:
                    pending.extend(source for source in sources.get(value, ()) if _is_entry(source))
    return tensors


def _guarded_loads(kernel: ops.KernelIR) -> set[int]:
    """The loads (by `id`) that no program reaches with an entry that is none."""
    candidates = {
        id(op)
        for branch in walk(kernel.body)
        if isinstance(branch, ops.If | ops.While)
        for block in ops.blocks(branch)
        for op in walk(block)
        if isinstance(op, ops.Load) and any(map(_is_entry, ops.operands(op)))
    }
    if not candidates:
        return set()
    collector = Collector(kernel)
    account = collector.collect()
    prover = Prover(Axioms(collector.ranges, account.definitions, collector.offsets), account.contracts)
    asked = {
        id(site.op): [(site, axis, collector.presence(spot)) for axis, spot in enumerate(site.spots)]
        for site in account.sites
        if id(site.op) in candidates
    }
    present = [formula for spots in asked.values() for *_, formulas in spots for formula in formulas]
    learn(account, prover, present, [extent for view in collector.views.values() for extent in view.extents])
    return {
        load
        for load, spots in asked.items()
        if all(
            prover.impossible((*site.where.path, *site.spots[axis].lanes), about=(negation(All(formulas)),))
            for site, axis, formulas in spots
            if formulas
        )
    }


def _is_entry(value: AnyValue) -> bool:
    return isinstance(value.type, TileType) and value.type.dtype == ENTRY


def proved_entries(kernel: ops.KernelIR) -> dict[str, bool | None]:
    """The `Index` tensors whose entries a kernel proves at its stores, and False if it provably stores no -1.

    The obligation is that a value is -1 or in V, so whether it may be -1 is decided here. Nothing is known of a tensor
    with raw stores. An `InOut` keeps what is not written: it has no -1 only if it had none before, too. Where a check
    fails, elements of an `Out` stay unwritten: work queued after a kernel with checks cannot rely on it yet.
    """
    collector = Collector(kernel)
    account = collector.collect()
    prover = Prover(Axioms(collector.ranges, account.definitions, collector.offsets), account.contracts)
    stores = [
        (goal.subject.site.view.root.name, goal.runs, below(collector.values.stored(goal.subject.site.op.value), 0))
        for goal in goals(collector)
        if isinstance(goal.subject, Contents) and isinstance(goal.subject.site.op, ops.Store)
    ]
    extents = [extent for view in collector.views.values() for extent in view.extents]
    learn(account, prover, [is_none for *_, is_none in stores], extents)
    may_be_none: dict[str, bool | None] = {
        parameter.value.name: False
        for parameter in kernel.parameters
        if isinstance(parameter.value.type, TensorType)
        and isinstance(parameter.value.type.element, Content)
        and parameter.value.type.access in (Access.OUT, Access.INOUT)
    }
    for name, runs, is_none in stores:
        if not prover.impossible(runs, about=(is_none,)):
            may_be_none[name] = None
    for op in walk(kernel.body):
        if isinstance(op, ops.Store) and op.raw:
            may_be_none.pop(collector.views[op.tensor].root.name, None)
    return may_be_none
