"""The kernels of the design, and one that uses every operation, as hand-written IR."""

from __future__ import annotations

from collections.abc import Callable

from tileproof.ir.ops import (
    Along,
    Assume,
    At,
    BinaryFn,
    Bitcast,
    Broadcast,
    Cast,
    Cat,
    CumSum,
    Elements,
    Expand,
    Extents,
    Fill,
    Gather,
    Group,
    Iota,
    KernelIR,
    Load,
    Mma,
    Number,
    Permute,
    Print,
    Random,
    Reduce,
    ReduceFn,
    Require,
    Reshape,
    Segments,
    Select,
    Slice,
    Start,
    Stop,
    Store,
    Unary,
    UnaryFn,
    Update,
    Whole,
    Window,
)
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, DimensionTag, TileType, symbol
from tileproof.language.dtypes import BF16, BOOL, ENTRY, F32, I32, I64, INDEX, U32

from .builder import Builder, along, each, pieces, tiles


def matmul() -> KernelIR:
    b = Builder("matmul")
    b.constants = {"BM": 128, "BN": 128, "BK": 64}
    c = b.tensor("c", Access.OUT, BF16, "M N")
    a = b.tensor("a", Access.IN, BF16, "M K")
    w = b.tensor("b", Access.IN, BF16, "K N")
    i, j, k = tiles("i", "M", 128), tiles("j", "N", 128), tiles("k", "K", 64)
    with b.parallel(i, j):
        acc = b.full(0.0, TileType(F32, (along(i), along(j))), "acc")
        with b.walking(k, acc) as loop:
            left = b.load(a, Along(i), Along(k), axes=(along(i), along(k)))
            right = b.load(w, Along(k), Along(j), axes=(along(k), along(j)))
            (carried,) = loop.carried
            loop.yields = (b.op(Mma, acc.type, "acc", left=left, right=right, acc=carried),)
        rounded = b.op(Cast, TileType(BF16, acc.type.axes), operand=loop.results[0])
        b.store(c, Along(i), Along(j), value=rounded)
    return b.kernel()


def rms_norm() -> KernelIR:
    """With D unknown, as `tileproof check` sees it."""
    b = Builder("rms_norm")
    d = symbol("D")
    b.constants, b.static = {"D": d}, {"D": d}
    y = b.tensor("y", Access.OUT, F32, "N D")
    x = b.tensor("x", Access.IN, F32, "N D")
    w = b.tensor("w", Access.IN, F32, "D")
    eps = b.scalar("eps", F32)
    n = each("n", "N")
    line = Axis(d, DimensionTag("D"))
    with b.parallel(n):
        row = b.load(x, Along(n), Whole(), axes=(line,), name="row")
        square = b.binary(BinaryFn.MUL, row, row)
        mean = b.op(Reduce, TileType(F32), fn=ReduceFn.MEAN, operand=square, axis=0)
        scale = b.op(Unary, TileType(F32), fn=UnaryFn.RSQRT, operand=b.add(mean, eps))
        scaled = b.binary(BinaryFn.MUL, row, b.spread(scale, line))
        weighted = b.binary(BinaryFn.MUL, scaled, b.load(w, Whole(), axes=(line,)))
        b.store(y, Along(n), Whole(), value=weighted)
    return b.kernel()


def kv_append() -> KernelIR:
    b = Builder("kv_append")
    b.constants, b.static = {"D": 128}, {"D": 128}
    cache = b.tensor("cache", Access.INOUT, BF16, "G C D")
    new = b.tensor("new", Access.IN, BF16, "G N D")
    pos = b.tensor("pos", Access.IN, I32, "1")
    g, n = each("g", "G"), each("n", "N")
    line = Axis(128, DimensionTag("D"))
    with b.parallel(g, n):
        first = b.load(pos, At(b.number(0)))
        place = b.add(b.op(Cast, INDEX_SCALAR, operand=first), b.op(Start, INDEX_SCALAR, walker=n))
        value = b.load(new, Along(g), Along(n), Whole(), axes=(line,))
        b.store(cache, Along(g), At(place), Whole(), value=value)
    return b.kernel()


def histogram() -> KernelIR:
    b = Builder("histogram")
    b.constants = {"BN": 1024}
    count = b.tensor("count", Access.SUM, I32, "B")
    x = b.tensor("x", Access.IN, Content("Index", "B", I32), "N")
    n = tiles("n", "N", 1024)
    with b.parallel(n):
        bins = b.load(x, Along(n), axes=(along(n),))
        ones = b.full(1, TileType(I32, (along(n),)))
        b.emit(Update(b.span, count, (Gather(bins),), ones))
    return b.kernel()


