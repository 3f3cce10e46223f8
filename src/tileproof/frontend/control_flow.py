"""Loops and branches: which names they carry, with which type.

A name assigned in a loop body and bound before it is *carried*: each iteration starts with the value that the last one
left. Its type must be the same at both ends. Literals are weak, so the type is inferred by iteration: the body is
compiled with the types known so far, and again when its end shows better ones. A name whose value has no single type
after a loop or branch is not an error until it is used.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast as typed

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import AnyOp, Block, If
from tileproof.ir.types import INDEX_SCALAR, Tile, TileType, Walker, WalkerTag
from tileproof.language.dtypes import ALL, BOOL, ENTRY, F32, INDEX, U64, DType
from tileproof.language.tiles import Lowest

from .captures import same
from .context import Context
from .entities import (
    Binding,
    Entity,
    Known,
    Poison,
    Scope,
    Unbound,
    describe,
    is_tile,
    is_walker,
    join,
    leaves,
    rebuild,
    same_build,
)
from .source import Rejected, reject
from .tile_operations import as_entry, as_number, as_tile, broadcast, default_dtype, typed_call

_MOST_PASSES = 4
"""How often a body is compiled until its types are stable, beyond once for each value it carries."""


def assigned_names(statements: Iterable[ast.stmt]) -> list[str]:
    """Every name these statements bind, in order of appearance."""
    names: dict[str, None] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = None
    return list(names)


@dataclass(slots=True)
class _Slot:
    """A leaf of a carried name: the value it enters the loop with, and the type found so far."""

    init: Entity
    type: TileType | None
    value: Tile | None = None

    def enter(self, ctx: Context, name: str) -> Entity:
        self.value = None if self.type is None else ctx.builder.value(self.type, name)
        if self.value is not None and is_tile(self.init) and self.init in ctx.builder.untyped:
            ctx.builder.untyped[self.value] = ctx.builder.untyped[self.init]
        return self.init if self.value is None else self.value


@dataclass(slots=True)
class _Carried:
    """A carried name."""

    name: str
    outer: Binding
    slots: list[_Slot]
    inner: Binding = field(init=False)

    @property
    def typed(self) -> list[_Slot]:
        return [slot for slot in self.slots if slot.type is not None]


@dataclass(frozen=True, slots=True)
class LoopBody:
    """A loop body, compiled, with what it carries."""

    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    body: Block
    results: tuple[Tile, ...]


def compile_loop(ctx: Context, assigned: Sequence[str], span: Span, body: Callable[[], None]) -> LoopBody:
    """Compiles a loop body until the types of what it carries are stable, and binds the results."""
    outer_scope = ctx.scope
    carried = []
    for name in assigned:
        binding = outer_scope.get(name)
        if isinstance(binding, Binding) and name not in ctx.frozen and not isinstance(binding.entity, Poison):
            slots = [_Slot(leaf, leaf.type if is_tile(leaf) else None) for leaf in leaves(binding.entity)]
            carried.append(_Carried(name, binding, slots))
    dropped: Scope = {}
    passes = _MOST_PASSES + sum(len(item.slots) for item in carried)
    for _ in range(passes):
        used, reported, walked = dict(ctx.builder.used), len(ctx.diagnostics), len(ctx.walkers)
        with ctx.builder.block() as ops:
            ctx.scope = {**outer_scope, **dropped}
            for item in carried:
                entity = rebuild(item.outer.entity, iter([slot.enter(ctx, item.name) for slot in item.slots]))
                item.inner = Binding(entity, item.outer.span)
                ctx.scope[item.name] = item.inner
            ctx.depth += 1
            try:
                body()
                stuck = any(found.code is Code.UNDECIDED for found in ctx.diagnostics[reported:])
            except Rejected as rejected:
                stuck = rejected.diagnostic.code is Code.UNDECIDED
                if not (stuck and _literals(carried)):
                    raise
            finally:
                ctx.depth -= 1
                ended, ctx.scope = ctx.scope, outer_scope
            # A literal that the loop changes is no constant in it, so nothing has to be decided about it.
            literals = _literals(carried) if stuck else []
            for slot in literals:
                slot.type = TileType(default_dtype(typed("Known", slot.init)))
            is_stable = not literals
            for item in list(carried) if is_stable else []:
                try:
                    is_stable &= _is_stable(ctx, item, ended[item.name], ctx.walkers[walked:])
                except Rejected as rejected:
                    if item.inner.was_read and len(ctx.diagnostics) == reported:
                        raise
                    carried.remove(item)
                    found = rejected.diagnostic
                    where = ended[item.name].span
                    dropped[item.name] = Unbound(found.message, where, found.help, found.code, found.edit)
                    is_stable = False
            if is_stable:
                yields = tuple(_yields(ctx, carried, ended))
                break
        ctx.builder.used = used
        del ctx.diagnostics[reported:], ctx.walkers[walked:]
    else:
        message = "the types of the values this loop carries do not become stable"
        raise reject(Code.LOOP_TYPE, message, span, help="give each its final type and shape before the loop")
    return _finish(ctx, carried, dropped, assigned, outer_scope, ended, ops, yields, span)


def _literals(carried: list[_Carried]) -> list[_Slot]:
    """The leaves that are still the literals they began as."""
    return [slot for item in carried for slot in item.slots if slot.type is None and _typed(slot.init) is slot.init]


def _is_stable(ctx: Context, item: _Carried, ended: Binding | Unbound, local: Sequence[Walker]) -> bool:
    """Whether the types assumed for a name hold at the end of the body; learns better ones if not."""
    if isinstance(ended, Unbound):
        message = f"`{item.name}` has no value at the end of the loop: {ended.reason}"
        raise reject(ended.code, message, ended.span, help=ended.help)
    if isinstance(ended.entity, Poison):
        return True
    if not same_build(item.outer.entity, ended.entity):
        raise _changed(ctx, item, ended, item.outer.entity, describe(item.outer.entity), describe(ended.entity))
    is_stable = True
    for slot, end in zip(item.slots, leaves(ended.entity), strict=True):
        learned = _learn(ctx, item, slot, end, ended, local)
        is_stable &= learned == slot.type
        slot.type = learned
    return is_stable


def _learn(
    ctx: Context, item: _Carried, slot: _Slot, end: Entity, ended: Binding, local: Sequence[Walker]
) -> TileType | None:
    """The type of a leaf that enters as `slot` and leaves as `end`; None if it stays what it was."""
    if slot.type is None and _unchanged(slot.init, end):
        return None
    start, final = _typed(slot.init), _typed(end)
    # What began as a literal takes the type it meets; everything else keeps its own.
    if slot.type is not None and (slot.type.axes or not isinstance(start, Known) or isinstance(final, Known)):
        start = slot.type
    learned = _common_type(start, final)
    if learned is None:
        before = str(start) if isinstance(start, TileType) else describe(slot.init)
        after = str(final) if isinstance(final, TileType) else describe(end)
        raise _changed(ctx, item, ended, slot.init, before, after)
    walker = local_tag(learned, local)
    if walker is not None:
        raise reject(
            Code.CARRIED_TAG,
            f"`{item.name}` carries a tile of `{walker.name.partition('.')[0]}` to the next iteration of the loop",
            ended.span,
            labels=(Label(item.outer.span, f"`{item.name}` enters the loop here"),),
            notes=(f"each iteration walks another tile of {walker.type.dimension}, and two tiles never meet",),
            help="reduce over that axis before carrying the value, or make it full with `.fill(...)`",
        )
    return learned


def local_tag(type_: TileType, local: Sequence[Walker]) -> Walker | None:
    """The walker among `local` that an axis is tagged with, if there is one."""
    for axis in type_.axes:
        if isinstance(axis.tag, WalkerTag) and axis.tag.walker in local:
            return axis.tag.walker
    return None


def _changed(ctx: Context, item: _Carried, ended: Binding, init: Entity, before: str, after: str) -> Rejected:
    first = f"first {before}"
    if isinstance(init, Known) and init.is_number and describe(init) != before:
        first = f"{describe(init)}, which took the type {before} in the loop"
    cure, edit = _one_type(before, after), None
    whole = next((dtype for dtype in ALL if dtype.is_integer and after.partition("[")[0] == dtype.name), None)
    if is_tile(init) and whole is not None:
        cure, edit = typed_call(ctx.builder, init, whole) or (cure, edit)
    return reject(
        Code.LOOP_TYPE,
        f"`{item.name}` enters the loop as {before} and ends an iteration as {after}",
        ended.span,
        label=f"now {after}",
        labels=(Label(item.outer.span, first),),
        notes=("a value carried around a loop keeps its element type and its shape",),
        help=cure,
        edit=edit,
    )


def _one_type(before: str, after: str) -> str:
    """How a carried value gets one type. An index is not written as one: it is cast, or begins as a number."""
    if after.startswith("index") and not before.startswith("index"):
        cast = before.partition("[")[0]
        return f"begin with a plain `0`, which takes the type it meets, or cast in the loop: `.to({cast})`"
    if before.startswith("index") and not after.startswith("index"):
        return f"cast what it begins with, or what it becomes: `.to({after.partition('[')[0]})`, or leave out the cast"
    return "give it its final type and shape before the loop, for instance with `tp.zeros(...)`"


def _yields(ctx: Context, carried: list[_Carried], ended: Scope) -> Iterator[Tile]:
    for item in carried:
        binding = ended[item.name]
        assert isinstance(binding, Binding)
        poisoned = isinstance(binding.entity, Poison)
        ends = list(leaves(binding.entity)) if not poisoned else [slot.value or slot.init for slot in item.slots]
        for slot, end in zip(item.slots, ends, strict=True):
            if slot.type is not None:
                yield coerce(ctx, end, slot.type, binding.span)


def coerce(ctx: Context, entity: Entity, wanted: TileType, span: Span) -> Tile:
    """`entity` as exactly `wanted`, which it is known to join with."""
    if wanted.dtype is ENTRY:
        return broadcast(ctx.builder, as_entry(ctx.builder, entity, span), wanted.axes, span)
    tile = as_tile(ctx.builder, entity, span, wanted.dtype)
    if wanted.dtype is INDEX:
        tile = as_number(ctx.builder, tile, span)
    return broadcast(ctx.builder, tile, wanted.axes, span)


def _common(one: DType, other: DType) -> DType | None:
    """The element type of a value that comes from two places: one type, or `index` where an entry joins an index."""
    if one is other:
        return one
    return INDEX if one.kind == other.kind == "index" else None


def _finish(
    ctx: Context, carried: list[_Carried], dropped: Scope, assigned: Sequence[str], outer: Scope, ended: Scope,
    ops: list[AnyOp], yields: tuple[Tile, ...], span: Span,
) -> LoopBody:  # fmt: skip
    """Binds names to what they are after the loop."""
    inits, values, results = [], [], []
    for name in assigned:
        if not isinstance(outer.get(name), Binding):
            outer[name] = Unbound("it is bound inside a loop, which may run no iteration", span)
    outer.update(dropped)
    for item in carried:
        after: list[Entity] = []
        for slot in item.slots:
            if slot.type is None:
                after.append(slot.init)
                continue
            assert slot.value is not None
            inits.append(coerce(ctx, slot.init, slot.type, item.outer.span))
            values.append(slot.value)
            results.append(ctx.builder.value(slot.type, item.name))
            after.append(results[-1])
        end = ended[item.name]
        if isinstance(end, Binding) and isinstance(end.entity, Poison):
            outer[item.name] = Binding(end.entity, end.span)
        elif item.typed:
            outer[item.name] = Binding(rebuild(item.outer.entity, iter(after)), item.outer.span)
    return LoopBody(tuple(inits), tuple(values), Block(tuple(ops), yields), tuple(results))


def compile_branches(
    ctx: Context,
    condition: Tile,
    span: Span,
    names: Sequence[str],
    then: Callable[[], None],
    orelse: Callable[[], None],
) -> None:
    """Compiles both branches of an `if` and joins what they bind."""
    outer, walked = ctx.scope, len(ctx.walkers)
    sides: list[tuple[list[AnyOp], Scope]] = []
    for run in (then, orelse):
        ctx.scope = dict(outer)
        ctx.depth += 1
        try:
            with ctx.builder.block() as ops:
                run()
        finally:
            ctx.depth -= 1
            ended, ctx.scope = ctx.scope, outer
        sides.append((ops, ended))
    (then_ops, then_scope), (else_ops, else_scope) = sides
    yields: tuple[list[Tile], list[Tile]] = ([], [])
    results: list[Tile] = []
    for name in names:
        one, two = then_scope.get(name), else_scope.get(name)
        if one is two:
            continue
        outer[name] = _join_name(ctx, name, one, two, sides, yields, results, walked, span)
    ctx.builder.emit(
        If(
            span,
            tuple(results),
            condition,
            Block(tuple(then_ops), tuple(yields[0])),
            Block(tuple(else_ops), tuple(yields[1])),
        )
    )


def _join_name(
    ctx: Context, name: str, one: Binding | Unbound | None, two: Binding | Unbound | None,
    sides: list[tuple[list[AnyOp], Scope]], yields: tuple[list[Tile], list[Tile]], results: list[Tile],
    walked: int, span: Span,
) -> Binding | Unbound:  # fmt: skip
    """What a name is after an `if`, with the values each branch must yield for it.

    Walkers from number `walked` on were made inside a branch, and their tags end with it.
    """
    if not isinstance(one, Binding) or not isinstance(two, Binding):
        known = one if isinstance(one, Binding) else two
        if isinstance(known, Binding):
            return Unbound(
                "it is bound in one branch only", known.span, f"bind `{name}` in both branches, or before the `if`"
            )
        missing = one or two
        assert isinstance(missing, Unbound)
        return missing
    if isinstance(one.entity, Poison) or isinstance(two.entity, Poison):
        return Binding(Poison(), span)
    differ = Unbound(
        f"the branches give it {describe(one.entity)} and {describe(two.entity)}", two.span,
        f"give `{name}` one type and shape in both branches", Code.BRANCH_TYPE,
    )  # fmt: skip
    if not same_build(one.entity, two.entity):
        return differ
    pairs = list(zip(leaves(one.entity), leaves(two.entity), strict=True))
    types = []
    for left, right in pairs:
        try:
            types.append(_join_type(left, right))
        except _Differ:
            return differ
    if any(type_ is not None and local_tag(type_, ctx.walkers[walked:]) for type_ in types):
        return differ
    after: list[Entity] = []
    for (left, right), type_ in zip(pairs, types, strict=True):
        if type_ is None:
            after.append(left)
            continue
        places = (one.span, two.span)
        for entity, (ops, _), yielded, where in zip((left, right), sides, yields, places, strict=True):
            ctx.builder.ops, kept = ops, ctx.builder.ops
            try:
                yielded.append(coerce(ctx, entity, type_, where))
            finally:
                ctx.builder.ops = kept
        results.append(ctx.builder.value(type_, name))
        after.append(results[-1])
    return Binding(rebuild(one.entity, iter(after)), one.span)


class _Differ(Exception):
    """The values of a name in two branches have no common type."""


def _join_type(left: Entity, right: Entity) -> TileType | None:
    """The common type of two branches; None if both have the same entity."""
    if _unchanged(left, right):
        return None
    joined = _common_type(_typed(left), _typed(right))
    if joined is None:
        raise _Differ
    return joined


def _unchanged(left: Entity, right: Entity) -> bool:
    return left is right or (isinstance(left, Known) and isinstance(right, Known) and same(left.value, right.value))


def _typed(entity: Entity) -> Known | TileType | None:
    """What decides the type of a value that is joined: a literal itself; an element of a walk is its position."""
    if is_tile(entity):
        return entity.type
    if is_walker(entity) and entity.type.is_each:
        return INDEX_SCALAR
    return entity if isinstance(entity, Known) and (entity.is_number or entity.is_none) else None


def _common_type(left: Known | TileType | None, right: Known | TileType | None) -> TileType | None:
    """The type of a value that comes from two places, if there is one."""
    match left, right:
        case TileType(), TileType():
            axes, dtype = join(left.axes, right.axes), _common(left.dtype, right.dtype)
            return None if axes is None or dtype is None else TileType(dtype, axes)
        case (TileType() as type_, Known() as literal) | (Known() as literal, TileType() as type_):
            if literal.is_none:
                is_position = type_.dtype.kind == "index" or (type_.dtype.is_integer and type_.dtype is not U64)
                return TileType(ENTRY, type_.axes) if is_position else None
            if type_.dtype is ENTRY:  # only what comes from an index tensor can be none; a literal is a number
                type_ = TileType(INDEX, type_.axes)
            return type_ if _adopts(literal, type_) else None
        case Known(), Known():
            kinds = {default_dtype(left), default_dtype(right)}
            if BOOL in kinds and len(kinds) > 1:
                return None
            if ENTRY in kinds:
                return TileType(ENTRY) if kinds <= {ENTRY, INDEX} else None
            return TileType(F32 if F32 in kinds else kinds.pop())
        case _:
            return None


def _adopts(literal: Known, type_: TileType) -> bool:
    """Whether a literal can take a type: integers become floats, but not the reverse."""
    kind = type_.dtype.kind
    if isinstance(literal.value, bool):
        return kind == "bool"
    if isinstance(literal.value, float):
        return kind == "float"
    return kind not in ("bool", "index") if isinstance(literal.value, Lowest) else kind != "bool"
