"""The rules of docs/language.md on spaces, loops, walkers, splits, segments and views, one test for each."""

from __future__ import annotations

import numpy as np
from rules import each, fails, faults, floats, interpreted, ints, kernel, ramp, refused, run, zeros

# The parallel space.


def test_the_body_runs_once_for_each_combination_of_tiles() -> None:
    k = kernel('s: Sum[i32, "1"], x: In[f32, "M N"]', "for i, j in tp.parallel(M=2, N=3):\n    s[0] += 1")
    s = ints(0)
    run(k, s, zeros(5, 7))
    assert s[0] == 3 * 3


def test_the_last_tile_is_exactly_the_elements_that_exist() -> None:
    k = kernel('y: Out[f32, "N"]', "for n in tp.parallel(N=4):\n    y[n] = tp.full((n,), 1.0).sum()")
    y = zeros(6)
    run(k, y)
    assert y.tolist() == [4, 4, 4, 4, 2, 2]


def test_an_empty_dimension_has_no_programs() -> None:
    s = ints(7)
    run(kernel('s: Sum[i32, "1"], x: In[f32, "N"]', "for n in tp.parallel(N=4):\n    s[0] += 1"), s, zeros(0))
    assert s[0] == 0


def test_pairs_walk_a_dimension_twice() -> None:
    body = 'for i, j in tp.parallel(("N", 2), ("N", tp.each)):\n    y[i, j] = x[i] * x[j]'
    y = zeros(3, 3)
    run(kernel('y: Out[f32, "N N"], x: In[f32, "N"]', body), y, ramp(3))
    assert (y == np.outer(ramp(3), ramp(3))).all()


def test_each_walks_single_elements_and_drops_the_axis() -> None:
    y = zeros(3)
    run(each('y: Out[f32, "N"], x: In[f32, "N D"], *, D: int', "y[n] = x[n, :].sum()"), y, ramp(3, 2))
    assert y.tolist() == [1, 5, 9]


def test_there_is_one_parallel_space() -> None:
    body = "for n in tp.parallel(N=4):\n    y[n] = 0.0\nfor n in tp.parallel(N=4):\n    y[n] = 1.0"
    assert refused(kernel('y: InOut[f32, "N"]', body)) == "TP0106"


def test_the_parallel_space_is_at_the_top_level_of_the_kernel() -> None:
    body = "if flag:\n    for n in tp.parallel(N=4):\n        y[n] = 0.0"
    assert refused(kernel('y: InOut[f32, "N"], flag: bool', body)) == "TP0105"


def test_a_kernel_without_a_space_is_one_program() -> None:
    y = floats(1, 2)
    run(kernel('y: InOut[f32, "2"]', "y[0] = y[1] + 1\ny[1] = y[0] + 1"), y)
    assert y.tolist() == [3, 4]


def test_outside_the_space_nothing_is_written() -> None:
    assert refused(kernel('y: InOut[f32, "N"]', "y[0] = 1.0\nfor n in tp.parallel(N=4):\n    y[n] = 0.0")) == "TP0104"


def test_outside_the_space_only_in_is_read() -> None:
    body = "first = {}[0]\nfor n in tp.parallel(N=4):\n    y[n] = first"
    y = zeros(3)
    run(kernel('y: InOut[f32, "N"], x: In[f32, "N"]', body.format("x")), y, ramp(3) + 5)
    assert y.tolist() == [5, 5, 5]
    assert refused(kernel('y: InOut[f32, "N"]', body.format("y"))) == "TP0110"


def test_no_name_bound_outside_the_space_is_rebound_inside() -> None:
    assert (
        refused(kernel('y: Out[f32, "N"]', "a = 1.0\nfor n in tp.parallel(N=4):\n    a = 2.0\n    y[n] = a"))
        == "TP0103"
    )


