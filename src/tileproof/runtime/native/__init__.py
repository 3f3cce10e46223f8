"""Launches that are like an earlier one, for well under a microsecond on the host.

The full launch makes a `Plan` of what it found and adds it to the `Plans` of the kernel. From then on

    launch(plans, args)

compares the arguments with the plans and, if one fits, calls the driver and returns True. In every other case it has
done nothing: None says that the ledger must be asked first, because work of another stream may be in the way; False
that the full launch is to judge the arguments. It raises in one case only: a launch that joins pieces is two calls of
the driver, and the driver took the first and not the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plan import CPU, CUDA, Join, OnCpu, OpenAxis, OpenTensor, Plan, ScalarArgument, Source, TensorArgument
from .plans import Plans
from .readers import record, register_buffer

if TYPE_CHECKING:

    def launch(
        plans: Plans, args: tuple[Any, ...], device: int = -1, stream: int | None = None, is_default: bool = True
    ) -> bool | None:
        """Launches as an earlier launch if these arguments are like those; False if not, and None if the ledger must be
        asked first: nothing was done then.

        The current stream is torch's, or the one that is given: of one device, or of all if that is -1. `is_default`
        says that no `with` block chose it.
        """

    def match(plans: Plans, args: tuple[Any, ...]) -> bytes | None:
        """What a launch like an earlier one is to be given: see `matcher.match`."""


def available() -> str:
    """Which way launches go that are like an earlier one, in words for people."""
    from . import loader, readers

    readers.refresh()
    native = loader.loaded()
    if isinstance(native, str):
        return f"in Python: {native}"
    torch = readers.torch()
    if torch is None:
        return "native"
    if native.reads_torch:
        return f"native; torch tensors through DLPack's exchange API {torch.version}"
    why = "they are not as they should be" if torch.exchange else torch.version
    return f"native, but for torch tensors: {why}"


def __getattr__(name: str) -> Any:
    """Makes `launch` and `match` when they are first asked for: to load LLVM takes a while."""
    if name not in ("launch", "match"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .loader import launch_function, match_function

    globals().update(launch=launch_function(), match=match_function())
    return globals()[name]


__all__ = [
    "CPU", "CUDA", "Join", "OnCpu", "OpenAxis", "OpenTensor", "Plan", "Plans", "ScalarArgument", "Source",
    "TensorArgument", "available", "launch", "match", "record", "register_buffer",
]  # fmt: skip
