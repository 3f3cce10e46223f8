"""Optional parameters: which form a launch takes, what forms are checked, and what is said of a use without a test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from corpus import safe_forms
from tileproof import In, InOut, Out, T, U, f32
from tileproof.cli.main import main
from tileproof.frontend.optional import forms, label


@tp.kernel
def linear(
    y: Out[T, "M N"], x: In[T, "M K"], w: In[T, "N K"], bias: In[T, "N"] | None, by: f32 | None, *, B: int = 8
) -> None:
    for i, j in tp.parallel(M=B, N=B):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=B):
            acc = tp.mma(x[i, k], w[j, k].T, acc)
        if by is not None:
            acc *= by
        y[i, j] = acc if bias is None else acc + bias[j].to(f32)


@tp.kernel
def together(y: Out[f32, "N"], x: In[f32, "N"], low: f32 | None, high: f32 | None) -> None:
    tp.require((low is None) == (high is None))
    for n in tp.parallel(N=8):
        t = x[n]
        if low is not None:
            t = tp.clip(t, low, high)
        y[n] = t


@tp.kernel
def counted(y: Out[f32, "N"], at: InOut[f32, "R D"] | None, x: In[f32, "N"], *, D: int) -> None:
    for n in tp.parallel(N=8):
        y[n] = x[n] * D


@tp.kernel
def typed(y: Out[f32, "N"], x: In[f32, "N"], w: In[U, "N"] | None) -> None:
    for n in tp.parallel(N=8):
        y[n] = x[n].to(U).to(f32)


@tp.kernel
def many(
    y: Out[f32, "N"], a: f32 | None, b: f32 | None, c: f32 | None, d: f32 | None, e: f32 | None, f: f32 | None
) -> None:
    for n in tp.parallel(N=8):
        y[n] = 0.0


def operands() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return tuple(rng.standard_normal(shape).astype(np.float32) for shape in ((5, 3), (5, 9), (3, 9), (3,)))


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
@pytest.mark.parametrize("turns", [1, 3])
def test_each_form_computes_its_own(backend: str, turns: int) -> None:
    y, x, w, bias = operands()
    with tp.backend(backend):
        for _ in range(turns):
            for given, by in ((bias, 2.0), (None, 2.0), (bias, None), (None, None)):
                linear(y, x, w, given, by)
                expected = x @ w.T * (1 if by is None else by) + (0 if given is None else given)
                np.testing.assert_allclose(y, expected, atol=1e-5)


def test_none_may_be_passed_by_name_and_recorded() -> None:
    y, x, w, bias = operands()
    linear(y, x, w, bias=None, by=None)
    np.testing.assert_allclose(y, x @ w.T, atol=1e-5)
    linear.op(y, x, w, bias, None).run()
    np.testing.assert_allclose(y, x @ w.T + bias, atol=1e-5)
    ours = [tp.asarray(each.copy()) for each in (y, x, w)]
    with tp.Graph() as graph:
        linear(*ours, None, 3.0)
    graph.replay()
    np.testing.assert_allclose(ours[0].numpy(), 3 * x @ w.T, atol=1e-4)


def test_a_form_is_a_kernel_made_once_that_takes_the_rest() -> None:
    y, x, w, _ = operands()
    form = linear.without("by", "bias")
    assert form is linear.without("bias", "by") is linear.without("bias").without("by")
    assert form.without("bias") is form
    form(y, x, w)
    np.testing.assert_allclose(y, x @ w.T, atol=1e-5)
    assert label(form) == "linear (bias=None, by=None)"
    assert form.with_schedule(tp.Schedule(group=2)).absent == {"bias", "by"}


def test_every_form_is_there() -> None:
    assert [label(each) for each in forms(linear)] == [
        "linear", "linear (bias=None)", "linear (by=None)", "linear (bias=None, by=None)",
    ]  # fmt: skip


def test_safe_kernels_are_safe_in_every_form() -> None:
    for case in safe_forms.CASES:
        assert tp.check(case.kernel) == []


def test_a_contract_rules_forms_out() -> None:
    y, x = np.empty(4, np.float32), np.arange(4, dtype=np.float32)
    together(y, x, 1.0, 2.0)
    assert y.tolist() == [1, 1, 2, 2]
    together(y, x, None, None)
    assert y.tolist() == [0, 1, 2, 3]
    with pytest.raises(tp.KernelError, match="TP0605") as told:
        together(y, x, None, 2.0)
    assert len(told.value.diagnostics) == 1
    assert tp.check(together) == []


def test_a_mistake_of_all_forms_is_told_once() -> None:
    mistakes = tp.check(counted)
    assert [(each.code.id, each.notes) for each in mistakes] == [("TP0511", ())]
    assert "the dimension `D` is that of `at` alone" in mistakes[0].message
    assert [each.code.id for each in tp.check(typed)] == ["TP0511"]


def test_what_is_not_optional_is_not_left_out() -> None:
    y, x, w, bias = operands()
    with pytest.raises(tp.LaunchError, match="TP0606"):
        linear(y, None, w, bias, 1.0)
    with pytest.raises(tp.KernelError, match="has no optional parameter `x`"):
        linear.without("x")(y, w, bias, 1.0)
    with pytest.raises(tp.LaunchError, match="TP0601"):
        linear(y, x, w, None)


def test_there_are_five_at_most() -> None:
    assert [each.code.id for each in tp.check(many)] == ["TP0510"]


def test_the_command_judges_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", __file__]) == 1
    printed = capsys.readouterr().out
    assert "linear (bias=None, by=None): proved" in printed
    assert "together (low=None, high=None): proved" in printed
    assert "together (low=None):" not in printed
