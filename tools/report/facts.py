"""The facts of a report as plain values: what pages, tables and JSON are made of.

Nothing here knows where a fact comes from or how it is shown. Files are named from the folder that holds the library,
so that a report says nothing about the machine it was made on.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

FORMAT: Final = 1
"""Of the JSON: one more whenever its meaning changes."""
RUNGS: Final = (1, 2, 3, 4, 5, 6)
AT_RUN_TIME: Final = 5
"""From this rung on a check is left for the running kernel."""
_Of = TypeVar("_Of")


# What is proved.


@dataclass(frozen=True, slots=True)
class Settled:
    """What an access owes, and what settles it."""

    file: str
    line: int
    column: int
    what: str
    goal: str
    """`inside`, `apart`, `covered`, ..."""
    rung: int
    by: str
    """The rung in a word."""
    reason: str


@dataclass(frozen=True, slots=True)
class Content:
    """An index tensor, and what its element type promises about what is in it: `ids` holds `Index["V"]`."""

    tensor: str
    type: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What the checker says about a kernel."""

    accepted: bool
    scope: str = ""
    """`for all constants`, or for which; empty if it has none to choose."""
    elements: str = ""
    """The element types it was proved for here; a launch proves it for its own."""
    settled: tuple[Settled, ...] = ()
    contracts: tuple[str, ...] = ()
    """What it demands of its arguments, in its own words: `tp.require(R <= 8)`."""
    compares: tuple[str, ...] = ()
    """What a launch compares besides, because the checker derived it."""
    contents: tuple[Content, ...] = ()
    complete: tuple[str, ...] = ()
    """Index tensors that must name every element, which a launch tests."""
    raw: tuple[str, ...] = ()
    """What stands in `tp.unsafe` blocks, also of helpers: places that the author vouches for."""
    findings: tuple[str, ...] = ()
    """Why it is refused, as the terminal shows it."""

    @property
    def rungs(self) -> dict[int, int]:
        """How many obligations each rung settles."""
        return {rung: sum(each.rung == rung for each in self.settled) for rung in RUNGS}

    @property
    def at_launch(self) -> int:
        """How many things a launch looks at, besides equal dimensions."""
        return len(self.contracts) + len(self.compares) + len(self.contents) + len(self.complete)

    @property
    def checks(self) -> tuple[Settled, ...]:
        """What is left for the running kernel."""
        return tuple(each for each in self.settled if each.rung >= AT_RUN_TIME)


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A `tp.unsafe` block, as the audit lists it."""

    file: str
    line: int
    holder: str
    """`kernel permute`."""
    reason: str


# What else there is to tell.


@dataclass(frozen=True, slots=True)
class Outcome:
    """How runs of tests ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped


@dataclass(frozen=True, slots=True)
class Tested:
    """Tests of one file that name something, and how they ended."""

    file: str
    tests: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Tuned:
    """Records of one tunable for one target."""

    tunable: str
    target: str
    shapes: int
    stale: str = ""
    """Why they are not used; empty if they are."""
    device: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A row of the benchmark book."""

    row: str
    size: str
    kernels: tuple[str, ...]
    """Those it launched."""
    device: str
    date: str
    ratio: float | None = None
    """How many times as fast as the best peer."""
    peer: str = ""
    of_limit: float | None = None
    """The part of what the machine can do."""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the library: what users call."""

    name: str
    signature: str
    doc: str
    kernels: tuple[str, ...]
    """Those that are named after it."""
    gradient: str = ""
    """The function that computes its gradient."""
    tested: tuple[Tested, ...] = ()
    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """A kernel, and all that is known about it."""

    name: str
    module: str
    file: str
    line: int
    doc: str
    source: tuple[str, ...]
    """Its lines, from its decorator on."""
    proof: Proof
    denies_checks: bool = False
    function: str = ""
    """The function it is named after."""
    unsafe: tuple[Unsafe, ...] = ()
    tested: tuple[Tested, ...] = ()
    tunables: tuple[str, ...] = ()
    tuned: tuple[Tuned, ...] = ()
    measured: tuple[Measured, ...] = ()

    @property
    def is_unsafe(self) -> bool:
        return bool(self.unsafe or self.proof.raw)

    @property
    def state(self) -> str:
        """In a word: `refused`, `unsafe`, `checked` (something is tested as it runs) or `proved`."""
        if not self.proof.accepted:
            return "refused"
        if self.is_unsafe:
            return "unsafe"
        return "checked" if self.proof.checks else "proved"


@dataclass(frozen=True, slots=True)
class Family:
    """Functions that belong together, with the kernels beneath them."""

    name: str
    doc: str
    functions: tuple[Function, ...]
    kernels: tuple[KernelFacts, ...]


@dataclass(frozen=True, slots=True)
class Audited:
    """What the audit found."""

    folders: tuple[str, ...]
    files: int
    blocks: tuple[Unsafe, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """An installed library of kernels."""

    name: str
    version: str
    families: tuple[Family, ...]
    audited: Audited
    problems: tuple[str, ...] = ()
    """What could not be looked at."""
    junit: str = ""
    """The file that results of tests are from; empty if none was given."""
    results: str = ""
    """The folder that benchmarks were looked for in; empty if there is none."""
    records: tuple[str, ...] = ()
    """The folders of tuning records that launches look at."""

    @property
    def kernels(self) -> Iterator[KernelFacts]:
        """All of them, family by family."""
        return (kernel for family in self.families for kernel in family.kernels)

    @property
    def functions(self) -> Iterator[Function]:
        return (function for family in self.families for function in family.functions)


@dataclass(frozen=True, slots=True)
class Report:
    """One or more libraries, and what looked at them."""

    libraries: tuple[Library, ...]
    versions: Mapping[str, str]
    date: str
    format: int = FORMAT

    @property
    def is_clean(self) -> bool:
        """Whether every kernel was looked at, and none is refused."""
        return not any(
            library.problems or any(not kernel.proof.accepted for kernel in library.kernels)
            for library in self.libraries
        )


# JSON.


def written(facts: Any) -> dict[str, Any]:
    """A value as plain data."""
    return dataclasses.asdict(facts)


def read(kind: type[_Of], expected: Mapping[str, Any]) -> _Of:
    """A value from its plain data; `KeyError` or `TypeError` if that is of another format."""
    return typing.cast(_Of, _read(kind, expected))


def _read(kind: Any, expected: Any) -> Any:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return kind(**{name: _read(inner, expected[name]) for name, inner in _fields(kind).items()})
    match typing.get_origin(kind):
        case origin if origin is tuple:
            return tuple(_read(typing.get_args(kind)[0], each) for each in expected)
        case types.UnionType:
            inner = next(get_arg for get_arg in typing.get_args(kind) if get_arg is not types.NoneType)
            return None if expected is None else _read(inner, expected)
        case None:
            return expected
        case _:
            return dict(expected)


@cache
def _fields(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
