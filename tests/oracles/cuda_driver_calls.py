"""Calls of the stand-in for the CUDA driver that are about streams, events and graphs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

from oracles.cuda_driver_names import CUgraphNodeType, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus
from oracles.cuda_driver_streams import Graph, Step, Streams

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass
class StreamCalls:
    """What streams were given, and what was recorded."""

    failing: dict[str, CUresult] = field(default_factory=dict)
    """What calls give by their names; the others succeed."""
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    streams: Streams = field(default_factory=Streams)
    """What streams do."""
    graphs: dict[int, Graph] = field(default_factory=dict)
    ready: dict[int, Graph] = field(default_factory=dict)
    """Graphs that can run."""
    live: set[int] = field(default_factory=set)
    """What tells streams apart whose handles are the same."""
    ended: list[int] = field(default_factory=list)
    """Handles of streams that new streams get."""
    handles: Iterator[int] = field(default_factory=lambda: count(0x5000, 16))
    unique: Iterator[int] = field(default_factory=lambda: count(7))

    # Streams and events.

    def on_cuStreamCreate(self, flags: int) -> tuple[int]:  # noqa: N802
        handle = self.ended.pop() if self.ended else next(self.handles)
        self.live.add(handle)
        return (handle,)

    def on_cuStreamCreateWithPriority(self, flags: int, priority: int) -> tuple[int]:  # noqa: N802
        return self.on_cuStreamCreate(flags)

    def on_cuCtxGetStreamPriorityRange(self) -> tuple[int, int]:  # noqa: N802
        return 0, -5

    def on_cuStreamDestroy(self, stream: int) -> tuple[()]:  # noqa: N802
        if stream in self.live:
            self.live.remove(stream)
            self.ended.append(stream)
        return ()

    def on_cuStreamSynchronize(self, stream: int) -> tuple[()] | CUresult:  # noqa: N802
        if graph := self.streams.recording.get(stream):
            graph.is_invalid = True
            return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        self.streams.wait(lambda: self.streams.is_done(stream))
        return ()

    def on_cuStreamWaitValue32(self, stream: int, address: int, value: int, flags: int) -> tuple[()]:  # noqa: N802
        word = ctypes.c_int32.from_address(address)
        is_there = lambda: (word.value - value) % (1 << 32) < 1 << 31  # noqa: E731
        self.streams.give(stream, Step(CUgraphNodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, is_ready=is_there))
        return ()

    def on_cuEventCreate(self, flags: int) -> tuple[int]:  # noqa: N802
        return (0xE0000 + next(self.unique),)

    def on_cuEventRecord(self, event: int, stream: int) -> tuple[()]:  # noqa: N802
        self.streams.record(event, stream)
        return ()

    def on_cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[()] | CUresult:  # noqa: N802
        return () if self.streams.wait_for(stream, event) else CUresult.CUDA_ERROR_STREAM_CAPTURE_ISOLATION

    def on_cuEventQuery(self, event: int) -> tuple[()] | CUresult:  # noqa: N802
        if self.streams.graph_of(event) is not None:
            return CUresult.CUDA_ERROR_CAPTURED_EVENT
        return () if self.streams.is_over(event) else CUresult.CUDA_ERROR_NOT_READY

    def on_cuEventSynchronize(self, event: int) -> tuple[()] | CUresult:  # noqa: N802
        if self.streams.graph_of(event) is not None:
            return CUresult.CUDA_ERROR_CAPTURED_EVENT
        self.streams.wait(lambda: self.streams.is_over(event))
        return ()

    # Graphs.

    def on_cuStreamIsCapturing(self, stream: int) -> tuple[CUstreamCaptureStatus]:  # noqa: N802
        graph = self.streams.recording.get(stream)
        return (CUstreamCaptureStatus(0 if graph is None else 2 if graph.is_invalid else 1),)

    def on_cuStreamBeginCapture(self, stream: int, mode: CUstreamCaptureMode) -> tuple[()] | CUresult:  # noqa: N802
        # The default stream cannot record.
        if not stream:
            return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        if stream in self.streams.recording:
            return CUresult.CUDA_ERROR_ILLEGAL_STATE
        self.streams.begin(stream)
        return ()

    def on_cuStreamEndCapture(self, stream: int) -> tuple[int] | CUresult:  # noqa: N802
        graph = self.streams.recording.get(stream)
        if graph is None:
            return CUresult.CUDA_ERROR_ILLEGAL_STATE
        if graph.origin != stream:
            graph.is_invalid = True
            return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
        self.streams.end(graph)
        if graph.is_invalid:
            return CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        if not graph.is_joined():
            return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED
        handle = 0x6000000 + next(self.unique)
        self.graphs[handle] = graph
        return (handle,)

    def on_cuGraphDestroy(self, graph: int) -> tuple[()]:  # noqa: N802
        del self.graphs[graph]
        return ()

    def on_cuGraphGetNodes(self, graph: int, count: int = 0) -> tuple[list[int], int]:  # noqa: N802
        steps = self.graphs[graph].steps
        return [id(step) for step in steps[:count]], len(steps)

    def on_cuGraphGetEdges(self, graph: int, count: int = 0) -> tuple[list[int], list[int], list[None], int]:  # noqa: N802
        kept = self.graphs[graph]
        ends = [(id(kept.steps[before]), id(kept.steps[after])) for before, after in kept.edges[:count]]
        return [end[0] for end in ends], [end[1] for end in ends], [None] * len(ends), len(kept.edges)

    def _step(self, node: int) -> Step:
        return next(step for graph in self.graphs.values() for step in graph.steps if id(step) == node)

    def on_cuGraphNodeGetType(self, node: int) -> tuple[CUgraphNodeType]:  # noqa: N802
        kind = self._step(node).kind
        assert kind is not None
        return (kind,)

    def on_cuGraphKernelNodeGetParams(self, node: int) -> tuple[SimpleNamespace]:  # noqa: N802
        return (SimpleNamespace(kern=self._step(node).kernel, func=0),)

    def on_cuGraphInstantiate(self, graph: int, flags: int) -> tuple[int]:  # noqa: N802
        handle = 0x7000000 + next(self.unique)
        self.ready[handle] = self.graphs[graph]
        return (handle,)

    def on_cuGraphExecDestroy(self, graph: int) -> tuple[()]:  # noqa: N802
        del self.ready[graph]
        return ()

    def on_cuGraphLaunch(self, graph: int, stream: int) -> tuple[()]:  # noqa: N802
        self.streams.give(stream, *self.ready[graph].steps)
        return ()
