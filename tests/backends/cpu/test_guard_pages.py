"""Native code touches nothing outside its arguments and its scratch memory, not even to throw it away.

The fast tier launches kernels that were once wrong, for one target; `make test-all` all that RUNS names.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.guarded import SIDES, Scratch, Side, address_of, frame, guarded

TESTS = Path(__file__).resolve().parents[2]
TARGETS = ("avx512", "avx2", "sse2")


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *words], env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True
    )


SLOW = [*((target, "hard streamed") for target in TARGETS), ("host", "examples corpus")]
"""All of it on all targets takes minutes: TILEPROOF_GUARD=everything."""
if os.environ.get("TILEPROOF_GUARD") == "everything":
    SLOW = [(target, what) for target in TARGETS for what in ("hard", "streamed", "examples", "corpus")]
RUNS = [pytest.param("host", "hard"), *(pytest.param(*run, marks=pytest.mark.slow) for run in SLOW)]


@pytest.mark.parametrize(("target", "what"), RUNS)
def test_a_launch_stays_inside_its_memory(target: str, what: str) -> None:
    done = run(str(TESTS / "fuzz" / "guard_runs.py"), target, *what.split())
    if "TP0613" in done.stderr:
        pytest.skip(f"this machine cannot run code for {target}")
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    assert done.stdout.endswith("done\n")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("off", [0, 1])
def test_the_page_next_to_guarded_memory_is_forbidden(side: Side, off: int) -> None:
    """A byte of the array can be read; one further ends the process."""
    code = (
        "import ctypes, numpy as np\nfrom support.guarded import guarded\n"
        f"array = guarded(np.arange(5, dtype=np.int8), {side!r})\n"
        f"place = {'array.ctypes.data + 4 + ' if side == 'end' else 'array.ctypes.data - '}{off}\n"
        "ctypes.string_at(place, 1)\n"
    )
    assert run("-c", code).returncode == (-signal.SIGSEGV if off else 0)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_a_guarded_array_is_the_same_array(side: Side, step: int) -> None:
    array = np.arange(60).reshape(5, 12)[:, ::step]
    copy = guarded(array, side)
    assert np.array_equal(copy, array)
    assert copy.strides == array.strides


@pytest.mark.parametrize("side", SIDES)
def test_scratch_memory_touches_a_page_and_holds_ones(side: Side) -> None:
    memory, begin = frame(192, side)
    assert (begin if side == "start" else begin + 192) % mmap.PAGESIZE == 0
    assert len(memory) > begin + 192
    assert address_of(memory) % mmap.PAGESIZE == 0
    scratch = Scratch(side)
    arena = scratch.take(192)
    kept = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * 192).from_address(arena.address))
    assert (kept == 255).all()
    assert scratch.take(192).address != arena.address
    scratch.give(arena)
    assert scratch.take(192).address == arena.address
