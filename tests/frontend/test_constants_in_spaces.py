"""Constants in spaces and loops: axes that no tensor has, loops that are written out, a split of one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.cli_samples import HEAD
from support.source_files import load_text
from tileproof import In, Out, Sum, f32
from tileproof.compiler.pipeline import compile_for
from tileproof.frontend.signature import parse
from tileproof.frontend.specialization import Specialization
from tileproof.ir.printer import print_kernel


@tp.kernel
def strided(total: Sum[f32, "1"], x: In[f32, "N"], *, P: int = 4) -> None:
    for p in tp.parallel(P=tp.each):
        part = 0.0
        for q in range(tp.cdiv(tp.dim("N") - p, P)):
            part += x[q * P + p]
        total[0] += part


@tp.kernel
def folded(y: Out[f32, "N 2"], x: In[f32, "N 8"], *, G: int = 4) -> None:
    for n in tp.parallel(N=4):
        row, parts = x[n, :], (x[n, 0:2], x[n, 2:4])
        total = parts[0] + parts[1]
        for g in tp.static_range(2, G):
            total += row[:, 2 * g : 2 * g + 2]
        y[n, :] = total


@tp.kernel
def split(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 0) -> None:
    for m, z in tp.parallel(M=2, N=tp.split(SN)):
        total = tp.zeros((m,), f32)
        for n in z.tiles(4):
            total += x[m, n].sum(axis=1)
        y[m] = tp.join(total, over=z)


@tp.kernel
def unsplit(y: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    for m in tp.parallel(M=2):
        total = tp.zeros((m,), f32)
        for n in tp.tiles(N=4):
            total += x[m, n].sum(axis=1)
        y[m] = total


@tp.kernel
def places(y: Out[f32, "M 3"], x: In[f32, "M N"], *, SN: int = 0) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        first, last, number = tp.join((z.start + 0, z.stop + 0, z.number + 0), over=z, by=larger)
        y[m, 0], y[m, 1], y[m, 2] = first.to(f32), last.to(f32), number.to(f32)


def larger(one: Any, two: Any) -> Any:
    return tp.maximum(one[0], two[0]), tp.maximum(one[1], two[1]), tp.maximum(one[2], two[2])


@tp.kernel
def picked(y: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(0)):
        y[m] = tp.join(x[m, z].sum(), over=z)


@tp.kernel
def summed(y: Out[f32, "1"], x: In[f32, "N"]) -> None:
    for z in tp.parallel(N=tp.split(0)):
        total = 0.0
        for n in z.tiles(4):
            total += x[n].sum()
        y[0] = tp.join(total, over=z)


@tp.kernel
def open_ended(y: Out[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        t = tp.zeros((n,))
        for _ in tp.static_range(tp.dim("N")):
            t += 1.0
        y[n] = t


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_a_constant_counts_programs(backend: str) -> None:
    x, total = np.arange(11, dtype=np.float32), np.zeros(1, np.float32)
    with tp.backend(backend):
        for count, expected in ((4, 55), (1, 55), (20, 55), (0, 0)):
            strided(total, x, P=count)
            assert total[0] == expected
        strided(total, x)
        assert total[0] == 55
    with pytest.raises(tp.LaunchError, match="TP0608"):
        strided(total, x, P=-1)


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_a_loop_is_written_out(backend: str) -> None:
    x, y = np.arange(40, dtype=np.float32).reshape(5, 8), np.empty((5, 2), np.float32)
    with tp.backend(backend):
        folded(y, x)
        np.testing.assert_array_equal(y, x.reshape(5, 4, 2).sum(axis=1))
        folded(y, x, G=2)
        np.testing.assert_array_equal(y, x.reshape(5, 4, 2)[:, :2].sum(axis=1))


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
@pytest.mark.parametrize("shape", [(5, 11), (5, 0), (0, 3)])
def test_a_split_of_one_piece_computes_the_same(backend: str, shape: tuple[int, int]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    with tp.backend(backend):
        for size in (0, 4):
            y = np.full(shape[0], 7, np.float32)
            split(y, x, SN=size)
            np.testing.assert_array_equal(y, x.sum(axis=1))
            found = np.full((shape[0], 3), 7, np.float32)
            places(found, x, SN=size)
            last = max(shape[1] - 1, 0) // 4 if size else 0
            assert (found == (4 * last, shape[1], last)).all()


def test_a_space_that_is_one_piece_is_one_program() -> None:
    y = np.zeros(1, np.float32)
    summed(y, np.arange(9, dtype=np.float32))
    assert y[0] == 36


def test_a_split_of_one_piece_is_the_code_without_it() -> None:
    def body(kernel: tp.Kernel, **constants: int) -> str:
        return print_kernel(compile_for(kernel, Specialization((), tuple(constants.items()))).ir).partition("\n")[2]

    assert body(split, SN=0) == body(unsplit)
    assert "join" in body(split, SN=8)


@pytest.mark.parametrize(
    ("kernel", "code"),
    [(picked, "TP0312"), (open_ended, "TP0402")],
    ids=lambda case: getattr(case, "name", case),
)
def test_what_constants_cannot_do(kernel: tp.Kernel, code: str) -> None:
    assert [each.code.id for each in tp.check(kernel)] == [code]


IDLE = """
    for n in tp.parallel(N=4):
        for _ in tp.static_range(60_000):
            pass
        y[n] = tp.zeros((n,))
"""
BUSY = """
    for n in tp.parallel(N=4):
        t = tp.zeros((n,))
        for _ in tp.static_range(300):
            for _ in tp.static_range(300):
                t += 1.0
        y[n] = t
"""
CALLS = "\n    for n in tp.parallel(N=4):\n        h16(1)\n        y[n] = tp.zeros((n,))\n"
HELPERS = "def h0(a):\n    pass\n" + "".join(f"def h{n + 1}(a):\n    h{n}(a)\n    h{n}(a)\n" for n in range(16))


@pytest.mark.parametrize("body", [IDLE, BUSY, CALLS], ids=["idle", "busy", "calls"])
def test_what_is_written_out_comes_to_an_end(body: str) -> None:
    text = f'{HEAD}\n{HELPERS}\n@tp.kernel\ndef k(y: Out[f32, "N"]) -> None:{body}'
    assert [each.code.id for each in tp.check(load_text(text).k)] == ["TP0120"]


def test_an_axis_of_a_constant_is_proved_for_every_number() -> None:
    assert parse(strided).signature.axes == ("P",)
    assert tp.check(strided) == []
