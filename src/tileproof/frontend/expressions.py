"""Evaluates expressions: from nodes of the syntax tree to entities."""

from __future__ import annotations

import ast
import difflib
from itertools import pairwise
from types import ModuleType

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import BinaryFn, Elements, Number, Start, Stop, UnaryFn
from tileproof.ir.types import (
    INDEX_SCALAR,
    Axis,
    Extent,
    TensorType,
    Tile,
    TileType,
    Undecided,
    Value,
    Walker,
    WalkerTag,
    WalkerType,
)
from tileproof.language import tiles
from tileproof.language.dtypes import BOOL, F32, INDEX
from tileproof.language.unsafe import raw

from . import calls
from .captures import MISSING
from .constant_folding import fold, is_open_float, limited, undecided_at
from .context import Context
from .control_flow import compile_branches
from .entities import (
    Bundle,
    Entity,
    Known,
    Lambda,
    Leading,
    Method,
    Poison,
    Unbound,
    Unsplit,
    demand_present,
    describe,
    is_tensor,
    is_tile,
    is_walker,
)
from .hints import ATTRIBUTE_HINTS, FUNCTION_HINTS, LIST_HINTS
from .source import Suppressed, reject
from .subscripts import Item, SliceOf, extent_named, extent_of, index_tile, load, slice_items
from .tile_operations import as_tile, binary, literal, mma, permute, unary

_OPERATORS: dict[type[ast.operator] | type[ast.cmpop], BinaryFn] = {
    ast.Add: BinaryFn.ADD, ast.Sub: BinaryFn.SUB, ast.Mult: BinaryFn.MUL, ast.Div: BinaryFn.DIV,
    ast.FloorDiv: BinaryFn.FLOORDIV, ast.Mod: BinaryFn.MOD, ast.Pow: BinaryFn.POW, ast.BitAnd: BinaryFn.AND,
    ast.BitOr: BinaryFn.OR, ast.BitXor: BinaryFn.XOR, ast.LShift: BinaryFn.SHL, ast.RShift: BinaryFn.SHR,
    ast.Eq: BinaryFn.EQ, ast.NotEq: BinaryFn.NE, ast.Lt: BinaryFn.LT, ast.LtE: BinaryFn.LE, ast.Gt: BinaryFn.GT,
    ast.GtE: BinaryFn.GE,
}  # fmt: skip


def evaluate(ctx: Context, node: ast.expr) -> Entity:
    """The value of an expression."""
    match node:
        case ast.Name(id=name):
            return ctx.lookup(name, ctx.span(node))
        case ast.Constant(value=value):
            return Known(limited(value, ctx.span(node)))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return Bundle(tuple(evaluate(ctx, item) for item in items))
        case ast.BinOp(left=left, op=operator, right=right):
            return arithmetic(
                ctx,
                operator,
                evaluate(ctx, left),
                evaluate(ctx, right),
                ctx.span(node),
                (ctx.span(left), ctx.span(right)),
            )
        case ast.UnaryOp(op=sign, operand=operand):
            return _signed(ctx, sign, evaluate(ctx, operand), ctx.span(node), operand)
        case ast.Compare():
            return _comparison(ctx, node)
        case ast.BoolOp():
            return _boolean(ctx, node)
        case ast.IfExp():
            return _conditional(ctx, node)
        case ast.Attribute():
            return _attribute(ctx, node)
        case ast.Subscript(value=value, slice=index):
            return _subscript(ctx, evaluate(ctx, value), index, ctx.span(node))
        case ast.Call():
            return calls.call(ctx, node)
        case ast.Lambda():
            return Lambda(node, ctx.scope)
        case _:
            message = f"`{ast.unparse(node)}` is not part of the language"
            raise reject(Code.UNSUPPORTED_EXPRESSION, message, ctx.span(node), help="use names, calls and operators")


def arithmetic(
    ctx: Context, operator: ast.operator | ast.cmpop, left: Entity, right: Entity, span: Span, spans: tuple[Span, Span]
) -> Entity:
    """A binary operator on any two values."""
    if isinstance(operator, ast.MatMult):
        return mma(ctx.builder, left, right, None, span, spans)
    return apply(ctx, _OPERATORS[type(operator)], left, right, span, spans)


