"""All candidates of a kind of work against each other, best first: to choose by, once, on the GPU that counts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .gpu_peers import Peers, made_sets, problem_of, started
from .gpu_report import Figure, columns
from .gpu_rows import Row
from .gpu_timing import Contestant, race

_ROUNDS: Final = 3
HEADS: Final = ("candidate", "time", "of datasheet", "against the best of torch", "spread", "")


def sweep(rows: Sequence[Row], peers: Peers, torch: Any, folder: Path | None) -> int:
    """Times every candidate of every row, prints them, and writes gpu_sweep_KIND.json if asked to."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        print(f"{row.name}: {len(row.candidates)} candidates ...", file=sys.stderr, flush=True)
        timed, failed, best = _timed(row, peers, torch)
        found[row.name] = {
            "chosen": row.choice, "best of torch": best.median, "failed": failed,
            "seconds": {each.name: each.median for each in timed},
        }  # fmt: skip
        print(f"\n{row.name}, {row.size}: {best.name} {best.text}\n{table(row, timed, failed, best)}\n", flush=True)
        torch.cuda.empty_cache()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"gpu_sweep_{row.kind}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def table(row: Row, timed: Sequence[Figure], failed: dict[str, str], best: Figure) -> str:
    """Candidates by time; those that failed come last, with the reason."""
    lines = [
        (
            each.name, each.text, f"{row.limit / each.median:.0%}", f"{best.median / each.median:.3f}",
            f"{each.spread:.1%}", "chosen" if each.name == row.choice else "",
        )
        for each in sorted(timed, key=lambda each: each.median)
    ]  # fmt: skip
    return columns(HEADS, [*lines, *((name, "-", "-", "-", "-", why) for name, why in failed.items())])


def _timed(row: Row, peers: Peers, torch: Any) -> tuple[list[Figure], dict[str, str], Figure]:
    sets = made_sets(row, torch)
    failed: dict[str, str] = {}
    entered: list[Contestant] = []
    for each in row.candidates:
        calls = [started(each, args) for args in sets]
        try:
            problem = problem_of(row, calls[0], sets[0], torch)
        except Exception as error:  # one that has no code here, or cannot be launched, is left out
            problem = (str(error).splitlines() or [type(error).__name__])[0][:100]
        if problem:
            failed[each.label] = problem
        else:
            entered.append(Contestant(each.label, calls))
    theirs = [
        Contestant(peer.name, [peer.start(args) for args in sets]) for peer in peers.of(row) if peer.column == "torch"
    ]
    race([*theirs, *entered], torch, _ROUNDS, captured=row.kind != "gather")
    figures = [Figure(each.name, tuple(each.rounds)) for each in [*theirs, *entered]]
    return figures[len(theirs) :], failed, min(figures[: len(theirs)], key=lambda each: each.median)
