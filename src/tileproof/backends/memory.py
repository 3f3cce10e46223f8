"""Kinds of memory that an argument may lie in. Apart from the driver, which a program without a GPU never loads."""

from __future__ import annotations

from enum import Enum


class Memory(Enum):
    """Who can touch some memory."""

    DEVICE = "memory of the GPU"
    MANAGED = "managed memory, which the host and the GPU share"
    HOST = "memory of the host that is mapped into the GPU"
    UNKNOWN = "memory that CUDA does not know"
