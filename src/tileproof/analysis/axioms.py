"""Axioms: what holds of atoms by definition, for the prover to use.

Some are about one atom (a quotient is between two multiples), some about two of one type (equal positions have equal
values, entries of `Unique` differ, `Offsets` do not fall, a product is monotone in its factors). Each is a function of
its own, so that tests can break it and see a case of the corpus fail.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tileproof.ir.types import Content

from .ranges import Range, Ranges
from .terms import (
    All,
    Atom,
    AxisExtent,
    DimensionExtent,
    Fact,
    Formula,
    GroupOf,
    Lane,
    Least,
    Product,
    Quotient,
    Read,
    Scalar,
    Some,
    Term,
    Unknown,
    Xor,
    at_lane,
    at_most,
    below,
    changed,
    equals,
    everything,
    factors_of,
    monomial,
    monomial_quotient,
    negation,
    number,
    of,
    product,
    quotient,
    renamed,
    terms,
)

_SMALL = 1 << 20
"""Bounds of element types further out than this are never what a proof needs."""
MOST_ATOMS = 100


@dataclass(slots=True)
class Axioms:
    """The rules, for one kernel."""

    ranges: Ranges
    definitions: Mapping[str, tuple[Formula, ...]] = field(default_factory=dict)
    """What is known of unknown values, by name."""
    offsets: Mapping[str, Term] = field(default_factory=dict)
    """How many borders each `Offsets` tensor has."""

    def about(self, formulas: Iterable[Formula], contracts: bool, most: int = MOST_ATOMS) -> list[Formula]:
        """The axioms about the atoms in some formulas, with or without those that hold by contract only.

        `most`: about so many atoms at most, those that the formulas name first.
        """
        atoms: dict[Atom, None] = {}
        axioms: list[Formula] = []
        pending = deque(formulas)
        limits = dict.fromkeys(_limits(pending))
        divided: dict[Term, list[Quotient]] = {}
        while (pending or divided) and len(atoms) < most:
            instances: list[Formula] = []
            if not pending:
                instances = [one for quotients in divided.values() for one in self._of_quotients(quotients, atoms)]
                divided = {}
            for term in terms(pending.popleft()) if pending else ():
                for atom in everything(term):
                    if atom not in atoms and len(atoms) < most:
                        atoms[atom] = None
                        instances += self._of_one(atom, contracts)
                        if isinstance(atom, Quotient):
                            divided.setdefault(atom.term, []).append(atom)
            axioms += instances
            pending += instances
        for one, two in combinations(atoms, 2):
            axioms += self._of_two(one, two, contracts)
        for atom, limit in limits:
            axioms += self._of_multiples(atom, limit, atoms)
        return axioms

    def _of_multiples(self, factor: Atom, limit: int, atoms: Iterable[Atom]) -> Iterator[Formula]:
        """Compares products of an atom that is bounded by a number with the same products of the number."""
        for atom in atoms:
            if isinstance(atom, Product):
                for one, other in _apart(atom):
                    if one.lone == factor and self.ranges.of(other).low >= 0:
                        yield _grows(one, number(limit), of(atom), other.times(limit), other)

    def _of_quotients(self, quotients: Sequence[Quotient], atoms: Collection[Atom]) -> Iterator[Formula]:
        """What one term is divided by: `x // (a * b)` is `x // a // b`, so that remainders are of single extents."""
        done: list[Quotient] = []
        for divided in sorted(quotients, key=_size_of_divisor):
            term, by = divided.term, divided.by
            for inner in reversed(done) if by.parts else ():
                times = monomial_quotient(by, inner.by)
                if times is not None:
                    yield from _of_quotient(of(divided), of(inner), times, self.ranges.of(times))
                    break
            else:
                times = None
            if times is None or any(atom in atoms for atom in product(of(divided), by).atoms):
                yield from _of_quotient(of(divided), term, by, self.ranges.of(by))
            done.append(divided)

    def _of_one(self, atom: Atom, contracts: bool) -> Iterator[Formula]:
        match atom:
            case DimensionExtent() | AxisExtent():
                yield at_most(-of(atom), 0)
            case Scalar(_, low, high):
                yield at_most(number(low), of(atom))
                yield at_most(of(atom), high)
            case Unknown(name, low, high):
                yield from _within(of(atom), Range(low, high))
                for formula in self.definitions.get(name, ()):
                    yield _instance(formula, atom)
            case Read(tensor, args):
                yield from self._of_element(atom, tensor, args, contracts)
            case Quotient():
                yield from _within(of(atom), self.ranges.of(of(atom)))
            case Product():
                yield from self._of_product(atom)
            case Least(left, right):
                yield from _within(of(atom), self.ranges.of(of(atom)))
                yield at_most(of(atom), left)
                yield at_most(of(atom), right)
                yield Some((equals(of(atom), left), equals(of(atom), right)))
            case Xor(left, right):
                yield from self._of_bits(of(atom), left, right)
            case GroupOf(index, dimension, into) if contracts:
                group = of(atom)
                inside = All((at_most(-group, 0), below(group, self.ranges.extent(into)), at_most(group, index)))
                yield Some((below(index, 0), at_most(self.ranges.extent(dimension), index), inside))
            case _:
                pass

    def _of_bits(self, bits: Term, left: Term, right: Term) -> Iterator[Formula]:
        """Bits differ in no more places than either side has; those above the highest of one side are the other's."""
        apart = at_most(-bits, 0), at_most(bits, left + right), at_most(left, bits + right), at_most(right, bits + left)
        negative = [below(side, 0) for side in (left, right) if self.ranges.of(side).low < 0]
        yield Some((*negative, All(apart)))
        for one, other in ((left, right), (right, left)):
            bounds = self.ranges.of(other)
            if bounds.low >= 0 and bounds.high <= _SMALL:
                block = 1 << bounds.high.bit_length()
                above = quotient(one, number(block)).times(block)
                yield from (at_most(above, bits), below(bits, above + block))

    def _of_product(self, atom: Product) -> Iterator[Formula]:
        factors = factors_of(of(atom))
        if all(self.ranges.of(factor).low >= 0 for factor in factors):
            zeros = [All((equals(factor, 0), equals(of(atom), 0))) for factor in factors]
            positive = [side for factor in factors for side in (below(number(0), factor), at_most(factor, of(atom)))]
            yield Some((*zeros, All(tuple(positive))))
            return
        for factor, other in _apart(atom):
            yield from self._along(factor, _grows(other, number(0), of(atom), number(0), factor))

    def _of_element(self, atom: Read, tensor: str, args: tuple[Term, ...], contracts: bool) -> Iterator[Formula]:
        match self.ranges.elements[tensor]:
            case Content(kind, dimension, _, ends_early) if contracts:
                extent = self.ranges.extent(dimension)
                if kind == "Offsets":
                    yield at_most(-of(atom), 0)
                    yield at_most(of(atom), extent)
                    yield Some((below(number(0), args[0]), equals(of(atom), 0)))
                    last = self.offsets[tensor] - 1
                    if not ends_early:
                        yield Some((below(args[0], last), equals(of(atom), extent)))
                else:
                    yield at_most(number(-1), of(atom))
                    yield below(of(atom), extent)
            case Range() as bounds:
                yield from _within(of(atom), bounds)
            case _:
                pass

    def _of_two(self, one: Atom, two: Atom, contracts: bool) -> Iterator[Formula]:
        match one, two:
            case Read(tensor, here), Read(other, there) if tensor == other:
                yield from self._of_two_elements(one, two, tensor, here, there, contracts)
            case GroupOf(first, dimension, into), GroupOf(second, other, to) if (dimension, into) == (other, to):
                if contracts:
                    yield _grows(first, second, of(one), of(two), number(0))
                else:
                    yield Some((below(first, second), below(second, first), equals(of(one), of(two))))
            case Product(), Product():
                shared = _shared(one, two)
                if shared is not None:
                    factor, first, second = shared
                    yield from self._along(factor, _grows(first, second, of(one), of(two), factor))
            case Xor(), Xor():
                for left, right in ((two.left, two.right), (two.right, two.left)):
                    if renamed(one.right, 1) == renamed(right, 1):
                        yield from _of_equal_bits(of(one), one.left, one.right, of(two), left, right)
                    elif renamed(one.left, 1) == renamed(right, 1):
                        yield from _of_equal_bits(of(one), one.right, one.left, of(two), left, right)
            case Quotient(first, by), Quotient(second, other) if by == other and self.ranges.of(by).low >= 0:
                yield Some((
                    All((at_most(first, second), at_most(of(one), of(two)))),
                    All((below(second, first), at_most(of(two), of(one)))),
                ))  # fmt: skip
            case (Quotient() as divided, Product() as whole) | (Product() as whole, Quotient() as divided):
                times = monomial_quotient(of(whole), divided.by)
                if times is not None:  # what is below a*b, divided by a, is below b
                    yield Some((at_most(of(whole), divided.term), below(of(divided), times), below(divided.term, 0)))
            case _:
                pass

    def _along(self, factor: Term, growth: Formula) -> Iterator[Formula]:
        """What holds of products as they have a factor that is not negative."""
        signs = self.ranges.of(factor)
        if signs.low >= 0:
            yield growth
        elif signs.high > 0:
            yield Some((below(factor, 0), growth))

    def _of_two_elements(
        self, one: Read, two: Read, tensor: str, here: tuple[Term, ...], there: tuple[Term, ...], contracts: bool
    ) -> Iterator[Formula]:
        apart = [side for a, b in zip(here, there, strict=True) for side in (below(a, b), below(b, a))]
        same = tuple(equals(a, b) for a, b in zip(here, there, strict=True))
        yield Some((*apart, All((*same, equals(of(one), of(two))))))
        content = self.ranges.elements[tensor]
        if not contracts or not isinstance(content, Content):
            return
        if content.kind == "Unique":
            yield Some((
                *apart[: 2 * len(content.per)], below(of(one), of(two)), below(of(two), of(one)),
                below(of(one), 0), All((*same, equals(of(one), of(two)))),
            ))  # fmt: skip
        if content.kind == "Offsets":
            yield _grows(here[0], there[0], of(one), of(two), number(0))


