"""What the CUDA driver says of captured graphs and memory pools, for tests that look at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tileproof.backends.cuda.device.driver import CapturedGraph, Pool

_KINDS: Final = {"KERNEL": "kernel", "MEMCPY": "copy", "MEMSET": "fill", "HOST": "host function"}


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that a graph does: its kind, and the name of a kernel."""

    kind: str
    name: str = ""


def nodes(graph: CapturedGraph) -> tuple[Node, ...]:
    """What a captured graph does."""

    def node(handle: Any) -> Node:
        kind = graph.device.call("looking at a graph", "cuGraphNodeGetType", handle)
        short = str(kind.name).removeprefix("CU_GRAPH_NODE_TYPE_")
        return Node(_KINDS.get(short, short.lower()), graph._kernel(handle))

    return tuple(map(node, graph._handles()))


def edges(graph: CapturedGraph) -> tuple[tuple[int, int], ...]:
    """Which of `nodes` comes after which, by their places: (earlier, later)."""
    doing = "looking at a graph"
    *_, count = graph.device.call(doing, "cuGraphGetEdges", graph.handle)
    if not count:
        return ()
    earlier, later, *_ = graph.device.call(doing, "cuGraphGetEdges", graph.handle, int(count))
    places = {int(handle): place for place, handle in enumerate(graph._handles())}
    return tuple((places[int(one)], places[int(other)]) for one, other in zip(earlier, later, strict=True))


@dataclass(frozen=True, slots=True)
class PoolUse:
    """How many bytes of a pool are in use and how many it holds, now and at most so far."""

    used: int
    used_high: int
    reserved: int
    reserved_high: int


def pool_use(pool: Pool) -> PoolUse:
    """How much of a pool is in use."""
    names = ("USED_MEM_CURRENT", "USED_MEM_HIGH", "RESERVED_MEM_CURRENT", "RESERVED_MEM_HIGH")
    doing = "asking a memory pool"
    values = (pool.device.call(doing, "cuMemPoolGetAttribute", pool.handle, pool._which(name)) for name in names)
    return PoolUse(*map(int, values))
