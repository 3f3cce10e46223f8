"""What the host costs: launches, chains of them, awaits, replays, leases, tensors; against torch in the same process.

Operations are adds of 1024 elements, so that next to nothing but the host's part is timed. Every way to have 1, 10, 100
or 1000 of them done has a turn in each round, and who begins moves on from round to round: a slow second of the machine
hits everybody. Before anything is timed it is run, and its result looked at. The last column of the second table says
which goals are met; a missed one is no failure. While other processes keep the machine busy no goal is judged.

    python -m benchmarks host                              on the CPU
    python -m benchmarks host --device cuda                on a GPU, where torch and a bundle of kernels are
    python -m benchmarks host --quick                      three rounds instead of fifteen: a look, no result
    python -m benchmarks host --operations 1 100           other numbers of operations
    python -m benchmarks host --save benchmarks/results    write <device>/host_cpu.json there

How to read it: what "sync each" takes more than "chained" is the waiting; what "awaited chain" takes more is operations
as values, and asyncio; "replay" is what is left when a graph was recorded once. Nothing else should run meanwhile: the
load that other processes made is written down with the figures.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import tileproof as tp

from . import host_report as report
from .book import cpu_slug, slug_of
from .cpu_report import machine as this_machine
from .host_places import place_of, torch_or_none
from .host_report import Figure, Found
from .host_ways import BATCH, Way, Ways
from .measuring import now, outside_load

ROUNDS: Final = 15
TURN: Final = 0.02
"""Seconds of a way's turn, and at least one call."""


def race(ways: Sequence[Way], rounds: int, turn: float) -> dict[tuple[str, str, int], Figure]:
    """Gives everybody a turn in each round; microseconds per operation, the median of each turn."""
    taken: dict[Way, list[float]] = {way: [] for way in ways}
    for number in range(rounds):
        _tell(f"round {number + 1} of {rounds}", number + 1 == rounds)
        for place in range(len(ways)):
            way = ways[(number + place) % len(ways)]
            taken[way].append(_turn(way, turn))
    return {(way.what, way.who, way.operations): Figure(tuple(each)) for way, each in taken.items()}


def _turn(way: Way, seconds: float) -> float:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        times.append(way.call())
    return round(sorted(times)[len(times) // 2] / way.operations * 1e6, 4)


def checked(ways: Sequence[Way]) -> list[str]:
    """Runs everything, so that all is compiled and remembered; what is wrong with the results."""
    wrong = []
    for place, way in enumerate(ways, start=1):
        name = f"{way.who}, {way.what}, {way.operations} operations"
        _tell(f"[{place}/{len(ways)}] {name}", place == len(ways))
        for _ in range(3):
            way.call()
        if way.result is not None and set(way.result.tolist()) != {3.0}:
            wrong.append(f"{name}: 1 + 2 is not 3 everywhere")
    return wrong


def _tell(text: str, is_last: bool) -> None:
    """Says how far it is: on a terminal always in the same line, elsewhere only at the end."""
    if sys.stderr.isatty():
        print(f"\r{text} ...".ljust(79), end="\n" if is_last else "", file=sys.stderr, flush=True)
    elif is_last:
        print(text, file=sys.stderr, flush=True)


def measured(device: str, counts: Sequence[int], rounds: int, turn: float, batch: int, note: str) -> Found:
    """Everything on one device."""
    torch = torch_or_none(device)
    made = Ways(place_of(device, torch), sorted(set(counts)), batch)
    try:
        ways = made.all()
        wrong = checked(ways)
        if wrong:
            raise SystemExit("\n".join(["wrong results, so nothing is timed:", *wrong]))
        gc.collect()
        gc.freeze()  # what was made so far stays, and need not be looked at again and again
        began = now()
        figures = race(ways, rounds, turn)
        load = outside_load(began)
    finally:
        made.close()
    about = {**_machine(device, torch), "rounds": str(rounds), "load of other processes": f"{load:.2f} cores"}
    return Found(device, figures, about, note, round(load, 2))


def _machine(device: str, torch: object) -> dict[str, str]:
    if device == "cuda" and torch is not None:
        from .gpu import machine

        return {**this_machine(), **machine(torch)}
    return this_machine()


def options(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks host", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where operations run (default: cpu)")
    parser.add_argument("--operations", nargs="+", type=int, default=[1, 10, 100, 1000], metavar="N",
                        help="how many operations are done in one go (default: 1 10 100 1000)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of everybody (default: {ROUNDS})")
    parser.add_argument("--turn", type=float, default=TURN, metavar="SECONDS", help=f"of a turn (default: {TURN})")
    parser.add_argument("--batch", type=int, default=BATCH, metavar="N",
                        help=f"launches that are timed together without a wait (default: {BATCH})")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="three rounds")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write <device>/host_*.json there")
    parser.add_argument("--note", default="", metavar="TEXT", help="a sentence for the top of the page")
    return parser.parse_args(given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints both tables."""
    given = options(arguments)
    if min(*given.operations, given.rounds, given.batch, 1) < 1:
        raise SystemExit("--operations, --rounds and --batch are at least 1")
    rounds = 3 if given.quick else given.rounds
    try:
        found = measured(given.device, given.operations, rounds, given.turn, given.batch, given.note)
    except tp.TileproofError as error:
        raise SystemExit(f"nothing can be timed on {given.device}:\n{error}") from None
    print(f"{report.table(found)}\n\n{report.summary(found)}")
    if given.save is not None:
        slug = cpu_slug() if given.device == "cpu" else slug_of(found.machine.get("GPU", "").partition(",")[0])
        print(f"written: {report.save(given.save / slug, found)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
