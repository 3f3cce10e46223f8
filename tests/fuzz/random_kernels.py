"""Random kernels as source text: plausible ones, made of right ways to own, read and guard, and disturbed ones.

A kernel is a text and nothing else, so it can be shown, shrunk and run again. The same seed and profile give the same
text. `plausible` kernels are right or nearly so; `disturbed` ones have had a few places changed (see `disturbance`);
`computed` ones write where loops, digits, strides and entries of entries take them; `indices` nest index arithmetic
(see `random_indices`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from fuzz.disturbance import disturb
from fuzz.random_indices import index_kernel
from fuzz.random_parts import Block, Parts, Scope, Slot, Walk, dim

PROFILES = ("plausible", "disturbed", "computed", "indices")
HEAD = """\
import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, Sum, Unique, f32, i32, i64

"""
HELPERS = {
    "same": "def same(a):\n    return a\n",
    "put": "def put(tensor, at, value):\n    tensor[at] = value\n",
    "below": "def below(a, limit):\n    return tp.minimum(a, limit - 1)\n",
    "turned": "def turned(a, extent):\n    last = extent - 1\n    return last - a\n",
    "bumped": "def bumped(a, limit):\n    b = a\n    if a + 1 < limit:\n        b = a + 1\n    return b\n",
    "larger": "def larger(a, b):\n    return tp.maximum(a, b)\n",
}


def generate(seed: int, profile: str = "plausible") -> str:
    """The text of a kernel `k`."""
    rng = random.Random(f"{profile}:{seed}")
    if profile == "indices":
        return HEAD + "\n" + index_kernel(rng)
    text = Writer(rng, computes=profile == "computed").text()
    is_disturbed = profile == "disturbed" or (profile == "computed" and rng.random() < 0.3)
    return disturb(text, rng) if is_disturbed else text


def own_value(place: str, access: str) -> str:
    """A read of the element that is written next, where it may be read. A shifted tile has a tag of its own."""
    if access != "InOut":
        return ""
    return f"{place}.fill(0.0)" if ".shift(" in place else place


class Writer(Parts):
    """One kernel: reads, guards and stores for the walkers of its space."""

    # Conditions and values.

    def condition(self, scope: Scope, depth: int = 0) -> str:
        places = [(walk.place, walk.dim) for walk in scope.walks] or [("0", "N")]
        place, over = self.rng.choice(places)
        c = self.rng.randrange(4)
        if depth < 1 and self.chance(0.2):
            one, two = self.condition(scope, 1), self.condition(scope, 1)
            return f"({one}) {self.pick('&', '|')} ({two})"
        extent = dim(over) if scope.walks else str(c)
        match self.rng.randrange(8):
            case 0 | 1:
                return f"{place} {self.pick('<', '<=', '>', '>=', '==', '!=')} {c}"
            case 2:
                return f"{place} % 2 == {c % 2}"
            case 3:
                return f"{place} {self.pick('<', '>=')} {extent} // 2"
            case 4:
                return f"{place} + {c} < {extent}"
            case 5:
                return f"{self.scalar('i32')} {self.pick('<', '>')} {c}"
            case 6 if scope.walks and "*" not in over:
                return f"{self.value_at(self.tensor('i32', over, stem='data'), place)} > {c}"
            case _:
                return f"{place} < {self.scalar('i32')}"

    def value_at(self, tensor: str, place: str) -> str:
        return f"{tensor}.get({place}, 0)" if place.endswith(".start") else f"{tensor}[{place}]"

    def scalar_read(self, scope: Scope) -> str:
        """An f32 scalar read from an `In`, at a place that is inside as a rule."""
        if not scope.walks or self.chance(0.15):
            c = self.rng.choice([2, 3, 4])
            four, whole = self.tensor("f32", str(c)), self.tensor("f32", self.static())
            return self.pick(
                f"{four}[0:{self.rng.randrange(1, c + 1)}].sum()", f"{whole}[:].sum()", f"{four}[{c - 1}]",
                f"{four}[:][{self.rng.randrange(c)}]", f"{four}[0:{c}][{self.scalar('i32')}]",
                f"{four}[:][{self.scalar('i32')} % {c}]", f"{four}[tp.arange({c})[{self.rng.randrange(c)}]]",
            )  # fmt: skip
        walk = self.rng.choice(scope.walks)
        n, N, extent = walk.name, walk.dim, dim(walk.dim)
        x = self.tensor("f32", N)
        if "segment" in walk.kind and self.chance(0.3):
            return f"{self.tensor('f32', 'E')}[e]"
        if not walk.is_each:
            options = [
                f"{x}[{n}].sum()",
                f"{x}[{n}.elements].sum()",
                f"{x}.get({n}.start, 0.0)",
                f"{x}.get({n}.stop, 0.0)",
            ]
            if walk.kind != "split" or self.chance(0.3):
                options += [f"{x}[{n}][{self.pick('0', '0', '1')}]", f"{x}[{n}.elements[0]]"]
                options.append(f"{x}[{n}][{n}.stop - {n}.start - {self.pick('1', '1', '0')}]")
            if walk.kind != "split":
                options += [f"{x}[{n}.stop - 1]", f"{x}[{n}.start]"]
            if walk.kind == "sized":
                options.append(f"{x}[{n}.shift({self.pick('1', '1', str(walk.size))})].sum()")
            return self.rng.choice(options)
        inside = [
            n, n, f"{extent} - 1 - {n}", f"tp.maximum({n} - 1, 0)", f"tp.minimum({n} + 1, {extent} - 1)",
            f"tp.clip({n} + 2, 0, {extent} - 1)", f"tp.where({n} > 0, {n} - 1, 0)", f"{n} // 2", f"{n} - {n} % 2",
            f"below({n} + 1, {extent})", f"bumped({n}, {extent})",
        ]  # fmt: skip
        if "*" in N or self.chance(0.5):
            return f"{x}[{self.rng.choice(inside)}]"
        match self.rng.randrange(9):
            case 0:
                return f"{x}.get({n} {self.pick('+', '-')} 1, 0.0)"
            case 1 if walk.kind == "each":
                return f'{self.tensor("f32", "G")}[tp.group({n}, "G")]'
            case 2:
                ids = self.tensor(f'{self.pick("Index", "Unique")}["V"]', N, stem="ids")
                table = self.tensor("f32", "V")
                return self.pick(f"{table}[{ids}[{n}]]", f"{table}.get({ids}[{n}], 0.0)")
            case 3:
                c = self.rng.choice([2, 3])
                return f"{self.tensor('f32', f'{c}*{N}')}[{n} * {c} + {self.rng.randrange(c)}]"
            case 4:
                return f"{self.tensor('f32', f'{N}+2')}[{n} + {self.rng.randrange(3)}]"
            case 5:
                return self.pick(f"{self.tensor('f32', f'{N}/2')}[{n} // 2]", f"{self.tensor('f32', '3')}[{n} % 3]")
            case 6:
                data = self.tensor("i32", N, stem="data")
                table = self.tensor("f32", "V")
                return self.pick(f"{table}[{data}[{n}]]", f"{table}.get({data}[{n}], 0.0)", f"{table}[{data}[{n}] % 2]")
            case 7:
                return f"{self.tensor('f32', 'C')}[{self.position()} + {n}]"
            case _:
                return f"{x}[{self.rng.choice(inside)}]"

    def prelude(self, scope: Scope) -> Block:
        """Lines that bind f32 scalars: guarded reads, sums over loops, while loops."""
        if self.chance(0.45):
            return []
        v, k = self.fresh("v"), self.fresh("k")
        scope.scalars.append(v)
        K, size = self.pick("K", "M"), self.rng.choice([2, 3, 4])
        x = self.tensor("f32", K)
        places = [walk for walk in scope.walks if walk.is_each]
        stop = self.pick(f"{dim(K)} - 1", f"{self.scalar('i32')}", *(f"{walk.place} + 1" for walk in places))
        match self.rng.randrange(7):
            case 6 if places and "*" not in places[0].dim:
                walk, e = self.rng.choice(places), self.fresh("e")
                if "*" in walk.dim:
                    return [f"{v} = 1.0"]
                kind = self.pick("Index", "Unique")
                ids, table = self.tensor(f'{kind}["V"]', walk.dim, stem="ids"), self.tensor("f32", "V")
                guard = self.pick(f"{e} >= 0", f"{e} >= 0", f"{e} != -1", f"{e} > 0", f"{e} >= -1", f"{e} < {dim('V')}")
                guarded = (f"if {guard}:", [f"{v} = {table}[{self.pick(e, e, e, f'{e} // 2', f'{ids}[{walk.name}]')}]"])
                return [f"{v}, {e} = 0.0, {ids}[{walk.name}]", guarded]
            case 0 | 1:
                options = self.pick("", f", start={self.rng.randrange(3)}", f", stop={stop}", f", start=1, stop={stop}")
                return [f"{v} = 0.0", (f"for {k} in tp.tiles({K}={size}{options}):", [f"{v} += {x}[{k}].sum()"])]
            case 2:
                steps = self.pick(f"{dim(K)}", f"1, {dim(K)}, 2", f"{dim(K)} - 1, -1, -1", f"tp.minimum({dim(K)}, 3)")
                return [f"{v} = 0.0", (f"for {k} in range({steps}):", [f"{v} += {x}[{k}]"])]
            case 3:
                body: Block = [f"{v} += {x}[{k}]", f"{k} = {k} + {self.rng.choice([1, 2])}"]
                return [f"{v}, {k} = 0.0, 0", (f"while {k} < {dim(K)}:", body)]
            case 4 if places and "*" not in places[0].dim:
                walk = self.rng.choice(places)
                row = self.tensor("f32", walk.dim)
                step = self.rng.choice([1, 2])
                up = (f"if {walk.name} + {step} < {dim(walk.dim)}:", [f"{v} = {row}[{walk.name} + {step}]"])
                down = (f"if {walk.name} >= {step}:", [f"{v} = {row}[{walk.name} - {step}]"])
                return [f"{v} = 0.0", self.rng.choice([up, down])]
            case _:
                return [f"{v} = {self.scalar_read(scope)}"]

    def value(self, scope: Scope, slots: list[Slot], own: str = "") -> str:
        """A value whose axes are those that the slots pick."""
        axes = [slot for slot in slots if slot.tag or slot.full]
        terms = [self.pick("1.0", "0.5", self.scalar_read(scope), *scope.scalars, self.scalar("f32"))]
        if own and self.chance(0.5):
            terms.append(own)
        for place, axis in enumerate(axes):
            over = next((walk.dim for walk in self.walks if walk.name == axis.tag), "")
            if over and "*" not in over and self.chance(0.6):
                x, i = self.tensor("f32", over), axis.tag
                loads = [
                    f"{x}[{i}]", f"{x}[{i}]", f"{x}[{i}.elements]", f"{x}.get({i}.elements - 1, 0.0)",
                    f"{x}[{dim(over)} - 1 - {i}.elements]", f"{x}[tp.minimum({i}.elements + 1, {dim(over)} - 1)]",
                    f"{self.tensor('f32', f'2*{over}')}[{i}.elements * 2]" if self.chance(0.2) else f"{x}[{i}]",
                ]  # fmt: skip
                if not any("segment" in walk.kind for walk in self.walks if walk.name == i):
                    loads.append(f"{x}[{i}.shift(1)].fill(0.0)")
                load = self.rng.choice(loads)
                terms.append(load + (f"[:{', None' * (len(axes) - 1 - place)}]" if place < len(axes) - 1 else ""))
        return " + ".join(terms)

    # Outputs.

    def store(self, scope: Scope, owners: list[Walk], slots: list[Slot], tensor: str, access: str) -> Block:
        """Stores that write what the slots own, inside their loops and guards."""
        indices: list[list[str]] = [[]]
        for slot in slots:
            indices = [[*before, one] for before in indices for one in (slot.index, *slot.others)]
        lines: Block = []
        for index in indices:
            place = f"{tensor}[{', '.join(index)}]"
            own = own_value(place, access)
            assign = self.assignment(scope, slots, place, own)
            if len(index) == 1 and ":" not in place and self.chance(0.05):
                assign = f"put({tensor}, {index[0]}, {self.value(scope, slots, own)})"
            lines.append(assign)
            if access == "InOut" and self.chance(0.1):
                lines.append(f"{place} *= 2.0")
        if self.chance(0.2):
            lines = self.cases(scope, lines, [self.again(scope, slots, tensor, one, access) for one in indices])
        for slot in reversed(slots):
            for wrap in reversed(slot.wraps):
                lines = [*wrap.before, (wrap.head, [*lines, *wrap.after])]
        return lines

    def again(self, scope: Scope, slots: list[Slot], tensor: str, index: list[str], access: str) -> str:
        place = f"{tensor}[{', '.join(index)}]"
        return self.assignment(scope, slots, place, own_value(place, access))

    def assignment(self, scope: Scope, slots: list[Slot], place: str, own: str) -> str:
        return f"{place} = {self.value(scope, slots, own)}"

    def cases(self, scope: Scope, one: Block, two: Block) -> Block:
        """Both or all three sides write the same elements."""
        first: Block = [(f"if {self.condition(scope)}:", one)]
        if self.chance(0.3):
            first.append((f"elif {self.condition(scope)}:", list(two)))
        return [*first, ("else:", two)]

    def output(self, walks: list[Walk], scope: Scope) -> Block:
        """A tensor that the given walkers own together, and the lines that write it."""
        left_out = [walk for walk in walks if walk.kind != "split" and len(walks) > 1 and self.chance(0.12)][:1]
        owners = [walk for walk in walks if walk not in left_out]
        slots = [self.slot(walk) for walk in owners]
        while len(slots) < 3 and (not slots or self.chance(0.25)):
            slots.append(self.extra_slot())
        self.rng.shuffle(slots)
        partial = any(slot.partial for slot in slots)
        access = "InOut" if partial or self.chance(0.2) else "Out"
        lines = self.prelude(scope)
        if self.chance(0.12) and access == "InOut" and not left_out:
            lines += self.cut(scope, owners)
        tensor = self.tensor("f32", " ".join(slot.dims for slot in slots), access, "y")
        stored = self.store(scope, owners, slots, tensor, access)
        for walk in left_out:
            stored = [(f"if {walk.place} == 0:", stored)]
            if access == "Out" and self.chance(0.9):
                self.require(f"{dim(walk.dim)} >= 1")
        if access == "InOut" and self.chance(0.2):
            stored = [(f"if {self.condition(scope)}:", stored)]
        return [*lines, *stored]

    def cut(self, scope: Scope, owners: list[Walk]) -> Block:
        """A tensor cut in two: what lies before is read by all, what lies behind is written by its owners."""
        if len(owners) != 1 or owners[0].kind == "split" or any("tp.split_at" in str(line) for line in self.before):
            return []
        (walk,) = owners
        cache, at = self.tensor("f32", "C", "InOut", "cache"), self.position()
        self.before.append(f'past, fresh = tp.split_at({cache}, "C", {at})')
        k = self.fresh("k")
        axis = [Slot("C", walk.name, tag="" if walk.is_each else walk.name)]
        lines: Block = [f"fresh[{walk.name}] = {self.value(scope, axis)}"]
        if self.chance(0.7):
            v = self.fresh("v")
            lines = [f"{v} = 0.0", (f"for {k} in tp.tiles(C=3, stop={at}):", [f"{v} += past[{k}].sum()"]), *lines]
            scope.scalars.append(v)
        return lines

    def total(self, scope: Scope) -> Block:
        """An update of a `Sum`, which any program may make anywhere inside."""
        walk = self.rng.choice(scope.walks) if scope.walks else None
        slots = [Slot("3", str(self.rng.randrange(3)))]
        if walk is not None and walk.is_each:
            ids = self.tensor('Index["V"]', walk.dim, stem="ids")
            slots = [Slot("V", f"{ids}[{walk.name}]"), Slot("3", f"{walk.name} % 3"), Slot(walk.dim, walk.name)]
            slots.append(Slot("V", f"tp.where({self.condition(scope)}, {ids}[{walk.name}], tp.none)"))
        elif walk is not None:
            slots += [Slot(walk.dim, walk.name, tag=walk.name), Slot("2", f"{walk.name}.start % 2")]
        slot = self.rng.choice(slots)
        tensor = self.tensor("f32", slot.dims, "Sum", "s")
        line = f"{tensor}[{slot.index}] += {self.value(scope, [slot])}"
        return [(f"if {self.condition(scope)}:", [line])] if self.chance(0.3) else [line]

    def outputs(self, walks: list[Walk], number: int, scope: Scope) -> Block:
        lines: Block = []
        for _ in range(number):
            lines += self.total(scope) if self.chance(0.2) else self.output(walks, scope)
        return lines

    def text(self) -> str:
        """The whole kernel."""
        count = self.rng.choices([1, 2, 3], [6, 3, 1])[0]
        split = next((walk for walk in self.walks if walk.kind == "split"), None)
        if self.chance(0.1):
            self.before.append(f"first = {self.tensor('f32', '2')}[{self.rng.randrange(2)}]")
        if self.chance(0.1):
            self.require(f"{dim(self.walks[0].dim if self.walks else 'N')} >= {self.rng.randrange(4)}")
            self.tensor("f32", self.walks[0].dim if self.walks else "N")
        outside = ["first"] if any(str(line).startswith("first") for line in self.before) else []
        scope = Scope(self.walks, list(outside))
        if split is None:
            self.body += self.outputs(self.walks, count, scope)
        else:
            if self.chance(0.3):
                self.body += self.outputs(self.walks, 1, scope)
            self.body += self.joined(split, scope)
            others = [walk for walk in self.walks if walk is not split]
            self.body += self.outputs(others, count, Scope(others, [*outside, "total"]))
        self.settle_parameters()
        return self.rendered()

    def settle_parameters(self) -> None:
        """Drops parameters that nothing uses, and gives every dimension that is used a tensor which decides it."""
        used = str([self.before, self.body, self.space])
        words = set(re.findall(r"\w+", used))
        self.tensors = {name: found for name, found in self.tensors.items() if name in words}
        self.scalars = {name: found for name, found in self.scalars.items() if name in words}
        contents = [re.findall(r'"(?:<=)?(\w)"', element) for _, element, _ in self.tensors.values()]
        named = [*re.findall(r'(?:dim|group)\([^"()]*"([^"]+)"\)', used), *(name for one in contents for name in one)]
        for needed in [*(walk.dim for walk in self.walks), *named, *re.findall(r"tp\.tiles\((\w)=", used)]:
            if not any(needed in dims.split() for _, _, dims in self.tensors.values()):
                self.tensor("f32", needed)
        if not any("D" in dims.split() for _, _, dims in self.tensors.values()):
            self.constants.pop("D", None)
        self.constants = {name: kind for name, kind in self.constants.items() if name == "D" or name in words}

    def joined(self, split: Walk, scope: Scope) -> Block:
        x, part, t = self.tensor("f32", split.dim), self.fresh("part"), self.fresh("t")
        walked: Block = [f"{part} = 0.0", (f"for {t} in z.tiles(2):", [f"{part} += {x}[{t}].sum()"])]
        lines: Block = walked if self.chance(0.5) else [f"{part} = {x}[z].sum()"]
        by = self.pick("", "", ", by=larger", ", by=lambda a, b: a + b")
        return [*lines, f"total = tp.join({part}, over=z{by})"]

    def rendered(self) -> str:
        order = sorted(self.tensors.items(), key=lambda one: one[1][0] == "In")
        keep = {name: ', "keep"' if access == "Sum" and self.chance(0.3) else "" for name, (access, *_) in order}
        parameters = [f'{name}: {access}[{element}, "{dims}"{keep[name]}]' for name, (access, element, dims) in order]
        parameters += [f"{name}: {element}" for name, element in self.scalars.items()]
        if self.constants:
            parameters += ["*", *(f"{name}: {kind}" for name, kind in self.constants.items())]
        block: Block = [*self.before, *self.body]
        if self.walks:
            head = f"for {', '.join(self.targets)} in tp.parallel({', '.join(self.space)}):"
            block = [*self.before, (head, self.body)]
        kernel: Block = [(f"def k({', '.join(parameters)}) -> None:", block)]
        body = "@tp.kernel\n" + "".join(line + "\n" for line in lines_of(kernel))
        used = [helper for name, helper in HELPERS.items() if re.search(rf"\b{name}\b", body)]
        return HEAD + "".join(f"{helper}\n" for helper in used) + body


def lines_of(block: Block, depth: int = 0) -> Iterator[str]:
    for line in block:
        if isinstance(line, str):
            yield "    " * depth + line
        else:
            yield "    " * depth + line[0]
            yield from lines_of(line[1] or ["pass"], depth + 1)
