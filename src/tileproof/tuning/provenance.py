"""What records depend on: the kernels, the versions of what compiles them, and the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import Target, host
from tileproof.backends.cuda import toolchain
from tileproof.diagnostics.errors import TileproofError
from tileproof.language.kernel import Kernel

from .sources import source_hash


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where figures come from."""

    source: str
    """The number of the kernels: see `sources`."""
    tileproof: str
    assembler: str
    """The version of what made the code: NVIDIA's assembler, or LLVM's package for the CPU."""
    device: str
    date: str

    @staticmethod
    def of(kernels: Sequence[Kernel], target: str, device: str) -> Provenance:
        """That of figures taken now."""
        made_by = assembler_version(target) or "unknown"
        return Provenance(source_hash(tuple(kernels)), own_version(), made_by, device, date.today().isoformat())

    @staticmethod
    def read(said: Mapping[str, Any]) -> Provenance:
        """From a file; `ValueError` if something is missing."""
        try:
            return Provenance(**{name: str(said[name]) for name in Provenance.__slots__})
        except (KeyError, TypeError) as error:
            raise ValueError(f"its provenance lacks {error}") from None

    def staleness(self, tunable: str, kernels: Sequence[Kernel], target: str) -> str | None:
        """Why figures no longer say anything about what runs here; None if they do."""
        if self.source != source_hash(tuple(kernels)):
            return f"the kernels of `{tunable}` have changed since"
        here = assembler_version(target)
        if here is not None and _release(here) != _release(self.assembler):
            return f"they were taken with the compiler {self.assembler}, and here is {here}"
        return None


def own_version() -> str:
    """The version of tileproof; `0` where it runs from a checkout that is not installed."""
    try:
        return version("tileproof")
    except PackageNotFoundError:
        return "0"


@cache
def assembler_version(target: str) -> str | None:
    """The version of what makes code for a target here; None where there is nothing to make it."""
    if is_cpu(target):
        return llvm.version().split()[1].rstrip(",")  # that of llvmlite, which holds its LLVM
    try:
        return toolchain.find().version
    except TileproofError:
        return None


def _release(text: str) -> tuple[str, ...]:
    """Major and minor number."""
    return tuple(text.split(".")[:2])


def is_cpu(target: str) -> bool:
    """Whether a target is a processor: "cpu", or "cpu-avx2"."""
    return target.partition("-")[0] == "cpu"


def recorded_target(target: str) -> str:
    """The target as records name it: "cpu" becomes "cpu-avx2", because what is fast depends on the instructions."""
    return instruction_set(host()) if target == "cpu" else target


def instruction_set(processor: Target) -> str:
    """What records call a processor."""
    if processor.is_arm:
        return "cpu-neon"
    if processor.has_avx512:
        return "cpu-avx512"
    return "cpu-avx2" if processor.has("avx2", "fma") else "cpu-sse2"
