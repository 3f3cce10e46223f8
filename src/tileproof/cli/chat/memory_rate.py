"""What the machine does: how fast it reads memory at most, and how busy others keep it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import tileproof as tp
from tileproof import In, Out, f32

QUIET = 0.10
"""The most of one core that others may use during a run that counts."""
_BYTES = {"cpu": 256 << 20, "cuda": 2 << 30}
"""What is read: several times as much as any cache holds."""
_COLUMNS = 8192
_STATISTICS = Path("/proc/stat")
_BUSY = (0, 1, 2, 5, 6, 7)
"""Where a line of /proc/stat has the time of users, of the kernel, of interrupts, and stolen by the host."""

_TICKS = 0.02
"""Seconds by which the count of busy time may be ahead: it goes by hundredths."""


@tp.kernel(deny_checks=True)
def row_sums_kernel(y: Out[f32, "R"], x: In[f32, "R C"], *, C: int, BR: int = 4) -> None:
    """Adds up rows, several at a time: memory is read at several places at once, and little else is done."""
    for r in tp.parallel(R=BR):
        y[r] = x[r, :].sum(axis=1)


def read_rate(device: str = "cpu", *, tries: int = 8, size: int | None = None) -> float:
    """Bytes that all threads, or a GPU, read in a second at most, measured now: the best of some tries."""
    rows = (size or _BYTES["cuda" if device.startswith("cuda") else "cpu"]) // (4 * _COLUMNS)
    x, y = tp.ones((rows, _COLUMNS), device=device), tp.empty(rows, device=device)
    best = float("inf")
    for _ in range(tries + 1):
        began = time.perf_counter()
        row_sums_kernel(y, x, C=_COLUMNS)
        y[0].numpy()
        best = min(best, time.perf_counter() - began)
    return x.nbytes / best


def now() -> tuple[float, float, float]:
    """The clock, the time all cores were busy, and the time this process used, in seconds."""
    return time.perf_counter(), _busy(), time.process_time()


def outside_load(began: tuple[float, float, float]) -> float:
    """How many cores other processes kept busy since `now`; 0 where the system does not report it."""
    passed, busy, own = (after - before for after, before in zip(now(), began, strict=True))
    return max(busy - own - _TICKS, 0.0) / passed if passed > 0 and busy > 0 else 0.0


def _busy() -> float:
    try:
        fields = _STATISTICS.read_text(encoding="ascii").partition("\n")[0].split()[1:]
        return sum(int(fields[place]) for place in _BUSY) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0
