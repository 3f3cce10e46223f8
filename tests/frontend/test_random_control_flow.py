"""Random loops, branches and helpers give what Python gives when it runs the very same lines.

On the interpreter, and also launched, on every backend, where the numbers that loops carry are proved to fit 64 bits.
"""

from __future__ import annotations

import os
import random
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from kernel_files import codes, kernel

import tileproof as tp
from tileproof.compiler.pipeline import compile_for
from tileproof.diagnostics.codes import Code
from tileproof.frontend.signature import parse
from tileproof.ir.verifier import verify
from tileproof.runtime.launch.backend_choice import ON_HOST
from tileproof.runtime.launch.binding import bind

EXAMPLES = int(os.environ.get("TILEPROOF_EXAMPLES", "400"))
WHOLE, FLOATS, FLAGS = ["a", "b", "c"], ["f", "g"], ["p", "q"]
HELPERS = """
def mixed(u, v, turns=3, *, flip=False):
    w = 1
    for h in range(turns):
        if (u + h) % 2 == 0:
            w = w + u
        else:
            w, u = w - v, u + 1
    last = w if flip else (w * 3) % 89
    return last, u

def climb(u, limit):
    steps = 0
    while (u < limit) & (steps < 5):
        u, steps = u * 2 + 1, steps + 1
    return u % 97

def pick(flag, u, v):
    chosen = u
    if flag:
        chosen = v
    return chosen
"""
CASTS = """
def as_float(v):
    return v.to(f32)

def as_whole(v):
    return v.to(i64)
"""


