"""Calls: functions of the language, methods of tiles, Python's few builtins, and helpers, which are inlined."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import FunctionType
from typing import Any

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit, Frame
from tileproof.diagnostics.spans import Span
from tileproof.language import tiles
from tileproof.language.kernel import Kernel

from .captures import check_capture, is_language
from .context import Context
from .entities import Binding, Bundle, Entity, Known, Lambda, Method, describe
from .hints import BUILTIN_HINTS, FUNCTION_HINTS
from .source import FunctionSource, Rejected, Suppressed, check_syntax, is_text_of, read_function, reject


@dataclass(frozen=True, slots=True)
class Call:
    """A call, its arguments evaluated and matched to the parameters of what is called."""

    name: str
    span: Span
    arguments: Mapping[str, tuple[Entity, Span]]

    def __contains__(self, parameter: str) -> bool:
        return parameter in self.arguments

    def entity(self, parameter: str) -> Entity:
        return self.arguments[parameter][0]

    def where(self, parameter: str) -> Span:
        return self.arguments[parameter][1]

    def constant(self, parameter: str, default: Any) -> Any:
        """The value of a parameter that must be a constant."""
        if parameter not in self.arguments:
            return default
        entity = self.entity(parameter)
        if not isinstance(entity, Known):
            message = f"`{parameter}` of {self.name} is a constant, and this is {describe(entity)}"
            cure = "give it as a number, or as a keyword-only parameter of the kernel"
            raise reject(Code.NOT_CONSTANT, message, self.where(parameter), help=cure)
        return entity.value


Handler = Callable[[Context, Call], Entity]
FUNCTIONS: dict[Any, Handler] = {}
METHODS: dict[str, Handler] = {}
"""The object of a method is its parameter `x`."""


def lowers(*functions: Any) -> Callable[[Handler], Handler]:
    """Registers a handler as the implementation of functions of the language."""

    def register(handler: Handler) -> Handler:
        for function in functions:
            FUNCTIONS[function] = handler
        return handler

    return register


def lowers_method(name: str) -> Callable[[Handler], Handler]:
    """Registers a handler as the implementation of a method of tiles, walkers or tensors."""

    def register(handler: Handler) -> Handler:
        METHODS[name] = handler
        return handler

    return register


@dataclass(frozen=True, slots=True)
class Arguments:
    """Evaluated arguments, not matched to parameters yet."""

    positional: list[tuple[Entity, Span]]
    named: list[tuple[str, Entity, Span]]


def call(ctx: Context, node: ast.Call) -> Entity:
    """A call expression."""
    callee, span = ctx.evaluate(node.func), ctx.span(node)
    positional = [(ctx.evaluate(argument), ctx.span(argument)) for argument in node.args]
    named = []
    for keyword in node.keywords:
        if keyword.arg is None:
            message = "`**` arguments are not part of the language"
            raise reject(Code.STARRED, message, ctx.span(keyword.value), help="name each of them")
        named.append((keyword.arg, ctx.evaluate(keyword.value), ctx.span(keyword)))
    if isinstance(callee, Method):
        owner = ctx.span(node.func.value) if isinstance(node.func, ast.Attribute) else span
        return _call_method(ctx, callee, owner, Arguments(positional, named), span)
    return invoke(ctx, callee, Arguments(positional, named), span, ctx.span(node.func))


def invoke(ctx: Context, callee: Entity, arguments: Arguments, span: Span, callee_span: Span) -> Entity:
    """Calls a function of the language, a helper or a lambda with evaluated arguments."""
    if isinstance(callee, Lambda):
        return _run_lambda(ctx, callee, arguments)
    function = callee.value if isinstance(callee, Known) else None
    if function is None or not callable(function):
        cure = "kernels call functions of the language and helpers written in it"
        raise reject(Code.NOT_CALLABLE, f"{describe(callee)} cannot be called", callee_span, help=cure)
    handler = _handler(function)
    if handler is not None:
        name = f"tp.{function.__qualname__}" if not inspect.isbuiltin(function) else function.__name__
        return handler(ctx, _matched(arguments, name, _parameters(function), span))
    module = getattr(function, "__module__", "") or ""
    if isinstance(function, FunctionType) and not module.startswith("tileproof.language") and not _is_of_host(function):
        return _inline(ctx, function, arguments, span)
    raise _not_callable(function, callee_span)


def _run_lambda(ctx: Context, function: Lambda, arguments: Arguments) -> Entity:
    written = function.node.args
    if written.posonlyargs or written.kwonlyargs or written.vararg or written.kwarg or written.defaults:
        message = "the lambda of a combiner takes two plain parameters"
        raise reject(Code.BAD_CALL, message, ctx.span(function.node), help="write `by=lambda a, b: ...`")
    names = [argument.arg for argument in written.args]
    if len(names) != len(arguments.positional) or arguments.named:
        message = f"this lambda has {len(names)} parameters, and gets {len(arguments.positional)} values"
        raise reject(Code.BAD_CALL, message, ctx.span(function.node), help="give it one parameter for each value")
    inner = replace(ctx, scope=dict(function.scope), frozen=frozenset(), depth=ctx.depth + 1)
    for name, (entity, where) in zip(names, arguments.positional, strict=True):
        inner.scope[name] = Binding(entity, where)
    return inner.evaluate(function.node.body)


def _handler(function: Any) -> Handler | None:
    try:
        return FUNCTIONS.get(function)
    except TypeError:
        return None


def _is_of_host(function: FunctionType) -> bool:
    """Whether a function is one that tileproof has for the host, such as `tp.ones`: no helper to be compiled."""
    return getattr(sys.modules.get("tileproof"), function.__name__, None) is function


def _not_callable(function: Any, span: Span) -> Rejected:
    name = getattr(function, "__name__", str(function))
    module = getattr(function, "__module__", "") or ""
    cure, edit = "kernels call functions of the language and helpers written in it", None
    if isinstance(function, Kernel):
        cure = "a kernel cannot launch another: move the shared code into a plain function"
    elif module == "tileproof.language.spaces":
        cure = f"`tp.{name}` stands in a `for` statement: `for i in tp.{name}(...):`"
    elif function is range:
        cure = "`range` stands in a `for` statement: `for n in range(...):`"
    elif name in tiles.__all__:
        cure, edit = f"use `tp.{name}`", Edit(span, f"tp.{name}")
    elif module == "builtins" and name in BUILTIN_HINTS:
        cure = BUILTIN_HINTS[name]
    elif isinstance(function, FunctionType) and _is_of_host(function):
        cure = FUNCTION_HINTS.get(name, "it is a function of the host: call it before the launch, and pass the result")
    elif module != "builtins" and name in FUNCTION_HINTS:
        cure = FUNCTION_HINTS[name]
    return reject(Code.NOT_CALLABLE, f"`{span.text}` cannot be called in a kernel", span, help=cure, edit=edit)


def _parameters(function: Any) -> tuple[inspect.Parameter, ...]:
    """The parameters of a function. Those of a helper are not cached: its defaults may have been replaced."""
    if isinstance(function, FunctionType) and not is_language(function):
        return tuple(inspect.signature(function, follow_wrapped=False).parameters.values())
    return _known_parameters(function)


@lru_cache(maxsize=512)
def _known_parameters(function: Any) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(_SIGNATURES.get(function, function), follow_wrapped=False).parameters.values())


def _matched(
    arguments: Arguments, name: str, parameters: tuple[inspect.Parameter, ...], span: Span, skipped: int = 0
) -> Call:
    """The arguments of a call by parameter. The first `skipped` are not the user's: the tile of a method."""
    matched: dict[str, tuple[Entity, Span]] = {}
    slots = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    others = next((p for p in parameters if p.kind is p.VAR_KEYWORD), None)
    taken = ", ".join(f"`{p.name}`" for p in parameters[skipped:])
    cure = f"it takes {taken}" if taken else "it takes nothing"
    positional = arguments.positional
    if len(positional) > len(slots) and rest is None:
        takes, have = len(slots) - skipped, len(positional) - skipped
        raise reject(Code.BAD_CALL, f"{name} takes {takes} arguments, and {have} are given", span, help=cure)
    for parameter, argument in zip(slots, positional, strict=False):
        matched[parameter.name] = argument
    if rest is not None:
        extra = positional[len(slots) :]
        matched[rest.name] = (Bundle(tuple(entity for entity, _ in extra)), extra[0][1] if extra else span)
    known = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    named: list[tuple[str, tuple[Entity, Span]]] = []
    for word, entity, where in arguments.named:
        if word in matched:
            raise reject(Code.BAD_CALL, f"{name} gets `{word}` twice", where, help=cure)
        if word in known:
            matched[word] = (entity, where)
        elif others is not None:
            named.append((word, (entity, where)))
        else:
            raise _no_parameter(name, word, where, known, cure)
    for parameter in parameters:
        needed = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if needed and parameter.default is parameter.empty and parameter.name not in matched:
            raise reject(Code.BAD_CALL, f"{name} is missing its argument `{parameter.name}`", span, help=cure)
    for key, value in named:
        matched[f"**{key}"] = value
    return Call(name, span, matched)


