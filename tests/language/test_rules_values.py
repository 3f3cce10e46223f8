"""The rules of docs/language.md on values, reductions, combiners, products, names, helpers and opting out, one test
for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rules import Array, each, fails, faults, floats, ints, kernel, ramp, refused, run, zeros

import tileproof as tp

NAN, INF = float("nan"), float("inf")


def value(expression: str, dtype: str, *operands: Any, gives: str = "") -> Any:
    """What an expression of `x` and `y`, scalars of an element type, gives."""
    storage = getattr(tp, dtype).storage
    body = f"x, y = p[0], q[0]\nr[0] = {expression}"
    k = kernel(f'r: Out[{gives or dtype}, "1"], p: In[{dtype}, "1"], q: In[{dtype}, "1"]', body)
    result = np.zeros(1, getattr(tp, gives or dtype).storage)
    run(k, result, *(np.array([operand], storage) for operand in (*operands, 0)[:2]))
    return result[0].item()


def reduced(expression: str, values: Array, gives: str = "f32") -> Any:
    """What an expression of a tile `t` with these elements gives."""
    result = np.zeros(1, getattr(tp, gives).storage)
    body = f"t = x[:]\nr[0] = {expression}"
    run(kernel(f'r: Out[{gives}, "1"], x: In[T, "D"], *, D: int', body), result, values)
    return result[0].item()


# Total semantics.


def test_division_by_zero_has_a_value() -> None:
    assert (value("x // y", "i32", 7, 0), value("x % y", "i32", 7, 0)) == (0, 7)
    assert value("x / y", "f32", 7, 0) == INF


def test_the_least_integer_divided_by_minus_one_is_itself() -> None:
    assert value("x // y", "i32", -(2**31), -1) == -(2**31)


def test_division_and_remainder_floor_as_in_python() -> None:
    for dtype in ("i32", "f32"):
        assert (value("x // y", dtype, -7, 2), value("x % y", dtype, -7, 2)) == (-4, 1)
        assert (value("x // y", dtype, 7, -2), value("x % y", dtype, 7, -2)) == (-4, -1)


def test_a_shift_past_the_width_is_zero() -> None:
    assert [value("x << y", "i32", 1, by) for by in (31, 32, -1)] == [-(2**31), 0, 0]
    assert [value("x >> y", "i32", x, 32) for x in (8, -8)] == [0, -1]


def test_nan_becomes_zero_as_an_integer() -> None:
    assert value("x.to(i32)", "f32", NAN, gives="i32") == 0


def test_casts_to_integers_truncate_and_saturate() -> None:
    assert [value("x.to(i8)", "f32", x, gives="i8") for x in (-1.9, 1000, -INF)] == [-1, 127, -128]
    assert value("x.to(u8)", "i32", -5, gives="u8") == 0


def test_casts_to_eight_bit_floats_saturate_and_to_sixteen_overflow() -> None:
    assert value("x.to(f8e4m3)", "f32", 1e6, gives="f8e4m3") == 448
    assert value("x.to(f16)", "f32", 1e6, gives="f16") == INF


def test_nan_wins_in_maximum_and_minimum() -> None:
    for name in ("tp.maximum(x, y)", "tp.minimum(y, x)"):
        assert np.isnan(value(name, "f32", NAN, 1))


# Reductions.


def test_a_reduction_of_nothing_has_a_value() -> None:
    nothing = floats(9)
    assert [reduced(f"t[:0].{name}()", nothing) for name in ("sum", "max", "min")] == [0, -INF, INF]
    assert np.isnan(reduced("t[:0].mean()", nothing))
    assert reduced("t[:0].max()", ints(9), gives="i32") == -(2**31)


def test_nan_wins_in_a_reduction() -> None:
    assert np.isnan(reduced("t.max()", floats(1, NAN, 2)))
    assert np.isnan(reduced("t.min()", floats(1, NAN, 2)))


def test_argmax_and_argmin_give_the_first_nan_or_else_the_first_of_equals() -> None:
    assert reduced("t.argmax().to(i32)", floats(1, 5, 5, 2), gives="i32") == 1
    assert reduced("t.argmin().to(i32)", floats(2, 1, 5, 1), gives="i32") == 1
    assert reduced("t.argmax().to(i32)", floats(1, NAN, 9, NAN), gives="i32") == 1


def test_argmax_of_nothing_is_an_error() -> None:
    k = kernel('y: Out[i32, "1"], x: In[f32, "D"], *, D: int', "y[0] = x[:].argmax().to(i32)")
    assert (fails(k, ints(0), zeros(0)), faults(k, ints(0), zeros(0))) == ("TP0605", "TP0704")


def test_sums_means_and_scans_of_narrow_types_are_wide() -> None:
    body = "tp.require(x[:].{}.dtype == {})\ny[0] = 1.0"
    for dtype, wide in ((np.float16, "f32"), (np.int8, "i32"), (np.int64, "i64"), (np.float64, "f64")):
        for name in ("sum()", "cumsum()"):
            run(kernel('y: Out[f32, "1"], x: In[T, "4"]', body.format(name, wide)), zeros(1), zeros(4, dtype=dtype))
    assert reduced("t.sum()", np.full(4, 100, np.int8), gives="i32") == 400


def test_max_and_min_keep_the_type() -> None:
    run(
        kernel('y: Out[T, "1"], x: In[T, "4"]', "y[0] = x[:].max() - x[:].min()"),
        zeros(1, dtype=np.int8),
        ramp(4, dtype=np.int8),
    )


def test_an_axis_is_reduced_and_keepdims_leaves_a_one() -> None:
    y = zeros(2, 3)
    body = "y[:, :] = x[:, :] - x[:, :].max(axis=1, keepdims=True) + x[:, :].sum(axis=0)"
    run(kernel('y: Out[f32, "2 3"], x: In[f32, "2 3"]', body), y, ramp(2, 3))
    assert (y == ramp(2, 3) - ramp(2, 3).max(1, keepdims=True) + ramp(2, 3).sum(0)).all()


# Combiners.

PAIR = 'y: Out[f32, "N"], x: In[f32, "N"]'
TILED = "for n in tp.parallel(N=4):\n    y[n] = "
LARGER = """
def larger(a, b):
    (top, at), (other, there) = a, b
    return tp.where(other > top, other, top), tp.where(other > top, there, at)
