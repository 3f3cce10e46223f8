"""Mutants of the packages of tileproof: small wrong edits of code that promises depend on, and the tests that fail.

The mutants of the checker are in `tests/analysis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .cpu import CPU
from .cuda import CUDA
from .frontend import FRONTEND
from .llm import LLM
from .lowering import LOWERING
from .mutant import ROOT, Mutant
from .runtime import RUNTIME
from .server import SERVER

PACKAGES: Mapping[str, Sequence[Mutant]] = {
    "frontend": FRONTEND,
    "lowering": LOWERING,
    "runtime": RUNTIME,
    "cpu": CPU,
    "cuda": CUDA,
    "llm": [*LLM, *SERVER],
}
"""The mutants of each package; `lowering` has those of `compiler` too."""

__all__ = ["PACKAGES", "ROOT", "Mutant"]