_PARAMETER_WORDS = {"dim": "axis", "keepdim": "keepdims", "key": "by"}
"""Parameters of other libraries, and what they are called here."""


def _no_parameter(name: str, word: str, where: Span, known: set[str], cure: str) -> Rejected:
    meant = _PARAMETER_WORDS.get(word)
    edit = None
    if meant in known:
        written = where.text.replace(word, meant, 1)
        cure, edit = f"write `{written}`", Edit(where, written)
    return reject(Code.BAD_CALL, f"{name} has no parameter `{word}`", where, help=cure, edit=edit)


def _call_method(ctx: Context, method: Method, owner: Span, arguments: Arguments, span: Span) -> Entity:
    parameters = _METHOD_PARAMETERS.get(method.name, _REDUCTION_PARAMETERS)
    with_owner = Arguments([(method.owner, owner), *arguments.positional], arguments.named)
    return METHODS[method.name](ctx, _matched(with_owner, f"`.{method.name}`", parameters, span, 1))


_SIGNATURES: dict[Any, Callable[..., None]] = {
    builtins.min: lambda a, b, /: None,
    builtins.max: lambda a, b, /: None,
    builtins.abs: lambda x, /: None,
}
"""The signatures of builtins, which `inspect` does not have or which are wider in Python."""
_REDUCTION_PARAMETERS = _known_parameters(lambda x, axis=None, keepdims=False: None)
_METHOD_PARAMETERS = {
    "to": _known_parameters(lambda x, dtype: None),
    "reshape": _known_parameters(lambda x, *shape: None),
    "permute": _known_parameters(lambda x, *axes: None),
    "cumsum": _known_parameters(lambda x, axis=None: None),
    "fill": _known_parameters(lambda x, value: None),
    "shift": _known_parameters(lambda x, by: None),
    "get": _known_parameters(lambda x, index, fill: None),
}
WALKER_METHODS = frozenset({"shift"})
TENSOR_METHODS = frozenset({"get"})


