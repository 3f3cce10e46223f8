"""Terms of the prover: exact integers, as a constant plus integer multiples of atoms.

Atoms that must not be confused are different types: the extent of a dimension, the extent of a view's axis, a
scalar, the start of a walker, how many elements of it are live, its number. What belongs to one program carries
`copy`: the ownership law compares two programs, and the second one's atoms are renamed. An atom made of terms
(a quotient, a product, a value read from an `In`) is a function of them: equal terms make equal atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Final, TypeAlias

from tileproof.ir.types import Extent, Length


@dataclass(frozen=True, slots=True)
class DimensionExtent:
    """How many elements a named dimension has."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class AxisExtent:
    """How many elements an axis without a name has, of an argument."""

    tensor: str
    axis: int

    def __str__(self) -> str:
        return f"{self.tensor}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar parameter."""

    name: str
    low: int
    high: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Start:
    """The first position of a walker's tile."""

    walker: str
    is_each: bool
    copy: int = 0

    def __str__(self) -> str:
        return (self.walker if self.is_each else f"{self.walker}.start") + "'" * self.copy


@dataclass(frozen=True, slots=True)
class Live:
    """How many elements of a walker's tile exist."""

    walker: str
    copy: int = 0

    def __str__(self) -> str:
        return f"len({self.walker})" + "'" * self.copy


@dataclass(frozen=True, slots=True)
class TileNumber:
    """How many tiles of the same walk come before a walker's."""

    walker: str
    copy: int = 0

    def __str__(self) -> str:
        return f"{self.walker}.number" + "'" * self.copy


@dataclass(frozen=True, slots=True)
class Lane:
    """A position along an axis of a tile. `label` distinguishes the lanes of different accesses."""

    label: str = ""
    copy: int = 0

    def __str__(self) -> str:
        return f"lane{self.label}" + "'" * self.copy


@dataclass(frozen=True, slots=True)
class Element:
    """Any element along an axis of a tensor: unlike a lane, it may be as far out as an axis is long."""

    axis: int

    def __str__(self) -> str:
        return f"element{self.axis}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is no linear function of others; of each lane, where it has `args`."""

    name: str
    low: int
    high: int
    uniform: bool = False
    data: bool = False
    """Whether it depends on the contents of memory."""
    args: tuple[Term, ...] = ()
    copy: int = 0

    def __str__(self) -> str:
        return self.name + "'" * self.copy


@dataclass(frozen=True, slots=True)
class Read:
    """What an `In` holds at a position: the same for all programs that read there."""

    tensor: str
    args: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(map(str, self.args))}]"


@dataclass(frozen=True, slots=True)
class Quotient:
    """`term // by`, rounded down; 0 where `by` is 0."""

    term: Term
    by: Term

    def __str__(self) -> str:
        return f"{_factor(self.term)} // {_factor(self.by)}"


@dataclass(frozen=True, slots=True)
class Product:
    """Of two terms that are not constant."""

    left: Term
    right: Term

    def __str__(self) -> str:
        return f"{_factor(self.left)}*{_factor(self.right)}"


@dataclass(frozen=True, slots=True)
class Least:
    """The smaller of two terms."""

    left: Term
    right: Term

    def __str__(self) -> str:
        return f"min({self.left}, {self.right})"


@dataclass(frozen=True, slots=True)
class Xor:
    """The bits in which two terms differ."""

    left: Term
    right: Term

    def __str__(self) -> str:
        return f"{_factor(self.left)} ^ {_factor(self.right)}"


@dataclass(frozen=True, slots=True)
class GroupOf:
    """The element of `into` that element `index` of `dimension` belongs to."""

    index: Term
    dimension: str
    into: str

    def __str__(self) -> str:
        return f"group({self.index}, {self.into})"


Atom: TypeAlias = (
    DimensionExtent | AxisExtent | Scalar | Start | Live | TileNumber | Lane | Element | Unknown
    | Read | Quotient | Product | Least | Xor | GroupOf
)  # fmt: skip


