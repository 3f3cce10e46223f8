"""Modules to assemble, and assemblers that are not one: small programs that fail in the ways a real one may."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent

from tileproof.backends.cuda.assembler.assemble import Assembled, Job, Spans, assemble, assemble_each
from tileproof.backends.cuda.codegen.program import Request
from tileproof.backends.cuda.device.loaded_code import Code, code_of, job_of
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import (
    BF16,
    F8E4M3,
    F32,
    I32,
    Location,
    Mode,
    Module,
    Number,
    Padding,
    PartitionView,
    Pointer,
    TensorView,
    Tile,
    Value,
)

FILE = "somewhere/kernels.py"

SMALLEST = bytes.fromhex(
    "7f54696c654952000d030000"  # the header, of version 13.3
    "820908cb"  # one function that returns at once
    "0100000200035c0000"
    "850b04"  # its type
    "01cbcbcb00000000100000"
    "810904cbcb"  # its name, which is k
    "01cbcbcb000000006b"
    "00"
)


def module(builder: Builder) -> bytes:
    """The bytecode of one entry, ended here."""
    builder.return_()
    return encode(Module([builder.entry]))


def product(element: Number, rows: int = 64, columns: int = 64, *, aligned: bool = True, occupancy: int = 0) -> bytes:
    """A matrix product. Lines 10 and 11 load, 12 multiplies, 13 stores."""
    pointers = [Tile(Pointer(element)), Tile(Pointer(element)), Tile(Pointer(F32))]
    hints = {"sm_90": {"occupancy": occupancy}} if occupancy else {}
    b = Builder("product", pointers, hints=hints, location=Location(FILE, 1, 1))
    i, j, _ = b.get_tile_block_id()
    zero, one, turns = (b.constant(Tile(I32), number) for number in (0, 1, 16))

    def partition(pointer: Value, kind: Number, shape: tuple[int, int]) -> Value:
        view = TensorView(kind, (4096, 4096), (4096, 1))
        known = b.assume_divisible(pointer, 16) if aligned else pointer
        return b.make_partition_view(b.make_tensor_view(known, view), PartitionView(shape, view, (0, 1), Padding.ZERO))

    loop = b.for_(zero, turns, one, [b.constant(Tile(F32, (rows, columns)), 0.0)])
    with b.inside(loop.block):
        k, total = loop.arguments
        b.location = Location(FILE, 10, 9)
        left, _ = b.load_view(partition(b.parameters[0], element, (rows, 64)), [i, k])
        b.location = Location(FILE, 11, 9)
        right, _ = b.load_view(partition(b.parameters[1], element, (64, columns)), [k, j])
        b.location = Location(FILE, 12, 9)
        b.continue_(b.mmaf(left, right, total))
    b.location = Location(FILE, 13, 5)
    b.store_view(loop.results[0], partition(b.parameters[2], F32, (rows, columns)), [i, j])
    return module(b)


def f8_constant() -> bytes:
    """What no GPU before sm_90 has, on line 21."""
    b = Builder("eights", [], location=Location(FILE, 20, 1))
    b.location = Location(FILE, 21, 5)
    b.constant(Tile(F8E4M3, (8,)), 1.0)
    return module(b)


def bf16_sum() -> bytes:
    """What no GPU before sm_90 has, on line 31."""
    b = Builder("sums", [Tile(Pointer(BF16))], location=Location(FILE, 30, 1))
    b.location = Location(FILE, 31, 5)
    b.atomic_rmw(Mode.ADDF, b.parameters[0], b.constant(Tile(BF16), 1.0))
    return module(b)


def doubling(entry: str, arch: str = "sm_90", cluster: int = 1) -> bytes:
    """A small kernel that takes a pointer, a number of 4 bytes and another pointer."""
    parameters = [Tile(Pointer(F32)), Tile(I32), Tile(Pointer(F32))]
    b = Builder(entry, parameters, hints={arch: {"num_cta_in_cga": cluster}}, location=Location(FILE, 40, 1))
    source, number, target = b.parameters
    x, _ = b.load_ptr(b.offset(source, number))
    b.store_ptr(b.offset(target, number), b.addf(x, x))
    return module(b)


def assembled(
    bytecode: bytes, arch: str, *, spans: Spans | None = None, kernel: str = "", remarks: bool = False,
    timeout: float | None = None, verbose: bool | None = None,
) -> Assembled:  # fmt: skip
    """The machine code of a module."""
    return assemble(Job(bytecode, arch, spans, kernel, remarks), timeout=timeout, verbose=verbose)


def assemble_many(jobs: Sequence[Job], workers: int | None = None) -> Iterator[tuple[Job, Assembled]]:
    """Assembles several modules at once; raises the first error, which stops the others."""
    outcomes = assemble_each(jobs, workers)
    try:
        for job, outcome in outcomes:
            if not isinstance(outcome, Assembled):
                raise outcome
            yield job, outcome
    finally:
        outcomes.close()  # type: ignore[attr-defined]


def compile_many(requests: Sequence[Request], workers: int | None = None) -> list[tuple[Request, Code]]:
    """Machine code of several kernels, assembled at the same time."""
    lowered = {}
    for request in requests:
        program = request.lowered()
        lowered[job_of(request, program)] = request, program
    return [(lowered[job][0], code_of(*lowered[job], done)) for job, done in assemble_many(list(lowered), workers)]


VERSION = "Cuda compilation tools, release {}, V{}"
HELP = "    =sm_80    - SM 80\n    =sm_90    - SM 90\n"


def said(version: str) -> str:
    """What a program of NVIDIA's prints of its version."""
    return VERSION.format(".".join(version.split(".")[:2]), version)


def fake_toolchain(
    root: Path, body: str = "", *, versions: Mapping[str, str] | None = None, missing: tuple[str, ...] = ()
) -> Path:
    """Installs an assembler that runs a piece of Python instead; gives the path of its `tileiras`.

    In that piece, `output` and `source` are the paths of the files, and `folder` that of this installation's root.
    """
    messages = {"tileiras": "13.4.92", "ptxas": "13.4.92", "libnvvm": "13.4.92"} | dict(versions or {})
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    if "libnvvm" not in missing:
        (root / "lib" / "libnvvm.so.4").write_bytes(b"\0code\0" + said(messages["libnvvm"]).encode() + b"\0more\0")
    if "ptxas" not in missing:
        program(root / "bin" / "ptxas", f"print({said(messages['ptxas'])!r})")
    text = f"""\
import os, signal, subprocess, sys, time
from pathlib import Path
if "--version" in sys.argv:
    print({said(messages["tileiras"])!r})
    sys.exit()
if "--help" in sys.argv:
    print({HELP!r})
    sys.exit()
output = next(Path(word.partition("=")[2]) for word in sys.argv if word.startswith("--output-file="))
source, folder = Path(sys.argv[-1]), Path({str(root)!r})
"""
    return program(root / "bin" / "tileiras", text + dedent(body))


def program(path: Path, text: str) -> Path:
    """An executable file that runs a piece of Python."""
    path.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -S - \"$@\" <<'END'\n{text}\nEND\n")
    path.chmod(0o755)
    return path
