"""`for` statements: the parallel space, walks along a dimension, and `range`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any
from typing import cast as typed

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.extent import Extent, Length, at_least
from tileproof.ir.ops import Parallel, RangeLoop, TilesLoop
from tileproof.ir.types import INDEX_SCALAR, Tile, TileType, Value, Walker, WalkerType
from tileproof.language import spaces
from tileproof.language.dtypes import INDEX
from tileproof.language.spaces import Each

from .builder import finish
from .context import Context, Place
from .control import assigned_names, carry
from .operations import as_tile, to_index
from .refusal import refuse
from .values import Binding, Bundle, Entity, Known, Unbound, describe

Body = Callable[[Context, list[ast.stmt]], None]


def for_statement(ctx: Context, node: ast.For, body: Body) -> None:
    """Any `for` of the language."""
    callee: Any = None
    if isinstance(node.iter, ast.Call):
        entity = ctx.evaluate(node.iter.func)
        callee = entity.value if isinstance(entity, Known) else None
    if callee is spaces.parallel:
        parallel(ctx, node, node.iter, body)  # type: ignore[arg-type]
    elif callee is spaces.tiles:
        tiles(ctx, node, node.iter, body)  # type: ignore[arg-type]
    elif callee is range:
        range_loop(ctx, node, node.iter, body)  # type: ignore[arg-type]
    else:
        raise refuse(
            Code.NOT_ITERABLE,
            f"a loop runs over tp.parallel, tp.tiles or range, not over `{ast.unparse(node.iter)}`",
            ctx.span(node.iter),
            help="walk a dimension with `for k in tp.tiles(K=64):`, or count with `for n in range(4):`",
        )


def _walks(
    ctx: Context, call: ast.Call, name: str, reserved: tuple[str, ...] = ()
) -> tuple[list[tuple[str, Length | None, Span]], dict[str, ast.expr]]:
    """The dimensions and sizes of a space, in order, and its other keywords."""
    walks: list[tuple[str, Length | None, Span]] = []
    others: dict[str, ast.expr] = {}
    for argument in call.args:
        walks.append(_pair(ctx, argument, name))
    for keyword in call.keywords:
        if keyword.arg is None:
            message = f"`**` is not part of the language in tp.{name}"
            raise refuse(Code.STARRED, message, ctx.span(keyword.value), help="name each dimension")
        if keyword.arg in reserved:
            others[keyword.arg] = keyword.value
        else:
            walks.append((keyword.arg, _size(ctx, keyword.value), ctx.span(keyword)))
    for dimension, _, span in walks:
        if dimension not in ctx.signature.dimensions:
            near = ctx.signature.nearest_dimension(dimension)
            raise refuse(
                Code.UNKNOWN_DIMENSION,
                f"`{dimension}` is not a dimension of this kernel",
                span,
                help=f"did you mean `{near}`?"
                if near
                else f"its dimensions are: {', '.join(ctx.signature.dimensions)}",
            )
    return walks, others


def _pair(ctx: Context, node: ast.expr, name: str) -> tuple[str, Length | None, Span]:
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str(dimension)), size]):
            return dimension, _size(ctx, size), ctx.span(node)
        case _:
            raise refuse(
                Code.BAD_CALL,
                f"tp.{name} takes dimensions by name or as pairs, not `{ast.unparse(node)}`",
                ctx.span(node),
                help=f'write `tp.{name}(M=64)` or `tp.{name}(("M", 64))`',
            )


def _size(ctx: Context, node: ast.expr) -> Length | None:
    """A tile size; None for `tp.each`."""
    entity, span = ctx.evaluate(node), ctx.span(node)
    match entity:
        case Known(value=Each()):
            return None
        case Known(value=bool()):
            pass
        case Known(value=int() | Extent() as size) if at_least(size, 1) is not False:
            return size
        case _:
            pass
    raise refuse(
        Code.BAD_SIZE,
        f"a tile size is a positive constant or tp.each, and this is {describe(entity)}",
        span,
        help="give it as a keyword-only parameter: `*, BM: int = 128`",
    )


def _targets(ctx: Context, node: ast.For, count: int, what: str) -> list[str]:
    names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    for name in names:
        if not isinstance(name, ast.Name):
            message = f"a loop binds names, not `{ast.unparse(name)}`"
            raise refuse(Code.ASSIGNMENT_TARGET, message, ctx.span(name), help="write a name, and use it in the body")
    if len(names) != count:
        walked, named = (f"{n} {word}{'s' * (n != 1)}" for n, word in ((count, "dimension"), (len(names), "name")))
        raise refuse(
            Code.WALKER_COUNT,
            f"{what} walks {walked}, and before `in` there {'is' if len(names) == 1 else 'are'} {named}",
            ctx.span(node.target),
            labels=(Label(ctx.span(node.iter), "walks these"),),
            help="write one name for each dimension, in the same order",
        )
    return [typed("ast.Name", name).id for name in names]


def _walker(ctx: Context, name: str, dimension: str, size: Length | None) -> Walker:
    walker = ctx.builder.value(WalkerType(dimension, size), name)
    ctx.walkers.append(walker)
    return walker


def parallel(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    span = ctx.span(node.iter)
    if ctx.place is Place.INSIDE or ctx.depth or ctx.stack:
        inside = ctx.place is Place.INSIDE and ctx.parallel_span is not None
        raise refuse(
            Code.PARALLEL_PLACE,
            "tp.parallel stands at the top level of the kernel, not inside a loop, a branch or a helper",
            span,
            labels=(Label(ctx.parallel_span, "the parallel space"),) if inside and ctx.parallel_span else (),
            help="list all dimensions in one space: `for i, j in tp.parallel(M=BM, N=BN):`",
        )
    if ctx.parallel_span is not None:
        raise refuse(
            Code.PARALLEL_TWICE,
            "a kernel has one parallel space, and this is its second",
            span,
            labels=(Label(ctx.parallel_span, "the first"),),
            help="write two kernels, or walk the second with tp.tiles",
        )
    if ctx.place is Place.ALONE:
        raise refuse(
            Code.PARALLEL_PLACE,
            "the parallel space is hidden behind another name",
            span,
            help="call it by its own name: `tp.parallel(...)`",
        )
    walks, _ = _walks(ctx, call, "parallel")
    if not walks:
        raise refuse(Code.BAD_CALL, "tp.parallel names no dimension", span, help="write `tp.parallel(M=64)`")
    names = _targets(ctx, node, len(walks), "tp.parallel")
    walkers = [_walker(ctx, name, dim, size) for name, (dim, size, _) in zip(names, walks, strict=True)]
    outer = ctx.scope
    ctx.parallel_span = span
    ctx.place, ctx.scope, ctx.frozen = Place.INSIDE, dict(outer), frozenset(outer)
    try:
        with ctx.builder.block() as ops:
            for name, walker, target in zip(names, walkers, _nodes(node), strict=True):
                ctx.bind(name, walker, ctx.span(target))
            body(ctx, node.body)
    finally:
        inside_scope = ctx.scope
        ctx.place, ctx.scope, ctx.frozen = Place.OUTSIDE, outer, frozenset()
    for name, entry in inside_scope.items():
        if name not in outer:
            outer[name] = Unbound("it is bound inside tp.parallel, by each program for itself", entry.span)
    ctx.builder.emit(Parallel(ctx.span(node.iter), tuple(walkers), finish(ops)))


def _nodes(node: ast.For) -> list[ast.expr]:
    return node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]


def tiles(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    span = ctx.span(node.iter)
    walks, others = _walks(ctx, call, "tiles", ("start", "stop"))
    if len(walks) != 1:
        raise refuse(
            Code.BAD_CALL,
            f"tp.tiles walks one dimension, and {len(walks)} are named",
            span,
            help="write `for k in tp.tiles(K=64):`; nest loops to walk two",
        )
    ((dimension, size, _),) = walks
    start, stop = (
        None if key not in others else _position(ctx, others[key], f"`{key}` of tp.tiles") for key in ("start", "stop")
    )
    (name,) = _targets(ctx, node, 1, "tp.tiles")
    walker: Walker

    def turn() -> None:
        nonlocal walker
        walker = _walker(ctx, name, dimension, size)
        ctx.bind(name, walker, ctx.span(node.target))
        body(ctx, node.body)

    made = carry(ctx, _assigned(ctx, node, name), span, turn)
    ctx.scope[name] = Unbound("it is the name of a loop, which may run no turn", ctx.span(node.target))
    ctx.builder.emit(TilesLoop(span, made.results, walker, start, stop, made.inits, made.carried, made.body))


def _assigned(ctx: Context, node: ast.For, name: str) -> list[str]:
    """What a loop carries: its own name begins anew with each turn."""
    if isinstance(ctx.scope.get(name), Binding) and name in ctx.frozen:
        ctx.bind(name, Known(None), ctx.span(node.target))
    return [assigned for assigned in assigned_names(node.body) if assigned != name]


def _position(ctx: Context, node: ast.expr, what: str) -> Tile | None:
    """A position: an `index` scalar. `None` is no position at all."""
    entity, span = ctx.evaluate(node), ctx.span(node)
    if isinstance(entity, Known) and entity.value is None:
        return None
    return position(ctx, entity, span, what)


def position(ctx: Context, entity: Entity, span: Span, what: str) -> Tile:
    whole = "give a whole number: a literal, a constant, a scalar, `i.start` and the like"
    if isinstance(entity, Known) and isinstance(entity.value, float | bool):
        raise refuse(Code.BAD_INDEX, f"{what} is a position, and this is {describe(entity)}", span, help=whole)
    if isinstance(entity, Bundle):
        raise refuse(Code.BAD_INDEX, f"{what} is a position, and this is a tuple", span, help=whole)
    tile = as_tile(ctx.builder, entity, span, INDEX)
    if tile.type.axes:
        raise refuse(Code.BAD_INDEX, f"{what} is one position, and this is {describe(tile)}", span, help=whole)
    return to_index(ctx.builder, tile, span)


def range_loop(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    span = ctx.span(node.iter)
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise refuse(Code.BAD_CALL, "range takes one to three positions", span, help="write `range(start, stop)`")
    given = [(ctx.evaluate(argument), ctx.span(argument)) for argument in call.args]
    if len(given) == 1:
        given = [(Known(0), span), given[0]]
    if len(given) == 2:
        given.append((Known(1), span))
    step = given[2][0]
    if isinstance(step, Known) and step.value == 0:
        raise refuse(Code.BAD_CALL, "a range cannot step by 0", given[2][1], help="step by 1, or by -1 backwards")
    start, stop, by = (position(ctx, entity, where, "a bound of range") for entity, where in given)
    (name,) = _targets(ctx, node, 1, "range")
    variable: Value[TileType]

    def turn() -> None:
        nonlocal variable
        variable = ctx.builder.value(INDEX_SCALAR, name)
        ctx.bind(name, variable, ctx.span(node.target))
        body(ctx, node.body)

    made = carry(ctx, _assigned(ctx, node, name), span, turn)
    ctx.scope[name] = Unbound("it is the name of a loop, which may run no turn", ctx.span(node.target))
    ctx.builder.emit(RangeLoop(span, made.results, variable, start, stop, by, made.inits, made.carried, made.body))
