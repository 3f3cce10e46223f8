"""Random operations on tiles as text, each with the type of what it makes.

Floats hold small whole numbers and are folded back before they grow, so that sums and products are exact in any order,
fused or not; what is not exact (`exp`) is *rough*, and decides nothing: no comparison, no conversion to integers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias

FLOATS = ("f32", "f32", "f32", "f64", "f16", "bf16")
INTS = ("i32", "i32", "i64", "i8", "u8", "i16", "u16", "u32", "u64")
LARGEST = {"f16": 1 << 10, "bf16": 1 << 7, "f32": 1 << 22, "f64": 1 << 40}
"""Up to here every whole number is exact, with room for a sum."""
SIZES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 24, 32, 33)
Axes: TypeAlias = tuple[str, ...]
"""A walker, a static dimension, or a length, for each axis."""


@dataclass(frozen=True)
class Tile:
    """A name in the text and what it stands for."""

    name: str
    dtype: str
    axes: Axes
    largest: float = 8
    rough: bool = False

    @property
    def is_float(self) -> bool:
        return self.dtype in LARGEST


@dataclass
class Tensor:
    name: str
    access: str
    dtype: str
    dims: tuple[str, ...]
    of: str = ""
    """What an index tensor points into, or offsets divide."""
    keeps: bool = False
    """What is combined starts from what it holds."""


@dataclass
class Scope:
    """Names that may be used here, and the walkers that may index."""

    tiles: list[Tile]
    walkers: list[str]
    depth: int = 0
    lines: list[str] = field(default_factory=list)

    def inner(self, *walkers: str) -> Scope:
        return Scope(list(self.tiles), [*self.walkers, *walkers], self.depth + 1)


class Tiles:
    """Lines that make tiles of tiles, for the body of one kernel."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"fuzz:{seed}")
        self.seed = seed
        self.tensors: list[Tensor] = []
        self.constants = {"D": self.rng.choice(SIZES), "E": self.rng.choice((1, 2, 3, 4, 8))}
        self.sizes = {"i": self.rng.choice(SIZES), "j": self.rng.choice(SIZES), "k": self.rng.choice(SIZES)}
        self.dims = {"i": "M", "j": "N", "k": "K", "D": "D", "E": "E"}
        self.space: list[str] = []
        self.each: list[str] = []
        self.halved = ""
        """The tensor that is cut in two, if there is one."""
        self.numbers = 0

    # Choices.

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def fresh(self, stem: str = "t") -> str:
        self.numbers += 1
        return f"{stem}{self.numbers}"

    def axes(self, scope: Scope, rank: int) -> Axes:
        pool = [*(w for w in scope.walkers if w not in self.each), "D", "E", "D", self.rng.choice("1234")]
        found: list[str] = []
        for _ in range(rank):
            left = [axis for axis in pool if axis not in found]
            found.append(self.rng.choice(left))
        return tuple(found)

    def length(self, axis: str) -> int:
        return self.sizes.get(axis) or self.constants.get(axis) or int(axis)

    def is_full(self, tile: Tile) -> bool:
        return all(axis not in self.sizes for axis in tile.axes)

    def any_tile(self, scope: Scope, wanted: Any = None) -> Tile:
        good = [tile for tile in scope.tiles if wanted is None or wanted(tile)]
        if not good or self.chance(0.15):
            made = self.load(scope, self.axes(scope, self.rng.choice((1, 1, 2, 2, 3))), None)
            return made if wanted is None or wanted(made) else good[0] if good else made
        return self.rng.choice(good[-8:] if self.chance(0.7) else good)

    # Lines.

    def let(self, scope: Scope, text: str, dtype: str, axes: Axes, largest: float = 8, rough: bool = False) -> Tile:
        """Binds a name to a value, folded if it may have grown too large to be exact."""
        name = self.fresh()
        scope.lines.append(f"{name} = {text}")
        if dtype in LARGEST and largest > LARGEST[dtype] ** 0.4:
            scope.lines.append(f"{name} = folded({name})" if not rough else f"{name} = tp.clip({name}, -8.0, 8.0)")
            largest = 8
        tile = Tile(name, dtype, axes, largest, rough)
        scope.tiles.append(tile)
        return tile

    def load(self, scope: Scope, axes: Axes, dtype: str | None) -> Tile:
        dtype = dtype or self.rng.choice((*FLOATS, *INTS) if self.chance(0.5) else ("f32",))
        dims, picks = [], []
        for axis in axes:
            if axis.isdigit():
                start = self.rng.choice((0, 0, 1, 3))
                dims.append(str(int(axis) + start + self.rng.choice((0, 2))))
                picks.append(f"{start}:{start + int(axis)}")
            else:
                dims.append(self.dims[axis])
                picks.append(axis if axis in self.sizes else ":")
        for walker in self.each:
            if self.chance(0.5):
                place = self.rng.randrange(len(dims) + 1)
                dims.insert(place, self.dims[walker])
                picks.insert(place, walker)
        tensor = self.tensor("In", dtype, tuple(dims))
        text = f"{tensor.name}[{', '.join(picks)}]"
        if len(axes) == 1 and axes[0] in self.sizes and len(dims) == 1:
            text = self.rng.choice((
                text, text, f"{tensor.name}[{axes[0]}.elements]", f"{tensor.name}.get({axes[0]}.elements - 2, 1)",
                f"{tensor.name}.get({axes[0]}.elements * 2, 1)",
                f'{tensor.name}[tp.dim("{dims[0]}") - 1 - {axes[0]}.elements]',
            ))  # fmt: skip
        return self.let(scope, text, dtype, axes)

    def tensor(self, access: str, dtype: str, dims: tuple[str, ...], of: str = "") -> Tensor:
        same = [t for t in self.tensors if (t.access, t.dtype, t.dims, t.of) == (access, dtype, dims, of)]
        if same and access == "In" and self.chance(0.6):
            return self.rng.choice(same)
        found = Tensor(self.fresh("x" if access == "In" else "y"), access, dtype, dims, of)
        self.tensors.append(found)
        return found

    def spread(self, tile: Tile, axes: Axes) -> str | None:
        """The tile with axes of length 1 where it has none of `axes`."""
        left = list(tile.axes)
        parts = []
        for axis in axes:
            if left and left[0] == axis:
                parts.append(":")
                left.pop(0)
            else:
                parts.append("None")
        if left:
            return None
        return tile.name if not tile.axes or "None" not in parts else f"{tile.name}[{', '.join(parts)}]"

    # Operations. Each adds a tile, or gives up.

    def step(self, scope: Scope) -> None:
        makers = [
            self.binary, self.binary, self.binary, self.unary, self.cast, self.where, self.reduce, self.reduce,
            self.scan, self.fold, self.reshape, self.cut, self.cat, self.fill, self.product, self.product, self.turn,
            self.products, self.gather, self.full, self.rough, self.bits, self.number, self.take,
        ]  # fmt: skip
        self.rng.choice(makers)(scope)

    def binary(self, scope: Scope) -> None:
        one = self.any_tile(scope)
        two = self.any_tile(scope, lambda t: t.dtype == one.dtype)
        if one.dtype != two.dtype:
            return
        axes = one.axes if len(one.axes) >= len(two.axes) else two.axes
        if self.chance(0.3) and len(one.axes) + len(two.axes) <= 3 and not set(one.axes) & set(two.axes):
            axes = (*one.axes, *two.axes)
        left, right = self.spread(one, axes), self.spread(two, axes)
        if left is None or right is None:
            return
        if self.chance(0.2):
            right, two = str(self.rng.randint(1, 3)), replace(two, largest=3, rough=False)
            if one.dtype == "bool":
                return
        rough = one.rough or two.rough
        if one.dtype == "bool":
            self.let(scope, f"{left} {self.rng.choice('&|^')} {right}", "bool", axes)
        elif self.chance(0.15) and not rough:
            self.let(scope, f"{left} {self.rng.choice(('<', '<=', '==', '!=', '>', '>='))} {right}", "bool", axes)
        elif self.chance(0.2):
            self.let(scope, f"tp.{self.rng.choice(('maximum', 'minimum'))}({left}, {right})", one.dtype, axes,
                     max(one.largest, two.largest), rough)  # fmt: skip
        elif one.is_float:
            sign = self.rng.choice("+-*")
            most = one.largest * two.largest if sign == "*" else one.largest + two.largest
            self.let(scope, f"{left} {sign} {right}", one.dtype, axes, most, rough)
        else:
            sign = self.rng.choice(("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "**", "cdiv"))
            text = f"tp.cdiv({left}, {right})" if sign == "cdiv" else f"{left} {sign} {right}"
            self.let(scope, text, one.dtype, axes)

    def unary(self, scope: Scope) -> None:
        one = self.any_tile(scope)
        if one.dtype == "bool":
            self.let(scope, f"~{one.name}", "bool", one.axes)
        elif one.is_float and not one.rough and self.chance(0.4):
            text = self.rng.choice(("tp.floor({})", "tp.ceil({})", "tp.round({} * 0.5)", "tp.sqrt({}) * 0.0"))
            rough = "sqrt" in text
            self.let(scope, text.format(one.name), one.dtype, one.axes, one.largest, rough)
        else:
            text = self.rng.choice(("-{}", "tp.abs({})", "tp.clip({}, 1, 5)"))
            self.let(scope, text.format(one.name), one.dtype, one.axes, max(one.largest, 5), one.rough)

    def rough(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: t.is_float)
        if one.is_float:
            fn = self.rng.choice(("exp", "tanh", "sigmoid", "sin", "cos", "erf"))
            self.let(scope, f"tp.{fn}(tp.clip({one.name}, -2.0, 2.0))", one.dtype, one.axes, 8, True)

    def bits(self, scope: Scope) -> None:
        """Steps over integers that look at single bits and positions."""
        one = self.any_tile(scope, lambda t: t.dtype == "i32" and len(t.axes) == 1)
        if one.dtype == "i32" and len(one.axes) == 1:
            self.let(scope, f"tp.floor(tp.random(7, {one.name}) * 8.0)", "f32", one.axes)

    def number(self, scope: Scope) -> None:
        """A scalar of a walker, or a scalar from a tensor."""
        walkers = [w for w in scope.walkers if w not in self.each]
        if walkers and self.chance(0.6):
            walker, what = self.rng.choice(walkers), self.rng.choice(("start", "stop", "number"))
            self.let(scope, f"({walker}.{what} % 5).to(i32)", "i32", ())
        else:
            tensor = self.tensor("In", self.rng.choice(("f32", "i32")), ("3",))
            self.let(scope, f"{tensor.name}[{self.rng.randrange(3)}]", tensor.dtype, ())

    def cast(self, scope: Scope) -> None:
        one = self.any_tile(scope)
        to = self.rng.choice((*FLOATS, *INTS))
        if one.rough and to not in LARGEST:
            return
        largest = one.largest
        text = one.name
        if to in LARGEST and not one.is_float and one.dtype != "bool":
            text, largest = f"({text} & 7)", 8
        if to in LARGEST and largest > LARGEST[to]:
            text, largest = (f"folded({text})" if not one.rough else f"tp.clip({text}, -8.0, 8.0)"), 8
        self.let(scope, f"{text}.to({to})", to, one.axes, largest, one.rough)

    def where(self, scope: Scope) -> None:
        yes = self.any_tile(scope)
        no = self.any_tile(scope, lambda t: t.dtype == yes.dtype)
        test = self.any_tile(scope, lambda t: not t.rough)
        if yes.dtype != no.dtype or test.rough:
            return
        axes = max((yes.axes, no.axes, test.axes), key=len)
        spread = [self.spread(tile, axes) for tile in (test, yes, no)]
        if None in spread:
            return
        condition = spread[0] if test.dtype == "bool" else f"{spread[0]} > 1"
        self.let(scope, f"tp.where({condition}, {spread[1]}, {spread[2]})", yes.dtype, axes,
                 max(yes.largest, no.largest), yes.rough or no.rough)  # fmt: skip

    def reduce(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: bool(t.axes))
        if not one.axes:
            return
        axis = self.rng.randrange(len(one.axes))
        left = (*one.axes[:axis], *one.axes[axis + 1 :])
        length = self.length(one.axes[axis])
        keep = self.chance(0.2) and len(one.axes) > 1
        if keep:
            left = (*one.axes[:axis], "1", *one.axes[axis + 1 :])
        tail = f"axis={axis}, keepdims=True" if keep else f"axis={axis}"
        if one.dtype == "bool":
            self.let(scope, f"{one.name}.{self.rng.choice(('any', 'all'))}({tail})", "bool", left)
        elif self.chance(0.2) and not one.rough:
            fn = self.rng.choice(("argmax", "argmin"))
            self.let(scope, f"tp.{fn}({one.name}, {tail}).to(i32)", "i32", left)
        elif self.chance(0.4):
            self.let(scope, f"{one.name}.{self.rng.choice(('max', 'min'))}({tail})", one.dtype, left, one.largest,
                     one.rough)  # fmt: skip
        else:
            dtype = self.summed(one.dtype)
            if dtype is not None and one.largest * length < LARGEST.get(dtype, 1e30):
                self.let(scope, f"{one.name}.sum({tail})", dtype, left, one.largest * length, one.rough)

    def summed(self, dtype: str) -> str | None:
        if dtype in ("f16", "bf16"):
            return "f32"
        if dtype in ("i8", "i16", "u8", "u16", "bool"):
            return "i32" if dtype in ("i8", "i16", "bool") else None
        return dtype

    def scan(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: bool(t.axes) and t.dtype != "bool")
        if not one.axes or one.dtype == "bool":
            return
        axis = self.rng.randrange(len(one.axes))
        dtype, most = self.summed(one.dtype), one.largest * self.length(one.axes[axis])
        if self.chance(0.5) and dtype is not None and most < LARGEST.get(dtype, 1e30):
            self.let(scope, f"tp.cumsum({one.name}, axis={axis})", dtype, one.axes, most, one.rough)
        else:
            by = self.rng.choice(("tp.maximum", "lambda a, b: tp.where(b > a, b, a)", "lambda a, b: b"))
            if not one.rough:
                self.let(scope, f"tp.scan({one.name}, by={by}, axis={axis})", one.dtype, one.axes, one.largest)

    def fold(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: bool(t.axes) and t.dtype != "bool" and not t.rough)
        if not one.axes or one.dtype == "bool" or one.rough:
            return
        axis = self.rng.randrange(len(one.axes))
        left = (*one.axes[:axis], *one.axes[axis + 1 :])
        if self.chance(0.5):
            by = self.rng.choice(("lambda a, b: tp.minimum(a, b)", "lambda a, b: a", "lambda a, b: b"))
            self.let(scope, f"tp.reduce({one.name}, by={by}, identity=0, axis={axis})", one.dtype, left, one.largest)
        else:
            first, second = self.fresh(), self.fresh()
            by = "lambda a, b: (tp.maximum(a[0], b[0]), tp.where(b[0] > a[0], b[1], a[1]))"
            pair = f"({one.name}, {one.name} * 0 + 2)"
            scope.lines.append(f"{first}, {second} = tp.reduce({pair}, by={by}, identity=(0, 0), axis={axis})")
            scope.tiles += [Tile(name, one.dtype, left, one.largest) for name in (first, second)]

    def reshape(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: bool(t.axes) and self.is_full(t))
        if not one.axes or not self.is_full(one):
            return
        count = prod(self.length(axis) for axis in one.axes)
        low = self.rng.choice([n for n in range(1, count + 1) if count % n == 0])
        shape = self.rng.choice(((count,), (low, count // low), (1, count), (count // low, low)))
        self.let(scope, f"{one.name}.reshape({', '.join(map(str, shape))})", one.dtype, tuple(map(str, shape)),
                 one.largest, one.rough)  # fmt: skip

    def cut(self, scope: Scope) -> None:
        """A slice along an axis that is full."""
        one = self.any_tile(scope, lambda t: any(a not in self.sizes for a in t.axes))
        places = [n for n, axis in enumerate(one.axes) if axis not in self.sizes]
        if not places:
            return
        place = self.rng.choice(places)
        length = self.length(one.axes[place])
        start = self.rng.randrange(length)
        stop = self.rng.randint(start + 1, length)
        parts = [":"] * len(one.axes)
        parts[place] = f"{start}:{stop}"
        axes = (*one.axes[:place], str(stop - start), *one.axes[place + 1 :])
        self.let(scope, f"{one.name}[{', '.join(parts)}]", one.dtype, axes, one.largest, one.rough)

    def take(self, scope: Scope) -> None:
        """What a tile has at one place along an axis."""
        one = self.any_tile(scope, lambda t: bool(t.axes))
        if not one.axes:
            return
        place = self.rng.randrange(len(one.axes))
        axis, parts = one.axes[place], [":"] * len(one.axes)
        if axis in self.sizes:
            parts[place] = self.rng.choice(("0", f"({axis}.stop - {axis}.start - 1)"))
        else:
            length = self.length(axis)
            parts[place] = self.rng.choice((str(self.rng.randrange(length)), f"much % {length}", str(length - 1)))
        axes = (*one.axes[:place], *one.axes[place + 1 :])
        self.let(scope, f"{one.name}[{', '.join(parts)}]", one.dtype, axes, one.largest, one.rough)

    def cat(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: any(a not in self.sizes for a in t.axes))
        places = [n for n, axis in enumerate(one.axes) if axis not in self.sizes]
        if not places or one.dtype == "bool":
            return
        place = self.rng.choice(places)
        axes = (*one.axes[:place], str(2 * self.length(one.axes[place])), *one.axes[place + 1 :])
        if self.length(axes[place]) <= 64:
            self.let(scope, f"tp.cat(({one.name}, {one.name} * 2), axis={place})", one.dtype, axes, 2 * one.largest,
                     one.rough)  # fmt: skip

    def fill(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: t.dtype != "bool" and bool(t.axes))
        if one.dtype != "bool" and one.axes:
            axes = tuple(str(self.length(axis)) for axis in one.axes)
            self.let(scope, f"{one.name}.fill(1)", one.dtype, axes, one.largest, one.rough)

    def turn(self, scope: Scope) -> None:
        one = self.any_tile(scope, lambda t: len(t.axes) > 1)
        if len(one.axes) > 1 and self.chance(0.5):
            order = self.rng.sample(range(len(one.axes)), len(one.axes))
            axes = tuple(one.axes[axis] for axis in order)
            text = f"{one.name}.permute({', '.join(map(str, order))})"
            self.let(scope, text, one.dtype, axes, one.largest, one.rough)
        elif len(one.axes) > 1:
            self.let(scope, f"{one.name}.T", one.dtype, one.axes[::-1], one.largest, one.rough)

    def full(self, scope: Scope) -> None:
        axes = self.axes(scope, self.rng.choice((1, 2)))
        dtype = self.rng.choice(("f32", "i32", "f64"))
        shape = f"({', '.join(axes)},)"
        self.let(scope, f"tp.full({shape}, {self.rng.randrange(4)}, {dtype})", dtype, axes)

    def gather(self, scope: Scope) -> None:
        """Rows of a table, or elements, that index tensors name."""
        walkers = [w for w in scope.walkers if w not in self.each]
        if not walkers:
            return
        walker = self.rng.choice(walkers)
        ids = self.tensor("In", 'Index["V"]', (self.dims[walker],), "V")
        dtype = self.rng.choice(("f32", "f16", "i32"))
        if self.chance(0.5):
            table = self.tensor("In", dtype, ("V", "D"))
            text, axes = f"{table.name}[{ids.name}[{walker}], :]", (walker, "D")
        else:
            table = self.tensor("In", dtype, ("V",))
            text, axes = f"{table.name}.get({ids.name}[{walker}], 3)", (walker,)
        if self.chance(0.3) and len(axes) == 2:
            table = self.tensor("In", dtype, ("D", "V"))
            text, axes = f"{table.name}[:, {ids.name}[{walker}]]", ("D", walker)
        self.let(scope, text, dtype, axes)

    def product(self, scope: Scope) -> None:
        kind = self.rng.choice(("f32", "f32", "f16", "bf16", "f64", "i8", "u8"))
        out = {"f64": "f64", "i8": "i32", "u8": "i32"}.get(kind, "f32")
        m, k, n = self.axes(scope, 3)
        left = self.operand(scope, kind, (m, k))
        right = self.operand(scope, kind, (k, n))
        if left is None or right is None or left.rough or right.rough:
            return
        acc = f"tp.zeros(({m}, {n}), {out})"
        held = [t for t in scope.tiles if t.dtype == out and t.axes == (m, n) and not t.rough]
        if held and self.chance(0.5):
            acc = self.rng.choice(held).name
        most = left.largest * right.largest * self.length(k) + 64
        if out == "i32" or most < LARGEST[out]:
            self.let(scope, f"tp.mma({left.name}, {right.name}, {acc})", out, (m, n), most)

    def products(self, scope: Scope) -> None:
        """Several products at once."""
        kind = self.rng.choice(("f32", "f16", "f64", "i8"))
        out = {"f64": "f64", "i8": "i32"}.get(kind, "f32")
        m, k, n = self.axes(scope, 3)
        free = [w for w in scope.walkers if w not in self.each and w not in (m, k, n)]
        g = self.rng.choice([*free, *sorted({"1", "2", "3"} - {m, k, n})])
        if self.length(g) * self.length(m) * self.length(n) > 1 << 13:
            return
        left, right = self.load(scope, (g, m, k), kind), self.load(scope, (g, k, n), kind)
        shape = f"({g}, {m}, {n})"
        text = f"tp.mma({left.name}, {right.name}, tp.full({shape}, 1, {out}))" if self.chance(0.5) else (
            f"{left.name} @ {right.name}"
        )
        self.let(scope, text, out, (g, m, n), 64 * self.length(k) + 1)

    def operand(self, scope: Scope, dtype: str, axes: Axes) -> Tile | None:
        good = [t for t in scope.tiles if t.dtype == dtype and t.axes in (axes, axes[::-1]) and not t.rough]
        if good and self.chance(0.7):
            tile = self.rng.choice(good)
            if tile.axes == axes:
                return tile
            return self.let(scope, f"{tile.name}.T", dtype, axes, tile.largest)
        if axes[0] in self.sizes and axes[1] == "D" and self.chance(0.3):
            ids = self.tensor("In", 'Index["V"]', (self.dims[axes[0]],), "V")
            table = self.tensor("In", dtype, ("V", "D"))
            return self.let(scope, f"{table.name}[{ids.name}[{axes[0]}], :]", dtype, axes)
        if self.chance(0.3):
            tile = self.load(scope, axes[::-1], dtype)
            return self.let(scope, f"{tile.name}.T", dtype, axes)
        return self.load(scope, axes, dtype)
