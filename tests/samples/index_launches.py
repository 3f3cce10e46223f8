"""Launches that make copies of index tensors, for both element types and tensors with and without gaps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.launch import Made, Make
from tileproof.runtime.launch.contracts import Fault, fault_of
from tileproof.runtime.launch.index_kernels import Launch, copied, words_for
from tileproof.runtime.memory.contents import Wanted

Array = Any
EXTENT: Final = 5000
KINDS: Final = {
    "Index": (Wanted("Index", EXTENT), False),
    "Index without holes": (Wanted("Index", EXTENT, holes_allowed=False), True),
    "Index that is complete": (Wanted("Index", EXTENT, holes_allowed=False), False),
    "Unique": (Wanted("Unique", EXTENT), False),
    "Unique without holes": (Wanted("Unique", EXTENT, holes_allowed=False), True),
    "Unique that is complete": (Wanted("Unique", EXTENT, holes_allowed=False), False),
    "Offsets": (Wanted("Offsets", EXTENT), False),
}
"""What is wanted, and whether a kernel loads through the tensor."""
SHAPES: Final = {"in a row": (2500,), "in short rows": (300, 14), "in long rows": (3, 1100), "in planes": (2, 5, 70, 3)}
WRONG: Final = ("nothing", "outside", "hole", "twice", "far")


class Copy:
    """A copy of an index tensor that is to be made: full of nonsense, as are its records."""

    copy: tp.Tensor
    launches: list[Launch]

    def __init__(self, wanted: Wanted, is_loaded: bool, source: Any, device: str = "cpu") -> None:
        self.wanted = wanted
        array = tp.asarray(source)
        self.records = tp.full(words_for(wanted, array.size), 77, tp.i64, device)
        self.copy, self.launches = copied(wanted, array, self.records, is_loaded=is_loaded)
        if array.size:
            tp.copy(self.copy, tp.full(self.copy.shape, 77, self.copy.dtype, device))

    def run(self) -> None:
        """Makes it."""
        for kernel, arguments, constants in self.launches:
            kernel(*arguments, **constants)

    @property
    def fault(self) -> Fault | None:
        """What was found."""
        return fault_of(self.wanted, self.records.numpy(), self.copy.shape)


def entries(kind: str, lies: str, dtype: Any, wrong: str = "outside") -> Array:
    """An index tensor; `wrong` says what the entries have that they should not."""
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
    return source


def copies() -> Iterator[tuple[str, str, Any]]:
    """The kind, layout and element type of each."""
    for kind in KINDS:
        for lies in SHAPES if kind != "Offsets" else ("in a row",):
            for dtype in (np.int32, np.int64):
                yield kind, lies, dtype


def on_arrays(launch: Launch) -> Made:
    """A launch with arrays of numpy over the memory of its tensors."""
    kernel, arguments, constants = launch
    arrays = [arg.wait().seen_by_launch() if isinstance(arg, tp.Tensor) else arg for arg in arguments]
    return kernel, arrays, constants


def _launch(kind: str, lies: str, dtype: Any, number: int) -> Made:
    """One launch of a copy, those before it done."""
    copy = Copy(*KINDS[kind], entries(kind, lies, dtype))
    for kernel, arguments, constants in copy.launches[:number]:
        kernel(*arguments, **constants)
    return on_arrays(copy.launches[number])


def checked_indices() -> dict[str, Make]:
    """All launches, by name."""
    results: dict[str, Make] = {}
    for kind, lies, dtype in copies():
        for number in range(len(Copy(*KINDS[kind], entries(kind, lies, dtype)).launches)):
            name = f"{kind} {lies} {np.dtype(dtype).name} {number}"
            results[name] = partial(_launch, kind, lies, dtype, number)
    return results
