"""Rows on a device: results are checked, then everybody takes turns. What differs between CPU and GPU is a `Bench`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from tileproof import kernels
from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.device.pool import VARIABLE, Pool, pool_text
from tileproof.backends.cpu.target import host
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device import stream_launch as starting
from tileproof.backends.cuda.device.driver import Device
from tileproof.runtime.interop.describe import address_of, current_stream
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import prepare
from tileproof.runtime.stream import thread_pool as workers

from ..compile.steps import cpu_steps
from ..harness import cpu_clock, cpu_limits, gpu_clock, result
from ..harness.device import cpu_machine, gpu_machine
from ..harness.recording import Launched, label, recorded
from ..harness.result import Figure, Line, Results
from ..harness.row import Args, Row, as_tensors, on_numpy, on_torch, problem_of
from ..harness.text import first_line
from .peers import Tools

Call = Callable[[], Any]
_LAUNCHES: Final = 5_000
_BATCH: Final = 500
"""Launches between two waits: fewer than the driver's queue holds."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """One set of arguments, as this library and as torch gets them: the same memory."""

    ours: Args
    theirs: Args


@dataclass
class Entered:
    """Who takes part in a row: by column, the name of each way and its call for every set of arguments."""

    ours: Mapping[str, Sequence[Call]]
    """Our ways; where there is one, it is called `tileproof`."""
    twin: Sequence[Call] = ()
    is_same_code: bool = False
    peers: dict[str, list[tuple[str, Sequence[Call], int | None]]] = field(default_factory=dict)
    """With the one number of threads that a peer is timed with, if there is one."""


class Bench(Protocol):
    """A device, and how it is timed."""

    tools: Tools
    xp: Any

    def limit(self, row: Row) -> float | None:
        """Seconds that a datasheet allows."""

    def sets(self, row: Row) -> list[Arguments]:
        """Arguments to take in turn."""

    def without_checks(self, launched: Sequence[Launched]) -> tuple[Call, bool] | None:
        """Launches without their checks, and whether there are none to leave out."""

    def race(self, row: Row, line: Line, entered: Entered, launched: Sequence[Launched]) -> list[Line]:
        """Times everybody, and makes the lines."""

    def machine(self) -> dict[str, str]:
        """What the figures depend on."""


def run_row(row: Row, bench: Bench) -> list[Line]:
    """Checks results, times everybody, and makes the lines of the table."""
    tools, line = bench.tools, row.line(bench.limit(row))
    peers, sets = tools.of(row), bench.sets(row)
    launched: list[Launched] = []
    first = sets[0]

    def call(way: Callable[[Any, Args], Any], args: Args) -> Any:
        return way(kernels, args)

    def called(column: str, way: Callable[[Any, Args], Any], args: Arguments) -> Any:
        return way(tools, args.ours if column == "numpy" else args.theirs)

    def checked(work: Call) -> str:
        by_peer = partial(peers[0].way, tools, first.theirs) if peers and bench.xp is not np else None
        try:
            return problem_of(row, work, first.ours, bench.xp, by_peer)
        except Exception as error:  # a function that cannot be called is a finding, and the other rows go on
            return f"FAILED: {first_line(error)}"

    ways = row.forms or {"tileproof": row.call}
    for name, way in ways.items():
        with recorded(launched, runs=True):
            problem = checked(partial(call, way, first.ours))
        # Twice: the second call of a kernel takes another way through the host than the first.
        problem = problem or checked(partial(call, way, first.ours))
        how = tuple(dict.fromkeys(label(kernel, constants) for kernel, _, constants in launched))
        line = line.but(how=how)
        if problem:
            return [line.but(problem=problem if len(ways) == 1 else f"{name}: {problem}")]
    entered = Entered({name: [partial(call, way, args.ours) for args in sets] for name, way in ways.items()})
    absent, notes = dict(tools.absent), [*line.notes]
    if row.has_twin:
        _enter_twin(row, sets, bench, entered, checked, notes)
    for peer in peers:
        wrong = checked(partial(called, peer.column, peer.way, first))
        if wrong:
            absent.setdefault(peer.column, wrong.partition(":")[0])
            notes.append(f"{peer.name}: {wrong}")
            continue
        calls = [partial(called, peer.column, peer.way, args) for args in sets]
        entered.peers.setdefault(peer.column, []).append((peer.name, calls, peer.threads))
    line = line.but(absent=absent, notes=tuple(notes), is_same_code=entered.is_same_code)
    return bench.race(row, line, entered, launched)