def test_two_programs_never_touch_an_element_that_one_of_them_writes() -> None:
    for body in ("y[0] = 1.0", "y[n] = y[0]"):
        k = each('y: InOut[f32, "N"]', body)
        assert (fails(k, zeros(2)), faults(k, zeros(2))) == ("TP0801", "TP0701")


def test_accesses_of_one_program_happen_in_order() -> None:
    y = ramp(3)
    run(each('y: InOut[f32, "N"]', "y[n] = y[n] + 1\ny[n] = y[n] * 10"), y)
    assert y.tolist() == [10, 20, 30]


# Loops.


def test_tiles_are_walked_in_order_inside_one_program() -> None:
    body = "at = 0.0\nfor k in tp.tiles(N=2):\n    y[k] = at\n    at = at * 10 + x[k].sum()"
    y = zeros(5)
    run(kernel('y: Out[f32, "N"], x: In[f32, "N"]', body), y, ramp(5))
    assert y.tolist() == [0, 0, 1, 1, 15]


def test_tiles_count_from_start() -> None:
    y = zeros(6)
    run(kernel('y: InOut[f32, "N"]', "for k in tp.tiles(N=2, start=3):\n    y[k] = k.start.to(f32)"), y)
    assert y.tolist() == [0, 0, 0, 3, 3, 5]


def test_tiles_are_clipped_at_stop_and_at_the_axis() -> None:
    body = "for k in tp.tiles(N=4, stop={}):\n    y[k] = (k.stop - k.start).to(f32)"
    for stop, wanted in ((5, [4, 4, 4, 4, 1, 0]), (99, [4, 4, 4, 4, 2, 2]), (-3, [0] * 6)):
        y = zeros(6)
        run(kernel('y: InOut[f32, "N"]', body.format(stop)), y)
        assert y.tolist() == wanted


def test_a_walk_does_not_start_before_its_axis() -> None:
    walk = kernel('y: InOut[f32, "N"]', "for k in tp.tiles(N=4, start=-1):\n    y[k] = 1.0")
    assert (fails(walk, zeros(6)), faults(walk, zeros(6))) == ("TP0811", "TP0702")


def test_range_counts_as_in_python() -> None:
    body = "at = 0\nfor r in range(7, n, -2):\n    at = at * 10 + r\ny[n] = at.to(i32)"
    y = zeros(3, dtype=np.int32)
    interpreted(each('y: Out[i32, "N"]', body), y)
    assert y.tolist() == [7531, 753, 753]


def test_while_runs_as_long_as_its_condition_holds() -> None:
    y = zeros(3, dtype=np.int32)
    interpreted(each('y: Out[i32, "N"]', "p = 1\nwhile p < n + 2:\n    p = p * 2\ny[n] = p.to(i32)"), y)
    assert y.tolist() == [2, 4, 4]


# Walkers.


def test_start_stop_and_elements_are_positions() -> None:
    body = "for i in tp.parallel(N=3):\n    y[i] = (i.start * 100 + i.stop * 10 + i.elements).to(f32)"
    y = zeros(5)
    run(kernel('y: Out[f32, "N"]', body), y)
    assert y.tolist() == [30, 31, 32, 353, 354]


def test_number_counts_the_tiles_before() -> None:
    body = """
    for i in tp.parallel(M=2):
        for k in tp.tiles(N=2, start=1):
            y[i, k] = (i.number * 10 + k.number).to(f32)
    """
    y = zeros(3, 4)
    run(kernel('y: InOut[f32, "M N"]', body), y)
    assert y.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [0, 10, 10, 11]]


def test_sub_tiles_are_clipped_at_the_end_of_their_tile() -> None:
    body = "for i in tp.parallel(N=3):\n    for s in i.tiles(2):\n        y[s] = (s.start * 10 + s.stop).to(f32)"
    y = zeros(5)
    run(kernel('y: Out[f32, "N"]', body), y)
    assert y.tolist() == [2, 2, 23, 35, 35]


