"""Ways to fool the language that once worked, each closed."""

from __future__ import annotations

import math
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from rules import each, fails, faults, interpreted, kernel, refused

import tileproof as tp

VECTOR = 'y: InOut[f32, "N"], x: In[f32, "N"], s: f32'
F32 = np.float32


def floats(count: int) -> Any:
    return np.arange(count, dtype=F32)


@pytest.mark.parametrize(
    "combiner",
    [
        "lambda a, b: s",
        "lambda a, b: a if a > b else s",
        "lambda a, b: a + b + tp.full((i,), 1.0).sum()",
    ],
)
def test_a_combiner_does_not_smuggle_in_a_value_from_outside(combiner: str) -> None:
    body = f"for i in tp.parallel(N=4):\n    y[i.start] = tp.reduce(x[i], by={combiner}, identity=0.0)"
    assert refused(kernel(VECTOR, body)) == "TP0119"


def test_a_combiner_may_hold_another() -> None:
    inner = "tp.reduce(tp.full((2,), 1.0) * a, tp.maximum, 0.0)"
    assert tp.check(each(VECTOR, f"y[n] = tp.reduce(x[0:4], by=lambda a, b: {inner} + b, identity=0.0)")) == []


def test_a_lambda_is_not_handed_to_a_helper() -> None:
    helper = "def apply(t: Any, by: Any) -> Any:\n    return by(t, t)\n"
    assert refused(each(VECTOR, "y[n] = apply(x[n], by=lambda a, b: a + b)", helper)) == "TP0010"


@pytest.mark.parametrize("parameters", ["a, b, *, k=3.0", "a, b, *c", "a, b, /", "a, b=1.0"])
def test_a_lambda_takes_two_plain_parameters(parameters: str) -> None:
    text = f"for i in tp.parallel(N=4):\n    y[i] = tp.scan(x[i], by=lambda {parameters}: a)"
    assert refused(kernel(VECTOR, text)) == "TP0112"


def test_a_name_a_lambda_uses_is_still_the_functions_own() -> None:
    body = """
    for i in tp.parallel(N=4):
        u = x[i] * scale
        scale = 2.0
        y[i] = tp.scan(u, by=lambda a, b: a * scale + b)
    """
    assert refused(kernel(VECTOR, body, "scale = 10.0\n")) == "TP0102"


def test_a_wrapped_helper_takes_its_own_parameters() -> None:
    helper = """
    import functools
    def difference(a: Any, b: Any) -> Any:
        return a - b
    @functools.wraps(difference)
    def flipped(b: Any, a: Any) -> Any:
        return difference(a, b)
    """
    y = np.zeros(1, F32)
    each('y: Out[f32, "N"]', "y[n] = flipped(5.0, 3.0)", helper)(y)
    assert y.tolist() == [-2.0]


def test_a_constant_zero_keeps_its_sign_in_the_cache() -> None:
    inverse = kernel('y: Out[f32, "1"], *, L: float = 0.0', "y[0] = 1.0 / L")
    y = np.zeros(1, F32)
    inverse(y, L=0.0)
    assert y[0] == math.inf
    inverse(y, L=-0.0)
    assert y[0] == -math.inf


def test_a_literal_is_never_none() -> None:
    body = """
    if s > 0.0:
        e = ids[n]
    else:
        e = -1
    y[e] = 7.0
    """
    skip = each('y: InOut[f32, "N"], ids: In[Index["N"], "N"], s: f32', body)
    assert faults(skip, np.zeros(1, F32), np.zeros(1, np.int32), -1.0) == "TP0702"
    alone = kernel('y: InOut[f32, "N"], ids: In[Index["N"], "1"], s: f32', dedent(body).replace("[n]", "[0]"))
    assert fails(alone, np.zeros(1, F32), np.zeros(1, np.int32), -1.0) == "TP0702"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("at = ids[n].fill(-5)", "TP0204"),
        ("at = ids.get(n, -3)", "TP0204"),
        ("at = tp.full((2,), 0, ids.dtype)", "TP0202"),
    ],
)
def test_entries_are_not_made_of_other_numbers(text: str, code: str) -> None:
    body = f"for n in tp.parallel(N=2):\n    {text}\n    y[n] = 1.0"
    assert code in {found.code.id for found in tp.check(kernel('y: Out[f32, "N"], ids: In[Index["N"], "N"]', body))}


def test_the_old_value_is_taken_before_the_new_one_is_computed() -> None:
    helper = "def meddle(x: Any, n: Any) -> Any:\n    x[n] = 100.0\n    return 1.0\n"
    x = floats(3)
    each('x: InOut[f32, "N"]', "x[n] += meddle(x, n)", helper)(x)
    assert x.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("body", ["w = i.shift(-100)", "for k in tp.tiles(N=2, start=-3):\n        t = 1.0"])
def test_what_nothing_uses_still_owes_to_be_inside(body: str) -> None:
    text = f"for i in tp.parallel(N=4):\n    {body}\n    y[i] = 0.0"
    unused = kernel('y: Out[f32, "N"]', text)
    assert (fails(unused, np.zeros(4, F32)), faults(unused, np.zeros(4, F32))) == ("TP0811", "TP0702")


def test_a_seed_of_64_bits_is_used_whole() -> None:
    draw = each('y: Out[f32, "N"], seed: u64', "y[n] = tp.random(seed, n)")
    drawn = []
    for seed in (2**63 - 1, 2**63, 2**64 - 1):
        y = np.zeros(4, F32)
        draw(y, seed)
        drawn.append(tuple(y))
    assert len(set(drawn)) == 3


