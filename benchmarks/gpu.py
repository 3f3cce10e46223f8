"""The GPU backend against torch (cuBLAS, cuDNN), Triton, cuTile Python, and what the datasheet of an H200 allows.

Every row of the table is one kernel at one size. Each result is compared with one of float64 on fresh random numbers
before it is timed; one that is wrong is said to be wrong and not timed. All contestants work on the same memory and
take turns. The last row is the time of the host to launch almost nothing.

    python -m benchmarks.gpu                            all rows
    python -m benchmarks.gpu --rows matmul softmax      rows with these words in their names
    python -m benchmarks.gpu --quick                    two rounds instead of five
    python -m benchmarks.gpu --save benchmarks/results  write gpu.md, gpu.json and gpu_roofline.png
    python -m benchmarks.gpu --sweep matmul             time all candidates of a kind of work, best first
    python -m benchmarks.gpu --check                    prove and assemble everything: needs no GPU, fills the cache
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

from tileproof.backends.cuda import running
from tileproof.backends.cuda.driver import Device
from tileproof.runtime import gpu
from tileproof.runtime.arguments import Bound
from tileproof.runtime.devices import address_of, current_stream
from tileproof.runtime.launch import prepare

from . import gpu_report as report
from .gpu_kernels import CANDIDATES, Candidate
from .gpu_launches import row_launches
from .gpu_peers import Call, Peers, made_args, made_sets, problem_of, started
from .gpu_report import Figure, Line, Twin
from .gpu_rows import LAUNCH, LAUNCHES, ROWS, Row, chosen
from .gpu_sweep import sweep
from .gpu_timing import ROUNDS, Contestant, host_times, race

_MANY: Final = 10_000
_BATCH: Final = 500
"""Launches between two waits: fewer than the driver's queue holds."""


def twins_of(each: Candidate, sets: list[list[Any]]) -> tuple[list[Call], bool]:
    """Launches of a candidate without its checks, and whether it has none, so that the code is the same."""
    device = Device(0)
    loaded: running.Loaded | None = None
    calls: list[Call] = []
    is_same = True
    for args in sets:
        found, bound = prepare(each.scheduled, tuple(args), dict(each.tiles))
        space = gpu.space_of(found, bound)
        if loaded is None:  # all sets are alike, also in how they are aligned
            is_same = found.ir is found.ready
            wanted = gpu.variant(found, bound, space, device.arch, checked=is_same)
            loaded = running.Loaded(wanted.kernel, gpu.code_of(wanted), device)
        calls.append(_launched(loaded, bound, space))
    return calls, is_same


def _launched(loaded: running.Loaded, bound: Bound, space: running.Space) -> Call:
    addresses = {name: address_of(array) for name, array in bound.tensors.items()}

    def call() -> None:
        loaded.run(bound.tensors, addresses, bound.scalars, bound.dimensions, space, current_stream(0))

    return call


def run_row(row: Row, peers: Peers, torch: Any, rounds: int) -> Line:
    """Checks results, times everybody, and makes the line of the table."""
    sets = made_sets(row, torch)
    problem = _said(lambda: problem_of(row, started(row.chosen, sets[0]), sets[0], torch))
    if problem:
        return _line(row, None, {}, dict(peers.absent), problem=problem)
    ours = Contestant("tileproof", [started(row.chosen, args) for args in sets])
    twin, is_same, notes = _twin(row, sets, torch)
    entered: dict[str, list[Contestant]] = {}
    absent = dict(peers.absent)
    for peer in peers.of(row):
        wrong = _said(lambda peer=peer: problem_of(row, peer.start(sets[0]), sets[0], torch))  # type: ignore[misc]
        if wrong:
            absent.setdefault(peer.column, wrong.partition(":")[0])
            notes.append(f"{peer.name}: {wrong}")
            continue
        contestant = Contestant(peer.name, [peer.start(args) for args in sets])
        entered.setdefault(peer.column, []).append(contestant)
    everybody = [ours, *twin, *(each for way in entered.values() for each in way)]
    race(everybody, torch, rounds, captured=is_same)
    if not is_same:
        notes.append("launched one by one: a launch waits for what its checks find")
    notes += [*dict.fromkeys(peers.notes), *(each.note for each in everybody if each.note)]
    timed = {column: tuple(_figure(each) for each in way) for column, way in entered.items()}
    beside = Twin(_figure(twin[0]), is_same) if twin else None
    return _line(row, _figure(ours), timed, absent, twin=beside, notes=tuple(notes))


