"""Kernels that are launched again and again, and launches that go the short way and the full one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

import tileproof as tp
from support.launch_caches import forgotten
from tileproof import In, Index, InOut, Offsets, Out, T, Unique, f32, f64, i8, i32, u64
from tileproof.diagnostics.codes import Code

Array = np.ndarray[Any, Any]
FACTOR: Any = 2.0


def shifted(t: Any, by: float = 0.0) -> Any:
    return t + by


@tp.kernel
def scale(y: Out[T, "M N"], x: In[T, "M N"], by: f32, *, B: int = 4) -> None:
    for m, n in tp.parallel(M=2, N=B):
        y[m, n] = (x[m, n].to(f32) * by * FACTOR).to(T)


@tp.kernel
def moved(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = shifted(x[n])


@tp.kernel
def wide(y: Out[f64, "N"], by: f64, up: i8, at: u64) -> None:
    for n in tp.parallel(N=4):
        y[n] = tp.full((n,), 0.0, f64) + by + up.to(f64) + (at % 1000).to(f64)


@tp.kernel
def weak(y: Out[f32, "N"], by: T) -> None:
    for n in tp.parallel(N=4):
        y[n] = tp.full((n,), 1.0) * by.to(f32)


@tp.kernel
def gather(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = table[ids[n]]


@tp.kernel
def scatter(y: InOut[f32, "V"], x: In[f32, "N"], to: In[Unique["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[to[n]] = x[n]


@tp.kernel
def permuted(y: Out[f32, "N"], x: In[f32, "N"], to: In[Unique["N"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[to[n]] = x[n]


@tp.kernel
def ragged(y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    for e, n in tp.parallel(tp.segments(off, N=2)):
        y[n] = e.to(f32)


@tp.kernel
def grouped(y: Out[f32, "H"], x: In[f32, "G"]) -> None:
    for h in tp.parallel(H=tp.each):
        y[h] = x[tp.group(h, "G")]


@tp.kernel
def required(y: Out[f32, "N"], x: In[f32, "N"], n0: i32) -> None:
    tp.require(n0 <= tp.dim("N"))
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def window(y: Out[f32, "N"], x: In[f32, "M"], first: i32) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[first + n]


@tp.kernel
def looked_up(y: Out[f32, "N"], table: In[f32, "V"], ids: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = table[ids[n]]


KERNELS = (scale, moved, wide, weak, gather, scatter, permuted, ragged, grouped, required, window, looked_up)


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float64).reshape(shape).astype(dtype)


def same_launch(kernel: tp.Kernel, *args: Any, **named: Any) -> list[tuple[type, Code, str]]:
    """Launches the short way if there is one, and the full way; both do the same. Gives what was raised."""
    before = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    result, results = [], []
    for way in (nullcontext, lambda: forgotten(kernel)):
        for array, saved in zip(args, before, strict=True):
            if isinstance(array, np.ndarray) and array.flags.writeable:
                array[...] = saved
        with way():
            result.append(raised(lambda: kernel(*args, **named)))
        results.append([arg.tobytes() for arg in args if isinstance(arg, np.ndarray)])
    assert result[0] == result[1]
    assert results[0] == results[1]
    return result[0]


def raised(run: Callable[[], None]) -> list[tuple[type, Code, str]]:
    try:
        run()
    except tp.TileproofError as error:
        return [(type(error), item.code, f"{item.message} at {item.span.line if item.span else 0}")
                for item in error.diagnostics]  # fmt: skip
    return []


def rejection(kernel: tp.Kernel, *args: Any, **named: Any) -> Code:
    """The code of the one mistake of a launch, which both ways see."""
    ((_, code, _),) = same_launch(kernel, *args, **named)
    return code
