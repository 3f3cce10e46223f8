"""Files of records: what was found fastest for a tunable on a target, as JSON that people can review.

A file is `<tunable>.<target>.json`, with an entry on each line, sorted, so that a change shows as changed lines.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tileproof.language.schedule import Schedule

from .choices import PLAIN, Choice
from .provenance import Provenance
from .work import Sizes, Work

FORMAT: Final = 1
"""Of files: one more whenever their meaning changes."""
SHIPPED: Final = Path(__file__).parent / "records"
"""Those that come with tileproof."""


class RecordError(ValueError):
    """A file of records cannot be used: it is damaged, or stale. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was found fastest for some sizes."""

    element: str
    sizes: Mapping[str, int]
    kernel: str
    constants: Mapping[str, int]
    schedule: Mapping[str, int | bool]
    """What it says, beyond `Schedule()`."""
    seconds: float
    default_seconds: float
    note: str = ""
    """Why it is here, where no tuner put it in."""

    @staticmethod
    def of(element: str, sizes: Sizes, choice: Choice, seconds: float, default_seconds: float) -> Entry:
        """An entry for a choice."""
        said = said_of(choice.schedule)
        return Entry(element, dict(sizes), choice.kernel.name, dict(choice.constants), said, seconds, default_seconds)

    @property
    def key(self) -> tuple[Any, ...]:
        """What a file has one entry for; entries are sorted by it."""
        return (self.element, tuple(sorted(self.sizes.items())))

    def written(self, tunable: Work) -> dict[str, Any]:
        """For a file; `class` is for the reader."""
        return {
            "element": self.element, "class": tunable.class_of(self.sizes), "sizes": dict(self.sizes),
            "kernel": self.kernel, "constants": dict(self.constants), "schedule": dict(self.schedule),
            "seconds": _short(self.seconds), "default_seconds": _short(self.default_seconds),
            **({"note": self.note} if self.note else {}),
        }  # fmt: skip

    @staticmethod
    def read(said: Mapping[str, Any]) -> Entry:
        """From a file."""
        Schedule(**said["schedule"])  # refuses what no schedule has
        return Entry(
            str(said["element"]), _whole(said["sizes"]), str(said["kernel"]), _whole(said["constants"]),
            dict(said["schedule"]), float(said["seconds"]), float(said["default_seconds"]),
            str(said.get("note", "")),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """A file of records."""

    tunable: str
    target: str
    provenance: Provenance
    entries: tuple[Entry, ...]


def said_of(schedule: Schedule) -> dict[str, int | bool]:
    """What a schedule says beyond `Schedule()`."""
    plain = dict(PLAIN.key)
    return {name: value for name, value in schedule.key if value != plain[name] and value is not None}


def file_of(folder: Path, tunable: str, target: str) -> Path:
    """Where the records of a tunable for a target are."""
    return folder / f"{tunable}.{target}.json"


def read(path: Path, tunable: Work, target: str) -> Record:
    """A file that was looked at closely; `RecordError` if it is damaged, of another format, or stale."""
    record = read_as_it_is(path)
    if (record.tunable, record.target) != (tunable.name, target):
        message = f"is about {record.tunable} on {record.target}, and its name says {tunable.name} on {target}"
        raise RecordError(f"{path} {message}: give it the right name")
    stale = record.provenance.staleness(tunable, target)
    if stale is not None:
        raise RecordError(f"{path} is stale: {stale}; tune again: {_again(tunable)}")
    names = {each.name for each in tunable.kernels}
    for entry in record.entries:
        if entry.kernel not in names:
            raise RecordError(f"{path} names `{entry.kernel}`, no kernel of `{tunable.name}`: {_again(tunable)}")
    return record


def read_as_it_is(path: Path) -> Record:
    """A file, whether or not it is stale; `RecordError` if it is damaged or of another format."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["format"] != FORMAT:
            raise RecordError(f"{path} has format {said['format']}, and this tileproof knows {FORMAT}: tune again")
        entries = tuple(Entry.read(each) for each in said["entries"])
        return Record(str(said["tunable"]), str(said["target"]), Provenance.read(said["provenance"]), entries)
    except RecordError:
        raise
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{path} is damaged ({type(error).__name__}: {error}): remove it, or tune again") from None


def write(folder: Path, tunable: Work, target: str, provenance: Provenance, entries: Iterable[Entry]) -> Path:
    """Adds entries to the file of a tunable. Those before stay, unless they are stale or about the same sizes."""
    path = file_of(folder, tunable.name, target)
    merged = {each.key: each for each in (*_kept(path, tunable, target), *entries)}
    lines = [json.dumps(merged[key].written(tunable)) for key in sorted(merged)]
    head = {"format": FORMAT, "tunable": tunable.name, "target": target, "provenance": provenance.written}
    said = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items())
    listed = ",\n".join(f"  {line}" for line in lines)
    _replace(path, f'{{\n{said},\n "entries": [\n{listed}\n ]\n}}\n')
    return path


def _kept(path: Path, tunable: Work, target: str) -> tuple[Entry, ...]:
    try:
        return read(path, tunable, target).entries
    except RecordError:
        return ()


def _replace(path: Path, text: str) -> None:
    """Writes a file that is whole whenever somebody reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _again(tunable: Work) -> str:
    return f"`tileproof tune {tunable.name} --shapes ...`"


def _short(seconds: float) -> float:
    """Four digits: more would be noise in a review."""
    return float(f"{seconds:.4g}")


def _whole(said: Mapping[str, Any]) -> dict[str, int]:
    if not all(type(value) is int for value in said.values()):
        raise ValueError(f"{dict(said)} are not whole numbers")
    return dict(said)
