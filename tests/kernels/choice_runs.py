"""Every choice of a tunable, tried on the CPU: the constants that are for GPUs are right there too, if slow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tileproof.tuning import Choice, Tunable


def each_choice(tunable: Tunable, element: str, sizes: Mapping[str, int]) -> Iterator[Choice]:
    """Makes the tunable choose, on the CPU and for these sizes, one set of constants after another of its spaces."""
    tried = {}
    for target in ("cpu", "sm_90"):
        for choice in (tunable.default(sizes, target), *tunable.space(sizes, target)):
            tried[choice.kernel.name, *choice.constants.items()] = Choice(choice.kernel, choice.constants)
    try:
        for choice in tried.values():
            tunable._chosen["cpu", element, *sizes.values()] = choice
            yield choice
    finally:
        tunable.forget()
