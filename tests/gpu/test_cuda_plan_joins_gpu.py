"""Kernels that join pieces, launched again and again: what a launch leaves between its two stages is its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.host_launches import joined
from tileproof.backends.cuda.device.driver import Device
from tileproof.runtime.launch import cuda_plans as full

pytestmark = pytest.mark.gpu
TURNS = 200
SIZES = joined()[2]
(M, K), (_, N) = (array.shape for array in joined()[1][1:])


@pytest.fixture
def torch(gpu: Device) -> Any:
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this torch was built without CUDA")
    return module


@pytest.fixture
def matmul_split() -> tp.Kernel:
    kernel, _, _ = joined()
    kernel.forget()
    return kernel


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that were launched the full way."""
    names: list[str] = []
    give = full.give

    def noted(found: Any, *rest: Any) -> None:
        names.append(found.kernel.name)
        give(found, *rest)

    monkeypatch.setattr(full, "give", noted)
    return names


def pairs(torch: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Matrices of small whole numbers, whose product is exact in any order, and their products."""
    random = np.random.default_rng(5)
    given = [
        tuple(torch.from_numpy(random.integers(-3, 4, shape).astype(np.float32)).cuda() for shape in ((M, K), (K, N)))
        for _ in range(2)
    ]
    return given, [a.cpu().double() @ b.cpu().double() for a, b in given]


def test_alternating_inputs(torch: Any, matmul_split: tp.Kernel, launched: list[str]) -> None:
    given, expected = pairs(torch)
    results = [torch.empty(M, N, device="cuda") for _ in range(TURNS)]
    for turn, c in enumerate(results):
        matmul_split(c, *given[turn % 2], **SIZES)
    assert len(launched) <= 4, "most launches follow the first"
    for turn, c in enumerate(results):
        assert torch.equal(c.cpu().double(), expected[turn % 2])


def test_two_streams_of_torch(torch: Any, matmul_split: tp.Kernel) -> None:
    given, expected = pairs(torch)
    results = [torch.empty(M, N, device="cuda") for _ in range(TURNS)]
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    for turn, c in enumerate(results):
        # First in turns of some launches, so that each stream is alone for a while, then one by one.
        place = turn // 10 % 2 if turn < TURNS // 2 else turn % 2
        with torch.cuda.stream(streams[place]):
            matmul_split(c, *given[place], **SIZES)
    torch.cuda.synchronize()
    for turn, c in enumerate(results):
        place = turn // 10 % 2 if turn < TURNS // 2 else turn % 2
        assert torch.equal(c.cpu().double(), expected[place])


def test_replays_of_torch_beside_launches(torch: Any, matmul_split: tp.Kernel) -> None:
    given, expected = pairs(torch)
    recorded = torch.empty(M, N, device="cuda")
    side, other = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for _ in range(3):
            matmul_split(recorded, *given[0], **SIZES)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        matmul_split(recorded, *given[0], **SIZES)
    recorded.zero_()
    results = [torch.empty(M, N, device="cuda") for _ in range(TURNS)]
    torch.cuda.synchronize()
    for c in results:
        with torch.cuda.stream(other):
            matmul_split(c, *given[1], **SIZES)
        with torch.cuda.stream(side):
            graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(recorded.cpu().double(), expected[0])
    assert all(torch.equal(c.cpu().double(), expected[1]) for c in results)


def test_tensors_of_our_own_on_streams_of_our_own(matmul_split: tp.Kernel) -> None:
    random = np.random.default_rng(6)
    host = [random.integers(-3, 4, shape).astype(np.float32) for shape in ((M, K), (K, N))]
    a, b = (tp.from_numpy(each, "cuda") for each in host)
    results = [tp.empty((M, N), tp.f32, "cuda") for _ in range(TURNS)]
    streams = [tp.Stream("cuda") for _ in range(2)]
    for turn, c in enumerate(results):
        with streams[turn // 7 % 2]:
            matmul_split(c, a, b, **SIZES)
    for stream in streams:
        stream.synchronize()
    for c in results:
        np.testing.assert_array_equal(c.numpy(), host[0] @ host[1])