def _enter_twin(row: Row, sets: Sequence[Arguments], bench: Bench, entered: Entered, checked: Callable[[Call], str],
                notes: list[str]) -> None:  # fmt: skip
    """The unsafe twin, if it can be launched and is right."""
    results: list[tuple[Call, bool]] = []
    try:
        for args in sets:
            launched: list[Launched] = []
            with recorded(launched, runs=True):
                row.call(kernels, args.ours)
            twin = bench.without_checks(launched)
            if twin is None:
                return
            results.append(twin)
        problem = checked(results[0][0])
    except Exception as error:  # its code may not have been carried here
        problem = first_line(error)
    if problem:
        notes.append(f"unsafe twin: {problem}")
    else:
        entered.twin, entered.is_same_code = [call for call, _ in results], all(same for _, same in results)


def ours_of(line: Line, forms: Sequence[Figure]) -> Line:
    """With our figure: the best of our forms."""
    best = min(forms, key=lambda form: form.value)
    return line.but(tileproof=Figure("tileproof", best.rounds, best.typical, best.is_loaded, best.outside),
                    forms=tuple(forms) if len(forms) > 1 else ())  # fmt: skip


# The CPU.


class Cpu:
    """The processor: everybody's best call, with each number of threads, while no other process is busy."""

    xp = np

    def __init__(self, tools: Tools, threads: Sequence[int], seconds: float) -> None:
        self.tools, self.threads, self.seconds = tools, threads, seconds
        self._pools: dict[int, Pool] = {}
        self._code = llvm.compile_object(pool_text(host()), host())

    def using(self, threads: int) -> None:
        """Sets how many threads everybody may use. The pools stay, so that changing costs nothing."""
        os.environ[VARIABLE] = str(threads)
        if threads not in self._pools:
            self._pools[threads] = Pool(self._code)
        workers._pools[:] = [self._pools[threads]]
        if self.tools.torch is not None:
            self.tools.torch.set_num_threads(threads)

    def limit(self, row: Row) -> float | None:
        """None: the limits of a processor are measured."""
        return None

    def sets(self, row: Row) -> list[Arguments]:
        self.using(max(self.threads))
        torch = self.tools.torch
        ours = [on_numpy(row, seed) for seed in range(row.sets(4 * host().caches.l3) if row.is_cold else 1)]
        return [Arguments(our, our if torch is None else as_tensors(our, torch)) for our in ours]

    def without_checks(self, launched: Sequence[Launched]) -> tuple[Call, bool] | None:
        """None: of the CPU's kernels there are no unsafe twins."""
        return None

    def machine(self) -> dict[str, str]:
        return cpu_machine("torch")

    def race(self, row: Row, line: Line, entered: Entered, launched: Sequence[Launched]) -> list[Line]:
        """One line for each number of threads. Of several ways of a peer, and of a limit, the fastest counts."""
        results: list[tuple[str, str, float, cpu_clock.Contestant]] = []

        def enter(kind: str, name: str, call: Call, count: int, scale: float = 1.0) -> None:
            results.append((kind, name, scale, cpu_clock.Contestant(name, call, count)))

        for _, calls, _ in (way for ways in entered.peers.values() for way in ways):
            for call in calls:
                call()  # what a peer keeps of each set of arguments is made ahead
        sticks = list(limits_of(row))
        for count in self.threads:
            for name, calls in entered.ours.items():
                enter("ours", name, in_turn(calls), count)
            for column, ways in entered.peers.items():
                for name, calls, only in ways:
                    if count == (only or (1 if column == "numpy" else count)):
                        enter(column, name, in_turn(calls), count)
            for name, work, probe in sticks:
                enter(f"limit {name}", name, probe, count, work)
        cpu_clock.race([each for *_, each in results], self.seconds, self.using, wall=row.is_host)
        facts = _steps(launched)

        def figures(kind: str, count: int) -> list[Figure]:
            return [_scaled(each, name, scale) for of, name, scale, each in results
                    if of == kind and each.threads == count]  # fmt: skip

        lines = []
        for count in self.threads:
            peers = {column: (min(of, key=lambda each: each.value),) for column in entered.peers
                     if (of := figures(column, count))}  # fmt: skip
            floors = {name: min(figures(f"limit {name}", count), key=lambda it: it.value) for name, *_ in sticks}
            goals = tuple(goal for goal in row.goals if goal.threads in (None, count))
            lines.append(ours_of(line.but(threads=count, peers=peers, yardsticks=floors, facts=facts, goals=goals),
                                 figures("ours", count)))  # fmt: skip
        return lines


def in_turn(calls: Sequence[Call]) -> Call:
    """Each time the next of them."""
    if len(calls) == 1:
        return calls[0]
    turns = cycle(calls)
    return lambda: next(turns)()


