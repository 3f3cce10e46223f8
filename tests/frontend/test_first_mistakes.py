"""Mistakes of authors who come from Triton, CUDA, numpy or torch: each has a cure, and edits lead to a right kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from kernel_files import mistakes

from tileproof.diagnostics.errors import Diagnostic, Edit

_MOST_EDITS = 6

# Of each: its name, the code of what is reported first, and whether edits, made one after another, are all it takes
# (`fixed`) or the author has to choose (`open`); words of the help; the kernel.
MISTAKES = '''\
### a convolution | TP0306 | fixed
# `x.get(n.elements + 1, fill)` reads neighbors
def k(y: Out[f32, "N"], x: In[f32, "N+K-1"], w: In[f32, "K"], *, K: int, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        acc = tp.zeros((n,))
        for k in range(K):
            acc += x[n + k] * w[k]
        y[n] = acc

### walkers in another order | TP0301 | fixed
# write `x[j, i]`
def k(y: Out[f32, "M N"], x: In[f32, "N M"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        y[i, j] = x[i, j].T

### a transposed store | TP0301 | fixed
# write `y[j, i]`
def k(y: Out[f32, "N M"], x: In[f32, "M N"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        y[i, j] = x[i, j]

### a transposed value | TP0303 | fixed
# write `x[i, j].T`
def k(y: Out[f32, "N M"], x: In[f32, "M N"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        y[j, i] = x[i, j]

### a column stored as a row | TP0303 | fixed
# write `x[i][:, None]`
def k(y: Out[f32, "M N"], x: In[f32, "M"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        y[i, j] = x[i]

### a tile stored in a row | TP0303 | open
# `x[m, :].sum(axis=1)`, or `max`
def k(y: Out[f32, "M"], x: In[f32, "M K"], *, K: int, B: int = 16) -> None:
    for m in tp.parallel(M=B):
        y[m] = x[m, :]

### a mean without keepdims | TP0303 | fixed
# `row.mean(axis=1)[:, None]`
def k(y: Out[f32, "N K"], x: In[f32, "N K"], *, K: int, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        row = x[n, :]
        y[n, :] = row - row.mean(axis=1)

### words of torch | TP0112 | fixed
# write `axis=1`
def k(y: Out[f32, "N K"], x: In[f32, "N K"], *, K: int, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        row = x[n, :]
        y[n, :] = row - row.mean(dim=1, keepdim=True)

### a causal mask of walkers | TP0303 | open
# `i.elements[:, None]` and `j.elements[None, :]`
def k(y: Out[f32, "M N"], x: In[f32, "M N"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        y[i, j] = tp.where(i.elements >= j.elements, x[i, j], 0)

### a tile added to its sums | TP0303 | fixed
# reduce it to the axes of `acc`: `x[m, k].sum(axis=1)`
def k(y: Out[f32, "M"], x: In[f32, "M K"], *, B: int = 16) -> None:
    for m in tp.parallel(M=B):
        acc = tp.zeros((m,))
        for k in tp.tiles(K=B):
            acc += x[m, k]
        y[m] = acc

### the sum over the other axis | TP0303 | fixed
# reducing along axis 0 leaves [k:16]; along axis 1 it leaves [m:16]
def k(y: Out[f32, "M"], x: In[f32, "M K"], *, B: int = 16) -> None:
    for m in tp.parallel(M=B):
        acc = tp.zeros((m,))
        for k in tp.tiles(K=B):
            acc += x[m, k].sum(axis=0)
        y[m] = acc

### an axis is missing | TP0302 | open
# `x[n, :]` takes all of D
def k(y: Out[f32, "N D"], x: In[f32, "N D"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n, :] = x[n]

### all of an open dimension | TP0305 | fixed
# add the constant `D: int`
def k(y: Out[f32, "N D"], x: In[f32, "N D"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n, :] = x[n, :]

### a tensor as an index | TP0312 | fixed
# load them: `ids[n]`
def k(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[ids]

### a shifted tile of another dimension | TP0301 | fixed
# with positions: `n.elements + 2`
def k(y: Out[f32, "N"], x: In[f32, "W"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n.shift(2)]

### a position of another dimension | TP0301 | fixed
# name both dimensions alike if they are equal
def k(y: Out[f32, "N"], x: In[f32, "W"], *, B: int = 16) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n]

### borders by the number of the segment | TP0301 | fixed
# `n.start`
def k(y: Out[i32, "N"], x: In[i32, "N+1"], *, B: int = 16) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n + 1] - x[n]

### the greater of two | TP0112 | fixed
# `tp.maximum(acc, x[m, k].max(axis=1))`
def k(y: Out[f32, "M"], x: In[f32, "M K"], *, B: int = 16) -> None:
    for m in tp.parallel(M=B):
        acc = tp.zeros((m,))
        for k in tp.tiles(K=B):
            acc = tp.max(acc, x[m, k].max(axis=1))
        y[m] = acc

### the greater of two, as a method | TP0112 | fixed
# `tp.maximum(x[n], 0.0)`
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n].max(0.0)

### a number as a dimension | TP0307 | fixed
# write `8` for its extent
def k(y: Out[f32, "N"], x: In[f32, "N 8"], *, B: int = 16) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n, 0] * tp.dim("8")

### a number that is walked | TP0307 | open
# demand `tp.require(tp.dim("N") == 8)`
def k(y: Out[f32, "8"], x: In[f32, "8"], *, B: int = 16) -> None:
    for n in tp.parallel(("8", 4)):
        y[n] = x[n]

### positions in a number | TP0501 | open
# demand `tp.require(tp.dim("V") == 8)`
def k(y: Out[f32, "N"], x: In[f32, "8"], at: In[Index["8"], "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[at[n]]

### a dimension with a default | TP0503 | open
# write `R: int`
def k(y: Out[f32, "N"], x: In[f32, "N R"], *, R: int = 3, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n, :].sum(axis=1)

### a batched product | TP0316 | open
# give both the axis, or take one matrix
def k(c: Out[f32, "H M N"], a: In[f32, "H M K"], b: In[f32, "K N"], *, K: int, B: int = 16) -> None:
    for h, i, j in tp.parallel(H=4, M=B, N=B):
        c[h, i, j] = a[h, i, :] @ b[:, j]

### a matrix and a vector | TP0316 | open
# `(a * x[None, :]).sum(axis=1)`
def k(y: Out[f32, "N"], a: In[f32, "N K"], x: In[f32, "K"], *, K: int, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = a[n, :] @ x[:]

### a count that begins as f32 | TP0201 | fixed
# `tp.zeros` without an element type makes f32: write `tp.zeros((n,), i32)`
def k(y: Out[i32, "N"], x: In[i32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        count = tp.zeros((n,))
        for _ in range(3):
            count += (x[n] > 0).to(i32)
        y[n] = count

### a count carried as f32 | TP0206 | fixed
# write `tp.full((n,), 1, i32)`
def k(y: Out[i32, "N"], x: In[i32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        count = tp.full((n,), 1)
        for s in range(3):
            count = tp.maximum(x[n], s.to(i32))
        y[n] = count

### a store of untyped zeros | TP0203 | fixed
# write `tp.zeros((n,), i32)`
def k(y: Out[i32, "N"], x: In[i32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        count = tp.zeros((n,))
        y[n] = count

### a list that grows | TP0401 | open
# lists do not grow
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        parts = []
        for s in range(2):
            parts.append(x[n])
        y[n] = x[n]

### a constant without a star | TP0510 | fixed
# put `B` after `*`
def k(y: Out[f32, "N"], B: int = 4) -> None:
    for n in tp.parallel(N=B):
        y[n] = 0.0

### a result that is returned | TP0006 | open
# a kernel returns nothing
def k(x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        return x[n] + 1

### an assertion | TP0011 | fixed
# tp.require
def k(y: Out[f32, "N"]) -> None:
    assert tp.dim("N") % 4 == 0, "four"
    for n in tp.parallel(N=4):
        y[n] = 0.0

### a sum into an Out | TP0505 | open
# make it a Sum if several programs
def k(y: Out[f32, "1"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[0] += x[n].sum()

### a slice that counts down | TP0312 | open
# gather with `N - 1 - tp.arange(N)`
def k(y: Out[f32, "N"], x: In[f32, "N"], *, N: int) -> None:
    for _ in range(1):
        y[:] = x[::-1]

### every other element | TP0312 | open
# gather with `1 + tp.arange(n) * 2`
def k(y: Out[f32, "N"], x: In[f32, "2*N"], *, N: int) -> None:
    for _ in range(1):
        y[:] = x[1::2]

### threads | TP0101 | open
# `for n in tp.parallel(N=B):`
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[threadIdx.x]

### a fraction as an index | TP0201 | fixed
# `n.to(f32)`
def k(y: InOut[f32, "N"], x: In[f32, "N"], s: f32, *, B: int = 16) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n * s]

### Python's int | TP0111 | open
# `x.to(i32)`
def k(y: InOut[f32, "N"], x: In[f32, "N"], s: f32, *, B: int = 16) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[int(s)]

### Python's print | TP0111 | fixed
# use `tp.print`
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        print(x[n])
        y[n] = x[n]

### a function of numpy | TP0111 | open
# tiles are not sorted
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = np.sort(x[n])

### a function of the host | TP0111 | open
# `tp.full(shape, 1.0)`
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = tp.ones((n,))

### another function of the host | TP0111 | open
# call it before the launch
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = tp.asarray(x[n])

### shared memory | TP0101 | open
# a tile is a value
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        t = tp.shared((16,), f32)
        y[n] = x[n]

### neighbors past the end | TP0811 | open
# read it with `x.get(n.elements + 1, fill)`, which gives `fill`
def k(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n.elements + 1] - x[n]

### a neighbor past the end | TP0811 | open
# guard the access with `if`, or read it with `x.get((m, n + 1), fill)`
def k(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        y[m, n] = x[m, n + 1]

### offsets of a program | TP0811 | open
# write `p`, or `p.elements`
def k(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for p in tp.parallel(N=B):
        at = p.number * B + tp.arange(B)
        y[p] = x[at]

### a tile stored past the end | TP0811 | open
# store at `tp.where(inside, index, tp.none)`
def k(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n.elements + 1] = x[n]

### column sums | TP0801 | open
# declare s Sum and update it by `+=`
def k(s: InOut[f32, "N"], x: In[f32, "M N"], *, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        s[j] += x[i, j].sum(axis=0)

### a sum written out | TP0801 | open
# declare s Sum and update it by `+=`
def k(s: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        s[ids[n]] = s[ids[n]] + x[n]

### a maximum of programs | TP0801 | open
# declare s Max and write `tp.update(s, index, t)`
def k(s: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        s[ids[n]] = tp.maximum(s[ids[n]], x[n])

### a difference of programs | TP0801 | open
# declare s Sum and add the negative, `+= -t`
def k(s: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        s[ids[n]] -= x[n]

### a product of programs | TP0801 | open
# let one program own an element of s, and loop over what changes it
def k(s: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        s[ids[n]] *= x[n]

### a sum that is read | TP0801 | open
# s cannot be a Sum
def k(y: Out[f32, "N"], s: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        s[ids[n]] += x[n]
        y[n] = s[ids[n]]

### a sum that is stored | TP0801 | open
# s cannot be a Sum
def k(s: InOut[f32, "V"], x: In[f32, "N"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        s[ids[n]] = 0.0
        s[ids[n]] += x[n]

### a counter | TP0801 | open
# count cannot be a Sum
def k(y: InOut[f32, "N"], count: InOut[i32, "1"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        if x[n] > 0:
            at = count[0]
            count[0] = at + 1
            y[n] = at.to(f32)

### one entry for all programs | TP0801 | open
# index y with n, so that each program writes its own elements
def k(y: InOut[f32, "N"], x: In[f32, "N"], at: In[Index["N"], "1"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[at[0]] = x[n]

### borders of empty segments | TP0801 | open
# two borders are equal where a segment is empty: store under an `if` that compares off[e]
def k(y: InOut[f32, "N"], x: In[f32, "E"], off: In[Offsets["N"], "E+1"]) -> None:
    for e in tp.parallel(E=tp.each):
        y[off[e.start]] = x[e]

### programs that meet after a hundred | TP0801 | open
# index y with n, so that each program writes its own elements
def k(y: InOut[f32, "M"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n % 100] = x[n]

### a position that wraps | TP0802 | open
# compute the index without the cast to i32: an index is exact
def k(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        at = n.to(i32) + 1
        if at < tp.dim("N"):
            y[at] = x[n]

### a position of bits | TP0802 | open
# compute the index with `+`, `-`, `*`, `//` and `%`
def k(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[(n.to(i64) * 5 + 3) & 63] = x[n]

### half of a matrix | TP0821 | open
# write every element of y
def k(y: Out[f32, "N N"], x: In[f32, "N N"]) -> None:
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        if j <= i:
            y[i, j] = x[i, j]

### a neighbor that another program writes | TP0801 | open
# read only elements of y that the same program writes
def k(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n].cumsum()
        if n.start > 0:
            y[n] = y[n] + y[n.start - 1]

### strides | TP0302 | open
# without strides: `x[i, j]`
def k(y: Out[f32, "M N"], x: In[f32, "M N"], stride: i32, *, B: int = 16) -> None:
    for i, j in tp.parallel(M=tp.each, N=B):
        y[i, j] = x[i * stride + j.elements]

### a length that is left open | TP0311 | open
# write 16 instead of -1
def k(y: Out[f32, "N"], x: In[f32, "N 4 4"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n, :, :].reshape(-1).sum()

### an element type of numpy | TP0208 | open
# write `f32`
def k(y: Out[np.float32, "N"]) -> None:
    for n in tp.parallel(N=16):
        y[n] = 0.0

### a cast to a type of numpy | TP0208 | open
# write `f32`
def k(y: Out[f32, "N"], x: In[f16, "N"]) -> None:
    for n in tp.parallel(N=16):
        y[n] = x[n].to(np.float32)

### a product of matrices by elements | TP0303 | open
# a matrix product is `a[i, :] @ b[:, j]`
def k(c: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int, B: int = 16) -> None:
    for i, j in tp.parallel(M=B, N=B):
        c[i, j] = a[i, :] * b[:, j]

### lanes at positions that wrap | TP0803 | open
# compute the index without the cast to i32: an index is exact
def k(y: InOut[f32, "N"], x: In[f32, "N"], *, B: int = 16) -> None:
    for n in tp.parallel(N=B):
        y[n.elements.to(i32) * 2 // 2] = x[n]

### positions that begin as f32 | TP0201 | fixed
# a position begins with a plain `0`
def k(y: Out[i32, "M"], x: In[f32, "M K"], *, B: int = 16) -> None:
    for m in tp.parallel(M=B):
        top, at = tp.full((m,), -tp.inf), tp.zeros((m,))
        for k in tp.tiles(K=B):
            t = x[m, k]
            at = tp.where(t.max(axis=1) > top, k.start + t.argmax(axis=1), at)
            top = tp.maximum(top, t.max(axis=1))
        y[m] = at.to(i32)

### an index that becomes an integer | TP0206 | open
# cast what it begins with, or what it becomes: `.to(i32)`
def k(y: Out[i32, "M"], x: In[f32, "M K"], *, B: int = 16) -> None:
    for m in tp.parallel(M=B):
        at = m.start
        for k in tp.tiles(K=B):
            at = x[m, k].sum().to(i32)
        y[m] = at
'''


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel that is wrong, and what is reported first."""

    name: str
    code: str
    help: str
    is_fixed: bool
    text: str


