"""Plans of the CPU: the native code and its specification in Python agree on every list of arguments, and a launch that
follows a plan gives what a full one gives."""

from __future__ import annotations

import importlib.util
import itertools
import random
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from support.launch_caches import forget_launches, forgotten, fully_launched
from tileproof import In, InOut, Out, T, f32, f64, i8, i32, u64
from tileproof.language.dtypes import BOOL, F32, F64, I8, I32, I64, U8, U64, DType, by_storage
from tileproof.runtime import native as fast
from tileproof.runtime.native import (
    CPU,
    CUDA,
    OnCpu,
    OpenAxis,
    OpenTensor,
    Plan,
    Plans,
    ScalarArgument,
    Source,
    TensorArgument,
    matcher,
    readers,
)
from tileproof.runtime.native.structures import Division, From

Array = np.ndarray[Any, Any]

torch: Any = importlib.import_module("torch") if importlib.util.find_spec("torch") else None

ROOM = 1 << 12
MEMORY = np.zeros(ROOM + 64, np.uint8)
MEMORY = MEMORY[-MEMORY.ctypes.data % 64 :][:ROOM]
TYPES = [np.dtype(each) for each in ("f4", "f4", "f4", "f2", "i4", "f8", "u1", "?", ml_dtypes.bfloat16)]
OF_TORCH = ("float32", "int32", "float16", "uint8", "float64", "bool")
EXTENTS = (0, 1, 2, 3, 4, 6, 8)
SCALARS: list[tuple[DType, type[bool] | type[int] | type[float]]] = [
    (F32, float), (F32, float), (F64, float), (F32, int), (F64, int), (I8, int), (U8, int), (I32, int), (I64, int),
    (U64, int), (BOOL, bool),
]  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 127, 128, -129, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, -(2**70),
    10**400, 0.5, -0.0, 1e-50, 3.4028234663852886e38, 3.4028235677973366e38, 1e39, -1e308, float("inf"), float("-inf"),
    float("nan"), True, False,
)  # fmt: skip
STRANGE: tuple[Any, ...] = (None, "x", 1j, [1.0], np.float32(1), np.int64(1), np.zeros((2, 2)).view(np.ma.MaskedArray))


# Plans that no kernel made, of everything that there is in plans.


@dataclass
class Family:
    """Plans of launches with the same number of arguments, and arguments that may be like theirs."""

    plans: list[Plan]
    pools: list[list[list[Any]]]
    """Of each choice of extents, of each argument: values."""
    keep: list[Any] = field(default_factory=list)


def any_plan(rng: random.Random, *, is_open: bool) -> Plan:
    """A plan whose words are made in every way there is."""
    names = ["M", "N", "K"][: rng.randrange(1, 4)]
    used: list[str] = []
    count = rng.randrange(1, 5)
    places = rng.sample(range(3, 3 + 2 * count), count)
    arguments: list[Any] = []
    for place in places:
        word = None if rng.random() < 0.1 else place
        if rng.random() < 0.3:
            dtype, values = rng.choice(SCALARS)
            limits = (rng.choice((None, -3, 1)), rng.choice((None, 2, 200))) if dtype.is_integer else (None, None)
            arguments.append(ScalarArgument(dtype, values, word, *limits))
            continue
        dtype, rank = by_storage()[rng.choice(TYPES)], rng.choice((0, 1, 1, 2, 2, 2, 3))
        is_written = rng.random() < 0.4
        is_read = not is_written or rng.random() < 0.3
        if not is_open:
            array = layout(rng, np.dtype(dtype.storage), tuple(rng.choice(EXTENTS) for _ in range(rank)), is_any=False)
            alignment = rng.choice((array.itemsize, array.itemsize, 16 if array.itemsize <= 16 else 64))
            arguments.append(TensorArgument(dtype, array.shape, array.strides, alignment, is_written, word, is_read))
            continue
        axes = []
        for axis in range(rank):
            is_unit = axis == rank - 1 if rng.random() < 0.85 else rng.random() < 0.5
            if rng.random() < 0.15:
                axes.append(OpenAxis(-1, rng.choice(EXTENTS), is_unit))
                continue
            name = rng.choice(names) if rng.random() < 0.85 else f"{place}.{axis}"
            if name not in used:
                used.append(name)
            axes.append(OpenAxis(used.index(name), 0, is_unit))
        is_large = rng.choice((None, None, False, True)) if is_written else None
        arguments.append(OpenTensor(dtype, tuple(axes), is_written, word, is_read, is_large))
    words = tuple(rng.choice((0, 7, 2**64 - 1, rng.randrange(2**64))) for _ in range(3 + 2 * count + 16))
    sources = tuple(any_sources(rng, arguments, len(used), 3 + 2 * count)) if is_open else ()
    kinds = (Division.RAGGED, Division.EXACT, Division.EXACT, Division.AT_MOST)
    divided = tuple(
        (dimension, rng.choice((1, 2, 3)), rng.choice(kinds)) for dimension in range(len(used)) if rng.random() < 0.3
    )
    cpu = OnCpu(
        0, len(words) - 6, rng.randrange(9), tuple(used) if is_open else (), is_open, False, rng.choice((1, 3, 32)),
        rng.choice((64, 1 << 20)), 0, sources, divided if is_open else (),
    )  # fmt: skip
    return Plan(tuple(arguments), words, 77, (1, 1, 1), 0, CPU, 0, cpu=cpu)


