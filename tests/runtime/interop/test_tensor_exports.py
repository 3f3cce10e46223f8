"""Memory is shared with other libraries without a copy, both ways, and for as long as they have it."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, Out, f32
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.language.dtypes import ALL, DType
from tileproof.runtime.interop import dlpack
from tileproof.runtime.launch import contracts, owned
from tileproof.runtime.memory import contents as facts
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.contents import Measured
from tileproof.runtime.tensor.creation import arange, asarray, empty, full, zeros
from tileproof.runtime.tensor.tensors import Tensor

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

STORED = [dtype for dtype in ALL if dtype.storage is not None]


@tp.kernel
def gather(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = table[ids[n]]


# Numpy.


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_an_array_of_numpy_has_the_memory_of_the_tensor(dtype: DType) -> None:
    x = zeros((2, 3), dtype)
    array = x.T.numpy()
    assert (array.dtype, array.shape, array.strides) == (dtype.storage, (3, 2), x.T.strides)
    array[0, 1] = 1
    assert x.tolist() == [[0, 0, 0], [1, 0, 0]]
    x[0, 0] = 1
    assert float(array[0, 0]) == 1


def test_memory_is_shared_while_any_array_over_it_lives() -> None:
    x = zeros((4, 4))
    assert not x.block.is_shared
    first, second = x.numpy(), np.asarray(x[1:])
    row = first[2][::2].view(np.int32)
    assert x.block.exports == 2
    del first
    assert x.block.exports == 2
    del second
    assert x.block.exports == 1
    del row
    assert x.block.exports == 0
    assert not x.block.is_shared


class _Watched(list[object]):
    """The list of a block, which looks at the version whenever a view is gone."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.versions: list[int] = []

    def remove(self, view: object) -> None:
        self.versions.append(self.block.version)
        super().remove(view)


@pytest.mark.parametrize("handed_out", [Tensor.numpy, np.asarray, np.from_dlpack, torch.from_dlpack])
def test_the_end_of_a_view_makes_a_version_before_memory_counts_as_shared_no_more(
    handed_out: Callable[[Tensor], Any],
) -> None:
    x = zeros(4)
    x.block.lent = watched = _Watched(x.block)
    for _ in range(3):
        view = handed_out(x)
        version = x.version
        del view
        assert watched.versions[-1] == x.version == version + 1
    assert not x.block.is_shared


def test_entries_that_a_view_writes_and_drops_while_a_launch_measures_are_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    y, table, ids = zeros(2), arange(8, tp.f32), zeros(2, tp.i32)
    views = [ids.numpy()]

    def measure(array: Any, kind: str, *rows: Any) -> Measured:
        measured = facts.measure(array, kind, *rows)
        while views:
            views.pop()[1] = 8
        return measured

    monkeypatch.setattr(owned, "measure", measure)
    monkeypatch.setattr(contracts, "measure", measure)
    gather(y, table, ids)  # what was measured is a copy, which the kernel reads
    assert not views
    assert y.tolist() == [0, 0]
    with pytest.raises(LaunchError) as caught:
        gather(y, table, ids)
    assert caught.value.diagnostics[0].code is Code.CONTENTS
    assert "`ids[1]` is 8" in caught.value.diagnostics[0].message


def test_threads_that_share_memory_at_once_are_all_counted() -> None:
    x = zeros(16)
    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(lambda _: x.numpy(), range(2000)))
        assert x.block.exports == 2000
        list(threads.map(lambda _: kept.pop(), range(2000)))
    assert x.block.exports == 0


@pytest.mark.usefixtures("still_memory")
def test_an_array_keeps_the_memory_of_a_tensor_that_is_gone() -> None:
    before = tp.memory().tensors
    array = arange(1000).numpy()
    assert tp.memory().tensors == before + 1
    assert array.sum() == 499500
    del array
    assert tp.memory().tensors == before


def test_an_array_that_was_handed_out_counts_as_written() -> None:
    x = empty((2, 3))
    version = x.version
    row = x[0].numpy()
    assert x[0].is_initialised
    assert not x.is_initialised
    assert x.version == version + 1
    row[:] = 5
    assert x[0].tolist() == [5, 5, 5]


