"""What an author can write instead of an access that is not proved: the help of findings, from the kernel at hand.

A cure that would be rejected in turn misleads. So each is named only where it can do: `Sum` where all accesses are
additions, `Unique` where programs read different entries, `x.get(...)` where the access is a load without `:`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Content, Named, Tensor, TensorType, Tile
from tileproof.ir.walk import walk
from tileproof.language.dtypes import ENTRY, INDEX

from .collect import Collector
from .obligations import Disjoint, DisjointLanes, Goal, InBounds
from .ranges import Range
from .sites import Site
from .symbolic_values import is_uniform
from .terms import Read, Start, TileNumber, Unknown, everything

_ON_BITS = (ops.BinaryFn.AND, ops.BinaryFn.OR, ops.BinaryFn.XOR, ops.BinaryFn.SHL, ops.BinaryFn.SHR)
"""Operations on bits."""


# Bounds.


def of_bounds(collector: Collector, subject: object, op: ops.AnyOp) -> str:
    """How an access stays in its tensor; empty where nothing better is known than what the interpreter says."""
    walker = _counted_from(collector, subject)
    if walker:
        return (
            f"write `{walker}`, or `{walker}.elements`: its positions end with the dimension, those of tp.arange do not"
        )
    match op:
        case ops.Load(picks=picks, tensor=tensor):
            read = _as_get(op) or f"{tensor.name}.get(index, fill)"
            if any(isinstance(pick, ops.Gather | ops.Window) for pick in picks):
                return f"read it with `{read}`, which gives `fill` where there is no element"
            return f"guard the access with `if`, or read it with `{read}`"
        case ops.Store(picks=picks) | ops.Update(picks=picks):
            if any(isinstance(pick, ops.Gather) for pick in picks):
                return "store at `tp.where(inside, index, tp.none)`: nothing is written at none"
            return "guard the access with `if`"
        case _:
            return ""


def _as_get(op: ops.Load) -> str:
    """A load as a call of `get`; empty if it cannot be written as one, or takes several lines."""
    try:
        written = ast.parse(op.span.text, mode="eval").body
    except SyntaxError:
        return ""
    if not isinstance(written, ast.Subscript) or any(isinstance(node, ast.Slice) for node in ast.walk(written.slice)):
        return ""
    return f"{ast.unparse(written.value)}.get({ast.unparse(written.slice)}, fill)"


def _counted_from(collector: Collector, subject: object) -> str:
    """The walker where a full tile of positions starts, as in `n.number * B + tp.arange(B)`; empty if it is none."""
    if not isinstance(subject, InBounds):
        return ""
    spot = subject.site.spots[subject.axis]
    if not isinstance(spot.pick, ops.Gather) or spot.lane is None:
        return ""
    begins = spot.position - spot.lane
    match begins.parts:
        case ((Start(walker=name, is_each=False), 1),) if begins.constant == 0:
            return name.partition(".")[0]
        case ((TileNumber(walker=name), size),) if begins.constant == 0:
            sizes = [walker.type.size for walker in collector.account.walks if walker.name == name]
            return name.partition(".")[0] if sizes == [size] else ""
        case _:
            return ""


# Ownership.


def of_race(collector: Collector, goal: Goal, is_store: bool) -> str:
    """The cure for accesses of which a counter-example shows that they meet; empty if the general one is right."""
    if not isinstance(goal.subject, Disjoint):
        return ""
    site = goal.subject.one
    summed = _as_sum(collector, site.view.root, {goal.subject.one.op, goal.subject.two.op})
    if summed or not is_store:
        return summed
    return _by_borders(collector, site) or _by_entries(collector, site)


def _as_sum(collector: Collector, root: Tensor, met: set[ops.AnyOp]) -> str:
    """What becomes of updates in place, `y[i] += t`: a Sum, a Max or Min, or nothing that programs could combine."""
    sites = [site for site in collector.account.sites if site.view.root == root]
    makers = {result: op for op in walk(collector.kernel.body) for result in ops.results(op)}
    updates = {site.op: _update(makers, site.op) for site in sites if isinstance(site.op, ops.Store)}
    known = [update for update in updates.values() if update is not None]
    if not known:
        return ""
    name, old = root.name, {load for _, load in known}
    used = [ops.operands(op) for op in walk(collector.kernel.body)]
    others = [op.span for op, update in updates.items() if update is None]
    others += [site.span for site in sites if isinstance(site.op, ops.Load | ops.Get) and site.op not in old]
    others += [load.span for load in old if sum(op_uses.count(load.result) for op_uses in used) > 1]
    functions = {fn for fn, _ in known}
    if any(isinstance(op, ops.Load | ops.Get) and op not in old for op in met):
        return ""  # a value is read that no update changes
    if others:
        line = min(span.line for span in others)
        if not functions <= {ops.BinaryFn.ADD, ops.BinaryFn.SUB}:
            return ""
        return (
            f"{name} cannot be a Sum, for line {line} reads or stores it too: give each element of it to one program, "
            f"or add into a Sum here and do the rest in a second kernel"
        )
    if functions == {ops.BinaryFn.ADD}:
        return f"declare {name} Sum and update it by `+=`: updates are combined, whoever makes them, and start from 0"
    if functions <= {ops.BinaryFn.ADD, ops.BinaryFn.SUB}:
        return f"declare {name} Sum and add the negative, `+= -t`: updates are combined, whoever makes them, from 0"
    for fn, kind in ((ops.BinaryFn.MAX, "Max"), (ops.BinaryFn.MIN, "Min")):
        if functions == {fn}:
            return f"declare {name} {kind} and write `tp.update({name}, index, t)`: updates are combined"
    return (
        f"only sums, maxima and minima of several programs are combined: let one program own an element of {name}, "
        f"and loop over what changes it"
    )


def _update(makers: Mapping[AnyValue, ops.AnyOp], store: ops.Store) -> tuple[ops.BinaryFn, ops.Load] | None:
    """The operation of a store that changes what it read at the same place, and that load; None for other stores."""
    match _source(makers, store.value):
        case ops.Binary(fn=fn, left=left, right=right):
            for value in (left, right) if fn is not ops.BinaryFn.SUB else (left,):
                match _source(makers, value):
                    case ops.Load(tensor=tensor) as load if tensor == store.tensor and _same_place(load, store):
                        return fn, load
                    case _:
                        pass
        case _:
            pass
    return None


def _same_place(load: ops.Load, store: ops.Store) -> bool:
    """Whether both are written alike: `y[ids[n]]` loads its entry anew each time."""
    return load.span == store.span or "".join(load.span.text.split()) == "".join(store.span.text.split())


def _source(makers: Mapping[AnyValue, ops.AnyOp], value: Tile) -> ops.AnyOp | None:
    """What made a value, before it was stretched or cast."""
    op = makers.get(value)
    while isinstance(op, ops.Broadcast | ops.Cast):
        op = makers.get(op.operand)
    return op


def _by_borders(collector: Collector, site: Site) -> str:
    """Segments whose borders may fall."""
    for branch in site.where.nest:
        match branch.op:
            case ops.RangeLoop(start=start):
                low = collector.account.terms[start].lone
            case ops.TilesLoop(walker=walker):
                low = collector.account.walks[walker].low.lone
            case _:
                continue
        if isinstance(low, Read) and isinstance(collector.ranges.elements[low.tensor], Range):
            return f"declare {low.tensor} Offsets of what is walked, if it holds borders: these never fall"
    return ""


def _by_entries(collector: Collector, site: Site) -> str:
    """Entries that may be equal."""
    name = site.view.root.name
    for axis, spot in enumerate(site.spots):
        entry, dimension = spot.position.lone, site.view.root.type.dimensions[axis]
        if not isinstance(entry, Read) or all(map(is_uniform, entry.args)):
            continue  # one entry is what all programs read, and equal to itself
        match _content(collector, entry.tensor):
            case "Offsets":
                return (
                    f"two borders are equal where a segment is empty: store under an `if` that compares {entry} with "
                    f"the border after it"
                )
            case "Unique":
                return ""
            case _ if isinstance(dimension, Named):
                return (
                    f'declare {entry.tensor} Unique["{dimension.name}"] if no two of its entries are equal, or '
                    f"{name} Sum, Max or Min if what programs write is to be combined"
                )
            case _:
                pass
    return ""


def _content(collector: Collector, tensor: str) -> str:
    """What an index tensor promises; empty for numbers."""
    for parameter in collector.kernel.parameters:
        match parameter.value.type:
            case TensorType(element=Content(kind=kind)) if parameter.value.name == tensor:
                return kind
            case _:
                pass
    return ""


# What is neither proved nor refuted.


def of_open(collector: Collector, goal: Goal) -> tuple[str, str]:
    """Why nothing is known of where two programs access a tensor, if that can be named, and what would be proved."""
    match goal.subject:
        case Disjoint(one, two):
            name, spots = one.view.root.name, (*one.spots, *two.spots)
        case DisjointLanes(site, axis):
            name, spots = site.view.root.name, (site.spots[axis],)
        case _:
            return "", ""
    makers = {result.name: op for op in walk(collector.kernel.body) for result in ops.results(op)}
    carried = {one.value.name for one in collector.account.carried}
    for atom in (atom for spot in spots for atom in everything(spot.position)):
        match atom:
            case Unknown(name=value) if value in carried:
                shown = value.partition(".")[0]
                return (
                    f"of `{shown}`, which a loop carries, only bounds are known",
                    "compute the index from the variable of a `for` loop instead: `first + turn * step`",
                )
            case Unknown(name=value):
                why, cure = _opaque(makers, makers.get(value))
                if why:
                    return why, cure
            case Read(tensor=tensor) if _content(collector, tensor) in ("", "Index"):
                return (
                    f"two entries of {tensor} may be equal",
                    f"declare {tensor} Unique if no two of its entries are equal, or index {name} by walkers",
                )
            case _:
                pass
    return "", ""


def _opaque(makers: Mapping[str, ops.AnyOp], op: ops.AnyOp | None) -> tuple[str, str]:
    """Why nothing is known of an integer, and how to compute it so that something is."""
    match op:
        case ops.Cast(operand=operand, result=result) if result.type.dtype == INDEX:
            return _opaque(makers, makers.get(operand.name))
        case ops.Binary(fn=fn, span=span) if fn in _ON_BITS:
            return (
                f"`{span.text}` is an operation on bits, of which nothing is known",
                "compute the index with `+`, `-`, `*`, `//` and `%`",
            )
        case ops.Binary(span=span, result=result) | ops.Cast(span=span, result=result) if (
            result.type.dtype not in (INDEX, ENTRY) and result.type.dtype.is_integer
        ):
            does = "saturates" if isinstance(op, ops.Cast) else "wraps"
            return (
                f"`{span.text}` is {result.type.dtype}, which {does} where it does not fit",
                f"compute the index without the cast to {result.type.dtype}: an index is exact",
            )
        case _:
            return "", ""