def any_sources(rng: random.Random, arguments: list[Any], dimensions: int, first: int) -> list[Source]:
    """Words that follow from extents and strides, in the order in which the runtime has them."""
    free, result = itertools.count(first), list[Source]()
    for place, argument in enumerate(arguments):
        if isinstance(argument, OpenTensor) and rng.random() < 0.6:
            for axis in range(len(argument.axes)):
                result.append(Source(next(free), rng.choice((From.EXTENT, From.STRIDE)), place, axis))
    result = result[:8]
    free = itertools.count(first + 8)
    for dimension in range(min(dimensions, 3)):
        result.append(Source(next(free), From.DIMENSION, dimension))
        if rng.random() < 0.8:
            word = -1 if rng.random() < 0.2 else next(free)
            result.append(Source(word, From.PLACES, dimension, rng.randrange(2), rng.choice((1, 2, 3, 8))))
    result.append(Source(0, From.PROGRAMS, size=rng.choice((1, 1, 5, 2**40))))
    result.append(Source(1, From.PROGRAMS))
    result.append(Source(2, From.CHUNK))
    return result


def layout(rng: random.Random, dtype: np.dtype[Any], shape: tuple[int, ...], *, is_any: bool = True) -> Array:
    """An array over the memory whose elements lie in order, backwards, apart, by columns or over one another."""
    size, strides, step = dtype.itemsize, [0] * len(shape), dtype.itemsize
    kind = rng.random()
    order = list(range(len(shape)))[::-1] if kind < 0.75 else rng.sample(range(len(shape)), len(shape))
    for axis in order:
        if rng.random() < 0.08:
            step *= 2
        strides[axis] = -step if rng.random() < 0.06 else step
        step *= max(shape[axis], 1)
    if rng.random() < 0.06 and shape:
        strides[rng.randrange(len(shape))] = rng.choice((0, size, 2 * size, -size, size + is_any))
    before = -sum(min(stride * (extent - 1), 0) for stride, extent in zip(strides, shape, strict=True) if extent)
    offset = before + rng.choice((0, 0, 256, 512, 768, 1024, 1536, 2048, 2304, 3072, size, 128))
    if rng.random() < 0.04:
        offset += 1
    try:
        return np.ndarray(shape, dtype, MEMORY, offset, tuple(strides))
    except ValueError:  # it does not fit there
        return np.zeros(shape, dtype)


def like(rng: random.Random, argument: Any, extents: dict[int, int], keep: list[Any]) -> Any:
    """A value that may be what a plan wants of an argument."""
    chance = rng.random()
    if chance < 0.02:
        return rng.choice(STRANGE)
    if isinstance(argument, ScalarArgument):
        if chance < 0.2:
            return rng.choice(NUMBERS)
        fitting = {bool: (True, False), int: (0, 1, 1, 2, -1, 3, 100), float: (0.5, -1.25, 3e38, float("inf"))}
        return rng.choice(fitting[argument.python_type])
    dtype = np.dtype(argument.storage)
    if isinstance(argument, OpenTensor):
        shape = tuple(extents.setdefault(a.dimension, 0) if a.dimension >= 0 else a.extent for a in argument.axes)
    else:
        shape = argument.shape
    if chance < 0.08:
        return any_tensor(rng, rng.choice(TYPES), shape, keep)
    if chance < 0.14 and shape:
        changed = rng.randrange(len(shape))
        shape = tuple(rng.choice(EXTENTS) if axis == changed else extent for axis, extent in enumerate(shape))
    elif chance < 0.16:
        shape = (*shape, 1)
    if isinstance(argument, TensorArgument) and chance > 0.3:
        try:
            moved = rng.choice((0, 64, 256, 512, 1024, 2048)) + argument.reach[0]
            return np.ndarray(shape, dtype, MEMORY, moved, argument.strides)
        except ValueError:
            pass
    return any_tensor(rng, dtype, shape, keep)


