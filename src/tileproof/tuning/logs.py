"""The log of a tuning: a line of JSON for everything that is settled, written at once, so that it can be gone on with.

The first line about a tunable says what its figures depend on; a log that says something else is refused. A last line
that was cut off, by a full disk or a machine that went away, is passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from .inputs import TuningError
from .provenance import Provenance

FORMAT: Final = 1
_DECIDES: Final = ("source", "assembler", "device")
"""What of the provenance has to be the same to go on."""


def key_of(element: str, sizes: Mapping[str, int]) -> str:
    """`bf16 M=512 N=6144 K=2560`."""
    return " ".join((element, *(f"{name}={extent}" for name, extent in sizes.items())))


class Log:
    """What is settled about a tunable on a target. Without a file it is forgotten at the end."""

    def __init__(self, path: Path | None, tunable: str, target: str, provenance: Provenance) -> None:
        self.path = path
        self._about = {"tunable": tunable, "target": target}
        self.struck: dict[str, dict[str, str]] = {}
        """For each shape, what rules and the compiler struck out, with reasons."""
        self.trials: dict[str, dict[str, float | str]] = {}
        """For each shape and candidate its seconds, or what is wrong with it."""
        self.finals: dict[str, dict[str, Any]] = {}
        self._file: IO[str] | None = None
        head = {"format": FORMAT, **self._about, "provenance": provenance.written}
        has_head = path is not None and self._read(path, head)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8")
            _end_line(path, self._file)
            if not has_head:
                self._write(head)

    def _read(self, path: Path, head: Mapping[str, Any]) -> bool:
        """Takes in what was written before; whether the tunable was there."""
        if not path.is_file():
            return False
        has_head = False
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue  # cut off
            if not isinstance(said, dict) or {name: said.get(name) for name in self._about} != self._about:
                continue
            if "provenance" in said:
                _demand_same(path, said, head)
                has_head = True
            elif has_head:
                self._take(said)
        return has_head

    def _take(self, said: Mapping[str, Any]) -> None:
        match said:
            case {"shape": str(shape), "struck": dict(reasons)}:
                self.struck[shape] = reasons
            case {"shape": str(shape), "candidate": str(label), "seconds": float(seconds)}:
                self.trials.setdefault(shape, {})[label] = seconds
            case {"shape": str(shape), "candidate": str(label), "problem": str(problem)}:
                self.trials.setdefault(shape, {})[label] = problem
            case {"shape": str(shape), "best": str(), "seconds": float(), "default_seconds": float()}:
                self.finals[shape] = dict(said)

    def note_struck(self, shape: str, reasons: dict[str, str]) -> None:
        """What is not tried, of a whole shape at once: one rule looks at all candidates."""
        self.struck[shape] = reasons
        self._write({**self._about, "shape": shape, "struck": reasons})

    def note_trial(self, shape: str, label: str, outcome: float | str) -> None:
        """The seconds of a candidate, or what is wrong with it."""
        self.trials.setdefault(shape, {})[label] = outcome
        kind = "problem" if isinstance(outcome, str) else "seconds"
        self._write({**self._about, "shape": shape, "candidate": label, kind: outcome})

    def note_final(self, shape: str, best: str, seconds: float, default_seconds: float) -> None:
        """The winner of a shape."""
        said = {"shape": shape, "best": best, "seconds": seconds, "default_seconds": default_seconds}
        self.finals[shape] = said
        self._write({**self._about, **said})

    def close(self) -> None:
        """Ends the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, said: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(said) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())


def _demand_same(path: Path, said: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    before, now = said.get("provenance"), head["provenance"]
    differs = [name for name in _DECIDES if not isinstance(before, dict) or before.get(name) != now[name]]
    if said.get("format") != FORMAT:
        differs.append("format")
    if differs:
        what = {"source": "other kernels", "assembler": "another compiler", "device": "another device"}
        why = " and ".join(what.get(name, "another format") for name in differs)
        raise TuningError(f"{path} is the log of {why}: remove it, or name another with --log")


def _end_line(path: Path, file: IO[str]) -> None:
    """Ends a line that was cut off, so that the next one is whole."""
    with path.open("rb") as before:
        before.seek(0, os.SEEK_END)
        if before.tell():
            before.seek(-1, os.SEEK_END)
            if before.read(1) != b"\n":
                file.write("\n")
