"""What the assembler reports of its choices: how tiles are loaded and stored, and how matrix products are done.

It writes each choice twice, and each reason once per instruction it would have made; here a place in the source has one
remark of a kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tileproof.diagnostics.spans import Span

from .tileir.types import Location

Kind: TypeAlias = Literal["load", "store", "mma"]

_WORDS: Final[dict[Kind, str]] = {"load": "a load", "store": "a store", "mma": "a matrix product"}
_WAYS: Final = {
    "TMA Load instruction": "by TMA",
    "TMA Store instruction": "by TMA",
    "Ldgsts instruction": "by asynchronous copies",
    "Global-memory load instruction": "by plain loads",
    "Global-memory store instruction": "by plain stores",
    "FMA": "by FMA, one element at a time",
}
_KINDS: Final[dict[str, Kind]] = {"TensorCore": "mma", "Load": "load", "Store": "store"}
_TEXT: Final = r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^,\n]+"
_PLACE: Final = re.compile(rf"^DebugLoc: +{{ File: (?P<file>{_TEXT}), Line: (?P<line>\d+), Column: (?P<column>\d+)")
_ARGUMENT: Final = re.compile(r"^  - (?P<key>\w+): +(?P<value>.+)$")


@dataclass(frozen=True, slots=True)
class Remark:
    """One choice: `missed` if the assembler wanted the fast way (TMA, tensor cores) and could not take it."""

    kind: Kind
    line: int
    """Line in the source; 0 if the assembler was not told."""
    text: str
    missed: bool = False
    span: Span | None = None


@dataclass(slots=True)
class _Choice:
    """All that is said of one place."""

    ways: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    missed: bool = False


def read_remarks(text: str, span_at: Callable[[Location], Span | None]) -> tuple[Remark, ...]:
    """The remarks in the assembler's YAML, by line. What is not understood is left out: they are only advice."""
    choices: dict[tuple[Kind, Location], _Choice] = {}
    for document in re.split(r"^--- ", text, flags=re.MULTILINE)[1:]:
        lines = document.splitlines()
        kind = _kind(lines)
        if kind is None:
            continue
        choice = choices.setdefault((kind, _location(lines)), _Choice())
        choice.missed |= lines[0].startswith(("!Failure", "!Missed"))
        given = list(dict.fromkeys(_arguments(lines)))  # in order, each once
        shape = dict(given).get("Shape", "")
        for key, value in given:
            if key == "Instruction":
                _add(choice.ways, _way(value, shape))
            elif key == "Reason":
                _add(choice.reasons, re.sub(r"^loc\(.*\): ", "", value))
    ordered = sorted(choices, key=lambda key: (key[1].file, key[1].line, key[1].column, key[0]))
    return tuple(_remark(kind, where, choices[kind, where], span_at(where)) for kind, where in ordered)


def _kind(lines: list[str]) -> Kind | None:
    name = next((line.partition(":")[2] for line in lines if line.startswith("Name:")), "")
    return next((kind for part, kind in _KINDS.items() if part in name), None)


def _location(lines: list[str]) -> Location:
    for line in lines:
        found = _PLACE.match(line)
        if found:
            return Location(_unquoted(found["file"]), int(found["line"]), int(found["column"]))
    return Location("", 0, 0)


def _arguments(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        found = _ARGUMENT.match(line)
        if found:
            yield found["key"], _unquoted(found["value"].strip())


def _unquoted(text: str) -> str:
    """A YAML scalar as it is meant."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _way(instruction: str, shape: str) -> str:
    """The instruction in plain words."""
    core = re.fullmatch(r"Tensor-core (SM\d+)", instruction)
    if core is None:
        return _WAYS.get(instruction, f"by {instruction}")
    steps = " x ".join(re.findall(r"\d+", shape))
    return f"on tensor cores ({core[1]}, {steps} at a time)" if steps else f"on tensor cores ({core[1]})"


def _add(texts: list[str], text: str) -> None:
    if text not in texts:
        texts.append(text)


def _remark(kind: Kind, where: Location, choice: _Choice, span: Span | None) -> Remark:
    text = " ".join(filter(None, (_WORDS[kind], " and ".join(sorted(choice.ways)))))
    if choice.missed and kind != "mma":
        text += f", not by TMA: {', '.join(choice.reasons)}" if choice.reasons else ", not by TMA"
    return Remark(kind, where.line, text, choice.missed, span)
