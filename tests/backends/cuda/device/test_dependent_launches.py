"""Launches of kernels that may begin before the one ahead has ended: their code, and what the driver is told."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_programs import MULTIPROCESSORS, Lowered, lowered
from oracles.tile_ir_operations import has_assembler
from samples.assembler_modules import compile_many
from samples.check_launches import checks
from samples.example_launches import own
from samples.launch import Make
from tileproof import In, Out, f32
from tileproof.backends.cuda.codegen.memory_order import Dependent
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device import stream_launch as starting
from tileproof.backends.cuda.device.loaded_code import Code, Loaded
from tileproof.runtime.launch import cuda_code as gpu

NOTHING: frozenset[str] = frozenset()


def floats(*shape: int) -> Any:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


@tp.kernel(schedule=tp.Schedule(persistent=True))
def matvec(y: Out[f32, "N"], w: In[f32, "N K"], x: In[f32, "K"], *, BN: int = 4, BK: int = 8) -> None:
    for n in tp.parallel(N=BN):
        total = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            total += (w[n, k] * x[k]).sum(axis=1)
        y[n] = total


def product(extent: int = 24) -> Lowered:
    return lowered(matvec, [floats(extent), floats(extent, 16), floats(16)])


def dependent(code: Lowered, frozen: frozenset[str] = NOTHING) -> Lowered:
    """The same launch, compiled so that it may begin early."""
    return replace(code, variant=replace(code.variant, dependent=Dependent(frozen)))


# Keys.


def test_code_that_begins_early_has_a_key_of_its_own() -> None:
    plain = product().variant
    assert plain.key
    sets = (NOTHING, frozenset({"w"}), frozenset({"x"}), frozenset({"w", "x"}))
    keys = [plain.key, *(replace(plain, dependent=Dependent(chosen)).key for chosen in sets)]
    assert len(set(keys)) == len(keys)
    assert replace(plain, dependent=Dependent(frozenset(["x", "w"]))).key == keys[-1]


def code_of(result: Lowered, **changed: Any) -> Code:
    """What is kept of a launch, without the machine code."""
    program = result.program
    code = Code(
        "k", "sm_90", b"", program.slots, program.stages, program.piece, program.shadows, program.is_persistent,
        program.is_serial, program.has_report, 1, (), 0.0, program.is_dependent,
    )  # fmt: skip
    return replace(code, **changed)


DEVICE: Any = SimpleNamespace(sm_count=MULTIPROCESSORS)


@pytest.mark.parametrize("has_key", [False, True])
def test_a_launch_is_never_given_code_that_was_made_for_the_other(
    has_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = product()
    code = replace(code, variant=replace(code.variant, proof=code.variant.proof if has_key else ""))
    asked: list[gpu.Variant] = []

    def compiled(wanted: gpu.Variant) -> Code:
        asked.append(wanted)
        return code_of(replace(code, variant=wanted))

    monkeypatch.setattr(gpu, "code_of", compiled)
    monkeypatch.setattr(gpu, "_device", lambda ordinal: DEVICE)
    monkeypatch.setattr(gpu, "_loaded", {})
    monkeypatch.setattr(running.driver, "load", lambda *_: SimpleNamespace(function=lambda name: name))
    code.proved.memos.clear()
    forms = [code.variant, *(dependent(code, each).variant for each in (NOTHING, frozenset({"w"})))]
    for _ in range(2):
        for wanted in forms:
            assert gpu.ready(code.proved, wanted, 0).code.is_dependent == (wanted.dependent is not None)
    assert asked == forms


# Launches.


def loaded(code: Lowered, **changed: Any) -> Loaded:
    functions: Any = [stage.entry for stage in code.program.stages]
    return Loaded(code.variant.kernel, code_of(code, **changed), DEVICE, functions)


@pytest.mark.parametrize("is_early", [False, True])
def test_the_driver_is_told_whether_a_launch_may_begin_early(is_early: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    code = dependent(product())
    started: list[Any] = []
    monkeypatch.setattr(running.driver, "launch", lambda *args, early: started.append((*args, early)))
    addresses = dict.fromkeys(code.bound.tensors, 64)
    arguments = code.bound.tensors, addresses, code.bound.scalars, code.bound.dimensions, code.space, 5
    starting.run(loaded(code), *arguments, dependent=is_early)
    ((function, grid, stream, _, early),) = started
    assert (function, grid, stream) == ("matvec", (MULTIPROCESSORS, 1, 1), 5)
    assert early == is_early


NEVER_EARLY: dict[str, Make] = {
    "not compiled so": partial(own, "add"), "several stages": partial(own, "matmul_split"),
    "checks": next(iter(checks().values())),
}  # fmt: skip


@pytest.mark.parametrize("why", NEVER_EARLY)
def test_a_launch_that_is_more_than_one_call_or_not_compiled_for_it_never_begins_early(why: str) -> None:
    code = lowered(*NEVER_EARLY[why]())
    kept = loaded(code if why == "not compiled so" else dependent(code))
    assert not kept.can_depend(code.space, code.bound.tensors)
    arguments = code.bound.tensors, {}, code.bound.scalars, code.bound.dimensions, code.space, 0
    with pytest.raises(ValueError, match="cannot begin before the kernel ahead of it has ended"):
        starting.run(kept, *arguments, dependent=True)


def programs(extent: int, schedule: tp.Schedule) -> Lowered:
    kernel = matvec.with_schedule(schedule)
    return dependent(lowered(kernel, [floats(extent), floats(extent, 16), floats(16)]))


@pytest.mark.parametrize(("count", "schedule", "can"), [
    (3, tp.Schedule(), True), (400, tp.Schedule(), True), (9, tp.Schedule(persistent=True), True),
    (0, tp.Schedule(), False),
])  # fmt: skip
def test_a_launch_may_begin_early_whatever_its_size_but_not_without_programs(
    count: int, schedule: tp.Schedule, can: bool
) -> None:
    result = programs(4 * count, schedule)
    assert result.space.programs == count
    assert loaded(result, occupancy=1).can_depend(result.space, result.bound.tensors) == can


# GPUs and versions.


@pytest.mark.parametrize(("arch", "version"), [("sm_80", (13, 4)), ("sm_89", (13, 4)), ("sm_90", (13, 3))])
def test_neither_an_older_gpu_nor_older_bytecode_knows_how_to_wait(arch: str, version: tuple[int, int]) -> None:
    variant = dependent(product()).variant
    target = replace(variant.target, arch=arch, version=version)
    assert not target.can_wait
    text = f"{arch} with bytecode {version[0]}.{version[1]}"
    with pytest.raises(ValueError, match=f"no kernel can begin early on {text}"):
        replace(variant, target=target).request().lowered()
    assert replace(variant, target=target, dependent=None).request().lowered().bytecode


@pytest.mark.sweep(1)
@pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
@pytest.mark.parametrize(("arch", "names"), [
    ("sm_90", ("append_attention", "histogram", "kv_append", "matmul", "matmul_split", "rms_norm")),
    ("sm_100", ("int8_matvec",)), ("sm_120", ("layer_norm",)),
])  # fmt: skip
def test_kernels_that_wait_assemble(arch: str, names: tuple[str, ...]) -> None:
    requests = [dependent(lowered(*own(name), arch=arch)).variant.request() for name in names]
    requests.append(dependent(lowered(matvec, [floats(24), floats(24, 16), floats(16)], arch=arch)).variant.request())
    result = compile_many(requests, workers=2)
    assert len(result) == len(requests)
    for request, code in result:
        assert code.is_dependent
        assert {stage.entry for stage in code.stages} == {resource.entry for resource in code.resources}
        assert request.target.can_wait
