"""Where an entry comes from: the index tensors that decide whether it is none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from .terms import Atom, Formula, Read, Term, Unknown, inner, terms


def entries_of(
    formulas: Sequence[Formula], definitions: Mapping[str, tuple[Formula, ...]], filled: Collection[str]
) -> tuple[str, ...] | None:
    """The index tensors whose entries some formulas are about; None if something else may make an entry none."""
    tensors: dict[str, None] = {}
    seen: set[str] = set()
    pending = list(formulas)
    while pending:
        for term in terms(pending.pop()):
            for atom in _made_of(term):
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


def _made_of(term: Term) -> Iterator[Atom]:
    """The atoms that decide what a term is. Where an entry is read says nothing of whether it is none."""
    for atom in term.atoms:
        yield atom
        if not isinstance(atom, Read):
            for part in inner(atom):
                yield from _made_of(part)
