"""What a word of the language does when Python runs it: explain that kernels are read, not executed."""

from __future__ import annotations

import builtins
from typing import NoReturn


def only_in_kernels(name: str) -> NoReturn:
    """Refuses a call made outside a kernel."""
    hint = ""
    if hasattr(builtins, name):
        hint = f" If Python's own {name} was meant, a star import has hidden it: write `import tileproof as tp`."
    raise RuntimeError(
        f"tp.{name} works on tiles inside a @tp.kernel, whose source is read and compiled; here it was "
        f"called as ordinary Python. If the caller is a helper of a kernel, call that helper from the kernel.{hint}"
    )
