"""The benchmarks: everything that this machine can run, each row against its peers and the hardware's limit.

    python -m benchmarks                     all sections that can run here, saved, with pages and pictures
    python -m benchmarks gpu                 kernels of the library on the GPU: against cuBLAS, cuDNN, torch, Triton
    python -m benchmarks cpu                 the same on the CPU: against torch, numpy and what the machine can do
    python -m benchmarks host                what launches, graphs and tensors cost the host
    python -m benchmarks compile             from source to GPU code; needs no GPU
    python -m benchmarks llm                 the engine on the CPU against llama.cpp; not among all: it takes a while
    python -m benchmarks serving             the server on the CPU against llama-server, under load
    tileproof bench --suite h200             the engine on an H200 next to its peers; not among all either
    python -m benchmarks pages               only makes pages and pictures anew from the data that is there

A section has options of its own: `python -m benchmarks gpu --help` prints them. Those that most have:

    --list                 the names of rows
    --rows WORD ...        rows of these groups, or with these words in their names
    --quick                a look: few rounds; not for keeping
    --save FOLDER          where results are kept; a folder for each machine is made there
    --check                (gpu) proves and compiles every launch for an H200, without a GPU

Results are kept as data, <device>/*.json; pages and pictures are made of them. What people have to say of rows, they
write into <device>/tried.md. A run of some rows replaces these and leaves the others. Nothing else should run then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module, util
from pathlib import Path
from typing import Any, Final

from tileproof.diagnostics.errors import TileproofError

from .harness.device import cpu_slug
from .harness.page import RESULTS, Section, write_pages

SECTIONS: Final = ("gpu", "cpu", "host", "compile", "llm", "serving")
_MODULES: Final = {
    "gpu": "kernels.command", "cpu": "kernels.command", "host": "host.command", "compile": "compile.command",
    "llm": "engine.llm", "serving": "engine.serving",
}  # fmt: skip


def section(name: str) -> Callable[[Sequence[str]], int]:
    """The command of a section."""
    main: Any = import_module(f".{_MODULES[name]}", __package__).main
    return partial(main, name) if name in ("gpu", "cpu") else main  # type: ignore[no-any-return]


def pages_of() -> list[Section]:
    """What pages are made of, in order."""
    from .compile.command import SECTION as COMPILE
    from .engine.report import H200, LLM
    from .host.command import SECTIONS as HOST
    from .kernels.command import CPU, GPU

    return [GPU, CPU, *HOST, COMPILE, H200, LLM]


def has_gpu() -> bool:
    """Whether torch can reach a GPU."""
    if util.find_spec("torch") is None:
        return False
    return bool(import_module("torch").cuda.is_available())


def has_assembler() -> bool:
    """Whether GPU code can be made here."""
    from tileproof.backends.cuda.assembler import toolchain

    try:
        toolchain.find()
    except TileproofError:
        return False
    return True


def runs(quick: bool, into: Path) -> list[tuple[str, list[str]]]:
    """The sections that can run here, with their options."""
    more = ["--save", str(into), *(["--quick"] if quick else [])]
    if has_gpu():
        return [("gpu", more), ("host", ["--device", "cuda", *more])]
    return [("cpu", more), ("host", more), *([("compile", ["--save", str(into)])] if has_assembler() else [])]


def everything(arguments: Sequence[str]) -> int:
    """All sections that can run here, then the pages."""
    quick, rest = "--quick" in arguments, [argument for argument in arguments if argument != "--quick"]
    into = Path(rest[1]) if rest[:1] == ["--save"] and len(rest) == 2 else RESULTS
    if rest and (rest[:1] != ["--save"] or len(rest) != 2):
        raise SystemExit(f"{' '.join(rest)} is for one section: {', '.join(SECTIONS)}; see --help")
    wrong = 0
    for name, options in runs(quick, into):
        print(f"== {name}", file=sys.stderr, flush=True)
        wrong |= section(name)(options)
    return wrong | pages(into)


def pages(into: Path) -> int:
    """Makes all pages and pictures anew."""
    for page in write_pages(pages_of(), into):
        print(f"written: {page}")
    return 0


def main(arguments: Sequence[str]) -> int:
    """Runs what is asked for."""
    if {"-h", "--help"} & set(arguments[:1]):
        print((__doc__ or "").rstrip())
        print(f"\nThis machine: {cpu_slug()}{', and a GPU' if has_gpu() else ', no GPU'}")
        return 0
    name, *rest = arguments or [""]
    if name == "pages":
        if rest and not Path(rest[0]).is_dir():
            print(f"`{rest[0]}` is no folder of results: python -m benchmarks pages [FOLDER]", file=sys.stderr)
            return 2
        return pages(Path(rest[0]) if rest else RESULTS)
    if name in SECTIONS:
        done = section(name)(rest)
        if "--save" in rest:
            pages(Path(rest[rest.index("--save") + 1]))
        return done
    return everything(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
