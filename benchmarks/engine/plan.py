"""What the suite asks of the process that measures a model. It needs nothing that a machine without a GPU lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

CONTEXTS: Final = (128, 512, 2048, 8192, 32768)
PROMPTS: Final = (128, 256, 512, 1024, 2048, 4096, 8192)
PEERS: Final = ("proxy", "compiled", "transformers", "chains", "int8")
"""What can be left out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a process."""

    model: str
    file: str
    layers: int | None = None
    contexts: tuple[int, ...] = CONTEXTS
    prompts: tuple[int, ...] = PROMPTS
    rounds: int = 5
    tokens: int = 160
    """Of a turn, for everybody but our graph alone, which has fewer."""
    seconds: float = 270.0
    """That all may take."""
    boxed: float = 75.0
    """That torch.compile may take for each peer."""
    without: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Plan:
        """A plan, from its data."""
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

    @property
    def capacity(self) -> int:
        """Places of the peers' caches."""
        return -(-(max(self.contexts) + self.tokens + 80) // 64) * 64

    @property
    def is_short(self) -> bool:
        """Whether there is no time to compile a whole model of transformers."""
        return self.seconds < 200

    def quick(self) -> Plan:
        """A look at a part of it."""
        return replace(self, contexts=(128, 2048), prompts=(512,), rounds=min(self.rounds, 2), tokens=64, boxed=40.0)
