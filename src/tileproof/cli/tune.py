"""`tileproof tune`: finds which kernel, tile sizes and schedule are fastest for some shapes, and records them."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tileproof import kernels
from tileproof.backends.cuda.assembler import toolchain
from tileproof.diagnostics import TileproofError
from tileproof.frontend.signature import parse
from tileproof.tuning import records, tuner
from tileproof.tuning.inputs import DTYPES, TuningError
from tileproof.tuning.places import place_for
from tileproof.tuning.provenance import is_cpu
from tileproof.tuning.records import SHIPPED, RecordError, read, read_as_it_is
from tileproof.tuning.tunables import Sizes, Tunable
from tileproof.tuning.tuner import Report

from .command_line import Commands, Progress, UsageError, add_command, count, print_findings, suggestion
from .kernel_file import load
from .sizes import read_sizes, to_fill_in

EXAMPLES = """\
examples:
  tileproof tune matmul --shapes "M=512,N=6144,K=2560"       the library's matmul, for this shape
  tileproof tune matmul --shapes "M=16|64|128,N=6144,K=2560" ... and for three numbers of rows
  tileproof tune all --shapes "M=16,N=4096,K=4096" --into records --minutes 10
  tileproof tune mine.py --kernel scale --shapes N=1048576   of a file with TUNABLES = (Tunable("scale", ...), ...)
  tileproof tune matmul --shapes "M=512,N=6144,K=2560" --arch sm_90 --compile-only
                                                             only compile, for a machine that has the GPU
  tileproof tune --check                                     is a record that launches would use stale?

Each candidate must compute what the default computes, on fresh random inputs, before it is timed, with cold caches. The
fastest runs against the default in turns, and replaces it if it is faster.

Records go into --into, or the folder TILEPROOF_RECORDS_DIR, or ./tileproof-records, one file for each tunable and
target. Launches use those in TILEPROOF_RECORDS_DIR before those that come with tileproof. A shape is recorded as soon
as it is tuned: after Ctrl-C, or when --minutes have passed, the same command continues with the others.

