"""Runs the witness of every mutant: `python -m tests.mutants [package ...] [--jobs N]`, from the root.

Each job has a copy of the sources in a temporary folder. It applies one mutant at a time there and runs the witness
with an empty cache of compiled kernels. A mutant is killed if its witness fails, and survives if it passes. It is stale
if the old text does not occur exactly once, or if the witness cannot run or fails on the unchanged sources.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from . import PACKAGES, ROOT, Mutant

SECONDS = 120
"""Timeout of a witness; one that exceeds it counts as failed."""


@contextmanager
def sources() -> Iterator[Path]:
    """A folder with a copy of the sources."""
    with tempfile.TemporaryDirectory(prefix="tileproof-mutants-") as name:
        shutil.copytree(ROOT / "src", Path(name, "src"))
        yield Path(name)


def run_tests(tree: Path, tests: Sequence[str], seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Runs tests on the sources of a tree."""
    with tempfile.TemporaryDirectory(prefix="tileproof-cache-") as cache:
        environment = os.environ | {"PYTHONPATH": str(tree / "src"), "TILEPROOF_CACHE_DIR": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else all modules are compiled once for each mutant
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=no", *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)


def failing(tree: Path, tests: Sequence[str]) -> set[str]:
    """Which of the tests fail on the unchanged sources, or do not exist."""
    done = run_tests(tree, tests)
    if done.returncode == 0:
        return set()
    lines = [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    results = {test for test in tests for line in lines if line == test or line.startswith(f"{test} - ")}
    if (done.returncode == 1 and results) or len(tests) == 1:
        return results or set(tests)
    half = len(tests) // 2  # pytest runs nothing if it does not find one of them
    return failing(tree, tests[:half]) | failing(tree, tests[half:])


def outcome(tree: Path, mutant: Mutant) -> str:
    """Runs the witness of a mutant: `killed`, `SURVIVED`, or `stale` with the reason."""
    if (count := mutant.count(tree)) != 1:
        return f"stale: the old text is there {count} times"
    with mutant.applied(tree):
        try:
            done = run_tests(tree, [mutant.witness], SECONDS)
        except subprocess.TimeoutExpired:
            return "killed"
    if done.returncode == 1 or done.returncode < 0:
        return "killed"
    return "SURVIVED" if done.returncode == 0 else f"stale: pytest ends with {done.returncode}"


def main() -> int:
    """Runs the mutants of some packages, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="package", help=f"of {', '.join(PACKAGES)}; all if none")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="mutants at a time")
    args = parser.parse_args()
    if unknown := set(args.packages) - PACKAGES.keys():
        parser.error(f"there is no package {', '.join(sorted(unknown))}")
    mutants = [(name, each) for name in args.packages or PACKAGES for each in PACKAGES[name]]
    began = time.monotonic()
    with ExitStack() as stack:  # so that Ctrl-C leaves no trees behind
        trees = [stack.enter_context(sources()) for _ in range(args.jobs)]
        witnesses = sorted({each.witness for _, each in mutants})
        print(f"{len(mutants)} mutants; first their {len(witnesses)} witnesses on unchanged sources", flush=True)
        bad = judged(mutants, trees, failing(trees[0], witnesses))
    print(f"{len(mutants) - bad} of {len(mutants)} killed in {time.monotonic() - began:.0f} seconds")
    return 1 if bad else 0


def judged(mutants: Sequence[tuple[str, Mutant]], trees: Sequence[Path], wrong: Collection[str]) -> int:
    """Runs mutants in parallel, one job for each tree, and prints the outcomes; returns how many were not killed.

    `wrong` are the witnesses that fail on the unchanged sources.
    """
    waiting: queue.SimpleQueue[tuple[str, Mutant] | None] = queue.SimpleQueue()
    for each in [*mutants, *[None] * len(trees)]:
        waiting.put(each)
    done: queue.SimpleQueue[tuple[str, Mutant, str]] = queue.SimpleQueue()

    def work(tree: Path) -> None:
        while (each := waiting.get()) is not None:
            is_wrong = each[1].witness in wrong
            done.put((*each, "stale: the witness fails on unchanged sources" if is_wrong else outcome(tree, each[1])))

    for tree in trees:
        threading.Thread(target=work, args=(tree,), daemon=True).start()
    bad = 0
    for number in range(1, len(mutants) + 1):
        name, mutant, became = done.get()
        bad += became != "killed"
        print(f"[{number}/{len(mutants)}] {became:8} {name}: {mutant.promise}", flush=True)
        if became != "killed":
            print(f"    {mutant.file}: {mutant.old!r} -> {mutant.new!r}\n    {mutant.witness}", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main())
