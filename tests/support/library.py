"""Cases of the kernel library: a call of a function, and what float64 says it gives; run on any backend.

A family keeps its cases in `tests/library_cases/<family>.py` as a function `cases()`. Its tests run them on the CPU and
the interpreter; `tests/gpu/test_library_gpu.py` runs those with `on_gpu` on a GPU, with the same arrays laid out alike.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

import tileproof as tp
from tileproof.kernels import arrays
from tileproof.language.dtypes import by_storage
from tileproof.runtime.interop.describe import byte_range
from tileproof.runtime.tensor.tensors import Tensor
from tileproof.tuning import Choice, Tunable

Made = tuple[list[Any], dict[str, Any]]
"""Arguments by position, and by name."""

DTYPES: Final[dict[str, Any]] = {
    "f64": np.dtype(np.float64), "f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16), "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2), "i8": np.dtype(np.int8), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "u8": np.dtype(np.uint8),
}  # fmt: skip
FLOATS: Final = ("f32", "f16", "bf16", "f64")
_STEP: Final = {"f64": 1e-10, "f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2, "f8e4m3": 0.13, "f8e5m2": 0.26}
"""How far a result may be off, as a part of the greatest magnitude in it: some roundings of its own type."""
_GUARD: Final = 512
_FILL: Final = 0xA5


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a library function. `make` gives arguments anew, the same each time, on the host."""

    name: str
    function: Callable[..., Any]
    make: Callable[[], Made]
    reference: Callable[..., Any]
    """Gets the same arguments; gives what the function returns (one array or a tuple), in float64 or integers."""
    tolerance: float | None = None
    """As a part of the greatest magnitude of the result; by the element type unless given. 0 is exact."""
    on_interpreter: bool = True
    on_gpu: bool = False
    """Whether its launches are compiled and run for GPUs too; each differing launch costs about a second there."""


# Layouts.


def random(rng: np.random.Generator, shape: Sequence[int], dtype: str, layout: str = "dense") -> Any:
    """Normal numbers (integers: -8 to 8) in one of the layouts: dense, transposed, sliced, wide, reversed.

    `transposed` swaps the last two axes in memory, `sliced` is the middle of something larger on every axis, `wide`
    takes rows from a matrix with a row pitch of some thousand elements, and `reversed` counts the first axis down.
    """
    kind = DTYPES[dtype]

    def numbers(extents: Sequence[int]) -> Any:
        if kind.kind in "iu":
            return rng.integers(0 if kind.kind == "u" else -8, 9, tuple(extents)).astype(kind)
        return rng.standard_normal(tuple(extents)).astype(kind)

    shape = tuple(shape)
    match layout:
        case "dense":
            return numbers(shape)
        case "transposed":
            return numbers((*shape[:-2], shape[-1], shape[-2])).swapaxes(-1, -2) if len(shape) > 1 else numbers(shape)
        case "sliced":
            larger = numbers([extent + 5 for extent in shape])
            return larger[tuple(slice(2, 2 + extent) for extent in shape)]
        case "wide":
            whole = np.full((*shape[:-1], shape[-1] + 5003), 77).astype(kind)
            whole[..., : shape[-1]] = numbers(shape)
            return whole[..., : shape[-1]]
        case "reversed":
            return numbers(shape)[::-1]
    raise ValueError(layout)


LAYOUTS: Final = ("dense", "transposed", "sliced", "wide", "reversed")


def wide_of(*values: Any) -> tuple[Any, ...]:
    """Arrays in float64 (integers in int64); all else as it is."""
    return tuple(
        (each.astype(np.int64) if each.dtype.kind in "iub" else each.astype(np.float64))
        if isinstance(each, np.ndarray)
        else each
        for each in values
    )


# Runs.


def results(case: Case, backend: str) -> tuple[Any, ...]:
    """What the function gives on a backend ("cpu", "interpreter" or "cuda"), as numpy arrays."""
    args, named = case.make()
    if backend != "cuda":
        with tp.backend(backend), np.errstate(all="ignore"):
            return _numpy(case.function(*args, **named))
    guarded: list[OnGpu] = []

    def there(each: Any) -> Any:
        if not isinstance(each, np.ndarray):
            return each
        guarded.append(OnGpu(each))
        return guarded[-1].tensor

    result = _numpy(case.function(*map(there, args), **{name: there(each) for name, each in named.items()}))
    for each in guarded:
        each.assert_rest_is_kept()
    return result


def assert_right(case: Case, backend: str) -> None:
    """The function gives on a backend what the reference says, up to some roundings; NaN and infinity exactly."""
    args, named = case.make()
    with np.errstate(all="ignore"):
        expected = case.reference(*args, **named)
    wanted = expected if isinstance(expected, tuple) else (expected,)
    result = results(case, backend)
    assert len(result) == len(wanted)
    for actual, want in zip(result, wanted, strict=True):
        assert_close(actual, np.asarray(want), case.tolerance)


