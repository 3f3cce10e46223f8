"""IR to IR: short steps of products become longer.

A loop that only takes products of tiles of two tensors and adds them up goes on by several tiles at a time. Each
element is the same sum in the same order, so nothing changes but speed: a tile as deep as a GPU likes is too shallow
for a CPU, which loads and stores the sums once for each.
"""

from __future__ import annotations

from dataclasses import replace

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Axis, Tile, TileType, Value, Walker, WalkerTag
from tileproof.ir.walk import map_blocks


def deepen_products(kernel: ops.KernelIR, depth: int) -> ops.KernelIR:
    """The kernel with its products taken about `depth` elements of the inner axis at a time."""

    def deeper(block: ops.Block) -> ops.Block:
        return _deepened(ops.Block(tuple(map_blocks(op, deeper) for op in block.ops), block.yields), depth)

    return replace(kernel, body=deeper(kernel.body))


def _deepened(block: ops.Block, depth: int) -> ops.Block:
    deepened = (_deeper(op, depth) if isinstance(op, ops.TilesLoop) else op for op in block.ops)
    return ops.Block(tuple(deepened), block.yields)


def _deeper(op: ops.TilesLoop, depth: int) -> ops.AnyOp:
    """The loop with a walker as many times longer as makes its steps about `depth` deep, if it only adds products."""
    size = op.walker.type.size
    if not isinstance(size, int) or size * 2 > depth or not _is_product_loop(op):
        return op
    walker: Walker = Value(op.walker.name, replace(op.walker.type, size=depth // size * size))
    values: dict[AnyValue, AnyValue] = {op.walker: walker}

    def longer(tile: Tile) -> Tile:
        axes = tuple(
            Axis(walker.type.size or 1, WalkerTag(walker)) if axis.tag == WalkerTag(op.walker) else axis
            for axis in tile.type.axes
        )
        longer_tile: Tile = tile if axes == tile.type.axes else Value(tile.name, TileType(tile.type.dtype, axes))
        values[tile] = longer_tile
        return longer_tile

    body: list[ops.AnyOp] = []
    for inner in op.body.ops:
        match inner:
            case ops.Load():
                picks = tuple(_moved(pick, values) for pick in inner.picks)
                body.append(replace(inner, result=longer(inner.result), picks=picks))
            case ops.Permute() | ops.Cast():
                body.append(replace(inner, result=longer(inner.result), operand=values[inner.operand]))  # type: ignore[arg-type]
            case ops.Mma():
                left, right = values[inner.left], values[inner.right]
                body.append(replace(inner, left=left, right=right))  # type: ignore[arg-type]
    return replace(op, walker=walker, body=ops.Block(tuple(body), op.body.yields))


def _moved(pick: ops.Pick, values: dict[AnyValue, AnyValue]) -> ops.Pick:
    """A pick by what has taken the place of its walker or its indices."""
    match pick:
        case ops.Along(walker):
            return ops.Along(values.get(walker, walker))  # type: ignore[arg-type]
        case ops.Gather(indices):
            return ops.Gather(values.get(indices, indices))  # type: ignore[arg-type]
        case _:
            return pick


def _is_product_loop(op: ops.TilesLoop) -> bool:
    """Whether each turn loads tiles, perhaps turns or converts them, and adds products of them over the walked axis to
    sums that are used for nothing else."""
    loaded: set[Tile] = set()
    sums = dict(zip(op.carried, op.body.yields, strict=True))
    tag = WalkerTag(op.walker)
    for inner in op.body.ops:
        match inner:
            case ops.Load(result=result, tensor=tensor) if not tensor.type.access.writes:
                loaded.add(result)
            case ops.Permute(result=result, operand=operand) | ops.Cast(result=result, operand=operand):
                if operand not in loaded:
                    return False
                loaded.add(result)
            case ops.Mma(result=result, left=left, right=right, acc=acc):
                if not {left, right} <= loaded or left.type.axes[-1].tag != tag or right.type.axes[-2].tag != tag:
                    return False
                if sums.pop(acc, None) is not result:
                    return False
            case _:
                return False
    return not sums