def _read_helper(ctx: Context, function: FunctionType, span: Span) -> FunctionSource:
    """The source of a helper: from the caller's file as it was when the caller was read, if both are in one file."""
    here, filename = ctx.function.source, function.__code__.co_filename
    try:
        source = read_function(function, here.lines if filename == here.name and not filename.startswith("<") else None)
    except Rejected as rejected:
        raise Rejected(replace(rejected.diagnostic, span=rejected.diagnostic.span or span)) from None
    if not is_text_of(source):
        raise reject(
            Code.NO_SOURCE,
            f"the text of `{function.__name__}` is not that of the function that was imported",
            span,
            notes=("its file has changed since, and a kernel is compiled from text",),
            help="start Python anew, or reload the module of the helper and that of the kernel",
        )
    return source


def _inline(ctx: Context, function: FunctionType, arguments: Arguments, span: Span) -> Entity:
    """The body of a helper in place of its call."""
    for entity in (*(entity for entity, _ in arguments.positional), *(entity for _, entity, _ in arguments.named)):
        if isinstance(entity, Lambda):
            raise reject(
                Code.NESTED_FUNCTION,
                f"a lambda cannot be handed to `{function.__name__}`",
                span,
                notes=("a lambda is written where it is used: as `by=` of tp.reduce, tp.scan or tp.join",),
                help="write a helper function at the top of the file and pass its name",
            )
    if function in ctx.calling:
        raise reject(
            Code.RECURSION,
            f"`{function.__name__}` calls itself",
            span,
            notes=("helpers are inlined where they are called, so a call cannot lead back to itself",),
            help="write a loop",
        )
    ctx.builder.spend(span)
    source = ctx.sources.get(function)
    if source is None:
        source = ctx.sources[function] = _read_helper(ctx, function, span)
    frame = Frame(ctx.function.name, span)
    inner = replace(
        ctx,
        function=source,
        scope={},
        stack=(*ctx.stack, frame),
        calling=(*ctx.calling, function),
        depth=ctx.depth + 1,
        frozen=frozenset(),
        unsafe=None,
    )
    mistakes = check_syntax(source)
    if mistakes:
        for mistake in mistakes:
            inner.report(Rejected(mistake))
        raise Suppressed
    matched = _matched(arguments, f"`{function.__name__}`", _parameters(function), span)
    for parameter in _parameters(function):
        if parameter.name in matched:
            entity, where = matched.arguments[parameter.name]
        elif parameter.default is not parameter.empty:
            check_capture(parameter.default, parameter.name, source, span)
            entity, where = inner.constant(parameter.default, span), span
        else:
            message = f"`{function.__name__}` takes `*{parameter.name}`, which kernels do not have"
            raise reject(Code.STARRED, message, span, help="give the helper one parameter for each argument")
        inner.scope[parameter.name] = Binding(entity, where)
    return inner.run_helper()
