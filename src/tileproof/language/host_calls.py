"""What functions of the language do on the host: their host variant, or an error that says where they belong."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

host_function: Callable[[str], Callable[..., Any]] | None = None
"""Returns the host variant of a function. `import tileproof` sets it, because this package imports no runtime."""


def on_host(name: str) -> Callable[..., Any]:
    """The host variant of a function that has one, such as `tp.zeros`."""
    if host_function is None:
        raise RuntimeError(f"tp.{name} cannot be used on the host: import tileproof, not a part of it")
    return host_function(name)


def only_in_kernels(name: str) -> NoReturn:
    """Raises for a call made outside a kernel."""
    hint = ""
    if hasattr(builtins, name):
        hint = f" If Python's own {name} was meant, a star import has hidden it: write `import tileproof as tp`."
    raise RuntimeError(
        f"tp.{name} works on tiles inside a @tp.kernel, whose source is read and compiled; here it was "
        f"called as ordinary Python. If the caller is a helper of a kernel, call that helper from the kernel.{hint}"
    )
