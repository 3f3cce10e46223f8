"""The CPU backend against torch, numpy, and what the machine can do at most.

Every row of the table is one kernel at one size on so many threads. All contestants work on the same memory, take turns
in one process, and show the rate of their best call and, in brackets, of their median one; ratios are of the best. On
one thread that is by its processor time, on several by the time on the wall. The limit is a loop that only moves the
same bytes, or only multiplies and adds in registers, measured in the same run on the same threads. A turn during which
other processes were busy does not count; a figure for which there was no quiet turn is marked "loaded", and no goal is
judged by it. "compile" has the milliseconds of front end + proof + lowering + LLVM with nothing kept, and "load" those
of finding the kernel on disk instead.

    python -m benchmarks.cpu                          all rows
    python -m benchmarks.cpu --rows matmul softmax    rows with these words in their names
    python -m benchmarks.cpu --rows matmul_f32 --tiles BM=128 BN=512
    python -m benchmarks.cpu --seconds 20             more rounds
    python -m benchmarks.cpu --save benchmarks/results
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tileproof as tp
from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.pool import Pool, pool_text
from tileproof.backends.cpu.target import host
from tileproof.backends.cpu.threads import VARIABLE, cores
from tileproof.runtime import workers

from . import cpu_report as report
from .compiling import compile_steps
from .cpu_report import Figure, Latency, Line
from .cpu_row import Row, empty, normal, tensor, torch
from .cpu_rows import EXAMPLE, ROWS
from .measuring import Contestant, race

LAUNCHES = "launch"
NAMES = (*ROWS, LAUNCHES)
"""What can be chosen: the rows, and the launches of almost nothing, which have a table of their own."""


class Crew:
    """Sets how many threads everybody may use. The pools stay, so that changing costs nothing."""

    def __init__(self) -> None:
        self._pools: dict[int, Pool] = {}
        self._code = llvm.compile_object(pool_text(host()), host())

    def __call__(self, threads: int) -> None:
        os.environ[VARIABLE] = str(threads)
        if threads not in self._pools:
            self._pools[threads] = Pool(self._code)
        workers._pools[:] = [self._pools[threads]]
        if torch is not None:
            torch.set_num_threads(threads)


def run_row(row: Row, threads: list[int], seconds: float, using: Crew) -> list[Line]:
    """Checks a kernel's result, times everybody, and makes the lines of the table."""
    steps = compile_steps(row.kernel, row.args, row.constants)
    problem = _check(row, using, max(threads))
    launch = row.launches()
    entered: dict[tuple[str, str, int], Contestant] = {}

    def enter(kind: str, way: str, call: Callable[[], object], count: int) -> None:
        entered[kind, way, count] = Contestant(way, call, count)

    for count in threads:
        enter("tileproof", "", launch, count)
        for way, call in row.torch.items() if torch is not None else ():
            enter("torch", way, call, count)
        for way, probe in row.limit.items():
            enter("limit", way, probe, count)
    if row.numpy is not None:
        enter("numpy", "", row.numpy, row.numpy_threads)
    race(list(entered.values()), seconds, using)

    def figure(kind: str, count: int) -> Figure | None:
        found = [
            Figure.of(each, row.limit[way].work if kind == "limit" else row.work)
            for (of, way, threads), each in entered.items()
            if of == kind and threads == count
        ]
        return max(found, key=lambda each: each.rate, default=None)

    lines = []
    for count in threads:
        ours = figure("tileproof", count)
        assert ours is not None
        theirs, numpy, limit = (figure(kind, count) for kind in ("torch", "numpy", "limit"))
        named = (row.name, row.label, row.unit, count)
        lines.append(Line(*named, ours, theirs, numpy, limit, row.goal, steps, row.note, problem))
    return lines


def _check(row: Row, using: Crew, threads: int) -> str:
    """What is wrong with a kernel's result, if anything. Arguments that rotate are used up to the last."""
    using(threads)
    launch = row.launches()
    for _ in row.turns or [row.args]:
        launch()
    got, expected = (np.asarray(each, np.float64) for each in row.expected())
    tolerance = 1e-2 if row.args[0].dtype.itemsize == 2 else 1e-3
    error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1.0)
    return "" if error <= tolerance else f"WRONG, error {error:.1e}"


def latencies(threads: list[int], seconds: float, using: Crew) -> list[Latency]:
    """How long it takes to launch almost nothing, by the way users do it."""
    found = []
    for programs in (1, 2):
        x, y, z = normal(64 * programs), normal(64 * programs), empty(64 * programs)
        tx, ty, tz = map(tensor, (x, y, z))

        def ours(z: object = z, x: object = x, y: object = y) -> None:
            EXAMPLE(z, x, y, BN=64)

        def theirs(x: object = tx, y: object = ty, z: object = tz) -> None:
            torch.add(x, y, out=z)

        for count in threads:
            contestants = [Contestant("tileproof", ours, count)]
            if torch is not None:
                contestants.append(Contestant("torch", theirs, count))
            race(contestants, seconds, using, wall=True)
            found.append(Latency(programs, count, *(Figure.of(each, 1.0) for each in contestants)))
    return found


def chosen(words: list[str]) -> list[str]:
    """The rows that have one of the words in their names; all without words."""
    unknown = [word for word in words if not any(word in name for name in NAMES)]
    if unknown:
        raise SystemExit(f"no row has {', '.join(unknown)} in its name; there are: {', '.join(NAMES)}")
    return [name for name in NAMES if not words or any(word in name for word in words)]


def _size(text: str) -> tuple[str, int]:
    """A tile size as it is written on the command line."""
    name, _, value = text.partition("=")
    if not name.isidentifier() or not value.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a tile size such as BM=128")
    return name, int(value)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each row (default 8); thrice that if loaded")
    default = sorted({1, cores()})
    parser.add_argument("--threads", type=int, nargs="*", default=default, help=f"default {default}")
    parser.add_argument("--tiles", type=_size, nargs="*", default=[], metavar="NAME=SIZE", help="other tile sizes")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write cpu.md, cpu.json and cpu.png there")
    parser.add_argument("--small", action="store_true", help="tiny sizes: only to see that everything works")
    return parser.parse_args()


def main() -> int:
    """Prints the table; 1 if a result is wrong. A missed goal is said, and is no failure."""
    given = options()
    names = chosen(given.rows)
    using = Crew()
    lines: list[Line] = []
    launches: list[Latency] = []
    with tempfile.TemporaryDirectory() as folder, tp.backend("cpu"):
        os.environ["TILEPROOF_CACHE_DIR"] = folder
        for place, name in enumerate(names, start=1):
            began = time.perf_counter()
            print(f"[{place}/{len(names)}] {name} ...", end="", file=sys.stderr, flush=True)
            if name == LAUNCHES:
                launches = latencies(given.threads, given.seconds / 4, using)
            else:
                row = ROWS[name](given.small).with_tiles(dict(given.tiles))
                lines += run_row(row, given.threads, given.seconds, using)
            print(f" {time.perf_counter() - began:.0f} s", file=sys.stderr)
    parts = [report.table(lines), report.summary(lines)] if lines else []
    print("\n\n".join([*parts, *([report.latency_table(launches)] if launches else [])]))
    if given.save is not None:
        report.save(given.save, lines, launches)
        print(f"written: {given.save}/cpu.md, cpu.json, cpu.png")
    return 1 if any(line.problem for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
