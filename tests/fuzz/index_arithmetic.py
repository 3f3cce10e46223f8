"""The checker always answers: random index arithmetic, none of which may take it more than so much work.

    python tests/fuzz/index_arithmetic.py --count 10000 [--seed S]

Checks the kernels of seed S and the seeds after it, each text in turn, in processes that are renewed every few hundred
texts. Prints the slowest text, the one with the most work and the one that took the most memory, and exits with 1 if
one took more than the limits below, or raised what is no finding. `--show` prints the text of a seed.

Work is what `Prover.work` counts. Times depend on the machine: their limit is the promise of the checker, ten seconds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.random_kernels import generate
from fuzz.search import TooLong, fresh_seed, limited
from support.source_files import load_text
from tileproof.analysis.prover import MOST_IN_ALL, Prover
from tileproof.compiler.compile import verdict

MOST_SECONDS = 10.0
MOST_MEMORY = 1 << 30
MOST_WORK = 2 * MOST_IN_ALL
"""The last query of a kernel may begin within the limit of all, and end behind it."""
BATCH = 100


@dataclass(frozen=True)
class Checked:
    """What it took to check the text of a seed."""

    seed: int
    seconds: float
    work: int
    memory: int
    """The most that the process had so far, in bytes."""
    outcome: str


def checked(seed: int) -> Checked:
    """Checks one text; nothing is kept from those before."""
    provers: list[Prover] = []
    original = Prover.__init__

    def noted(self: Prover, *args: Any) -> None:
        original(self, *args)
        provers.append(self)

    kernel = load_text(generate(seed, "indices")).k
    Prover.__init__ = noted  # type: ignore[method-assign]
    begin = time.process_time()
    try:
        with limited(6 * MOST_SECONDS):
            answer = verdict(kernel)
        codes = sorted({finding.code.id for finding in answer.findings})
        outcome = ", ".join(codes) if codes else "accepted"
    except TooLong:
        outcome = "no answer"
    except Exception as error:
        outcome = f"raised {type(error).__name__}: {error}"
    finally:
        Prover.__init__ = original  # type: ignore[method-assign]
    seconds = time.process_time() - begin
    memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Checked(seed, seconds, sum(prover.work for prover in provers), memory, outcome)


def batch(seeds: range) -> list[Checked]:
    """Checks some texts in this process."""
    return [checked(seed) for seed in seeds]


def wrong(one: Checked) -> bool:
    """Whether a text took too much, or no finding says why it was rejected."""
    is_over = one.seconds > MOST_SECONDS or one.memory > MOST_MEMORY or one.work > MOST_WORK
    return is_over or one.outcome.startswith(("raised", "no answer"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--show", action="store_true", help="print the text of the seed, check nothing")
    given = parser.parse_args()
    first = fresh_seed() if given.seed is None else given.seed
    if given.show:
        print(generate(first, "indices"))
        return 0
    batches = [range(at, min(at + BATCH, first + given.count)) for at in range(first, first + given.count, BATCH)]
    results: list[Checked] = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for done in pool.imap(batch, batches):
            results += done
            for one in filter(wrong, done):
                print(f"WRONG {one}", flush=True)
    outcomes = Counter(one.outcome for one in results)
    print(f"seeds {first} to {first + given.count - 1}: {sum(one.seconds for one in results):.0f} s in all")
    print(", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common(12)))
    for title, key in (("slowest", "seconds"), ("most work", "work"), ("largest", "memory")):
        print(f"{title}: {max(results, key=lambda one: getattr(one, key))}")
    return 1 if any(map(wrong, results)) else 0


if __name__ == "__main__":
    sys.exit(main())