def test_sub_tiles_take_start_and_stop_and_stay_in_their_tile() -> None:
    body = "for i in tp.parallel(N=4):\n    for s in i.tiles(2, start=1, stop=7):\n        y[s] = s.start.to(f32)"
    y = zeros(8)
    run(kernel('y: InOut[f32, "N"]', body), y)
    assert y.tolist() == [0, 1, 1, 3, 4, 4, 6, 0]


def test_an_element_has_no_sub_tiles() -> None:
    assert refused(each('y: Out[f32, "N"]', "for s in n.tiles(2):\n    y[s] = 0.0")) == "TP0112"


def test_shift_moves_a_tile_by_elements() -> None:
    y = zeros(8)
    run(kernel('y: InOut[f32, "N"]', "for k in tp.tiles(N=2, stop=4):\n    y[k.shift(3)] = k.start.to(f32) + 1"), y)
    assert y.tolist() == [0, 0, 0, 1, 1, 3, 3, 0]


def test_a_shifted_tile_is_clipped_at_the_end_of_the_dimension() -> None:
    body = "for i in tp.parallel(N=4):\n    s = i.shift(2)\n    y[i] = (s.start * 100 + s.stop * 10 + s.number).to(f32)"
    y = zeros(7)
    interpreted(kernel('y: Out[f32, "N"]', body), y)
    assert y.tolist() == [260] * 4 + [671] * 3
    y = zeros(7)
    run(kernel('y: Out[f32, "N"]', body.replace("(2)", '(tp.minimum(2, tp.dim("N") - i.start))')), y)
    assert y.tolist() == [260] * 4 + [671] * 3


def test_a_shifted_tile_begins_in_the_dimension_or_at_its_end() -> None:
    body = "for i in tp.parallel(N=4):\n    y[i] = x[i.shift({})].fill(9.0)"
    signature = 'y: Out[f32, "N"], x: In[f32, "N"]'
    for by, runs in (("4", interpreted), ("i.stop - i.start", run)):
        y = zeros(8)
        runs(kernel(signature, body.format(by)), y, ramp(8))
        assert y.tolist() == [4, 5, 6, 7, 9, 9, 9, 9]
    for by in (5, -1):
        k = kernel(signature, body.format(by))
        assert (fails(k, zeros(8), ramp(8)), faults(k, zeros(8), ramp(8))) == ("TP0811", "TP0702")


def test_a_shifted_tile_has_a_tag_of_its_own() -> None:
    body = "for i in tp.parallel(N=4):\n    y[i] = x[i.shift(0)]"
    assert refused(kernel('y: Out[f32, "N"], x: In[f32, "N"]', body)) == "TP0303"


def test_an_element_is_moved_by_arithmetic_not_by_shift() -> None:
    assert refused(each('y: Out[f32, "N"], x: In[f32, "N"]', "y[n] = x[n.shift(1)]")) == "TP0401"


# Splitting and joining.

SPLIT = 'y: Out[f32, "N"], x: In[f32, "M N"]'


def test_a_split_axis_is_cut_among_programs() -> None:
    body = "for z in tp.parallel(N=tp.split(3)):\n    y[z] = z.number.to(f32)\n    s[0] = tp.join(1.0, over=z)"
    y, s = zeros(7), zeros(1)
    run(kernel('y: Out[f32, "N"], s: Out[f32, "1"]', body), y, s)
    assert y.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert s[0] == 3


def test_a_piece_is_walked_by_its_tiles() -> None:
    body = """
    for z, j in tp.parallel(M=tp.split(4), N=2):
        t = tp.zeros((j,))
        for i in z.tiles(3):
            t += x[i, j].sum(axis=0)
        y[j] = tp.join(t, over=z)
    """
    y = zeros(3)
    run(kernel(SPLIT, body), y, ramp(7, 3))
    assert (y == ramp(7, 3).sum(axis=0)).all()


