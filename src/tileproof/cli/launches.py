"""The launch that a kernel is compiled for: of `--shapes`, or of the function `arguments()` beside it."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tileproof.diagnostics import Code, Diagnostic, KernelError, Source, shown_path
from tileproof.frontend.parse import parse
from tileproof.frontend.signature import ContentOf, OpenDimension, ScalarParameter, Signature, TensorParameter
from tileproof.language.dtypes import ALL, DType, DTypeVar
from tileproof.language.kernel import Kernel
from tileproof.runtime.ahead import Launch, stand_in

from . import constants
from .load import last_line
from .usage import UsageError, suggestion

NAME: Final = "arguments"
"""The function of a file that gives a launch of its kernel."""
STORED: Final = {dtype.name: dtype.storage for dtype in ALL if dtype.storage is not None}
_SHAPE: Final = re.compile(r"(?P<shape>(?:\d{1,18}(?:x\d{1,18})*)?)(?::(?P<type>\w+))?")


def read_shapes(text: str) -> dict[str, str]:
    """`x=128x64:bf16,scale=0.5` by name."""
    found: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = (part.strip() for part in item.partition("="))
        if not (sign and name.isidentifier()):
            raise UsageError(f"--shapes: `{item}` is not a name and a shape, such as x=128x64:bf16")
        if name in found:
            raise UsageError(f"--shapes: `{name}` is given twice")
        found[name] = value
    return found


def numbered(found: Sequence[Launch]) -> list[Launch]:
    """The launches of one kernel, the second called `double.2` and so on."""
    first, rest = found[:1], enumerate(found[1:], start=2)
    return [*first, *(replace(each, name=f"{each.name}.{number}") for number, each in rest)]


def of_shapes(kernel: Kernel, shapes: Mapping[str, str], given: Mapping[str, int]) -> Launch:
    """A launch with arguments of these shapes. Of a tensor that is left out, the shape must follow from the others."""
    signature = parse(kernel).signature
    names = [parameter.name for parameter in signature.arguments]
    for name in shapes:
        if name not in names:
            there = f"`{kernel.name}` takes {', '.join(names)}"
            raise UsageError(f"--shapes: there is no argument `{name}`{suggestion(name, names)}; {there}")
    tensors = _tensors(signature, shapes, given)
    args = [
        tensors[each.name] if isinstance(each, TensorParameter) else _scalar(each, shapes.get(each.name))
        for each in signature.arguments
    ]
    return Launch(kernel.name, kernel, args, constants.for_kernel(kernel, given))


def of_file(kernel: Kernel, given: Mapping[str, int], *, is_alone: bool) -> list[Launch]:
    """The launches that `arguments()` of the kernel's file gives for this kernel.

    It returns a list of arguments and a dict of constants, a list of such pairs, or a dict of either by the names of
    kernels.
    """
    function = kernel.function.__globals__.get(NAME)
    if not callable(function):
        return []
    made = _called(kernel, function)
    if isinstance(made, dict):
        made = made.get(kernel.name, [])
    elif not is_alone:
        return []
    pairs = made if isinstance(made, list) else [made]
    found = []
    for pair in pairs:
        match pair:
            case (list() | tuple() as args, dict() as named):
                found.append(Launch(kernel.name, kernel, args, {**named, **constants.for_kernel(kernel, given)}))
            case _:
                raise KernelError(_not_arguments(kernel, pair))
    return found


def _not_arguments(kernel: Kernel, given: object) -> Diagnostic:
    return Diagnostic(
        Code.IMPORT_FAILED,
        f"`{NAME}()` of `{shown_path(kernel.filename)}` gives {type(given).__name__}, not arguments",
        help="return a list of arguments and a dict of constants: `return [y, x], {}`; for several kernels a dict of "
        f"such pairs: `return {{{kernel.name!r}: ([y, x], {{}})}}`",
        kernel=kernel.name,
    )


def _called(kernel: Kernel, function: Callable[[], Any]) -> Any:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return function()
    except (Exception, SystemExit) as error:
        said = str(error).strip().splitlines()
        raised = type(error).__name__ + (f": {said[0]}" if said else "")
        raise KernelError(
            Diagnostic(
                Code.IMPORT_FAILED,
                f"`{NAME}()` of `{shown_path(kernel.filename)}` raises {raised}",
                last_line(error.__traceback__, Source(kernel.filename, kernel.source_lines)),
                label="raised here",
                help=f"`{NAME}()` gives the arguments of a launch to compile for; --shapes does without it",
                kernel=kernel.name,
            )
        ) from None


def unknown(kernel: Kernel) -> str:
    """What to do where no launch is known, with a `--shapes` to fill in."""
    shown = ",".join(
        f"{each.name}={'x'.join(map(str, each.dimensions))}" + ("" if _fixed(each) else ":f32")
        if isinstance(each, TensorParameter)
        else f"{each.name}=1"
        for each in parse(kernel).signature.arguments
    )
    command = f'--kernel {kernel.name} --shapes "{shown}"'
    return f"give {command} with numbers for names, or let {NAME}() in the file return one"


# Arguments of given shapes.


def _tensors(signature: Signature, shapes: Mapping[str, str], given: Mapping[str, int]) -> dict[str, Any]:
    said = {each.name: _said(each, shapes[each.name]) for each in signature.tensors if each.name in shapes}
    extents = signature.extents({name: shape for name, (shape, _) in said.items()}, given)
    types: dict[str, str] = {}
    for each in signature.tensors:
        named = said.get(each.name, ((), None))[1]
        if named is not None and isinstance(each.element, DTypeVar):
            types.setdefault(each.element.name, named)
    found = {}
    for each in signature.tensors:
        shape, named = said.get(each.name) or (_following(each, extents), None)
        dtype = STORED[named or _fixed(each) or _shared(each, types)]
        array = found[each.name] = stand_in(shape, dtype)
        if isinstance(each.element, ContentOf):
            _fill(array, each.element, extents.get(each.element.dimension, 0))
    return found


def _said(tensor: TensorParameter, text: str) -> tuple[tuple[int, ...], str | None]:
    """Shape and element type as they are written."""
    read = _SHAPE.fullmatch(text)
    if read is None:
        raise UsageError(f"--shapes: `{tensor.name}={text}` is not a shape, such as {tensor.name}=128x64:bf16")
    named = read["type"]
    if named is not None and named not in STORED:
        close = suggestion(named, STORED)
        raise UsageError(f"--shapes: `{named}` is not an element type{close}; there are {', '.join(STORED)}")
    return tuple(map(int, filter(None, read["shape"].split("x")))), named


def _following(tensor: TensorParameter, extents: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a tensor that was left out."""
    try:
        return tensor.shape({name: extent for name, extent in extents.items() if extent >= 0})
    except OpenDimension:
        shown = "x".join(map(str, tensor.dimensions))
        raise UsageError(f"--shapes: the shape of `{tensor.name}` is not known: give {tensor.name}={shown}") from None


