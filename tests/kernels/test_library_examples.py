"""Every function of the library has an example in its docstring, and every example runs."""

from __future__ import annotations

import doctest
import inspect
import textwrap
from typing import Any, Final

import numpy as np
import pytest

import tileproof as tp
import tileproof.kernels as tk

FUNCTIONS: Final = [name for names in tk.FAMILIES.values() for name in names.split()]
ROWS: Final = (4, 16)
HEADS: Final = {"q": (2, 4, 6, 16), "k": (2, 2, 6, 16), "v": (2, 2, 6, 16)}
LAYER: Final = {"x": ROWS, "w": (8, 16)}
GROUP: Final = {"x": (4, 128), "w": (8, 128)}
VECTOR: Final = {"w": (8, 16), "x": (16,), "g": (16,)}
GROUPED_VECTOR: Final = {"w": (8, 128), "x": (128,), "g": (128,)}
PARTED_VECTOR: Final = {"w": (512, 512), "x": (512,), "g": (512,)}
TURNED: Final = {"cos": (20, 8), "sin": (20, 8)}

SHAPES: Final[dict[str, dict[str, tuple[int, ...]]]] = {
    "add": {"x": ROWS, "y": ROWS},
    "mul": {"x": ROWS, "y": ROWS},
    "silu_mul": LAYER,
    "silu_mul_backward": {"dy": (4, 8), "x": ROWS},
    "gelu": {"x": ROWS},
    "gelu_backward": {"dy": ROWS, "x": ROWS},
    "dropout": {"x": ROWS, "dy": ROWS},
    "cast": {"x": ROWS},
    "copy": {"x": ROWS},
    "transpose": {"x": ROWS},
    "softmax": {"x": ROWS},
    "softmax_backward": {"dy": ROWS, "y": ROWS},
    "log_softmax": {"x": ROWS},
    "log_softmax_backward": {"dy": ROWS, "y": ROWS},
    "cross_entropy": {"logits": ROWS},
    "cross_entropy_backward": {"dloss": (4,), "logits": ROWS, "lse": (4,)},
    "rms_norm": {"x": ROWS, "w": (16,)},
    "rms_norm_backward": {"dy": ROWS, "x": ROWS, "w": (16,)},
    "add_rms_norm": {"x": ROWS, "residual": ROWS, "w": (16,)},
    "add_rms_norm_backward": {"dy": ROWS, "dtotal": ROWS, "total": ROWS, "w": (16,)},
    "layer_norm": {"x": ROWS, "w": (16,), "b": (16,)},
    "layer_norm_backward": {"dy": ROWS, "x": ROWS, "w": (16,)},
    "batched_matmul": {"q": (3, 4, 16), "k": (3, 5, 16)},
    "fused_linear": {**LAYER, "bias": (8,), "down": (16, 8), "h": ROWS},
    "silu_linear": {"x": ROWS, "gate_up": (24, 16), "down": (16, 12)},
    "grouped_matmul": {"x": (8, 16), "w": (3, 4, 16)},
    "int8_linear": LAYER,
    "fp8_linear": LAYER,
    "int4_linear": GROUP,
    "quantize_int8": LAYER,
    "norm_quantize_int8": {**GROUP, "g": (128,)},
    "norm_int8_matvec": GROUPED_VECTOR,
    "norm_int8_matvec_silu": GROUPED_VECTOR,
    "int8_matvec_add": {**GROUPED_VECTOR, "residual": (8,)},
    "int8_parts": PARTED_VECTOR,
    "norm_int8_parts": PARTED_VECTOR,
    "add_norm_int8_parts": PARTED_VECTOR,
    "parts_matvec": PARTED_VECTOR,
    "parts_matvec_add": {**PARTED_VECTOR, "residual": (512,)},
    "parts_matvec_silu": PARTED_VECTOR,
    "parts_silu_parts": {**PARTED_VECTOR, "w": (1024, 512)},
    "parts_matvec_pieces": {**PARTED_VECTOR, "w": (8, 1024), "x": (1024,)},
    "quantize_fp8": LAYER,
    "quantize_int4": GROUP,
    "matvec": VECTOR,
    "norm_matvec": VECTOR,
    "matvec_add": {**VECTOR, "residual": (8,)},
    "matvec_silu": VECTOR,
    "norm_matvec_silu": VECTOR,
    "attention": HEADS,
    "attention_backward": {**HEADS, "do": (2, 4, 6, 16)},
    "varlen_attention": {"q": (7, 4, 16), "k": (7, 2, 16), "v": (7, 2, 16)},
    "decode_attention": {"q": (2, 4, 16), "keys": (2, 2, 9, 16), "values": (2, 2, 9, 16)},
    "paged_attention": {"q": (2, 4, 16), "key_pages": (5, 2, 4, 16), "value_pages": (5, 2, 4, 16)},
    "prefill_attention": {"q": (3, 4, 16), "key_pages": (5, 2, 4, 16), "value_pages": (5, 2, 4, 16)},
    "ragged_attention": {"q": (3, 4, 16), "key_pages": (5, 2, 4, 16), "value_pages": (5, 2, 4, 16), "o": (3, 4, 16)},
    "paged_append": {"key_pages": (5, 2, 4, 16), "value_pages": (5, 2, 4, 16), "k": (3, 2, 16), "v": (3, 2, 16)},
    "rope": {**TURNED, "q": (3, 2, 16)},
    "rope_backward": {**TURNED, "dy": (3, 2, 16)},
    "norm_rope_append": {
        **TURNED, "qkv": (3, 6 * 16), "keys": (5, 1, 4, 16), "values": (5, 1, 4, 16), "q_norm": (16,), "k_norm": (16,),
    },
    "fused_decode_attention": {
        **TURNED, "qkv": (2, 6 * 16), "keys": (5, 1, 4, 16), "values": (5, 1, 4, 16), "q_norm": (16,), "k_norm": (16,),
    },
    "append_layers": {
        **TURNED, "qkv": (2, 3, 6 * 16), "keys": (2, 5, 1, 4, 16), "values": (2, 5, 1, 4, 16), "k_norm": (2, 16),
    },
    "embedding": {"table": (7, 16)},
    "embedding_backward": {"dy": (3, 16), "table": (7, 16)},
    "gather_rows": {"x": (7, 16)},
    "scatter_rows": {"new": (3, 16), "table": (7, 16)},
    "conv2d": {"x": (2, 3, 9, 8), "w": (4, 3, 3, 3)},
}  # fmt: skip
"""Arrays of random numbers that an example takes for granted."""

