"""The library is proved without z3: nothing that ships rests on it."""

from __future__ import annotations

import pytest

from tileproof.analysis import smt


@pytest.fixture(autouse=True)
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where z3 is not installed. Every kernel of the library denies checks at run time."""
    monkeypatch.setattr(smt, "installed", lambda: None)