def test_join_adds_unless_a_combiner_is_given() -> None:
    body = "for z in tp.parallel(N=tp.split(2)):\n    y[0] = tp.join(x[z].sum(), over=z{})"
    for by, wanted in (("", 10), (", by=tp.maximum", 5), (", by=lambda a, b: a * b", 20)):
        y = zeros(1)
        run(kernel('y: Out[f32, "1"], x: In[f32, "N"]', body.format(by)), y, ramp(5))
        assert y[0] == wanted


def test_join_combines_the_pieces_in_index_order() -> None:
    body = "for z in tp.parallel(N=tp.split(1)):\n    y[0] = tp.join(x[z].sum(), over=z, by=lambda a, b: a * 10 + b)"
    y = zeros(1)
    run(kernel('y: Out[f32, "1"], x: In[f32, "N"]', body), y, floats(3, 1, 4, 1))
    assert y[0] == 3141


def test_a_tuple_is_joined_at_once() -> None:
    before = """
    def larger(a, b):
        (top, at), (other, there) = a, b
        return tp.where(other > top, other, top), tp.where(other > top, there, at)
    """
    body = """
    for z in tp.parallel(N=tp.split(2)):
        top, at = tp.join((x[z].max(), z.start + x[z].argmax()), over=z, by=larger)
        y[0], i[0] = top, at.to(i32)
        """
    y, i = zeros(1), ints(0)
    run(kernel('y: Out[f32, "1"], i: Out[i32, "1"], x: In[f32, "N"]', body, before), y, i, floats(1, 5, 2, 9, 0))
    assert (y[0], i[0]) == (9, 3)


def test_after_the_join_the_body_goes_on_once_for_all_pieces() -> None:
    body = "for z in tp.parallel(N=tp.split(2)):\n    t = tp.join(x[z].sum(), over=z)\n    s[0] += 1\n    y[0] = t"
    y, s = zeros(1), ints(0)
    run(kernel('y: Out[f32, "1"], s: Sum[i32, "1"], x: In[f32, "N"]', body), y, s, ramp(5))
    assert (y[0], s[0]) == (10, 1)


def test_an_empty_axis_has_one_empty_piece() -> None:
    y = ramp(3) + 1
    run(
        kernel(SPLIT, "for z, j in tp.parallel(M=tp.split(4), N=2):\n    y[j] = tp.join(x[z, j].sum(axis=0), over=z)"),
        y,
        zeros(0, 3),
    )
    assert y.tolist() == [0, 0, 0]


def test_a_split_is_joined() -> None:
    assert (
        refused(kernel(SPLIT, "for z, j in tp.parallel(M=tp.split(4), N=2):\n    y[j] = x[z, j].sum(axis=0)"))
        == "TP0114"
    )


def test_there_is_one_join() -> None:
    body = """
    for z, j in tp.parallel(M=tp.split(4), N=2):
        t = tp.join(x[z, j].sum(axis=0), over=z)
        y[j] = tp.join(t, over=z)
    """
    assert refused(kernel(SPLIT, body)) == "TP0114"


def test_the_join_is_at_the_top_level_of_the_body() -> None:
    body = "for z, j in tp.parallel(M=tp.split(4), N=2):\n    {}:\n        y[j] = tp.join(x[z, j].sum(axis=0), over=z)"
    for inside in ("for r in range(1)", "if j.start >= 0"):
        assert refused(kernel(SPLIT, body.format(inside))) == "TP0114"


def test_one_dimension_is_split() -> None:
    body = "for z, w in tp.parallel(M=tp.split(4), N=tp.split(2)):\n    y[0] = tp.join(x[z, w].sum(), over=z)"
    assert refused(kernel(SPLIT, body)) == "TP0114"


def test_the_length_of_a_piece_is_a_positive_constant() -> None:
    for size in ("-1", "tp.each", 'tp.dim("M")'):
        body = f"for z, j in tp.parallel(M=tp.split({size}), N=2):\n    y[j] = tp.join(x[z, j].sum(axis=0), over=z)"
        assert refused(kernel(SPLIT, body)) == "TP0315"


