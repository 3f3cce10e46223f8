"""Kernels with one fault planted in them, which the sanitizer must find, and twins without it, on which it is silent.

In a kernel's text `<wrong => right>` marks the only place where the two differ; a fault of the data is marked in the
arguments instead. The front end accepts both twins: what is wrong shows only when programs run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.source_files import load_file
from tileproof.diagnostics import Code
from tileproof.frontend.elaborate import accepted
from tileproof.runtime.launch.backend_choice import ON_HOST

Array = np.ndarray[Any, Any]
Arguments = Callable[[bool], list[Any]]

HEAD = """\
import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, Sum, Unique, f32, i32


@tp.kernel
"""
ORDERS: tuple[Any, ...] = ("forward", "reverse", 1, 2)
CHOICE = re.compile(r"<([^<>]*) => ([^<>]*)>")


def zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def ramp(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


@dataclass(frozen=True)
class Fault:
    name: str
    code: Code
    signature: str
    body: str
    arguments: Arguments

    def text(self, planted: bool) -> str:
        body = indent(dedent(self.body).strip("\n"), "    ")
        whole = f"{HEAD}def kernel({self.signature}) -> None:\n{body}\n"
        return CHOICE.sub(lambda result: result[1 if planted else 2], whole)

    def kernel(self, planted: bool, folder: Path) -> tp.Kernel:
        path = folder / f"{'wrong' if planted else 'right'}.py"
        path.write_text(self.text(planted), encoding="utf-8")
        module = load_file(path)
        assert isinstance(module.kernel, tp.Kernel)
        return module.kernel


FAULTS: list[Fault] = []


def fault(name: str, code: Code, signature: str, body: str, arguments: Callable[..., list[Any]]) -> None:
    """Adds a fault. `arguments` takes whether the fault is planted if it is one of the data."""
    by_data = arguments.__code__.co_argcount == 1
    FAULTS.append(Fault(name, code, signature, body, arguments if by_data else lambda _: arguments()))


# fmt: off
# Races: two programs write one element.

fault("all_write_the_first_element", Code.RACE, 'y: InOut[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        y[<0 => n>] = n.to(f32)
    """, lambda: [zeros(4)])
fault("a_slice_where_the_tile_is_meant", Code.RACE, 'y: InOut[f32, "M N"]', """
    for i, j in tp.parallel(M=2, N=4):
        y[i, <0:4 => j>] = 1.0
    """, lambda: [zeros(3, 8)])
fault("a_walker_is_left_out_of_the_store", Code.RACE, 'y: <InOut => Sum>[f32, "M"], x: In[f32, "M N"]', """
    for i, j in tp.parallel(M=2, N=2):
        y[i] <= => +=> x[i, j].sum(axis=1)
    """, lambda: [zeros(3), ramp(3, 5)])
fault("two_elements_share_a_place", Code.RACE, 'y: InOut[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        y[<n // 2 => n>] = 1.0
    """, lambda: [zeros(5)])
fault("heads_of_one_group_write_it", Code.RACE, 'y: <InOut => Sum>[f32, "G"], x: In[f32, "H"]', """
    for h in tp.parallel(H=tp.each):
        y[tp.group(h, "G")] <= => +=> x[h]
    """, lambda: [zeros(2), ramp(6)])
fault("shifted_windows_overlap", Code.RACE, 'y: InOut[f32, "N"]', """
    for i in tp.parallel(N=4):
        y[i] = 1.0
        y[i.shift(<1 => 0>)] = 2.0
    """, lambda: [zeros(8)])
fault("one_element_past_the_own_tile", Code.RACE, 'y: InOut[f32, "N"]', """
    for i in tp.parallel(N=3):
        y[i] = 1.0
        if i.stop < tp.dim("N"):
            y[i.stop - <0 => 1>] = 2.0
    """, lambda: [zeros(8)])
fault("both_halves_of_a_symmetric_matrix", Code.RACE, 'y: InOut[f32, "N N"]', """
    for i, j in tp.parallel(("N", tp.each), ("N", tp.each)):
        y[<tp.maximum(i, j) => i>, <tp.minimum(i, j) => j>] = 1.0
    """, lambda: [zeros(3, 3)])
fault("every_program_counts_through_all", Code.RACE, 'y: InOut[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        for r in range(3):
            y[<r => n>] = 1.0
    """, lambda: [zeros(3)])
