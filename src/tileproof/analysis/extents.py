"""The extents of dimensions as terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tileproof.ir.extent import Length

from .terms import DimensionExtent, Term, of, of_length, rebuild


@dataclass(frozen=True, slots=True)
class Extents:
    """The extents of the dimensions of a kernel. They are kept with a proof, and so refer to nothing but values."""

    static: Mapping[str, Length]
    computed: Mapping[str, Length]

    def __call__(self, name: str) -> Term:
        """The extent of a dimension: of static and computed ones, what they are made of."""
        for known in (self.static, self.computed):
            if name in known:
                made = known[name]
                if not (isinstance(made, int) or made.names == {name}):
                    return _resolved(of_length(made), self)
                return of_length(made)
        return of(DimensionExtent(name))


def _resolved(term: Term, extents: Extents) -> Term:
    """A term with every dimension replaced by what it is made of."""
    return rebuild(term, lambda atom: extents(atom.name) if isinstance(atom, DimensionExtent) else None)
