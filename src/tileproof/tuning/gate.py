"""The gate: a candidate replaces the default only if it computes what the default computes, and is faster.

Every array that any kernel of the tunable may write is the trial's own. Before a run it holds poison, or again what it
held before if that matters, so that an element nobody writes shows. A candidate runs three times: on one set of inputs,
again on the same without poison in between, and on another set with another poison. Results may differ by some
roundings of their element type, because sums may be taken in another order; whole numbers have to be equal, and NaN is
nowhere. The last timed launch is compared once more. The one that is left runs against the default, pair by pair, in
changing order.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tileproof.language.dtypes import DType

from .choices import Choice
from .inputs import Argument, Arguments, Array, TuningError, arguments_of, numbers
from .places import Place
from .tunables import Sizes, Tunable

_STEPS: Final = {"f64": 1e-10, "f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2, "f8e4m3": 0.13, "f8e5m2": 0.26}
"""How far an element may be off, as a part of the greatest magnitude: some roundings of each type."""
_USUAL: Final = 0.25
"""How much of that differences may be on the whole, by their root mean square against that of the results."""
_POISONS: Final = (0xFF, 0x7F)
"""NaN in every float type; then the greatest numbers of most."""
_PIECE: Final = 1 << 20
_TRIAL: Final = 0.02
"""Seconds of launches for each candidate."""
_PAIRS: Final = 8
"""Turns of the winner and the default, side by side."""
_GAIN: Final = 1.01
"""How much faster than the default a choice must be to replace it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A launch of a choice. Its arguments have the form that the kernel takes: the clock sees the launch alone."""

    choice: Choice
    args: Sequence[Any]

    def __call__(self) -> None:
        self.choice.launched(*self.args, **self.choice.constants)


class Trial:
    """One set of arguments, and what the default choice makes of them."""

    def __init__(
        self, arguments: Arguments, inputs: Mapping[str, Any], place: Place, reference: Choice, poison: int
    ) -> None:
        self._names, self._place = arguments.names, place
        self._written = [tensor for tensor in arguments.tensors if tensor.is_written]
        self.arrays = {name: place.put(arg) if isinstance(arg, np.ndarray) else arg for name, arg in inputs.items()}
        self._kept = {item.name: place.put(inputs[item.name]) for item in self._written if item.is_kept}
        self._poison = {item.name: place.put(_filled(item, poison)) for item in self._written if not item.is_kept}
        self.restore(poisoned=True)
        self.call(reference)()
        self.expected = {tensor.name: place.read(self.arrays[tensor.name]).copy() for tensor in self._written}

    def restore(self, *, poisoned: bool) -> None:
        """Has arrays hold what they held, where that matters; the others hold poison, if that is wanted."""
        for name, source in (*self._kept.items(), *(self._poison.items() if poisoned else ())):
            self._place.copy(self.arrays[name], source)

    def call(self, choice: Choice) -> Call:
        """A launch of a choice."""
        return Call(choice, choice.arguments([self.arrays[name] for name in self._names]))

    def problem(self) -> str | None:
        """How what the last run wrote differs from what is expected; None if it does not."""
        for tensor in self._written:
            gap = difference(self._place.read(self.arrays[tensor.name]), self.expected[tensor.name], tensor.dtype)
            if gap is not None:
                return f"`{tensor.name}`: {gap}"
        return None


class Gate:
    """What decides about the candidates of a tunable for some sizes."""

    def __init__(
        self, tunable: Tunable, sizes: Sizes, element: str, place: Place, default: Choice, rng: np.random.Generator
    ) -> None:
        arguments = arguments_of(tunable, sizes, element, default.constants)
        self._place, self._default = place, default
        self.trials = [
            Trial(arguments, _inputs(tunable, arguments, rng), place, default, poison) for poison in _POISONS
        ]
        for name, expected in (pair for trial in self.trials for pair in trial.expected.items()):
            if (expected != expected).any():  # NaN, which nobody could tell from what was not written
                raise TuningError(
                    f"`{tunable.name}` by default leaves NaN in `{name}` on random inputs, so nothing can be compared "
                    "with it: have `inputs` of the Tunable put in what gives numbers"
                )

    def problem(self, choice: Choice) -> str | None:
        """Why a choice is not the same computation; None if it is."""
        first, second = self.trials
        for trial, again in ((first, False), (first, True), (second, False)):
            trial.restore(poisoned=not again)
            trial.call(choice)()
            problem = trial.problem()
            if problem is not None:
                return f"{problem}, when it runs a second time" if again else problem
        return None

    def tried(self, choice: Choice, hopeless: float = math.inf) -> float | str:
        """The seconds that a choice takes, or how it is wrong. It is timed no longer if it seems hopeless."""
        problem = self.problem(choice)
        if problem is None:
            seconds = self.seconds(choice, _TRIAL, hopeless)
            problem = self.trials[0].problem()
            if problem is None:
                return seconds
            problem += ", after many launches"
        return f"wrong: {problem}"

    def seconds(self, choice: Choice, seconds: float = _TRIAL, hopeless: float = math.inf) -> float:
        """The median time of launches for so long."""
        trial = self.trials[0]
        times = self._place.times(trial.call(choice), lambda: trial.restore(poisoned=False), seconds, hopeless)
        return statistics.median(times)

    def winner(self, choice: Choice, step: Callable[[], object]) -> tuple[Choice, float, float]:
        """A choice that was tried, if it may replace the default, or the default; its seconds and those of the default.
        `step` is called before each pair of turns."""
        pairs: list[tuple[float, float]] = []
        for turn in range(_PAIRS):
            step()
            order = (choice, self._default) if turn % 2 else (self._default, choice)
            taken = {candidate.label: self.seconds(candidate, _TRIAL / 2) for candidate in order}
            pairs.append((taken[choice.label], taken[self._default.label]))
        gain = statistics.median(theirs / mine for mine, theirs in pairs)
        mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        return (choice, mine, theirs) if min(gain, theirs / mine) >= _GAIN else (self._default, theirs, theirs)


def _inputs(tunable: Tunable, arguments: Arguments, rng: np.random.Generator) -> dict[str, Any]:
    """Arrays of the host and scalars, by name."""
    inputs: dict[str, Any] = dict(arguments.scalars)
    for tensor in arguments.tensors:
        inputs[tensor.name] = numbers(rng, tensor) if tensor.is_kept else _filled(tensor, 0)
    if tunable.inputs is not None:
        tunable.inputs(rng, inputs)
    return inputs


def _filled(argument: Argument, byte: int) -> Array:
    return np.full(argument.nbytes, byte, np.uint8).view(argument.storage).reshape(argument.shape)


def difference(actual: Array, expected: Array, dtype: DType) -> str | None:
    """How results are apart; None if they are the same, or only roundings differ."""
    bits = f"u{expected.itemsize}"  # a poisoned bool is neither True nor False
    one, other = actual.reshape(-1), expected.reshape(-1)
    unequal = int((one.view(bits) != other.view(bits)).sum())
    if not unequal:
        return None
    if not dtype.is_float:
        return f"{unequal} elements differ"
    worst = top = gaps = squares = 0.0
    wrong = 0
    for start in range(0, one.size, _PIECE):
        mine, theirs = (array[start : start + _PIECE].astype(np.float64) for array in (one, other))
        is_finite = np.isfinite(mine) & np.isfinite(theirs)
        wrong += int((~is_finite & (mine != theirs)).sum())
        gap, size = np.abs(mine[is_finite] - theirs[is_finite]), np.abs(theirs[is_finite])
        worst, top = max(worst, float(gap.max(initial=0.0))), max(top, float(size.max(initial=0.0)))
        gaps, squares = gaps + float(gap @ gap), squares + float(size @ size)
    if wrong:
        return f"{wrong} elements are NaN or infinite where they should not be"
    step = _STEPS[dtype.name]
    if worst > step * top:
        return f"off by {worst / max(top, 1e-300):.2g} of the greatest magnitude, {step:g} are allowed"
    share = math.sqrt(gaps / squares) if squares else 0.0
    if share > _USUAL * step:
        return f"off by {share:.2g} on the whole, {_USUAL * step:g} are allowed"
    return None
