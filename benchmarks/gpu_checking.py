"""Every candidate of the GPU benchmark, proved and assembled without a GPU: what it takes, and what speaks against it.

The code goes to the kernel cache, where a machine without an assembler finds it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Final

from tileproof.backends.cuda import running
from tileproof.backends.cuda.assembling import Job, Options, assemble_many
from tileproof.backends.cuda.cubin import Resources
from tileproof.backends.cuda.remarks import Remark
from tileproof.diagnostics.errors import TileproofError
from tileproof.runtime import gpu
from tileproof.runtime.cache import default, digest
from tileproof.runtime.launch import prepare

from .gpu_kernels import Candidate
from .gpu_launches import stand_ins
from .gpu_report import columns
from .gpu_rows import Row

ARCH: Final = "sm_90"
_REGISTERS, _SHARED = 65536, 233472
"""What a multiprocessor of an H200 has. The kilobyte that the system takes of each block is in the cubin's figure."""
HEADS: Final = (
    "candidate", "regs", "spills", "shared", "threads", "cluster", "blocks", "loads", "stores", "products", "s", "",
)  # fmt: skip


@dataclass(frozen=True)
class Checked:
    """What became of a candidate: its code and the assembler's remarks, or why there is none."""

    candidate: Candidate
    rows: tuple[str, ...]
    code: running.Code | None
    remarks: tuple[tuple[str, str, bool], ...] = ()
    """Kind and text of each, and whether the fast way was missed."""
    refusal: str = ""
    is_checked: bool = True
    """Whether it has its checks: not in the unsafe twin."""

    @property
    def problem(self) -> str:
        """Why it is not worth the time of a GPU; empty if it is."""
        if self.code is None:
            return f"REFUSED: {self.refusal}"
        spills = sum(each.spill_bytes for each in self.code.resources)
        found = [f"SPILLS {spills} bytes"] if spills else []
        if any(kind == "mma" and is_missed for kind, _, is_missed in self.remarks):
            found.append("NO TENSOR CORES")
        if any(kind == "load" and "not by TMA" in text for kind, text, _ in self.remarks):
            found.append("LOADS NOT BY TMA")
        wanted = self.candidate.schedule.occupancy or 1
        if blocks_of(self._main) < wanted:
            found.append(f"{blocks_of(self._main)} of {wanted} blocks fit")
        return ", ".join(found)

    @property
    def _main(self) -> Resources:
        """Those of the kernel itself, not of what runs before and after it."""
        assert self.code is not None
        return max(self.code.resources, key=lambda each: each.shared_bytes + each.registers)

    @property
    def cells(self) -> tuple[str, ...]:
        if self.code is None:
            return (self.candidate.label, *[""] * (len(HEADS) - 2), self.problem)
        main = self._main
        label = self.candidate.label if self.is_checked else f"{self.candidate.label}, unsafe twin"
        return (
            label, str(main.registers), str(sum(each.spill_bytes for each in self.code.resources)),
            f"{main.shared_bytes / 1024:.1f} KB", str(main.threads), str(main.cluster[0]), str(blocks_of(main)),
            self._ways("load"), self._ways("store"), self._ways("mma"), f"{self.code.seconds:.1f}", self.problem,
        )  # fmt: skip

    def _ways(self, kind: str) -> str:
        texts = [text for of, text, _ in self.remarks if of == kind]
        short = ["TMA" if "by TMA" in t and "not by TMA" not in t else _short(t) for t in texts]
        return ", ".join(f"{short.count(each)} {each}" for each in dict.fromkeys(short))


def blocks_of(main: Resources) -> int:
    """How many blocks a multiprocessor holds at once."""
    registers = -(-main.registers // 8) * 8 * max(main.threads, 1)
    return min(_REGISTERS // registers, _SHARED // max(main.shared_bytes, 1024), 2048 // max(main.threads, 1), 32)


def _short(text: str) -> str:
    """The assembler's way in a word or two."""
    return next((word for word in ("asynchronous", "plain", "SM90", "SM80", "FMA") if word in text), "other")


def variants(candidate: Candidate, args: Sequence[Any]) -> list[gpu.Variant]:
    """The form of a kernel that a launch with such arguments needs, and its unsafe twin if it has checks."""
    found, bound = prepare(candidate.scheduled, tuple(args), dict(candidate.tiles))
    forms = (True,) if found.ir is found.ready else (True, False)
    return [gpu.variant(found, bound, gpu.space_of(found, bound), ARCH, checked=checked) for checked in forms]


def check(launches: Iterable[tuple[Row, Candidate]]) -> list[Checked]:
    """Compiles all that differ, tells how it goes, and prints a table for each kind of work."""
    found: dict[str, tuple[Candidate, list[str], gpu.Variant]] = {}
    refused: list[Checked] = []
    for row, candidate in launches:
        try:
            wanted = variants(candidate, stand_ins(row.arguments))
        except TileproofError as error:
            refused.append(Checked(candidate, (row.name,), None, refusal=str(error).splitlines()[0]))
            continue
        for each in wanted:
            found.setdefault(each.key, (candidate, [], each))[1].append(row.name)
    done = refused + _compiled(list(found.values()))
    for kind in dict.fromkeys(each.candidate.kernel.name for each in done):
        print(f"\n{columns(HEADS, [each.cells for each in done if each.candidate.kernel.name == kind])}")
    bad = [each for each in done if each.problem]
    print(f"\n{len(done)} kernels for {ARCH}, {len(bad)} with something against them")
    return done


def _compiled(wanted: Sequence[tuple[Candidate, list[str], gpu.Variant]]) -> list[Checked]:
    began = time.perf_counter()
    done: dict[int, Checked] = {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as crew:
        waiting = {crew.submit(_one, *each): place for place, each in enumerate(wanted)}
        for future in as_completed(waiting):
            made = done[waiting[future]] = future.result()
            spent = time.perf_counter() - began
            said = f" {made.problem}" if made.problem else ""
            print(f"[{len(done)}/{len(wanted)}] {spent:4.0f} s  {made.candidate.label}{said}", file=sys.stderr)
    return [done[place] for place in sorted(done)]


def _one(candidate: Candidate, rows: list[str], wanted: gpu.Variant) -> Checked:
    try:
        return Checked(candidate, tuple(rows), gpu.code_of(wanted), _remarks(wanted), is_checked=wanted.checked)
    except TileproofError as error:
        return Checked(candidate, tuple(rows), None, refusal=str(error).splitlines()[0])


def _remarks(wanted: gpu.Variant) -> tuple[tuple[str, str, bool], ...]:
    """What the assembler says of its choices, from the cache if it said so before."""
    key = digest("remarks of the GPU benchmark", wanted.key)
    stored = default().get(key)
    if stored is None:
        job = Job(wanted.request().lowered().bytecode, ARCH, Options(remarks=True), kernel=wanted.kernel.name)
        ((_, made),) = assemble_many([job], 1)
        stored = "\n".join(_line(each) for each in made.remarks).encode()
        default().put(key, stored)
    parts = (line.split("\t") for line in stored.decode().splitlines())
    return tuple((kind, text, missed == "missed") for kind, missed, text in parts)


def _line(remark: Remark) -> str:
    return f"{remark.kind}\t{'missed' if remark.missed else ''}\t{remark.text}"
