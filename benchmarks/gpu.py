"""The library on a GPU against torch (cuBLAS, cuDNN), torch.compile, Triton, cuTile Python, and an H200's datasheet.

Every row is one library function at one size, called as users call it. Each result is compared with one of float64 on
fresh random numbers before it is timed; one that is wrong is said to be wrong and not timed, and a function that is not
there or fails is reported and skipped. All contestants work on the same memory and take turns. What was found is on
disk after every row.

    python -m benchmarks gpu                            all rows
    python -m benchmarks gpu --rows matmul softmax      rows of these groups, or with these words in their names
    python -m benchmarks gpu --quick                    two rounds, and without torch.compile: a look, no result
    python -m benchmarks gpu --save benchmarks/results  write h200/gpu.json there
    python -m benchmarks gpu --check                    prove and assemble every launch: needs no GPU, fills the cache
    python -m benchmarks gpu --list                     the names of all rows
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

from tileproof import kernels
from tileproof.backends.cuda import running, starting
from tileproof.backends.cuda.driver import Device
from tileproof.runtime import gpu
from tileproof.runtime.arguments import Bound
from tileproof.runtime.describe import address_of, current_stream
from tileproof.runtime.launch import prepare

from . import gpu_chain, gpu_report
from .book import slug_of
from .gpu_peers import COLUMNS, Tools, yardstick
from .gpu_report import LAUNCH_PEER, Figure, Found, Line, Twin
from .gpu_row import Args, Array, Goal, Row, problem_of, sets_of, tensor_of
from .gpu_rows import CHAINS, LAUNCH, names, rows
from .gpu_timing import ROUNDS, Contestant, host_times, race
from .recording import Launched, label, recorded
from .tables import first_line

_MANY: Final = 5_000
_BATCH: Final = 500
"""Launches between two waits: fewer than the driver's queue holds."""
_QUICK: Final = 2


@dataclass(frozen=True)
class Session:
    """What all rows of a run share."""

    torch: Any
    tools: Tools
    rounds: int
    has_datasheet: bool = True
    """Whether the limits are those of this GPU."""


def run_row(row: Row, session: Session) -> Line:
    """Checks results, times everybody, and makes the line of the table."""
    torch, tools = session.torch, session.tools
    line = begun(row, session)
    peers = tools.of(row)
    sets = sets_of(row, torch)
    launched: list[Launched] = []

    def first() -> Any:
        with recorded(launched, runs=True):
            return row.call(kernels, sets[0])

    problem = said(lambda: problem_of(row, first, sets[0], torch))
    line = line.but(how=tuple(dict.fromkeys(label(kernel, constants) for kernel, _, constants in launched)))
    if problem:
        return line.but(problem=problem)
    # Twice: the second call of a kernel takes another way through the host than the first.
    problem = said(lambda: problem_of(row, partial(row.call, kernels, sets[0]), sets[0], torch))
    if problem:
        return line.but(problem=f"{problem}, by the second call")
    ours = Contestant(
        "tileproof", [partial(row.call, kernels, args) for args in sets], "tileproof" if row.has_indices else "torch"
    )
    notes: list[str] = []
    twins, is_same = _twins(row, sets, torch, notes) if row.has_twin else ([], True)
    entered: dict[str, list[Contestant]] = {}
    absent = dict(tools.absent)
    for peer in peers:
        wrong = said(lambda peer=peer: problem_of(row, partial(peer.way, tools, sets[0]), sets[0], torch))  # type: ignore[misc]
        if wrong:
            absent.setdefault(peer.column, wrong.partition(":")[0])
            notes.append(f"{peer.name}: {wrong}")
            continue
        calls = [partial(peer.way, tools, args) for args in sets]
        entered.setdefault(peer.column, []).append(Contestant(peer.name, calls))
    sticks = {name: Contestant(name, yardstick(name, row, tools)) for name in row.yardsticks}
    everybody = [ours, *twins, *(each for way in entered.values() for each in way), *sticks.values()]
    race(everybody, torch, min(session.rounds, row.rounds or session.rounds))
    notes += [*dict.fromkeys(tools.notes), *(each.note for each in everybody if each.note)]
    return line.but(
        tileproof=_figure(ours), absent=absent, notes=tuple(notes),
        peers={column: tuple(map(_figure, way)) for column, way in entered.items()},
        yardsticks={name: _figure(each) for name, each in sticks.items()},
        twin=Twin(_figure(twins[0]), is_same) if twins else None,
    )  # fmt: skip


