"""Every launch of the GPU rows, found, proved and assembled without a GPU.

`launches` gives them to `tools/gpu_bundle.py`. `check` compiles them and prints what each takes; the code goes to the
kernel cache, where a machine without an assembler finds it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import tileproof as tp
from tileproof import kernels
from tileproof.diagnostics.errors import TileproofError
from tileproof.runtime.launch.ahead_of_time import CompiledVariant, Launch, Plan, compile_all, plan_launch
from tileproof.runtime.launch.launch import prepare
from tileproof.runtime.launch.premises import GraphPremises

from ..harness.recording import Launched, aimed_at, label, recorded
from ..harness.row import Array, stand_in_of, stand_ins
from ..harness.text import columns, first_line
from ..host.add import SMALL, add
from .rows import names, rows

ARCH: Final = "sm_90"
HEADS: Final = ("kernel", "rows", "registers", "spilled bytes", "shared KB", "seconds", "against it")


def launches_of(call: Callable[[], Any], target: str = ARCH) -> list[Launched]:
    """What a call on stand-ins would launch on a GPU."""
    results: list[Launched] = []
    with aimed_at(target), recorded(results, runs=False):
        call()
    return results


def launches_of_row(name: str, target: str = ARCH) -> list[Launched]:
    """What a row launches, each kernel once for arguments of the same kinds."""
    row = rows()[name]
    args = stand_ins(row)

    def call() -> None:
        for way in row.forms.values() or (row.call,):
            way(kernels, args)

    results = list({_kind(*each): each for each in launches_of(call, target)}.values())
    if not row.has_indices:
        return results
    return [*results, *(copy for launch in results for copy in _checked_copies(*launch))]


def _kind(kernel: tp.Kernel, args: Sequence[Any], constants: dict[str, Any]) -> tuple[Any, ...]:
    kinds = ((getattr(arg, "shape", arg), str(getattr(arg, "dtype", ""))) for arg in args)
    return label(kernel, constants), *kinds


def _checked_copies(kernel: tp.Kernel, args: Sequence[Any], constants: dict[str, Any]) -> list[Launched]:
    """What a graph launches besides, to look at the index tensors of a launch at every replay."""
    proved, bound = prepare(kernel, tuple(args), dict(constants))
    tests = GraphPremises(trusts=True).separate(proved, bound).launches
    return [(test, tuple(map(_array_of, args)), its_constants) for test, args, its_constants in tests]


def _array_of(values: Any) -> Any:
    """An argument with an array of numpy over the memory of a tensor."""
    return values.seen_by_launch() if isinstance(values, tp.Tensor) else values


def launches(words: Sequence[str] = ()) -> Iterator[tuple[str, tp.Kernel, Sequence[Any], dict[str, Any]]]:
    """Name, kernel, arguments and constants of every launch. A function that is not there is left out."""
    for name in names(words):
        try:
            result = launches_of_row(name)
        except Exception as error:  # the benchmark reports it too, and goes on
            print(f"{name}: {first_line(error)}", file=sys.stderr)
            continue
        for kernel, args, constants in result:
            yield f"{name}: {label(kernel, constants)}", kernel, args, constants
    if not words:  # of the host benchmark; with 2^20 elements it is the same code
        x = Array((SMALL,), "f32")
        yield "host: add", add, [stand_in_of(x) for _ in range(3)], {}


# Checking.


@dataclass
class Checked:
    """What rows launch: each kernel once, with the rows that do."""

    plans: dict[str, tuple[Plan, list[str]]] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)
    """Rows whose function is not there or raises, and why."""

    def add(self, name: str) -> None:
        """Finds what a row launches, and proves it."""
        try:
            for kernel, args, constants in launches_of_row(name):
                plan = plan_launch(Launch(label(kernel, constants), kernel, args, constants), [ARCH])
                self.plans.setdefault(plan.variants[0].key, (plan, []))[1].append(name)
        except Exception as error:  # whatever it is, the other rows go on
            self.rejected[name] = first_line(error)


def check(wanted: Sequence[str]) -> int:
    """Compiles all that differ, and prints a table; 1 if anything was rejected."""
    began = time.perf_counter()
    checked = Checked()
    for name in wanted:
        checked.add(name)
    print(f"{len(wanted)} rows proved in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    by_plan = {id(plan): users for plan, users in checked.plans.values()}
    cells: list[tuple[str, ...]] = []
    for result in compile_all([plan for plan, _ in checked.plans.values()]):
        users = by_plan[id(result.plan)]
        cells.append(_cells(result, users))
        if isinstance(result.outcome, TileproofError):
            checked.rejected.update(dict.fromkeys(users, first_line(result.outcome)))
        at = f"[{len(cells)}/{len(by_plan)}] {time.perf_counter() - began:4.0f} s"
        print(f"{at}  {result.plan.launch.name}", file=sys.stderr, flush=True)
    print(columns(HEADS, sorted(cells)))
    for name, why in checked.rejected.items():
        print(f"REJECTED: {name}: {why}")
    print(f"\n{len(cells)} kernels for {ARCH}, {len(checked.rejected)} of {len(wanted)} rows rejected")
    return 1 if checked.rejected else 0


def _cells(result: CompiledVariant, users: Sequence[str]) -> tuple[str, ...]:
    many = list(dict.fromkeys(users))
    text = f"{many[0]} and {len(many) - 1} more" if len(many) > 1 else many[0]
    if isinstance(result.outcome, TileproofError):
        return result.plan.launch.name, text, "", "", "", "", first_line(result.outcome)
    every = result.outcome.resources
    main = max(every, key=lambda each: each.shared_bytes + each.registers)
    return (
        result.plan.launch.name, text, str(main.registers), str(sum(each.spill_bytes for each in every)),
        f"{main.shared_bytes / 1024:.1f}", f"{result.outcome.seconds:.1f}", "; ".join(result.warnings)[:160],
    )  # fmt: skip
