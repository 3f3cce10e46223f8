"""Graphs of the CUDA driver: what a stream was given while it recorded, and what runs that again."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from .driver_api import Gpu

_KINDS: Final = {
    "KERNEL": "kernel", "MEMCPY": "copy", "MEMSET": "fill", "HOST": "host function", "GRAPH": "graph",
    "EMPTY": "nothing", "WAIT_EVENT": "wait for an event", "EVENT_RECORD": "event", "MEM_ALLOC": "allocation",
    "MEM_FREE": "free", "BATCH_MEM_OP": "memory operation", "CONDITIONAL": "condition",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that a graph does."""

    kind: str
    """`kernel`, `copy`, `fill`, `host function`, and so on."""
    name: str = ""
    """Of a kernel; "" for others."""


class CapturedGraph:
    """What a stream was given while it recorded."""

    __slots__ = ("__weakref__", "device", "handle")

    def __init__(self, device: Gpu, handle: int) -> None:
        self.device, self.handle = device, handle
        device.driver.drop_with(self, "cuGraphDestroy", handle)

    def nodes(self) -> tuple[Node, ...]:
        """What it does."""
        return tuple(map(self._node, self._handles()))

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Which of `nodes` comes after which, by their places: (earlier, later)."""
        doing = "looking at a graph"
        *_, count = self.device.call(doing, "cuGraphGetEdges", self.handle)
        if not count:
            return ()
        earlier, later, *_ = self.device.call(doing, "cuGraphGetEdges", self.handle, int(count))
        places = {int(handle): place for place, handle in enumerate(self._handles())}
        return tuple((places[int(one)], places[int(other)]) for one, other in zip(earlier, later, strict=True))

    def instantiate(self) -> ExecutableGraph:
        """What runs it. This graph may end before that does."""
        handle = self.device.call("making a graph ready", "cuGraphInstantiate", self.handle, 0)
        nodes = (self._node(each) for each in reversed(self._handles()))
        last = islice((node.name for node in nodes if node.name), self.device.driver.launched.maxlen)
        return ExecutableGraph(self.device, int(handle), tuple(last)[::-1])

    def _handles(self) -> list[Any]:
        _, count = self.device.call("looking at a graph", "cuGraphGetNodes", self.handle)
        if not count:
            return []
        handles, _ = self.device.call("looking at a graph", "cuGraphGetNodes", self.handle, int(count))
        return list(handles)

    def _node(self, handle: Any) -> Node:
        kind = self.device.call("looking at a graph", "cuGraphNodeGetType", handle)
        short = str(kind.name).removeprefix("CU_GRAPH_NODE_TYPE_")
        return Node(_KINDS.get(short, short.lower().replace("_", " ")), self._kernel(handle) if not int(kind) else "")

    def _kernel(self, handle: Any) -> str:
        """The name of a kernel, or "kernel" if the driver does not know it."""
        api = self.device.driver.api
        found = self.device.call("looking at a graph", "cuGraphKernelNodeGetParams", handle)
        # Either may be what it was launched by, and the other be 0 or something that has no name.
        for kernel, name_of in ((found.kern, api.cuKernelGetName), (found.func, api.cuFuncGetName)):
            if int(kernel):
                result, name = name_of(kernel)
                if not int(result) and name:
                    return bytes(name).decode()
        return "kernel"


class ExecutableGraph:
    """A graph that is ready to run, any number of times, one after another."""

    __slots__ = ("__weakref__", "device", "handle", "kernels")

    def __init__(self, device: Gpu, handle: int, kernels: tuple[str, ...] = ()) -> None:
        self.device, self.handle, self.kernels = device, handle, kernels
        device.driver.drop_with(self, "cuGraphExecDestroy", handle)

    def upload(self, stream: int) -> None:
        """Has a stream bring it to the GPU, which its first run does otherwise."""
        self.device.call("bringing a graph to the GPU", "cuGraphUpload", self.handle, stream)

    def launch(self, stream: int) -> None:
        """Has a stream run it."""
        self.device.call("replaying a graph", "cuGraphLaunch", self.handle, stream)
        self.device.driver.launched.extend(self.kernels)
