"""The rules of docs/language.md on what is proved of a kernel before it runs, one test for each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rules import each, fails, floats, ints, kernel, module, ramp, refused, run, zeros

import tileproof as tp
from tileproof.analysis.verdict import Rung
from tileproof.compiler.compile import scope_of, verdict

COPY = ('y: Out[f32, "N"], x: In[f32, "N"]', "for n in tp.parallel(N=4):\n    y[n] = x[n]")
COPY_EACH = COPY[0], "y[n] = x[n]"
ONE_FOR_ALL = 'y: Out[f32, "1"], x: In[f32, "N"]', "y[0] = x[n]"
TABLE = 'y: Out[f32, "N"], x: In[f32, "M"]'


def rung(kernel: tp.Kernel, what: str, goal: str = "in bounds") -> Rung:
    """The costliest rung that discharges an access of a kernel that is accepted."""
    found = verdict(kernel, {})
    assert found.accepted, [finding.message for finding in found.findings]
    return max(discharged.rung for discharged in found.discharged if (discharged.what, discharged.goal) == (what, goal))


def denying(signature: str, body: str) -> tp.Kernel:
    """A kernel for each element of N that allows no check at run time."""
    text = f"@tp.kernel(deny_checks=True)\ndef k({signature}) -> None:\n    for n in tp.parallel(N=tp.each):\n"
    made = module(text + f"        {body}\n").k
    assert isinstance(made, tp.Kernel)
    return made


# What is proved.


def test_a_kernel_that_is_not_proved_never_runs() -> None:
    k = each(*ONE_FOR_ALL)
    assert fails(k, zeros(1), floats(3)) == "TP0801"
    y = zeros(1)
    tp.interpret(k, y, floats(3))
    assert y.tolist() == [3]


def test_what_is_not_proved_is_refused_also_without_a_counter_example() -> None:
    hidden = "tp.require(tp.dim('N') % 2 == 0)\nfor n in tp.parallel(N=tp.each):\n    y[n.to(i32) ^ 1] = x[n]"
    assert refused(kernel('y: InOut[f32, "N"], x: In[f32, "N"]', hidden)) == "TP0802"


def test_a_counter_example_has_run_before_it_is_shown() -> None:
    (found,) = tp.check(each('y: InOut[f32, "N"], x: In[f32, "N"]', "y[n // 2] = x[n]"))
    assert found.code.id == "TP0801"
    assert any(re.fullmatch(r"with N=\d+", note) for note in found.notes)


def test_a_read_of_what_another_program_writes_breaks_the_law() -> None:
    assert refused(each('y: InOut[f32, "N"]', "y[n] = y.get(n + 1, 0.0)")) == "TP0801"
    odd_from_even = "if n % 2 == 0:\n    y[n] = y.get(n + 1, 0.0)"
    assert tp.check(each('y: InOut[f32, "N"]', odd_from_even)) == []


def test_two_programs_are_at_different_turns_of_their_loops() -> None:
    body = "for m in range(2):\n    if n + m < tp.dim('N'):\n        y[n + m] = x[n]"
    assert refused(each('y: InOut[f32, "N"], x: In[f32, "N"]', body)) == "TP0801"


def test_lanes_of_one_store_are_proved_apart() -> None:
    body = "for n in tp.parallel(N=4):\n    y[n.elements {}] = x[n]"
    assert refused(kernel('y: InOut[f32, "N"], x: In[f32, "N"]', body.format("// 2"))) == "TP0803"
    assert tp.check(kernel('y: InOut[f32, "2*N"], x: In[f32, "N"]', body.format("* 2"))) == []


def test_an_axis_whose_argmax_is_taken_has_an_element() -> None:
    body = "for n in tp.parallel(N=4):\n    m = n.shift(1)\n    {}y[n.number] = x[m].argmax().to(i32)"
    signature = 'y: InOut[i32, "N/4"], x: In[f32, "N"]'
    assert refused(kernel(signature, body.format(""))) == "TP0814"
    assert tp.check(kernel(signature, body.format("if m.start < m.stop:\n        "))) == []


def test_what_is_stored_as_an_index_is_a_position_or_none() -> None:
    assert refused(each('t: Out[Index["N"], "N"]', "t[n] = n + 1")) == "TP0815"
    t = ints(7, 7, 7)
    run(each('t: Out[Index["N"], "N"]', "t[n] = n - 1"), t)
    assert t.tolist() == [-1, 0, 1]


def test_a_number_from_memory_that_is_stored_as_an_index_is_checked() -> None:
    k = each('t: Out[Index["V"], "N"], at: In[i32, "N"], v: In[f32, "V"]', "t[n] = at[n]")
    assert rung(k, "t[n]", "contents") is Rung.IN_PLACE
    t = ints(7, 7)
    k(t, ints(2, -1), zeros(3))
    assert t.tolist() == [2, -1]
    assert fails(k, t, ints(3, 0), zeros(3)) == "TP0702"


def test_what_a_kernel_writes_as_an_index_another_takes_as_one() -> None:
    choose = each('t: Out[Index["V"], "N"], x: In[f32, "N V"], *, V: int', "t[n] = x[n, :].argmax()")
    take = each('y: Out[f32, "N"], v: In[f32, "V"], t: In[Index["V"], "N"]', "y[n] = v[t[n]]")
    t, y = ints(7, 7), zeros(2)
    choose(t, np.array([[0, 9, 0], [0, 0, 9]], np.float32))
    take(y, floats(10, 20, 30), t)
    assert y.tolist() == [20, 30]


def test_nothing_is_proved_of_raw_accesses() -> None:
    body = "with tp.unsafe('order is a permutation'):\n    tp.raw.store(y, order[n], x[n])"
    assert tp.check(each('y: InOut[f32, "N"], x: In[f32, "N"], order: In[i32, "N"]', body)) == []
    fact = "with tp.unsafe('the host looked'):\n    tp.raw.assume((at[n] >= 0) & (at[n] < tp.dim('M')))\n"
    assert rung(each(f'{TABLE}, at: In[i32, "N"]', fact + "y[n] = x[at[n]]"), "x[at[n]]") is Rung.PROOF


# Coverage.


def test_an_out_is_covered_by_its_structure() -> None:
    assert rung(kernel(*COPY), "y", "covered") is Rung.CONSTRUCTION


def test_an_out_is_covered_if_its_positions_can_be_solved() -> None:
    flat = "for p in tp.parallel(('R*C', tp.each)):\n    y[p // tp.dim('C'), p % tp.dim('C')] = x[p]"
    assert rung(kernel('y: Out[f32, "R C"], x: In[f32, "R*C"]', flat), "y", "covered") is Rung.PROOF
    pairs = "y[2 * n] = x[n]\ny[2 * n + 1] = -x[n]"
    assert rung(each('y: Out[f32, "2*N"], x: In[f32, "N"]', pairs), "y", "covered") is Rung.PROOF
    assert refused(each('y: Out[f32, "2*N"], x: In[f32, "N"]', "y[2 * n] = x[n]")) == "TP0821"


def test_an_out_is_covered_by_as_many_writes_as_elements() -> None:
    k = each('y: Out[f32, "V"], x: In[f32, "N"], at: In[Unique["V"], "N"]', "y[at[n]] = x[n]")
    assert rung(k, "y", "covered") is Rung.LAUNCH
    y = zeros(3)
    k(y, floats(1, 2, 3), ints(2, 0, 1))
    assert y.tolist() == [2, 3, 1]
    assert fails(k, y, floats(1, 2), ints(2, 0)) == "TP0605"
    assert fails(k, y, floats(1, 2, 3), ints(2, 0, -1)) == "TP0607"


def test_a_guard_on_data_leaves_elements_out() -> None:
    assert refused(each(COPY[0], "if x[n] > 0:\n    y[n] = x[n]")) == "TP0821"
    assert tp.check(each(COPY[0], "if x[n] > 0:\n    y[n] = x[n]\nelse:\n    y[n] = 0.0")) == []


def test_what_a_while_reaches_is_not_followed() -> None:
    body = "m = 0\nwhile m < tp.dim('N'):\n    y[m] = 1.0\n    m += 1"
    assert refused(kernel('y: Out[f32, "N"]', body)) == "TP0822"


# How an obligation is discharged.


def test_an_obligation_is_settled_by_the_first_rung_that_can() -> None:
    at = f'{TABLE}, at: In[i32, "N"]'
    wanted = [
        (each(*COPY_EACH), "x[n]", Rung.CONSTRUCTION),
        (each(COPY[0], "y[n] = x[tp.dim('N') - 1 - n]"), "x[tp.dim('N') - 1 - n]", Rung.PROOF),
        (each(f'{TABLE}, at: In[Index["M"], "N"]', "y[n] = x[at[n]]"), "x[at[n]]", Rung.CONTRACT),
        (each(TABLE, "y[n] = x[n.start]"), "x[n.start]", Rung.LAUNCH),
        (each(at, "y[n] = x[at[n]]"), "x[at[n]]", Rung.PRECHECK),
        (each(at, "y[n] = x[at[n]] if n > 0 else 0.0"), "x[at[n]]", Rung.IN_PLACE),
    ]
    assert [rung(k, what) for k, what, _ in wanted] == [expected for _, _, expected in wanted]


def test_a_relation_of_sizes_and_scalars_is_compared_at_launch() -> None:
    k = each(f"{TABLE}, past: i32", "y[n] = x[past + n]")
    y = zeros(2)
    k(y, ramp(5), 3)
    assert y.tolist() == [3, 4]
    assert fails(k, y, ramp(5), 4) == "TP0605"
    assert fails(k, y, ramp(5), -1) == "TP0605"


def test_a_launch_that_fails_a_compare_says_what_is_needed() -> None:
    with pytest.raises(tp.LaunchError, match="k needs N <= M"):
        each(TABLE, "y[n] = x[n.start]")(zeros(3), zeros(2))


def test_a_limit_on_sizes_is_no_compare() -> None:
    signature, loop = 'y: Out[f32, "N"], x: In[f32, "4"]', "for n in tp.parallel(N=tp.each):\n    y[n] = x[n.start]"
    assert refused(kernel(signature, loop)) == "TP0811"
    assert tp.check(kernel(signature, f"tp.require(tp.dim('N') <= 4)\n{loop}")) == []


def test_divisibility_is_no_compare() -> None:
    halves = """
    half = tp.dim("N") // 2
    for n in tp.parallel(N=tp.each):
        if n < half:
            y[n] = x[n + half]
            y[n + half] = x[n]
    """
    assert refused(kernel(COPY[0], halves)) == "TP0821"
    assert tp.check(kernel(COPY[0], f'    tp.require(tp.dim("N") % 2 == 0)\n{halves}')) == []


def test_a_demand_that_would_leave_the_access_unreachable_is_no_compare() -> None:
    body = "if (n + tp.dim('N')) % 2 == colour:\n    y[n] = y.get(n + 2, 0.0)"
    assert refused(each('y: InOut[f32, "N"], colour: i32', body)) == "TP0801"


def test_an_index_from_memory_is_checked_and_never_refused() -> None:
    k = each(f'{TABLE}, at: In[i32, "N"]', "y[n] = x[at[n]]")
    assert rung(k, "x[at[n]]") is Rung.PRECHECK
    y = zeros(2)
    k(y, floats(5, 6, 7), ints(2, 0))
    assert y.tolist() == [7, 5]


def test_a_guard_on_an_index_from_memory_saves_the_check() -> None:
    guarded = "if (at[n] >= 0) & (at[n] < tp.dim('M')):\n    y[n] = x[at[n]]\nelse:\n    y[n] = 0.0"
    k = each(f'{TABLE}, at: In[i32, "N"]', guarded)
    assert rung(k, "x[at[n]]") is Rung.PROOF
    assert rung(each(f'{TABLE}, at: In[i32, "N"]', "y[n] = x.get(at[n], 0.0)"), "y[n]") is Rung.CONSTRUCTION


def test_ownership_through_an_index_from_memory_is_never_checked() -> None:
    assert refused(each('y: InOut[f32, "V"], at: In[i32, "N"]', "y[at[n]] = 1.0")) == "TP0801"
    assert refused(each('y: InOut[f32, "V"], at: In[Index["V"], "N"]', "y[at[n]] = 1.0")) == "TP0801"
    assert tp.check(each('y: InOut[f32, "V"], at: In[Unique["V"], "N"]', "y[at[n]] = 1.0")) == []


def test_an_index_of_sizes_and_walkers_that_leaves_is_refused() -> None:
    assert refused(each(COPY[0], "y[n] = x[n + 1]")) == "TP0811"
    assert refused(each(COPY[0], "y[n] = x[n // 2 * 2 + 1]")) == "TP0811"


def test_an_index_neither_proved_nor_refuted_is_checked() -> None:
    body = """
    one, two, total = 0, 0, 0.0
    for m in range(tp.dim("M")):
        total += x[one - two]
        one += 2 - m % 2
        two += 2 - m % 2
    y[n] = total
    """
    assert rung(each(TABLE, body), "x[one - two]") is Rung.IN_PLACE


@pytest.mark.parametrize(("backend", "left"), [("interpreter", [7, 7, 7]), ("cpu", [1, 7, 2])])
def test_a_failed_check_is_reported(backend: str, left: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    k = each(f'{TABLE}, at: In[i32, "N"]', "tp.print('seen', n)\ny[n] = x[at[n]]")
    y = floats(7, 7, 7)
    with tp.backend(backend), pytest.raises(tp.OutOfBounds) as raised:
        k(y, floats(1, 2), ints(0, 5, 1))
    (found,) = raised.value.diagnostics
    assert found.code.id == "TP0702"
    assert found.message == "program n=1: the index of axis 0 of x is 5, and 0:2 is allowed"
    assert found.span is not None
    assert (found.kernel, found.span.text) == ("k", "x[at[n]]")
    assert y.tolist() == left
    assert capsys.readouterr().out.count("seen") == 3


def test_deny_checks_refuses_a_kernel_with_a_check() -> None:
    assert refused(denying(f'{TABLE}, at: In[i32, "N"]', "y[n] = x[at[n]]")) == "TP0812"
    assert tp.check(denying(f'{TABLE}, at: In[Index["M"], "N"]', "y[n] = x[at[n]]")) == []
    assert tp.check(denying(TABLE, "y[n] = x[n.start]")) == []


def test_what_a_loop_carries_keeps_a_plain_bound() -> None:
    bisect = """
    low, high = 0, tp.dim("M")
    while low < high:
        middle = (low + high) // 2
        if x[middle] < w[n]:
            low = middle + 1
        else:
            high = middle
    y[n] = low.to(f32)
    """
    k = each(f'{TABLE}, w: In[f32, "N"]', bisect)
    assert rung(k, "x[middle]") is Rung.PROOF
    y = zeros(3)
    run(k, y, floats(1, 3, 5), floats(0, 3, 9))
    assert y.tolist() == [0, 1, 3]


# Index arithmetic and 64 bits.


def wide(extent: int) -> Any:
    """An array with many elements, all in one place."""
    return np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (extent,), (0,))


def test_index_arithmetic_fits_64_bits_for_all_sizes() -> None:
    assert tp.check(each('y: Out[i64, "N"]', "y[n] = (n * 1000 + tp.dim('N')).to(i64)")) == []
    assert refused(each('y: Out[i64, "N"]', "y[n] = (n * 0x5851F42D4C957F2D).to(i64)")) == "TP0813"


def test_products_of_sizes_are_looked_at_by_the_launch() -> None:
    k = each('y: Out[i64, "N"], w: In[f32, "M"]', "y[n] = (n * tp.dim('M') * tp.dim('M')).to(i64)")
    y = zeros(3, dtype=np.int64)
    k(y, zeros(5))
    assert y.tolist() == [0, 25, 50]
    with pytest.raises(tp.LaunchError, match="does not fit 64 bits"):
        k(y, wide(1 << 40))


def test_no_dimension_has_2_to_the_48_elements() -> None:
    k = each('y: Out[i64, "N"], w: In[f32, "M"]', "y[n] = tp.dim('M').to(i64)")
    k(zeros(3, dtype=np.int64), wide((1 << 48) - 1))
    with pytest.raises(tp.LaunchError, match=r"no dimension may have 2\*\*48"):
        k(zeros(3, dtype=np.int64), wide(1 << 48))


def test_a_64_bit_number_becomes_an_index_within_2_to_the_61() -> None:
    y = zeros(2, dtype=np.int64)
    at = np.array([5, 1 << 61])
    read = each('y: Out[i64, "N"], at: In[i64, "N"]', "y[n] = (at[n] + n).to(i64)")
    read(y, at)
    assert y.tolist() == [5, (1 << 61) + 1]
    assert fails(read, y, at + 1) == "TP0702"
    given = each('y: Out[i64, "N"], at: i64', "y[n] = (at + n).to(i64)")
    assert fails(given, y, (1 << 61) + 1) == "TP0605"


def test_an_index_grows_by_steps_from_turn_to_turn() -> None:
    turns = "at = n + 2\nfor turn in range(3):\n    at = {}\ny[n] = at.to(i64)"
    for step in ("at + 16384", "at + tp.dim('N')", "tp.clip(at * 2, 0, tp.dim('N'))"):
        assert tp.check(each('y: Out[i64, "N"]', turns.format(step))) == []
    assert refused(each('y: Out[i64, "N"]', turns.format("at * 2"))) == "TP0813"


def test_in_a_while_an_index_grows_by_small_steps() -> None:
    turns = "at = n + 2\nwhile at {} 9:\n    at = at + {}\ny[n] = at.to(i64)"
    assert tp.check(each('y: Out[i64, "N"]', turns.format("!=", 16384))) == []
    assert refused(each('y: Out[i64, "N"]', turns.format("!=", 16385))) == "TP0813"
    assert tp.check(each('y: Out[i64, "N"]', turns.format("<", 1 << 50))) == []
    assert refused(each('y: Out[i64, "N"]', turns.format("<", 1 << 62))) == "TP0813"


# Checking.


def test_a_verdict_says_for_which_constants_it_holds() -> None:
    signature = 'y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 4'
    k = kernel(signature, COPY[1].replace("N=4", "N=B"))
    assert scope_of(k, {}, verdict(k, {})) == "for all constants"
    assert scope_of(k, {"B": 8}, verdict(k, {"B": 8})) == "for B=8"


def test_a_launch_proves_a_kernel_for_its_own_constants() -> None:
    k = kernel(
        'y: InOut[f32, "N"], x: In[f32, "N"], *, S: int = 1',
        "for n in tp.parallel(N=tp.each):\n    if S * n < tp.dim('N'):\n        y[S * n] = x[n]",
    )
    y = zeros(4)
    k(y, ramp(4), S=2)
    assert y.tolist() == [0, 0, 1, 0]
    assert fails(k, y, ramp(4), S=0) == "TP0801"


def test_a_verdict_does_not_depend_on_the_machine_or_the_moment() -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "tileproof", "check", "examples/qkv.py", "--explain"]
    texts = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
        texts.add(re.sub(r"\(\d+\.\d\d s\)", "", done.stdout))
    assert len(texts) == 1
