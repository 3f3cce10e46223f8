"""Launches whose arguments and scratch memory end, or begin, at a forbidden page.

    python tests/fuzz/guard_runs.py TARGET [hard] [streamed] [corpus] [examples]

Every launch is said before it is made, so the last line of a process that died names its kernel.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

if __name__ == "__main__":
    here = Path(__file__).parent
    sys.path[:0] = [str(here.parent), str(here.parent / "examples")]

import numpy as np

import tileproof as tp
from support.guarded import SIDES, Scratch, Side, guarded
from tileproof.backends.cpu.device import split_launch as parts
from tileproof.runtime.launch import cpu_launches

EVERYTHING = os.environ.get("TILEPROOF_GUARD") == "everything"
"""Whether to try every layout with every launch, which takes minutes."""
TOLERANCES = {"f": 1e-4, "e": 5e-3, "d": 1e-4, "V": 5e-2}
"""Relative to 1 + |expected|, by kind of number in numpy; all others are exact."""


def spread(array: Any) -> Any:
    """Every second element along the last axis."""
    wide = np.zeros((*array.shape, 2), array.dtype)[..., 0]
    wide[...] = array
    return wide


def backwards(array: Any) -> Any:
    """From the last element to the first."""
    turned = np.zeros(array.shape, array.dtype)[(..., *(slice(None, None, -1) for _ in array.shape))]
    turned[...] = array
    return turned


def by_columns(array: Any) -> Any:
    """The first axis the fastest."""
    return np.array(array, order="F")


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda array: np.array(array, order="C"),
    "spread": spread,
    "backwards": backwards,
    "by columns": by_columns,
}


@contextmanager
def guarded_scratch(side: Side) -> Iterator[None]:
    """Gives launches of this thread scratch memory of exactly the size they ask for."""
    places = [(parts, "ARENAS"), (parts, "SPACES"), (cpu_launches, "ARENAS")]
    with ExitStack() as stack:
        for module, name in places:
            stack.enter_context(patch.object(module, name, Scratch(side)))
        yield


def outcome(
    kernel: tp.Kernel, arguments: list[Any], constants: dict[str, Any], backend: str
) -> type[BaseException] | None:
    """What a launch raised."""
    try:
        with tp.backend(backend):
            kernel(*arguments, **constants)
    except tp.TileproofError as error:
        return type(error)
    return None


def native_runs(kernel: tp.Kernel, arguments: list[Any], constants: dict[str, Any], number: int | None = None) -> None:
    """Launches with guarded copies of the arguments in one layout, or in all, and compares with the interpreter."""
    names = list(LAYOUTS)
    layouts = names if EVERYTHING or number is None else [names[number % len(names)]]
    expected = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    raised = outcome(kernel, expected, constants, "interpreter")
    for layout in layouts:
        for side in SIDES:
            given = [guarded(LAYOUTS[layout](a), side) if isinstance(a, np.ndarray) else a for a in arguments]
            with guarded_scratch(side):
                got = outcome(kernel, given, constants, "cpu")
            assert got is raised, f"{kernel.name}, {layout}, {side}: raises {got}, not {raised}"
            if raised is None:
                for one, other in zip(given, expected, strict=True):
                    agree(one, other, f"{kernel.name}, {layout}, {side}")


def agree(got: Any, wanted: Any, where: str) -> None:
    """Fails unless two arguments hold the same values, as exactly as their type lets them."""
    if isinstance(got, np.ndarray):
        error = TOLERANCES.get(got.dtype.char, TOLERANCES["V"] if got.dtype.kind == "V" else 0.0)
        np.testing.assert_allclose(got.astype(float), wanted.astype(float), error, error, err_msg=where)


def run_corpus() -> None:
    """Every safe kernel of the corpus but the examples, with the launches it has there."""
    from corpus import SAFE
    from corpus.safe_examples import NAMES

    launches = [(case, *launch) for case in SAFE if case.kernel.name not in NAMES for launch in case.launches()]
    for number, (case, arguments, constants) in enumerate(launches):
        print(case.kernel.name, [getattr(a, "shape", a) for a in arguments], constants, flush=True)
        native_runs(case.kernel, arguments, constants, number)


def run_streamed() -> None:
    """The same on a machine whose caches hold nothing, so that large stores pass them by."""
    kept, machine = cpu_launches.host, cpu_launches.host()
    cpu_launches.host = lambda: replace(machine, caches=replace(machine.caches, l3=1))  # type: ignore[attr-defined]
    try:
        run_hard()
    finally:
        cpu_launches.host = kept  # type: ignore[attr-defined]


def run_hard() -> None:
    """Kernels that were once wrong, in every layout."""
    from samples.hard_kernels import CASES

    for kernel, launches in CASES.items():
        for arguments in launches():
            print(kernel.name, [getattr(a, "shape", a) for a in arguments], flush=True)
            native_runs(kernel, arguments, {})


def run_examples() -> None:
    """Every example at random sizes and types."""
    from hypothesis import given, settings
    from hypothesis import strategies as st
    from test_examples import CASES, EXAMPLES, load

    numbers = count()

    @settings(max_examples=8 if EVERYTHING else 2, deadline=None, database=None, derandomize=True)
    @given(data=st.data())
    def runs(data: st.DataObject) -> None:
        case, example = CASES[name], load(EXAMPLES / f"{name}.py")
        extents = {key: data.draw(strategy) for key, strategy in case.extents.items()}
        tiles = {key: data.draw(st.sampled_from((1, 3, 8, 16, 32))) for key in case.tiles}
        dtype = data.draw(st.sampled_from(case.dtypes))
        arguments, constants = example.arguments(dtype=dtype, **extents)
        print(name, dtype, extents, tiles, flush=True)
        native_runs(getattr(example, name), arguments, constants | tiles, next(numbers))

    for name in CASES:  # noqa: B007 (`runs` asks for it)
        runs()


def main() -> None:
    target, *asked = sys.argv[1:]
    os.environ |= {"TILEPROOF_CPU_TARGET": target, "TILEPROOF_THREADS": "1"}
    for what in asked:
        {"corpus": run_corpus, "examples": run_examples, "hard": run_hard, "streamed": run_streamed}[what]()
    print("done", flush=True)


if __name__ == "__main__":
    main()
