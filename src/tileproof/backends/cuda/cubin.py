"""What a compiled kernel needs of a GPU, read from its cubin: an ELF file with NVIDIA's own records in it.

A record of `.nv.info` has a format and an identifier of one byte each, then a value of two bytes, or the length of a
payload that follows. Records of the file name their kernel by its place in the symbol table; those of
`.nv.info.<kernel>` are all about one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from .remarks import Remark

_CUDA: Final = 190
"""The machine that ELF knows NVIDIA's GPUs as."""
_SYMBOLS, _NO_BITS = 2, 8
"""Kinds of sections: the symbol table, and memory that the file does not fill."""
_FUNCTION: Final = 2
_ENTRY: Final = 0x10
"""In the third byte of a symbol: a function that can be launched."""
_WITH_PAYLOAD: Final = 4

_FRAME, _STACK, _REGISTERS = 0x11, 0x12, 0x2F
_THREADS, _CLUSTER = 0x10, 0x3D
_PARAMETER, _PARAMETER_OF_TMA = 0x17, 0x45


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel of a cubin takes, for each thread (registers, spills, stack) or each block (the rest)."""

    entry: str
    arch: str
    registers: int
    spill_bytes: int
    """Local memory of the kernel itself: registers that did not fit, or arrays indexed at run time."""
    stack_bytes: int
    """Local memory with that of the functions it calls."""
    shared_bytes: int
    threads: int
    """Threads of a block, fixed by the assembler; 0 if it left that open."""
    cluster: tuple[int, int, int]
    """Blocks that run together, along each axis of the grid."""
    parameter_bytes: int
    """Bytes of arguments that a launch passes; what the driver adds for itself is not counted."""


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
            f"{each.entry}: {each.spill_bytes} bytes per thread do not fit into registers and go through memory; "
            "smaller tiles, or more warps, avoid that"
            for each in resources
            if each.spill_bytes
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
    found = []
    for symbol, name in entries.items():
        records = list(_records(cubin, by_name.get(f".nv.info.{name}")))
        shared = by_name.get(f".nv.shared.{name}")
        found.append(
            Resources(
                entry=name,
                arch=_arch(cubin),
                registers=counts.get((_REGISTERS, symbol), 0),
                spill_bytes=counts.get((_FRAME, symbol), 0),
                stack_bytes=counts.get((_STACK, symbol), 0),
                shared_bytes=shared.size if shared else 0,
                threads=prod(_three(records, _THREADS) or (0,)),
                cluster=_three(records, _CLUSTER) or (1, 1, 1),
                parameter_bytes=max((_end_of_parameter(*record) for record in records), default=0),
            )
        )
    return tuple(sorted(found, key=lambda each: each.entry))


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


def _end_of_parameter(identifier: int, payload: bytes) -> int:
    """Where a parameter ends in the list of arguments; 0 for any other record."""
    if identifier not in (_PARAMETER, _PARAMETER_OF_TMA):
        return 0
    _, _, offset, size = struct.unpack_from("<IHHI", payload)
    return int(offset + (size >> 18 if identifier == _PARAMETER else size & 0xFFFF))


def _text(data: bytes, start: int) -> str:
    """The text at a place, up to the byte 0 that ends it."""
    end = data.find(0, start)
    if end < 0:
        raise IndexError
    return data[start:end].decode()
