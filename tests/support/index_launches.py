"""Launches that make checked copies of index tensors, for both element types and tensors with and without gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from launching import Made, Make

from tileproof.runtime.checked_indices import launches, needs
from tileproof.runtime.facts import Wanted

Array = Any
EXTENT: Final = 5000
KINDS: Final = {
    "Index": (Wanted("Index", EXTENT), False),
    "Index without holes": (Wanted("Index", EXTENT, holes_allowed=False), False),
    "Index that is complete": (Wanted("Index", EXTENT), True),
    "Unique": (Wanted("Unique", EXTENT), False),
    "Unique without holes": (Wanted("Unique", EXTENT, holes_allowed=False), False),
    "Unique that is complete": (Wanted("Unique", EXTENT), True),
    "Offsets": (Wanted("Offsets", EXTENT), False),
}
"""What is wanted, and whether holes are told of."""
SHAPES: Final = {"in a row": (2500,), "in short rows": (300, 14), "in long rows": (3, 1100), "in planes": (2, 5, 70, 3)}
WRONG: Final = ("nothing", "outside", "hole", "twice", "far")


@dataclass(frozen=True)
class Copy:
    """A checked copy that is to be made."""

    wanted: Wanted
    complete: bool
    source: Array

    def room(self) -> tuple[Array, Array, Array]:
        """The copy, the flags and the places, before anything is written there."""
        need = needs(self.wanted, self.source)
        scratch = np.full(self.source.shape, 77, self.source.dtype)
        return scratch, np.full(need.flags, 77, np.int64), np.full(need.places, 77, need.places_dtype)


def copy(kind: str, lies: str, dtype: Any, wrong: str = "outside") -> Copy:
    """One by name; `wrong` says what the entries have that they should not."""
    wanted, complete = KINDS[kind]
    rng, shape = np.random.default_rng(7), SHAPES[lies]
    whole = np.zeros((*shape[:-1], shape[-1] + (2 if len(shape) > 1 else 0)), dtype)
    whole = np.repeat(whole, 2, axis=0)[::2] if lies == "in planes" else whole
    source = whole[..., : shape[-1]]
    numbers = rng.permutation(EXTENT)[: source.size]
    if kind == "Offsets":
        numbers = np.sort(numbers)
        numbers[0], numbers[-1] = 0, EXTENT
    at = {"outside": EXTENT + 1, "hole": -1, "twice": numbers[3], "far": np.iinfo(dtype).min}
    if wrong != "nothing":
        numbers[[source.size // 3, source.size - 2]] = at[wrong]
    source[...] = numbers.reshape(shape)
    return Copy(wanted, complete, source)


def copies() -> Iterator[tuple[str, str, Any]]:
    """The kind, layout and element type of each."""
    for kind in KINDS:
        for lies in SHAPES if kind != "Offsets" else ("in a row",):
            for dtype in (np.int32, np.int64):
                yield kind, lies, dtype


def _launch(kind: str, lies: str, dtype: Any, number: int) -> Made:
    """One launch of a copy, those before it done."""
    made = copy(kind, lies, dtype)
    steps = list(launches(made.wanted, made.source, *made.room(), complete=made.complete))
    for kernel, arguments, constants in steps[:number]:
        kernel(*arguments, **constants)
    kernel, arguments, constants = steps[number]
    return kernel, list(arguments), constants


def checked_indices() -> dict[str, Make]:
    """All launches, by name."""
    found: dict[str, Make] = {}
    for kind, lies, dtype in copies():
        made = copy(kind, lies, dtype)
        count = sum(1 for _ in launches(made.wanted, made.source, *made.room(), complete=made.complete))
        for number in range(count):
            name = f"{kind} {lies} {np.dtype(dtype).name} {number}"
            found[name] = partial(_launch, kind, lies, dtype, number)
    return found
