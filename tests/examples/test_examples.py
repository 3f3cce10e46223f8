"""Every example agrees with its numpy reference, whatever the sizes, types, tiles and order of programs."""

import importlib.util
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from tileproof.diagnostics.codes import Code

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
F16, BF16, F32, F64 = (np.dtype(d) for d in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64))
I32, I64 = np.dtype(np.int32), np.dtype(np.int64)
ERROR = {F64: 1e-4, F32: 1e-4, F16: 5e-3, BF16: 4e-2}
"""Allowed relative to 1 + |expected|: the kernels compute in f32 and round once, when they store."""

any_extent = st.one_of(st.integers(0, 3), st.integers(4, 18))
extent = st.one_of(st.integers(1, 3), st.integers(4, 18))
small = st.integers(0, 4)
tile = st.sampled_from((1, 2, 3, 4, 7, 8, 16, 32))


@dataclass(frozen=True)
class Case:
    """What an example is tried with: extents by name, constants that are tile sizes, element types."""

    extents: dict[str, st.SearchStrategy[int]]
    tiles: tuple[str, ...]
    dtypes: tuple[np.dtype[Any], ...]
    exact: bool = False


FLOATS = (F32, F16, BF16, F64)
NARROW = (F32, F16, BF16)
"""Products accumulate in f32, so f64 does not fit these kernels."""
CASES = {
    "add": Case({"N": any_extent}, ("BN",), (*FLOATS, I32, I64), exact=True),
    "matmul": Case({"M": any_extent, "N": any_extent, "K": any_extent}, ("BM", "BN", "BK"), NARROW),
    "rms_norm": Case({"N": small, "D": any_extent}, (), FLOATS),
    "layer_norm": Case({"N": small, "D": any_extent}, (), FLOATS),
    "softmax": Case({"R": small, "C": any_extent}, ("BC",), FLOATS),
    "attention": Case(
        {
            "G": st.integers(1, 2), "heads": st.integers(0, 2), "S": st.integers(0, 9), "C": any_extent,
            "D": st.integers(1, 9), "past": st.integers(-3, 12),
        },
        ("BS", "BT"),
        NARROW,
    ),
    "kv_append": Case(
        {"G": small, "C": st.integers(8, 12), "N": small, "D": any_extent, "pos": st.integers(0, 4)},
        (),
        (*FLOATS, I32),
        exact=True,
    ),
    "embedding": Case({"N": any_extent, "V": extent, "D": any_extent}, ("BD",), (*FLOATS, I32), exact=True),
    "histogram": Case({"N": any_extent, "B": extent}, ("BN",), (I32, I64), exact=True),
    "transpose": Case({"M": any_extent, "N": any_extent}, ("BM", "BN"), (*FLOATS, I32), exact=True),
    "rope": Case({"N": small, "H": small, "D": any_extent}, (), FLOATS),
    "silu_mul": Case({"N": any_extent, "I": any_extent, "K": any_extent}, ("BN", "BI", "BK"), NARROW),
    "argmax": Case({"R": small, "V": extent}, ("BV",), FLOATS, exact=True),
}  # fmt: skip
orders = st.one_of(st.sampled_from(("forward", "reverse")), st.integers(0, 3))


@cache
def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scattered(array: Any) -> Any:
    """The same values, every second element of a larger array; numbers as they are."""
    if not isinstance(array, np.ndarray):
        return array
    view = np.zeros((*array.shape, 2), array.dtype)[..., 0]
    view[...] = array
    return view


def check(
    name: str, run: Callable[..., None], dtype: np.dtype[Any], scatter: bool, extents: dict[str, int]
) -> None:
    """Runs an example on random arguments and compares every argument with what it should hold."""
    example, exact = load(EXAMPLES / f"{name}.py"), CASES[name].exact
    args, constants = example.arguments(dtype=dtype, **extents)
    if scatter:
        args = [scattered(a) for a in args]
    expected = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    for position, values in zip(example.OUTPUTS, example.reference(*args), strict=True):
        expected[position] = values
    run(getattr(example, name), args, constants)
    for position, (got, wanted) in enumerate(zip(args, expected, strict=True)):
        if isinstance(got, np.ndarray):
            error = 0.0 if exact or position not in example.OUTPUTS else ERROR[got.dtype]
            np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=error, atol=error)


def test_every_example_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"demo"} == set(CASES)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_an_example_agrees_with_numpy(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    extents = {key: data.draw(strategy, key) for key, strategy in case.extents.items()}
    sizes = {key: data.draw(tile, key) for key in case.tiles}
    order = data.draw(orders, "order")

    def run(kernel: tp.Kernel, args: list[Any], constants: dict[str, int]) -> None:
        tp.interpret(kernel, *args, order=order, sanitize=True, **(constants | sizes))

    dtype, scatter = data.draw(st.sampled_from(case.dtypes), "dtype"), data.draw(st.booleans(), "scatter")
    check(name, run, dtype, scatter, extents)


@pytest.mark.parametrize("name", CASES)
def test_an_example_runs_as_a_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith(f"{name}: ")


def test_the_demo_shows_two_kernels_and_a_refusal() -> None:
    done = subprocess.run([sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("largest error") == 2
    assert Code.WRONG_DIMENSION.id in done.stdout
    assert "\033[" not in done.stdout


def test_a_swapped_index_is_refused() -> None:
    args, constants = load(EXAMPLES / "matmul.py").arguments()
    with pytest.raises(tp.KernelError) as caught:
        load(EXAMPLES / "refused" / "swapped_index.py").matmul(*args, **constants)
    assert [d.code for d in caught.value.diagnostics] == [Code.WRONG_DIMENSION]
    assert caught.value.diagnostics[0].span is not None
    assert caught.value.diagnostics[0].span.text in ("k", "a[k, i]")