def _limits(formulas: Iterable[Formula]) -> Iterator[tuple[Atom, int]]:
    """Atoms with a constant upper bound above 1, and the bound; other bounds imply nothing about products."""
    for formula in formulas:
        for term in terms(formula):
            if len(term.parts) == 1 and term.parts[0][1] == -1 and term.constant > 1:
                yield term.parts[0][0], term.constant


def _instance(formula: Formula, atom: Unknown) -> Formula:
    """A definition of an unknown, for its program and lane."""
    instance = changed(formula, lambda term: renamed(term, atom.copy)) if atom.copy else formula
    if atom.args:
        instance = changed(instance, lambda term: at_lane(term, atom.args[0], Lane(copy=atom.copy)))
    return instance


def _within(term: Term, bounds: Range) -> Iterator[Fact]:
    if abs(bounds.low) <= _SMALL:
        yield at_most(number(bounds.low), term)
    if abs(bounds.high) <= _SMALL:
        yield at_most(term, bounds.high)


def _of_equal_bits(one: Term, first: Term, by: Term, two: Term, second: Term, other: Term) -> Iterator[Formula]:
    """`one = first ^ by` and `two = second ^ other`: where `by == other` each is a map, and its own inverse."""
    apart = () if by == other else (below(by, other), below(other, by))
    differ = negation(equals(one, two))
    yield Some((
        *apart, All((equals(first, second), equals(one, two))),
        All((below(first, second), differ)), All((below(second, first), differ)),
    ))  # fmt: skip
    for start, end, back in ((first, two, equals(one, second)), (second, one, equals(two, first))):
        yield Some((*apart, below(start, end), below(end, start), back))


