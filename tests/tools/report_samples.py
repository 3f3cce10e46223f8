"""A package with kernels of every kind, its tests, results and records, to report on; and its page, taken apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

Write = Callable[[str, str], str]

SHELF = '''
    """Rows by number, and what can be wrong with them."""

    import tileproof as tp
    from tileproof import In, Index, Out, T, f32, i32

    def take(y, x, rows):
        """Rows of x by number."""
        take_kernel(y, x, rows)


    def pick(y, x, ids, out=None):
        """Rows of x, by numbers that are looked at first."""
        pick_kernel(y, x, ids)


    def pick_backward(dx, dy):
        """The gradient of x."""
        pick_kernel(dx, dy, None)


    def permute(y, x, order):
        """x in another order."""
        permute_kernel(y, x, order)


    def unlisted():
        """No function of the library."""


    @tp.kernel
    def take_kernel(y: Out[f32, "N D"], x: In[f32, "V D"], rows: In[i32, "N"], *, BD: int = 32) -> None:
        """y[n] = x[rows[n]]; nothing says what rows holds, so it is tested as it runs."""
        for n, d in tp.parallel(N=tp.each, D=BD):
            y[n, d] = x[rows[n], d]


    @tp.kernel(deny_checks=True)
    def pick_kernel(y: Out[T, "N D"], x: In[T, "V D"], ids: In[Index["V"], "N"], *, BD: int = 32) -> None:
        """y[n] = x[ids[n]] & "so on" <here>."""
        tp.require(tp.dim("V") >= 1)
        for n, d in tp.parallel(N=tp.each, D=BD):
            y[n, d] = x[ids[n], d]


    @tp.kernel
    def permute_kernel(y: Out[f32, "N"], x: In[f32, "N"], order: In[i32, "N"]) -> None:
        """y[n] = x[order[n]]."""
        for n in tp.parallel(N=4):
            with tp.unsafe("order is a permutation: the host sorted it"):
                t = tp.raw.load(x, order[n])
            y[n] = t
    '''

WRONG = """
    import tileproof as tp
    from tileproof import In, Out, f32


    @tp.kernel
    def turn_kernel(y: Out[f32, "N M"], x: In[f32, "M N"], *, B: int = 16) -> None:
        for i, j in tp.parallel(M=B, N=B):
            y[j, i] = x[j, i].T


    def made():
        @tp.kernel
        def hidden(y: Out[f32, "N"]) -> None:
            for n in tp.parallel(N=4):
                y[n] = 0.0

        return hidden
    """

JUNIT = """\
<testsuites><testsuite name="pytest" tests="5">
<testcase classname="tests.test_shelf" name="test_cases_are_right[pick ragged]" time="0.1"/>
<testcase classname="tests.test_shelf" name="test_cases_are_right[pick empty]"><skipped message="no"/></testcase>
<testcase classname="tests.test_shelf" name="test_cases_are_right[take_kernel ragged]"/>
<testcase classname="tests.test_shelf" name="test_permute"><failure message="wrong">AssertionError</failure></testcase>
</testsuite></testsuites>
"""

GPU_RESULTS = {
    "runs": [{"GPU": "NVIDIA H200, 132 multiprocessors", "date": "2026-11-15"}],
    "rows": [
        {
            "name": "pick 4096", "group": "tables", "size": "4096 x 128 bf16", "run": 0, "of_limit": 0.91,
            "tileproof": {"name": "tileproof", "rounds": [2.0, 1.0, 3.0]},
            "peers": {"torch": [{"name": "torch", "rounds": [3.0, 3.0, 3.0]}],
                      "Triton": [{"name": "Triton", "rounds": [2.5, 2.5, 2.5]}]},
            "how": ["pick_kernel BD=32 occupancy=8"], "verdict": "met: 1.25 for >= 1.00 x torch",
        },
        {"name": "pick old", "size": "-", "tileproof": None, "how": ["pick_kernel"], "run": 0},
        {"kernel": "pick", "shape": "of an older format", "tileproof": {}},
    ],
}  # fmt: skip

CPU_RESULTS = {
    "machine": {"processor": "A processor", "date": "2026-11-14"},
    "rows": [
        {
            "kernel": "pick", "size": "1M", "threads": 2, "tileproof": {"best": 1.0}, "torch": {"best": 0.5},
            "numpy": {"best": 2.0}, "of_limit": 0.5, "how": ["pick_kernel BD=64"], "missed": ["0.50 x torch, not 1"],
        }
    ],
}  # fmt: skip


def make(write: Write, name: str) -> str:
    """Writes a checkout with the package of this name, which is to be another in every test: it is imported."""
    write("pyproject.toml", "")
    families = {"shelf": "take pick pick_backward permute"}
    write(f"{name}/__init__.py", f'"""Shelves."""\nFAMILIES = {families}')
    write(f"{name}/shelf.py", SHELF)
    write(f"{name}/wrong.py", WRONG)
    write("benchmarks/results/h200/gpu.json", json.dumps(GPU_RESULTS))
    write("benchmarks/results/cpu/cpu.json", json.dumps(CPU_RESULTS))
    write("benchmarks/results/cpu/broken.json", "{")
    write("benchmarks/results/cpu/other.json", "[1, 2]")
    return name


@dataclass
class Page(HTMLParser):
    """A page, taken apart: what is open must be closed, in turn."""

    text: str
    tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    """What it would load from elsewhere."""
    said: list[str] = field(default_factory=list)
    labelled: set[str] = field(default_factory=set)

    _VOID = frozenset(("meta", "link", "input", "br", "hr", "img"))

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.text)
        self.close()
        assert self.tags == [], f"left open: {self.tags}"
        assert len(self.ids) == len(set(self.ids)), "an id is there twice"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self._VOID:
            self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "for":
                self.labelled.update((value or "").split())
            elif name in ("href", "src", "action", "data", "srcset", "poster"):
                if (value or "").startswith("#"):
                    self.links.append((value or "")[1:])
                elif value != "data:,":
                    self.outside.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.tags, f"</{tag}> closes nothing"
        assert self.tags[-1] == tag, f"</{tag}> where <{self.tags[-1]}> is open"
        self.tags.pop()

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.tags):
            self.said.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.said).split())


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))