def test_after_the_join_nothing_of_one_piece_is_used() -> None:
    body = (
        "for z, j in tp.parallel(M=tp.split(4), N=2):\n    t = x[z, j].sum(axis=0)\n    y[j] = tp.join(t, over=z) + {}"
    )
    for used in ("t", "z.start.to(f32)", "x[z, j].sum(axis=0)", "tp.full((z,), 1.0).sum()"):
        assert refused(kernel(SPLIT, body.format(used))) == "TP0115"


def test_after_the_join_what_all_pieces_share_may_be_used() -> None:
    body = """
    for z, j in tp.parallel(M=tp.split(4), N=2):
        b = bias[j] * 2
        y[j] = tp.join(x[z, j].sum(axis=0), over=z) + b
    """
    y = zeros(3)
    run(kernel(SPLIT + ', bias: In[f32, "N"]', body), y, ramp(7, 3), ramp(3))
    assert (y == ramp(7, 3).sum(axis=0) + 2 * ramp(3)).all()


def test_a_tile_of_a_piece_is_reduced_before_it_is_joined() -> None:
    body = "for z, j in tp.parallel(M=tp.split(4), N=2):\n    y[j] = tp.join(x[z, j], over=z).sum(axis=0)"
    assert refused(kernel(SPLIT, body)) == "TP0119"


def test_what_follows_the_join_is_a_program_of_its_own() -> None:
    body = "for z in tp.parallel(N=tp.split(2)):\n    y[z] = x[z]\n    y[0] = tp.join(x[z].sum(), over=z)"
    k = kernel('y: InOut[f32, "N"], x: In[f32, "N"]', body)
    assert (fails(k, zeros(5), ramp(5)), faults(k, zeros(5), ramp(5))) == ("TP0801", "TP0701")


# Ragged segments.

SEGMENTS = 'y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]'


def test_segments_hand_out_their_number_and_a_tile_that_stays_inside() -> None:
    body = "for e, i in tp.parallel(tp.segments(off, N=2)):\n    y[i] = (e * 100 + i.start * 10 + i.stop).to(f32)"
    y = zeros(7)
    run(kernel(SEGMENTS, body), y, ints(0, 3, 3, 7))
    assert y.tolist() == [2, 2, 23, 235, 235, 257, 257]


def test_number_counts_within_a_segment() -> None:
    y = zeros(7)
    run(
        kernel(SEGMENTS, "for e, i in tp.parallel(tp.segments(off, N=2)):\n    y[i] = i.number.to(f32)"),
        y,
        ints(0, 3, 3, 7),
    )
    assert y.tolist() == [0, 0, 1, 0, 0, 1, 1]


def test_an_empty_segment_has_no_tiles() -> None:
    k = kernel(
        's: Sum[i32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]',
        "for e, i in tp.parallel(tp.segments(off, N=2)):\n    s[e] += 1",
    )
    s = ints(9, 9, 9)
    run(k, s, zeros(7), ints(0, 3, 3, 7))
    assert s.tolist() == [2, 0, 2]


def test_segments_combine_with_other_walks() -> None:
    body = "for (e, i), j in tp.parallel(tp.segments(off, N=2), F=2):\n    y[i, j] = x[i, j] * w[e, j]"
    signature = 'y: Out[f32, "N F"], x: In[f32, "N F"], w: In[f32, "E F"], off: In[Offsets["N"], "E+1"]'
    y, x, w = zeros(5, 3), ramp(5, 3), ramp(2, 3)
    run(kernel(signature, body), y, x, w, ints(0, 3, 5))
    assert (y == x * w[[0, 0, 0, 1, 1]]).all()


def test_segments_are_walked_by_offsets_of_their_dimension() -> None:
    body = "for e, i in tp.parallel(tp.segments(off, N=2)):\n    y[i] = 0.0"
    assert refused(kernel('y: Out[f32, "N"], off: In[Index["N"], "E+1"]', body)) == "TP0112"
    assert refused(kernel('y: Out[f32, "N"], x: In[f32, "E"], off: In[Offsets["E"], "E+1"]', body)) == "TP0301"


