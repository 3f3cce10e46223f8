"""Settings of every test: the IR is verified after each pass."""

from __future__ import annotations

import os

os.environ["TILEPROOF_VERIFY"] = "1"
