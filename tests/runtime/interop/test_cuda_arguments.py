"""Arguments on a GPU, with a stand-in for the driver: what is read of them, what is accepted, and what is rejected.

`tests/gpu/test_arguments_gpu.py` passes the arrays of real libraries.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_driver import Stub
from oracles.foreign_arrays import BASE, F32, HOST, MANAGED, OTHER, Foreign, accepted, copy, copy_matrix, rejection
from support.device_buffers import DeviceBuffer, to_device
from support.repeated import gather, permuted, ragged, scatter
from tileproof import In, InOut, f32
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Memory
from tileproof.diagnostics.codes import Code
from tileproof.runtime.interop import describe
from tileproof.runtime.interop.describe import byte_range, described, host_copy
from tileproof.runtime.launch.launch import prepare
from tileproof.runtime.memory.aliasing import Overlap, overlap_of, self_overlap


@tp.kernel
def add_to(y: InOut[f32, "N"], x: In[f32, "N"], by: f32) -> None:
    for n in tp.parallel(N=4):
        y[n] += x[n] * by


# What is read.


def test_an_array_is_read_by_its_interface(stub: Stub) -> None:
    array = Foreign((3, 4), BASE + 64)
    result = described(array)
    assert result is not None
    assert (result.address, result.shape, result.strides, result.dtype) == (BASE + 64, (3, 4), (16, 4), F32)
    assert (result.ndim, result.size, result.itemsize, result.nbytes) == (2, 12, 4, 48)
    assert (result.device, result.writeable, result.memory, result.stream) == (0, True, Memory.DEVICE, None)
    assert result.keep is array


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", [np.int8, np.float64, np.bool_])
def test_a_described_array_has_the_sizes_that_numpy_gives(stub: Stub, shape: tuple[int, ...], dtype: Any) -> None:
    plain = np.zeros(shape, dtype)
    result = described(Foreign(shape, dtype=np.dtype(dtype)))
    assert result is not None
    for name in ("shape", "dtype", "itemsize", "size", "nbytes", "ndim"):
        assert getattr(result, name) == getattr(plain, name), name
    if plain.size:
        assert result.strides == plain.strides


def test_strides_are_taken_as_they_are_given(stub: Stub) -> None:
    result = described(Foreign((3, 4), BASE + 400, strides=(-64, 8)))
    assert result is not None
    assert result.strides == (-64, 8)
    assert byte_range(result) == (BASE + 400 - 128, BASE + 400 + 24 + 4)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_element_types_that_numpy_has_no_letters_for_are_read_from_the_array(stub: Stub, dtype: Any) -> None:
    x, y = Foreign((8,), dtype=np.dtype(dtype)), Foreign((8,), BASE + 64, np.dtype(dtype))
    assert accepted(copy, y, x).dtypes["T"].storage == np.dtype(dtype)


@pytest.mark.parametrize(("given", "wanted"), [(None, None), (1, 0), (2, 2), (0x5000, 0x5000)])
def test_the_stream_of_the_owner_is_kept(stub: Stub, given: int | None, wanted: int | None) -> None:
    result = described(Foreign((4,), more={"stream": given}))
    assert result is not None
    assert result.stream == wanted


@pytest.mark.parametrize("value", [np.zeros(3), np.float32(1), 1, 2.0, True, None, "text", [1.0], object()])
def test_what_is_not_on_a_gpu_is_none_of_ours(value: Any) -> None:
    assert described(value) is None


def test_the_driver_says_which_gpu_an_array_is_on(stub: Stub) -> None:
    array = Foreign((4,), OTHER)
    array.device = SimpleNamespace(id=0)  # type: ignore[attr-defined]
    result = described(array)
    assert result is not None
    assert result.device == 1


def test_an_array_without_elements_is_where_it_says(stub: Stub) -> None:
    array = Foreign((0,), 0)
    array.device = SimpleNamespace(id=1)  # type: ignore[attr-defined]
    result = described(array)
    assert result is not None
    assert (result.device, byte_range(result)) == (1, (0, 0))


@pytest.mark.parametrize(
    "more",
    [{"shape": (2, 3)}, {"shape": (-1,)}, {"shape": None}, {"data": None}, {"typestr": "what"}, {"typestr": "|O"}],
    ids=str,
)
def test_an_interface_that_makes_no_sense_is_refused(stub: Stub, more: dict[str, Any]) -> None:
    diagnostic = rejection(copy, Foreign((4,), strides=(4,), more=more), Foreign((4,)))
    assert diagnostic.code is Code.ARGUMENT_KIND
    assert "`y`" in diagnostic.message


def test_an_interface_that_raises_is_refused_with_what_it_says(stub: Stub) -> None:
    class Broken:
        @property
        def __cuda_array_interface__(self) -> Any:
            raise RuntimeError("the array was deleted\nlong ago")

    diagnostic = rejection(copy, Broken(), Foreign((4,)))
    assert (diagnostic.code, diagnostic.notes) == (Code.ARGUMENT_KIND, ("it says: the array was deleted",))


def test_a_mask_is_refused(stub: Stub) -> None:
    diagnostic = rejection(copy, Foreign((4,)), Foreign((4,), BASE + 64, more={"mask": Foreign((4,))}))
    assert (diagnostic.code, "mask" in diagnostic.message) == (Code.ARGUMENT_KIND, True)


# Launches.


def test_a_launch_whose_arguments_are_on_one_gpu_is_a_launch_on_that_gpu(stub: Stub) -> None:
    bound = accepted(add_to, Foreign((8,)), Foreign((8,), BASE + 32), 2.0)
    assert (bound.device, bound.dimensions, bound.scalars) == (0, {"N": 8}, {"by": 2.0})
    assert bound.tensors["x"].address == BASE + 32
    assert accepted(copy, Foreign((8,), OTHER), Foreign((8,), OTHER + 64)).device == 1


def test_a_launch_of_numpy_arrays_is_on_no_gpu() -> None:
    assert accepted(copy, np.zeros(4, F32), np.ones(4, F32)).device is None


ON_CPU, ON_GPU = np.zeros(4, F32), Foreign((4,))
MIXED: dict[str, tuple[Any, Any, str, str]] = {
    "an output on the CPU": (ON_CPU, ON_GPU, "`x` is on GPU 0, and `y` on the CPU", "torch.as_tensor(y, device=0)"),
    "an input on the CPU": (ON_GPU, ON_CPU, "`x` is on the CPU, and `y` on GPU 0", "torch.as_tensor(x, device=0)"),
    "two GPUs": (Foreign((4,), OTHER), ON_GPU, "`x` is on GPU 0, and `y` on GPU 1", "`x.to(1)`"),
}


@pytest.mark.parametrize("name", MIXED)
def test_arguments_on_different_devices_are_refused_by_name(stub: Stub, name: str) -> None:
    y, x, message, cure = MIXED[name]
    diagnostic = rejection(copy, y, x)
    assert (diagnostic.code, diagnostic.message) == (Code.DEVICES_DIFFER, message)
    assert cure in diagnostic.help
    assert len(diagnostic.labels) == 1


@pytest.mark.parametrize(
    ("y", "x", "code", "words"),
    [
        (Foreign((4,)), Foreign((4, 1), BASE + 64), Code.ARGUMENT_RANK, "(4, 1)"),
        (Foreign((4,)), Foreign((5,), BASE + 64), Code.DIMENSION_DIFFERS, "N is 4 in `y` and 5 in `x`"),
        (Foreign((4,)), Foreign((4,), BASE + 64, np.dtype(np.int32)), Code.ARGUMENT_DTYPE, "`x`"),
        (Foreign((4,)), Foreign((4,), BASE + 64, np.dtype(">f4")), Code.ARGUMENT_DTYPE, "other order"),
        (Foreign((4,)), Foreign((4,), BASE + 64, np.dtype(np.complex64)), Code.ARGUMENT_DTYPE, "complex64"),
        (Foreign((4,)), Foreign((4,), BASE + 64, "<V2"), Code.ARGUMENT_DTYPE, "not an element type"),
        (Foreign((4,)), Foreign((4,), BASE + 66), Code.MISALIGNED, "`x`"),
        (Foreign((4,)), Foreign((4,), BASE + 64, strides=(6,)), Code.MISALIGNED, "`x`"),
        (Foreign((4,), is_read_only=True), Foreign((4,), BASE + 64), Code.READ_ONLY, "`y`"),
        (Foreign((4,)), Foreign((4,)), Code.ALIASED, "`y` and `x` share memory"),
        (Foreign((4,)), Foreign((4,), BASE + 12), Code.ALIASED, "share memory"),
        (Foreign((4,), BASE + 12, strides=(-4,)), Foreign((4,)), Code.ALIASED, "share memory"),
        (Foreign((4,), strides=(0,)), Foreign((4,), BASE + 64), Code.ALIASED, "`y`"),
    ],
    ids=str,
)
def test_the_rules_of_a_launch_hold_on_a_gpu(stub: Stub, y: Foreign, x: Foreign, code: Code, words: str) -> None:
    diagnostic = rejection(copy, y, x)
    assert diagnostic.code is code
    assert words in diagnostic.message


@pytest.mark.parametrize(
    ("y", "x"),
    [
        (Foreign((4,)), Foreign((4,), BASE + 16)),
        (Foreign((4,), strides=(8,)), Foreign((4,), BASE + 4, strides=(8,))),
        (Foreign((4,), BASE + 12, strides=(-4,)), Foreign((4,), BASE + 16)),
        (Foreign((0,)), Foreign((0,))),
        (Foreign((4,)), Foreign((4,), BASE + 64, is_read_only=True)),
        (Foreign((4,)), Foreign((4,), BASE + 64, strides=(0,))),
    ],
    ids=str,
)
def test_arrays_that_share_no_element_are_accepted(stub: Stub, y: Foreign, x: Foreign) -> None:
    assert accepted(copy, y, x).device == 0


def test_columns_of_one_matrix_are_told_apart(stub: Stub) -> None:
    left, right = (Foreign((8, 4), BASE + start, strides=(64, 4)) for start in (0, 16))
    accepted(copy_matrix, left, right)
    assert rejection(copy_matrix, left, Foreign((8, 4), BASE + 12, strides=(64, 4))).code is Code.ALIASED


def test_overlap_on_a_gpu_is_what_it_is_on_the_host(stub: Stub) -> None:
    host = np.zeros(256, np.uint8)
    begin = host.__array_interface__["data"][0]
    picks = [slice(0, 64), slice(8, 40, 8), slice(12, 44, 8), slice(64, 128), slice(100, None, -4), slice(9, 9)]
    views = [host[pick] for pick in picks] + [host[:64].view(F32)[::3], host[32:96].view(F32).reshape(4, 4)[:, 1:3]]
    met = set()
    for left in views:
        for right in views:
            pair = [
                described(Foreign(v.shape, BASE + v.__array_interface__["data"][0] - begin, v.dtype, v.strides))
                for v in (left, right)
            ]
            assert pair[0] is not None
            assert pair[1] is not None
            assert overlap_of(pair[0], pair[1]) is overlap_of(left, right)
            assert self_overlap(pair[0]) == self_overlap(left)
            met.add(overlap_of(left, right))
    assert met >= {Overlap.NONE, Overlap.SOME}


# Kinds of memory.


@pytest.mark.parametrize(("address", "words"), [(MANAGED, "managed memory"), (HOST, "memory of the host")])
def test_memory_that_the_host_shares_is_read_and_not_written(stub: Stub, address: int, words: str) -> None:
    accepted(copy, Foreign((4,)), Foreign((4,), address))
    diagnostic = rejection(copy, Foreign((4,), address), Foreign((4,)))
    assert diagnostic.code is Code.MEMORY_KIND
    assert words in diagnostic.message
    assert "cupy.empty" in diagnostic.help


@pytest.mark.parametrize("place", ["written", "read"])
def test_memory_that_cuda_does_not_know_is_refused(stub: Stub, place: str) -> None:
    lost = Foreign((4,), 0x1000)
    diagnostic = rejection(copy, *((lost, Foreign((4,))) if place == "written" else (Foreign((4,)), lost)))
    assert diagnostic.code is Code.MEMORY_KIND
    assert ("`y`" if place == "written" else "`x`") in diagnostic.message


def test_without_a_driver_an_array_that_says_it_is_on_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise ImportError

    monkeypatch.setattr(driver, "_imported", missing)
    driver._opened.cache_clear()
    try:
        with pytest.raises(tp.LaunchError) as raised:
            prepare(copy, (Foreign((4,)), Foreign((4,))), {})
    finally:
        driver._opened.cache_clear()
    assert raised.value.diagnostics[0].code is Code.NO_GPU


# Our own arrays, and copies.


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (0,), (2, 0, 3)])
def test_an_array_goes_to_a_gpu_and_back(stub: Stub, dtype: Any, shape: tuple[int, ...]) -> None:
    sent = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    buffer = to_device(sent, 1)
    back = buffer.numpy()
    assert (buffer.shape, buffer.dtype, buffer.device) == (shape, np.dtype(dtype), 1)
    assert (back.dtype, back.shape, back.tobytes()) == (sent.dtype, sent.shape, sent.tobytes())


def test_an_array_with_gaps_is_copied_without_them(stub: Stub) -> None:
    sent = np.arange(24, dtype=F32).reshape(4, 6)[::-1, ::2].T
    assert (to_device(sent).numpy() == sent).all()


def test_a_buffer_is_an_argument_and_an_array_for_other_libraries(stub: Stub) -> None:
    x, y = to_device(np.ones(4, F32)), DeviceBuffer((4,), F32)
    bound = accepted(copy, y, x)
    assert (bound.device, bound.tensors["x"].keep) == (0, x)
    again = Foreign(x.shape, more=x.__cuda_array_interface__)
    assert accepted(copy, y, again).tensors["x"].address == x.address
    assert rejection(copy, again, x).code is Code.ALIASED


def test_the_memory_of_a_buffer_is_given_back_once(stub: Stub) -> None:
    buffer = to_device(np.ones(4, F32))
    address = buffer.address
    result = described(buffer)
    del buffer
    gc.collect()
    assert address in stub.blocks, "the description keeps it"
    del result
    gc.collect()
    assert stub.blocks == {}
    assert stub.freed() == [address]


def test_a_copy_on_the_host_has_the_elements_of_a_strided_array(stub: Stub) -> None:
    kept = to_device(np.arange(60, dtype=np.int32).reshape(5, 12))
    plain = kept.numpy()
    for pick in (np.s_[::2, 1::3], np.s_[::-1, ::-2], np.s_[2], np.s_[1:1], np.s_[3, 4:5]):
        view = np.asarray(plain[pick])
        offset = view.__array_interface__["data"][0] - plain.__array_interface__["data"][0]
        result = described(Foreign(view.shape, kept.address + offset, view.dtype, view.strides))
        assert result is not None
        assert (host_copy(result) == view).all()
        assert host_copy(result).shape == view.shape


def test_a_numpy_array_is_its_own_copy() -> None:
    array = np.ones(4)
    assert host_copy(array) is array


def test_a_copy_waits_for_the_stream_of_the_owner(stub: Stub) -> None:
    kept = to_device(np.arange(4, dtype=np.int32))
    result = described(Foreign((4,), kept.address, np.dtype(np.int32), more={"stream": 0x77}))
    assert result is not None
    stub.calls.clear()
    host_copy(result)
    names = [name for name, _ in stub.calls]
    assert names.index("cuEventRecord") < names.index("cuStreamWaitEvent") < names.index("cuMemcpyDtoHAsync")
    assert stub.named("cuEventRecord")[0][1] == 0x77
    assert stub.named("cuStreamWaitEvent")[0][0] == 0


# Contents.


def test_contents_on_a_gpu_are_looked_at(stub: Stub) -> None:
    table, x = to_device(np.ones(6, F32)), to_device(np.ones(4, F32))
    y, wide = to_device(np.ones(4, F32)), to_device(np.ones(6, F32))

    def ids(*values: int) -> DeviceBuffer:
        return to_device(np.array(values, np.int32))

    accepted(gather, y, table, ids(5, 0, 5, 1))
    assert "`ids[2]` is 6" in rejection(gather, y, table, ids(5, 0, 6, 1)).message
    assert "`ids[1]` is -1" in rejection(gather, y, table, ids(5, -1, 0, 1)).message
    accepted(scatter, wide, x, ids(5, 0, -1, 1))
    assert "both 5" in rejection(scatter, wide, x, ids(5, 0, 5, 1)).message
    accepted(ragged, y, ids(0, 2, 4))
    assert "falls" in rejection(ragged, y, ids(0, 3, 2, 4)).message
    accepted(permuted, y, x, ids(3, 2, 1, 0))
    diagnostic = rejection(permuted, y, x, ids(3, 2, -1, 0))
    assert (diagnostic.code, "`to[2]` is -1" in diagnostic.message) == (Code.CONTENTS, True)


# Streams.


def test_the_stream_is_torchs_then_cupys_then_the_default(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert describe.current_stream(1) == 0
    cupy = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda device: SimpleNamespace(ptr=100 + device)))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert describe.current_stream(1) == 101
    started = []
    cuda = SimpleNamespace(
        is_initialized=lambda: bool(started), current_stream=lambda device: SimpleNamespace(cuda_stream=200 + device)
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert describe.current_stream(1) == 101
    started.append(True)
    assert describe.current_stream(1) == 201


# Nothing is loaded.


def test_looking_at_arguments_loads_no_other_library() -> None:
    program = """
import sys
import numpy as np
from tileproof.runtime.interop.describe import current_stream, described
class Array:
    __cuda_array_interface__ = {"shape": (0,), "typestr": "<f4", "data": (0, False), "version": 3}
assert described(Array()).size == 0
assert described(np.zeros(3)) is None
assert current_stream(0) == 0
assert not {"torch", "cupy", "jax", "numba", "cuda.bindings"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
