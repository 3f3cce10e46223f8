"""`tileproof compile`: proves kernels, compiles them for GPUs that need not be here, and packs the results."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tileproof import __version__
from tileproof.backends.cuda.assembler import toolchain
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.loaded_code import Code as MachineCode
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.printer import show
from tileproof.compiler.bundles import read_bundle
from tileproof.diagnostics import Code, Diagnostic, KernelError, Source, TileproofError, display_path
from tileproof.diagnostics.values import in_words
from tileproof.language.kernel import Kernel, Schedule
from tileproof.runtime.launch.ahead_of_time import CompiledVariant, Launch, Plan, compile_all, plan_launch, write_bundle
from tileproof.tuning import Choice, Tunable
from tileproof.tuning.inputs import DTYPES, TuningError, arguments_of, stand_ins

from . import constants
from .command_line import Commands, Progress, UsageError, add_command, count, named_values, print_findings, suggestion
from .kernel_file import last_line, load
from .sizes import read_launches, to_fill_in

NAME: Final = "arguments"
"""The function of a file that gives a launch of its kernel."""


def numbered(launches: Sequence[Launch]) -> list[Launch]:
    """The launches of one kernel, the second called `double.2` and so on."""
    first, rest = launches[:1], enumerate(launches[1:], start=2)
    return [*first, *(replace(launch, name=f"{launch.name}.{number}") for number, launch in rest)]


def of_sizes(kernel: Kernel, text: str, elements: str | None, values: Mapping[str, int]) -> Iterator[Launch]:
    """Launches with arguments of these sizes, `M=16|64,K=128`, and element types, `bf16` or `T=bf16,x=f32`."""
    types = {"": "f32"}
    for item in filter(None, (part.strip() for part in (elements or "").split(","))):
        name, sign, dtype = (part.strip() for part in item.partition("="))
        name, dtype = (name, dtype) if sign else ("", name)
        if dtype not in DTYPES:
            raise UsageError(f"--element {item}: there is no such type{suggestion(dtype, DTYPES)}")
        types[name] = dtype
    named = constants.for_kernel(kernel, values)
    for sizes, scalars in read_launches(kernel, text):
        work = Tunable(
            kernel.name, (kernel,), lambda *_: Choice(kernel), lambda *_: (), scalars=scalars, types=types
        )
        yield Launch(kernel.name, kernel, stand_ins(arguments_of(work, sizes, types[""], named)), named)


def of_file(kernel: Kernel, values: Mapping[str, int], *, is_alone: bool) -> list[Launch]:
    """The launches that `arguments()` of the kernel's file gives for this kernel.

    It returns a list of arguments and a dict of constants, a list of such pairs, or a dict of either by the names of
    kernels.
    """
    function = kernel.function.__globals__.get(NAME)
    if not callable(function):
        return []
    returned = _called(kernel, function)
    if isinstance(returned, dict):
        returned = returned.get(kernel.name, [])
    elif not is_alone:
        return []
    pairs = returned if isinstance(returned, list) else [returned]
    launches = []
    for pair in pairs:
        match pair:
            case (list() | tuple() as args, dict() as named):
                launches.append(Launch(kernel.name, kernel, args, {**named, **constants.for_kernel(kernel, values)}))
            case _:
                raise KernelError(_not_arguments(kernel, pair))
    return launches


def _not_arguments(kernel: Kernel, returned: object) -> Diagnostic:
    return Diagnostic(
        Code.IMPORT_FAILED,
        f"`{NAME}()` of `{display_path(kernel.filename)}` gives {type(returned).__name__}, not arguments",
        help="return a list of arguments and a dict of constants: `return [y, x], {}`; for several kernels a dict of "
        f"such pairs: `return {{{kernel.name!r}: ([y, x], {{}})}}`",
        kernel=kernel.name,
    )


def _called(kernel: Kernel, function: Callable[[], Any]) -> Any:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return function()
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines()
        raised = type(error).__name__ + (f": {lines[0]}" if lines else "")
        raise KernelError(
            Diagnostic(
                Code.IMPORT_FAILED,
                f"`{NAME}()` of `{display_path(kernel.filename)}` raises {raised}",
                last_line(error.__traceback__, Source(kernel.filename, kernel.source_lines)),
                label="raised here",
                help=f"`{NAME}()` gives the arguments of a launch to compile for; --shapes does without it",
                kernel=kernel.name,
            )
        ) from None


def unknown(kernel: Kernel) -> str:
    """What to do where no launch is known, with a `--shapes` to fill in."""
    command = f'--kernel {kernel.name} --shapes "{to_fill_in(kernel)}"'
    return f"give {command}, or let {NAME}() in the file return one"


EXAMPLES = """\
examples:
  tileproof compile matmul.py --arch sm_90                    for an H100, with or without one at hand
  tileproof compile src/*.py --arch sm_80,sm_90 -o app.tpb    as a bundle, for tp.load_bundle("app.tpb")
  tileproof compile matmul.py --kernel matmul --arch sm_90 \\
      --shapes M=4096,N=4096,K=4096 --element bf16 --with BM=128 --with BN=256 \\
      --schedule persistent,group=8,warps=8                   one kernel, for a launch like this one
  tileproof compile matmul.py --arch sm_90 --remarks          and how its tiles are loaded and multiplied
  tileproof compile matmul.py --arch sm_90 --emit text out    and its Tile IR, in out/matmul.sm_90.txt
  tileproof compile --list app.tpb                            what is in a bundle

A kernel is compiled for a launch, or several. Without --shapes they are what the function `arguments()` of the file
returns: a list of arguments and a dict of constants, a list of such pairs, or a dict of these by kernel. Sizes matter
little: the code depends on element types, constants, strides, and on which powers of two up to 16 and which tile sizes
divide the extents.

--shapes has the extents of dimensions, and scalars: M=512,N=4096,scale=0.5. --element has the element types that the
signature leaves open, for all or by name: bf16, or T=bf16,x=f32. Arrays have no gaps and begin at multiples of 16
bytes.

The results are in the kernel cache afterwards; `kept` in the table means that they were there before. `spills` are
bytes per thread that do not fit its registers. The exit code is 0 if all was compiled, 1 if something was not, 2 for
wrong usage.
"""
EMITTED: Final = {"bytecode": "tilebc", "text": "txt", "cubin": "cubin"}
"""What can be written for each kernel, and how its file ends."""
_TRUTHS: Final = {"true": True, "false": False}
_COLUMNS: Final = {"bytecode": 9, "assembler": 10, "registers": 10, "spills": 7, "shared": 10, "code": 10}
"""The columns of the table, and how wide they are."""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = (
        "Proves the kernels of some files, compiles them for NVIDIA GPUs, and prints the resources that they use. "
        "Needs no GPU."
    )
    parser = add_command(commands, "compile", summary, description, EXAMPLES)
    option = parser.add_argument
    option("files", metavar="FILE", nargs="*", help="a Python file with kernels")
    option("--arch", metavar="ARCH,...", help="for which GPUs: sm_90,sm_100 (default: those of this machine)")
    option("--kernel", metavar="NAME", help="this kernel alone")
    shapes = "the extents of a launch to compile one kernel for; may be repeated"
    option("--shapes", metavar="M=512,N=4096,...", action="append", default=[], help=shapes)
    option("--element", metavar="TYPE|T=TYPE,...", help="the element types of that launch (default: f32)")
    constants.add_option(parser, "Without it constants are those of the launch, or their defaults")
    option("--schedule", metavar="NAME=VALUE,...", help="the fields of a tp.Schedule, such as group=8,warps=8")
    option("-o", "--output", metavar="BUNDLE", help="write all results into one file")
    written = f"write files into a folder: {', '.join(EMITTED)}; may be repeated"
    option("--emit", action="append", nargs=2, metavar=("KIND", "DIR"), default=[], help=written)
    option("--remarks", action="store_true", help="print how tiles are loaded, stored and multiplied")
    option("--jobs", metavar="N", type=int, help="how many to assemble at a time (default: one for each core)")
    option("--verbose", action="store_true", help="print the assembler's own output")
    option("--list", metavar="BUNDLE", help="print the contents of a bundle, and compile nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    started = time.perf_counter()
    try:
        if options.list is not None:
            return _list(options)
        if not options.files:
            raise UsageError("name a Python file with kernels, or a bundle: --list BUNDLE")
        if options.jobs is not None and options.jobs < 1:
            raise UsageError(f"--jobs {options.jobs}: at least one must run")
        _demand_kinds(options.emit)
        archs = _archs(options.arch)
        schedule = _schedule(options.schedule)
        plans, failed = _plans(options, archs, schedule)
        variants = _compiled(plans, options)
    except TuningError as error:
        raise UsageError(str(error)) from None
    except TileproofError as error:  # of the machine: no assembler, a bundle that is none
        print_findings(error.diagnostics)
        return 1
    failures = [variant.outcome for variant in variants if isinstance(variant.outcome, TileproofError)]
    print_findings(_distinct(failures))
    _print_remarks(variants, options.remarks)
    _emit(variants, options.emit)
    kept = sum(variant.is_kept for variant in variants)
    good = len(variants) - len(failures)
    kernels = len({id(plan.proved.kernel.function) for plan in plans})
    print(_summary(kernels, len(archs), good, kept, failed + len(failures), time.perf_counter() - started))
    if options.output is not None:
        return _bundle(options.output, variants, bool(failures or failed or not variants))
    return 1 if failures or failed else 0


# What to compile.


def _archs(text: str | None) -> tuple[str, ...]:
    known = toolchain.find().architectures
    if text is None:
        here = tuple(dict.fromkeys(driver.Device(number).arch for number in range(driver.device_count())))
        if not here:
            raise UsageError(f"there is no GPU here: say for which to compile, as in --arch sm_90; {_there(known)}")
        return here
    archs = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for arch in archs:
        if arch not in known:
            raise UsageError(f"--arch {arch}: there is no such architecture{suggestion(arch, known)}; {_there(known)}")
    if not archs:
        raise UsageError(f"--arch names no architecture; {_there(known)}")
    return archs


def _there(known: Sequence[str]) -> str:
    return f"there are {', '.join(known)}"


def _schedule(text: str | None) -> Schedule | None:
    """`persistent,group=8` as a schedule."""
    if text is None:
        return None
    fields: dict[str, int | bool] = {}
    for name, sign, value in named_values("--schedule", text, "a field of a schedule, such as warps=8"):
        if name not in Schedule.__slots__:
            there = f"a schedule has {', '.join(Schedule.__slots__)}"
            raise UsageError(f"--schedule {name}: no schedule has that{suggestion(name, Schedule.__slots__)}; {there}")
        try:
            fields[name] = _TRUTHS[value.lower()] if value.lower() in _TRUTHS else int(value) if sign else True
        except ValueError:
            raise UsageError(f"--schedule {name}={value}: the value is a number, true or false") from None
    try:
        return Schedule(**fields)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(f"--schedule: {error}") from None


def _plans(options: argparse.Namespace, archs: Sequence[str], schedule: Schedule | None) -> tuple[list[Plan], int]:
    """The launches of all kernels, proved; and how many kernels or files have none."""
    files = [load(file) for file in dict.fromkeys(options.files)]
    kernels = [kernel for file in files for kernel in file.kernels if options.kernel in (None, kernel.name)]
    _demand_kernel(options.kernel, kernels, [kernel.name for file in files for kernel in file.kernels])
    values = dict(options.constants)
    constants.demand_known(values, kernels)
    if options.shapes and len(kernels) != 1:
        names = ", ".join(kernel.name for kernel in kernels) or "none"
        raise UsageError(f"--shapes is about one kernel: choose it with --kernel; there are {names}")
    progress = Progress()
    plans: list[Plan] = []
    failed = proved = 0
    for loaded in files:
        if loaded.problems:
            failed += 1
            print_findings(loaded.problems)
        elif not loaded.kernels:
            print(f"{display_path(loaded.file)}: no kernels")
        for kernel in loaded.kernels:
            if options.kernel not in (None, kernel.name):
                continue
            try:
                alone = len(loaded.kernels) == 1 or options.kernel is not None
                launches = _launches(kernel, options, values, schedule, alone)
                if not launches:
                    progress.clear()
                    failed += 1
                    print(f"{display_path(loaded.file)}: {kernel.name}: no launch is known; {unknown(kernel)}")
                plans += [plan_launch(launch, archs) for launch in launches]
            except TileproofError as error:
                progress.clear()
                failed += 1
                print_findings(error.diagnostics)
                print(f"{display_path(loaded.file)}: {kernel.name}: rejected")
            proved += 1
            progress.step("kernels proved", proved, len(kernels))
    progress.clear()
    return plans, failed


def _launches(
    kernel: Kernel, options: argparse.Namespace, values: Mapping[str, int], schedule: Schedule | None, alone: bool
) -> list[Launch]:
    if options.shapes:
        launches = [launch for text in options.shapes for launch in of_sizes(kernel, text, options.element, values)]
    else:
        launches = of_file(kernel, values, is_alone=alone)
    if schedule is not None:
        laid = kernel.with_schedule(schedule)
        launches = [replace(launch, kernel=laid) for launch in launches]
    return numbered(launches)


def _demand_kernel(wanted: str | None, chosen: Sequence[Kernel], names: Sequence[str]) -> None:
    if wanted is not None and names and not chosen:
        raise UsageError(f"--kernel {wanted}: no file has it{suggestion(wanted, names)}; there are {', '.join(names)}")


# Compiling.


def _compiled(plans: Sequence[Plan], options: argparse.Namespace) -> list[CompiledVariant]:
    """Everything compiled, and a line printed for each."""
    wanted = [variant for plan in plans for variant in plan.variants]
    outcomes = compile_all(
        plans,
        workers=options.jobs,
        programs=any(kind != "cubin" for kind, _ in options.emit),
        verbose=options.verbose or None,
    )
    width = max(len(name) for name in ("kernel", *(plan.launch.name for plan in plans)))
    if wanted:
        print(_line("kernel", width, "arch", _COLUMNS), flush=True)
    progress = Progress()
    compiled: dict[int, CompiledVariant] = {}
    ordered: list[CompiledVariant] = []
    for outcome in outcomes:
        compiled[id(outcome.variant)] = outcome
        progress.clear()
        # Lines are in the order of the kernels.
        while len(ordered) < len(wanted) and id(wanted[len(ordered)]) in compiled:
            ordered.append(compiled[id(wanted[len(ordered)])])
            print(_table_row(ordered[-1], width), flush=True)
        progress.step("compiled", len(compiled), len(wanted))
    progress.clear()
    return ordered


def _table_row(variant: CompiledVariant, width: int) -> str:
    """One line: what a kernel takes on an architecture."""
    name, arch = variant.plan.launch.name, variant.variant.target.arch
    if not isinstance(variant.outcome, MachineCode):
        codes = ", ".join(dict.fromkeys(diagnostic.code.id for diagnostic in variant.outcome.diagnostics))
        return f"{_line(name, width, arch, [])}   rejected: {codes}"
    cells = (
        f"{1e3 * variant.seconds:.0f} ms" if variant.seconds else "-",
        "kept" if variant.is_kept else f"{variant.outcome.seconds:.2f} s",
        str(max(resource.registers for resource in variant.outcome.resources)),
        str(max(resource.spill_bytes for resource in variant.outcome.resources)),
        in_words(max(resource.shared_bytes for resource in variant.outcome.resources)),
        in_words(len(variant.outcome.cubin)),
    )
    return _line(name, width, arch, cells)


def _line(name: str, width: int, arch: str, cells: Iterable[str]) -> str:
    """Cells under their columns."""
    sized = zip(cells, _COLUMNS.values(), strict=False)
    return f"{name:<{width}}  {arch:<6}" + "".join(f" {cell:>{size}}" for cell, size in sized)


def _distinct(failures: Iterable[TileproofError]) -> list[Diagnostic]:
    return list(dict.fromkeys(finding for error in failures for finding in error.diagnostics))


def _print_remarks(variants: Sequence[CompiledVariant], wanted: bool) -> None:
    """Each sentence once for all architectures it is true of."""
    archs_of: dict[tuple[Plan, str, str], dict[str, None]] = {}
    for variant in variants:
        remarks = [("remark", f"line {remark.line}: {remark.text}") for remark in variant.remarks if wanted]
        for kind, text in (*(("warning", warning) for warning in variant.warnings), *remarks):
            archs_of.setdefault((variant.plan, kind, text), {})[variant.variant.target.arch] = None
    for (plan, kind, text), archs in archs_of.items():
        print(f"{kind}: {plan.launch.name} on {', '.join(archs)}: {text}")


def _summary(kernels: int, archs: int, good: int, kept: int, bad: int, seconds: float) -> str:
    what = f"{count(kernels, 'kernel')} for {count(archs, 'architecture')}: {good} compiled"
    before = f", {kept} of them before" if kept else ""
    return f"{what}{before}{f', {bad} rejected' if bad else ''} ({seconds:.2f} s)"


# What is written.


def _demand_kinds(emitted: Sequence[tuple[str, str]]) -> None:
    for kind, _ in emitted:
        if kind not in EMITTED:
            close = suggestion(kind, EMITTED)
            raise UsageError(f"--emit {kind}: that is not written{close}; there are {', '.join(EMITTED)}")


def _emit(variants: Sequence[CompiledVariant], wanted: Sequence[tuple[str, str]]) -> None:
    names = Counter((variant.plan.launch.name, variant.variant.target.arch) for variant in variants)
    for kind, folder in wanted:
        try:
            os.makedirs(folder, exist_ok=True)
            for compiled in variants:
                data = _content(compiled, kind)
                if data is not None:
                    name, arch = compiled.plan.launch.name, compiled.variant.target.arch
                    stem = Path(compiled.plan.launch.kernel.filename).stem
                    unique = f"{stem}.{name}" if names[name, arch] > 1 else name
                    Path(folder, f"{unique}.{arch}.{EMITTED[kind]}").write_bytes(data)
        except OSError as error:
            raise UsageError(f"--emit {kind} {folder}: {error.strerror or error}") from None


def _content(variant: CompiledVariant, kind: str) -> bytes | None:
    if kind == "cubin":
        return variant.outcome.cubin if isinstance(variant.outcome, MachineCode) else None
    if variant.program is None:
        return None
    bytecode = variant.program.bytecode
    return bytecode if kind == "bytecode" else show(decode(bytecode), locations=True).encode()


def _bundle(path: str, variants: Sequence[CompiledVariant], is_partial: bool) -> int:
    if is_partial:
        print(f"{path} is not written: a bundle holds all that was asked for")
        return 1
    nameless = sorted({variant.plan.launch.name for variant in variants if not variant.variant.key})
    if nameless:
        print_findings([_unkeyed(name) for name in nameless])
        return 1
    try:
        size = write_bundle(path, variants, version=__version__, assembler=toolchain.find().version)
    except TileproofError as error:  # it would be too large
        print_findings(error.diagnostics)
        return 1
    except OSError as error:
        raise UsageError(f"-o {path}: {error.strerror or error}") from None
    print(f"wrote {path}: {in_words(size)}")
    return 0


def _unkeyed(name: str) -> Diagnostic:
    return Diagnostic(
        Code.BAD_BUNDLE,
        f"`{name}` cannot be in a bundle: a value that it captures has no stable text for a key",
        help="capture only numbers, strings, tuples of them and plain functions of a file",
        kernel=name,
    )


def _list(options: argparse.Namespace) -> int:
    bundle = read_bundle(options.list)
    names = ", ".join(dict.fromkeys(kernel.kernel for kernel in bundle.kernels))
    makers = f"tileproof {bundle.version} and assembler {bundle.assembler}"
    print(f"{bundle.path}: {names}, {in_words(os.path.getsize(options.list))}, by {makers}")
    for entry in bundle.kernels:
        launch = " ".join((entry.shapes, *(f"{name}={value}" for name, value in entry.constants.items())))
        print(f"{entry.kernel} for {', '.join(entry.codes)}: {launch}")
    if not bundle.is_current:
        print("it serves another version of tileproof than this one: make it anew to use it here")
    return 0
