"""Launches that are like an earlier one.

What an earlier launch decided by element types, shapes, strides and constants alone is remembered: which code runs, and
all words of its arguments but addresses and scalars. What depends on addresses and contents is looked at every time.
Whatever is unusual or in doubt is left to the full launch, which says what is wrong; contents that an index tensor must
not have, and checks that fail in the kernel, are reported as there.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tileproof.analysis.terms import Scalar, everything
from tileproof.analysis.verdict import Compare, Fits
from tileproof.backends.cpu.pool import Pool, arena
from tileproof.backends.cpu.running import NOBODY, Loaded
from tileproof.backends.cpu.target import Target
from tileproof.frontend.operations import limits
from tileproof.frontend.signature import ContentOf, Signature
from tileproof.ir.types import Access
from tileproof.language.dtypes import DType

from .arguments import Bound
from .check import Proved
from .contracts import check_complete, check_contents

_MOST: Final = 256
"""How many launches of a kernel are remembered."""


@dataclass(slots=True)
class Repeat:
    """What an earlier launch found."""

    found: Proved
    signature: Signature
    target: Target
    loaded: Loaded
    words: array[int]
    """The words of the arguments, addresses and scalars missing, and behind them room for a report."""
    tensors: tuple[tuple[int, str, int, int, int, bool], ...]
    """Of each tensor: its position, name, word, bytes before and behind its first element, whether it is written."""
    scalars: tuple[tuple[int, int, Callable[[Any], int | None]], ...]
    """Of each scalar: its position, its word, and how its bits are made; None for one to be looked at closely."""
    sizes: tuple[int, ...]
    programs: int
    dimensions: dict[str, int]
    has_contents: bool


def key_of(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What a launch is remembered by; None if it has arguments of other kinds."""
    parts: list[Any] = []
    for argument in args:
        kind = type(argument)
        if kind is np.ndarray:
            parts.append((argument.dtype, argument.shape, argument.strides))
        elif kind is int or kind is float:
            parts.append(kind)
        else:
            return None
    for name, value in named.items():
        if type(value) is not int:
            return None
        parts.append((name, value))
    return tuple(parts)


def run(repeat: Repeat, args: tuple[Any, ...], pool: Pool) -> bool:
    """Runs a launch like the earlier one; False if it is not, and nothing was done."""
    words = array("Q", repeat.words)
    spans: list[tuple[int, int, bool]] = []
    for (position, _, word, before, behind, is_written), size in zip(repeat.tensors, repeat.sizes, strict=True):
        argument = args[position]
        address = argument.__array_interface__["data"][0]
        if address % size or (is_written and not argument.flags.writeable):
            return False
        words[word] = address
        low, high = address - before, address + behind
        for other_low, other_high, other_written in spans:
            if (is_written or other_written) and low < other_high and other_low < high:
                return False
        spans.append((low, high, is_written))
    for position, word, bits_of in repeat.scalars:
        bits = bits_of(args[position])
        if bits is None:
            return False
        words[word] = bits
    if not repeat.found.is_current:
        return False
    if repeat.has_contents:
        _check(repeat, args)
    return _go(repeat, words, pool)


def _go(repeat: Repeat, words: array[int], pool: Pool) -> bool:
    loaded, total = repeat.loaded, repeat.programs
    start = words.buffer_info()[0]
    if not total:
        return True
    record = len(words) - 6
    words[0] = start + 8 * record
    pool.run(loaded.main, start, total, pool.chunk(total), loaded.code.arena, arena(loaded.code.arena))
    if words[record + 1] != NOBODY:
        raise loaded.failure(words[record:], repeat.dimensions, {})
    return True


def _check(repeat: Repeat, args: tuple[Any, ...]) -> None:
    bound = Bound({name: args[position] for position, name, *_ in repeat.tensors}, dimensions=repeat.dimensions)
    check_contents(repeat.signature, bound, repeat.found.holes)
    check_complete(repeat.signature, bound, repeat.found.verdict.complete)


def remember(
    found: Proved, signature: Signature, target: Target, bound: Bound, loaded: Loaded, args: tuple[Any, ...]
) -> Repeat | None:
    """What there is to remember of a launch that went well; None if others like it need the full way."""
    if not loaded.is_plain or len(args) != len(signature.arguments):
        return None
    if any(looks_at_scalars(compare) for compare in found.verdict.compares):
        return None
    positions = {parameter.name: number for number, parameter in enumerate(signature.arguments)}
    tensors, sizes = [], []
    for tensor in signature.tensors:
        given = bound.tensors[tensor.name]
        before, behind = _reach(given)
        word = loaded.words.places[tensor.name, "pointer"]
        tensors.append((positions[tensor.name], tensor.name, word, before, behind, tensor.access is not Access.IN))
        sizes.append(given.itemsize)
    scalars = []
    for parameter in loaded.scalars:
        dtype = parameter.type.dtype
        scalars.append((positions[parameter.name], loaded.words.places[parameter.name], _bits(dtype)))
    values = loaded.fixed_words(bound.tensors, bound.dimensions)
    return Repeat(
        found, signature, target, loaded, array("Q", [*values, 0, NOBODY, 0, 0, 0, 0]), tuple(tensors), tuple(scalars),
        tuple(sizes), loaded.programs(bound.dimensions), dict(bound.dimensions),
        any(isinstance(tensor.element, ContentOf) for tensor in signature.tensors),
    )  # fmt: skip


def looks_at_scalars(compare: Compare | Fits) -> bool:
    """Whether what a launch compares may depend on more than extents."""
    if isinstance(compare, Fits):
        return True
    return any(isinstance(atom, Scalar) for fact in compare.broken for atom in everything(fact.term))


def _reach(given: Any) -> tuple[int, int]:
    """How many bytes an array has before its first element, and from there on."""
    before = behind = 0
    if not given.size:
        return 0, 0
    for stride, extent in zip(given.strides, given.shape, strict=True):
        length = stride * (extent - 1)
        before, behind = (before - length, behind) if length < 0 else (before, behind + length)
    return before, behind + given.itemsize


def _bits(dtype: DType) -> Callable[[Any], int | None]:
    """How a number becomes the bits of a scalar; it gives None for a number that may not fit."""
    least, most = limits(dtype) if dtype.is_integer else (0, 0)
    if dtype.name in ("f32", "f64"):
        code, greatest = ("f" if dtype.name == "f32" else "d"), limits(dtype)[1]

        def of_float(value: Any) -> int | None:
            if not -greatest <= value <= greatest:
                return None
            return int.from_bytes(array(code, (value,)).tobytes(), "little")

        return of_float
    if dtype.is_integer:
        mask = 2**dtype.bits - 1

        def of_whole(value: Any) -> int | None:
            return value & mask if type(value) is int and least <= value <= most else None

        return of_whole
    return lambda _: None


def note(memory: dict[Any, Repeat | None], key: Any, repeat: Repeat | None) -> None:
    """Remembers, and forgets the oldest of too many."""
    if len(memory) >= _MOST:
        memory.pop(next(iter(tuple(memory))), None)  # a copy: other threads may note meanwhile
    memory[key] = repeat
