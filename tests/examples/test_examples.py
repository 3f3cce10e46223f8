"""Every example agrees with its numpy reference, whatever the sizes, types, tiles and order of programs."""

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
from support.source_files import load_file
from support.tiers import examples
from tileproof.compiler.compile import check_kernel
from tileproof.diagnostics.codes import Code

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
F16, BF16, F32, F64 = (np.dtype(d) for d in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64))
I32, I64 = np.dtype(np.int32), np.dtype(np.int64)
ERROR = {F64: 1e-4, F32: 1e-4, F16: 5e-3, BF16: 4e-2, I32: 0.0, I64: 0.0}
"""Allowed relative to 1 + |expected|: the kernels compute in f32 and round once, when they store."""

any_extent = st.one_of(st.integers(0, 3), st.integers(4, 18))
extent = st.one_of(st.integers(1, 3), st.integers(4, 18))
small = st.integers(0, 4)
few = st.integers(0, 2)
seed = st.integers(0, 99)
"""For examples whose index tensors differ from seed to seed."""
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
    "histogram": Case({"N": any_extent, "B": any_extent}, ("BN",), (I32, I64), exact=True),
    "transpose": Case({"M": any_extent, "N": any_extent}, ("BM", "BN"), (*FLOATS, I32), exact=True),
    "rope": Case({"N": small, "H": small, "D": any_extent}, (), FLOATS),
    "silu_mul": Case({"N": any_extent, "I": any_extent, "K": any_extent}, ("BN", "BI", "BK"), NARROW),
    "argmax": Case({"R": small, "V": extent}, ("BV",), FLOATS, exact=True),
    "matmul_split": Case({"M": any_extent, "N": any_extent, "K": any_extent}, ("BM", "BN", "SK", "BK"), NARROW),
    "decode_attention": Case(
        {"G": few, "R": few, "C": any_extent, "D": any_extent, "used": st.integers(-1, 19)}, ("SC", "BC"), NARROW
    ),
    "append_attention": Case(
        {"G": few, "R": few, "C": st.integers(8, 12), "N": small, "D": st.integers(0, 9), "pos": st.integers(0, 4)},
        ("BN", "BT"),
        NARROW,
    ),
    "paged_attention": Case(
        {
            "seed": seed, "B": few, "G": few, "R": few, "D": st.integers(0, 9), "P": st.integers(1, 4),
            "S": st.integers(0, 5), "L": small,
        },
        ("BS",),
        NARROW,
    ),
    "paged_append": Case(
        {"seed": seed, "P": small, "G": few, "S": st.integers(1, 5), "D": any_extent, "N": any_extent},
        (),
        (*FLOATS, I32),
        exact=True,
    ),
    "grouped_matmul": Case(
        {"seed": seed, "E": small, "N": any_extent, "K": any_extent, "F": any_extent}, ("BN", "BF", "BK"), NARROW
    ),
    "ragged_attention": Case(
        {
            "seed": seed, "B": small, "N": any_extent, "G": st.integers(1, 2), "heads": st.integers(0, 2),
            "D": st.integers(0, 9),
        },
        ("BN", "BT"),
        NARROW,
    ),
    "scatter_rows": Case(
        {"seed": seed, "V": any_extent, "N": any_extent, "D": any_extent}, ("BN", "BD"), (*FLOATS, I32), exact=True
    ),
    "int8_matvec": Case({"N": any_extent, "G": small, "S": any_extent}, ("BN", "BG"), FLOATS),
    "int4_matvec": Case({"N": any_extent, "G": small, "S": any_extent}, ("BN", "BG"), FLOATS),
    "top_k": Case(
        {"seed": seed, "R": few, "V": any_extent, "k": st.one_of(st.integers(-1, 19), st.just(-(2**31)))},
        ("BV",),
        NARROW,
        exact=True,
    ),
    "argmax_two_stage": Case({"R": small, "V": extent}, ("SV", "BV"), FLOATS, exact=True),
    "conv2d": Case(
        {
            "N": few, "H": st.integers(0, 7), "W": st.integers(0, 9), "C": small, "F": small, "R": st.integers(0, 3),
            "S": st.integers(0, 3),
        },
        ("BW", "BC", "BF"),
        NARROW,
    ),
    "dropout": Case(
        {
            "N": any_extent, "percent": st.sampled_from((0, 30, 100)), "key": st.integers(-(2**63), 2**63 - 1),
            "offset": st.integers(-(2**61), 2**61),
        },
        ("BN",),
        FLOATS,
    ),
    "layer_norm_backward": Case({"N": any_extent, "D": any_extent}, ("BN",), FLOATS),
    "embedding_backward": Case({"N": any_extent, "V": small, "D": any_extent}, ("BN", "BD"), FLOATS),
    "cumsum": Case({"R": small, "N": any_extent}, ("BN",), (*FLOATS, I32, I64)),
    "gram": Case({"N": any_extent, "K": any_extent}, ("B", "BK"), NARROW),
    "qkv": Case(
        {
            "H": small, "G": few, "C": st.integers(5, 7), "E": st.integers(0, 5), "K": any_extent,
            "pos": st.integers(0, 4),
        },
        ("BK",),
        FLOATS,
    ),
}  # fmt: skip
orders = st.one_of(st.sampled_from(("forward", "reverse")), st.integers(0, 3))


