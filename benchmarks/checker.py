"""How long `tileproof check` takes for each example: front end, proof, and both.

Times are of the best of several rounds, in one process, with nothing cached between them. The peer is the front end in
the same run: the last column says how many times longer a kernel takes to check than to compile. `z3` says how often
the core handed a question over.

    python benchmarks/checker.py [--rounds 7] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tileproof.analysis import settling
from tileproof.analysis.checking import prove
from tileproof.backends.interpreter.replay import replay
from tileproof.compiler.pipeline import compile_for
from tileproof.frontend.signature import parse
from tileproof.frontend.specialisation import generic
from tileproof.language.kernel import Kernel

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
GOALS = {"matmul": 10.0, "attention": 30.0}
MOST = 150.0


def kernels() -> dict[str, Kernel]:
    """The kernels of the examples, by name; each is named after its file."""
    sys.path.insert(0, str(EXAMPLES))
    found = {path.stem: getattr(import_module(path.stem), path.stem, None) for path in sorted(EXAMPLES.glob("*.py"))}
    return {name: kernel for name, kernel in found.items() if isinstance(kernel, Kernel)}


def best(rounds: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest of several runs, in milliseconds, and what it gave."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        result = run()
        times.append((time.perf_counter() - begin) * 1000)
    return min(times), result


def main() -> int:
    """Prints the table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these examples")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    asked = 0
    original = settling.impossible

    def counting(*args: Any) -> bool:
        nonlocal asked
        asked += 1
        return original(*args)

    settling.impossible = counting  # type: ignore[assignment]
    print(f"{'kernel':<22}{'front end':>11}{'proof':>9}{'check':>9}{'goal':>7}{'z3':>5}{'proof/front end':>17}")
    missed = []
    for name, kernel in kernels().items():
        if options.names and name not in options.names:
            continue
        specialisation = next(generic(parse(kernel).signature, {}))
        front, made = best(options.rounds, lambda k=kernel, s=specialisation: compile_for(k, s))
        before = asked
        proof, _ = best(options.rounds, lambda ir=made.ir: prove(ir, replay))
        goal = GOALS.get(name, MOST)
        if front + proof > goal:
            missed.append(name)
        questions = (asked - before) // options.rounds
        print(
            f"{name:<22}{front:>8.1f} ms{proof:>6.1f} ms{front + proof:>6.1f} ms"
            f"{goal:>7.0f}{questions:>5}{proof / front:>16.1f}x"
        )
    print(f"missed: {', '.join(missed)}" if missed else "every goal is met")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
