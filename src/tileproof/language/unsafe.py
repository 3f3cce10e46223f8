"""Opting out of proofs: `with tp.unsafe("why this is sound"):` opens a block in which `tp.raw` may be used.

The author guarantees what is in such a block, tileproof does not; the interpreter still checks it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .host_calls import only_in_kernels


def unsafe(reason: str) -> AbstractContextManager[None]:
    """Opens a block for `tp.raw`. The reason is required: it says why the block is sound.

    Example:
        with tp.unsafe("every entry of perm is inside: it was sorted on the host"):
            y[i, :] = tp.raw.load(x, i, tp.arange(N))
    """
    only_in_kernels("unsafe")


class raw:  # noqa: N801 - a namespace, written tp.raw.load
    """Accesses and facts without proof; only inside `with tp.unsafe(...)`."""

    @staticmethod
    def load(tensor: Any, *index: Any) -> Any:
        """`tensor[index]` without a proof that it is inside."""
        only_in_kernels("raw.load")

    @staticmethod
    def store(tensor: Any, index: Any, value: Any) -> None:
        """`tensor[index] = value` without a proof that it is inside, and that no other program touches it."""
        only_in_kernels("raw.store")

    @staticmethod
    def assume(condition: Any) -> None:
        """A fact taken as true from here on, without a proof."""
        only_in_kernels("raw.assume")


__all__ = ["raw", "unsafe"]