def apply(ctx: Context, fn: BinaryFn, left: Entity, right: Entity, span: Span, spans: tuple[Span, Span]) -> Entity:
    """A binary operation, folded where both sides are constants."""
    if isinstance(left, Known) and isinstance(right, Known):
        if is_open_float(fn, left, right):
            one, two = literal(ctx.builder, left, F32, spans[0]), literal(ctx.builder, right, F32, spans[1])
            return binary(ctx.builder, fn, one, two, span, spans)
        folded = fold(fn, left, right, span)
        if folded is not None:
            return folded
        if fn in (BinaryFn.EQ, BinaryFn.NE) and not (left.is_number and right.is_number):
            equal = left.value is right.value or (isinstance(left.value, str) and left.value == right.value)
            return Known(equal if fn is BinaryFn.EQ else not equal)
    return binary(ctx.builder, fn, left, right, span, spans)


def _signed(ctx: Context, sign: ast.unaryop, operand: Entity, span: Span, node: ast.expr) -> Entity:
    if isinstance(operand, Known) and isinstance(operand.value, bool | int | float | Extent):
        value = operand.value
        match sign:
            case ast.USub():
                return Known(-value)
            case ast.UAdd():
                return operand
            case ast.Not():
                return Known(not truth(operand, span))
            case ast.Invert() if isinstance(value, bool):
                return Known(not value)
            case ast.Invert() if isinstance(value, int):
                return Known(~value)
            case _:
                pass
    if isinstance(sign, ast.Not):
        text = ctx.span(node).text
        raise reject(
            Code.BOOLEAN_OPERATOR,
            "`not` works on constants only",
            span,
            notes=("Python's `not` asks for one truth value and cannot be given a tile",),
            help=f"write `~({text})`",
            edit=Edit(span, f"~({text})"),
        )
    fn = UnaryFn.NOT if isinstance(sign, ast.Invert) else UnaryFn.NEG
    return operand if isinstance(sign, ast.UAdd) else unary(ctx.builder, fn, operand, span)


def truth(known: Known, span: Span) -> bool:
    """The truth of a constant."""
    try:
        return bool(known.value)
    except Undecided as undecided:
        raise undecided_at(undecided, span) from None


def _comparison(ctx: Context, node: ast.Compare) -> Entity:
    values = [evaluate(ctx, part) for part in (node.left, *node.comparators)]
    nodes = [node.left, *node.comparators]
    spans = [ctx.span(part) for part in nodes]
    if isinstance(node.ops[0], ast.Is | ast.IsNot):  # `x is None`, the only one that the syntax lets through
        is_none = isinstance(values[0], Known) and values[0].value is None
        return Known(is_none is isinstance(node.ops[0], ast.Is))
    if len(node.ops) == 1:
        return arithmetic(ctx, node.ops[0], values[0], values[1], ctx.span(node), (spans[0], spans[1]))
    if all(isinstance(value, Known) for value in values):
        comparisons = zip(node.ops, pairwise(values), pairwise(spans), strict=True)
        answers = [arithmetic(ctx, operator, *pair, ctx.span(node), where) for operator, pair, where in comparisons]
        if all(isinstance(answer, Known) for answer in answers):
            return Known(all(isinstance(answer, Known) and bool(answer.value) for answer in answers))
    parts = [
        "(" + ast.unparse(ast.Compare(nodes[number], [operator], [nodes[number + 1]])) + ")"
        for number, operator in enumerate(node.ops)
    ]
    written = " & ".join(parts)
    raise reject(
        Code.CHAINED_COMPARISON,
        "a chained comparison works on constants only",
        ctx.span(node),
        notes=("Python reads it as two comparisons joined by `and`, and `and` cannot be given a tile",),
        help=f"write `{written}`",
        edit=Edit(ctx.span(node), written),
    )


def _boolean(ctx: Context, node: ast.BoolOp) -> Entity:
    wants = isinstance(node.op, ast.Or)
    operand: Entity = Known(not wants)
    for part in node.values:
        operand = evaluate(ctx, part)
        if not isinstance(operand, Known):
            sign = " | " if wants else " & "
            written = sign.join(map(_elementwise, node.values))
            word = "or" if wants else "and"
            raise reject(
                Code.BOOLEAN_OPERATOR,
                f"`{word}` works on constants only, and `{ast.unparse(part)}` is {describe(operand)}",
                ctx.span(node),
                notes=("Python's `and` and `or` ask for one truth value and cannot be given a tile",),
                help=f"write `{written}`",
                edit=Edit(ctx.span(node), written),
            )
        if truth(operand, ctx.span(part)) == wants:
            return operand
    return operand


