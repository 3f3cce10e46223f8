"""`tileproof check`: reads kernels and reports what is wrong with them. Needs no GPU and launches nothing."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tileproof.diagnostics import Code, Diagnostic, TileproofError, render, shown_path, to_json, to_sarif
from tileproof.diagnostics.report import Checked
from tileproof.frontend.check import check_kernel

from . import constants
from .load import Loaded, load
from .usage import installed_version, wants_color

UNCHECKED = ("ownership", "bounds", "coverage")
"""Laws of the language that no analysis decides yet."""

EXAMPLES = """\
examples:
  tileproof check matmul.py                 every kernel of a file, for all sizes
  tileproof check attention.py --with D=64  with the dimension D known
  tileproof check src/*.py --format sarif   for a code host; json serves editors and agents

The exit code is 0 if every kernel is accepted, 1 if there are findings, 2 if the command is wrong.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="report what is wrong with the kernels of some files",
        description="Imports the files and checks every kernel defined in them, without launching any.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a Python file with kernels")
    formats = ("text", "json", "sarif")
    parser.add_argument("--format", choices=formats, default="text", help="how to print (default: text)")
    constants.add_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Carries the command out; gives the exit code."""
    started = time.perf_counter()
    given = dict(options.constants)
    loaded = [load(file) for file in dict.fromkeys(options.files)]
    constants.demand_known(given, [kernel for each in loaded for kernel in each.kernels])
    results = (_check(each, given) for each in loaded)
    match options.format:
        case "text":
            reported = _report_text(results, started)
        case "json":
            reported = list(results)
            print(to_json(_findings(reported), [k for r in reported for k in r.checked], UNCHECKED))
        case _:
            reported = list(results)
            print(to_sarif(_findings(reported), version=installed_version()))
    return 1 if _findings(reported) else 0


@dataclass(slots=True)
class _Result:
    """What came of one file."""

    file: str
    findings: list[Diagnostic] = field(default_factory=list)
    checked: list[Checked] = field(default_factory=list)


def _check(loaded: Loaded, given: Mapping[str, int]) -> _Result:
    result = _Result(loaded.file, list(loaded.problems))
    for kernel in loaded.kernels:
        try:
            findings = check_kernel(kernel, constants.for_kernel(kernel, given))
        except TileproofError as error:
            findings = list(error.diagnostics)
        result.findings.extend(findings)
        result.checked.append(Checked(loaded.file, kernel.name, accepted=not findings))
    return result


def _findings(results: Iterable[_Result]) -> list[Diagnostic]:
    return [finding for result in results for finding in result.findings]


def _report_text(results: Iterable[_Result], started: float) -> list[_Result]:
    """Prints each file as soon as it is checked, then the count."""
    color = wants_color(sys.stdout)
    done: list[_Result] = []
    for result in results:
        done.append(result)
        for finding in result.findings:
            print(render(finding, color=color), end="\n\n")
        for kernel in result.checked:
            verdict = "ok" if kernel.accepted else "refused"
            print(f"{shown_path(kernel.file)}: {kernel.kernel}: {verdict}")
        if not result.checked and not result.findings:
            print(f"{shown_path(result.file)}: no kernels")
    findings = _findings(done)
    print(_summary(done, findings, time.perf_counter() - started))
    for code in sorted({finding.code for finding in findings}, key=lambda code: code.id):
        print(_pointer(code))
    return done


def _summary(results: Sequence[_Result], findings: Sequence[Diagnostic], seconds: float) -> str:
    verdicts = [kernel.accepted for result in results for kernel in result.checked]
    kernels, files = _count(len(verdicts), "kernel"), _count(len(results), "file")
    errors = f", {_count(len(findings), 'error')}" if findings else ""
    return (
        f"{kernels} in {files}: {sum(verdicts)} ok{errors} ({seconds:.2f} s); "
        f"{', '.join(UNCHECKED[:-1])} and {UNCHECKED[-1]} are not checked yet"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _pointer(code: Code) -> str:
    return f"see: tileproof explain {code.id}   ({code.title})"
