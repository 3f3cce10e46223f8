"""Prints a `tileproof tune` command for every tunable that the GPU rows choose by, with the shapes they choose for.

    python -m benchmarks.experiments.tuned_shapes --rows softmax norm --into records --minutes 5 | sh

Words after --rows choose rows; all that follows another option goes to `tileproof tune`. Needs no GPU.
"""

from __future__ import annotations

import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any
from unittest.mock import patch

from tileproof import kernels
from tileproof.tuning import Sizes, Tunable

from ..harness.row import stand_ins
from ..kernels.launches import launches_of
from ..kernels.rows import names, rows


def shapes_of(wanted: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """Shapes by the names of a tunable and an element type."""
    result: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    plain = Tunable.choose

    def noted(self: Tunable, target: str, element: str, sizes: Sizes) -> Any:
        result[self.name, element][",".join(f"{name}={extent}" for name, extent in sizes.items())] = None
        return plain(self, target, element, sizes)

    with patch.object(Tunable, "choose", noted):
        for name in wanted:
            launches_of(partial(rows()[name].call, kernels, stand_ins(rows()[name])))
    return {key: list(shapes) for key, shapes in result.items()}


def main(arguments: Sequence[str]) -> int:
    """Prints the commands."""
    rest = list(arguments[1:]) if arguments[:1] == ["--rows"] else list(arguments)
    words = list(takewhile(lambda each: not each.startswith("-"), rest)) if arguments[:1] == ["--rows"] else []
    for (name, element), shapes in shapes_of(names(words)).items():
        values = [word for shape in shapes for word in ("--shapes", shape)]
        print(shlex.join(["tileproof", "tune", name, "--element", element, *values, *rest[len(words) :]]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