def begun(row: Row, session: Session) -> Line:
    """The line of a row of which nothing is known yet."""
    limit = row.limit if session.has_datasheet else None
    return Line(row.name, row.group, row.size, row.operations, row.bytes, limit, goals=row.goals)


def said(check: Callable[[], str]) -> str:
    """What a check found, or why there is nothing to find."""
    try:
        return check()
    except Exception as error:  # a function that cannot be called is a finding, and the other rows go on
        return f"FAILED: {first_line(error)}"


def _figure(each: Contestant) -> Figure:
    return Figure(each.name, tuple(each.rounds))


# Without checks.


def _twins(row: Row, sets: Sequence[Args], torch: Any, notes: list[str]) -> tuple[list[Contestant], bool]:
    """The unsafe twin, if it can be launched and is right, and whether it is the same code."""
    try:
        made = [_twin_of(row, args) for args in sets]
        problem = problem_of(row, made[0][0], sets[0], torch)
        is_same = all(same for _, same in made)
    except Exception as error:  # its code may not have been carried here
        problem, is_same, made = first_line(error), True, []
    if problem:
        notes.append(f"unsafe twin: {problem}")
        return [], is_same
    return [Contestant("unsafe twin", [call for call, _ in made])], is_same


def _twin_of(row: Row, args: Args) -> tuple[Callable[[], None], bool]:
    """The launches of a row without their checks, and whether there are none to leave out."""
    launched: list[Launched] = []
    with recorded(launched, runs=True):
        row.call(kernels, args)
    device = Device(0)
    calls: list[Callable[[], None]] = []
    is_same = True
    for kernel, given, constants in launched:
        found, bound = prepare(kernel, tuple(given), dict(constants))
        space = gpu.space_of(found, bound)
        is_proved = found.ir is found.ready
        wanted = gpu.variant(found, bound, space, device.arch, checked=is_proved)
        calls.append(_launch(running.Loaded(wanted.kernel, gpu.code_of(wanted), device), bound, space))
        is_same = is_same and is_proved

    def all_of_them() -> None:
        for call in calls:
            call()

    return all_of_them, is_same


def _launch(loaded: running.Loaded, bound: Bound, space: running.Space) -> Callable[[], None]:
    addresses = {name: address_of(array) for name, array in bound.tensors.items()}

    def call() -> None:
        starting.run(loaded, bound.tensors, addresses, bound.scalars, bound.dimensions, space, current_stream(0))

    return call


# The host's part.


def run_launches(session: Session) -> Line:
    """The time of the host to call `add` on 2^20 elements."""
    torch, tools = session.torch, session.tools
    x = Array((1 << 20,), "f32")
    a, b, c = (tensor_of(x, torch, "cuda") for _ in range(3))
    line = Line(LAUNCH, "launch", "add of 2^20 f32, host", 2.0**20, 3.0 * x.nbytes, goals=(Goal(0.6, LAUNCH_PEER),))
    calls: dict[str, Callable[[], object]] = {
        "tileproof": lambda: kernels.add(a, b, out=c), LAUNCH_PEER: lambda: torch.add(a, b, out=c),
    }  # fmt: skip
    columns = {LAUNCH_PEER: "torch"}
    if tools.triton is not None:
        triton = tools.triton
        calls["Triton"], columns["Triton"] = lambda: triton.add(c, a, b), "Triton"
    taken = host_times(calls, torch, _MANY, _BATCH)
    peers = {columns[name]: (Figure(name, times),) for name, times in taken.items() if name in columns}
    return line.but(tileproof=Figure("tileproof", taken["tileproof"]), peers=peers, absent=dict(tools.absent))


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


