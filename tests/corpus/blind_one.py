"""Kernels the checker was scored with before it had seen them, the first forty: transforms, images, caches, tables."""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import In, Index, InOut, Max, Offsets, Out, Sum, T, Unique, f32, i32

from .case import Case, Launches, at, blank, floats, ints


@tp.kernel
def interleave(y: Out[T, "2*N"], re: In[T, "N"], im: In[T, "N"], *, B: int = 64) -> None:
    """Two planes become pairs."""
    for n in tp.parallel(N=B):
        y[2 * n.elements] = re[n]
        y[2 * n.elements + 1] = im[n]


@tp.kernel
def reverse_rows(x: InOut[T, "M N"], *, BM: int = 32) -> None:
    """Each row is reversed where it stands: a program owns a column and its mirror image."""
    for i, n in tp.parallel(M=BM, N=tp.each):
        m = tp.dim("N") - 1 - n
        if n < m:
            left, right = x[i, n], x[i, m]
            x[i, n] = right
            x[i, m] = left


@tp.kernel
def flatten_tokens(y: Out[T, "B*S D"], x: In[T, "B S D"], add: In[T, "S D"], *, BS: int = 16, BD: int = 64) -> None:
    """Batches are put one after another, with an embedding of the position added."""
    for b, s, d in tp.parallel(B=tp.each, S=BS, D=BD):
        y[b * tp.dim("S") + s.elements, d] = x[b, s, d] + add[s, d]


@tp.kernel
def unflatten(y: Out[f32, "R C"], x: In[f32, "R*C"], bias: In[f32, "C"]) -> None:
    """A long vector becomes a matrix, one element for each program."""
    width = tp.dim("C")
    for p in tp.parallel(("R*C", tp.each)):
        r, c = p // width, p % width
        y[r, c] = x[p] + bias[c]


@tp.kernel
def vertical_gradient(y: Out[f32, "H W"], x: In[f32, "H W"], *, BW: int = 32) -> None:
    """Central differences inside, one-sided ones at the upper and the lower edge."""
    rows = tp.dim("H")
    for h, w in tp.parallel(H=tp.each, W=BW):
        if rows == 1:
            y[h, w] = 0.0
        elif h == 0:
            y[h, w] = x[1, w] - x[0, w]
        elif h == rows - 1:
            y[h, w] = x[h, w] - x[h - 1, w]
        else:
            y[h, w] = (x[h + 1, w] - x[h - 1, w]) * 0.5


@tp.kernel
def pixel_shuffle(y: Out[T, "C H*R W*R"], x: In[T, "C*R*R H W"], *, R: int = 2, BW: int = 16) -> None:
    """R * R channels become one image that is R times larger."""
    for c, h, w in tp.parallel(C=tp.each, H=tp.each, W=BW):
        for a in range(R):
            for b in range(R):
                y[c, h * R + a, w.elements * R + b] = x[(c * R + a) * R + b, h, w]


@tp.kernel
def ring_append(ring: InOut[T, "C D"], new: In[T, "N D"], pos: i32, *, BD: int = 64) -> None:
    """New rows go into a ring buffer from `pos` on, and around its end."""
    tp.require(tp.dim("N") <= tp.dim("C"))
    for n, d in tp.parallel(N=tp.each, D=BD):
        ring[(pos + n) % tp.dim("C"), d] = new[n, d]


@tp.kernel
def channel_moments(
    mean: Out[f32, "C"], var: Out[f32, "C"], x: In[f32, "B C L"], *,
    BB: int = 4, BC: int = 16, SL: int = 1024, BL: int = 64,
) -> None:  # fmt: skip
    """Mean and variance of each channel: pieces of L are summed by programs of their own."""
    count = (tp.dim("B") * tp.dim("L")).to(f32)
    for c, z in tp.parallel(C=BC, L=tp.split(SL)):
        total, squares = tp.zeros((c,)), tp.zeros((c,))
        for n in z.tiles(BL):
            for b in tp.tiles(B=BB):
                t = x[b, c, n]
                total = total + t.sum(axis=2).sum(axis=0)
                squares = squares + (t * t).sum(axis=2).sum(axis=0)
        total, squares = tp.join((total, squares), over=z)
        middle = total / count
        mean[c] = middle
        var[c] = squares / count - middle * middle


