"""Operations of the lowering to Tile IR tried on arrays: evaluated here, or assembled for an architecture."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oracles.tile_ir import Lanes, evaluate, garbage
from tileproof.backends.cuda.assembler import toolchain
from tileproof.backends.cuda.codegen import blocks
from tileproof.backends.cuda.codegen.positions import known
from tileproof.backends.cuda.codegen.state import ELEMENTS, Place, State, Target, padded
from tileproof.backends.cuda.codegen.tiles import spread
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import I32, I64, Module, Pointer, Tile, Value
from tileproof.backends.interpreter import semantics
from tileproof.diagnostics.errors import TileproofError
from tileproof.ir import ops
from tileproof.ir.types import Axis, TileType, Walker, WalkerTag
from tileproof.ir.types import Tile as IrTile
from tileproof.language.dtypes import DType

Array = npt.NDArray[Any]
Write = Callable[..., Value]
"""Writes an operation: takes a builder and operands."""


def computed(write: Write, operands: Sequence[tuple[Array, DType]], result: DType) -> Array:
    """What an elementwise operation gives for arrays of one axis; the lanes past their end are poison."""
    (length,) = {len(array) for array, _ in operands}
    b = Builder("tried", [])
    arguments = {Value(Tile(ELEMENTS[dtype.name], (padded(length),))): lanes(array, dtype) for array, dtype in operands}
    built = write(b, *arguments)
    assert built.type == Tile(ELEMENTS[result.name], (padded(length),)), f"{built.type} for {result}"
    (actual,) = evaluate(b, arguments, built)
    return bare(actual[:length], result)


def lanes(array: Array, dtype: DType, shape: Sequence[int] | None = None) -> Lanes:
    """An array as a tile is held: padded to powers of two, with poison behind its elements."""
    shape = [padded(length) for length in array.shape] if shape is None else shape
    kept = semantics.storage(dtype)
    bits = array.astype(kept, copy=False)
    bits = bits.view(f"i{kept.itemsize}") if kept.kind == "u" else bits
    whole = garbage(bits.dtype, shape, np.random.default_rng(array.size))
    here = tuple(map(slice, array.shape))
    whole[here] = bits
    dead = np.ones(shape, np.bool_)
    dead[here] = False
    return Lanes(whole, dead if dead.any() else None)


def bare(result: Lanes, dtype: DType) -> Array:
    """Elements in the type that numpy holds them in; none may be poison."""
    data = np.ascontiguousarray(result.known("a result")).reshape(result.data.shape)
    kept = semantics.storage(dtype)
    return data.view(kept) if kept.kind == "u" else data


def executed(
    op: ops.AnyOp, values: Mapping[IrTile, Array], lives: Mapping[Walker, int] | None = None, seed: int = 0
) -> list[Array]:
    """What an operation of the IR gives; arrays are as long as what is live of their tiles."""
    b, lives = Builder("tried", []), lives or {}
    counts = {walker: Value(Tile(I32)) for walker in lives}
    places = {walker: Place(known(0), known(0), known(0), counts[walker]) for walker in lives}
    nothing: Any = None
    s = State(b, nothing, nothing, Target("sm_90"), nothing, nothing, places=places)
    inputs: dict[Value, Lanes] = {counts[walker]: Lanes(np.asarray(live, np.int32)) for walker, live in lives.items()}
    for tile, array in values.items():
        kept = Value(Tile(ELEMENTS[tile.type.dtype.name], s.padded(tile.type)))
        inputs[kept] = lanes(array, tile.type.dtype, s.padded(tile.type))
        s.put(tile, kept)
    blocks.execute(s, op)
    results = [result for result in ops.results(op) if isinstance(result.type, TileType)]
    actual = evaluate(b, inputs, *(s.get(result) for result in results), seed=seed)
    return [
        bare(value[tuple(slice(live_length(axis, lives)) for axis in result.type.axes)], result.type.dtype)
        for value, result in zip(actual, results, strict=True)
    ]


def elementwise_entry(name: str, write: Write, operands: Sequence[DType], result: DType, count: int) -> Builder:
    """An entry that does an operation for `count` elements a program: pointers to the operands, and to the result."""
    b = Builder(name, [Tile(Pointer(ELEMENTS[dtype.name])) for dtype in (*operands, result)])
    program, _, _ = b.get_tile_block_id()
    first = b.muli(b.exti(program, I64, signed=True), b.constant(Tile(I64), count))
    places = b.addi(spread(b, first, (count,)), b.iota(count, I64))
    arguments = [b.load_ptr(b.offset(spread(b, pointer, (count,)), places))[0] for pointer in b.parameters[:-1]]
    b.store_ptr(b.offset(spread(b, b.parameters[-1], (count,)), places), write(b, *arguments))
    b.return_()
    return b


def live_length(axis: Axis, lives: Mapping[Walker, int]) -> int:
    """How many elements of an axis are live."""
    assert isinstance(axis.length, int)
    return lives[axis.tag.walker] if isinstance(axis.tag, WalkerTag) else axis.length


def has_assembler() -> bool:
    """Whether this machine can assemble."""
    try:
        return bool(toolchain.find())
    except TileproofError:
        return False


def assembled(entries: Sequence[Builder], arch: str = "sm_90", version: tuple[int, int] = (13, 4)) -> bytes:
    """Code of entries in one module; what the assembler says is the failure."""
    bytecode = encode(Module([b.entry for b in entries]), version)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "module.tileirbc")
        source.write_bytes(bytecode)
        command = [
            str(toolchain.find().tileiras),
            "--gpu-name",
            arch,
            str(source),
            "-o",
            str(source.with_suffix(".cubin")),
        ]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
        return source.with_suffix(".cubin").read_bytes()
