"""Benchmarks and tuning records of a library, from the files that hold them; what is missing or damaged is left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tileproof.tuning import Tunable, records
from tileproof.tuning.records import SHIPPED, RecordError, read, read_as_it_is

from .facts import Measured, Tuned


def rows_in(folder: Path) -> list[Measured]:
    """All rows of the benchmark book that say which kernels they launched."""
    results: list[Measured] = []
    for file in sorted(folder.rglob("*.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            results += _rows(data)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError):
            continue  # of another format, or being written
    return results


def _rows(data: Any) -> Iterator[Measured]:
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        return
    for row in data["rows"]:
        ours = row.get("tileproof")
        how = tuple(str(each).split()[0] for each in row.get("how") or () if str(each).strip())
        if not how or ours is None:
            continue
        run = data["runs"][row.get("run", 0)] if "runs" in data else data.get("machine", {})
        threads = row.get("threads")
        size = f"{row.get('size', '')}{'' if threads is None else f', {threads} thread' + 's' * (threads != 1)}"
        ratio, peer = _against_best(row)
        yield Measured(
            str(row.get("name") or row.get("kernel")), size, tuple(dict.fromkeys(how)), _device(run),
            str(run.get("date", "")), ratio, peer, _number(row.get("of_limit")), _verdict(row),
        )  # fmt: skip


def _against_best(row: Mapping[str, Any]) -> tuple[float | None, str]:
    """How many times as fast as the fastest peer, and who that is."""
    if "peers" in row:
        every = [each for column in row["peers"].values() for each in column]
        best = min(every, key=lambda each: _median(each["rounds"]), default=None)
        return (None, "") if best is None else (_median(best["rounds"]) / _median(row["tileproof"]["rounds"]),
                                                str(best["name"]))  # fmt: skip
    peers = {name: row[name] for name in ("torch", "numpy") if row.get(name)}
    if not peers:
        return None, ""
    name = min(peers, key=lambda peer: float(peers[peer]["best"]))
    return float(peers[name]["best"]) / float(row["tileproof"]["best"]), name


def _median(rounds: Iterable[float]) -> float:
    ordered = sorted(rounds)
    return ordered[len(ordered) // 2]


def _device(run: Mapping[str, Any]) -> str:
    return str(run.get("GPU") or run.get("processor") or "").partition(",")[0]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _verdict(row: Mapping[str, Any]) -> str:
    if row.get("verdict"):
        return str(row["verdict"])
    missed = row.get("missed")
    return f"MISSED: {', '.join(map(str, missed))}" if missed else ""


# Tuning.


def records_of(tunables: Mapping[str, Tunable]) -> list[Tuned]:
    """Every file of records that launches would look at here, whether or not it is stale."""
    results = []
    for folder in records.folders():
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            name, _, target = path.stem.partition(".")
            if name in tunables:
                results.append(_record(path, tunables[name], target))
    return results


def _record(path: Path, tunable: Tunable, target: str) -> Tuned:
    try:
        record = read_as_it_is(path)
    except RecordError as error:
        return Tuned(tunable.name, target, 0, _without(str(error), path))
    message = record.provenance
    stale = ""
    try:
        read(path, tunable.kernels)
    except RecordError as error:
        stale = _without(str(error), path)
    return Tuned(tunable.name, target, len(record.entries), stale, message.device, message.date)


def _without(text: str, path: Path) -> str:
    return text.removeprefix(str(path)).removeprefix(" is stale:").strip()


def record_folders() -> tuple[str, ...]:
    """The folders that launches look at, the first wins."""
    return tuple("those that come with tileproof" if folder == SHIPPED else str(folder) for folder in records.folders())
