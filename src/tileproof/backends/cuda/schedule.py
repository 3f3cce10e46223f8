"""How programs are laid over a GPU. A schedule never changes what a kernel means."""

from __future__ import annotations

from tileproof.language.schedule import Schedule

__all__ = ["Schedule"]