def options(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="groups, or words of names")
    parser.add_argument("--quick", action="store_true", help="two rounds, and without torch.compile")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write <device>/gpu.json there, after every row")
    parser.add_argument("--cutile", type=Path, metavar="FOLDER", help="where cuda-tile and its assembler are")
    parser.add_argument("--without", nargs="*", default=[], choices=COLUMNS, help="peers to leave out")
    parser.add_argument("--minutes", type=float, metavar="N", help="begin no row after so many minutes")
    parser.add_argument("--check", action="store_true", help="prove and assemble all launches; needs no GPU")
    parser.add_argument("--list", action="store_true", help="print the names of rows")
    return parser.parse_args(given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if a result is wrong. A missed goal is said, and is no failure."""
    given = options(arguments)
    wanted = names(given.rows)
    if given.list:
        print("\n".join(wanted))
        return 0
    if given.check:
        from .gpu_checking import check

        return check(wanted)
    torch = import_module("torch")
    torch.manual_seed(int(time.time()))
    is_quick = given.quick
    slug = slug_of(torch.cuda.get_device_name(0))
    tools = Tools(torch, given.cutile, ["torch.compile"] if is_quick else given.without)
    session = Session(torch, tools, _QUICK if is_quick else ROUNDS, slug == "h200")
    folder = None if given.save is None else given.save / slug
    lines = _run(wanted, session, folder, given.minutes)
    print(f"\n{gpu_report.table(lines)}\n\n{gpu_report.summary(lines)}")
    for line in lines:
        for note in line.notes:
            print(f"note: {line.name}: {note}")
    if folder is not None:
        print(f"written: {folder / gpu_report.FILE}")
    return 1 if any(line.problem for line in lines) else 0


def _run(wanted: Sequence[str], session: Session, folder: Path | None, minutes: float | None) -> list[Line]:
    """Runs rows one after another; what was found is on disk after each."""
    torch = session.torch
    before = Found((), ()) if folder is None else gpu_report.kept(folder)
    about = machine(torch)
    started = time.perf_counter()
    lines: list[Line] = []
    for place, name in enumerate(wanted, start=1):
        began = time.perf_counter()
        if minutes is not None and began - started > minutes * 60:
            print(f"no time for {len(wanted) - place + 1} rows, from {name} on", file=sys.stderr)
            break
        print(f"[{place}/{len(wanted)}] {began - started:3.0f} s  {name} ...", end="", file=sys.stderr, flush=True)
        lines.append(_one(name, session))
        session.tools.forget()
        spent = time.perf_counter() - began
        ratio = lines[-1].ratio
        shown = "" if ratio is None else f" {ratio:.2f} x best,"
        print(f"{shown} {lines[-1].verdict}, {spent:.1f} s", file=sys.stderr, flush=True)
        if folder is not None:
            gpu_report.save(folder, before.joined(Found(tuple(lines), (about,))))
        if _is_lost(torch):  # before memory is given back, which would raise
            print("the GPU answers no more: the rows that are left need another run", file=sys.stderr)
            break
        torch.cuda.empty_cache()
    return lines


def _is_lost(torch: Any) -> bool:
    """Whether somebody's kernel has failed so badly that nothing can be launched in this process any more."""
    try:
        torch.cuda.synchronize()
    except Exception:  # whatever it says, it will say it again
        return True
    return False


def _one(name: str, session: Session) -> Line:
    """The line of a row, whatever becomes of it."""
    try:
        if name in CHAINS:
            return gpu_chain.measured(name.split()[1], session.torch, session.rounds)
        return run_launches(session) if name == LAUNCH else run_row(rows()[name], session)
    except Exception as error:
        problem = f"FAILED: {first_line(error)}"
        row = rows().get(name)
        line = Line(name, name.split()[0], "", 0.0, 0.0) if row is None else begun(row, session)
        return line.but(problem=problem)


if __name__ == "__main__":
    raise SystemExit(main())
