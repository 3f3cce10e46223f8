"""Numbers that Python refuses to write out are no reason for a message to fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Out, f32, i32
from tileproof.diagnostics.values import bytes_of, formatted

LARGE = 10**5000


@tp.kernel
def scale(y: Out[f32, "N"], x: In[f32, "N"], by: f32, n: i32, *, B: int = 4, F: float = 1.0, G: bool = True) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i] * by * F


@pytest.mark.parametrize("value", [0, -7, 10**39, (2, 3), (5,), (), [1, [2]], 1.5, "text", None, True, np.float32(2)])
def test_an_ordinary_value_is_shown_as_python_writes_it(value: object) -> None:
    assert formatted(value) == repr(value)


def test_a_long_value_is_shown_by_its_size() -> None:
    assert formatted(LARGE) == "about 10**5000"
    assert formatted((2, [-3 * LARGE])) == "(2, [about -10**5000])"
    assert formatted({1: LARGE}) == "an object of type dict"
    assert len(formatted("9" * 5000)) < 200


def _record(y: tp.Tensor, x: tp.Tensor) -> None:
    with tp.Graph():
        scale(y, x, 1.0, LARGE)


WRONG: dict[str, Callable[[tp.Tensor, tp.Tensor], object]] = {
    "a scalar": lambda y, x: scale(y, x, LARGE, 1),
    "a whole scalar": lambda y, x: scale(y, x, 1.0, -LARGE),
    "a scalar of a graph": _record,
    "a scalar of an operation": lambda y, x: scale.op(y, x, 1.0, LARGE).run(),
    "a scalar of the interpreter": lambda y, x: tp.interpret(scale, y, x, LARGE, 1),
    "a constant": lambda y, x: scale(y, x, 1.0, 1, B=LARGE),
    "a constant that is a float": lambda y, x: scale(y, x, 1.0, 1, F=LARGE),
    "a constant that is a bool": lambda y, x: scale(y, x, 1.0, 1, G=LARGE),
    "an order": lambda y, x: tp.interpret(scale, y, x, 1.0, 1, order=-LARGE),
    "an extent": lambda y, x: tp.empty((2, LARGE)),
    "an extent below 0": lambda y, x: tp.zeros(-LARGE),
    "an extent beside 0": lambda y, x: tp.zeros((0, LARGE)),
    "the end of a range": lambda y, x: tp.arange(LARGE),
    "a value": lambda y, x: tp.full(3, LARGE),
    "a value that is written": lambda y, x: x.__setitem__(0, LARGE),
    "an element type": lambda y, x: tp.empty(3, LARGE),
    "an index": lambda y, x: x[LARGE],
    "a shape": lambda y, x: x.reshape(-1, LARGE),
    "a shape without elements": lambda y, x: x[:0].reshape(0, LARGE),
    "an axis": lambda y, x: x.permute(LARGE),
    "a stream of DLPack": lambda y, x: x.__dlpack__(stream=LARGE),
    "a device of DLPack": lambda y, x: x.__dlpack__(dl_device=(LARGE, 0)),
    "a limit": lambda y, x: tp.limit_memory(-LARGE),
    "a limit in words": lambda y, x: tp.limit_memory("9" * 5000),
    "a device": lambda y, x: tp.Stream(LARGE),  # type: ignore[arg-type]
    "the number of a device": lambda y, x: tp.Stream("cuda:" + "9" * 5000),
    "a number of streams": lambda y, x: tp.StreamPool(-LARGE),
    "a schedule": lambda y, x: tp.Schedule(group=-LARGE),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_number_of_thousands_of_digits_is_refused_as_any_other_is(what: str) -> None:
    y, x = tp.empty(8), tp.ones(8)
    with pytest.raises((tp.TileproofError, ValueError, OverflowError, IndexError, BufferError)) as raised:
        WRONG[what](y, x)
    assert "integer string conversion" not in str(raised.value)
    assert len(str(raised.value)) < 2000


def test_a_number_of_thousands_of_digits_works_where_it_means_something() -> None:
    x = tp.arange(4)
    assert x[::LARGE].tolist() == [0]
    assert x[:LARGE].tolist() == [0, 1, 2, 3]
    assert tp.arange(-LARGE).shape == (0,)
    before = tp.memory().limit
    tp.limit_memory(LARGE)
    try:
        assert "about 10**" in str(tp.memory())
    finally:
        tp.limit_memory(before)


@pytest.mark.parametrize(
    ("text", "size"),
    [("900MB", 900_000_000), ("2GiB", 2 << 30), ("1.5g", 1_500_000_000), ("12", 12), ("12 B", 12), ("", None),
     ("GB", None), ("0", 0), ("1.2.3", None), ("5XB", None), ("-1GB", None)],
)  # fmt: skip
def test_sizes_are_read_as_people_write_them(text: str, size: int | None) -> None:
    assert bytes_of(text) == size
