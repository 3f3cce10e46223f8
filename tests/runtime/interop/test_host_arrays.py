"""Arrays of other libraries on the CPU: what they share is used where it is, and what has no memory is rejected."""

from __future__ import annotations

import gc
import sys
import weakref
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from oracles.foreign_arrays import F32, copy, copy_matrix, rejection
from tileproof import In, Index, Out, f32
from tileproof.diagnostics.codes import Code
from tileproof.runtime.interop.describe import on_host

Array = np.ndarray[Any, Any]


class Lending:
    """An array with an interface, and nothing else of numpy's."""

    def __init__(self, array: Array, **more: Any) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **more}


class Exchanging:
    """An array that offers DLPack alone; one from before version 1 knows fewer words."""

    def __init__(self, array: Array, device: int = 1, is_old: bool = False) -> None:
        self.array, self.device, self.is_old = array, device, is_old
        self.asked: dict[str, Any] = {}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **asked: Any) -> Any:
        if self.is_old and asked:
            raise TypeError("unexpected keyword")
        self.asked = asked
        return self.array.__dlpack__(**asked)


class Jax(Exchanging):
    """Not ready before it is asked to be."""

    is_ready = False

    def block_until_ready(self) -> None:
        self.is_ready = True

    def __dlpack__(self, **asked: Any) -> Any:
        assert self.is_ready
        return super().__dlpack__(**asked)


Jax.__module__ = "jaxlib._jax"


def ramp(*shape: int) -> Array:
    return np.arange(np.prod(shape, dtype=int), dtype=F32).reshape(shape)


@pytest.mark.parametrize("kind", [Lending, Exchanging, lambda x: Exchanging(x, is_old=True)])
@pytest.mark.parametrize("steps", [slice(None), slice(None, None, -1), slice(1, 7, 2), slice(3, 3)], ids=str)
def test_an_array_of_another_library_is_read_and_written_where_it_is(kind: Any, steps: slice) -> None:
    x, y = ramp(8)[steps], np.zeros(8, F32)[steps]
    copy(kind(y), kind(x))
    assert (y == x).all()


@pytest.mark.parametrize("kind", [Lending, Exchanging])
def test_nothing_is_copied(kind: Any) -> None:
    x = ramp(3, 4).T
    result = on_host(kind(x))
    assert result is not None
    assert (result.__array_interface__["data"], result.shape, result.strides, result.dtype) == (
        x.__array_interface__["data"], x.shape, x.strides, x.dtype,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [Lending, Exchanging])
def test_the_array_keeps_what_lends_its_memory(kind: Any) -> None:
    owner = kind(ramp(4))
    gone = weakref.ref(owner)
    result = on_host(owner)
    del owner
    gc.collect()
    assert gone() is not None
    del result
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_element_types_without_letters_are_taken_at_the_word_of_the_array(dtype: Any) -> None:
    x, y = (Lending(array.astype(dtype)) for array in (ramp(6), np.zeros(6)))
    assert rejection(copy, y, x).code in (Code.ARGUMENT_DTYPE, Code.ARGUMENT_KIND)
    for each in (x, y):
        each.dtype = np.dtype(dtype)  # type: ignore[attr-defined]
    copy(y, x)
    assert (y.array == x.array).all()


def test_a_bare_capsule_is_an_argument() -> None:
    x, y = ramp(4), np.zeros(4, F32)
    copy(y.__dlpack__(max_version=(1, 0)), x.__dlpack__(max_version=(1, 0)))
    assert (y == x).all()


def test_an_interface_may_leave_the_memory_to_a_buffer() -> None:
    x, y = ramp(4), np.zeros(4, F32)
    copy(y, Lending(x, data=bytearray(x)))
    assert (y == x).all()
    assert rejection(copy, Lending(y, data=bytes(x)), x).code is Code.READ_ONLY


def test_arrays_of_libraries_share_memory_as_others_do() -> None:
    x = ramp(8)
    assert rejection(copy, Lending(x[:4]), Exchanging(x[3:7])).code is Code.ALIASED
    copy(Lending(x[:4]), Exchanging(x[4:]))
    assert x.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]


