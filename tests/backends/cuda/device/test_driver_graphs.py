"""Graphs that a stream records, on a stand-in for the driver."""

from __future__ import annotations

import ctypes
import gc

import pytest

from oracles.cuda_driver import CUresult, Stub
from oracles.driver_refusals import rejection
from support.driver_state import Node, edges, nodes
from tileproof.backends.cuda.device.driver import Device, Event, launch, load
from tileproof.diagnostics.codes import Code


def test_what_a_stream_records_is_not_done(stub: Stub) -> None:
    gpu = Device(0)
    stream, place = gpu.make_stream(), gpu.allocate(1)
    gpu.memset_async(place, 1, 1, stream)
    assert not gpu.is_capturing(stream)
    gpu.begin_capture(stream)
    assert gpu.is_capturing(stream)
    gpu.memset_async(place, 2, 1, stream)
    graph = gpu.end_capture(stream)
    assert not gpu.is_capturing(stream)
    assert ctypes.string_at(place, 1) == b"\1"
    assert nodes(graph) == (Node("fill"),)
    ((_, mode),) = stub.named("cuStreamBeginCapture")
    assert mode.name == "CU_STREAM_CAPTURE_MODE_RELAXED"


def test_a_graph_runs_as_often_as_it_is_launched_on_any_stream(stub: Stub) -> None:
    gpu = Device(0)
    stream, other = gpu.make_stream(), gpu.make_stream()
    here, there = gpu.allocate(1), gpu.allocate(1)
    gpu.begin_capture(stream)
    gpu.copy_async(there, here, 1, stream)
    ready = gpu.end_capture(stream).instantiate()
    ready.upload(other)
    for value in (3, 4):
        gpu.memset_async(here, value, 1, other)
        ready.launch(other)
        assert ctypes.string_at(there, 1) == bytes([value])
    assert stub.named("cuGraphUpload") == [(ready.handle, other)]
    assert stub.named("cuGraphLaunch") == [(ready.handle, other)] * 2


def test_a_graph_names_its_kernels_and_what_follows_what(stub: Stub) -> None:
    stub.kernels = ("first", "second", "third")
    gpu = Device(0)
    one, other, place = gpu.make_stream(), gpu.make_stream(), gpu.allocate(8)
    fork, join = Event(gpu), Event(gpu)
    module = load(b"cubin")
    gpu.begin_capture(one)
    launch(module.function("first"), (1, 1, 1), one, 0)
    fork.record(one)
    fork.wait_on(other)
    launch(module.function("second"), (1, 1, 1), other, 0)
    gpu.memset_async(place, 0, 8, one)
    join.record(other)
    join.wait_on(one)
    launch(module.function("third"), (1, 1, 1), one, 0)
    graph = gpu.end_capture(one)
    assert not gpu.is_capturing(other)
    done = nodes(graph)
    assert sorted((node.kind, node.name) for node in done) == [
        ("fill", ""), ("kernel", "first"), ("kernel", "second"), ("kernel", "third"),
    ]  # fmt: skip
    names = [node.name or node.kind for node in done]
    assert {(names[before], names[after]) for before, after in edges(graph)} == {
        ("first", "second"), ("first", "fill"), ("second", "third"), ("fill", "third"),
    }  # fmt: skip


def test_a_graph_of_nothing_has_neither_nodes_nor_edges(stub: Stub) -> None:
    gpu = Device(0)
    stream = gpu.make_stream()
    gpu.begin_capture(stream)
    graph = gpu.end_capture(stream)
    assert (nodes(graph), edges(graph)) == ((), ())
    graph.instantiate().launch(stream)


def test_a_kernel_that_the_driver_cannot_name_is_still_a_kernel(stub: Stub) -> None:
    gpu = Device(0)
    stream = gpu.make_stream()
    gpu.begin_capture(stream)
    launch(load(b"cubin").function("k"), (1, 1, 1), stream, 0)
    graph = gpu.end_capture(stream)
    stub.failing["cuKernelGetName"] = CUresult.CUDA_ERROR_INVALID_VALUE
    assert nodes(graph) == (Node("kernel", "kernel"),)


def test_a_failure_behind_a_graph_names_the_kernels_in_it(stub: Stub) -> None:
    stub.kernels = ("a", "b", "c", "d", "e")
    gpu = Device(0)
    stream = gpu.make_stream()
    functions = [load(b"cubin").function(name) for name in stub.kernels]
    gpu.begin_capture(stream)
    for function in functions:
        launch(function, (1, 1, 1), stream, 0)
    ready = gpu.end_capture(stream).instantiate()
    launch(functions[0], (1, 1, 1), stream, 0)
    ready.launch(stream)
    stub.failing["cuStreamSynchronize"] = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert rejection(gpu.synchronize, stream).notes[-1] == "launched last: `b`, `c`, `d`, `e`"


def test_graphs_end_with_what_holds_them(stub: Stub) -> None:
    gpu = Device(0)
    stream = gpu.make_stream()
    gpu.begin_capture(stream)
    graph = gpu.end_capture(stream)
    ready = graph.instantiate()
    del graph
    gc.collect()
    assert (len(stub.graphs), len(stub.ready)) == (0, 1)
    ready.launch(stream)
    del ready
    gc.collect()
    assert len(stub.ready) == 0


def test_waiting_while_a_stream_records_spoils_the_recording_and_the_end_says_so(stub: Stub) -> None:
    gpu = Device(0)
    stream = gpu.make_stream()
    gpu.begin_capture(stream)
    assert "before the recording" in rejection(gpu.synchronize, stream).help
    assert gpu.is_capturing(stream)
    diagnostic = rejection(gpu.end_capture, stream)
    assert diagnostic.code is Code.CUDA_FAILED
    assert "the error before this one" in diagnostic.help
    assert not gpu.is_capturing(stream)


@pytest.mark.parametrize("spoiled", [False, True])
def test_a_recording_can_be_abandoned_whatever_became_of_it(stub: Stub, spoiled: bool) -> None:
    gpu = Device(0)
    stream = gpu.make_stream()
    gpu.begin_capture(stream)
    if spoiled:
        rejection(gpu.synchronize, stream)
    gpu.abandon_capture(stream)
    gpu.abandon_capture(stream)
    assert not gpu.is_capturing(stream)
    assert stub.graphs == {}


def test_a_stream_that_joined_a_recording_and_did_not_come_back_is_told(stub: Stub) -> None:
    gpu = Device(0)
    one, other, fork = gpu.make_stream(), gpu.make_stream(), Event(gpu)
    gpu.begin_capture(one)
    fork.record(one)
    fork.wait_on(other)
    gpu.memset_async(gpu.allocate(1), 0, 1, other)
    assert "joined the recording" in rejection(gpu.end_capture, one).help


def test_an_event_of_a_recording_has_no_time(stub: Stub) -> None:
    gpu = Device(0)
    stream, event = gpu.make_stream(), Event(gpu)
    gpu.begin_capture(stream)
    event.record(stream)
    assert "recorded into a graph" in rejection(lambda: event.is_done).help
    gpu.abandon_capture(stream)
    event.record(stream)
    assert event.is_done, "it can be used again"


def test_the_default_stream_cannot_record(stub: Stub) -> None:
    assert rejection(Device(0).begin_capture, 0).code is Code.CUDA_FAILED
