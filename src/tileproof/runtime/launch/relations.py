"""Relations of extents and scalars that a proof left to be compared at launch."""

from __future__ import annotations

from collections.abc import Sequence

from tileproof.analysis.launch_guards import Compare, Fits
from tileproof.analysis.terms import AxisExtent, DimensionExtent, Scalar, everything
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.frontend.signature import Signature

from .binding import Bound


def check_relations(signature: Signature, bound: Bound, compares: Sequence[Compare | Fits]) -> None:
    """Raises `LaunchError` for the first relation that does not hold for these arguments."""

    def known(atom: DimensionExtent | AxisExtent | Scalar) -> int:
        match atom:
            case DimensionExtent(name):
                return bound.dimensions[name]
            case AxisExtent(tensor, axis):
                return int(bound.tensors[tensor].shape[axis])
            case Scalar(name):
                return int(bound.scalars[name])

    for compare in compares:
        if compare.holds(known):
            continue
        match compare:
            case Compare(demand=demand, span=span, why=why, race=race):
                message, label = f"{signature.name} needs {demand}", f"so that {why}"
                notes = (f"otherwise programs race: {race}",) if race else ()
                help = "pass arguments that meet it, or guard the access with `if`"
            case Fits(span=span):
                notes = ()
                message, label = f"{signature.name} computes an index that does not fit 64 bits", "for these sizes"
                help = "if it is not a position, compute it in a type that wraps: .to(i64)"
        sizes = ", ".join(f"{name}={extent}" for name, extent in (*bound.dimensions.items(), *bound.scalars.items()))
        raise LaunchError(
            Diagnostic(Code.CONTRACT, message, span, label, (), (f"with {sizes}", *notes), help, kernel=signature.name)
        )


def looks_at_scalars(compare: Compare | Fits) -> bool:
    """Whether what a launch compares may depend on more than extents."""
    if isinstance(compare, Fits):
        return True
    return any(isinstance(atom, Scalar) for fact in compare.broken for atom in everything(fact.term))
