"""Which index tensors a kernel vouches for: what it stores there is of the kind that the tensor's type names."""

from __future__ import annotations

from tileproof.ir.ops import KernelIR, Store
from tileproof.ir.types import Access, Content, TensorType
from tileproof.ir.walk import walk

from .axioms import Axioms
from .collect import Reader
from .invariants import learn
from .obligations import Contents, goals
from .prover import Prover
from .terms import below


def mints(kernel: KernelIR) -> dict[str, bool | None]:
    """The `Index` tensors whose entries a kernel vouches for at its stores, and False if it provably stores no -1.

    The checker demands that a value is -1 or in V, so whether it may be -1 is asked here. Of a tensor with raw stores
    nothing is known. An `InOut` keeps what is not written: it has no -1 only if it had none before, too. Where a check
    fails, elements of an `Out` stay unwritten: work that is queued behind a kernel with checks cannot rely on it yet.
    """
    reader = Reader(kernel)
    account = reader.read()
    prover = Prover(Axioms(reader.ranges, account.definitions, reader.offsets), account.contracts)
    stores = [
        (goal.subject.site.view.root.name, goal.runs, below(reader.values.stored(goal.subject.site.op.value), 0))
        for goal in goals(reader)
        if isinstance(goal.subject, Contents) and isinstance(goal.subject.site.op, Store)
    ]
    extents = [extent for view in reader.views.values() for extent in view.extents]
    learn(account, prover, [is_none for *_, is_none in stores], extents)
    found: dict[str, bool | None] = {
        parameter.value.name: False
        for parameter in kernel.parameters
        if isinstance(parameter.value.type, TensorType)
        and isinstance(parameter.value.type.element, Content)
        and parameter.value.type.access in (Access.OUT, Access.INOUT)
    }
    for name, runs, is_none in stores:
        if not prover.impossible(runs, about=(is_none,)):
            found[name] = None
    for op in walk(kernel.body):
        if isinstance(op, Store) and op.raw:
            found.pop(reader.views[op.tensor].root.name, None)
    return found
