"""Checks that stayed, and `tp.print`.

A check never branches. It makes a truth, and a masked store of four numbers into the program's own slot of the report:
which check failed, at which index, and between which bounds it should have been. The slots hold zeros where none did.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileproof.backends.cuda.tileir.types import I1, I32, I64, Order, Predicate, Scope, Value
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.ir import ops
from tileproof.ir.types import Tile
from tileproof.ir.walk import walk
from tileproof.language.dtypes import ENTRY, F32

from .conversions import cast
from .state import State
from .tiles import element_of, shape_of

WORDS = 4
"""How many numbers a program reports: the check, counted from 1, the index, and its bounds."""


def sites_of(kernel: ops.KernelIR) -> Sequence[ops.Check]:
    """Every check of a kernel, by number."""
    return [op for op in walk(kernel.body) if isinstance(op, ops.Check)]


def check(s: State, op: ops.Check) -> None:
    """Whether every lane is within bounds, reported if it is not."""
    b = s.b
    index = s.get(op.index)
    shape = shape_of(index)
    low, high = (s.get(bound) for bound in (op.low, op.high))
    signed = op.index.type.dtype.kind != "uint"
    under = b.cmpi(Predicate.LESS, index, s.spread(low, shape), signed=signed)
    over = b.cmpi(Predicate.GREATER_EQUAL, index, s.spread(high, shape), signed=signed)
    wrong = b.ori(under, over)
    if op.index.type.dtype == ENTRY:
        some = b.cmpi(Predicate.NOT_EQUAL, index, s.splat(I64, shape, -1), signed=True)
        wrong = b.andi(wrong, some)
    live = s.mask_all(op.index.type)
    if live is not None:
        wrong = b.andi(wrong, live)
    failed = _any(s, wrong)
    for entry in op.entries:
        failed = b.andi(failed, _negated(s, _all_none(s, entry)))
    before = s.splat(I1, (), True) if op.ok is None else s.get(op.ok)
    s.put(op.result, b.andi(before, _negated(s, failed)))
    _report(s, op, b.andi(before, failed), _first(s, wrong, index), low, high)


def _negated(s: State, truth: Value) -> Value:
    return s.b.xori(truth, s.splat(I1, shape_of(truth), True))


def _any(s: State, truths: Value) -> Value:
    """Whether any lane is true."""
    b = s.b
    shape = shape_of(truths)
    if not shape:
        return truths
    flat = b.reshape(b.exti(truths, I32, signed=False), (math.prod(shape),))
    fold = b.reduce([flat], 0, [0])
    with b.inside(fold.block):
        b.yield_(b.ori(*fold.arguments))
    return b.cmpi(Predicate.NOT_EQUAL, fold.results[0], s.splat(I32, (), 0), signed=False)


def _all_none(s: State, entry: Tile) -> Value:
    """Whether an entry is none in every live lane, and there is one."""
    b = s.b
    value = s.get(entry)
    shape = shape_of(value)
    some = b.cmpi(Predicate.NOT_EQUAL, value, s.splat(I64, shape, -1), signed=True)
    live = s.mask_all(entry.type)
    if live is not None:
        some = b.andi(some, live)
    nothing = _negated(s, _any(s, some))
    if live is not None:
        nothing = b.andi(nothing, _any(s, live))
    return nothing


def _first(s: State, wrong: Value, index: Value) -> Value:
    """The index of the first lane that is wrong; anything where none is."""
    b = s.b
    shape = shape_of(wrong)
    wide = index if index.type == TileOf(I64, shape) else b.exti(index, I64, signed=True)
    if not shape:
        return wide
    count = math.prod(shape)
    flat, value = b.reshape(wrong, (count,)), b.reshape(wide, (count,))
    place = b.select(flat, b.iota(count, I32), s.splat(I32, (count,), count))
    fold = b.reduce([place, value], 0, [count, 0])
    with b.inside(fold.block):
        one, other, here, there = fold.arguments
        is_first = b.cmpi(Predicate.LESS, one, other, signed=True)
        b.yield_(b.select(is_first, one, other), b.select(is_first, here, there))
    return fold.results[1]


def _report(s: State, op: ops.Check, failed: Value, index: Value, low: Value, high: Value) -> None:
    b = s.b
    assert s.report is not None
    # Before the parallel space all programs do the same, and the slot of the launch itself comes first.
    slot = s.splat(I64, (), 0) if s.point is None else b.addi(s.point, s.splat(I64, (), 1))
    bounds = [low if low.type == TileOf(I64) else b.exti(low, I64, signed=True) for low in (low, high)]
    words = [s.splat(I64, (), s.sites[id(op)] + 1), index, *bounds]
    begin = b.addi(b.muli(slot, s.splat(I64, (), WORDS)), s.splat(I64, (), WORDS))
    for number, word in enumerate(words):
        place = b.offset(s.report, b.addi(begin, s.splat(I64, (), number)))
        b.store_ptr(place, word, mask=failed, token=s.order.wait, order=Order.RELAXED, scope=Scope.DEVICE)
    flag = s.splat(I64, (), 1)
    b.store_ptr(s.report, flag, mask=failed, token=s.order.wait, order=Order.RELAXED, scope=Scope.DEVICE)


def show(s: State, op: ops.Print) -> None:
    """`tp.print` on a GPU: the number of the program, the label and the values, as the driver prints them.

    Lanes that do not exist are printed as zeros.
    """
    b = s.b
    forms, values = [], []
    for tile in op.values:
        value, dtype = s.get(tile), tile.type.dtype
        mask = s.mask_all(tile.type)
        if mask is not None:
            value = b.select(mask, value, s.splat(element_of(value), shape_of(value), 0))
        if dtype.is_float:
            forms.append("%f")
            values.append(value if dtype.bits >= 32 else cast(b, value, dtype, F32, s.version))
        else:
            forms.append("%lld")
            values.append(value if element_of(value) == I64 else b.exti(value, I64, signed=dtype.kind == "int"))
    label = op.label.replace("%", "%%")
    program = [] if s.point is None else [s.point]
    head = f"[{s.kernel.name}{' program %lld' if program else ''}] {label}"
    b.print_(f"{head}: {', '.join(forms)}\n" if forms else f"{head}\n", [*program, *values])