def test_a_walker_shifted_twice_has_a_name_of_its_own() -> None:
    y = np.zeros(6, F32)
    text = "for i in tp.parallel(N=2):\n    y[i] = x.get(i.shift(1).shift(1).start, 0.0)"
    interpreted(kernel(VECTOR, text), y, floats(6), 0.0)
    assert y.tolist() == [2, 2, 4, 4, 0, 0]


def test_a_tensor_hidden_in_a_tuple_is_cut_all_the_same() -> None:
    body = """
    pair = (y, 1)
    past, fresh = tp.split_at(y, "N", 2)
    for n in tp.parallel(M=tp.each):
        fresh[n] = pair[0][n.start]
    """
    assert refused(kernel('y: InOut[f32, "N"], x: In[f32, "M"]', body)) == "TP0102"


@pytest.mark.parametrize(
    ("dtype", "value"), [("f32", 10**400), ("f32", 1e300), ("f16", 1e6), ("bf16", -1e39), ("i32", 2**31)]
)
def test_a_scalar_that_does_not_fit_is_refused(dtype: str, value: float) -> None:
    with pytest.raises(tp.LaunchError, match=r"TP0603.*`s`"):
        each(f'y: Out[f32, "N"], s: {dtype}', "y[n] = s.to(f32)")(np.zeros(1, F32), value)


@pytest.mark.parametrize("text", ["tp.arange(10**30)", "tp.zeros((2**40,))", "x[:10**30]"])
def test_a_tile_no_machine_could_hold_is_refused(text: str) -> None:
    assert refused(each(VECTOR, f"y[n] = {text}.to(f32).sum()")) in ("TP0311", "TP0312")


@pytest.mark.parametrize("size", [2**48, 2**63 - 2, 2**63, 2**64 - 1, 2**64 + 2])
def test_a_tile_size_that_no_extent_has_is_refused(size: int) -> None:
    double = kernel(f"{VECTOR}, *, B: int = 4", "for n in tp.parallel(N=B):\n    y[n] = 2 * x[n]")
    held = np.zeros(24, F32)
    with pytest.raises(tp.KernelError, match="TP0315"):
        double(held[8:16], floats(8), 0.0, B=size)
    assert not held.any()
    for loop in ("tp.tiles(N={}, start=1)", "tp.parallel(N=tp.split({}))"):
        assert refused(kernel(VECTOR, f"for n in {loop.format(size)}:\n    y[n] = 2 * x[n]")) == "TP0315"


def test_a_float_takes_no_int_that_is_too_large() -> None:
    signature = 'y: Out[f32, "N"], *, S: float = {}'
    assert refused(each(signature.format("10**400"), "y[n] = S")) == "TP0503"
    assert fails(each(signature.format("1"), "y[n] = S"), np.zeros(1, F32), S=10**400) == "TP0608"


def test_a_mask_does_not_hide_contents() -> None:
    look = each('y: Out[f32, "N"], t: In[f32, "V"], ids: In[Index["V"], "N"]', "y[n] = t[ids[n]]")
    hidden = np.ma.array([100, 0], mask=[True, False], dtype=np.int32)
    with pytest.raises(tp.LaunchError, match="TP0606"):
        look(np.zeros(2, F32), floats(3), hidden)


def test_entries_read_with_get_still_need_a_position() -> None:
    look = each('y: Out[f32, "N"], t: In[f32, "V"], ids: In[Index["V"], "N"]', "y[n] = t[ids.get(n, 0)]")
    with pytest.raises(tp.LaunchError, match="TP0607"):
        look(np.zeros(2, F32), floats(3), np.array([0, -1], np.int32))


@pytest.mark.parametrize("given", [4.0, True, "x", np.ones(3)])
def test_a_dimension_given_by_name_is_a_whole_number(given: Any) -> None:
    signature = 'y: Out[f32, "V/BV"], x: In[f32, "V"], *, BV: int'
    count = kernel(signature, "for v in tp.parallel(V=BV):\n    y[v.number] = 1.0")
    with pytest.raises(tp.LaunchError, match="TP0608"):
        count(np.zeros(2, F32), floats(8), BV=given)
    count(np.zeros(2, F32), floats(8), BV=np.int64(4))


def test_a_scale_made_of_an_open_dimension_is_accepted() -> None:
    text = 'y: Out[f32, "N"], x: In[f32, "N D"], *, D: int'
    scaled = each(text, "y[n] = (x[n, :] * D**-0.5).sum() + 1.0 / D + D / 2 + D * 0.5")
    assert tp.check(scaled) == []
    y = np.zeros(2, F32)
    scaled(y, np.ones((2, 4), F32))
    np.testing.assert_allclose(y, 2.0 + 0.25 + 2.0 + 2.0)


def test_a_chain_of_carried_literals_settles() -> None:
    names = [f"a{number}" for number in range(9)]
    body = "\n    ".join(f"{one} = {two}" for one, two in zip(names, [*names[1:], "x[n]"], strict=True))
    text = "\n".join(f"{name} = 0" for name in names) + f"\nfor k in range(12):\n    {body}\ny[n] = a0"
    y = np.zeros(3, F32)
    each(VECTOR, text)(y, floats(3), 0.0)
    assert y.tolist() == [0.0, 1.0, 2.0]


def test_a_full_dimension_fills_a_fixed_place() -> None:
    y = np.zeros((3, 4), F32)
    each('y: Out[f32, "N 4"], x: In[f32, "N D"], *, D: int', "y[n, :] = x[n, :]")(y, np.ones((3, 4), F32))
    assert y.all()


def test_the_edit_for_or_also_cures_a_not_inside_it() -> None:
    unsure = each(VECTOR, "if n < 1 or not s > 0.0:\n    y[n] = 1.0")
    (found,) = tp.check(unsure)
    assert found.edit is not None
    assert found.edit.replacement == "(n < 1) | ~(s > 0.0)"
