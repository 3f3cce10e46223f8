"""What a word of the language does when Python runs it: explain that kernels are read, not executed."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

elsewhere: Callable[[str], Callable[..., Any]] | None = None
"""Gives what a word means on the host; `import tileproof` puts it here: the language does not know the runtime."""


def on_host(name: str) -> Callable[..., Any]:
    """What a word means on the host, of those that mean something there too."""
    if elsewhere is None:
        raise RuntimeError(f"tp.{name} cannot be used on the host: import tileproof, not a part of it")
    return elsewhere(name)


def only_in_kernels(name: str) -> NoReturn:
    """Refuses a call made outside a kernel."""
    hint = ""
    if hasattr(builtins, name):
        hint = f" If Python's own {name} was meant, a star import has hidden it: write `import tileproof as tp`."
    raise RuntimeError(
        f"tp.{name} works on tiles inside a @tp.kernel, whose source is read and compiled; here it was "
        f"called as ordinary Python. If the caller is a helper of a kernel, call that helper from the kernel.{hint}"
    )
