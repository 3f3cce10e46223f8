"""Soundness by search: random kernels that the checker accepts must never fail when the interpreter runs them.

    python tests/fuzz/search.py --seconds 90 [--seed S] [--count N] [--jobs 2] [--profile disturbed] [--out FILE]

Kernel number n is made from seed S + n, so `--seed` with the seed of a bug and `--count 1` shows it again, and `--file`
examines a kernel that was written down. `--ground` asks the checker nothing: it says how many kernels the front end
takes and how many of these run clean. `--refused` also runs what the checker refuses, and says how often a run fails.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import tileproof as tp
from fuzz.minimizer import shrink
from fuzz.random_arguments import arguments, open_dimensions, shown
from fuzz.random_kernels import PROFILES, generate
from support.source_files import load_text
from tileproof.analysis.index_entries import loaded_through
from tileproof.analysis.verdict import Verdict
from tileproof.backends import interpreter
from tileproof.backends.interpreter import Order
from tileproof.compiler.compile import verdict
from tileproof.compiler.pipeline import compile_for
from tileproof.diagnostics.errors import Diagnostic
from tileproof.frontend.elaborate import accepted
from tileproof.frontend.signature import parse
from tileproof.frontend.specialization import Specialization
from tileproof.ir.ops import Group, KernelIR
from tileproof.ir.walk import walk
from tileproof.runtime.launch.binding import bind
from tileproof.runtime.launch.contracts import check_compares, check_contents, check_groups
from tileproof.runtime.launch.launch import prepare
from tileproof.runtime.launch.premises import bring, bring_back

REFUTED = ("TP0801", "TP0811", "TP0821")
"""Codes that claim a counter-example."""
GOALS = {"TP0702": "in bounds", "TP0704": "nonempty", "TP0705": "fits"}
"""The goal behind each fault that a check at run time may report."""
FAULTS: tuple[tuple[type[tp.TileproofError], str], ...] = (
    (tp.Race, "race"),
    (tp.Unwritten, "unwritten"),
    (tp.OutOfBounds, "outside"),
    (tp.LaunchError, "not launched"),
    (tp.KernelError, "refused"),
)
LAUNCHES = 24
CHECK_S, LAUNCH_S = 20.0, 1.0
"""How long a verdict and a launch may take."""
SHRINK_S = 30.0


class TooLong(Exception):
    """A launch or a verdict ran past its limit: that a loop ends is not promised."""


@dataclass(frozen=True)
class Bug:
    """A kernel for which the checker and the interpreter disagree."""

    kind: str
    """race, unwritten, outside, refused (by the launch), differs (two ways to run), claim (a verdict that contradicts
    itself) or crash."""
    seed: int
    text: str
    launch: str
    found: str

    def __str__(self) -> str:
        return f"{self.kind.upper()} with seed {self.seed}\n\n{self.text}\nlaunch: {self.launch}\n{self.found}\n"


class Found(Exception):
    """Carries a bug out of an examination."""

    def __init__(self, bug: Bug) -> None:
        super().__init__(bug.kind)
        self.bug = bug


@dataclass
class Tally:
    """What a search has seen."""

    counts: Counter[str] = field(default_factory=Counter)
    rungs: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    bugs: list[Bug] = field(default_factory=list)
    seeds: dict[str, list[int]] = field(default_factory=dict)
    """Kernels worth a look: the checker was slow, or refused what runs clean."""

    def note(self, what: str, seed: int) -> None:
        self.seeds.setdefault(what, []).append(seed)

    def add(self, other: Tally) -> None:
        for mine, others in ((self.counts, other.counts), (self.rungs, other.rungs), (self.codes, other.codes)):
            mine.update(others)
        self.bugs += other.bugs
        for what, seeds in other.seeds.items():
            self.seeds.setdefault(what, []).extend(seeds)

    def __str__(self) -> str:
        lines = [("kernels", self.counts), ("rungs", self.rungs), ("codes", self.codes)]
        told = [
            f"{title:8}" + ", ".join(f"{name} {counter[name]}" for name in sorted(counter))
            for title, counter in lines
            if counter
        ]
        return "\n".join([*told, *(f"{what}: seeds {str(seeds)[1:-1]}" for what, seeds in self.seeds.items())])


@dataclass(frozen=True)
class Options:
    ground: bool = False
    refused: bool = False
    launches: int = LAUNCHES


DEFAULT = Options()


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises `TooLong` in the block after so many seconds."""

    def over(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def front_end(kernel: tp.Kernel) -> list[Diagnostic]:
    """The mistakes of a kernel that need no proof."""
    try:
        accepted(kernel, {})
    except tp.KernelError as error:
        return list(error.diagnostics)
    return []


class Examination:
    """One kernel: what the checker says of it, and whether runs agree."""

    def __init__(self, seed: int, text: str, tally: Tally, options: Options) -> None:
        self.seed, self.text, self.tally, self.options = seed, text, tally, options
        self.launch = "none"
        self.discharged: tuple[Any, ...] = ()
        self.verdict: Verdict | None = None
        self.kernel: tp.Kernel = load_text(text).k
        self.compiled: dict[Specialization, KernelIR] = {}

    def bug(self, kind: str, found: object) -> Found:
        return Found(Bug(kind, self.seed, self.text, self.launch, str(found)))

    def check(self) -> str:
        """accepted, refuted, not proved, or refused by the front end."""
        if self.options.ground:
            findings = front_end(self.kernel)
        else:
            with limited(CHECK_S):
                answer = verdict(self.kernel)
            findings, self.discharged, self.verdict = list(answer.findings), answer.discharged, answer
            if answer.accepted == bool(findings):
                raise self.bug("claim", f"accepted is {answer.accepted}, with {len(findings)} findings")
        codes = {one.code.id for one in findings}
        self.tally.codes.update(codes)
        if any(code < "TP08" for code in codes):
            return "refused by the front end"
        for one in findings:
            if one.code.id in REFUTED and open_dimensions(self.kernel) and not _names_sizes(one.notes):
                raise self.bug("claim", f"a counter-example without sizes\n{one}")
        return "accepted" if not codes else "refuted" if codes & set(REFUTED) else "not proved"

    def run_all(self, trusted: bool) -> str:
        """The worst that many launches show. What is trusted and fails is a bug."""
        seen = set()
        for number in range(self.options.launches):
            given = arguments(self.kernel, self.seed, number)
            self.launch = shown(self.kernel, given)
            order: Order = ("forward", "reverse", number)[number % 3]  # type: ignore[assignment]
            try:
                if trusted:
                    with limited(CHECK_S):  # the first launch for these types and constants proves them
                        _run(lambda *given: prepare(self.kernel, given, {}), given)
                with limited(LAUNCH_S):
                    after, error = _run(self.way(order, trusted), given)
            except TooLong:
                seen.add("too long")
                if trusted and number < self.options.launches // 2:
                    continue
                break
            kind = "clean" if error is None else _fault(error)
            seen.add(kind)
            if trusted:
                if kind in ("race", "unwritten", "refused", "crash") or (kind == "outside" and not self.excused(error)):
                    raise self.bug(kind, error)
                if number < 4:
                    self.compare(given, after, error, order)
            elif kind not in ("clean", "not launched"):
                break
        worst = ("race", "unwritten", "outside", "refused", "crash", "too long", "clean", "not launched")
        return next(one for one in worst if one in seen)

    def way(self, order: Order, trusted: bool) -> Callable[..., None]:
        """How a launch is watched; what is not trusted runs without the launch's compares and proofs."""
        if trusted:
            return lambda *given: self.proved(given, order)
        return lambda *given: self.unproved(given, order)

    def proved(self, given: tuple[Any, ...], order: Order) -> None:
        """A sanitized run of what was proved, if the launch's compares let it start."""
        try:
            found, bound = prepare(self.kernel, given, {})
        except tp.KernelError:
            is_real = isinstance(self.verdict, Verdict)
            if is_real:
                # A compare that fails for a dimension bound as a constant is decided when that constant is known.
                signature = parse(self.kernel).signature
                check_compares(signature, bind(signature, given, {}), self.verdict)
            self.unproved(given, order)
            if is_real:
                raise
            return
        arguments = {**bound.tensors, **bound.scalars}
        bring(bound.copies)
        interpreter.run(found.ir, arguments, bound.dimensions, order=order, sanitize=True)
        bring_back(bound.copies)

    def unproved(self, given: tuple[Any, ...], order: Order) -> None:
        """A sanitized run that asks the checker nothing."""
        signature = parse(self.kernel).signature
        bound = bind(signature, given, {})
        wanted = bound.specialization
        if wanted not in self.compiled:
            self.compiled[wanted] = compile_for(self.kernel, wanted).ir
        ir = self.compiled[wanted]
        check_contents(signature, bound, loaded_through(ir))
        check_groups(signature, bound, [op for op in walk(ir.body) if isinstance(op, Group)])
        interpreter.run(ir, {**bound.tensors, **bound.scalars}, bound.dimensions, order=order, sanitize=True)

    def excused(self, error: tp.TileproofError | None) -> bool:
        """Whether the verdict leaves this fault, on this line, to a check at run time."""
        assert error is not None
        found = error.diagnostics[0]
        checks = [one for one in self.discharged if one.rung >= 5 and one.goal == GOALS.get(found.code.id)]
        return any(_meet(one.span, found.span) for one in checks)

    def compare(self, given: list[Any], after: list[Any], error: tp.TileproofError | None, order: Order) -> None:
        """A launch gives what the interpreter gives, or both raise."""
        plain, raised = _run(self.kernel, given)
        if (raised is None) != (error is None):
            raise self.bug(
                "differs", f"the launch raises {raised or 'nothing'}\ntp.interpret raises {error or 'nothing'}"
            )
        same = np.array_equal if order == "forward" else np.allclose
        for one, other in zip(plain, after, strict=True):
            if error is None and not same(one, other, equal_nan=True):
                raise self.bug("differs", f"the launch gives {one}\ntp.interpret, {order}, gives {other}")


def examine(seed: int, text: str, tally: Tally, options: Options) -> Bug | None:
    """Checks one kernel and runs it if it is accepted; the bug it shows, if any."""
    tally.counts["generated"] += 1
    one = None
    try:
        one = Examination(seed, text, tally, options)
        answer = one.check()
        tally.counts[answer] += 1
        if answer == "accepted":
            tally.rungs.update(str(int(discharged.rung)) for discharged in one.discharged)
            tally.counts[f"accepted, {one.run_all(trusted=not options.ground)}"] += 1
        elif options.refused and answer != "refused by the front end":
            worst = one.run_all(trusted=False)
            tally.counts[f"{answer}, {worst}"] += 1
            if worst == "clean":
                tally.note(f"{answer}, {worst}", seed)
    except TooLong:
        tally.counts["verdict took too long"] += 1
        tally.note("verdict took too long", seed)
    except Found as found:
        return found.bug
    except Exception as error:
        launch = one.launch if one else "none"
        return Bug("crash", seed, text, launch, f"{type(error).__name__}: {error}")
    return None


def _run(call: Callable[..., None], given: list[Any]) -> tuple[list[Any], tp.TileproofError | None]:
    """The arguments after a call on copies of them, and what it raised."""
    copies = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
    try:
        call(*copies)
    except tp.TileproofError as error:
        return copies, error
    return copies, None


def _fault(error: tp.TileproofError) -> str:
    if isinstance(error, tp.KernelError) and all(one.code.id < "TP08" for one in error.diagnostics):
        return "not launched"  # a dimension bound as a constant has a value that the kernel does not compile for
    return next((name for kind, name in FAULTS if isinstance(error, kind)), "crash")


def _meet(one: Any, other: Any) -> bool:
    return one is None or other is None or (one.line <= other.end_line and other.line <= one.end_line)


def _names_sizes(notes: tuple[str, ...]) -> bool:
    return any(re.search(r"\b[A-Za-z]\w* ?= ?\d", note) for note in notes)


def search(
    seed: int, seconds: float, *, count: int | None = None, profile: str = "mixed", step: int = 1, stop: Any = None,
    options: Options = DEFAULT,
) -> Tally:  # fmt: skip
    """Examines the kernels of seed, seed + step, ... until the time is over, enough are seen, or one is a bug."""
    tally, end, number = Tally(), time.monotonic() + seconds, 0
    while time.monotonic() < end and (count is None or number < count) and not (stop and stop.is_set()):
        found = examine(seed, made(seed, profile), tally, options)
        if found is not None:
            tally.bugs.append(smallest(found, options))
            if stop:
                stop.set()
            break
        seed, number = seed + step, number + 1
    return tally


def made(seed: int, profile: str) -> str:
    return generate(seed, random.Random(seed).choice(PROFILES) if profile == "mixed" else profile)


def smallest(bug: Bug, options: Options, seconds: float = SHRINK_S) -> Bug:
    """A bug of the same kind in a smaller text, found in more launches."""
    more = replace(options, launches=3 * options.launches)

    def again(text: str) -> Bug | None:
        found = examine(bug.seed, text, Tally(), more)
        return found if found is not None and found.kind == bug.kind else None

    return again(shrink(bug.text, lambda text: again(text) is not None, seconds)) or bug


def _worker(queue: Any, seed: int, seconds: float, named: dict[str, Any]) -> None:
    queue.put(search(seed, seconds, **named))


def search_with(jobs: int, seed: int, seconds: float, count: int | None, profile: str, options: Options) -> Tally:
    """A search in several processes, which take turns in the seeds."""
    if jobs == 1:
        return search(seed, seconds, count=count, profile=profile, options=options)
    context = multiprocessing.get_context("spawn")
    queue, stop = context.Queue(), context.Event()
    each = None if count is None else -(-count // jobs)
    named = {"count": each, "profile": profile, "step": jobs, "stop": stop, "options": options}
    workers = [context.Process(target=_worker, args=(queue, seed + one, seconds, named)) for one in range(jobs)]
    for worker in workers:
        worker.start()
    tally = Tally()
    for _ in workers:
        tally.add(queue.get())
    for worker in workers:
        worker.join()
    return tally


def report(tally: Tally, seed: int, profile: str, seconds: float) -> str:
    title = f"seed {seed}, profile {profile}, {seconds:.0f} s"
    return "\n\n".join([*(str(bug) for bug in tally.bugs), f"{title}\n{tally}"])


def fresh_seed() -> int:
    return time.time_ns() // 1000 % 10**10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--profile", choices=[*PROFILES, "mixed"], default="mixed")
    parser.add_argument("--launches", type=int, default=LAUNCHES, help="of each accepted kernel")
    parser.add_argument("--ground", action="store_true", help="ask the checker nothing, only run")
    parser.add_argument("--refused", action="store_true", help="run what the checker refuses too")
    parser.add_argument("--show", action="store_true", help="print the kernels of the seed, examine nothing")
    parser.add_argument("--file", type=Path, help="examine the kernel `k` of this file")
    parser.add_argument("--out", type=Path, help="where a bug is written")
    given = parser.parse_args()
    seed = fresh_seed() if given.seed is None else given.seed
    options, begin = Options(given.ground, given.refused, given.launches), time.monotonic()
    if given.show:
        for number in range(given.count or 1):
            print(f"# seed {seed + number}\n{made(seed + number, given.profile)}")
        return 0
    if given.file:
        tally = Tally()
        found = examine(seed, given.file.read_text(encoding="utf-8"), tally, options)
        tally.bugs += [found] if found else []
    else:
        tally = search_with(given.jobs, seed, given.seconds, given.count, given.profile, options)
    print(report(tally, seed, given.profile, time.monotonic() - begin))
    if given.out and tally.bugs:
        given.out.write_text("\n\n".join(map(str, tally.bugs)), encoding="utf-8")
    return 1 if tally.bugs else 0


if __name__ == "__main__":
    sys.exit(main())
