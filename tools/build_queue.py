"""Makes `queue.ll`, the text that users get, of `queue.c`. See `build_pool.py`, which does the same for the pool.

    python -m pip install ziglang
    python tools/build_queue.py
"""

from __future__ import annotations

from build_fast import build
from build_pool import FOLDER

if __name__ == "__main__":
    build(FOLDER / "queue.c", "tools/build_queue.py")
