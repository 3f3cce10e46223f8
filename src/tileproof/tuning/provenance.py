"""What kernels say, as one number: records of times hold as long as it is the same.

It is made of syntax, without docstrings, comments, decorators and places, so that moving a kernel or explaining it
changes nothing. Functions and constants that a kernel names belong to it, and so on from function to function. It is
the same in every version of Python.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from hashlib import sha256
from types import FunctionType, ModuleType
from typing import Any, Final

from tileproof import __version__
from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import Target, host
from tileproof.backends.cuda.assembler import toolchain
from tileproof.diagnostics.errors import TileproofError
from tileproof.frontend.captures import find_name, is_language
from tileproof.frontend.source import read_function
from tileproof.language.dtypes import DType, DTypeVar
from tileproof.language.kernel import Kernel

_LENGTH: Final = 16


@cache
def source_hash(kernels: tuple[Kernel, ...]) -> str:
    """The number of some kernels together."""
    parts = [
        (item.name, item.deterministic, repr(item.schedule), _function(item.function, item.source_lines or None, set()))
        for item in sorted(kernels, key=lambda kernel: kernel.name)
    ]
    return sha256(repr(parts).encode()).hexdigest()[:_LENGTH]


def _function(function: FunctionType, lines: tuple[str, ...] | None, seen: set[FunctionType]) -> object:
    """A function's syntax, and what the names in it stand for."""
    seen.add(function)
    tree = read_function(function, lines).tree
    body = tree.body if ast.get_docstring(tree) is None else tree.body[1:]
    parts = [tree.args, *([tree.returns] if tree.returns else []), *body]
    nodes = (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name | ast.Attribute))
    names = {ast.unparse(node): node for node in nodes}
    meanings = [(name, _meaning(_value(function, names[name]), seen)) for name in sorted(names)]
    return _syntax(parts), [pair for pair in meanings if pair[1] is not None]


def _syntax(node: Any) -> object:
    """Syntax as nested tuples; fields that are empty are left out, because not every version of Python has them."""
    if isinstance(node, list):
        return tuple(map(_syntax, node))
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, _syntax(value)) for name, value in ast.iter_fields(node) if name not in ("ctx", "kind"))
    return type(node).__name__, *(pair for pair in fields if pair[1] not in (None, ()))


def _value(function: FunctionType, node: ast.AST) -> Any:
    """What a name stands for in a function; attributes are followed through modules."""
    match node:
        case ast.Name(id=name) if name not in function.__code__.co_varnames:
            return find_name(function, name)
        case ast.Attribute(value=owner, attr=name) if isinstance(module := _value(function, owner), ModuleType):
            return getattr(module, name, None)
        case _:
            return None


def _meaning(value: Any, seen: set[FunctionType]) -> object:
    """What a value says; None for what is the same everywhere."""
    match value:
        case bool() | int() | float() | str() | bytes() | DType() | DTypeVar():
            return repr(value)
        case tuple():
            return tuple(_meaning(item, seen) for item in value)
        case FunctionType() if not is_language(value) and value not in seen:
            return _function(value, None, seen)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where figures come from."""

    source: str
    """The number of what the kernels say."""
    tileproof: str
    assembler: str
    """The version of what made the code: NVIDIA's assembler, or LLVM's package for the CPU."""
    device: str
    date: str

    @staticmethod
    def of(kernels: Sequence[Kernel], target: str, device: str) -> Provenance:
        """That of figures taken now."""
        made_by = assembler_version(target) or "unknown"
        return Provenance(source_hash(tuple(kernels)), __version__, made_by, device, date.today().isoformat())

    @staticmethod
    def read(data: Mapping[str, Any]) -> Provenance:
        """From a file; `ValueError` if something is missing."""
        try:
            return Provenance(**{name: str(data[name]) for name in Provenance.__slots__})
        except (KeyError, TypeError) as error:
            raise ValueError(f"its provenance lacks {error}") from None

    def staleness(self, tunable: str, kernels: Sequence[Kernel], target: str) -> str | None:
        """Why figures no longer say anything about what runs here; None if they do."""
        if self.source != source_hash(tuple(kernels)):
            return f"the kernels of `{tunable}` have changed since"
        here = assembler_version(target)
        if here is not None and _release(here) != _release(self.assembler):
            return f"they were taken with the compiler {self.assembler}, and here is {here}"
        return None


@cache
def assembler_version(target: str) -> str | None:
    """The version of what makes code for a target here; None where there is nothing to make it."""
    if is_cpu(target):
        return llvm.version().split()[1].rstrip(",")  # that of llvmlite, which holds its LLVM
    try:
        return toolchain.find().version
    except TileproofError:
        return None


def _release(text: str) -> tuple[str, ...]:
    """Major and minor number."""
    return tuple(text.split(".")[:2])


def is_cpu(target: str) -> bool:
    """Whether a target is a processor: "cpu", or "cpu-avx2"."""
    return target.partition("-")[0] == "cpu"


def recorded_target(target: str) -> str:
    """The target as records name it: "cpu" becomes "cpu-avx2", because what is fast depends on the instructions."""
    return instruction_set(host()) if target == "cpu" else target


def instruction_set(processor: Target) -> str:
    """What records call a processor."""
    if processor.is_arm:
        return "cpu-neon"
    if processor.has_avx512:
        return "cpu-avx512"
    return "cpu-avx2" if processor.has("avx2", "fma") else "cpu-sse2"
