"""What the host costs: launches, chains of them, awaits, replays, leases, tensors; against torch in the same process.

Operations are adds of 1024 elements, so that next to nothing but the host's part is timed. Every way to have 1, 10, 100
or 1000 of them done has a turn in each round, and who begins moves on from round to round: a slow second of the machine
hits everybody. Before anything is timed it is run, and its result looked at. A missed goal is no failure. While other
processes keep the machine busy no goal is judged.

    python -m benchmarks host                              on the CPU
    python -m benchmarks host --device cuda                on a GPU, where torch and a bundle of kernels are
    python -m benchmarks host --quick                      three rounds instead of fifteen: a look, no result
    python -m benchmarks host --operations 1 100           other numbers of operations
    python -m benchmarks host --save benchmarks/results    write <device>/host_cpu.json or host_cuda.json there

How to read it: what "sync each" takes more than "chained" is the waiting; what "awaited chain" takes more is operations
as values, and asyncio; "replay" is what is left when a graph was recorded once. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tileproof as tp

from ..harness.cpu_clock import QUIET, now, outside_load
from ..harness.device import cpu_machine, cpu_slug, device_of, gpu_machine, slug_of
from ..harness.page import Section, terminal
from ..harness.result import Figure, Goal, Line, Results, kept, save
from .places import place_of, torch_or_none
from .ways import BATCH, COUNTED, OURS, PYTHON, TORCH, Way, Ways

ROUNDS: Final = 15
TURN: Final = 0.02
"""Seconds of a way's turn, and at least one call."""
_CHAIN: Final = 10
"""Operations of the chain of which it is reported what awaiting adds."""
_ABOUT: Final = (
    "Operations are adds of 1024 f32. Times are of one operation: the median of rounds in which all take turns; the "
    "spread is between what rounds lie, a tenth at each end left out. Differences are taken round by round. Of "
    "torch it is `torch.add(out=)` on tensors of the same size, in the same process. The limit is the call of a "
    "Python function. A launch is timed on the host alone: many of them, the clock stopped before the wait. What "
    "leases cost is the difference to the same launch without them. With two streams the other is at work on other "
    "memory."
)
_COUNTED: Final = (
    "By the number of operations. *sync each*: the host waits for every operation. *chained*: it waits once, at the "
    "end. *awaited chain*: `await (a >> b >> ...)`, put together each time. *awaited each*: every operation alone. "
    "*replay*: a graph of so many launches, replayed, and one wait."
)


def _section(device: str, title: str) -> Section:
    return Section(
        f"host_{device}.json", f"What the host costs on {title}", _ABOUT,
        {"parts": "Parts", "counted": "Many operations"}, {"counted": _COUNTED}, ("counted",),
        pictures=(("Against torch", f"host_{device}.png", "ratios", ()),),
    )  # fmt: skip


SECTIONS: Final = (_section("cpu", "the CPU"), _section("cuda", "a GPU"))
Found = Mapping[tuple[str, str, int], tuple[float, ...]]
"""Seconds per operation of each round: by what was done, by whom, and how many at a time."""


def race(ways: Sequence[Way], rounds: int, turn: float) -> Found:
    """Gives everybody a turn in each round: the median of each turn."""
    taken: dict[Way, list[float]] = {way: [] for way in ways}
    for number in range(rounds):
        _progress(f"round {number + 1} of {rounds}", number + 1 == rounds)
        for place in range(len(ways)):
            way = ways[(number + place) % len(ways)]
            taken[way].append(_turn(way, turn))
    return {(way.what, way.who, way.operations): tuple(each) for way, each in taken.items()}


