"""The parts of a random kernel: its parameters, its space, and the ways in which walkers own what they write."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Block = list["str | tuple[str, Block]"]


@dataclass(frozen=True)
class Walk:
    """A walker of the parallel space."""

    name: str
    dim: str
    kind: str
    """each, sized, split, segment (sized, its number counts within a segment) or segment each."""
    size: int

    @property
    def is_each(self) -> bool:
        return self.kind in ("each", "segment each")

    @property
    def place(self) -> str:
        """One position of its dimension; of an empty piece it is none."""
        return self.name if self.is_each else f"{self.name}.start"


@dataclass(frozen=True)
class Wrap:
    """A loop or guard around a store."""

    head: str
    before: tuple[str | tuple[str, Block], ...] = ()
    after: tuple[str, ...] = ()
    """Lines at the end of its body."""


@dataclass(frozen=True)
class Slot:
    """How axes of a written tensor are indexed so that a walker owns what it writes there."""

    dims: str
    index: str
    tag: str = ""
    """The walker whose tag the axis has; empty where the axis is dropped or untagged."""
    full: bool = False
    """An untagged axis."""
    wraps: tuple[Wrap, ...] = ()
    others: tuple[str, ...] = ()
    """Further indices that are written too."""
    partial: bool = False
    """Some elements are not written: not for an `Out`."""


@dataclass
class Scope:
    """What a value may be made of at some place of the body."""

    walks: list[Walk]
    scalars: list[str] = field(default_factory=list)
    """Names of f32 scalars."""


def dim(name: str) -> str:
    return f'tp.dim("{name}")'


class Parts:
    """Parameters that grow while a body is written, and the walkers it is written for."""

    def __init__(self, rng: random.Random, computes: bool = False) -> None:
        self.rng = rng
        self.computes = computes
        """Whether positions are computed rather than walked."""
        self.tensors: dict[str, tuple[str, str, str]] = {}
        """Access, element type and dimensions by name."""
        self.scalars: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.before: Block = []
        self.counter = 0
        self.space: list[str] = []
        self.targets: list[str] = []
        self.walks = self.make_space()
        self.body: Block = []

    # Small choices.

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def tensor(self, element: str, dims: str, access: str = "In", stem: str = "x") -> str:
        """An `In` of this type, one that exists where possible; else a new parameter."""
        known = [name for name, found in self.tensors.items() if found == (access, element, dims)]
        if known and access == "In" and self.chance(0.8):
            return self.rng.choice(known)
        name = self.fresh(stem)
        self.tensors[name] = (access, element, dims)
        return name

    def scalar(self, element: str) -> str:
        known = [name for name, found in self.scalars.items() if found == element]
        if known:
            return known[0]
        name = self.fresh("s" if element == "f32" else "p")
        self.scalars[name] = element
        return name

    def require(self, condition: str) -> None:
        line = f"tp.require({condition})"
        if line not in self.before:
            self.before.insert(0, line)

    def static(self) -> str:
        """A dimension bound as a constant."""
        self.constants["D"] = "int"
        return "D"

    # The space.

    def make_space(self) -> list[Walk]:
        rng, walks = self.rng, []
        names = {"each": ["n", "m", "h"], "sized": ["i", "j", "l"]}
        dims = ["N", "M", "H"]
        count = rng.choices([0, 1, 2, 3], [3, 50, 40, 7])[0]
        if count and self.chance(0.12):
            size = rng.choice([2, 3, 4])
            kind = self.pick("segment", "segment", "segment each")
            off = self.tensor(self.pick('Offsets["N"]', 'Offsets["N"]', 'Offsets["<=N"]'), "E+1", stem="off")
            self.space.append(f"tp.segments({off}, N={'tp.each' if kind == 'segment each' else size})")
            self.targets.append("(e, i)" if count > 1 else "e, i")
            walks.append(Walk("i", dims.pop(0), kind, size))
            names["sized"].remove("i")
        split = count and not walks and self.chance(0.2)
        while len(walks) < count:
            kind = self.pick("each", "each" if self.computes else "sized")
            kind = "split" if split and len(walks) == count - 1 else kind
            twice = bool(walks) and kind != "split" and self.chance(0.2)
            over = walks[-1].dim if twice else "P*3" if not walks and self.chance(0.07) else dims.pop(0)
            if over == "P*3":
                dims.pop(0)
            size = rng.choice([2, 3, 4])
            name = "z" if kind == "split" else names[kind].pop(0)
            sizes = {"each": "tp.each", "sized": self.size(size), "split": f"tp.split({size})"}
            self.space.append(f'("{over}", {sizes[kind]})')
            self.targets.append(name)
            walks.append(Walk(name, over, kind, size))
        plain = [re.fullmatch(r'\("(\w+)", (.*)\)', one) for one in self.space]
        if all(plain) and len({walk.dim for walk in walks}) == len(walks) and self.chance(0.8):
            self.space = [f"{found[1]}={found[2]}" for found in plain if found]
        for walk in walks:
            if walk.dim == "P*3":
                self.tensor("f32", walk.dim)
        return walks

    def size(self, number: int) -> str:
        """A tile size: a literal, or a constant of the signature."""
        if self.chance(0.3):
            self.constants[f"B{number}"] = f"int = {number}"
            return f"B{number}"
        return str(number)

    # How a walker owns an axis.

    def slot(self, walk: Walk) -> Slot:
        simple = "*" not in walk.dim
        options: list[Slot] = list(self.each_slots(walk, walk.name) if walk.is_each else self.sized_slots(walk))
        options = [one for one in options if simple or walk.dim not in one.dims.replace(walk.dim, "", 1)]
        weights = [5.0 if number == 0 else 1.0 for number in range(len(options))]
        if self.computes and walk.is_each and len(options) > 20:
            weights[-6:] = [12.0] * 6
        return self.rng.choices(options, weights)[0]

    def each_slots(self, walk: Walk, n: str) -> Iterator[Slot]:
        N, extent = walk.dim, dim(walk.dim)
        c = self.rng.choice([2, 3])
        yield Slot(N, n)
        yield Slot(N, f"{extent} - 1 - {n}")
        yield Slot(N, self.pick(f"same({n})", f"turned({n}, {extent})", f"below({n}, {extent})"))
        bounded = (f"tp.minimum({n}, {extent} - 1)", f"tp.clip({n}, 0, {extent} - 1)", f"tp.maximum({n}, 0)")
        yield Slot(N, self.pick(*bounded))
        yield Slot(N, self.pick(f"tp.where({n} + 1 < {extent}, {n} + 1, 0)", f"({n} + 1) % {extent}"))
        yield Slot(N, f"tp.where({n} < {extent} // 2, {n}, {extent} - 1 - {n} + {extent} // 2)")
        k = self.fresh("k")
        keep = self.pick(f"{n} > {c}", f"{n} % {c} == 0", f"{n} + 1 < {extent}", f"{self.scalar('i32')} > {n}")
        kept = self.pick(n, f"{n} + 0", f"{extent} - 1 - {n}", f"{n} - 1", f"{n} + 1")
        yield Slot(N, f"tp.where({keep}, {kept}, tp.none)", partial=True)
        yield Slot(N, k, wraps=(Wrap(f"for {k} in range({n}, {n} + 1):"),))
        if "*" in N:
            yield Slot("P 3", f"{n} // 3, {n} % 3")
            yield Slot("P 3", f"{n} // 3, {n} % 3")
            return
        yield Slot(f"{c}*{N}", f"{c} * {n}", others=tuple(f"{c} * {n} + {o}" for o in range(1, c)))
        yield Slot(f"{c}*{N}", f"{n} * {c} + {k}", wraps=(Wrap(f"for {k} in {self.count_to(c)}:"),))
        yield Slot(f"{N}/{c}", f"{n} // {c}", wraps=(Wrap(f"if {n} % {c} == 0:"),))
        yield Slot(f"{N}+{c}", f"{n} + {c}", partial=True)
        yield Slot(f"2*{N}", self.pick(f"{n} + {extent}", f"{n} + 0"), partial=True)
        if self.chance(0.5):
            yield Slot(f"2*{N}", f"{n} + 0", others=(f"{n} + {extent}",))
        match self.rng.randrange(6):
            case 0 | 1:
                unique = self.tensor('Unique["V"]', N, stem="perm")
                yield Slot("V", f"{unique}[{n}]", partial=True)
                yield Slot("V", f"{unique}[{extent} - 1 - {n}]", partial=True)
                yield Slot("V", f"tp.where({n} > {c}, {unique}[{n}], tp.none)", partial=True)
            case 2:
                slots = self.tensor('Unique["P*3"]', N, stem="slots")
                yield Slot("P 3", f"{slots}[{n}] // 3, {slots}[{n}] % 3", partial=True)
            case 3 | 4:
                yield Slot("C", f"{self.position()} + {n}", partial=True)
            case 5 if walk.kind == "each":
                early = self.chance(0.3)
                off = self.tensor(f'Offsets["{"<=" if early else ""}R"]', f"{N}+1", stem="off")
                start, stop = f"{off}[{n} + 0]", f"{off}[{n} + 1]"
                partial = early and self.chance(0.7)
                yield Slot("R", k, wraps=(Wrap(f"for {k} in range({start}, {stop}):"),), partial=partial)
                segment = Wrap(f"for {k} in tp.tiles(R=2, start={start}, stop={stop}):")
                yield Slot("R", k, tag=k, wraps=(segment,), partial=partial)

        yield self.strided(n, extent)
        yield self.strided(n, extent)
        yield self.counted(n, extent)
        yield self.counted(n, extent)
        yield self.computed(n, N, extent)
        yield self.computed(n, N, extent)

    def step(self, extent: str) -> str:
        """What programs move on by: as many elements as there are programs, or nearly so."""
        exact = [extent] * 6
        return self.pick(*exact, f"{extent} + 1", f"{extent} - 1", f"{extent} // 2 + 1", f"2 * {extent}", "2", "-1")

    def strided(self, n: str, extent: str) -> Slot:
        """Elements or tiles at the distance of a step."""
        k, t, step, size = self.fresh("k"), self.fresh("t"), self.step(extent), self.rng.choice([2, 3])
        start = self.pick(n, n, n, f"{n} + 1", f"2 * {n}", f"{dim('S')} - 1 - {n}")
        match self.rng.randrange(4):
            case 0 | 1:
                loop = f"for {k} in range({start}, {self.pick(dim('S'), dim('S'), '-1')}, {step}):"
                return Slot("S", k, wraps=(Wrap(loop),), partial=True)
            case 2:
                end = self.pick(f"{t} * {size} + {size}", f"{t} * {size} + {size}", f"{t} * {size} + {size + 1}")
                loop = f"for {t} in range({start}, tp.cdiv({dim('S')}, {size}), {step}):"
                tiles = f"for {k} in tp.tiles(S={size}, start={t} * {size}, stop={end}):"
                return Slot("S", k, tag=k, wraps=(Wrap(loop), Wrap(tiles)), partial=True)
            case _:
                chunk = self.pick(f"tp.cdiv({dim('S')}, {extent})", f"({dim('S')} // {extent})")
                tiles = f"for {k} in tp.tiles(S={size}, start={n} * {chunk}, stop={n} * {chunk} + {chunk}):"
                return Slot("S", k, tag=k, wraps=(Wrap(tiles),), partial=True)

    def counted(self, n: str, extent: str) -> Slot:
        """A position that a loop carries along."""
        k, t, step, size = self.fresh("k"), self.fresh("t"), self.step(extent), self.rng.choice([1, 2, 3])
        start = f"{k} = {self.pick(f'{n} + 0', f'{n} + 0', f'{n} * {size}', f'{n} * {extent}')}"
        moved = f"{k} += {self.pick(step, step, f'({step}) * {size}', t, f'tp.where({n} > 1, {step}, 0)')}"
        turns = self.pick(f"range({size})", f"range({size}, {size + 3}, 2)", f"range({n})", f"range({dim('S')})")
        inside = Wrap(f"if ({k} >= 0) & ({k} < {dim('S')}):")
        match self.rng.randrange(4):
            case 0:
                moved = f"{k} += {self.pick(step, f'tp.maximum({step}, 1)')}"
                return Slot("S", k, wraps=(Wrap(f"while {k} < {dim('S')}:", (start,), (moved,)),), partial=True)
            case 1:
                after: Block = [start, (f"for {t} in {turns}:", [moved])]
                return Slot("S", k, wraps=(Wrap(inside.head, tuple(after)),), partial=True)
            case _:
                return Slot("S", k, wraps=(Wrap(f"for {t} in {turns}:", (start,), (moved,)), inside), partial=True)

    def computed(self, n: str, over: str, extent: str) -> Slot:
        """Digits of a position, a position with a stride, the elements of a butterfly, entries of entries."""
        s, c, k = self.scalar("i32"), self.rng.choice([2, 3]), self.fresh("k")
        a, b = self.pick("A", "S"), self.pick(dim("B"), str(c))
        match self.rng.randrange(9):
            case 7 | 8:
                bits = self.pick(str(c), "4", s, f"({n} % {c + 1})", f"({n} // {c})")
                other = f"({n} ^ {bits})"
                guard = self.pick(f"{other} < {dim('S')}", f"({other} < {dim('S')}) & ({other} > {n})")
                others = self.pick("", "", n, f"({n} + 1)")
                return Slot("S", other, wraps=(Wrap(f"if {guard}:"),), others=(others,) if others else (), partial=True)
            case 6:
                rows = self.tensor(f'Unique["V per {over}"]', f"{over} {c}", stem="rows")
                loop = Wrap(f"for {k} in range({c}):")
                row = self.pick(f"{n}, ", f"{n}, ", f"{n} // 2, ")
                entry = f"{rows}[{self.pick(n, n, n, f'{extent} - 1 - {n}')}, {k}]"
                return Slot(f"{over} V", row + entry, wraps=(loop,), partial=True)
            case 0:
                index = self.pick(f"{n} // {b}, {n} % {b}", f"{n} % {b}, {n} // {b}", f"{n} // {b} // 2, {n} % {b}")
                return Slot(f"{a} S", index, wraps=(Wrap(f"if {n} // {b} < {dim(a)}:"),), partial=True)
            case 1:
                one, two = f"({dim('B')} * {c})", f"({b} * {self.pick(dim('B'), str(c))})"
                digits = f"{n} // {one}, {n} // {c} % {dim('B')}, {n} % {c}"
                others = f"{n} // {two}, {n} % {two} // {c}, {self.pick(f'{n} % {c}', f'{n} % {two} % {c}')}"
                return Slot(f"{a} S S", self.pick(digits, digits, others), partial=True)
            case 2:
                self.require(f"{s} >= {self.pick(str(c), str(c), str(c - 1), extent, '-2')}")
                lane = self.pick(k, f"{k} * {s}")
                loop = Wrap(f"for {k} in range({self.pick(str(c), str(c), extent)}):")
                return Slot("S", f"{self.pick(n, lane)} * {s} + {k}", wraps=(loop,), partial=True)
            case 3:
                span = self.pick(str(c), s)
                self.require(f"{s} >= {self.pick('1', '0')}")
                one = f"{n} // {span} * {self.pick('2', '2', '1', '3')} * {span} + {n} % {span}"
                return Slot("S", one, others=(f"{one} + {span}",), partial=True)
            case _:
                kind = self.pick("Unique", "Unique", "Unique", "Index")
                ids, outer = self.tensor(f'{kind}["U"]', over, stem="ids"), self.tensor('Unique["V"]', "U", stem="perm")
                inner = self.pick(f"{ids}[{n}]", f"{ids}.get({n} - 1, 0)", f"{ids}.get({n} + 1, -1)")
                place = self.pick(f"tp.where({n} > {c}, {n}, tp.none)", f"{n} - 1", f"tp.maximum({n} - 1, 0)", n)
                direct = self.tensor('Unique["V"]', over, stem="perm")
                got = f"{direct}.get({place}, {self.pick('-1', '-1', '0')})"
                return Slot("V", self.pick(f"{outer}[{inner}]", f"{outer}[{inner}]", got), partial=True)

    def sized_slots(self, walk: Walk) -> Iterator[Slot]:
        i, N, extent = walk.name, walk.dim, dim(walk.dim)
        yield Slot(N, i, tag=i)
        yield Slot(N, f"{i}.elements", tag=i)
        yield Slot(N, f"{extent} - 1 - {i}.elements", tag=i)
        yield Slot(N, f"tp.minimum({i}.elements, {extent} - 1)", tag=i)
        yield Slot(N, f"tp.where({i}.elements % 2 == 0, {i}.elements, {i}.elements)", tag=i)
        e = f"{i}.elements"
        keep = self.pick(f"{e} > 0", f"{e} % 2 == 0", f"{e} + 1 < {extent}", f"{self.scalar('i32')} > {e}")
        kept = self.pick(e, e, f"{extent} - 1 - {e}", f"{e} - 1", f"{e} + 1", f"{e} // 2")
        yield Slot(N, f"tp.where({keep}, {kept}, tp.none)", tag=i, partial=True)
        s, k = self.fresh("t"), self.fresh("k")
        sub = self.rng.choice([2, 3])
        yield Slot(N, s, tag=s, wraps=(Wrap(f"for {s} in {i}.tiles({sub}):"),))
        walked = f"{N}={sub}" if "*" not in N else f'("{N}", {sub})'
        yield Slot(N, s, tag=s, wraps=(Wrap(f"for {s} in tp.tiles({walked}, start={i}.start, stop={i}.stop):"),))
        yield Slot(N, k, wraps=(Wrap(f"for {k} in range({i}.start, {i}.stop):"),))
        yield Slot(N, k, wraps=(Wrap(f"for {k} in range({i}.stop - 1, {i}.start - 1, -1):"),))
        inside = Wrap(f"if {i}.start + {k} < {i}.stop:")
        yield Slot(N, f"{i}.start + {k}", wraps=(Wrap(f"for {k} in range({walk.size}):"), inside))
        count = Wrap(f"while {k} < {i}.stop:", (f"{k} = {i}.start",), (f"{k} = {k} + 1",))
        yield Slot(N, k, wraps=(count,))
        yield Slot(N, f"{i}.shift({self.rng.choice([0, 1])})", full=True, partial=True)
        if "*" in N:
            return
        if walk.kind == "sized":
            yield Slot(f"{N}/{walk.size}", f"{i}.number")
            yield Slot(f"{N}/{walk.size}", f"{i}.start // {walk.size}")
        yield Slot(f"2*{N}", f"{i}.elements * 2", tag=i, others=(f"{i}.elements * 2 + 1",))
        yield Slot(f"{N}+1", f"{i}.elements + 1", tag=i, partial=True)
        if self.chance(0.4):
            unique = self.tensor('Unique["V"]', N, stem="perm")
            yield Slot("V", f"{unique}[{i}]", tag=i, partial=True)
            yield Slot("V", f"tp.where({i}.elements > 1, {unique}[{i}], tp.none)", tag=i, partial=True)
        elif self.chance(0.4):
            yield Slot("C", f"{self.position()} + {i}.elements", tag=i, partial=True)

    def extra_slot(self) -> Slot:
        """An axis that nobody walks in parallel: each program writes all of it."""
        k, M = self.fresh("k"), self.pick("M", "Q")
        c = self.rng.choice([2, 3, 4])
        match self.rng.randrange(7):
            case 0:
                return Slot(str(c), ":", full=True)
            case 1:
                cut = self.rng.randrange(1, c)
                return Slot(str(c), f"0:{cut}", full=True, others=(f"{cut}:{c}",))
            case 2:
                return Slot(str(c), k, wraps=(Wrap(f"for {k} in {self.count_to(c)}:"),))
            case 3:
                return Slot(self.static(), ":", full=True)
            case 4:
                return Slot(M, k, tag=k, wraps=(Wrap(f"for {k} in tp.tiles({M}={c}):"),))
            case 5:
                return Slot(M, k, wraps=(Wrap(f"for {k} in range({dim(M)}):"),))
            case _:
                return Slot(M, k, wraps=(Wrap(f"while {k} < {dim(M)}:", (f"{k} = 0",), (f"{k} = {k} + 1",)),))

    def count_to(self, c: int) -> str:
        return self.pick(f"range({c})", f"range({c})", f"range(0, {c}, 1)", f"range({c - 1}, -1, -1)")

    def position(self) -> str:
        """A position that is the same for all programs."""
        if self.chance(0.5):
            return f"{self.tensor(self.pick('i32', 'i64'), '1', stem='pos')}[0]"
        return self.scalar(self.pick("i32", "i64"))
