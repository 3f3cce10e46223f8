"""How much memory there is, and how many pages of the cache fit it."""

from __future__ import annotations

import ctypes
from pathlib import Path

import tileproof as tp
from tileproof.diagnostics.codes import Code

from .errors import refused
from .models.config import ModelConfig
from .step.ir import PAGE

_SHARE = 0.25
"""Of the memory that is free, what the cache takes where nobody says how much; of a GPU nearly all."""
_GPU_SHARE = 0.85


def free_memory(device: str) -> int:
    """Bytes that nobody uses."""
    if device != "cpu":
        return tp.memory(device).free or 0
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 8 << 30
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return 8 << 30 if found is None else int(found) * 1024


def return_freed_memory() -> None:
    """Gives the system what was freed: glibc keeps it where something in use lies above, as a tokenizer does."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def page_bytes(config: ModelConfig) -> int:
    """Bytes of a page, in all layers."""
    return config.num_hidden_layers * 2 * config.num_key_value_heads * PAGE * config.head_dim * 2


def pages_for(config: ModelConfig, longest: int, memory: int | None, most: int, free: int, is_gpu: bool = False) -> int:
    """How many pages the cache has: for `most` texts of the longest kind where that fits, and for one at least."""
    size, one = page_bytes(config), -(-longest // PAGE)
    if memory is None:
        share = _GPU_SHARE if is_gpu else _SHARE
        count = max(min(most * one, int(free * share) // size), one)
        if count * size > free:
            raise refused(
                Code.MODEL_MEMORY,
                f"a text of {longest} tokens needs {shown(one * size)} of cache, and {shown(free)} are free",
                f"set max_seq_len to {max(free // size, 1) * PAGE} or less",
            )
        return count
    if memory // size < one:
        raise refused(
            Code.MODEL_MEMORY,
            f"a text of {longest} tokens needs {shown(one * size)} of cache, and memory is {shown(memory)}",
            f"set memory to {one * size} or more, or max_seq_len to {max(memory // size, 1) * PAGE} or less",
        )
    return memory // size


def shown(count: int) -> str:
    """Bytes as people say them."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
