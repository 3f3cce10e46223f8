"""Kernels lowered for a GPU that is not here: their bytecode, decoded, and what it does according to the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

import tileproof as tp
from oracles import tile_ir
from oracles.tile_ir_lanes import Undefined
from samples.launch import Make
from support.agreement import assert_alike, outcome
from tileproof.backends.cuda.codegen.checks import WORDS
from tileproof.backends.cuda.codegen.program import Program
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.types import Block, Entry, Module, Op, Value
from tileproof.backends.interpreter import semantics
from tileproof.backends.scalars import require, scalar_word
from tileproof.compiler.proved import Proved
from tileproof.ir.types import Tensor, TensorType, TileType
from tileproof.language.dtypes import ALL
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare

_TYPES = {dtype.name: dtype for dtype in ALL}
MULTIPROCESSORS = 3
"""Of the GPU that is not here: a persistent kernel has so many blocks."""


@dataclass(frozen=True)
class Lowered:
    """A launch up to the point where the driver would take over."""

    proved: Proved
    bound: Bound
    space: running.LaunchSpace
    variant: gpu.Variant

    @cached_property
    def program(self) -> Program:
        """The bytecode, and what a launch knows of it."""
        return self.variant.request().lowered()

    @cached_property
    def module(self) -> Module:
        """The bytecode as it is read back."""
        return decode(self.program.bytecode)

    @property
    def main(self) -> Entry:
        """The entry of the kernel itself."""
        (entry,) = (one for one in self.module.entries if one.name == gpu._symbol(self.proved.kernel.name))
        return entry

    def run(self, seed: int = 0) -> None:
        """Runs all stages in the evaluator; raises what a failed check reports, and `Undefined`."""
        kernel, result = self.variant.kernel, self.program
        require(kernel, self.bound.scalars, self.bound.dimensions)
        tensors = [one.value for one in kernel.parameters if isinstance(one.value.type, TensorType)]
        # What a launch computes from shapes is asked of the class that launches; nothing of it needs a GPU.
        code = SimpleNamespace(
            slots=result.slots, is_serial=result.is_serial, is_persistent=result.is_persistent,
            occupancy=self.variant.schedule.occupancy or 1, cluster=self.variant.schedule.cluster or 1,
        )  # fmt: skip
        loaded: Any = SimpleNamespace(tensors=tensors, code=code, sm_count=MULTIPROCESSORS, kernel=kernel)
        words = self._words(loaded)
        for stage in result.stages:
            blocks = running.Loaded.grid(loaded, stage, self.space, self.bound.tensors)
            if blocks:
                (entry,) = (one for one in self.module.entries if one.name == stage.entry)
                tile_ir.launch(entry, words, (blocks, 1, 1), seed=seed)
        for slot, word in zip(result.slots, words, strict=True):
            if slot.what == ("report",) and word[0]:
                by_tensor: dict[Tensor, Any] = {
                    one: self.space.borders[one.name] for one in tensors if one.name in self.space.borders
                }
                raise running.Loaded.failure(loaded, word[WORDS:], self.bound.dimensions, by_tensor)

    def _words(self, loaded: Any) -> list[Any]:
        result, bound, space = self.program, self.bound, self.space
        fixed = running.Loaded.fixed_words(loaded, bound.tensors, bound.dimensions, space)
        words: list[Any] = []
        for slot, number in zip(result.slots, fixed, strict=True):
            match slot.what:
                case ("pointer", str(name)):
                    words.append(bound.tensors[name])
                case ("shadow", str(name)):
                    storage = _TYPES[dict(result.shadows)[name]].storage or np.dtype(np.int64)
                    words.append(_junk(bound.tensors[name].size * storage.itemsize))
                case ("scalar", str(name)):
                    words.append(self._scalar(name))
                case ("table", str(name)):
                    words.append(np.array(space.tables[name], np.int64).reshape(-1))
                case ("space",):
                    words.append(_junk(result.piece * space.programs))
                case ("report",):
                    words.append(np.zeros(WORDS * (space.programs + space.left + 2), np.int64))
                case _:
                    words.append(np.uint64(number).astype(np.int64))
        return words

    def _scalar(self, name: str) -> Any:
        (scalar,) = (
            one.value.type for one in self.variant.kernel.parameters
            if one.value.name == name and isinstance(one.value.type, TileType)
        )  # fmt: skip
        bits = scalar_word(scalar.dtype, self.bound.scalars[name])
        kept = semantics.storage(scalar.dtype)
        value = np.frombuffer(bits.to_bytes(8, "little")[: kept.itemsize], kept)[0]
        return value.view(f"i{kept.itemsize}") if kept.kind in "ub" else value


def _junk(size: int) -> Any:
    """Memory that nothing was written to yet."""
    return np.full(max(size, 16), 0xFF, np.uint8)


def lowered(
    kernel: tp.Kernel, arguments: Sequence[Any], constants: dict[str, Any] | None = None, *, arch: str = "sm_90",
    checked: bool = True,
) -> Lowered:  # fmt: skip
    """A launch with numpy arrays for device arrays."""
    proved, bound = prepare(kernel, tuple(arguments), constants or {})
    space = gpu.space_of(proved, bound)
    return Lowered(proved, bound, space, gpu.variant(proved, bound, space, arch, checked=checked))


Change = Callable[[gpu.Variant], gpu.Variant]


def simulated(
    kernel: tp.Kernel, arguments: Sequence[Any], constants: dict[str, Any], seed: int = 0, change: Change | None = None
) -> None:
    """A launch in the evaluator: arrays are written as a GPU would write them."""
    code = lowered(kernel, arguments, constants)
    if change is not None:
        code = replace(code, variant=change(code.variant))
    with np.errstate(all="ignore"):
        code.run(seed)


def assert_simulated(
    make: Make, compare: Callable[[Any, Any], None] = assert_alike, seed: int = 0, change: Change | None = None
) -> list[tuple[str, str]]:
    """Launches in the evaluator and on the interpreter, each with arguments of its own; gives what both raised.

    `change` lowers the kernel in another way.
    """
    kernel, expected, constants = make()
    _, arguments, _ = make()
    with tp.backend("interpreter"), np.errstate(all="ignore"):
        wanted = outcome(lambda: kernel(*expected, **constants))
    raised = outcome(lambda: simulated(kernel, arguments, constants, seed, change))
    assert raised == wanted
    if not wanted:
        for one, other in zip(arguments, expected, strict=True):
            if isinstance(one, np.ndarray):
                compare(one, other)
    return wanted


def walk(block: Block) -> Iterator[Op]:
    """Every operation, also those in regions."""
    for op in block.ops:
        yield op
        for inner in op.regions:
            yield from walk(inner)


def values(op: Op) -> Iterator[Value]:
    """The operands of an operation."""
    for group in op.operands:
        if isinstance(group, Value):
            yield group
        elif group is not None:
            yield from group


__all__ = ["Change", "Lowered", "Undefined", "assert_simulated", "lowered", "simulated", "values", "walk"]