def _of_quotient(result: Term, term: Term, by: Term, divisors: Range) -> Iterator[Formula]:
    rest = term - product(result, by)
    up = All((below(number(0), by), at_most(-rest, 0), below(rest, by)))
    if divisors.low > 0:
        yield up
        return
    options: tuple[Formula, ...] = (up, All((equals(by, 0), equals(result, 0))))
    if divisors.low < 0:
        options += (All((below(by, 0), below(by, rest), at_most(rest, 0))),)
    yield Some(options)


def _grows(first: Term, second: Term, one: Term, two: Term, step: Term) -> Formula:
    """`one` and `two` are ordered as `first` and `second`, at least `step` apart where these differ."""
    return Some((
        All((below(first, second), at_most(one + step, two))),
        All((equals(first, second), equals(one, two))),
        All((below(second, first), at_most(two + step, one))),
    ))  # fmt: skip


def _size_of_divisor(quotient: Quotient) -> tuple[int, int]:
    """What orders a divisor after those that it is a multiple of."""
    by = quotient.by
    return len(list(everything(by))), by.constant + sum(factor for _, factor in by.parts)


def _apart(atom: Product) -> Iterator[tuple[Term, Term]]:
    """Each factor of a product, and the product of the others."""
    factors = factors_of(of(atom))
    for place, factor in enumerate(factors):
        yield factor, monomial((*factors[:place], *factors[place + 1 :]))


def _shared(one: Product, two: Product) -> tuple[Term, Term, Term] | None:
    """What all common factors of two products make, and what the others make of each; None if either has none."""
    first, second = Counter(factors_of(of(one))), Counter(factors_of(of(two)))
    common = first & second
    if not common or common in (first, second):
        return None
    return monomial(common.elements()), monomial((first - common).elements()), monomial((second - common).elements())
