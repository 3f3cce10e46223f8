"""Random kernels of tile operations agree with whole-array numpy, at ragged extents and in any order of programs.

Those that are proved give the same when they are launched.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_files import kernel

import tileproof as tp
from oracles.whole_arrays import Axis, Ref, Space, made, objects, untagged
from oracles.whole_numbers import (
    BOOL,
    COMPARISONS,
    ELEMENTARY,
    F32,
    INDEX,
    STEPS,
    TYPES,
    Impossible,
    Type,
    accumulator,
    rounded,
    stored_only,
    widened,
)
from tileproof.diagnostics.codes import Code
from tileproof.ir.verifier import verify
from tileproof.runtime.launch.launch import prepare

EXAMPLES = int(os.environ.get("TILEPROOF_EXAMPLES", "160"))
UNPROVED = {Code.NOT_IN_BOUNDS, Code.MAY_NOT_FIT}
"""What may be said of such a kernel for other sizes. That its programs meet, or leave a gap, may not."""
LONGEST = 70
"""A longer expression gets a name."""

STORED = [type_ for type_ in TYPES.values() if type_ is not INDEX and type_.name != "tf32"]
FLOATS = [type_ for type_ in STORED if type_.kind == "float"]
SHAPES = ["", "M", "N", "D", "3", "M N", "N M", "M D", "D N", "M N D", "D M", "M 3"]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "maximum", "minimum", "cdiv", *COMPARISONS]
UNARY = ["-", "abs", "~", "isnan", *STEPS, *ELEMENTARY]
REDUCTIONS = ["sum", "mean", "max", "min", "argmax", "argmin", "any", "all"]
FLOAT_VALUES = [
    0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 1e-30, 3e38, 65504.0, 0.1, 2.0**-24, 448.0, 1e30,
    1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40,
]  # fmt: skip
WHOLE_VALUES = [0, 1, 2**24 + 2**16 + 1, 2**40 + 2**32 + 1]
"""The last of both are just past the middle of two 16-bit floats: to be rounded once, not twice."""
Item = TypeVar("Item")
Integer = Callable[[int, int], int]


@dataclass(frozen=True)
class Expression:
    """Source text, and what it should be."""

    text: str
    ref: Ref


class Program:
    """A kernel being written. `integer(low, high)` makes all choices."""

    def __init__(self, integer: Integer) -> None:
        self.integer = integer
        sizes = {"M": integer(1, 5), "N": integer(1, 5)}
        self.step = integer(1, 4)
        self.space = Space({"M": integer(0, 9), "N": integer(0, 9), "D": integer(0, 4), "K": integer(0, 6)}, sizes)
        self.rng = np.random.default_rng(integer(0, 2**16))
        self.signature: list[str] = []
        self.arguments: list[Any] = []
        self.lines: list[str] = []
        self.pool: list[Expression] = []
        self.expected: list[tuple[Any, Ref, tuple[str, ...]]] = []
        self.names = 0

    # Choices.

    def choose(self, items: Sequence[Item]) -> Item:
        return items[self.integer(0, len(items) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.integer(1, one_in) == one_in

    def pick(self, *kinds: str) -> Expression:
        """A value made before, of one of these kinds if there is one."""
        fitting = [value for value in self.pool if not kinds or value.ref.type.kind in kinds]
        return self.choose((fitting or self.pool)[-6:])

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # Arguments.

    def numbers(self, type_: Type, shape: Sequence[int]) -> Any:
        """Random elements: mostly small, so that sums are exact, and now and then extreme."""
        rng = self.rng
        if type_ is BOOL:
            return rng.integers(0, 2, shape).astype(bool)
        small = rng.integers(-12 if type_.kind != "uint" else 0, 13, shape)
        odd = rng.random(shape) < self.choose([0.0, 0.0, 0.1, 0.5])
        if type_.kind == "float":
            values = np.where(odd, rng.choice(FLOAT_VALUES, shape) * rng.choice([1, -1], shape), small / 4)
            return rounded(values, type_).astype(type_.storage)
        least, greatest = type_.limits
        fitting = [least, greatest, greatest - 1, least + 1, *(value for value in WHOLE_VALUES if value <= greatest)]
        extremes = rng.choice(np.asarray(fitting, type_.storage), shape)
        return np.where(odd, extremes, small.astype(type_.storage)).astype(type_.storage)

    def tensor(self, type_: Type, words: str) -> tuple[str, Any, Ref]:
        """A new `In`, its array, and the array as a value over its own dimensions."""
        name, dims = self.fresh("a"), words.split()
        array = self.numbers(type_, [self.space.extents.get(dim) or (3 if dim == "3" else 0) for dim in dims])
        self.signature.append(f'{name}: In[{type_.name}, "{words}"]')
        self.arguments.append(array)
        data = array.astype(np.float64) if type_.kind == "float" else objects(array)
        return name, array, made(type_, (), dims, data)

    def scalar(self) -> Expression:
        type_, name = self.choose([t for t in STORED if t.bits > 8 or t.kind != "float"]), self.fresh("s")
        value = self.numbers(type_, (1,))[0]
        self.signature.append(f"{name}: {type_.name}")
        self.arguments.append(value)
        data = np.float64(value) if type_.kind == "float" else objects(np.asarray(value))
        return Expression(name, made(type_, (), (), np.asarray(data)))

    # Expressions.

    def load(self) -> Expression:
        words = self.choose(SHAPES)
        name, _, whole = self.tensor(self.choose(STORED), words)
        parts, ref, axes = [], whole, []
        for dim in words.split():
            text, axis, ref = self.part(dim, ref)
            parts.append(text)
            axes += [] if axis is None else [axis]
        return Expression(f"{name}[{', '.join(parts) or '()'}]", made(ref.type, axes, ref.dims, ref.data, ref.err))

    def part(self, dim: str, ref: Ref) -> tuple[str, Axis | None, Ref]:
        """One index of a load: its text, the axis it makes, and the array with it applied."""
        space, place = self.space, ref.dims.index(dim)

        def taken(where: Any, name: str) -> Ref:
            data = np.take(ref.data, np.asarray(where, int), place)
            return Ref(ref.type, (), (*ref.dims[:place], name, *ref.dims[place + 1 :]), data)

        if dim in space.sizes:
            walker = {"M": "i", "N": "j"}[dim]
            match self.integer(0, 5):
                case 0:
                    return f"{walker}.start", None, taken(space.starts(dim), dim)
                case 1:
                    back = space.extents[dim] - 1 - np.arange(space.extents[dim])
                    return f'tp.dim("{dim}") - 1 - {walker}.elements', space.axis(dim), taken(back, dim)
                case _:
                    return walker, space.axis(dim), ref
        extent = space.extents.get(dim, 3)
        match self.integer(0, 4):
            case 0 if extent:
                at = self.integer(0, extent - 1)
                data = np.take(ref.data, at, place)
                return str(at), None, Ref(ref.type, (), (*ref.dims[:place], *ref.dims[place + 1 :]), data)
            case 1:
                low = self.integer(0, extent)
                high = self.integer(low, extent)
                axis = untagged(high - low)
                return f"{low}:{high}", axis, taken(range(low, high), axis.name)
            case 2:
                axis = untagged(extent)
                return f"{extent - 1} - tp.arange({extent})", axis, taken(range(extent)[::-1], axis.name)
            case _:
                axis = space.axis("D") if dim == "D" else untagged(3)
                return ":", axis, taken(range(extent), axis.name)

    def positions(self) -> Expression:
        dim = self.choose(["M", "N"])
        walker, extent = {"M": "i", "N": "j"}[dim], self.space.extents[dim]
        starts = self.space.starts(dim)
        match self.integer(0, 4):
            case 0:
                return Expression(f"{walker}.start", made(INDEX, (), (dim,), objects(starts)))
            case 1:
                stops = np.minimum(starts + self.space.sizes[dim], extent)
                return Expression(f"{walker}.stop", made(INDEX, (), (dim,), objects(stops)))
            case 2:
                return Expression(f'tp.dim("{dim}")', made(INDEX, (), (), np.asarray(extent, object)))
            case _:
                axes = (self.space.axis(dim),)
                return Expression(f"{walker}.elements", made(INDEX, axes, (dim,), objects(np.arange(extent))))

    def filled(self) -> Expression:
        space = self.space
        sizes = {"BM": space.sizes["M"], "BN": space.sizes["N"], "D": space.extents["D"]}
        lengths = {"i": 0, "j": 0, "1": 1, "2": 2, **sizes}
        words = [self.choose(list(lengths)) for _ in range(self.integer(0, 2))]
        if words.count("i") > 1 or words.count("j") > 1:
            words = words[:1]
        walked = {"i": space.axis("M"), "j": space.axis("N")}
        axes = [walked.get(word) or untagged(lengths[word]) for word in words]
        shape = f"({', '.join(words)}{',' * (len(words) == 1)})"
        type_ = self.choose(list(TYPES.values()))
        if type_ is INDEX or self.chance(4):
            length = self.choose([2, 3, self.space.sizes["M"], self.space.sizes["N"]])
            axis = untagged(length)
            return Expression(f"tp.arange({length})", made(INDEX, (axis,), (axis.name,), objects(np.arange(length))))
        text, value = self.literal(type_)
        return Expression(f"tp.full({shape}, {text}, {type_.name})", made(type_, axes, (), np.asarray(value)))

    def literal(self, type_: Type) -> tuple[str, Any]:
        """A weak literal and its value in a type."""
        if type_ is BOOL:
            value = self.chance(2)
            return str(value), value
        if type_.kind != "float":
            least, greatest = type_.limits
            small = self.integer(max(least, -4), 6)
            number = self.choose([small, small, small, *((least, greatest) if type_ is not INDEX else ())])
            return f"{number}" if number >= 0 else f"({number})", np.asarray(number, object)[()]
        choices: list[float] = [2, 0.5, -1.25, 0.1, 3, math.inf]
        number = self.choose(choices)
        text = "tp.inf" if number == math.inf else f"{number}" if number >= 0 else f"({number})"
        return text, rounded(np.float64(number), type_)[()]

    def unary(self) -> Expression:
        name = self.choose(UNARY)
        value = self.pick("float") if name not in ("-", "abs", "~") else self.pick()
        text = f"({name}{value.text})" if name in "-~" else f"tp.{name}({value.text})"
        return Expression(text, self.space.unary(name, value.ref))

    def cast_to(self, value: Expression, type_: Type) -> Expression:
        if value.ref.type is type_:
            return value
        return Expression(f"{value.text}.to({type_.name})", self.space.cast(value.ref, type_))

    def cast(self) -> Expression:
        value = self.pick()
        if self.chance(4):
            type_ = self.choose([t for t in STORED if t.bits == value.ref.type.bits])
            return Expression(f"tp.bitcast({value.text}, {type_.name})", self.space.bitcast(value.ref, type_))
        return self.cast_to(value, self.choose([t for t in TYPES.values() if t is not INDEX]))

    def meeting(self, value: Expression) -> Expression:
        """Another value of the same type that can meet this one; if need be, with a new axis."""
        other = self.pick(value.ref.type.kind)
        mixes = INDEX in (value.ref.type, other.ref.type) and self.chance(2)
        if not mixes and value.ref.type is not INDEX:
            other = self.cast_to(other, value.ref.type)
        for _ in range(3):
            try:
                self.space.meet(value.ref, other.ref)
                return other
            except Impossible:
                other = self.expanded(other)
        raise Impossible

    def binary(self) -> Expression:
        name, left = self.choose(BINARY), self.pick()
        if self.chance(3):
            text, number = self.literal(left.ref.type)
            right = Expression(text, made(left.ref.type, (), (), np.asarray(number)))
        else:
            right = self.meeting(left)
        if self.chance(2):
            left, right = right, left
        if all(value.text.strip("()-.0123456789") in ("", "tp.inf", "True", "False") for value in (left, right)):
            raise Impossible
        call = name in ("maximum", "minimum", "cdiv")
        text = f"tp.{name}({left.text}, {right.text})" if call else f"({left.text} {name} {right.text})"
        return Expression(text, self.space.binary(name, left.ref, right.ref))

    def clip(self) -> Expression:
        value = self.pick("float", "int", "uint", "index")
        (low, least), (high, greatest) = (self.literal(value.ref.type) for _ in range(2))
        bounds = [made(value.ref.type, (), (), np.asarray(number)) for number in (least, greatest)]
        raised = self.space.binary("maximum", value.ref, bounds[0])
        return Expression(f"tp.clip({value.text}, {low}, {high})", self.space.binary("minimum", raised, bounds[1]))

    def where(self) -> Expression:
        test, yes = self.pick("bool"), self.pick()
        if test.ref.type is not BOOL:
            raise Impossible
        no = self.meeting(yes)
        ref = self.space.where(test.ref, yes.ref, no.ref)
        return Expression(f"tp.where({test.text}, {yes.text}, {no.text})", ref)

    def reduction(self) -> Expression:
        name, value = self.choose(REDUCTIONS), self.pick()
        if name in ("any", "all"):
            value = self.pick("bool")
        if not value.ref.rank:
            raise Impossible
        place = self.integer(0, value.ref.rank - 1)
        ref = self.space.reduce(name, value.ref, place)
        axis = place if self.chance(2) else place - value.ref.rank
        keeps = self.chance(3)
        if keeps:
            ref = self.space.expand(ref, place)
        options = f"axis={axis}{', keepdims=True' * keeps}"
        if value.ref.rank == 1 and self.chance(2):
            options = "keepdims=True" * keeps
        text = f"{value.text}.{name}({options})"
        return Expression(text if self.chance(2) else f"tp.{name}({value.text}, {options})".replace(", )", ")"), ref)

    def whole_reduction(self) -> Expression:
        """Of all axes, without naming one."""
        name, value = self.choose([n for n in REDUCTIONS if not n.startswith("arg")]), self.pick()
        if name in ("any", "all"):
            value = self.pick("bool")
        if value.ref.rank < 2:
            raise Impossible
        ref = value.ref
        for place in reversed(range(ref.rank)):
            ref = self.space.reduce(name, ref, place)
        return Expression(f"{value.text}.{name}()", ref)

    def cumsum(self) -> Expression:
        value = self.pick()
        if not value.ref.rank:
            raise Impossible
        place = self.integer(0, value.ref.rank - 1)
        return Expression(f"{value.text}.cumsum(axis={place})", self.space.cumsum(value.ref, place))

    def expanded(self, value: Expression) -> Expression:
        if value.ref.rank > 2:
            raise Impossible
        place = self.integer(0, value.ref.rank)
        index = [":"] * value.ref.rank
        index.insert(place, "None")
        return Expression(f"{value.text}[{', '.join(index)}]", self.space.expand(value.ref, place))

    def shaped(self) -> Expression:
        value = self.pick()
        ref = value.ref
        match self.integer(0, 4):
            case 0:
                return Expression(f"{value.text}.T", self.space.transpose(ref))
            case 1:
                count = math.prod(axis.length for axis in ref.axes)
                halves = [[n, count // n] for n in (2, 3) if count and count % n == 0]
                shape = self.choose([[count], [1, count], [count, 1], *halves, *halves])
                text = ", ".join(map(str, shape))
                return Expression(f"{value.text}.reshape({text})", self.space.reshape(ref, shape))
            case 2 if ref.rank:
                place = self.integer(0, ref.rank - 1)
                start = self.integer(0, ref.axes[place].length)
                stop = self.integer(start, ref.axes[place].length)
                index = ", ".join([":"] * place + [f"{start}:{stop}"])
                return Expression(f"{value.text}[{index}]", self.space.slice(ref, place, start, stop))
            case 3 if ref.rank:
                other = self.cast_to(self.pick(ref.type.kind), ref.type)
                place = self.integer(0, ref.rank - 1)
                text = f"tp.cat(({value.text}, {other.text}), axis={place})"
                return Expression(text, self.space.cat(ref, other.ref, place))
            case _:
                return self.expanded(value)

    def matrix(self, type_: Type, rows: str, columns: str) -> Expression:
        """A tile of two of the dimensions, straight from memory or turned."""
        turned = self.chance(3)
        name, _, whole = self.tensor(type_, f"{columns} {rows}" if turned else f"{rows} {columns}")
        index = ", ".join({"M": "i", "N": "j", "D": ":"}[dim] for dim in whole.dims)
        ref = made(type_, [self.space.axis(rows), self.space.axis(columns)], whole.dims, whole.data)
        return Expression(f"{name}[{index}]{'.T' * turned}", ref)

    def operands(self) -> tuple[Expression, Expression]:
        """Of a matrix product: new ones, or values made before."""
        if self.chance(2):
            rows, inner, columns = self.choose(["MND", "NMD", "MDN", "DMN", "NDM", "DNM"])
            type_ = self.choose([t for t in STORED if accumulator(t)])
            return self.matrix(type_, rows, inner), self.matrix(type_, inner, columns)
        left = self.pick("float", "int", "uint")
        candidates = [value for value in self.pool if value.ref.rank == 2]
        if not candidates or left.ref.rank != 2:
            raise Impossible
        if accumulator(left.ref.type) is None:
            left = self.cast_to(left, self.choose([TYPES[name] for name in ("f32", "bf16", "i8", "u8")]))
        right = self.cast_to(self.choose(candidates), left.ref.type)
        return left, Expression(f"{right.text}.T", self.space.transpose(right.ref)) if self.chance(2) else right

    def product(self) -> Expression:
        left, right = self.operands()
        if self.chance(5):
            left, right = (self.cast_to(value, TYPES["tf32"]) for value in (left, right))
        product = self.space.mma(left.ref, right.ref, None)
        if self.chance(2):
            return Expression(f"({left.text} @ {right.text})", product)
        start = Expression("0", made(product.type, (), (), np.asarray(0.0 if product.type.kind == "float" else 0)))
        if self.chance(2):
            start = self.cast_to(self.pick(product.type.kind), product.type)
        ref = self.space.mma(left.ref, right.ref, start.ref)
        if start.ref.rank > 2 or ref.rank != 2:
            raise Impossible
        return Expression(f"tp.mma({left.text}, {right.text}, {start.text})", ref)

    def gather(self) -> Expression:
        """Loads at computed positions, all of which exist."""
        index = self.pick("index", "int")
        dim = self.choose(["M", "N", "D"])
        extent, type_ = self.space.extents[dim], index.ref.type
        if index.ref.rank > 1 or not extent or type_.kind not in ("index", "int", "uint") or type_.name == "u64":
            raise Impossible
        inside = Expression(f"({index.text} % {extent})", self.space.binary("%", index.ref, self.number(extent, type_)))
        name, _, whole = self.tensor(self.choose(STORED), dim)
        data = np.take(whole.data, np.asarray(inside.ref.data, int))
        return Expression(f"{name}[{inside.text}]", made(whole.type, inside.ref.axes, inside.ref.dims, data))

    def number(self, value: int, type_: Type) -> Ref:
        least, greatest = type_.limits
        if not least <= value <= greatest:
            raise Impossible
        return made(type_, (), (), np.asarray(value, object))

    def walk(self) -> Expression:
        """A loop along K that sums, from a literal or a tile of zeros."""
        name = self.fresh("v")
        type_ = self.choose([t for t in STORED if t.bits > 8 or t.kind != "float"])
        first, _, whole = self.tensor(type_, self.choose(["M K", "K M"]))
        rows_first = whole.dims[0] == "M"
        axes = [Axis("K", self.step), self.space.axis("M")][:: -1 if rows_first else 1]
        ref = self.space.reduce("sum", made(type_, axes, whole.dims, whole.data), int(rows_first))
        start = self.choose(["0", f"tp.zeros((i,), {widened(type_).name})", f"tp.zeros((BM,), {widened(type_).name})"])
        picked = f"{first}[i, k].sum(axis=1)" if rows_first else f"{first}[k, i].sum(axis=0)"
        self.lines += [f"{name} = {start}", f"for k in tp.tiles(K={self.step}):", f"    {name} = {name} + {picked}"]
        if self.space.extents["K"] == 0 and start == "0":
            ref = made(ref.type, ref.axes, (), np.asarray(0.0 if ref.type.kind == "float" else 0))
        if ref.err is None and ref.type.kind == "float":
            signs = np.signbit(np.asarray(ref.data, float))
            if signs.any():
                ref = made(ref.type, ref.axes, ref.dims, ref.data, np.where(signs & (ref.data == 0), np.inf, 0.0))
        return Expression(name, ref)

    def grow(self) -> None:
        """One more value."""
        makers = [
            (self.load, 3), (self.positions, 1), (self.filled, 1), (self.scalar, 1), (self.unary, 3), (self.cast, 3),
            (self.binary, 7), (self.clip, 1), (self.where, 2), (self.reduction, 4), (self.whole_reduction, 1),
            (self.cumsum, 1), (self.shaped, 4), (self.product, 3), (self.gather, 1), (self.walk, 1),
        ]  # fmt: skip
        bag = [maker for maker, weight in makers for _ in range(weight)]
        kept = len(self.signature), len(self.lines)
        try:
            made_now = self.choose(bag)()
        except Impossible:
            del self.signature[kept[0] :], self.arguments[kept[0] :], self.lines[kept[1] :]
            return
        if np.size(made_now.ref.data) > 3000:
            return
        if len(made_now.text) > LONGEST or self.chance(3):
            name = self.fresh("v")
            self.lines.append(f"{name} = {made_now.text}")
            made_now = Expression(name, made_now.ref)
        self.pool.append(made_now)

    # Outputs.

    def store(self, value: Expression) -> None:
        """Writes a value to an `Out` of its own, in which it is broadcast."""
        while True:
            place = next((n for n, axis in enumerate(value.ref.axes) if not axis.tagged), None)
            if place is None:
                break
            if stored_only(value.ref.type):
                value = self.cast_to(value, F32)
            name = "any" if value.ref.type is BOOL else self.choose(["max", "min", "sum"])
            value = Expression(f"{value.text}.{name}(axis={place})", self.space.reduce(name, value.ref, place))
        if value.ref.type is INDEX:
            value = self.cast_to(value, TYPES["i64"])
        stored, ref = value.ref.type, value.ref
        if stored.kind == "float" and (stored.name == "tf32" or self.chance(3)):
            stored = self.choose(FLOATS)
            ref = self.space.cast(ref, stored)
        have = [axis.name for axis in ref.axes]
        dims = list(have)
        for name in ("M", "N"):
            if name not in dims:
                dims.insert(self.integer(0, len(dims)), name)
        index = [":" if dim in have else "None" for dim in dims]
        while index[0] == "None" and len(index) > 1 and self.chance(2):
            index = index[1:]
        text = value.text if index == [":"] * len(have) or not have else f"{value.text}[{', '.join(index)}]"
        out = self.fresh("y")
        array = np.zeros([self.space.extents[dim] for dim in dims], stored.storage)
        self.signature.insert(0, f'{out}: Out[{stored.name}, "{" ".join(dims)}"]')
        self.arguments.insert(0, array)
        places = ", ".join({"M": "i", "N": "j", "D": ":"}[dim] for dim in dims)
        self.lines.append(f"{out}[{places}] = {text}")
        self.expected.append((array, ref, tuple(dims)))

    def source(self) -> str:
        lines = "".join(f"        {line}\n" for line in self.lines)
        size = self.space.sizes
        constants = f"BM: int = {size['M']}, BN: int = {size['N']}"
        if any('D"' in word or "D " in word for word in self.signature):
            constants = "D: int, " + constants
        else:
            constants += f", D: int = {self.space.extents['D']}"
        head = f"@tp.kernel\ndef k({', '.join(self.signature)}, *, {constants}) -> None:\n"
        return head + "    for i, j in tp.parallel(M=BM, N=BN):\n" + lines


def written(integer: Integer) -> Program:
    """A whole program."""
    program = Program(integer)
    program.pool.append(program.load())
    for _ in range(integer(1, 20)):
        program.grow()
    for value in program.pool[-3:]:
        program.store(value)
    for dim in ("M", "N"):
        program.tensor(BOOL, dim)
    return program


def run(program: Program, order: Any) -> None:
    text = program.source()
    compiled = kernel(text)
    before = [np.copy(argument) for argument in program.arguments]
    try:
        proved, _ = prepare(compiled, tuple(program.arguments), {})
        verify(proved.ir)
        tp.interpret(compiled, *program.arguments, order=order)
        for number, (array, ref, dims) in enumerate(program.expected):
            compare(array, ref, dims, number)
        codes = {found.code for found in proved.verdict.findings}
        assert codes <= UNPROVED
        if not codes:
            launched = [np.copy(argument) for argument in before]
            with tp.backend("interpreter"):
                compiled(*launched)
            for one, two in zip(launched, program.arguments, strict=True):
                assert one.tobytes() == np.asarray(two).tobytes(), f"launched: {one}, interpreted: {two}"
            native = [np.copy(argument) for argument in before]
            with tp.backend("cpu"):
                compiled(*native)
            for number, (array, ref, dims) in enumerate(program.expected):
                place = next(n for n, argument in enumerate(program.arguments) if argument is array)
                compare(native[place], ref, dims, number)
    except Exception as problem:
        sizes = f"{program.space.extents} in tiles of {program.space.sizes}"
        problem.add_note(f"{text}\n{sizes}, order {order!r}\narguments: {before}")
        raise


def compare(array: Any, ref: Ref, dims: tuple[str, ...], number: int) -> None:
    """Whole numbers are equal; floats differ by no more than rounding may change."""
    spread = (ref.at(dims, part) for part in (ref.data, ref.errors))
    wanted, err = (np.broadcast_to(part, array.shape) for part in spread)
    if ref.type.kind != "float":
        equal = np.array_equal(objects(array), objects(wanted))
        assert equal, f"output {number}: {array.tolist()}, not {wanted.tolist()}"
        return
    got = array.astype(np.float64)
    with np.errstate(all="ignore"):
        close = (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | (np.abs(got - wanted) <= err) | ~np.isfinite(err)
    assert close.all(), f"output {number}: {got.tolist()}, not {wanted.tolist()} within {err.tolist()}"


ORDERS: list[Any] = ["forward", "reverse", 0, 1]


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_a_random_kernel_agrees_with_numpy(data: st.DataObject) -> None:
    def integer(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    run(written(integer), ORDERS[integer(0, 3)])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(8))
def test_kernels_of_a_seed_agree_with_numpy(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(EXAMPLES // 8):
        run(written(rng.randint), rng.choice(ORDERS))


@pytest.mark.parametrize("shift", ["-5 >> -1", "5 >> -1", "-5 >> 70", "-5 >> 1"])
def test_constants_are_shifted_like_values(shift: str) -> None:
    number, _, amount = shift.partition(" >> ")
    compiled = kernel(
        f"""
        @tp.kernel
        def k(y: Out[i64, "2"], n: i64, by: i64) -> None:
            y[0] = {shift}
            y[1] = n >> by
        """
    )
    y = np.zeros(2, np.int64)
    tp.interpret(compiled, y, int(number), int(amount))
    assert y[0] == y[1]
