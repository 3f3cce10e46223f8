"""What the host model refuses: each code is provoked, says what is wrong in the user's words, and names the cure."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tileproof as tp
from support.gates import Gate
from tileproof import In, Index, InOut, Out, T
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic

ROOT = Path(__file__).resolve().parents[2]


@tp.kernel
def double(y: Out[T, "N"], x: In[T, "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n] + x[n]


@tp.kernel
def grow(x: InOut[T, "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        x[n] = x[n] + 1


@tp.kernel
def follow(ids: InOut[Index["N"], "N"], y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[n]
        ids[n] = n


def only(raised: pytest.ExceptionInfo[tp.TileproofError]) -> Diagnostic:
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.help
    return diagnostic


# NO_DEVICE


@pytest.mark.parametrize("name", ["gpu", "host", "cpu:1", "cuda:", "cuda:one", "cuda:-1", "", 0])
def test_a_device_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(tp.LaunchError) as raised:
        tp.zeros(3, device=name)
    result = only(raised)
    assert (result.code, result.message) == (Code.NO_DEVICE, f"there is no device {name!r}")
    assert '"cuda:1"' in result.help


def test_streams_pools_and_limits_name_devices_in_the_same_way() -> None:
    for result in (tp.Stream, tp.current_stream, tp.memory, lambda name: tp.StreamPool(2, name),
                 lambda name: tp.limit_memory(None, name), tp.ones(3).to):  # fmt: skip
        with pytest.raises(tp.LaunchError) as raised:
            result("tpu")
        assert only(raised).code is Code.NO_DEVICE


# UNINITIALISED


def test_a_launch_that_reads_what_nobody_wrote_is_refused_at_its_parameter() -> None:
    x = tp.empty(8)
    x[:4] = 1
    with pytest.raises(tp.LaunchError) as raised:
        grow(x)
    result = only(raised)
    assert result.code is Code.UNINITIALISED
    assert result.message == "`x` is read, and not all of it was ever written"
    assert result.span is not None
    assert result.span.text.startswith("x: InOut")
    grow(x[:4])
    assert x[:4].tolist() == [2] * 4


@pytest.mark.parametrize("doing", ["tolist", "copy"])
def test_the_host_that_reads_what_nobody_wrote_is_refused(doing: str) -> None:
    with pytest.raises(tp.LaunchError) as raised:
        getattr(tp.empty(8), doing)()
    assert only(raised).code is Code.UNINITIALISED


def test_a_replay_that_reads_what_nobody_wrote_is_refused() -> None:
    x, y = tp.empty(8), tp.empty(8)
    with tp.Graph() as graph:
        double(y, x)
    with pytest.raises(tp.LaunchError, match="`double` reads a tensor") as raised:
        graph.replay()
    assert only(raised).code is Code.UNINITIALISED
    x[...] = 1
    graph.replay()
    assert y.tolist() == [2] * 8


# IN_FLIGHT


def test_the_host_that_writes_what_a_kernel_reads_or_writes_is_refused() -> None:
    x, y = tp.ones(8), tp.zeros(8)
    with Gate() as gate:
        gate.hold()
        double(y, x)
        for used in (x, y):
            with pytest.raises(tp.InFlight, match="`double` uses it") as raised:
                used[...] = 7
            assert only(raised).code is Code.IN_FLIGHT
    assert (x.tolist(), y.tolist()) == ([1] * 8, [2] * 8)


# OUT_OF_MEMORY


@pytest.fixture
def small_limit(still_memory: None) -> Iterator[None]:
    before = tp.memory()
    tp.limit_memory(before.in_use + (1 << 20))
    yield
    tp.limit_memory(before.limit)


@pytest.mark.usefixtures("small_limit")
def test_a_tensor_above_the_limit_is_refused_with_the_sizes() -> None:
    before = tp.memory()
    with pytest.raises(tp.OutOfMemory) as raised:
        tp.empty((1024, 512))
    result = only(raised)
    assert result.code is Code.OUT_OF_MEMORY
    assert result.message.startswith("a tensor of shape (1024, 512) and f32 takes 2.0 MiB on cpu, and the limit is ")
    assert "in use in" in result.notes[0]
    assert tp.memory().in_use == before.in_use


def test_a_tensor_that_no_machine_holds_is_refused() -> None:
    with pytest.raises(MemoryError) as raised:
        tp.empty((10**9, 10**9))
    assert isinstance(raised.value, tp.OutOfMemory)
    assert raised.value.diagnostics[0].code is Code.OUT_OF_MEMORY


# SPENT


def test_an_operation_runs_once() -> None:
    x, y = tp.ones(8), tp.empty(8)
    step = double.op(y, x)
    step.run()
    for again in (step.run, step.start, lambda: step >> grow.op(y), lambda: tp.all(step)):
        with pytest.raises(tp.LaunchError, match="`double` is run already") as raised:
            again()
        assert only(raised).code is Code.SPENT


def test_an_operation_that_is_part_of_another_does_not_run_by_itself() -> None:
    x, y = tp.ones(8), tp.empty(8)
    first = double.op(y, x)
    both = first >> grow.op(y)
    with pytest.raises(tp.LaunchError, match="part of another operation already") as raised:
        first.run()
    assert only(raised).code is Code.SPENT
    assert both.run().tolist() == [3] * 8


def test_what_follows_an_operation_is_an_operation() -> None:
    x, y = tp.ones(8), tp.empty(8)
    with pytest.raises(tp.LaunchError, match="gives int, not an operation") as raised:
        double.op(y, x).then(lambda value: 3).run()
    result = only(raised)
    assert result.code is Code.SPENT
    assert "`.map(...)`" in result.help


# NOT_IN_GRAPH


def test_what_a_graph_cannot_hold_is_refused_while_it_is_recorded() -> None:
    x, y = tp.ones(8), tp.zeros(8)
    ids = tp.from_numpy(np.arange(8, dtype=np.int32))
    other = tp.Graph()
    with other:
        double(y, x)
    rejected = {
        "is made while a graph is recorded": lambda: tp.empty(3),
        "is read by the host while a graph is recorded": x.tolist,
        "is called while a graph is recorded": lambda: tp.host_op(print).run(),
        "a function is mapped over": lambda: double.op(y, x).map(print).run(),
        "a graph is replayed while another is recorded": other.replay,
        "a graph is recorded inside another": lambda: tp.Graph().__enter__(),
        "which a graph cannot test": lambda: follow(ids, y, x),
    }
    for message, doing in rejected.items():
        with pytest.raises(tp.LaunchError, match=message) as raised, tp.Graph():
            doing()
        assert only(raised).code is Code.NOT_IN_GRAPH


def test_a_graph_is_recorded_once_and_replayed_when_it_is_recorded() -> None:
    graph = tp.Graph()
    with pytest.raises(tp.LaunchError, match="replayed that is new") as raised:
        graph.replay()
    assert only(raised).code is Code.NOT_IN_GRAPH
    with graph:
        pass
    with pytest.raises(tp.LaunchError, match="recorded once") as raised, graph:
        pass
    assert only(raised).code is Code.NOT_IN_GRAPH


# FORKED

FORKING = """
import os, sys
import tileproof as tp
from support.gates import Gate
from tileproof import In, Out, T

@tp.kernel
def double(y: Out[T, "N"], x: In[T, "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n] + x[n]

x, y, z = tp.ones(8), tp.zeros(8), tp.zeros(8)
gate = Gate()
gate.hold()
double(y, x)
child = os.fork()
if child == 0:
    try:
        y.tolist()
    except tp.TileproofError as error:
        (found,) = error.diagnostics
        print(found.code.name, bool(found.help), x.tolist() == [1] * 8)
    double(z, x)
    y[...] = 3
    print(z.tolist() == [2] * 8, y.tolist() == [3] * 8, flush=True)
    os._exit(0)
_, status = os.waitpid(child, 0)
gate.open()
print(status, y.tolist() == [2] * 8)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_memory_that_was_in_flight_at_a_fork_is_refused_in_the_child(tmp_path: Path) -> None:
    script = tmp_path / "forking.py"
    script.write_text(FORKING, encoding="utf-8")
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": paths}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == [Code.FORKED.name, "True", "True", "True", "True", "0", "True"], done.stderr
