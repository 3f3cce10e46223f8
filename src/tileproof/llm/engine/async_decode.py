"""Decoding ahead: runs of the same step are given to a GPU one behind the other, and tokens are read late.

Each run feeds its tokens to the next on the device. So the GPU never waits for the host, which reads the tokens of one
run while the next one is under way. A text that ends in between costs what was begun behind its end: that is read and
dropped. Its pages are free at once: whoever takes them writes them behind those runs, in the order of the stream.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence as Several
from dataclasses import dataclass, field
from typing import Any, Final

import tileproof as tp

from ..request import Sequence
from ..step.capture import Captured
from ..step.ir import PAGE

DEPTH: Final = 2
"""Runs that are under way when the tokens of the first of them are read."""
_RUN: Final = 3.5e-2
"""Seconds that a run may take: so long does a stream of text stand still at most."""
_MOST: Final = 8
_RATE: Final = 4e12
"""Bytes of weights that a GPU reads in a second, about."""


def turns_for(nbytes: int) -> int:
    """Tokens that a run makes: several where weights are so few that the time between two runs counts."""
    return max(1, min(_MOST, int(_RUN * _RATE / max(nbytes, 1))))


@dataclass(slots=True)
class Flight:
    """A step of some sequences that is run again and again."""

    step: Captured
    sequences: tuple[Sequence, ...]
    has_room: bool
    """Whether each has a page for the token behind those that are under way: without one a sequence stands still."""
    _under_way: deque[Any] = field(default_factory=deque)

    @property
    def is_over(self) -> bool:
        """Whether nothing is under way."""
        return not self._under_way

    @property
    def ahead(self) -> int:
        """Tokens of each sequence that are under way."""
        return len(self._under_way) * self.step.kind.turns

    def begin(self) -> None:
        """Starts the first run; the inputs are filled."""
        self.step.run()
        self._note()

    def can_go_on(self, longest: int) -> bool:
        """Whether another run may be started: nobody ends for want of room before it is done, and its class will do."""
        more = self.ahead + self.step.kind.turns
        if not self.has_room or len(self._under_way) >= DEPTH:
            return False
        return all(
            len(each.generated) + more <= each.params.max_new_tokens
            and each.length + more <= longest
            and each.length + more <= self.step.kind.pages * PAGE
            for each in self.sequences
        )

    def go_on(self, has_new_pages: bool) -> None:
        """Starts another run behind those under way."""
        if has_new_pages:
            host = self.step.inputs.host["table"]
            for row, sequence in zip(host, self.sequences, strict=False):
                row[: len(sequence.pages)] = sequence.pages
            tp.copy(self.step.inputs.tensors["table"], host)
        self.step.again()
        self._note()

    def _note(self) -> None:
        self._under_way.append(self.step.inputs.tensors["said"].fetch())

    def tokens(self) -> Several[Several[int]]:
        """The tokens of the run that was started first, turn by turn, one of each sequence; waits for them."""
        found: list[list[int]] = self._under_way.popleft().numpy()[:, : len(self.sequences)].tolist()
        return found
