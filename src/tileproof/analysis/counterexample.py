"""Counter-examples: sizes at which a kernel breaks a law, replayed by the interpreter before they are reported.

z3 proposes sizes for what could not be proved. A few plain guesses around the tile sizes follow. A counter-example
that does not show the fault when it runs is not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from tileproof.diagnostics.errors import TileproofError
from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.types import Extent, Named, TensorType
from tileproof.ir.walk import walk, walkers

from .discharge import Discharger
from .launch_guards import Compare
from .obligations import Violation
from .smt import Sizes, Solver
from .terms import All, DimensionExtent, negation

Replay: TypeAlias = Callable[[ops.KernelIR, Sizes, int], tuple[TileproofError | None, int]]
"""Runs a kernel at some sizes, for so many operations at most, with contents that keep its contracts.

Returns the fault, if one occurs, and how many operations were run.
"""
_LIMITS = (8, 40)
_LARGEST_NUMBER = 2000
"""Numbers of a kernel up to it are counted to: what meets after so many programs is searched for."""
_MOST_ELEMENTS = 300_000
_MOST_STEPS = 120_000


class CounterexampleSearch:
    """Searches counter-examples of one kernel."""

    def __init__(self, discharger: Discharger, replay: Replay) -> None:
        self.discharger = discharger
        self.kernel = discharger.collector.kernel
        self.replay = replay
        self.solver = Solver(discharger.groups)
        self.steps = _MOST_STEPS
        """How many operations replays may still take, of all findings."""
        self.guessed: list[TileproofError] | None = None
        """Faults at plain sizes, once those were tried."""

    def find(
        self, violations: Sequence[Violation], fault: type[TileproofError], places: Sequence[Span],
        without: Sequence[Compare] = (),
    ) -> TileproofError | None:  # fmt: skip
        """A fault of the kind expected, seen to happen at one of the places expected: `without` some guards."""

        def fits(seen: TileproofError | None) -> bool:
            if not isinstance(seen, fault):
                return False
            (finding,) = seen.diagnostics
            return finding.span in places or any(label.span in places for label in finding.labels)

        # A launch that a guard rejects is no counter-example.
        met = [negation(All(compare.broken)) for compare in self.discharger.compares if compare not in without]
        limits = {*_LIMITS, _largest_tile(self.kernel) * 2 + 2, max(_LIMITS[0], _largest_number(self.kernel) + 2)}
        for violation in violations:
            formulas = self.discharger.prover.formulas((*violation, *met), contracts=True)
            for limit in sorted(limits):
                sizes = self.solver.example(formulas, limit)
                if sizes is not None:
                    seen = self._run(sizes)
                    if fits(seen):
                        return seen
                    break
        if without:
            return None
        if self.guessed is None:
            tried = [self._run(sizes) for sizes in _guesses(self.kernel) if self._is_launched(sizes)]
            self.guessed = [seen for seen in tried if seen is not None]
        return next((seen for seen in self.guessed if fits(seen)), None)

    def _is_launched(self, sizes: Sizes) -> bool:
        """Whether no guard rejects sizes; dimensions that are left open may have any."""
        try:
            known = {DimensionExtent(name): extent for name, extent in sizes.dimensions.items()}
            return all(compare.holds(known.__getitem__) for compare in self.discharger.compares)  # type: ignore[arg-type]
        except KeyError:
            return True

    def _run(self, sizes: Sizes) -> TileproofError | None:
        if self.steps <= 0 or _elements(self.kernel, sizes) > _MOST_ELEMENTS:
            return None
        fault, steps = self.replay(self.kernel, sizes, self.steps)
        self.steps -= steps
        return fault


def _elements(kernel: ops.KernelIR, sizes: Sizes) -> int:
    largest = 0
    for parameter in kernel.parameters:
        if isinstance(parameter.value.type, TensorType):
            count = 1
            for dimension in parameter.value.type.dimensions:
                count *= max(1, sizes.dimensions.get(str(dimension), 2))
            largest = max(largest, count)
    return largest


def _guesses(kernel: ops.KernelIR) -> Iterator[Sizes]:
    names = _dimensions(kernel)
    tiles = _tile_sizes(kernel)
    yield Sizes({name: tiles.get(name, 1) + 1 if tiles.get(name, 1) < 200 else 3 for name in names})
    yield Sizes(dict.fromkeys(names, 3))
    yield Sizes({name: 2 + number % 4 for number, name in enumerate(names)})
    yield Sizes({name: 5 - number % 4 for number, name in enumerate(names)})
    yield Sizes(dict.fromkeys(names, 1))
    for name in names:
        yield Sizes({other: 0 if other == name else 2 for other in names})


def _dimensions(kernel: ops.KernelIR) -> list[str]:
    """The dimensions a launch chooses: not those given by numbers or computed from others."""
    names: dict[str, None] = {}
    for parameter in kernel.parameters:
        if isinstance(parameter.value.type, TensorType):
            for dimension in parameter.value.type.dimensions:
                if isinstance(dimension, Named):
                    names[dimension.name] = None
    for length in (*kernel.computed.values(), *kernel.static.values()):
        if isinstance(length, Extent):
            names.update(dict.fromkeys(length.names))
    return [name for name in names if name not in kernel.computed and not isinstance(kernel.static.get(name), int)]


def _tile_sizes(kernel: ops.KernelIR) -> Mapping[str, int]:
    sizes: dict[str, int] = {}
    for walker in walkers(kernel.body):
        dimension, size = walker.type.dimension, walker.type.size
        if isinstance(size, int):
            sizes[dimension] = max(sizes.get(dimension, 1), size)
    return sizes


def _largest_tile(kernel: ops.KernelIR) -> int:
    return max(_tile_sizes(kernel).values(), default=1)


def _largest_number(kernel: ops.KernelIR) -> int:
    """The largest of the small numbers that a kernel computes positions with."""
    numbers = (op.value for op in walk(kernel.body) if isinstance(op, ops.Constant))
    return max((one for one in numbers if type(one) is int and one <= _LARGEST_NUMBER), default=0)
