"""`matmul` and `linear`, against float64, and the gradients that are made of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.gemm import cases, linear_reference, matmul_reference
from support.library import LAYOUTS, Case, assert_close, assert_right, random
from support.tiers import examples
from tileproof.kernels import arrays
from tileproof.kernels.gemm import TUNABLES, linear, matmul

CASES = cases()
rng = np.random.default_rng(11)


def normal(*shape: int, dtype: str = "f32") -> Any:
    return random(rng, shape, dtype)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_cpu(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(4)
@pytest.mark.parametrize("case", [case for case in CASES if case.on_interpreter][::3], ids=lambda case: case.name)
def test_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_any_sizes_and_layouts(data: st.DataObject) -> None:
    m, n, k = (data.draw(st.integers(0, 70), label=name) for name in "mnk")
    left, right = (data.draw(st.sampled_from(LAYOUTS), label=name) for name in ("left", "right"))
    numbers = np.random.default_rng(data.draw(st.integers(0, 99)))
    a, b = random(numbers, (m, k), "f32", left), random(numbers, (k, n), "f32", right)
    with tp.backend("interpreter"):
        assert_close(matmul(a, b), matmul_reference(a, b))
        assert_close(linear(a, b.T), linear_reference(a, b.T))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
@pytest.mark.parametrize("tunable", TUNABLES[4:], ids=lambda tunable: tunable.name)
def test_every_choice_gives_the_same(tunable: Any, target: str) -> None:
    is_linear, dtype = "linear" in tunable.name, "i8" if "int8" in tunable.name else "f32"
    tried: Counter[object] = Counter()
    for m, n, k in ((20, 70, 2100), (150, 70, 2100), (130, 480, 200)):  # 480: tiles of 48, 80, 96, 160 divide it
        sizes = {"M": m, "N": n, "K": k}
        a, b = normal(m, k, dtype=dtype), normal(*((n, k) if is_linear else (k, n)), dtype=dtype)
        expected = (linear_reference if is_linear else matmul_reference)(a, b)
        space = list(tunable.space(sizes, target))
        assert len({each.label for each in space}) == len(space) > 0
        found = {(each.kernel.name, *each.constants.items()): each for each in (*space, tunable.default(sizes, target))}
        for each in (choice for key, choice in found.items() if tried[key] < 2):
            tried[each.kernel.name, *each.constants.items()] += 1
            c = np.zeros(expected.shape, np.int32 if dtype == "i8" else np.float32)
            with tp.backend("interpreter"):
                each(c, a, b)
            assert_close(c, expected)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("m", "k"), [(1, 63), (2, 1), (3, 576), (8, 64), (17, 577), (32, 130), (33, 577), (130, 576)])
def test_results_may_be_wider_than_what_they_are_made_of(m: int, k: int) -> None:
    """Few rows and many, to f32 from bf16: nothing is rounded on the way."""
    x, w = normal(m, k, dtype="bf16"), normal(51, k, dtype="bf16")
    y = np.full((m, 51), np.nan, np.float32)
    assert linear(x, w, out=y) is y
    assert_close(y, linear_reference(x, w), 1e-5)
    assert_close(linear(x, w), linear_reference(x, w))


def test_a_gpu_gives_wider_results_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    x, w, y = normal(9, 40, dtype="bf16"), normal(51, 40, dtype="bf16"), np.zeros((9, 51), np.float32)
    with tp.backend("interpreter"):
        linear(x, w, out=y)
    assert_close(y, linear_reference(x, w), 1e-5)


def test_bytes_are_multiplied_exactly() -> None:
    a, b = np.full((3, 700), -128, np.int8), np.full((700, 5), -128, np.int8)
    c = matmul(a, b)
    assert c.dtype == np.int32
    assert (c == 700 * 128**2).all()


# NaN and infinity.


def test_nan_and_infinity_spread_along_their_rows_and_columns() -> None:
    a, b = normal(9, 20), normal(20, 7)
    a[1, 3], a[2, 4], b[7, 5] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        assert_close(matmul(a, b), matmul_reference(a, b))
        assert_close(linear(a, b.T), linear_reference(a, b.T))
    c = matmul(a, b)
    assert np.isnan(c[1]).all()
    assert np.isfinite(np.delete(c[3:], 5, axis=1)).all()


def test_zero_times_infinity_is_nan() -> None:
    assert np.isnan(matmul(np.zeros((2, 3), np.float32), np.full((3, 2), np.inf, np.float32))).all()


def test_what_lies_around_a_matrix_does_not_enter() -> None:
    around = np.full((30, 30), np.nan, np.float32)
    around[2:21, 3:20] = normal(19, 17)
    a = around[2:21, 3:20]
    assert_close(matmul(a, a.T), matmul_reference(a, a.T))
    assert_close(linear(a, a), linear_reference(a, a))


def test_what_overflows_f16_is_infinite() -> None:
    """Sums that are beyond it on the way are not: they are added up in f32."""
    a = np.full((2, 64), 64, np.float16)
    assert np.isposinf(matmul(a, a.T)).all()
    a[:, 32:] = -64
    assert (matmul(a, np.full((64, 3), 64, np.float16)) == 0).all()


# Arrays of any library.


def test_out_is_written_and_returned() -> None:
    a, b = normal(4, 6), normal(6, 8)
    out = np.zeros((4, 16), np.float32)
    assert matmul(a, b, out=out[:, ::2]).base is out
    assert_close(out[:, ::2], matmul_reference(a, b))
    assert (out[:, 1::2] == 0).all()
    given = np.zeros((2, 2, 8), np.float32)
    assert linear(a.reshape(2, 2, 6), b.T, given) is given
    assert_close(given, linear_reference(a.reshape(2, 2, 6), b.T))
    turned = np.zeros((8, 4), np.float32).T
    assert matmul(a, b, turned) is turned
    assert_close(turned, matmul_reference(a, b))


def test_tensors_of_our_own() -> None:
    a, b = normal(2, 4, 6), normal(6, 8)
    ta, tb = tp.from_numpy(a), tp.from_numpy(b)
    c = matmul(ta[0], tb)
    assert isinstance(c, tp.Tensor)
    assert_close(c.numpy(), matmul_reference(a[0], b))
    assert_close(matmul(tb.T, ta[1].T).numpy(), matmul_reference(b.T, a[1].T))
    assert_close(linear(ta, tb.T).numpy(), linear_reference(a, b.T))


@pytest.mark.slow
def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x, w = torch.randn(2, 4, 6).bfloat16(), torch.randn(8, 6).bfloat16()
    y = linear(x, w)
    assert (y.dtype, tuple(y.shape)) == (torch.bfloat16, (2, 4, 8))
    torch.testing.assert_close(y.double(), x.double() @ w.double().T, rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(matmul(x[0], w.T).double(), x[0].double() @ w.double().T, rtol=1e-2, atol=1e-2)


def test_the_same_call_gives_the_same_bits() -> None:
    a, b = normal(100, 1030, dtype="bf16"), normal(1030, 96, dtype="bf16")
    assert matmul(a, b).tobytes() == matmul(a, b).tobytes()
    assert linear(a, b.T).tobytes() == linear(a, b.T).tobytes()


def test_a_graph_holds_them() -> None:
    a, b, c, y = (tp.from_numpy(normal(*shape)) for shape in ((4, 6), (6, 8), (4, 8), (4, 8)))
    with tp.Graph() as graph:
        matmul(a, b, out=c)
        linear(a, b.T, out=y)
    graph.replay()
    assert_close(c.numpy(), matmul_reference(a.numpy(), b.numpy()))
    assert_close(y.numpy(), matmul_reference(a.numpy(), b.numpy()))


# Gradients.


def test_gradients_of_a_linear_layer_are_products() -> None:
    """By finite differences, which are exact for what is linear: of sum(linear(x, w) * dy)."""
    x, w, dy = normal(9, 21, dtype="f64"), normal(13, 21, dtype="f64"), normal(9, 13, dtype="f64")
    dx, dw = matmul(dy, w), matmul(dy.T, x)
    for array, gradient, place in ((x, dx, (3, 20)), (x, dx, (8, 0)), (w, dw, (12, 5)), (w, dw, (0, 20))):
        values = []
        for step in (0.5, -0.5):
            kept = array[place]
            array[place] = kept + step
            values.append((linear(x, w) * dy).sum())
            array[place] = kept
        assert values[0] - values[1] == pytest.approx(gradient[place], rel=1e-9)


@pytest.mark.slow
def test_gradients_agree_with_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x, w = torch.randn(33, 50, dtype=torch.float64), torch.randn(17, 50, dtype=torch.float64)
    dy = torch.randn(33, 17, dtype=torch.float64)
    x.requires_grad_()
    w.requires_grad_()
    torch.nn.functional.linear(x, w).backward(dy)
    with torch.no_grad():
        torch.testing.assert_close(matmul(dy, w.detach()), x.grad)
        torch.testing.assert_close(matmul(dy.T, x.detach()), w.grad)
        a, b = x.detach(), w.detach().T
        torch.testing.assert_close(matmul(dy, b.T), x.grad)
        torch.testing.assert_close(matmul(a.T, dy), w.grad.T)


# Mistakes.


def refusal(call: Any) -> tuple[str, str]:
    """The code and the words of a refused call."""
    with pytest.raises(tp.LaunchError) as caught:
        call()
    return caught.value.diagnostics[0].code.id, str(caught.value)


def test_mistakes_name_their_cure() -> None:
    a, b = normal(4, 6), normal(6, 8)
    assert refusal(lambda: matmul(a, b[:5]))[0] == "TP0604"
    assert refusal(lambda: linear(a, b))[0] == "TP0604"
    code, said = refusal(lambda: matmul(a, b, out=np.empty((4, 9), np.float32)))
    assert (code, "(4, 8)" in said) == ("TP0604", True)
    assert refusal(lambda: matmul(a, b.astype(np.float64)))[0] == "TP0603"
    assert refusal(lambda: matmul(a, b, out=np.empty((4, 8), np.float64)))[0] == "TP0603"
    assert refusal(lambda: matmul(a[None], b))[0] == "TP0602"
    square = normal(6, 6)
    assert refusal(lambda: matmul(square, square, out=square))[0] == "TP0610"
    with pytest.raises(tp.KernelError, match="no matrix product of i32"):
        matmul(a.astype(np.int32), b.astype(np.int32))
