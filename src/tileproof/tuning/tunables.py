"""Tunables: pieces of work that several kernels, sizes and schedules can do, and how one of them is chosen.

A choice never changes what comes out beyond rounding: every choice of a tunable takes the same arguments and computes
the same. What was found fastest is kept in records, of the folder TILEPROOF_RECORDS_DIR first, then of those that come
with tileproof; where none fits, `default` decides from the sizes alone.

An entry fits sizes that are its own; else the nearest of the same class; else the nearest within a factor of 2 in every
dimension. Dimensions that the tunable calls exact have to be equal, and the kernel and constants of an entry for other
sizes must be worth a try for those at hand, as the tunable's own space says: a kernel may not fit all. A file that is
stale or damaged is left out, with one warning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from tileproof.language.kernel import Kernel

from . import records
from .choices import Choice
from .provenance import recorded_target
from .records import Entry, RecordError

Sizes: TypeAlias = Mapping[str, int]
"""Extents of dimensions by name: `{"M": 512, "N": 6144, "K": 2560}`."""


@dataclass(frozen=True, slots=True, eq=False)
class Tunable:
    """Work that can be done in several ways, all with the same arguments in the same order."""

    name: str
    """As it is typed: `tileproof tune NAME`."""
    kernels: Sequence[Kernel]
    """Those that can do it. The signature of the first says what the arguments are."""
    default: Callable[[Sizes, str], Choice]
    """What is launched where no record fits, from the sizes and the target ("cpu" or "sm_90")."""
    space: Callable[[Sizes, str], Iterable[Choice]]
    """All that is worth a try for these sizes on this target."""
    exact: Sequence[str] = ()
    """Dimensions that a record must have exactly; the others are rounded up to a power of two to find one."""
    scalars: Mapping[str, float] = field(default_factory=dict)
    """Values of scalar arguments while it is tuned."""
    inputs: Callable[[Any, dict[str, Any]], None] | None = None
    """Puts what random numbers would not give into the arguments of a trial: gets a numpy generator, and arrays of
    numpy and scalars by name."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Element types of type variables that are not the element it is chosen by, such as {"U": "f32"}; of an argument of
    `Any`, by the argument's name."""
    _chosen: dict[tuple[Any, ...], Choice] = field(default_factory=dict, init=False, repr=False)
    _entries: dict[Path, Sequence[Entry]] = field(default_factory=dict, init=False, repr=False)
    """Of files of records, when they were read."""

    def choose(self, target: str, element: str, sizes: Sizes) -> Choice:
        """The choice for arguments of these sizes and this element type ("bf16") on a target, which is remembered."""
        key = (target, element, *sizes.values())
        chosen = self._chosen.get(key)
        if chosen is None:
            chosen = self._recorded(target, element, sizes) or self.default(sizes, target)
            self._chosen[key] = chosen
        return chosen

    def forget(self) -> None:
        """Chooses anew from now on: records may have changed."""
        self._chosen.clear()
        self._entries.clear()

    def _recorded(self, target: str, element: str, sizes: Sizes) -> Choice | None:
        """What a record says is fastest for these sizes; None if no record fits."""
        for folder in records.folders():
            entries = self._read(records.file_of(folder, self.name, recorded_target(target)))
            near = [(rank, entry) for entry in entries if (rank := self._rank(entry, element, sizes)) is not None]
            near.sort(key=lambda pair: pair[0])
            if near and all(near[0][1].sizes[name] == extent for name, extent in sizes.items()):
                return near[0][1].choice(self.kernels)
            known = [*self.space(sizes, target), self.default(sizes, target)] if near else []
            for _, entry in near:
                recorded = entry.kernel, entry.constants
                if any((choice.kernel.name, dict(choice.constants)) == recorded for choice in known):
                    return entry.choice(self.kernels)
        return None

    def _read(self, path: Path) -> Sequence[Entry]:
        """The entries of a file; none, and one warning, if it cannot be trusted."""
        if path not in self._entries:
            self._entries[path] = ()
            try:
                if path.is_file():
                    self._entries[path] = records.read(path, self.kernels).entries
            except RecordError as error:
                warnings.warn(f"{error}. Until then defaults are used", RuntimeWarning, stacklevel=2)
        return self._entries[path]

    def _rank(self, entry: Entry, element: str, sizes: Sizes) -> tuple[bool, float, tuple[int, ...]] | None:
        """What to sort an entry by, the nearest first; None if it does not fit."""
        if entry.element != element or not entry.sizes.keys() >= sizes.keys():
            return None  # it may have more, which decide shapes and not the choice
        if any(entry.sizes[name] != sizes[name] for name in self.exact if name in sizes):
            return None
        pairs = [(max(entry.sizes[name], 1), max(extent, 1)) for name, extent in sizes.items()]
        # Exact dimensions are equal; of the others the class is the next power of two.
        steps = [(theirs - 1).bit_length() - (ours - 1).bit_length() for theirs, ours in pairs]
        if any(abs(step) > 1 for step in steps):
            return None
        distance = sum(abs(math.log2(theirs / ours)) for theirs, ours in pairs)
        return (any(steps), round(distance, 9), tuple(entry.sizes.values()))


def with_constants(name: str, tunable: Tunable, **constants: int) -> Tunable:
    """The work of a tunable with some constants fixed, as work of its own: `log_softmax` beside `softmax`."""

    def fixed(choice: Choice) -> Choice:
        return Choice(choice.kernel, {**choice.constants, **constants}, choice.schedule)

    return replace(
        tunable, name=name, default=lambda sizes, target: fixed(tunable.default(sizes, target)),
        space=lambda sizes, target: map(fixed, tunable.space(sizes, target)),
    )  # fmt: skip
