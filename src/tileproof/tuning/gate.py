"""The gate before timing: a candidate computes what the default choice computes, on fresh random inputs, or is out.

Every array that any kernel of the tunable may write is the trial's own. Before a run it is poisoned, or holds again
what it held before if that matters, so that an element nobody writes shows. A candidate runs three times: on one set of
inputs, again on the same without poison in between, and on another set with another poison. Results may differ by some
roundings of their element type, because sums may be taken in another order; whole numbers have to be equal, and NaN is
nowhere. The last timed launch is compared once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tileproof.language.dtypes import DType

from .choices import Choice
from .inputs import Argument, Arguments, TuningError, arguments_of
from .places import Difference, Place

if TYPE_CHECKING:
    from .tunables import Sizes, Tunable

_STEPS: Final = {"f64": 1e-10, "f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2, "f8e4m3": 0.13, "f8e5m2": 0.26}
"""How far an element may be off, as a part of the greatest magnitude: some roundings of each type."""
_USUAL: Final = 0.25
"""How much of that differences may be on the whole, by their root mean square against that of the results."""
_POISONS: Final = (0xFF, 0x7F)
"""NaN in every float type; then the greatest numbers of most."""
_SHARE: Final = 0.25
"""Of the free memory that one set of arguments may take if there are to be two."""


@dataclass(frozen=True, slots=True)
class Call:
    """A launch of a choice. Its arguments have the form that the kernel takes: the clock sees the launch alone."""

    choice: Choice
    args: Sequence[Any]

    def __call__(self) -> None:
        self.choice.launched(*self.args, **self.choice.constants)


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of arguments, and what the default choice makes of them."""

    arguments: Arguments
    arrays: Mapping[str, Any]
    """What is passed, by name: also scalars that the tunable's own inputs changed."""
    before: Mapping[str, Any]
    """What written arrays held, where that matters."""
    expected: Mapping[str, Any]
    place: Place

    @property
    def written(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.arguments.tensors if each.is_written)

    def restore(self) -> None:
        """Has arrays hold what they held, where that matters."""
        for name, held in self.before.items():
            self.place.copy(self.arrays[name], held)

    def poison(self, byte: int) -> None:
        """Makes all that a run must write anew into what no run writes."""
        for each in self.written:
            if each.name not in self.before:
                self.place.poison(self.arrays[each.name], byte)

    def call(self, choice: Choice) -> Call:
        """A launch of a choice."""
        return Call(choice, choice.arguments(self.arguments.in_order(self.arrays)))

    def problem(self) -> str | None:
        """How what the last run wrote differs from what is expected; None if it does not."""
        for each in self.written:
            found = self.place.compare(self.arrays[each.name], self.expected[each.name])
            said = problem_of(found, each.dtype)
            if said is not None:
                return f"`{each.name}`: {said}"
        return None


class Gate:
    """The sets of arguments of a tunable for some sizes, with what is expected of them."""

    def __init__(
        self, tunable: Tunable, sizes: Sizes, element: str, place: Place, reference: Choice, rng: np.random.Generator
    ) -> None:
        arguments = arguments_of(tunable, sizes, element, reference.constants)
        sets = 2 if arguments.nbytes < _SHARE * place.free_bytes else 1
        self.arguments = arguments
        self.trials = [_trial(tunable, arguments, place, reference, rng) for _ in range(sets)]

    def problem(self, choice: Choice) -> str | None:
        """Why a choice is not the same computation; None if it is."""
        for place, trial in enumerate(self.trials):
            trial.restore()
            trial.poison(_POISONS[place % len(_POISONS)])
            launch = trial.call(choice)
            launch()
            said = trial.problem()
            if said is not None:
                return said
            if not place:
                trial.restore()
                launch()
                said = trial.problem()
                if said is not None:
                    return f"{said}, when it runs a second time"
        return None

    def call(self, choice: Choice) -> Call:
        """A launch of a choice for the clock."""
        return self.trials[0].call(choice)

    def before(self) -> None:
        """What comes before each launch, outside the clock."""
        self.trials[0].restore()

    def problem_afterwards(self) -> str | None:
        """How the last timed launch was wrong; None if it was not."""
        said = self.trials[0].problem()
        return None if said is None else f"{said}, after many launches"


def _trial(tunable: Tunable, arguments: Arguments, place: Place, reference: Choice, rng: np.random.Generator) -> Trial:
    arrays: dict[str, Any] = {}
    for each in arguments.tensors:
        arrays[each.name] = place.make(each, rng) if each.is_kept else place.empty(each)
    if tunable.inputs is not None:
        given = {**arguments.scalars, **arrays}
        place.wait()
        tunable.inputs(rng, given)
        arrays = {
            name: place.bring(value) if isinstance(value, np.ndarray) else value
            for name, value in given.items()
            if name in arrays or value != arguments.scalars[name]
        }
    before: dict[str, Any] = {}
    for each in arguments.tensors:
        if each.is_written and each.is_kept:
            before[each.name] = place.empty(each)
            place.copy(before[each.name], arrays[each.name])
    trial = Trial(arguments, arrays, before, {}, place)
    trial.poison(_POISONS[0])
    trial.call(reference)()
    expected = {}
    for each in trial.written:
        expected[each.name] = place.empty(each)
        place.copy(expected[each.name], arrays[each.name])
        _demand_finite(tunable, each, place.compare(expected[each.name], expected[each.name]))
    return Trial(arguments, arrays, before, expected, place)


def _demand_finite(tunable: Tunable, argument: Argument, found: Difference) -> None:
    """NaN differs from itself, and nobody could tell it from what was not written."""
    if argument.dtype.is_float and found.wrong:
        raise TuningError(
            f"`{tunable.name}` by default leaves NaN in `{argument.name}` on random inputs, so nothing can be compared "
            "with it: have `inputs` of the Tunable put in what gives numbers"
        )


def problem_of(found: Difference, dtype: DType) -> str | None:
    """What is wrong with an array that is so far from what is expected; None if only roundings differ."""
    if found.wrong:
        what = "are NaN or infinite where they should not be" if dtype.is_float else "differ"
        return f"{found.wrong} elements {what}"
    if not dtype.is_float:
        return None
    step = _STEPS[dtype.name]
    if found.worst > step * found.top:
        return f"off by {found.worst / max(found.top, 1e-300):.2g} of the greatest magnitude, {step:g} are allowed"
    if found.gap > _USUAL * step * found.size:
        return f"off by {found.gap / max(found.size, 1e-300):.2g} on the whole, {_USUAL * step:g} are allowed"
    return None