class Term:
    """`constant + sum(factor * atom)`, in normal form.

    Equal whatever the order of its parts, but the order stays as it was made: what is derived from terms then does
    not depend on how Python hashes names in this process.
    """

    __slots__ = ("_every", "_key", "_text", "_weight", "constant", "parts")

    def __init__(self, parts: Iterable[tuple[Atom, int]] = (), constant: int = 0) -> None:
        self.parts = tuple(parts)
        self.constant = constant
        self._key: tuple[frozenset[tuple[Atom, int]], int] | None = None
        self._every: tuple[Atom, ...] | None = None
        self._text: str | None = None
        self._weight: int | None = None

    @property
    def key(self) -> tuple[frozenset[tuple[Atom, int]], int]:
        """What makes terms equal."""
        if self._key is None:
            self._key = frozenset(self.parts), self.constant
        return self._key

    @property
    def weight(self) -> int:
        """How many atoms it is made of, at any depth."""
        if self._weight is None:
            self._weight = sum(1 + sum(term.weight for term in inner(atom)) for atom, _ in self.parts)
        return self._weight

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Term) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __add__(self, other: Term | int) -> Term:
        if isinstance(other, int):
            return Term(self.parts, self.constant + other) if other else self
        if not other.parts:
            return self + other.constant
        parts = dict(self.parts)
        for atom, factor in other.parts:
            parts[atom] = parts.get(atom, 0) + factor
        return _normal(parts, self.constant + other.constant)

    def __sub__(self, other: Term | int) -> Term:
        return self + (-other)

    def __neg__(self) -> Term:
        return self.times(-1)

    def times(self, number: int) -> Term:
        """The term times a number."""
        if number == 0:
            return ZERO
        return Term(((atom, factor * number) for atom, factor in self.parts), self.constant * number)

    @property
    def number(self) -> int | None:
        """Its value, if it is the same always."""
        return None if self.parts else self.constant

    @property
    def atoms(self) -> Iterator[Atom]:
        """Its atoms, without those nested in them."""
        return (atom for atom, _ in self.parts)

    @property
    def lone(self) -> Atom | None:
        """The atom it is, if it is nothing else."""
        if self.constant == 0 and len(self.parts) == 1:
            ((atom, factor),) = self.parts
            return atom if factor == 1 else None
        return None

    def __str__(self) -> str:
        if self._text is None:  # kept, for it is also what atoms are ordered by
            parts = [_multiple(*part) for part in sorted(self.parts, key=lambda part: (part[1] < 0, str(part[0])))]
            if self.constant or not parts:
                parts.append(str(self.constant))
            self._text = " + ".join(parts).replace("+ -", "- ")
        return self._text


def _multiple(atom: Atom, times: int) -> str:
    """`times * atom`. A ceiling division is stored as a negated floor division, and printed as `cdiv`."""
    text = f"({atom})" if isinstance(atom, Quotient) and times != 1 else str(atom)
    if isinstance(atom, Quotient) and times < 0 and atom.term.constant <= 0 and all(f < 0 for _, f in atom.term.parts):
        text, times = f"cdiv({-atom.term}, {atom.by})", -times
    return text if times == 1 else f"-{text}" if times == -1 else f"{times}*{text}"


def _factor(term: Term) -> str:
    """A term as an operand of `*` or `//`: in parentheses unless it is a number, an atom or a product."""
    is_one = term.number is not None or (term.lone is not None and not isinstance(term.lone, Quotient))
    return str(term) if is_one else f"({term})"


def _normal(parts: dict[Atom, int], constant: int) -> Term:
    return Term(((atom, factor) for atom, factor in parts.items() if factor), constant)


ZERO = Term()


def of(atom: Atom) -> Term:
    """The atom as a term."""
    return Term(((atom, 1),))


def number(value: int) -> Term:
    """A constant as a term."""
    return Term((), value)


_ANY_LANE: Final = Lane()
LANE = of(_ANY_LANE)
"""The lane in the term of a one-dimensional tile."""


MOST_MONOMIALS = 64
"""A product of sums with more than so many is not multiplied out."""


def product(left: Term, right: Term) -> Term:
    """`left * right`; a factor that is a sum is multiplied out, so that equal products are equal terms."""
    if left.number is not None:
        return right.times(left.number)
    if right.number is not None:
        return left.times(right.number)
    if (len(left.parts) + 1) * (len(right.parts) + 1) > MOST_MONOMIALS:
        return of(Product(*sorted((left, right), key=str)))
    total = ZERO
    for one, factor in _monomials(left):
        for two, other in _monomials(right):
            factors = [*factors_of(one), *factors_of(two)]
            total = total + monomial(factors).times(factor * other)
    return total


def _monomials(term: Term) -> Iterator[tuple[Term, int]]:
    yield from ((of(atom), factor) for atom, factor in term.parts)
    if term.constant:
        yield number(1), term.constant


