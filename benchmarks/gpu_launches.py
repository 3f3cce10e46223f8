"""Every launch of the benchmarks of GPU and host: what a call launches, and stand-ins to find that out without a GPU.

A stand-in has the shape, strides and element type of an array on a GPU, and no memory behind it; only index tensors are
real, because launches look at what they hold.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Final

import ml_dtypes
import numpy as np

import tileproof as tp
from tileproof import kernels
from tileproof.runtime.ahead import stand_in
from tileproof.runtime.launch import prepare
from tileproof.runtime.premises import GraphPremises

from . import gpu_chain
from .gpu_row import Args, Array, Row
from .gpu_rows import CHAINS, LAUNCH, names, rows
from .host_kernels import SMALL, add
from .recording import Launched, aimed_at, label, recorded
from .tables import first_line

_DTYPES: Final[dict[str, Any]] = {
    "f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64, "i8": np.int8, "u8": np.uint8,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
}  # fmt: skip


def stand_ins(row: Row) -> Args:
    """The arguments of a row, of numpy."""
    return SimpleNamespace(**{name: array(each) for name, each in row.arrays.items()}, **row.scalars)


def array(each: Array) -> Any:
    """A stand-in for an argument; index tensors hold what they would."""
    made = stand_in(each.shape, np.dtype(_DTYPES[each.element]))
    if each.is_index and not each.is_output:
        count = math.prod(each.shape)
        values: Any = each.values or (np.arange(count) if each.is_unique else np.arange(count) % max(each.below, 1))
        made[...] = np.asarray(values).reshape(each.shape)
    return made


def launches_of(call: Callable[[], Any], target: str = "sm_90") -> list[Launched]:
    """What a call on stand-ins would launch on a GPU."""
    found: list[Launched] = []
    with aimed_at(target), recorded(found, runs=False):
        call()
    return found


def launches_of_row(name: str, target: str = "sm_90") -> list[Launched]:
    """What a row launches, by name."""
    if name in CHAINS:
        return launches_of(lambda: gpu_chain.stand_in_steps(name.split()[1]), target)
    if name == LAUNCH:
        x = Array((1 << 20,), "f32")
        return launches_of(lambda: kernels.add(array(x), array(x), out=array(x)), target)
    row = rows()[name]
    found = launches_of(lambda: row.call(kernels, stand_ins(row)), target)
    return [*found, *(each for launch in found for each in checked_copies(*launch))] if row.has_indices else found


def checked_copies(kernel: tp.Kernel, args: Sequence[Any], constants: dict[str, Any]) -> list[Launched]:
    """What a graph launches besides, to look at the index tensors of a launch at every replay."""
    found, bound = prepare(kernel, tuple(args), dict(constants))
    made = GraphPremises(trusts=True).separate(found, bound).launches
    return [(each, [array_of(given) for given in its_args], its_constants) for each, its_args, its_constants in made]


def array_of(given: Any) -> Any:
    """An argument with an array of numpy over the memory of a tensor."""
    return given.seen_by_launch() if isinstance(given, tp.Tensor) else given


def launches(words: Sequence[str] = ()) -> Iterator[tuple[str, tp.Kernel, Sequence[Any], dict[str, Any]]]:
    """Name, kernel, arguments and constants of every launch. A function that is not there is left out."""
    for name in names(words):
        try:
            found = launches_of_row(name)
        except Exception as error:  # the benchmark reports it too, and goes on
            print(f"{name}: {first_line(error)}", file=sys.stderr)
            continue
        for kernel, args, constants in found:
            yield f"{name}: {label(kernel, constants)}", kernel, args, constants
    if not words:  # of the host benchmark; with 2^20 elements it is the same code
        x = Array((SMALL,), "f32")
        yield "host: add", add, [array(x) for _ in range(3)], {}
