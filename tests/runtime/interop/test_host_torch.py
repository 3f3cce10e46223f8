"""Tensors of torch on the CPU as arguments, real ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.foreign_arrays import copy, copy_matrix, rejection
from support.launch_caches import fully_launched
from tileproof import In, InOut, f32
from tileproof.diagnostics.codes import Code

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.slow


@tp.kernel
def add_to(y: InOut[f32, "M N"], x: In[f32, "M N"], by: f32) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] += x[m, n] * by


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32,
     torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2],
    ids=str,
)  # fmt: skip
def test_a_tensor_of_every_element_type_is_read_and_written_where_it_is(dtype: Any) -> None:
    x, y = torch.arange(10).to(dtype), torch.zeros(10).to(dtype)
    for _ in range(2):
        y.zero_()
        copy(y, x)
        assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x,
        lambda x: x.T.contiguous().T,
        lambda x: x.repeat(2, 2)[1::2, 1::2],
        lambda x: torch.nn.Parameter(x, requires_grad=False),
        lambda x: x[:0],
        lambda x: x[:, :0],
        lambda x: x[:1].expand(4, -1),
    ],
    ids=["plain", "transposed", "strided", "parameter", "no rows", "no columns", "expanded"],
)
def test_views_are_used_as_they_lie(make: Callable[[Any], Any]) -> None:
    x = make(torch.arange(24.0).reshape(4, 6))
    y = torch.ones(x.shape)
    for count in (1, 2):
        add_to(y, x, 2.0)
        assert torch.equal(y, 1 + 2.0 * count * x)


def test_numpy_arrays_and_tensors_go_together() -> None:
    x, y = torch.arange(6.0).reshape(2, 3), np.zeros((2, 3), np.float32)
    copy_matrix(y, x)
    assert (y == x.numpy()).all()


def test_a_launch_like_an_earlier_one_is_recognised() -> None:
    def pair() -> tuple[Any, Any]:
        return torch.zeros(2, 3), torch.rand(2, 3)

    for dtype in (torch.float32, torch.bfloat16):
        kernel = copy_matrix if dtype is torch.float32 else copy
        y, x = (each.to(dtype) if kernel is copy_matrix else each.flatten().to(dtype) for each in pair())
        kernel(y, x)
        with fully_launched() as full:
            y.zero_()
            kernel(y, x)
        assert torch.equal(y, x)
        assert full == []


def test_a_launch_that_is_only_like_an_earlier_one_goes_the_full_way() -> None:
    y, x = torch.zeros(4), torch.rand(4)
    copy(y, x)
    with pytest.raises(tp.LaunchError, match="TP0610"):
        copy(x, x)
    with pytest.raises(tp.LaunchError, match="TP0609"):
        copy(torch.zeros(4, requires_grad=True), x)
    short = torch.zeros(4)
    short.untyped_storage().resize_(8)
    for args in ((short, x), (y, short)):
        with fully_launched() as full, pytest.raises(tp.LaunchError, match="too small"):
            copy(*args)
        assert full == ["copy"]


def test_a_tensor_that_requires_grad_is_read_and_not_written() -> None:
    leaf, y = torch.rand(4, requires_grad=True), torch.zeros(4)
    copy(y, leaf)
    assert torch.equal(y, leaf)
    diagnostic = rejection(copy, leaf, y)
    assert (diagnostic.code, "torch.no_grad()" in diagnostic.help) == (Code.READ_ONLY, True)
    with torch.no_grad():
        copy(leaf, torch.ones(4))
    assert leaf.tolist() == [1, 1, 1, 1]


class Subclass(torch.Tensor):
    """A subclass that answers for its attributes itself."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError("asked")


class Wrapper(torch.Tensor):
    """A tensor that stands for others."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape)

    @classmethod
    def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError("asked")


def test_a_subclass_that_is_no_more_than_a_name_is_an_argument() -> None:
    x, y = torch.rand(4), torch.zeros(4)
    copy(y.as_subclass(Subclass), x.as_subclass(Subclass))
    assert torch.equal(y, x)


def fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(4)


def resized() -> Any:
    array = torch.ones(4)
    array.untyped_storage().resize_(0)
    return array


UNFIT: dict[str, tuple[Callable[[], Any], Code, str, str]] = {
    "fake": (fake, Code.ARGUMENT_KIND, "FakeTensor", "FakeTensorMode"),
    "sparse": (lambda: torch.ones(4).to_sparse(), Code.ARGUMENT_KIND, "sparse_coo", "`x.to_dense()`"),
    "mkldnn": (lambda: torch.ones(4).to_mkldnn(), Code.ARGUMENT_KIND, "_mkldnn", "`x.to_dense()`"),
    "negative": (lambda: torch.ones(4, dtype=torch.complex64).conj().imag, Code.ARGUMENT_KIND, "negative",
                 "`x.resolve_neg()`"),
    "complex": (lambda: torch.ones(4, dtype=torch.complex64), Code.ARGUMENT_DTYPE, "complex64", "torch.float32"),
    "wrapper": (lambda: Wrapper(torch.ones(4)), Code.ARGUMENT_KIND, "Wrapper", "`.to_local()`"),
    "meta": (lambda: torch.ones(4, device="meta"), Code.ARGUMENT_KIND, "meta tensor", 'device="cpu"'),
    "resized": (resized, Code.ARGUMENT_KIND, "too small", "anew"),
    "zeros without memory": (lambda: torch._efficientzerotensor(4), Code.ARGUMENT_KIND, "without memory", "torch.func"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_tensors_that_are_not_what_lies_in_memory_are_refused_by_name(name: str) -> None:
    make, code, words, cure = UNFIT[name]
    copy(torch.zeros(4), torch.ones(4))  # a launch to be like
    value = make()
    diagnostic = rejection(copy, torch.zeros(4), value)
    assert diagnostic.code is code
    assert words in diagnostic.message
    assert cure in diagnostic.help
    with pytest.raises(tp.LaunchError, match=code.id):
        copy(torch.zeros(4), value)


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.functionalize], ids=["vmap", "functionalize"])
def test_tensors_of_transforms_are_refused(transform: Any) -> None:
    copy(torch.zeros(4), torch.ones(4))

    def launched(x: Any) -> Any:
        copy(torch.zeros(4), x)
        return x

    with pytest.raises(tp.LaunchError, match="without memory"):
        transform(launched)(torch.ones(4) if transform is torch.func.functionalize else torch.ones(2, 4))
