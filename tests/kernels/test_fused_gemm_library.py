"""`batched_matmul`, `fused_linear`, `silu_linear` and `grouped_matmul`, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.fused_gemm import (
    ACTIVATIONS,
    batched_reference,
    cases,
    fused_reference,
    grouped_reference,
    silu_reference,
)
from support.library import LAYOUTS, Case, assert_close, assert_right, random
from support.tiers import examples
from tileproof.kernels import gemm
from tileproof.kernels.gemm import batched_matmul, fused_linear, grouped_matmul, silu_linear

CASES = cases()
rng = np.random.default_rng(7)


def normal(*shape: int, dtype: str = "f32") -> Any:
    return random(rng, shape, dtype)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_cpu(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", [case for case in CASES if case.on_interpreter][::3], ids=lambda case: case.name)
def test_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("form", ["", "bias", "residual", "bias residual"])
def test_every_form_of_a_fused_linear(form: str, activation: str | None) -> None:
    x, w = normal(9, 21), normal(13, 21)
    given = {"bias": normal(13), "residual": normal(9, 13)}
    named: Any = {name: given[name] for name in form.split()} | {"activation": activation}
    with tp.backend("interpreter"):
        assert_close(fused_linear(x, w, **named), fused_reference(x, w, **named))


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_any_sizes_and_layouts(data: st.DataObject) -> None:
    b, m, n, k = (data.draw(st.integers(0, 40), label=name) for name in "bmnk")
    left, right = (data.draw(st.sampled_from(LAYOUTS), label=name) for name in ("left", "right"))
    numbers = np.random.default_rng(data.draw(st.integers(0, 99)))
    x, w = random(numbers, (m, k), "f32", left), random(numbers, (n, k), "f32", right)
    offsets = np.array([0, *sorted(data.draw(st.lists(st.integers(0, m), max_size=4))), m], np.int32)
    stack, experts = (
        random(numbers, (b % 4, k, n), "f32", right),
        random(numbers, (len(offsets) - 1, n, k), "f32", right),
    )
    many = random(numbers, (b % 4, m, k), "f32", left)
    with tp.backend("interpreter"):
        assert_close(batched_matmul(many, stack), batched_reference(many, stack))
        assert_close(fused_linear(x, w, None, "silu"), fused_reference(x, w, None, "silu"))
        assert_close(silu_linear(x, experts[:1].repeat(2, 0)), silu_reference(x, experts[:1].repeat(2, 0)))
        assert_close(grouped_matmul(x, experts, offsets), grouped_reference(x, experts, offsets))


SIZES: dict[str, list[dict[str, int]]] = {
    "batched_matmul": [{"B": 2, "M": m, "N": 70, "K": 80} for m in (20, 150)],
    "fused_linear": [{"M": m, "N": 70, "K": 80, "B": 1, "R": 1} for m in (20, 150)],
    "silu_linear": [
        {"M": m, "I": i, "K": k}
        for m, i, k in ((20, 70, 80), (150, 70, 80), (70, 128, 64), (150, 2432, 64), (130, 640, 128))
    ],
    "grouped_matmul": [{"N": n, "E": 2, "F": 70, "K": 80} for n in (40, 300)],
}


def arguments(name: str, sizes: dict[str, int]) -> tuple[list[Any], Any]:
    """Those of a tunable's kernels, and what the first of them should hold."""
    b, m, n, k, e, f, i = (sizes.get(each, 0) for each in "BMNKEFI")
    match name:
        case "batched_matmul":
            given = [normal(b, m, k), normal(b, k, n)]
            expected = batched_reference(*given)
        case "fused_linear":
            given = [normal(m, k), normal(n, k), normal(1, n), normal(1, m, n)]
            expected = fused_reference(given[0], given[1], given[2][0], None, given[3][0])
        case "silu_linear":
            given = [normal(m, k), normal(2, i, k)]
            expected = silu_reference(*given)
        case _:
            given = [normal(n, k), normal(e, f, k), np.zeros(e + 1, np.int32)]
            gemm.GROUPED_MATMUL.inputs(rng, {"x": given[0], "w": given[1], "offsets": given[2]})  # type: ignore[misc]
            expected = grouped_reference(*given)
    return [np.empty(expected.shape, np.float32), *given], expected


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
@pytest.mark.parametrize("tunable", gemm.TUNABLES[:4], ids=lambda tunable: tunable.name)
def test_every_choice_gives_the_same(tunable: Any, target: str) -> None:
    for sizes in SIZES[tunable.name]:
        args, expected = arguments(tunable.name, sizes)
        space = list(tunable.space(sizes, target))
        assert len({each.label for each in space}) == len(space) >= 8
        chosen = [*space, tunable.default(sizes, target)]
        for each in {(each.kernel, *each.constants.items()): each for each in chosen}.values():
            args[0][...] = np.nan
            with tp.backend("interpreter"):
                each.kernel(*each.arguments(args), **each.constants)
            assert_close(args[0], expected)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("tunable", gemm.TUNABLES[1:4], ids=lambda tunable: tunable.name)
