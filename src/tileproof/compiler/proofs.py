"""Proved kernels on disk: what was accepted here is accepted wherever its entry is found, without proving it again.

A kernel is known by its text, what the names in its signature stand for, its element types and constants, the values it
captured, and the version of tileproof. Which values it captures is only known after it was read, so there are two
entries: the first, under what is known before, names them; the second, under these names and their values too, holds
the kernel as it was proved. Where anything is in doubt there is no key, and the kernel is read and proved anew.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from tileproof.analysis.verdict import Verdict
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Source, Span
from tileproof.frontend.captures import MISSING, Capture, find_name, is_language
from tileproof.frontend.signature import ContentOf, Elaborated, Signature, TensorParameter, parse
from tileproof.frontend.source import read_function
from tileproof.frontend.specialization import Specialization
from tileproof.ir.ops import KernelIR
from tileproof.language.dtypes import DType, DTypeVar
from tileproof.language.kernel import Kernel
from tileproof.language.spaces import Each
from tileproof.language.tiles import Lowest, NoPosition

from .cache import Cache, default, digest

FORMAT: Final = 4
"""Of entries: one more whenever their meaning changes."""
_PLAIN: Final = (type(None), bool, int, float, str, bytes)
_Names: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]
"""Captures by name alone: whose each is, and how it is reached."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A proved kernel as it was found on disk."""

    key: str
    elaborated: Elaborated
    verdict: Verdict
    ready: KernelIR
    """The kernel as it runs, with the checks that the proof left."""
    holes: Mapping[str, Span]
    """The index tensors that must hold no -1, because the kernel loads through them, and where."""
    premises: frozenset[str]
    """The tensors whose contents decide which memory it touches."""


def recall(kernel: Kernel, specialization: Specialization) -> Stored | None:
    """The proof of a kernel for some element types and constants, if it is on disk and all it rests on is the same."""
    stored = default()
    first = _known_before(kernel, specialization)
    if first is None:
        return None
    names = _read(stored, first, ())
    if not _are_names(names):
        return None
    captures = _resolve(kernel, names)
    key = None if captures is None else _key(first, kernel, names, captures)
    if key is None or captures is None:
        return None
    match _read(stored, key, _sources(kernel, captures)):
        case KernelIR() as ir, KernelIR() as ready, Verdict() as verdict, dict() as holes, frozenset() as premises:
            return Stored(key, Elaborated(ir, captures), verdict, ready, holes, premises)
        case _:
            return None


def keep(kernel: Kernel, specialization: Specialization, proof: Stored) -> str:
    """Writes a proof to disk. Gives its key, or "" where it has none."""
    elaborated = proof.elaborated
    first = _known_before(kernel, specialization)
    names = _names(kernel, elaborated.captures)
    key = None if first is None or names is None else _key(first, kernel, names, elaborated.captures)
    if first is None or key is None:
        return ""
    short = replace(proof.verdict, kernel=None, discharged=(), residuals=(), full=())
    try:
        parts = (elaborated.ir, proof.ready, short, dict(proof.holes), proof.premises)
        text = _written(parts, _sources(kernel, elaborated.captures))
    except (pickle.PicklingError, AttributeError, TypeError):
        return ""
    stored = default()
    stored.put(first, _written(names, ()))
    stored.put(key, text)
    return key


def read_ir(kernel: Kernel, elaborated: Elaborated, key: str) -> KernelIR | None:
    """What a target made of the IR of a proved kernel, if it is on disk."""
    ir = _read(default(), key, _sources(kernel, elaborated.captures))
    return ir if isinstance(ir, KernelIR) else None


def keep_ir(kernel: Kernel, elaborated: Elaborated, key: str, ir: KernelIR) -> None:
    """Writes it to disk. `key` follows from that of the proof."""
    default().put(key, _written(ir, _sources(kernel, elaborated.captures)))


# Keys.


_USERS: Final = ("tuning", "kernels", "llm", "cli")
"""The folders whose files compile nothing."""


