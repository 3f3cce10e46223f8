"""Kernels as operators of torch: eager, compiled, differentiated, and rejected where torch would be told wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import tileproof as tp
from support.launch_caches import fully_launched
from tileproof import In, Index, InOut, Max, Out, Sum, T, f32, i64
from tileproof.diagnostics.codes import Code
from tileproof.runtime.launch.torch_operators import torch_op

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def compiled_anew() -> None:
    torch.compiler.reset()


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """A function as torch traces it whole; the code it makes of the trace is torch's own affair."""
    return torch.compile(function, fullgraph=True, backend="aot_eager", **options)


def schema(operator: Any) -> str:
    return str(operator._opoverload._schema)


# One kernel.


@tp.kernel
def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, BN: int = 8) -> None:
    """The sum of two vectors."""
    for n in tp.parallel(N=BN):
        c[n] = a[n] + b[n]


@tp.kernel
def scale(y: Out[T, "M N"], x: In[T, "M N"], by: T) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = x[m, n] * by


@tp.kernel
def decay(x: InOut[f32, "N"], total: Sum[f32, "1"], top: Max[f32, "1"], by: f32) -> None:
    for n in tp.parallel(N=4):
        tile = x[n] * by
        x[n] = tile
        total[0] += tile.sum()
        tp.update(top, 0, tile.max())


