"""NVIDIA's assembler of Tile IR: where it is installed, which version it is, and whether its parts belong together.

Three programs make one assembler: `tileiras` reads the bytecode, `libnvvm` makes PTX of it, `ptxas` makes machine code
of that. They are looked for in one place, the first that has `tileiras`: where `TILEPROOF_TILEIRAS` says, the packages
of this Python, `CUDA_HOME`, `CUDA_PATH`, `PATH`. There is no second choice if that place turns out to be broken: it
would be used without anybody knowing.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError

VARIABLE: Final = "TILEPROOF_TILEIRAS"
HOMES: Final = ("CUDA_HOME", "CUDA_PATH")
OLDEST: Final = (13, 3)
"""The first release that makes code for every architecture from sm_80 on."""
NEWEST_BYTECODE: Final = (13, 4)
"""The newest format that kernels are written in."""
INSTALL: Final = "pip install 'tileproof[cuda]'"
UPGRADE: Final = "pip install --upgrade 'tileproof[cuda]'"
_LIBRARIES: Final = ("nvvm/lib64/libnvvm.so", "lib/libnvvm.so.4")
"""Where `tileiras` itself looks for the library, in its order."""
_RELEASE: Final = re.compile(rb"Cuda compilation tools, release \d+\.\d+, V(\d+\.\d+\.\d+)")
ARCHITECTURES: Final = tuple(f"sm_{number}" for number in (80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121))
"""What every release since `OLDEST` makes code for, should one no longer list them."""
_PATIENCE: Final = 30.0
"""Seconds for a program to say its version, which takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """An assembler that can be used: its parts are there and of one release, which is new enough."""

    tileiras: Path
    ptxas: Path
    libnvvm: Path
    version: str
    """As `tileiras` says it: `13.4.92`."""
    architectures: tuple[str, ...]
    """The GPUs it makes code for: `sm_80`, `sm_90` and so on."""

    @property
    def root(self) -> Path:
        """The folder that holds all parts."""
        return self.tileiras.parent.parent

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor number."""
        return _release(self.version)

    @property
    def bytecode(self) -> tuple[int, int]:
        """The format to write for it: the newest that both sides know."""
        return min(self.release, NEWEST_BYTECODE)

    def supports(self, arch: str) -> bool:
        """Whether it makes code for an architecture such as `sm_90`."""
        return arch in self.architectures

    def environment(self) -> dict[str, str]:
        """The variables to run it with: those of this process, except that all parts come from this toolchain."""
        kept = {name: value for name, value in os.environ.items() if name not in HOMES}
        path = os.pathsep.join(filter(None, (str(self.tileiras.parent), os.environ.get("PATH"))))
        return kept | {"CUDA_ROOT": str(self.root), "PATH": path}  # CUDA_ROOT is what tileiras asks for first


def find() -> Toolchain:
    """The assembler of this machine; TP0911 or TP0912 if there is none that can be used.

    Its programs are asked for their versions once in a process, and again if the files change.
    """
    tileiras = _locate()
    ptxas, libnvvm = _companions(tileiras)
    return _verified(tileiras, ptxas, libnvvm, tuple(_stamp(path) for path in (tileiras, ptxas, libnvvm)))


def _locate() -> Path:
    """The `tileiras` to use, with links resolved: it looks for its parts around the file itself."""
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            help = f"give the path of the program `tileiras`, or unset {VARIABLE} and {INSTALL}"
            raise _refusal(Code.NO_ASSEMBLER, f"{VARIABLE} is {named!r}, and there is no such file", help=help)
        return Path(named).resolve()
    tileiras = next((path for path in _places() if path.is_file()), None)
    if tileiras is None:
        searched = f"the packages of this Python, {', '.join(HOMES)} and PATH have no `tileiras`"
        raise _refusal(Code.NO_ASSEMBLER, "the assembler for GPU code is not installed", searched, help=INSTALL)
    return tileiras.resolve()


def _places() -> Iterator[Path]:
    """Where `tileiras` may be, best first."""
    nvidia = importlib.util.find_spec("nvidia")  # a namespace: to find it imports nothing
    for folder in (nvidia and nvidia.submodule_search_locations) or ():
        yield Path(folder, "cu13", "bin", "tileiras")
    for home in HOMES:
        if os.environ.get(home):
            yield Path(os.environ[home], "bin", "tileiras")
    on_path = shutil.which("tileiras")
    if on_path:
        yield Path(on_path)


def _companions(tileiras: Path) -> tuple[Path, Path]:
    """`ptxas` and `libnvvm` of the folder that `tileiras` is in."""
    root = tileiras.parent.parent
    ptxas = tileiras.with_name("ptxas")
    libnvvm = next((root / name for name in _LIBRARIES if (root / name).is_file()), None)
    missing = [name for name, there in (("ptxas", ptxas.is_file()), ("libnvvm", libnvvm is not None)) if not there]
    if libnvvm is None or missing:
        note = f"`tileiras` is {tileiras}, and the others must be in {root} too"
        message = f"a part of the assembler for GPU code is not installed: {', '.join(missing)}"
        raise _refusal(Code.NO_ASSEMBLER, message, note, help=INSTALL)
    return ptxas, libnvvm


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when a file is replaced."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _verified(tileiras: Path, ptxas: Path, libnvvm: Path, stamps: tuple[tuple[int, int], ...]) -> Toolchain:
    """The parts as a toolchain, if their versions fit. `stamps` only tells one installation from the next."""
    version = _printed_version(tileiras)
    versions = {"tileiras": version, "ptxas": _printed_version(ptxas), "libnvvm": _embedded_version(libnvvm)}
    listed = ", ".join(f"{name} {version or 'unknown'}" for name, version in versions.items())
    releases = {_release(version) for version in versions.values() if version}
    if len(releases) > 1:
        message = "the parts of the assembler for GPU code are of different releases"
        raise _refusal(Code.ASSEMBLER_VERSION, message, listed, f"they are in {tileiras.parent.parent}", help=UPGRADE)
    if min(releases) < OLDEST:
        message = f"the assembler for GPU code is older than {OLDEST[0]}.{OLDEST[1]}"
        raise _refusal(Code.ASSEMBLER_VERSION, message, listed, f"it is {tileiras}", help=UPGRADE)
    known = re.findall(r"^\s*=(sm_\d+)\b", _output(tileiras, "--help").decode(errors="replace"), re.MULTILINE)
    return Toolchain(tileiras, ptxas, libnvvm, version, tuple(known) or ARCHITECTURES)


def _printed_version(program: Path) -> str:
    """The version that a program prints."""
    text = _output(program, "--version")
    match = _RELEASE.search(text)
    if match is None:
        first = text.decode(errors="replace").strip().partition("\n")[0][:100]
        note = f"asked for it, the program says {first!r}"
        message = f"the version of `{program}` cannot be read"
        raise _refusal(Code.ASSEMBLER_VERSION, message, note, help=UPGRADE)
    return match[1].decode()


def _output(program: Path, option: str) -> bytes:
    """What a program prints for one option."""
    try:
        done = subprocess.run(
            [program, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
        )
    except OSError as error:
        message = f"`{program}` is there, but cannot be run"
        reason = error.strerror or str(error)
        raise _refusal(Code.NO_ASSEMBLER, message, reason, help=f"install it anew: {UPGRADE}") from error
    except subprocess.TimeoutExpired as error:
        message = f"the version of `{program}` cannot be read"
        note = f"it did not answer within {_PATIENCE:g} seconds"
        raise _refusal(Code.ASSEMBLER_VERSION, message, note, help=UPGRADE) from error
    return done.stdout


def _embedded_version(library: Path) -> str | None:
    """The version written in a library; None if it is not found there, which says nothing against it."""
    if not library.stat().st_size:
        return None  # nothing to map into memory
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data.rfind(b"Cuda compilation tools, release ")  # from the end: strings stand after the code
        match = _RELEASE.match(data, start) if start >= 0 else None
        return match[1].decode() if match else None


def _release(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def _refusal(code: Code, message: str, *notes: str, help: str) -> LaunchError:
    return LaunchError(Diagnostic(code, message, notes=notes, help=help))