@cache
def fingerprint() -> str:
    """This version of tileproof: the text of its files. Their times are no sign: packages give all files one.

    What only uses the compiler is left out: the text of a kernel of the library counts as that of any other.
    """
    root = os.path.dirname(os.path.dirname(__file__))
    paths, folders = list[str](), [""]
    while folders:
        folder = folders.pop()
        with os.scandir(root + folder) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".ll")):
                    paths.append(f"{folder}/{entry.name}")
                elif (folder or entry.name not in _USERS) and entry.is_dir(follow_symlinks=False):
                    folders.append(f"{folder}/{entry.name}")
    return digest(*((path, _content(root + path)) for path in sorted(paths)))


def _content(path: str) -> bytes:
    """What stands in a file, as a digest."""
    with open(path, "rb", buffering=0) as file:  # the quickest way to read hundreds of files
        return sha256(file.read()).digest()


def _known_before(kernel: Kernel, specialization: Specialization) -> str | None:
    """What a kernel is known by before it is read: its text, and what it is compiled for."""
    try:
        return digest(
            "proof", FORMAT, fingerprint(), kernel.name, _text(kernel.function, kernel),
            _declared(parse(kernel).signature), tuple(sorted(kernel.absent)), kernel.leading, kernel.deny_checks,
            kernel.deterministic,
            tuple((name, dtype.name) for name, dtype in specialization.dtypes), specialization.constants,
        )  # fmt: skip
    except (TypeError, ValueError):
        return None


def _text(function: FunctionType, kernel: Kernel | None = None) -> tuple[int, str]:
    """A function's own lines, and where they stand: what it says, and what its diagnostics will point at."""
    source = parse(kernel).source if kernel is not None else read_function(function)
    first, last = function.__code__.co_firstlineno, source.tree.end_lineno
    return first, "".join(source.source.lines[first - 1 : last])


def _declared(signature: Signature) -> object:
    """A signature as parts of a key: its text does not tell what the names in its annotations stand for."""
    return (
        tuple(
            (arg.name, str(arg.access) if isinstance(arg, TensorParameter) else "", _element(arg.element))
            for arg in signature.arguments
        ),
        tuple((constant.name, constant.type.__name__, constant.default) for constant in signature.constants),
    )


def _element(element: object) -> object:
    match element:
        case ContentOf():
            return str(element)
        case DType(name=name) | DTypeVar(name=name):
            return (type(element).__name__, name)
        case _:
            return type(element).__name__


def _key(first: str, kernel: Kernel, names: _Names, captures: Sequence[Capture]) -> str | None:
    files = [kernel.filename]
    try:
        return digest("proof of", first, names, *(_key_part(capture.value, files) for capture in captures))
    except Exception:  # what a captured object does when it is looked at is not ours to know
        return None


def _key_part(value: Any, files: list[str]) -> object:
    """A captured value as parts of a key. `files` are those of the kernel and of the functions before it."""
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple:
        return tuple(_key_part(item, files) for item in value)
    match value:
        case DType() | DTypeVar():
            return _element(value)
        case FunctionType() if is_language(value):
            return ("language", value.__module__, value.__qualname__)
        case FunctionType():
            return _function(value, files)
        case BuiltinFunctionType(__module__="builtins", __qualname__=name):
            return ("builtin", name)
        case ModuleType():
            return ("module", value.__name__)
        case type():
            return ("type", value.__module__, value.__qualname__)
        case Each() | Lowest() | NoPosition():
            return ("language", type(value).__name__)
        case _:
            raise TypeError(f"{value!r} has no key")


def _function(function: FunctionType, files: list[str]) -> object:
    """A helper as parts of a key: its text and its defaults.

    The text alone would not do: the file may have changed since. So the file is compiled again, and where that gives
    other code there is no key. The code itself is no part of one, as every version of Python writes its own.
    """
    file = function.__code__.co_filename
    if file not in files:
        files.append(file)
    first, text = _text(function)
    whole = "".join(read_function(function).source.lines)
    code = function.__code__
    if not any(_code(other) == _code(code) for other in _functions_in(whole) if other.co_firstlineno == first):
        raise TypeError(f"the text of {function.__name__} is not what it was made from")
    named = tuple(sorted((function.__kwdefaults__ or {}).items()))
    defaults = tuple(_key_part(value, files) for value in (function.__defaults__ or (), named))
    return ("function", files.index(file), first, text, defaults)