def _twin(row: Row, sets: list[list[Any]], torch: Any) -> tuple[list[Contestant], bool, list[str]]:
    """The unsafe twin, if it can be launched and is right; whether it is the same code; and what there is to say."""
    try:
        calls, is_same = twins_of(row.chosen, sets)
        problem = problem_of(row, calls[0], sets[0], torch)
    except Exception as error:  # its code may not have been carried here
        problem, is_same, calls = (str(error).splitlines() or [type(error).__name__])[0][:120], row.kind != "gather", []
    if problem:
        return [], is_same, [f"unsafe twin: {problem}"]
    return [Contestant("unsafe twin", calls)], is_same, []


def _said(check: Callable[[], str]) -> str:
    """What a check found, or why there is nothing to find."""
    try:
        return check()
    except Exception as error:  # a kernel that cannot be launched is a finding, and the other rows go on
        lines = str(error).splitlines() or [type(error).__name__]
        return f"FAILED: {lines[0][:120]}"


def _figure(each: Contestant) -> Figure:
    return Figure(each.name, tuple(each.rounds))


def _line(row: Row, ours: Figure | None, peers: Any, absent: Any, **more: Any) -> Line:
    return Line(
        row.name, row.size, row.choice, row.operations, row.bytes, row.limit, ours, peers, absent, row.goal, **more
    )


def run_launches(peers: Peers, torch: Any) -> Line:
    """The time of the host to launch an add of 2^20 elements."""
    args = made_args(LAUNCH, torch)
    calls = {"tileproof": started(LAUNCH.chosen, args)}
    problem = _said(lambda: problem_of(LAUNCH, calls["tileproof"], args, torch))
    if problem:
        return replace(_line(LAUNCH, None, {}, dict(peers.absent), problem=problem), limit=None)
    columns = {}
    for peer in peers.launching(LAUNCH.chosen):
        calls[peer.name], columns[peer.name] = peer.start(args), peer.column
    taken = host_times(calls, torch, _MANY, _BATCH)
    timed = {columns[name]: (Figure(name, times),) for name, times in taken.items() if name in columns}
    ours = Figure("tileproof", taken["tileproof"])
    return replace(_line(LAUNCH, ours, timed, dict(peers.absent)), limit=None)


# The machine.


def machine(torch: Any) -> dict[str, str]:
    """What the figures depend on."""
    properties = torch.cuda.get_device_properties(0)
    return {
        "GPU": f"{properties.name}, {properties.multi_processor_count} multiprocessors",
        "driver, clocks, power, temperature": _asked("driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu"),
        "torch": f"{torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
        **{name: _version(package) for name, package in {"Triton": "triton", "cuTile": "cuda-tile"}.items()},
        "tileproof": _version("tileproof"),
        "Python": platform.python_version(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def _asked(what: str) -> str:
    """What the driver's tool says; it only reads."""
    try:
        command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "not known"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


# The command.


def options(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help=f"of {', '.join([*ROWS, LAUNCHES])}")
    parser.add_argument("--quick", action="store_true", help="two rounds instead of five")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write gpu.md, gpu.json and gpu_roofline.png there")
    parser.add_argument("--cutile", type=Path, metavar="FOLDER", help="where cuda-tile and its assembler are")
    parser.add_argument("--sweep", choices=tuple(CANDIDATES), help="time all candidates of a kind of work")
    parser.add_argument("--check", action="store_true", help="prove and assemble all candidates; needs no GPU")
    parser.add_argument("--chosen", action="store_true", help="with --check: only the candidates that rows use")
    return parser.parse_args(given)


def main() -> int:
    """Prints the table; 1 if a result is wrong. A missed goal is said, and is no failure."""
    given = options()
    names = chosen(given.rows)
    if given.check:
        from .gpu_checking import check

        return 1 if any(each.code is None for each in check(row_launches(sweep=not given.chosen, names=names))) else 0
    torch = import_module("torch")
    torch.manual_seed(int(time.time()))
    if given.sweep is not None:
        rows = [ROWS[name] for name in names if name in ROWS and ROWS[name].kind == given.sweep]
        return sweep(rows, Peers(torch, given.cutile), torch, given.save)
    peers = Peers(torch, given.cutile)
    lines: list[Line] = []
    try:
        for place, name in enumerate(names, start=1):
            began = time.perf_counter()
            print(f"[{place}/{len(names)}] {name} ...", end="", file=sys.stderr, flush=True)
            if name == LAUNCHES:
                lines.append(run_launches(peers, torch))
            else:
                lines.append(run_row(ROWS[name], peers, torch, 2 if given.quick else ROUNDS))
            torch.cuda.empty_cache()
            print(f" {lines[-1].verdict}, {time.perf_counter() - began:.1f} s", file=sys.stderr)
    finally:  # a GPU that failed leaves what was measured before
        if lines:
            print(f"\n{report.table(lines)}\n\n{report.summary(lines)}")
            if given.save is not None:
                print(f"written: {', '.join(map(str, report.save(given.save, lines, machine(torch))))}")
    return 1 if any(line.problem for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
