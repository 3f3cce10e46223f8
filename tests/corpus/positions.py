"""Positions as kernels for GPUs compute them, each with a twin that is wrong: steps, digits, bits, strides, entries."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Out, Unique, f32, i32, i64

from .case import Case, blank, floats, ints, one

# Loops over all that a program owns.


@tp.kernel
def grid_stride(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """Every P-th element, from the program's own on."""
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), tp.dim("P")):
            y[n] = x[n]


@tp.kernel
def grid_stride_short(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """The step is one less than there are programs."""
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), tp.dim("P") - 1):
            y[n] = x[n]


@tp.kernel
def grid_stride_of_four(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """A constant step, and as many programs."""
    tp.require(tp.dim("P") == 4)
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), 4):
            y[n] = x[n]


@tp.kernel
def grid_stride_of_many(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """A constant step, and more programs."""
    tp.require(tp.dim("P") >= 4)
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), 4):
            y[n] = x[n]


@tp.kernel
def grid_stride_down(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """From the end to the start."""
    for p in tp.parallel(P=tp.each):
        for n in range(tp.dim("N") - 1 - p, -1, -tp.dim("P")):
            y[n] = x[n]


@tp.kernel
def grid_stride_up_and_down(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], step: i32) -> None:
    """A step whose sign nobody knows."""
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), step):
            y[n] = x[n]


@tp.kernel
def persistent_tiles(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], *, B: int = 4) -> None:
    """Every P-th tile."""
    for p in tp.parallel(P=tp.each):
        for t in range(p, tp.cdiv(tp.dim("N"), B), tp.dim("P")):
            for n in tp.tiles(N=B, start=t * B, stop=t * B + B):
                y[n] = x[n]


@tp.kernel
def persistent_tiles_meet(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], *, B: int = 4) -> None:
    """Every P-th tile, and the first element of the next."""
    for p in tp.parallel(P=tp.each):
        for t in range(p, tp.cdiv(tp.dim("N"), B), tp.dim("P")):
            for n in tp.tiles(N=B, start=t * B, stop=t * B + B + 1):
                y[n] = x[n]


@tp.kernel
def chunk_of_each(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], *, B: int = 4) -> None:
    """A chunk for each program, rounded up."""
    for p in tp.parallel(P=tp.each):
        chunk = tp.cdiv(tp.dim("N"), tp.dim("P"))
        for n in tp.tiles(N=B, start=p * chunk, stop=p * chunk + chunk):
            y[n] = x[n]


