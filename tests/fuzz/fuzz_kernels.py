"""Random kernels that try what the CPU backend must get right: expressions of many tiles, carried, joined and stored.

A kernel is made from its seed alone; what it computes is exact but for what is called rough (see `fuzz_tiles`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from fuzz.fuzz_places import GUARDED, OTHER, Places
from fuzz.fuzz_tiles import LARGEST, Axes, Scope, Tensor, Tile

HEAD = """\
import tileproof as tp
from tileproof import (In, Index, InOut, Max, Min, Offsets, Out, Sum, bf16, f8e4m3, f8e5m2, f16, f32, f64, i8, i16, i32,
                       i64, tf32, u8, u16, u32, u64)



def folded(x):
    return x - 8.0 * tp.floor(x * 0.125)


"""
NUMPY: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    **{f"{sign}{bits}": np.dtype(f"{sign}{bits // 8}") for sign in "iu" for bits in (8, 16, 32, 64)},
}  # fmt: skip


@dataclass
class Made:
    """A kernel and how to launch it."""

    seed: int
    text: str
    tensors: list[Tensor]
    constants: dict[str, int]
    walked: dict[str, int]


class Writer(Places):
    """One kernel."""

    def steps(self, scope: Scope, count: int) -> None:
        for _ in range(count):
            self.step(scope)
            if scope.depth < 2 and self.chance(0.12):
                self.rng.choice((self.loop, self.loop, self.choice, self.whilst))(scope)

    def same(self, scope: Scope, like: Tile) -> str:
        """A value of the type of another."""
        good = [t for t in scope.tiles if t.dtype == like.dtype and t.axes == like.axes and not t.rough]
        made = self.rng.choice(good).name if good else like.name
        if like.dtype == "bool":
            return self.rng.choice((made, f"~{made}", f"{made} ^ {like.name}"))
        text = self.rng.choice((f"{made} + 1", f"{made} - {like.name}", made, f"tp.maximum({made}, {like.name})"))
        return f"folded({text})" if like.is_float else text

    def carried(self, scope: Scope) -> list[Tile]:
        """Fresh names with the values of some tiles, for a loop to change."""
        good = [t for t in scope.tiles if not t.rough and all(a != "k" for a in t.axes)]
        if not good:
            return []
        picked = [self.rng.choice(good) for _ in range(self.rng.choice((1, 2, 2, 3)))]
        if self.chance(0.4):
            picked.append(picked[0])
        return [self.let(scope, f"{tile.name}", tile.dtype, tile.axes, tile.largest) for tile in picked]

    def body(self, scope: Scope, held: list[Tile], count: int, total: str) -> list[str]:
        """Lines that compute something and then change what is carried, perhaps by exchanging it."""
        outer = len(scope.tiles)
        self.steps(scope, count)
        for tile in self.unused(scope, outer):
            if not tile.rough:
                scope.lines.append(f"{total} = folded({total} + {self.in_all(tile)})")
        pairs = [(a, b) for a in held for b in held if a is not b and (a.dtype, a.axes) == (b.dtype, b.axes)]
        if pairs and self.chance(0.5):
            one, two = self.rng.choice(pairs)
            scope.lines.append(f"{one.name}, {two.name} = {self.same(scope, two)}, {one.name}")
        for tile in held:
            if self.chance(0.7):
                scope.lines.append(f"{tile.name} = {self.same(scope, tile)}")
        return [f"    {line}" for line in scope.lines]

    def unused(self, scope: Scope, first: int) -> list[Tile]:
        """Tiles that no line after theirs asks for."""
        text = "\n".join(scope.lines)
        return [tile for tile in scope.tiles[first:] if len(re.findall(rf"\b{tile.name}\b", text)) == 1]

    def in_all(self, tile: Tile) -> str:
        """One number that depends on every element."""
        if tile.dtype == "bool":
            return f"{tile.name}.to(f32)" + (".sum()" if tile.axes else "")
        small = f"folded({tile.name})" if tile.is_float else f"({tile.name} & 7)"
        return f"{small}.to(f32)" + (".sum()" if tile.axes else "")

    def total(self, scope: Scope) -> str:
        """A number for a loop or a branch to add to."""
        name = self.fresh("w")
        scope.lines.append(f"{name} = 0.0")
        return name

    def loop(self, scope: Scope) -> None:
        held, total = self.carried(scope), self.total(scope)
        products = []
        if "k" not in scope.walkers and self.chance(0.7):
            inner = scope.inner("k")
            head = "for k in tp.tiles(K=BK):"
            if self.chance(0.4):
                m, n = self.axes(scope, 2)
                products.append(self.let(scope, f"tp.zeros(({m}, {n}), f32)", "f32", (m, n)))
        else:
            inner = scope.inner()
            turns = ("0", "1", "2", "3", "1, 4, 2", "5, -2, -3", "much, 0, -1", "much")
            head = f"for {self.fresh('q')} in range({self.rng.choice(turns)}):"
        lines = self.body(inner, held, self.rng.choice((1, 2, 3)), total)
        for acc in products:
            extra = scope.inner("k")
            left, right = self.operand(extra, "f32", (acc.axes[0], "k")), self.operand(extra, "f32", ("k", acc.axes[1]))
            if left and right:
                extra.lines.append(f"{acc.name} = tp.mma({left.name}, {right.name}, {acc.name})")
                lines += [f"    {line}" for line in extra.lines]
        scope.lines += [head, *(lines or ["    pass"])]
        scope.tiles.append(Tile(total, "f32", ()))

    def choice(self, scope: Scope) -> None:
        held = self.carried(scope)
        scalars = [t for t in scope.tiles if not t.axes and not t.rough]
        if not held:
            return
        test = "much > 1"
        if scalars and self.chance(0.7):
            picked = self.rng.choice(scalars)
            test = picked.name if picked.dtype == "bool" else f"{picked.name} > 2"
        total = self.total(scope)
        arms = [self.body(scope.inner(), held, self.rng.choice((0, 1, 2)), total) for _ in range(2)]
        scope.tiles.append(Tile(total, "f32", ()))
        scope.lines += [f"if {test}:", *(arms[0] or ["    pass"])]
        if arms[1]:
            scope.lines += ["else:", *arms[1]]

    def whilst(self, scope: Scope) -> None:
        held, count = self.carried(scope), self.fresh("n")
        if held:
            total = self.total(scope)
            scope.tiles.append(Tile(total, "f32", ()))
            lines = self.body(scope.inner(), held, self.rng.choice((0, 1)), total)
            scope.lines += [f"{count} = 0", f"while {count} < much:", *lines, f"    {count} = {count} + 1"]

    # Stores.

    def owned(self) -> tuple[list[str], list[str], Axes]:
        """Dimensions, picks and axes that the programs own together, with axes of their own among them."""
        order = [*self.space]
        for axis in ("D", "E"):
            if self.chance(0.25):
                order.append(axis)
        if not order:
            order = ["D"]
        self.rng.shuffle(order)
        picks = [axis if axis in self.space else ":" for axis in order]
        return [self.dims[axis] for axis in order], picks, tuple(axis for axis in order if axis not in self.each)

    def store(self, scope: Scope) -> None:
        dims, picks, axes = self.owned()
        good = [(t, self.spread(t, axes)) for t in scope.tiles if not any(a == "k" for a in t.axes)]
        fits = [(t, text) for t, text in good if text is not None]
        if not fits:
            return
        wide = [one for one in fits if len(one[0].axes) == len(axes)]
        tile, text = self.rng.choice(wide if wide and self.chance(0.7) else fits)
        place = f"[{', '.join(picks)}]"
        if self.chance(0.5):
            tensor = self.tensor("Out", tile.dtype, tuple(dims))
            scope.lines.append(f"{tensor.name}{place} = {text}")
            return
        tensor = self.tensor("InOut", tile.dtype, tuple(dims))
        masked = self.masked(scope, picks)
        if masked is not None:
            scope.lines.append(f"{tensor.name}[{', '.join(masked)}] = {text}")
            return
        before = self.let(scope, f"{tensor.name}{place}", tile.dtype, axes)
        change = f"{before.name} ^ {text}" if tile.dtype == "bool" else f"{text} - {before.name}"
        scope.lines.append(f"{tensor.name}{place} = {change}")
        after = self.let(scope, f"{tensor.name}{place}", tile.dtype, axes, 64, tile.rough)
        if self.chance(0.5):
            scope.lines.append(f"{tensor.name}{place} = {self.same(scope, after) if not tile.rough else before.name}")

    def masked(self, scope: Scope, picks: list[str]) -> list[str] | None:
        """Picks of which one is none in some lanes; None if no walker of a tile is among them."""
        places = [n for n, pick in enumerate(picks) if pick in self.space and pick not in self.each]
        if not places or self.chance(0.6):
            return None
        place = self.rng.choice(places)
        picks = [*picks]
        picks[place] = self.or_none(scope, picks[place], f"{picks[place]}.elements")
        return picks

    def or_none(self, scope: Scope, walker: str, position: str) -> str:
        """A position for each lane of a walker, none in some of them."""
        one = self.any_tile(scope, lambda t: t.axes == (walker,) and not t.rough)
        keep = f"{walker}.elements % 3 != much"
        if one.axes == (walker,) and not one.rough:
            keep = one.name if one.dtype == "bool" else f"{one.name} > 1"
        if self.chance(0.5):
            return f"tp.where({keep}, {position}, tp.none)"
        return f"tp.where({keep}, tp.none, {position})"

    def drain(self, scope: Scope) -> None:
        """Stores what nothing else asks for, each tile into a tensor of its own."""
        for tile in self.unused(scope, 0)[-12:]:
            missing = [walker for walker in self.space if walker not in tile.axes]
            order = [*missing, *tile.axes]
            each = [walker for walker in missing if walker in self.each]
            if each and self.chance(0.5):
                order = [*(a for a in order if a not in each), *each]
            picks = [axis if axis in self.space else ":" for axis in order] or ["0"]
            tensor = self.tensor("Out", tile.dtype, tuple(self.dims.get(axis, axis) for axis in order) or ("1",))
            scope.lines.append(f"{tensor.name}[{', '.join(picks)}] = {tile.name}")

    def combine(self, scope: Scope) -> None:
        """An update of a `Sum`, `Max` or `Min`."""
        access = self.rng.choice(("Sum", "Sum", "Max", "Min"))
        walkers = [w for w in self.space if w not in self.each]
        # Sums of narrow floats are rounded in an order of their own.
        allowed = ("f32", "i32", "i64", "f64", *(("i8", "u16") if access == "Sum" else ("f16", "bf16", "u8", "u64")))
        tile = self.any_tile(scope, lambda t: t.dtype in allowed and not t.rough)
        if tile.dtype not in allowed or tile.rough or "k" in tile.axes:
            return
        axes = tile.axes
        picks, dims = [], []
        for axis in axes:
            if axis in self.sizes and self.chance(0.4):
                ids = self.tensor("In", 'Index["V"]', (self.dims[axis],), self.rng.choice(("V", "none")))
                entries = f"{ids.name}[{axis}]"
                picks.append(self.or_none(scope, axis, entries) if self.chance(0.4) else entries)
                dims.append("V")
            else:
                picks.append(axis if axis in self.sizes else f"0:{axis}" if axis.isdigit() else ":")
                dims.append(self.dims.get(axis, axis))
        if not axes:
            picks, dims = [str(self.rng.randrange(2))], ["2"]
            if walkers and self.chance(0.5):
                picks, dims = [f"{walkers[0]}.start % 3"], ["3"]
        if any(":" in pick for pick in picks):
            access = "Sum"
        tensor, place = self.tensor(access, tile.dtype, tuple(dims)), ", ".join(picks)
        tensor.keeps = self.chance(0.4)
        if access == "Sum":
            scope.lines.append(f"{tensor.name}[{place}] += {tile.name}")
        else:
            scope.lines.append(f"tp.update({tensor.name}, ({place},), {tile.name})")

    # The whole.

    def made(self) -> Made:
        shape = self.rng.choice(("i", "i", "ij", "ij", "ji", "n", "ni", "", "z", "s"))
        heads, targets = [], []
        joined = "z" in shape
        self.dims |= {"n": "R"}
        for walker in shape:
            if walker == "n":
                self.each.append("n")
                heads.append("R=tp.each")
                targets.append("n")
            elif walker == "z":
                heads += ["M=BM", "K=tp.split(SK)"]
                targets += ["i", "z"]
            elif walker == "s":
                off = self.tensor("In", 'Offsets["M"]', ("S",), "M")
                heads.append(f"tp.segments({off.name}, M=BM)")
                targets.append("(e, i)")
            else:
                heads.append(f"{self.dims[walker]}=B{self.dims[walker]}")
                targets.append(walker)
        self.space = [w for w in ("n", "i", "j") if any(w in target for target in targets)]
        self.rng.shuffle(self.space)
        scope = Scope([], list(self.space))
        if joined:
            self.joined(scope)
        self.steps(scope, self.rng.choice((1, 2, 3, 5)))
        for _ in range(self.rng.choice((1, 2, 3))):
            self.store(scope)
            if self.chance(0.5):
                self.steps(scope, self.rng.choice((1, 2)))
            if self.chance(0.3) and self.space:
                self.combine(scope)
        self.store(scope)
        self.drain(scope)
        lines = scope.lines
        if heads:
            if targets == ["(e, i)"]:
                targets = ["e", "i"]
            lines = [f"for {', '.join(targets)} in tp.parallel({', '.join(heads)}):", *(f"    {x}" for x in lines)]
        return Made(self.seed, self.text(lines), self.tensors, self.constants, self.walked())

    def joined(self, scope: Scope) -> None:
        """Parts of a split axis, joined."""
        x = self.tensor("In", "f32", ("M", "K"))
        y = self.tensor("In", "f32", ("K",))
        by = self.rng.choice(("", ", by=lambda a, b: tp.maximum(a, b)", ", by=lambda a, b: folded(a * 2 + b)"))
        scope.lines += [
            "part = tp.zeros((i,))",
            "for k in z.tiles(BK):",
            "    part += (folded(x1[i, k]) * y1[k][None, :]).sum(axis=1)".replace("x1", x.name).replace("y1", y.name),
            f"whole = folded(tp.join(folded(part), over=z{by}))",
        ]
        scope.tiles.append(Tile("whole", "f32", ("i",)))

    def walked(self) -> dict[str, int]:
        return {self.dims[w]: size for w, size in self.sizes.items()}

    def text(self, lines: list[str]) -> str:
        self.tensor("In", "i32", ("M", "N", "K", "R", "V", "D", "E"))  # decides every dimension
        order = sorted(self.tensors, key=lambda t: t.access == "In")
        keep = {True: ', "keep"', False: ""}
        parameters = [
            f'{t.name}: {t.access}[{t.dtype}, "{" ".join(map(_written, t.dims))}"{keep[t.keeps]}]' for t in order
        ]
        sizes = {"BM": self.sizes["i"], "BN": self.sizes["j"], "BK": self.sizes["k"], "SK": 2 * self.sizes["k"]}
        constants = [*(f"{name}: int = {value}" for name, value in sizes.items()), "D: int", "E: int"]
        self.tensors = order
        head = f"@tp.kernel\ndef k({', '.join([*parameters, 'much: i32', 'cut: i32', '*', *constants])}) -> None:\n"
        if self.halved:
            lines = [f'past, fresh = tp.split_at({self.halved}, "M", cut)', *lines]
        return HEAD + head + "".join(f"    {line}\n" for line in lines)


def _written(dimension: str) -> str:
    """A dimension as a signature has it."""
    return "_" if dimension.startswith((OTHER, GUARDED)) else dimension


def generate(seed: int) -> Made:
    """Kernel number `seed`."""
    return Writer(seed).made()


def arguments(made: Made, number: int) -> list[Any]:
    """The arguments of launch `number`, by position."""
    rng = np.random.default_rng([made.seed, number])
    extents = {name: _extent(rng, made.walked.get(name, 3), number) for name in ("M", "N", "K")}
    extents |= {"R": int(rng.integers(0, 4)), "V": int(rng.integers(1, 9)), "S": int(rng.integers(2, 5))}
    extents |= made.constants
    special = rng.random() < 0.15
    arrays = [_array(tensor, extents, rng, special) for tensor in made.tensors]
    return [*arrays, int(rng.integers(0, 4)), int(rng.integers(0, extents["M"] + 1))]


def _extent(rng: np.random.Generator, size: int, number: int) -> int:
    """Now and then nothing or a multiple of the tile, else with a ragged end."""
    some = (0, size, 2 * size, rng.integers(1, size + 1), rng.integers(1, 3 * size + 1))
    return int(some[(number + rng.integers(5)) % 5])


def _array(tensor: Tensor, extents: dict[str, int], rng: np.random.Generator, special: bool) -> Any:
    shape = [_long(dim, extents, rng) for dim in tensor.dims]
    if len(shape) == 7:
        return np.broadcast_to(np.int32(0), shape)
    if tensor.dtype.startswith("Index"):
        return rng.integers(-1 if tensor.of == "none" else 0, extents["V"], shape, dtype=np.int32)
    if tensor.dtype.startswith("Offsets"):
        borders = np.sort(rng.integers(0, extents["M"] + 1, shape))
        borders[0], borders[-1] = 0, extents["M"]
        return borders.astype(np.int32)
    dtype = NUMPY[tensor.dtype]
    if tensor.dtype == "bool":
        return rng.integers(0, 2, shape).astype(dtype)
    low = 0 if tensor.dtype.startswith("u") else -8
    array = rng.integers(low, 9, shape).astype(dtype)
    if special and tensor.dtype in LARGEST and array.size and tensor.access == "In":
        array[rng.random(shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    if tensor.dtype in LARGEST:
        for axis, dim in enumerate(tensor.dims):
            if dim.startswith(OTHER):  # what lies behind the last element is never seen
                array.swapaxes(0, axis)[extents[dim[1:]] :] = np.nan
    return array


def _long(dim: str, extents: dict[str, int], rng: np.random.Generator) -> int:
    """How long an axis is."""
    if dim.startswith(OTHER):
        return extents[dim[1:]] + int(rng.integers(0, 5))
    if dim.startswith(GUARDED):
        return max(extents[dim[1:]] + int(rng.integers(-4, 3)), 0)
    return extents[dim] if dim in extents else int(dim)