@lru_cache(maxsize=4096)
def factors_of(term: Term) -> tuple[Term, ...]:
    """What a monomial is the product of."""
    lone = term.lone
    if isinstance(lone, Product):
        return (*factors_of(lone.left), *factors_of(lone.right))
    return () if term.number == 1 else (term,)


def monomial(factors: Iterable[Term]) -> Term:
    """The product of factors, each of which is no sum: sizes first, so that what programs differ by comes last."""
    ordered = sorted(factors, key=lambda factor: (not is_launch_known(factor), str(factor)))
    return reduce(lambda one, two: of(Product(one, two)), ordered) if ordered else number(1)


def monomial_quotient(term: Term, by: Term) -> Term | None:
    """`term / by` for two products of sizes and a positive number each, if it leaves no remainder."""
    whole, part = _monomial_of(term), _monomial_of(by)
    if whole is None or part is None:
        return None
    return _divided(whole[1], whole[0], [number(part[0]), *part[1]])


def _monomial_of(term: Term) -> tuple[int, list[Term]] | None:
    """A product as its number and its other factors; None if it is a sum or no product of sizes."""
    if not is_size(term) or len(term.parts) + (term.constant != 0) != 1:
        return None
    if term.constant:
        return term.constant, []
    ((atom, times),) = term.parts
    return times, list(factors_of(of(atom)))


