"""Loop invariants: bounds of an index that a loop carries.

A few plain bounds are tried: not negative, at least -1, within or below each extent. All are assumed of what every
loop carries; one that does not hold at the start of a loop or the end of an iteration is dropped, until
all that are left are inductive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from .prover import Prover
from .sites import Account, Carried
from .terms import Formula, Some, Term, Unknown, at_most, below, everything, negation, number, of, terms

Bound: TypeAlias = Callable[[Term], Formula]
_MOST_LOOPS = 12


@dataclass(frozen=True, slots=True)
class _Guess:
    """A bound that may hold of what a loop carries, and of what comes out of it."""

    loop: Carried
    bound: Bound


def learn(account: Account, prover: Prover, formulas: Iterable[Formula], extents: Iterable[Term]) -> None:
    """Adds the invariants of loops to the definitions, if some formula depends on what they carry."""
    names = {unknown.name for loop in account.carried for unknown in (loop.value, loop.result)}
    asked = _names(formulas, account.definitions)
    if names.isdisjoint(asked) or len(account.carried) > _MOST_LOOPS:
        return
    bounds = _bounds(tuple(dict.fromkeys(extents)))
    guesses = [_Guess(loop, bound) for loop in account.carried for bound in bounds]
    original = {name: account.definitions.get(name, ()) for name in names}
    for _ in count():
        _state(account, original, guesses)
        kept = [guess for guess in guesses if _keeps(prover, guess)]
        if len(kept) == len(guesses):
            return
        guesses = kept


def _bounds(extents: tuple[Term, ...]) -> list[Bound]:
    """Each can be true of some number whatever the extents are: nothing follows where a loop is never reached."""

    def under(extent: Term) -> Bound:
        return lambda value: Some((at_most(extent, 0), below(value, extent)))

    def up_to(extent: Term) -> Bound:
        return lambda value: at_most(value, extent)

    lower: list[Bound] = [lambda value: at_most(number(0), value), lambda value: at_most(number(-1), value)]
    return [*lower, *map(under, extents), *map(up_to, extents)]


def _state(account: Account, original: Mapping[str, tuple[Formula, ...]], guesses: list[_Guess]) -> None:
    account.definitions.update(original)
    for guess in guesses:
        for unknown in (guess.loop.value, guess.loop.result):
            known = account.definitions.get(unknown.name, ())
            account.definitions[unknown.name] = (*known, guess.bound(of(unknown)))


def _keeps(prover: Prover, guess: _Guess) -> bool:
    loop = guess.loop
    at_first = negation(guess.bound(loop.init))
    at_last = negation(guess.bound(loop.handed))
    return prover.impossible(loop.before, about=(at_first,)) and prover.impossible(loop.after, about=(at_last,))


def _names(formulas: Iterable[Formula], definitions: Mapping[str, tuple[Formula, ...]]) -> set[str]:
    """Every unknown some formulas depend on."""
    names: set[str] = set()
    pending = list(formulas)
    while pending:
        for term in terms(pending.pop()):
            for atom in everything(term):
                if isinstance(atom, Unknown) and atom.name not in names:
                    names.add(atom.name)
                    pending += definitions.get(atom.name, ())
    return names
