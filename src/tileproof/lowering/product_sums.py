"""A pass: a matrix product that is added to a tile accumulates into that tile.

`x + l @ r`, where the product is used for nothing else, becomes a product that accumulates into `x`, which saves a
pass over the result. Sums of floats then have another order.
"""

from __future__ import annotations

from dataclasses import replace

from tileproof.ir import ops
from tileproof.ir.types import AnyValue
from tileproof.ir.walk import map_blocks, uses, walk


def add_products(kernel: ops.KernelIR) -> ops.KernelIR:
    """The kernel with products that begin their sums with what they are added to."""
    zeros = _zeros(kernel)

    def added(block: ops.Block) -> ops.Block:
        return _added(ops.Block(tuple(map_blocks(op, added) for op in block.ops), block.yields), zeros)

    return replace(kernel, body=added(kernel.body))


def _zeros(kernel: ops.KernelIR) -> set[AnyValue]:
    """All tiles that are zero everywhere, as what `l @ r` begins with is."""
    zeros: set[AnyValue] = set()
    for op in walk(kernel.body):
        match op:
            case ops.Constant(result=result, value=value) if value == 0:
                zeros.add(result)
            case ops.Broadcast(result=result, operand=operand) if operand in zeros:
                zeros.add(result)
    return zeros


def _added(block: ops.Block, zeros: set[AnyValue]) -> ops.Block:
    counts = use_counts(block)
    products = {op.result: op for op in block.ops if isinstance(op, ops.Mma)}
    kept: list[ops.AnyOp] = []
    for op in block.ops:
        match op:
            case ops.Binary(fn=ops.BinaryFn.ADD, left=left, right=right):
                product, other = (right, left) if right in products else (left, right)
                mma = products.get(product)
                if mma is not None and mma.acc in zeros and counts[product] == 1 and mma in kept:
                    kept.remove(mma)
                    kept.append(replace(mma, result=op.result, acc=other))
                    continue
        kept.append(op)
    return ops.Block(tuple(kept), block.yields)


def use_counts(block: ops.Block) -> dict[AnyValue, int]:
    """How often the operations of a block and its yields use each value."""
    counts: dict[AnyValue, int] = {}
    for op in block.ops:
        for value in (*ops.operands(op), *(used for inner in ops.blocks(op) for used in uses(inner))):
            counts[value] = counts.get(value, 0) + 1
    for value in block.yields:
        counts[value] = counts.get(value, 0) + 1
    return counts


def single_products(body: ops.Block) -> dict[AnyValue, ops.Binary]:
    """Products of floats, element by element, whose only use is a sum or difference of the same block."""
    single: dict[AnyValue, ops.Binary] = {}
    for block in (body, *(inner for op in walk(body) for inner in ops.blocks(op))):
        counts = use_counts(block)
        products = {
            op.result: op
            for op in block.ops
            if isinstance(op, ops.Binary) and op.fn is ops.BinaryFn.MUL and op.result.type.dtype.name in ("f32", "f64")
        }
        for op in block.ops:
            if isinstance(op, ops.Binary) and op.fn in (ops.BinaryFn.ADD, ops.BinaryFn.SUB):
                for side in (op.left, op.right):
                    if side in products and counts[side] == 1:
                        single[side] = products[side]
                        break
    return single
