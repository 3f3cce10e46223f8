"""The CPU backend against the interpreter on random kernels, in guarded memory, for several processors.

    python tests/fuzz/native_fuzz.py --kind shaped|owned --seconds 60 [--seed S] [--count N]

`shaped` kernels are those of `fuzz_kernels`, `owned` ones those of the search for mistakes of the checker. Every kernel
is named by its seed before it runs, so that a process that died tells which one it was: `--seed` and `--count 1` run it
again, `--show` prints it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import tileproof as tp
from fuzz import fuzz_kernels
from fuzz.guard_runs import guarded_scratch
from support.guarded import SIDES, guarded
from support.source_files import load_text
from tileproof.backends.cpu.target import host
from tileproof.diagnostics.errors import LaunchError

TARGETS = ("avx512", "avx2", "sse2")
LAUNCHES = 5
ROUGH = 2e-2
"""How far two results may be apart that are not exact."""


class Differs(Exception):
    """The backends disagree."""


def targets() -> list[str]:
    """Those this machine can run."""
    able = []
    for name in TARGETS:
        os.environ["TILEPROOF_CPU_TARGET"] = name
        try:
            host()
        except LaunchError:
            continue
        able.append(name)
    return able


def outcome(kernel: tp.Kernel, given: list[Any], backend: str) -> tp.TileproofError | None:
    try:
        with tp.backend(backend):
            kernel(*given)
    except tp.TileproofError as error:
        return error
    return None


def copies(given: list[Any], make: Callable[[Any], Any]) -> list[Any]:
    return [make(one) if isinstance(one, np.ndarray) and one.ndim < 7 else one for one in given]


def examine(kernel: tp.Kernel, launches: Callable[[tp.Kernel, int], list[Any]], able: list[str], exact: bool) -> str:
    """Runs a kernel on both backends: accepted, refused, or an exception that says how they differ."""
    ran = False
    for number in range(LAUNCHES):
        given = launches(kernel, number)
        expected = copies(given, np.array)
        with np.errstate(all="ignore"):
            error = outcome(kernel, expected, "interpreter")
        if isinstance(error, tp.KernelError):
            return "refused"
        ran = True
        for place, target in enumerate(able):
            os.environ["TILEPROOF_CPU_TARGET"] = target
            side = SIDES[(number + place) % 2]
            got = copies(given, lambda array, side=side: guarded(np.array(array), side))
            with guarded_scratch(side):
                raised = outcome(kernel, got, "cpu")
            if type(raised) is not type(error):
                raise Differs(f"launch {number} on {target}: raises {raised}\nthe interpreter: {error}")
            if error is None:
                compare(got, expected, f"launch {number} on {target}, {side}", exact)
    return "ran" if ran else "refused"


def compare(got: list[Any], expected: list[Any], where: str, exact: bool) -> None:
    for place, (one, other) in enumerate(zip(got, expected, strict=True)):
        if not isinstance(one, np.ndarray) or one.ndim == 7:
            continue
        kind = np.float64 if one.dtype.kind not in "iub" else one.dtype
        a, b = one.astype(kind), other.astype(kind)
        close = kind is np.float64 and not exact and np.allclose(a, b, ROUGH, ROUGH, equal_nan=True)
        if not close and not np.array_equal(a, b, equal_nan=kind is np.float64):
            shown = "\n".join(f"at {tuple(at)}: {a[tuple(at)]}, not {b[tuple(at)]}" for at in np.argwhere(
                ~((a == b) | ((a != a) & (b != b))))[:5])  # fmt: skip
            raise Differs(f"{where}: argument {place} of shape {one.shape}\n{shown}")


def shaped(seed: int) -> tuple[str, Callable[[tp.Kernel, int], list[Any]], bool]:
    made = fuzz_kernels.generate(seed)
    rough = any(f"tp.{fn}(" in made.text for fn in ("exp", "tanh", "sigmoid", "sin", "cos", "erf"))
    return made.text, lambda _, number: fuzz_kernels.arguments(made, number), not rough


def owned(seed: int) -> tuple[str, Callable[[tp.Kernel, int], list[Any]], bool]:
    from fuzz import search
    from fuzz.random_arguments import arguments

    return search.made(seed, "plausible"), lambda kernel, number: arguments(kernel, seed, number), True


KINDS = {"shaped": shaped, "owned": owned}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, default="shaped")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--going", action="store_true", help="go on after a failure")
    given = parser.parse_args()
    os.environ |= {"TILEPROOF_THREADS": "1", "TILEPROOF_VERIFY": "1"}
    seed = given.seed if given.seed is not None else time.time_ns() // 1000 % 10**10
    seen: Counter[str] = Counter()
    able, end, bad = targets(), time.monotonic() + given.seconds, 0
    number = 0
    while time.monotonic() < end and (given.count is None or number < given.count):
        text, launches, exact = KINDS[given.kind](seed + number)
        print(f"seed {seed + number}", flush=True)
        if given.show:
            print(text)
        target = able[(seed + number) % len(able)]
        try:
            seen[examine(load_text(text).k, launches, [target], exact)] += 1
        except IndentationError:  # nothing was drawn for a body
            seen["empty"] += 1
        except Exception as found:
            print(f"FAILS with seed {seed + number}\n{text}\n{type(found).__name__}: {found}", flush=True)
            bad += 1
            if not given.going:
                break
        number += 1
    print(f"{given.kind}, {', '.join(able)}: {dict(seen)}, {bad} fail")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
