"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file in place of what lies there; if something fails, that is still there.

    A device or a pipe, such as /dev/stdout, is written to: a file must not take its place.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
