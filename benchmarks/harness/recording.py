"""What a call launches: every launch noted, run or not, and library functions made to choose for another machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import numpy as np

import tileproof as tp
from tileproof.kernels import arrays

Launched: TypeAlias = tuple[tp.Kernel, tuple[Any, ...], dict[str, Any]]
"""A kernel, its arguments and its constants."""
_SMALL: Final = 32 << 20
"""Bytes of an output up to which it may hold what somebody else left there."""


@contextmanager
def recorded(result: list[Launched], *, runs: bool) -> Iterator[None]:
    """Notes every launch; without `runs` that is all that becomes of it, but that outputs hold zeros."""
    plain = tp.Kernel.__call__

    def noted(self: tp.Kernel, *args: Any, **constants: Any) -> None:
        result.append((self, args, constants))
        if runs:
            plain(self, *args, **constants)
            return
        declared = (access for name, access in self.function.__annotations__.items() if name not in self.absent)
        for arg, access in zip(args, declared, strict=False):
            if isinstance(arg, np.ndarray) and str(access).startswith("Out[") and arg.nbytes <= _SMALL:
                arg[...] = np.zeros((), arg.dtype)

    tp.Kernel.__call__ = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        tp.Kernel.__call__ = plain  # type: ignore[method-assign]


@contextmanager
def aimed_at(target: str) -> Iterator[None]:
    """Library functions choose for this target, wherever their arrays are."""
    plain = arrays.target_of
    arrays.target_of = lambda array: target
    try:
        yield
    finally:
        arrays.target_of = plain


def label(kernel: tp.Kernel, constants: dict[str, Any]) -> str:
    """`matmul_kernel BM=128 BN=128 BK=64 persistent group=8`."""
    schedule = repr(kernel.schedule or tp.Schedule())
    fields = schedule.removeprefix("Schedule(").removesuffix(")").replace("=True", "").replace(",", "")
    return " ".join(filter(None, (kernel.name, *(f"{name}={value}" for name, value in constants.items()), fields)))