def _fixed(tensor: TensorParameter) -> str | None:
    """The element type that the signature says, if it does."""
    match tensor.element:
        case DType(name=name):
            return name
        case ContentOf():
            return "i32"
        case _:
            return None


def _shared(tensor: TensorParameter, types: Mapping[str, str]) -> str:
    name = getattr(tensor.element, "name", "")
    if name not in types:
        raise UsageError(f"--shapes: the element type of `{tensor.name}` is open: write it, as {tensor.name}=8x8:f32")
    return types[name]


def _fill(array: Any, element: ContentOf, extent: int) -> None:
    """Entries that an index tensor may hold; which they are is no part of the code."""
    match element.kind:
        case "Offsets":
            array[...] = np.linspace(0, extent, array.size).astype(array.dtype).reshape(array.shape)
        case "Unique":
            numbers = np.arange(array.size).reshape(array.shape)
            array[...] = np.where(numbers < extent, numbers, -1)
        case _:
            pass  # zeros are positions, unless there is none


def _scalar(parameter: ScalarParameter, text: str | None) -> bool | int | float:
    if text is None:
        raise UsageError(f"--shapes: the scalar `{parameter.name}` needs a value: give {parameter.name}=1")
    if text in ("True", "False"):
        return text == "True"
    for number in (lambda: int(text, 0), lambda: float(text)):
        with contextlib.suppress(ValueError):
            return number()
    raise UsageError(f"--shapes: `{parameter.name}` is a scalar, and `{text}` is no number")
