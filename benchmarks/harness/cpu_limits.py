"""What the machine can do at most: small loops in LLVM text, run on the same threads as kernels.

Streams go over memory with vectors and little else; multiplications stay in registers. Each is a job for the pool,
whose items are runs of elements, or repetitions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.device.pool import ARENAS, threads
from tileproof.backends.cpu.target import Target, host
from tileproof.runtime.stream import thread_pool as workers

Array: TypeAlias = np.ndarray[Any, Any]
UNROLLED = 4
"""Vectors of each tensor in one turn of a stream's loop."""
CHAINS = 12
"""Products under way at once: more than any processor has, and they fit into 16 registers."""
REPEATS = 1024
"""Turns of a product's loop in one item."""
ITEMS = 512
_ARENA = 4096
_ONES = 0x3F8000003F800000
"""Two times 1.0: numbers that no processor is slow with."""
_names = count()


@dataclass(frozen=True)
class Probe:
    """Machine code of a job, and what one call of it does."""

    code: int
    words: Any
    items: int
    work: float
    """Operations, or bytes moved."""
    arrays: Sequence[Array] = ()
    """The memory that the words point into, kept alive."""

    def __call__(self) -> None:
        chunk = max(1, self.items // (16 * threads()))
        arena = ARENAS.take(_ARENA)
        workers.pool().run(self.code, ctypes.addressof(self.words), self.items, chunk, _ARENA, arena)
        ARENAS.give(arena)


def stream(reads: list[Array], write: Array | None, *, passing: bool = True) -> Probe:
    """Adds up arrays of one size into another; `passing` by the caches. Without one to write, it only reads."""
    size = reads[0].nbytes // 4
    step = UNROLLED * host().lanes
    arrays = [*reads, *([] if write is None else [write])]
    aligned = all(array.ctypes.data % 64 == 0 for array in arrays)
    code = _loaded(_stream_text, len(reads), write is not None, passing and aligned, aligned)
    items = size // step
    return Probe(code, _words(arrays), items, float(items * step * 4 * len(arrays)), arrays)


def reading(array: Array, streams: int) -> Probe:
    """Reads an array at several places at once, each a part of an item."""
    step = streams * UNROLLED * host().lanes
    items = array.nbytes // 4 // step
    return Probe(_loaded(_reading_text, streams), _words([array]), items, float(items * step * 4), [array])


def float_fma_rate() -> Probe:
    """Multiplies and adds f32 in registers."""
    return _multiply_rate(_float_text, 2 * host().lanes)


def int8_dot_rate() -> Probe:
    """Multiplies and adds i8 into i32 in registers, by the instruction that does most at once."""
    target = host()
    if not target.is_x86 or target.lanes == 4:
        return float_fma_rate()
    return _multiply_rate(_byte_text, (8 if target.lanes == 16 and target.has_vnni else 4) * target.lanes)


def _multiply_rate(text: Callable[[Target], str], operations: int) -> Probe:
    ones = (ctypes.c_uint64 * 8)(*[_ONES] * 8)
    return Probe(_loaded(text), ones, ITEMS, float(ITEMS * REPEATS * CHAINS * operations))


def _words(arrays: list[Array]) -> Any:
    return (ctypes.c_uint64 * len(arrays))(*(array.ctypes.data for array in arrays))


@cache
def _loaded(text: Callable[..., str], *choices: int) -> int:
    """The address of a probe's code."""
    target, name = host(), f"probe{next(_names)}"
    result = text(target, *choices).replace("@probe", f"@{name}")
    return llvm.load_object(llvm.compile_object(result, target), [name])[name]


# Text.


def _function(target: Target, entry: list[str], body: list[str], exit_: list[str], declared: list[str]) -> str:
    """A job with one loop: %i goes from %begin to %end by %step."""
    return "\n".join([
        f"define void @probe(ptr %args, ptr %arena, i64 %first, i64 %last) {target.attributes} {{",
        "entry:", *entry, "%some = icmp ult i64 %begin, %end", "br i1 %some, label %loop, label %done",
        "loop:", "%i = phi i64 [ %begin, %entry ], [ %next, %loop ]", *body,
        "%next = add i64 %i, %step", "%more = icmp ult i64 %next, %end", "br i1 %more, label %loop, label %done",
        "done:", *exit_, "ret void", "}", *declared, "!0 = !{i32 1}",
    ])  # fmt: skip


def _pointers(amount: int) -> list[str]:
    """The arguments %p0, %p1, ..."""
    lines = []
    for place in range(amount):
        lines += [f"%w{place} = getelementptr i64, ptr %args, i64 {place}", f"%p{place} = load ptr, ptr %w{place}"]
    return lines


def _stream_text(target: Target, reads: int, writes: bool, passing: bool, aligned: bool) -> str:
    lanes = target.lanes
    vector, align = f"<{lanes} x float>", 4 * lanes if aligned else 4
    step = UNROLLED * lanes
    body = []
    for u in range(UNROLLED):
        body.append(f"%i{u} = add i64 %i, {u * lanes}")
        for r in range(reads):
            body.append(f"%a{u}.{r} = getelementptr float, ptr %p{r}, i64 %i{u}")
            body.append(f"%v{u}.{r} = load {vector}, ptr %a{u}.{r}, align {align}")
        total = f"%v{u}.0"
        for r in range(1, reads):
            body.append(f"%s{u}.{r} = fadd {vector} {total}, %v{u}.{r}")
            total = f"%s{u}.{r}"
        if writes:
            hint = ", !nontemporal !0" if passing else ""
            body.append(f"%o{u} = getelementptr float, ptr %p{reads}, i64 %i{u}")
            body.append(f"store {vector} {total}, ptr %o{u}, align {align}{hint}")
    entry = [
        *_pointers(reads + writes), f"%begin = mul i64 %first, {step}", f"%end = mul i64 %last, {step}",
        f"%step = add i64 0, {step}",
    ]  # fmt: skip
    fence = passing and target.is_x86
    return _function(
        target, entry, body,
        ["call void @llvm.x86.sse.sfence()"] if fence else [], ["declare void @llvm.x86.sse.sfence()"] if fence else [],
    )  # fmt: skip


def _reading_text(target: Target, streams: int) -> str:
    """Each of the streams reads its part of the items; what was read is added up, so that it has to be."""
    lanes = target.lanes
    vector, step = f"<{lanes} x i32>", UNROLLED * lanes
    entry = [
        *_pointers(1), "%items = sub i64 %last, %first", "%begin = add i64 0, 0", f"%end = mul i64 %items, {step}",
        f"%step = add i64 0, {step}", f"%base = mul i64 %first, {step * streams}",
    ]  # fmt: skip
    body = []
    sums = [f"{s}.{u}" for s in range(streams) for u in range(UNROLLED)]
    body += [f"%t{n} = phi {vector} [ zeroinitializer, %entry ], [ %n{n}, %loop ]" for n in sums]
    for s in range(streams):
        entry.append(f"%far{s} = mul i64 %end, {s}")
        entry.append(f"%from{s} = add i64 %base, %far{s}")
        for u in range(UNROLLED):
            n = f"{s}.{u}"
            body.append(f"%j{n} = add i64 %i, {u * lanes}")
            body.append(f"%k{n} = add i64 %j{n}, %from{s}")
            body.append(f"%a{n} = getelementptr i32, ptr %p0, i64 %k{n}")
            body.append(f"%v{n} = load {vector}, ptr %a{n}, align 4")
            body.append(f"%n{n} = xor {vector} %t{n}, %v{n}")
    return _function(target, entry, body, _store_results([(f"%r{n}", vector, f"%n{n}") for n in sums]), [])


def _store_results(results: list[tuple[str, str, str]]) -> list[str]:
    """Stores what a loop computed into the arena, so that it is not left out."""
    lines = []
    for name, vector, value in results:
        lines.append(f"{name} = phi {vector} [ zeroinitializer, %entry ], [ {value}, %loop ]")
    return lines + [f"store volatile {vector} {name}, ptr %arena, align 4" for name, vector, _ in results]


def _float_text(target: Target) -> str:
    vector = f"<{target.lanes} x float>"
    name = f"llvm.fma.v{target.lanes}f32" if target.has_fma else ""
    body, operands = _chains(vector), f"{vector} %x, {vector} %y"
    for chain in range(CHAINS):
        if name:
            body.append(f"%n{chain} = call {vector} @{name}({operands}, {vector} %t{chain})")
        else:
            body += [f"%m{chain} = fmul {vector} %x, %t{chain}", f"%n{chain} = fadd {vector} %m{chain}, %y"]
    declared = [f"declare {vector} @{name}({vector}, {vector}, {vector})"] if name else []
    return _product_text(target, vector, vector, body, declared)


def _byte_text(target: Target) -> str:
    lanes = target.lanes
    total = f"<{lanes} x i32>"
    body = _chains(total)
    if lanes == 16 and target.has_vnni:
        operand, name = "<64 x i8>", "llvm.x86.avx512.vpdpbusd.512"
        body += [
            f"%n{chain} = call {total} @{name}({total} %t{chain}, {operand} %x, {operand} %y)"
            for chain in range(CHAINS)
        ]
        declared = f"declare {total} @{name}({total}, {operand}, {operand})"
    else:
        operand = f"<{2 * lanes} x i16>"
        name = "llvm.x86.avx512.pmaddw.d.512" if lanes == 16 else "llvm.x86.avx2.pmadd.wd"
        for chain in range(CHAINS):
            # The operand changes with the turn, or the product would be computed once, before the loop.
            body.append(f"%c{chain} = bitcast {total} %t{chain} to {operand}")
            body.append(f"%m{chain} = call {total} @{name}({operand} %c{chain}, {operand} %y)")
            body.append(f"%n{chain} = add {total} %t{chain}, %m{chain}")
        declared = f"declare {total} @{name}({operand}, {operand})"
    return _product_text(target, total, operand, body, [declared])


def _chains(vector: str) -> list[str]:
    return [f"%t{n} = phi {vector} [ zeroinitializer, %entry ], [ %n{n}, %loop ]" for n in range(CHAINS)]


def _product_text(target: Target, vector: str, operand: str, body: list[str], declared: list[str]) -> str:
    """The operands are read from memory, so that they are not known."""
    entry = [
        f"%x = load volatile {operand}, ptr %args, align 4", f"%y = load volatile {operand}, ptr %args, align 4",
        "%begin = add i64 0, 0", "%items = sub i64 %last, %first", f"%end = mul i64 %items, {REPEATS}",
        "%step = add i64 0, 1",
    ]  # fmt: skip
    stores = _store_results([(f"%r{n}", vector, f"%n{n}") for n in range(CHAINS)])
    return _function(target, entry, body, stores, declared)
