"""Helpers are inlined, names are found as Python would find them, and what came from outside is never stale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_files import codes, found_in, load, mistakes, with_body
from small_runs import check

import tileproof as tp
from support.launch_caches import forget_launches
from tileproof.diagnostics.codes import Code
from tileproof.runtime.launch.launch import _proved

HELPERS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "defaults and keyword arguments": (
        """
        def f(t, factor=2.0, *, add=(1.0, (5.0, 7.0)), to=f32):
            return (t * factor + add[1][0]).to(to)
        """,
        "y[i, j] = f(x[i, j]) + f(t=x[i, j], factor=3.0, add=(0.0, (1.0, 2.0)))",
        lambda x, v, w, d, n: x * 2 + 5 + x * 3 + 1,
    ),
    "helpers of helpers": (
        """
        def inner(t):
            s = t + 1.0
            return s * 2.0

        def outer(t, s):
            t = inner(t)
            return inner(t) + s
        """,
        "s = v[i][:, None]\ny[i, j] = outer(x[i, j], s) + s",
        lambda x, v, w, d, n: ((x + 1) * 2 + 1) * 2 + 2 * v[:, None],
    ),
    "a helper that returns several values": (
        """
        def f(t):
            "Twice and thrice."
            return t * 2.0, t * 3.0
        """,
        "a, b = f(x[i, j])\nc = f(b)[0]\ny[i, j] = a + b + c",
        lambda x, v, w, d, n: 11 * x,
    ),
    "a helper that stores": (
        """
        def put(place, i, j, t):
            place[i, j] = t
        """,
        "put(y, i, j, x[i, j])",
        lambda x, v, w, d, n: x,
    ),
    "a helper with loops and branches": (
        """
        def f(t, turns):
            total = 0.0
            for k in range(turns):
                if k > 1:
                    total = total + t
                else:
                    total = total - t
            return total
        """,
        "y[i, j] = f(x[i, j], 5)",
        lambda x, v, w, d, n: x,
    ),
    "a helper that walks": (
        """
        def total(source, i):
            found = tp.zeros((i,))
            for k in tp.tiles(D=3):
                found += source[i, k].sum(axis=1)
            return found
        """,
        "y[i, j] = total(d, i)[:, None]",
        lambda x, v, w, d, n: d.sum(1)[:, None],
    ),
    "an argument under a second name": (
        """
        def f(t):
            same = t
            return same + t
        """,
        "p = (x[i, j] + 1.0, 2.0)\nq = p[0]\ny[i, j] = f(x[i, j] * 2.0) + q + p[0]",
        lambda x, v, w, d, n: 4 * x + 2 * (x + 1),
    ),
    "a helper named like a local of another": (
        """
        def g(t):
            return t + 1.0

        def f(g):
            return g * 2.0
        """,
        "y[i, j] = f(g(x[i, j]))",
        lambda x, v, w, d, n: (x + 1) * 2,
    ),
    "a helper handed to a helper": (
        """
        def one(t):
            return t + 1.0

        def twice(f, t):
            return f(f(t))
        """,
        "y[i, j] = twice(one, x[i, j]) + twice(tp.abs, x[i, j])",
        lambda x, v, w, d, n: x + 2 + abs(x),
    ),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", HELPERS)
def test_a_helper_is_inlined(name: str) -> None:
    before, body, wanted = HELPERS[name]
    check(with_body(body, before), wanted)


def test_an_error_in_a_helper_shows_the_calls_that_led_to_it() -> None:
    before = """
        def inner(t):
            return t + missing

        def outer(t):
            u = t * 2.0
            return inner(u)
        """
    (found,) = mistakes(with_body("y[i, j] = outer(x[i, j])\ny[i, j] = outer(x[i, j])", before))
    assert found.code is Code.UNKNOWN_NAME
    assert found.span is not None
    assert found.span.text == "missing"
    assert [(frame.function, frame.span.text) for frame in found.stack] == [
        ("k", "outer(x[i, j])"),
        ("outer", "inner(u)"),
    ]


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("def f(t):\n    return f(t)\n", "f(x[i, j])"),
        ("def f(t):\n    return g(t)\n\ndef g(t):\n    return f(t)\n", "g(x[i, j])"),
    ],
)
def test_recursion_is_refused(before: str, call: str) -> None:
    assert codes(with_body(f"y[i, j] = {call}", before)) == [Code.RECURSION]


REFUSED_CALLS = [
    ("f(1.0, 2.0, 3.0)", Code.BAD_CALL),
    ("f()", Code.BAD_CALL),
    ("f(1.0, a=2.0)", Code.BAD_CALL),
    ("f(1.0, c=2.0)", Code.BAD_CALL),
    ("f(*x)", Code.STARRED),
    ("f(**x)", Code.STARRED),
    ("g(1.0)", Code.STARRED),
    ("h(1.0)", Code.MUTABLE_CAPTURE),
    ("np.exp(x[i, j])", Code.NOT_CALLABLE),
    ("print(x[i, j])", Code.NOT_CALLABLE),
    ("D(1)", Code.NOT_CALLABLE),
    ("x(1)", Code.NOT_CALLABLE),
    ("k(1)", Code.NOT_CALLABLE),
    ("tp.parallel(M=1)", Code.NOT_CALLABLE),
    ("(lambda t: t)(x[i, j])", Code.NESTED_FUNCTION),
    ("unwritten(x[i, j])", Code.NO_SOURCE),
]


@pytest.mark.parametrize(("call", "code"), REFUSED_CALLS)
def test_a_call_that_does_not_fit_is_refused(call: str, code: Code) -> None:
    before = """
        def f(a, b=1.0):
            return a

        def g(a, **options):
            return a

        def h(a, list=[1.0]):
            return a

        unwritten = lambda a: a
        """
    assert codes(with_body(f"y[i, j] = {call}", before)) == [code]


# Names.


def test_a_constant_of_the_module_is_read_again_when_it_changes() -> None:
    module = load(
        """
        SCALE, PAIR = 2.0, (1.0, (3.0, 4.0))

        def helper(t):
            return t * SCALE + PAIR[1][0]

        @tp.kernel
        def k(y: Out[f32, "M"], x: In[f32, "M"], *, BM: int = 2) -> None:
            for i in tp.parallel(M=BM):
                y[i] = helper(x[i])
        """
    )
    y, x = np.zeros(3, np.float32), np.arange(3, dtype=np.float32)
    module.k(y, x)
    np.testing.assert_array_equal(y, x * 2 + 3)
    module.SCALE = 5.0
    module.k(y, x)
    np.testing.assert_array_equal(y, x * 5 + 3)
    module.PAIR = (1.0, (7.0, 4.0))
    module.k(y, x)
    np.testing.assert_array_equal(y, x * 5 + 7)
    module.helper = module.np.exp
    with pytest.raises(tp.KernelError):
        module.k(y, x)


def test_a_compiled_kernel_is_used_again_while_nothing_changes() -> None:
    module = load(
        """
        SCALE = float("nan")

        @tp.kernel
        def k(y: Out[f32, "M"], x: In[f32, "M"], *, BM: int = 2) -> None:
            for i in tp.parallel(M=BM):
                y[i] = x[i] * math.pi * SCALE
        """
    )
    y, x = np.zeros(3, np.float32), np.zeros(3, np.float32)
    module.k(y, x)
    (kept,) = _proved.of(module.k).values()
    forget_launches(module.k)
    module.k(y, x)
    (again,) = _proved.of(module.k).values()
    assert again is kept


def test_a_kernel_closes_over_names_of_the_function_around_it() -> None:
    module = load(
        """
        def make(factor, dtype):
            offset = 0.5

            def shift(t):
                return t + offset

            @tp.kernel
            def k(y: Out[f32, "M"], x: In[f32, "M"], *, BM: int = 2) -> None:
                for i in tp.parallel(M=BM):
                    y[i] = shift(x[i].to(dtype).to(f32) * factor)

            return k
        """
    )
    x, y = np.asarray([1.1, 2.2, 3.3], np.float32), np.zeros(3, np.float32)
    for factor, dtype, stored in ((2.0, tp.f16, np.float16), (3.0, tp.f32, np.float32)):
        module.make(factor, dtype)(y, x)
        np.testing.assert_array_equal(y, x.astype(stored).astype(np.float32) * np.float32(factor) + np.float32(0.5))


@pytest.mark.parametrize(
    "body",
    [
        "y[i, j] = x[i, j] * SCALE\nSCALE = 3.0",
        "if BM > 64:\n    SCALE = 3.0\ny[i, j] = x[i, j] * SCALE",
        "SCALE: f32\ny[i, j] = x[i, j] * SCALE",
    ],
)
def test_a_name_assigned_in_a_kernel_never_means_the_one_outside(body: str) -> None:
    assert codes(with_body(body, "SCALE = 2.0\n")) == [Code.MAYBE_UNBOUND]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("[1.0, 2.0]", Code.MUTABLE_CAPTURE),
        ("{}", Code.MUTABLE_CAPTURE),
        ("np.zeros(3)", Code.MUTABLE_CAPTURE),
        ("(1.0, [2.0])", Code.MUTABLE_CAPTURE),
        ("10**5000", Code.LITERAL_RANGE),
        ("'text'", Code.WRONG_TYPE),
        ("None", Code.WRONG_TYPE),
    ],
)
def test_a_value_that_a_kernel_cannot_hold_is_refused(value: str, code: Code) -> None:
    assert codes(with_body("y[i, j] = x[i, j] * HELD", f"HELD = {value}\n")) == [code]


def test_a_helper_is_the_one_that_was_imported_even_if_its_file_has_changed() -> None:
    module = load(
        """
        def other(t):
            return t * 100.0

        def helper(t):
            return t + 1.0

        @tp.kernel
        def k(y: Out[f32, "M"], x: In[f32, "M"]) -> None:
            for i in tp.parallel(M=4):
                y[i] = helper(x[i])
        """
    )
    path = Path(module.__file__)
    path.write_text(path.read_text().replace("t + 1.0", "t - 1.0").replace("def other(t):\n", ""))
    x, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    tp.interpret(module.k, y, x)
    np.testing.assert_array_equal(y, x + 1)


def test_a_helper_whose_file_no_longer_has_it_is_refused() -> None:
    first = load("def helper(t):\n    return t + 1.0\n", head="")
    module = load(
        """
        helper = None

        @tp.kernel
        def k(y: Out[f32, "M"], x: In[f32, "M"]) -> None:
            for i in tp.parallel(M=4):
                y[i] = helper(x[i])
        """
    )
    module.helper = first.helper
    Path(first.__file__).write_text("def another(t):\n    return t - 1.0\n")
    (found,) = found_in(module.k)
    assert found.code is Code.NO_SOURCE
    assert found.span is not None
    assert found.span.text == "helper(x[i])"