def _turn(way: Way, seconds: float) -> float:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        times.append(way.call())
    return round(sorted(times)[len(times) // 2] / way.operations, 10)


def checked(ways: Sequence[Way]) -> list[str]:
    """Runs everything, so that all is compiled and remembered; what is wrong with the results."""
    wrong = []
    for place, way in enumerate(ways, start=1):
        name = f"{way.who}, {way.what}, {way.operations} operations"
        _progress(f"[{place}/{len(ways)}] {name}", place == len(ways))
        for _ in range(3):
            way.call()
        if way.result is not None and set(way.result.tolist()) != {3.0}:
            wrong.append(f"{name}: 1 + 2 is not 3 everywhere")
    return wrong


def _progress(text: str, is_last: bool) -> None:
    """How far it is: on a terminal always in the same line, elsewhere only at the end."""
    if sys.stderr.isatty():
        print(f"\r{text} ...".ljust(79), end="\n" if is_last else "", file=sys.stderr, flush=True)
    elif is_last:
        print(text, file=sys.stderr, flush=True)


def lines_of(result: Found, device: str, load: float = 0.0) -> list[Line]:
    """What each part costs, and what many operations do. By a busy machine no goal is judged."""
    is_gpu, is_loaded = device == "cuda", load > QUIET
    floor = result.get(next((key for key in result if key[1] == PYTHON), ("", "", 0)))
    sticks = {} if floor is None else {"Python call": Figure("Python call", floor)}
    lines: list[Line] = []

    def figure(what: str, who: str = OURS, count: int | None = None, name: str = "") -> Figure | None:
        """In seconds per operation; if it was taken for several numbers of them, for the largest."""
        wanted = max((key[2] for key in result if key[:2] == (what, who)), default=0) if count is None else count
        rounds = result.get((what, who, wanted))
        return None if rounds is None else Figure(name or who, rounds, is_loaded=is_loaded)

    def enter(name: str, ours: Figure | None, torch: Figure | None = None, most: float | None = None, *,
              of_torch: bool = False, group: str = "parts") -> None:  # fmt: skip
        if ours is not None:
            goal = () if most is None else (Goal(most, TORCH, is_part=True) if of_torch else Goal(most, "at most"),)
            lines.append(Line(name, group, tileproof=ours, peers={} if torch is None else {TORCH: (torch,)},
                              yardsticks=sticks, goals=goal))  # fmt: skip

    def both(what: str) -> tuple[Figure | None, Figure | None]:
        return figure(what), figure(what, TORCH)

    counts = sorted({count for what, _, count in result if what in COUNTED})
    most, count = max(counts, default=0), _CHAIN if _CHAIN in counts else max(counts, default=0)
    enter("launch, 1024 elements", *both("launch"), 0.6 if is_gpu else 8e-6, of_torch=is_gpu)
    enter("launch, the stream held", figure("launch held"), most=8e-6)
    enter("launch, 2^20 elements", *both("launch 2^20"), 0.6, of_torch=True)
    enter("launch on torch's tensors" + ("" if is_gpu else ", done when it returns"), figure("launch on torch"),
          figure("launch", TORCH))  # fmt: skip
    enter("launch on numpy arrays, done when it returns", figure("launch on numpy"))
    leased, bare, second = figure("leases"), figure("no leases"), figure("two streams")
    if leased is not None and bare is not None:
        enter("leases of a launch, one stream", leased.minus(bare), most=1e-6 if is_gpu else None)
        if second is not None:
            enter("leases of a launch, two streams", second.minus(bare), most=1e-6 if is_gpu else None)
    chained, run, awaited = (figure(what, OURS, count) for what in ("chained", "run chain", "awaited chain"))
    if chained is not None and run is not None and awaited is not None:
        allowed = 30e-6 / count if is_gpu else None
        enter(f"await of a chain of {count} over its run, each", awaited.minus(run), most=allowed)
        enter(f"run of a chain of {count} over plain launches, each", run.minus(chained))
    enter(f"replay, each of {most} nodes", *both("replay"), 1.5e-6 if is_gpu else 1e-6)
    enter("replay of one node, the call alone", figure("replay call"))
    for what, name in (("empty", "tp.empty"), ("zeros", "tp.zeros"), ("copy", "tp.copy, 4 KiB")):
        enter(name, *both(what))
    for what in COUNTED:
        for count in counts:
            enter(f"{what} {count}", figure(what, OURS, count), figure(what, TORCH, count), group="counted")
    return lines


def measured(device: str, counts: Sequence[int], rounds: int, turn: float, batch: int, note: str) -> Results:
    """Everything on one device."""
    torch = torch_or_none(device)
    result = Ways(place_of(device, torch), sorted(set(counts)), batch)
    try:
        ways = result.all()
        wrong = checked(ways)
        if wrong:
            raise SystemExit("\n".join(["wrong results, so nothing is timed:", *wrong]))
        gc.collect()
        gc.freeze()  # what was made so far stays, and need not be looked at again and again
        began = now()
        actual = race(ways, rounds, turn)
        load = outside_load(began)
    finally:
        result.close()
    about: dict[str, Any] = {**cpu_machine("torch"), **(gpu_machine(torch) if device == "cuda" and torch else {})}
    about |= {"rounds": str(rounds), "load of other processes": f"{load:.2f} cores", **({"note": note} if note else {})}
    return Results(tuple(lines_of(actual, device, load)), (about,))


def options(values: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks host", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--device", choices=("cpu", "cuda"), default="cpu", help="where operations run (default: cpu)")
    add("--operations", nargs="+", type=int, default=[1, 10, 100, 1000], metavar="N",
        help="how many operations are done in one go (default: 1 10 100 1000)")  # fmt: skip
    add("--rounds", type=int, default=ROUNDS, help=f"turns of everybody (default: {ROUNDS})")
    add("--turn", type=float, default=TURN, metavar="SECONDS", help=f"of a turn (default: {TURN})")
    add("--batch", type=int, default=BATCH, metavar="N",
        help=f"launches that are timed together without a wait (default: {BATCH})")  # fmt: skip
    add("--quick", action="store_true", help="three rounds")
    add("--save", type=Path, metavar="FOLDER", help="write <device>/host_*.json there")
    add("--note", default="", metavar="TEXT", help="a sentence for the page")
    return parser.parse_args(values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    values = options(arguments)
    if min(*values.operations, values.rounds, values.batch, 1) < 1:
        raise SystemExit("--operations, --rounds and --batch are at least 1")
    rounds = 3 if values.quick else values.rounds
    try:
        results = measured(values.device, values.operations, rounds, values.turn, values.batch, values.note)
    except tp.TileproofError as error:
        raise SystemExit(f"nothing can be timed on {values.device}:\n{error}") from None
    print(terminal(results.lines))
    if values.save is not None:
        slug = cpu_slug() if values.device == "cpu" else slug_of(device_of(results.runs[0]))
        file = values.save / slug / f"host_{values.device}.json"
        print(f"written: {save(file, kept(file).joined(results))}")
    return 0