def test_numpy_asks_for_copies_and_gets_them() -> None:
    x = arange(3)
    for array in (np.array(x), np.asarray(x, np.float32), x.__array__(copy=True)):
        assert x.block.exports == 0
        array[0] = 9
    assert x.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        x.__array__(np.float32, copy=False)
    assert np.shares_memory(x.__array__(copy=False), x.numpy())


def test_numpy_computes_with_tensors() -> None:
    x = full((2, 2), 3)
    np.testing.assert_array_equal(np.ones((2, 2)) + x, np.full((2, 2), 4))
    assert np.sum(x) == 12
    assert x.block.exports == 0


# DLPack.


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_torch_reads_every_element_type(dtype: DType) -> None:
    x = zeros((2, 3), dtype)
    x[1, 2] = 1
    seen = torch.from_dlpack(x[:, 1:])
    assert seen.data_ptr() == x[:, 1:].address
    assert seen.to(torch.float64).tolist() == x[:, 1:].tolist()
    assert seen.stride() == (3, 1)


def test_torch_writes_where_the_tensor_is() -> None:
    x = zeros((2, 3))
    first, second = torch.from_dlpack(x), torch.from_dlpack(x)
    assert x.block.exports == 2
    first[0, 0], second[1, 1] = 1, 2
    assert x.tolist() == [[1, 0, 0], [0, 2, 0]]
    rows = first[1]
    del first, second
    gc.collect()
    assert x.block.exports == 1
    del rows
    assert x.block.exports == 0


@pytest.mark.usefixtures("still_memory")
def test_a_tensor_of_torch_keeps_the_memory() -> None:
    before = tp.memory().tensors
    seen = torch.from_dlpack(arange(1000))
    assert (seen.sum().item(), tp.memory().tensors) == (499500, before + 1)
    del seen
    assert tp.memory().tensors == before


def test_a_tensor_survives_the_way_there_and_back() -> None:
    x = arange(6, tp.i32).reshape(2, 3)
    again = asarray(torch.from_dlpack(x.T))
    assert (again.address, again.shape, again.strides) == (x.address, x.T.shape, x.T.strides)
    assert not again.block.is_owned
    again[0, 0] = 9
    assert x[0, 0].item() == 9
    del again
    assert x.block.exports == 0


def test_numpy_reads_capsules_too() -> None:
    x = arange(3)
    array = np.from_dlpack(x)
    assert array.tolist() == [0, 1, 2]
    assert x.block.exports == 1
    del array
    assert x.block.exports == 0


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])
def test_capsules_are_of_the_version_that_is_asked_for(version: tuple[int, int] | None) -> None:
    x = zeros(3, tp.bf16)
    capsule = x.__dlpack__(max_version=version)
    expected = "dltensor_versioned" if version is not None and version[0] else '"dltensor"'
    assert expected in repr(capsule)
    content = dlpack.read(capsule)
    assert (content.address, content.element, content.shape) == (x.address, "bf16", (3,))
    assert content.device_type == dlpack.CPU
    assert x.block.exports == 1
    del capsule
    assert x.block.exports == 0


def test_a_capsule_that_torch_does_not_take_over_gives_the_memory_back() -> None:
    x = zeros(3)
    capsule = x.__dlpack__()
    torch.utils.dlpack.from_dlpack(capsule)
    del capsule
    assert x.block.exports == 0


def test_a_copy_is_lent_where_one_is_asked_for() -> None:
    x = arange(3)
    content = dlpack.read(x.__dlpack__(max_version=(1, 1), copy=True))
    assert content.address != x.address
    assert not content.writeable
    assert x.block.exports == 0


def test_a_tensor_is_lent_to_its_own_device_only() -> None:
    x = zeros(3)
    assert x.__dlpack_device__() == (1, 0)
    assert dlpack.read(x.__dlpack__(dl_device=(1, 0))).address == x.address
    with pytest.raises(BufferError, match="copy it there"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="no stream"):
        x.__dlpack__(stream=1)


