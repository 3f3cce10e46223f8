"""The CUDA backend against the interpreter on random kernels, in the evaluator of Tile IR: no GPU is needed.

    python tests/fuzz/cuda_fuzz.py --kind shaped|owned --seconds 60 [--seed S] [--count N] [--show]

The kinds are those of `native_fuzz`. A kernel that fails is printed with its seed: `--seed S --count 1` runs it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import tileproof as tp
from fuzz.guard_runs import LAYOUTS as PLACED
from fuzz.native_fuzz import KINDS, Differs, compare, copies
from oracles.cuda_programs import simulated
from support.agreement import outcome
from support.source_files import load_text

LAUNCHES = 3


def examine(kernel: tp.Kernel, launches: Any, seed: int) -> str:
    """Runs a kernel on both, in one layout after another: ran, refused, or an exception that says how they differ."""
    layouts = list(PLACED)
    for number in range(LAUNCHES):
        given = launches(kernel, number)
        expected = copies(given, np.array)
        with tp.backend("interpreter"), np.errstate(all="ignore"):
            try:
                kernel(*expected)
                wanted: list[tuple[str, str]] = []
            except tp.KernelError:
                return "refused"
            except tp.TileproofError as error:
                wanted = [(found.code.id, found.message) for found in error.diagnostics]
        layout = layouts[(seed + number) % len(layouts)]
        got = copies(given, lambda array, layout=layout: PLACED[layout](np.array(array)))
        raised = outcome(lambda got=got: simulated(kernel, got, {}, seed))
        if raised != wanted:
            raise Differs(f"launch {number}, {layout}: raises {raised}\nthe interpreter: {wanted}")
        if not wanted:
            # Folded and added in another order, and with operations that are a unit off.
            compare(got, expected, f"launch {number}, {layout}", False)
    return "ran"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, default="shaped")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    first = given.seed if given.seed is not None else time.time_ns() // 1000 % 10**10
    seen: Counter[str] = Counter()
    end, number = time.monotonic() + given.seconds, 0
    while time.monotonic() < end and (given.count is None or number < given.count):
        text, launches, _ = KINDS[given.kind](first + number)
        if given.show:
            print(text)
        try:
            seen[examine(load_text(text).k, launches, first + number)] += 1
        except IndentationError:  # nothing was drawn for a body
            seen["empty"] += 1
        except Exception as found:
            print(f"FAILS with seed {first + number}\n{text}\n{type(found).__name__}: {found}", flush=True)
            seen["fails"] += 1
        number += 1
    print(f"{given.kind} from seed {first}: {dict(seen)}")
    return 1 if seen["fails"] else 0


if __name__ == "__main__":
    sys.exit(main())
