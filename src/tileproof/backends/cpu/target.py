"""The processor that code is made for: its vectors, its instructions, its caches.

`TILEPROOF_CPU_TARGET` asks for another one than the machine's own: to look at its code, or to run on this machine what
a smaller one would run.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.quick_dataclasses import dataclass

from . import llvm

VARIABLE: Final = "TILEPROOF_CPU_TARGET"
ENCODED: Final = os.fsencode(VARIABLE)
_variables: Final[dict[bytes, bytes] | None] = getattr(os.environ, "_data", None) if os.name == "posix" else None
"""The environment as Python keeps it: every launch asks, and to ask `os.environ` takes long."""
_SHEETS = Path("/sys/devices/system/cpu/cpu0/cache")
_SSE2 = "+sse,+sse2,+cx8,+fxsr,+mmx,+64bit,+cmov"
_AVX2 = (
    f"{_SSE2},+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+sahf,+crc32,"
    "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe,+xsave"
)
_AVX512 = f"{_AVX2},+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
_VNNI = f"{_AVX512},+avx512vnni"
_BF16 = f"{_VNNI},+avx512bf16"
_NEON = "+neon,+fp-armv8"
_DOT = f"{_NEON},+lse,+fullfp16,+dotprod"
_I8MM = f"{_DOT},+bf16,+i8mm"


@dataclass(frozen=True, slots=True)
class Caches:
    """Bytes of data that each level of cache holds: the first two of one core, the last of all of them."""

    l1: int = 32 << 10
    l2: int = 512 << 10
    l3: int = 16 << 20


@dataclass(frozen=True, slots=True)
class Target:
    """A processor. `name`, `features` and `triple` are LLVM's words for it."""

    name: str
    features: str
    triple: str
    tuned_for: str = ""
    """The processor whose timings order the instructions, where it is another than `name`."""
    caches: Caches = Caches()

    @property
    def key(self) -> str:
        """All that decides what a text compiles to, for keys of stored code."""
        return f"{self.triple} {self.name} {self.tuned_for} {self.features}"

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith("x86_64")

    @property
    def is_arm(self) -> bool:
        return self.triple.startswith(("aarch64", "arm64"))

    def has(self, *features: str) -> bool:
        """Whether the processor has all these of LLVM's features."""
        return _enabled(self.features).issuperset(features)

    @property
    def lanes(self) -> int:
        """How many elements of 32 bits a vector holds."""
        if self.has_avx512:
            return 16
        return 8 if self.has("avx2") else 4

    @property
    def registers(self) -> int:
        """How many vectors fit into registers."""
        return 32 if self.has_avx512 or self.is_arm else 16

    @property
    def has_avx512(self) -> bool:
        """AVX-512 for elements of all sizes, which the first processors with it did not have."""
        return self.has("avx512f", "avx512bw", "avx512dq", "avx512vl")

    @property
    def has_fma(self) -> bool:
        """Multiply and add with one rounding, in one instruction."""
        return self.is_arm or self.has("fma")

    @property
    def has_f16c(self) -> bool:
        """Conversions between f16 and f32, in one instruction."""
        return self.is_arm or self.has("f16c") or self.has_avx512

    @property
    def has_vnni(self) -> bool:
        """Products of u8 and i8 summed in fours into i32: `vpdpbusd` on vectors of `lanes` lanes."""
        return self.has("avx512vnni") if self.has_avx512 else self.has("avxvnni")

    @property
    def has_dot(self) -> bool:
        """Products of i8 summed in fours into i32 on ARM: `sdot`."""
        return self.is_arm and self.has("dotprod")

    @property
    def attributes(self) -> str:
        """What LLVM must be told of every function; without it it halves vectors of 512 bits."""
        parts = ["nounwind"]
        if self.has_avx512:
            parts.append('"prefer-vector-width"="512" "min-legal-vector-width"="512"')
        if self.tuned_for:
            parts.append(f'"tune-cpu"="{self.tuned_for}"')
        return " ".join(parts)


def depth_for(target: Target) -> int:
    """How much of the inner axis a turn of a loop had better take: a panel that deep fills half of the first cache."""
    return target.caches.l1 // 2 // (2 * target.lanes * 4)