def any_tensor(rng: random.Random, dtype: np.dtype[Any], shape: tuple[int, ...], keep: list[Any]) -> Any:
    """A tensor of some library, ours among them."""
    chance = rng.random()
    if chance < 0.12:
        return own(rng, dtype, shape, keep)
    if chance < 0.24 and torch is not None and dtype.name in OF_TORCH:
        return of_torch(rng, dtype, shape)
    if chance < 0.26 and shape:
        huge = tuple(rng.choice((extent, 2**20, 2**31, 2**40, 2**48 - 1, 2**48)) for extent in shape)
        try:
            return np.broadcast_to(np.zeros((), dtype), huge)
        except ValueError:  # more than there can be
            pass
    array = layout(rng, dtype, shape)
    if chance > 0.97:
        array.flags.writeable = False
    elif chance > 0.955:
        array = array.view(array.dtype.newbyteorder())
    elif chance > 0.945:
        array = array.view(np.matrix) if array.ndim == 2 else array.view(np.recarray)
    return array


def own(rng: random.Random, dtype: np.dtype[Any], shape: tuple[int, ...], keep: list[Any]) -> tp.Tensor:
    """A tensor of ours: written or not, a view or not, lent or not, over memory of others or not."""
    chance = rng.random()
    if chance < 0.35:
        values = tp.empty(shape, by_storage()[dtype])
    elif chance < 0.5:
        array = np.zeros(shape, dtype)
        array.flags.writeable = rng.random() < 0.7
        values = tp.asarray(array)
    elif chance < 0.8 or not shape:
        values = tp.zeros(shape, by_storage()[dtype])
    else:
        wide = (*shape[:-1], 2 * shape[-1])
        values = (tp.zeros if rng.random() < 0.5 else tp.empty)(wide, by_storage()[dtype])
        values = values[..., :: 2 * rng.choice((1, -1))] if rng.random() < 0.5 else values[..., : shape[-1]]
    if rng.random() < 0.15 and values.is_initialised:
        keep.append(values.numpy())
    if rng.random() < 0.95:
        values.make_record()
    return values


def of_torch(rng: random.Random, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """A tensor of torch as it lies in memory, transposed, spread or expanded."""
    base = torch.from_numpy(MEMORY[rng.choice((0, 256, 1024)) :])[:2048].view(getattr(torch, dtype.name))
    strides, step = [0] * len(shape), 1
    for axis in list(range(len(shape)))[::-1] if rng.random() < 0.8 else rng.sample(range(len(shape)), len(shape)):
        strides[axis] = 0 if rng.random() < 0.05 else step
        step *= max(shape[axis], 1) * (2 if rng.random() < 0.05 else 1)
    if step > 2048 // dtype.itemsize:
        return torch.zeros(shape, dtype=base.dtype)
    return base.as_strided(shape, strides)


def any_family(rng: random.Random) -> Family:
    first = any_plan(rng, is_open=rng.random() < 0.7)
    others = [any_plan(rng, is_open=rng.random() < 0.7) for _ in range(2)]
    plans = [first, *(other for other in others if len(other.arguments) == len(first.arguments))]
    family = Family(plans, [])
    for choice in range(3):
        plan = rng.choice(plans) if choice else first
        extents = {dimension: rng.choice(EXTENTS) for dimension in range(12)}
        family.pools.append(
            [[like(rng, argument, extents, family.keep) for _ in range(7)] for argument in plan.arguments]
        )
    return family


def any_args(rng: random.Random, family: Family) -> tuple[Any, ...]:
    pools = rng.choice(family.pools)
    args = [
        rng.choice(pool if rng.random() < 0.95 else rng.choice(family.pools)[place]) for place, pool in enumerate(pools)
    ]
    chance = rng.random()
    if chance < 0.02:
        args.append(rng.choice(args))
    elif chance < 0.04:
        args.pop()
    elif chance < 0.06:
        args[rng.randrange(len(args))] = args[rng.randrange(len(args))]
    return tuple(args)


def specified(plans: Plans, place: int, args: tuple[Any, ...]) -> bytes | None:
    """What one of the plans gives."""
    seen = [arg if type(arg) in (bool, int, float) else readers.see(arg) for arg in args]
    result = matcher.match_one(plans.kept[place], seen)
    return None if result is None else struct.pack(f"<{len(result) + 1}Q", place, *result)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(8))
