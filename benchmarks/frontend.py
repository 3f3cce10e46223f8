"""Time from source to typed IR for each example, after import.

    python benchmarks/frontend.py [--rounds 50]

Each round reads the source, parses it, and runs every pass, with nothing cached. The goals (matmul 15 ms,
attention 40 ms) are stated for a 2-core machine; the figure beside each is what Python itself needs to parse the same
source, so the ratio says what the front end adds.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tileproof.compiler.pipeline import compile_for
from tileproof.frontend.signature import parse
from tileproof.frontend.specialisation import Specialisation, generic
from tileproof.language.kernel import Kernel

EXAMPLES = Path(__file__).parent.parent / "examples"
GOALS = {"matmul": 15.0, "attention": 40.0}


def kernel_of(path: Path) -> Kernel | None:
    """The kernel of an example, which is named after its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found = getattr(module, path.stem, None)
    return found if isinstance(found, Kernel) else None


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """The median of several rounds."""
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50, help="how often each kernel is compiled (default 50)")
    rounds = parser.parse_args().rounds
    sys.path.insert(0, str(EXAMPLES))
    print(f"{'kernel':<20} {'source to IR':>14} {'ast.parse':>12} {'ratio':>8}   goal")
    missed = 0
    for path in sorted(EXAMPLES.glob("*.py")):
        kernel = kernel_of(path)
        if kernel is None:
            continue
        source = "".join(kernel.source_lines)
        specialisation = next(generic(parse(kernel).signature, {}))

        def compile_anew(kernel: Kernel = kernel, specialisation: Specialisation = specialisation) -> None:
            kernel.forget()
            compile_for(kernel, specialisation)

        def parse_alone(source: str = source) -> None:
            ast.parse(source)

        ours, python = milliseconds(compile_anew, rounds), milliseconds(parse_alone, rounds)
        goal = GOALS.get(kernel.name)
        verdict = "" if goal is None else f"{goal:.0f} ms: {'met' if ours < goal else 'MISSED'}"
        missed += goal is not None and ours >= goal
        print(f"{kernel.name:<20} {ours:>11.2f} ms {python:>9.2f} ms {ours / python:>7.1f}x   {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
