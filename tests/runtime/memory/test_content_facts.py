"""What is known of index tensors: measured, remembered with a version, and vouched for by kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tileproof as tp
from tileproof import In, Index, InOut, Offsets, Out, T, Unique, f32, i32
from tileproof.analysis.index_entries import proved_entries
from tileproof.diagnostics.codes import Code
from tileproof.frontend.signature import parse
from tileproof.runtime.launch.binding import bind
from tileproof.runtime.launch.contracts import check_contents
from tileproof.runtime.launch.launch import compile
from tileproof.runtime.memory import contents as facts
from tileproof.runtime.memory.contents import Facts, Measured, Wanted, contents_of_output, key_of, measure


@tp.kernel
def gather(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = table[ids[n]]


@tp.kernel
def put(y: Out[T, "M"], x: In[T, "N"], to: In[Unique["M"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[to[n]] = x[n]


@tp.kernel
def ragged(y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    for e, i in tp.parallel(tp.segments(off, N=4)):
        y[i] = e.to(f32)


def ints(*entries: int) -> Any:
    return np.array(entries, np.int32)


ENTRIES = arrays.arrays(
    st.sampled_from([np.int32, np.int64]),
    arrays.array_shapes(max_dims=3, max_side=5, min_side=0),
    elements=st.integers(-3, 20) | st.sampled_from([2**31 - 1, -(2**31)]),
)
BORDERS = st.lists(st.integers(-2, 9), max_size=8).map(lambda entries: ints(*entries))


@given(ENTRIES, st.integers(0, 21))
def test_entries_are_as_wanted_if_each_of_them_is(array: Any, extent: int) -> None:
    entries = array.ravel().tolist()
    within = all(-1 <= entry < extent for entry in entries)
    positions = [entry for entry in entries if entry >= 0]
    differ = len(set(positions)) == len(positions)
    plain, unique = measure(array, "Index"), measure(array, "Unique")
    assert plain.meets(Wanted("Index", extent)) is within
    assert plain.meets(Wanted("Index", extent, holes_allowed=False)) is (within and -1 not in entries)
    assert unique.meets(Wanted("Unique", extent)) is (within and differ)
    assert unique.meets(Wanted("Unique", extent, holes_allowed=False)) is (within and differ and -1 not in entries)


def test_what_differs_in_rows_need_not_in_all() -> None:
    rows = ints(2, 0, 2, 1).reshape(2, 2)
    in_rows, in_all = Wanted("Unique", 3, rows=2), Wanted("Unique", 3)
    assert measure(rows, "Unique", 2).meets(in_rows) is True
    assert measure(rows, "Unique").meets(in_all) is False
    assert measure(rows, "Unique", 2).meets(in_all) is None
    both = measure(rows, "Unique").joined(measure(rows, "Unique", 2))
    assert (both.meets(in_all), both.meets(in_rows)) == (False, None)
    assert measure(ints(0, 0, 1, 2).reshape(2, 2), "Unique", 2).meets(in_rows) is False


@given(BORDERS, st.integers(0, 9))
def test_borders_are_as_wanted_if_they_rise_from_zero_to_the_extent(array: Any, extent: int) -> None:
    borders = array.tolist()
    right = bool(borders) and borders == sorted(borders) and (borders[0], borders[-1]) == (0, extent)
    measured = measure(array, "Offsets")
    assert measured.meets(Wanted("Offsets", extent)) is right
    assert measured.meets(Wanted("Index", extent)) is all(-1 <= border < extent for border in borders)


def test_many_entries_are_measured_as_few_are() -> None:
    many = np.random.default_rng(0).permutation(200_000)
    many[77_777] = -1
    assert measure(many, "Unique") == Measured(-1, 199_999, True, is_unique=True)
    many[199_999] = many[0]
    assert measure(many[::-1], "Unique").is_unique is False
    many[150_000] = 2**60
    assert (measure(many, "Unique").greatest, measure(many, "Unique").is_unique) == (2**60, False)


def test_a_view_is_measured_without_what_it_leaves_out() -> None:
    table = np.full((6, 8), 99, np.int64)
    table[::2, 1:4] = np.arange(9).reshape(3, 3)
    assert measure(table[::2, 1:4], "Unique") == Measured(0, 8, False, is_unique=True)
    assert measure(np.broadcast_to(ints(3), (4,)), "Unique") == Measured(3, 3, False, is_unique=False)


def test_what_nobody_looked_at_is_open() -> None:
    plain = measure(ints(0, 2), "Index")
    assert plain.meets(Wanted("Unique", 3)) is None
    assert plain.meets(Wanted("Unique", 2)) is False
    assert plain.meets(Wanted("Offsets", 2)) is None


def test_a_smaller_table_is_noticed() -> None:
    measured = measure(ints(0, 7), "Index")
    assert [measured.meets(Wanted("Index", extent)) for extent in (8, 7)] == [True, False]


# Remembering.


class Looked:
    """Entries, and how often they were looked at."""

    def __init__(self, *entries: int) -> None:
        self.array, self.times = ints(*entries), 0

    def __call__(self) -> Any:
        self.times += 1
        return self.array


def settled(known: Facts, version: int, key: Any, wanted: Wanted, look: Looked) -> Measured:
    """What settles a demand: remembered, or measured now and remembered."""
    result = known.lookup(version, key, wanted)
    if result is None:
        result = measure(look(), wanted.kind)
        known.remember(version, key, result)
    return result


def test_entries_are_looked_at_once_for_a_version() -> None:
    known, look = Facts(), Looked(2, 0, -1)
    key, wanted = key_of(look.array), Wanted("Index", 3)
    for version, times in ((4, 1), (4, 1), (5, 2), (5, 2)):
        assert settled(known, version, key, wanted, look).meets(wanted) is True
        assert look.times == times


def test_what_was_measured_in_an_older_version_is_not_kept() -> None:
    known, key = Facts(), key_of(ints(1))
    known.remember(7, key, Measured(0, 1, False))
    known.remember(6, key, Measured(0, 0, False))
    assert known.lookup(6, key, Wanted("Index", 1)) is None
    assert known.lookup(7, key, Wanted("Index", 2)) == Measured(0, 1, False)
    known.forget()
    assert known.lookup(7, key, Wanted("Index", 2)) is None


def test_views_of_one_memory_are_told_apart() -> None:
    known, memory = Facts(), ints(0, 1, 2, 3)
    views = (memory, memory[:2], memory[::2], memory.reshape(2, 2), memory.view(np.int64), memory[::-1])
    assert len({key_of(view) for view in views}) == len(views)
    known.remember(1, key_of(memory), measure(memory, "Index"))
    assert [known.lookup(1, key_of(view), Wanted("Index", 4)) is not None for view in views] == [True] + [False] * 5


def test_a_second_look_adds_to_the_first() -> None:
    known, look = Facts(), Looked(0, 2, 5)
    key = key_of(look.array)
    for wanted in (Wanted("Index", 6), Wanted("Unique", 6), Wanted("Offsets", 5)):
        assert settled(known, 1, key, wanted, look).meets(wanted) is True
    for wanted in (Wanted("Index", 6, holes_allowed=False), Wanted("Unique", 6), Wanted("Offsets", 5)):
        settled(known, 1, key, wanted, look)
    assert look.times == 3


def test_only_so_many_views_are_remembered() -> None:
    known, memory = Facts(), np.zeros(200, np.int32)
    keys = [key_of(memory[start:]) for start in range(200)]
    for key in keys:
        known.remember(1, key, Measured(0, 0, False))
    kept = [known.lookup(1, key, Wanted("Index", 1)) is not None for key in keys]
    assert 0 < sum(kept) < 200
    assert kept[-1]


# What kernels vouch for.


def test_what_a_kernel_wrote_is_in_range_and_open_otherwise() -> None:
    result = contents_of_output(8, None)
    assert result.meets(Wanted("Index", 8)) is True
    assert result.meets(Wanted("Index", 9)) is True
    assert result.meets(Wanted("Index", 7)) is None, "the entries may be less than they could be"
    assert result.meets(Wanted("Index", 8, holes_allowed=False)) is None
    assert result.meets(Wanted("Unique", 8)) is None
    assert contents_of_output(8, has_none=False).meets(Wanted("Index", 8, holes_allowed=False)) is True


def test_a_look_settles_what_a_kernel_left_open() -> None:
    known, look = Facts(), Looked(3, 0)
    key, wanted = key_of(look.array), Wanted("Unique", 4, holes_allowed=False)
    known.remember(1, key, contents_of_output(8, None))
    assert settled(known, 1, key, wanted, look).meets(wanted) is True
    known.remember(1, key, contents_of_output(8, None))
    assert (settled(known, 1, key, wanted, look).greatest, look.times) == (3, 1)


@tp.kernel
def best(token: Out[Index["V"], "N"], x: In[f32, "N V"], *, V: int) -> None:
    for n in tp.parallel(N=tp.each):
        token[n] = x[n, :].argmax()


@tp.kernel
def before(t: Out[Index["N"], "N"], u: Out[Index["N"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        t[n] = n - 1
        u[n] = tp.maximum(n - 1, 0)


@tp.kernel
def passed(t: Out[Index["V"], "N"], c: InOut[Index["V"], "N"], ids: In[Index["V"], "N"], table: In[f32, "V"]) -> None:
    for n in tp.parallel(N=tp.each):
        t[n] = ids[n]
        if ids[n] >= 0:
            c[n] = ids[n]


@tp.kernel
def carried(t: Out[Index["K"], "N"], x: In[f32, "N K"], *, B: int = 4) -> None:
    tp.require(tp.dim("K") >= 1)
    for n in tp.parallel(N=tp.each):
        top, at = tp.lowest, tp.dim("K") - tp.dim("K")
        for k in tp.tiles(K=B):
            if x[n, k].max() > top:
                top, at = x[n, k].max(), k.start
        t[n] = at


@tp.kernel
def raw(t: Out[Index["V"], "N"], x: In[i32, "N"], table: In[f32, "V"]) -> None:
    for n in tp.parallel(N=tp.each):
        with tp.unsafe("a test of what is not proved"):
            tp.raw.store(t, n, x[n])


def vouched(kernel: tp.Kernel, *args: Any) -> dict[str, bool | None]:
    return proved_entries(compile(kernel, bind(parse(kernel).signature, args, {}).specialization).ir)


def test_a_kernel_vouches_for_what_it_stores() -> None:
    x = np.zeros((2, 5), np.float32)
    assert vouched(best, ints(0, 0), x) == {"token": False}
    assert vouched(before, ints(0, 0), ints(0, 0)) == {"t": None, "u": False}
    assert vouched(passed, ints(0, 0), ints(0, 0), ints(0, 0), x[0]) == {"t": None, "c": False}
    assert vouched(carried, ints(0, 0), x) == {"t": False}


def test_nobody_vouches_for_raw_stores() -> None:
    assert vouched(raw, ints(0, 0), ints(0, 0), np.zeros(3, np.float32)) == {}


# Demands.


def checked(kernel: tp.Kernel, known: Any, *args: Any) -> None:
    signature = parse(kernel).signature
    bound = bind(signature, args, {})
    result = compile(kernel, bound.specialization)
    check_contents(signature, bound, result.holes, result.verdict.complete, known)


def refusal(kernel: tp.Kernel, known: Any, *args: Any) -> Any:
    with pytest.raises(tp.LaunchError) as caught:
        checked(kernel, known, *args)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.CONTENTS
    return diagnostic


def lies(measured: Measured) -> Any:
    return lambda tensor, array, wanted: measured


@pytest.mark.parametrize(
    ("kernel", "index", "message"),
    [
        (gather, ints(0, 6, 9), "`ids[1]` is 6, and V has 6 elements"),
        (gather, ints(0, 1, -1), "`ids[2]` is -1 (none), and the kernel loads through it"),
        (put, ints(4, 1, 4), "`to[0]` and `to[2]` are both 4, and the entries of a Unique tensor differ"),
        (put, ints(4, 1, -1), "`to[2]` is -1 (none), and an Out is to be written through all entries"),
        (ragged, ints(0, 4, 3, 6), "`off` falls from 4 to 3 at 2, and borders never fall"),
        (ragged, ints(0, 4), "`off` goes from 0 to 4, and its segments divide 0 to 6"),
    ],
)  # fmt: skip
def test_a_remembered_fault_is_named_by_a_look_at_the_entries(kernel: tp.Kernel, index: Any, message: str) -> None:
    floats = np.zeros(6, np.float32)
    between = {gather: (floats[:3], floats), put: (floats, floats[:3]), ragged: (floats,)}
    kind = {gather: "Index", put: "Unique", ragged: "Offsets"}
    known = measure(index, kind[kernel])
    assert refusal(kernel, lies(known), *between[kernel], index).message == message


def test_entries_that_changed_since_they_were_measured_are_looked_at_again() -> None:
    floats = np.zeros(6, np.float32)
    checked(gather, lies(Measured(-7, 99, True)), floats[:2], floats, ints(0, 1))


def test_what_is_known_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    floats = np.zeros(6, np.float32)
    monkeypatch.setattr(facts, "_range", lambda array: pytest.fail("looked at the entries"))
    checked(gather, lies(Measured(0, 5, False)), floats[:2], floats, ints(0, 1))
