"""`--shapes "M=16|64,N=4096"`: extents of dimensions, and values of scalars, given on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tileproof.frontend.signature import ScalarParameter, parse
from tileproof.language.kernel import Kernel
from tileproof.tuning.tunables import Sizes

from .command_line import UsageError, named_values, suggestion

_EXAMPLE = "a dimension and its extent, such as M=512 or M=16|64|128"


def read_sizes(text: str) -> Iterator[Sizes]:
    """`M=16|64,N=4096` as all the sizes it stands for."""
    names, extents = [], []
    for name, _, values in named_values("--shapes", text, _EXAMPLE):
        numbers = [part.strip() for part in values.split("|")]
        if not all(number.isdecimal() and len(number) < 19 for number in numbers):
            raise UsageError(f"--shapes: `{name}={values}` is not {_EXAMPLE}")
        names.append(name)
        extents.append([int(number) for number in numbers])
    if not names:
        raise UsageError("--shapes names no dimension: write M=512,N=4096")
    for chosen in product(*extents):
        yield dict(zip(names, chosen, strict=True))


def read_launches(kernel: Kernel, text: str) -> Iterator[tuple[Sizes, dict[str, float]]]:
    """The sizes and the scalars of launches of a kernel: `M=16|64,N=4096,scale=0.5`."""
    signature = parse(kernel).signature
    scalars = {argument.name: argument for argument in signature.arguments if isinstance(argument, ScalarParameter)}
    values: dict[str, float] = {}
    sizes: list[str] = []
    for name, _, value in named_values("--shapes", text, _EXAMPLE):
        if name in scalars:
            values[name] = _number(name, value)
        elif name in signature.dimensions:
            sizes.append(f"{name}={value}")
        else:
            known = [*signature.dimensions, *scalars]
            there = f"`{kernel.name}` has {', '.join(known)}"
            raise UsageError(f"--shapes: there is no dimension or scalar `{name}`{suggestion(name, known)}; {there}")
    for name in scalars.keys() - values.keys():
        raise UsageError(f"--shapes: the scalar `{name}` needs a value: give {name}=1")
    yield from ((point, values) for point in (read_sizes(",".join(sizes)) if sizes else [{}]))


def _number(name: str, text: str) -> float:
    try:
        return {"True": True, "False": False}[text] if text in ("True", "False") else float(text)
    except ValueError:
        raise UsageError(f"--shapes: `{name}` is a scalar, and `{text}` is no number") from None


def to_fill_in(kernel: Kernel) -> str:
    """`M=...,N=...,scale=...`: what --shapes takes for a kernel."""
    signature = parse(kernel).signature
    computed = {equation.dimension for equation in signature.equations}
    scalars = [argument.name for argument in signature.arguments if isinstance(argument, ScalarParameter)]
    return ",".join(f"{name}=..." for name in (*signature.dimensions, *scalars) if name not in computed)
