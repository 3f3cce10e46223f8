"""Records: what was found fastest for a tunable on a target, in files of JSON that people can review.

A file is `<tunable>.<target>.json`, with an entry on each line, sorted, so that a change shows as changed lines. It
says where its figures come from, and is rejected when they no longer apply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tileproof.compiler.cache import write_whole
from tileproof.language.kernel import Kernel, Schedule

from .choices import PLAIN, Choice
from .provenance import Provenance

FORMAT: Final = 1
"""Of files: one more whenever their meaning changes."""
SHIPPED: Final = Path(__file__).parent / "records"
"""Those that come with tileproof."""
VARIABLE: Final = "TILEPROOF_RECORDS_DIR"
"""The folder of records that win over those that come with tileproof."""


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
    def of(element: str, sizes: Mapping[str, int], choice: Choice, seconds: float, default_seconds: float) -> Entry:
        """An entry for a choice. Times have four digits: more would be noise in a review."""
        plain = dict(PLAIN.key)
        schedule = {name: value for name, value in choice.schedule.key if value not in (plain[name], None)}
        mine, theirs = (float(f"{time:.4g}") for time in (seconds, default_seconds))
        return Entry(element, dict(sizes), choice.kernel.name, dict(choice.constants), schedule, mine, theirs)

    @staticmethod
    def read(data: Mapping[str, Any]) -> Entry:
        """From a file."""
        Schedule(**data["schedule"])  # rejects what no schedule has
        return Entry(
            str(data["element"]), _whole(data["sizes"]), str(data["kernel"]), _whole(data["constants"]),
            dict(data["schedule"]), float(data["seconds"]), float(data["default_seconds"]), str(data.get("note", "")),
        )  # fmt: skip

    @property
    def key(self) -> tuple[Any, ...]:
        return key_of(self.element, self.sizes)

    def choice(self, kernels: Sequence[Kernel]) -> Choice:
        """What it names, of the kernels of its tunable."""
        kernel = next(kernel for kernel in kernels if kernel.name == self.kernel)
        return Choice(kernel, dict(self.constants), Schedule(**dict(self.schedule)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Record:
    """A file of records."""

    tunable: str
    target: str
    provenance: Provenance
    entries: tuple[Entry, ...]


def key_of(element: str, sizes: Mapping[str, int]) -> tuple[Any, ...]:
    """What a file has one entry for; entries are sorted by it."""
    return (element, tuple(sorted(sizes.items())))


def folders() -> tuple[Path, ...]:
    """Where records are looked for, the first wins."""
    named = os.environ.get(VARIABLE)
    return (Path(named), SHIPPED) if named else (SHIPPED,)


def file_of(folder: Path, tunable: str, target: str) -> Path:
    """Where the records of a tunable for a target are."""
    return folder / f"{tunable}.{target}.json"


def read(path: Path, kernels: Sequence[Kernel]) -> Record:
    """A file that was looked at closely; `RecordError` if it is damaged, of another format or place, or stale."""
    record = read_as_it_is(path)
    again = f"`tileproof tune {record.tunable} --shapes ...`"
    if path != file_of(path.parent, record.tunable, record.target):
        raise RecordError(f"{path} is about {record.tunable} on {record.target}: give it the right name")
    stale = record.provenance.staleness(record.tunable, kernels, record.target)
    if stale is not None:
        raise RecordError(f"{path} is stale: {stale}; tune again: {again}")
    for entry in record.entries:
        if all(entry.kernel != kernel.name for kernel in kernels):
            raise RecordError(f"{path} names `{entry.kernel}`, no kernel of `{record.tunable}`: {again}")
    return record


def read_as_it_is(path: Path) -> Record:
    """A file, whether or not it is stale; `RecordError` if it is damaged or of another format."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise RecordError(f"{path} has format {data['format']}, and this tileproof knows {FORMAT}: tune again")
        entries = tuple(Entry.read(entry) for entry in data["entries"])
        return Record(str(data["tunable"]), str(data["target"]), Provenance.read(data["provenance"]), entries)
    except RecordError:
        raise
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{path} is damaged ({type(error).__name__}: {error}): remove it, or tune again") from None


def fresh(path: Path, kernels: Sequence[Kernel]) -> Record | None:
    """A file, if it is there and can be trusted."""
    try:
        return read(path, kernels)
    except RecordError:
        return None


def write(path: Path, record: Record) -> None:
    """Writes a file. Of entries about the same sizes the last one counts."""
    merged = {entry.key: entry for entry in record.entries}
    lines = [
        json.dumps({name: value for name, value in asdict(merged[key]).items() if (name, value) != ("note", "")})
        for key in sorted(merged)
    ]
    head = {
        "format": FORMAT, "tunable": record.tunable, "target": record.target, "provenance": asdict(record.provenance)
    }  # fmt: skip
    fields = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = ",\n".join(f"  {line}" for line in lines)
    write_whole(path, f'{{\n{fields},\n "entries": [\n{listed}\n ]\n}}\n'.encode())


def _whole(data: Mapping[str, Any]) -> dict[str, int]:
    if not all(type(value) is int for value in data.values()):
        raise ValueError(f"{dict(data)} are not whole numbers")
    return dict(data)