def limits_of(row: Row) -> list[tuple[str, float, Call]]:
    """What only moves as many bytes, or multiplies: the name, how many of its calls make the row's work, and a way."""
    results: list[tuple[str, float, Call]] = []
    for name in row.yardsticks:
        if name == "Python call":
            results.append((name, 1.0, lambda: None))
        elif name == "read":
            count = row.sets(4 * host().caches.l3) if row.is_cold else 1
            memory = [_ones(row.bytes) for _ in range(count)]
            for places in (1, 4, 8):
                probes = [cpu_limits.reading(each, places) for each in memory]
                results.append((name, row.bytes / probes[0].work, in_turn(probes)))
        elif name == "copy":
            written = sum(array.nbytes for array in row.arrays.values() if array.is_output)
            reads = max(round(row.bytes / written) - 1, 1)
            *sources, target = (_ones(row.bytes // (reads + 1)) for _ in range(reads + 1))
            for passing in (True, False):
                probe = cpu_limits.stream(sources, target, passing=passing)
                results.append((name, row.bytes / probe.work, probe))
        else:
            probe = cpu_limits.int8_dot_rate() if name.startswith("int8") else cpu_limits.float_fma_rate()
            results.append((name, row.operations / probe.work, probe))
    return results


def _ones(nbytes: int) -> Any:
    """Memory that is there, aligned to 64 bytes."""
    array = np.ones(max(nbytes // 4, 4096) + 16, np.float32)
    start = -array.ctypes.data % 64 // 4
    return array[start : array.size - 16 + start]


def _scaled(each: cpu_clock.Contestant, name: str, scale: float) -> Figure:
    return Figure(name, (each.best * scale,), each.median * scale, each.is_loaded, max(each.outside))


def _steps(launched: Sequence[Launched]) -> dict[str, str]:
    """How long all kernels of a call take to compile, and to load; nothing where a proof is not found again."""
    once = {label(kernel, constants): (kernel, args, constants) for kernel, args, constants in launched}
    try:
        every = [cpu_steps(kernel, list(args), constants) for kernel, args, constants in once.values()]
    except LookupError:
        return {}
    parts = [sum(step) for step in zip(*(each.parts for each in every), strict=True)]
    return {
        "front end + proof + lowering + LLVM": f"{'+'.join(f'{part:.0f}' for part in parts)} = {sum(parts):.0f} ms",
        "load": f"{sum(each.load for each in every):.1f} ms",
    }


# A GPU.


class Gpu:
    """A GPU: the median of rounds, by CUDA events around replays of graphs."""

    def __init__(self, torch: Any, tools: Tools, rounds: int, has_datasheet: bool = True) -> None:
        self.xp, self.tools, self.rounds, self.has_datasheet = torch, tools, rounds, has_datasheet

    def limit(self, row: Row) -> float | None:
        return row.limit if self.has_datasheet else None

    def sets(self, row: Row) -> list[Arguments]:
        results = [on_torch(row, self.xp, "cuda") for _ in range(1 if row.is_host else row.sets(row.rotated))]
        return [Arguments(each, each) for each in results]

    def machine(self) -> dict[str, str]:
        return gpu_machine(self.xp, "cuda-tile")

    def without_checks(self, launched: Sequence[Launched]) -> tuple[Call, bool] | None:
        device = Device(0)
        calls: list[Call] = []
        is_same = True
        for kernel, arguments, constants in launched:
            proved, bound = prepare(kernel, tuple(arguments), dict(constants))
            space = gpu.space_of(proved, bound)
            is_proved = proved.ir is proved.ready
            wanted = gpu.variant(proved, bound, space, device.arch, checked=is_proved)
            calls.append(_launch(running.Loaded(wanted.kernel, gpu.code_of(wanted), device), bound, space))
            is_same = is_same and is_proved

        def all_of_them() -> None:
            for call in calls:
                call()

        return all_of_them, is_same

    def race(self, row: Row, line: Line, entered: Entered, launched: Sequence[Launched]) -> list[Line]:
        if row.is_host:
            return [self._host(line, entered)]
        way: gpu_clock.Way = "tileproof" if row.has_indices else "torch"
        # Dependent launches are recorded in our graphs alone; whoever is called tileproof may be.
        ours = [(name, gpu_clock.Contestant("tileproof", calls, "tileproof" if name.startswith("dependent") else way))
                for name, calls in entered.ours.items()]  # fmt: skip
        twin = gpu_clock.Contestant("unsafe twin", entered.twin) if entered.twin else None
        peers = {column: [gpu_clock.Contestant(name, calls) for name, calls, _ in ways]
                 for column, ways in entered.peers.items()}  # fmt: skip
        sticks = {name: gpu_clock.Contestant(name, self._yardstick(name, row)) for name in row.yardsticks
                  if name in ("copy", "read")}  # fmt: skip
        others = [each for ways in peers.values() for each in ways]
        everybody = [*(each for _, each in ours), *([twin] if twin else []), *others, *sticks.values()]
        gpu_clock.race(everybody, self.xp, min(self.rounds, row.rounds or self.rounds))
        notes = (*line.notes, *dict.fromkeys(each.note for each in everybody if each.note))
        line = ours_of(line, [Figure(name, tuple(each.rounds)) for name, each in ours])
        return [line.but(
            notes=notes, peers={column: tuple(map(_timed, ways)) for column, ways in peers.items()},
            yardsticks={name: _timed(stick) for name, stick in sticks.items()},
            twin=None if twin is None else _timed(twin),
        )]  # fmt: skip

    def _host(self, line: Line, entered: Entered) -> Line:
        """The host's time for a launch, in batches that the GPU's queue holds."""
        ways = {column: calls[0] for column, [(_, calls, _)] in entered.peers.items()}
        calls = {"tileproof": entered.ours["tileproof"][0], **ways, "Python call": lambda: None}
        results = {name: Figure(name, times)
                 for name, times in gpu_clock.host_times(calls, self.xp, _LAUNCHES, _BATCH).items()}  # fmt: skip
        sticks = {"Python call": results["Python call"]}
        peers = {name: (results[name],) for name in ways}
        return line.but(tileproof=results["tileproof"], peers=peers, yardsticks=sticks)

    def _yardstick(self, name: str, row: Row) -> list[Call]:
        """Calls that only copy or only read as many bytes as a row moves, on memory of their own, taken in turn."""
        torch, triton = self.xp, self.tools.triton
        results: list[Call] = []
        for _ in range(row.sets(row.rotated)):
            if name == "copy":
                source = torch.ones(max(row.bytes // 2, 1), dtype=torch.int8, device="cuda")
                results.append(partial(torch.empty_like(source).copy_, source))
            else:
                source = torch.ones(max(row.bytes // 4, 1), dtype=torch.int32, device="cuda")
                results.append(source.sum if triton is None else triton.reader(source))
        return results


def _timed(each: gpu_clock.Contestant) -> Figure:
    return Figure(each.name, tuple(each.rounds))


def _launch(loaded: running.Loaded, bound: Bound, space: running.LaunchSpace) -> Call:
    addresses = {name: address_of(array) for name, array in bound.tensors.items()}

    def call() -> None:
        starting.run(loaded, bound.tensors, addresses, bound.scalars, bound.dimensions, space, current_stream(0))

    return call


# Runs.


def run_rows(rows: Mapping[str, Row], bench: Bench, file: Path | None, minutes: float | None = None) -> list[Line]:
    """Runs rows one after another; what was found is on disk after each."""
    before = Results() if file is None else result.kept(file)
    about, started = bench.machine(), time.perf_counter()
    lines: list[Line] = []
    for place, (name, row) in enumerate(rows.items(), start=1):
        began = time.perf_counter()
        if minutes is not None and began - started > minutes * 60:
            print(f"no time for {len(rows) - place + 1} rows, from {name} on", file=sys.stderr)
            break
        print(f"[{place}/{len(rows)}] {began - started:3.0f} s  {name} ...", end="", file=sys.stderr, flush=True)
        try:
            results = run_row(row, bench)
        except Exception as error:
            results = [row.line(bench.limit(row)).but(problem=f"FAILED: {first_line(error)}")]
        lines += results
        bench.tools.forget()
        text = "" if results[-1].ratio is None else f" {results[-1].ratio:.2f} x best,"
        spent = time.perf_counter() - began
        print(f"{text} {results[-1].verdict or 'no goal'}, {spent:.1f} s", file=sys.stderr, flush=True)
        if file is not None:
            result.save(file, before.joined(Results(tuple(lines), (about,))))
        if bench.xp is not np:
            if _is_lost(bench.xp):  # before memory is given back, which would raise
                print("the GPU no longer responds: the rows that are left need another run", file=sys.stderr)
                break
            bench.xp.cuda.empty_cache()
    return lines


def _is_lost(torch: Any) -> bool:
    """Whether somebody's kernel has failed so badly that nothing can be launched in this process any more."""
    try:
        torch.cuda.synchronize()
    except Exception:  # whatever it says, it will say it again
        return True
    return False
