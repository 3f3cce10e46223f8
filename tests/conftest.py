"""Settings of every test: the IR is verified after each pass, and compiled kernels are kept for the session alone."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

os.environ["TILEPROOF_VERIFY"] = "1"
if "PYTEST_XDIST_WORKER" not in os.environ:
    # Made by the process that starts the others: they inherit it, and profit from what one of them compiled.
    os.environ["TILEPROOF_CACHE_DIR"] = tempfile.mkdtemp(prefix="tileproof-cache-")
    atexit.register(shutil.rmtree, os.environ["TILEPROOF_CACHE_DIR"], ignore_errors=True)
