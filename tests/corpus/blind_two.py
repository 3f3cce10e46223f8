"""Kernels the checker was scored with before it had seen them, the second forty: inference and classical numerics."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, InOut, Max, Offsets, Out, Sum, T, Unique, f32, i8, i32, i64, u8

from .case import Case, Launches, at, blank, counts, floats, ints

PI = 3.141592653589793


@tp.kernel
def ring_append_heads(cache: InOut[T, "G C D"], new: In[T, "G N D"], pos: i32, *, D: int) -> None:
    """A sliding-window cache is a ring: a chunk no longer than the ring never meets itself."""
    tp.require(tp.dim("N") <= tp.dim("C"))
    for g, n in tp.parallel(G=tp.each, N=tp.each):
        cache[g, (pos + n) % tp.dim("C"), :] = new[g, n, :]


@tp.kernel
def moe_dispatch(
    buf: InOut[T, "P D"], load: Sum[i32, "E"], x: In[T, "N D"], slots: In[Unique["P"], "N K"],
    expert: In[Index["E"], "N K"], *, BD: int = 4,
) -> None:  # fmt: skip
    """Copies every token to the slots its experts gave it; dropped tokens have no slot."""
    for n, k, d in tp.parallel(N=tp.each, K=tp.each, D=BD):
        buf[slots[n, k], d] = x[n, d]
        if d.start == 0:
            load[expert[n, k]] += 1


@tp.kernel
def moe_expert(
    y: Out[f32, "N F"], x: In[f32, "N D"], gate: In[f32, "E D F"], up: In[f32, "E D F"], off: In[Offsets["N"], "E+1"],
    *, BN: int = 4, BF: int = 4, BD: int = 2,
) -> None:  # fmt: skip
    """The gated first layer of every expert on its own sorted tokens, rows in sub-tiles of two."""
    for (e, i), j in tp.parallel(tp.segments(off, N=BN), F=BF):
        for s in i.tiles(2):
            a, b = tp.zeros((s, j)), tp.zeros((s, j))
            for k in tp.tiles(D=BD):
                a = tp.mma(x[s, k], gate[e, k, j], a)
                b = tp.mma(x[s, k], up[e, k, j], b)
            y[s, j] = a * tp.sigmoid(a) * b


@tp.kernel
def gumbel_sample(token: Out[i32, "B"], logits: In[f32, "B V"], heat: f32, seed: i64, *, BV: int = 4) -> None:
    """One token per row by the Gumbel trick, the noise counted over the whole batch."""
    for b in tp.parallel(B=tp.each):
        best, at = -tp.inf, tp.zeros((), i32)
        for v in tp.tiles(V=BV):
            u = tp.maximum(tp.random(seed, b * tp.dim("V") + v.elements), 1e-9)
            score = logits[b, v] / heat - tp.log(-tp.log(u))
            if score.max() > best:
                best, at = score.max(), (v.start + score.argmax()).to(i32)
        token[b] = at


@tp.kernel
def pack_int4(packed: Out[u8, "N Q"], scale: Out[f32, "N Q/BQ"], x: In[f32, "N 2*Q"], *, BQ: int = 4) -> None:
    """Pairs of neighbours in one byte, a scale for each group of pairs."""
    for n, q in tp.parallel(N=tp.each, Q=BQ):
        even, odd = x[n, 2 * q.elements], x[n, 2 * q.elements + 1]
        s = tp.maximum(tp.maximum(tp.abs(even).max(), tp.abs(odd).max()) / 7, 1e-6)
        low = (tp.clip(tp.round(even / s), -8, 7) + 8).to(u8)
        high = (tp.clip(tp.round(odd / s), -8, 7) + 8).to(u8)
        packed[n, q] = low | (high << 4)
        scale[n, q.number] = s


@tp.kernel
def causal_conv(
    y: Out[f32, "C L"], state: InOut[f32, "C K"], x: In[f32, "C L"], w: In[f32, "C K"], *, K: int, BL: int = 4
) -> None:
    """A causal depthwise convolution; the program of the last tile leaves the tail for the next call."""
    for c, t in tp.parallel(C=tp.each, L=BL):
        acc = tp.zeros((t,))
        for k in range(K):
            acc += x.get((c, t.elements + k - (K - 1)), 0.0) * w[c, k]
        y[c, t] = acc * tp.sigmoid(acc)
        if t.stop == tp.dim("L"):
            state[c, :] = x.get((c, tp.dim("L") - K + tp.arange(K)), 0.0)


@tp.kernel
def red_black_sweep(x: InOut[f32, "H W"], b: In[f32, "H W"], worst: Max[f32, "1"], *, COLOUR: int = 0) -> None:
    """Half a Gauss-Seidel sweep in place: a cell of one colour reads only cells of the other."""
    for h, w in tp.parallel(H=tp.each, W=tp.each):
        if (h + w) % 2 == COLOUR:
            around = x.get((h - 1, w), 0.0) + x.get((h + 1, w), 0.0) + x.get((h, w - 1), 0.0) + x.get((h, w + 1), 0.0)
            new = 0.25 * (around - b[h, w])
            tp.update(worst, 0, tp.abs(new - x[h, w]))
            x[h, w] = new


@tp.kernel
def pixel_shuffle_flat(y: Out[T, "C H*S W*S"], x: In[T, "C*S*S H W"], *, S: int = 2, BW: int = 4) -> None:
    """Channels become pixels: every output pixel has one source."""
    for c, h, w in tp.parallel(C=tp.each, H=tp.each, W=BW):
        for a in range(S):
            for b in range(S):
                y[c, h * S + a, w.elements * S + b] = x[c * S * S + a * S + b, h, w]


@tp.kernel
def fft_stage(re: InOut[f32, "2*P"], im: InOut[f32, "2*P"], *, S: int = 4, BP: int = 8) -> None:
    """One radix-2 stage in place: pair p joins two elements S apart."""
    tp.require(tp.dim("P") % S == 0)
    for p in tp.parallel(P=BP):
        turn = p.elements % S
        a = 2 * S * (p.elements // S) + turn
        b = a + S
        angle = turn.to(f32) * (-PI / S)
        c, s = tp.cos(angle), tp.sin(angle)
        ar, ai, br, bi = re[a], im[a], re[b], im[b]
        tr, ti = br * c - bi * s, br * s + bi * c
        re[a], im[a] = ar + tr, ai + ti
        re[b], im[b] = ar - tr, ai - ti


@tp.kernel
def thomas(
    x: InOut[f32, "N B"], work: InOut[f32, "N B"], low: In[f32, "N B"], mid: In[f32, "N B"], up: In[f32, "N B"],
    *, BB: int = 4,
) -> None:  # fmt: skip
    """Tridiagonal systems side by side: down by elimination, up by substitution."""
    tp.require(tp.dim("N") >= 1)
    for b in tp.parallel(B=BB):
        last = tp.dim("N") - 1
        beta = mid[0, b]
        x[0, b] = x[0, b] / beta
        for n in range(1, tp.dim("N")):
            work[n, b] = up[n - 1, b] / beta
            beta = mid[n, b] - low[n, b] * work[n, b]
            x[n, b] = (x[n, b] - low[n, b] * x[n - 1, b]) / beta
        for m in range(last):
            n = last - 1 - m
            x[n, b] = x[n, b] - work[n + 1, b] * x[n + 1, b]


@tp.kernel
def transpose_square(a: InOut[T, "N N"], *, B: int = 4) -> None:
    """A square matrix turned in place: a program swaps a block below the diagonal with its mirror image."""
    for i, j in tp.parallel(("N", B), ("N", B)):
        if i.start > j.start:
            low, high = a[i, j], a[j, i]
            a[i, j] = high.T
            a[j, i] = low.T
        elif i.start == j.start:
            a[i, j] = a[j, i].T


@tp.kernel
def block_diagonal(y: Out[f32, "N G*4"], x: In[f32, "N G*4"], w: In[f32, "G 4 4"], *, BN: int = 4) -> None:
    """Each group of four columns goes through a small matrix of its own."""
    for n, g in tp.parallel(N=BN, G=tp.each):
        columns = g * 4 + tp.arange(4)
        y[n, columns] = x[n, columns] @ w[g, :, :]


@tp.kernel
def scan_add(y: InOut[f32, "N"], ends: In[f32, "N/B"], whole: Out[f32, "1"], *, B: int = 4) -> None:
    """The third kernel of a long scan: every block but the first adds what ended before it."""
    tp.require(tp.dim("N") >= 1)
    for n in tp.parallel(N=B):
        if n.number > 0:
            y[n] = y[n] + ends[n.number - 1]
        if n.number == 0:
            whole[0] = ends[tp.dim("N/B") - 1]


def merge(one: Any, other: Any) -> Any:
    """Two parts of a sum of exponentials."""
    (top, total), (rival, more) = one, other
    high = tp.maximum(top, rival)
    return high, total * tp.exp(top - high) + more * tp.exp(rival - high)


@tp.kernel
def row_lse(lse: Out[f32, "R"], x: In[f32, "R V"], *, SV: int = 6, BV: int = 4) -> None:
    """The log of the sum of exponentials of a long row, its pieces in several programs."""
    for r, z in tp.parallel(R=tp.each, V=tp.split(SV)):
        top, total = tp.lowest, 0.0
        for v in z.tiles(BV):
            t = x[r, v]
            new = tp.maximum(top, t.max())
            total = total * tp.exp(top - new) + tp.exp(t - new).sum()
            top = new
        high, whole = tp.join((top, total), over=z, by=merge)
        lse[r] = high + tp.log(whole)


@tp.kernel
def latent_attend(
    o: Out[f32, "N D"], cache: InOut[f32, "C D"], q: In[f32, "N D"], new: In[f32, "N D"], pos: In[i32, "1"],
    *, D: int, BT: int = 4,
) -> None:  # fmt: skip
    """Attention over a latent cache that the same launch appends to: old rows, then the new ones up to its own."""
    past, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        fresh[n, :] = new[n, :]
        total, acc = 0.0, tp.zeros((D,))
        for t in tp.tiles(C=BT, stop=pos[0]):
            w = tp.exp((past[t, :] * q[n, :]).sum(axis=1))
            total, acc = total + w.sum(), acc + (w[:, None] * past[t, :]).sum(axis=0)
        for t in tp.tiles(N=BT, stop=n + 1):
            w = tp.exp((new[t, :] * q[n, :]).sum(axis=1))
            total, acc = total + w.sum(), acc + (w[:, None] * new[t, :]).sum(axis=0)
        o[n, :] = acc / total


@tp.kernel
def im2col(y: Out[f32, "C*K L"], x: In[f32, "C L"], *, K: int = 3, BL: int = 4) -> None:
    """Row c*K + k is channel c moved by k."""
    for c, t in tp.parallel(C=tp.each, L=BL):
        for k in range(K):
            y[c * K + k, t] = x.get((c, t.elements + k - K // 2), 0.0)


@tp.kernel
def max_pool(
    y: Out[f32, "C H/S W/S"], at: Out[i32, "C H/S W/S"], x: In[f32, "C H W"],
    *, S: int = 2, BC: int = 2, BH: int = 2, BW: int = 2,
) -> None:  # fmt: skip
    """Pooling with ragged borders and the place of each maximum, on tiles of three axes."""
    for c, h, w in tp.parallel(("C", BC), ("H/S", BH), ("W/S", BW)):
        best, place = tp.full((c, h, w), -tp.inf), tp.zeros((c, h, w), i32)
        for a in range(S):
            for b in range(S):
                v = x.get((c, S * h.elements + a, S * w.elements + b), -tp.inf)
                place = tp.where(v > best, (a * S + b).to(i32), place)
                best = tp.maximum(best, v)
        y[c, h, w], at[c, h, w] = best, place


@tp.kernel
def two_triangles(
    y: Out[f32, "N M"], z: Out[f32, "N M"], a: In[f32, "N N"], x: In[f32, "N M"], *, B: int = 4, BM: int = 4
) -> None:
    """y = tril(a) @ x and z = triu(a) @ x, each over its own half of the columns of a."""
    for i, j in tp.parallel(N=B, M=BM):
        low, high = tp.zeros((i, j)), tp.zeros((i, j))
        for k in tp.tiles(N=B, stop=i.stop):
            t = tp.where(i.elements[:, None] >= k.elements[None, :], a[i, k], 0.0)
            low = tp.mma(t, x[k, j], low)
        for k in tp.tiles(N=3, start=i.start):
            t = tp.where(i.elements[:, None] <= k.elements[None, :], a[i, k], 0.0)
            high = tp.mma(t, x[k, j], high)
        y[i, j], z[i, j] = low, high


@tp.kernel
def quantise_rows(q: Out[i8, "R C"], scale: Out[f32, "R"], x: In[f32, "R C"], *, BC: int = 4) -> None:
    """One scale per row, found by every column tile and written by the first."""
    tp.require(tp.dim("C") >= 1)
    for r, c in tp.parallel(R=tp.each, C=BC):
        top = 1e-6
        for k in tp.tiles(C=BC):
            top = tp.maximum(top, tp.abs(x[r, k]).max())
        q[r, c] = tp.round(x[r, c] * (127 / top)).to(i8)
        if c.start == 0:
            scale[r] = top / 127


@tp.kernel
def split_heads(
    q: Out[T, "N H D"], k: Out[T, "N G D"], v: Out[T, "N G D"], x: In[T, "N H+2*G D"], *, D: int, BN: int = 4
) -> None:
    """Takes a fused projection apart: a program is one head, of whichever kind it is."""
    for n, h in tp.parallel(("N", BN), ("H+2*G", tp.each)):
        heads, groups = tp.dim("H"), tp.dim("G")
        if h < heads:
            q[n, h.start, :] = x[n, h, :]
        elif h < heads + groups:
            k[n, h - heads, :] = x[n, h, :]
        else:
            v[n, h - heads - groups, :] = x[n, h, :]


@tp.kernel
def append_by_query_head(
    qs: Out[f32, "H N D"], cache: InOut[f32, "G C D"], q: In[f32, "H N D"], new: In[f32, "G N D"], pos: In[i32, "1"],
    scale: f32, *, D: int,
) -> None:  # fmt: skip
    """All query heads of a group append the group's row."""
    for h, n in tp.parallel(H=tp.each, N=tp.each):
        qs[h, n, :] = q[h, n, :] * scale
        cache[tp.group(h, "G"), pos[0] + n, :] = new[tp.group(h, "G"), n, :]


