"""The law of combiners: `Fold`, `Scan` and `Join` hand a combiner two values of a kind, and it makes one of them.

A combiner computes and nothing else: it touches no memory and shows nothing, so that it may run in any program and
as often as a backend likes. `Fold` and `Scan` combine the elements along an axis, so their combiner never sees that
axis; `Join` combines whole tiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from tileproof.language.dtypes import ENTRY

from .ops import Combiner, Fold, If, Join, PureOp, RangeLoop, Scan, TilesLoop, While
from .rules import check_axis, demand, without
from .types import Tile, TileType
from .walk import walk

_Computing: TypeAlias = PureOp | Fold | Scan | TilesLoop | RangeLoop | While | If


def check_combining(op: Fold | Scan | Join) -> None:
    """Raises `Broken` unless the types of identities, results and combiner follow from the operands."""
    demand(op.operands != (), "there is nothing to combine")
    types = [operand.type for operand in op.operands]
    demand(all(of.dtype != ENTRY for of in types), "{} is not combined; none has no arithmetic", ENTRY)
    match op:
        case Fold(identities=identities):
            parts = _parts(types, op.axis)
            _demand_types("the identities", identities, [TileType(of.dtype) for of in types])
            _demand_types("the results", op.results, parts)
            _check_combiner(op.combiner, parts)
        case Scan():
            parts = _parts(types, op.axis)
            _demand_types("the results", op.results, types)
            _check_combiner(op.combiner, parts)
        case Join():
            _demand_types("the results", op.results, types)
            _check_combiner(op.combiner, types)
        case _:
            assert_never(op)


def _parts(types: list[TileType], axis: int) -> list[TileType]:
    """What is combined along an axis: the operands without it."""
    for of in types:
        demand(of.axes == types[0].axes, "what is combined differs in shape: {} and {}", types[0], of)
        check_axis(of, axis)
    return [without(of, axis) for of in types]


def _check_combiner(combiner: Combiner, types: list[TileType]) -> None:
    _demand_types("the left values of a combiner", combiner.left, types)
    _demand_types("the right values of a combiner", combiner.right, types)
    _demand_types("the values a combiner hands on", combiner.body.yields, types)
    for op in walk(combiner.body):
        demand(isinstance(op, _Computing), "a combiner computes only, and this is {}", type(op).__name__)


def _demand_types(what: str, tiles: Iterable[Tile], types: list[TileType]) -> None:
    actual = [tile.type for tile in tiles]
    demand(actual == types, "{} are {}, not {}", what, _listed(types), _listed(actual))


def _listed(types: list[TileType]) -> str:
    return ", ".join(map(str, types)) or "nothing"
