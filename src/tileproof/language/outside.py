"""What a word of the language does when Python runs it: explain that kernels are read, not executed."""

from __future__ import annotations

import builtins
from typing import NoReturn


def only_in_kernels(name: str) -> NoReturn:
    """Refuses a call made outside a kernel."""
    if hasattr(builtins, name):
        raise RuntimeError(
            f"this is tp.{name}, which works inside a @tp.kernel, not Python's {name}: "
            f"write `import tileproof as tp` instead of a star import, or tp.{name} only in kernels"
        )
    raise RuntimeError(
        f"tp.{name} works on tiles inside a @tp.kernel, whose source is read and compiled; here it was "
        "called as ordinary Python. If the caller is a helper of a kernel, call that helper from the kernel."
    )
