"""The library on the CPU against torch, numpy, and what the machine can do at most.

Every row of the table is one call of a library function at one size on so many threads. All contestants work on the
same memory, take turns in one process, and show the rate of their best call and, in brackets, of their median one;
ratios are of the best. On one thread that is by its processor time, on several by the time on the wall. The limit is a
loop that only moves the same bytes, or only multiplies and adds in registers, measured in the same run on the same
threads. A turn during which other processes were busy does not count; a figure for which there was no quiet turn is
marked "loaded", and no goal is judged by it. "compile" has the milliseconds of front end + proof + lowering + LLVM with
nothing kept, and "load" those of finding the kernel on disk instead.

    python -m benchmarks cpu                          all rows
    python -m benchmarks cpu --rows matmul softmax    rows with these words in their names
    python -m benchmarks cpu --seconds 20             more rounds
    python -m benchmarks cpu --save benchmarks/results
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.pool import Pool, pool_text
from tileproof.backends.cpu.target import host
from tileproof.backends.cpu.threads import VARIABLE, cores
from tileproof.runtime import workers

from . import cpu_report as report
from .book import cpu_slug
from .compiling import Steps, compile_steps
from .cpu_report import Figure, Found, Latency, Line
from .cpu_row import Goal, Row, empty, example, normal, tensor, torch
from .cpu_rows import ROWS
from .measuring import Contestant, race
from .recording import Launched, label, recorded
from .tables import first_line

LAUNCHES = "launch"
NAMES = (*ROWS, LAUNCHES)
"""What can be chosen: the rows, and the launches of almost nothing, which have a table of their own."""
SECONDS = 5.0
_QUICK = 0.5


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
    """Checks the result of a call, times everybody, and makes the lines of the table."""
    launched: list[Launched] = []
    using(max(threads))
    with recorded(launched, runs=True):
        row.call()
    problem = _check(row)
    steps = _steps(launched)
    entered: dict[tuple[str, str, int], Contestant] = {}

    def enter(kind: str, way: str, call: Callable[[], object], count: int) -> None:
        entered[kind, way, count] = Contestant(way, call, count)

    for count in threads:
        enter("tileproof", "", row.call, count)
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
    how = tuple(dict.fromkeys(label(kernel, constants) for kernel, _, constants in launched))
    for count in threads:
        figures = (figure(kind, count) for kind in ("tileproof", "torch", "numpy", "limit"))
        named = (row.name, row.size, row.unit, count)
        lines.append(Line(*named, *figures, row.goal, steps, row.note, problem, how, row.work))
    return lines


def _steps(launched: Sequence[Launched]) -> Steps | None:
    """Milliseconds of all kernels of a call together; None where a proof is not found on disk again."""
    try:
        every = [compile_steps(kernel, list(args), constants) for kernel, args, constants in launched]
    except LookupError:
        return None
    return Steps(*(sum(getattr(each, name) for each in every) for name in Steps.__dataclass_fields__))


def _check(row: Row) -> str:
    """What is wrong with a result, if anything. Arguments that take turns are used up to the last."""
    for _ in range((-1) % row.turns):
        row.call()
    got, expected = row.expected()
    tolerance = (1e-2 if got.dtype.itemsize == 2 else 1e-3) if row.tolerance is None else row.tolerance
    right = np.asarray(expected, np.float64)
    error = np.abs(np.asarray(got, np.float64) - right).max() / max(np.abs(right).max(), 1.0)
    return "" if error <= tolerance else f"WRONG, error {error:.1e}"


def failed(name: str, threads: Sequence[int], error: Exception) -> list[Line]:
    """Lines of a row that could not be run: the others go on."""
    nothing = (None, None, None, None, Goal(), None, "", f"FAILED: {first_line(error)}")
    return [Line(name, "", "", count, *nothing) for count in threads]


def latencies(threads: list[int], seconds: float, using: Crew) -> list[Latency]:
    """How long it takes to launch almost nothing, by the way users do it."""
    found = []
    add = example("add")
    for programs in (1, 2):
        x, y, z = normal(64 * programs), normal(64 * programs), empty(64 * programs)
        tx, ty, tz = map(tensor, (x, y, z))

        def ours(z: object = z, x: object = x, y: object = y) -> None:
            add(z, x, y, BN=64)

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


def options(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks cpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--seconds", type=float, default=SECONDS,
                        help=f"of each row (default {SECONDS:g}); thrice that if loaded")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK:g} seconds of each row")
    default = sorted({1, cores()})
    parser.add_argument("--threads", type=int, nargs="*", default=default, help=f"default {default}")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write <device>/cpu.json there")
    parser.add_argument("--small", action="store_true", help="tiny sizes: only to see that everything works")
    parser.add_argument("--list", action="store_true", help="print the names of rows")
    return parser.parse_args(given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if a result is wrong. A missed goal is said, and is no failure."""
    given = options(arguments)
    names = chosen(given.rows)
    if given.list:
        print("\n".join(names))
        return 0
    using = Crew()
    seconds = _QUICK if given.quick else given.seconds
    lines: list[Line] = []
    launches: list[Latency] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEPROOF_CACHE_DIR"] = folder
        for place, name in enumerate(names, start=1):
            began = time.perf_counter()
            print(f"[{place}/{len(names)}] {name} ...", end="", file=sys.stderr, flush=True)
            if name == LAUNCHES:
                launches = latencies(given.threads, seconds / 4, using)
            else:
                try:
                    lines += run_row(ROWS[name](given.small), given.threads, seconds, using)
                except Exception as error:
                    lines += failed(name, given.threads, error)
            print(f" {time.perf_counter() - began:.0f} s", file=sys.stderr)
    parts = [report.table(lines), report.summary(lines)] if lines else []
    print("\n\n".join([*parts, *([report.latency_table(launches)] if launches else [])]))
    if given.save is not None:
        into = given.save / cpu_slug()
        found, before = Found(tuple(lines), tuple(launches), report.machine()), report.kept(into)
        print(f"written: {report.save(into, found if before is None else before.joined(found))}")
    return 1 if any(line.problem for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
