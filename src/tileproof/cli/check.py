"""`tileproof check`: proves kernels safe, or reports what is wrong with them. Needs no GPU and launches nothing."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tileproof import __version__
from tileproof.analysis.launch_guards import Compare, Fits
from tileproof.analysis.verdict import Discharged, Rung, Verdict
from tileproof.compiler.compile import merged, scope_of, verdict
from tileproof.diagnostics import Code, Diagnostic, TileproofError, display_path, to_json, to_sarif
from tileproof.diagnostics.report import Checked, Proof
from tileproof.diagnostics.spans import Span
from tileproof.frontend.optional import forms, label
from tileproof.frontend.source import RuledOut
from tileproof.ir.ops import Op
from tileproof.language.kernel import Kernel

from . import constants
from .command_line import Commands, add_command, count, print_findings
from .kernel_file import Loaded, load

_LONGEST = 44
"""An access that is longer is cut, so that the table stays one."""


@dataclass(slots=True)
class Line:
    """The obligations of one kind that an access has, one for each of its axes."""

    span: Span
    what: str
    goal: str
    rung: Rung
    reasons: list[str] = field(default_factory=list)


def explanation(verdict: Verdict) -> Iterator[str]:
    """The lines of the table, then the accesses that are never clipped, then the guards of a launch."""
    lines = lines_of(verdict.discharged)
    if lines:
        places = [f"{line.span.line}:{line.span.column}" for line in lines]
        whats = [_cut(line.what) for line in lines]
        widths = [max(map(len, column)) for column in (places, whats)]
        goals = max(len(line.goal) for line in lines)
        rungs = max(len(line.rung.label) for line in lines)
        for line, place, what in zip(lines, places, whats, strict=True):
            rung = f"{int(line.rung)} {line.rung.label.ljust(rungs)}"
            reasons = "; ".join(dict.fromkeys(line.reasons))
            yield f"  {place.rjust(widths[0])}  {what.ljust(widths[1])}  {line.goal.ljust(goals)}  {rung}  {reasons}"
    spans = (one.op.span for one in verdict.full if isinstance(one.op, Op))
    full = dict.fromkeys(" ".join(span.text.split()) for span in spans)
    if full:
        yield f"  never clipped, so never masked: {', '.join(full)}"
    for compare in guards_of(verdict):
        yield f"  at launch: {compare}"


def guards_of(verdict: Verdict) -> list[str]:
    """What a launch compares, each relation once."""
    return list(dict.fromkeys(map(compared, verdict.compares)))


def races_of(verdict: Verdict) -> Iterator[str]:
    """For each compare that alone keeps programs from racing: what it demands, and how they would."""
    races: dict[str, str] = {}
    for compare in verdict.compares:
        if isinstance(compare, Compare) and compare.race:
            races.setdefault(compare.demand, compare.race)
    yield from (f"  races unless {demand}: {race}" for demand, race in races.items())


def compared(compare: Compare | Fits) -> str:
    """What a guard compares at launch, in the user's words."""
    match compare:
        case Compare(demand=demand):
            return demand
        case Fits(span=span):
            return f"`{' '.join(span.text.split())}` fits 64 bits"