"""


def test_reduce_combines_live_elements_in_order() -> None:
    y = zeros(6)
    run(kernel(PAIR, TILED + "tp.reduce(x[n], by=lambda a, b: a * 10 + b, identity=0.0)"), y, ramp(6))
    assert y.tolist() == [123] * 4 + [45] * 2


def test_reduce_of_nothing_is_the_identity() -> None:
    assert reduced("tp.reduce(t[:0], tp.maximum, 7.0)", floats(1)) == 7
    assert reduced("tp.reduce(t, tp.maximum, 7.0)", floats(1)) == 1


def test_scan_gives_what_the_elements_up_to_each_combine_to() -> None:
    y = zeros(6)
    run(kernel(PAIR, TILED + "tp.scan(x[n], by=lambda a, b: a * 10 + b)"), y, ramp(6))
    assert y.tolist() == [0, 1, 12, 123, 4, 45]


def test_reduce_and_scan_take_an_axis() -> None:
    y, z = zeros(2), zeros(2, 3)
    body = "y[:] = tp.reduce(x[:, :], tp.maximum, -tp.inf, axis=1)\nz[:, :] = tp.scan(x[:, :], tp.maximum, axis=0)"
    run(kernel('y: Out[f32, "2"], z: Out[f32, "2 3"], x: In[f32, "2 3"]', body), y, z, -ramp(2, 3))
    assert (y.tolist(), z.tolist()) == ([0, -3], [[0, -1, -2], [0, -1, -2]])
    assert (
        refused(kernel('y: Out[f32, "2"], x: In[f32, "2 3"]', "y[:] = tp.reduce(x[:, :], tp.maximum, 0.0)")) == "TP0308"
    )


def test_tuples_of_tiles_are_combined_together() -> None:
    y = ints(0)
    body = "top, at = tp.reduce((x[:], tp.arange(D)), larger, (-tp.inf, 0))\ny[0] = at.to(i32)"
    run(kernel('y: Out[i32, "1"], x: In[f32, "D"], *, D: int', body, LARGER), y, floats(1, 5, 2, 9, 0))
    assert y[0] == 3


def test_a_combiner_gives_back_what_it_takes() -> None:
    for by in ("(a + b).to(f16)", "a > b", "(a, b)"):
        assert refused(kernel(PAIR, TILED + f"tp.reduce(x[n], by=lambda a, b: {by}, identity=0.0)")) == "TP0119"


def test_a_combiner_uses_its_own_values_and_constants_only() -> None:
    y = zeros(3)
    run(kernel(PAIR + ", *, C: int = 3", TILED + "tp.scan(x[n], by=lambda a, b: a * C + b)"), y, ramp(3))
    assert y.tolist() == [0, 1, 5]
    assert refused(kernel(PAIR + ", c: f32", TILED + "tp.scan(x[n], by=lambda a, b: a * c + b)")) == "TP0119"


def test_a_combiner_touches_no_memory() -> None:
    assert refused(kernel(PAIR, TILED + "tp.scan(x[n], by=lambda a, b: a * x[0] + b)")) == "TP0119"


def test_entries_are_combined_as_numbers() -> None:
    y = ints(0, 0, 0)
    signature = 'y: Out[i32, "N"], at: In[Index["N"], "N"]'
    body = "for n in tp.parallel(N=4):\n    y[n] = tp.scan(at[n], tp.minimum).to(i32)"
    run(kernel(signature, body), y, ints(2, -1, 0))
    assert y.tolist() == [2, -1, -1]


def test_a_lambda_stands_only_as_by() -> None:
    assert refused(kernel(PAIR, TILED + "tp.scan(x[n], lambda a, b: a + b)")) == "TP0010"
    assert refused(kernel(PAIR, TILED + "(lambda a: a)(x[n])")) == "TP0010"


# Matrix products.


def test_a_product_accumulates_in_f32_f64_or_i32() -> None:
    body = "c[:, :] = tp.mma(a[:, :], b[:, :], tp.full((2, 2), 1, {0}))\ntp.require((a[:, :] @ b[:, :]).dtype == {0})"
    for name, acc in (("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("i8", "i32")):
        k = kernel(f'c: Out[{acc}, "2 2"], a: In[{name}, "2 3"], b: In[{name}, "3 2"]', body.format(acc))
        dtype = getattr(tp, name).storage
        a, b, c = ramp(2, 3, dtype=dtype), ramp(3, 2, dtype=dtype), zeros(2, 2, dtype=getattr(tp, acc).storage)
        run(k, c, a, b)
        assert (c == a.astype(np.float64) @ b.astype(np.float64) + 1).all()


def test_sums_of_products_of_integers_wrap() -> None:
    signature = 'c: Out[i32, "1 1"], a: In[i8, "1 4"], start: i32'
    wrapping = kernel(signature, "c[:, :] = tp.mma(a[:, :], a[:, :].T, start)")
    for start, expected in ((2**31 - 1, -(2**31) + 2), (-(2**31), -(2**31) + 3)):
        c = zeros(1, 1, dtype=np.int32)
        run(wrapping, c, np.array([[1, 1, 1, 0]], np.int8), start)
        assert c.tolist() == [[expected]]


def test_a_matmul_operator_is_a_product_from_zero() -> None:
    c = zeros(2, 2)
    run(kernel('c: Out[f32, "2 2"], a: In[f32, "2 3"]', "c[:, :] = a[:, :] @ a[:, :].T"), c, ramp(2, 3))
    assert (c == ramp(2, 3) @ ramp(2, 3).T).all()


def test_what_does_not_exist_does_not_enter_a_product() -> None:
    body = """
    for i, j in tp.parallel(M=4, N=4):
        acc = tp.zeros((i, j))
        for k in tp.tiles(K=4):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = acc
    """
    a, b, c = ramp(5, 7), ramp(7, 3), zeros(5, 3)
    run(kernel('c: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"]', body), c, a, b)
    assert (c == a @ b).all()


# Random numbers and printing.


def test_random_numbers_are_philox() -> None:
    first_word = 0x6627E8D5  # of Philox 4x32-10 for a counter and a key of zeros
    y = zeros(1)
    run(each('y: Out[f32, "N"], seed: i64', "y[n] = tp.random(seed, n)"), y, 0)
    assert y[0] == (first_word >> 8) * 2.0**-24


def test_random_numbers_depend_on_seed_and_offset_alone() -> None:
    k = kernel(
        'y: Out[f32, "N"], seed: i32, *, B: int = 4',
        "for n in tp.parallel(N=B):\n    y[n] = tp.random(seed, n.elements)",
    )
    first, other, again = zeros(1000), zeros(1000), zeros(1000)
    run(k, first, 7)
    run(k, again, 7, B=64)
    run(k, other, 8)
    assert (first == again).all()
    assert (first != other).any()
    assert (first >= 0).all()
    assert (first < 1).all()
    assert abs(first.mean() - 0.5) < 0.05


def test_print_shows_the_program_the_label_and_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    k = kernel(PAIR, 'for n in tp.parallel(N=2):\n    tp.print("x", x[n], n.start)\n    y[n] = 0.0')
    k(zeros(3), ramp(3))
    assert capsys.readouterr().out == "[k n=0:2] x: [0., 1.], 0\n[k n=2:3] x: [2.], 2\n"


# Names, branches and carried values.


def test_tuples_are_values_of_the_compiler() -> None:
    y = zeros(2)
    body = "pair = (x[n], (1, 2.5))\na, (b, c) = pair\na, b = b, a\ny[n] = b * c + a + pair[1][0]"
    run(each(PAIR, body), y, ramp(2))
    assert y.tolist() == [2, 4.5]


def test_only_the_side_that_is_taken_runs() -> None:
    body = "if n > 0:\n    t = x[n - 1]\nelif n == 0:\n    t = tp.zeros(())\nelse:\n    t = x[n - 9]\ny[n] = t"
    y = zeros(3)
    run(each(PAIR, body), y, ramp(3) + 1)
    assert y.tolist() == [0, 1, 2]


def test_a_name_has_one_type_after_a_branch() -> None:
    body = "if n > 0:\n    t = x[n]\nelse:\n    t = {}\ny[n] = t"
    assert refused(each(PAIR, body.format("x[n].to(f16)"))) == "TP0207"
    assert refused(each(PAIR, "if n > 0:\n    t = x[n]\ny[n] = t")) == "TP0102"


def test_a_carried_value_keeps_its_type() -> None:
    assert refused(each(PAIR, "t = x[n]\nfor r in range(2):\n    t = t.to(f16)\ny[n] = t.to(f32)")) == "TP0206"


# Helpers and captured constants.


def test_helpers_are_inlined() -> None:
    before = "def scaled(t, by=3.0, *, plus):\n    u = t * by\n    return u, u + plus\n"
    y = zeros(2)
    run(each(PAIR, "a, b = scaled(x[n], plus=1)\ny[n] = a * b", before), y, ramp(2) + 1)
    assert y.tolist() == [12, 42]


def test_a_helper_does_not_call_itself() -> None:
    assert refused(each(PAIR, "y[n] = f(x[n])", "def f(t):\n    return f(t)\n")) == "TP0109"


def test_a_kernel_captures_numbers_not_arrays() -> None:
    assert refused(each(PAIR, "y[n] = x[n] * WEIGHTS[0]", "WEIGHTS = [1.0]\n")) == "TP0107"


# Opting out.

RAW = "for n in tp.parallel(N=tp.each):\n    {}:\n        y[n] = tp.raw.load(x, n + {})"


def test_raw_stands_in_an_unsafe_block() -> None:
    y = zeros(3)
    run(kernel(PAIR, RAW.format('with tp.unsafe("it is n")', 0)), y, ramp(3))
    assert (y == ramp(3)).all()
    assert refused(kernel(PAIR, RAW.format("if n >= 0", 0))) == "TP0116"


def test_unsafe_needs_a_reason() -> None:
    for reason in ("", '""', "3"):
        assert refused(kernel(PAIR, RAW.format(f"with tp.unsafe({reason})", 0))) == "TP0117"


def test_a_helper_is_not_part_of_the_block_it_is_called_in() -> None:
    before = "def f(x, n):\n    return tp.raw.load(x, n)\n"
    assert refused(each(PAIR, 'with tp.unsafe("why"):\n    y[n] = f(x, n)', before)) == "TP0116"


def test_the_interpreter_watches_raw_accesses_too() -> None:
    assert faults(kernel(PAIR, RAW.format('with tp.unsafe("wrong")', 1)), zeros(3), ramp(3)) == "TP0702"
    body = 'with tp.unsafe("wrong"):\n    tp.raw.store(y, 0, 1.0)'
    assert faults(each('y: InOut[f32, "N"]', body), zeros(3)) == "TP0701"


def test_a_false_assumption_is_found() -> None:
    k = each(PAIR, 'with tp.unsafe("N is small"):\n    tp.raw.assume(n < 3)\ny[n] = x[n]')
    run(k, zeros(3), ramp(3))
    assert faults(k, zeros(4), ramp(4)) == "TP0706"


def test_with_opens_an_unsafe_block_and_nothing_else() -> None:
    assert refused(kernel(PAIR, RAW.format("with tp.exp(x[n])", 0))) == "TP0003"


# Launching, checking and interpreting.


def test_what_is_written_shares_memory_with_no_other_argument() -> None:
    x = ramp(5)
    assert fails(kernel(PAIR, TILED + "x[n]"), x[1:], x[:-1]) == "TP0610"


def test_a_launch_that_fails_changes_nothing() -> None:
    y = ramp(3)
    assert faults(each('y: InOut[f32, "N"]', "y[n] = 9.0\nif n == 2:\n    y[n + 1] = 9.0"), y) == "TP0702"
    assert y.tolist() == [0, 1, 2]
    late = each('y: InOut[f32, "N"], x: In[f32, "N"], at: In[i32, "N"]', "y[n] = 9.0\ny[n] = x[at[n]]")
    with tp.backend("interpreter"), pytest.raises(tp.OutOfBounds):
        late(y, ramp(3), ints(0, 1, 7))
    assert y.tolist() == [0, 1, 2]


def test_check_gives_the_mistakes_of_a_kernel_without_a_launch() -> None:
    found = tp.check(each(PAIR, "y[n] = x[n] + nothing\nx[n] = 1.0"))
    assert [(one.code.id, one.span.text if one.span else "") for one in found] == [
        ("TP0101", "nothing"),
        ("TP0504", "x[n]"),
    ]


def test_check_keeps_dimensions_open_unless_they_are_given() -> None:
    k = kernel('y: Out[f32, "D"], *, D: int', "y[:] = tp.zeros((128,))")
    assert [[found.code.id for found in tp.check(k, **given)] for given in ({}, {"D": 64}, {"D": 128})] == [
        ["TP0304"],
        ["TP0304"],
        [],
    ]


def test_the_result_does_not_depend_on_the_order_of_programs() -> None:
    k = kernel('s: Sum[i32, "1"], x: In[i32, "N"]', "for n in tp.parallel(N=2):\n    s[0] += x[n].sum()")
    results = []
    for order in ("forward", "reverse", 1, 2):
        s = ints(0)
        tp.interpret(k, s, ints(1, 2, 3, 4, 5), order=order)
        results.append(s[0])
    assert results == [15] * 4


def test_without_the_sanitizer_a_race_runs() -> None:
    y = zeros(2)
    tp.interpret(each('y: InOut[f32, "N"]', "y[0] = n.to(f32)"), y, sanitize=False)
    assert y.tolist() == [1, 0]