_LEVELS: Final = {
    "sse2": ("x86-64", _SSE2),
    "baseline": ("x86-64", _SSE2),
    "avx2": ("x86-64-v3", _AVX2),
    "avx512": ("x86-64-v4", _AVX512),
    "neon": ("generic", _NEON),
}
_PROCESSORS: Final = {
    "x86-64": _SSE2,
    "x86-64-v3": _AVX2,
    "x86-64-v4": _AVX512,
    **dict.fromkeys(("haswell", "broadwell", "skylake", "znver1", "znver2", "znver3"), _AVX2),
    **dict.fromkeys(("alderlake", "raptorlake", "arrowlake", "lunarlake"), f"{_AVX2},+avxvnni"),
    "skylake-avx512": _AVX512,
    **dict.fromkeys(("cascadelake", "icelake-client", "icelake-server", "tigerlake", "rocketlake"), _VNNI),
    **dict.fromkeys(("cooperlake", "znver4"), _BF16),
    **dict.fromkeys(("sapphirerapids", "emeraldrapids", "graniterapids", "znver5"), f"{_BF16},+avxvnni"),
    **dict.fromkeys(("cortex-a53", "cortex-a57", "cortex-a72"), _NEON),
    **dict.fromkeys(("cortex-a76", "neoverse-n1", "apple-m1"), _DOT),
    **dict.fromkeys(("neoverse-n2", "neoverse-v1", "neoverse-v2", "apple-m2", "apple-m3", "apple-m4"), _I8MM),
}
"""Processors by LLVM's names, and what of them kernels use."""
_ARM: Final = ("neon", "cortex", "neoverse", "apple")


def host() -> Target:
    """The processor kernels run on here: this machine's, or the one `TILEPROOF_CPU_TARGET` names, if it can run it."""
    if _variables is not None and ENCODED not in _variables:
        return _host("host")
    return _host(os.environ.get(VARIABLE) or "host")


@cache
def _host(name: str) -> Target:
    machine = this_machine()
    if name == "host":
        return machine
    if name not in _LEVELS and name not in _PROCESSORS:
        raise _refusal(f"{VARIABLE} is {name!r}, which is not the name of a processor", _nearest(name))
    asked = named(name)
    missing = _missing(asked, machine)
    if missing:
        able = [level for level in _LEVELS if not _missing(named(level), machine)]
        raise _refusal(
            f"{VARIABLE} is {name!r}, but this machine ({machine.name}) lacks {', '.join(missing)}",
            f"unset {VARIABLE}, or choose what this machine can be: {', '.join(able)}",
        )
    return replace(asked, caches=machine.caches)


def named(name: str) -> Target:
    """A processor by name, whether or not this machine could run its code: a level such as `avx2`, or LLVM's name."""
    arm = name.startswith(_ARM)
    here = llvm.host_triple()
    same = here.startswith(("aarch64", "arm64") if arm else "x86_64")
    triple = here if same else f"{'aarch64' if arm else 'x86_64'}-unknown-linux-gnu"
    if name in _LEVELS:
        return Target(*_LEVELS[name], triple)
    features = _PROCESSORS[name]
    # By its own name a processor would also have what kernels do not use and a machine close to it may lack.
    base = next(cpu for cpu, level in reversed(_LEVELS.values()) if features.startswith(level))
    return Target(base, features, triple, tuned_for=name)


def names() -> tuple[str, ...]:
    """Every name that `named` takes."""
    return (*_LEVELS, *_PROCESSORS)


@cache
def this_machine() -> Target:
    """The processor that this is, whatever is asked for."""
    triple, features = llvm.host_triple(), llvm.host_features()
    if not features:
        features = _NEON if triple.startswith(("aarch64", "arm64")) else _SSE2
    return Target(llvm.host_cpu(), features, triple, caches=_caches())


@cache
def _enabled(features: str) -> frozenset[str]:
    return frozenset(part[1:] for part in features.split(",") if part.startswith("+"))


def _nearest(name: str) -> str:
    """The name that may have been meant, or the kinds there are."""
    near = difflib.get_close_matches(name.lower(), ("host", *names()), 1)
    return f"did you mean {near[0]!r}?" if near else f"it may be host, {', '.join(_LEVELS)}, or one such as znver3"


def _missing(asked: Target, machine: Target) -> list[str]:
    """What code for one processor uses that another does not have."""
    if asked.is_arm != machine.is_arm:
        return ["its instructions"]
    return sorted(_enabled(asked.features) - _enabled(machine.features))


def _refusal(message: str, cure: str) -> LaunchError:
    return LaunchError(Diagnostic(Code.BAD_SETTING, message, help=cure))


def _caches() -> Caches:
    """The caches of the first core: as Linux describes them, else as the C library does, else usual ones."""
    usual = Caches()
    sheets = {
        (_text(path / "level"), _text(path / "type")): _bytes(_text(path / "size")) for path in _SHEETS.glob("index*")
    }
    sizes = [
        sheets.get(("1", "Data")) or _system("SC_LEVEL1_DCACHE_SIZE") or usual.l1,
        sheets.get(("2", "Unified")) or _system("SC_LEVEL2_CACHE_SIZE") or usual.l2,
        sheets.get(("3", "Unified")) or _system("SC_LEVEL3_CACHE_SIZE") or usual.l3,
    ]
    return Caches(*sizes)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _bytes(size: str) -> int:
    """A size as Linux writes it: `48K`."""
    units = {"K": 10, "M": 20, "G": 30}
    digits = size.rstrip("KMG")
    return int(digits) << units.get(size[-1:], 0) if digits.isdigit() else 0


def _system(name: str) -> int:
    """A size as the C library tells it; 0 if it does not."""
    try:
        return max(os.sysconf(name), 0)
    except (AttributeError, OSError, ValueError):
        return 0