@tp.kernel
def segment_center(
    y: Out[f32, "N D"], mean: Out[f32, "E D"], x: In[f32, "N D"], off: In[Offsets["N"], "E+1"], *, D: int, B: int = 32
) -> None:
    """Each segment loses its mean; a program walks one whole segment, twice."""
    for e in tp.parallel(E=tp.each):
        first, last = off[e.start], off[e + 1]
        total = tp.zeros((D,))
        for i in tp.tiles(N=B, start=first, stop=last):
            total = total + x[i, :].sum(axis=0)
        middle = total / tp.maximum(last - first, 1).to(f32)
        mean[e, :] = middle
        for i in tp.tiles(N=B, start=first, stop=last):
            y[i, :] = x[i, :] - middle[None, :]


@tp.kernel
def route_rows(
    y: InOut[f32, "V D"], x: In[f32, "S D"], to: In[Unique["V"], "N"], source: In[Index["S"], "N"], gate: In[f32, "N"],
    *, BN: int = 8, BD: int = 64,
) -> None:  # fmt: skip
    """Rows are fetched by one table and put down by another; a row that comes from nowhere is zero."""
    for n, d in tp.parallel(N=BN, D=BD):
        y[to[n], d] = x.get((source[n], d), 0.0) * gate[n][:, None]


def turned(a: Any, b: Any, cos: Any, sin: Any) -> Any:
    """The pair (a, b) rotated."""
    return a * cos - b * sin, b * cos + a * sin


@tp.kernel
def rope_halves(
    y: Out[f32, "N H 2*K"], x: In[f32, "N H 2*K"], cos: In[f32, "N K"], sin: In[f32, "N K"], *, BN: int = 8, BK: int = 8
) -> None:
    """Element k of the first half of a head turns with element k of the second."""
    for n, h, k in tp.parallel(N=BN, H=tp.each, K=BK):
        low = k.elements
        high = low + tp.dim("K")
        y[n, h, low], y[n, h, high] = turned(x[n, h, low], x[n, h, high], cos[n, k], sin[n, k])


@tp.kernel
def split_qkv(
    q: Out[T, "S H D"], k: Out[T, "S G D"], v: Out[T, "S G D"], qkv: In[T, "S N=H+2*G D"], *, D: int, BS: int = 16
) -> None:
    """The heads of one projection are dealt out to three tensors."""
    keys = tp.dim("H")
    values = keys + tp.dim("G")
    for s, n in tp.parallel(S=BS, N=tp.each):
        t = qkv[s, n, :]
        if n < keys:
            q[s, n.start, :] = t
        elif n < values:
            k[s, n - keys, :] = t
        else:
            v[s, n - values, :] = t


def heads(s: int, h: int, g: int) -> list[Any]:
    """Three tensors to be filled from one."""
    return [blank(s, h, 4), blank(s, g, 4), blank(s, g, 4), floats(s, h + 2 * g, 4)]


@tp.kernel
def butterfly(x: InOut[f32, "2*P"], w: In[f32, "P"], *, S: int = 4) -> None:
    """One stage of a transform: elements that lie S apart meet, in blocks of 2 * S."""
    tp.require(tp.dim("P") % S == 0)
    for p in tp.parallel(P=tp.each):
        low = p // S * (2 * S) + p % S
        high = low + S
        a, b = x[low], x[high] * w[p]
        x[low] = a + b
        x[high] = a - b


