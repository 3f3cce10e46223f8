"""Kernels that leave a tensor by what is known of sizes and walkers: one too far, one before, twice as far."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, T, f32, i32, i64

from .case import Case, blank, counts, floats, ints, one


@tp.kernel
def next_element(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The last one has no next."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n + 1]


@tp.kernel
def element_before(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """-1 is less than the extent, and outside."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n] - x[n - 1]


@tp.kernel
def next_tile(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A shift by a whole tile leaves the axis at its ragged end."""
    for i in tp.parallel(N=B):
        y[i] = x[i.shift(B)].fill(0)


@tp.kernel
def tile_before(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A shifted tile does not start before its axis."""
    for i in tp.parallel(N=B):
        y[i] = x[i.shift(-1)].fill(0)


@tp.kernel
def doubled_index(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A stride of 2 without the room for it."""
    for n in tp.parallel(N=4):
        y[n] = x[n.elements * 2]


@tp.kernel
def odd_elements(y: Out[f32, "N"], x: In[f32, "2*N"]) -> None:
    """Element 2 n + 2 instead of 2 n + 1."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[2 * n] + x[2 * n + 2]


@tp.kernel
def lanes_past_the_end(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Only the last lane of the last tile is outside."""
    for n in tp.parallel(N=4):
        y[n] = x[n.elements + 1]


@tp.kernel
def mirror_by_one(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """N - n is N for the first."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[tp.dim("N") - n]


@tp.kernel
def half_more(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """n + n // 2 leaves the axis once N is 3."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n + n // 2]


@tp.kernel
def inclusive_range(y: Out[f32, "R"], x: In[f32, "R N"]) -> None:
    """The range goes to N itself."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for j in range(tp.dim("N") + 1):
            total += x[r, j]
        y[r] = total


@tp.kernel
def pairs_of_odd_length(y: Out[f32, "R"], x: In[f32, "R N"]) -> None:
    """Steps of two read a partner that an odd length lacks."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for j in range(0, tp.dim("N"), 2):
            total += x[r, j] * x[r, j + 1]
        y[r] = total


@tp.kernel
def stale_fact(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """What held of the position before the branch does not hold after it."""
    for n in tp.parallel(N=tp.each):
        at = n + 0
        if n > 1:
            at = n + 1
        y[n] = x[at]


@tp.kernel
def large_product(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The greater of 0 and a product has a lower bound and no upper one."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[tp.maximum(n * 1000000007, 0)]


@tp.kernel
def beyond_64_bits(y: Out[i64, "N"]) -> None:
    """The third position does not fit."""
    for n in tp.parallel(N=tp.each):
        y[n] = (n * 4611686018427387904).to(i64)


@tp.kernel
def twice_what_was_filled(y: Out[i64, "N"]) -> None:
    """What fills the last tile leaves the others as far out as they are."""
    for n in tp.parallel(N=4):
        far = (n.elements * 0 + 4611686018427387904).fill(0)
        y[n] = (far + far).to(i64)


@tp.kernel
def steps_from_far_out(y: Out[i64, "1"]) -> None:
    """Small steps are too long for a loop that begins where half of 64 bits end."""
    at = tp.arange(1).sum() * 0 + 4611686018427387903
    for _turn in range(2):
        at = at + 1
    y[0] = (at + at).to(i64)


@tp.kernel
def lanes_far_apart(y: Out[i64, "N"], *, B: int = 4) -> None:
    """Two elements of one tile are up to three apart, and three times as much does not fit."""
    for i in tp.parallel(N=B):
        gap = i.elements[:, None] - i.elements[None, :]
        y[i] = (gap * 4611686018427387904).max(axis=1).to(i64)


@tp.kernel
def argmax_of_a_short_tile(y: Out[i32, "N/B"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The shifted last tile may have no element."""
    for i in tp.parallel(N=B):
        y[i.number] = x[i.shift(1)].argmax().to(i32)


@tp.kernel
def ragged_window(y: Out[f32, "N/4"], x: In[f32, "N"]) -> None:
    """A window of 4 from the start of each tile, also of the short one."""
    for n in tp.parallel(N=4):
        y[n.number] = x[n.start + tp.arange(4)].sum()


@tp.kernel
def row_below(y: Out[f32, "H W"], x: In[f32, "H W"], *, BW: int = 4) -> None:
    """The second axis is fine, the first leaves."""
    for h, w in tp.parallel(H=tp.each, W=BW):
        y[h, w] = x[h, w] - x[h + 1, w]


@tp.kernel
def walk_from_before(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """The walk of the first program starts at -1."""
    for i in tp.parallel(N=B):
        total = 0.0
        for s in tp.tiles(N=2, start=i.start - 1, stop=i.stop):
            total += x[s].sum()
        y[i] = total


@tp.kernel
def guard_by_one(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The guard allows the last element."""
    for n in tp.parallel(N=tp.each):
        v = x[n]
        if n <= tp.dim("N") - 1:
            v = v + x[n + 1]
        y[n] = v


@tp.kernel
def border_of_the_tile(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """stop is the position after the last element."""
    for i in tp.parallel(N=4):
        y[i] = x[i] - x[i.stop]


@tp.kernel
def conv_without_fill(y: Out[T, "O=(W+2-R+1)/2"], x: In[T, "W"], w: In[T, "R"], *, R: int) -> None:
    """The padding is not in memory."""
    for j in tp.parallel(O=tp.each):
        total = 0.0
        for r in range(R):
            total += (x[j * 2 + r - 1] * w[r]).to(f32)
        y[j] = total


@tp.kernel
def past_the_cut(y: Out[f32, "N"], cache: InOut[f32, "C"]) -> None:
    """The past ends at the cut; the walk goes to the end of the axis."""
    past, _ = tp.split_at(cache, "C", tp.dim("C") // 2)
    for n in tp.parallel(N=4):
        total = 0.0
        for c in tp.tiles(C=2):
            total += past[c].sum()
        y[n] = total


@tp.kernel
def fresh_is_shorter(cache: InOut[f32, "C"]) -> None:
    """What is left after the cut does not hold all of C."""
    _, fresh = tp.split_at(cache, "C", (tp.dim("C") + 1) // 2)
    for c in tp.parallel(C=tp.each):
        fresh[c] = 0.0


@tp.kernel
def next_group(y: Out[f32, "H"], x: In[f32, "G"]) -> None:
    """The last group has no next."""
    for h in tp.parallel(H=tp.each):
        y[h] = x[tp.group(h, "G") + 1]


@tp.kernel
def next_expert(y: Out[f32, "N"], w: In[f32, "E"], off: In[Offsets["N"], "E+1"]) -> None:
    """There is a border after the last segment, and no weight."""
    for e, n in tp.parallel(tp.segments(off, N=4)):
        y[n] = w[e + 1]


@tp.kernel
def next_partial(y: Out[f32, "N"], parts: In[f32, "N/B"], *, B: int = 4) -> None:
    """The total of the tile after this one."""
    for i in tp.parallel(N=B):
        y[i] = parts[i.number + 1]


@tp.kernel
def sub_tile_ahead(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Four further than a part of the tile is outside of the last tile."""
    for i in tp.parallel(N=8):
        for s in i.tiles(4):
            y[s] = x[s.elements + 4]


@tp.kernel
def store_ahead(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Every program stores one further than its own element."""
    for n in tp.parallel(N=tp.each):
        y[n + 1] = x[n]


@tp.kernel
def second_half(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Half of N, rounded up, and half of n, rounded up, make more than N together."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[(n + 1) // 2 + (tp.dim("N") + 1) // 2]


@tp.kernel
def sum_of_dimensions(y: Out[f32, "N=H+G"], a: In[f32, "H"], b: In[f32, "G"]) -> None:
    """The second part begins at element 1."""
    for n in tp.parallel(N=tp.each):
        if n < tp.dim("H"):
            y[n] = a[n.start]
        else:
            y[n] = b[n - tp.dim("H") + 1]


@tp.kernel(deny_checks=True)
def denied_check(y: Out[f32, "N"], table: In[f32, "V"], at: In[i32, "N"]) -> None:
    """A check would be left, and the kernel forbids it."""
    for n in tp.parallel(N=tp.each):
        y[n] = table[at[n]]


@tp.kernel
def rotated(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Wrapping around by a remainder of one too many."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[(n + 1) % (tp.dim("N") + 1)]


@tp.kernel
def doubled_loop(y: Out[f32, "R"], x: In[f32, "R N"]) -> None:
    """2 j + 1 for every j below N, not below half of it."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for j in range(tp.dim("N")):
            total += x[r, 2 * j + 1]
        y[r] = total


@tp.kernel(deny_checks=True)
def row_and_one_more(y: Out[f32, "R"], columns: In[Index["C"], "R Z"], x: In[f32, "C"]) -> None:
    """The launch has seen the entries, not the fill that stands behind the last of them."""
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for z in range(tp.dim("Z") + 1):
            total += x[columns.get((r, z), -1)]
        y[r] = total


CASES = [
    Case(next_element, lambda: one(blank(5), floats(5)), "bounds"),
    Case(element_before, lambda: one(blank(5), floats(5)), "bounds"),
    Case(next_tile, lambda: one(blank(6), floats(6)), "bounds"),
    Case(tile_before, lambda: one(blank(6), floats(6)), "bounds"),
    Case(doubled_index, lambda: one(blank(6), floats(6)), "bounds"),
    Case(odd_elements, lambda: one(blank(3), floats(6)), "bounds"),
    Case(lanes_past_the_end, lambda: one(blank(6), floats(6)), "bounds"),
    Case(mirror_by_one, lambda: one(blank(5), floats(5)), "bounds"),
    Case(half_more, lambda: one(blank(5), floats(5)), "bounds"),
    Case(inclusive_range, lambda: one(blank(2), floats(2, 3)), "bounds"),
    Case(pairs_of_odd_length, lambda: one(blank(2), floats(2, 3)), "bounds"),
    Case(stale_fact, lambda: one(blank(5), floats(5)), "bounds"),
    Case(large_product, lambda: one(blank(3), floats(3)), "bounds"),
    Case(beyond_64_bits, lambda: one(counts(3).astype("i8")), "bounds"),
    Case(twice_what_was_filled, lambda: one(counts(3).astype("i8")), "bounds"),
    Case(steps_from_far_out, lambda: one(counts(1).astype("i8")), "bounds"),
    Case(lanes_far_apart, lambda: one(counts(4).astype("i8")), "bounds"),
    Case(argmax_of_a_short_tile, lambda: one(counts(2), floats(5)), "bounds"),
    Case(ragged_window, lambda: one(blank(2), floats(6)), "bounds"),
    Case(row_below, lambda: one(blank(3, 5), floats(3, 5)), "bounds"),
    Case(walk_from_before, lambda: one(blank(6), floats(6)), "bounds"),
    Case(guard_by_one, lambda: one(blank(5), floats(5)), "bounds"),
    Case(border_of_the_tile, lambda: one(blank(6), floats(6)), "bounds"),
    Case(conv_without_fill, lambda: one(blank(3), floats(6), floats(3)), "bounds"),
    Case(past_the_cut, lambda: one(blank(3), floats(8)), "bounds"),
    Case(fresh_is_shorter, lambda: one(floats(8)), "bounds"),
    Case(next_group, lambda: one(blank(4), floats(2)), "bounds"),
    Case(next_expert, lambda: one(blank(5), floats(2), ints(0, 2, 5)), "bounds"),
    Case(next_partial, lambda: one(blank(6), floats(2)), "bounds"),
    Case(sub_tile_ahead, lambda: one(blank(16), floats(16)), "bounds"),
    Case(store_ahead, lambda: one(blank(5), floats(5)), "bounds"),
    Case(second_half, lambda: one(blank(5), floats(5)), "bounds"),
    Case(sum_of_dimensions, lambda: one(blank(5), floats(3), floats(2)), "bounds"),
    Case(denied_check, lambda: one(blank(2), floats(4), ints(1, 4)), "bounds"),
    Case(rotated, lambda: one(blank(5), floats(5)), "bounds"),
    Case(doubled_loop, lambda: one(blank(2), floats(2, 3)), "bounds"),
    Case(row_and_one_more, lambda: one(blank(2), ints(1, 0).reshape(2, 1), floats(3)), "bounds"),
]