def test_the_entries_of_offsets_are_plain_indices() -> None:
    body = "for e in tp.parallel(E=tp.each):\n    y[e] = (off[e + 1] - off[e + 0]).to(f32)"
    y = zeros(3)
    run(kernel('y: Out[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]', body), y, zeros(7), ints(0, 3, 3, 7))
    assert y.tolist() == [3, 0, 4]


# Past and fresh.

VIEWS = 'y: Out[f32, "N"], c: InOut[f32, "C"], pos: In[i32, "1"]'
CUT = 'past, fresh = tp.split_at(c, "C", pos[0])\nfor n in tp.parallel(N=tp.each):\n    '


def test_one_launch_reads_a_cache_and_appends_to_it() -> None:
    body = """
    past, fresh = tp.split_at(c, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for t in tp.tiles(C=2, stop=pos[0]):
            total += past[t].sum()
        fresh[n] = -1.0
        y[n] = total
    """
    y, c = zeros(2), ramp(8)
    run(kernel(VIEWS, body), y, c, ints(5))
    assert y.tolist() == [10, 10]
    assert c.tolist() == [0, 1, 2, 3, 4, -1, -1, 7]


def test_the_past_ends_where_the_tensor_is_cut() -> None:
    k = kernel(VIEWS, CUT + "fresh[n] = 0.0\n    y[n] = past[pos[0] - 1 + n]")
    run(k, zeros(1), ramp(8), ints(5))
    assert fails(k, zeros(2), ramp(8), ints(5)) == "TP0702"


def test_the_past_is_never_written() -> None:
    assert refused(kernel(VIEWS, CUT + "past[n] = 0.0\n    y[n] = 0.0")) == "TP0504"


def test_fresh_counts_from_its_own_start() -> None:
    c = ramp(5)
    run(
        kernel(VIEWS, CUT + "y[n] = fresh[n]\n    fresh[n] = y.shape[0].to(f32) + fresh.shape[0].to(f32)"),
        zeros(2),
        c,
        ints(3),
    )
    assert c.tolist() == [0, 1, 2, 4, 4]


def test_fresh_is_written_under_the_ownership_law() -> None:
    for store in ("fresh[0] = 0.0", "fresh[n] = fresh[0]"):
        k = kernel(VIEWS, CUT + f"{store}\n    y[n] = past[0]")
        assert fails(k, zeros(2), ramp(5), ints(3)) == "TP0801"
        assert faults(k, zeros(2), ramp(5), ints(3)) == "TP0701"


def test_a_tensor_is_cut_inside_its_axis() -> None:
    k = kernel(VIEWS, CUT + "y[n] = 0.0")
    for at in (0, 5):
        run(k, zeros(2), ramp(5), ints(at))
    assert [fails(k, zeros(2), ramp(5), ints(at)) for at in (-1, 6)] == ["TP0702", "TP0702"]


def test_a_tensor_is_cut_before_the_space_at_the_top_level() -> None:
    body = 'for n in tp.parallel(N=tp.each):\n    past, fresh = tp.split_at(c, "C", 1)\n    y[n] = past[0]'
    assert refused(kernel(VIEWS, body)) == "TP0118"
    body = 'for n in tp.parallel(N=tp.each):\n    y[n] = 0.0\npast, fresh = tp.split_at(c, "C", 1)'
    assert refused(kernel(VIEWS, body)) == "TP0118"


def test_only_an_inout_is_cut() -> None:
    assert refused(kernel('y: Out[f32, "N"], c: In[f32, "C"], pos: In[i32, "1"]', CUT + "y[n] = past[0]")) == "TP0118"


def test_a_tensor_is_not_used_after_it_is_cut() -> None:
    assert refused(kernel(VIEWS, CUT + "y[n] = c[n]")) == "TP0102"