@tp.kernel
def tile_stats(
    step: Out[f32, "V"], tops: Out[f32, "V/BV"], total: Sum[f32, "1"], peak: Max[f32, "1"], x: In[f32, "V"],
    *, BV: int = 64, SV: int = 16,
) -> None:  # fmt: skip
    """Differences to the next element, the top of each tile, and the sum and the top of everything."""
    for v in tp.parallel(V=BV):
        step[v] = x[v.shift(1)].fill(0) - x[v]
        top = -tp.inf
        for s in v.tiles(SV):
            top = tp.maximum(top, x[s].max())
        tops[v.number] = top
        total[0] += x[v].sum()
        tp.update(peak, 0, top)


@tp.kernel
def conv_valid(y: Out[f32, "B N"], x: In[f32, "B N+R-1"], w: In[f32, "R"], *, R: int, BB: int = 4, BN: int = 8) -> None:
    """A convolution without padding: the input is R - 1 longer than the output."""
    for b, n in tp.parallel(B=BB, N=BN):
        acc = tp.zeros((b, n))
        for r in range(R):
            acc = acc + x[b, n.elements + r] * w[r]
        y[b, n] = acc


@tp.kernel
def symmetric(y: Out[f32, "N N"], x: In[f32, "N K"], scale: f32, *, K: int) -> None:
    """The products of all rows: each pair is computed once and stored on both sides of the diagonal."""
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        if i <= j:
            t = (x[i, :] * x[j, :]).sum() * scale
            y[i, j] = t
            if i < j:
                y[j, i] = t


