"""What a launch of these tests is, and where the modules lie that they are made from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import tileproof as tp

_TESTS = Path(__file__).resolve().parents[1]
for _folder in (_TESTS, _TESTS / "support"):
    # Tools import the launches too, and they do not know where tests find what they import.
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))

Made: TypeAlias = tuple[tp.Kernel, list[Any], dict[str, Any]]
"""A kernel, arguments on the host, and constants."""
Make: TypeAlias = Callable[[], Made]
"""Makes them anew, the same each time."""
