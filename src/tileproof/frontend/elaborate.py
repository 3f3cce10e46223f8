"""The front end: from a kernel and a specialization to typed IR."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, KernelError
from tileproof.ir.ops import Block, KernelIR, Parameter
from tileproof.ir.types import Content, Length, TensorType, TileType, symbol
from tileproof.language import spaces
from tileproof.language.dtypes import BOOL, I64, DType, DTypeVar
from tileproof.language.kernel import Kernel

from . import combiners, functions  # these register the functions of the language
from .captures import find_expression
from .context import Builder, Context, Place
from .entities import Absent, Binding, Known
from .expressions import evaluate
from .signature import (
    Anything,
    ContentOf,
    Elaborated,
    Element,
    ScalarParameter,
    Signature,
    TensorParameter,
    parse,
    too_deep,
)
from .source import FunctionSource, Rejected, RuledOut, reject
from .specialization import ConstantValue, Specialization, for_specialization, generic
from .statements import run, run_helper

LOWERINGS = (functions, combiners)
"""The modules that implement the functions of the language."""


def elaborate(kernel: Kernel, specialization: Specialization) -> Elaborated:
    """The typed IR of a kernel for given element types and constants; raises `KernelError` with every mistake."""
    parsed = parse(kernel)
    signature, source = parsed.signature, parsed.source
    dtypes, constants = dict(specialization.dtypes), dict(specialization.constants)
    static = signature.static_lengths(constants)
    builder = Builder()
    parameters = tuple(_parameter(builder, parameter, dtypes) for parameter in signature.arguments)
    ctx = Context(builder, signature, dtypes, static, source, {}, evaluate, run_helper)
    for parameter in parameters:
        ctx.scope[parameter.name] = Binding(parameter.value, parameter.span)
    for absent in signature.absent:
        ctx.scope[absent.name] = Binding(Absent(None, absent.name, absent.span), absent.span)
    for constant in signature.constants:
        ctx.scope[constant.name] = Binding(Known(constants[constant.name]), constant.span)
    if not _has_parallel(source):
        ctx.place = Place.ALONE
    try:
        with builder.block() as ops:
            run(ctx, source.tree.body)
    except RecursionError:
        raise KernelError(too_deep(source).diagnostic) from None
    if ctx.diagnostics:
        raise KernelError(*ctx.diagnostics)
    ir = KernelIR(
        signature.name,
        parameters,
        constants,
        static,
        dtypes,
        Block(tuple(ops)),
        signature.span,
        _computed(signature, constants),
    )
    return Elaborated(ir, tuple(ctx.captures.values()))


def accepted(kernel: Kernel, constants: Mapping[str, ConstantValue]) -> Elaborated:
    """A kernel elaborated for the first generic specialization that it compiles for.

    If there is none, raises the mistakes of the one that got furthest: for a kernel of integers, no mistake says that
    its `&` does not work on bf16.
    """
    signature = parse(kernel).signature
    failed: list[tuple[Diagnostic, ...]] = []
    try:
        for specialization in generic(signature, constants):
            try:
                return elaborate(kernel, specialization)
            except RuledOut:
                raise
            except KernelError as error:
                mistakes = (for_specialization(mistake, signature, specialization) for mistake in error.diagnostics)
                failed.append(tuple(mistakes))
    except Rejected as rejected:
        raise KernelError(rejected.diagnostic) from None
    raise KernelError(*max(failed, key=lambda mistakes: _place(mistakes[0])))


def _place(mistake: Diagnostic) -> tuple[int, int]:
    return (mistake.span.line, mistake.span.column) if mistake.span else (0, 0)


def _computed(signature: Signature, constants: Mapping[str, ConstantValue]) -> dict[str, Length]:
    """The equations of the signature, over dimensions as unknowns."""
    known = set(signature.dimensions)
    fixed = {name: value for name, value in constants.items() if not isinstance(value, float) and name not in known}
    return {
        equation.dimension: equation.value({name: fixed.get(name, symbol(name)) for name in equation.names})
        for equation in signature.equations
    }


def _parameter(builder: Builder, parameter: TensorParameter | ScalarParameter, dtypes: dict[str, DType]) -> Parameter:
    element = _element(parameter.name, parameter.element, dtypes)
    if isinstance(parameter, TensorParameter):
        _check_combines(parameter, element)
        tensor = TensorType(parameter.access, element, parameter.dimensions, parameter.keeps)
        return Parameter(builder.value(tensor, parameter.name), parameter.span)
    if not isinstance(element, DType):
        cure = "take it as i32 or i64, and as a tensor where the launch is to test it"
        raise KernelError(reject(Code.BAD_ANNOTATION, "a scalar holds no index", parameter.span, help=cure).diagnostic)
    return Parameter(builder.value(TileType(element), parameter.name), parameter.span)


def _check_combines(parameter: TensorParameter, element: DType | Content) -> None:
    """What is combined takes arithmetic: not bools, and not the 8-bit floats, which are only stored."""
    if not parameter.access.combines or not isinstance(element, DType):
        return
    if element is BOOL or element.is_storage_only:
        message = f"`{parameter.name}` is a {parameter.access} of {element}, which cannot be combined"
        cure = "use integers to count truths" if element is BOOL else "combine in f32"
        raise KernelError(reject(Code.WRONG_TYPE, message, parameter.span, help=cure).diagnostic)


def _element(name: str, element: Element, dtypes: dict[str, DType]) -> DType | Content:
    match element:
        case DType():
            return element
        case DTypeVar(name=variable):
            return dtypes[variable]
        case Anything():
            return dtypes[name]
        case ContentOf(kind, dimension, ends_early, per):
            return Content(kind, dimension, dtypes.get(name, I64), ends_early, per)


def _has_parallel(source: FunctionSource) -> bool:
    """Whether the kernel has a parallel space anywhere, also in a wrong place."""
    return any(
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and find_expression(source.function, node.iter.func) is spaces.parallel
        for node in ast.walk(source.tree)
    )
