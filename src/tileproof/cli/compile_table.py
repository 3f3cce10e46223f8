"""The table of `tileproof compile`: one line for each kernel and architecture, printed as they are done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TextIO

from tileproof.backends.cuda.running import Code
from tileproof.runtime.ahead import Made
from tileproof.runtime.bundles import Bundle
from tileproof.runtime.bundling import summary

from .cache import shown_size

_COLUMNS: Final = (("bytecode", 9), ("assembler", 10), ("registers", 10), ("spills", 7), ("shared", 10), ("code", 10))


class Progress:
    """A line on a terminal that says how far the work is; nothing elsewhere."""

    def __init__(self, stream: TextIO, total: int | None, what: str) -> None:
        self._stream = stream if stream.isatty() else None
        self._total, self._what, self._done = total, what, 0
        self._started = time.perf_counter()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if self._stream is not None:
            seconds = time.perf_counter() - self._started
            part = f"{self._done}" if self._total is None else f"{self._done} of {self._total}"
            self._stream.write(f"\r\x1b[K{part} {self._what}, {seconds:.0f} s")
            self._stream.flush()

    def clear(self) -> None:
        """Takes the line away, for something else to be printed."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def in_order(made: Iterable[Made], wanted: Sequence[object]) -> Iterator[Made]:
    """Gives what is made in the order of the variants that were wanted, each as soon as all before it are there."""
    waiting: dict[int, Made] = {}
    places = {id(variant): place for place, variant in enumerate(wanted)}
    following = 0
    for each in made:
        waiting[places[id(each.variant)]] = each
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def heading(width: int) -> str:
    """The names of the columns."""
    return _line("kernel", width, "arch", [name for name, _ in _COLUMNS])


def row(made: Made, width: int) -> str:
    """One line: what a kernel takes on an architecture."""
    name, arch = made.plan.launch.name, made.variant.target.arch
    if not isinstance(made.outcome, Code):
        codes = ", ".join(dict.fromkeys(each.code.id for each in made.outcome.diagnostics))
        return f"{_line(name, width, arch, [])}   refused: {codes}"
    bytecode = f"{1e3 * made.seconds:.0f} ms" if made.seconds else "-"
    assembler = "kept" if made.is_kept else f"{made.outcome.seconds:.2f} s"
    return _line(name, width, arch, [bytecode, assembler, *_taken(summary(made.outcome))])


def listing(bundle: Bundle, size: int) -> Iterator[str]:
    """What is in a bundle."""
    names = dict.fromkeys(each.kernel for each in bundle.kernels)
    kernels = f"{len(names)} kernel{'s' * (len(names) != 1)} for {', '.join(bundle.archs)}"
    makers = f"tileproof {bundle.version} and assembler {bundle.assembler}"
    yield f"{bundle.path}: {kernels}, {shown_size(size)}, by {makers}"
    width = max(len(name) for name in ("kernel", *names))
    yield _line("kernel", width, "arch", [name for name, _ in _COLUMNS[2:]], 2) + "  launch"
    for each in bundle.kernels:
        launch = " ".join((each.shapes, *(f"{name}={value}" for name, value in each.constants.items())))
        for arch, code in each.codes.items():
            yield _line(each.kernel, width, arch, _taken(code), 2) + f"  {launch}"


def _taken(code: Mapping[str, int]) -> list[str]:
    return [str(code["registers"]), str(code["spills"]), shown_size(code["shared"]), shown_size(code["bytes"])]


def _line(name: str, width: int, arch: str, cells: Sequence[str], first: int = 0) -> str:
    """Cells under their columns, from column `first` on."""
    sizes = (size for _, size in _COLUMNS[first:])
    return f"{name:<{width}}  {arch:<6}" + "".join(f" {cell:>{size}}" for cell, size in zip(cells, sizes, strict=False))


def on_stderr(total: int | None, what: str) -> Progress:
    """Progress that does not mix with what a program reads."""
    return Progress(sys.stderr, total, what)
