"""Elements of an `Out` dealt out by arithmetic, as kernels for CUDA do it; each with a twin that leaves some out."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, InOut, Offsets, Out, f32, i32

from .case import Case, blank, counts, floats, ints, one

# Ranges whose ends depend on the program.


@tp.kernel
def rows_by_borders(y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "V+1"], w: In[f32, "V"]) -> None:
    """Compressed rows: each program walks the entries of its row."""
    for v in tp.parallel(V=tp.each):
        for n in range(off[v.start], off[v + 1]):
            y[n] = x[n] * w[v]


@tp.kernel
def rows_without_the_last(y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "V+1"], w: In[f32, "V"]) -> None:
    """Each row but its last entry."""
    for v in tp.parallel(V=tp.each):
        for n in range(off[v.start], off[v + 1] - 1):
            y[n] = x[n] * w[v]


@tp.kernel
def own_stretch(y: Out[f32, "B*S"], x: In[f32, "B*S"], w: In[f32, "B"], v: In[f32, "S"]) -> None:
    """Stretch b of S elements."""
    for b in tp.parallel(B=tp.each):
        for n in range(b * tp.dim("S"), (b + 1) * tp.dim("S")):
            y[n] = x[n]


@tp.kernel
def own_stretch_backward(y: Out[f32, "B*S"], x: In[f32, "B*S"], w: In[f32, "B"], v: In[f32, "S"]) -> None:
    """The same from its end."""
    for b in tp.parallel(B=tp.each):
        for n in range((b + 1) * tp.dim("S") - 1, b * tp.dim("S") - 1, -1):
            y[n] = x[n]


@tp.kernel
def stretch_without_its_first(y: Out[f32, "B*S"], x: In[f32, "B*S"], w: In[f32, "B"], v: In[f32, "S"]) -> None:
    """Backward, and one turn short."""
    for b in tp.parallel(B=tp.each):
        for n in range((b + 1) * tp.dim("S") - 1, b * tp.dim("S"), -1):
            y[n] = x[n]


@tp.kernel
def one_stretch_short(y: Out[f32, "B*S"], x: In[f32, "B*S"], w: In[f32, "B"], v: In[f32, "S"]) -> None:
    """All stretches begin one further."""
    for b in tp.parallel(B=tp.each):
        for n in range(b * tp.dim("S") + 1, (b + 1) * tp.dim("S")):
            y[n] = x[n]


# Strides.


@tp.kernel
def every_fourth(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "P"]) -> None:
    """Four programs, each every fourth element."""
    tp.require(tp.dim("P") == 4)
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), 4):
            y[n] = x[n]


@tp.kernel
def every_fourth_of_five(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "P"]) -> None:
    """Four programs, and steps of five."""
    tp.require(tp.dim("P") == 4)
    for p in tp.parallel(P=tp.each):
        for n in range(p, tp.dim("N"), 5):
            y[n] = x[n]


@tp.kernel
def rounds_of_programs(y: Out[f32, "X"], x: In[f32, "X"], w: In[f32, "G"]) -> None:
    """A grid stride in rounds."""
    tp.require(tp.dim("G") >= 1)
    for p in tp.parallel(G=tp.each):
        for r in range(tp.cdiv(tp.dim("X"), tp.dim("G"))):
            n = r * tp.dim("G") + p
            if n < tp.dim("X"):
                y[n] = x[n]


@tp.kernel
def whole_rounds_of_programs(y: Out[f32, "X"], x: In[f32, "X"], w: In[f32, "G"]) -> None:
    """The last round, which has less than a program each, is left out."""
    tp.require(tp.dim("G") >= 1)
    for p in tp.parallel(G=tp.each):
        for r in range(tp.dim("X") // tp.dim("G")):
            n = r * tp.dim("G") + p
            if n < tp.dim("X"):
                y[n] = x[n]


@tp.kernel
def rounds_as_an_axis(y: Out[f32, "X"], x: In[f32, "X"], w: In[f32, "G"], v: In[f32, "R"]) -> None:
    """The same with rounds as an axis of the space."""
    tp.require(tp.dim("R") * tp.dim("G") >= tp.dim("X"))
    for r, p in tp.parallel(R=tp.each, G=tp.each):
        if r * tp.dim("G") + p < tp.dim("X"):
            y[r * tp.dim("G") + p] = x[r * tp.dim("G") + p]


@tp.kernel
def rounds_as_an_axis_but_one(y: Out[f32, "X"], x: In[f32, "X"], w: In[f32, "G"], v: In[f32, "R"]) -> None:
    """The guard ends one too early."""
    tp.require(tp.dim("R") * tp.dim("G") >= tp.dim("X"))
    for r, p in tp.parallel(R=tp.each, G=tp.each):
        if r * tp.dim("G") + p < tp.dim("X") - 1:
            y[r * tp.dim("G") + p] = x[r * tp.dim("G") + p]


@tp.kernel
def rounds_of_no_program(y: Out[f32, "X"], x: In[f32, "X"], w: In[f32, "G"]) -> None:
    """Without a program there is no round: the launch is to be refused."""
    for p in tp.parallel(G=tp.each):
        for r in range(tp.cdiv(tp.dim("X"), tp.dim("G"))):
            n = r * tp.dim("G") + p
            if n < tp.dim("X"):
                y[n] = x[n]


# Chunks.


@tp.kernel
def chunks_in_tiles(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "P"], *, B: int = 4) -> None:
    """Program p has chunk p."""
    tp.require(tp.dim("P") >= 1)
    chunk = tp.cdiv(tp.dim("N"), tp.dim("P"))
    for p in tp.parallel(P=tp.each):
        for n in tp.tiles(N=B, start=p * chunk, stop=(p + 1) * chunk):
            y[n] = x[n]


@tp.kernel
def chunks_by_element(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "P"]) -> None:
    """The same element by element, up to the end of N."""
    tp.require(tp.dim("P") >= 1)
    chunk = tp.cdiv(tp.dim("N"), tp.dim("P"))
    for p in tp.parallel(P=tp.each):
        for n in range(p * chunk, tp.minimum((p + 1) * chunk, tp.dim("N"))):
            y[n] = x[n]


@tp.kernel
def chunks_rounded_down(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "P"], *, B: int = 4) -> None:
    """What is left when N is divided among P programs belongs to none."""
    tp.require(tp.dim("P") >= 1)
    chunk = tp.dim("N") // tp.dim("P")
    for p in tp.parallel(P=tp.each):
        for n in tp.tiles(N=B, start=p * chunk, stop=(p + 1) * chunk):
            y[n] = x[n]


@tp.kernel
def chunks_that_end_early(y: Out[f32, "N"], x: In[f32, "N"], w: In[f32, "P"]) -> None:
    """The least of three ends is one too low."""
    tp.require(tp.dim("P") >= 1)
    chunk = tp.cdiv(tp.dim("N"), tp.dim("P"))
    for p in tp.parallel(P=tp.each):
        for n in range(p * chunk, tp.minimum((p + 1) * chunk, tp.minimum(tp.dim("N"), (p + 1) * chunk - 1))):
            y[n] = x[n]


# Digits of a position.


@tp.kernel
def halves_by_parity(y: Out[f32, "N"], x: In[f32, "N=2*H"], w: In[f32, "H"]) -> None:
    """Even elements to the first half, odd ones to the second."""
    for n in tp.parallel(N=tp.each):
        if n % 2 == 0:
            y[n // 2] = x[n]
        else:
            y[tp.dim("H") + n // 2] = x[n]


@tp.kernel
def halves_by_parity_but_one(y: Out[f32, "N"], x: In[f32, "N=2*H"], w: In[f32, "H"]) -> None:
    """The second half ends one element early."""
    for n in tp.parallel(N=tp.each):
        if n % 2 == 0:
            y[n // 2] = x[n]
        elif n // 2 < tp.dim("H") - 1:
            y[tp.dim("H") + n // 2] = x[n]


@tp.kernel
def pixels_apart(y: Out[f32, "2*H 2*W"], x: In[f32, "4 H W"]) -> None:
    """Pixel shuffle: k // 2 and k % 2 say where in a square of 2 x 2."""
    for h, w in tp.parallel(H=tp.each, W=4):
        for k in range(4):
            y[2 * h + k // 2, 2 * w.elements + k % 2] = x[k, h, w]


@tp.kernel
def three_pixels_apart(y: Out[f32, "2*H 2*W"], x: In[f32, "4 H W"]) -> None:
    """The last of four is left out."""
    for h, w in tp.parallel(H=tp.each, W=4):
        for k in range(3):
            y[2 * h + k // 2, 2 * w.elements + k % 2] = x[k, h, w]


@tp.kernel
def rotated_rows(y: Out[f32, "M C"], x: In[f32, "M C"]) -> None:
    """Row m begins at column m."""
    for m in tp.parallel(M=tp.each):
        for c in range(tp.dim("C")):
            y[m, (c + m) % tp.dim("C")] = x[m, c]


@tp.kernel
def rotated_rows_but_one(y: Out[f32, "M C"], x: In[f32, "M C"]) -> None:
    """One turn too few."""
    for m in tp.parallel(M=tp.each):
        for c in range(tp.dim("C") - 1):
            y[m, (c + m) % tp.dim("C")] = x[m, c]


@tp.kernel
def three_of_five_columns(y: Out[f32, "M 5"], x: In[f32, "M 5"]) -> None:
    """Five turns, and remainders of three."""
    for m in tp.parallel(M=tp.each):
        for c in range(5):
            y[m, c % 3] = x[m, c]


@tp.kernel
def flat_of_three(y: Out[f32, "I*J*L"], x: In[f32, "I J L"]) -> None:
    """Three axes as one."""
    for i, j, k in tp.parallel(I=tp.each, J=tp.each, L=tp.each):
        y[(i * tp.dim("J") + j) * tp.dim("L") + k] = x[i, j, k]


@tp.kernel
def flat_of_three_but_one(y: Out[f32, "I*J*L"], x: In[f32, "I J L"]) -> None:
    """The last column of each row is left out."""
    for i, j, k in tp.parallel(I=tp.each, J=tp.each, L=tp.each):
        if k < tp.dim("L") - 1:
            y[(i * tp.dim("J") + j) * tp.dim("L") + k] = x[i, j, k]


# A chain of branches.


@tp.kernel
def one_of_many_ways(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Each way stores, however many there are."""
    for n in tp.parallel(N=tp.each):
        if n % 25 == 0:
            y[n] = x[n] + 0
        elif n % 25 == 1:
            y[n] = x[n] + 1
        elif n % 25 == 2:
            y[n] = x[n] + 2
        elif n % 25 == 3:
            y[n] = x[n] + 3
        elif n % 25 == 4:
            y[n] = x[n] + 4
        elif n % 25 == 5:
            y[n] = x[n] + 5
        elif n % 25 == 6:
            y[n] = x[n] + 6
        elif n % 25 == 7:
            y[n] = x[n] + 7
        elif n % 25 == 8:
            y[n] = x[n] + 8
        elif n % 25 == 9:
            y[n] = x[n] + 9
        elif n % 25 == 10:
            y[n] = x[n] + 10
        elif n % 25 == 11:
            y[n] = x[n] + 11
        elif n % 25 == 12:
            y[n] = x[n] + 12
        elif n % 25 == 13:
            y[n] = x[n] + 13
        elif n % 25 == 14:
            y[n] = x[n] + 14
        elif n % 25 == 15:
            y[n] = x[n] + 15
        elif n % 25 == 16:
            y[n] = x[n] + 16
        elif n % 25 == 17:
            y[n] = x[n] + 17
        elif n % 25 == 18:
            y[n] = x[n] + 18
        elif n % 25 == 19:
            y[n] = x[n] + 19
        elif n % 25 == 20:
            y[n] = x[n] + 20
        elif n % 25 == 21:
            y[n] = x[n] + 21
        elif n % 25 == 22:
            y[n] = x[n] + 22
        elif n % 25 == 23:
            y[n] = x[n] + 23
        else:
            y[n] = -x[n]


@tp.kernel
def all_ways_but_one(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """One of the ways asks more than the others leave."""
    for n in tp.parallel(N=tp.each):
        if n % 5 == 0:
            y[n] = x[n]
        elif n % 5 == 1:
            y[n] = x[n] + 1
        elif n % 5 == 2:
            if n > 5:
                y[n] = x[n] + 2
        else:
            y[n] = -x[n]


@tp.kernel
def two_ways_with_a_gap(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """What neither way stores."""
    for n in tp.parallel(N=tp.each):
        if n < 3:
            y[n] = x[n]
        if n > 3:
            y[n] = -x[n]


@tp.kernel
def up_to_a_scalar(y: Out[f32, "N"], x: In[f32, "N"], first: i32) -> None:
    """No launch is asked for a scalar that all its elements are below."""
    tp.require(first >= 1)
    for n in tp.parallel(N=tp.each):
        if n < first:
            y[n] = x[n]


@tp.kernel
def tiles_of_segments(
    y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"], w: In[f32, "B"], *, B: int
) -> None:
    """A tile size that an argument decides is at least 1."""
    for _, n in tp.parallel(tp.segments(off, N=B)):
        if n.number > 0:
            y[n] = x[n]
        else:
            y[n] = -x[n]


@tp.kernel
def later_tiles_of_segments(
    y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"], w: In[f32, "B"], *, B: int
) -> None:
    """The first tile of each segment is left out."""
    for _, n in tp.parallel(tp.segments(off, N=B)):
        if n.number > 0:
            y[n] = x[n]


# Contents that decide where a program writes.


@tp.kernel
def mark_lengths(mark: InOut[i32, "B S"], off: In[Offsets["N"], "B+1"], x: In[f32, "N"]) -> None:
    """Each row has a mark at the length of its segment: a test at run time, for no relation of N and S decides it."""
    for b in tp.parallel(B=tp.each):
        mark[b, off[b + 1] - off[b.start]] = 1


SAFE = [
    Case(tiles_of_segments, lambda: one(blank(6), floats(6), ints(0, 4, 4, 6), floats(3))),
    Case(mark_lengths, lambda: one(counts(2, 5), ints(0, 4, 7), floats(7)), data=True),
    Case(
        rows_by_borders,
        lambda: one(blank(6), floats(6), ints(0, 4, 4, 6), floats(3)) + one(blank(0), floats(0), ints(0), floats(0)),
        data=True,
    ),
    Case(own_stretch, lambda: one(blank(6), floats(6), floats(2), floats(3))),
    Case(own_stretch_backward, lambda: one(blank(6), floats(6), floats(2), floats(3))),
    Case(every_fourth, lambda: one(blank(10), floats(10), floats(4)) + one(blank(2), floats(2), floats(4))),
    Case(rounds_of_programs, lambda: one(blank(10), floats(10), floats(4)) + one(blank(2), floats(2), floats(4))),
    Case(rounds_as_an_axis, lambda: one(blank(10), floats(10), floats(4), floats(3))),
    Case(chunks_in_tiles, lambda: one(blank(10), floats(10), floats(3)) + one(blank(2), floats(2), floats(4))),
    Case(chunks_by_element, lambda: one(blank(10), floats(10), floats(3)) + one(blank(2), floats(2), floats(4))),
    Case(halves_by_parity, lambda: one(blank(6), floats(6), floats(3))),
    Case(pixels_apart, lambda: one(blank(4, 10), floats(4, 2, 5))),
    Case(rotated_rows, lambda: one(blank(5, 3), floats(5, 3))),
    Case(flat_of_three, lambda: one(blank(24), floats(4, 3, 2)) + one(blank(0), floats(4, 0, 2))),
    Case(one_of_many_ways, lambda: one(blank(15), floats(15))),
]
UNSAFE = [
    Case(later_tiles_of_segments, lambda: one(blank(6), floats(6), ints(0, 4, 4, 6), floats(3)), "coverage"),
    Case(rows_without_the_last, lambda: one(blank(6), floats(6), ints(0, 4, 4, 6), floats(3)), "coverage"),
    Case(stretch_without_its_first, lambda: one(blank(6), floats(6), floats(2), floats(3)), "coverage"),
    Case(one_stretch_short, lambda: one(blank(6), floats(6), floats(2), floats(3)), "coverage"),
    Case(every_fourth_of_five, lambda: one(blank(10), floats(10), floats(4)), "coverage"),
    Case(whole_rounds_of_programs, lambda: one(blank(10), floats(10), floats(4)), "coverage"),
    Case(rounds_as_an_axis_but_one, lambda: one(blank(10), floats(10), floats(4), floats(3)), "coverage"),
    Case(chunks_rounded_down, lambda: one(blank(10), floats(10), floats(3)), "coverage"),
    Case(halves_by_parity_but_one, lambda: one(blank(6), floats(6), floats(3)), "coverage"),
    Case(three_pixels_apart, lambda: one(blank(4, 10), floats(4, 2, 5)), "coverage"),
    Case(rotated_rows_but_one, lambda: one(blank(5, 3), floats(5, 3)), "coverage"),
    Case(flat_of_three_but_one, lambda: one(blank(24), floats(4, 3, 2)), "coverage"),
    Case(rounds_of_no_program, lambda: one(blank(3), floats(3), floats(0)), "sizes"),
    Case(chunks_that_end_early, lambda: one(blank(10), floats(10), floats(3)), "coverage"),
    Case(three_of_five_columns, lambda: one(blank(2, 5), floats(2, 5)), "coverage"),
    Case(two_ways_with_a_gap, lambda: one(blank(5), floats(5)), "coverage"),
    Case(up_to_a_scalar, lambda: one(blank(5), floats(5), 2), "coverage"),
    Case(all_ways_but_one, lambda: one(blank(15), floats(15)), "coverage"),
]