@tp.kernel
def paged_gather(y: Out[T, "T*S D"], pages: In[T, "P S D"], table: In[Index["P"], "T"], *, S: int, D: int) -> None:
    """The pages of one sequence are put one after another."""
    for n in tp.parallel(("T*S", tp.each)):
        y[n, :] = pages[table[n // S], n % S, :]


@tp.kernel
def leader_append(
    o: Out[f32, "H D"], cache: InOut[f32, "G C D"], q: In[f32, "H D"], new: In[f32, "G D"], pos: i32,
    *, D: int, BT: int = 32,
) -> None:  # fmt: skip
    """Every head looks at the past of its group; the first head of a group appends the new entry."""
    past, fresh = tp.split_at(cache, "C", pos)
    heads = tp.dim("H") // tp.dim("G")
    for h in tp.parallel(H=tp.each):
        g = tp.group(h, "G")
        acc = (q[h, :] * new[g, :]).sum() * new[g, :]
        for t in tp.tiles(C=BT, stop=pos):
            score = (past[g, t, :] * q[h, :]).sum(axis=1)
            acc = acc + (past[g, t, :] * score[:, None]).sum(axis=0)
        o[h, :] = acc
        if h % heads == 0:
            fresh[g, 0, :] = new[g, :]


@tp.kernel
def reflect_pad(y: Out[f32, "C N+2*P"], x: In[f32, "C N"], *, P: int = 3, B: int = 64) -> None:
    """Each row goes on by P elements at both ends, mirrored there."""
    tp.require(tp.dim("N") > P)
    last = tp.dim("N") - 1
    for c, n in tp.parallel(("C", tp.each), ("N+2*P", B)):
        at = tp.abs(n.elements - P)
        at = tp.where(at > last, 2 * last - at, at)
        y[c, n] = x[c, at]


@tp.kernel
def red_black(u: InOut[f32, "H W"], f: In[f32, "H W"], colour: i32) -> None:
    """Half a sweep of Gauss-Seidel: fields of one colour look at their neighbours, which have the other."""
    for h, w in tp.parallel(H=tp.each, W=tp.each):
        if (h + w) % 2 == colour:
            around = u.get((h - 1, w), 0.0) + u.get((h + 1, w), 0.0) + u.get((h, w - 1), 0.0) + u.get((h, w + 1), 0.0)
            u[h, w] = (around - f[h, w]) * 0.25


@tp.kernel
def overlap_add(y: InOut[f32, "N*S+1"], frames: In[f32, "N S+1"], *, S: int = 4) -> None:
    """A frame is one longer than the step: its last element is the first of the next frame."""
    for n in tp.parallel(N=tp.each):
        for r in range(S + 1):
            y[n * S + r] += frames[n, r]


@tp.kernel
def key_gradient(dk: InOut[f32, "G C D"], dq: In[f32, "H C D"], *, D: int, BC: int = 32) -> None:
    """All heads of a group add to the gradient of its keys, which is no `Sum`."""
    for h, c in tp.parallel(H=tp.each, C=BC):
        dk[tp.group(h, "G"), c, :] += dq[h, c, :]


@tp.kernel
def scale_and_count(y: Out[f32, "N D"], seen: InOut[f32, "1"], x: In[f32, "N D"], *, BN: int = 8, BD: int = 16) -> None:
    """The guard picks the first tile of N, but each tile of D has a program of its own there."""
    for n, d in tp.parallel(N=BN, D=BD):
        y[n, d] = x[n, d] * 2.0
        if n.start == 0:
            seen[0] = seen[0] + 1.0


@tp.kernel
def symmetric_twice(y: Out[f32, "N N"], x: In[f32, "N"]) -> None:
    """Both triangles are computed by all programs: (i, j) and (j, i) write the same two elements."""
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        t = x[i] * x[j]
        y[i, j] = t
        if i != j:
            y[j, i] = t


@tp.kernel
def red_black_corners(u: InOut[f32, "H W"], colour: i32) -> None:
    """A neighbour across the corner has the same colour, so another program writes it."""
    for h, w in tp.parallel(H=tp.each, W=tp.each):
        if (h + w) % 2 == colour:
            around = u.get((h - 1, w), 0.0) + u.get((h + 1, w), 0.0) + u.get((h + 1, w + 1), 0.0)
            u[h, w] = around * 0.25


@tp.kernel
def scatter_table(y: InOut[f32, "V D"], x: In[f32, "N D"], ids: In[Index["V"], "N"], *, BD: int = 64) -> None:
    """The table of rows may name one row twice."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[ids[n], d] = x[n, d]


@tp.kernel
def segment_scale(
    y: Out[f32, "N D"], x: In[f32, "N D"], w: In[f32, "E D"], off: In[Offsets["N"], "E+1"], *, D: int, B: int = 32
) -> None:
    """The end of a segment is taken to belong to it, as well as to the next one."""
    for e in tp.parallel(E=tp.each):
        for i in tp.tiles(N=B, start=off[e.start], stop=off[e + 1] + 1):
            y[i, :] = x[i, :] * w[e, :]


@tp.kernel
def keep_half(y: Out[f32, "N/2"], x: In[f32, "N"], *, B: int = 64) -> None:
    """Two lanes of one store go to each element."""
    for n in tp.parallel(N=B):
        y[n.elements // 2] = x[n]


@tp.kernel
def three_taps(y: Out[f32, "N"], x: In[f32, "N+1"], w: In[f32, "3"], *, B: int = 64) -> None:
    """Three taps need two elements more than there are results, and there is one."""
    for n in tp.parallel(N=B):
        acc = tp.zeros((n,))
        for r in range(3):
            acc = acc + x[n.elements + r] * w[r]
        y[n] = acc


@tp.kernel
def backward_step(y: Out[f32, "M N"], x: In[f32, "M N"], *, BM: int = 8, BN: int = 64) -> None:
    """The first tile has nothing before it."""
    for i, n in tp.parallel(M=BM, N=BN):
        y[i, n] = x[i, n] - x[i, n.shift(-1)].fill(0)


@tp.kernel
def flip(y: Out[T, "B N"], x: In[T, "B N"], *, BN: int = 64) -> None:
    """Position 0 is mirrored to N, which is one too far."""
    for b, n in tp.parallel(B=tp.each, N=BN):
        y[b, n] = x[b, tp.dim("N") - n.elements]


@tp.kernel
def laplace(y: Out[f32, "H W"], x: In[f32, "H W"]) -> None:
    """The guard lets the first row through, and that has no row above it."""
    for h, w in tp.parallel(H=tp.each, W=tp.each):
        if (h >= 0) & (h < tp.dim("H") - 1) & (w > 0) & (w < tp.dim("W") - 1):
            y[h, w] = x[h - 1, w] + x[h + 1, w] + x[h, w - 1] + x[h, w + 1] - 4.0 * x[h, w]
        else:
            y[h, w] = 0.0


@tp.kernel
def refine(y: InOut[f32, "2*N-1"], x: In[f32, "N"]) -> None:
    """Between N points there are N - 1 midpoints; the last program stores one more."""
    for n in tp.parallel(N=tp.each):
        y[2 * n] = x[n]
        y[2 * n + 1] = (x[n] + x.get(n + 1, 0.0)) * 0.5


@tp.kernel
def midpoints(y: Out[f32, "2*N"], x: In[f32, "N"]) -> None:
    """After the last point there is no midpoint, but there is an element for it."""
    for n in tp.parallel(N=tp.each):
        y[2 * n] = x[n]
        if n + 1 < tp.dim("N"):
            y[2 * n + 1] = (x[n] + x[n + 1]) * 0.5


@tp.kernel
def swap_halves(y: Out[T, "M N"], x: In[T, "M N"], *, BM: int = 8) -> None:
    """Two halves of an odd length leave one element out."""
    half = tp.dim("N") // 2
    for i, n in tp.parallel(M=BM, N=tp.each):
        if n < half:
            y[i, n] = x[i, n + half]
            y[i, n + half] = x[i, n]


@tp.kernel
def split_qkv_hole(
    q: Out[T, "S H D"], k: Out[T, "S G D"], v: Out[T, "S G D"], qkv: In[T, "S N=H+2*G D"], *, D: int, BS: int = 16
) -> None:
    """The first head of the keys is neither before H nor after it."""
    keys = tp.dim("H")
    values = keys + tp.dim("G")
    for s, n in tp.parallel(S=BS, N=tp.each):
        t = qkv[s, n, :]
        if n < keys:
            q[s, n.start, :] = t
        elif (n > keys) & (n < values):
            k[s, n - keys, :] = t
        elif n >= values:
            v[s, n - values, :] = t


@tp.kernel
def quads(y: Out[f32, "R K"], x: In[f32, "R K"]) -> None:
    """Rows are worked off in runs of four; what is left at the end is forgotten."""
    for r in tp.parallel(R=tp.each):
        for g in range(tp.dim("K") // 4):
            at = g * 4 + tp.arange(4)
            t = x[r, at]
            y[r, at] = t / tp.maximum(tp.abs(t).max(), 1.0)


@tp.kernel
def segment_diff(y: Out[f32, "N"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"], *, B: int = 32) -> None:
    """The last element of a segment has no successor in it, and gets no value."""
    for e in tp.parallel(E=tp.each):
        for i in tp.tiles(N=B, start=off[e.start], stop=off[e + 1] - 1):
            y[i] = x[i.shift(1)].fill(0) - x[i]


@tp.kernel
def causal_scores(w: Out[f32, "H N N"], q: In[f32, "H N D"], k: In[f32, "H N D"], *, D: int, B: int = 32) -> None:
    """Blocks that lie wholly in the future are skipped, and so never written."""
    for h, i, j in tp.parallel(("H", tp.each), ("N", B), ("N", B)):
        if j.start < i.stop:
            t = q[h, i, :] @ k[h, j, :].T
            w[h, i, j] = tp.where(i.elements[:, None] >= j.elements[None, :], t, -tp.inf)


@tp.kernel
def matmul_accumulate(c: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, B: int = 16) -> None:
    """Sums are kept in an `Out`, which cannot be read."""
    for i, j in tp.parallel(M=B, N=B):
        c[i, j] = 0.0
        for k in tp.tiles(K=B):
            c[i, j] += a[i, k] @ b[k, j]


def route_rows_launches() -> Launches:
    """Tables with entries that are none, and a permutation."""
    holes = [floats(9, 5), floats(4, 5), ints(8, 0, -1, 3, -1, 5, 2), ints(3, -1, 0, 3, 1, 1, 2), floats(7)]
    full = [floats(4, 3), floats(2, 3), ints(3, 2, 1, 0), ints(1, 1, -1, 0), floats(4)]
    return [(holes, {"BN": 3, "BD": 2}), (full, {"BN": 2, "BD": 4})]


SAFE = [
    Case(interleave, at(lambda n: [blank(2 * n), floats(n), floats(n)], 1, 8, 11, B=4)),
    Case(reverse_rows, at(lambda m, n: [floats(m, n)], (5, 7), (4, 6), (3, 1), BM=2)),
    Case(
        flatten_tokens,
        at(lambda b, s, d: [blank(b * s, d), floats(b, s, d), floats(s, d)], (2, 5, 7), (1, 9, 3), BS=2, BD=3),
    ),
    Case(unflatten, at(lambda r, c: [blank(r, c), floats(r * c), floats(c)], (3, 5), (4, 1), (1, 6))),
    Case(vertical_gradient, at(lambda h, w: [blank(h, w), floats(h, w)], (1, 5), (2, 4), (6, 9), BW=4)),
    Case(
        pixel_shuffle,
        lambda: [
            ([blank(c, r * h, r * w), floats(r * r * c, h, w)], {"R": r, "BW": 2})
            for c, h, w, r in ((2, 3, 5, 2), (1, 2, 4, 2), (2, 2, 3, 3))
        ],
    ),
    Case(ring_append, at(lambda c, n, pos: [floats(c, 5), floats(n, 5), pos], (8, 5, 6), (6, 6, 100), (7, 3, 0), BD=2)),
    Case(
        channel_moments,
        at(lambda b, c, n: [blank(c), blank(c), floats(b, c, n)], (3, 5, 10), (1, 1, 1), BB=2, BC=2, SL=4, BL=3),
    ),
    Case(
        segment_center,
        at(
            lambda *c: [blank(c[-1], 3), blank(len(c) - 1, 3), floats(c[-1], 3), ints(*c)],
            (0, 3, 3, 10), (0, 1), (0, 0, 7, 9, 9), B=2,
        ),
    ),
    Case(route_rows, route_rows_launches),
    Case(
        rope_halves,
        at(
            lambda n, h, k: [blank(n, h, 2 * k), floats(n, h, 2 * k), floats(n, k), floats(n, k)],
            (5, 2, 7), (4, 3, 4), (1, 1, 1), BN=2, BK=3,
        ),
    ),
    Case(split_qkv, at(heads, (7, 4, 2), (3, 1, 1), (4, 6, 3), BS=3)),
    Case(butterfly, lambda: [([floats(2 * p), floats(p)], {"S": s}) for p, s in ((8, 4), (6, 2), (3, 1), (9, 3))]),
    Case(
        tile_stats,
        at(lambda v: [blank(v), blank(-(-v // 4)), blank(1), blank(1), floats(v)], 1, 8, 11, BV=4, SV=3),
    ),
    Case(
        conv_valid,
        at(lambda b, n, r: [blank(b, n), floats(b, n + r - 1), floats(r)], (3, 7, 3), (2, 8, 1), (1, 5, 4), BB=2, BN=3),
    ),
    Case(symmetric, at(lambda n: [blank(n, n), floats(n, 3), 0.5], 1, 4, 5)),
    Case(
        paged_gather,
        at(
            lambda p, s, *pages: [blank(len(pages) * s, 2), floats(p, s, 2), ints(*pages)],
            (5, 4, 3, 0, 3), (2, 3, 1), (4, 1, 0, 3, 2, 2),
        ),
    ),
    Case(
        leader_append,
        at(
            lambda h, g, c, pos: [blank(h, 3), floats(g, c, 3), floats(h, 3), floats(g, 3), pos],
            (4, 2, 7, 5), (3, 3, 4, 0), (6, 2, 5, 4), BT=2,
        ),
    ),
    Case(
        reflect_pad,
        lambda: [
            ([blank(c, n + 2 * p), floats(c, n)], {"P": p, "B": 4}) for c, n, p in ((2, 7, 3), (3, 4, 3), (1, 1, 0))
        ],
    ),
    Case(red_black, at(lambda h, w, colour: [floats(h, w), floats(h, w), colour], (4, 5, 0), (3, 3, 1), (1, 6, 0))),
]
UNSAFE = [
    Case(overlap_add, at(lambda n: [floats(n * 4 + 1), floats(n, 5)], 1, 3, 6), "race"),
    Case(key_gradient, at(lambda h, g, c: [floats(g, c, 2), floats(h, c, 2)], (2, 2, 3), (4, 2, 5), BC=2), "race"),
    Case(
        scale_and_count, at(lambda n, d: [blank(n, d), floats(1), floats(n, d)], (5, 3), (4, 7), BN=2, BD=3), "race"
    ),
    Case(symmetric_twice, at(lambda n: [blank(n, n), floats(n)], 1, 2, 5), "race"),
    Case(red_black_corners, at(lambda h, w, colour: [floats(h, w), colour], (4, 5, 0), (3, 3, 1), (1, 4, 0)), "race"),
    Case(
        scatter_table,
        at(lambda *rows: [floats(6, 5), floats(len(rows), 5), ints(*rows)], (0, 3, 1), (2, -1, 2, 0), (5, 5), BD=2),
        "race",
    ),
    Case(
        segment_scale,
        at(
            lambda *c: [blank(c[-1], 2), floats(c[-1], 2), floats(len(c) - 1, 2), ints(*c)],
            (0, 3, 7, 10), (0, 4), (0, 1, 2, 6), B=2,
        ),
        "race",
    ),
    Case(keep_half, at(lambda n: [blank(-(-n // 2)), floats(n)], 1, 6, 9, B=4), "race"),
    Case(three_taps, at(lambda n: [blank(n), floats(n + 1), floats(3)], 1, 8, 11, B=4), "bounds"),
    Case(backward_step, at(lambda m, n: [blank(m, n), floats(m, n)], (3, 9), (2, 4), (1, 1), BM=2, BN=4), "bounds"),
    Case(flip, at(lambda b, n: [blank(b, n), floats(b, n)], (2, 7), (1, 8), (3, 1), BN=4), "bounds"),
    Case(laplace, at(lambda h, w: [blank(h, w), floats(h, w)], (1, 1), (3, 4), (5, 3)), "bounds"),
    Case(refine, at(lambda n: [floats(2 * n - 1), floats(n)], 1, 4, 5), "bounds"),
    Case(midpoints, at(lambda n: [blank(2 * n), floats(n)], 1, 4, 5), "coverage"),
    Case(swap_halves, at(lambda m, n: [blank(m, n), floats(m, n)], (3, 8), (2, 7), (1, 2), BM=2), "coverage"),
    Case(split_qkv_hole, at(heads, (7, 4, 2), (3, 1, 1), (4, 6, 3), BS=3), "coverage"),
    Case(quads, at(lambda r, k: [blank(r, k), floats(r, k)], (2, 8), (3, 10), (1, 4)), "coverage"),
    Case(
        segment_diff,
        at(lambda *c: [blank(c[-1]), floats(c[-1]), ints(*c)], (0, 3, 7, 10), (0, 4), (0, 2, 6), B=2),
        "coverage",
    ),
    Case(
        causal_scores,
        at(lambda h, n: [blank(h, n, n), floats(h, n, 2), floats(h, n, 2)], (2, 3), (1, 7), (2, 6), B=3),
        "coverage",
    ),
    Case(matmul_accumulate, at(lambda m, n, k: [blank(m, n), floats(m, k), floats(k, n)], (5, 6, 7), B=4), "access"),
]
