"""What calls of the driver say is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tileproof.diagnostics.errors import Diagnostic, LaunchError


def rejection(call: Any, *args: Any) -> Diagnostic:
    """The one thing that a call says is wrong; it has a way out."""
    with pytest.raises(LaunchError) as raised:
        call(*args)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.help
    assert not diagnostic.message.endswith(".")
    assert not any("\n" in text for text in (diagnostic.message, diagnostic.help, *diagnostic.notes))
    return diagnostic
