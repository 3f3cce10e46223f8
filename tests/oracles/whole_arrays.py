"""What kernels should compute, on whole arrays: a second account of the language, written without the first.

A `Ref` is a tile of every program at once. Its data has named dimensions: an element at (m, n) is what the program
that owns (m, n) has there. An axis of the tile is one of these dimensions; a dimension that is not an axis only says
that programs differ. `err` bounds what the order of additions and the last bit of elementary functions may change.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oracles.whole_numbers import (
    BOOL,
    COMPARISONS,
    ELEMENTARY,
    F32,
    F64,
    INDEX,
    STEPS,
    WHOLE,
    Array,
    Impossible,
    Type,
    accumulator,
    check_operator,
    check_reduction,
    extreme,
    float_to_whole,
    positions,
    power,
    rounded,
    stored_only,
    summed,
    whole_to_float,
    widened,
    wrapped,
)

# Tiles of all programs.


@dataclass(frozen=True)
class Axis:
    """An axis of a tile. `M`, `N` are walked, `D` is static; any other name is an axis without a tag."""

    name: str
    length: int

    @property
    def tagged(self) -> bool:
        return self.name in ("M", "N", "D")


_fresh = itertools.count()


def untagged(length: int) -> Axis:
    return Axis(f"u{next(_fresh)}", length)


@dataclass(frozen=True)
class Ref:
    type: Type
    axes: tuple[Axis, ...]
    dims: tuple[str, ...]
    data: Array
    err: Array | None = None
    """None: exact. Infinite where nothing is promised."""

    def __post_init__(self) -> None:
        kinds = {"float": np.float64, "bool": np.bool_}
        object.__setattr__(self, "data", np.asarray(self.data, kinds.get(self.type.kind, object)))

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def exact(self) -> bool:
        return self.err is None

    @property
    def errors(self) -> Array:
        return np.zeros(np.shape(self.data)) if self.err is None else self.err

    def at(self, dims: Sequence[str], array: Array) -> Array:
        """An array of this value's dimensions with its axes in the order of `dims`; those it lacks have length 1."""
        kept = [name for name in dims if name in self.dims]
        rotated = np.transpose(array, [self.dims.index(name) for name in kept])
        return rotated.reshape([rotated.shape[kept.index(name)] if name in kept else 1 for name in dims])


def objects(array: Array) -> Array:
    """Numbers as Python's own."""
    values = np.empty(np.shape(array), object)
    flat = np.asarray(array).ravel().tolist()
    for place, number in enumerate(flat):
        values.reshape(-1)[place] = number
    return values


def made(type_: Type, axes: Sequence[Axis], dims: Sequence[str], data: Array, err: Array | None = None) -> Ref:
    if err is not None:
        err = np.broadcast_to(np.asarray(err, np.float64), np.shape(data))
        err = None if not np.any(err != 0) else err
    return Ref(type_, tuple(axes), tuple(dims), data, err)