def test_contents_of_a_borrowed_index_tensor_are_checked() -> None:
    @tp.kernel
    def gather(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
        for n in tp.parallel(N=tp.each):
            y[n] = table[ids[n]]

    y = np.zeros(2, F32)
    gather(y, ramp(4), Exchanging(np.array([3, 1])))
    assert y.tolist() == [3, 1]
    assert rejection(gather, y, ramp(4), Exchanging(np.array([3, 4]))).code is Code.CONTENTS


@pytest.mark.parametrize("place", ["interface", "exchange"])
def test_read_only_memory_is_read_and_not_written(place: str) -> None:
    x, y = ramp(4), np.zeros(4, F32)
    x.setflags(write=False)
    lending: Any = Lending(x) if place == "interface" else x.__dlpack__(max_version=(1, 0))
    copy(y, lending)
    assert (y == x).all()
    lending = Lending(x) if place == "interface" else x.__dlpack__(max_version=(1, 0))
    assert rejection(copy, lending, y).code is Code.READ_ONLY


@pytest.mark.parametrize(
    "more",
    [{"shape": (-1,)}, {"shape": None}, {"typestr": "what"}, {"typestr": "|O"}, {"data": (0, False)}, {"data": 7},
     {"data": None}, {"strides": (4, 4)}],
    ids=str,
)  # fmt: skip
def test_an_interface_that_makes_no_sense_is_refused(more: dict[str, Any]) -> None:
    diagnostic = rejection(copy, Lending(ramp(4), **more), ramp(4))
    assert (diagnostic.code, "`y`" in diagnostic.message) == (Code.ARGUMENT_KIND, True)


def test_an_interface_that_raises_is_refused_with_what_it_says() -> None:
    class Broken:
        @property
        def __array_interface__(self) -> Any:
            raise RuntimeError("the array was deleted\nlong ago")

    diagnostic = rejection(copy, Broken(), ramp(4))
    assert (diagnostic.code, diagnostic.notes) == (Code.ARGUMENT_KIND, ("it says: the array was deleted",))


def test_a_mask_is_refused() -> None:
    diagnostic = rejection(copy, ramp(4), Lending(ramp(4), mask=np.ones(4, bool)))
    assert (diagnostic.code, "mask" in diagnostic.message) == (Code.ARGUMENT_KIND, True)


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (ramp(4, 1), Code.ARGUMENT_RANK),
        (ramp(5), Code.DIMENSION_DIFFERS),
        (ramp(4).astype(">f4"), Code.ARGUMENT_DTYPE),
        (ramp(4).astype(np.complex64), Code.ARGUMENT_DTYPE),
        (np.zeros(17, np.uint8)[1:].view(F32), Code.MISALIGNED),
        (np.zeros(4, [("a", "f4"), ("b", "f4")]), Code.ARGUMENT_DTYPE),
    ],
    ids=["rank", "extent", "byte order", "complex", "misaligned", "record"],
)
def test_the_rules_of_a_launch_hold_for_borrowed_memory(array: Array, code: Code) -> None:
    assert rejection(copy, ramp(4), Lending(array)).code is code


def test_an_array_on_a_device_without_kernels_is_refused() -> None:
    diagnostic = rejection(copy, ramp(4), Exchanging(ramp(4), device=8))
    assert (diagnostic.code, "type 8" in diagnostic.message) == (Code.ARGUMENT_KIND, True)


def test_an_array_of_jax_is_read_when_it_is_ready_and_never_written() -> None:
    x, y = Jax(ramp(2, 3)), np.zeros((2, 3), F32)
    copy_matrix(y, x)
    assert (y == x.array).all()
    assert "stream" not in x.asked, "there are none on the CPU"
    diagnostic = rejection(copy_matrix, x, y)
    assert (diagnostic.code, "JAX" in diagnostic.message) == (Code.READ_ONLY, True)


def test_a_tracer_of_jax_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("jax")
    module.core = SimpleNamespace(Tracer=Jax)
    monkeypatch.setitem(sys.modules, "jax", module)
    diagnostic = rejection(copy, ramp(4), Jax(ramp(4)))
    assert diagnostic.code is Code.ARGUMENT_KIND
    assert "tracer" in diagnostic.message
    assert "jax.jit" in diagnostic.help