def _case(block: str) -> Case:
    title, comment, kernel = block.split("\n", 2)
    name, code, ending = title.split(" | ")
    return Case(name, code, comment.removeprefix("# "), ending == "fixed", f"@tp.kernel\n{kernel.rstrip()}\n")


CASES = [_case(block) for block in re.split("^### ", MISTAKES, flags=re.MULTILINE)[1:]]


def edited(text: str, edit: Edit) -> str:
    """A text with an edit made; the text ends where the kernel's file ends."""
    lines, span = text.splitlines(keepends=True), edit.span
    before = len(span.source.lines) - len(lines) + 1
    start = sum(map(len, lines[: span.line - before])) + span.column - 1
    end = sum(map(len, lines[: span.end_line - before])) + span.end_column - 1
    return text[:start] + edit.replacement + text[end:]


def mistakes_of(text: str) -> list[Diagnostic]:
    """What is reported of the kernel `k` of a text."""
    return mistakes("from tileproof import Offsets, Unique\n" + text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_first_mistake_has_a_cure(case: Case) -> None:
    text, found = case.text, mistakes_of(case.text)
    assert found[0].code.id == case.code
    assert case.help in found[0].help
    for _ in range(_MOST_EDITS):
        edit = next((mistake.edit for mistake in found if mistake.edit is not None), None)
        if edit is None:
            break
        text = edited(text, edit)
        found = mistakes_of(text)
    assert (found == []) is case.is_fixed, (text, found)
