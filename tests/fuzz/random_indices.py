"""Random index arithmetic as source text: quotients, remainders, products, minima, choices and loops, nested deep.

What the checker is fastest with and what it is slowest with come from one grammar: a few operations applied to a few
variables, again and again. A line that is repeated is what made it run away before its work was limited.
"""

from __future__ import annotations

import random

_SMALL = (1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 97)
_LARGE = (1000, 65535, 2**31 - 1, 2**40)


class IndexWriter:
    """One kernel: variables computed from walkers, sizes, scalars and contents of tensors, and accesses by them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.parameters: dict[str, str] = {}
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.last = "n"
        self.indent = 1

    def text(self) -> str:
        """The kernel."""
        rng = self.rng
        access = rng.choice(["Out", "Out", "InOut"])
        self.parameters["y"] = f'{access}[f32, "N"]'
        self.parameters["x"] = f'In[f32, "{rng.choice(["N", "N", "M"])}"]'
        if rng.random() < 0.3:
            name = rng.choice(["N", "M"])
            self.parameters.setdefault("m", 'In[f32, "M"]')
            self.line(f'tp.require(tp.dim("{name}") >= {rng.choice([1, 1, 2, 8])})')
        self.parameters.setdefault("m", 'In[f32, "M"]')
        self.line("for n in tp.parallel(N=tp.each):")
        self.indent += 1
        self.variables = ["n"]
        for name in rng.sample("abpqr", rng.randint(1, 3)):
            self.line(f"{name} = {self.start()}")
            self.variables.append(name)
        for _ in range(rng.choice([1, 1, 2, 2, 3, 5])):
            self.statement(0)
        self.line(f"v = x{self.read()}")
        place = rng.choice(["n", "n", "n", self.pick_variable(), self.expression(2)]) if access == "InOut" else "n"
        self.line(f"y[{place}] = v")
        body = "\n".join(self.lines)
        declared = ", ".join(f"{name}: {kind}" for name, kind in self.parameters.items())
        return f"@tp.kernel\ndef k({declared}) -> None:\n{body}\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def pick_variable(self) -> str:
        return self.rng.choice(self.variables)

    def read(self) -> str:
        """An access to x by what was computed."""
        index = self.last if self.rng.random() < 0.8 else self.expression(1)
        match self.rng.randrange(5):
            case 0:
                return f"[tp.clip({index}, 0, x.shape[0] - 1)]"
            case 1:
                return f"[{index}]"
            case _:
                return f".get({index}, 0.0)"

    # Statements.

    def statement(self, depth: int) -> None:
        """A step of the computation, or a block of steps."""
        match self.rng.choices(["assign", "repeat", "if", "range", "tiles", "while"], [40, 30, 12, 10, 4, 4])[0]:
            case "repeat":
                line = self.assignment(self.rng.choice([1, 2, 2, 3]))
                other = self.assignment(self.rng.choice([1, 2])) if self.rng.random() < 0.4 else None
                for _ in range(self.rng.choice([2, 3, 4, 6, 8, 12, 16, 24])):
                    self.line(line)
                    if other is not None:
                        self.line(other)
            case "if" if depth < 2:
                self.line(f"if {self.condition()}:")
                self.block(depth)
                if self.rng.random() < 0.4:
                    self.line("else:")
                    self.block(depth)
            case "range" if depth < 2:
                name = f"k{len(self.lines)}"
                stop = self.rng.choice(["3", "8", 'tp.dim("M")', self.expression(1), "1000000"])
                self.line(f"for {name} in range({stop}):")
                self.block(depth, name)
            case "tiles" if depth < 2:
                name = f"t{len(self.lines)}"
                self.line(f"for {name} in tp.tiles(M=tp.each):")
                self.block(depth, name)
            case "while" if depth < 2:
                name = f"w{len(self.lines)}"
                self.line(f"{name} = n - n")
                self.line(f"while {name} < {self.rng.choice(['4', self.expression(1)])}:")
                self.block(depth, name)
                self.line(f"    {name} = {name} + 1")
            case _:
                self.line(self.assignment(self.rng.choice([1, 2, 3, 4, 6])))

    def block(self, depth: int, name: str | None = None) -> None:
        """The body of a branch or loop."""
        self.indent += 1
        if name is not None:
            self.variables.append(name)
        for _ in range(self.rng.choice([1, 1, 2])):
            self.statement(depth + 1)
        if name is not None:
            self.variables.remove(name)
        self.indent -= 1

    def assignment(self, depth: int) -> str:
        """A variable computed anew, as a rule from itself."""
        names = [name for name in self.variables if name in "abpqr"]
        target = self.last = self.rng.choice(names)
        return f"{target} = {self.expression(depth, first=target if self.rng.random() < 0.8 else None)}"

    # Expressions.

    def start(self) -> str:
        match self.rng.randrange(6):
            case 0:
                self.parameters["s"] = "i32"
                return "n + s"
            case 1:
                self.parameters["at"] = 'In[i32, "N"]'
                return "at[n] + n - n"
            case 2:
                return f'tp.dim("{self.rng.choice(["N", "M"])}") + n - n'
            case _:
                return "n + 0"

    def leaf(self) -> str:
        match self.rng.randrange(9):
            case 0 | 1 | 2:
                return self.pick_variable()
            case 3 | 4:
                return f'tp.dim("{self.rng.choice(["N", "N", "M"])}")'
            case 5:
                self.parameters["s"] = "i32"
                return "s"
            case 6 if self.rng.random() < 0.2:
                return str(self.rng.choice(_LARGE))
            case _:
                return str(self.rng.choice(_SMALL))

    def divisor(self) -> str:
        return self.rng.choice([str(self.rng.choice(_SMALL)), self.leaf(), 'tp.dim("N")', 'tp.dim("M")'])

    def expression(self, depth: int, first: str | None = None) -> str:
        """Nested so deep at most; `first` is a variable that occurs in it."""
        if depth == 0:
            return first or self.leaf()
        one = self.expression(depth - 1, first)
        match self.rng.randrange(14):
            case 0 | 1:
                return f"({one} {self.rng.choice('+-')} {self.expression(self.rng.randrange(depth))})"
            case 2:
                return f"({one} * {self.rng.choice([str(self.rng.choice(_SMALL)), one, self.leaf()])})"
            case 3 | 4:
                return f"({one} // {self.divisor()})"
            case 5 | 6:
                return f"({one} % {self.divisor()})"
            case 7:
                return f"tp.minimum({one}, {self.expression(self.rng.randrange(depth))})"
            case 8:
                return f"tp.maximum({one}, {self.expression(self.rng.randrange(depth))})"
            case 9:
                return f"abs({one} - {self.leaf()})"
            case 10:
                return f"tp.clip({one} {self.rng.choice('+-')} 1, 0, {self.divisor()})"
            case 11:
                return f"tp.where({self.condition()}, {one}, {self.expression(self.rng.randrange(depth))})"
            case 12:
                return f"tp.cdiv({one}, {self.divisor()})"
            case _:
                return f'(tp.dim("{self.rng.choice(["N", "M"])}") - 1 - {one})'

    def condition(self) -> str:
        one, two = self.expression(1), self.expression(1)
        test = f"{one} {self.rng.choice(['<', '<=', '>', '==', '!='])} {two}"
        if self.rng.random() < 0.2:
            return f"({test}) {self.rng.choice('&|')} ({self.pick_variable()} > {self.leaf()})"
        return test


def index_kernel(rng: random.Random) -> str:
    """The text of a kernel `k` that computes indices."""
    return IndexWriter(rng).text()
