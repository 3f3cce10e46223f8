"""Whether a launch follows an earlier one, and launches that follow none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tileproof as tp
from tileproof.runtime.launch import launch
from tileproof.runtime.launch.launch_cache import FORMS


@contextmanager
def forgotten(kernel: tp.Kernel) -> Iterator[None]:
    """Has launches of a kernel go the full way, as if there had been none before. What is compiled stays."""
    forms = FORMS.of(kernel)
    kept = dict(forms), dict(kernel.launch_cache), kernel.recent
    forget_launches(kernel)
    try:
        yield
    finally:
        forget_launches(kernel)
        forms.update(kept[0])
        kernel.launch_cache.update(kept[1])
        kernel.recent = kept[2]


def forget_launches(kernel: tp.Kernel) -> None:
    """Has the next launch of a kernel go the full way."""
    FORMS.of(kernel).clear()
    kernel.launch_cache.clear()
    kernel.recent = None


@contextmanager
def fully_launched() -> Iterator[list[str]]:
    """The names of kernels of which a launch goes the full way meanwhile."""
    kernels: list[str] = []
    bind = launch.bind

    def noted(signature: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        kernels.append(signature.name)
        return bind(signature, args, named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "bind", noted)
        yield kernels


__all__ = ["forget_launches", "forgotten", "fully_launched"]