@tp.kernel
def red_black_nine(x: InOut[f32, "H W"], b: In[f32, "H W"], *, COLOUR: int = 0) -> None:
    """Nine points and two colours: a diagonal neighbour has the colour of the cell."""
    for h, w in tp.parallel(H=tp.each, W=tp.each):
        if (h + w) % 2 == COLOUR:
            cross = x.get((h - 1, w), 0.0) + x.get((h + 1, w), 0.0) + x.get((h, w - 1), 0.0) + x.get((h, w + 1), 0.0)
            corners = x.get((h - 1, w - 1), 0.0) + x.get((h + 1, w + 1), 0.0)
            x[h, w] = 0.2 * cross + 0.05 * corners - b[h, w]


@tp.kernel
def lifting_fused(x: InOut[f32, "2*M"]) -> None:
    """Predict and update of a wavelet in one launch: the update reads the left neighbour's prediction."""
    for m in tp.parallel(M=tp.each):
        x[2 * m + 1] = x[2 * m + 1] - 0.5 * x[2 * m]
        x[2 * m] = x[2 * m] + 0.25 * (x.get(2 * m - 1, 0.0) + x[2 * m + 1])


@tp.kernel
def fft_stage_short(re: InOut[f32, "2*P"], *, S: int = 4, BP: int = 4) -> None:
    """The stride between butterflies is S where it should be 2 * S."""
    tp.require(tp.dim("P") % S == 0)
    for p in tp.parallel(P=BP):
        a = S * (p.elements // S) + p.elements % S
        u, v = re[a], re[a + S]
        re[a] = u + v
        re[a + S] = u - v


@tp.kernel
def overlap_scatter(y: InOut[f32, "L+3"], x: In[f32, "L"], w: In[f32, "4"]) -> None:
    """A transposed convolution that scatters: the windows of neighbours overlap."""
    for t in tp.parallel(L=tp.each):
        window = t + tp.arange(4)
        y[window] = y[window] + x[t] * w[:]


@tp.kernel
def moe_dispatch_any(buf: InOut[T, "P D"], x: In[T, "N D"], slots: In[Index["P"], "N K"], *, BD: int = 4) -> None:
    """The slots are promised to be positions, not to differ."""
    for n, k, d in tp.parallel(N=tp.each, K=tp.each, D=BD):
        buf[slots[n, k], d] = x[n, d]


@tp.kernel
def conv_tail(
    y: Out[f32, "C L"], state: InOut[f32, "C 3"], x: In[f32, "C L"], *, BL: int = 4
) -> None:
    """Every tile that reaches into the last three elements writes the state: that may be two tiles."""
    for c, t in tp.parallel(C=tp.each, L=BL):
        y[c, t] = x[c, t] * 2
        if t.stop + 3 > tp.dim("L"):
            state[c, :] = x.get((c, tp.dim("L") - 3 + tp.arange(3)), 0.0)


@tp.kernel
def quantise_tiles(q: Out[i8, "R C"], scale: Out[f32, "R"], x: In[f32, "R C"], *, BC: int = 4) -> None:
    """A scale per tile into a place per row."""
    tp.require(tp.dim("C") >= 1)
    for r, c in tp.parallel(R=tp.each, C=BC):
        top = tp.maximum(tp.abs(x[r, c]).max(), 1e-6)
        q[r, c] = tp.round(x[r, c] * (127 / top)).to(i8)
        scale[r] = top / 127


@tp.kernel
def second_difference(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
    """A tile moved by two begins behind the end if it holds one element."""
    for i in tp.parallel(N=B):
        y[i] = x[i.shift(2)].fill(0) - 2 * x[i.shift(1)].fill(0) + x[i]


@tp.kernel
def mean_pool(y: Out[f32, "C H/S"], x: In[f32, "C H"], *, S: int = 2, BH: int = 4) -> None:
    """The last window of a ragged axis is read past its end."""
    for c, h in tp.parallel(("C", tp.each), ("H/S", BH)):
        acc = tp.zeros((h,))
        for a in range(S):
            acc += x[c, S * h.elements + a]
        y[c, h] = acc / S


@tp.kernel
def back_substitute(x: InOut[f32, "N B"], work: In[f32, "N B"], *, BB: int = 4) -> None:
    """The last row has nothing below it, yet the loop begins there."""
    for b in tp.parallel(B=BB):
        for m in range(tp.dim("N")):
            n = tp.dim("N") - 1 - m
            x[n, b] = x[n, b] - work[n, b] * x[n + 1, b]


@tp.kernel
def scan_add_first(y: InOut[f32, "N"], ends: In[f32, "N/B"], *, B: int = 4) -> None:
    """The first block has no block before it."""
    for n in tp.parallel(N=B):
        y[n] = y[n] + ends[n.number - 1]


@tp.kernel
def unpack_symmetric(y: Out[f32, "N N"], packed: In[f32, "N*(N-1)/2"]) -> None:
    """A triangle without its diagonal, read as if it had one."""
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        row, column = tp.maximum(i, j), tp.minimum(i, j)
        y[i, j] = packed[row * (row + 1) // 2 + column]


@tp.kernel
def upsample_aligned(y: Out[f32, "2*H+1 W"], x: In[f32, "H W"], *, BW: int = 4) -> None:
    """Two rows for each row of x, and the closing row forgotten."""
    for h, w in tp.parallel(H=tp.each, W=BW):
        y[2 * h, w] = x[h, w]
        y[2 * h + 1, w] = 0.5 * (x[h, w] + x.get((h + 1, w), 0.0))


@tp.kernel
def last_tokens(
    y: Out[f32, "E D"], x: In[f32, "N D"], off: In[Offsets["N"], "E+1"], *, D: int, BN: int = 4
) -> None:
    """The last row of every sequence of a ragged batch; an empty sequence has no tile to write it."""
    for e, i in tp.parallel(tp.segments(off, N=BN)):
        if i.stop == off[e + 1]:
            y[e, :] = x[i.stop - 1, :]


@tp.kernel
def swap_halves_flat(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The two halves of an odd length leave one element over."""
    for n in tp.parallel(N=tp.each):
        half = tp.dim("N") // 2
        if n < half:
            y[n] = x[n + half]
            y[n + half] = x[n]


@tp.kernel
def join_heads(
    y: Out[f32, "N H+2*G D"], q: In[f32, "N H D"], k: In[f32, "N G D"], v: In[f32, "N G D"], *, D: int, BN: int = 4
) -> None:
    """The first key head is neither below H nor above it."""
    for n, h in tp.parallel(("N", BN), ("H+2*G", tp.each)):
        heads, groups = tp.dim("H"), tp.dim("G")
        if h < heads:
            y[n, h, :] = q[n, h.start, :]
        elif (h > heads) & (h < heads + groups):
            y[n, h, :] = k[n, h - heads, :]
        elif h >= heads + groups:
            y[n, h, :] = v[n, h - heads - groups, :]


@tp.kernel
def causal_rows(s: Out[f32, "N N"], q: In[f32, "N D"], k: In[f32, "N D"], *, D: int, B: int = 4) -> None:
    """Scores up to the diagonal; what lies right of it is never written."""
    for i in tp.parallel(N=B):
        for j in tp.tiles(N=B, stop=i.stop):
            s[i, j] = q[i, :] @ k[j, :].T


@tp.kernel
def make_offsets(off: Out[i32, "N+1"], length: In[i32, "N"], *, B: int = 4) -> None:
    """Running totals behind a zero that nobody writes."""
    total = tp.zeros((), i32)
    for n in tp.tiles(N=B):
        off[n.elements + 1] = total + length[n].cumsum()
        total = total + length[n].sum()


@tp.kernel
def expert_swapped(
    y: Out[f32, "N F"], x: In[f32, "N D"], w: In[f32, "E F D"], off: In[Offsets["N"], "E+1"], *, B: int = 4
) -> None:
    """The weights are stored as F by D and read as D by F."""
    for (e, i), j in tp.parallel(tp.segments(off, N=B), F=B):
        acc = tp.zeros((i, j))
        for k in tp.tiles(D=B):
            acc = tp.mma(x[i, k], w[e, k, j], acc)
        y[i, j] = acc


def dispatched(n: int, k: int, p: int, d: int, dropped: int) -> list[Any]:
    """Tokens with a slot of their own for each expert, but for some that were dropped."""
    rng = np.random.default_rng(0)
    slots = rng.permutation(p)[: n * k].astype(np.int32)
    slots[:dropped] = -1
    return [floats(p, d), counts(3), floats(n, d), slots.reshape(n, k), rng.integers(0, 3, (n, k))]


def routed(d: int, f: int, *off: int) -> list[Any]:
    """Sorted tokens of several experts."""
    n, e = off[-1], len(off) - 1
    return [blank(n, f), floats(n, d), floats(e, d, f), floats(e, d, f), ints(*off)]


def pooled() -> Launches:
    """Images whose borders are ragged, and one that is not."""
    found: Launches = []
    for c, h, w, s in ((3, 7, 9, 2), (1, 3, 3, 3), (2, 4, 5, 2)):
        shape = c, -(-h // s), -(-w // s)
        found.append(([blank(*shape), counts(*shape), floats(c, h, w)], {"S": s}))
    return found


def quantised(r: int, c: int) -> list[Any]:
    """Rows to be made bytes, with a scale for each."""
    return [np.zeros((r, c), np.int8), blank(r), floats(r, c)]


SAFE = [
    Case(
        ring_append_heads,
        at(lambda g, c, n, d, pos: [floats(g, c, d), floats(g, n, d), pos], (2, 7, 5, 3, 4), (1, 4, 4, 2, 1003)),
    ),
    Case(moe_dispatch, at(dispatched, (5, 2, 13, 9, 2), (3, 1, 3, 4, 0), (4, 3, 20, 6, 1))),
    Case(moe_expert, at(routed, (3, 7, 0, 5, 5, 11), (4, 4, 0, 9), (5, 9, 0, 0, 1, 3, 8))),
    Case(gumbel_sample, at(lambda b, v: [counts(b), floats(b, v), 0.7, 11], (3, 10), (1, 4), (5, 1))),
    Case(
        pack_int4,
        at(
            lambda n, q: [np.zeros((n, q), np.uint8), blank(n, -(-q // 4)), floats(n, 2 * q)],
            (3, 10), (1, 4), (2, 5),
        ),
    ),
    Case(
        causal_conv,
        at(
            lambda c, n, k: [blank(c, n), floats(c, k), floats(c, n), floats(c, k)],
            (2, 10, 4), (3, 8, 3), (1, 2, 4), (2, 5, 2),
        ),
    ),
    Case(
        red_black_sweep,
        lambda: [
            ([floats(h, w), floats(h, w), blank(1)], {"COLOUR": c}) for h, w, c in ((4, 5, 0), (3, 3, 1), (1, 6, 0))
        ],
    ),
    Case(
        pixel_shuffle_flat,
        lambda: [
            ([blank(c, h * s, w * s), floats(c * s * s, h, w)], {"S": s})
            for c, h, w, s in ((2, 3, 5, 2), (1, 2, 4, 3), (3, 1, 9, 1))
        ],
    ),
    Case(
        fft_stage,
        lambda: [([floats(2 * p), floats(2 * p)], {"S": s}) for p, s in ((12, 4), (16, 4), (4, 4), (6, 2), (5, 1))],
    ),
    Case(
        thomas,
        at(lambda n, b: [floats(n, b), floats(n, b), floats(n, b), floats(n, b) + 9, floats(n, b)], (6, 7), (1, 3)),
    ),
    Case(transpose_square, at(lambda n: [floats(n, n)], 10, 8, 3, 13)),
    Case(block_diagonal, at(lambda n, g: [blank(n, 4 * g), floats(n, 4 * g), floats(g, 4, 4)], (6, 3), (4, 1), (9, 2))),
    Case(scan_add, at(lambda n: [floats(n), floats(-(-n // 4)), blank(1)], 10, 4, 17, 1)),
    Case(row_lse, at(lambda r, v: [blank(r), floats(r, v)], (3, 15), (1, 6), (4, 1))),
    Case(
        latent_attend,
        at(
            lambda n, c, d, pos: [blank(n, d), floats(c, d), floats(n, d), floats(n, d), ints(pos)],
            (3, 12, 4, 6), (6, 6, 2, 0), (1, 9, 3, 8),
        ),
        data=True,
    ),
    Case(
        im2col,
        lambda: [([blank(c * k, n), floats(c, n)], {"K": k}) for c, n, k in ((3, 10, 3), (1, 4, 5), (4, 1, 2))],
    ),
    Case(max_pool, pooled),
    Case(
        two_triangles,
        at(lambda n, m: [blank(n, m), blank(n, m), floats(n, n), floats(n, m)], (10, 6), (4, 4), (5, 1)),
    ),
    Case(quantise_rows, at(quantised, (3, 10), (5, 4), (2, 1))),
    Case(
        split_heads,
        at(
            lambda n, h, g, d: [blank(n, h, d), blank(n, g, d), blank(n, g, d), floats(n, h + 2 * g, d)],
            (6, 4, 2, 3), (1, 3, 3, 2), (9, 2, 1, 5),
        ),
    ),
]
UNSAFE = [
    Case(
        append_by_query_head,
        at(
            lambda h, g, n: [blank(h, n, 2), floats(g, 9, 2), floats(h, n, 2), floats(g, n, 2), ints(3), 0.5],
            (2, 2, 3), (4, 2, 3), (3, 1, 1),
        ),
        "race",
    ),
    Case(red_black_nine, at(lambda h, w: [floats(h, w), floats(h, w)], (4, 5), (3, 3), (1, 6)), "race"),
    Case(lifting_fused, at(lambda m: [floats(2 * m)], 1, 5, 8), "race"),
    Case(fft_stage_short, at(lambda p: [floats(2 * p)], 4, 8, 12), "race"),
    Case(overlap_scatter, at(lambda n: [floats(n + 3), floats(n), floats(4)], 1, 6, 9), "race"),
    Case(
        moe_dispatch_any,
        at(
            lambda *slots: [floats(6, 5), floats(3, 5), ints(*slots).reshape(3, 2)],
            (0, 1, 2, 3, 4, 5), (0, 1, -1, 3, 1, 2),
        ),
        "race",
    ),
    Case(conv_tail, at(lambda c, n: [blank(c, n), floats(c, 3), floats(c, n)], (2, 8), (2, 9), (1, 3)), "race"),
    Case(quantise_tiles, at(quantised, (3, 10), (5, 4), (2, 1)), "race"),
    Case(second_difference, at(lambda n: [blank(n), floats(n)], 8, 9, 2), "bounds"),
    Case(mean_pool, at(lambda c, h: [blank(c, -(-h // 2)), floats(c, h)], (2, 8), (2, 9), (1, 3)), "bounds"),
    Case(back_substitute, at(lambda n, b: [floats(n, b), floats(n, b)], (5, 6), (1, 3)), "bounds"),
    Case(scan_add_first, at(lambda n: [floats(n), floats(-(-n // 4))], 10, 4), "bounds"),
    Case(unpack_symmetric, at(lambda n: [blank(n, n), floats(n * (n - 1) // 2)], 4, 3, 6), "bounds"),
    Case(upsample_aligned, at(lambda h, w: [blank(2 * h + 1, w), floats(h, w)], (3, 6), (1, 4)), "coverage"),
    Case(
        last_tokens,
        at(
            lambda *off: [blank(len(off) - 1, 3), floats(off[-1], 3), ints(*off)],
            (0, 5, 9), (0, 4, 4, 11), (0, 0, 2),
        ),
        "coverage",
    ),
    Case(swap_halves_flat, at(lambda n: [blank(n), floats(n)], 8, 7, 1), "coverage"),
    Case(
        join_heads,
        at(
            lambda n, h, g, d: [blank(n, h + 2 * g, d), floats(n, h, d), floats(n, g, d), floats(n, g, d)],
            (6, 4, 2, 3), (1, 1, 1, 2),
        ),
        "coverage",
    ),
    Case(causal_rows, at(lambda n: [blank(n, n), floats(n, 3), floats(n, 3)], 4, 10, 8), "coverage"),
    Case(make_offsets, at(lambda n: [counts(n + 1), ints(*range(n))], 6, 4, 1), "coverage"),
    Case(expert_swapped, at(lambda n: [blank(n, 4), floats(n, 4), floats(2, 4, 4), ints(0, 2, n)], 6), "dimension"),
]