@tp.kernel
def chunk_too_near(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], *, B: int = 4) -> None:
    """Chunks that begin where those rounded down would."""
    for p in tp.parallel(P=tp.each):
        chunk = tp.cdiv(tp.dim("N"), tp.dim("P"))
        for n in tp.tiles(N=B, start=p * (tp.dim("N") // tp.dim("P")), stop=p * chunk + chunk):
            y[n] = x[n]


@tp.kernel
def advance_by_programs(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """A position that each turn of a `while` moves on."""
    for p in tp.parallel(P=tp.each):
        at = p + 0
        while at < tp.dim("N"):
            y[at] = x[at]
            at += tp.dim("P")


@tp.kernel
def advance_by_fewer(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """Moved on by half as much."""
    for p in tp.parallel(P=tp.each):
        at = p + 0
        while at < tp.dim("N"):
            y[at] = x[at]
            at += tp.dim("P") // 2 + 1


@tp.kernel
def advance_in_turns(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], turns: i32) -> None:
    """The same, a number of times."""
    for p in tp.parallel(P=tp.each):
        at = p + 0
        for _ in range(turns):
            if at < tp.dim("N"):
                y[at] = x[at]
            at += tp.dim("P")


@tp.kernel
def advance_by_own(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"], turns: i32) -> None:
    """Each program moves on by another step."""
    for p in tp.parallel(P=tp.each):
        at = p + 0
        for _ in range(turns):
            if at < tp.dim("N"):
                y[at] = x[at]
            at += tp.dim("P") + p


@tp.kernel
def counted_copy(y: InOut[f32, "M*N"], x: In[f32, "M N"]) -> None:
    """A cursor that counts along."""
    for m in tp.parallel(M=tp.each):
        at = m * tp.dim("N")
        for n in tp.tiles(N=tp.each):
            y[at] = x[m, n]
            at = at + 1


@tp.kernel
def counted_too_far(y: InOut[f32, "M*N"], x: In[f32, "M N"]) -> None:
    """A cursor that is used once more after its loop."""
    for m in tp.parallel(M=tp.each):
        at = m * tp.dim("N")
        for n in tp.tiles(N=tp.each):
            y[at] = x[m, n]
            at = at + 1
        if at < tp.dim("M") * tp.dim("N"):
            y[at] = 0.0


@tp.kernel
def no_turn(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """What a loop carries is what it was, where there is no iteration."""
    for n in tp.parallel(N=tp.each):
        at = n + 0
        for _ in range(0):
            at = at - 1
        y[at] = x[n]


@tp.kernel
def many_turns(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """All go back to the first element."""
    for n in tp.parallel(N=tp.each):
        at = n + 0
        for _ in range(n):
            at = at - 1
        y[at] = x[n]


@tp.kernel
def either_way(y: InOut[f32, "N"], x: In[f32, "N"], step: i32) -> None:
    """A loop that may count down to positions before its start."""
    for p in tp.parallel(N=tp.each):
        for n in range(p, -1, step):
            if n < p:
                y[0] = x[n]


@tp.kernel
def advance_at_first(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """A step that only the first turn takes."""
    for p in tp.parallel(N=tp.each):
        at = p + 0
        for t in range(3):
            if at < tp.dim("N"):
                y[at] = x[at]
            at += tp.where(t == 0, 1, 0)


@tp.kernel
def advance_by_turn(y: InOut[f32, "N"], x: In[f32, "N"], programs: In[f32, "P"]) -> None:
    """Steps that grow: their sum is not the last of them, times their number."""
    for p in tp.parallel(P=tp.each):
        at = p * 5
        for t in range(6):
            at += t - 2
        if (at >= 0) & (at < tp.dim("N")):
            y[at - p * 5] = x[at]


@tp.kernel
def advance_less_and_less(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """One element, then none: nothing is left of the step where it is looked at again."""
    for p in tp.parallel(N=tp.each):
        at = p + 0
        for t in range(3):
            if at < tp.dim("N"):
                y[at] = x[p]
            at += 1 // (t + 1)


@tp.kernel
def two_turns(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """The second turn is a short one, and takes all programs to the first element."""
    for p in tp.parallel(N=tp.each):
        at = 2 * p
        for _ in range(0, 3, 2):
            at -= p
        y[at] = x[p]


@tp.kernel
def advance_past_all(y: Out[i64, "1"], x: In[f32, "N"]) -> None:
    """Two steps, each half as long as 64 bits are, from the second element."""
    at = tp.dim("N") * 0 + 1
    while at < tp.dim("N"):
        at += 0x4000000000000000
    y[0] = (at + 0x4000000000000000).to(i64)


# Digits of a position.


@tp.kernel
def three_digits(y: InOut[f32, "A B C"], x: In[f32, "X=A*B*C"]) -> None:
    """A position as an element of three axes."""
    for p in tp.parallel(X=tp.each):
        b, c = tp.dim("B"), tp.dim("C")
        y[p // (b * c), p // c % b, p % c] = x[p]


@tp.kernel
def five_digits(y: InOut[f32, "A B C D E"], x: In[f32, "X=A*B*C*D*E"]) -> None:
    """And of five."""
    for p in tp.parallel(X=tp.each):
        b, c, d, e = tp.dim("B"), tp.dim("C"), tp.dim("D"), tp.dim("E")
        y[p // (b * c * d * e), p // (c * d * e) % b, p // (d * e) % c, p // e % d, p % e] = x[p]


@tp.kernel
def digits_of_the_rest(y: InOut[f32, "A B C"], x: In[f32, "X=A*B*C"]) -> None:
    """Digits one after another."""
    for p in tp.parallel(X=tp.each):
        rest = p % (tp.dim("B") * tp.dim("C"))
        y[p // (tp.dim("B") * tp.dim("C")), rest // tp.dim("C"), rest % tp.dim("C")] = x[p]


@tp.kernel
def one_digit_twice(y: InOut[f32, "A B C"], x: In[f32, "X=A*B*C"]) -> None:
    """The middle digit is that of the last axis."""
    for p in tp.parallel(X=tp.each):
        b, c = tp.dim("B"), tp.dim("C")
        if p % c < b:
            y[p // (b * c), p % c, p % c] = x[p]


@tp.kernel
def digits_in_a_loop(y: InOut[f32, "M N"], x: In[f32, "M N"]) -> None:
    """One loop for two axes: their product has 64 bits, or the launch is refused."""
    for t in range(tp.dim("M") * tp.dim("N")):
        y[t // tp.dim("N"), t % tp.dim("N")] = x[t // tp.dim("N"), t % tp.dim("N")]


@tp.kernel
def digits_past_the_end(y: InOut[f32, "M N"], x: In[f32, "M N"]) -> None:
    """One turn too many."""
    for t in range(tp.dim("M") * tp.dim("N") + 1):
        y[t // tp.dim("N"), t % tp.dim("N")] = x[0, 0]


@tp.kernel
def butterflies(y: InOut[f32, "N"], pairs: In[f32, "H"], span: i32) -> None:
    """A stage of a transform: each program has two elements, `span` apart."""
    tp.require(span >= 1)
    for p in tp.parallel(H=tp.each):
        one = p // span * 2 * span + p % span
        if one + span < tp.dim("N"):
            a, b = y[one], y[one + span]
            y[one] = a + b
            y[one + span] = a - b


@tp.kernel
def butterflies_meet(y: InOut[f32, "N"], pairs: In[f32, "H"], span: i32) -> None:
    """Blocks of one span, not of two."""
    tp.require(span >= 1)
    for p in tp.parallel(H=tp.each):
        one = p // span * span + p % span
        if one + span < tp.dim("N"):
            a, b = y[one], y[one + span]
            y[one] = a + b
            y[one + span] = a - b


@tp.kernel
def butterflies_of_four(y: InOut[f32, "N"], pairs: In[f32, "H"], *, S: int = 4) -> None:
    """A span that is a constant."""
    for p in tp.parallel(H=tp.each):
        one = p // S * (2 * S) + p % S
        if one + S < tp.dim("N"):
            a, b = y[one], y[one + S]
            y[one] = a + b
            y[one + S] = a - b


@tp.kernel
def mixed_digits(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """A third of a half is a sixth, not a fifth."""
    for n in tp.parallel(N=tp.each):
        y[n // 3 // 2 * 5 + n % 5] = x[n]


@tp.kernel
def even_or_odd(y: InOut[f32, "N 2"], x: In[f32, "N"], c: In[f32, "C"]) -> None:
    """The last bit, and what two rows before it are: the digits between are lost."""
    for n in tp.parallel(N=tp.each):
        if n % tp.dim("C") < tp.dim("N"):
            y[n // (2 * tp.dim("C")), n % 2] = x[n]


@tp.kernel
def row_after(y: Out[f32, "X=A*C"], x: In[f32, "A"]) -> None:
    """A row has its number, the last row has no next."""
    for p in tp.parallel(X=tp.each):
        y[p] = x[p // tp.dim("C") + 1]


@tp.kernel
def column_of_all(y: Out[f32, "M N"], x: In[f32, "M*N"]) -> None:
    """As many elements as a row has come before one that a single row does not have."""
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        y[m, n] = x[tp.dim("N")]


# Bits of a position.


@tp.kernel
def bit_flipped(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Halves of every eight elements trade places."""
    tp.require(tp.dim("N") % 8 == 0)
    for n in tp.parallel(N=tp.each):
        y[n] = x[n ^ 4] + 1.0


@tp.kernel
def bit_flipped_store(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """The same from the other side, where there is a partner."""
    for n in tp.parallel(N=8):
        at = n.elements ^ 4
        y[tp.where(at < tp.dim("N"), at, tp.none)] = x[n]


@tp.kernel
def bit_past_the_end(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Four elements have no other half."""
    tp.require(tp.dim("N") % 4 == 0)
    for n in tp.parallel(N=tp.each):
        y[n] = x[n ^ 4]


@tp.kernel
def swizzled_rows(y: InOut[f32, "R C"], x: In[f32, "R C"]) -> None:
    """Each row has an order of its own."""
    tp.require(tp.dim("C") % 8 == 0)
    for r, c in tp.parallel(R=tp.each, C=tp.each):
        y[r, c ^ (r % 8)] = x[r, c]


@tp.kernel
def xor_away(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """A position without its last digits."""
    for n in tp.parallel(N=tp.each):
        if (n ^ (n % 4)) < tp.dim("N"):
            y[n ^ (n % 4)] = x[n]


@tp.kernel
def partners(y: InOut[f32, "N"], span: i32) -> None:
    """A stage of a bitonic sort: the first of two partners orders both."""
    for n in tp.parallel(N=tp.each):
        other = n ^ span
        if (other > n) & (other < tp.dim("N")):
            a, b = y[n], y[other]
            y[n] = tp.minimum(a, b)
            y[other] = tp.maximum(a, b)


@tp.kernel
def both_partners(y: InOut[f32, "N"], span: i32) -> None:
    """Both partners order both."""
    tp.require(span >= 1)
    for n in tp.parallel(N=tp.each):
        other = n ^ span
        if (other >= 0) & (other < tp.dim("N")):
            a, b = y[n], y[other]
            y[n] = tp.minimum(a, b)
            y[other] = tp.maximum(a, b)


# Strides.


@tp.kernel
def stride_by_value(y: InOut[f32, "L"], x: In[f32, "M N"], stride: i32) -> None:
    """Rows that are at least as far apart as they are long."""
    tp.require(stride >= tp.dim("N"))
    for i, j in tp.parallel(M=tp.each, N=tp.each):
        if i * stride + j < tp.dim("L"):
            y[i * stride + j] = x[i, j]


@tp.kernel
def stride_too_short(y: InOut[f32, "L"], x: In[f32, "M N"], stride: i32) -> None:
    """Rows that share an element."""
    tp.require(stride >= tp.dim("N") - 1)
    for i, j in tp.parallel(M=tp.each, N=tp.each):
        if (i * stride + j >= 0) & (i * stride + j < tp.dim("L")):
            y[i * stride + j] = x[i, j]


@tp.kernel
def stride_of_windows(y: InOut[f32, "L"], x: In[f32, "P"], stride: i32) -> None:
    """Windows of four."""
    tp.require(stride >= 4)
    for p in tp.parallel(P=tp.each):
        if p * stride + 4 <= tp.dim("L"):
            y[p * stride + tp.arange(4)] = x[p]


@tp.kernel
def stride_of_narrow_windows(y: InOut[f32, "L"], x: In[f32, "P"], stride: i32) -> None:
    """Windows of four at a stride of three."""
    tp.require(stride >= 3)
    for p in tp.parallel(P=tp.each):
        if p * stride + 4 <= tp.dim("L"):
            y[p * stride + tp.arange(4)] = x[p]


@tp.kernel(deny_checks=True)
def stride_back(y: Out[f32, "N"], x: In[f32, "L"], stride: i32) -> None:
    """One stride less is not before the start, unless strides go back."""
    for n in tp.parallel(N=tp.each):
        total = 0.0
        if (n >= 1) & (n * stride - stride < tp.dim("L")):
            total = x[n * stride - stride]
        y[n] = total


# Numbers of 64 bits.


@tp.kernel
def chosen_products(y: Out[i64, "M N"], x: In[f32, "M N"], *, B: int = 4) -> None:
    """What is chosen between fits where both do, by the extents of the launch."""
    for i, j in tp.parallel(M=tp.each, N=B):
        y[i, j] = (tp.where(x[i, j] > 0, i * tp.dim("N") + j.elements, 0) * 2).to(i64)


@tp.kernel
def chosen_tiles(y: Out[i64, "M N"], x: In[f32, "M N"], *, BM: int = 2, BN: int = 4) -> None:
    """The same for tiles of two axes."""
    for i, j in tp.parallel(M=BM, N=BN):
        flat = i.elements[:, None] * tp.dim("N") + j.elements[None, :]
        y[i, j] = tp.where(x[i, j] > 0, flat, flat // tp.dim("N")).to(i64)


@tp.kernel
def chosen_in_a_loop(y: Out[i64, "M"], x: In[f32, "M N"]) -> None:
    """What is chosen refers to what the loop carries."""
    for m in tp.parallel(M=tp.each):
        n = tp.dim("N")
        at = m + 0
        total = tp.zeros((), i64)
        for _ in range(n):
            total += (tp.where(x[m, 0] > 0, at, 0) * n).to(i64)
            at += n
        y[m] = total


@tp.kernel
def chosen_too_large(y: Out[i64, "M N"], x: In[f32, "M N"], *, B: int = 4) -> None:
    """A product that leaves 64 bits from the second row on."""
    for i, j in tp.parallel(M=tp.each, N=B):
        y[i, j] = tp.where(x[i, j] > 0, i * 0x5851F42D4C957F2D + j.elements, 0).to(i64)


@tp.kernel
def power_of_chosen(y: Out[i64, "N"], x: In[f32, "N"]) -> None:
    """Each factor fits, and is chosen; their product does not."""
    for n in tp.parallel(N=tp.each):
        y[n] = (tp.where(x[n] > 0, n * n * n, 0) * n * n * n).to(i64)


@tp.kernel
def power_of_carried(y: Out[i64, "M"], x: In[f32, "M N"]) -> None:
    """What a loop has added up, times as much."""
    for m in tp.parallel(M=tp.each):
        n = tp.dim("N")
        at = m + 0
        for _ in range(n):
            at += n
        y[m] = (at * n * n * n * n).to(i64)


# Entries of entries.


@tp.kernel
def slots_of_ids(y: InOut[f32, "S"], slot: In[Unique["S"], "V"], ids: In[Unique["V"], "N"], x: In[f32, "N"]) -> None:
    """Two injective maps, one after the other."""
    for n in tp.parallel(N=tp.each):
        y[slot[ids[n]]] = x[n]


@tp.kernel
def slots_of_tiles(y: InOut[f32, "S"], slot: In[Unique["S"], "V"], ids: In[Unique["V"], "N"], x: In[f32, "N"]) -> None:
    """The same for lanes."""
    for n in tp.parallel(N=4):
        y[slot[ids[n]]] = x[n]


@tp.kernel
def slots_of_any(y: InOut[f32, "S"], slot: In[Unique["S"], "V"], ids: In[Index["V"], "N"], x: In[f32, "N"]) -> None:
    """The inner map is not injective."""
    for n in tp.parallel(N=tp.each):
        y[slot[ids[n]]] = x[n]


@tp.kernel
def slots_or_none(y: InOut[f32, "S"], slot: In[Unique["S"], "V"], ids: In[Unique["V"], "N"], x: In[f32, "N"]) -> None:
    """What has no id has the slot of the first."""
    for n in tp.parallel(N=tp.each):
        y[slot[tp.maximum(ids.get(n, -1).to(i64), 0)]] = x[n]


@tp.kernel
def some_slots(y: InOut[f32, "S"], slot: In[Unique["S"], "N"], keep: In[i32, "N"], x: In[f32, "N"]) -> None:
    """Distinct positions, or none."""
    for n in tp.parallel(N=4):
        y[slot.get(tp.where(keep[n] > 0, n.elements, -1), -1)] = x[n]


@tp.kernel
def some_slots_or_the_first(
    y: InOut[f32, "S"], slot: In[Unique["S"], "N"], keep: In[i32, "N"], x: In[f32, "N"]
) -> None:
    """Distinct positions, or that of the first."""
    for n in tp.parallel(N=4):
        y[slot.get(tp.where(keep[n] > 0, n.elements, 0), -1)] = x[n]


@tp.kernel
def places_in_rows(y: InOut[f32, "N V"], at: In[Unique["V per N"], "N P"], x: In[f32, "N P"]) -> None:
    """Each row has its own order."""
    for n, p in tp.parallel(N=tp.each, P=4):
        y[n, at[n, p]] = x[n, p]


@tp.kernel
def order_of_rows(y: Out[f32, "N V"], at: In[Unique["V per N"], "N V"], x: In[f32, "N V"]) -> None:
    """As many entries as a row has places, none of them none: all are written."""
    for n, v in tp.parallel(N=tp.each, V=tp.each):
        y[n, at[n, v]] = x[n, v]


@tp.kernel
def places_of_all_rows(y: InOut[f32, "V"], at: In[Unique["V per N"], "N P"], x: In[f32, "N P"]) -> None:
    """The entries of two rows may be equal."""
    for n, p in tp.parallel(N=tp.each, P=tp.each):
        y[at[n, p]] = x[n, p]


@tp.kernel
def places_of_the_next_row(y: InOut[f32, "N V"], at: In[Unique["V per N"], "N P"], x: In[f32, "N P"]) -> None:
    """Rows in pairs: an order of each does not make one of both."""
    for n, p in tp.parallel(N=tp.each, P=tp.each):
        y[n // 2, at[n, p]] = x[n, p]


@tp.kernel
def slot_before(y: InOut[f32, "S"], slot: In[Unique["S"], "N"], x: In[f32, "N"]) -> None:
    """Before the first entry is the first element, of which an entry may be, too."""
    for n in tp.parallel(N=tp.each):
        y[slot.get(n - 1, 0)] = x[n]


@tp.kernel(deny_checks=True)
def next_column(y: Out[f32, "N"], columns: In[Index["C"], "N"], x: In[f32, "C"]) -> None:
    """The launch has seen the entries, not the fill that stands behind the last of them."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[columns.get(n + 1, -1)]


def _slots() -> Any:
    return np.array([4, 0, 3, 1], np.int32)


def _rows() -> Any:
    return np.array([[2, 0, 1], [0, 1, 2]], np.int32)


def _grid(many: int = 11, programs: int = 3) -> tuple[Any, ...]:
    return blank(many), floats(many), floats(programs)


SAFE = [
    Case(grid_stride, lambda: one(*_grid()) + one(*_grid(2, 5)) + one(*_grid(0, 2))),
    Case(grid_stride_of_four, lambda: one(*_grid(11, 4))),
    Case(grid_stride_down, lambda: one(*_grid()) + one(*_grid(1, 4))),
    Case(persistent_tiles, lambda: one(*_grid(21, 2)) + one(*_grid(3, 3))),
    Case(chunk_of_each, lambda: one(*_grid(21, 4)) + one(*_grid(2, 3))),
    Case(advance_by_programs, lambda: one(*_grid()) + one(*_grid(2, 5))),
    Case(advance_in_turns, lambda: one(*_grid(), 5) + one(*_grid(), -1)),
    Case(counted_copy, lambda: one(blank(12), floats(3, 4)) + one(blank(0), floats(3, 0))),
    Case(no_turn, lambda: one(blank(5), floats(5))),
    Case(three_digits, lambda: one(blank(2, 3, 4), floats(24)) + one(blank(2, 0, 4), floats(0))),
    Case(five_digits, lambda: one(blank(2, 1, 3, 2, 2), floats(24))),
    Case(digits_of_the_rest, lambda: one(blank(2, 3, 4), floats(24))),
    Case(digits_in_a_loop, lambda: one(blank(3, 4), floats(3, 4)) + one(blank(3, 0), floats(3, 0))),
    Case(butterflies, lambda: one(floats(16), floats(8), 2) + one(floats(13), floats(8), 3)),
    Case(butterflies_of_four, lambda: one(floats(16), floats(8))),
    Case(bit_flipped, lambda: one(blank(16), floats(16)) + one(blank(0), floats(0))),
    Case(bit_flipped_store, lambda: one(blank(11), floats(11)) + one(blank(3), floats(3))),
    Case(swizzled_rows, lambda: one(blank(3, 8), floats(3, 8))),
    Case(partners, lambda: one(-floats(8), 4) + one(-floats(7), 2) + one(-floats(5), -3)),
    Case(stride_by_value, lambda: one(blank(20), floats(3, 4), 6) + one(blank(9), floats(3, 4), 4)),
    Case(stride_of_windows, lambda: one(blank(20), floats(4), 5) + one(blank(11), floats(4), 4)),
    Case(chosen_products, lambda: one(np.zeros((3, 5), np.int64), floats(3, 5) - 7)),
    Case(chosen_tiles, lambda: one(np.zeros((3, 5), np.int64), floats(3, 5) - 7)),
    Case(chosen_in_a_loop, lambda: one(np.zeros(3, np.int64), floats(3, 5))),
    Case(slots_of_ids, lambda: one(blank(5), _slots(), ints(3, 0, 1), floats(3))),
    Case(slots_of_tiles, lambda: one(blank(5), _slots(), ints(3, 0, 1), floats(3))),
    Case(places_in_rows, lambda: one(blank(2, 5), _rows(), floats(2, 3)) + one(blank(0, 5), _rows()[:0], floats(0, 3))),
    Case(order_of_rows, lambda: one(blank(2, 3), _rows(), floats(2, 3))),
    Case(some_slots, lambda: one(blank(5), _slots(), ints(1, 0, 0, 1), floats(4))),
]
UNSAFE = [
    Case(grid_stride_short, lambda: one(*_grid()), "race"),
    Case(grid_stride_of_many, lambda: one(*_grid(11, 5)), "race"),
    Case(grid_stride_up_and_down, lambda: one(*_grid(), 2), "race"),
    Case(persistent_tiles_meet, lambda: one(*_grid(21, 2)), "race"),
    Case(chunk_too_near, lambda: one(*_grid(11, 4)), "race"),
    Case(advance_by_fewer, lambda: one(*_grid(11, 3)), "race"),
    Case(advance_by_own, lambda: one(*_grid(11, 3), 5), "race"),
    Case(counted_too_far, lambda: one(blank(12), floats(3, 4)), "race"),
    Case(many_turns, lambda: one(blank(5), floats(5)), "race"),
    Case(one_digit_twice, lambda: one(blank(2, 3, 4), floats(24)), "race"),
    Case(digits_past_the_end, lambda: one(blank(3, 4), floats(3, 4)), "bounds"),
    Case(butterflies_meet, lambda: one(floats(16), floats(8), 2), "race"),
    Case(bit_past_the_end, lambda: one(blank(4), floats(4)), "bounds"),
    Case(xor_away, lambda: one(blank(5), floats(5)), "race"),
    Case(both_partners, lambda: one(floats(8), 4), "race"),
    Case(stride_too_short, lambda: one(blank(20), floats(3, 4), 3), "race"),
    Case(stride_of_narrow_windows, lambda: one(blank(20), floats(4), 3), "race"),
    Case(chosen_too_large, lambda: one(np.zeros((3, 5), np.int64), floats(3, 5)), "bounds"),
    Case(slots_of_any, lambda: one(blank(5), _slots(), ints(3, 0, 3), floats(3)), "race"),
    Case(slots_or_none, lambda: one(blank(5), _slots(), ints(0, -1, 1), floats(3)), "race"),
    Case(some_slots_or_the_first, lambda: one(blank(5), _slots(), ints(1, 0, 0, 1), floats(4)), "race"),
    Case(either_way, lambda: one(blank(5), floats(5), -1), "race"),
    Case(advance_at_first, lambda: one(blank(5), floats(5)), "race"),
    Case(advance_by_turn, lambda: one(blank(15), floats(15), floats(3)), "race"),
    Case(advance_less_and_less, lambda: one(blank(5), floats(5)), "race"),
    Case(two_turns, lambda: one(blank(5), floats(5)), "race"),
    Case(advance_past_all, lambda: one(np.zeros(1, np.int64), floats(5)), "bounds"),
    Case(mixed_digits, lambda: one(blank(13), floats(13)), "race"),
    Case(even_or_odd, lambda: one(blank(7, 2), floats(7), floats(3)), "race"),
    Case(row_after, lambda: one(blank(6), floats(2)), "bounds"),
    Case(column_of_all, lambda: one(blank(1, 3), floats(3)), "sizes"),
    Case(stride_back, lambda: one(blank(4), floats(9), -1), "bounds"),
    Case(power_of_chosen, lambda: one(np.zeros(1500, np.int64), floats(1500)), "bounds"),
    Case(power_of_carried, lambda: one(np.zeros(1, np.int64), floats(1, 1500)), "bounds"),
    Case(places_of_all_rows, lambda: one(blank(5), _rows(), floats(2, 3)), "race"),
    Case(places_of_the_next_row, lambda: one(blank(2, 5), _rows(), floats(2, 3)), "race"),
    Case(order_of_rows, lambda: one(blank(2, 3), _rows()[:, ::-1] // 2, floats(2, 3)), "contents"),
    Case(slot_before, lambda: one(blank(5), _slots()[1:], floats(3)), "race"),
    Case(next_column, lambda: one(blank(4), ints(0, 1, 2, 1), floats(3)), "bounds"),
]
