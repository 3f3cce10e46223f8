"""Random pipelines over shared memory: whatever streams, threads, tasks and graphs they go through, and however long
each of them is held up, they leave what the same steps leave one after another.

    python tests/fuzz/host_stress.py --minutes 10

A program is a list of steps. Each step is given in order, but runs when its stream comes to it: streams are held in
flight and let go at random. The same steps are done on numpy arrays at once, and all memory is compared bit by bit.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

if __name__ == "__main__":
    tests = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(tests.parent / "src"), str(tests)]

import tileproof as tp
from fuzz.stress_actors import Holds, Loop, Worker
from tileproof import In, Index, InOut, Out, Sum, f32, i32
from tileproof.runtime.stream.cpu_streams import CpuStream

Array: TypeAlias = np.ndarray[Any, Any]
SIZE = 96
HALF, ONE = np.float32(0.5), np.float32(1)


@tp.kernel
def mix(c: Out[f32, "N"], a: In[f32, "N"], b: In[f32, "N"], *, BN: int = 16) -> None:
    for n in tp.parallel(N=BN):
        c[n] = a[n] * 0.5 + b[n] * 0.5


@tp.kernel
def turn(x: InOut[f32, "N"], *, BN: int = 16) -> None:
    for n in tp.parallel(N=BN):
        x[n] = 1.0 - x[n] * 0.5


@tp.kernel
def pairs(total: Sum[f32, "N"], x: In[f32, "M N"], *, BM: int = 4, BN: int = 16) -> None:
    for m, n in tp.parallel(M=BM, N=BN):
        total[n] += x[m, n].sum(axis=0).to(x.dtype)


@tp.kernel
def looked_up(y: Out[f32, "N"], table: In[f32, "V"], ids: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = table[ids[n]]


@tp.kernel
def taken(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"], *, BN: int = 16) -> None:
    for n in tp.parallel(N=BN):
        y[n] = table[ids[n]]


class Different(AssertionError):
    """Memory does not hold what the steps would have left one after another."""


class Program:
    """One random program."""

    def __init__(self, seed: int, *, buffers: int = 4, longest: float = 0.002) -> None:
        self.chance = random.Random(seed)
        self.steps: list[str] = []
        """What was done, for whoever looks for a fault."""
        self.failures = 0
        start = np.random.default_rng(seed).integers(-64, 64, (buffers, SIZE)).astype(np.float32)
        self.expected = [row.copy() for row in start]
        self.memory = [tp.from_numpy(row) for row in start]
        ids = np.random.default_rng(seed + 1).integers(0, 16, (3, 16)).astype(np.int32)
        self.ids = [(row, tp.from_numpy(row)) for row in ids]
        self.bad = tp.from_numpy(np.full(16, 99, np.int32))
        self.streams = [tp.Stream() for _ in range(3)]
        self.graphs: list[tuple[tp.Graph, list[Callable[[], None]]]] = []
        self.holds = Holds(random.Random(seed + 2), longest)
        self.loop, self.workers = Loop(), [Worker() for _ in range(2)]

    # Parts of memory.

    def place(self, length: int) -> tuple[int, slice]:
        """A piece of some buffer; now and then every second element."""
        buffer = self.chance.randrange(len(self.memory))
        step = self.chance.choice([1, 1, 1, 2])
        start = self.chance.randrange(SIZE - (length - 1) * step)
        return buffer, slice(start, start + (length - 1) * step + 1, step)

    def apart(self, count: int, length: int) -> list[tuple[int, slice]]:
        """Pieces of which the first shares no memory with the others."""
        while True:
            found = [self.place(length) for _ in range(count)]
            first, at = found[0]
            if all(each[0] != first or each[1].start >= at.stop or each[1].stop <= at.start for each in found[1:]):
                return found

    def own(self, place: tuple[int, slice]) -> tp.Tensor:
        return self.memory[place[0]][place[1]]

    def model(self, place: tuple[int, slice]) -> Array:
        return self.expected[place[0]][place[1]]

    # Steps: each gives what is to be launched, and does the same to the model.

    def mixing(self) -> tuple[Callable[[], Any], Callable[[], None]]:
        c, a, b = self.apart(3, self.chance.choice([1, 7, 16, 40]))

        def expect() -> None:
            self.model(c)[...] = self.model(a) * HALF + self.model(b) * HALF

        return lambda: mix.op(self.own(c), self.own(a), self.own(b)), expect

    def turning(self) -> tuple[Callable[[], Any], Callable[[], None]]:
        x = self.place(self.chance.choice([1, 16, 40]))

        def expect() -> None:
            self.model(x)[...] = ONE - self.model(x) * HALF

        return lambda: turn.op(self.own(x)), expect

    def copying(self) -> tuple[Callable[[], Any], Callable[[], None]]:
        to, source = self.apart(2, self.chance.choice([3, 16, 40]))

        def expect() -> None:
            self.model(to)[...] = self.model(source)

        return lambda: tp.copy_op(self.own(to), self.own(source)), expect

    def looking_up(self) -> tuple[Callable[[], Any], Callable[[], None]]:
        y, table = self.apart(2, 16)
        row, ids = self.chance.choice(self.ids)
        kernel = self.chance.choice([looked_up, taken])

        def expect() -> None:
            self.model(y)[...] = self.model(table)[row]

        return lambda: kernel.op(self.own(y), self.own(table), ids), expect

    def passing(self) -> tuple[Callable[[], Any], Callable[[], None]]:
        """Through memory that nobody holds on to while it is in flight."""
        c, a, b = self.apart(3, 16)

        def expect() -> None:
            between = self.model(a) * HALF + self.model(b) * HALF
            self.model(c)[...] = ONE - between * HALF

        def make() -> Any:
            between = tp.empty(16)
            made = mix.op(between, self.own(a), self.own(b)) >> turn.op(between)
            return made >> tp.copy_op(self.own(c), between)

        return make, expect

    def failing(self) -> tuple[Callable[[], Any], Callable[[], None]]:
        """A check fails, and what it spoiled is written anew before anybody looks."""
        y, table = self.apart(2, 16)
        self.failures += 1

        def expect() -> None:
            self.model(y)[...] = self.model(table)

        def make() -> Any:
            copied = self.own(table)
            return looked_up.op(self.own(y), copied, self.bad) >> tp.copy_op(self.own(y), copied)

        return make, expect

    LAUNCHES = (mixing, mixing, turning, copying, looking_up, passing)

    # Giving them.

    def launch(self) -> None:
        """Gives a launch, or a chain of them, in one of the ways there are."""
        made = [self.chance.choice(self.LAUNCHES)(self) for _ in range(self.chance.choice([1, 1, 1, 2, 3]))]
        stream = self.chance.choice(self.streams)

        def chain() -> Any:
            first, *rest = (make() for make, _ in made)
            for each in rest:
                first = first >> each
            return first

        way = self.chance.choice(["here", "here", "thread", "task", "cancelled", "run"])
        self.steps.append(f"{len(made)} launches, {way}")
        if way == "here":
            chain().start(stream)
        elif way == "thread":
            self.chance.choice(self.workers).give(lambda: chain().start(stream)).result()
        elif way == "run":
            chain().map(lambda _: None).run(stream)
        else:
            self.loop.give(chain, stream, is_cancelled=way == "cancelled")
        for _, expect in made:
            expect()

    def fail(self) -> None:
        make, expect = self.failing()
        make().start(self.chance.choice(self.streams))
        expect()

    def sum(self) -> None:
        """Many programs combine into the same elements: a launch of several jobs."""
        while True:
            total, x = self.apart(2, 32)
            if x[1].step == 1:
                break
        part = total[0], slice(total[1].start, total[1].start + 15 * total[1].step + 1, total[1].step)
        with self.chance.choice(self.streams):
            pairs(self.own(part), self.own(x).reshape(2, 16))
            turn(self.own(part))
        rows = self.model(x).reshape(2, 16)
        self.model(part)[...] = ONE - ((np.float32(0) + rows[0]) + rows[1]) * HALF

    def both(self) -> None:
        """Two threads launch at the same time, each on half of the buffers."""
        length, middle = 16, len(self.memory) // 2
        futures, expects = [], []
        for worker, low in zip(self.workers, (0, middle), strict=True):
            stream = self.chance.choice(self.streams)
            starts = [(low + self.chance.randrange(middle), self.chance.randrange(SIZE - length)) for _ in range(6)]

            def work(stream: tp.Stream = stream, starts: list[tuple[int, int]] = starts) -> None:
                with stream:
                    for buffer, at in starts:
                        turn(self.memory[buffer][at : at + length])

            def expect(starts: list[tuple[int, int]] = starts) -> None:
                for buffer, at in starts:
                    part = self.expected[buffer][at : at + length]
                    part[...] = ONE - part * HALF

            futures.append(worker.give(work))
            expects.append(expect)
        for future in futures:
            future.result()
        for each in expects:
            each()

    def record(self) -> None:
        """Records a graph of some launches."""
        made = [self.chance.choice((Program.mixing, Program.turning, Program.copying, Program.looking_up))(self)
                for _ in range(3)]  # fmt: skip
        with tp.Graph() as graph:
            for make, _ in made:
                make().start()
        self.graphs.append((graph, [expect for _, expect in made]))

    def replay(self) -> None:
        if not self.graphs:
            self.record()
        graph, expects = self.chance.choice(self.graphs)
        stream = self.chance.choice(self.streams)
        if self.chance.random() < 0.5:
            graph.replay(stream)
        else:
            self.loop.give(graph.op, stream, is_cancelled=False)
        for expect in expects:
            expect()

    def read(self) -> None:
        place = self.place(self.chance.choice([1, 8, 40]))
        found = np.array(self.own(place).tolist(), np.float32)
        self.compare(found, self.model(place), "a read")

    def write(self) -> None:
        """The host writes, if it may."""
        place = self.place(8)
        try:
            self.own(place)[...] = 3
        except tp.InFlight:
            return
        self.model(place)[...] = 3

    def hand_out(self) -> None:
        """Another library writes, launches wait meanwhile, and then they do not any more."""
        place = self.place(8)
        view = self.own(place).numpy()
        self.compare(view, self.model(place), "a view")
        view *= HALF
        self.model(place)[...] *= HALF
        make, expect = self.turning()
        make().start(self.chance.choice(self.streams))
        expect()

    def foreign(self) -> None:
        """A launch with an array of numpy among its arguments."""
        c, a = self.apart(2, 16)
        theirs = np.full(16, 2, np.float32)
        mix(self.own(c), self.own(a), theirs)
        self.model(c)[...] = self.model(a) * HALF + theirs * HALF

    def drop(self) -> None:
        """The last handle of a buffer goes while it is in flight; a copy takes its place."""
        place = self.chance.randrange(len(self.memory))
        fresh = tp.empty(SIZE)
        with self.chance.choice(self.streams):
            tp.copy(fresh, self.memory[place])
        self.memory[place] = fresh
        self.graphs.clear()

    def compare(self, found: Array, expected: Array, what: str) -> None:
        if found.tobytes() != expected.tobytes():
            raise Different(f"{what} differs after {len(self.steps)} steps")

    # Running.

    STEPS = ((launch, 12), (sum, 2), (both, 2), (replay, 4), (record, 1), (read, 2), (write, 2), (hand_out, 1),
             (foreign, 1), (drop, 1), (fail, 1))  # fmt: skip

    def run(self, count: int) -> None:
        """Does so many steps and compares all memory; raises `Different` if it is not as it should be."""
        kinds, weights = zip(*self.STEPS, strict=True)
        try:
            for _ in range(count):
                if self.chance.random() < 0.5:
                    stream = self.chance.choice(self.streams)
                    assert isinstance(stream, CpuStream)
                    self.holds.hold(stream)
                step = self.chance.choices(kinds, weights)[0]
                self.steps.append(step.__name__)
                step(self)
            self.loop.end()
            for place, (memory, expected) in enumerate(zip(self.memory, self.expected, strict=True)):
                self.compare(np.array(memory.tolist(), np.float32), expected, f"buffer {place}")
            self._count_failures()
        finally:
            self.holds.end()
            try:
                if self.loop._thread.is_alive():
                    self.loop.end()
            finally:  # what a task raised is no reason to leave threads behind, for which the process would wait
                for each in self.workers:
                    each.end()

    def _count_failures(self) -> None:
        """Every check that failed was told by a wait for its stream, and nothing else was."""
        told = 0
        for stream in self.streams:
            try:
                stream.synchronize()
            except tp.TileproofError:
                told += 1
        if bool(told) != bool(self.failures):
            raise Different(f"{self.failures} checks failed, and {told} streams tell of it")


def run(seeds: Iterator[int] | range, steps: int) -> int:
    """Runs programs; how many."""
    count = 0
    for seed in seeds:
        try:
            Program(seed).run(steps)
        except BaseException as error:
            error.add_note(f"in the program of seed {seed}")
            raise
        count += 1
    return count


@contextmanager
def without_order() -> Iterator[None]:
    """Streams do not wait for one another."""
    from tileproof.runtime.memory.ledger import Ledger

    original = Ledger.conflicts

    def none(self: Ledger, stream: Any, reads: Any, writes: Any) -> list[Any]:
        original(self, stream, reads, writes)
        return []

    Ledger.conflicts = none  # type: ignore[method-assign]
    try:
        yield
    finally:
        Ledger.conflicts = original  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    given = parser.parse_args()
    start, shown, seed = time.monotonic(), 0.0, given.seed
    while (passed := time.monotonic() - start) < 60 * given.minutes:
        if passed - shown > 10:
            shown = passed
            print(f"{passed / 60:.1f} minutes, {seed - given.seed} programs of {given.steps} steps", flush=True)
        run(range(seed, seed + 1), given.steps)
        seed += 1
    print(f"{seed - given.seed} programs, all as they should be")


if __name__ == "__main__":
    main()