class Writer:
    """Lines of a kernel's body, indented; what is assigned is always assigned before."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.counters = rng, [], 0
        self.whole = list(WHOLE)
        """Names of whole numbers: the variables, and the counters of open loops."""
        for name in WHOLE:
            self.line(0, f"{name} = {rng.choice([str(rng.randint(-3, 9)), 'm', 'm + 1'])}")
        for name in FLOATS:
            self.line(0, f"{name} = {rng.choice(['0.5', '-1.25', '2.0', 'as_float(m)'])}")
        for name in FLAGS:
            self.line(0, f"{name} = {rng.choice(['True', 'False', 'm > 2'])}")
        self.line(0, f"t = ({rng.choice(['1', 'm'])}, ({rng.choice(['4', 'm'])}, 0.25))")
        self.block(0, rng.randint(2, 7))

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, count: int) -> None:
        for _ in range(count):
            self.statement(depth)

    def number(self, depth: int = 0) -> str:
        rng = self.rng
        match rng.randrange(9 if depth < 2 else 4):
            case 0 | 1:
                return str(rng.randint(-4, 9))
            case 2 | 3:
                return rng.choice([*self.whole, "t[0]", "t[1][0]"])
            case 4:
                return f"({self.number(depth + 1)} {rng.choice('+-')} {self.number(depth + 1)})"
            case 5:
                return f"({self.number(depth + 1)} * {self.number(depth + 1)} % 97)"
            case 6:
                return f"({self.number(depth + 1)} {rng.choice(['//', '%'])} {rng.choice([2, 3, -5, 7])})"
            case 7:
                return f"{rng.choice(['max', 'min'])}({self.number(depth + 1)}, {self.number(depth + 1)})"
            case _:
                return f"({self.number(depth + 1)} if {self.truth(depth + 1)} else {self.number(depth + 1)})"

    def truth(self, depth: int = 0) -> str:
        rng = self.rng
        match rng.randrange(5 if depth < 2 else 3):
            case 0 | 1:
                return f"({self.number(depth + 1)} {rng.choice(['<', '<=', '>', '==', '!='])} {self.number(depth + 1)})"
            case 2:
                return rng.choice(FLAGS)
            case 3:
                return f"({self.truth(depth + 1)} {rng.choice('&|^')} {self.truth(depth + 1)})"
            case _:
                return f"({self.truth(depth + 1)} == {rng.choice(['True', 'False'])})"

    def real(self) -> str:
        """A multiple of 1/4, kept small so that f32 holds it exactly."""
        one, two = self.rng.choice(FLOATS), self.rng.choice([*FLOATS, "t[1][1]", "0.5", "3.0", "-0.25", "as_float(m)"])
        made = self.rng.choice([f"{one} + {two}", two, f"({one} if {self.truth(1)} else {two})", f"{two} - {one}"])
        return f"max(min({made}, 64.0), -64.0)"

    def statement(self, depth: int) -> None:
        rng = self.rng
        name, real, flag = rng.choice(WHOLE), rng.choice(FLOATS), rng.choice(FLAGS)
        match rng.randrange(17 if depth < 3 else 11):
            case 0 | 1 | 2:
                self.line(depth, f"{name} = {self.number()}")
            case 3:
                self.line(depth, f"{name} {rng.choice(['+=', '-='])} {self.number()}")
            case 4:
                self.line(depth, f"{real} = {self.real()}")
            case 5:
                self.line(depth, f"{flag} = {self.truth()}")
            case 6:
                self.line(depth, f"{name}, {rng.choice([n for n in WHOLE if n != name])} = {self.number()}, {name}")
            case 7:
                self.line(depth, f"t = ({self.number()}, (t[0], {self.real()}))")
            case 8:
                self.line(depth, f"{name}, ({rng.choice([n for n in WHOLE if n != name])}, {real}) = t")
            case 9:
                options = rng.choice(["", f", {rng.randint(0, 4)}", ", flip=True", f", turns={self.number(1)} % 4"])
                self.line(depth, f"{name}, t0 = mixed({self.number()} % 50, {self.number()}{options})")
            case 10:
                call = rng.choice([f"climb({self.number()} % 9, 40)", f"pick({self.truth()}, {self.number()}, {name})"])
                self.line(depth, f"{name} = {call}")
            case 11 | 12:
                self.line(depth, f"if {self.truth()}:")
                self.block(depth + 1, rng.randint(1, 3))
                if rng.random() < 0.4:
                    self.line(depth, f"elif {self.truth()}:")
                    self.block(depth + 1, rng.randint(1, 2))
                if rng.random() < 0.6:
                    self.line(depth, "else:")
                    self.block(depth + 1, rng.randint(1, 3))
            case 13 | 14:
                self.counted(depth)
            case _:
                self.counters += 1
                counter = f"w{self.counters}"
                self.line(depth, f"{counter} = 0")
                self.line(depth, f"while ({counter} < {rng.randint(0, 4)}) & {self.truth()}:")
                self.line(depth + 1, f"{counter} = {counter} + 1")
                self.block(depth + 1, rng.randint(1, 3))

    def counted(self, depth: int) -> None:
        rng = self.rng
        self.counters += 1
        counter = f"k{self.counters}"
        start, stop = self.number(1), self.number(1)
        back = f"{start}, {start} - {stop} % 4, -1"
        bounds = rng.choice([f"{rng.randint(0, 4)}", f"{start}, {start} + 3", back, "0, 7, 3"])
        self.line(depth, f"for {counter} in range({bounds}):")
        self.whole.append(counter)
        self.block(depth + 1, rng.randint(1, 3))
        self.whole.remove(counter)


OUTPUTS = ["a", "b", "c", "t[0]", "t[1][0]", "(1 if p else 0)", "(1 if q else 0)"]


def kernel_text(lines: list[str]) -> str:
    stores = [f"y[{place}] = as_whole({value})" for place, value in enumerate(OUTPUTS)]
    body = ['m = tp.dim("M")', *lines, *stores, "z[0] = f", "z[1] = g", "z[2] = t[1][1]"]
    head = '@tp.kernel\ndef k(y: Out[i64, "7"], z: Out[f32, "3"], x: In[f32, "M"]) -> None:\n'
    return HELPERS + CASTS + head + "".join(f"    {line}\n" for line in body)


def python_result(lines: list[str], extent: int) -> tuple[list[int], list[float]]:
    """What Python makes of the same lines."""
    names: dict[str, Any] = {"m": extent, "as_float": float, "tp": SimpleNamespace()}
    exec(HELPERS, names)
    exec("\n".join(lines), names)
    numbers = [int(eval(output, names)) for output in OUTPUTS]
    return numbers, [float(names["f"]), float(names["g"]), float(names["t"][1][1])]


def launch(backend: str, compiled: tp.Kernel, *args: Any) -> None:
    with tp.backend(backend):
        compiled(*args)


def check(seed: str) -> None:
    rng = random.Random(seed)
    lines = Writer(rng).lines
    text = kernel_text(lines)
    try:
        found = codes(text)
        assert set(found) <= {Code.MAY_NOT_FIT}
        compiled = kernel(text)
        interpreted = partial(tp.interpret, compiled)
        launched = [partial(launch, backend, compiled) for backend in ON_HOST]
        for extent in (0, 1, 4):
            y, z, x = np.zeros(7, np.int64), np.zeros(3, np.float32), np.zeros(extent, np.float32)
            verify(compile_for(compiled, bind(parse(compiled).signature, (y, z, x), {}).specialization).ir)
            numbers, reals = python_result(lines, extent)
            for run in [interpreted] if found else [interpreted, *launched]:
                y[:], z[:] = -1, -1
                run(y, z, x)
                assert y.tolist() == numbers
                assert z.tolist() == reals
    except BaseException as problem:
        problem.add_note(f"seed {seed!r}\n{text}")
        raise


@pytest.mark.sweep(1)
@pytest.mark.parametrize("start", range(8))
def test_random_control_flow_agrees_with_python(start: int) -> None:
    for number in range(EXAMPLES // 32):
        check(f"{start}:{number}")