NUMBERS: Final[dict[str, list[Any]]] = {
    "labels": [0, 15, -1, 3], "offsets": [0, 3, 3, 7], "used": [9, 4], "table": [[3, 1, 4], [2, -1, -1]],
    "slots": [7, -1, 12], "positions": [0, 19, 5], "tokens": [6, 0, 6], "ids": [2, -1, 2], "order": [4, -1, 0],
    "places": [4, -1, 0], "rows": [[0, 1], [2, -1]], "sequence": [0, 0],
}  # fmt: skip
"""Index arrays that an example takes for granted, as i32, where there is no array of random numbers of that name."""
OWN_NUMBERS: Final[dict[str, dict[str, list[Any]]]] = {"fused_decode_attention": {"positions": [11, 3]}}
"""Others in their place, by function."""


def example_of(name: str) -> str:
    """The lines below `Example:` in the docstring of a function."""
    _, found, example = (inspect.getdoc(getattr(tk, name)) or "").partition("\nExample:\n")
    assert found, f"tk.{name} has no example"
    return textwrap.dedent(example)


def names_for(name: str) -> dict[str, Any]:
    """What an example may use: the library, numpy and its arrays."""
    rng = np.random.default_rng(0)
    own = {**NUMBERS, **OWN_NUMBERS.get(name, {})}
    numbers = {each: np.array(entries, np.int32) for each, entries in own.items()}
    arrays = {each: rng.standard_normal(shape, np.float32) for each, shape in SHAPES.get(name, {}).items()}
    return {"np": np, "tp": tp, "tk": tk, **numbers, **arrays}


def run(name: str, names: dict[str, Any]) -> None:
    """Runs the example of a function; what it shows, it has to print."""
    example = example_of(name)
    if ">>>" in example:
        runner = doctest.DocTestRunner()
        runner.run(doctest.DocTestParser().get_doctest(example, names, name, None, 0), clear_globs=False)
        assert runner.summarize(verbose=False).failed == 0
    else:
        exec(compile(example, name, "exec"), names)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_runs(name: str) -> None:
    names = names_for(name)
    before = dict(names)
    run(name, names)
    assert f"tk.{name}(" in example_of(name)
    made = [value for key, value in names.items() if value is not before.get(key) and isinstance(value, np.ndarray)]
    assert all(np.isfinite(each.astype(np.float64)).all() for each in made)


def test_there_are_no_arrays_for_functions_that_do_not_exist() -> None:
    assert set(SHAPES) <= set(FUNCTIONS)


# The same call, recorded.


class Watched:
    """The library, which keeps how one of its functions was called first, and what it gave."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.call: tuple[list[Any], dict[str, Any], Any] | None = None

    def __getattr__(self, name: str) -> Any:
        function = getattr(tk, name)

        def called(*args: Any, **named: Any) -> Any:
            before = [each.copy() if isinstance(each, np.ndarray) else each for each in args]
            given = function(*args, **named)
            self.call = self.call or (before, named, given)
            return given

        return called if name == self.name else function


WITH_OUT: Final = [name for name in FUNCTIONS if "out" in inspect.signature(getattr(tk, name)).parameters]


@pytest.mark.sweep(20)
@pytest.mark.parametrize("name", [name for name in WITH_OUT if name != "scatter_rows"])
def test_with_out_the_call_can_be_recorded_in_a_graph(name: str) -> None:
    watched = Watched(name)
    run(name, {**names_for(name), "tk": watched})
    assert watched.call is not None
    args, named, given = watched.call
    named = {each: value for each, value in named.items() if each != "out"}
    wanted = given if isinstance(given, tuple) else (given,)
    tensors = [tp.from_numpy(each) if isinstance(each, np.ndarray) else each for each in args]
    made = tuple(tp.from_numpy(np.zeros_like(each)) for each in wanted)
    if named.get("activations") == "int8":
        named["workspace"] = tp.empty((4, 16), tp.i8), tp.empty((4, 1))
    with tp.Graph() as graph:
        getattr(tk, name)(*tensors, **named, out=made if isinstance(given, tuple) else made[0])
    graph.replay()
    for got, want in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), want)