def lines_of(discharged: tuple[Discharged, ...]) -> list[Line]:
    """Obligations by place and kind, in the order of the source; the costliest rung stands for all axes."""
    lines: dict[tuple[Span, str, str], Line] = {}
    for one in discharged:
        line = lines.setdefault((one.span, one.what, one.goal), Line(one.span, one.what, one.goal, one.rung))
        line.rung = max(line.rung, one.rung)
        line.reasons.append(one.reason)
    order = {"covered": 0, "in bounds": 1, "nonempty": 2, "fits": 3, "disjoint": 4}
    return sorted(lines.values(), key=lambda line: (line.span.line, line.span.column, order.get(line.goal, 5)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


EXAMPLES = """\
examples:
  tileproof check matmul.py                 every kernel of a file, for all sizes
  tileproof check matmul.py --explain       and why each access is safe
  tileproof check attention.py --with D=64  with the dimension D known
  tileproof check src/*.py --deny-checks    reject kernels that need tests at run time
  tileproof check src/*.py --format sarif   for a code host; json serves editors and agents

The first of these rungs that applies proves an access safe: 1 construction, 2 proof, 3 contract, 4 a guard at launch,
5 a test at the start of a program, 6 a test where the index is used.

`proved, for all constants` holds for every value of the keyword-only parameters, such as tile sizes; `proved, for B=64`
holds for that value only, and a launch with another is proved again.

The exit code is 0 if every kernel is accepted, 1 if there are findings, 2 for wrong usage.
"""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = (
        "Imports the files and proves every kernel in them, without launching any: no two programs race for an "
        "element, no access leaves its tensor, every element of an Out is written."
    )
    parser = add_command(commands, "check", summary, description, EXAMPLES)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a Python file with kernels")
    formats = ("text", "json", "sarif")
    parser.add_argument("--format", choices=formats, default="text", help="how to print (default: text)")
    parser.add_argument("--explain", action="store_true", help="print for every access what proves it safe, and why")
    parser.add_argument("--deny-checks", action="store_true", help="reject kernels that need tests at run time")
    constants.add_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    started = time.perf_counter()
    values = dict(options.constants)
    loaded = [load(file) for file in dict.fromkeys(options.files)]
    constants.demand_known(values, [kernel for file in loaded for kernel in file.kernels])
    results = (_check(file, values, options.deny_checks) for file in loaded)
    match options.format:
        case "text":
            reported = _report_text(results, started, options.explain)
        case "json":
            reported = list(results)
            print(to_json(_findings(reported), [kernel for result in reported for kernel in result.checked]))
        case _:
            reported = list(results)
            print(to_sarif(_findings(reported), version=__version__))
    return 1 if _findings(reported) else 0


@dataclass(slots=True)
class _Result:
    """What came of one file."""

    file: str
    findings: list[Diagnostic] = field(default_factory=list)
    checked: list[Checked] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def _check(loaded: Loaded, values: Mapping[str, int], deny_checks: bool) -> _Result:
    result = _Result(loaded.file, list(loaded.problems))
    for kernel in chain.from_iterable(map(_forms, loaded.kernels)):
        try:
            chosen = constants.for_kernel(kernel, values)
            outcome = verdict(kernel, chosen, deny_checks=deny_checks)
            scope = scope_of(kernel, chosen, outcome)
        except RuledOut:
            continue
        except TileproofError as error:
            outcome, scope = Verdict(None, findings=error.diagnostics), ""
        if outcome.kernel is None and not outcome.findings:
            continue  # a contract rules this form out
        proofs = tuple(
            Proof(goal.goal, goal.what, goal.span, int(goal.rung), goal.rung.label, goal.reason)
            for goal in outcome.discharged
        )
        result.verdicts.append(outcome)
        result.checked.append(Checked(loaded.file, label(kernel), outcome.accepted, scope, proofs))
    result.findings += merged(result.verdicts)
    return result


def _forms(kernel: Kernel) -> Iterable[Kernel]:
    """What of a kernel is checked: each of its forms; itself, if its signature has a mistake."""
    try:
        return tuple(forms(kernel))
    except TileproofError:
        return (kernel,)


def _findings(results: Iterable[_Result]) -> list[Diagnostic]:
    return [finding for result in results for finding in result.findings]


def _report_text(results: Iterable[_Result], started: float, explain: bool) -> list[_Result]:
    """Prints each file as soon as it is checked, then the count."""
    done: list[_Result] = []
    for result in results:
        done.append(result)
        print_findings(result.findings)
        for kernel, outcome in zip(result.checked, result.verdicts, strict=True):
            print(f"{display_path(kernel.file)}: {kernel.kernel}: {_verdict(kernel, outcome)}")
            for line in races_of(outcome):
                print(line)
            if explain:
                print("\n".join(explanation(outcome)), end="\n\n")
        if not result.checked and not result.findings:
            print(f"{display_path(result.file)}: no kernels")
    findings = _findings(done)
    print(_summary(done, findings, time.perf_counter() - started))
    for code in sorted({finding.code for finding in findings}, key=lambda code: code.id):
        print(_pointer(code))
    return done


def _verdict(kernel: Checked, outcome: Verdict) -> str:
    if not kernel.accepted:
        return "rejected"
    scope = f", {kernel.scope}" if kernel.scope else ""
    checks = count(len(outcome.residuals), "check") + " at run time" if outcome.residuals else ""
    compares = count(len(guards_of(outcome)), "compare") + " at launch" if outcome.compares else ""
    left = " and ".join(part for part in (compares, checks) if part)
    return f"proved{scope}{'; ' + left if left else ''}"


def _summary(results: Sequence[_Result], findings: Sequence[Diagnostic], seconds: float) -> str:
    verdicts = [kernel.accepted for result in results for kernel in result.checked]
    kernels, files = count(len(verdicts), "kernel"), count(len(results), "file")
    errors = f", {count(len(findings), 'error')}" if findings else ""
    return f"{kernels} in {files}: {sum(verdicts)} proved{errors} ({seconds:.2f} s)"


def _pointer(code: Code) -> str:
    return f"see: tileproof explain {code.id}   ({code.title})"
