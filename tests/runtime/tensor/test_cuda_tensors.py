"""Tensors on a GPU, as a stand-in for the driver sees them."""

from __future__ import annotations

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import Stub
from oracles.foreign_arrays import BASE, OTHER, Foreign
from tileproof.backends.cuda.device.driver import Device, Memory
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.language.dtypes import ALL, DType
from tileproof.runtime.device.cuda_memory import CudaAccount
from tileproof.runtime.interop import dlpack
from tileproof.runtime.memory import accounting
from tileproof.runtime.memory.accounting import Account, Taken
from tileproof.runtime.memory.block import Block
from tileproof.runtime.tensor.creation import arange, asarray, empty, from_numpy, full, zeros

STORED = [dtype for dtype in ALL if dtype.storage is not None]


class PlainAccount(Account):
    """Memory of a GPU, one allocation for each tensor."""

    _note = CudaAccount._note

    def _take(self, nbytes: int, what: object, is_zero: bool) -> Block:
        assert self.device is not None
        block = Block(self.device, Device(self.device).allocate(nbytes), nbytes, None, self, is_written=False)
        self._note(block)
        return block

    def _give_back(self, gone: Taken) -> None:
        assert self.device is not None
        Device(self.device).free(gone.address)


@pytest.fixture(autouse=True)
def accounts(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of two GPUs."""
    monkeypatch.setattr(accounting, "_accounts", {None: Account(None), 0: PlainAccount(0), 1: PlainAccount(1)})


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_the_driver_fills_every_element_type(dtype: DType) -> None:
    for value in (0, 1):
        x = full((3, 5), value, dtype, "cuda")
        assert (x.device, x.tolist()) == ("cuda:0", [[value] * 5] * 3)
    assert full((), 1, dtype, "cuda").item() == 1
    assert zeros(0, dtype, "cuda").tolist() == []


def test_patterns_of_eight_bytes_fill_any_number_of_elements() -> None:
    for count in (1, 2, 4095, 4097, 20_001):
        x = full(count, 1.1, tp.f64, "cuda:1")
        assert (x.device, set(x.tolist())) == ("cuda:1", {1.1})


def test_the_host_reads_and_writes_views() -> None:
    reference = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = from_numpy(reference, "cuda")
    assert x[::-1, ::2].tolist() == reference[::-1, ::2].tolist()
    x[1:3, 1::2] = -1
    reference[1:3, 1::2] = -1
    assert x.tolist() == reference.tolist()
    assert x[2, 3].item() == -1
    assert x.T.numpy().tolist() == reference.T.tolist()
    assert x.block.exports == 0


def test_a_tensor_moves_from_device_to_device() -> None:
    x = arange(6, tp.i32).reshape(2, 3)
    there = x.T.to("cuda")
    assert (there.device, there.tolist()) == ("cuda:0", x.T.tolist())
    assert there.to("cuda:0") is there
    other = there[:, :1].to("cuda:1")
    assert (other.device, other.tolist()) == ("cuda:1", [[0], [1], [2]])
    assert there.to("cuda:1").to("cpu").tolist() == x.T.tolist()
    assert there.copy().tolist() == x.T.tolist()
    with pytest.raises(LaunchError, match="nobody has written"):
        empty(3, device="cuda").to("cpu")


def test_numpy_gets_a_copy() -> None:
    x = zeros(3, device="cuda")
    x.numpy()[0] = 1
    assert x.tolist() == [0, 0, 0]
    assert np.asarray(x).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        x.__array__(copy=False)


def test_a_capsule_says_where_the_memory_lies() -> None:
    x = zeros((2, 3), tp.f8e4m3, "cuda:1")
    assert x.__dlpack_device__() == (2, 1)
    capsule = x.T.__dlpack__(stream=1, max_version=(1, 0))
    content = dlpack.read(capsule)
    assert (content.address, content.device_type, content.device) == (x.address, dlpack.CUDA, 1)
    assert (content.element, content.shape, content.strides) == ("f8e4m3", (3, 2), (1, 3))
    assert x.block.exports == 1
    del capsule
    assert x.block.exports == 0


def test_a_capsule_for_the_host_is_a_copy() -> None:
    x = arange(3, device="cuda")
    content = dlpack.read(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert (content.device_type, content.element) == (dlpack.CPU, "i64")
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 1))


def test_the_interface_lends_the_memory_as_long_as_the_tensor_lives() -> None:
    x = zeros((2, 3), device="cuda")
    block = x.block
    interface = x.T.__cuda_array_interface__
    assert block.exports == 0
    interface = x.__cuda_array_interface__
    assert (interface["data"], interface["shape"], interface["typestr"]) == ((x.address, False), (2, 3), "<f4")
    assert (interface["strides"], interface["stream"], interface["version"]) == (None, 1, 3)
    assert x.__cuda_array_interface__["stream"] == 1
    assert block.exports == 1
    del x
    assert block.exports == 0


def test_an_array_on_a_gpu_is_shared() -> None:
    x = asarray(Foreign((4, 4), OTHER, strides=(16, -4)))
    assert (x.device, x.address, x.strides) == ("cuda:1", OTHER, (16, -4))
    assert x.span == (OTHER - 12, OTHER + 52)
    assert x.block.is_shared
    seen = x[1:].seen_by_launch()
    assert (seen.address, seen.memory, seen.writeable) == (OTHER + 16, Memory.DEVICE, True)


def test_an_array_on_a_gpu_that_is_read_only_stays_so() -> None:
    x = asarray(Foreign((4,), BASE, is_read_only=True))
    assert not x.seen_by_launch().writeable
    with pytest.raises(LaunchError, match="read-only"):
        x[0] = 1
    assert x.__cuda_array_interface__["data"] == (BASE, True)


def test_the_stream_of_the_owner_is_kept() -> None:
    assert asarray(Foreign((4,), BASE, more={"stream": 77}))[1:].seen_by_launch().stream == 77


def test_what_says_that_it_is_on_a_gpu_and_is_not_is_refused() -> None:
    with pytest.raises(LaunchError) as caught:
        asarray(Foreign((4,), 0x1000))
    assert caught.value.diagnostics[0].code is Code.MEMORY_KIND


def test_small_tensors_are_shown_and_large_ones_are_not_copied(stub: Stub) -> None:
    assert repr(arange(3, device="cuda")) == "Tensor([0, 1, 2], shape=(3,), dtype=i64, device=cuda:0)"
    assert repr(empty(3, device="cuda")) == "Tensor(uninitialised, shape=(3,), dtype=f32, device=cuda:0)"
    x = zeros(5000, device="cuda")
    before = len(stub.named("cuMemcpyDtoHAsync"))
    assert repr(x) == "Tensor([...], shape=(5000,), dtype=f32, device=cuda:0)"
    assert len(stub.named("cuMemcpyDtoHAsync")) == before


def test_memory_of_a_gpu_goes_back_to_it(stub: Stub) -> None:
    x = zeros(100, device="cuda")
    address = x.address
    del x
    tp.current_stream("cuda").synchronize()
    assert tp.memory("cuda").in_use == 0
    assert stub.freed() == [address]
