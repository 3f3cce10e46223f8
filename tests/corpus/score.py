"""How well the checker knows the corpus: `python tests/corpus/score.py`.

Exits with 1 unless every unsafe case is found, no safe kernel is refused, and a safe kernel whose indices do not come
from memory leaves no check for run time.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus import SAFE, UNSAFE
from corpus.judge import CODES, FIRST_CHECK, found
from tileproof.compiler.compile import verdict


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows with their columns aligned: the first to the left, the others to the right, the last as it is."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = []
    for first, *middle, last in rows:
        numbers = [cell.rjust(width) for cell, width in zip(middle, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *numbers, last]).rstrip())
    return "\n".join(lines)


def recall() -> tuple[list[tuple[str, ...]], bool]:
    """For each fault, how many of its cases are found, and the names of the others; whether none was missed."""
    rows: list[tuple[str, ...]] = [("fault", "found", "of", "missed")]
    complete = True
    for fault in CODES:
        cases = [case for case in UNSAFE if case.fault == fault]
        missed = [case.kernel.name for case in cases if not found(case)]
        rows.append((fault, str(len(cases) - len(missed)), str(len(cases)), " ".join(missed)))
        complete = complete and not missed
    return rows, complete


def acceptance() -> tuple[list[tuple[str, ...]], bool]:
    """Refused safe kernels, accesses by rung, and kernels that leave a check they need not; whether all is well."""
    refused, rungs, checked = [], Counter[str](), []
    for case in SAFE:
        answer = verdict(case.kernel, {})
        if not answer.accepted:
            refused.append(f"{case.kernel.name} ({' '.join(sorted({f.code.id for f in answer.findings}))})")
        rungs.update(f"{int(discharged.rung)} {discharged.rung.name.lower()}" for discharged in answer.discharged)
        if not case.data and any(discharged.rung >= FIRST_CHECK for discharged in answer.discharged):
            checked.append(case.kernel.name)
    rows: list[tuple[str, ...]] = [("safe", "count", ""), ("kernels", str(len(SAFE)), "")]
    rows.append(("refused", str(len(refused)), ", ".join(refused)))
    rows.append(("checks without data", str(len(checked)), " ".join(checked)))
    rows.extend((f"rung {rung}", str(count), "") for rung, count in sorted(rungs.items()))
    return rows, not refused and not checked


def main() -> int:
    """Prints both tables."""
    faults, complete = recall()
    safe, clean = acceptance()
    print(table(faults), table(safe), sep="\n\n")
    return 0 if complete and clean else 1


if __name__ == "__main__":
    sys.exit(main())
