"""Operators of torch made of kernels, on a GPU: eager, compiled, differentiated, on torch's current stream."""

from __future__ import annotations

from typing import Any

import pytest

from oracles.tile_ir_operations import has_assembler
from samples.torch_launches import cube, cube_backward
from tileproof.backends.cuda.device.driver import Device
from tileproof.runtime.launch.torch_operators import torch_op

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch(gpu: Device) -> Any:
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this torch was built without CUDA")
    return module


@pytest.fixture
def cube_op(torch: Any) -> Any:
    gradient = torch_op("tileproof_gpu_tests::cube_backward", kernel=cube_backward)
    return torch_op("tileproof_gpu_tests::cube", kernel=cube, backward=lambda saved, dy: gradient(saved.x, dy))


def test_an_operator_runs_eager_and_compiled(torch: Any, cube_op: Any) -> None:
    x = torch.randn(1000, device="cuda")
    torch.testing.assert_close(cube_op(x), x * x * x)
    run = torch.compile(lambda x: cube_op(x + 1) * 2, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(run(x), (x + 1) ** 3 * 2)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_an_operator_is_differentiated(torch: Any, cube_op: Any, is_compiled: bool) -> None:
    run = torch.compile(lambda x: cube_op(x), fullgraph=True, backend="aot_eager") if is_compiled else cube_op
    x = torch.randn(9, device="cuda", dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (x,))


def test_torch_finds_nothing_wrong_with_it(torch: Any, cube_op: Any) -> None:
    if not has_assembler():
        pytest.skip("the assembler is not installed, and torch tries sizes of its own")
    x = torch.randn(33, device="cuda", requires_grad=True)
    assert set(torch.library.opcheck(cube_op, (x,)).values()) == {"SUCCESS"}


def test_an_operator_goes_to_the_current_stream(torch: Any, cube_op: Any) -> None:
    x = torch.randn(1 << 20, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        doubled = x * 2
        y = cube_op(doubled)
    stream.synchronize()
    torch.testing.assert_close(y, (2 * x) ** 3)