def _elementwise(node: ast.expr) -> str:
    """An operand of `and` or `or`, rewritten for `&` and `|`: `not` becomes `~`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"~({ast.unparse(node.operand)})"
    return f"({ast.unparse(node)})"


def condition(ctx: Context, node: ast.expr, what: str) -> Known | Tile:
    """A constant, or one truth value known on the device."""
    value, span = evaluate(ctx, node), ctx.span(node)
    if isinstance(value, Known):
        return value
    if is_tile(value) and value.type == TileType(BOOL):
        return value
    cure = "compare it: `x != 0`"
    if is_tile(value) and value.type.axes:
        cure = "reduce it with `.any()` or `.all()`, or choose element by element with `tp.where`"
    raise reject(Code.CONDITION, f"{what} needs one truth value, and this is {describe(value)}", span, help=cure)


def _conditional(ctx: Context, node: ast.IfExp) -> Entity:
    test = condition(ctx, node.test, "`if`")
    if isinstance(test, Known):
        return evaluate(ctx, node.body if truth(test, ctx.span(node.test)) else node.orelse)
    name = "if.else"  # no name of the user's
    compile_branches(
        ctx,
        test,
        ctx.span(node),
        [name],
        lambda: ctx.bind(name, evaluate(ctx, node.body), ctx.span(node.body)),
        lambda: ctx.bind(name, evaluate(ctx, node.orelse), ctx.span(node.orelse)),
    )
    entry = ctx.scope.pop(name)
    if isinstance(entry, Unbound):
        cure = "give both sides one type and shape"
        raise reject(entry.code, f"this has no single type: {entry.reason}", ctx.span(node), help=cure)
    return entry.entity


def _dotted(node: ast.expr) -> tuple[str, ...] | None:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=attribute):
            base = _dotted(value)
            return None if base is None else (*base, attribute)
        case _:
            return None


def _attribute(ctx: Context, node: ast.Attribute) -> Entity:
    owner, name, span = evaluate(ctx, node.value), node.attr, ctx.span(node)
    demand_present(owner, ctx.span(node.value))
    if isinstance(owner, Known) and isinstance(owner.value, ModuleType):
        path = _dotted(node)
        value = getattr(owner.value, name, MISSING)
        if value is MISSING:
            raise _no_member(owner.value, name, ctx.span(node.value), span)
        if path is None:
            raise reject(Code.UNSUPPORTED_EXPRESSION, "a module is called by its name", span, help=f"write `tp.{name}`")
        return ctx.captured(path, value, span)
    if isinstance(owner, Known) and owner.value is raw:
        if name not in ("load", "store", "assume"):
            raise reject(Code.UNKNOWN_NAME, f"`tp.raw` has no `{name}`", span, help="it has load, store and assume")
        return Known(getattr(raw, name))
    if isinstance(owner, Unsplit) and name in ("start", "number"):
        return Known(0)
    if isinstance(owner, Unsplit) and name == "stop":
        return extent_named(ctx, owner.dimension, span)
    if is_walker(owner) and name in ("start", "stop", "elements", "number"):
        return _walker_attribute(ctx, owner, name, span)
    if (is_walker(owner) and name in calls.WALKER_METHODS) or (is_tensor(owner) and name in calls.TENSOR_METHODS):
        return Method(owner, name)
    if is_tensor(owner) and name == "dtype":
        return Known(owner.type.read_as)
    if is_tensor(owner) and name == "shape":
        return Bundle(tuple(extent_of(ctx, owner, axis, span) for axis in range(len(owner.type.dimensions))))
    if is_tile(owner):
        return _tile_attribute(ctx, owner, owner.type, name, span)
    is_number = (isinstance(owner, Known) and owner.is_number) or (is_walker(owner) and owner.type.is_each)
    if is_number and name == "to":
        return Method(as_tile(ctx.builder, owner, span), name)
    raise _no_attribute(owner, name, span)


def _no_member(module: ModuleType, name: str, module_span: Span, span: Span) -> Exception:
    message = f"the module `{module.__name__}` has no `{name}`"
    cure = FUNCTION_HINTS.get(name)
    near = difflib.get_close_matches(name, dir(module), 1, 0.7) if cure is None else []
    if not near:
        return reject(Code.UNKNOWN_NAME, message, span, help=cure or "look for it in another module, or write a helper")
    # A slip of the finger is corrected; what is only similar may be something else.
    is_slip = difflib.SequenceMatcher(None, name, near[0]).ratio() > 0.8
    edit = Edit(span, f"{module_span.text}.{near[0]}") if is_slip else None
    return reject(Code.UNKNOWN_NAME, message, span, help=f"did you mean `{near[0]}`?", edit=edit)


def _no_attribute(owner: Entity, name: str, span: Span) -> Exception:
    known = {
        WalkerType: "start, stop, elements, number, shift, and tiles in a `for`",
        TensorType: "dtype, shape, get",
        TileType: "dtype, shape, T, to, reshape, permute, fill and the reductions",
    }
    kind = known.get(type(owner.type)) if isinstance(owner, Value) else None
    cure = f"it has {kind}" if kind else "tensors, tiles and walkers have attributes, and numbers have `to`"
    if is_tensor(owner) and (name in calls.METHODS or name == "T"):
        cure = f"load a tile first: `{owner.name}[...].{name}`"
    if isinstance(owner, Bundle):
        cure = LIST_HINTS.get(name, "a tuple has items, `t[0]`, and no attributes")
    if is_tile(owner) and name in tiles.__all__:
        cure = f"it is a function: `tp.{name}(...)`"
    elif is_tile(owner):
        cure = ATTRIBUTE_HINTS.get(name, cure)
    return reject(Code.NO_ATTRIBUTE, f"{describe(owner)} has no `{name}`", span, help=cure)


def _walker_attribute(ctx: Context, walker: Walker, name: str, span: Span) -> Tile:
    if name == "elements":
        size = walker.type.size
        axes = () if size is None else (Axis(size, WalkerTag(walker)),)
        result = ctx.builder.value(TileType(INDEX, axes))
        ctx.builder.emit(Elements(span, result, walker) if axes else Start(span, result, walker))
        return result
    result = ctx.builder.value(INDEX_SCALAR)
    match name:
        case "start":
            ctx.builder.emit(Start(span, result, walker))
        case "stop":
            ctx.builder.emit(Stop(span, result, walker))
        case _:
            ctx.builder.emit(Number(span, result, walker))
    return result


def _tile_attribute(ctx: Context, tile: Tile, type_: TileType, name: str, span: Span) -> Entity:
    match name:
        case "dtype":
            return Known(type_.dtype)
        case "shape":
            return Bundle(tuple(Known(axis.length) for axis in type_.axes))
        case "T":
            return permute(ctx.builder, tile, tuple(reversed(range(type_.rank))), span)
        case _ if name in calls.METHODS and name not in calls.WALKER_METHODS | calls.TENSOR_METHODS:
            return Method(tile, name)
        case _:
            raise _no_attribute(tile, name, span)


def items(ctx: Context, index: ast.expr) -> list[Item]:
    """The evaluated parts of a subscript."""
    parts = [(_item(ctx, part), ctx.span(part)) for part in slice_items(index)]
    return [
        (each, span) for item, span in parts for each in (item.walkers if isinstance(item, Leading) else (item,))
    ]


def _item(ctx: Context, node: ast.expr) -> Entity | SliceOf:
    if not isinstance(node, ast.Slice):
        return evaluate(ctx, node)
    lower, upper, step = (None if part is None else evaluate(ctx, part) for part in (node.lower, node.upper, node.step))
    return SliceOf(lower, upper, step)


def _subscript(ctx: Context, owner: Entity, index: ast.expr, span: Span) -> Entity:
    if is_tensor(owner):
        return load(ctx, owner, items(ctx, index), span)
    if is_tile(owner):
        return index_tile(ctx, owner, items(ctx, index), span)
    if isinstance(owner, Bundle):
        return _part(ctx, owner.items, index, span)
    if isinstance(owner, Poison):
        raise Suppressed
    demand_present(owner, span)
    cure = "tensors, tiles and tuples can"
    raise reject(Code.BAD_INDEX, f"{describe(owner)} cannot be indexed", span, help=cure)


def _part(ctx: Context, parts: tuple[Entity, ...], index: ast.expr, span: Span) -> Entity:
    if isinstance(index, ast.Slice):
        bounds = [None if part is None else evaluate(ctx, part) for part in (index.lower, index.upper, index.step)]
        if all(bound is None or (isinstance(bound, Known) and isinstance(bound.value, int)) for bound in bounds):
            written = slice(*(None if bound is None else bound.value for bound in bounds))  # type: ignore[union-attr]
            if written.step == 0:
                raise reject(Code.BAD_INDEX, "a slice cannot step by 0", span, help="leave the step out, or step by 1")
            return Bundle(parts[written])
    position = evaluate(ctx, index) if not isinstance(index, ast.Slice) else None
    if not isinstance(position, Known) or not isinstance(position.value, int):
        cure = "give a number, or a keyword-only parameter of the kernel"
        raise reject(Code.NOT_CONSTANT, "a tuple is indexed by a constant", span, help=cure)
    if not -len(parts) <= position.value < len(parts):
        message = f"the tuple has {len(parts)} items, and item {position.value} is asked for"
        raise reject(Code.CONSTANT_OUTSIDE, message, span, help="items count from 0, or from -1 backwards")
    return parts[position.value]
