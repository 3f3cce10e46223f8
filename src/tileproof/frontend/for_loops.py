"""`for` statements: the parallel space, walks along a dimension, and `range`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import BinaryFn, Block, Parallel, RangeLoop, Segments, Start, Stop, TilesLoop
from tileproof.ir.types import (
    INDEX_SCALAR,
    Content,
    Extent,
    Length,
    Tensor,
    Tile,
    Walker,
    WalkerType,
    at_least,
)
from tileproof.language import spaces
from tileproof.language.spaces import Each, Split

from .calls import Call, lowers
from .combiners import check_join
from .context import Context, Place
from .control_flow import LoopBody, assigned_names, compile_loop
from .entities import Binding, Entity, Known, Leading, Unbound, Unsplit, describe, is_tensor, is_walker
from .source import reject
from .tile_operations import binary, position

V = TypeVar("V", Tile, Walker)
Body = Callable[[Context, list[ast.stmt]], None]
_LONGEST = 1 << 48
"""No extent reaches it, nor does a tile size: where a tile ends is computed in 64 bits."""


def for_statement(ctx: Context, node: ast.For, body: Body) -> None:
    """Any `for` of the language."""
    callee: Any = None
    if isinstance(node.iter, ast.Call):
        if isinstance(node.iter.func, ast.Attribute) and node.iter.func.attr == "tiles":
            owner = ctx.evaluate(node.iter.func.value)
            if is_walker(owner):
                return sub_tiles(ctx, node, node.iter, owner, body)
            if isinstance(owner, Unsplit):
                return sub_tiles_of_all(ctx, node, node.iter, owner, body)
        entity = ctx.evaluate(node.iter.func)
        callee = entity.value if isinstance(entity, Known) else None
        if callee is spaces.parallel:
            return parallel(ctx, node, node.iter, body)
        if callee is spaces.tiles:
            return tiles(ctx, node, node.iter, body)
        if callee is range:
            return range_loop(ctx, node, node.iter, body)
        if callee is spaces.static_range:
            return unrolled_loop(ctx, node, node.iter, body)
    message = f"a loop runs over tp.parallel, tp.tiles or range, not over `{ast.unparse(node.iter)}`"
    cure = "walk a dimension with `for k in tp.tiles(K=64):`, or count with `for n in range(4):`"
    raise reject(Code.NOT_ITERABLE, message, ctx.span(node.iter), help=cure)


@dataclass(frozen=True, slots=True)
class Walk:
    """One dimension of a space, as written."""

    dimension: str
    type: WalkerType
    offsets: Tensor | None
    span: Span
    is_whole: bool = False
    """Whether nobody walks it: `tp.split(0)` is a split in one piece, which costs nothing."""
    is_leading: bool = False
    """Whether it is of one of the leading axes."""


def _walks(
    ctx: Context, call: ast.Call, name: str, reserved: tuple[str, ...] = ()
) -> tuple[list[Walk], dict[str, ast.expr]]:
    """The dimensions and sizes of a space, in order, and its other keywords."""
    walks = [_positional(ctx, argument, name) for argument in call.args]
    others: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            message = f"`**` is not part of the language in tp.{name}"
            raise reject(Code.STARRED, message, ctx.span(keyword.value), help="name each dimension")
        if keyword.arg in reserved:
            others[keyword.arg] = keyword.value
        else:
            walks.append(_walk(ctx, keyword.arg, keyword.value, ctx.span(keyword)))
    for walk in walks:
        if walk.type.is_piece and name != "parallel":
            message = "tp.split cuts an axis among programs, in tp.parallel"
            raise reject(Code.JOIN_PLACE, message, walk.span, help="walk the axis with a tile size")
    return walks, others


def _unknown(ctx: Context, dimension: str, known: str) -> str:
    """What to do about a name that no tensor has as a dimension."""
    loop = f"or loop in a program: `for n in range({dimension}):`"
    if dimension.isdecimal():
        demand = f'`tp.require(tp.dim("N") == {dimension})`'
        return f"what is walked has a name: call the axis N and demand {demand}, {loop}"
    return f"its dimensions are: {known}"


def _walk(ctx: Context, dimension: str, size: ast.expr, span: Span, offsets: Tensor | None = None) -> Walk:
    if dimension not in ctx.signature.dimensions and dimension != ctx.signature.leading:
        ctx.demand_known(dimension, span)
        near = ctx.signature.nearest_dimension(dimension)
        known = ", ".join(ctx.signature.dimensions)
        cure = f"did you mean `{near}`?" if near else _unknown(ctx, dimension, known)
        message = f"`{dimension}` is not a dimension of this kernel"
        if dimension.isdecimal():
            message = f"`{dimension}` is a number, and a dimension has a name"
        raise reject(Code.UNKNOWN_DIMENSION, message, span, help=cure)
    entity = ctx.evaluate(size)
    if isinstance(entity, Known) and isinstance(entity.value, Split):
        if entity.value.length == 0:
            return Walk(dimension, WalkerType(dimension, 1, is_piece=True), offsets, span, is_whole=True)
        return Walk(dimension, WalkerType(dimension, entity.value.length, is_piece=True), offsets, span)
    return Walk(dimension, WalkerType(dimension, _size(entity, ctx.span(size))), offsets, span)


def _positional(ctx: Context, node: ast.expr, name: str, offsets: Tensor | None = None) -> Walk:
    """A pair of dimension and size, or ragged segments."""
    match node:
        case ast.Tuple(elts=[dimension, size]):
            named = ctx.evaluate(dimension)
            if isinstance(named, Known) and isinstance(named.value, str):
                return _walk(ctx, named.value, size, ctx.span(node), offsets)
        case ast.Call(func=function) if name == "parallel":
            callee = ctx.evaluate(function)
            if isinstance(callee, Known) and callee.value is spaces.segments:
                return _segments(ctx, node)
        case _:
            pass
    message = f"tp.{name} takes dimensions by name or as pairs, not `{ast.unparse(node)}`"
    cure = f'write `tp.{name}(M=64)` or `tp.{name}(("M", 64))`: a dimension, and the size of its tiles'
    raise reject(Code.BAD_CALL, message, ctx.span(node), help=cure)


def _segments(ctx: Context, node: ast.Call) -> Walk:
    span = ctx.span(node)
    cure = 'write `tp.segments(off, N=64)` where `off` is an `In[Offsets["N"], "E+1"]`'
    if not node.args:
        raise reject(Code.BAD_CALL, "tp.segments takes the tensor of borders first", span, help=cure)
    offsets = ctx.evaluate(node.args[0])
    content = offsets.type.element if is_tensor(offsets) else None
    if not is_tensor(offsets) or not isinstance(content, Content) or content.kind != "Offsets":
        message = f"tp.segments takes a tensor of Offsets, and this is {describe(offsets)}"
        raise reject(Code.BAD_CALL, message, ctx.span(node.args[0]), help=cure)
    walks = [_positional(ctx, argument, "segments", offsets) for argument in node.args[1:]]
    walks += [_walk(ctx, word.arg, word.value, ctx.span(word), offsets) for word in node.keywords if word.arg]
    if len(walks) != 1 or len(node.args) + len(node.keywords) != 2:
        raise reject(Code.BAD_CALL, "tp.segments walks one dimension", span, help=cure)
    (walk,) = walks
    if walk.dimension != content.dimension:
        message = f"the borders in `{offsets.name}` divide {content.dimension}, and {walk.dimension} is walked"
        raise reject(Code.WRONG_DIMENSION, message, span, help=f"walk {content.dimension}")
    if walk.type.is_piece:
        raise reject(Code.JOIN_PLACE, "segments cannot be split among programs again", span, help="give a tile size")
    return walk


@lowers(spaces.split)
def _split(ctx: Context, call: Call) -> Entity:
    given = call.entity("length")
    if isinstance(given, Known) and type(given.value) is int and given.value == 0:
        return Known(Split(0))
    length = _size(given, call.where("length"))
    if length is None:
        message = "the length of a piece is a positive constant, and this is tp.each"
        raise reject(Code.BAD_SIZE, message, call.where("length"), help="write `tp.split(1)` for pieces of one element")
    return Known(Split(length))


def _size(entity: Entity, span: Span) -> Length | None:
    """A tile size; None for `tp.each`."""
    match entity:
        case Known(value=Each()):
            return None
        case Known(value=bool()):
            pass
        case Known(value=int() as size) if size >= _LONGEST:
            message = "a tile size is less than 2**48, and this is more"
            raise reject(Code.BAD_SIZE, message, span, help="no dimension has 2**48 elements: give a smaller size")
        case Known(value=int() | Extent() as size) if at_least(size, 1) is not False:
            return size
        case _:
            pass
    message = f"a tile size is a positive constant or tp.each, and this is {describe(entity)}"
    raise reject(Code.BAD_SIZE, message, span, help="give it as a keyword-only parameter: `*, BM: int = 128`")


def _targets(ctx: Context, node: ast.For, shape: Sequence[int], what: str) -> list[list[ast.Name]]:
    """The names a loop binds: one for each walk, a pair for a walk of segments."""
    parts = node.target.elts if isinstance(node.target, ast.Tuple) and len(shape) > 1 else [node.target]
    targets = []
    for part, wanted in zip(parts, shape, strict=False):
        names = part.elts if isinstance(part, ast.Tuple) else [part]
        for name in names:
            if not isinstance(name, ast.Name):
                message, cure = f"a loop binds names, not `{ast.unparse(name)}`", "write a name, and use it in the body"
                raise reject(Code.ASSIGNMENT_TARGET, message, ctx.span(name), help=cure)
        if len(names) != wanted:
            parts = []
            break
        targets.append([name for name in names if isinstance(name, ast.Name)])
    if len(parts) != len(shape):
        wanted_names = ", ".join("(e, i)" if count == 2 else "ij"[number % 2] for number, count in enumerate(shape))
        raise reject(
            Code.WALKER_COUNT,
            f"{what} walks {len(shape)} dimension{'s' * (len(shape) != 1)}, and `{ast.unparse(node.target)}` "
            f"does not name one value for each",
            ctx.span(node.target),
            labels=(Label(ctx.span(node.iter), "walks these"),),
            help=f"write one name for each in the same order, as in `for {wanted_names} in ...`",
        )
    return targets


def _walker(ctx: Context, name: str, type_: WalkerType) -> Walker:
    walker = ctx.builder.value(type_, name)
    ctx.walkers.append(walker)
    return walker


def parallel(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    span = ctx.span(node.iter)
    if ctx.place is Place.INSIDE or ctx.depth or ctx.stack:
        inside = ctx.place is Place.INSIDE and ctx.parallel_span is not None
        raise reject(
            Code.PARALLEL_PLACE,
            "tp.parallel stands at the top level of the kernel, not inside a loop, a branch or a helper",
            span,
            labels=(Label(ctx.parallel_span, "the parallel space"),) if inside and ctx.parallel_span else (),
            help="list all dimensions in one space: `for i, j in tp.parallel(M=BM, N=BN):`",
        )
    if ctx.parallel_span is not None:
        message = "a kernel has one parallel space, and this is its second"
        cure = "write two kernels, or walk the second with tp.tiles"
        raise reject(Code.PARALLEL_TWICE, message, span, labels=(Label(ctx.parallel_span, "the first"),), help=cure)
    if ctx.place is Place.ALONE:
        message = "the parallel space is hidden behind another name"
        raise reject(Code.PARALLEL_PLACE, message, span, help="call it by its own name: `tp.parallel(...)`")
    walks, _ = _walks(ctx, call, "parallel")
    if not walks:
        raise reject(Code.BAD_CALL, "tp.parallel names no dimension", span, help="write `tp.parallel(M=64)`")
    targets = _targets(ctx, node, [1 if walk.offsets is None else 2 for walk in walks], "tp.parallel")
    names_of = dict(zip((id(walk) for walk in walks), targets, strict=True))
    whole = [(names_of[id(walk)][0], walk) for walk in walks if walk.is_whole]
    lead = next((walk for walk in walks if walk.dimension == ctx.signature.leading), None)
    walked = [each for walk in walks if not walk.is_whole for each in (_leading(ctx, walk) if walk is lead else [walk])]
    targets = [names_of[id(lead) if walk.is_leading else id(walk)] for walk in walked]
    walks = walked
    walkers = [_walker(ctx, names[-1].id, walk.type) for names, walk in zip(targets, walks, strict=True)]
    segments = [
        Segments(walker, walk.offsets, ctx.builder.value(INDEX_SCALAR, names[0].id))
        for names, walk, walker in zip(targets, walks, walkers, strict=True)
        if walk.offsets is not None
    ]
    outer = ctx.scope
    ctx.parallel_span = span
    bound = frozenset(name for name, entry in outer.items() if isinstance(entry, Binding))
    ctx.place, ctx.scope, ctx.frozen = Place.INSIDE, dict(outer), bound
    try:
        with ctx.builder.block() as ops:
            if lead is not None:
                (target,) = names_of[id(lead)]
                axes = tuple(walker for walker, walk in zip(walkers, walks, strict=True) if walk.is_leading)
                ctx.bind(target.id, Leading(target.id, axes), ctx.span(target))
            for target, walk in whole:
                ctx.bind(target.id, Unsplit(target.id, walk.dimension), ctx.span(target))
            for names, walker, walk in zip(targets, walkers, walks, strict=True):
                if not walk.is_leading:
                    ctx.bind(names[-1].id, walker, ctx.span(names[-1]))
                segment = next((one for one in segments if one.walker is walker), None)
                if segment is not None:
                    ctx.bind(names[0].id, segment.index, ctx.span(names[0]))
            reported = len(ctx.diagnostics)
            body(ctx, node.body)
            if len(ctx.diagnostics) == reported:
                check_join(ops, walkers, span)
    finally:
        inside_scope = ctx.scope
        ctx.place, ctx.scope, ctx.frozen = Place.OUTSIDE, outer, frozenset()
    for name, entry in inside_scope.items():
        if name not in outer:
            outer[name] = Unbound("it is bound inside tp.parallel, by each program for itself", entry.span)
    if walkers:
        ctx.builder.emit(Parallel(span, tuple(walkers), Block(tuple(ops)), tuple(segments)))
    else:  # nothing is left to walk: a kernel without a space is one program
        for op in ops:
            ctx.builder.emit(op)


def _leading(ctx: Context, walk: Walk) -> list[Walk]:
    """A walk of each leading axis: the last as it is written, the others by single elements."""
    return [
        replace(walk, dimension=axis, type=replace(walk.type, dimension=axis) if axis == walk.dimension
                else WalkerType(axis, None), is_leading=True)
        for axis in ctx.signature.leading_axes
    ]  # fmt: skip


def tiles(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    span = ctx.span(node.iter)
    walks, others = _walks(ctx, call, "tiles", ("start", "stop"))
    if len(walks) != 1:
        message = f"tp.tiles walks one dimension, and {len(walks)} are named"
        raise reject(Code.BAD_CALL, message, span, help="write `for k in tp.tiles(K=64):`; nest loops to walk two")
    bounds = {key: _position(ctx, value, f"`{key}` of tp.tiles") for key, value in others.items()}
    _tiles_loop(ctx, node, walks[0].type, bounds.get("start"), bounds.get("stop"), body)


def sub_tiles(ctx: Context, node: ast.For, call: ast.Call, owner: Walker, body: Body) -> None:
    """`i.tiles(16)`: smaller tiles of a tile, never past its end."""
    span = ctx.span(node.iter)
    if owner.type.is_each:
        message, cure = f"`{owner.name}` is one element and has no tiles", f"use it as it is: `x[{owner.name}]`"
        raise reject(Code.BAD_CALL, message, span, help=cure)
    size, keywords = _sub_tiles(ctx, call, owner.name)
    start, stop = ctx.builder.value(INDEX_SCALAR), ctx.builder.value(INDEX_SCALAR)
    ctx.builder.emit(Start(span, start, owner))
    ctx.builder.emit(Stop(span, stop, owner))
    for key, fn in (("start", BinaryFn.MAX), ("stop", BinaryFn.MIN)):
        bound = _position(ctx, keywords[key], f"`{key}` of `{owner.name}.tiles`") if key in keywords else None
        if bound is not None:
            own = start if key == "start" else stop
            clipped = binary(ctx.builder, fn, own, bound, span, (span, ctx.span(keywords[key])))
            start, stop = (clipped, stop) if key == "start" else (start, clipped)
    _tiles_loop(ctx, node, WalkerType(owner.type.dimension, size), start, stop, body)


def sub_tiles_of_all(ctx: Context, node: ast.For, call: ast.Call, owner: Unsplit, body: Body) -> None:
    """`z.tiles(16)` where nothing is split: the tiles of the dimension."""
    size, bounds = _sub_tiles(ctx, call, owner.name)
    positions = {key: _position(ctx, node, f"`{key}` of `{owner.name}.tiles`") for key, node in bounds.items()}
    walked = WalkerType(owner.dimension, size)
    _tiles_loop(ctx, node, walked, positions.get("start"), positions.get("stop"), body)


def _sub_tiles(ctx: Context, call: ast.Call, name: str) -> tuple[Length | None, dict[str | None, ast.expr]]:
    """The size of sub-tiles, and where they begin and end."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if len(call.args) != 1 or not set(keywords) <= {"start", "stop"}:
        cure = f"write `for s in {name}.tiles(16):`, with `start=` and `stop=` where needed"
        raise reject(Code.BAD_CALL, f"`{name}.tiles` takes a size", ctx.span(call), help=cure)
    return _size(ctx.evaluate(call.args[0]), ctx.span(call.args[0])), keywords


