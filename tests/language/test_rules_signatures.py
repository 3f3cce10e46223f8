"""The rules of docs/language.md on kernels, parameters, dimensions, index tensors and constants, one test for each."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from rules import each, fails, faults, floats, interpreted, ints, kernel, module, ramp, refused, run, zeros

import tileproof as tp

COPY = ('y: Out[f32, "N"], x: In[f32, "N"]', "for n in tp.parallel(N=4):\n    y[n] = x[n]")


# Kernels and what is read.


def test_a_kernel_is_read_and_never_executed() -> None:
    k = kernel(*COPY)
    y, x = zeros(5), ramp(5)
    with pytest.raises(RuntimeError, match=r"inside a @tp\.kernel"):
        k.function(y, x)
    run(k, y, x)
    assert (y == x).all()


def test_the_values_of_annotations_are_not_used() -> None:
    k = kernel(*COPY)
    k.function.__annotations__.clear()
    y, x = zeros(5), ramp(5)
    run(k, y, x)
    assert (y == x).all()


def test_what_python_has_and_kernels_do_not_is_an_error_with_a_code() -> None:
    assert refused(each('y: Out[f32, "N"]', "assert n >= 0\ny[n] = 0.0")) == "TP0011"


def test_a_kernel_returns_nothing() -> None:
    assert refused(kernel('x: In[f32, "1"]', "return x[0]")) == "TP0006"


def test_a_kernel_needs_source_text() -> None:
    text = "import tileproof as tp\n@tp.kernel\ndef k() -> None:\n    pass\n"
    found: dict[str, tp.Kernel] = {}
    exec(text, found)
    assert refused(found["k"]) == "TP0001"


# Parameters.


def test_every_program_may_read_all_of_an_in() -> None:
    k = each('y: Out[f32, "N"], x: In[f32, "N"], *, N: int', "y[n] = x[:].sum()")
    y = zeros(4)
    run(k, y, ramp(4))
    assert y.tolist() == [6] * 4


def test_an_in_is_never_written() -> None:
    assert refused(each('x: In[f32, "N"]', "x[n] = 0.0")) == "TP0504"


def test_an_out_is_never_read() -> None:
    assert refused(each('y: Out[f32, "N"]', "y[n] = y[n]")) == "TP0505"


def test_a_launch_writes_every_element_of_an_out() -> None:
    k = each('y: Out[f32, "N"]', "if n > 0:\n    y[n] = 1.0")
    assert (fails(k, zeros(4)), faults(k, zeros(4))) == ("TP0821", "TP0703")


def test_an_element_of_an_inout_that_is_not_written_keeps_its_value() -> None:
    y = ramp(4)
    run(each('y: InOut[f32, "N"]', "if n > 1:\n    y[n] = y[n] * 10"), y)
    assert y.tolist() == [0, 1, 20, 30]


def test_many_programs_add_to_a_sum() -> None:
    k = each('s: Sum[i32, "1"], t: Sum[i32, "1"], x: In[i32, "N"]', "s[0] += x[n]\ntp.update(t, 0, x[n])")
    s, t = ints(0), ints(0)
    run(k, s, t, ints(1, 2, 3))
    assert (s[0], t[0]) == (6, 6)


def test_a_max_or_min_changes_by_update_only() -> None:
    k = each('m: Max[i32, "1"], l: Min[i32, "1"], x: In[i32, "N"]', "tp.update(m, 0, x[n])\ntp.update(l, 0, x[n])")
    m, least = ints(0), ints(0)
    run(k, m, least, ints(2, 7, 5))
    assert (m[0], least[0]) == (7, 2)
    assert refused(each('m: Max[i32, "1"], x: In[i32, "N"]', "m[0] += x[n]")) == "TP0507"


def test_a_sum_is_never_read_nor_assigned_in_the_kernel() -> None:
    assert refused(each('y: Out[f32, "N"], s: Sum[f32, "N"]', "y[n] = s[n]")) == "TP0506"
    assert refused(each('s: Sum[f32, "N"]', "s[n] = 1.0")) == "TP0506"


def test_a_launch_starts_sums_maxima_and_minima_from_their_identity() -> None:
    k = each('s: Sum[f32, "1"], m: Max[f32, "1"], l: Min[u8, "1"], x: In[f32, "N"]', "s[0] += x[n]")
    s, m, least = floats(99), floats(99), np.array([9], np.uint8)
    run(k, s, m, least, floats(2, 3))
    assert (s[0], m[0], least[0]) == (5, -np.inf, 255)


def test_with_keep_they_start_from_what_they_hold() -> None:
    signature = (
        's: Sum[T, "2", "keep"], m: Max[i32, "1", "keep"], l: Min[i32, "1", "keep"], x: In[T, "N"], y: In[i32, "N"]'
    )
    k = each(signature, "s[n % 2] += x[n]\ntp.update(m, 0, y[n])\ntp.update(l, 0, y[n])")
    for dtype in (np.float32, np.float16, np.int8, np.int64):
        s, m, least = np.array([10, 20], dtype), ints(4), ints(4)
        run(k, s, m, least, np.array([1, 2, 3], dtype), ints(7, 5, 6))
        assert (s.tolist(), m[0], least[0]) == ([14, 22], 7, 4)
        run(k, s, m, least, np.zeros(0, dtype), ints())
        assert (s.tolist(), m[0], least[0]) == ([14, 22], 7, 4)
    backwards = ints(1, 2)[::-1]
    run(k, backwards, ints(0), ints(0), ints(5, 6), ints(0, 0))
    assert backwards.tolist() == [7, 7]


def test_keep_stands_after_the_dimensions_of_what_is_combined() -> None:
    for annotation in ('In[f32, "N", "keep"]', 'Sum[f32, "keep", "N"]', 'Sum[f32, "N", "kept"]', 'Sum["keep", "N"]'):
        assert refused(each(f'y: Out[f32, "N"], s: {annotation}', "y[n] = 0.0")) == "TP0501"


def test_what_keeps_was_written_before() -> None:
    k = kernel('s: Sum[f32, "N", "keep"]', "for n in tp.parallel(N=4):\n    s[n] += tp.zeros((n,)) + 1.0")
    with pytest.raises(tp.LaunchError, match="TP0615"):
        k(tp.empty(3))
    total = tp.zeros(3)
    k(total)
    k(total)
    assert total.tolist() == [2, 2, 2]


def test_an_element_type_variable_is_one_type_wherever_it_is_named() -> None:
    k = kernel('y: Out[T, "N"], x: In[T, "N"]', COPY[1])
    for dtype in (np.int8, np.float64, ml_dtypes.bfloat16):
        y = zeros(5, dtype=dtype)
        run(k, y, ramp(5, dtype=dtype))
        assert (y == ramp(5, dtype=dtype)).all()
    assert fails(k, zeros(5), ramp(5, dtype=np.float64)) == "TP0603"


def test_any_is_the_element_type_of_one_argument() -> None:
    k = each('y: Out[Any, "N"], x: In[Any, "N"]', "y[n] = x[n].to(y.dtype)")
    y = zeros(3, dtype=np.int8)
    run(k, y, floats(1.5, 2, 300))
    assert y.tolist() == [1, 2, 127]


def test_a_scalar_is_passed_by_value() -> None:
    y = zeros(2)
    run(each('y: Out[f32, "N"], scale: f32, more: i32', "y[n] = scale + more.to(f32)"), y, 0.5, 2)
    assert y.tolist() == [2.5, 2.5]


def test_tensors_and_scalars_have_no_defaults() -> None:
    assert refused(each('y: Out[f32, "N"], scale: f32 = 1.0', "y[n] = scale")) == "TP0510"


# Dimensions.


def test_one_name_is_one_extent() -> None:
    assert fails(kernel(*COPY), zeros(4), zeros(5)) == "TP0604"


def test_a_number_is_a_dimension() -> None:
    k = kernel('y: Out[f32, "3"], x: In[f32, "3"]', "y[:] = x[:]")
    y = zeros(3)
    run(k, y, ramp(3))
    assert y.tolist() == [0, 1, 2]
    assert fails(k, zeros(3), zeros(4)) == "TP0604"


def test_an_underscore_is_an_extent_shared_with_nothing() -> None:
    k = kernel('y: Out[f32, "2"], a: In[f32, "_"], b: In[f32, "_"]', "y[0], y[1] = a[0], b[4]")
    y = zeros(2)
    run(k, y, ramp(1), ramp(5))
    assert y.tolist() == [0, 4]


def test_dim_is_the_extent_of_a_dimension() -> None:
    y = zeros(3)
    run(each('y: Out[f32, "N"]', 'y[n] = tp.dim("N").to(f32)'), y)
    assert y.tolist() == [3, 3, 3]
    assert refused(each('y: Out[f32, "N"]', 'y[n] = tp.dim("K").to(f32)')) == "TP0307"


def test_group_is_the_element_that_a_run_of_elements_belongs_to() -> None:
    k = kernel('y: Out[f32, "H"], x: In[f32, "G"]', 'for h in tp.parallel(H=tp.each):\n    y[h] = x[tp.group(h, "G")]')
    y = zeros(6)
    run(k, y, ramp(2))
    assert y.tolist() == [0, 0, 0, 1, 1, 1]
    assert [fails(k, zeros(6), ramp(4)), fails(k, zeros(6), ramp(0))] == ["TP0605", "TP0605"]


def test_require_is_a_contract_of_the_launch() -> None:
    body = 'tp.require(tp.dim("N") % 4 == 0)\nfor n in tp.parallel(N=4):\n    y[n] = 1.0'
    k = kernel('y: Out[f32, "N"]', body)
    run(k, zeros(8))
    assert fails(k, zeros(6)) == "TP0605"


# Dimension expressions.


def test_an_axis_has_the_extent_of_its_expression() -> None:
    k = kernel(
        'y: Out[f32, "H+2*G"], q: In[f32, "H"], k: In[f32, "G"]', 'for n in tp.parallel(("H+2*G", 4)):\n    y[n] = 1.0'
    )
    run(k, zeros(7), zeros(3), zeros(2))
    assert fails(k, zeros(8), zeros(3), zeros(2)) == "TP0604"


def test_division_in_an_expression_rounds_up() -> None:
    k = kernel(
        'y: Out[f32, "V/BV"], x: In[f32, "V"], *, BV: int = 4',
        "for v in tp.parallel(V=BV):\n    y[v.number] = x[v].sum()",
    )
    y = zeros(3)
    run(k, y, ramp(9))
    assert y.tolist() == [6, 22, 8]
    run(k, zeros(0), zeros(0))
    assert fails(k, zeros(2), ramp(9)) == "TP0604"


def test_equal_expressions_are_one_dimension() -> None:
    signature = 'y: Out[f32, "A+B"], x: In[f32, "{}"], a: In[f32, "A"], b: In[f32, "B"]'
    body = 'for n in tp.parallel(("A+B", 2)):\n    y[n] = x[n]'
    y = zeros(5)
    run(kernel(signature.format("A+B"), body), y, ramp(5), zeros(2), zeros(3))
    assert (y == ramp(5)).all()
    assert refused(kernel(signature.format("B+A"), body)) == "TP0301"


def test_an_expression_can_be_named() -> None:
    signature = 'y: Out[f32, "N"], x: In[f32, "N=H+2*G"], q: In[f32, "H"], k: In[f32, "G"]'
    k = kernel(signature, "for n in tp.parallel(N=4):\n    y[n] = x[n]")
    y = zeros(7)
    run(k, y, ramp(7), zeros(3), zeros(2))
    assert (y == ramp(7)).all()
    assert fails(k, zeros(8), ramp(8), zeros(3), zeros(2)) == "TP0604"


def test_a_name_stands_for_one_expression() -> None:
    assert refused(each('y: Out[f32, "N=A+1"], x: In[f32, "N=A+2"]', "y[n] = x[n]")) == "TP0502"


@pytest.mark.parametrize("words", ["N=M+1 M=N-1", "N=N+1", "N=A+M M=B+C B=2*N"])
def test_no_name_is_made_of_itself(words: str) -> None:
    assert refused(kernel(f'y: InOut[f32, "{words} A C"]', "pass")) == "TP0502"


def test_dim_takes_an_expression() -> None:
    k = kernel('y: Out[f32, "2"], x: In[f32, "A*B"], a: In[f32, "A"], b: In[f32, "B"]', 'y[:] = tp.dim("A*B").to(f32)')
    y = zeros(2)
    run(k, y, zeros(6), zeros(2), zeros(3))
    assert y.tolist() == [6, 6]


def test_a_dimension_that_only_an_expression_names_is_solved_for() -> None:
    k = kernel('y: InOut[f32, "B+1"]', "for b in tp.parallel(B=tp.each):\n    y[b + 1] = b.to(f32)")
    y = zeros(4)
    run(k, y)
    assert y.tolist() == [0, 0, 1, 2]
    assert fails(k, zeros(0)) == "TP0604"
    assert fails(kernel('y: InOut[f32, "2*B"]', "y[0] = 1.0"), zeros(3)) == "TP0604"


def test_an_expression_of_what_is_static_is_static() -> None:
    k = kernel('y: Out[f32, "P*S"], x: In[f32, "P S"], *, P: int, S: int', "y[:] = x[:, :].reshape(P * S)")
    y = zeros(6)
    run(k, y, ramp(2, 3))
    assert (y == ramp(6)).all()


def test_an_expression_is_made_of_known_names() -> None:
    assert refused(each('y: Out[f32, "N"], at: In[Index["N*Z"], "N"]', "y[n] = 0.0")) == "TP0307"
    assert refused(each('y: Out[f32, "N**2"], x: In[f32, "N"]', "y[n] = 0.0")) == "TP0502"


# Index tensors.


def test_an_entry_of_an_index_is_none_or_a_position() -> None:
    k = each('y: InOut[f32, "V"], at: In[Index["V"], "N"]', "y[at[n]] = 1.0")
    alone = kernel('y: InOut[f32, "V"], at: In[Index["V"], "N"]', "for n in tp.tiles(N=tp.each):\n    y[at[n]] = 1.0")
    for one, runs in ((k, interpreted), (alone, run)):
        y = zeros(4)
        runs(one, y, ints(3, -1, 0))
        assert y.tolist() == [1, 0, 0, 1]
    for wrong in (ints(4), ints(-2)):
        assert (fails(alone, zeros(4), wrong), faults(k, zeros(4), wrong)) == ("TP0607", "TP0607")


def test_the_entries_of_a_unique_differ_but_for_none() -> None:
    k = kernel('y: InOut[f32, "V"], at: In[Unique["V"], "N"]', "for n in tp.parallel(N=4):\n    y[at[n]] = 1.0")
    y = zeros(4)
    run(k, y, ints(3, -1, 0, -1))
    assert y.tolist() == [1, 0, 0, 1]
    assert [fails(k, zeros(4), ints(3, 0, 3)), fails(k, zeros(4), ints(4))] == ["TP0607", "TP0607"]


def test_offsets_never_fall_and_go_from_zero_to_the_extent() -> None:
    k = kernel(
        'y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]',
        "for e, i in tp.parallel(tp.segments(off, N=4)):\n    y[i] = 1.0",
    )
    run(k, zeros(5), ints(0, 2, 2, 5))
    for wrong in (ints(0, 3, 2, 5), ints(1, 5), ints(0, 4), ints(0, 6)):
        assert fails(k, zeros(5), wrong) == "TP0607"


def test_index_tensors_are_stored_as_i32_or_i64() -> None:
    k = kernel('y: InOut[f32, "V"], at: In[Index["V"], "1"]', "y[at[0]] = 1.0")
    for dtype in (np.int32, np.int64):
        y = zeros(2)
        run(k, y, np.array([1], dtype))
        assert y.tolist() == [0, 1]
    assert fails(k, zeros(2), np.array([1], np.int16)) == "TP0603"


def test_index_tensors_that_are_written_hold_positions() -> None:
    for kind, written in (("Unique", "Out"), ("Offsets", "InOut"), ("Index", "Max"), ("Index", "Sum")):
        assert refused(each(f'y: {written}[{kind}["N"], "N"]', "tp.print(n)")) == "TP0501"
    run(each('y: Out[Index["N"], "N"]', "y[n] = n"), ints(7, 7))
    assert refused(each('y: Out[Index["N"], "N"]', "y[n] = n + 1")) == "TP0815"


def test_entries_differ_in_rows_of_the_first_axes() -> None:
    y, store = 'y: InOut[f32, "N V"]', "y[n, at[n, 0]] = 1.0"
    assert tp.check(each(f'{y}, at: In[Unique["V per N"], "N P"]', f"if tp.dim('P') > 0:\n    {store}")) == []
    for entry in ("V per P", "V per", "V N", "V per N N", "per N"):
        assert refused(each(f'{y}, at: In[Unique["{entry}"], "N P"]', store)) == "TP0501"
    assert refused(each(f'{y}, at: In[Index["V per N"], "N P"]', store)) == "TP0501"



def test_an_index_may_point_into_an_expression() -> None:
    signature = 'y: Out[f32, "N"], x: In[f32, "P S"], at: In[Index["P*S"], "N"], *, S: int'
    k = each(signature, "y[n] = x[at[n] // S, at[n] % S]")
    y = zeros(3)
    run(k, y, ramp(2, 3), ints(5, 0, 2))
    assert y.tolist() == [5, 0, 2]
    assert fails(k, zeros(1), ramp(2, 3), ints(6)) == "TP0607"


# Constants.


def test_a_keyword_only_parameter_is_a_constant() -> None:
    k = kernel(
        'y: Out[f32, "4"], *, B: int = 2, C: float = 1.5', "y[:] = tp.cat((tp.full((B,), C), tp.zeros((4 - B,))))"
    )
    y = zeros(4)
    run(k, y)
    assert y.tolist() == [1.5, 1.5, 0, 0]
    run(k, y, B=3, C=2)
    assert y.tolist() == [2, 2, 2, 0]
    assert fails(k, zeros(4), B=2.0) == "TP0608"


def test_a_constant_named_like_a_dimension_is_bound_from_the_arguments() -> None:
    k = kernel('y: Out[f32, "D"], *, D: int', "y[:] = tp.arange(D, f32)")
    y = zeros(5)
    run(k, y)
    assert y.tolist() == [0, 1, 2, 3, 4]
    assert fails(k, zeros(5), D=4) == "TP0608"


def test_constants_of_the_module_are_part_of_the_cache_key() -> None:
    made = module('SCALE = 2\n@tp.kernel\ndef k(y: Out[f32, "1"]) -> None:\n    y[0] = SCALE\n')
    y = zeros(1)
    made.k(y)
    assert y[0] == 2
    made.SCALE = 3
    made.k(y)
    assert y[0] == 3


def test_literals_take_the_type_they_meet() -> None:
    k = kernel('y: Out[T, "N"], x: In[T, "N"]', "for n in tp.parallel(N=4):\n    y[n] = x[n] * 2 + 1")
    for dtype in (np.int8, np.float16, np.float64):
        y = zeros(3, dtype=dtype)
        run(k, y, ramp(3, dtype=dtype))
        assert y.tolist() == [1, 3, 5]
    assert refused(each('y: Out[i32, "N"], x: In[i32, "N"]', "y[n] = x[n] * 0.5")) == "TP0204"
    assert refused(each('y: Out[i8, "N"], x: In[i8, "N"]', "y[n] = x[n] + 128")) == "TP0204"


def test_literals_take_the_type_they_meet_around_a_loop() -> None:
    body = "total = 0.0\nfor r in range(3):\n    total = total + x[n].to(f64)\ny[n] = total"
    y = zeros(2, dtype=np.float64)
    run(each('y: Out[f64, "N"], x: In[f32, "N"]', body), y, floats(1, 2))
    assert y.tolist() == [3, 6]


def test_inf_and_lowest_are_weak() -> None:
    body = "y[0] = -tp.inf\ny[1] = tp.lowest\nz[0] = tp.lowest"
    y, z = zeros(2, dtype=np.float16), zeros(1, dtype=np.int8)
    run(kernel('y: Out[f16, "2"], z: Out[i8, "1"]', body), y, z)
    assert (y.tolist(), z.tolist()) == ([-np.inf, -65504], [-128])


def test_a_constant_condition_compiles_the_side_that_is_taken() -> None:
    body = """
        kind = f64 if x.dtype == f64 else f32
        total = tp.zeros((), kind) + x[n].to(kind)
        y[n] = total if x.dtype == f64 else (total * 2).to(x.dtype)
    """
    made = each('y: Out[T, "N"], x: In[T, "N"]', body)
    for dtype, factor in ((np.float64, 1), (np.float32, 2), (np.float16, 2)):
        y = zeros(3, dtype=dtype)
        run(made, y, ramp(3, dtype=dtype))
        assert y.tolist() == [0, factor, 2 * factor]
    wrong = "y[n] = x[n].nothing if x.dtype == f16 else x[n]"
    y = zeros(2)
    run(each('y: Out[T, "N"], x: In[T, "N"]', wrong), y, ramp(2))
    assert y.tolist() == [0, 1]
