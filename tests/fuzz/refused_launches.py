"""Launches that go right are not refused: random arguments for kernels that the checker accepts.

    python tests/fuzz/refused_launches.py --count 10000 [--seed S] [--jobs 2]
    python tests/fuzz/refused_launches.py --library

Kernel number n is made from seed S + n; `--library` takes the kernels of the library and of the examples. Where a proof
asks for other sizes or scalars, the launch must go wrong: with its contents, or with others that its types allow. That
index arithmetic fits 64 bits is not asked of sizes as small as these.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import pkgutil
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import tileproof as tp
import tileproof.kernels
from fuzz.random_arguments import _entries as entries
from fuzz.random_arguments import _whole as whole
from fuzz.random_arguments import arguments, shown
from fuzz.random_launches import launch
from fuzz.search import CHECK_S, LAUNCH_S, TooLong, limited, made
from support.source_files import load_text
from tileproof.analysis.index_entries import loaded_through
from tileproof.analysis.launch_guards import Compare
from tileproof.analysis.verdict import Verdict
from tileproof.backends import interpreter
from tileproof.compiler.compile import verdict
from tileproof.compiler.pipeline import compile_for
from tileproof.frontend.signature import ContentOf, Signature, parse
from tileproof.ir.ops import Group
from tileproof.ir.walk import walk
from tileproof.runtime.launch.binding import Bound, bind
from tileproof.runtime.launch.contracts import check_contents, check_groups
from tileproof.runtime.launch.relations import check_relations

LAUNCHES = 24
CONTENTS = 40
"""With how many contents a launch must go right to be one that is refused wrongly."""
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass
class Tally:
    """What was seen, and every launch that was refused wrongly."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.counts.update(other.counts)
        self.wrong += other.wrong


def examine(kernel: tp.Kernel, answer: Verdict, given: list[Any], constants: dict[str, Any], rng: random.Random) -> str:
    """What comes of a launch: runs, refused, a refusal that is wrong, or nothing that a launch gets as far as."""
    signature = parse(kernel).signature
    compares = [compare for compare in answer.compares if isinstance(compare, Compare)]
    try:
        bound = bind(signature, tuple(given), constants)
    except tp.TileproofError:
        return "not launched"
    try:
        check_relations(signature, bound, compares)
    except tp.LaunchError as error:
        for number in range(CONTENTS):
            if number:
                given = [other_contents(signature, bound, one, place, rng) for place, one in enumerate(given)]
            if not runs_clean(kernel, signature, given, constants):
                return "refused"
        return f"refused wrongly: {error.diagnostics[0].message}"
    return "runs"


