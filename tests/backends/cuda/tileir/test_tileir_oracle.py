"""NVIDIA's own writer is the oracle: its kernels survive our decoder and encoder, and ours read like its own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from tileir_samples import disassemble, encoded, tool

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import F32, I32, PartitionView, Pointer, TensorView, Tile

ct = pytest.importorskip("cuda.tile")
compilation = pytest.importorskip("cuda.tile.compilation")
pytestmark = pytest.mark.skipif(tool("tileirdisasm") is None, reason="the disassembler is not installed")

ConstInt = ct.Constant[int]


@ct.kernel
def add(x, y, z, n: ConstInt):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,))
    b = ct.load(y, index=(i,), shape=(n,))
    ct.store(z, index=(i,), tile=a + b)


@ct.kernel
def product(x, y, z, m: ConstInt, n: ConstInt, k: ConstInt, steps: ConstInt):  # type: ignore[no-untyped-def]
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(steps):
        a = ct.load(x, index=(i, step), shape=(m, k), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(y, index=(step, j), shape=(k, n), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(a.astype(ct.tfloat32), b.astype(ct.tfloat32), total)
    ct.store(z, index=(i, j), tile=total)


@ct.kernel
def softmax(x, z, n: ConstInt):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, n), padding_mode=ct.PaddingMode.NEG_INF)
    grown = ct.exp(row - ct.max(row, 1, keepdims=True))
    ct.store(z, index=(i, 0), tile=grown / ct.sum(grown, 1, keepdims=True))


@ct.kernel
def choose(x, z, n: ConstInt):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, n))
    if i > 3:
        row = ct.cumsum(row, 1)
    else:
        row = ct.where(row > 0.5, ct.sqrt(row), ct.sin(row))
    ct.store(z, index=(i, 0), tile=row)


@ct.kernel
def scatter(x, z, n: ConstInt):  # type: ignore[no-untyped-def]
    places = ct.arange(n, dtype=ct.int32) * 2
    values = ct.gather(x, (places, 0))
    ct.scatter(z, (places, 1), values)
    ct.atomic_add(z, (places, 2), values)


def array(rank: int) -> Any:
    return compilation.ArrayConstraint(
        ct.float32,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(*[None] * (rank - 1), 1),
        base_addr_divisible_by=16,
    )


class Kept(io.BytesIO):
    """A file whose bytes can be read after it is closed."""

    def close(self) -> None:
        self.bytes = self.getvalue()


def theirs(kernel: Any, parameters: list[Any], version: tuple[int, int]) -> bytes:
    convention = compilation.CallingConvention.cutile_python_v1()
    signature = compilation.KernelSignature(parameters, convention, "kernel")
    file = Kept()
    compilation.export_kernel(
        kernel,
        [signature],
        file,
        gpu_code="sm_90",
        output_format="tileir_bytecode",
        bytecode_version=f"{version[0]}.{version[1]}",
    )
    return file.getvalue()


KERNELS = [
    (add, [array(1), array(1), array(1), 16]),
    (product, [array(2), array(2), array(2), 64, 64, 32, 4]),
    (softmax, [array(2), array(2), 256]),
    (choose, [array(2), array(2), 64]),
    (scatter, [array(2), array(2), 32]),
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("version", [(13, 3), (13, 4)])
@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
def test_their_kernels_read_the_same_after_our_decoder_and_encoder(
    kernel: Any, parameters: list[Any], version: tuple[int, int], tmp_path: Path
) -> None:
    data = theirs(kernel, parameters, version)
    ours = encode(decode(data), version)
    assert disassemble(ours, tmp_path) == disassemble(data, tmp_path)
    assert encode(decode(ours), version) == ours


@pytest.mark.parametrize("version", [(13, 3), (13, 4)])
def test_our_builder_writes_what_their_compiler_writes(version: tuple[int, int], tmp_path: Path) -> None:
    pointer, index, tensor = Tile(Pointer(F32)), Tile(I32), TensorView(F32, (None,), (1,))
    b = Builder("kernel", [pointer, index, index] * 3, hints={"default": {}})
    token = b.make_token()
    bases = [b.assume_divisible(b.parameters[place], 16) for place in (0, 3, 6)]
    for _ in range(3):
        b.constant(index, 1)
    views = []
    for place, base in enumerate(bases):
        views.append(b.make_tensor_view(base, tensor, [b.assume_bounded(b.parameters[3 * place + 1], 0)]))
    i, _, _ = b.get_tile_block_id()
    kind = PartitionView((16,), tensor, (0,))
    x, _ = b.load_view(b.make_partition_view(views[0], kind), [i], token)
    y, _ = b.load_view(b.make_partition_view(views[1], kind), [i], token)
    total = b.addf(x, y)
    b.store_view(total, b.make_partition_view(views[2], kind), [i], token)
    b.return_()
    expected = disassemble(theirs(*KERNELS[0], version), tmp_path)
    assert disassemble(encoded(b, version), tmp_path) == expected
