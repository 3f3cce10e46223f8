"""Sums of products of bytes: exact on every processor this machine can be, with the instructions for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.cpu_assembly import assembly
from tileproof import In, Out, i8, i32
from tileproof.backends.cpu import target
from tileproof.backends.cpu.codegen.program import module
from tileproof.backends.cpu.device.loaded_code import Lowered
from tileproof.runtime.launch.launch import prepare


@tp.kernel(deny_checks=True)
def groups(y: Out[i32, "N C"], w: In[i8, "N C S"], x: In[i8, "C S"], *, C: int, S: int, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n, :] = (w[n, :, :].to(i32) * x[:, :].to(i32)).sum(axis=2)


@tp.kernel(deny_checks=True)
def rows(y: Out[i32, "N"], w: In[i8, "N K"], x: In[i8, "K"], *, K: int, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n] = (x[:].to(i32) * w[n, :].to(i32)).sum(axis=1)


@tp.kernel(deny_checks=True)
def alone(y: Out[i32, "1"], w: In[i8, "K"], x: In[i8, "K"], *, K: int) -> None:
    y[0:1] = tp.full((1,), (w[:].to(i32) * x[:].to(i32)).sum(), i32)


@tp.kernel(deny_checks=True)
def wrapped(y: Out[i32, "N"], w: In[i8, "N K"], x: In[i8, "K"], *, K: int, BN: int = 8) -> None:
    """Products of bytes that are bytes themselves."""
    for n in tp.parallel(N=BN):
        y[n] = (x[:] * w[n, :]).sum(axis=1)


SIZES = [(19, 9, 64), (3, 17, 64), (5, 3, 32), (9, 5, 16), (3, 2, 128), (13, 1, 512), (2, 3, 48), (4, 2, 24), (1, 1, 7)]


def of_all_bytes(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Bytes of every value, the least one often: it has no positive."""
    result = rng.integers(-128, 128, shape).astype(np.int8)
    result[rng.random(shape) < 0.2] = -128
    return result


@pytest.mark.sweep(1)
@pytest.mark.parametrize("level", ["host", "avx512", "avx2", "sse2"])
def test_sums_are_exact(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if level != "host" and target._missing(target.named(level), target.host()):
        pytest.skip(f"this machine has no {level}")
    monkeypatch.setenv(target.VARIABLE, level)
    rng = np.random.default_rng(0)
    for n, c, s in SIZES:
        w, x = of_all_bytes(rng, (n, c, s)), of_all_bytes(rng, (c, s))
        y, z, total = np.empty((n, c), np.int32), np.empty(n, np.int32), np.empty(1, np.int32)
        groups(y, w, x)
        assert (y == np.einsum("ncs,cs->nc", w.astype(int), x.astype(int))).all()
        rows(z, w.reshape(n, -1), x.reshape(-1))
        assert (z == y.sum(axis=1)).all()
        alone(total, w[0].reshape(-1), x.reshape(-1))
        assert total[0] == z[0]
        wrapped(z, w.reshape(n, -1), x.reshape(-1))
        assert (z == (w * x).reshape(n, -1).sum(axis=1, dtype=np.int32)).all()


@pytest.mark.parametrize(
    ("processor", "instruction"),
    [("cascadelake", "vpdpbusd"), ("alderlake", "vpdpbusd"), ("avx512", "vpmaddwd"), ("avx2", "vpmaddwd"),
     ("sse2", "pmaddwd"), ("neoverse-n1", "sdot")],
)  # fmt: skip
def test_the_instruction_for_them_is_used(processor: str, instruction: str) -> None:
    w, x, y = np.zeros((8, 3, 64), np.int8), np.zeros((3, 64), np.int8), np.zeros((8, 3), np.int32)
    proved, bound = prepare(groups, (y, w, x), {})
    there = target.named(processor)
    specialization = Lowered(proved.ready).specialization(bound.tensors, bound.dimensions, there.caches.l3)
    code = assembly(module(proved.ready, specialization, there, "kernel").text, there)
    assert instruction in code.partition("kernel.main:")[2]
