"""Premises of a launch: copied if others can write them, guarded by version if not."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Out, Unique, f32
from tileproof.compiler.cache import Cache, digest
from tileproof.compiler.proofs import read_entry, write_entry
from tileproof.diagnostics.codes import Code
from tileproof.frontend.signature import parse
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare_recorded
from tileproof.runtime.launch.owned import spans_of
from tileproof.runtime.launch.premises import bring, bring_back, copy_for, separate
from tileproof.runtime.memory.ledger import Outdated, Work
from tileproof.runtime.stream.streams import without_last


@tp.kernel
def looked_up(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[at[n]]


@tp.kernel
def advanced(y: Out[f32, "N"], x: In[f32, "V"], at: InOut[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        k = at[n]
        y[n] = x[k]
        at[n] = tp.maximum(k - 1, 0)


@tp.kernel
def scattered(y: InOut[f32, "V"], x: In[f32, "N"], at: In[Unique["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[at[n]] = x[n]


@tp.kernel
def four(y: InOut[f32, "4 N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[:, n] = y[:, n] + 1.0


def separated(kernel: tp.Kernel, *args: Any) -> Bound:
    result, bound = prepare_recorded(kernel, args, {})
    separate(result, parse(kernel).signature, bound)
    return bound


def test_a_premise_that_nobody_else_can_write_stays_and_is_a_guard() -> None:
    at = tp.zeros(2, tp.i32)
    bound = separated(looked_up, tp.zeros(2), tp.zeros(3), at)
    assert bound.copies == []
    assert bound.guards == [(at.block, at.block.version)]


def test_a_premise_that_was_handed_out_is_read_from_a_copy() -> None:
    at = tp.zeros(2, tp.i32)
    view = at.numpy()
    bound = separated(looked_up, tp.zeros(2), tp.zeros(3), at)
    (copy,) = bound.copies
    assert (copy.tensor.name, bound.guards) == ("at", [])
    assert bound.tensors["at"] is copy.private
    assert not np.shares_memory(copy.private, view)


@pytest.mark.parametrize("kernel", [looked_up, advanced], ids=lambda kernel: kernel.name)
def test_a_premise_of_anyones_is_read_from_a_copy(kernel: tp.Kernel) -> None:
    at = np.array([2, 0], np.int32)
    bound = separated(kernel, np.zeros(2, np.float32), np.zeros(3, np.float32), at)
    assert [copy.tensor.name for copy in bound.copies] == ["at"]
    assert not np.shares_memory(bound.tensors["at"], at)


def test_what_is_read_and_written_is_leased_for_both() -> None:
    y, x, at = tp.zeros(3), tp.zeros(2), tp.zeros(2, tp.i32)
    reads, writes = spans_of(parse(scattered).signature, separated(scattered, y, x, at))
    assert (sorted(reads), writes) == (sorted([y.span, x.span, at.span]), [y.span])


def test_what_a_kernel_writes_into_a_copy_is_brought_back() -> None:
    y, at = np.zeros(3, np.float32), np.array([2, 0, 1], np.int32)
    advanced(y, np.arange(3, dtype=np.float32), at)
    assert (y.tolist(), at.tolist()) == ([2, 0, 1], [1, 0, 0])


def test_entries_that_were_written_since_they_were_looked_at_are_looked_at_again() -> None:
    at = np.array([2, 0, 1], np.int32)
    (parameter,) = (tensor for tensor in parse(advanced).signature.tensors if tensor.name == "at")
    copy = copy_for(parameter, at)
    assert copy is not None
    np.copyto(copy.private, at)
    bring([copy])
    at[1] = 9
    with pytest.raises(Outdated):
        bring([copy])
    bring_back([copy])
    assert at.tolist() == [2, 0, 1]


def test_work_is_current_while_nobody_writes_what_was_looked_at() -> None:
    tensor = tp.zeros(4)
    work = Work("a launch", (), ())
    work.guards = [(tensor.block, tensor.block.version)]
    assert work.is_current()
    tensor[...] = 1
    assert not work.is_current()


def rejection(code: Code, kernel: tp.Kernel, *args: Any) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        kernel(*args)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]


def test_no_position_is_twice_in_a_unique_tensor_not_even_the_first() -> None:
    y, x = np.zeros(3, np.float32), np.ones(2, np.float32)
    for twice in ([0, 0], [2, 2]):
        rejection(Code.CONTENTS, scattered, y, x, np.array(twice, np.int32))
    scattered(y, x, np.array([0, 2], np.int32))
    assert y.tolist() == [1, 0, 1]


def test_an_array_that_is_read_only_is_not_written_in_any_way() -> None:
    at = np.array([2, 0], np.int32)
    at.flags.writeable = False
    rejection(Code.READ_ONLY, advanced, np.zeros(2, np.float32), np.zeros(3, np.float32), at)


def test_the_end_of_a_block_takes_away_its_own_entry() -> None:
    assert without_last(("a", "b", "a"), "a") == ("a", "b")
    assert without_last(("a", "b"), "c") == ("a", "b")


def test_a_kept_proof_makes_nothing_but_what_is_tileproofs(tmp_path: Path) -> None:
    cache, key = Cache(tmp_path / "cache"), digest("an entry")
    for strange in (Fraction, digest):
        cache.put(key, pickle.dumps(strange))
        assert read_entry(cache, key, ()) is None
    cache.put(key, write_entry(Code.CONTENTS, ()))
    assert read_entry(cache, key, ()) is Code.CONTENTS


@pytest.mark.parametrize("rows", [3, 5])
def test_an_axis_with_a_number_has_that_many_elements(rows: int) -> None:
    rejection(Code.DIMENSION_DIFFERS, four, np.zeros((rows, 2), np.float32))