def test_memory_that_is_read_only_stays_so_for_others() -> None:
    x = asarray(np.broadcast_to(np.float32(2), (3,)))
    assert not x.numpy().flags.writeable
    assert not dlpack.read(x.__dlpack__(max_version=(1, 0))).writeable
    with pytest.raises(BufferError):
        x.__dlpack__()


def test_what_torch_still_has_at_the_end_of_the_process_is_no_trouble() -> None:
    script = """
import torch, tileproof as tp
x = tp.ones(1000)
kept = [torch.from_dlpack(x), x.numpy(), x.__dlpack__(max_version=(1, 0))]
import builtins
builtins.kept = kept
kept.append(kept)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# Memory of others.


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_a_tensor_has_the_memory_of_the_array(dtype: DType) -> None:
    array = np.zeros((3, 4), dtype.storage)
    x = asarray(array[::-1, ::2])
    assert (x.dtype, x.shape, x.strides) == (dtype, (3, 2), array[::-1, ::2].strides)
    x[0, 1] = 1
    assert float(array[2, 2]) == 1
    assert x.block.is_shared
    assert x.is_initialised
    assert float(x[::-1][2, 1]) == 1


def test_a_tensor_keeps_the_memory_of_the_array() -> None:
    x = asarray(np.arange(100_000))[99_998:]
    gc.collect()
    assert x.tolist() == [99_998, 99_999]


@pytest.mark.usefixtures("still_memory")
def test_memory_of_others_is_in_nobodys_account() -> None:
    before = tp.memory()
    x = asarray(np.zeros(1000))
    assert tp.memory() == before
    del x
    assert tp.memory() == before


def test_a_tensor_is_itself() -> None:
    x = zeros(3)
    assert asarray(x) is x
    assert asarray(x, "cpu") is x


@pytest.mark.parametrize(
    "array",
    [np.broadcast_to(np.float32(1), (3,)), np.frombuffer(b"abc", np.uint8), torch.ones(3, requires_grad=True)],
    ids=["broadcast", "bytes", "grad"],
)
def test_memory_that_is_read_only_is_not_written(array: Any) -> None:
    x = asarray(array)
    for tensor in (x, x[:1], x.reshape(1, 3)):
        with pytest.raises(LaunchError, match="read-only") as caught:
            tensor[...] = 0
        assert caught.value.diagnostics[0].code is Code.READ_ONLY
        assert not tensor._array.flags.writeable
    assert x.copy().copy_from(0).tolist() == [0, 0, 0]


def test_torch_says_when_a_tensor_with_a_gradient_may_be_written() -> None:
    weight = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        x = asarray(weight)
    x[0] = 5
    assert weight.tolist() == [5, 1, 1]


def test_elements_that_are_not_aligned_are_refused() -> None:
    memory = np.zeros(64, np.uint8)
    records = np.zeros(4, [("a", np.uint8), ("b", np.float32)])
    for array in (memory[1:9].view(np.float32), records["b"]):
        with pytest.raises(LaunchError, match=r"tp\.from_numpy") as caught:
            asarray(array)
        assert caught.value.diagnostics[0].code is Code.MISALIGNED


def test_an_array_that_says_of_itself_where_it_lies_is_shared() -> None:
    class Lender:
        def __init__(self, array: Any) -> None:
            self.array, self.__array_interface__ = array, array.__array_interface__

    array = np.arange(4.0)
    x = asarray(Lender(array))
    array[0] = 7
    assert x.tolist() == [7, 1, 2, 3]


def test_arrays_of_jax_are_never_written() -> None:
    jax = pytest.importorskip("jax")
    x = asarray(jax.numpy.arange(3))
    with pytest.raises(LaunchError, match="read-only"):
        x[0] = 1


def test_bf16_of_numpy_and_of_torch_are_one_type() -> None:
    assert (
        asarray(np.ones(2, ml_dtypes.bfloat16)).dtype is asarray(torch.ones(2, dtype=torch.bfloat16)).dtype is tp.bf16
    )