def test_operands_are_swapped_on_the_cpu_too(tunable: Any) -> None:
    args, expected = arguments(tunable.name, SIZES[tunable.name][0])
    tunable.kernels[0](*args, SWAPPED=1)
    assert_close(args[0], expected)


def test_large_products_take_large_tiles() -> None:
    large = {"M": 8192, "N": 8192, "K": 8192, "B": 0, "R": 0}
    found = gemm.FUSED_LINEAR.default(large, "sm_90")
    assert (found.constants["BM"], found.constants["BN"], found.constants["SWAPPED"]) == (128, 128, 0)
    few = gemm.FUSED_LINEAR.default({**large, "M": 8}, "sm_90")
    assert (few.constants["BM"], few.constants["SWAPPED"]) == (16, 1)
    gated = gemm.SILU_LINEAR.default({"M": 4096, "I": 9728, "K": 2560}, "sm_90")
    assert gated.kernel is gemm.silu_linear_joined_kernel
    assert (gated.constants["BM"], gated.constants["BI"], gated.schedule.persistent) == (128, 64, True)


def test_very_many_gated_rows_are_taken_by_pairs_of_blocks() -> None:
    sizes = {"M": 8192, "I": 9728, "K": 2560}
    pairs = gemm.SILU_LINEAR.default(sizes, "sm_90")
    assert (pairs.constants["BM"], pairs.constants["BI"], pairs.schedule.cluster) == (256, 128, 2)
    assert pairs.label in [each.label for each in gemm.SILU_LINEAR.space(sizes, "sm_90")]
    for other, target in (({**sizes, "M": 8191}, "sm_90"), (sizes, "sm_100")):
        assert gemm.SILU_LINEAR.default(other, target).schedule.cluster is None
    args, expected = arguments("silu_linear", {"M": 300, "I": 128, "K": 64})
    with tp.backend("interpreter"):
        pairs.kernel(*args, **pairs.constants)
    assert_close(args[0], expected)


def test_gated_rows_are_taken_by_wide_tiles_where_these_fill_a_gpu_once() -> None:
    sizes = {"M": 256, "I": 9728, "K": 2560}
    wide = gemm.SILU_LINEAR.default(sizes, "sm_90")
    assert (wide.kernel, wide.constants["P"]) == (gemm.silu_linear_wide_kernel, 152)
    assert wide.label in [each.label for each in gemm.SILU_LINEAR.space(sizes, "sm_90")]
    others = ({"M": 128}, {"M": 257}, {"M": 512}, {"I": 4864}, {"I": 9728 + 128}, {"I": 25600, "K": 5120})
    for other, target in (*(({**sizes, **each}, "sm_90") for each in others), (sizes, "sm_100")):
        assert gemm.SILU_LINEAR.default(other, target).kernel is gemm.silu_linear_joined_kernel


# NaN and infinity.


