"""Every choice of a tunable, tried: those for the CPU there, and the constants that are for GPUs on the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import tileproof as tp
from tileproof.tuning import Choice, Tunable


def each_choice(tunable: Tunable, element: str, sizes: Mapping[str, int]) -> Iterator[Choice]:
    """Makes the tunable choose, on the host and for these sizes, one set of constants after another of its spaces."""
    tried: dict[object, tuple[str, Choice]] = {}
    for target, backend in (("cpu", "cpu"), ("sm_90", "interpreter")):
        for choice in (tunable.default(sizes, target), *tunable.space(sizes, target)):
            key = (choice.kernel.name, *choice.constants.items())
            tried.setdefault(key, (backend, Choice(choice.kernel, choice.constants)))
    try:
        for backend, choice in tried.values():
            tunable._chosen["cpu", element, *sizes.values()] = choice
            with tp.backend(backend):
                yield choice
    finally:
        tunable.forget()