The exit code is 0 if every shape is tuned, 1 if one is not or a record is stale, 2 for wrong usage, 130 after
Ctrl-C.
"""
ALL = "all"
_FOLDER = "tileproof-records"


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = (
        "Measures the kernels, tile sizes and schedules that can do a piece of work, and records what "
        "is fastest on this machine's GPU or CPU."
    )
    parser = add_command(commands, "tune", summary, description, EXAMPLES)
    option = parser.add_argument
    option("what", metavar="NAME", nargs="?", help="a tunable of the library, all, or a Python file with TUNABLES")
    option("--kernel", metavar="NAME", help="this tunable of the file alone")
    sizes = 'the extents to tune for, "M=16|64,N=4096" for two shapes; may be repeated'
    option("--shapes", metavar="M=512,N=4096,...", action="append", default=[], help=sizes)
    option("--element", metavar="TYPE,...", help="the element type (default: bf16 on a GPU, f32 on the CPU)")
    option("--arch", metavar="ARCH", help="sm_90, or cpu (default: the first GPU here, else the CPU)")
    option("--into", metavar="DIR", help="the folder that records are written to")
    option("--again", action="store_true", help="also tune shapes that are already recorded there")
    option("--minutes", metavar="N", type=float, help="stop after N minutes; the same command continues")
    option("--jobs", metavar="N", type=int, help="how many to compile at a time (default: one for each core)")
    option("--seed", metavar="N", type=int, help="the same inputs each time (default: fresh ones)")
    option("--compile-only", action="store_true", help="fill the kernel cache, launch nothing; needs no GPU")
    option("--check", action="store_true", help="report which records are stale, and do nothing else")
    option("--verbose", action="store_true", help="print for every candidate why it was not chosen")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    try:
        if options.check:
            return _check(options)
        tunables = _chosen(options)
        shapes = [sizes for text in options.shapes for sizes in read_sizes(text)]
        if not shapes:
            raise UsageError(f'give the sizes to tune for: --shapes "{to_fill_in(tunables[0].kernels[0])}"')
        elements = _elements(options.element)
        for name, least in (("jobs", 1), ("minutes", 0)):
            value = getattr(options, name)
            if value is not None and value < least:
                raise UsageError(f"--{name} {value}: at least {least}")
        carried = _compile if options.compile_only else _tune
        return carried(options, tunables, shapes, elements)
    except TuningError as error:
        raise UsageError(str(error)) from None
    except TileproofError as error:  # of the machine: no assembler, a driver that is too old
        print_findings(error.diagnostics)
        return 1


# What is tuned.


def library() -> dict[str, Tunable]:
    """The tunables of the kernel library, by name."""
    tunables: dict[str, Tunable] = {}
    for family in kernels.FAMILIES:
        name = f"{kernels.__name__}.{family}"
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            tunables |= {tunable.name: tunable for tunable in getattr(module, "TUNABLES", ())}
    return tunables


def _chosen(options: argparse.Namespace) -> list[Tunable]:
    if options.what is None:
        raise UsageError("name what to tune: a tunable such as matmul, all, or a Python file with TUNABLES")
    if options.what.endswith(".py") or os.sep in options.what:
        return _of_file(options.what, options.kernel)
    if options.kernel is not None:
        raise UsageError(f"--kernel is about a file: write `tileproof tune {options.kernel}`, or name the file first")
    known = library()
    if options.what == ALL:
        return [item for item in known.values() if _takes(item, options.shapes)] or _none_takes(known, options.shapes)
    if options.what not in known:
        there = f"there are {', '.join(sorted(known))}"
        raise UsageError(f"{options.what}: there is no tunable of that name{suggestion(options.what, known)}; {there}")
    return [known[options.what]]


def _takes(tunable: Tunable, shapes: Sequence[str]) -> bool:
    """Whether the shapes are about the dimensions of a tunable: of all there are, most have others."""
    for text in shapes:
        for sizes in read_sizes(text):
            if not sizes.keys() <= set(parse(tunable.kernels[0]).signature.dimensions):
                return False
            try:
                tuner.results_of(tunable, [sizes], "f32", "cpu")
            except TuningError:
                return False
    return True


def _none_takes(known: dict[str, Tunable], shapes: Sequence[str]) -> list[Tunable]:
    raise UsageError(f"--shapes {' '.join(shapes)}: no tunable has these dimensions; there are {', '.join(known)}")


def _of_file(file: str, kernel: str | None) -> list[Tunable]:
    loaded = load(file)
    if loaded.problems:
        raise UsageError("\n".join(f"{problem.message}; {problem.help}" for problem in loaded.problems))
    tunables: tuple[Tunable, ...] = ()
    if loaded.kernels:
        tunables = tuple(loaded.kernels[0].function.__globals__.get("TUNABLES", ()))
    if not tunables:
        raise UsageError(f"{file} has no TUNABLES: write `TUNABLES = (Tunable(...),)` next to its kernels")
    if kernel is None:
        return list(tunables)
    chosen = [item for item in tunables if kernel in (item.name, *(variant.name for variant in item.kernels))]
    if not chosen:
        names = [tunable.name for tunable in tunables]
        raise UsageError(f"--kernel {kernel}: {file} tunes {', '.join(names)}{suggestion(kernel, names)}")
    return chosen


def _elements(text: str | None) -> list[str | None]:
    if text is None:
        return [None]
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in DTYPES:
            raise UsageError(f"--element {name}: there is no such type{suggestion(name, DTYPES)}")
    return list(names)


# What is done.


def _tune(
    options: argparse.Namespace, tunables: Sequence[Tunable], shapes: Sequence[Sizes], elements: Sequence[str | None]
) -> int:
    place = place_for(options.arch)
    into = Path(options.into or os.environ.get(records.VARIABLE) or _FOLDER)
    ends = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    is_finished = True
    for tunable in tunables:
        for element in elements:
            progress = Progress()
            minutes = None if ends is None else max(ends - time.monotonic(), 0.0) / 60
            try:
                report = tuner.tune(
                    tunable, shapes, element=element, place=place, into=into, again=options.again, minutes=minutes,
                    jobs=options.jobs, seed=options.seed, step=progress.step,
                )  # fmt: skip
            except KeyboardInterrupt:
                progress.clear()
                print(f"\nstopped; the shapes tuned so far are in {into}: the same command continues", file=sys.stderr)
                return 130
            progress.clear()
            is_finished &= _print(report, into, options.verbose)
    return 0 if is_finished else 1


def _print(report: Report, into: Path, verbose: bool) -> bool:
    """Shows what was found; whether every shape has it."""
    print(f"{report.tunable} on {report.target}, {report.device}")
    for line in report.lines():
        print(f"  {line}")
    for result in report.results:
        for label, text in result.problems.items():
            if verbose or text.startswith("wrong"):
                print(f"  {result.shape}: {label}: {text}")
    if report.path is not None:
        print(f"the records are in {report.path}", end="")
        used = into.resolve() == SHIPPED or os.environ.get(records.VARIABLE) == str(into)
        print("" if used else f"; launches use it with {records.VARIABLE}={into}")
    if not report.is_finished:
        print("the time is over; the same command continues")
    return report.is_finished and all(result.best is not None for result in report.results)


def _compile(
    options: argparse.Namespace, tunables: Sequence[Tunable], shapes: Sequence[Sizes], elements: Sequence[str | None]
) -> int:
    arch = options.arch
    known = toolchain.find().architectures
    if arch is None or is_cpu(arch) or arch not in known:
        raise UsageError(f"--compile-only is for a GPU: say which with --arch; there are {', '.join(known)}")
    for tunable in tunables:
        for element in elements:
            progress = Progress()
            results = tuner.results_of(tunable, shapes, element, arch)
            tuner.compile_candidates(tunable, results, arch, options.jobs, progress.step)
            progress.clear()
            for result in results:
                compiled = len(result.candidates) - len(result.problems)
                print(f"{tunable.name} {result.shape}: {compiled} compiled, {len(result.problems)} rejected")
                for label, reason in result.problems.items():
                    print(f"  {label}: {reason}")
    return 0


def _check(options: argparse.Namespace) -> int:
    """Every record that launches would look at here, or in a folder."""
    known = library()
    folders = [Path(options.into)] if options.into else list(records.folders())
    stale = total = 0
    for path in sorted(path for folder in folders if folder.is_dir() for path in folder.glob("*.json")):
        total += 1
        try:
            record = read_as_it_is(path)
            if record.tunable not in known:
                raise RecordError(f"{path} is about `{record.tunable}`, which is no tunable: remove it")
            entries = read(path, known[record.tunable].kernels).entries
        except RecordError as error:
            stale += 1
            print(error)
        else:
            print(f"{path}: {count(len(entries), 'shape')}, fresh")
    print(f"{count(total, 'file')} of records, {stale} stale")
    return 1 if stale else 0
