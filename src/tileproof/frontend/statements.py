"""Statements: assignments, stores, branches and loops. A rejected one is reported and what it binds is poisoned."""

from __future__ import annotations

import ast
from dataclasses import replace

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import AnyOp, Block, While
from tileproof.ir.types import Access, Tensor, Tile
from tileproof.language.unsafe import unsafe

from . import subscripts
from .context import Context
from .control_flow import assigned_names, compile_branches, compile_loop
from .entities import (
    Binding,
    Bundle,
    Entity,
    Known,
    Poison,
    demand_present,
    describe,
    is_tensor,
    is_tile,
    is_walker,
    surplus,
)
from .expressions import arithmetic, condition, items, truth
from .for_loops import for_statement
from .source import Rejected, Suppressed, reject
from .tile_operations import operand_text


def run(ctx: Context, statements: list[ast.stmt]) -> None:
    """Compiles statements in order; after a mistake it goes on with the next."""
    for statement in statements:
        try:
            _statement(ctx, statement)
        except (Rejected, Suppressed) as problem:
            if isinstance(problem, Rejected):
                ctx.report(problem)
            for name in assigned_names([statement]):
                if name not in ctx.frozen:
                    ctx.scope[name] = Binding(Poison(), ctx.span(statement))


def run_helper(ctx: Context) -> Entity:
    """A helper's statements, and what it returns."""
    reported = len(ctx.diagnostics)
    *body, last = ctx.function.tree.body
    if not isinstance(last, ast.Return):
        run(ctx, [*body, last])
        result: Entity = Known(None)
    else:
        run(ctx, body)
        try:
            result = Known(None) if last.value is None else ctx.evaluate(last.value)
        except Rejected as rejected:
            ctx.report(rejected)
            raise Suppressed from None
    if len(ctx.diagnostics) > reported:
        raise Suppressed
    return result


def _statement(ctx: Context, node: ast.stmt) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            _assign(ctx, targets, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _assign(ctx, [target], value)
        case ast.AugAssign():
            _augmented(ctx, node)
        case ast.For():
            for_statement(ctx, node, run)
        case ast.While():
            _while(ctx, node)
        case ast.If():
            _if(ctx, node)
        case ast.With():
            _with(ctx, node)
        case ast.Expr(value=ast.Constant(value=str())) | ast.Pass() | ast.AnnAssign():
            pass
        case ast.Return(value=None | ast.Constant(value=None)):
            pass
        case ast.Expr(value=value):
            _expression(ctx, value)
        case ast.Return():
            message = "a kernel returns nothing: its results are what it writes"
            raise reject(Code.EARLY_RETURN, message, ctx.span(node), help="write the value into an `Out` parameter")
        case _:
            message = f"`{ast.unparse(node)}` is not part of the language"
            raise reject(Code.UNSUPPORTED_STATEMENT, message, ctx.span(node), help="remove it")


def _expression(ctx: Context, node: ast.expr) -> None:
    value = ctx.evaluate(node)
    if isinstance(node, ast.Call) and isinstance(value, Known) and value.value is None:
        return
    raise reject(
        Code.UNSUPPORTED_STATEMENT,
        f"this makes {describe(value)} and drops it",
        ctx.span(node),
        notes=("tiles are immutable: an operation gives a new one and changes nothing",),
        help="assign it to a name, or remove the line",
    )


def _assign(ctx: Context, targets: list[ast.expr], value: ast.expr) -> None:
    match targets, value:
        case [ast.Tuple(elts=names)], ast.Tuple(elts=values) if len(names) == len(values):
            # Element by element, so that each value is named after its target; bound only when all are known.
            entities = [_named(ctx, name, part) for name, part in zip(names, values, strict=True)]
            for name, entity, part in zip(names, entities, values, strict=True):
                _bind(ctx, name, entity, ctx.span(part))
        case _:
            entity = _named(ctx, targets[0], value)
            for target in targets:
                _bind(ctx, target, entity, ctx.span(value))


def _named(ctx: Context, target: ast.expr, value: ast.expr) -> Entity:
    before = len(ctx.builder.ops)
    entity = ctx.evaluate(value)
    # What was there before may be held elsewhere under its own name.
    if len(ctx.builder.ops) == before:
        return entity
    match target, entity:
        case ast.Name(id=name), _ if is_tile(entity):
            return ctx.builder.rename(entity, name)
        case ast.Name(id=name), _ if is_walker(entity):
            if ctx.walkers[-1] is not entity:
                return entity
            ctx.walkers[-1] = ctx.builder.rename(entity, name)
            return ctx.walkers[-1]
        case ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=two)]), Bundle(items=(past, fresh)):
            if is_tensor(past) and is_tensor(fresh):
                return Bundle((ctx.builder.rename(past, one), ctx.builder.rename(fresh, two)))
        case _:
            pass
    return entity


