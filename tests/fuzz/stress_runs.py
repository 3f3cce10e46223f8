"""Launches from many threads at once, each compared with what it should give.

    python tests/fuzz/stress_runs.py --launches 100000 --threads 8

Says how many launches were right, and how the memory of the process grew.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import tileproof as tp
from support.source_files import load_file
from tileproof import In, InOut, Out, f32, i32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = (
    "add", "matmul", "softmax", "matmul_split", "histogram", "embedding_backward", "cumsum", "transpose", "rms_norm",
    "argmax_two_stage", "grouped_matmul", "layer_norm_backward",
)  # fmt: skip


@tp.kernel
def moved(y: InOut[f32, "N"], x: In[f32, "M"], at: In[i32, "1"]) -> None:
    """Writes where a number in memory says, which may be outside."""
    for n in tp.parallel(M=tp.each):
        y[at[0] + n] = x[n]


@tp.kernel
def shown(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    """Says what each program sees."""
    for i in tp.parallel(N=8):
        tp.print("seen", x[i].sum())
        y[i] = x[i]


@dataclass(frozen=True)
class Work:
    """A launch and what it should do: `after` are the arguments then, or None if it must raise."""

    kernel: tp.Kernel
    arguments: list[Any]
    constants: dict[str, Any]
    after: list[Any] | None

    def __call__(self) -> None:
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]
        try:
            self.kernel(*given, **self.constants)
        except tp.OutOfBounds:
            assert self.after is None, f"{self.kernel.name} raised"
            return
        assert self.after is not None, f"{self.kernel.name} did not raise"
        for one, other in zip(given, self.after, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), f"{self.kernel.name} is wrong"


def works() -> list[Work]:
    """Launches with what they give when nothing else runs, which is not far from what the interpreter gives."""
    made = []
    for name in NAMES:
        example = load_file(EXAMPLES / f"{name}.py", f"stressed_{name}")
        for seed in (0, 1):
            arguments, constants = example.arguments(seed=seed)
            made.append((getattr(example, name), arguments, constants))
    x = np.arange(20, dtype=np.float32)
    made += [(moved, [np.zeros(40, np.float32), x, np.array([at], np.int32)], {}) for at in (0, 20, 21, -1)]
    return [ready(*one) for one in made]


def ready(kernel: tp.Kernel, arguments: list[Any], constants: dict[str, Any]) -> Work:
    results: list[list[Any] | None] = []
    for backend in ("interpreter", "cpu"):
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            with tp.backend(backend):
                kernel(*given, **constants)
        except tp.OutOfBounds:
            results.append(None)
        else:
            results.append(given)
    expected, native = results
    assert (expected is None) == (native is None), kernel.name
    for one, other in zip(expected or [], native or [], strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-4, err_msg=kernel.name)
    return Work(kernel, arguments, constants, native)


def memory() -> int:
    """Bytes of memory that the process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Stress:
    """Threads that take launches from one count until none are left."""

    def __init__(self, launches: int, threads: int, seed: int) -> None:
        self.works, self.left, self.lock = works(), launches, threading.Lock()
        self.wrong: list[BaseException] = []
        self.threads = [threading.Thread(target=self._go, args=(seed + n,)) for n in range(threads)]

    def _go(self, seed: int) -> None:
        rng = random.Random(seed)
        with tp.backend("cpu"):
            while True:
                with self.lock:
                    self.left -= 1
                    if self.left < 0 or self.wrong:
                        return
                try:
                    rng.choice(self.works)()
                except BaseException as error:
                    self.wrong.append(error)

    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Runs everything; `meanwhile` is called again and again from this thread."""
        for thread in self.threads:
            thread.start()
        while any(thread.is_alive() for thread in self.threads):
            if meanwhile is not None:
                meanwhile()
            time.sleep(0.01)
        for thread in self.threads:
            thread.join()
        if self.wrong:
            raise self.wrong[0]


def forked(work: Callable[[], None]) -> None:
    """Does work in a process that is forked off, and fails if that fails or does not end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with tp.backend("cpu"):
                work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + 60
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, f"a forked launch ended with status {status}"
            return
        if time.monotonic() > end:
            os.kill(child, 9)
            os.waitpid(child, 0)
            raise AssertionError("a forked launch did not end")
        time.sleep(0.005)


def prints(launches: int) -> None:
    """Printing launches from two threads at once: no line is lost or torn."""
    x = np.arange(40, dtype=np.float32)

    def go() -> None:
        with tp.backend("cpu"):
            for _ in range(launches):
                shown(np.zeros(40, np.float32), x)

    text = io.StringIO()
    with redirect_stdout(text):
        threads = [threading.Thread(target=go) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = text.getvalue().split("\n")
    assert sum("seen" in line for line in lines) == 2 * 5 * launches, text.getvalue()[-500:]
    for place in range(5):
        total = f"{x[8 * place : 8 * place + 8].sum():g}"
        assert sum(total in line for line in lines) >= 2 * launches, total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--forks", action="store_true", help="fork off launches meanwhile")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    Stress(1000, given.threads, given.seed).run()
    before = memory()
    stress = Stress(given.launches, given.threads, given.seed)
    rng = random.Random(given.seed)
    stress.run((lambda: forked(rng.choice(stress.works))) if given.forks else None)
    grown = memory() - before
    print(f"{given.launches} launches from {given.threads} threads, none wrong; memory grew by {grown / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