def assert_close(actual: Any, expected: Any, tolerance: float | None = None) -> None:
    """Equal shapes, NaN and infinities, and finite values within a part of the greatest magnitude there is."""
    assert actual.shape == expected.shape
    kept = by_storage()[actual.dtype].name
    if actual.dtype.kind in "iub" or tolerance == 0:
        np.testing.assert_array_equal(actual.astype(expected.dtype), expected)
        return
    with np.errstate(all="ignore"):
        rounded = expected.astype(actual.dtype).astype(np.float64)  # what overflows its type overflows here too
        mine = actual.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(mine), np.isnan(rounded))
    np.testing.assert_array_equal(np.isposinf(mine), np.isposinf(rounded))
    np.testing.assert_array_equal(np.isneginf(mine), np.isneginf(rounded))
    finite = np.isfinite(rounded)
    scale = max(float(np.abs(rounded[finite]).max(initial=0.0)), 1e-30)
    off = float(np.abs(mine[finite] - rounded[finite]).max(initial=0.0)) / scale
    allowed = _STEP[kept] if tolerance is None else tolerance
    assert off <= allowed, f"off by {off:.2e} of the greatest magnitude, {allowed:.0e} allowed"


def _numpy(result: Any) -> tuple[Any, ...]:
    every = result if isinstance(result, tuple) else (result,)
    return tuple(each.numpy() if isinstance(each, Tensor) else np.asarray(each) for each in every)


class OnGpu:
    """A tensor on the GPU that lies as a numpy array does: strides, alignment and gaps; with bytes around it."""

    def __init__(self, array: Any) -> None:
        low, high = byte_range(array)
        begin = _GUARD + low % 16
        self._before = np.full(begin + high - low + _GUARD, _FILL, np.uint8)
        self._before[begin : begin + high - low] = np.frombuffer(ctypes.string_at(low, high - low), np.uint8)
        self._first = begin + int(array.__array_interface__["data"][0]) - low
        self._memory = tp.from_numpy(self._before, device="cuda")
        self._array = array
        place = self._memory.address + self._first
        dtype = by_storage()[array.dtype]
        self.tensor = Tensor._of(self._memory.block, dtype, place, array.shape, array.strides)

    def assert_rest_is_kept(self) -> None:
        """Nothing was written around the elements or between them."""
        now, before = self._memory.numpy().copy(), self._before.copy()
        for memory in (now, before):
            seen = np.ndarray(self._array.shape, self._array.dtype, memory.data, self._first, self._array.strides)
            seen[...] = np.zeros((), self._array.dtype)
        assert (now == before).all(), "bytes beside an argument changed"


# What a GPU will be asked to run.

Launched = tuple[tp.Kernel, list[Any], dict[str, Any]]


def launches(case: Case, target: str = "sm_90") -> Iterator[Launched]:
    """The launches a call makes on a GPU, found here: each is recorded and its outputs become zeros."""
    args, named = case.make()
    results: list[Launched] = []
    with _recorded(results, target):
        case.function(*args, **named)
    yield from results


@contextmanager
def _recorded(result: list[Launched], target: str) -> Iterator[None]:
    def record(kernel: tp.Kernel, args: tuple[Any, ...], constants: dict[str, Any]) -> None:
        result.append((kernel, list(args), constants))
        declared = (access for name, access in kernel.function.__annotations__.items() if name not in kernel.absent)
        for arg, access in zip(args, declared, strict=False):
            if isinstance(arg, np.ndarray) and str(access).startswith("Out["):
                arg[...] = np.zeros((), arg.dtype)

    launcher, aim = tp.Kernel.launcher, arrays.target_of
    tp.Kernel.launcher = record
    arrays.target_of = lambda array: target
    try:
        yield
    finally:
        tp.Kernel.launcher, arrays.target_of = launcher, aim


# Gradients and choices.


def assert_gradient(
    function: Callable[[Any], Any], backward: Callable[[Any], Any], x: Any, tolerance: float = 1e-7, step: float = 1e-5
) -> None:
    """`backward(dy)` is the gradient of `function` at x: along random directions, outputs change as it says."""
    rng = np.random.default_rng(0)
    dy = rng.standard_normal(function(x).shape)
    dx = backward(dy)
    assert dx.shape == x.shape
    for _ in range(5):
        way = rng.standard_normal(x.shape)
        slope = ((function(x + step * way) - function(x - step * way)) * dy).sum() / (2 * step)
        assert abs((dx * way).sum() - slope) <= tolerance * max(1.0, np.abs(dx).sum())


def each_choice(tunable: Tunable, element: str, sizes: Mapping[str, int]) -> Iterator[Choice]:
    """Makes the tunable choose one set of constants after another: those for CPUs on the CPU, others interpreted."""
    tried: dict[object, tuple[str, Choice]] = {}
    for target, backend in (("cpu", "cpu"), ("sm_90", "interpreter")):
        for choice in (tunable.default(sizes, target), *tunable.space(sizes, target)):
            key = (choice.kernel.name, *choice.constants.items())
            tried.setdefault(key, (backend, Choice(choice.kernel, choice.constants)))
    try:
        for backend, choice in tried.values():
            tunable._chosen["cpu", element, *sizes.values()] = choice
            with tp.backend(backend):
                yield choice
    finally:
        tunable.forget()