def _bind(ctx: Context, target: ast.expr, entity: Entity, value_span: Span) -> None:
    match target:
        case ast.Name(id=name):
            ctx.bind(name, entity, ctx.span(target))
        case ast.Tuple(elts=names) | ast.List(elts=names):
            if not isinstance(entity, Bundle) or len(entity.items) != len(names):
                have = f"{len(entity.items)} values" if isinstance(entity, Bundle) else describe(entity)
                message = f"{len(names)} names are assigned from {have}"
                raise reject(Code.ASSIGNMENT_TARGET, message, ctx.span(target), help="write one name for each value")
            for part, item in zip(names, entity.items, strict=True):
                _bind(ctx, part, item, value_span)
        case ast.Subscript(value=owner, slice=index):
            tensor = _tensor(ctx, owner, target)
            subscripts.store(ctx, tensor, items(ctx, index), entity, ctx.span(target), value_span)
        case _:
            message = f"`{ast.unparse(target)}` cannot be assigned"
            cure = "assign to a name, or to elements of a tensor: `y[i] = ...`"
            raise reject(Code.ASSIGNMENT_TARGET, message, ctx.span(target), help=cure)


def _tensor(ctx: Context, owner: ast.expr, target: ast.expr) -> Tensor:
    entity = ctx.evaluate(owner)
    if is_tensor(entity):
        return entity
    demand_present(entity, ctx.span(owner))
    message = f"{describe(entity)} has no elements that can be assigned"
    cure = "choose between two tiles, `t = tp.where(t < 0, 0, t)`, or store into a tensor"
    raise reject(Code.ASSIGNMENT_TARGET, message, ctx.span(target), notes=("tiles are immutable values",), help=cure)


def _augmented(ctx: Context, node: ast.AugAssign) -> None:
    span, value_span = ctx.span(node), ctx.span(node.value)
    match node.target:
        case ast.Name(id=name):
            left, right = ctx.lookup(name, ctx.span(node.target)), ctx.evaluate(node.value)
            result = _updated(ctx, node, left, right)
            if is_tile(result):
                result = ctx.builder.rename(result, name)
            ctx.bind(name, result, ctx.span(node.target))
        case ast.Subscript(value=owner, slice=index) as target:
            tensor = _tensor(ctx, owner, target)
            where = ctx.span(target)
            picked = items(ctx, index)
            if tensor.type.access.combines:
                value = ctx.evaluate(node.value)
                if tensor.type.access is not Access.SUM or not isinstance(node.op, ast.Add):
                    raise _bad_reduction(tensor, node.op, where, span)
                subscripts.update(ctx, tensor, picked, value, where, value_span)
            else:
                # As in Python, the old value is taken before the new one is computed.
                old = subscripts.load(ctx, tensor, picked, where, is_sum=isinstance(node.op, ast.Add))
                new = _updated(ctx, node, old, ctx.evaluate(node.value))
                subscripts.store(ctx, tensor, picked, new, where, value_span)
        case _:
            message = f"`{ast.unparse(node.target)}` cannot be assigned"
            cure = "assign to a name, or to elements of a tensor: `y[i] += ...`"
            raise reject(Code.ASSIGNMENT_TARGET, message, ctx.span(node.target), help=cure)


