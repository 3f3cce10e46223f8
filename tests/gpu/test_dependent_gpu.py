"""Chains of kernels that begin before the one ahead has ended compute the same bits as chains that wait their turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.chain_launches import EXTENT, early, matvec, mixed
from support.device_arrays import DeviceArray
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device import stream_launch as starting
from tileproof.backends.cuda.device.driver import Device
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.runtime.interop.describe import address_of
from tileproof.runtime.launch import cuda_code as launching
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare

pytestmark = pytest.mark.gpu
STEPS = 200
"""Enough that a kernel which begins too early meets one that is late."""


@dataclass(frozen=True)
class Step:
    """One launch of a chain, and its code in both forms."""

    bound: Bound
    space: running.LaunchSpace
    plain: running.Loaded
    early: running.Loaded

    def run(self, stream: int, *, is_early: bool, dependent: bool) -> None:
        """Starts it, in one form or the other."""
        held = self.early if is_early else self.plain
        addresses = {name: address_of(array) for name, array in self.bound.tensors.items()}
        given = self.bound.tensors, addresses, self.bound.scalars, self.bound.dimensions, self.space, stream
        starting.run(held, *given, dependent=dependent)


def code_of(wanted: launching.Variant) -> running.Code:
    try:
        return launching.code_of(wanted)
    except LaunchError as error:
        if error.diagnostics[0].code is not Code.NO_ASSEMBLER:
            raise
        pytest.skip("there is no assembler, and the code is not among what was compiled elsewhere")


def step(device: Device, kernel: tp.Kernel, arrays: Sequence[DeviceArray]) -> Step:
    if not launching.target_for(device.arch).can_wait:
        pytest.skip(f"a GPU of architecture {device.arch} waits for each kernel to end")
    forms = []
    for each in (kernel, early(kernel)):
        with tp.backend("cuda"):
            found, bound = prepare(each, tuple(arrays), {})
        space = launching.space_of(found, bound)
        forms.append(launching.variant(found, bound, space, device.arch))
    return Step(bound, space, *(running.Loaded(each.kernel, code_of(each), device) for each in forms))


@dataclass
class Chain:
    """Two vectors that are made of each other, again and again."""

    device: Device
    start: Any
    weights: Any

    def run(self, *, is_early: bool, dependent: bool, is_mixed: bool = False) -> list[bytes]:
        """What both vectors hold at the end."""
        one, two = DeviceArray(self.start), DeviceArray(np.zeros_like(self.start))
        weights = DeviceArray(self.weights)
        steps = [step(self.device, matvec, (two, weights, one)), step(self.device, matvec, (one, weights, two))]
        if is_mixed:
            steps.insert(1, step(self.device, mixed, (two, one)))
        stream = self.device.make_stream()
        # The copies above went to another stream; they were waited for.
        for number in range(STEPS):
            for place, each in enumerate(steps):
                each.run(stream, is_early=is_early, dependent=dependent and number + place > 0)
        self.device.synchronize(stream)
        self.device.end_stream(stream)
        for array in (one, two):
            array.assert_rest_is_kept()
        weights.assert_is_kept()
        return [array.numpy().tobytes() for array in (one, two)]


@pytest.fixture
def chain(gpu: Device) -> Chain:
    random = np.random.default_rng(7)
    weights, _ = np.linalg.qr(random.standard_normal((EXTENT, EXTENT)))
    return Chain(gpu, random.standard_normal(EXTENT).astype(np.float32), weights.astype(np.float32))


@pytest.mark.parametrize("is_mixed", [False, True])
def test_a_chain_that_begins_early_computes_the_same_bits(chain: Chain, is_mixed: bool) -> None:
    in_turn = chain.run(is_early=True, dependent=False, is_mixed=is_mixed)
    for _ in range(5):
        assert chain.run(is_early=True, dependent=True, is_mixed=is_mixed) == in_turn
    values = np.frombuffer(in_turn[0], np.float32)
    assert np.isfinite(values).all()
    assert np.abs(values).max() > 1e-30


def test_code_that_may_begin_early_computes_what_other_code_does(chain: Chain) -> None:
    early, plain = (
        np.frombuffer(chain.run(is_early=is_early, dependent=is_early)[0], np.float32) for is_early in (True, False)
    )
    assert np.allclose(early, plain, rtol=1e-3, atol=1e-4)


def test_a_chain_can_begin_early_where_the_gpu_holds_all_its_blocks(chain: Chain) -> None:
    arrays = DeviceArray(chain.start), DeviceArray(chain.weights), DeviceArray(np.zeros_like(chain.start))
    made = step(chain.device, matvec, arrays)
    assert made.early.can_depend(made.space, made.bound.tensors)
    assert not made.plain.can_depend(made.space, made.bound.tensors)
    with pytest.raises(ValueError, match="cannot begin before the kernel ahead of it has ended"):
        made.run(0, is_early=False, dependent=True)
