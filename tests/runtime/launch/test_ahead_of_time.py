"""Compiling ahead: what is made once, what is not made again, and what a failure leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.tile_ir_operations import has_assembler
from tileproof import In, Out, Sum, T, bf16, f8e4m3, f32
from tileproof.backends.cuda.device.loaded_code import Code as MachineCode
from tileproof.diagnostics.codes import Code
from tileproof.runtime.launch import ahead_of_time as ahead
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.ahead_of_time import Launch, compile_all, plan_launch, stand_in

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
F32 = np.dtype(np.float32)


@tp.kernel
def double(y: Out[T, "N"], x: In[T, "N"], *, B: int = 64) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2


@tp.kernel
def widen(y: Out[f32, "N"], x: In[f8e4m3, "N"], *, B: int = 64) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n].to(f32)


@tp.kernel
def total(s: Sum[bf16, "1"], x: In[bf16, "N"], *, B: int = 64) -> None:
    for n in tp.parallel(N=B):
        s[0] += x[n].sum().to(bf16)


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What the assembler is asked for."""
    asked: list[Any] = []
    real = ahead.assemble_each

    def counted(values: Any, *args: Any, **more: Any) -> Any:
        values = list(values)
        asked.extend(values)
        return real(values, *args, **more)

    monkeypatch.setattr(ahead, "assemble_each", counted)
    return asked


def doubled(length: int = 100, dtype: Any = F32) -> Launch:
    return Launch("double", double, [np.empty(length, dtype), np.ones(length, dtype)], {})


def made(*plans: ahead.Plan, **options: Any) -> list[MachineCode]:
    results = [each.outcome for each in compile_all(plans, **options)]
    assert all(isinstance(result, MachineCode) for result in results), results
    return results  # type: ignore[return-value]


def test_forms_of_one_code_are_assembled_once(jobs: list[Any]) -> None:
    safe, twin = plan_launch(doubled(), ["sm_90"]), plan_launch(doubled(), ["sm_90"], checked=False)
    assert safe.variants[0].key != twin.variants[0].key
    first, second = made(safe, twin)
    assert (first.cubin == second.cubin, len(jobs)) == (True, 1)
    assert gpu.code_of(safe.variants[0]) == gpu.code_of(twin.variants[0])


def test_what_is_in_the_cache_is_not_made_again(jobs: list[Any]) -> None:
    before = made(plan_launch(doubled(), ["sm_90"]))
    (again,) = compile_all([plan_launch(doubled(108), ["sm_90"])])  # as divisible as 100
    assert (again.is_kept, again.outcome, again.seconds, again.program, len(jobs)) == (True, before[0], 0.0, None, 1)


def test_a_plan_has_its_proof_also_if_the_kernel_was_planned_before() -> None:
    first, second = plan_launch(doubled(), ["sm_90"]), plan_launch(doubled(101), ["sm_90"])
    assert first.proof == second.proof
    assert first.proved.key in first.proof


def test_a_launch_finds_what_was_made_ahead(jobs: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_launch(doubled(), ["sm_90"])
    (code,) = made(plan)
    monkeypatch.setenv("TILEPROOF_TILEIRAS", "nowhere")
    assert gpu.code_of(plan.variants[0]) == code


def test_one_that_fails_leaves_the_others_alone() -> None:
    launches = [
        Launch("widen", widen, [np.empty(64, F32), stand_in((64,), f8e4m3.storage)], {}),
        doubled(),
        Launch("total", total, [stand_in((1,), bf16.storage), stand_in((64,), bf16.storage)], {}),
    ]
    results = {
        each.plan.launch.name: each.outcome
        for each in compile_all([plan_launch(launch, ["sm_80"]) for launch in launches], workers=2)
    }
    assert isinstance(results["double"], MachineCode)
    assert isinstance(results["widen"], tp.TileproofError)
    assert [diagnostic.code for diagnostic in results["widen"].diagnostics] == [Code.ARCH_LACKS]
    assert len(results) == 3


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((3, 4), None), ((3, 4), (-16, 4)), ((0, 4), None), ((), None), ((5,), (0,)), ((1 << 38,), None)],
)
def test_a_stand_in_lies_as_it_is_told(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> None:
    array = stand_in(shape, F32, strides)
    assert (array.shape, array.dtype) == (shape, F32)
    assert strides is None or array.strides == strides
    assert strides is not None or array.flags.c_contiguous
    if array.size:
        assert array[(0,) * array.ndim] == array[(-1,) * array.ndim] == 0
        array[(-1,) * array.ndim] = 1  # it has memory for its last element
