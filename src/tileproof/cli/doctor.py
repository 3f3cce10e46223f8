"""`tileproof doctor`: reports what is installed, which backends work, and how to fix the rest."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import numpy as np

import tileproof as tp
from tileproof import In, Out, __version__, f32
from tileproof.backends.cuda.assembler import toolchain
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Device
from tileproof.diagnostics import Code, LaunchError
from tileproof.diagnostics.values import in_words
from tileproof.runtime import native as fast
from tileproof.runtime.interop.describe import Array

from .cache import configured, entry_count
from .command_line import Commands, add_command, wants_color

CORE = ("numpy", "ml_dtypes", "llvmlite", "z3-solver")
EXTRAS = {
    "cuda": ("cuda-bindings", "nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm"),
    "llm": ("safetensors", "tokenizers", "jinja2", "gguf"),
    "serve": ("llguidance", "prometheus-client", "pydantic", "starlette", "uvicorn"),
}
_MARKS = {"ok": ("ok", "32"), "missing": ("--", "33"), "broken": ("!!", "31")}


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 1024) -> None:
    """Every element of x, doubled: the smallest kernel there is."""
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was checked, the result, and the cure where it needs one."""

    state: str
    what: str
    how: str
    cure: str = ""


EXAMPLES = """\
examples:
  tileproof doctor               what works here, and how to fix the rest
  tileproof doctor > found.txt   to send along with a question
"""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Checks Python, packages, backends and GPUs. Exits 1 if tileproof cannot run a kernel."
    parser = add_command(commands, "doctor", summary, description, EXAMPLES)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    color = wants_color(sys.stdout)
    healthy = True
    for heading, look in LOOKS:
        print(heading)
        for finding in look():
            healthy &= finding.state != "broken"
            print(_line(finding, color))
        print()
    print("tileproof works here" if healthy else "tileproof does not work here: see the lines marked !!")
    return 0 if healthy else 1


def _line(finding: Finding, color: bool) -> str:
    mark, shade = _MARKS[finding.state]
    label = f"\x1b[{shade}m{mark}\x1b[0m" if color else mark
    line = f"  {label} {finding.what:<24} {finding.how}"
    return f"{line}\n     {'':<24} cure: {finding.cure}" if finding.cure else line


def _machine() -> Iterator[Finding]:
    yield Finding("ok", "tileproof", __version__)
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
    contents = f"{entry_count(info.entries)}, {in_words(info.bytes)} of {in_words(info.limit)}"
    return Finding("ok", "kernel cache", f"{info.path}: {contents}")


def _packages() -> Iterator[Finding]:
    for name in CORE:
        installed = _version(name)
        cure = "" if installed else "pip install --upgrade tileproof"
        yield Finding("ok" if installed else "broken", name, installed or "not installed", cure)
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
    yield _tried("interpreter", lambda: _try_on_host("interpreter"))
    yield _tried("cpu", lambda: _try_on_host("cpu"))
    yield _tried("cuda", _try_on_gpu) if driver.device_count() else _without_gpu()


def _without_gpu() -> Finding:
    how = "no GPU can be used; `tileproof compile FILE --arch sm_90` compiles for one"
    return Finding("missing", "cuda", how, "see the lines on CUDA")


def _tried(name: str, work: Callable[[], None]) -> Finding:
    try:
        work()
    except LaunchError as error:
        (diagnostic,) = error.diagnostics
        state = "missing" if diagnostic.code is Code.NO_ASSEMBLER else "broken"
        return Finding(state, name, diagnostic.message, diagnostic.help)
    except Exception as error:  # whatever it is, the user wants to read it here
        return Finding("broken", name, f"{type(error).__name__}: {error}", "report this with the lines above")
    return Finding("ok", name, "runs a kernel")


def _try_on_host(backend: str) -> None:
    x = np.arange(10, dtype=np.float32)
    y = np.zeros_like(x)
    with tp.backend(backend):
        double(y, x, B=4)
    _demand_doubled(x, y)


def _try_on_gpu() -> None:
    x = np.arange(10, dtype=np.float32)
    y = tp.zeros(x.shape, device="cuda")
    with tp.backend("cuda"):
        double(y, tp.from_numpy(x, "cuda"), B=4)
    _demand_doubled(x, y.numpy())


def _demand_doubled(x: Array, y: Array) -> None:
    if not (y == 2 * x).all():
        raise ArithmeticError("a kernel gave the wrong result")


def _cuda() -> Iterator[Finding]:
    """The parts of the CUDA backend: what compiles for GPUs, what runs on them, and how launches get there."""
    yield _found("assembler", _assembler)
    yield _found("driver", lambda: f"for CUDA {driver.version()}")
    for ordinal in range(driver.device_count()):
        yield _found(f"GPU {ordinal}", lambda: _gpu(Device(ordinal)))  # noqa: B023
    how = fast.available()
    cure = "" if how.startswith("native") else "launches work, and each takes some microseconds more"
    yield Finding("ok" if not cure else "missing", "launch path", how, cure)


def _found(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding("ok", what, look())
    except LaunchError as error:
        (diagnostic,) = error.diagnostics
        return Finding("missing", what, "; ".join((diagnostic.message, *diagnostic.notes)), diagnostic.help)


def _assembler() -> str:
    tools = toolchain.find()
    return f"tileiras {tools.version} for {', '.join(tools.architectures)}, in {tools.root}"


def _gpu(device: Device) -> str:
    return f"{device.name}, {device.arch}, {in_words(device.total_memory)}"


LOOKS: Final = (("This machine", _machine), ("Packages", _packages), ("Backends", _backends), ("CUDA", _cuda))
"""The headings, and the checks under each."""
