"""What a compiled kernel needs of a GPU, read from its cubin: an ELF file with NVIDIA's own records in it.

A record of `.nv.info` has a format and an identifier of one byte each, then a value of two bytes, or the length of a
payload that follows. Records of the file name their kernel by its place in the symbol table; those of
`.nv.info.<kernel>` are all about one.

What the assembler reports of its choices: how tiles are loaded and stored, and how matrix products are done. It writes
each choice twice, and each reason once per instruction it would have made; here a place in the source has one remark of
a kind.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final, Literal, TypeAlias

from tileproof.backends.cuda.tileir.types import Location
from tileproof.diagnostics.spans import Span

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
        arguments = list(dict.fromkeys(_arguments(lines)))  # in order, each once
        shape = dict(arguments).get("Shape", "")
        for key, value in arguments:
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
        match = _PLACE.match(line)
        if match:
            return Location(_unquoted(match["file"]), int(match["line"]), int(match["column"]))
    return Location("", 0, 0)


def _arguments(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _ARGUMENT.match(line)
        if match:
            yield match["key"], _unquoted(match["value"].strip())


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


def _add(lines: list[str], text: str) -> None:
    if text not in lines:
        lines.append(text)


def _remark(kind: Kind, where: Location, choice: _Choice, span: Span | None) -> Remark:
    text = " ".join(filter(None, (_WORDS[kind], " and ".join(sorted(choice.ways)))))
    if choice.missed and kind != "mma":
        text += f", not by TMA: {', '.join(choice.reasons)}" if choice.reasons else ", not by TMA"
    return Remark(kind, where.line, text, choice.missed, span)


_CUDA: Final = 190
"""The machine that ELF knows NVIDIA's GPUs as."""
_SYMBOLS, _NO_BITS = 2, 8
"""Kinds of sections: the symbol table, and memory that the file does not fill."""
_FUNCTION: Final = 2
_ENTRY: Final = 0x10
"""In the third byte of a symbol: a function that can be launched."""
_WITH_PAYLOAD: Final = 4

_FRAME, _REGISTERS = 0x11, 0x2F
_THREADS, _CLUSTER = 0x10, 0x3D


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel of a cubin takes, for each thread (registers, spills) or each block (the rest)."""

    entry: str
    arch: str
    registers: int
    spill_bytes: int
    """Local memory of the kernel itself: registers that did not fit, or arrays indexed at run time."""
    shared_bytes: int
    threads: int
    """Threads of a block, fixed by the assembler; 0 if it left that open."""
    cluster: tuple[int, int, int]
    """Blocks that run together, along each axis of the grid."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    start: int
    size: int
    names: int
    """For the symbol table, the number of the section with the names."""


def resources_of(cubin: bytes) -> tuple[Resources, ...]:
    """The kernels of a cubin, by name, and what each takes; `ValueError` if it is no cubin."""
    try:
        return _read(cubin)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError("the cubin is damaged: parts of it are missing") from error


def warnings_of(resources: Sequence[Resources], remarks: Sequence[Remark]) -> tuple[str, ...]:
    """What makes a kernel slow that the user can change, in sentences fit for the notes of a diagnostic."""
    return (
        *(
            f"{entry.entry}: {entry.spill_bytes} bytes per thread do not fit into registers and go through memory; "
            "smaller tiles, or more warps, avoid that"
            for entry in resources
            if entry.spill_bytes
        ),
        *(
            f"{_place(remark)}the matrix product does not use tensor cores; "
            "they need f16, bf16, tf32 or 8-bit operands, and tiles of at least 64 x 8 or 16 x 32"
            for remark in remarks
            if remark.kind == "mma" and remark.missed
        ),
    )


def _place(remark: Remark) -> str:
    return f"line {remark.line}: " if remark.line else ""


