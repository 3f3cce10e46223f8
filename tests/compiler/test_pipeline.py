"""The list of passes: nothing else rewrites IR, every backend goes by it, each pass keeps what a kernel computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Out, f32, i32
from tileproof.analysis.prove import prove
from tileproof.backends import interpreter
from tileproof.backends.cpu.target import depth_for, host
from tileproof.compiler import pipeline
from tileproof.compiler.pipeline import FRONT_END, Cpu, Cuda, Interpreter, Pass, Target, apply, of_target, shared
from tileproof.frontend.elaborate import accepted
from tileproof.ir import ops
from tileproof.ir.printer import print_kernel
from tileproof.ir.verifier import IRError
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.launch import prepare

PACKAGE = Path(tp.__file__).parent
LIST = Path(pipeline.__file__)
TARGETS: tuple[Target, ...] = (Interpreter(), Cpu(64), Cuda())


@tp.kernel
def looked_up(y: Out[f32, "M N"], x: In[f32, "V N"], at: In[i32, "M"], a: In[f32, "M K"], b: In[f32, "K N"]) -> None:
    """Something for every pass: a value nothing uses, an index tested at run time, products that are added up."""
    for i, j in tp.parallel(M=4, N=16):
        rows = at[i]
        unused = rows * 2  # noqa: F841
        total = x[rows, j]
        for k in tp.tiles(K=8):
            total = tp.mma(a[i, k], b[k, j], total)
        for k in tp.tiles(K=8):
            total = total + a[i, k] @ b[k, j]
        y[i, j] = total


def arguments() -> tuple[Any, ...]:
    """Small integers: their sums are the same in any order."""
    rng = np.random.default_rng(0)
    x, a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((7, 21), (6, 43), (43, 21)))
    return np.zeros((6, 21), np.float32), x, rng.integers(0, 7, 6, np.int32), a, b


def stages(target: Target) -> Iterator[tuple[str, ops.KernelIR]]:
    """The kernel as elaborated, and after each pass on the way to a target."""
    ir = accepted(looked_up, {}).ir
    yield pipeline.ELABORATE, ir
    for each in FRONT_END:
        ir = apply([each], ir)
        yield each.name, ir
    for each in (*shared(prove(ir).residuals), *of_target(target)):
        ir = apply([each], ir)
        yield each.name, ir


# What passes do.


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_each_pass_changes_the_ir_and_keeps_what_it_computes(target: Target) -> None:
    _, bound = prepare(looked_up, arguments(), {})
    _, x, at, a, b = arguments()
    texts = []
    for name, ir in stages(target):
        tensors = {key: array.copy() for key, array in bound.tensors.items()}
        interpreter.run(ir, tensors, bound.dimensions, sanitize=False)
        np.testing.assert_array_equal(tensors["y"], x[at] + 2 * (a @ b), err_msg=name)
        texts.append(print_kernel(ir))
    assert len(set(texts)) == len(texts)


# How the list is run.


def broken(ir: ops.KernelIR) -> ops.KernelIR:
    """Each operation twice, so that values are defined twice."""
    return replace(ir, body=ops.Block((*ir.body.ops, *ir.body.ops)))


def test_ir_that_breaks_a_rule_is_reported_with_the_pass_that_made_it() -> None:
    passes = (*FRONT_END, Pass("clumsy", broken, ""), Pass("never", lambda ir: pytest.fail("it went on"), ""))
    with pytest.raises(IRError) as caught:
        apply(passes, accepted(looked_up, {}).ir)
    assert caught.value.__notes__ == ["the pass `clumsy` made this IR"]


def test_nothing_is_verified_unless_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEPROOF_VERIFY")
    ir = accepted(looked_up, {}).ir
    assert apply([Pass("clumsy", broken, "")], ir) == broken(ir)


def test_passes_after_the_one_that_is_named_are_not_run() -> None:
    never = Pass("never", lambda ir: pytest.fail("it went on"), "")
    assert apply([*FRONT_END, never], accepted(looked_up, {}).ir, after=FRONT_END[-1].name)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_no_two_passes_of_a_target_have_one_name(target: Target) -> None:
    names = [name for name, _ in stages(target)]
    assert len(set(names)) == len(names)


# That nothing goes past it.


def test_every_backend_lowers_by_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Target] = []

    def recorded(target: Target) -> tuple[Pass, ...]:
        asked.append(target)
        return of_target(target)

    monkeypatch.setattr(pipeline, "of_target", recorded)
    looked_up.forget()
    for backend in ("interpreter", "cpu"):
        with tp.backend(backend):
            looked_up(*arguments())
    proved, bound = prepare(looked_up, arguments(), {})
    wanted = gpu.variant(proved, bound, gpu.space_of(proved, bound), "sm_90")
    assert asked == [Cpu(depth_for(host())), Cuda()]
    assert of_target(Interpreter()) == ()  # it runs what all targets begin with
    *_, (_, ir) = stages(Cuda())
    assert print_kernel(wanted.kernel) == print_kernel(ir)


def _functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "KernelIR" in text:
            yield from ((path, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))


def _is_pass(function: ast.FunctionDef) -> bool:
    """Whether it takes IR and returns IR, as its types say."""
    first = function.args.args[:1]
    types = [*(argument.annotation for argument in first), function.returns]
    named = [ast.unparse(type_) if type_ else "" for type_ in types]
    return len(named) == 2 and all(name in ("KernelIR", "ops.KernelIR") for name in named)


def test_every_function_from_ir_to_ir_is_in_the_list_and_imported_by_it_alone() -> None:
    results = {function.name: path for path, function in _functions() if _is_pass(function) and path != LIST}
    assert results.keys() >= {"simplify", "place_checks", "add_products", "deepen_products"}
    importing: dict[str, set[Path]] = {name: set() for name in results}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in results):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name in results:
                        importing[alias.name].add(path)
    assert importing == {name: {LIST} for name in results}