@cache
def load(path: Path) -> Any:
    return load_file(path, f"example_{path.stem}")


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
    names = {path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("demo")}
    assert names == set(CASES)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", CASES)
@settings(max_examples=examples(40), deadline=None, database=None, derandomize=True)
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


few_tiles = st.sampled_from((1, 3, 16))
"""Each is compiled for itself."""


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CASES)
@settings(max_examples=examples(12), deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_an_example_agrees_with_numpy_on_the_cpu(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    extents = {key: data.draw(strategy, key) for key, strategy in case.extents.items()}
    sizes = dict.fromkeys(case.tiles, data.draw(few_tiles, "tiles"))

    def run(kernel: tp.Kernel, args: list[Any], constants: dict[str, int]) -> None:
        with tp.backend("cpu"):
            kernel(*args, **(constants | sizes))

    dtype, scatter = data.draw(st.sampled_from(case.dtypes), "dtype"), data.draw(st.booleans(), "scatter")
    check(name, run, dtype, scatter, extents)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", CASES)
def test_an_example_compiles_for_dimensions_of_any_size(name: str) -> None:
    assert check_kernel(getattr(load(EXAMPLES / f"{name}.py"), name), {}) == []


@settings(max_examples=examples(20), deadline=None, database=None, derandomize=True)
@given(stride=st.integers(1, 4), pad=st.integers(0, 3), size=st.integers(1, 4), extent=st.integers(3, 7))
def test_a_convolution_takes_any_stride_and_padding(stride: int, pad: int, size: int, extent: int) -> None:
    example = load(EXAMPLES / "conv2d.py")
    args, constants = example.arguments(N=1, H=extent, W=extent + 1, C=2, F=3, R=size, S=2, STRIDE=stride, PAD=pad)
    (expected,) = example.reference(*args, STRIDE=stride, PAD=pad)
    example.conv2d(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-4, atol=1e-4)


def test_the_numbers_of_dropout_are_those_of_philox() -> None:
    assert load(EXAMPLES / "dropout.py").uniform(0, 0) == (0x6627E8D5 >> 8) / 2**24


@pytest.mark.sweep(4)
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


def test_a_swapped_index_is_rejected() -> None:
    args, constants = load(EXAMPLES / "matmul.py").arguments()
    with pytest.raises(tp.KernelError) as caught:
        load(EXAMPLES / "rejected" / "swapped_index.py").matmul(*args, **constants)
    assert [d.code for d in caught.value.diagnostics] == [Code.WRONG_DIMENSION]
    assert caught.value.diagnostics[0].span is not None
    assert caught.value.diagnostics[0].span.text in ("k", "a[k, i]")