def test_nan_and_infinity_spread_along_their_rows_and_columns() -> None:
    x, w = normal(4, 20), normal(6, 20)
    x[1, 3], x[2, 4], w[5, 7] = np.nan, np.inf, -np.inf
    for activation in ACTIVATIONS:
        with np.errstate(all="ignore"):
            assert_close(fused_linear(x, w, None, activation), fused_reference(x, w, None, activation))
    with np.errstate(all="ignore"):
        assert_close(silu_linear(x, w), silu_reference(x, w))
        assert_close(batched_matmul(x[None], w.T[None]), batched_reference(x[None], w.T[None]))
    y = grouped_matmul(x, w[None].repeat(2, 0), np.array([0, 2, 4]))
    assert np.isnan(y[1]).all()
    assert np.isfinite(y[0, :5]).all()


def test_what_is_not_there_does_not_enter() -> None:
    """Rows of other experts, and what lies behind the end of a matrix, may be NaN."""
    x, w = np.full((3, 7), np.nan, np.float32), normal(2, 5, 7)
    x[:2] = 1
    y = grouped_matmul(x, w, np.array([0, 2, 3]))
    assert np.isfinite(y[:2]).all()
    assert np.isnan(y[2]).all()
    around = np.full((8, 9), np.nan, np.float32)
    around[1:6, 1:8] = normal(5, 7)
    assert np.isfinite(fused_linear(around[1:3, 1:8], around[1:6, 1:8])).all()


# Arrays of any library.


def test_out_is_written_and_returned() -> None:
    x, w = normal(4, 6), normal(8, 6)
    calls: list[tuple[Any, tuple[Any, ...], Any]] = [
        (batched_matmul, (x[None], w.T[None]), batched_reference),
        (fused_linear, (x, w), fused_reference),
        (silu_linear, (x, w), silu_reference),
        (grouped_matmul, (x, w[None], np.array([0, 4])), grouped_reference),
    ]
    for function, args, reference in calls:
        expected = reference(*args)
        out = np.zeros((*expected.shape[:-1], 2 * expected.shape[-1]), np.float32)[..., ::2]
        assert function(*args, out=out) is out
        assert_close(out, expected)


def test_tensors_of_our_own() -> None:
    x, w, bias = normal(2, 4, 6), normal(8, 6), normal(8)
    tx, tw, tb = map(tp.from_numpy, (x, w, bias))
    y = fused_linear(tx, tw, tb, "gelu", residual=fused_linear(tx, tw))
    assert isinstance(y, tp.Tensor)
    assert_close(y.numpy(), fused_reference(x, w, bias, "gelu") + fused_reference(x, w))
    assert_close(silu_linear(tx, tw).numpy(), silu_reference(x, w))
    assert_close(grouped_matmul(tx[0], tw[None], tp.asarray(np.array([0, 4]))).numpy(), fused_reference(x[0], w))
    assert_close(batched_matmul(tx.permute(0, 2, 1), tx).numpy(), batched_reference(x.swapaxes(1, 2), x))


@pytest.mark.slow
def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x, w, bias, h = (torch.randn(shape).bfloat16() for shape in ((2, 4, 6), (8, 6), (8,), (2, 4, 8)))
    y = fused_linear(x, w, bias, "gelu", residual=h)
    assert y.dtype == torch.bfloat16
    expected = torch.nn.functional.gelu(torch.nn.functional.linear(x.double(), w.double(), bias.double())) + h.double()
    torch.testing.assert_close(y.double(), expected, rtol=1e-2, atol=1e-2)
    gate, up = (x.double() @ w.double().T).chunk(2, -1)
    made = torch.nn.functional.silu(gate) * up
    torch.testing.assert_close(silu_linear(x, w).double(), made, rtol=1e-2, atol=1e-2)
    scores = batched_matmul(x, x.transpose(1, 2))
    torch.testing.assert_close(scores.double(), x.double() @ x.double().transpose(1, 2), rtol=1e-2, atol=1e-2)
    experts = grouped_matmul(x[0], w[None], torch.tensor([0, 4]))
    torch.testing.assert_close(experts.double(), x[0].double() @ w.double().T, rtol=1e-2, atol=1e-2)


