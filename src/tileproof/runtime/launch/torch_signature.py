"""What is declared of an operator to torch: of a function by its annotations, of a kernel by its signature.

What a kernel reads are parameters; what it writes is made and returned, but for an `InOut`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tileproof.diagnostics.codes import Code
from tileproof.frontend.signature import ContentOf, OpenDimension, ScalarParameter, Signature, TensorParameter, parse
from tileproof.ir.types import Access, Fixed, Named
from tileproof.language.dtypes import BOOL, DType, DTypeVar
from tileproof.language.kernel import Kernel
from tileproof.runtime.interop.describe import to_torch

from .binding import fail, wrong_rank


@dataclass(frozen=True, slots=True)
class Form:
    """What is declared of an operator to torch, and what it does."""

    signature: inspect.Signature
    """Its parameters and results, with the annotations that torch reads a schema from."""
    run: Callable[..., Any]
    mutates: tuple[str, ...] = ()
    results: tuple[str, ...] = ("result",)

    @property
    def tensors(self) -> tuple[str, ...]:
        """The parameters that hold tensors."""
        parameters = self.signature.parameters.values()
        return tuple(parameter.name for parameter in parameters if _holds_tensors(parameter.annotation))

    def named(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name."""
        return {**dict(zip(self.signature.parameters, args, strict=False)), **named}


# Functions.


def of_function(torch: Any, function: Callable[..., Any], mutates: Iterable[str]) -> Form:
    """The declaration of a function."""
    if isinstance(function, Kernel) or not callable(function):
        cure = "pass a kernel as kernel=" if isinstance(function, Kernel) else "decorate a function"
        raise TypeError(f"@tp.torch_op decorates a function that launches kernels, not {function!r}: {cure}")
    written = (mutates,) if isinstance(mutates, str) else tuple(mutates)
    signature = inspect.signature(function, eval_str=True)
    parameters = [item.replace(annotation=_annotation_of(torch, item)) for item in signature.parameters.values()]
    unknown = [name for name in written if name not in signature.parameters]
    if unknown:
        raise TypeError(f"mutates= names {', '.join(unknown)}, which {function.__name__} has no parameter for")
    annotation = signature.return_annotation
    returned = torch.Tensor if annotation is inspect.Signature.empty else annotation
    return Form(signature.replace(parameters=parameters, return_annotation=returned), function, written)


def _annotation_of(torch: Any, parameter: inspect.Parameter) -> Any:
    if parameter.annotation is not inspect.Parameter.empty:
        return parameter.annotation
    default = parameter.default
    return (
        torch.Tensor
        if default is inspect.Parameter.empty
        else torch.Tensor | None
        if default is None
        else type(default)
    )


def _holds_tensors(annotation: Any) -> bool:
    """Whether an annotation is a tensor, or is made of tensors."""
    if isinstance(annotation, type) and annotation.__name__ == "Tensor":
        return True
    return any(_holds_tensors(part) for part in typing.get_args(annotation))


# Kernels.


def of_kernel(torch: Any, kernel: Kernel) -> Form:
    """The declaration of a kernel; `TypeError` where its signature does not say what the results are like."""
    signature = parse(kernel).signature
    outputs = tuple(tensor for tensor in signature.tensors if not tensor.is_read)
    inputs = [each for each in signature.arguments if each not in outputs]
    following = _follow_from(signature, inputs, set())
    constants = [constant for constant in signature.constants if constant.name not in following]
    _check(signature, outputs, inputs, {constant.name for constant in constants})
    plain, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(arg.name, plain, annotation=_annotation(torch, arg)) for arg in inputs]
    for constant in constants:
        default = inspect.Parameter.empty if constant.default is None else constant.default
        parameters.append(inspect.Parameter(constant.name, keyword, annotation=constant.type, default=default))
    tensors = (torch.Tensor,) * len(outputs)
    returned = None if not outputs else torch.Tensor if len(outputs) == 1 else tuple[tensors]  # type: ignore[valid-type]
    names = tuple(parameter.name for parameter in parameters)
    mutates = tuple(each.name for each in inputs if isinstance(each, TensorParameter) and each.access is not Access.IN)
    run = _running(torch, kernel, signature, outputs, names)
    run.__doc__ = kernel.__doc__
    return Form(inspect.Signature(parameters, return_annotation=returned), run, mutates, tuple(t.name for t in outputs))