def quotient(term: Term, by: Term) -> Term:
    """`term // by`, rounded down, 0 where `by` is 0; what divides evenly is divided."""
    divisor = by.number
    if divisor is not None:
        if divisor == 0:
            return ZERO
        if divisor < 0:
            return quotient(-term, -by)
        if divisor == 1:
            return term
        whole, rest = ZERO, ZERO
        for atom, factor in term.parts:
            if factor % divisor == 0:
                whole = whole + of(atom).times(factor // divisor)
            else:
                rest = rest + of(atom).times(factor)
        carried, left = divmod(term.constant, divisor)
        whole = whole + carried
        rest = rest + left
        return whole if rest.number is not None else whole + _nested(rest, by)
    return _nested(term, by)


def _nested(term: Term, by: Term) -> Term:
    """`term // by`, where `x // a // b` is `x // (a * b)`."""
    inside = term.lone
    if isinstance(inside, Quotient) and is_size(inside.by) and is_size(by):
        return quotient(inside.term, product(inside.by, by))
    return of(Quotient(term, by))


def is_size(term: Term) -> bool:
    """Whether it is a sum of extents, products of extents and positive numbers: never negative."""
    return term.constant >= 0 and all(
        factor > 0
        and (isinstance(atom, DimensionExtent | AxisExtent)
             or (isinstance(atom, Product) and is_size(atom.left) and is_size(atom.right)))
        for atom, factor in term.parts
    )  # fmt: skip


def remainder(term: Term, by: Term) -> Term:
    """`term % by`, with the sign of `by`; `term` where `by` is 0."""
    return term - product(quotient(term, by), by)


@dataclass(frozen=True, slots=True)
class Remaining:
    """A sum as `times * (term % by) + rest`."""

    times: Term
    term: Term
    by: Term
    rest: Term


def with_remainder(term: Term) -> Remaining | None:
    """The largest remainder among the summands of a term, multiplied or not; None if there is none."""
    parts = dict(term.parts)
    largest: Remaining | None = None
    for atom, factor in term.parts:
        factors = factors_of(of(atom))
        for one in factors:
            quotient = one.lone
            if not isinstance(quotient, Quotient) or (largest and quotient.term.weight <= largest.term.weight):
                continue
            times = _divided(factors, -factor, [one, *factors_of(quotient.by)])
            if times is None:
                continue
            scaled = product(times, quotient.term - product(one, quotient.by))
            if all(parts.get(part) == number for part, number in scaled.parts):
                largest = Remaining(times, quotient.term, quotient.by, term - scaled)
    return largest


def _divided(factors: Sequence[Term], times: int, by: Iterable[Term]) -> Term | None:
    """`times` and factors, divided by others; None if they do not divide."""
    left = list(factors)
    for factor in by:
        if factor.number:
            times, over = divmod(times, factor.number)
            if over:
                return None
        elif factor in left:
            left.remove(factor)
        else:
            return None
    return monomial(left).times(times)


def least(left: Term, right: Term) -> Term:
    """The smaller of two."""
    gap = (left - right).number
    if gap is not None:
        return left if gap <= 0 else right
    one, two = sorted((left, right), key=str)
    return of(Least(one, two))


def exclusive(left: Term, right: Term) -> Term:
    """`left ^ right`."""
    if left.number is not None and right.number is not None:
        return number(left.number ^ right.number)
    for one, other in ((left, right), (right, left)):
        inside = one.lone
        if other.number == 0:
            return one
        if isinstance(inside, Xor) and other in (inside.left, inside.right):
            return inside.right if other == inside.left else inside.left
    return ZERO if left == right else of(Xor(*sorted((left, right), key=str)))


def greatest(left: Term, right: Term) -> Term:
    """The greater of two."""
    return -least(-left, -right)


@lru_cache(maxsize=4096)
def of_length(length: Length) -> Term:
    """A length of the IR as a term."""
    if not isinstance(length, Extent):
        return number(length)
    total = number(length.constant)
    for atom, factor in length.terms:
        if isinstance(atom, str):
            term = of(DimensionExtent(atom))
        else:
            left, right = of_length(atom.left), of_length(atom.right)
            match atom.op:
                case "*":
                    term = product(left, right)
                case "//":
                    term = quotient(left, right)
                case _:
                    term = remainder(left, right)
        total = total + term.times(factor)
    return total


def inner(atom: Atom) -> tuple[Term, ...]:
    """The terms nested in an atom."""
    match atom:
        case Quotient(term, by):
            return (term, by)
        case Product(left, right) | Least(left, right) | Xor(left, right):
            return (left, right)
        case GroupOf(index, _, _):
            return (index,)
        case Read(args=args) | Unknown(args=args):
            return args
        case _:
            return ()


def everything(term: Term) -> tuple[Atom, ...]:
    """Every atom of a term, at any depth."""
    if term._every is None:
        atoms: dict[Atom, None] = {}
        for atom in term.atoms:
            atoms[atom] = None
            for part in inner(atom):
                atoms.update(dict.fromkeys(everything(part)))
        term._every = tuple(atoms)
    return term._every


def rebuild(term: Term, change: Callable[[Atom], Term | None]) -> Term:
    """The term with atoms replaced: `change` returns the replacement, or None to keep an atom and visit its terms."""
    total = number(term.constant)
    for atom, factor in term.parts:
        total = total + _rebuilt(atom, change).times(factor)
    return total


def _rebuilt(atom: Atom, change: Callable[[Atom], Term | None]) -> Term:
    replacement = change(atom)
    if replacement is not None:
        return replacement
    match atom:
        case Quotient(term, by):
            return quotient(rebuild(term, change), rebuild(by, change))
        case Product(left, right):
            return product(rebuild(left, change), rebuild(right, change))
        case Least(left, right):
            return least(rebuild(left, change), rebuild(right, change))
        case Xor(left, right):
            return exclusive(rebuild(left, change), rebuild(right, change))
        case GroupOf(index, dimension, into):
            return of(GroupOf(rebuild(index, change), dimension, into))
        case Read(tensor, args):
            return of(Read(tensor, tuple(rebuild(arg, change) for arg in args)))
        case _:
            return of(atom)


def renamed(term: Term, copy: int) -> Term:
    """The term for another program: atoms that differ between programs are marked with `copy`."""

    def change(atom: Atom) -> Term | None:
        match atom:
            case Start(walker, is_each, _):
                return of(Start(walker, is_each, copy))
            case Live(walker, _):
                return of(Live(walker, copy))
            case TileNumber(walker, _):
                return of(TileNumber(walker, copy))
            case Lane(label, _):
                return of(Lane(label, copy))
            case Unknown() if not atom.uniform or atom.args:
                args = tuple(rebuild(arg, change) for arg in atom.args)
                mark = 0 if atom.uniform else copy
                return of(Unknown(atom.name, atom.low, atom.high, atom.uniform, atom.data, args, mark))
            case _:
                return None

    return rebuild(term, change)


def at_lane(term: Term, lane: Term, mark: Lane = _ANY_LANE) -> Term:
    """The element of a one-dimensional tile at `lane`, where the tile is written in terms of `mark`."""

    def change(atom: Atom) -> Term | None:
        match atom:
            case Lane() if atom == mark:
                return lane
            case Unknown(args=args) if args:
                arguments = tuple(rebuild(arg, change) for arg in args)
                return of(Unknown(atom.name, atom.low, atom.high, atom.uniform, atom.data, arguments, atom.copy))
            case _:
                return None

    return rebuild(term, change)


def relaned(term: Term, mark: str) -> Term:
    """The term with lanes of its own: where elements are moved, those that meet had different ones."""
    for lane in dict.fromkeys(atom for atom in everything(term) if isinstance(atom, Lane)):
        term = at_lane(term, of(Lane(f"{lane.label} {mark}")), lane)
    return term


def depends_on_data(term: Term) -> bool:
    """Whether it depends on the contents of memory."""
    return any(isinstance(atom, Read) or (isinstance(atom, Unknown) and atom.data) for atom in everything(term))


def is_launch_known(term: Term) -> bool:
    """Whether it depends on extents and scalars alone."""
    return all(
        isinstance(atom, DimensionExtent | AxisExtent | Scalar | Quotient | Product | Least)
        for atom in everything(term)
    )


@dataclass(frozen=True, slots=True)
class Fact:
    """`term <= 0`, or `term == 0`."""

    term: Term
    equal: bool = False

    def __str__(self) -> str:
        return f"{self.term} {'==' if self.equal else '<='} 0"


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; with no parts, true."""

    parts: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part holds; with no parts, false."""

    parts: tuple[Formula, ...] = ()


Formula: TypeAlias = Fact | All | Some
TRUE, FALSE = All(), Some()


def at_most(left: Term, right: Term | int) -> Fact:
    """`left <= right`."""
    return Fact(left - right)


def below(left: Term, right: Term | int) -> Fact:
    """`left < right`."""
    return Fact(left - right + 1)


def equals(left: Term, right: Term | int) -> Fact:
    """`left == right`."""
    return Fact(left - right, equal=True)


def negation(formula: Formula) -> Formula:
    """The negation of a formula."""
    match formula:
        case Fact(term, equal):
            return Some((Fact(term + 1), Fact(-term + 1))) if equal else Fact(-term + 1)
        case All(parts):
            return Some(tuple(map(negation, parts)))
        case Some(parts):
            return All(tuple(map(negation, parts)))


def changed(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with each of its terms changed."""
    match formula:
        case Fact(term, equal):
            return Fact(change(term), equal)
        case All(parts):
            return All(tuple(changed(part, change) for part in parts))
        case Some(parts):
            return Some(tuple(changed(part, change) for part in parts))


def terms(formula: Formula) -> Iterator[Term]:
    """Every term a formula is about."""
    match formula:
        case Fact(term):
            yield term
        case All(parts) | Some(parts):
            for part in parts:
                yield from terms(part)


def weighs_more(formula: Formula, limit: int) -> bool:
    """Whether a formula has more facts, and atoms in them, than a limit."""
    pending, weight = [formula], 0
    while pending and weight <= limit:
        match pending.pop():
            case Fact(term):
                weight += 1 + term.weight
            case All(parts) | Some(parts):
                weight += 1
                pending += parts
    return weight > limit


Option: TypeAlias = tuple[Fact, ...]
Clause: TypeAlias = tuple[Option, ...]
"""At least one option holds as a whole."""

_MOST_OPTIONS = 24


def flattened(formulas: Iterable[Formula]) -> tuple[list[Fact], list[Clause]]:
    """Formulas that all hold, as facts and as clauses. A clause with too many options is left out: less is known."""
    facts: list[Fact] = []
    clauses: list[Clause] = []
    for formula in formulas:
        match formula:
            case Fact():
                facts.append(formula)
            case All(parts):
                some, more = flattened(parts)
                facts += some
                clauses += more
            case Some():
                options = _options(formula)
                if options is not None:
                    clauses.append(options)
    return facts, clauses


def _options(formula: Formula) -> Clause | None:
    """The options of a formula in disjunctive form; None if there are too many."""
    match formula:
        case Fact():
            return ((formula,),)
        case Some(parts):
            options_of_parts: Clause = ()
            for part in parts:
                options = _options(part)
                if options is None or len(options_of_parts) + len(options) > _MOST_OPTIONS:
                    return None
                options_of_parts += options
            return options_of_parts
        case All(parts):
            ways: Clause = ((),)
            for part in parts:
                options = _options(part)
                if options is None or len(ways) * len(options) > _MOST_OPTIONS:
                    return None
                ways = tuple((*way, *option) for way in ways for option in options)
            return ways