def test_the_same_call_gives_the_same_bits() -> None:
    x, w = normal(130, 300, dtype="bf16"), normal(96, 300, dtype="bf16")
    calls = [
        lambda: fused_linear(x, w, activation="gelu"),
        lambda: silu_linear(x, w),
        lambda: batched_matmul(x[None], w.T[None]),
        lambda: grouped_matmul(x, w[None].repeat(3, 0), np.array([0, 9, 90, 130])),
    ]
    for call in calls:
        assert call().tobytes() == call().tobytes()


def test_transposed_views_are_read_along_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[frozenset[str]] = []
    gemm.batched_matmul_kernel.forget()  # a launch like an earlier one has no launcher
    monkeypatch.setattr(tp.Kernel, "launcher", lambda kernel, args, constants: launched.append(kernel.absent))
    a, b = normal(2, 5, 6), normal(2, 6, 7)
    batched_matmul(a, b)
    batched_matmul(random(rng, (2, 5, 6), "f32", "transposed"), b)
    batched_matmul(a, random(rng, (2, 6, 7), "f32", "transposed"))
    batched_matmul(tp.from_numpy(b).permute(0, 2, 1), tp.from_numpy(a).permute(0, 2, 1))
    assert launched == [{"at", "bt"}, {"a", "bt"}, {"at", "b"}, {"a", "b"}]


def test_a_graph_holds_them() -> None:
    x, w, bias = (tp.from_numpy(each) for each in (normal(4, 6), normal(8, 6), normal(8)))
    y, z = tp.empty((4, 8)), tp.empty((4, 4))
    with tp.Graph() as graph:
        fused_linear(x, w, bias, "relu", out=y)
        silu_linear(x, w, out=z)
    graph.replay()
    assert_close(y.numpy(), fused_reference(x.numpy(), w.numpy(), bias.numpy(), "relu"))
    assert_close(z.numpy(), silu_reference(x.numpy(), w.numpy()))


# Mistakes.


def refusal(call: Any) -> tuple[str, str]:
    """The code and the words of a refused call."""
    with pytest.raises(tp.LaunchError) as caught:
        call()
    return caught.value.diagnostics[0].code.id, str(caught.value)


def test_mistakes_name_their_cure() -> None:
    x, w = normal(4, 6), normal(8, 6)
    code, said = refusal(lambda: fused_linear(x, w, activation="tanh"))
    assert (code, '"gelu"' in said) == ("TP0608", True)
    code, said = refusal(lambda: silu_linear(x, w[:7]))
    assert (code, "7 rows" in said) == ("TP0604", True)
    code, said = refusal(lambda: fused_linear(x, w, out=np.empty((4, 9), np.float32)))
    assert (code, "(4, 8)" in said) == ("TP0604", True)
    assert refusal(lambda: fused_linear(x, w[:, :5]))[0] == "TP0604"
    assert refusal(lambda: fused_linear(x, w, normal(7)))[0] == "TP0604"
    assert refusal(lambda: fused_linear(x, w, residual=normal(4, 7)))[0] == "TP0604"
    assert refusal(lambda: fused_linear(x, w.astype(np.float64)))[0] == "TP0603"
    assert refusal(lambda: batched_matmul(x, w.T))[0] == "TP0602"
    assert refusal(lambda: batched_matmul(x[None], w.T[None].repeat(2, 0)))[0] == "TP0604"
    with pytest.raises(tp.KernelError, match="cast the operands to a float"):
        fused_linear(x.astype(np.int32), w.astype(np.int32))
    h = normal(4, 8)
    assert refusal(lambda: fused_linear(x, w, residual=h, out=h))[0] == "TP0610"


@pytest.mark.parametrize("borders", [[0, 3, 2, 4], [1, 2, 3, 4], [0, 1, 2, 3], [0, 1, 2, 5], [0, -1, 2, 4]])
def test_offsets_that_do_not_divide_the_rows_are_refused(borders: list[int]) -> None:
    assert refusal(lambda: grouped_matmul(normal(4, 6), normal(3, 8, 6), np.array(borders)))[0] == "TP0607"


def test_offsets_for_another_number_of_experts_are_refused() -> None:
    assert refusal(lambda: grouped_matmul(normal(4, 6), normal(3, 8, 6), np.array([0, 4])))[0] == "TP0604"
