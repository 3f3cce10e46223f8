"""The threads of this process: the pool that kernels share, and the code of queues."""

from __future__ import annotations

import os
import threading

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.device.pool import Pool, pool_text
from tileproof.backends.cpu.device.queue import queue_text
from tileproof.backends.cpu.target import Target, host
from tileproof.compiler.cache import default, digest
from tileproof.compiler.proofs import fingerprint

_making = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_pools: list[Pool] = []
_queues: list[bytes] = []


def pool() -> Pool:
    """The threads of this process."""
    if not _pools:
        with _making:
            if not _pools:
                target = host()
                _pools.append(Pool(_code("pool", pool_text(target), target)))
    return _pools[0]


def queue_code() -> bytes:
    """What queues are made of."""
    if not _queues:
        with _making:
            if not _queues:
                target = host()
                _queues.append(_code("queue", queue_text(target), target))
    return _queues[0]


def _code(what: str, text: str, target: Target) -> bytes:
    """Machine code of a text, from disk if it is there."""
    key = digest(what, fingerprint(), target.key, llvm.version())
    stored = default()
    code = stored.get(key)
    if code is None:
        code = llvm.compile_object(text, target)
        stored.put(key, code)
    return code