def _tiles_loop(
    ctx: Context, node: ast.For, type_: WalkerType, start: Tile | None, stop: Tile | None, body: Body
) -> None:
    loop, walker = _loop(ctx, node, "the loop", lambda name: _walker(ctx, name, type_), body)
    span = ctx.span(node.iter)
    ctx.builder.emit(TilesLoop(span, loop.results, walker, start, stop, loop.inits, loop.carried, loop.body))


def _loop(ctx: Context, node: ast.For, what: str, make: Callable[[str], V], body: Body) -> tuple[LoopBody, V]:
    """Compiles a loop; returns its body and its variable. The loop does not carry that name."""
    ((target,),) = _targets(ctx, node, [1], what)
    name, span = target.id, ctx.span(target)
    variable: V

    def iteration() -> None:
        nonlocal variable
        variable = make(name)
        ctx.bind(name, variable, span)
        body(ctx, node.body)

    if isinstance(ctx.scope.get(name), Binding) and name in ctx.frozen:
        ctx.bind(name, Known(None), span)
    carried = [assigned for assigned in assigned_names(node.body) if assigned != name]
    loop = compile_loop(ctx, carried, ctx.span(node.iter), iteration)
    ctx.scope[name] = Unbound("it is the name of a loop, which may run no iteration", span)
    return loop, variable


