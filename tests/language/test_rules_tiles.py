"""The rules of docs/language.md on tiles, tags, broadcasting and operations, one test for each."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from rules import each, fails, faults, floats, ints, kernel, ramp, refused, run, zeros

TILED = "for n in tp.parallel(N=4):\n    "
PAIR = 'y: Out[f32, "N"], x: In[f32, "N"]'


# Tiles.


def test_tiles_are_immutable() -> None:
    assert refused(kernel(PAIR, TILED + "t = x[n]\n    t[0] = 1.0\n    y[n] = t")) == "TP0015"


def test_tiles_have_a_static_shape() -> None:
    assert refused(kernel(PAIR, 'y[0] = tp.zeros((tp.dim("N"),)).sum() + x[0]')) == "TP0311"
    y = zeros(6)
    run(kernel(PAIR, TILED + "y[n] = x[n] + x[n].shape[0]"), y, zeros(6))
    assert y.tolist() == [4] * 6


def test_a_scalar_is_a_tile_without_axes() -> None:
    y = zeros(2)
    run(each('y: Out[f32, "N"], x: In[f32, "N"], a: f32', "y[n] = tp.exp(a - a) + (x[n] + a).to(f32)"), y, ramp(2), 0.5)
    assert y.tolist() == [1.5, 2.5]


def test_dtype_and_shape_are_constants() -> None:
    body = "if x.dtype == f32 and x[:, :].shape[1] == 3:\n    y[0] = 1.0\nelse:\n    y[0] = 2.0"
    for dtype, wanted in ((np.float32, 1), (np.float16, 2)):
        y = zeros(1)
        run(kernel('y: Out[f32, "1"], x: In[T, "2 3"]', body), y, zeros(2, 3, dtype=dtype))
        assert y[0] == wanted


def test_zeros_full_and_arange_give_f32_f32_and_index() -> None:
    y = ints(0)
    body = "tp.require(tp.zeros((2,)).dtype == f32)\ntp.require(tp.full((2,), 1).dtype == f32)\ny[tp.arange(1)] = 1"
    run(kernel('y: Out[i32, "1"]', body), y)
    assert y[0] == 1


def test_t_reverses_the_axes() -> None:
    y = zeros(3, 2)
    run(kernel('y: Out[f32, "3 2"], x: In[f32, "2 3"]', "y[:, :] = x[:, :].T"), y, ramp(2, 3))
    assert (y == ramp(2, 3).T).all()


def test_none_adds_an_axis_of_one() -> None:
    y = zeros(2, 3)
    run(
        kernel('y: Out[f32, "2 3"], a: In[f32, "2"], b: In[f32, "3"]', "y[:, :] = a[:][:, None] * b[:]"),
        y,
        ramp(2),
        ramp(3),
    )
    assert (y == np.outer(ramp(2), ramp(3))).all()


def test_reshape_takes_elements_row_by_row() -> None:
    y = zeros(3, 2)
    run(kernel('y: Out[f32, "3 2"], x: In[f32, "2 3"]', "y[:, :] = x[:, :].reshape(3, 2)"), y, ramp(2, 3))
    assert (y == ramp(3, 2)).all()


def test_permute_puts_the_axes_in_another_order() -> None:
    y = zeros(3, 4, 2)
    signature = 'y: Out[f32, "3 4 2"], x: In[f32, "2 3 4"]'
    for text in ("tp.permute(x[:, :, :], (1, 2, 0))", "x[:, :, :].permute(1, -1, 0)", "x[:, :, :].permute((1, 2, 0))"):
        run(kernel(signature, f"y[:, :, :] = {text}"), y, ramp(2, 3, 4))
        assert (y == ramp(2, 3, 4).transpose(1, 2, 0)).all()


def test_permute_keeps_the_tags_of_axes() -> None:
    y = zeros(5, 3, 2)
    body = "for i, j in tp.parallel(M=4, N=2):\n    y[i, j, :] = x[j, :, i].permute(2, 0, 1)"
    run(kernel('y: Out[f32, "M N 2"], x: In[f32, "N 2 M"]', body), y, ramp(3, 2, 5))
    assert (y == ramp(3, 2, 5).transpose(2, 0, 1)).all()
    body = "for i, j in tp.parallel(M=4, N=4):\n    y[i, j] = x[i, j].permute(1, 0)"
    assert refused(kernel('y: Out[f32, "M N"], x: In[f32, "M N"]', body)) == "TP0303"


def test_permute_names_each_axis_once() -> None:
    for axes in ("(1, 1)", "(0,)", "(0, 2)", "(0, 1, 2)", "(0.0, 1)", "()"):
        assert refused(kernel('y: Out[f32, "2 2"], x: In[f32, "2 2"]', f"y[:, :] = x[:, :].permute{axes}")) == "TP0308"


def test_cat_puts_tiles_one_after_another() -> None:
    y = zeros(5)
    run(kernel('y: Out[f32, "5"], x: In[f32, "3"]', "y[:] = tp.cat((x[:], x[0:2]))"), y, ramp(3))
    assert y.tolist() == [0, 1, 2, 0, 1]


def test_a_constant_slice_of_a_tile_is_a_tile() -> None:
    y = zeros(2)
    run(kernel('y: Out[f32, "2"], x: In[f32, "4"]', "y[:] = x[:][2:]"), y, ramp(4))
    assert y.tolist() == [2, 3]


def test_one_place_of_a_tile_drops_its_axis() -> None:
    y = zeros(3)
    signature = 'y: Out[f32, "3"], x: In[f32, "3 4"], k: In[i32, "1"]'
    run(kernel(signature, "t = x[:, :]\ny[:] = t[:, 1] + t[:, k[0]] + t[2, 3]"), y, ramp(3, 4), ints(3))
    assert y.tolist() == [1 + 3 + 11, 5 + 7 + 11, 9 + 11 + 11]
    body = "t = x[:, :]\ns = tp.zeros((3,))\nfor k in range(4):\n    s += t[:, k] * t[k % 3, k]\ny[:] = s"
    run(kernel('y: Out[f32, "3"], x: In[f32, "3 4"]', body), y, ramp(3, 4))
    assert (y == ramp(3, 4) @ [0, 5, 10, 3]).all()


def test_truths_positions_and_entries_of_a_tile_are_taken() -> None:
    y, ids = zeros(5), ints(3, 0, 0, 0, -1)
    body = "t, e = x[n], n.elements\n    y[n] = tp.where((t > 2)[0], x[e[0]], ids.get(n.elements, -1)[0].to(f32))"
    run(kernel('y: Out[f32, "N"], x: In[f32, "N"], ids: In[Index["N"], "N"]', TILED + body), y, ramp(5), ids)
    assert y.tolist() == [3, 3, 3, 3, 4]


def test_a_place_is_taken_after_the_tile_was_computed() -> None:
    y = zeros(6)
    body = "low = (x[n, :] * 2).max(axis=0)\n    y[n] = x[n, :].sum(axis=1) + low[3] + (x[n, :] @ x[0:4, :])[0, 1]"
    x = ramp(6, 4)
    run(kernel('y: Out[f32, "N"], x: In[f32, "N 4"]', TILED + body), y, x)
    first = np.repeat([[x[0]], [x[4]]], [4, 2], axis=0)[:, 0] @ x[:4, 1]
    assert (y == x.sum(axis=1) + np.repeat([2 * x[3, 3], 2 * x[5, 3]], [4, 2]) + first).all()


def test_several_matrices_are_multiplied_at_once() -> None:
    c, a, b = zeros(3, 5, 6), ramp(3, 5, 7) % 5, ramp(3, 7, 6) % 3
    body = (
        "for g, i, j in tp.parallel(G=2, M=4, N=8):\n    acc = tp.zeros((g, i, j))\n"
        "    for k in tp.tiles(K=4):\n        acc = tp.mma(a[g, i, k], b[g, k, j], acc)\n    c[g, i, j] = acc"
    )
    run(kernel('c: Out[f32, "G M N"], a: In[f32, "G M K"], b: In[f32, "G K N"]', body), c, a, b)
    assert (c == a @ b).all()
    y = zeros(2, 2, 2)
    run(kernel('y: Out[f32, "2 2 2"], x: In[f32, "2 2 2"]', "y[:, :, :] = x[:, :, :] @ x[:, :, :] + x[0, 0, :]"),
        y, ramp(2, 2, 2))  # fmt: skip
    assert (y == ramp(2, 2, 2) @ ramp(2, 2, 2) + [0, 1]).all()


def test_a_place_of_a_tile_is_that_of_a_live_element() -> None:
    assert refused(kernel(PAIR, TILED + "y[n] = x[n] + x[n][1]")) == "TP0811"
    y = zeros(5)
    run(kernel(PAIR, TILED + "y[n] = x[n] + x[n][0]"), y, ramp(5))
    assert y.tolist() == [0, 1, 2, 3, 8]
    body = "t, s = x[n], 0.0\n    if n.stop - n.start > 1:\n        s = t[1]\n    y[n] = t + s"
    run(kernel(PAIR, TILED + body), y, ramp(5))
    assert y.tolist() == [1, 2, 3, 4, 4]
    k = kernel('y: InOut[f32, "N"], x: In[f32, "N"], k: In[i32, "1"]', TILED + "y[n] = x[n] * x[n][k[0]]")
    assert fails(k, zeros(5), ramp(5), ints(2)) == "TP0702"
    assert faults(k, zeros(5), ramp(5), ints(2)) == "TP0702"
    body = "t = x[n][k[0]]\n    tp.print('t', t)\n    y[n] = t"
    k = kernel('y: InOut[f32, "N"], x: In[f32, "N"], k: In[i64, "1"]', TILED + body)
    for place in (4, -1, 1 << 40, -(1 << 40)):
        assert fails(k, zeros(5), ramp(5), np.array([place])) == "TP0702"


def test_a_tile_is_taken_at_one_position_only() -> None:
    wrong = ("4", "TP0313"), ("-1", "TP0314"), ("tp.arange(2)", "TP0312"), ("1.0", "TP0312"), ("True", "TP0312")
    for index, code in wrong:
        assert refused(kernel('y: Out[f32, "4"], x: In[f32, "4"]', f"y[:] = x[:] + x[:][{index}].sum()")) == code


# No phantom elements.


def test_reshape_cat_and_slices_need_full_axes() -> None:
    for value in ("x[n].reshape(2, 2).sum()", "tp.cat((x[n], x[n])).sum()", "x[n][:2].sum()"):
        assert refused(kernel(PAIR, TILED + f"y[n] = {value}")) == "TP0310"


def test_reductions_and_scans_see_live_elements_only() -> None:
    body = "v = x[n]\n    y[n] = v.cumsum() + 100 * v.min() + v.mean() + v.argmin().to(f32)"
    y = zeros(6)
    run(kernel(PAIR, TILED + body), y, ramp(6) + 1)
    assert y.tolist() == [1 + 102.5, 3 + 102.5, 6 + 102.5, 10 + 102.5, 5 + 505.5, 11 + 505.5]


def test_a_dimension_of_any_length_is_taken_whole() -> None:
    y = zeros(2)
    run(each('y: Out[f32, "N"], x: In[f32, "N D"], *, D: int', "y[n] = (x[n, :] + 1).mean()"), y, zeros(2, 2561))
    assert y.tolist() == [1, 1]


def test_a_slice_that_ends_inside_a_tensor_has_no_other_elements() -> None:
    y = zeros(1)
    run(kernel('y: Out[f32, "1"], x: In[f32, "N"]', "y[0] = (x[1:4] + 1).sum()"), y, ramp(6))
    assert y[0] == 9


def test_numbers_slices_reshape_cat_and_none_give_untagged_axes() -> None:
    signature = 'y: Out[f32, "N"], x: In[f32, "N"], c: In[f32, "4"], d: In[f32, "2 2"]'
    for untagged in ("tp.zeros((4,))", "c[:]", "c[0:4]", "d[:, :].reshape(4)", "tp.cat((c[0:1], c[1:4]))"):
        y = zeros(6)
        run(kernel(signature, TILED + f"y[n] = x[n] + {untagged}"), y, ramp(6), zeros(4), zeros(2, 2))
        assert (y == ramp(6)).all()


def test_an_untagged_axis_takes_the_tag_it_meets_use_by_use() -> None:
    body = "t = tp.arange(4, f32)\nfor i, j in tp.parallel(M=4, N=4):\n    y[i, j] = x[i, j] + t + t[:, None]"
    y = zeros(5, 6)
    run(kernel('y: Out[f32, "M N"], x: In[f32, "M N"]', body), y, zeros(5, 6))
    assert (y == np.arange(6) % 4 + np.arange(5)[:, None] % 4).all()


def test_two_tags_never_meet_by_broadcasting() -> None:
    body = "for i, j in tp.parallel(M=4, N=4):\n    y[i, j] = x[i, j] + b[i]"
    assert refused(kernel('y: Out[f32, "M N"], x: In[f32, "M N"], b: In[f32, "M"]', body)) == "TP0303"
    body = 'for i, j in tp.parallel(("N", 4), ("N", 4)):\n    y[i, j] = x[i] + x[j]'
    assert refused(kernel('y: Out[f32, "N N"], x: In[f32, "N"]', body)) == "TP0303"


def test_two_tags_never_meet_in_a_product() -> None:
    body = "for i, j in tp.parallel(M=4, N=4):\n    y[i, j] = a[i, j] @ a[i, j]"
    assert refused(kernel('y: Out[f32, "M N"], a: In[f32, "M N"]', body)) == "TP0316"


def test_two_tags_never_meet_at_a_store() -> None:
    body = "for i, j in tp.parallel(M=4, N=4):\n    y[i] = x[j]"
    assert refused(kernel('y: InOut[f32, "M"], x: In[f32, "N"]', body)) == "TP0303"


def test_a_tile_of_one_turn_does_not_meet_that_of_the_next() -> None:
    body = "kept = 0.0\nfor k in tp.tiles(N=4):\n    kept = kept + x[k]\ny[0] = kept.sum()"
    assert refused(kernel(PAIR, body)) == "TP0309"


def test_a_colon_of_one_dimension_is_one_tag() -> None:
    y = zeros(3)
    run(
        kernel('y: Out[f32, "D"], a: In[f32, "D"], b: In[f32, "2 D"], *, D: int', "y[:] = a[:] + b[1, :]"),
        y,
        ramp(3),
        ramp(2, 3),
    )
    assert y.tolist() == [3, 5, 7]
    body = "for d in tp.parallel(D=4):\n    y[d] = a[:]"
    assert refused(kernel('y: Out[f32, "D"], a: In[f32, "D"], *, D: int', body)) == "TP0303"


def test_where_values_join_the_tagged_type_wins() -> None:
    body = "t = tp.zeros((4,))\n    for r in range(2):\n        t = t + x[n]\n    y[n] = t"
    y = zeros(6)
    run(kernel(PAIR, TILED + body), y, ramp(6))
    assert (y == 2 * ramp(6)).all()
    body = "if x[n].sum() > 6:\n        t = x[n]\n    else:\n        t = tp.zeros((4,))\n    y[n] = t"
    run(kernel(PAIR, TILED + body), y, ramp(6))
    assert y.tolist() == [0, 0, 0, 0, 4, 5]


def test_fill_is_the_full_tile_with_a_value_in_the_missing_elements() -> None:
    y = zeros(6)
    run(kernel(PAIR, TILED + "y[n] = x[n].fill(100.0).sum()"), y, ramp(6))
    assert y.tolist() == [6] * 4 + [209] * 2


def test_a_filled_tile_is_untagged() -> None:
    y = zeros(6)
    run(kernel(PAIR, TILED + "y[n] = x[n].fill(0.0).reshape(2, 2).max()"), y, ramp(6))
    assert y.tolist() == [3] * 4 + [5] * 2


def test_partial_sums_are_filled_carried_and_reduced_once() -> None:
    body = "part = tp.zeros((4,))\nfor k in tp.tiles(N=4):\n    part = part + x[k].fill(0.0)\ny[0] = part.sum()"
    y = zeros(1)
    run(kernel('y: Out[f32, "1"], x: In[f32, "N"]', body), y, ramp(7))
    assert y[0] == 21


# Broadcasting.


def test_operands_broadcast_as_in_numpy() -> None:
    y, a, b = zeros(2, 3, 4), ramp(2, 1, 4), ramp(3, 1)
    body = "y[:, :, :] = a[:, :, :] * b[:, :] + b[0, :] - 1"
    run(kernel('y: Out[f32, "2 3 4"], a: In[f32, "2 1 4"], b: In[f32, "3 1"]', body), y, a, b)
    assert (y == a * b + b[0] - 1).all()


def test_axes_of_different_lengths_never_meet() -> None:
    assert refused(kernel('y: Out[f32, "3"], a: In[f32, "2"]', "y[:] = a[:] + tp.zeros((3,))")) == "TP0304"


# Operations.

NUMPY: dict[str, Any] = {
    "a + b": np.add, "a - b": np.subtract, "a * b": np.multiply, "a / b": np.divide, "a // b": np.floor_divide,
    "a % b": np.remainder, "a ** b": np.power, "-a": lambda a, b: -a, "tp.abs(b - a)": lambda a, b: np.abs(b - a),
    "tp.maximum(a, b)": np.maximum, "tp.minimum(a, b)": np.minimum, "tp.clip(a, 1, b)": lambda a, b: np.clip(a, 1, b),
    "tp.where(a > b, a, b)": lambda a, b: np.where(a > b, a, b), "tp.exp(a)": lambda a, b: np.exp(a),
    "tp.exp2(a)": lambda a, b: np.exp2(a), "tp.log(b)": lambda a, b: np.log(b), "tp.log2(b)": lambda a, b: np.log2(b),
    "tp.sqrt(a)": lambda a, b: np.sqrt(a), "tp.rsqrt(b)": lambda a, b: 1 / np.sqrt(b),
    "tp.tanh(a)": lambda a, b: np.tanh(a), "tp.sigmoid(a)": lambda a, b: 1 / (1 + np.exp(-a)),
    "tp.sin(a)": lambda a, b: np.sin(a), "tp.cos(a)": lambda a, b: np.cos(a),
    "tp.erf(a)": lambda a, b: np.vectorize(math.erf)(a), "tp.floor(a)": lambda a, b: np.floor(a),
    "tp.ceil(a)": lambda a, b: np.ceil(a), "tp.round(a)": lambda a, b: np.round(a),
    "tp.isnan(a).to(f32)": lambda a, b: np.isnan(a), "(a < b).to(f32)": np.less, "(~(a <= b)).to(f32)": np.greater,
    "((a > 1) & (b > 1) | (a == b)).to(f32)": lambda a, b: (a > 1) & (b > 1) | (a == b),
    "a.sum() + b": lambda a, b: a.sum() + b, "a.mean() + b": lambda a, b: a.mean() + b,
    "a.max() + b": lambda a, b: a.max() + b, "a.min() + b": lambda a, b: a.min() + b,
    "a.argmax().to(f32) + b": lambda a, b: a.argmax() + b, "a.argmin().to(f32) + b": lambda a, b: a.argmin() + b,
    "tp.cumsum(a)": lambda a, b: np.cumsum(a), "tp.where((a > 1).any(), a, b)": lambda a, b: a if (a > 1).any() else b,
    "tp.where((a > 1).all(), a, b)": lambda a, b: a if (a > 1).all() else b,
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "a & b": np.bitwise_and, "a | b": np.bitwise_or, "a ^ b": np.bitwise_xor, "~a": lambda a, b: ~a,
    "a << b": np.left_shift, "a >> b": np.right_shift, "a // b": np.floor_divide, "a % b": np.remainder,
    "tp.cdiv(a, b)": lambda a, b: -(-a // b), "tp.bitcast(tp.bitcast(a, f32), i32)": lambda a, b: a,
}  # fmt: skip


@pytest.mark.parametrize("expression", NUMPY)
def test_a_name_of_numpy_means_what_it_means_there(expression: str) -> None:
    a, b = floats(0.5, 2.5, 1, 3), floats(2, 0.75, 1, 4)
    y = zeros(4)
    run(
        kernel('y: Out[f32, "4"], p: In[f32, "4"], q: In[f32, "4"]', f"a, b = p[:], q[:]\ny[:] = {expression}"), y, a, b
    )
    np.testing.assert_allclose(y, NUMPY[expression](a, b), rtol=1e-6)


@pytest.mark.parametrize("expression", WHOLE)
def test_an_operator_on_integers_means_what_it_means_in_numpy(expression: str) -> None:
    a, b = ints(12, -7, 5, 100), ints(1, 3, 2, 7)
    y = ints(0, 0, 0, 0)
    run(
        kernel('y: Out[i32, "4"], p: In[i32, "4"], q: In[i32, "4"]', f"a, b = p[:], q[:]\ny[:] = {expression}"), y, a, b
    )
    np.testing.assert_array_equal(y, WHOLE[expression](a, b))


def test_two_element_types_never_meet_without_a_cast() -> None:
    assert refused(each('y: Out[f32, "N"], a: In[f32, "N"], b: In[bf16, "N"]', "y[n] = a[n] + b[n]")) == "TP0201"
    y = zeros(1)
    run(
        each('y: Out[f32, "N"], a: In[f32, "N"], b: In[bf16, "N"]', "y[n] = a[n] + b[n].to(f32)"),
        y,
        floats(1),
        zeros(1, dtype=ml_dtypes.bfloat16),
    )
    assert y[0] == 1


def test_division_is_for_floats() -> None:
    assert refused(each('y: Out[i32, "N"], a: In[i32, "N"]', "y[n] = a[n] / 2")) == "TP0205"


def test_eight_bit_floats_have_no_arithmetic() -> None:
    assert refused(each('y: Out[f32, "N"], a: In[f8e4m3, "N"]', "y[n] = (a[n] + a[n]).to(f32)")) == "TP0202"
