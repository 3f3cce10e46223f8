"""Host time of a launch that is like an earlier one, without the driver, against the cheapest calls of numpy and torch.

    python -m benchmarks.launching [--tensors 3] [--rounds 9]

The driver is a function that does nothing, so what is timed is our own: to read the arguments, compare them with the
plan, and call. The peers do work besides, on arrays of 16 x 16. Each figure is the best of several rounds of many
calls; rounds of all rows take turns. The raw call is the same driver, called through ctypes with its words ready.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import host
from tileproof.language.dtypes import F32, I32
from tileproof.runtime import fast
from tileproof.runtime.fast import CPU, Plan, Plans, ScalarArgument, TensorArgument, checking
from tileproof.runtime.fast.lanes import Lane, cell_of, set_alone

SHAPE, STRIDES = (16, 16), (64, 4)
WORDS = 5
"""Words of each tensor: an address, two extents and two strides."""
CALLS = 20_000
DEVICE = 0
"""The device whose only stream takes leases."""
_DRIVER = """
define i32 @benchmark_driver(ptr %f, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
                             ptr %stream, ptr %words, ptr %extra) {
  ret i32 0
}
"""


class Buffer:
    """A tensor that tells of its memory itself."""

    __slots__ = ("array", "record")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.record = fast.record(array.ctypes.data, F32, array.shape, array.strides, CPU)


class Launched:
    """What a kernel is to its caller: an object that is called with the arguments."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans

    def __call__(self, *args: Any) -> None:
        if not fast.launch(self.plans, args):
            raise RuntimeError("not like the earlier launch")


def plans_of(tensors: int, driver: int, *, stream: int | None = 0, **how: Any) -> Plans:
    """Plans of a kernel that writes its first tensor and takes two scalars."""
    arguments = [TensorArgument(F32, SHAPE, STRIDES, 4, n == 0, n * WORDS) for n in range(tensors)]
    end = tensors * WORDS
    scalars = ScalarArgument(F32, float, end), ScalarArgument(I32, int, end + 1)
    plans = Plans()
    plans.add(Plan((*arguments, *scalars), (0,) * (end + 2), 0, (4, 1, 1), driver, CPU, stream, **how))
    return plans


def rows(tensors: int) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    driver = llvm.load_object(llvm.compile_object(_DRIVER, host()), ["benchmark_driver"])["benchmark_driver"]
    fast.register_buffer(Buffer, "record")
    arrays = [np.zeros(SHAPE, np.float32) for _ in range(tensors)]
    args = (*arrays, 0.5, 7)
    owned = (*map(Buffer, arrays), 0.5, 7)
    plans, held = plans_of(tensors, driver), plans_of(tensors, driver, releases_gil=False)
    launch, kernel = fast.launch, Launched(plans)
    lane, leased = Lane(0), plans_of(tensors, driver, alone=cell_of(DEVICE))
    set_alone(DEVICE, lane)
    words = (ctypes.c_void_p * 8)()
    raw = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )(driver)
    found: dict[str, Callable[[], object]] = {
        "np.add(out=)": lambda: np.add(arrays[0], arrays[1], out=arrays[2]),
        "raw call through ctypes": lambda: raw(0, 4, 1, 1, 1, 1, 1, 0, None, words, None),
        "numpy": lambda: launch(plans, args),
        "numpy, GIL kept": lambda: launch(held, args),
        "numpy, as a kernel": lambda: kernel(*args),
        "own buffers": lambda: launch(plans, owned),
        "own buffers, with leases": lambda: launch(leased, owned) or lane.retire(lane.turn),
        "numpy, in Python": lambda: checking.launch(plans, args),
    }
    if importlib.util.find_spec("torch") is not None:
        found.update(torch_rows(tensors, driver))
    return found


def torch_rows(tensors: int, driver: int) -> dict[str, Callable[[], object]]:
    """The same for torch, on the CPU."""
    import torch

    torch.set_num_threads(1)
    given = [torch.zeros(SHAPE) for _ in range(tensors)]
    args = (*given, 0.5, 7)
    plans, launch = plans_of(tensors, driver, stream=None), fast.launch
    kernel = Launched(plans)
    return {
        "torch.add(out=)": lambda: torch.add(given[0], given[1], out=given[2]),
        "torch": lambda: launch(plans, args),
        "torch, as a kernel": lambda: kernel(*args),
        "torch, in Python": lambda: checking.launch(plans, args),
    }


def nanoseconds(call: Callable[[], object], calls: int) -> float:
    """What one call takes, the loop included."""
    begun = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - begun) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensors", type=int, default=3, help="how many tensors a launch has, at least 3 (default 3)")
    parser.add_argument("--rounds", type=int, default=9, help="of how many rounds the best counts (default 9)")
    chosen = parser.parse_args()
    timed = rows(max(chosen.tensors, 3))
    timed["an empty call"] = lambda: None
    for name, call in timed.items():
        if call() is False:
            raise SystemExit(f"{name} was not launched")
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(chosen.rounds):
        for name, call in timed.items():
            best[name] = min(best[name], nanoseconds(call, CALLS // 10 if "in Python" in name else CALLS))
    empty = best.pop("an empty call")
    peers = {name: best[name] - empty for name in best if name.endswith("add(out=)")}
    print(f"{fast.available()}; {max(chosen.tensors, 3)} tensors and 2 scalars; the loop ({empty:.0f} ns) subtracted")
    print(f"{'':<26} {'ns':>8}  " + "  ".join(f"{'of ' + peer:>18}" for peer in peers))
    for name, figure in best.items():
        ratios = "  ".join(f"{(figure - empty) / peer:>18.2f}" for peer in peers.values())
        print(f"{name:<26} {figure - empty:>8.0f}  {ratios}")


if __name__ == "__main__":
    main()
