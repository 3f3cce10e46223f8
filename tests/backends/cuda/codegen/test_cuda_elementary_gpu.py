"""Elementary functions, measured on a GPU: every number of 16 bits, and many of f32 and f64, against numpy in f64."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from oracles.tile_ir_operations import Array, assembled, elementwise_entry, has_assembler
from samples.gpu_kernels import start
from support.agreement import assert_agree
from tileproof.backends.cuda.codegen.arithmetic import binary, unary
from tileproof.backends.cuda.device.driver import Device, Module, device_count, load
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.interpreter import semantics
from tileproof.ir.ops import BinaryFn, UnaryFn
from tileproof.language.dtypes import BF16, F16, F32, F64, DType

pytestmark = pytest.mark.gpu
FLOATS = (F16, BF16, F32, F64)
LANES = 512
FUNCTIONS = (
    UnaryFn.EXP, UnaryFn.EXP2, UnaryFn.LOG, UnaryFn.LOG2, UnaryFn.SQRT, UnaryFn.RSQRT, UnaryFn.TANH, UnaryFn.SIGMOID,
    UnaryFn.SIN, UnaryFn.COS, UnaryFn.ERF, UnaryFn.ROUND, UnaryFn.FLOOR, UnaryFn.CEIL,
)  # fmt: skip
PAIRS = (BinaryFn.DIV, BinaryFn.POW, BinaryFn.MOD, BinaryFn.FLOORDIV)


@pytest.fixture(autouse=True)
def gpu() -> Device:
    if not device_count():
        pytest.skip("no NVIDIA GPU")
    return Device(0)


def entries() -> Iterator[Builder]:
    for dtype in FLOATS:
        for one in FUNCTIONS:
            yield elementwise_entry(
                f"{one}_{dtype}", lambda b, x, f=one, d=dtype: unary(b, f, x, d), [dtype], dtype, LANES
            )
        for two in PAIRS:
            yield elementwise_entry(
                f"{two}_{dtype}", lambda b, x, y, f=two, d=dtype: binary(b, f, x, y, d), [dtype] * 2, dtype, LANES
            )


@cache
def code(arch: str) -> Module:
    if not has_assembler():
        pytest.skip("the assembler is not installed")
    return load(assembled(list(entries()), arch))


def ran(gpu: Device, name: str, *operands: Array) -> Array:
    """What a kernel gives for arrays whose length is a multiple of what a program does."""
    addresses = [gpu.allocate(array.nbytes) for array in (*operands, operands[0])]
    for address, array in zip(addresses, operands, strict=False):
        gpu.copy_from_host(address, array, 0)
    start(code(gpu.arch).function(name), (len(operands[0]) // LANES, 1, 1), 0, *map(ctypes.c_uint64, addresses))
    result = gpu.copy_to_host(addresses[-1], operands[0].nbytes, 0).view(operands[0].dtype)
    for address in addresses:
        gpu.free(address)
    return result


def dense(dtype: DType, seed: int = 0) -> Array:
    """Every number of 16 bits; of others those of all magnitudes, and those between the ends of the functions."""
    kept = semantics.storage(dtype)
    generator = np.random.default_rng(seed)
    if dtype.bits == 16:
        numbers = np.arange(2**16, dtype=np.uint16)
        return (generator.permutation(numbers) if seed else numbers).view(kept)
    bits = generator.integers(0, 2**64, 2**18, np.uint64, endpoint=False).astype(f"u{kept.itemsize}").view(kept)
    between = [generator.uniform(-size, size, 2**16).astype(kept) for size in (1, 6, 110, 800)]
    return np.concatenate([bits, *between])


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_are_within_the_units(gpu: Device, fn: UnaryFn, dtype: DType) -> None:
    x = dense(dtype)
    assert_agree(ran(gpu, f"{fn}_{dtype}", x), semantics.unary(fn, x, dtype))


@pytest.mark.parametrize("fn", PAIRS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_two_are_within_the_units(gpu: Device, fn: BinaryFn, dtype: DType) -> None:
    x, y = dense(dtype), dense(dtype, 1)
    assert_agree(ran(gpu, f"{fn}_{dtype}", x, y), semantics.binary(fn, x, y, dtype))
