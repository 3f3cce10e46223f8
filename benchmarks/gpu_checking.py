"""Every launch of the GPU book, proved and assembled without a GPU: what each takes, and what speaks against it.

The code goes to the kernel cache, where a machine without an assembler finds it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tileproof.diagnostics.errors import TileproofError
from tileproof.runtime.ahead import Launch, Made, Plan, compile_all, plan_launch

from .gpu_launches import launches_of_row
from .recording import label
from .tables import columns, first_line

ARCH: Final = "sm_90"
HEADS: Final = ("kernel", "rows", "registers", "spilled bytes", "shared KB", "seconds", "against it")


@dataclass
class Checked:
    """What rows launch: each kernel once, with the rows that do."""

    plans: dict[str, tuple[Plan, list[str]]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Rows whose function is not there or refuses, and why."""

    def add(self, name: str) -> None:
        """Finds out what a row launches, and proves it."""
        try:
            found = launches_of_row(name)
            for kernel, args, constants in found:
                plan = plan_launch(Launch(label(kernel, constants), kernel, args, constants), [ARCH])
                self.plans.setdefault(plan.variants[0].key, (plan, []))[1].append(name)
        except Exception as error:  # whatever it is, the other rows go on
            self.refused[name] = first_line(error)


def check(names: Sequence[str]) -> int:
    """Compiles all that differ, tells how it goes, and prints a table; 1 if anything was refused."""
    began = time.perf_counter()
    checked = Checked()
    for name in names:
        checked.add(name)
    print(f"{len(names)} rows proved in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    by_plan = {id(plan): users for plan, users in checked.plans.values()}
    cells: list[tuple[str, ...]] = []
    for made in compile_all([plan for plan, _ in checked.plans.values()]):
        users = by_plan[id(made.plan)]
        cells.append(_cells(made, users))
        if isinstance(made.outcome, TileproofError):
            checked.refused.update(dict.fromkeys(users, first_line(made.outcome)))
        said = f"[{len(cells)}/{len(by_plan)}] {time.perf_counter() - began:4.0f} s  {made.plan.launch.name}"
        print(said, file=sys.stderr, flush=True)
    print(columns(HEADS, sorted(cells)))
    for name, why in checked.refused.items():
        print(f"REFUSED: {name}: {why}")
    print(f"\n{len(cells)} kernels for {ARCH}, {len(checked.refused)} of {len(names)} rows refused")
    return 1 if checked.refused else 0


def _cells(made: Made, users: Sequence[str]) -> tuple[str, ...]:
    many = list(dict.fromkeys(users))
    shown = f"{many[0]} and {len(many) - 1} more" if len(many) > 1 else many[0]
    if isinstance(made.outcome, TileproofError):
        return made.plan.launch.name, shown, "", "", "", "", first_line(made.outcome)
    every = made.outcome.resources
    main = max(every, key=lambda each: each.shared_bytes + each.registers)
    return (
        made.plan.launch.name, shown, str(main.registers), str(sum(each.spill_bytes for each in every)),
        f"{main.shared_bytes / 1024:.1f}", f"{made.outcome.seconds:.1f}", "; ".join(made.warnings)[:160],
    )  # fmt: skip
