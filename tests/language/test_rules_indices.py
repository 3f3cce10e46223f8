"""The rules of docs/language.md on indices, indexing, none, and stores, one test for each."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from rules import each, fails, faults, floats, interpreted, ints, kernel, ramp, refused, run, zeros

# Indices.


def test_an_index_is_exact() -> None:
    big = 2**53 + 1
    y = zeros(1, dtype=np.int64)
    run(each('y: Out[i64, "N"]', f"y[n] = (n + {big}).to(i64)"), y)
    assert y[0] == big
    body = "at = n + 1\nfor r in range(64):\n    at = at * 2\ny[n] = at.to(i64)"
    k = each('y: Out[i64, "N"]', body)
    assert (fails(k, zeros(1, dtype=np.int64)), faults(k, zeros(1, dtype=np.int64))) == ("TP0813", "TP0705")


def test_positions_and_extents_take_arithmetic() -> None:
    body = 'for i in tp.parallel(N=4):\n    y[i] = x[(tp.dim("N") - 1 - i.elements) // 2 * 2 % 5]'
    y = zeros(6)
    run(kernel('y: Out[f32, "N"], x: In[f32, "N"]', body), y, ramp(6))
    assert y.tolist() == [4, 4, 2, 2, 0, 0]


def test_positions_take_exclusive_bits_alone() -> None:
    y = zeros(9, dtype=np.int64)
    run(each('y: Out[i64, "N"]', "y[n] = ((n - 3) ^ 5).to(i64)"), y)
    assert y.tolist() == [(n - 3) ^ 5 for n in range(9)]
    assert refused(each('y: Out[i64, "N"]', "y[n] = (n & 5).to(i64)")) == "TP0202"


def test_a_sized_tile_has_no_arithmetic() -> None:
    body = "for i in tp.parallel(N=4):\n    y[i] = x[i + 1]"
    assert refused(kernel('y: Out[f32, "N"], x: In[f32, "N"]', body)) == "TP0306"


def test_an_integer_that_meets_an_index_becomes_one() -> None:
    body = "for i in tp.parallel(N=4):\n    y[i] = (pos[0] + i.elements + by).to(i64)"
    y = zeros(3, dtype=np.int64)
    run(kernel('y: Out[i64, "N"], pos: In[i32, "1"], by: u8', body), y, ints(2**31 - 1), 200)
    assert y.tolist() == [2**31 + 199, 2**31 + 200, 2**31 + 201]


def test_a_u64_does_not_become_an_index() -> None:
    assert refused(each('y: Out[f32, "N"], by: u64', "y[n] = (n + by).to(f32)")) == "TP0209"


def test_an_index_is_cast_before_it_is_stored() -> None:
    assert refused(each('y: Out[i32, "N"]', "y[n] = n")) == "TP0203"


def test_a_negative_index_does_not_wrap_around() -> None:
    k = each('y: Out[f32, "N"], x: In[f32, "N"]', "y[n] = x[n - 1]")
    assert (fails(k, zeros(2), ramp(2)), faults(k, zeros(2), ramp(2))) == ("TP0811", "TP0702")
    assert refused(each('y: Out[f32, "N"], x: In[f32, "N"]', "y[n] = x[-1]")) == "TP0314"


# Indexing tensors.


def test_every_axis_of_a_tensor_is_indexed() -> None:
    assert refused(each('y: Out[f32, "N"], x: In[f32, "N 4"]', "y[n] = x[n].sum()")) == "TP0302"


def test_a_walker_indexes_axes_of_its_own_dimension() -> None:
    body = "for i, j in tp.parallel(M=4, N=4):\n    y[i, j] = x[j, i]"
    assert refused(kernel('y: Out[f32, "M N"], x: In[f32, "M N"]', body)) == "TP0301"


def test_an_axis_without_a_name_takes_any_walker_and_is_tested() -> None:
    k = kernel('y: Out[f32, "N"], x: In[f32, "_"]', "for n in tp.parallel(N=2):\n    y[n] = x[n]")
    y = zeros(3)
    run(k, y, ramp(4))
    assert y.tolist() == [0, 1, 2]
    assert (fails(k, zeros(3), ramp(2)), faults(k, zeros(3), ramp(2))) == ("TP0605", "TP0702")


def test_a_colon_takes_all_of_a_static_dimension() -> None:
    y = zeros(2)
    run(each('y: Out[f32, "N"], x: In[f32, "N D"], *, D: int', "y[n] = x[n, :].sum()"), y, ramp(2, 3))
    assert y.tolist() == [3, 12]
    assert refused(each('y: Out[f32, "N"], x: In[f32, "N D"]', "y[n] = x[n, :].sum()")) == "TP0305"


def test_a_constant_slice_picks_its_elements_and_is_not_clipped() -> None:
    k = kernel('y: Out[f32, "2"], x: In[f32, "N"]', "y[:] = x[2:4]")
    y = zeros(2)
    run(k, y, ramp(4))
    assert y.tolist() == [2, 3]
    assert (fails(k, zeros(2), ramp(3)), faults(k, zeros(2), ramp(3))) == ("TP0605", "TP0702")


def test_an_index_picks_one_element_and_drops_the_axis() -> None:
    y = zeros(3)
    run(kernel('y: Out[f32, "3"], x: In[f32, "N 3"], at: i32', "y[:] = x[at, :]"), y, ramp(2, 3), 1)
    assert y.tolist() == [3, 4, 5]


def test_a_tile_of_indices_makes_an_axis_with_its_tag() -> None:
    body = "for n in tp.parallel(N=4):\n    y[n] = x[at[n]] + {}"
    signature = 'y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"], z: In[f32, "V"]'
    y = zeros(5)
    run(kernel(signature, body.format("n.elements.to(f32)")), y, ramp(9), ints(8, 0, 7, 1, 3), zeros(9))
    assert y.tolist() == [8, 1, 9, 4, 7]
    inner = "for n in tp.parallel(N=4):\n    for v in tp.tiles(V=4):\n        y[n] = x[at[n]] + z[v]"
    assert refused(kernel(signature, inner)) == "TP0303"


def test_tiles_of_indices_are_independent_axes() -> None:
    k = kernel('y: Out[f32, "2 3"], x: In[f32, "M N"]', "y[:, :] = x[tp.arange(2) * 2, tp.arange(3) + 1]")
    y = zeros(2, 3)
    run(k, y, ramp(3, 4))
    assert (y == ramp(3, 4)[np.ix_([0, 2], [1, 2, 3])]).all()


def test_integer_tiles_wrap() -> None:
    y = zeros(2, dtype=np.int8)
    run(each('y: Out[i8, "N"], x: In[i8, "N"]', "y[n] = x[n] + 100"), y, np.array([27, 28], np.int8))
    assert y.tolist() == [127, -128]


# None.

ENTRIES = 'y: InOut[f32, "V"], at: In[Index["V"], "N"]'


def test_a_store_at_none_writes_nothing() -> None:
    body = "for n in tp.parallel(N=4):\n    y[at[n]] = n.elements.to(f32) + 1"
    for signature, runs in ((ENTRIES, interpreted), (ENTRIES.replace("Index", "Unique"), run)):
        y = zeros(4)
        runs(kernel(signature, body), y, ints(2, -1, 0, -1, 3))
        assert y.tolist() == [3, 0, 1, 5]


def test_a_slot_is_taken_apart_without_a_test() -> None:
    signature = 'y: InOut[f32, "P S"], at: In[Unique["P*S"], "N"], *, S: int'
    y = zeros(2, 3)
    run(each(signature, "y[at[n] // S, at[n] % S] = 1.0"), y, ints(5, -1, 0))
    assert y.tolist() == [[1, 0, 0], [0, 0, 1]]


def test_an_update_at_none_counts_nothing() -> None:
    s = ints(0, 0, 0)
    run(
        kernel('s: Sum[i32, "V"], at: In[Index["V"], "N"]', "for n in tp.parallel(N=2):\n    s[at[n]] += 1"),
        s,
        ints(2, -1, 2, -1),
    )
    assert s.tolist() == [0, 0, 2]


def test_none_stays_none_through_division_and_remainder_by_a_constant() -> None:
    for operation, wanted in (("// 2", [0, 1, 0]), ("% 2", [0, 1, 0])):
        entry = {"// 2": 2, "% 2": 1}[operation]
        y = zeros(3)
        interpreted(each(ENTRIES, f"y[at[n] {operation}] = 1.0"), y, ints(-1, entry))
        assert y.tolist() == wanted
        y = zeros(3)
        run(kernel(ENTRIES, f"y[at[0] {operation}] = 1.0\ny[at[1] {operation}] = 1.0"), y, ints(-1, entry))
        assert y.tolist() == wanted


def test_any_other_arithmetic_makes_a_number_of_none() -> None:
    for number in ("at[n] + 0", "at[n] // -1", "tp.where(n >= 0, at[n], 0)", "at[n].to(i32)"):
        assert faults(each(ENTRIES, f"y[{number}] = 1.0"), zeros(3), ints(-1, 2)) == "TP0702"
        alone = f"for n in range(2):\n    y[{number}] = 1.0"
        assert fails(kernel(ENTRIES, alone), zeros(3), ints(-1, 2)) == "TP0702"


def test_a_choice_between_entries_is_an_entry() -> None:
    store = "y[tp.where(n > 0, at[n], at[n])] = 1.0"
    y = zeros(3)
    interpreted(each(ENTRIES, store), y, ints(-1, 2))
    assert y.tolist() == [0, 0, 1]
    y = zeros(3)
    run(kernel(ENTRIES, f"for n in range(2):\n    {store}"), y, ints(-1, 2))
    assert y.tolist() == [0, 0, 1]


def test_a_comparison_sees_none_as_minus_one() -> None:
    y = zeros(2)
    run(each('y: Out[f32, "N"], at: In[Index["N"], "N"]', "y[n] = tp.where(at[n] == -1, 1.0, 2.0)"), y, ints(-1, 0))
    assert y.tolist() == [1, 2]


def test_nothing_becomes_an_entry() -> None:
    assert refused(each(ENTRIES, "y[n.to(at.dtype)] = 1.0")) == "TP0202"


def test_none_along_one_axis_decides_for_the_element() -> None:
    y = zeros(2, 3)
    interpreted(each('y: InOut[f32, "M V"], at: In[Index["V"], "N"]', "y[n + 9, at[n]] = 1.0"), y, ints(-1))
    assert not y.any()
    signature = 'y: InOut[f32, "M V"], row: In[i32, "1"], at: In[Index["V"], "1"]'
    run(kernel(signature, "y[row[0], at[0]] = 1.0"), y, ints(9), ints(-1))
    assert not y.any()


def test_a_load_through_an_entry_demands_at_launch_that_none_is_there() -> None:
    signature = 'y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"]'
    for index in ("at[n]", "at[n] // 2", "at[n] % 2"):
        k = each(signature, f"y[n] = x[{index}]")
        run(k, zeros(2), ramp(3), ints(2, 1))
        assert fails(k, zeros(2), ramp(3), ints(2, -1)) == "TP0607"
    guarded = each(signature, "y[n] = 0.0\nif at[n] >= -1:\n    y[n] = x[at[n]]")
    assert fails(guarded, zeros(2), ramp(3), ints(2, -1)) == "TP0607"


def test_a_branch_that_only_positions_reach_guards_a_load_through_an_entry() -> None:
    signature = 'y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"]'
    for guard in ("at[n] >= 0", "at[n] != -1", "(at[n] > 0) | (at[n] == 0)"):
        y = zeros(3)
        run(each(signature, f"y[n] = 7.0\nif {guard}:\n    y[n] = x[at[n]]"), y, ramp(3) + 1, ints(2, -1, 0))
        assert y.tolist() == [3, 7, 1]


def test_a_store_at_none_that_is_chosen_writes_nothing() -> None:
    signature = 'y: InOut[f32, "N"], x: In[f32, "N"]'
    body = "for n in tp.parallel(N=4):\n    y[tp.where(x[n] > 2, {}, tp.none)] = x[n]"
    y = zeros(6)
    run(kernel(signature, body.format("n.elements")), y, ramp(6))
    assert y.tolist() == [0, 0, 0, 3, 4, 5]
    below = kernel('y: InOut[f32, "N"], x: In[f32, "N"], at: In[i32, "1"]', body.format("n.elements - at[0]"))
    y = zeros(6)
    run(below, y, ramp(6), ints(3))
    assert y.tolist() == [3, 4, 5, 0, 0, 0]
    assert fails(below, zeros(6), ramp(6), ints(8)) == "TP0702"
    assert fails(below, zeros(4), ramp(4), ints(4)) == "TP0702"  # -1 is no more none than any other number


def test_none_is_what_a_branch_leaves_out_and_what_fills() -> None:
    at = ints(9, 9, 9)
    body = "at[n] = x[n, :].argmax() if x[n, :].max() > 3 else tp.none"
    run(each('at: Out[Index["V"], "N"], x: In[f32, "N V"], *, V: int', body), at, ramp(3, 2))
    assert at.tolist() == [-1, -1, 1]
    y = zeros(3)
    body = "e = tp.none\nif n > 0:\n    e = n - 1\ny[n] = x.get(e, 9.0) + x.get(at.get(n + 1, tp.none), 5.0)"
    run(each('y: Out[f32, "N"], x: In[f32, "N"], at: In[Index["N"], "N"]', body), y, ramp(3), ints(0, 0, 2))
    assert y.tolist() == [9, 2, 6]


def test_none_is_no_number() -> None:
    signature = 'y: InOut[f32, "N"], x: In[f32, "N"], at: In[Index["N"], "N"]'
    for value in ("tp.none", "x[n] + tp.none", "tp.where(at[n] == tp.none, 1.0, 0.0)", "-tp.none"):
        assert refused(each(signature, f"y[n] = {value}")) == "TP0202"
    assert refused(each(signature, "y[tp.none] = 1.0")) == "TP0312"


def test_an_index_chosen_as_minus_one_is_refused() -> None:
    signature = 'y: InOut[f32, "N"], s: Sum[f32, "N"], x: In[f32, "N"], at: In[Index["N"], "N"]'
    chosen = "tp.where(x[n] > 0, {}, -1)"
    for line in ("y[{}] = x[n]", "s[{}] += x[n]", "y[n] = x[{}]"):
        for index in ("n.elements", "at[n]"):
            body = "for n in tp.parallel(N=4):\n    " + line.format(chosen.format(index))
            assert refused(kernel(signature, body)) == "TP0314"
    y = zeros(5)
    body = "for n in tp.parallel(N=4):\n    y[n] = x.get(tp.where(x[n] > 2, n.elements, -1), 7.0)"
    run(kernel('y: Out[f32, "N"], x: In[f32, "N"]', body), y, ramp(5))
    assert y.tolist() == [7, 7, 7, 3, 4]


def test_borders_that_may_end_early_cover_nothing_behind_the_last() -> None:
    signature = '{}[f32, "N"], x: In[f32, "N"], off: In[Offsets["<=N"], "E+1"]'
    body = "for e, i in tp.parallel(tp.segments(off, N=2)):\n    y[i] = x[i]"
    assert refused(kernel(signature.format("y: Out"), body)) == "TP0821"
    y, k = zeros(7), kernel(signature.format("y: InOut"), body)
    run(k, y, ramp(7), ints(0, 3, 3, 5))
    assert y.tolist() == [0, 1, 2, 3, 4, 0, 0]
    run(k, y, ramp(7) + 1, ints(0))
    assert y.tolist() == [0, 1, 2, 3, 4, 0, 0]
    for wrong in (ints(0, 8), ints(1, 5), ints(0, 5, 3), ints()):
        assert fails(k, zeros(7), ramp(7), wrong) in ("TP0607", "TP0604")


def test_minus_one_in_a_plain_integer_is_not_none() -> None:
    signature = 'y: InOut[f32, "V"], at: In[i32, "N"]'
    assert faults(each(signature, "y[at[n]] = 1.0"), zeros(3), ints(-1)) == "TP0702"
    assert fails(kernel(signature, "y[at[0]] = 1.0"), zeros(3), ints(-1)) == "TP0702"


# Reading with a fill.


def test_get_reads_the_fill_where_an_index_is_outside() -> None:
    k = kernel(
        'y: Out[f32, "N"], x: In[f32, "N"]', "for n in tp.parallel(N=4):\n    y[n] = x.get(n.elements * 2 - 2, 9.0)"
    )
    y = zeros(5)
    run(k, y, ramp(5))
    assert y.tolist() == [9, 0, 2, 4, 9]


def test_get_reads_the_fill_at_none() -> None:
    y = zeros(2)
    run(
        each('y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"]', "y[n] = x.get(at[n], 9.0)"),
        y,
        ramp(3),
        ints(2, -1),
    )
    assert y.tolist() == [2, 9]


def test_get_takes_one_index_for_each_axis_as_a_tuple() -> None:
    y = zeros(2, 3)
    run(each('y: Out[f32, "N 3"], x: In[f32, "N 2"]', "y[n, :] = x.get((n, tp.arange(3)), -1.0)"), y, ramp(2, 2))
    assert y.tolist() == [[0, 1, -1], [2, 3, -1]]


def test_the_fill_has_the_type_of_the_tensor() -> None:
    assert refused(each('y: Out[f32, "N"], x: In[f32, "N"], by: i32', "y[n] = x.get(n, by)")) == "TP0201"


def test_a_get_is_a_read() -> None:
    assert refused(each('y: Out[f32, "N"]', "y[n] = y.get(n, 0.0)")) == "TP0505"
    k = each('y: InOut[f32, "N"]', "y[n] = y.get(n + 1, 0.0)")
    assert (fails(k, zeros(3)), faults(k, zeros(3))) == ("TP0801", "TP0701")


# Stores and updates.


def test_floats_convert_on_store_to_the_nearest_even() -> None:
    y = zeros(2, dtype=ml_dtypes.bfloat16)
    run(each('y: Out[bf16, "N"], x: In[f32, "N"]', "y[n] = x[n]"), y, floats(1 + 2**-8, 1 + 3 * 2**-8))
    assert y.astype(np.float32).tolist() == [1, 1 + 2**-6]


def test_every_cast_but_float_to_float_is_written() -> None:
    assert refused(each('y: Out[i32, "N"], x: In[f32, "N"]', "y[n] = x[n]")) == "TP0203"
    assert refused(each('y: Out[f32, "N"], x: In[i32, "N"]', "y[n] = x[n]")) == "TP0203"
    assert refused(each('y: Out[f32, "N"], x: In[f16, "N"], z: In[f32, "N"]', "y[n] = x[n] + z[n]")) == "TP0201"


def test_a_store_writes_live_elements_only() -> None:
    y = zeros(8)
    run(kernel('y: InOut[f32, "N"]', "for k in tp.tiles(N=4, stop=6):\n    y[k] = tp.full((4,), 1.0)"), y)
    assert y.tolist() == [1] * 6 + [0] * 2


def test_every_lane_of_an_update_counts() -> None:
    k = kernel('s: Sum[i32, "V"], at: In[Index["V"], "N"]', "for n in tp.parallel(N=4):\n    s[at[n]] += 1")
    s = ints(0, 0)
    run(k, s, ints(1, 1, 0, 1, 1))
    assert s.tolist() == [1, 4]


def test_two_lanes_of_one_store_never_meet() -> None:
    k = kernel('y: InOut[f32, "V"], at: In[Index["V"], "N"]', "for n in tp.parallel(N=4):\n    y[at[n]] = 1.0")
    assert (fails(k, zeros(3), ints(1, 2, 1)), faults(k, zeros(3), ints(1, 2, 1))) == ("TP0803", "TP0707")


def test_augmented_assignment_of_an_inout_is_load_operation_store() -> None:
    y = ramp(3)
    run(each('y: InOut[f32, "N"]', "y[n] += 1\ny[n] *= 2"), y)
    assert y.tolist() == [2, 4, 6]