def test_the_native_code_and_the_specification_agree(seed: int) -> None:
    """110,000 launches, of which each way says the same to the last byte."""
    rng, result = random.Random(seed), Counter[str]()
    for _ in range(55):
        family = any_family(rng)
        plans = Plans()
        for plan in family.plans:
            assert plan.has_room
            plans.add(plan)
        latest = plans._table[1]
        for _ in range(250):
            args = any_args(rng, family)
            latest.value = 0
            native, python = fast.match(plans, args), matcher.match(plans, args)
            assert native == python, args
            if native is None:
                result["none"] += 1
                continue
            place = struct.unpack_from("<Q", native)[0]
            cpu = plans.kept[place].cpu
            assert cpu is not None
            result["open" if cpu.is_open else "of one shape"] += 1
            result.update({type(arg).__name__ for arg in args})
            assert latest.value == place
            latest.value = rng.randrange(len(plans.kept))  # it is tried first
            native = fast.match(plans, args)
            assert native is not None
            assert native == specified(plans, struct.unpack_from("<Q", native)[0], args)
    assert sum(result[name] for name in ("none", "open", "of one shape")) == 55 * 250
    assert min(result["none"], result["open"], result["of one shape"]) > 500
    assert min(result[name] for name in ("ndarray", "Tensor", "float", "int", "bool")) > 20


def test_plans_of_a_gpu_are_for_no_launch_on_the_cpu() -> None:
    array = np.zeros((4, 8), np.float32)
    argument = TensorArgument(F32, array.shape, array.strides, 4, False, 0)
    plans = Plans()
    plans.add(Plan((argument,), (0,), 77, (1, 1, 1), 1, (CUDA, 0), 0))
    assert fast.match(plans, (array,)) is matcher.match(plans, (array,)) is None


def test_so_many_programs_that_they_cannot_be_counted_are_left_to_the_full_launch() -> None:
    """Three axes of memory that is one element: the product has more than 64 bits, and by chance may look small."""
    one = np.zeros((), np.float32)
    arguments = tuple(OpenTensor(F32, (OpenAxis(place, 0, False),), False, place) for place in range(3))
    for size, expected in ((1, None), (2**40, 2**3)):
        places = [Source(-1, From.PLACES, place, size=size) for place in range(3)]
        sources = (*places, Source(3, From.PROGRAMS, size=1))
        cpu = OnCpu(0, 3, 0, ("A", "B", "C"), True, sources=sources)
        plans = Plans()
        plans.add(Plan(arguments, (0,) * 4, 77, (1, 1, 1), 0, CPU, 0, cpu=cpu))
        args = tuple(np.broadcast_to(one, (2**41,)) for _ in range(3))
        native = fast.match(plans, args)
        assert native == matcher.match(plans, args)
        assert (None if native is None else struct.unpack_from("<2Q", native)[1]) == expected
    cpu = OnCpu(0, 3, 0, ("A",), True, sources=(Source(-1, From.PLACES, 0), Source(3, From.PROGRAMS, size=2**40)))
    plans = Plans()
    plans.add(Plan(arguments[:1], (0,) * 4, 77, (1, 1, 1), 0, CPU, 0, cpu=cpu))
    args = (np.broadcast_to(one, (2**41,)),)
    assert fast.match(plans, args) is matcher.match(plans, args) is None


# Kernels.


@tp.kernel
def scaled(y: Out[T, "M N"], x: In[T, "M N"], by: f32) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = (x[m, n].to(f32) * by).to(T)


@tp.kernel
def outer(y: Out[f32, "M N"], a: In[f32, "M"], b: In[f32, "N"], up: i8, at: u64) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = a[m][:, None] * b[n][None, :] + up.to(f32) + (at % 1000).to(f32)


@tp.kernel
def counted(y: InOut[i32, "M 3"], x: In[f32, "_"], by: f64) -> None:
    for m in tp.parallel(M=4):
        y[m, :] = y[m, :] + x.shape[0].to(i32) + (by * 2).to(i32)


@tp.kernel
def rows(y: Out[f32, "M"], x: In[f32, "M N"]) -> None:
    for m in tp.parallel(M=tp.each):
        total = 0.0
        for n in tp.tiles(N=4):
            total += x[m, n].sum()
        y[m] = total


@tp.kernel
def grouped(y: Out[f32, "H"], x: In[f32, "G"]) -> None:
    for h in tp.parallel(H=tp.each):
        y[h] = x[tp.group(h, "G")]


