"""Small kernels that move elements, walk, branch, carry, combine and print: one text for each, of any element type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from samples.small_kernels import Small

_TEXTS: Final[Mapping[str, str]] = {
    "slices": """
        @tp.kernel
        def k(o: Out[T, "M 8"], p: Out[T, "M 3"], x: In[T, "M 8"]) -> None:
            for m in tp.parallel(M=5):
                t = x[m, :]
                o[m, :] = tp.cat((t[:, 5:8], t[:, 0:4], t[:, 4:5]), axis=1)
                p[m, :] = x[m, 2:5]
    """,
    "cat_rows": """
        @tp.kernel
        def k(o: Out[T, "R 7 N"], x: In[T, "R 3 N"], y: In[T, "R 4 N"]) -> None:
            for r, n in tp.parallel(R=tp.each, N=18):
                o[r, :, n] = tp.cat((x[r, :, n], y[r, :, n]), axis=0)
    """,
    "cat_many": """
        @tp.kernel
        def k(o: Out[T, "M 40"], x: In[T, "M 1"], y: In[T, "M 17"], z: In[T, "M 22"]) -> None:
            for m in tp.parallel(M=3):
                o[m, :] = tp.cat((y[m, :], x[m, :], z[m, :]), axis=1)
    """,
    "reshape": """
        @tp.kernel
        def k(o: Out[T, "R 4 6"], p: Out[T, "R 24"], q: Out[T, "R 2 3 4"], x: In[T, "R 8 3"]) -> None:
            for r in tp.parallel(R=tp.each):
                o[r, :, :] = x[r, :, :].reshape(4, 6)
                p[r, :] = x[r, :, :].T.reshape(24)
                q[r, :, :, :] = x[r, :, :].reshape(2, 3, 4)
    """,
    "reshape_filled": """
        @tp.kernel
        def k(o: Out[T, "Q 6"], x: In[T, "N"], *, Q: int) -> None:
            for q in tp.parallel(Q=tp.each):
                total = tp.zeros((6,), x.dtype)
                for n in tp.tiles(N=12):
                    halves = x[n].fill(1).reshape(2, 6)
                    total = total + tp.reduce(halves, by=lambda a, b: a + b, identity=0, axis=0)
                o[q, :] = total
    """,
    "permute": """
        @tp.kernel
        def k(o: Out[T, "N M"], p: Out[T, "N M L"], q: Out[T, "M N"], x: In[T, "M N"], y: In[T, "L M N"],
              *, BM: int = 18, BN: int = 21) -> None:
            for i, j in tp.parallel(M=BM, N=BN):
                o[j, i] = x[i, j].T
                q[i, j] = (x[i, j].T + x[i, j].T).T
                for l in tp.tiles(L=3):
                    p[j, i, l] = y[l, i, j].T
    """,
    "expand": """
        @tp.kernel
        def k(o: Out[T, "M N"], p: Out[T, "M N"], x: In[T, "M"], y: In[T, "N"], z: In[T, "M N"]) -> None:
            for i, j in tp.parallel(M=4, N=17):
                o[i, j] = x[i][:, None] + y[j]
                p[i, j] = (x[i][:, None] * y[j][None, :] + z[i, j]).T.T
    """,
    "fill": """
        @tp.kernel
        def k(o: Out[T, "2"], p: Out[T, "3 20"], x: In[T, "N"], y: In[T, "M N"]) -> None:
            low, high = tp.full((20,), 3, x.dtype), tp.zeros((20,), x.dtype)
            square = tp.zeros((3, 20), x.dtype)
            for n in tp.tiles(N=20):
                low = tp.minimum(low, x[n].fill(2))
                high = tp.maximum(high, x[n].fill(0))
                for m in tp.tiles(M=3):
                    square = tp.maximum(square, y[m, n].fill(1))
            o[0], o[1] = low.min(), high.max()
            p[:, :] = square
    """,
    "get": """
        @tp.kernel
        def k(o: Out[T, "M N"], p: Out[T, "M N"], x: In[T, "M N"], ids: In[Index["N"], "N"], fill: T) -> None:
            for i, j in tp.parallel(M=3, N=18):
                o[i, j] = x.get((i, j.elements + 1), fill)
                p[i, j] = x.get((i.elements - 1, ids[j]), 1)
    """,
    "gather": """
        @tp.kernel
        def k(o: Out[T, "N D"], p: Out[T, "N 3"], table: In[T, "V D"], ids: In[Index["V"], "N"], *, D: int) -> None:
            tp.require(D >= 5)
            columns = tp.arange(3) * 2
            for n in tp.parallel(N=7):
                o[n, :] = table[ids[n], :]
                p[n, :] = table[ids[n], columns]
    """,
    "scatter": """
        @tp.kernel
        def k(o: InOut[T, "V D"], x: In[T, "N D"], at: In[Unique["V"], "N"]) -> None:
            for n, d in tp.parallel(N=6, D=17):
                o[at[n], d] = x[n, d]
    """,
    "scatter_columns": """
        @tp.kernel
        def k(o: InOut[T, "D V"], x: In[T, "D N"], at: In[Unique["V"], "N"]) -> None:
            for d, n in tp.parallel(D=5, N=20):
                o[d, at[n]] = x[d, n]
    """,
    "update": """
        @tp.kernel
        def k(s: Sum[T, "V"], top: Max[T, "V"], low: Min[T, "V"], rows: Sum[T, "D"], x: In[T, "N"], y: In[T, "N D"],
              ids: In[Index["V"], "N"]) -> None:
            for n, d in tp.parallel(N=6, D=18):
                if d.start == 0:
                    s[ids[n]] += x[n]
                    tp.update(top, ids[n], x[n])
                    tp.update(low, ids[n], x[n])
                rows[d] += y[n, d].sum(axis=0).to(x.dtype)
    """,
    "update_all": """
        @tp.kernel
        def k(s: Sum[T, "D N"], x: In[T, "M N D"]) -> None:
            for m in tp.parallel(M=2):
                for n in tp.tiles(N=17):
                    for d in tp.tiles(D=3):
                        for e in m.tiles(tp.each):
                            s[d, n] += x[e, n, d].T
    """,
    "in_place": """
        @tp.kernel
        def k(x: InOut[T, "M N"], y: In[T, "M N"]) -> None:
            for i, j in tp.parallel(M=3, N=20):
                old = x[i, j]
                x[i, j] = y[i, j]
                x[i, j] += old
                x[i, j] = x[i, j] + old
    """,
    "swapped": """
        @tp.kernel
        def k(o: Out[T, "M N"], p: Out[T, "M N"], x: In[T, "M N"], y: In[T, "M N"], turns: In[i32, "1"]) -> None:
            for i, j in tp.parallel(M=2, N=19):
                a, b, c = x[i, j], y[i, j], x[i, j] + y[i, j]
                for t in range(turns[0]):
                    a, b, c = b, c, a
                o[i, j], p[i, j] = a, b + c
    """,
    "branches": """
        @tp.kernel
        def k(o: Out[T, "M N"], p: Out[T, "N M"], x: In[T, "M N"], y: In[T, "M N"], sign: In[i32, "M"]) -> None:
            for i, j in tp.parallel(M=tp.each, N=20):
                t, u = x[i, j], y[i, j]
                if sign[i] > 0:
                    t, u = u, t + u
                    if sign[i] > 3:
                        t = t + t
                else:
                    u = t + t
                o[i, j] = t
                p[j, i] = u
    """,
    "searches": """
        @tp.kernel
        def k(o: Out[T, "M N"], count: Out[i32, "M"], x: In[T, "M N"], limit: In[i32, "M"]) -> None:
            for i in tp.parallel(M=tp.each):
                for j in tp.tiles(N=18):
                    t, u, turn = x[i, j], x[i, j] + x[i, j], tp.zeros((), i32)
                    while (turn < limit[i]) & (turn < 5):
                        t, u, turn = u, t, turn + 1
                    o[i, j] = t
                turn = tp.zeros((), i32)
                while turn < limit[i]:
                    turn = turn + 2
                count[i] = turn
    """,
    "ranges": """
        @tp.kernel
        def k(o: Out[i64, "4"], a: In[i32, "3"]) -> None:
            first, last, step = tp.clip(a[0], -9, 9), tp.clip(a[1], -9, 9), tp.clip(a[2], -3, 3)
            up, down, by, each = tp.zeros((), i64), tp.zeros((), i64), tp.zeros((), i64), tp.zeros((), i64)
            for n in range(first, last):
                up = up * 3 + n.to(i64)
            for n in range(last, first, -2):
                down = down * 3 + n.to(i64)
            for n in range(first, last, step):
                by = by * 3 + n.to(i64)
            for n in range(5):
                each = each * 3 + n.to(i64)
            o[0], o[1], o[2], o[3] = up, down, by, each
    """,
    "folds": """
        def longest(one, other):
            (top, at), (rival, there) = one, other
            return tp.where(rival > top, rival, top), tp.where(rival > top, there, at)

        @tp.kernel
        def k(o: Out[T, "M"], at: Out[i64, "M"], p: Out[T, "N"], q: Out[T, "M"], x: In[T, "M N"],
              *, M: int, N: int) -> None:
            for m in tp.parallel(M=5):
                top, where = tp.reduce((x[m, :], tp.arange(N, i64)), longest, (0, -1), axis=1)
                o[m], at[m] = top, where
                q[m] = tp.reduce(x[m, :], by=lambda a, b: a + b + b, identity=1, axis=1)
                if m.start == 0:
                    for n in tp.tiles(N=17):
                        p[n] = tp.reduce(x[:, n], by=tp.maximum, identity=0, axis=0)
    """,
    "scans": """
        def step(one, other):
            (value, fade), (more, faded) = one, other
            return value * faded + more, fade * faded

        @tp.kernel
        def k(o: Out[T, "M N"], p: Out[T, "M N"], q: Out[T, "M N"], x: In[T, "M N"], *, M: int, N: int) -> None:
            for m in tp.parallel(M=5):
                value, fade = tp.scan((x[m, :], tp.full((m, N), 1, x.dtype)), step, axis=1)
                o[m, :] = value
                p[m, :] = tp.scan(x[m, :], by=lambda a, b: tp.maximum(a, b), axis=1)
                if m.start == 0:
                    for n in tp.tiles(N=17):
                        q[:, n] = tp.scan(x[:, n], by=tp.minimum, axis=0)
    """,
    "joined": """
        def larger(one, other):
            (top, rows), (rival, others) = one, other
            return tp.maximum(top, rival), rows + others

        @tp.kernel
        def k(o: Out[T, "M"], p: Out[T, "M D"], x: In[T, "M N"], y: In[T, "N D"], *, D: int, SN: int = 6) -> None:
            for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
                top, rows = tp.full((), 0, x.dtype), tp.zeros((D,), x.dtype)
                for n in z.tiles(4):
                    top = tp.maximum(top, x[m, n].max())
                    rows = rows + tp.reduce(y[n, :], by=lambda a, b: a + b, identity=0, axis=0)
                top, rows = tp.join((top, rows), over=z, by=larger)
                o[m] = top
                p[m, :] = rows
    """,
    "joined_walks": """
        @tp.kernel
        def k(o: Out[T, "M L"], x: In[T, "M N L"], *, SN: int = 4) -> None:
            for i, z, j in tp.parallel(M=3, N=tp.split(SN), L=18):
                part = tp.zeros((i, j), x.dtype)
                for n in z.tiles(tp.each):
                    part = part + x[i, n, j]
                o[i, j] = tp.join(part, over=z)
    """,
    "segments": """
        @tp.kernel
        def k(o: Out[T, "N F"], tiles: Sum[i32, "E"], x: In[T, "N F"], w: In[T, "E F"], off: In[Offsets["N"], "E+1"],
              *, BN: int = 3) -> None:
            for (e, i), f in tp.parallel(tp.segments(off, N=BN), F=18):
                o[i, f] = x[i, f] + w[e, f]
                if f.start == 0:
                    tiles[e] += 1
    """,
    "cut": """
        @tp.kernel
        def k(total: Out[T, "N"], cache: InOut[T, "C D"], new: In[T, "N D"], pos: In[i32, "1"], *, D: int) -> None:
            tp.require(tp.dim("C") >= tp.dim("N"))
            at = tp.clip(pos[0], 0, tp.dim("C") - tp.dim("N"))
            past, fresh = tp.split_at(cache, "C", at)
            for n in tp.parallel(N=tp.each):
                most = tp.full((), 0, new.dtype)
                for c in tp.tiles(C=4, stop=at):
                    most = tp.maximum(most, past[c, :].max())
                fresh[n, :] = new[n, :]
                total[n] = most
    """,
    "walks": """
        @tp.kernel
        def k(o: Out[T, "N"], s: Out[i64, "N"], x: In[T, "N"], by: In[i32, "2"], *, B: int = 20) -> None:
            for i in tp.parallel(N=B):
                for part in i.tiles(6):
                    o[part] = x[part]
                    s[part] = (part.elements + part.number * 100 + i.number * 1000 + part.start + part.stop).to(i64)
    """,
    "started": """
        @tp.kernel
        def k(o: InOut[T, "R N"], x: In[T, "R N"], by: In[i32, "2"]) -> None:
            first, last = tp.clip(by[0], 0, tp.dim("N")), tp.clip(by[1] + by[1], 0, tp.dim("N"))
            for r in tp.parallel(R=tp.each):
                for n in tp.tiles(N=6, start=first, stop=last):
                    o[r, n] = x[r, n] + x[r, n]
    """,
    "shifted": """
        @tp.kernel
        def k(o: Out[T, "N"], p: Out[T, "N"], x: In[T, "N"], by: In[i32, "1"], *, B: int = 18) -> None:
            for i in tp.parallel(N=B):
                o[i] = x[i.shift(1)].fill(1) + x[i]
                s = i.shift(tp.clip(by[0], 0, tp.dim("N") - i.start))
                p[i] = tp.where(tp.arange(B) < 5, x[s].fill(2), x[i])
    """,
    "random": """
        @tp.kernel
        def k(o: Out[f32, "M N"], p: Out[f32, "M"], x: In[T, "M N"], seed: i64, *, BN: int = 18) -> None:
            for m in tp.parallel(M=tp.each):
                p[m] = tp.random(seed + 1, m)
                for n in tp.tiles(N=BN):
                    o[m, n] = tp.random(seed, n.elements + m * 1000)
    """,
    "whole_rows": """
        @tp.kernel
        def k(o: Out[T, "M D"], p: Out[T, "M"], x: In[T, "M D"], y: In[T, "D"], *, D: int) -> None:
            for m in tp.parallel(M=4):
                t = x[m, :] + y[:]
                o[m, :] = t + t.max(axis=1, keepdims=True)
                p[m] = t.min(axis=1)
    """,
    "one_program": """
        @tp.kernel
        def k(o: Out[T, "M N"], top: Out[T, "1"], x: In[T, "M N"]) -> None:
            most = tp.full((), 0, x.dtype)
            for m in tp.tiles(M=tp.each):
                for n in tp.tiles(N=20):
                    most = tp.maximum(most, x[m, n].max())
                    o[m, n] = x[m, n] + most
            top[0] = most
    """,
    "groups": """
        @tp.kernel
        def k(o: Out[T, "H N"], x: In[T, "G N"], y: In[T, "H N"]) -> None:
            for h, n in tp.parallel(H=tp.each, N=18):
                o[h, n] = x[tp.group(h, "G"), n] + y[h, n]
    """,
}
EXTENTS: Final[Mapping[str, Mapping[str, int]]] = {"groups": {"H": 6, "G": 3}, "cut": {"C": 40, "D": 5}}
"""Extents that are not free."""
PRINTS: Final = """
    @tp.kernel
    def k(o: Out[T, "M N"], x: In[T, "M N"]) -> None:
        for i, j in tp.parallel(M=2, N=3):
            tp.print("tile", x[i, j], x[i, j].T, i.start)
            o[i, j] = x[i, j] + x[i, j]
            tp.print("sum", x[i, j].max(), j.elements, x[i, j] > 0)
"""


def shaped() -> list[Small]:
    """All of them."""
    return [Small(name, text, EXTENTS.get(name, {})) for name, text in _TEXTS.items()]