def everything() -> KernelIR:
    """Every operation, way to pick and kind of block that the others lack."""
    b = Builder("everything")
    d = symbol("D")
    b.constants, b.static = {"B": 8, "fast": True, "eps": 1e-06}, {"D": d}
    y = b.tensor("y", Access.INOUT, F32, "H S")
    x = b.tensor("x", Access.IN, F32, "S D _")
    t = b.tensor("t", Access.IN, F32, "4 G")
    h, s, sub = each("h", "H"), tiles("s", "S", 8), tiles("k", "S", 8)
    line, row = Axis(d, DimensionTag("D")), along(s)

    groups = b.op(Extents, INDEX_SCALAR, dimension="G")
    b.emit(Require(b.span, b.binary(BinaryFn.LE, groups, b.number(64))))
    last = b.op(Extents, INDEX_SCALAR, dimension=None, tensor=x, axis=2)
    with b.parallel(h, s):
        group = b.op(Group, INDEX_SCALAR, index=b.op(Start, INDEX_SCALAR, walker=h), dimension="H", into="G")
        four = b.load(t, Window(0, 4), At(group), axes=(Axis(4),), name="four")
        tile = b.load(x, Along(s), Whole(), At(b.number(0)), axes=(row, line), name="tile")
        half = b.op(Slice, TileType(F32, (row, Axis(d // 2))), operand=tile, axis=1, start=d // 2, length=d // 2)
        both = b.op(Cat, TileType(F32, (row, Axis(d // 2 + d))), operands=(half, tile), axis=1)
        turned = b.op(Permute, TileType(F32, (both.type.axes[1], row)), operand=both, order=(1, 0))
        sums = b.op(Reduce, TileType(F32, (row,)), fn=ReduceFn.SUM, operand=turned, axis=0, name="sums")
        square = b.op(Reshape, TileType(F32, (Axis(2), Axis(2))), operand=four)
        more = b.op(CumSum, square.type, operand=square, axis=1)
        total = b.op(Reduce, TileType(F32, (Axis(2),)), fn=ReduceFn.MAX, operand=more, axis=0)
        best = b.op(Reduce, INDEX_SCALAR, fn=ReduceFn.ARGMAX, operand=total, axis=0, name="best")

        column = b.op(Expand, TileType(F32, (row, Axis(1))), operand=sums, axis=1)
        wide = b.op(Broadcast, TileType(F32, (row, Axis(4))), operand=column)
        bits = b.op(Bitcast, TileType(U32, wide.type.axes), operand=wide)
        odd = b.binary(BinaryFn.NE, bits, b.full(0, bits.type))
        wide = b.op(Select, wide.type, condition=odd, yes=wide, no=b.full(float("-inf"), wide.type))
        edge = b.op(Reduce, TileType(F32, (row,)), fn=ReduceFn.MIN, operand=wide, axis=1)

        places = b.op(Elements, TileType(INDEX, (row,)), walker=s)
        least = b.binary(BinaryFn.MIN, places, b.spread(best, row), "least")
        lanes = b.op(Iota, TileType(INDEX, (Axis(8),)))
        found = b.load(t, At(b.number(3)), Gather(b.add(least, b.spread(lanes, row))), axes=(row,))
        lowest = b.op(Reduce, INDEX_SCALAR, fn=ReduceFn.ARGMIN, operand=found, axis=0, name="lowest")
        stop = b.op(Stop, INDEX_SCALAR, walker=s)
        with b.walking(sub, sums, start=b.number(0), stop=stop) as loop:
            inner = b.load(y, Along(h), Along(sub), axes=(along(sub),))
            part = b.op(Reduce, TileType(F32), fn=ReduceFn.SUM, operand=inner, axis=0)
            loop.yields = (b.add(loop.carried[0], b.spread(part, row), "sums"),)
        (sums,) = loop.results
        with b.counting("r", b.number(0), last, b.number(2), lowest, sums) as loop:
            at, kept = loop.carried
            loop.yields = (b.add(at, b.number(1), "lowest"), b.add(kept, edge, "sums"))
        lowest, sums = loop.results
        with b.repeating(lowest) as loop:
            (at,) = loop.carried
            with b.testing(loop):
                loop.tested = (b.binary(BinaryFn.LT, at, last),)
            loop.yields = (b.binary(BinaryFn.MUL, at, b.number(2), "lowest"),)
        is_low = b.binary(BinaryFn.GE, loop.results[0], b.op(Extents, INDEX_SCALAR, dimension="S"))
        with b.when(is_low, sums.type) as choice:
            choice.yields = (b.op(Unary, sums.type, fn=UnaryFn.EXP, operand=sums),)
            with b.otherwise(choice):
                choice.tested = (b.full(0.5, sums.type),)
        with b.when(b.op(Unary, TileType(BOOL), fn=UnaryFn.NOT, operand=is_low)):
            b.store(y, Along(h), Along(s), value=choice.results[0])
    return b.kernel()


def matmul_split() -> KernelIR:
    b = Builder("matmul_split")
    b.constants = {"BM": 128, "BN": 128, "SK": 1024, "BK": 64}
    c = b.tensor("c", Access.OUT, F32, "M N")
    a = b.tensor("a", Access.IN, BF16, "M K")
    w = b.tensor("b", Access.IN, BF16, "K N")
    i, j, z, k = tiles("i", "M", 128), tiles("j", "N", 128), pieces("z", "K", 1024), tiles("k", "K", 64)
    with b.parallel(i, j, z):
        acc = b.full(0.0, TileType(F32, (along(i), along(j))), "acc")
        start, stop = b.op(Start, INDEX_SCALAR, walker=z), b.op(Stop, INDEX_SCALAR, walker=z)
        with b.walking(k, acc, start=start, stop=stop) as loop:
            left = b.load(a, Along(i), Along(k), axes=(along(i), along(k)))
            right = b.load(w, Along(k), Along(j), axes=(along(k), along(j)))
            loop.yields = (b.op(Mma, acc.type, "acc", left=left, right=right, acc=loop.carried[0]),)
        (acc,) = b.join(b.adding(acc.type), *loop.results, over=z)
        b.store(c, Along(i), Along(j), value=acc)
    return b.kernel()


def best() -> KernelIR:
    """The greatest element and its place, in two stages, and running maxima."""
    b = Builder("best")
    b.constants = {"SN": 256}
    top = b.tensor("top", Access.OUT, F32, "R")
    at = b.tensor("at", Access.OUT, Content("Index", "N", I32), "R")
    peaks = b.tensor("peaks", Access.OUT, F32, "R N")
    x = b.tensor("x", Access.IN, F32, "R N")
    r, z = each("r", "R"), pieces("z", "N", 256)
    with b.parallel(r, z):
        row = b.load(x, Along(r), Along(z), axes=(along(z),), name="row")
        places = b.op(Elements, TileType(INDEX, (along(z),)), "places", walker=z)
        kinds = TileType(F32), INDEX_SCALAR
        with b.combining(*kinds) as pair:
            (one, here), (other, there) = pair.left, pair.right
            is_less = b.binary(BinaryFn.LT, one, other)
            greater = b.op(Select, kinds[0], condition=is_less, yes=other, no=one)
            pair.yields = greater, b.op(Select, kinds[1], condition=is_less, yes=there, no=here)
        first = b.number(float("-inf"), F32), b.number(0)
        found = b.fold(pair.combiner, row, places, identities=first, axis=0)
        with b.combining(kinds[0]) as pair:
            pair.yields = (b.binary(BinaryFn.MAX, *pair.left, *pair.right),)
        (rising,) = b.scan(pair.combiner, row, axis=0)
        b.store(peaks, Along(r), Along(z), value=rising)
        with b.combining(*kinds) as pair:
            is_less = b.binary(BinaryFn.LT, pair.left[0], pair.right[0])
            choices = zip(kinds, pair.right, pair.left, strict=True)
            pair.yields = tuple(b.op(Select, of, condition=is_less, yes=yes, no=no) for of, yes, no in choices)
        greatest, place = b.join(pair.combiner, *found, over=z)
        b.store(top, Along(r), value=greatest)
        b.store(at, Along(r), value=place)
    return b.kernel()


def experts() -> KernelIR:
    """Tiles of ragged segments, each written where a table says, or nowhere."""
    b = Builder("experts")
    b.constants, b.static = {"B": 64}, {"D": 128}
    y = b.tensor("y", Access.INOUT, F32, "C D")
    x = b.tensor("x", Access.IN, F32, "T D")
    scale = b.tensor("scale", Access.IN, F32, "E")
    off = b.tensor("off", Access.IN, Content("Offsets", "T", I32), "_")
    slots = b.tensor("slots", Access.IN, Content("Unique", "C", I32), "T")
    e, m, d = b.value(INDEX_SCALAR, "e"), tiles("m", "T", 64), each("d", "D")
    with b.parallel(m, d, segments=(Segments(m, off, e),)):
        values = b.load(x, Along(m), Along(d), axes=(along(m),))
        scaled = b.binary(BinaryFn.MUL, values, b.spread(b.load(scale, At(e)), along(m)))
        slot = b.load(slots, Along(m), axes=(along(m),), name="slot")
        b.store(y, Gather(slot), Along(d), value=scaled)
    return b.kernel()


def paged() -> KernelIR:
    """A table of slots in pages of 16, in which a slot may be none."""
    b = Builder("paged")
    b.static = {"D": 128}
    pages = b.tensor("pages", Access.INOUT, F32, "P 16 D")
    x = b.tensor("x", Access.IN, F32, "N D")
    slots = b.tensor("slots", Access.IN, Content("Unique", "S", I32), "N")
    b.tensor("used", Access.IN, BOOL, "S")
    n = each("n", "N")
    line = Axis(128, DimensionTag("D"))
    with b.parallel(n):
        slot, size = b.load(slots, Along(n), name="slot"), b.number(16, ENTRY)
        page, place = b.binary(BinaryFn.FLOORDIV, slot, size, "page"), b.binary(BinaryFn.MOD, slot, size, "place")
        b.store(pages, At(page), At(place), Whole(), value=b.load(x, Along(n), Whole(), axes=(line,)))
    return b.kernel()


def append() -> KernelIR:
    """A cache that is read and appended to, with what else there is in a program."""
    b = Builder("append")
    b.constants = {"B": 8}
    cache = b.tensor("cache", Access.INOUT, F32, "C")
    new = b.tensor("new", Access.IN, F32, "N")
    pos = b.tensor("pos", Access.IN, I32, "1")
    seed = b.scalar("seed", I64)
    i, t = tiles("i", "N", 8), tiles("t", "C", 8)
    row = along(i)
    here = b.op(Cast, INDEX_SCALAR, "here", operand=b.load(pos, At(b.number(0))))
    past, fresh = b.split(cache, 0, here)
    with b.parallel(i):
        partial = b.full(0.0, TileType(F32, (Axis(8),)), "partial")
        with b.walking(t, partial, stop=here) as loop:
            read = b.load(past, Along(t), axes=(along(t),))
            filled = b.op(Fill, partial.type, operand=read, value=b.number(0.0, F32))
            loop.yields = (b.add(loop.carried[0], filled, "partial"),)
        total = b.op(Reduce, TileType(F32), fn=ReduceFn.SUM, operand=loop.results[0], axis=0)
        later = b.shift("later", i, b.number(1))
        ahead = b.load(new, Along(later), axes=(along(later),))
        last = b.op(Reduce, TileType(F32), fn=ReduceFn.MAX, operand=ahead, axis=0)
        places = b.op(Elements, TileType(INDEX, (row,)), walker=i)
        before = b.binary(BinaryFn.SUB, places, b.full(1, places.type), "before")
        behind = b.get(new, Gather(before), fill=b.number(0.0, F32), axes=(row,))
        noise = b.op(Random, behind.type, seed=seed, offset=before)
        number = b.op(Number, INDEX_SCALAR, walker=i)
        b.emit(Print(b.span, 'the "last"', (last, number)))
        b.emit(Assume(b.span, b.binary(BinaryFn.GE, number, b.number(0)), "tiles are counted from 0"))
        unchecked = b.op(Load, TileType(F32), tensor=new, picks=(At(number),), raw=True)
        sums = b.add(b.add(behind, noise), b.spread(b.add(total, b.add(last, unchecked)), row))
        b.store(fresh, Along(i), value=sums)
        b.emit(Store(b.span, fresh, (At(number),), unchecked, raw=True))
    return b.kernel()


ALL: tuple[Callable[[], KernelIR], ...] = (
    matmul, rms_norm, kv_append, histogram, everything, matmul_split, best, experts, paged, append,
)  # fmt: skip
