"""Proved kernels on disk: what was accepted here is accepted wherever its entry is found, without proving it again.

A kernel is known by its text, its element types and constants, the values it captured, and the version of tileproof.
Which values it captures is only known after it was read, so there are two entries: the first, under what is known
before, names them; the second, under their values too, holds the kernel as it was proved. Where anything is in doubt
there is no key, and the kernel is read and proved anew.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from tileproof.analysis.verdict import Verdict
from tileproof.diagnostics.spans import Source
from tileproof.frontend.elaborate import Elaborated, parse
from tileproof.frontend.names import MISSING, Capture, find_name
from tileproof.frontend.source import read_function
from tileproof.frontend.specialisation import Specialisation
from tileproof.ir.ops import KernelIR
from tileproof.language.dtypes import DType, DTypeVar
from tileproof.language.kernel import Kernel

from .cache import Cache, default, digest

FORMAT: Final = 2
"""Of entries: one more whenever their meaning changes."""
_PLAIN: Final = (type(None), bool, int, float, str, bytes)


@dataclass(frozen=True, slots=True)
class Stored:
    """A proved kernel as it was found on disk."""

    key: str
    elaborated: Elaborated
    verdict: Verdict
    ready: KernelIR


def recall(kernel: Kernel, specialisation: Specialisation) -> Stored | None:
    """The proof of a kernel for some element types and constants, if it is on disk and all it rests on is the same."""
    stored = default()
    first = _known_before(kernel, specialisation)
    if first is None:
        return None
    names = _read(stored, first, ())
    if not isinstance(names, tuple):
        return None
    captures = _resolve(kernel, names)
    key = None if captures is None else _key(first, captures)
    if key is None or captures is None:
        return None
    found = _read(stored, key, _sources(kernel, captures))
    if not isinstance(found, tuple):
        return None
    ir, ready, verdict = found
    return Stored(key, Elaborated(ir, captures), verdict, ready)


def keep(kernel: Kernel, specialisation: Specialisation, made: Elaborated, verdict: Verdict, ready: KernelIR) -> str:
    """Writes a proof to disk. Gives its key, or "" where it has none."""
    first = _known_before(kernel, specialisation)
    names = _names(kernel, made.captures)
    key = None if first is None or names is None else _key(first, made.captures)
    if first is None or key is None:
        return ""
    short = replace(verdict, kernel=None, settled=(), residuals=(), full=())
    try:
        text = _written((made.ir, ready, short), _sources(kernel, made.captures))
    except (pickle.PicklingError, AttributeError, TypeError):
        return ""
    stored = default()
    stored.put(first, _written(names, ()))
    stored.put(key, text)
    return key


# Keys.


@cache
def fingerprint() -> str:
    """This version of tileproof: its files, by size and time of change."""
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("*.py"))
    return digest(*(f"{path.relative_to(root)} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files))


def _known_before(kernel: Kernel, specialisation: Specialisation) -> str | None:
    """What a kernel is known by before it is read: its text, and what it is compiled for."""
    try:
        return digest(
            "proof", FORMAT, fingerprint(), sys.version_info[:2], kernel.name, _text(kernel.function, kernel),
            kernel.deny_checks, kernel.deterministic,
            tuple((name, dtype.name) for name, dtype in specialisation.dtypes), specialisation.constants,
        )  # fmt: skip
    except (TypeError, ValueError):
        return None


def _text(function: FunctionType, kernel: Kernel | None = None) -> tuple[int, str]:
    """A function's own lines, and where they stand: what it says, and what its diagnostics will point at."""
    source = parse(kernel).source if kernel is not None else read_function(function)
    first, last = function.__code__.co_firstlineno, source.tree.end_lineno
    return first, "".join(source.source.lines[first - 1 : last])


def _key(first: str, captures: Sequence[Capture]) -> str | None:
    try:
        return digest("proof of", first, *(_said(capture.value) for capture in captures))
    except Exception:  # what a captured object does when it is looked at is not ours to know
        return None