@lru_cache(maxsize=16)
def _functions_in(text: str) -> tuple[CodeType, ...]:
    """The code of every function in the text of a file."""
    codes: list[CodeType] = []
    waiting = [compile(text, "<text>", "exec", dont_inherit=True)]
    while waiting:
        inner = [constant for constant in waiting.pop().co_consts if isinstance(constant, CodeType)]
        codes += inner
        waiting += inner
    return tuple(codes)


def _code(code: CodeType) -> object:
    """What code does, without where it stands."""
    constants = tuple(_code(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts)
    return (code.co_name, code.co_code, code.co_names, code.co_varnames, constants)


# Captures: each belongs to the kernel's function (0), or to a function that was captured before it.


def _names(kernel: Kernel, captures: Sequence[Capture]) -> _Names | None:
    """The captures by name alone."""
    functions: list[FunctionType] = [kernel.function]
    names = []
    for capture in captures:
        if capture.function not in functions:
            return None
        names.append((functions.index(capture.function), capture.path))
        if isinstance(capture.value, FunctionType):
            functions.append(capture.value)
    return tuple(names)


def _are_names(item: Any) -> bool:
    """Whether what was read is what `_names` gives."""
    return isinstance(item, tuple) and all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and isinstance(pair[0], int)
        and isinstance(pair[1], tuple)
        and pair[1] != ()
        and all(isinstance(name, str) for name in pair[1])
        for pair in item
    )


def _resolve(kernel: Kernel, names: _Names) -> tuple[Capture, ...] | None:
    """What the names stand for now."""
    functions: list[FunctionType] = [kernel.function]
    captures = []
    for owner, path in names:
        if not 0 <= owner < len(functions):
            return None
        value = find_name(functions[owner], path[0])
        for attribute in path[1:]:
            value = getattr(value, attribute, MISSING)
        if value is MISSING:
            return None
        captures.append(Capture(functions[owner], path, value))
        if isinstance(value, FunctionType):
            functions.append(value)
    return tuple(captures)


def _sources(kernel: Kernel, captures: Sequence[Capture]) -> tuple[Source, ...]:
    """The texts that spans of the kernel may point into."""
    helpers = [
        capture.value for capture in captures
        if isinstance(capture.value, FunctionType) and not is_language(capture.value)
    ]  # fmt: skip
    return (parse(kernel).source.source, *(read_function(helper).source for helper in helpers))


# Entries. A source text is not written: the reader has it.


@cache
def _names_of(of: type) -> tuple[str, ...] | None:
    """The fields that a record of this type is made of; None if it is made in another way."""
    if not is_dataclass(of) or not all(field.init for field in fields(of)):
        return None
    return tuple(field.name for field in fields(of))


class _Writer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, sources: Sequence[Source]) -> None:
        super().__init__(file, protocol=5)
        self.sources = sources

    def reducer_override(self, item: Any) -> Any:
        """Records are made again from their fields, which is quicker than what they do by themselves.

        Members of enumerations are made from their values; some versions of Python would look them up with `getattr`,
        which the reader does not let through.
        """
        if isinstance(item, Enum):
            return type(item), (item.value,)
        of: Any = type(item)
        names = _names_of(of)
        return NotImplemented if names is None else (of, tuple(getattr(item, name) for name in names))

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
        """Only what tileproof itself writes: its own classes, not what is reached through one of its modules."""
        if module.partition(".")[0] == "tileproof" and "." not in name:
            member = super().find_class(module, name)
            if isinstance(member, type) and member.__module__ == module:
                return member
        raise pickle.UnpicklingError(f"{module}.{name} does not belong here")


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
