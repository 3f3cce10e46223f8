"""How much memory is free, and how much of it is printed."""

from __future__ import annotations

import ctypes
from pathlib import Path

import tileproof as tp


def free_memory(device: str) -> int:
    """Free bytes of a device."""
    if device != "cpu":
        return tp.memory(device).free or 0
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 8 << 30
    line = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return 8 << 30 if line is None else int(line) * 1024


def return_freed_memory() -> None:
    """Gives the system what was freed: glibc keeps it where something in use lies above, as a tokenizer does."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def formatted_bytes(count: int) -> str:
    """`1.5 GiB`, `512 bytes`."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
