"""How much of a property is tried in each tier of the tests."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

FAST: Final = "fast"
"""The name of the profile that `tests/conftest.py` loads where tests with the mark `slow` are left out."""
settings.register_profile(FAST, max_examples=20, deadline=None)


def examples(count: int) -> int:
    """How many examples of a property are tried: `count` of them, a fifth in the fast tier."""
    return max(5, count // 5) if settings.get_current_profile_name() == FAST else count
