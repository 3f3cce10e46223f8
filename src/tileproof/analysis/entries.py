"""Where an entry comes from: the index tensors that decide whether it is none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .formulas import Formula, terms
from .terms import Read, Unknown, everything


def entries_of(
    formulas: Sequence[Formula], definitions: Mapping[str, tuple[Formula, ...]], filled: Collection[str]
) -> tuple[str, ...] | None:
    """The index tensors whose entries some formulas are about; None if something else may make an entry none."""
    tensors: dict[str, None] = {}
    seen: set[str] = set()
    pending = list(formulas)
    while pending:
        for term in terms(pending.pop()):
            for atom in everything(term):
                match atom:
                    case Read(tensor):
                        tensors[tensor] = None
                    case Unknown(name) if name not in seen:
                        seen.add(name)
                        known = definitions.get(name, ())
                        if not known or name in filled:
                            return None
                        pending += known
                    case _:
                        pass
    return tuple(tensors)