@tp.kernel
def accumulate(total: Sum[f32, "N", "keep"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=2, N=4):
        total[n] += x[m, n].sum(axis=0)


@tp.kernel
def widen(y: Out[f32, "2*N"], x: In[f32, "N"], at: Out[Index["N"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[2 * n] = x[n]
        y[2 * n + 1] = x[n]
        at[n] = n


add_op = torch_op("tileproof_tests::add", kernel=add, backward=lambda saved, dc: (dc, dc))


def test_an_operator_of_a_kernel_takes_what_it_reads_and_returns_what_it_writes() -> None:
    assert schema(add_op) == "tileproof_tests::add(Tensor a, Tensor b, *, SymInt BN=8) -> Tensor"
    assert add_op.__doc__ == "The sum of two vectors."
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int32):
        a, b = (torch.arange(10).to(dtype) + shift for shift in (0, 3))
        c = add_op(a, b)
        assert c.dtype is dtype
        assert torch.equal(c, a + b)
        assert torch.equal(add_op(a, b, BN=4), a + b)


def test_it_is_compiled_whole() -> None:
    a, b = torch.rand(10), torch.rand(10)
    code = compiled(lambda a, b: add_op(a * 2, b, BN=4) + 1)(a, b)
    torch.testing.assert_close(code, a * 2 + b + 1)


def test_one_trace_serves_every_size() -> None:
    traced = []

    def backend(graph: Any, _: Any) -> Any:
        traced.append(graph)
        return graph.forward

    run = torch.compile(lambda a, b: add_op(a, b), fullgraph=True, backend=backend, dynamic=True)
    for size in (5, 10, 33):
        a, b = torch.rand(size), torch.rand(size)
        assert torch.equal(run(a, b), a + b)
    assert len(traced) == 1


@pytest.mark.parametrize("is_compiled", [False, True])
def test_gradients_go_through(is_compiled: bool) -> None:
    a, b = (torch.rand(6, dtype=torch.float64, requires_grad=True) for _ in range(2))
    run = compiled(lambda a, b: add_op(a, b)) if is_compiled else add_op
    assert torch.autograd.gradcheck(run, (a, b))


def test_torch_finds_nothing_wrong_with_it() -> None:
    a, b = torch.rand(6, requires_grad=True), torch.rand(6)
    assert set(torch.library.opcheck(add_op, (a, b), {"BN": 4}).values()) == {"SUCCESS"}


def test_a_sum_that_goes_on_is_mutated() -> None:
    operator = torch_op("tileproof_tests::accumulate", kernel=accumulate)
    total = torch.ones(5)
    operator(total, torch.ones(3, 5))
    operator(total, torch.ones(3, 5))
    assert total.tolist() == [7] * 5


def test_what_is_read_and_written_is_mutated_and_the_rest_is_returned() -> None:
    operator = torch_op("tileproof_tests::decay", kernel=decay)
    assert schema(operator) == "tileproof_tests::decay(Tensor(a0!) x, float by) -> (Tensor, Tensor)"
    x = torch.arange(5.0)
    total, top = operator(x, 0.5)
    assert (x.tolist(), total.tolist(), top.tolist()) == ([0, 0.5, 1, 1.5, 2], [5], [2])

    def twice(x: Any) -> Any:
        y = x + 1
        total, _ = operator(y, 2.0)
        return y, total

    y, total = compiled(twice)(x)
    assert (y.tolist(), total.tolist()) == ([2, 3, 4, 5, 6], [20])
    assert set(torch.library.opcheck(operator, (torch.rand(5), 0.5)).values()) == {"SUCCESS"}


def test_shapes_and_element_types_of_results_follow_from_the_signature() -> None:
    operator = torch_op("tileproof_tests::widen", kernel=widen)
    x = torch.rand(3)
    for run in (operator, compiled(lambda x: operator(x), dynamic=True)):
        y, at = run(x)
        assert torch.equal(y, x.repeat_interleave(2))
        assert (at.tolist(), at.dtype) == ([0, 1, 2], torch.int64)
    empty, _ = operator(torch.rand(0))
    assert empty.shape == (0,)


def test_scalars_of_any_type_are_numbers() -> None:
    operator = torch_op("tileproof_tests::scale", kernel=scale)
    assert "Scalar by" in schema(operator)
    assert operator(torch.ones(2, 3), 2.5).tolist() == [[2.5] * 3] * 2


def test_a_constant_may_give_an_extent() -> None:
    @tp.kernel
    def first(y: Out[f32, "K"], x: In[f32, "N"], *, K: int) -> None:
        for k in tp.parallel(K=tp.each):
            y[k] = x.get(k.start, 0.0)

    operator = torch_op("tileproof_tests::first", kernel=first)
    assert operator(torch.arange(5.0), K=3).tolist() == [0, 1, 2]
    code = compiled(lambda x: operator(x, K=4))(torch.arange(5.0))
    assert code.tolist() == [0, 1, 2, 3]


def test_a_launch_that_is_refused_is_refused_as_ever() -> None:
    with pytest.raises(tp.LaunchError, match="TP0604"):
        add_op(torch.rand(4), torch.rand(5))
    with pytest.raises(tp.LaunchError, match="TP0602"):
        add_op(torch.rand(4, 1), torch.rand(4))
    with pytest.raises(tp.LaunchError, match="TP0603"):
        add_op(torch.rand(4), torch.rand(4, dtype=torch.float64))


def test_a_kernel_whose_results_are_open_is_refused() -> None:
    @tp.kernel
    def fill(y: Out[f32, "N"], by: f32) -> None:
        for n in tp.parallel(N=4):
            y[n] = by

    @tp.kernel
    def cut(y: Out[f32, "M"], x: In[f32, "N"]) -> None:
        for m in tp.parallel(M=tp.each):
            y[m] = x.get(m.start, 0.0)

    @tp.kernel
    def convert(y: Out[tp.U, "N"], x: In[T, "N"]) -> None:
        for n in tp.parallel(N=4):
            y[n] = x[n].to(tp.U)

    for kernel, words in ((fill, "no input tensor"), (cut, "`y`, whose axis 0"), (convert, "`y`, whose element type")):
        with pytest.raises(TypeError, match=words) as raised:
            torch_op("tileproof_tests::open", kernel=kernel)
        assert "@tp.torch_op" in str(raised.value)


# Functions.


@tp.kernel
def silu_mul(y: Out[T, "N"], gate: In[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=8):
        y[n] = gate[n] * tp.sigmoid(gate[n]) * x[n]


@tp.kernel
def silu_mul_backward(dgate: Out[T, "N"], dx: Out[T, "N"], gate: In[T, "N"], x: In[T, "N"], dy: In[T, "N"]) -> None:
    for n in tp.parallel(N=8):
        s = tp.sigmoid(gate[n])
        dx[n] = dy[n] * gate[n] * s
        dgate[n] = dy[n] * x[n] * s * (1 + gate[n] * (1 - s))


silu_backward_op = torch_op("tileproof_tests::silu_mul_backward", kernel=silu_mul_backward)


def backward(saved: Any, dy: Any) -> Any:
    gradients = silu_backward_op(*(each.reshape(-1) for each in (saved.gate, saved.x, dy * saved.scale)))
    return tuple(gradient.view(saved.gate.shape) for gradient in gradients)


@torch_op("tileproof_tests::silu_mul", backward=backward)
def silu_op(gate, x, scale: float = 1.0):  # type: ignore[no-untyped-def]
    """Rows of any shape."""
    y = torch.empty_like(gate)
    silu_mul(y.view(-1), gate.contiguous().view(-1), x.contiguous().view(-1))
    return y * scale


def test_a_function_is_an_operator_whose_parameters_are_tensors_unless_annotated() -> None:
    assert schema(silu_op) == "tileproof_tests::silu_mul(Tensor gate, Tensor x, float scale=1.) -> Tensor"
    gate, x = torch.randn(3, 5), torch.randn(3, 5)
    expected = torch.nn.functional.silu(gate) * x
    torch.testing.assert_close(silu_op(gate, x), expected)
    torch.testing.assert_close(compiled(lambda gate, x: silu_op(gate, x, 2.0) + 1)(gate, x), 2 * expected + 1)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_function_is_differentiated_by_its_backward(is_compiled: bool) -> None:
    run = compiled(lambda gate, x: silu_op(gate, x)) if is_compiled else silu_op
    gate, x = (torch.randn(7, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(run, (gate, x))


def test_torch_finds_nothing_wrong_with_a_function() -> None:
    args = (torch.randn(3, 5, requires_grad=True), torch.randn(3, 5, requires_grad=True))
    assert set(torch.library.opcheck(silu_op, args).values()) == {"SUCCESS"}


def test_the_fake_operator_launches_nothing() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with fully_launched() as kernels:
        with FakeTensorMode():
            y = silu_op(torch.rand(3, 5), torch.rand(3, 5))
        assert (y.shape, type(y).__name__) == ((3, 5), "FakeTensor")
        assert silu_op(torch.rand(3, device="meta"), torch.rand(3, device="meta")).shape == (3,)
    assert kernels == []


def test_results_that_nobody_uses_and_numbers_reach_the_backward() -> None:
    seen: list[Any] = []

    def of_both(saved: Any, dy: Any, dz: Any) -> Any:
        seen.append((saved.by, saved.result[1].tolist(), saved.needs("x"), saved.needs("w"), dz.tolist()))
        with pytest.raises(AttributeError, match="x, w, by, result"):
            saved.v  # noqa: B018
        return dy * saved.by, None

    @torch_op("tileproof_tests::both", backward=of_both)
    def both(x: torch.Tensor, w: torch.Tensor, by: float) -> tuple[torch.Tensor, torch.Tensor]:
        y, z = torch.empty_like(x), torch.empty_like(x)
        scale(y[None], x[None], by)
        add(z, x, w)
        return y, z

    x = torch.ones(2, requires_grad=True)
    y, _ = both(x, torch.ones(2), 3.0)
    y.sum().backward()
    assert x.grad is not None
    assert (x.grad.tolist(), seen) == ([3, 3], [(3.0, [2, 2], True, False, [0, 0])])


def test_results_of_a_kernel_reach_its_backward_by_name() -> None:
    @tp.kernel
    def sigmoid(y: Out[T, "N"], x: In[T, "N"]) -> None:
        for n in tp.parallel(N=4):
            y[n] = tp.sigmoid(x[n])

    operator = torch_op("tileproof_tests::sigmoid", kernel=sigmoid, backward=lambda s, dy: dy * s.y * (1 - s.y))
    assert torch.autograd.gradcheck(operator, torch.randn(6, dtype=torch.float64, requires_grad=True))


def test_a_backward_with_too_few_gradients_is_told_so() -> None:
    operator = torch_op("tileproof_tests::few", kernel=add, backward=lambda _, dc: dc)
    with pytest.raises(TypeError, match=r"gives 1 gradients, and there are 2 tensors among its parameters \(a, b\)"):
        operator(torch.rand(3, requires_grad=True), torch.rand(3)).sum().backward()


def test_lists_and_optional_tensors_are_parameters() -> None:
    def of_total(saved: Any, dy: Any) -> Any:
        assert [part.shape for part in saved.parts] == [(3,), (3,)]
        return [dy for _ in saved.parts], None

    @torch_op("tileproof_tests::total", backward=of_total)
    def total(parts: list[torch.Tensor], more: torch.Tensor | None = None) -> torch.Tensor:
        y = torch.empty_like(parts[0])
        add(y, parts[0], parts[1])
        return y if more is None else y + more

    a, b = torch.rand(3, requires_grad=True), torch.rand(3)
    total([a, b]).sum().backward()
    assert a.grad is not None
    assert a.grad.tolist() == [1, 1, 1]
    assert torch.equal(total([b, b], b), b + b + b)


def test_a_function_that_writes_its_parameters_says_so() -> None:
    def grow(x, by: float) -> None:  # type: ignore[no-untyped-def]
        decay(x, torch.empty(1), torch.empty(1), by)

    operator = torch_op("tileproof_tests::grow", mutates=["x"])(grow)
    x = torch.ones(4)
    operator(x, 2.0)
    assert x.tolist() == [2] * 4

    def run(x: Any) -> Any:
        operator(x, 2.0)
        return x + 1

    assert compiled(run)(x).tolist() == [5] * 4
    assert set(torch.library.opcheck(operator, (torch.rand(4), 2.0)).values()) == {"SUCCESS"}

    silent = torch_op("tileproof_tests::silent")(grow)
    for call in (lambda: silent(x, 2.0), lambda: silent(x.to("meta"), 2.0)):
        with pytest.raises(tp.LaunchError) as raised:
            call()
        (diagnostic,) = raised.value.diagnostics
        assert diagnostic.code is Code.READ_ONLY
        assert "`x`" in diagnostic.message
        assert 'mutates=["x"]' in diagnostic.help
    assert x.tolist() == [4] * 4


# What is rejected.


def test_vmap_is_refused_with_what_to_do() -> None:
    for run in (lambda: torch.vmap(add_op)(torch.rand(2, 3), torch.rand(2, 3)), lambda: torch.vmap(silu_op)(
        torch.rand(2, 3), torch.rand(2, 3))):  # fmt: skip
        with pytest.raises(tp.LaunchError, match=r"torch\.vmap cannot map tileproof_tests::") as raised:
            run()
        assert "dimension" in raised.value.diagnostics[0].help


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: torch_op("add", kernel=add), "library::name"),
        (lambda: torch_op("tileproof_tests::x", kernel=len), "@tp.kernel"),  # type: ignore[call-overload]
        (lambda: torch_op("tileproof_tests::x", kernel=add, mutates=["a"]), "leave mutates= out"),  # type: ignore[call-overload]
        (lambda: torch_op("tileproof_tests::x")(add), "kernel="),
        (lambda: torch_op("tileproof_tests::x", mutates=["z"])(lambda x: x), "names z"),
        (lambda: torch_op("tileproof_tests::x", kernel=decay, backward=lambda *_: None), "leave backward= out"),
    ],
)
def test_a_definition_that_makes_no_sense_is_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        make()
    assert words in str(raised.value)


def test_without_torch_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        torch_op("tileproof_tests::x", kernel=add)


def test_launches_outside_operators_are_what_they_were() -> None:
    y = torch.empty(4, dtype=torch.int64)

    @tp.kernel
    def count(y: Out[i64, "N"]) -> None:
        for n in tp.parallel(N=tp.each):
            y[n] = n.to(i64)

    count(y)
    assert y.tolist() == [0, 1, 2, 3]