def _running(
    torch: Any, kernel: Kernel, signature: Signature, outputs: tuple[TensorParameter, ...], names: tuple[str, ...]
) -> Callable[..., Any]:
    def run(*args: Any, **constants: Any) -> Any:
        values = dict(zip(names, args, strict=False)) | constants
        first = next(values[each.name] for each in signature.tensors if values.get(each.name) is not None)
        extents = _extents(torch, signature, values)
        for tensor in outputs:
            try:
                shape = tensor.shape(extents)
            except OpenDimension as open:
                message = f"the extent of {open} in `{tensor.name}` does not follow from the arguments"
                cure = "pass arrays whose shapes satisfy the equations of the signature"
                fail(signature, Code.DIMENSION_DIFFERS, message, tensor, help=cure)
            values[tensor.name] = first.new_empty(shape, dtype=_dtype(torch, signature, tensor, values))
        ordered = [values.pop(parameter.name) for parameter in signature.arguments]
        results = tuple(ordered[number] for number, argument in enumerate(signature.arguments) if argument in outputs)
        kernel(*ordered, **values)
        return None if not results else results[0] if len(results) == 1 else results

    return run


def _extents(torch: Any, signature: Signature, values: Mapping[str, Any]) -> dict[str, Any]:
    """The extents that arguments have; under a trace they may be symbols, and are only computed with."""
    present = (each.name for each in signature.tensors if values.get(each.name) is not None)
    shapes = {name: tuple(values[name].shape) for name in present}
    for tensor in signature.tensors:
        shape = shapes.get(tensor.name)
        if shape is not None and len(shape) != len(tensor.dimensions):
            wrong_rank(signature, tensor, shape)
    defaults = {constant.name: constant.default for constant in signature.constants}
    numbers = {name: value for name, value in (defaults | dict(values)).items() if type(value) in (int, torch.SymInt)}
    return numbers | signature.extents(shapes, numbers)


def _dtype(torch: Any, signature: Signature, tensor: TensorParameter, values: Mapping[str, Any]) -> Any:
    match tensor.element:
        case DType(name=name):
            return to_torch(torch, name)
        case DTypeVar() as variable:
            return next(values[each.name].dtype for each in signature.tensors
                        if each.element == variable and values.get(each.name) is not None)  # fmt: skip
        case _:
            return torch.int64


def _annotation(torch: Any, parameter: TensorParameter | ScalarParameter) -> Any:
    if isinstance(parameter, TensorParameter):
        return torch.Tensor | None if parameter.is_optional else torch.Tensor
    element = parameter.element
    if isinstance(element, DTypeVar):
        return int | float | bool
    return bool if element is BOOL else int if element.is_integer else float


# What a signature must say.


def _follow_from(
    signature: Signature, inputs: list[TensorParameter | ScalarParameter], constants: set[str]
) -> set[str]:
    """The dimensions whose extents follow from the arguments and some constants."""
    tensors = [argument for argument in inputs if isinstance(argument, TensorParameter)]
    known = constants | {size.name for tensor in tensors for size in tensor.dimensions if isinstance(size, Named)}
    numbers = {constant.name for constant in signature.constants if constant.default is not None}
    for _ in signature.equations:
        for equation in signature.equations:
            missing = [name for name in equation.names if name not in known | numbers]
            if not missing:
                known.add(equation.dimension)
            elif equation.dimension in known and len(missing) == 1:
                known.add(missing[0])
    return known


def _check(
    signature: Signature, outputs: tuple[TensorParameter, ...], parameters: list[TensorParameter | ScalarParameter],
    constants: set[str],
) -> None:  # fmt: skip
    inputs = [parameter for parameter in parameters if isinstance(parameter, TensorParameter)]
    if not inputs:
        _reject(signature, "has no input tensor, which would say where its results lie")
    known = _follow_from(signature, parameters, constants)
    for tensor in outputs:
        for axis, dimension in enumerate(tensor.dimensions):
            if not isinstance(dimension, Fixed) and not (isinstance(dimension, Named) and dimension.name in known):
                _reject(signature, f"has a result `{tensor.name}`, whose axis {axis} does not follow from its inputs")
        is_open = isinstance(tensor.element, DTypeVar) and all(source.element != tensor.element for source in inputs)
        if is_open or not isinstance(tensor.element, DType | DTypeVar | ContentOf):
            _reject(signature, f"has a result `{tensor.name}`, whose element type does not follow from its inputs")


def _reject(signature: Signature, why: str) -> NoReturn:
    raise TypeError(f"{signature.name} {why}: write a function that makes the results, and decorate it "
                    "with @tp.torch_op")  # fmt: skip