@dataclass(frozen=True)
class Space:
    """Extents of the dimensions, and the sizes of the tiles that walk M and N."""

    extents: dict[str, int]
    sizes: dict[str, int]

    def axis(self, name: str) -> Axis:
        return Axis(name, self.sizes.get(name, self.extents[name]))

    def extent(self, ref: Ref, name: str) -> int:
        if name in self.extents:
            return self.extents[name]
        return next(axis.length for axis in ref.axes if axis.name == name)

    def starts(self, name: str) -> Array:
        """For each element of a walked dimension, where its tile starts."""
        return np.arange(self.extents[name]) // self.sizes[name] * self.sizes[name]

    def blocks(self, name: str) -> list[slice]:
        size = self.sizes[name]
        return [slice(start, start + size) for start in range(0, self.extents[name], size)]

    # Axes.

    def retag(self, ref: Ref, place: int, axis: Axis) -> Ref:
        """The untagged axis at `place` as `axis`, whose live elements it keeps."""
        old = ref.axes[place]
        axes = (*ref.axes[:place], axis, *ref.axes[place + 1 :])
        if old.tagged or old.name not in ref.dims:
            return replace(ref, axes=axes)
        dims = [name for name in ref.dims if name != old.name]

        def last(array: Array, name: str) -> Array:
            return np.moveaxis(array, ref.dims.index(name), -1)

        if old.length == 1:
            data, err = (None if a is None else last(a, old.name)[..., 0] for a in (ref.data, ref.err))
            return replace(ref, axes=axes, dims=tuple(dims), data=data, err=err)
        if axis.name not in self.sizes:
            dims = [axis.name if name == old.name else name for name in ref.dims]
            return replace(ref, axes=axes, dims=tuple(dims))
        inside = np.arange(self.extents[axis.name]) - self.starts(axis.name)
        order = [name for name in dims if name != axis.name]
        both = [*order, *([axis.name] if axis.name in dims else []), old.name]
        pick = (..., np.arange(self.extents[axis.name]), inside) if axis.name in dims else (..., inside)
        data, err = (None if a is None else ref.at(both, a)[pick] for a in (ref.data, ref.err))
        return replace(ref, axes=axes, dims=(*order, axis.name), data=data, err=err)

    def renamed(self, ref: Ref) -> Ref:
        """The same value with untagged axes of its own."""
        for place, axis in enumerate(ref.axes):
            if not axis.tagged:
                fresh = untagged(axis.length)
                dims = tuple(fresh.name if name == axis.name else name for name in ref.dims)
                ref = replace(ref, axes=(*ref.axes[:place], fresh, *ref.axes[place + 1 :]), dims=dims)
        return ref

    def meet(self, *refs: Ref) -> tuple[tuple[Axis, ...], list[Ref]]:
        """Axes as in numpy's broadcasting, and the values with them."""
        results = [self.renamed(ref) for ref in refs]
        axes: list[Axis] = []
        for back in range(1, max(ref.rank for ref in results) + 1):
            here = [ref.axes[-back] for ref in results if ref.rank >= back]
            long = [axis for axis in here if axis.tagged or axis.length != 1]
            tagged = {axis.name: axis for axis in here if axis.tagged}
            if len(tagged) > 1 or len({axis.length for axis in long}) > 1:
                raise Impossible
            chosen = next(iter([*tagged.values(), *long, *here]))
            axes.insert(0, chosen)
            for number, ref in enumerate(results):
                if ref.rank >= back:
                    results[number] = self.retag(ref, ref.rank - back, chosen)
        names = [axis.name for axis in axes if axis.tagged]
        if len(names) != len(set(names)):
            raise Impossible
        return tuple(axes), results

    def spread(self, refs: Sequence[Ref]) -> tuple[tuple[str, ...], list[Array], list[Array]]:
        """Data and errors over all dimensions of all values."""
        dims = tuple(dict.fromkeys(name for ref in refs for name in ref.dims))
        errors = [np.zeros(()) if ref.err is None else ref.at(dims, ref.err) for ref in refs]
        return dims, [ref.at(dims, ref.data) for ref in refs], errors

    # Element by element.

    def cast(self, ref: Ref, to: Type) -> Ref:
        have = ref.type
        if have is to:
            return ref
        if have.kind == "float":
            if to.kind == "float":
                data = rounded(ref.data, to)
                err = None if ref.exact else ref.err + np.abs(data) * 2.0**-to.digits + to.tiny
                return made(to, ref.axes, ref.dims, data, err)
            if not ref.exact or to is INDEX:
                raise Impossible
            if to is BOOL:
                return replace(ref, type=to, data=ref.data != 0)
            return replace(ref, type=to, data=self._each(lambda number: float_to_whole(number, to), ref.data))
        if (to is INDEX and (have is BOOL or have.name == "u64")) or (to is BOOL and have is INDEX):
            raise Impossible
        if to.kind == "float":
            return replace(ref, type=to, data=self._each(lambda n: whole_to_float(int(n), to), ref.data).astype(float))
        if to is BOOL:
            return replace(ref, type=to, data=self._each(bool, ref.data))
        least, greatest = to.limits
        return replace(ref, type=to, data=self._each(lambda n: min(max(int(n), least), greatest), ref.data))

    def bitcast(self, ref: Ref, to: Type) -> Ref:
        kinds = {ref.type.kind, to.kind}
        if ref.type.bits != to.bits or kinds & {"bool", "index"} or "tf32" in (to.name, ref.type.name) or not ref.exact:
            raise Impossible
        if ref.type.kind == "float" and np.isnan(ref.data).any():
            raise Impossible  # which NaN is not said
        bits = np.asarray(ref.data.tolist(), np.float64 if ref.type.kind == "float" else ref.type.storage)
        new = np.ascontiguousarray(bits.astype(ref.type.storage)).reshape(ref.data.shape).view(to.storage)
        return replace(ref, type=to, data=new.astype(np.float64) if to.kind == "float" else objects(new))

    @staticmethod
    def _each(fn: Callable[..., Any], *arrays: Array) -> Array:
        return np.asarray(np.frompyfunc(fn, len(arrays), 1)(*arrays), object)

    def unary(self, name: str, ref: Ref) -> Ref:
        type_, data = ref.type, ref.data
        if name in ("-", "abs"):
            if type_ is BOOL or stored_only(type_):
                raise Impossible
            if type_.kind == "float":
                return replace(ref, data=-data if name == "-" else np.abs(data))
            return replace(ref, data=self._each(lambda n: wrapped(-n if name == "-" or n < 0 else n, type_), data))
        if name == "~":
            if type_.kind not in ("bool", "int", "uint"):
                raise Impossible
            flip = (lambda n: not n) if type_ is BOOL else (lambda n: wrapped(~n, type_))
            return replace(ref, data=self._each(flip, data))
        if type_.kind != "float" or not ref.exact or stored_only(type_):
            raise Impossible
        if name == "isnan":
            return replace(ref, type=BOOL, data=np.isnan(data))
        with np.errstate(all="ignore"):
            if name in STEPS:
                through = F64 if type_ is F64 else F32
                return replace(ref, data=rounded(rounded(STEPS[name](data), through), type_))
            value = rounded(ELEMENTARY[name](data), type_)
        return made(type_, ref.axes, ref.dims, value, self._last_bit(value, type_))

    @staticmethod
    def _last_bit(value: Array, type_: Type) -> Array:
        digits = min(type_.digits, 45)
        err = np.abs(value) * 2.0 ** (1 - digits) + type_.tiny
        return np.where(np.isfinite(value), np.where(np.abs(value) > 0.99 * type_.greatest, np.inf, err), 0.0)

    def binary(self, name: str, left: Ref, right: Ref) -> Ref:
        if left.type is not right.type:
            if INDEX not in (left.type, right.type):
                raise Impossible
            left, right = self.cast(left, INDEX), self.cast(right, INDEX)
        type_ = left.type
        check_operator(name, type_)
        axes, pair = self.meet(left, right)
        dims, (a, b), (ea, eb) = self.spread(pair)
        exact = left.exact and right.exact
        if name in COMPARISONS:
            if not exact:
                raise Impossible
            return made(BOOL, axes, dims, np.asarray(COMPARISONS[name](a, b), bool))
        if type_.kind != "float":
            fn = WHOLE[name]
            return made(type_, axes, dims, self._each(lambda x, y: wrapped(fn(x, y, type_.bits), type_), a, b))
        with np.errstate(all="ignore"):
            if not exact and name not in ("+", "-", "*", "maximum", "minimum"):
                raise Impossible
            value = self._float(name, a, b, type_)
            if name == "**":
                return made(type_, axes, dims, value, self._last_bit(value, type_))
            if name in ("maximum", "minimum"):
                unsure = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
                return made(type_, axes, dims, value, np.where(unsure, np.inf, np.maximum(ea, eb)))
            if exact:
                return made(type_, axes, dims, value)
            err = ea + eb if name in "+-" else np.abs(a) * eb + np.abs(b) * ea + ea * eb
            err = np.where(np.isnan(err), np.inf, err) + np.abs(value) * 2.0 ** (1 - type_.digits) + type_.tiny
            return made(type_, axes, dims, value, np.where(np.abs(value) > 0.5 * type_.greatest, np.inf, err))

    @staticmethod
    def _float(name: str, a: Array, b: Array, type_: Type) -> Array:
        """In f32, or in f64 for f64, and rounded once more; a power at once."""
        through = F64 if type_ is F64 else F32

        def step(value: Array) -> Array:
            return rounded(value, through)

        match name:
            case "+":
                value = a + b
            case "-":
                value = a - b
            case "*":
                value = a * b
            case "/":
                value = a / b
            case "//":
                value = np.floor(step(a / b))
            case "%":
                value = a - step(np.floor(step(a / b)) * b)
            case "maximum":
                value = np.maximum(a, b)
            case "minimum":
                value = np.minimum(a, b)
            case "**":
                return rounded(np.asarray(np.frompyfunc(power, 2, 1)(a, b), np.float64), type_)
            case _:
                raise Impossible
        return rounded(step(value), type_)

    def where(self, condition: Ref, yes: Ref, no: Ref) -> Ref:
        if condition.type is not BOOL or yes.type is not no.type:
            raise Impossible
        axes, refs = self.meet(condition, yes, no)
        dims, (test, one, two), (_, first, second) = self.spread(refs)
        test = np.asarray(test, bool)
        return made(yes.type, axes, dims, np.where(test, one, two), np.where(test, first, second))

    # Along an axis.

    def _along(self, ref: Ref, place: int) -> tuple[list[str], list[Array]]:
        """Data and error with the axis last, stretched to its length."""
        name = ref.axes[place].name
        order = [dim for dim in ref.dims if dim != name]
        arrays = []
        for array in (ref.data, ref.errors):
            rotated = ref.at([*order, name], array)
            arrays.append(np.broadcast_to(rotated, (*rotated.shape[:-1], self.extent(ref, name))))
        return order, arrays

    def along(
        self, ref: Ref, place: int, type_: Type, fn: Callable[[Array, Array], tuple[Array, Array]], keeps: bool = False
    ) -> Ref:
        """`fn` of the live elements of every tile along an axis, which is dropped unless `fn` `keeps` it."""
        axis = ref.axes[place]
        order, (data, err) = self._along(ref, place)
        axes = ref.axes if keeps else (*ref.axes[:place], *ref.axes[place + 1 :])
        if axis.name not in self.sizes:
            value, error = fn(data, err)
            return made(type_, axes, [*order, axis.name] if keeps else order, value, error)
        values, errors = [data[..., :0]], [err[..., :0]]
        for block in self.blocks(axis.name):
            value, error = fn(data[..., block], err[..., block])
            shape = data[..., block].shape
            values.append(value if keeps else np.broadcast_to(np.asarray(value)[..., None], shape))
            errors.append(error if keeps else np.broadcast_to(np.asarray(error)[..., None], shape))
        return made(type_, axes, [*order, axis.name], np.concatenate(values, -1), np.concatenate(errors, -1))

    def reduce(self, name: str, ref: Ref, place: int) -> Ref:
        type_ = ref.type
        check_reduction(name, ref.type)
        axis = ref.axes[place]
        if name in ("argmax", "argmin"):
            if not self.extent(ref, axis.name) or not ref.exact:
                raise Impossible
            return self.along(ref, place, INDEX, lambda d, e: (positions(name, d), 0.0 * e[..., 0]))
        if name in ("sum", "mean"):
            total = widened(type_)
            return self.along(ref, place, total, lambda d, e: summed(name, d, e, total))
        return self.along(ref, place, type_, lambda d, e: extreme(name, d, e, type_))

    def cumsum(self, ref: Ref, place: int) -> Ref:
        check_reduction("sum", ref.type)
        total = widened(ref.type)

        def sums(data: Array, err: Array) -> tuple[Array, Array]:
            parts = [summed("sum", data[..., : n + 1], err[..., : n + 1], total) for n in range(data.shape[-1])]
            if not parts:
                return data, err
            return np.stack([v for v, _ in parts], -1), np.stack([np.broadcast_to(e, v.shape) for v, e in parts], -1)

        return self.along(ref, place, total, sums, keeps=True)

    def mma(self, left: Ref, right: Ref, acc: Ref | None) -> Ref:
        """`left @ right + acc`."""
        total = accumulator(left.type)
        if left.type is not right.type or left.rank != 2 or right.rank != 2 or total is None:
            raise Impossible
        if acc is not None and acc.type is not total:
            raise Impossible
        left, right = self.renamed(left), self.renamed(right)
        inner, other = left.axes[1], right.axes[0]
        if inner.length != other.length or (inner.tagged and other.tagged and inner != other):
            raise Impossible
        chosen = inner if inner.tagged else other
        names = [axis.name for axis in (left.axes[0], chosen, right.axes[1]) if axis.tagged]
        if len(names) != len(set(names)):
            raise Impossible
        left, right = self.retag(left, 1, chosen), self.retag(right, 0, chosen)
        dims, (a, b), (ea, eb) = self.spread((left, right))
        with np.errstate(all="ignore"):
            err = np.abs(a.astype(float)) * eb + np.abs(b.astype(float)) * ea + ea * eb
            axes = (left.axes[0], chosen, right.axes[1])
            product = made(left.type, axes, dims, a * b, np.where(np.isnan(err), np.inf, err))
        value = self.along(product, 1, total, lambda d, e: summed("sum", d, e, total))
        if acc is None:
            return value
        if acc.rank > 2 or (total.kind == "float" and ((acc.data == 0) & np.signbit(acc.data)).any()):
            raise Impossible  # -0.0 + 0.0 depends on which comes first
        return self.binary("+", value, acc)

    # Shapes.

    def transpose(self, ref: Ref) -> Ref:
        return replace(ref, axes=ref.axes[::-1])

    def expand(self, ref: Ref, place: int) -> Ref:
        return replace(ref, axes=(*ref.axes[:place], untagged(1), *ref.axes[place:]))

    def _dense(self, ref: Ref) -> tuple[list[str], list[Array]]:
        """Data and error with the axes of the tile last, all stretched."""
        ref = self.renamed(ref)
        names = [axis.name for axis in ref.axes]
        order = [name for name in ref.dims if name not in names]
        arrays = []
        for array in (ref.data, ref.errors):
            rotated = ref.at([*order, *names], array)
            extents = (self.extent(ref, name) for name in names)
            arrays.append(np.broadcast_to(rotated, (*rotated.shape[: len(order)], *extents)))
        return order, arrays

    def reshape(self, ref: Ref, shape: Sequence[int]) -> Ref:
        if any(axis.name in self.sizes for axis in ref.axes):
            raise Impossible
        order, arrays = self._dense(ref)
        axes = tuple(untagged(length) for length in shape)
        data, err = (array.reshape((*array.shape[: len(order)], *shape)) for array in arrays)
        return made(ref.type, axes, [*order, *(axis.name for axis in axes)], data, err)

    def slice(self, ref: Ref, place: int, start: int, stop: int) -> Ref:
        axis = ref.axes[place]
        if axis.name in self.sizes or not start <= stop <= axis.length:
            raise Impossible
        fresh = untagged(stop - start)
        axes = (*ref.axes[:place], fresh, *ref.axes[place + 1 :])
        if axis.name not in ref.dims:
            return replace(ref, axes=axes)
        where = (slice(None),) * ref.dims.index(axis.name) + (slice(start, stop),)
        dims = tuple(fresh.name if name == axis.name else name for name in ref.dims)
        return replace(ref, axes=axes, dims=dims, data=ref.data[where], err=None if ref.err is None else ref.err[where])

    def cat(self, one: Ref, two: Ref, place: int) -> Ref:
        if one.type is not two.type or one.rank != two.rank or one.axes[place].name in self.sizes:
            raise Impossible
        if two.axes[place].name in self.sizes:
            raise Impossible
        one, two = self.renamed(one), self.renamed(two)
        # All other axes meet: the one that is joined is set aside under a name of its own in both.
        kept = [untagged(one.axes[place].length), untagged(two.axes[place].length)]
        parts = []
        for ref, fresh in zip((one, two), kept, strict=True):
            dims = tuple(fresh.name if name == ref.axes[place].name else name for name in ref.dims)
            rest = (*ref.axes[:place], *ref.axes[place + 1 :])
            parts.append((replace(ref, axes=rest, dims=dims), fresh))
        axes: tuple[Axis, ...] = ()
        if one.rank > 1:
            axes, met = self.meet(*(ref for ref, _ in parts))
            parts = list(zip(met, kept, strict=True))
        order = list(dict.fromkeys(name for ref, fresh in parts for name in ref.dims if name != fresh.name))
        joined = untagged(sum(fresh.length for fresh in kept))
        sizes = np.broadcast_shapes(*(ref.at([*order, fresh.name], ref.data).shape[:-1] for ref, fresh in parts))
        stretched = [
            [np.broadcast_to(ref.at([*order, f.name], array), (*sizes, f.length)) for array in (ref.data, ref.errors)]
            for ref, f in parts
        ]
        data, err = (np.concatenate(pair, -1) for pair in zip(*stretched, strict=True))
        return made(one.type, (*axes[:place], joined, *axes[place:]), [*order, joined.name], data, err)
