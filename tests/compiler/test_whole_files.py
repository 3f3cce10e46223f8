"""Files appear whole or not at all, and take the place of no device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tileproof.compiler.cache import write_whole


def test_what_was_there_stays_if_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    write_whole(file, b"old")
    write_whole(file, b"older")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as begun:
            begun.write(data[:1])
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, b"new")
    assert file.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [file]


def test_no_file_takes_the_place_of_a_device(tmp_path: Path) -> None:
    link = tmp_path / "device"
    link.symlink_to("/dev/null")
    write_whole(link, b"data")
    assert link.is_symlink()
    assert link.read_bytes() == b""
