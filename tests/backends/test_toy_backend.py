"""The seam is real: a backend that nothing in the package knows of compiles, launches and records kernels."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles import toy_backend
from oracles.toy_backend import Toy
from support.source_files import load_file
from tileproof import In, Out, f32
from tileproof.backends import base
from tileproof.diagnostics import Code
from tileproof.runtime.memory.ledger import ledger_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SIZES: dict[str, list[dict[str, int]]] = {
    "add": [{"N": 100}, {"N": 16}, {"N": 1}, {"N": 0}, {"N": 1023}],
    "matmul": [{}, {"M": 16, "N": 8, "K": 16}, {"M": 1, "N": 1, "K": 1}, {"M": 17, "N": 9, "K": 0}, {"M": 0}],
    "softmax": [{}, {"R": 1, "C": 8}, {"R": 3, "C": 1}, {"R": 7, "C": 129}, {"R": 0}],
}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    """A toy backend, registered as users register one, for as long as a test."""
    monkeypatch.setattr(base, "_backends", dict(base._backends))
    monkeypatch.delenv("TILEPROOF_BACKEND", raising=False)
    toy = Toy()
    tp.register_backend("toy", toy)
    yield toy
    tp.current_stream().synchronize()


def example(name: str) -> ModuleType:
    return load_file(EXAMPLES / f"{name}.py")


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i] * 2


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "sizes"), [(name, sizes) for name, each in SIZES.items() for sizes in each], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_examples_agree_with_numpy(name: str, sizes: dict[str, int], dtype: Any, toy: Toy) -> None:
    module = example(name)
    arguments, constants = module.arguments(3, dtype, **sizes)
    (expected,) = module.reference(*arguments)
    with tp.backend("toy"):
        getattr(module, name)(*arguments, **constants)
    tolerance = 1e-5 if dtype is np.float32 else 2e-2
    np.testing.assert_allclose(arguments[0], expected, rtol=tolerance, atol=tolerance)
    assert list(toy.sources) == [name]


def test_the_environment_chooses_it(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_BACKEND", "toy")
    x, y = np.arange(19, dtype=np.float32), np.empty(19, np.float32)
    double(y, x)
    assert np.array_equal(y, 2 * x)
    assert list(toy.sources) == ["double"]


def test_a_launch_that_is_like_one_of_another_backend_is_its_own(toy: Toy) -> None:
    x, y = np.arange(19, dtype=np.float32), np.empty(19, np.float32)
    for _ in range(2):
        double(y, x)
    with tp.backend("toy"):
        double(y, x)
    assert "double" in toy.sources


def test_tensors_of_our_own_are_leased_and_poisoned_as_on_any_backend(toy: Toy) -> None:
    x, y = tp.from_numpy(np.arange(19, dtype=np.float32)), tp.empty(19)
    with tp.backend("toy"):
        double(y, x)
    assert np.array_equal(y.numpy(), 2 * np.arange(19))

    class Broken:
        on_gpu = False

        def compile(self, result: Any, bound: Any) -> Any:
            def run(arguments: dict[str, Any], dimensions: dict[str, int]) -> None:
                raise ArithmeticError("the toy broke")

            return run

    def fail() -> None:
        z = tp.empty(19)
        with tp.backend("broken"), pytest.raises(ArithmeticError, match="the toy broke"):
            double(z, x)
        with pytest.raises(RuntimeError, match="interrupted by ArithmeticError"):
            z.numpy()

    tp.register_backend("broken", Broken())
    before = ledger_of(None).poisoned
    fail()
    gc.collect()
    tp.memory()
    assert [each for each in ledger_of(None).poisoned if each not in before] == []  # it went with its memory


def test_a_graph_replays_it(toy: Toy) -> None:
    x, y, z = tp.from_numpy(np.ones(19, np.float32)), tp.empty(19), tp.empty(19)
    with tp.backend("toy"), tp.Graph() as graph:
        double(y, x)
        double(z, y)
    for value in (1.0, 3.0):
        tp.copy(x, tp.full(19, value))
        graph.replay()
        assert np.array_equal(z.numpy(), np.full(19, 4 * value))
    assert list(toy.sources) == ["double"]


def test_it_is_given_only_what_is_proved_and_checked(toy: Toy) -> None:
    @tp.kernel
    def past_the_end(y: Out[f32, "N"], x: In[f32, "M"], *, B: int = 8) -> None:
        for i in tp.parallel(N=B):
            y[i] = x[i]

    @tp.kernel
    def of_even(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
        tp.require(tp.dim("N") % 2 == 0)
        for i in tp.parallel(N=B):
            y[i] = x[i]

    x = np.ones(19, np.float32)
    with tp.backend("toy"):
        with pytest.raises(tp.KernelError):
            past_the_end(np.empty(20, np.float32), x)
        with pytest.raises(tp.LaunchError):
            of_even(np.empty(19, np.float32), x)
        with pytest.raises(tp.LaunchError) as caught:
            double(x, x)
    assert caught.value.diagnostics[0].code is Code.ALIASED
    assert not toy.sources


def test_what_it_cannot_compile_is_its_own_error(toy: Toy) -> None:
    @tp.kernel
    def sums(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
        for i in tp.parallel(N=B):
            y[i] = tp.cumsum(x[i], axis=0)

    y = np.zeros(19, np.float32)
    with tp.backend("toy"), pytest.raises(tp.LaunchError, match="the toy backend does not know CumSum"):
        sums(y, np.ones(19, np.float32))
    assert not y.any()


def test_a_name_like_it_is_suggested(toy: Toy) -> None:
    with pytest.raises(tp.LaunchError) as caught, tp.backend("toi"):
        pass
    (finding,) = caught.value.diagnostics
    assert finding.help == 'did you mean tp.backend("toy")?'
    assert finding.notes == ("backends here: auto, cpu, interpreter, cuda, toy",)


@pytest.mark.parametrize(("name", "error"), [("auto", ValueError), ("", ValueError), (3, ValueError)])
def test_a_backend_has_a_name_of_its_own(name: Any, error: type[Exception], toy: Toy) -> None:
    with pytest.raises(error, match="under a name of its own"):
        tp.register_backend(name, toy)


def test_what_compiles_nothing_is_no_backend(toy: Toy) -> None:
    with pytest.raises(TypeError, match="has no `compile`"):
        tp.register_backend("other", 3)  # type: ignore[arg-type]


def test_a_backend_that_is_loaded_on_demand_is_made_once(toy: Toy) -> None:
    results: list[Toy] = []

    def load() -> Toy:
        results.append(Toy())
        return results[-1]

    tp.register_backend("late", load)
    assert not results
    x, y = np.arange(19, dtype=np.float32), np.empty(19, np.float32)
    for _ in range(2):
        with tp.backend("late"):
            double(y, x)
    assert len(results) == 1
    assert np.array_equal(y, 2 * x)


def test_it_is_small_and_uses_no_other_backend() -> None:
    text = Path(toy_backend.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    modules = {
        name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    assert {name for name in modules if name.startswith("tileproof.")} <= {
        "tileproof.diagnostics.codes", "tileproof.diagnostics.errors", "tileproof.ir", "tileproof.ir.types",
        "tileproof.ir.ops", "tileproof.language.kernel",
    }  # fmt: skip
