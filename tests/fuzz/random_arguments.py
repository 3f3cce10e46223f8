"""Random arguments for any kernel: small sizes, and contents that its element types allow.

Numbers are multiples of 1/2 and small, so that sums are exact in every order.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import tileproof as tp
from tileproof.frontend.signature import ContentOf, ScalarParameter, Signature, TensorParameter, parse
from tileproof.ir.types import Access, Fixed, Named

ROOMY = ("C", "V", "R", "S")
"""Dimensions that hold what others point into: larger than these in half of the launches."""
LARGEST = 7
EXTREMES = (-(2**31), 2**31 - 1)


def open_dimensions(kernel: tp.Kernel) -> list[str]:
    """The dimensions that a launch chooses: neither computed nor fixed by a default."""
    signature = parse(kernel).signature
    computed = {equation.dimension for equation in signature.equations}
    return [name for name in signature.dimensions if name not in computed]


def arguments(kernel: tp.Kernel, seed: int, number: int) -> list[Any]:
    """The arguments of launch `number`, by position."""
    rng = random.Random(f"{seed}:{number}")
    signature = parse(kernel).signature
    wide = seed % 2 == 0
    extents = _extents(kernel, signature, rng, seed, number)
    return [
        _scalar(one, rng) if isinstance(one, ScalarParameter) else _tensor(one, extents, rng, wide)
        for one in signature.arguments
    ]


def shown(kernel: tp.Kernel, given: list[Any]) -> str:
    """The arguments in a line each: shapes, scalars, and the contents of integer tensors."""
    lines = []
    for parameter, one in zip(parse(kernel).signature.arguments, given, strict=True):
        contents = one if np.isscalar(one) else one.shape if one.dtype == np.float32 else f"{one.shape} {one.tolist()}"
        lines.append(f"{parameter.name} = {contents}")
    return "; ".join(lines)


def _extents(kernel: tp.Kernel, signature: Signature, rng: random.Random, seed: int, number: int) -> dict[str, int]:
    names = open_dimensions(kernel)
    largest = LARGEST if len(names) < 3 else 5 if len(names) < 5 else 4
    match number % 6:
        case 0:
            known = {name: rng.randint(1, 4) for name in names}
        case 1:
            known = dict.fromkeys(names, rng.randint(0, largest))
        case 2:
            known = {name: rng.randint(0, 1) for name in names}
        case 3:
            known = {name: rng.randint(0, largest) + (6 if name in ROOMY else 0) for name in names}
        case 4:
            known = {name: rng.choice([0, 1, 2, 3]) + (4 if name in ROOMY else 0) for name in names}
        case _:
            known = {name: rng.choice([1, 2, 3, rng.randint(0, largest)]) for name in names}
    for constant in signature.constants:  # each value is compiled and proved for itself: few of them
        if constant.name in known and constant.default is None:
            known[constant.name] = random.Random(f"{seed}:{constant.name}").sample(range(6), 2)[number % 2]
    if "G" in known:  # groups divide what they are of, or the launch is refused
        known["G"] = rng.choice([1, max(1, known.get("N", 1)), known["G"]])
    known |= {c.name: c.default for c in signature.constants if isinstance(c.default, int)}
    for _ in signature.equations:
        for equation in signature.equations:
            if all(name in known for name in equation.names):
                known[equation.dimension] = max(0, int(equation.value(known)))  # type: ignore[arg-type]
    return known


def _tensor(parameter: TensorParameter, extents: dict[str, int], rng: random.Random, wide: bool) -> Any:
    shape = []
    for dimension in parameter.dimensions:
        match dimension:
            case Named(name):
                shape.append(extents[name])
            case Fixed(length):
                shape.append(length)
            case _:
                shape.append(rng.randint(0, LARGEST))
    count = int(np.prod(shape, dtype=np.int64))
    match parameter.element:
        case ContentOf(kind, dimension, ends_early, per):
            extent = rng.randint(0, extents[dimension]) if ends_early else extents[dimension]
            rows = int(np.prod(shape[: len(per)], dtype=np.int64))
            entries = [entry for _ in range(rows) for entry in _entries(kind, count // max(rows, 1), extent, rng)]
            stored = np.int64 if wide else np.int32
            return np.array(entries, stored).reshape(shape)
        case element if str(element) in ("i32", "i64"):
            kind = np.int32 if str(element) == "i32" else np.int64
            return np.array([_whole(rng) for _ in range(count)], kind).reshape(shape)
        case _:
            if parameter.access is Access.OUT:
                return np.full(shape, 77.0, np.float32)
            return np.array([rng.randint(-8, 8) / 2 for _ in range(count)], np.float32).reshape(shape)


def _whole(rng: random.Random) -> int:
    """A number that is often a position."""
    return rng.choices([rng.randint(0, 3), rng.randint(-2, 8), rng.choice(EXTREMES)], [60, 37, 3])[0]


def _scalar(parameter: ScalarParameter, rng: random.Random) -> int | float:
    return rng.randint(-8, 8) / 2 if str(parameter.element) == "f32" else _whole(rng)


def _entries(kind: str, count: int, extent: int, rng: random.Random) -> list[int]:
    if kind == "Offsets":
        inner = sorted(rng.randint(0, extent) for _ in range(max(0, count - 2)))
        return [0, *inner, extent][:count] if count > 1 else [0] * count
    holes = rng.choice([0.0, 0.0, 0.3])
    if kind == "Unique":
        pool = rng.sample(range(extent), extent) if rng.random() < 0.7 else list(range(extent))
        entries = [*pool, *([-1] * count)][:count]
        if rng.random() < 0.3:
            rng.shuffle(entries)
    else:
        entries = [rng.randrange(extent) if extent else -1 for _ in range(count)]
    return [-1 if rng.random() < holes else entry for entry in entries]
