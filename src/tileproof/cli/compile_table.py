"""The table of `tileproof compile`: one line for each kernel and architecture, printed as they are done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from tileproof.backends.cuda.running import Code
from tileproof.runtime.ahead import Made
from tileproof.runtime.bundles import Bundle
from tileproof.runtime.bundling import summary

from .cache import shown_size

_COLUMNS: Final = (("bytecode", 9), ("assembler", 10), ("registers", 10), ("spills", 7), ("shared", 10), ("code", 10))


class Progress:
    """A line on a terminal that says how far the work is; nothing elsewhere."""

    def __init__(self, stream: TextIO, total: int, what: str) -> None:
        self._stream = stream if stream.isatty() else None
        self._total, self._what, self._done = total, what, 0
        self._started = time.perf_counter()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if self._stream is not None:
            seconds = time.perf_counter() - self._started
            self._stream.write(f"\r\x1b[K{self._done} of {self._total} {self._what}, {seconds:.0f} s")
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
    return f"{'kernel':<{width}}  {'arch':<6}" + "".join(f" {name:>{size}}" for name, size in _COLUMNS)


def row(made: Made, width: int) -> str:
    """One line: what a kernel takes on an architecture."""
    name, arch = made.plan.launch.name, made.variant.target.arch
    if not isinstance(made.outcome, Code):
        codes = ", ".join(dict.fromkeys(each.code.id for each in made.outcome.diagnostics))
        return f"{name:<{width}}  {arch:<6} {'refused: ' + codes:>9}"
    bytecode = f"{1e3 * made.seconds:.0f} ms" if made.seconds else "-"
    assembler = "kept" if made.is_kept else f"{made.outcome.seconds:.2f} s"
    return _line(name, width, arch, bytecode, assembler, summary(made.outcome))


def _line(name: str, width: int, arch: str, bytecode: str, assembler: str, code: Mapping[str, int]) -> str:
    cells = (
        bytecode, assembler, str(code["registers"]), str(code["spills"]), shown_size(code["shared"]),
        shown_size(code["bytes"]),
    )  # fmt: skip
    return f"{name:<{width}}  {arch:<6}" + "".join(
        f" {cell:>{size}}" for cell, (_, size) in zip(cells, _COLUMNS, strict=True)
    )


def listing(bundle: Bundle, size: int) -> Iterator[str]:
    """What is in a bundle."""
    names = dict.fromkeys(each.kernel for each in bundle.kernels)
    yield (
        f"{bundle.path}: {len(names)} kernel{'s' * (len(names) != 1)} for {', '.join(bundle.archs)}, {shown_size(size)}, "
        f"by tileproof {bundle.version} and assembler {bundle.assembler}"
    )
    width = max(len(name) for name in ("kernel", *names))
    columns = _COLUMNS[2:]
    yield f"{'kernel':<{width}}  {'arch':<6}" + "".join(f" {name:>{size}}" for name, size in columns) + "  launch"
    for each in bundle.kernels:
        launch = " ".join((each.shapes, *(f"{name}={value}" for name, value in each.constants.items())))
        for arch, code in each.codes.items():
            yield f"{each.kernel:<{width}}  {arch:<6}" + _cells(code) + f"  {launch}"


def _cells(code: Mapping[str, Any]) -> str:
    cells = (str(code["registers"]), str(code["spills"]), shown_size(code["shared"]), shown_size(code["bytes"]))
    return "".join(f" {cell:>{size}}" for cell, (_, size) in zip(cells, _COLUMNS[2:], strict=True))


def on_stderr(total: int, what: str) -> Progress:
    """Progress that does not mix with what a program reads."""
    return Progress(sys.stderr, total, what)
