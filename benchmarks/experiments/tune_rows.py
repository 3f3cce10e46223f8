"""Tunes what the GPU rows choose between: every tunable that a row asks, for the sizes it asks with.

    python -m benchmarks.experiments.tune_rows --list                       what would be tuned; needs no GPU
    python -m benchmarks.experiments.tune_rows --into src/tileproof/tuning/records
    python -m benchmarks.experiments.tune_rows --rows softmax norm --into records --minutes 5

It goes on where it was stopped, as `tileproof tune` does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tileproof import kernels
from tileproof.tuning import Sizes, Tunable, tune

from ..harness.row import stand_ins
from ..kernels.launches import launches_of
from ..kernels.rows import names, rows

Asked = dict[tuple[str, str], tuple[Tunable, list[dict[str, int]]]]
"""By the names of a tunable and an element type."""


def asked_by(wanted: Sequence[str]) -> Asked:
    """What the rows of these names ask which tunables for."""
    found: dict[tuple[str, str], list[dict[str, int]]] = defaultdict(list)
    tunables: dict[str, Tunable] = {}
    plain = Tunable.choose

    def noted(self: Tunable, target: str, element: str, sizes: Sizes) -> Any:
        tunables[self.name] = self
        if dict(sizes) not in found[self.name, element]:
            found[self.name, element].append(dict(sizes))
        return plain(self, target, element, sizes)

    with patch.object(Tunable, "choose", noted):
        for name in wanted:
            row = rows().get(name)
            if row is not None:
                launches_of(partial(row.call, kernels, stand_ins(row)))
    return {key: (tunables[key[0]], sizes) for key, sizes in found.items()}


def main() -> int:
    """Tunes; 1 if something was left."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.experiments.tune_rows", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="rows with these words in their names")
    parser.add_argument("--without", nargs="*", default=[], metavar="TUNABLE", help="tunables to leave out")
    parser.add_argument("--into", type=Path, default=Path("tileproof-records"), metavar="DIR")
    parser.add_argument("--again", action="store_true", help="tune also what the records there have already")
    parser.add_argument("--minutes", type=float, help="for all together")
    parser.add_argument("--list", action="store_true", help="only say what would be tuned")
    given = parser.parse_args()
    asked = {key: each for key, each in asked_by(names(given.rows)).items() if key[0] not in given.without}
    if given.list:
        for (name, element), (_, sizes) in asked.items():
            for each in sizes:
                print(name, element, ",".join(f"{dimension}={extent}" for dimension, extent in each.items()))
        return 0
    is_finished = True
    end = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    for place, ((name, element), (tunable, sizes)) in enumerate(asked.items(), start=1):
        print(f"[{place}/{len(asked)}] {name} {element}", file=sys.stderr, flush=True)
        left = None if end is None else max((end - time.monotonic()) / 60, 0.01)
        try:
            report = tune(tunable, sizes, element=element, into=given.into, again=given.again, minutes=left)
        except Exception as error:  # one that cannot be tried leaves the others
            print(f"{name}: {(str(error).splitlines() or [type(error).__name__])[0]}", flush=True)
            is_finished = False
            continue
        print("\n".join(report.lines()), flush=True)
        is_finished = is_finished and report.is_finished
    return 0 if is_finished else 1


if __name__ == "__main__":
    raise SystemExit(main())
