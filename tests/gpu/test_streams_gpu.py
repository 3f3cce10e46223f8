"""Launches go to the stream that is current, in order with the work of others there, with torch and without."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.example_launches import own
from support.device_arrays import DeviceArray
from support.gpu_runs import assert_agrees
from tileproof.backends.cuda.device.driver import Device

pytestmark = pytest.mark.gpu
TESTS = Path(__file__).resolve().parents[1]
LONG = 4096
"""Rows of a product that takes torch a while."""


@pytest.fixture
def torch(gpu: Device) -> Any:
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this torch was built without CUDA")
    return module


def add() -> tuple[tp.Kernel, dict[str, Any]]:
    kernel, _, constants = own("add")
    return kernel, constants


def busy(torch: Any, amount: int = 20) -> None:
    """Work on the current stream that is not done when the next line runs."""
    x = torch.ones(LONG, LONG, device="cuda")
    for _ in range(amount):
        x = x @ x * 1e-4


def test_a_launch_waits_for_what_torch_has_put_on_the_stream(torch: Any) -> None:
    kernel, constants = add()
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        a, b, c = (torch.zeros(100, device="cuda") for _ in range(3))
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            busy(torch)
            a.fill_(2)
            kernel(c, a, b, **constants)
            c += 1
        stream.synchronize()
        assert c.tolist() == [3] * 100


def test_a_launch_does_not_wait_for_another_stream(torch: Any) -> None:
    kernel, constants = add()
    a, b, c = (torch.ones(100, device="cuda") for _ in range(3))
    blocked, free = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(free):  # what the first launch on a stream takes from the driver may wait for all of them
        c.zero_()
        kernel(c, a, b, **constants)
    gc.collect()  # so does freeing what other tests left
    torch.cuda.synchronize()
    opened, gave_up = threading.Event(), []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def wait(_: object) -> None:
        if not opened.wait(30):
            gave_up.append(True)

    start = ctypes.CDLL("libcuda.so.1").cuLaunchHostFunc
    assert start(ctypes.c_void_p(blocked.cuda_stream), wait, None) == 0
    try:
        with torch.cuda.stream(free):
            c.zero_()
            kernel(c, a, b, **constants)
        free.synchronize()
    finally:
        opened.set()
    torch.cuda.synchronize()
    assert not gave_up, "it waited for a stream it has nothing to do with"
    assert c.tolist() == [2] * 100


def test_launches_are_captured_in_a_graph_of_torch(torch: Any) -> None:
    kernel, constants = add()
    a, b, c = (torch.ones(100, device="cuda") for _ in range(3))
    kernel(c, a, b, **constants)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(c, a, b, **constants)
        kernel(b, c, a, **constants)
    a.fill_(5)
    graph.replay()
    torch.cuda.synchronize()
    assert b.tolist() == [11] * 100


def test_threads_launch_on_streams_of_their_own(torch: Any) -> None:
    kernel, constants = add()
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                c, b = torch.zeros(100, device="cuda"), torch.full((100,), float(number), device="cuda")
                for _ in range(50):
                    a = c.clone()
                    kernel(c, a, b, **constants)
                stream.synchronize()
                assert c.tolist() == [50.0 * number] * 100
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_without_torch_launches_go_to_the_default_stream(alone: Callable[[str], str]) -> None:
    printed = alone(f"""
        import sys
        sys.path.insert(0, {str(TESTS)!r})
        import numpy as np
        from samples.example_launches import example, own
        from support.device_buffers import to_device
        from tileproof.runtime.interop.describe import current_stream
        assert current_stream(0) == 0
        kernel, arguments, constants = own("add")
        c, a, b = (to_device(array) for array in arguments)
        kernel(c, a, b, **constants)
        kernel(b, c, a, **constants)
        expected = arguments[1] + arguments[2]
        assert (c.numpy() == expected).all()
        assert (b.numpy() == expected + arguments[1]).all()
        assert "torch" not in sys.modules and "cupy" not in sys.modules
        print("done")
    """)
    assert printed == "done\n"


def test_a_launch_is_repeated_with_other_arrays() -> None:
    """What a launch keeps for the next one does not hold on to addresses."""
    kernel, arguments, constants = own("add")
    for number in range(5):
        given = [np.full(100, number, np.float32) for _ in range(3)]
        arrays = [DeviceArray(array) for array in given]
        kernel(*arrays, **constants)
        assert (arrays[0].numpy() == 2 * number).all()
        for array in arrays:
            array.assert_rest_is_kept()
    assert assert_agrees(lambda: own("add")) == []
    assert len(arguments) == 3
