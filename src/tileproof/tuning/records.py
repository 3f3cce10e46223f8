"""What is launched, from records: of the folder TILEPROOF_RECORDS_DIR first, then of those that come with tileproof.

An entry fits sizes that are its own; else the nearest of the same class; else the nearest within a factor of 2 in every
dimension. Dimensions that the tunable calls exact have to be equal, and the kernel and constants of an entry for other
sizes must be worth a try for those at hand, as the tunable's own space says: a kernel may not fit all. A file that is
stale or damaged is left out, with one warning.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tileproof.language.schedule import Schedule

from .choices import Choice
from .provenance import recorded_target
from .record_files import SHIPPED, Entry, Record, RecordError, file_of, read
from .work import Sizes, Work

VARIABLE: Final = "TILEPROOF_RECORDS_DIR"
"""The folder of records that win over those that come with tileproof."""


def found(tunable: Work, target: str, element: str, sizes: Sizes) -> Choice | None:
    """What a record says is fastest for these sizes; None if no record fits."""
    named = recorded_target(target)
    for folder in folders():
        record = _usable(file_of(folder, tunable.name, named), tunable, named)
        choice = None if record is None else fitting(record, tunable, target, element, sizes)
        if choice is not None:
            return choice
    return None


def fitting(record: Record, tunable: Work, target: str, element: str, sizes: Sizes) -> Choice | None:
    """The choice of the entry that fits best; None if none does."""
    near = sorted(_near(record.entries, tunable, element, sizes), key=lambda pair: pair[0])
    if not near:
        return None
    nearest = near[0][1]
    if all(nearest.sizes[name] == extent for name, extent in sizes.items()):
        return chosen_by(nearest, tunable)
    known = [*tunable.space(sizes, target), tunable.default(sizes, target)]
    for _, entry in near:
        if any(entry.kernel == each.kernel.name and dict(entry.constants) == dict(each.constants) for each in known):
            return chosen_by(entry, tunable)
    return None


def chosen_by(entry: Entry, tunable: Work) -> Choice | None:
    """What an entry names."""
    kernel = next((each for each in tunable.kernels if each.name == entry.kernel), None)
    return None if kernel is None else Choice(kernel, dict(entry.constants), Schedule(**dict(entry.schedule)))  # type: ignore[arg-type]


def _near(
    entries: tuple[Entry, ...], tunable: Work, element: str, sizes: Sizes
) -> Iterator[tuple[tuple[bool, float, tuple[int, ...]], Entry]]:
    """Entries that may fit, each with what to sort by."""
    here = tunable.class_of(sizes)
    for entry in entries:
        if entry.element != element or not entry.sizes.keys() >= sizes.keys():
            continue  # it may have more, which decide shapes and not the choice
        if any(entry.sizes[name] != sizes[name] for name in tunable.exact if name in sizes):
            continue
        there = tunable.class_of({name: entry.sizes[name] for name in sizes})
        steps = [abs(math.log2(max(there[name], 1) / max(here[name], 1))) for name in here]
        if max(steps, default=0.0) <= 1.0:
            ratios = (max(entry.sizes[name], 1) / max(sizes[name], 1) for name in sizes)
            distance = sum(abs(math.log2(ratio)) for ratio in ratios)
            yield (there != here, round(distance, 9), tuple(entry.sizes.values())), entry


def folders() -> tuple[Path, ...]:
    """Where records are looked for, the first wins."""
    named = os.environ.get(VARIABLE)
    return (Path(named), SHIPPED) if named else (SHIPPED,)


def load(tunable: Work, target: str, folder: Path | None = None, *, strict: bool = True) -> Record | None:
    """The records of a tunable for a target; None if there are none. A file that is stale or damaged raises
    `RecordError`, or warns and gives None if not `strict`."""
    named = recorded_target(target)
    path = file_of(SHIPPED if folder is None else folder, tunable.name, named)
    if not strict:
        return _usable(path, tunable, named)
    return read(path, tunable, named) if path.is_file() else None


@cache
def _usable(path: Path, tunable: Work, target: str) -> Record | None:
    """A file that can be trusted; None, and one warning, if it cannot, and None if it is not there."""
    if not path.is_file():
        return None
    try:
        return read(path, tunable, target)
    except RecordError as error:
        warnings.warn(f"{error}. Until then defaults are used", RuntimeWarning, stacklevel=2)
        return None


def forget() -> None:
    """Reads all files anew when they are next asked for."""
    _usable.cache_clear()