def _read(cubin: bytes) -> tuple[Resources, ...]:
    if cubin[:4] != b"\x7fELF":
        raise ValueError("this is no cubin: it is not an ELF file")
    (machine,) = struct.unpack_from("<H", cubin, 18)
    if cubin[4:6] != b"\2\1" or machine != _CUDA:
        raise ValueError("this is no cubin: it is an ELF file for another machine than a GPU of NVIDIA")
    sections = _sections(cubin)
    entries = _entries(cubin, sections)
    if not entries:
        raise ValueError("this cubin has no kernel in it")
    of_file = next((section for section in sections if section.name == ".nv.info"), None)
    counts: dict[tuple[int, int], int] = {}
    for identifier, payload in _records(cubin, of_file):
        if len(payload) == 8:
            symbol, value = struct.unpack("<II", payload)
            counts[identifier, symbol] = value
    by_name = {section.name: section for section in sections}
    kernels = []
    for symbol, name in entries.items():
        records = list(_records(cubin, by_name.get(f".nv.info.{name}")))
        shared = by_name.get(f".nv.shared.{name}")
        kernels.append(
            Resources(
                entry=name,
                arch=_arch(cubin),
                registers=counts.get((_REGISTERS, symbol), 0),
                spill_bytes=counts.get((_FRAME, symbol), 0),
                shared_bytes=shared.size if shared else 0,
                threads=prod(_three(records, _THREADS) or (0,)),
                cluster=_three(records, _CLUSTER) or (1, 1, 1),
            )
        )
    return tuple(sorted(kernels, key=lambda kernel: kernel.entry))


def _arch(cubin: bytes) -> str:
    """The architecture, from the flags: in their second byte, or in the first of files made before CUDA 13."""
    (flags,) = struct.unpack_from("<I", cubin, 48)
    return f"sm_{flags >> 8 & 0xFF if cubin[8] >= 8 else flags & 0xFF}"


def _sections(cubin: bytes) -> list[_Section]:
    segments, table = struct.unpack_from("<QQ", cubin, 32)
    segment_size, segment_count, size, count, of_names = struct.unpack_from("<HHHHH", cubin, 54)
    if segments + segment_size * segment_count > len(cubin):
        raise IndexError
    headers = [struct.unpack_from("<IIQQQQII", cubin, table + size * number) for number in range(count)]
    names = headers[of_names][4] if headers else 0
    sections = []
    for name, kind, _, _, start, length, link, _ in headers:
        if kind != _NO_BITS and start + length > len(cubin):
            raise IndexError
        sections.append(_Section(_text(cubin, names + name), kind, start, length, link))
    return sections


def _entries(cubin: bytes, sections: Sequence[_Section]) -> dict[int, str]:
    """The kernels: the number of each in the symbol table, and its name."""
    table = next((section for section in sections if section.kind == _SYMBOLS), None)
    if table is None:
        return {}
    names = sections[table.names].start
    symbols = struct.iter_unpack("<IBBHQQ", cubin[table.start : table.start + table.size])
    return {
        number: _text(cubin, names + name)
        for number, (name, kind, other, *_) in enumerate(symbols)
        if kind & 0xF == _FUNCTION and other & _ENTRY
    }


def _records(cubin: bytes, section: _Section | None) -> Iterator[tuple[int, bytes]]:
    """Identifier and payload of every record of a section that has a payload."""
    if section is None:
        return
    at, end = section.start, section.start + section.size
    while at < end:
        form, identifier, length = struct.unpack_from("<BBH", cubin, at)
        at += 4
        if form == _WITH_PAYLOAD:
            if at + length > end:
                raise IndexError
            yield identifier, cubin[at : at + length]
            at += length


def _three(records: Sequence[tuple[int, bytes]], wanted: int) -> tuple[int, int, int] | None:
    """Three numbers, one for each axis."""
    payload = next((payload for identifier, payload in records if identifier == wanted), None)
    if payload is None:
        return None
    x, y, z = struct.unpack_from("<III", payload)
    return x, y, z


def _text(data: bytes, start: int) -> str:
    """The text at a place, up to the byte 0 that ends it."""
    end = data.find(0, start)
    if end < 0:
        raise IndexError
    return data[start:end].decode()
