"""Arrays of real libraries on a real GPU, bound as a launch binds them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from support.device_buffers import to_device
from tileproof import In, Index, Out, T, f32
from tileproof.backends.cuda.device.driver import Device, Memory, place_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic
from tileproof.runtime.interop.describe import current_stream, described, host_copy
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare

pytestmark = pytest.mark.gpu
Alone = Callable[[str], str]


@tp.kernel
def copy(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n]


@tp.kernel
def gather(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = table[ids[n]]


def accepted(kernel: tp.Kernel, *args: Any) -> Bound:
    return prepare(kernel, args, {})[1]


def refused(kernel: tp.Kernel, *args: Any) -> Diagnostic:
    with pytest.raises(tp.LaunchError) as raised:
        prepare(kernel, args, {})
    (found,) = raised.value.diagnostics
    assert found.help
    return found


@pytest.fixture
def torch(gpu: Device) -> Any:
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this torch was built without CUDA")
    return module


@pytest.fixture
def cupy(gpu: Device) -> Any:
    return pytest.importorskip("cupy", reason="cupy is not installed")


# Our own.


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (0, 2)])
def test_an_array_goes_to_a_gpu_and_back(dtype: Any, shape: tuple[int, ...]) -> None:
    sent = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    back = to_device(sent).numpy()
    assert (back.dtype, back.shape, back.tobytes()) == (sent.dtype, sent.shape, sent.tobytes())


def test_the_memory_of_a_buffer_is_given_back() -> None:
    buffer = to_device(np.ones(1 << 20))
    address = buffer.address
    assert place_of(address).memory is Memory.DEVICE
    del buffer
    gc.collect()
    assert place_of(address).memory is Memory.UNKNOWN


def test_a_buffer_is_an_array_for_cupy_and_torch(cupy: Any, torch: Any) -> None:
    buffer = to_device(np.arange(6, dtype=np.float32))
    cupy.asarray(buffer)[2] = 50
    torch.as_tensor(buffer, device="cuda")[3] = 60
    torch.cuda.synchronize()
    assert buffer.numpy().tolist() == [0, 1, 50, 60, 4, 5]


# Torch.


@pytest.mark.parametrize(
    "name",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
     "float64", "float8_e4m3fn", "float8_e5m2"],
)  # fmt: skip
def test_tensors_of_every_element_type_are_read(torch: Any, name: str) -> None:
    x = torch.tensor([0, 1, 1, 0]).to(getattr(torch, name)).cuda()
    found = described(x)
    assert found is not None
    assert (found.address, found.itemsize, found.device) == (x.data_ptr(), x.element_size(), 0)
    assert host_copy(found).astype(int).tolist() == [0, 1, 1, 0]
    assert accepted(copy, torch.empty_like(x), x).device == 0


@pytest.mark.parametrize(
    "view",
    [lambda x: x, lambda x: x.T, lambda x: x[1:, ::2], lambda x: x.diagonal(), lambda x: x[:0], lambda x: x[2, 3],
     lambda x: x[:1].expand(4, 5)],
)  # fmt: skip
def test_views_of_tensors_have_their_elements(torch: Any, view: Callable[[Any], Any]) -> None:
    x = view(torch.arange(30, dtype=torch.int32, device="cuda").reshape(6, 5))
    found = described(x)
    assert found is not None
    assert (host_copy(found) == x.cpu().numpy()).all()
    assert host_copy(found).shape == tuple(x.shape)


def test_work_goes_to_the_stream_that_torch_works_on(torch: Any) -> None:
    assert current_stream(0) == torch.cuda.current_stream().cuda_stream
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert current_stream(0) == stream.cuda_stream != 0
        x = torch.zeros(32 << 20, device="cuda")
        for _ in range(20):
            x += 1
        found = described(x)
        assert found is not None
        assert (host_copy(found) == 20).all(), "the copy came before the work"


def test_slices_of_one_tensor_are_told_apart(torch: Any) -> None:
    x = torch.zeros(16, device="cuda")
    accepted(copy, x[:8], x[8:])
    accepted(copy, x[::2], x[1::2])
    assert refused(copy, x[:8], x[7:15]).code is Code.ALIASED
    assert refused(copy, x[:8], x.detach()[:8]).code is Code.ALIASED


def test_tensors_that_are_not_what_lies_in_memory_are_refused_by_name(torch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    y = torch.zeros(4, device="cuda")
    with FakeTensorMode():
        fake = torch.zeros(4, device="cuda")
    freed = torch.zeros(8, device="cuda")[4:]
    freed.untyped_storage().resize_(0)
    complex_ = torch.zeros(4, dtype=torch.complex64, device="cuda")
    wrong: dict[str, Any] = {
        "FakeTensor": fake,
        "sparse_coo": torch.eye(4, device="cuda").to_sparse(),
        "sparse_csr": torch.eye(4, device="cuda").to_sparse_csr(),
        "negative": complex_.conj().imag,
        "conjugate": complex_.conj(),
        "complex64": complex_,
        "storage": freed,
    }
    said = {words: refused(copy, y, x).message for words, x in wrong.items()}
    wrong.clear()  # nobody may look into what was freed, not even to show a failure of this test
    del freed
    assert [words for words, message in said.items() if words not in message] == []
    traced = []

    def look(x: Any) -> Any:
        traced.append(refused(copy, y, x))
        return x

    torch.func.vmap(look)(torch.zeros(3, 4, device="cuda"))
    assert "without memory" in traced[0].message


def test_a_subclass_is_judged_by_its_memory(torch: Any) -> None:
    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_: Any, **__: Any) -> Any:
            raise AssertionError("asked for an opinion")

    x = torch.arange(4.0, device="cuda").as_subclass(Own)
    found = described(x)
    assert found is not None
    assert host_copy(found).tolist() == [0, 1, 2, 3]


def test_a_tensor_that_requires_grad_is_read_and_not_written(torch: Any) -> None:
    x, y = torch.nn.Parameter(torch.zeros(4, device="cuda")), torch.zeros(4, device="cuda")
    accepted(copy, y, x)
    assert refused(copy, x, y).code is Code.READ_ONLY
    accepted(copy, x.detach(), y)
    with torch.no_grad():
        accepted(copy, x, y)


def test_tensors_on_different_devices_are_refused(torch: Any) -> None:
    x = torch.zeros(4, device="cuda")
    for y in (torch.zeros(4), np.zeros(4, np.float32)):
        assert refused(copy, y, x).code is Code.DEVICES_DIFFER
        assert refused(copy, x, y).code is Code.DEVICES_DIFFER


def test_contents_of_index_tensors_are_looked_at(torch: Any) -> None:
    y, table = torch.zeros(4, device="cuda"), torch.zeros(6, device="cuda")
    accepted(gather, y, table, torch.tensor([5, 0, 5, 1], device="cuda"))
    found = refused(gather, y, table, torch.tensor([5, 0, 6, 1], device="cuda"))
    assert (found.code, "`ids[2]` is 6" in found.message) == (Code.CONTENTS, True)


# Other libraries.


def test_arrays_of_cupy_are_arguments(cupy: Any) -> None:
    x = cupy.arange(24, dtype=np.float32).reshape(4, 6)[::-1, ::2]
    found = described(x)
    assert found is not None
    assert (host_copy(found) == cupy.asnumpy(x)).all()
    assert accepted(copy, cupy.empty(6, np.float32), x[0].repeat(2)).device == 0


def test_arrays_of_numba_are_arguments(gpu: Device) -> None:
    cuda = pytest.importorskip("numba.cuda", reason="numba is not installed")
    if not cuda.is_available():
        pytest.skip("this numba cannot use the GPU")
    x = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    found = described(x[1:, ::2])
    assert found is not None
    assert host_copy(found).tolist() == [[4, 6], [8, 10]]
    assert accepted(copy, cuda.device_array(4, np.float32), x[1]).device == 0


def test_memory_that_the_host_shares_is_read_and_not_written(cupy: Any) -> None:
    plain = cupy.zeros(4, np.float32)
    managed = cupy.ndarray((4,), np.float32, cupy.cuda.malloc_managed(16))
    accepted(copy, plain, managed)
    assert refused(copy, managed, plain).code is Code.MEMORY_KIND


def test_cupys_stream_is_used_where_torch_is_not_loaded(alone: Alone, cupy: Any) -> None:
    printed = alone("""
        import sys
        import cupy
        import numpy as np
        from tileproof.runtime.interop.describe import current_stream, described, host_copy
        assert current_stream(0) == 0
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            assert current_stream(0) == stream.ptr != 0
            x = cupy.zeros(32 << 20, np.float32)
            for _ in range(20):
                x += 1
            assert described(x).stream == stream.ptr
        assert current_stream(0) == 0
        found = described(x)
        assert "torch" not in sys.modules
        with stream:
            print((host_copy(described(x)) == 20).all())
    """)
    assert printed == "True\n"


def test_arrays_of_jax_are_read_and_never_written(alone: Alone) -> None:
    pytest.importorskip("jax", reason="jax is not installed")
    printed = alone("""
        import os
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        import jax.numpy as jnp
        import numpy as np
        from tileproof.runtime.interop.describe import Unusable, check_writeable, described, host_copy
        if jax.default_backend() != "gpu":
            print("no gpu")
            raise SystemExit
        for dtype in (jnp.float32, jnp.bfloat16, jnp.int32, jnp.bool_):
            x = jnp.ones((3, 4), dtype) + jnp.zeros((3, 4), dtype)
            found = described(x)
            assert (host_copy(found).astype(int) == 1).all(), dtype
            try:
                check_writeable(found, "x")
            except Unusable as why:
                print(why.message)
    """)
    if printed == "no gpu\n":
        pytest.skip("this jax was built without CUDA")
    assert printed.count("an array of JAX never changes") == 4


def test_dlpack_alone_is_enough(torch: Any) -> None:
    class Exchanging:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

        def __dlpack_device__(self) -> Any:
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, **asked: Any) -> Any:
            return self.tensor.__dlpack__(**asked)

    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        x = torch.tensor([[1, 0], [0, 1], [1, 1]], dtype=dtype, device="cuda").T
        found = described(Exchanging(x))
        assert found is not None
        assert found.address == x.data_ptr()
        assert host_copy(found).astype(int).tolist() == [[1, 0, 1], [0, 1, 1]]
    accepted(copy, torch.empty(3, device="cuda"), Exchanging(torch.ones(3, device="cuda")))
    accepted(copy, torch.empty(3, device="cuda"), torch.ones(3, device="cuda").__dlpack__())