def other_contents(signature: Signature, bound: Bound, one: Any, place: int, rng: random.Random) -> Any:
    """An argument of the same shape that holds something else: one kind of number throughout, or any."""
    if not isinstance(one, np.ndarray):
        return one
    parameter = signature.arguments[place]
    element = parameter.element
    if isinstance(element, ContentOf):
        extent = bound.dimensions[element.dimension]
        rows = int(np.prod(one.shape[: len(element.per)], dtype=np.int64))
        held: Any = [entry for _ in range(rows) for entry in entries(element.kind, one.size // rows, extent, rng)]
        if element.kind == "Index" and rng.random() < 0.5:
            held = [rng.choice([0, extent - 1])] * one.size
        elif element.kind == "Offsets" and rng.random() < 0.5:
            held = [*held[:1], *[rng.choice([0, extent])] * (one.size - 2), *held[1:][-1:]]
    elif one.dtype.kind == "i":
        held = [rng.choice([0, 1, 9])] * one.size if rng.random() < 0.5 else [whole(rng) for _ in range(one.size)]
    else:
        low, high = rng.choice([(-8, 8), (1, 8), (-8, -1), (0, 0)])
        held = [rng.randint(low, high) / 2 for _ in range(one.size)]
    return np.array(held, np.int64 if one.dtype.kind == "i" else np.float32).astype(one.dtype).reshape(one.shape)


def runs_clean(kernel: tp.Kernel, signature: Signature, given: list[Any], constants: dict[str, Any]) -> bool:
    """Whether the interpreter finds nothing wrong, and no contract broken; what takes too long is not known."""
    copies = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
    try:
        with limited(LAUNCH_S):
            bound = bind(signature, tuple(copies), constants)
            ir = compile_for(kernel, bound.specialization).ir
            check_contents(signature, bound, loaded_through(ir))
            check_groups(signature, bound, [op for op in walk(ir.body) if isinstance(op, Group)])
            interpreter.run(ir, {**bound.tensors, **bound.scalars}, bound.dimensions, sanitize=True)
    except (tp.TileproofError, TooLong):
        return False
    return True


def of_generator(seed: int, profile: str, tally: Tally, launches: int = LAUNCHES) -> None:
    """Launches of one random kernel."""
    kernel: tp.Kernel = load_text(made(seed, profile)).k
    answer = checked(kernel, tally)
    if answer is not None:
        for number in range(launches):
            given = arguments(kernel, seed, number)
            seen = examine(kernel, answer, given, {}, random.Random(number))
            note(tally, f"seed {seed}\n{shown(kernel, given)}", seen)


def of_library(tally: Tally, launches: int = LAUNCHES) -> None:
    """Launches of every kernel of the library and of the examples."""
    for name, kernel in library():
        answer = checked(kernel, tally)
        for number in range(launches if answer is not None else 0):
            given, constants = launch(kernel, number)
            rng = random.Random(number)
            note(tally, f"{name}, launch {number}", examine(kernel, answer, given, constants, rng))  # type: ignore[arg-type]


def checked(kernel: tp.Kernel, tally: Tally) -> Verdict | None:
    """The verdict of a kernel that is accepted and asks for something at launch."""
    tally.counts["kernels"] += 1
    try:
        with limited(CHECK_S):
            answer = verdict(kernel)
    except (tp.TileproofError, TooLong):
        return None
    tally.counts["accepted"] += answer.accepted
    asks = answer.accepted and any(isinstance(compare, Compare) for compare in answer.compares)
    tally.counts["with a compare"] += asks
    return answer if asks else None


def note(tally: Tally, what: str, seen: str) -> None:
    kind, _, found = seen.partition(": ")
    tally.counts[f"launches: {kind}"] += 1
    if found:
        tally.wrong.append(f"{what}\n{found}")


def library() -> Iterator[tuple[str, tp.Kernel]]:
    """The kernels of the library and of the examples, by name."""
    modules = [importlib.import_module(f"tileproof.kernels.{one.name}")
               for one in pkgutil.iter_modules(tileproof.kernels.__path__)]  # fmt: skip
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "demo"]
    seen: set[int] = set()
    for module in (*modules, *map(load_text, texts)):
        for value in list(vars(module).values()):
            if isinstance(value, tp.Kernel) and id(value) not in seen:
                seen.add(id(value))
                yield f"{module.__name__}.{value.name}", value


def _worker(queue: Any, seeds: range, profile: str) -> None:
    tally = Tally()
    for seed in seeds:
        of_generator(seed, profile, tally)
    queue.put(tally)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--profile", default="mixed")
    parser.add_argument("--library", action="store_true", help="kernels of the library and the examples")
    options = parser.parse_args()
    tally = Tally()
    if options.library:
        of_library(tally)
    else:
        context = multiprocessing.get_context("spawn")
        queue, end = context.Queue(), options.seed + options.count
        spans = [range(options.seed + one, end, options.jobs) for one in range(options.jobs)]
        workers = [context.Process(target=_worker, args=(queue, span, options.profile)) for span in spans]
        for worker in workers:
            worker.start()
        for _ in workers:
            tally.add(queue.get())
    print("\n\n".join(tally.wrong))
    print(", ".join(f"{name} {count}" for name, count in sorted(tally.counts.items())))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
