"""What a launch of the tests of the CUDA backend is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import tileproof as tp

Made: TypeAlias = tuple[tp.Kernel, list[Any], dict[str, Any]]
"""A kernel, arguments on the host, and constants."""
Make: TypeAlias = Callable[[], Made]
"""Makes them anew, the same each time."""
