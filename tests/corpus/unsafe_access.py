"""Kernels that use a tensor or a value where they may not: the front end refuses them."""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import In, InOut, Max, Out, Sum, T, f32, i32

from .case import Case, blank, floats, ints, one


@tp.kernel
def store_before_space(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """Every program would run it."""
    y[0] = 1.0
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def store_after_space(y: Out[f32, "N"], total: Out[f32, "1"], x: In[f32, "N"]) -> None:
    """After the space no program is the last."""
    for n in tp.parallel(N=4):
        y[n] = x[n]
    total[0] = 1.0


def clear(total: Any) -> None:
    """A store of the caller."""
    total[0] = 0.0


@tp.kernel
def helper_before_space(y: Out[f32, "N"], total: Out[f32, "1"], x: In[f32, "N"]) -> None:
    """A store outside the space is one also in a helper."""
    clear(total)
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def carried_across(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A total that would go from program to program."""
    total = 0.0
    for n in tp.parallel(N=tp.each):
        total += x[n]
        y[n] = total


@tp.kernel
def read_before_space(state: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    """What is written is read before the space."""
    first = state[0]
    for n in tp.parallel(N=4):
        state[n] = x[n] * first


@tp.kernel
def writes_input(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """An In is shared."""
    for n in tp.parallel(N=4):
        y[n] = x[n]
        x[n] = 0.0


@tp.kernel
def reads_output(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """An Out holds nothing yet."""
    for n in tp.parallel(N=4):
        y[n] = x[n]
        y[n] = y[n] * 2


@tp.kernel
def adds_to_output(y: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    """Adding to an Out reads it."""
    for i in tp.parallel(M=4):
        for j in tp.tiles(N=4):
            y[i] += x[i, j].sum(axis=1)


@tp.kernel
def gets_output(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A get is a read."""
    for n in tp.parallel(N=tp.each):
        y[n] = x[n] + y.get(n - 1, 0.0)


@tp.kernel
def reads_sum(total: Sum[f32, "1"], y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A total is not complete while programs run."""
    for n in tp.parallel(N=4):
        total[0] += x[n].sum()
        y[n] = x[n] / total[0]


@tp.kernel
def sets_sum(total: Sum[f32, "N"], x: In[f32, "N"]) -> None:
    """A total is added to, not set."""
    for n in tp.parallel(N=4):
        total[n] = x[n]


@tp.kernel
def adds_to_max(top: Max[f32, "1"], x: In[f32, "N"]) -> None:
    """A maximum is raised by tp.update."""
    for n in tp.parallel(N=4):
        top[0] += x[n].max()


@tp.kernel
def piece_after_join(y: Out[f32, "1"], x: In[f32, "N"], *, SN: int = 4) -> None:
    """After the join there is no piece of one's own."""
    for z in tp.parallel(N=tp.split(SN)):
        part = x[z].sum()
        y[0] = part / tp.join(part, over=z)


@tp.kernel
def store_at_piece(y: InOut[f32, "N"], x: In[f32, "N"], *, SN: int = 4) -> None:
    """A store at the piece after the join."""
    for z in tp.parallel(N=tp.split(SN)):
        total = tp.join(x[z].sum(), over=z)
        y[z] = total


@tp.kernel
def never_joined(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 4) -> None:
    """Pieces that nobody joins."""
    for i, z in tp.parallel(M=4, N=tp.split(SN)):
        y[i] = x[i, z].sum(axis=1)


@tp.kernel
def join_in_branch(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 4) -> None:
    """Some pieces would not arrive."""
    for i, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        if x[i, 0] > 0:
            y[i] = tp.join(x[i, z].sum(), over=z)


@tp.kernel
def two_spaces(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The second would need the first to be over."""
    for n in tp.parallel(N=4):
        y[n] = x[n]
    for n in tp.parallel(N=4):
        y[n] = -x[n]


@tp.kernel
def space_in_branch(y: InOut[f32, "N"], x: In[f32, "N"], on: i32) -> None:
    """Whether there are programs is not known before the launch."""
    if on > 0:
        for n in tp.parallel(N=4):
            y[n] = x[n]


@tp.kernel
def raw_in_the_open(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """An access that nobody proves, without a word about it."""
    for n in tp.parallel(N=4):
        y[n] = tp.raw.load(x, n.elements + 1)


@tp.kernel
def cut_input(y: Out[f32, "N"], cache: In[f32, "C"], pos: In[i32, "1"]) -> None:
    """Only what is read and written is cut."""
    _, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=4):
        y[n] = fresh[0]


@tp.kernel
def whole_after_cut(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """The whole would see both views."""
    _, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        fresh[n] = new[n] + cache[0]


@tp.kernel
def writes_past(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """The past is shared by all programs."""
    past, _ = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        past[n] = new[n]


@tp.kernel
def combiner_with_memory(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """A combiner runs in any grouping, so it touches no memory."""
    for n in tp.parallel(N=4):
        y[n] = tp.scan(x[n], by=lambda a, b: a + b * x[0])


@tp.kernel
def one_sided_name(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """The value exists on one side of the branch."""
    for n in tp.parallel(N=tp.each):
        if x[n] > 0:
            v = x[n]
        y[n] = v


@tp.kernel
def updates_input(count: In[T, "V"], x: In[T, "N"]) -> None:
    """An update of what is shared for reading."""
    for n in tp.parallel(N=4):
        tp.update(count, 0, x[n].sum())


CASES = [
    Case(store_before_space, lambda: one(blank(5), floats(5)), "access"),
    Case(store_after_space, lambda: one(blank(5), blank(1), floats(5)), "access"),
    Case(helper_before_space, lambda: one(blank(5), blank(1), floats(5)), "access"),
    Case(carried_across, lambda: one(blank(5), floats(5)), "access"),
    Case(read_before_space, lambda: one(blank(5), floats(5)), "access"),
    Case(writes_input, lambda: one(blank(5), floats(5)), "access"),
    Case(reads_output, lambda: one(blank(5), floats(5)), "access"),
    Case(adds_to_output, lambda: one(blank(5), floats(5, 6)), "access"),
    Case(gets_output, lambda: one(blank(5), floats(5)), "access"),
    Case(reads_sum, lambda: one(blank(1), blank(5), floats(5)), "access"),
    Case(sets_sum, lambda: one(blank(5), floats(5)), "access"),
    Case(adds_to_max, lambda: one(blank(1), floats(5)), "access"),
    Case(piece_after_join, lambda: one(blank(1), floats(5)), "access"),
    Case(store_at_piece, lambda: one(blank(5), floats(5)), "access"),
    Case(never_joined, lambda: one(blank(5), floats(5, 6)), "access"),
    Case(join_in_branch, lambda: one(blank(5), floats(5, 6)), "access"),
    Case(two_spaces, lambda: one(blank(5), floats(5)), "access"),
    Case(space_in_branch, lambda: one(blank(5), floats(5), 1), "access"),
    Case(raw_in_the_open, lambda: one(blank(5), floats(5)), "access"),
    Case(cut_input, lambda: one(blank(5), floats(5), ints(2)), "access"),
    Case(whole_after_cut, lambda: one(blank(5), floats(2), ints(2)), "access"),
    Case(writes_past, lambda: one(blank(5), floats(2), ints(2)), "access"),
    Case(combiner_with_memory, lambda: one(blank(5), floats(5)), "access"),
    Case(one_sided_name, lambda: one(blank(5), floats(5)), "access"),
    Case(updates_input, lambda: one(blank(5), floats(5)), "access"),
]