def _updated(ctx: Context, node: ast.AugAssign, old: Entity, value: Entity) -> Entity:
    """`old op value`. No cast can be written on the left of `+=`, so none is offered there."""
    target = ctx.span(node.target)
    try:
        return arithmetic(ctx, node.op, old, value, ctx.span(node), (target, ctx.span(node.value)))
    except Rejected as rejected:
        mistake, value_span = rejected.diagnostic, ctx.span(node.value)
        axis = surplus(value.type.axes, old.type.axes) if is_tile(value) and is_tile(old) else None
        if axis is not None and mistake.code in (Code.TAGS_MEET, Code.LENGTHS_DIFFER):
            written = f"{operand_text(value_span)}.sum(axis={axis})"
            cure = f"reduce it to the axes of `{target.text}`: `{written}`"
            raise Rejected(replace(mistake, help=cure, edit=Edit(value_span, written))) from None
        if mistake.edit is None or mistake.edit.span != target:
            raise
        cure = f"write it out, with a cast: `{target.text} = {mistake.edit.replacement} ...`"
        raise Rejected(replace(mistake, help=cure, edit=None)) from None


def _bad_reduction(tensor: Tensor, operator: ast.operator, where: Span, span: Span) -> Rejected:
    access, sign = tensor.type.access, span.text.removeprefix(where.text).partition("=")[0].strip()
    cure = f"write `tp.update({tensor.name}, index, value)`"
    if access is Access.SUM:
        cure = "a Sum only grows by `+=`"
        if isinstance(operator, ast.Sub):
            cure += ": add the negative value"
    return reject(Code.BAD_REDUCTION, f"`{tensor.name}` is a {access}, which `{sign}=` cannot update", span, help=cure)


def _if(ctx: Context, node: ast.If) -> None:
    test = condition(ctx, node.test, "`if`")
    if isinstance(test, Known):
        run(ctx, node.body if truth(test, ctx.span(node.test)) else node.orelse)
        return
    names = assigned_names([*node.body, *node.orelse])
    compile_branches(ctx, test, ctx.span(node.test), names, lambda: run(ctx, node.body), lambda: run(ctx, node.orelse))


def _with(ctx: Context, node: ast.With) -> None:
    """`with tp.unsafe("why this is sound"):`, the only `with` there is."""
    item = node.items[0]
    call = item.context_expr
    span = ctx.span(call)
    callee = ctx.evaluate(call.func) if isinstance(call, ast.Call) else None
    if (
        len(node.items) != 1
        or item.optional_vars is not None
        or not isinstance(callee, Known)
        or callee.value is not unsafe
    ):
        message = "`with` opens a tp.unsafe block, and nothing else"
        raise reject(Code.UNSUPPORTED_STATEMENT, message, span, help="move it outside the kernel")
    assert isinstance(call, ast.Call)
    reason = call.args[0].value if len(call.args) == 1 and isinstance(call.args[0], ast.Constant) else None
    if not isinstance(reason, str) or not reason.strip() or call.keywords:
        raise reject(
            Code.NO_REASON,
            "tp.unsafe takes the reason why its block is sound",
            span,
            notes=("what stands in the block is not proved: whoever reads it must be able to follow why it holds",),
            help='write `with tp.unsafe("every index is below N because ..."):`',
        )
    outer, ctx.unsafe = ctx.unsafe, reason
    try:
        run(ctx, node.body)
    finally:
        ctx.unsafe = outer


def _while(ctx: Context, node: ast.While) -> None:
    span = ctx.span(node.test)
    test_ops: list[AnyOp] = []
    answer: Known | Tile = Known(True)

    def iteration() -> None:
        nonlocal test_ops, answer
        with ctx.builder.block() as test_ops:
            answer = condition(ctx, node.test, "`while`")
        run(ctx, node.body)

    before = dict(ctx.scope)
    loop = compile_loop(ctx, assigned_names(node.body), span, iteration)
    if isinstance(answer, Known):
        if not truth(answer, span):
            ctx.scope.clear()
            ctx.scope.update(before)
            return
        message = "this condition is always true: the loop never ends"
        raise reject(Code.CONDITION, message, span, help="let the condition depend on something the loop changes")
    ctx.builder.emit(While(span, loop.results, loop.inits, loop.carried, Block(tuple(test_ops), (answer,)), loop.body))
