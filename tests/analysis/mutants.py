"""The checker with one rule broken at a time."""

from __future__ import annotations

from mutants_of_laws import LAWS
from mutants_of_reasoning import REASONING
from mutation import Mutant

MUTANTS: list[Mutant] = [*REASONING, *LAWS]

__all__ = ["MUTANTS", "Mutant"]
