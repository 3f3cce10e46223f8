"""What a kernel is compiled for: element types and constants.

At launch they come from the arguments. `tileproof check` has none, so it tries the element types by class and
keeps dimensions bound as constants symbolic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Edit
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.values import formatted
from tileproof.ir.types import Extent, symbol
from tileproof.language.dtypes import BF16, F32, I32, I64, DType, DTypeVar

from .dimensions import solve
from .signature import Anything, ContentOf, Signature, cure_for, takes
from .source import reject

ConstantValue: TypeAlias = bool | int | float | Extent
_BY_CLASS = (BF16, F32, I32)
"""Element types tried for `T`, most restrictive first: bf16 reveals a missing cast to f32."""


@dataclass(frozen=True, slots=True)
class Specialization:
    """Element types and constants, as hashable pairs."""

    dtypes: tuple[tuple[str, DType], ...]
    """Of `T` and `U`; of a parameter annotated `Any` or as an index tensor, under the parameter's name."""
    constants: tuple[tuple[str, ConstantValue], ...]


def variables(signature: Signature) -> tuple[str, ...]:
    """The names under which a signature leaves element types open."""
    names: dict[str, None] = {}
    for parameter in signature.arguments:
        match parameter.element:
            case DTypeVar(name):
                names[name] = None
            case Anything():
                names[parameter.name] = None
            case _:
                pass
    return tuple(names)


def generic(signature: Signature, values: Mapping[str, ConstantValue]) -> Iterator[Specialization]:
    """Specializations that stand for all launches, one for each choice of element types."""
    constants = tuple(_tied(signature, dict(_generic_constants(signature, values)), values).items())
    contents = tuple((p.name, I64) for p in signature.arguments if isinstance(p.element, ContentOf))
    names = variables(signature)
    # First all variables alike, then mixed.
    choices = sorted(product(_BY_CLASS, repeat=len(names)), key=lambda choice: len(set(choice)))
    for choice in choices:
        yield Specialization((*zip(names, choice, strict=True), *contents), constants)


def for_specialization(mistake: Diagnostic, signature: Signature, specialization: Specialization) -> Diagnostic:
    """A mistake with a note on the element types it was found for; its edits cast to `T` where the signature does."""
    words = re.findall(r"\w+", " ".join((mistake.message, mistake.label, *(label.text for label in mistake.labels))))
    open_types = [(name, dtype) for name, dtype in specialization.dtypes if name in variables(signature)]
    chosen = ", ".join(f"{name} = {dtype}" for name, dtype in open_types if dtype.name in words)
    if not chosen:
        return mistake
    help, edit = mistake.help, mistake.edit
    written = {parameter.element for parameter in signature.arguments}
    for name, dtype in open_types:
        if DTypeVar(name) in written and dtype not in written:
            cast, better = rf"\.to\((\w+\.)?{dtype}\)", f".to({name})"
            help = re.sub(cast, better, help)
            edit = edit and Edit(edit.span, re.sub(cast, better, edit.replacement))
    return replace(mistake, notes=(*mistake.notes, f"checked with {chosen}"), help=help, edit=edit)


def _generic_constants(
    signature: Signature, values: Mapping[str, ConstantValue]
) -> Iterator[tuple[str, ConstantValue]]:
    for name in values:
        if all(constant.name != name for constant in signature.constants):
            known = ", ".join(constant.name for constant in signature.constants) or "none"
            message = f"`{signature.name}` has no constant `{name}`"
            raise reject(Code.CONSTANT_VALUE, message, signature.span, help=f"its constants are: {known}")
    for constant in signature.constants:
        if constant.name in values:
            value = values[constant.name]
            kind = constant.type
            if not takes(kind, value) and not (isinstance(value, Extent) and kind is not bool):
                message = f"the constant `{constant.name}` is of type {kind.__name__}, and {formatted(value)} is given"
                raise reject(Code.CONSTANT_VALUE, message, constant.span, help=cure_for(kind, value))
            if constant.name in signature.static and isinstance(value, int) and value < 0:
                message = f"the dimension {constant.name} cannot be {formatted(value)}"
                raise reject(Code.CONSTANT_VALUE, message, constant.span, help="give an extent of at least 0")
            yield constant.name, value
        elif constant.name in signature.static:
            yield constant.name, symbol(constant.name)
        elif constant.default is not None:
            yield constant.name, constant.type(constant.default)
        else:
            near = signature.nearest_dimension(constant.name)
            raise reject(
                Code.UNBOUND_CONSTANT,
                f"the constant `{constant.name}` has no value and is no dimension",
                constant.span,
                notes=(f"the dimensions are: {', '.join(signature.dimensions) or 'none'}",),
                help=f"give it a default, or a value: `--with {constant.name}=64`"
                + (f"; if the dimension `{near}` is meant, name it so" if near else ""),
            )


def _tied(
    signature: Signature, constants: dict[str, ConstantValue], values: Mapping[str, ConstantValue]
) -> dict[str, ConstantValue]:
    """Constants that the signature computes from each other, as one: with `"D=2*E"`, D is 2 * E and E is D / 2."""
    lengths = {name: value for name, value in constants.items() if not isinstance(value, float)}
    equations = [e for e in signature.equations if e.dimension in lengths and all(n in lengths for n in e.names)]
    for _ in equations:
        for equation in equations:
            whole = lengths[equation.dimension]
            numbers = {name: length for name, length in lengths.items() if isinstance(length, int)}
            solved = solve(equation, whole, numbers) if isinstance(whole, int) else None
            if solved is not None:
                lengths[solved[0]] = solved[1]
            elif equation.dimension not in values:
                lengths[equation.dimension] = equation.value(lengths)
    for equation in equations:
        name, computed = equation.dimension, equation.value(lengths)
        if lengths[name] != computed:
            value = f"{equation.text}, which is {computed}," if isinstance(computed, int) else f"{equation.text},"
            message = f"`{name}` is {value} and {lengths[name]} is given"
            cure = f"leave `{name}` out, and give {', '.join(f'`{part}`' for part in equation.names)}"
            raise reject(Code.CONSTANT_VALUE, message, signature.span, help=cure)
    return constants | lengths