def _position(ctx: Context, node: ast.expr, what: str) -> Tile | None:
    """A position: an `index` scalar. `None` is no position at all."""
    entity, span = ctx.evaluate(node), ctx.span(node)
    if isinstance(entity, Known) and entity.value is None:
        return None
    return position(ctx.builder, entity, span, what)


def range_loop(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    span = ctx.span(node.iter)
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise reject(Code.BAD_CALL, "range takes one to three positions", span, help="write `range(start, stop)`")
    bounds = [(ctx.evaluate(argument), ctx.span(argument)) for argument in call.args]
    if len(bounds) == 1:
        bounds = [(Known(0), span), bounds[0]]
    if len(bounds) == 2:
        bounds.append((Known(1), span))
    step = bounds[2][0]
    if isinstance(step, Known) and step.value == 0:
        raise reject(Code.BAD_CALL, "a range cannot step by 0", bounds[2][1], help="step by 1, or by -1 backwards")
    start, stop, by = (position(ctx.builder, entity, where, "a bound of range") for entity, where in bounds)
    loop, variable = _loop(ctx, node, "range", lambda name: ctx.builder.value(INDEX_SCALAR, name), body)
    ctx.builder.emit(RangeLoop(span, loop.results, variable, start, stop, by, loop.inits, loop.carried, loop.body))


def unrolled_loop(ctx: Context, node: ast.For, call: ast.Call, body: Body) -> None:
    """`tp.static_range`: the body once for each constant, one after the other."""
    span = ctx.span(node.iter)
    bounds = [_whole_number(ctx, argument) for argument in call.args]
    if call.keywords or not 1 <= len(bounds) <= 3:
        cure = "write `tp.static_range(start, stop)`"
        raise reject(Code.BAD_CALL, "tp.static_range takes one to three constants", span, help=cure)
    if len(bounds) == 3 and bounds[2] == 0:
        raise reject(Code.BAD_CALL, "a range cannot step by 0", ctx.span(call.args[2]), help="step by 1, or by -1")
    ((target,),) = _targets(ctx, node, [1], "tp.static_range")
    turns = range(*bounds)
    ctx.depth += 1
    try:
        for turn in turns:
            ctx.builder.spend(span)
            ctx.bind(target.id, Known(turn), ctx.span(target))
            body(ctx, node.body)
    finally:
        ctx.depth -= 1


def _whole_number(ctx: Context, node: ast.expr) -> int:
    entity = ctx.evaluate(node)
    if isinstance(entity, Known) and type(entity.value) is int and abs(entity.value) < _LONGEST:
        return entity.value
    message = f"a bound of tp.static_range is a constant, and this is {describe(entity)}"
    cure = "give it as a number or a keyword-only parameter: `*, G: int = 4`; `range` takes any position"
    raise reject(Code.NOT_CONSTANT, message, ctx.span(node), help=cure)
