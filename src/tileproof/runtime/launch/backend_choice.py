"""Which backend a launch runs on: the innermost `with tp.backend(...)` says, else TILEPROOF_BACKEND, else `DEFAULT`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Final

from tileproof.backends.base import AUTO, Backend, backend_of, names
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import formatted
from tileproof.runtime.memory.recorder import recording

DEFAULT: Final = AUTO
"""Where launches run if nobody chose: where their arguments are."""
ON_HOST: Final = ("cpu", "interpreter")
"""Those that ship with tileproof and take arguments of the host."""
BACKENDS: Final = (AUTO, *ON_HOST, "cuda")
"""The names that a launch can run on, but for backends that were registered since."""
VARIABLE: Final = "TILEPROOF_BACKEND"

_ENCODED: Final = os.fsencode(VARIABLE)
_variables: Final[dict[bytes, bytes] | None] = getattr(os.environ, "_data", None) if os.name == "posix" else None
"""The environment as Python keeps it: to ask `os.environ` for a variable takes longer than the rest of a launch."""
_chosen: ContextVar[str | None] = ContextVar("tileproof_backend", default=None)


def current() -> str:
    """The name of the backend for a launch made now; TP0611 if TILEPROOF_BACKEND names none."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    if _variables is not None and _ENCODED not in _variables:
        return DEFAULT
    text = os.environ.get(VARIABLE)
    return _from_environment(text) if text else DEFAULT


def is_free() -> bool:
    """Whether a launch may run on a GPU without further questions: nobody chose anything else."""
    if recording.get() is not None:
        return False
    chosen = _chosen.get()
    if chosen is None:
        return _variables is not None and _ENCODED not in _variables
    return chosen in ("auto", "cuda")


@contextmanager
def backend(name: str) -> Iterator[None]:
    """Runs the launches of a `with` block on a named backend: `with tp.backend("interpreter"): ...`

    Elsewhere the environment variable TILEPROOF_BACKEND names it.
    """
    if not isinstance(name, str):
        raise TypeError(f"a backend is named by a text, not by {formatted(name)}")
    if name not in names():
        raise LaunchError(_refusal(name))
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)


def backend_for(name: str, kernel: str, device: int | None) -> Backend:
    """The backend of a name, for a kernel whose arguments are on a device; TP0626 if it takes no arguments there."""
    backend = backend_of(name, device)
    if backend.on_gpu and device is None:
        where, cure = "the CPU", "copy them to a GPU, as torch and cupy do"
    elif device is not None and not backend.on_gpu:
        where, cure = f"GPU {device}", "copy them to the host, or leave the choice of a backend out"
    else:
        return backend
    message = f"the backend {name} was chosen, and the arguments of `{kernel}` are on {where}"
    raise LaunchError(Diagnostic(Code.DEVICES_DIFFER, message, help=cure, kernel=kernel))


@lru_cache(maxsize=8)
def _from_environment(text: str) -> str:
    """The backend that the variable names; remembered, because every launch asks."""
    if text not in names():
        raise LaunchError(_refusal(text, variable=True))
    return text


def _refusal(name: str, *, variable: bool = False) -> Diagnostic:
    """Why there is no such backend, and what to write instead, there where it was named."""
    near = difflib.get_close_matches(name.strip().lower(), names(), 1)
    right = near[0] if near else DEFAULT
    written = f"{VARIABLE}={right}" if variable else f'tp.backend("{right}")'
    asked = (f"the environment variable {VARIABLE} selects it",) if variable else ()
    return Diagnostic(
        Code.NO_BACKEND,
        f"there is no backend {name!r}",
        notes=(*asked, f"backends here: {', '.join(names())}"),
        help=f"did you mean {written}?" if near else f"write {written}",
    )
