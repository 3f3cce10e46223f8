"""`tileproof doctor`: what is installed, which backends work here, and what to do about the rest."""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from .cache import configured, counted, shown_size
from .usage import installed_version, wants_color

CORE = ("numpy", "ml_dtypes", "llvmlite", "z3-solver")
EXTRAS = {
    "cuda": ("cuda-bindings", "nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm"),
    "llm": ("safetensors", "tokenizers", "jinja2", "gguf"),
    "serve": ("fastapi", "uvicorn"),
}
_MARKS = {"ok": ("ok", "32"), "missing": ("--", "33"), "broken": ("!!", "31")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, how it is, and the cure where it needs one."""

    state: str
    what: str
    how: str
    cure: str = ""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser], summary: str) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "doctor",
        help=summary,
        description="Looks at Python, packages, backends and GPUs. Exits 1 if tileproof cannot run a kernel.",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Carries the command out; gives the exit code."""
    color = wants_color(sys.stdout)
    healthy = True
    for heading, look in (("This machine", _machine), ("Packages", _packages), ("Backends", _backends)):
        print(heading)
        for finding in look():
            healthy &= finding.state != "broken"
            print(_line(finding, color))
        print()
    print("tileproof works here" if healthy else "tileproof does not work here: see the lines marked !!")
    return 0 if healthy else 1


def _line(finding: Finding, color: bool) -> str:
    mark, shade = _MARKS[finding.state]
    shown = f"\x1b[{shade}m{mark}\x1b[0m" if color else mark
    line = f"  {shown} {finding.what:<24} {finding.how}"
    return f"{line}\n     {'':<24} cure: {finding.cure}" if finding.cure else line


def _machine() -> Iterator[Finding]:
    yield Finding("ok", "tileproof", installed_version())
    new_enough = sys.version_info >= (3, 11)
    cure = "" if new_enough else "tileproof needs Python 3.11 or newer"
    yield Finding("ok" if new_enough else "broken", "Python", platform.python_version(), cure)
    yield Finding("ok", "system", f"{platform.system()} {platform.machine()}")
    yield _cache()


def _cache() -> Finding:
    info = configured().info()
    if info.path is None:
        return Finding("missing", "kernel cache", info.problem)
    if info.problem:
        cure = "TILEPROOF_CACHE_DIR names another folder; `off` does without one"
        return Finding("missing", "kernel cache", f"{info.path}: {info.problem}", cure)
    held = f"{counted(info.entries)}, {shown_size(info.bytes)} of {shown_size(info.limit)}"
    return Finding("ok", "kernel cache", f"{info.path}: {held}")


def _packages() -> Iterator[Finding]:
    for name in CORE:
        found = _version(name)
        cure = "" if found else "pip install --upgrade tileproof"
        yield Finding("ok" if found else "broken", name, found or "not installed", cure)
    for extra, names in EXTRAS.items():
        missing = [name for name in names if _version(name) is None]
        if missing:
            how = f"not installed: {', '.join(missing)}"
            yield Finding("missing", f"extra [{extra}]", how, f"pip install 'tileproof[{extra}]'")
        else:
            yield Finding("ok", f"extra [{extra}]", ", ".join(f"{name} {_version(name)}" for name in names))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _backends() -> Iterator[Finding]:
    yield _tried("interpreter", _try_interpreter)
    yield Finding("missing", "cpu", "not part of this version; kernels run on the interpreter")
    yield Finding("missing", "cuda", f"not part of this version; {_cuda()}")


def _tried(name: str, work: Callable[[], None]) -> Finding:
    try:
        work()
    except Exception as error:  # whatever it is, the user wants to read it here
        return Finding("broken", name, f"{type(error).__name__}: {error}", "report this with the lines above")
    return Finding("ok", name, "runs a kernel")


def _try_interpreter() -> None:
    from tileproof.runtime.launch import interpret

    from . import sample

    x = np.arange(10, dtype=np.float32)
    y = np.zeros_like(x)
    interpret(sample.double, y, x, B=4)
    if not (y == 2 * x).all():
        raise ArithmeticError("a kernel gave the wrong result")


def _cuda() -> str:
    """What there is of a CUDA machine: driver, GPUs, assembler."""
    parts = []
    library = ctypes.util.find_library("cuda") or "libcuda.so.1"
    try:
        driver = ctypes.CDLL(library)
        count = ctypes.c_int(0)
        works = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        parts.append(f"{count.value} GPU{'s' * (count.value != 1)}" if works else "a driver without GPU")
    except OSError:
        parts.append("no NVIDIA driver")
    found = shutil.which("tileiras") or next((str(path) for path in _nvidia("bin/tileiras")), None)
    parts.append("assembler found" if found else "no assembler (tileiras)")
    return ", ".join(parts)


def _nvidia(tail: str) -> Iterator[Path]:
    """Files that NVIDIA's packages put beside this one's installation."""
    for folder in sys.path:
        yield from Path(folder).glob(f"nvidia/*/{tail}") if folder else ()