class Given:
    """Arguments of a launch in memory of their own. What is made of one seed is always the same."""

    def __init__(self, seed: int) -> None:
        self.rng, self.extent = random.Random(seed), dict[str, int]()
        self.memory = np.random.default_rng(seed).integers(0, 60, 2048).astype(np.uint8)
        self.tensors: list[Any] = []
        self.keep: list[Any] = []
        self.is_plain = self.rng.random() < 0.6
        """Whether everything is as it is most often."""
        self.kernel, make = self.rng.choice(LAUNCHES)
        self.args: tuple[Any, ...] = make(self)

    def sized(self, *names: str) -> tuple[int, ...]:
        for name in names:
            extents = (4, 8) if self.is_plain else (0, 1, 4, 6, 8)
            self.extent.setdefault(name, self.rng.choice(extents))
        wrong = not self.is_plain and self.rng.random() < 0.03
        return tuple(5 if wrong else self.extent[name] for name in names)

    def tensor(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        result = self._tensor(shape, np.dtype(dtype))
        self.tensors.append(result)
        return result

    def _tensor(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        rng, chance = self.rng, self.rng.random()
        count = int(np.prod(shape))
        if chance < 0.3:
            source = np.arange(count, dtype=np.int64).reshape(shape).astype(dtype)
            result = tp.from_numpy(source) if chance < 0.15 else tp.empty(shape, by_storage()[dtype])
            if chance < 0.05:
                self.keep.append(result.numpy())
            return result
        if chance < 0.45 and torch is not None:
            return torch.from_numpy(np.arange(count, dtype=np.int64).reshape(shape).astype(dtype))
        if self.is_plain:
            return np.arange(count, dtype=np.int64).reshape(shape).astype(dtype)
        offset = rng.choice((0, 64, 256, 512, 768, 1024, 1, 4))
        result = np.ndarray(shape, dtype, self.memory, offset)
        if chance > 0.9:
            result = result[::-1]
        elif chance > 0.8 and len(shape) == 2:
            result = np.ndarray(shape[::-1], dtype, self.memory, offset).T
        elif chance > 0.75:
            result.flags.writeable = False
        return result

    def number(self, *usual: Any) -> Any:
        return self.rng.choice(usual if self.is_plain or self.rng.random() < 0.8 else NUMBERS)

    def result(self) -> list[bytes]:
        """All memory as it is now."""
        results = [self.memory.tobytes()]
        for tensor in self.tensors:
            if isinstance(tensor, tp.Tensor):
                results.append(tensor.numpy().tobytes() if tensor.is_initialised else b"never written")
            else:
                results.append(np.asarray(tensor).tobytes())
        return results


def _scaled(values: Given) -> tuple[Any, ...]:
    dtype = values.rng.choice((np.float32, np.float32, np.float16, np.int32))
    shape = values.sized("M", "N")
    return values.tensor(shape, dtype), values.tensor(values.sized("M", "N"), dtype), values.number(2.0, 0.5, 3)


LAUNCHES: list[tuple[tp.Kernel, Callable[[Given], tuple[Any, ...]]]] = [
    (scaled, _scaled),
    (outer, lambda g: (g.tensor(g.sized("M", "N")), g.tensor(g.sized("M")), g.tensor(g.sized("N")),
                       g.number(1, -128), g.number(0, 2**63 - 1, 2**64 - 1))),
    (counted, lambda g: (g.tensor((*g.sized("M"), 3), np.int32), g.tensor(g.sized("L")), g.number(1.5, 7))),
    (rows, lambda g: (g.tensor(g.sized("M")), g.tensor(g.sized("M", "N")))),
    (grouped, lambda g: (g.tensor((2 * g.sized("G")[0],)), g.tensor(g.sized("G")))),
]  # fmt: skip


def said(run: Callable[[], None]) -> list[tuple[str, str]]:
    try:
        run()
    except tp.TileproofError as error:
        return [(diagnostic.code.id, diagnostic.message) for diagnostic in error.diagnostics]
    return []


@pytest.mark.sweep(1)
@pytest.mark.parametrize("way", ["native", "in Python"])
def test_what_follows_a_plan_gives_what_a_full_launch_gives(way: str) -> None:
    followed = Counter[str]()
    choose = nullcontext if way == "native" else lambda: tp.backend("cpu")
    for kernel, _ in LAUNCHES:
        forget_launches(kernel)
    for seed in range(800):
        one, other = Given(seed), Given(seed)
        with choose():
            with fully_launched() as full:
                first = said(lambda: one.kernel(*one.args))  # noqa: B023
            with forgotten(other.kernel):
                second = said(lambda: other.kernel(*other.args))  # noqa: B023
        assert first == second, (seed, one.args)
        assert one.result() == other.result(), (seed, one.args)
        followed[one.kernel.name] += not full
    assert min(followed[kernel.name] for kernel, _ in LAUNCHES) > 40