def _said(value: Any) -> object:
    """A captured value as parts of a key."""
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple:
        return tuple(map(_said, value))
    match value:
        case DType(name=name) | DTypeVar(name=name):
            return ("dtype", name)
        case FunctionType() if value.__module__.partition(".")[0] == "tileproof":
            return ("language", value.__module__, value.__qualname__)
        case FunctionType():
            return ("function", *_text(value), tuple(map(_said, value.__defaults__ or ())))
        case ModuleType():
            return ("module", value.__name__)
        case type():
            return ("type", value.__module__, value.__qualname__)
        case _ if type(value).__module__.startswith("tileproof.language"):
            return ("language", type(value).__qualname__, getattr(value, "name", ""))
        case _:
            raise TypeError(f"{value!r} has no key")


# Captures: each belongs to the kernel's function (0), or to a function that was captured before it.


def _names(kernel: Kernel, captures: Sequence[Capture]) -> tuple[tuple[int, tuple[str, ...]], ...] | None:
    """The captures by name alone."""
    functions: list[FunctionType] = [kernel.function]
    found = []
    for capture in captures:
        if capture.function not in functions:
            return None
        found.append((functions.index(capture.function), capture.path))
        if isinstance(capture.value, FunctionType):
            functions.append(capture.value)
    return tuple(found)


def _resolve(kernel: Kernel, names: tuple[tuple[int, tuple[str, ...]], ...]) -> tuple[Capture, ...] | None:
    """What the names stand for now."""
    functions: list[FunctionType] = [kernel.function]
    found = []
    for owner, path in names:
        if owner >= len(functions):
            return None
        value = find_name(functions[owner], path[0])
        for attribute in path[1:]:
            value = getattr(value, attribute, MISSING)
        if value is MISSING:
            return None
        found.append(Capture(functions[owner], path, value))
        if isinstance(value, FunctionType):
            functions.append(value)
    return tuple(found)


def _sources(kernel: Kernel, captures: Sequence[Capture]) -> tuple[Source, ...]:
    """The texts that spans of the kernel may point into."""
    helpers = [
        capture.value for capture in captures
        if isinstance(capture.value, FunctionType) and capture.value.__module__.partition(".")[0] != "tileproof"
    ]  # fmt: skip
    return (parse(kernel).source.source, *(read_function(helper).source for helper in helpers))


# Entries. A source text is not written: the reader has it.


class _Writer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, sources: Sequence[Source]) -> None:
        super().__init__(file, protocol=5)
        self.sources = sources

    def reducer_override(self, item: Any) -> Any:
        """Records are made again from their fields, which is quicker than what they do by themselves."""
        if is_dataclass(item) and not isinstance(item, type) and all(each.init for each in fields(item)):
            return type(item), tuple(getattr(item, each.name) for each in fields(item))
        return NotImplemented

    def persistent_id(self, item: Any) -> Any:
        if not isinstance(item, Source):
            return None
        for number, source in enumerate(self.sources):
            if source is item or (source.name == item.name and source.lines == item.lines):
                return number
        raise pickle.PicklingError(f"{item!r} is nobody's text")


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, sources: Sequence[Source]) -> None:
        super().__init__(file)
        self.sources = sources

    def persistent_load(self, number: Any) -> Any:
        return self.sources[number]

    def find_class(self, module: str, name: str) -> Any:
        """Only what tileproof itself writes."""
        if module.partition(".")[0] != "tileproof":
            raise pickle.UnpicklingError(f"{module}.{name} does not belong here")
        return super().find_class(module, name)


def _written(item: object, sources: Sequence[Source]) -> bytes:
    file = io.BytesIO()
    _Writer(file, sources).dump(item)
    return file.getvalue()


def _read(stored: Cache, key: str, sources: Sequence[Source]) -> Any:
    """What is kept under a key; None if there is nothing that can be read."""
    data = stored.get(key)
    if data is None:
        return None
    try:
        return _Reader(io.BytesIO(data), sources).load()
    except Exception:  # an entry of another version may fail in any way; it is made anew
        return None


read_entry, write_entry = _read, _written
