"""Leading axes, `"M... N"`: every number of them is a form of its own, taken from the arguments."""

from __future__ import annotations

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, InOut, Out, T, f32
from tileproof.compiler.proofs import _known_before
from tileproof.frontend.optional import forms, label
from tileproof.frontend.signature import parse
from tileproof.frontend.specialization import Specialization
from tileproof.language.dtypes import F32


@tp.kernel
def add(z: Out[T, "M... N"], x: In[T, "M... N"], y: In[T, "M... N"] | None, *, BM: int = 2, BN: int = 4) -> None:
    for m, n in tp.parallel(M=BM, N=BN):
        z[m, n] = x[m, n] if y is None else x[m, n] + y[m, n]


@tp.kernel
def total(y: Out[f32, "M..."], x: In[f32, "M... D"], *, D: int) -> None:
    for m in tp.parallel(M=tp.each):
        y[m] = x[m, :].sum()


@tp.kernel
def counted(y: Out[f32, "M... N"], x: In[f32, "M... N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=4):
        y[m, n] = x[m, n] + m


@tp.kernel
def of_one_axis(y: Out[f32, "M"], x: In[f32, "M... N"]) -> None:
    for m in tp.parallel(M=tp.each):
        y[m] = 0.0


@tp.kernel
def two_names(y: Out[f32, "M... N"], x: In[f32, "L... N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=4):
        y[m, n] = x[m, n]


@tp.kernel
def never_there(y: Out[f32, "N"], x: In[f32, "M... N"] | None) -> None:
    for n in tp.parallel(N=4):
        y[n] = 0.0


@tp.kernel
def plain(y: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] += 1.0


SHAPES = [(7,), (3, 7), (2, 3, 7), (2, 0, 7), (2, 1, 3, 7)]


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_launches_of_every_rank(backend: str) -> None:
    rng = np.random.default_rng(0)
    with tp.backend(backend):
        for shape in [*SHAPES, *SHAPES]:
            x, y = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
            z, sums = np.empty_like(x), np.empty(shape[:-1], np.float32)
            add(z, x, y)
            assert (z == x + y).all()
            add(z.swapaxes(0, -1), x.swapaxes(0, -1), None)
            assert (z == x).all()
            total(sums, x)
            np.testing.assert_allclose(sums, x.sum(axis=-1), rtol=1e-5)


def test_graphs_and_forms_hold_them() -> None:
    x, z = tp.full((2, 3), 2.0), tp.empty((2, 3))
    with tp.Graph() as graph:
        add(z, x, x)
    graph.replay()
    assert (z.numpy() == 4).all()
    vectors = add.without("y").with_leading(0)
    assert vectors is add.with_leading(0).without("y")
    y = np.empty(5, np.float32)
    vectors(y, np.ones(5, np.float32))
    assert (y == 1).all()
    assert label(vectors) == "add (y=None, M... of 0 axes)"


def test_proofs_of_forms_are_kept_apart() -> None:
    known = Specialization((("T", F32),), (("BM", 2), ("BN", 4)))
    keys = {_known_before(form, known) for form in forms(add)}
    assert None not in keys
    assert len(keys) == 6


def test_every_number_of_axes_is_checked() -> None:
    assert tp.check(add) == tp.check(total) == []
    assert {each.code.id for each in tp.check(of_one_axis)} == {"TP0302"}


def test_ranks_and_extents_agree() -> None:
    z = np.empty((2, 3), np.float32)
    with pytest.raises(tp.LaunchError, match="TP0602"):
        add(z, np.ones(3, np.float32), None)
    with pytest.raises(tp.LaunchError, match="TP0604"):
        add(np.empty((2, 4, 3), np.float32), np.ones((3, 4, 3), np.float32), None)


def test_what_they_cannot_do() -> None:
    assert [each.code.id for each in tp.check(counted)] == ["TP0202"]
    assert [each.code.id for each in tp.check(two_names)] == ["TP0502"]
    assert [each.code.id for each in tp.check(never_there)] == ["TP0502"]
    with pytest.raises(tp.KernelError, match="has no leading axes"):
        plain.with_leading(2)(np.ones(3, np.float32))
    with pytest.raises(ValueError, match="0 leading axes or more, not -1"):
        add.with_leading(-1)
    assert parse(total.with_leading(2)).signature.dimensions == ("M...1", "M", "D")
