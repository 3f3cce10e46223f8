"""How many threads a launch may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError

VARIABLE: Final = "TILEPROOF_THREADS"
OTHERS_VARIABLE: Final = "OMP_NUM_THREADS"
MOST: Final = 1024
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def threads() -> int:
    """How many threads a launch may use, its caller's included.

    `TILEPROOF_THREADS` says it, else `OMP_NUM_THREADS`; else there is one for each core that this process may use. The
    pool is as large as this is when it starts.
    """
    own, others = os.environ.get(VARIABLE), os.environ.get(OTHERS_VARIABLE)
    if own:
        return _number(VARIABLE, own)
    return _number(OTHERS_VARIABLE, others.split(",")[0]) if others else cores()


def _number(variable: str, text: str) -> int:
    digits = text.strip()
    if digits.isdecimal() and 1 <= int(digits) <= MOST:
        return int(digits)
    raise LaunchError(
        Diagnostic(
            Code.BAD_SETTING,
            f"{variable} is {text!r}, which is not a number of threads",
            help=f"unset {variable}, or set it to a number from 1 to {MOST}",
        )
    )


@cache
def cores() -> int:
    """How many cores this process may keep busy: those it may run on, or fewer if its group has a quota."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        allowed = os.cpu_count() or 1
    return max(min(allowed, MOST, *map(math.ceil, _quotas())), 1)


def _quotas() -> Iterator[float]:
    """Cores that the control groups around this process, of either version, have a share of."""
    for line in _lines(_OWN_GROUPS):
        _, _, rest = line.partition(":")
        kinds, _, place = rest.partition(":")
        if kinds == "" or "cpu" in kinds.split(","):
            folder = _GROUPS / kinds
            own = PurePosixPath(place.lstrip("/"))
            for group in (own, *own.parents):
                yield from _quota(folder / group)


def _quota(group: Path) -> Iterator[float]:
    """The quota of one group: in one file of two words, or in two files of one."""
    words = " ".join(_lines(group / "cpu.max")).split()
    if not words:
        words = [*_lines(group / "cpu.cfs_quota_us"), *_lines(group / "cpu.cfs_period_us")]
    if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