fault("two_guards_are_true", Code.RACE, 'y: InOut[f32, "1"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        if x[n] >= <3 => 4>:
            y[0] = x[n]
    """, lambda: [zeros(1), ramp(4)])
fault("one_entry_in_two_programs", Code.RACE, 'y: InOut[f32, "V"], at: In[Index["V"], "N"]', """
    for n in tp.parallel(N=2):
        y[at[n]] = 1.0
    """, lambda planted: [zeros(5), ints(4, 1, 0, 4 if planted else 2)])
fault("a_piece_of_slots_is_no_slot", Code.RACE, 'y: InOut[f32, "P S"], at: In[Unique["P*S"], "N"], *, S: int', """
    for n in tp.parallel(N=tp.each):
        y[at[n] // S, <0 => at[n] % S>] = 1.0
    """, lambda: [zeros(2, 3), ints(0, -1, 5, 4)])
fault("all_pieces_write_before_the_join", Code.RACE, 'y: InOut[f32, "1"], x: In[f32, "N"]', """
    for z in tp.parallel(N=tp.split(2)):
        part = x[z].sum()
        <y[0] = part => pass>
        y[0] = tp.join(part, over=z)
    """, lambda: [zeros(1), ramp(5)])
fault("a_store_after_the_join_meets_one_before", Code.RACE,
      'y: InOut[f32, "N"], t: InOut[f32, "1"], x: In[f32, "N"]', """
    for z in tp.parallel(N=tp.split(2)):
        y[z] = x[z]
        <y => t>[0] = tp.join(x[z].sum(), over=z)
    """, lambda: [zeros(5), zeros(1), ramp(5)])
fault("stores_after_the_join_meet", Code.RACE, 'y: InOut[f32, "N"], x: In[f32, "M N"]', """
    for z, j in tp.parallel(M=tp.split(2), N=tp.each):
        y[<0 => j>] = tp.join(x[z, j].sum(), over=z)
    """, lambda: [zeros(3), ramp(5, 3)])
fault("all_append_to_one_place", Code.RACE, 'c: InOut[f32, "C"], new: In[f32, "N"], pos: i32', """
    past, fresh = tp.split_at(c, "C", pos)
    for n in tp.parallel(N=tp.each):
        fresh[<0 => n>] = new[n] + past[0]
    """, lambda: [zeros(8), ramp(3), 4])
fault("tiles_of_a_segment_write_its_element", Code.RACE,
      'y: <InOut => Sum>[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]', """
    for e, i in tp.parallel(tp.segments(off, N=2)):
        y[e] <= => +=> x[i].sum()
    """, lambda: [zeros(3), ramp(7), ints(0, 1, 1, 7)])
fault("a_raw_store_is_watched_too", Code.RACE, 'y: InOut[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        with tp.unsafe("planted"):
            tp.raw.store(y, <0 => n>, 1.0)
    """, lambda: [zeros(3)])

# Races: one program reads what another writes.

fault("a_neighbour_is_read_in_place", Code.RACE, 'y: InOut[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        if n > 0:
            y[n] = <y => x>[n - 1]
    """, lambda: [zeros(5), ramp(5)])
fault("the_halo_of_an_inout_is_read", Code.RACE, 'y: InOut[f32, "N"], x: In[f32, "N"]', """
    for i in tp.parallel(N=2):
        y[i] = y[i] + <y => x>.get(i.elements + 1, 0.0)
    """, lambda: [zeros(5), ramp(5)])
fault("a_shifted_window_is_read_in_place", Code.RACE, 'y: InOut[f32, "N"]', """
    for i in tp.parallel(N=4):
        y[i] = y[i.shift(<2 => 0>)].fill(0.0) * 2
    """, lambda: [ramp(8)])
fault("reversed_in_place", Code.RACE, 'y: InOut[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        y[n] = <y => x>[tp.dim("N") - 1 - n]
    """, lambda: [zeros(4), ramp(4)])
fault("all_read_what_one_writes", Code.RACE, 'y: InOut[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        y[n] = x[n] / <y => x>[1]
    """, lambda: [ramp(3), ramp(3)])
fault("the_fresh_part_of_another_is_read", Code.RACE, 'c: InOut[f32, "C"], new: In[f32, "N"], pos: i32', """
    past, fresh = tp.split_at(c, "C", pos)
    for n in tp.parallel(N=tp.each):
        fresh[n] = fresh[<n + 1 => n>] + new[n] + past[0]
    """, lambda: [ramp(8), ramp(3), 4])
fault("what_pieces_wrote_is_read_after_the_join", Code.RACE,
      'y: InOut[f32, "N"], t: Out[f32, "1"], x: In[f32, "N"]', """
    for z in tp.parallel(N=tp.split(2)):
        y[z] = x[z]
        t[0] = tp.join(x[z].sum(), over=z) + <y => x>[0]
    """, lambda: [zeros(5), zeros(1), ramp(5)])

# Two lanes of one store.

fault("a_tile_of_entries_repeats_one", Code.LANES_MEET, 'y: InOut[f32, "V"], at: In[Index["V"], "N"]', """
    for n in tp.parallel(N=4):
        y[at[n]] = 1.0
    """, lambda planted: [zeros(5), ints(4, 1, 0, 4 if planted else 2)])
fault("two_lanes_are_rounded_together", Code.LANES_MEET, 'y: InOut[f32, "N"]', """
    for n in tp.parallel(N=4):
        y[n.elements <// 2 => * 1>] = 1.0
    """, lambda: [zeros(4)])
fault("all_columns_are_one", Code.LANES_MEET, 'y: InOut[f32, "N 4"]', """
    for n in tp.parallel(N=2):
        y[n, tp.arange(4) * <0 => 1>] = 1.0
    """, lambda: [zeros(3, 4)])
fault("places_in_different_pages_are_one_place", Code.LANES_MEET, 'y: InOut[f32, "V"], at: In[Unique["V"], "N"]', """
    for n in tp.parallel(N=4):
        y[at[n] <% 2 => // 1>] = 1.0
    """, lambda: [zeros(6), ints(0, -1, 4, 3)])

# Outside a tensor.

fault("one_past_the_end", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        y[n] = x[n + <1 => 0>]
    """, lambda: [zeros(4), ramp(4)])
fault("before_the_first", Code.OUT_OF_BOUNDS, 'y: InOut[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        if n >= <0 => 1>:
            y[n] = x[n - 1]
    """, lambda: [zeros(4), ramp(4)])
fault("a_lane_past_the_end", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=3):
        y[n] = x[n.elements + <1 => 0>]
    """, lambda: [zeros(4), ramp(4)])
fault("a_plain_integer_is_no_position", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]', """
    for n in tp.parallel(N=2):
        y[n] = x[at[n]]
    """, lambda planted: [zeros(3), ramp(5), ints(4, 0, 5 if planted else 3)])
fault("a_slice_past_the_end", Code.OUT_OF_BOUNDS, 'y: Out[f32, "4"], x: In[f32, "N"]', """
    y[:] = x[0:4]
    """, lambda planted: [zeros(4), ramp(3 if planted else 4)])
fault("shifted_past_the_end", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "N"]', """
    for i in tp.parallel(N=4):
        y[i] = x[i.shift(<5 => 4>)].fill(0.0)
    """, lambda: [zeros(8), ramp(8)])
fault("shifted_before_the_start", Code.OUT_OF_BOUNDS, 'y: InOut[f32, "N"], x: In[f32, "N"]', """
    for i in tp.parallel(N=4):
        if i.start >= <0 => 1>:
            y[i] = x[i.shift(-1)].fill(0.0)
    """, lambda: [zeros(8), ramp(8)])
fault("a_walk_from_before_the_start", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for k in tp.tiles(N=2, start=n <- 1 => - 0>):
            total += x[k].sum()
        y[n] = total
    """, lambda: [zeros(3), ramp(3)])
fault("cut_beyond_the_end", Code.OUT_OF_BOUNDS, 'c: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]', """
    past, fresh = tp.split_at(c, "C", pos[0])
    for n in tp.parallel(N=tp.each):
        fresh[n] = new[n] + past[0]
    """, lambda planted: [ramp(8), ramp(3)[: 0 if planted else 3], ints(9 if planted else 5)])
fault("the_past_is_walked_beyond_its_end", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], c: InOut[f32, "C"], pos: i32', """
    past, fresh = tp.split_at(c, "C", pos)
    for n in tp.parallel(N=tp.each):
        total = 0.0
        for t in tp.tiles(C=2, stop=pos + <1 => 0>):
            total += past[t].sum()
        fresh[n], y[n] = total, total
    """, lambda: [zeros(2), ramp(8), 5])
fault("the_past_has_no_element_at_its_end", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], c: InOut[f32, "C"], pos: i32', """
    past, fresh = tp.split_at(c, "C", pos)
    for n in tp.parallel(N=tp.each):
        fresh[n] = 0.0
        y[n] = past[pos - <0 => 1>]
    """, lambda: [zeros(2), ramp(8), 5])
fault("more_is_appended_than_there_is_room", Code.OUT_OF_BOUNDS, 'c: InOut[f32, "C"], new: In[f32, "N"], pos: i32', """
    past, fresh = tp.split_at(c, "C", pos)
    for n in tp.parallel(N=2):
        fresh[n] = new[n] + past[0]
    """, lambda planted: [ramp(8), ramp(4 if planted else 3), 5])
fault("the_segment_behind_the_last", Code.OUT_OF_BOUNDS,
      'y: Out[f32, "N"], w: In[f32, "E"], off: In[Offsets["N"], "E+1"]', """
    for e, i in tp.parallel(tp.segments(off, N=2)):
        y[i] = w[e + <1 => 0>]
    """, lambda: [zeros(7), ramp(3), ints(0, 1, 1, 7)])
fault("a_walker_leaves_an_axis_without_a_name", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "_"]', """
    for n in tp.parallel(N=4):
        y[n] = x[n]
    """, lambda planted: [zeros(6), ramp(5 if planted else 7)])
fault("arithmetic_makes_a_number_of_none", Code.OUT_OF_BOUNDS, 'y: InOut[f32, "V"], at: In[Index["V"], "N"]', """
    for n in tp.parallel(N=4):
        y[at[n] <+ 0 => // 1>] = 1.0
    """, lambda: [zeros(5), ints(4, -1, 0)])
fault("minus_one_in_a_plain_integer_is_not_none", Code.OUT_OF_BOUNDS,
      'y: InOut[f32, "V"], at: In[<i32 => Index["V"]>, "N"]', """
    for n in tp.parallel(N=tp.each):
        y[at[n]] = 1.0
    """, lambda: [zeros(5), ints(4, -1, 0)])
fault("none_is_read_as_a_number", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"]', """
    for n in tp.parallel(N=4):
        y[n] = x<[at[n] + 0] => .get(at[n], 0.0)>
    """, lambda: [zeros(3), ramp(5), ints(4, -1, 0)])
fault("a_raw_load_is_watched_too", Code.OUT_OF_BOUNDS, 'y: Out[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        with tp.unsafe("planted"):
            y[n] = tp.raw.load(x, n + <1 => 0>)
    """, lambda: [zeros(4), ramp(4)])
fault("the_position_of_nothing", Code.EMPTY_ARGMAX, 'y: Out[i32, "1"], x: In[f32, "N"]', """
    for z in tp.parallel(N=tp.split(2)):
        y[0] = tp.join(z.start + x[z].argmax(), over=z).to(i32)
    """, lambda planted: [ints(0), ramp(0 if planted else 3)])

# Elements of an Out that nobody writes.

fault("a_guard_leaves_one_out", Code.UNWRITTEN, 'y: Out[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        if n < tp.dim("N") - <1 => 0>:
            y[n] = 1.0
    """, lambda: [zeros(4)])
fault("an_axis_is_dropped", Code.UNWRITTEN, 'y: Out[f32, "N 2"]', """
    for n in tp.parallel(N=2):
        y[n, <0 => :>] = 1.0
    """, lambda: [zeros(3, 2)])
fault("a_walk_stops_early", Code.UNWRITTEN, 'y: Out[f32, "N"]', """
    for k in tp.tiles(N=2, stop=tp.dim("N") - <1 => 0>):
        y[k] = 1.0
    """, lambda: [zeros(5)])
fault("a_walk_starts_late", Code.UNWRITTEN, 'y: Out[f32, "M N"]', """
    for i in tp.parallel(M=2):
        for k in tp.tiles(N=2, start=<1 => 0>):
            y[i, k] = 1.0
    """, lambda: [zeros(3, 5)])
fault("sub_tiles_of_the_wrong_tile", Code.UNWRITTEN, 'y: Out[f32, "N"]', """
    for i in tp.parallel(N=4):
        for s in i.tiles(2, stop=<3 => None>):
            y[s] = 1.0
    """, lambda: [zeros(4)])
fault("one_branch_writes", Code.UNWRITTEN, 'y: Out[f32, "N"], x: In[f32, "N"]', """
    for n in tp.parallel(N=tp.each):
        if x[n] > 2:
            y[n] = x[n]
        else:
            <pass => y[n] = 0.0>
    """, lambda: [zeros(4), ramp(4)])
fault("a_space_without_programs", Code.UNWRITTEN, 'y: Out[f32, "N"], x: In[f32, "M N"]', """
    for z, j in tp.parallel(M=<5 => tp.split(5)>, N=2):
        y[j] = <x[z, j].sum(axis=0) => tp.join(x[z, j].sum(axis=0), over=z)>
    """, lambda: [ramp(3), zeros(0, 3)])
fault("an_empty_segment_writes_nothing", Code.UNWRITTEN,
      'y: Out[f32, "E"], x: In[f32, "N"], off: In[Offsets["N"], "E+1"]', """
    for e, i in tp.parallel(tp.segments(off, N=8)):
        y[e] = x[i].sum()
    """, lambda planted: [zeros(3), ramp(7), ints(0, 1, 1 if planted else 2, 7)])
fault("a_store_at_none_writes_nothing", Code.UNWRITTEN, 'y: Out[f32, "N"], at: In[Unique["N"], "N"]', """
    for n in tp.parallel(N=2):
        y[at[n]] = 1.0
    """, lambda planted: [zeros(3), ints(2, -1 if planted else 0, 1)])

# Assumptions.

fault("the_tile_is_not_full", Code.FALSE_ASSUMPTION, 'y: Out[f32, "N"]', """
    for n in tp.parallel(N=4):
        with tp.unsafe("N is a multiple of 4"):
            tp.raw.assume(n.stop - n.start == 4)
        y[n] = 1.0
    """, lambda planted: [zeros(6 if planted else 8)])
fault("an_entry_is_none_after_all", Code.FALSE_ASSUMPTION, 'y: InOut[f32, "V"], at: In[Index["V"], "N"]', """
    for n in tp.parallel(N=4):
        with tp.unsafe("every entry is a position"):
            tp.raw.assume((at[n] >= 0).all())
        y[at[n]] = 1.0
    """, lambda planted: [zeros(5), ints(4, -1 if planted else 1, 0)])
# fmt: on


def test_no_fault_is_planted_twice() -> None:
    assert len({one.name for one in FAULTS}) == len(FAULTS)
    assert len({one.text(True) for one in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: one.name)
def test_a_planted_fault_is_found_in_every_order(one: Fault, tmp_path: Path) -> None:
    kernel = one.kernel(True, tmp_path)
    assert accepted(kernel, {})
    for order in ORDERS:
        arguments = one.arguments(True)
        with pytest.raises(tp.SanitizerError) as caught:
            tp.interpret(kernel, *arguments, order=order)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code is one.code, diagnostic.message
        assert diagnostic.span is not None
        assert diagnostic.help
        for argument, before in zip(arguments, one.arguments(True), strict=True):
            np.testing.assert_array_equal(argument, before)


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: one.name)
def test_its_twin_is_silent_and_gives_one_result_in_every_order(one: Fault, tmp_path: Path) -> None:
    kernel = one.kernel(False, tmp_path)
    assert accepted(kernel, {})
    results = []
    for order in ORDERS:
        arguments = one.arguments(False)
        tp.interpret(kernel, *arguments, order=order)
        results.append(arguments)
    assert any(not np.array_equal(now, before) for now, before in zip(results[0], one.arguments(False), strict=True))
    for result in results[1:]:
        for argument, first in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(argument, first)


@pytest.mark.sweep(20)
@pytest.mark.parametrize("one", [one for one in FAULTS if "unsafe" not in one.body], ids=lambda one: one.name)
def test_a_planted_fault_does_not_get_through_a_launch(one: Fault, tmp_path: Path) -> None:
    arguments = one.arguments(True)
    kernel = one.kernel(True, tmp_path)
    with tp.backend("cpu"), pytest.raises(tp.TileproofError):
        kernel(*one.arguments(True))
    with tp.backend("interpreter"), pytest.raises(tp.TileproofError):
        kernel(*arguments)
    for argument, before in zip(arguments, one.arguments(True), strict=True):
        np.testing.assert_array_equal(argument, before)


@pytest.mark.sweep(15)
@pytest.mark.parametrize("one", FAULTS, ids=lambda one: one.name)
def test_its_twin_launches_where_it_is_right_for_all_arguments(one: Fault, tmp_path: Path) -> None:
    kernel = one.kernel(False, tmp_path)
    launched, interpreted = one.arguments(False), one.arguments(False)
    if tp.check(kernel):
        with pytest.raises(tp.KernelError):
            kernel(*launched)
        return
    tp.interpret(kernel, *interpreted)
    for backend in ON_HOST:
        launched = one.arguments(False)
        with tp.backend(backend):
            kernel(*launched)
        for argument, other in zip(launched, interpreted, strict=True):
            np.testing.assert_array_equal(argument, other)
