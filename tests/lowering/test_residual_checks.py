"""Checks that stay: where they are put, what a failed one does, and what it says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Out, Sum, f32, i32, i64
from tileproof.analysis.verdict import Rung
from tileproof.backends.interpreter.machine import Machine
from tileproof.compiler.compile import verdict
from tileproof.compiler.pipeline import with_checks
from tileproof.frontend.signature import parse
from tileproof.ir import ops
from tileproof.ir.printer import print_kernel
from tileproof.ir.types import Access
from tileproof.ir.verifier import verify
from tileproof.ir.walk import walk
from tileproof.runtime.launch.backend_choice import ON_HOST


def floats(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def ints(*values: int, dtype: Any = np.int32) -> Any:
    return np.array(values, dtype)


@tp.kernel
def append(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for c in tp.tiles(N=2):
            total += new[c].sum()
        cache[pos[0] + n] = new[n] + total * 0


@tp.kernel
def walk_table(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N K"]) -> None:
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for k in tp.tiles(K=tp.each):
            if at[n, k] >= -5:
                total += x[at[n, k]]
        y[n] = total


@tp.kernel
def follow(y: Out[f32, "N"], x: In[f32, "V"], table: In[Index["V"], "V"], at: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[table[at[n]]]


@tp.kernel
def joined(y: Out[f32, "1"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    for z in tp.parallel(N=tp.split(2)):
        total = 0.0
        for n in z.tiles(tp.each):
            total += x[at[n]]
        y[0] = tp.join(total, over=z)


@tp.kernel
def counted(y: Sum[f32, "V"], at: In[i64, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[at[n]] += 1.0


@tp.kernel
def moved(y: InOut[f32, "N"], x: In[f32, "N"], by: In[i32, "1"]) -> None:
    for i in tp.parallel(N=4):
        s = i.shift(by[0])
        y[i] = x[s].sum()


@tp.kernel
def begun(y: Out[f32, "R"], x: In[f32, "N"], start: In[i32, "R"]) -> None:
    for r in tp.parallel(R=tp.each):
        total = 0.0
        for n in tp.tiles(N=2, start=start[r]):
            total += x[n].sum()
        y[r] = total


@tp.kernel
def cut(cache: InOut[f32, "C"], y: Out[f32, "N"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    past, fresh = tp.split_at(cache, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for c in tp.tiles(C=2, stop=pos[0]):
            total += past[c].sum()
        fresh[n] = new[n]
        y[n] = total


@tp.kernel
def searched(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        k, total = at[n] + 0, 0.0
        while k < 4:
            total += x[k]
            k = k + 2
        y[n] = total


@tp.kernel
def tokens(t: Out[Index["V"], "N"], x: In[i32, "N"], table: In[f32, "V"]) -> None:
    for n in tp.parallel(N=3):
        t[n] = x[n]


def blank(*shape: int) -> Any:
    return np.full(shape, 7, np.float32)


# A kernel, arguments that pass, arguments that fail, the line at fault, what its report says.
CASES: list[tuple[tp.Kernel, list[Any], list[Any], str, str]] = [
    (append, [blank(5), floats(3), ints(2)], [blank(5), floats(3), ints(3)], "cache[pos[0] + n]",
     "program n=2: the index of axis 0 of cache is 5, and 0:5 is allowed"),
    (append, [blank(5), floats(3), ints(0)], [blank(5), floats(3), ints(-1)], "cache[pos[0] + n]",
     "program n=0: the index of axis 0 of cache is -1, and 0:5 is allowed"),
    (walk_table, [blank(2), floats(3), ints(0, 2, 1, -9).reshape(2, 2)],
     [blank(2), floats(3), ints(0, 2, 1, 3).reshape(2, 2)], "x[at[n, k]]", "axis 0 of x is 3, and 0:3 is allowed"),
    (follow, [blank(2), floats(3), ints(2, 0, 1), ints(0, 2)], [blank(2), floats(3), ints(2, 0, 1), ints(0, 3)],
     "table[at[n]]", "program n=1: the index of axis 0 of table is 3, and 0:3 is allowed"),
    (joined, [blank(1), floats(3), ints(0, 1, 2)], [blank(1), floats(3), ints(0, 1, 3)], "x[at[n]]", "is 3, and 0:3"),
    (counted, [blank(3), ints(0, 2, 2, dtype=np.int64)], [blank(3), ints(0, 2, 1 << 40, dtype=np.int64)], "y[at[n]]",
     f"is {1 << 40}, and 0:3 is allowed"),
    (counted, [blank(3), ints(0, 1, dtype=np.int64)], [blank(3), ints(0, -(1 << 63), dtype=np.int64)], "at[n]",
     "a number that becomes an index is -9223372036854775808"),
    (moved, [blank(8), floats(8), ints(2)], [blank(8), floats(8), ints(-1)], "i.shift(by[0])",
     "program i=0:4: the start of s is -1, and 0:9 is allowed"),
    (begun, [blank(2), floats(5), ints(0, 3)], [blank(2), floats(5), ints(0, -2)], "start[r]", "the start of n is -2"),
    (cut, [floats(6), blank(2), floats(2), ints(3)], [floats(6), blank(2), floats(2), ints(7)], 'pos[0])',
     "cut: the place where cache is split is 7, and 0:7 is allowed"),
    (cut, [floats(6), blank(2), floats(2), ints(4)], [floats(6), blank(2), floats(2), ints(5)], "fresh[n]",
     "program n=1: the index of axis 0 of fresh is 1, and 0:1 is allowed"),
    (searched, [blank(2), floats(4), ints(0, 3)], [blank(2), floats(4), ints(0, -2)], "x[k]", "axis 0 of x is -2"),
    (tokens, [ints(9, 9), ints(-1, 2), floats(3)], [ints(9, 9), ints(0, 3), floats(3)], "t[n]",
     "what is stored into t is 3, and -1:3 is allowed"),
]  # fmt: skip
NAMES = [f"{kernel.name}_{number}" for number, (kernel, *_) in enumerate(CASES)]


@pytest.mark.sweep(10)
@pytest.mark.parametrize("backend", ON_HOST)
@pytest.mark.parametrize(("kernel", "good", "bad", "line", "message"), CASES, ids=NAMES)
def test_a_failed_check_names_the_kernel_the_line_the_index_and_the_bound(
    kernel: tp.Kernel, good: list[Any], bad: list[Any], line: str, message: str, backend: str
) -> None:
    args = [one.copy() for one in bad]
    with tp.backend(backend), pytest.raises(tp.OutOfBounds) as caught:
        kernel(*args)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.kernel) == ("TP0702", kernel.name)
    assert message in diagnostic.message
    assert diagnostic.span is not None
    assert line in diagnostic.span.source.lines[diagnostic.span.line - 1]
    for one, other, parameter in zip(args, bad, parse(kernel).signature.tensors, strict=True):
        if backend == "interpreter" or parameter.access is Access.IN:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", ON_HOST)
@pytest.mark.parametrize(("kernel", "good", "bad", "line", "message"), CASES, ids=NAMES)
def test_where_no_check_fails_the_result_is_the_watched_interpreters(
    kernel: tp.Kernel, good: list[Any], bad: list[Any], line: str, message: str, backend: str
) -> None:
    plain, watched = ([one.copy() for one in good] for _ in range(2))
    with tp.backend(backend):
        kernel(*plain)
    tp.interpret(kernel, *watched)
    for one, other in zip(plain, watched, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernel", dict.fromkeys(kernel for kernel, *_ in CASES), ids=lambda kernel: kernel.name)
def test_stores_behind_a_check_are_guarded_and_no_load_can_leave(kernel: tp.Kernel) -> None:
    judged = verdict(kernel)
    assert judged.residuals
    result = with_checks(judged)
    verify(result)
    seen_check = False
    for op in walk(result.body):
        if isinstance(op, ops.Check):
            seen_check = True
        if isinstance(op, ops.Store | ops.Update):
            assert op.guard is not None
        # No check ever emits a branch around the work: the same loops and branches are there as before.
    assert seen_check
    kinds = (ops.If, ops.TilesLoop, ops.RangeLoop, ops.While, ops.Parallel)
    assert judged.kernel is not None
    bodies = judged.kernel.body, result.body
    before, after = ([type(op) for op in walk(body) if isinstance(op, kinds)] for body in bodies)
    assert before == after


def test_a_pre_check_stands_before_every_loop() -> None:
    judged = verdict(append)
    assert [residual.rung for residual in judged.residuals] == [Rung.PRECHECK]
    (space,) = (op for op in with_checks(judged).body.ops if isinstance(op, ops.Parallel))
    kinds = [type(op) for op in space.body.ops]
    assert kinds.index(ops.Check) < kinds.index(ops.TilesLoop)


def test_a_kernel_without_checks_is_left_as_it_is() -> None:
    @tp.kernel
    def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4) -> None:
        for i in tp.parallel(N=B):
            y[i] = x[i] * 2

    judged = verdict(double)
    assert with_checks(judged) is judged.kernel


def test_on_the_cpu_a_program_that_failed_stores_nothing_more_and_others_go_on() -> None:
    cache = blank(5)
    with tp.backend("cpu"), pytest.raises(tp.OutOfBounds, match="program n=2"):
        append(cache, floats(3), ints(3))
    assert cache.tolist() == [7, 7, 7, 1, 2]


def test_on_the_interpreter_too_as_its_working_copies_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed launch never gives them back."""
    kept: list[Machine] = []
    original = Machine.__init__

    def remember(self: Machine, *args: Any, **named: Any) -> None:
        original(self, *args, **named)
        kept.append(self)

    monkeypatch.setattr(Machine, "__init__", remember)
    with tp.backend("interpreter"), pytest.raises(tp.OutOfBounds, match="program n=2"):
        append(blank(5), floats(3), ints(3))
    (machine,) = kept
    (cache,) = (array for tensor, array in machine.tensors.items() if tensor.name == "cache")
    assert cache.tolist() == [7, 7, 7, 1, 2]
    assert sorted(machine.failures) == [2]


def test_the_text_of_checked_ir_can_be_read() -> None:
    text = print_kernel(with_checks(verdict(append)))
    (checked,) = (line for line in text.splitlines() if " = check " in line)
    assert re.fullmatch(r' +ok\.\d+ = check %\d+ in 0:%c\d+, "the index of axis 0 of cache" : bool', checked)
    (stored,) = (line for line in text.splitlines() if "store cache" in line)
    assert re.search(r" if ok\.\d+$", stored)
