"""All facts of a library together."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tileproof import __version__
from tileproof.cli.audit import Block, examine
from tileproof.cli.command_line import UsageError
from tileproof.compiler.proofs import fingerprint
from tileproof.tuning import Tunable
from tileproof.tuning.provenance import assembler_version

from .facts import Audited, Family, Function, KernelFacts, Library, Measured, Proof, Report, Unsafe
from .finding import Found, find, first_paragraph, signature_of
from .junit import Case, cases_in, tests_of
from .measuring import record_folders, records_of, rows_in
from .proving import Step, proofs_of


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look for what the library itself does not hold; benchmarks are else those of its checkout."""

    junit: str | None = None
    results: str | None = None


def report_on(targets: Sequence[str], sources: Sources, *, jobs: int | None = None, step: Step | None = None) -> Report:
    """The facts about some libraries."""
    results = [find(target) for target in targets]
    libraries = tuple(_library(result, sources, jobs, step) for result in results)
    return Report(libraries, versions(), date.today().isoformat())


def versions() -> dict[str, str]:
    """What looked at the kernels, and what compiles them."""
    results = {
        "tileproof": f"{__version__}, its files {fingerprint()[:12]}",
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "assembler for GPUs": assembler_version("sm_90") or "not installed",
        "llvmlite, for CPUs": assembler_version("cpu") or "not installed",
    }
    for package in ("z3-solver", "numpy"):
        try:
            results[package] = version(package)
        except PackageNotFoundError:
            results[package] = "not installed"
    return results


def _library(result: Found, sources: Sources, jobs: int | None, step: Step | None) -> Library:
    junit = None if sources.junit is None else Path(sources.junit)
    cases = () if junit is None else cases_in(junit)
    results = _results(sources.results, result)
    rows = [] if results is None else rows_in(results)
    kernels = [pair for module in result.modules for pair in module.kernels]
    proofs = proofs_of(kernels, result.root, jobs=jobs, step=step)
    audited = _audited(result)
    by_kernel = {id(kernel): proof for (_, kernel), proof in zip(kernels, proofs, strict=True)}
    families = tuple(_families(result, _kernels(result, by_kernel, audited.blocks, cases, rows), cases, rows))
    return Library(
        result.name, result.version, families, audited, tuple(dict.fromkeys(result.problems)),
        "" if junit is None else junit.name, "" if results is None else "/".join(results.parts[-2:]), record_folders(),
    )  # fmt: skip


def _audited(result: Found) -> Audited:
    """What the audit finds in the whole package."""
    audit = examine([str(result.top)])
    result.problems += [problem.message for problem in audit.problems]
    return Audited((result.shown(result.top),), audit.files, tuple(_unsafe(block, result) for block in audit.blocks))


def _unsafe(block: Block, result: Found) -> Unsafe:
    reason = " ".join((block.reason or block.written).split()) or "none is given"
    return Unsafe(result.shown(block.file), block.line, f"{block.kind} {block.name}".strip(), reason)


def _results(values: str | None, result: Found) -> Path | None:
    """The folder of benchmarks: that which was given, or that of the checkout the library lies in."""
    if values is not None:
        if not Path(values).is_dir():
            raise UsageError(f"--results {values}: there is no such folder")
        return Path(values).resolve()
    for above in (result.root, *result.root.parents)[:3]:
        if (above / "pyproject.toml").is_file():
            results = above / "benchmarks" / "results"
            return results if results.is_dir() else None
    return None


def _kernels(
    result: Found, proofs: Mapping[int, Proof], blocks: Sequence[Unsafe], cases: Sequence[Case],
    rows: Sequence[Measured],
) -> Iterator[KernelFacts]:  # fmt: skip
    tunables: dict[str, Tunable] = {}
    for module in result.modules:
        listed = module.names.get("TUNABLES", ())
        tunables |= {each.name: each for each in listed if isinstance(each, Tunable)}
    records = records_of(tunables)
    for module in result.modules:
        for _, kernel in module.kernels:
            function = _named_after(kernel.name, result.functions)
            file = result.shown(module.file)
            source = inspect.getblock(kernel.source_lines[kernel.first_line - 1 :])
            last = kernel.first_line + len(source) - 1
            own = {
                name for name, tunable in tunables.items()
                if any(each.function is kernel.function for each in tunable.kernels)
            }  # fmt: skip
            yield KernelFacts(
                kernel.name, module.name, file, kernel.first_line, first_paragraph(kernel.function.__doc__),
                tuple(line.rstrip("\n") for line in source), proofs[id(kernel)], kernel.deny_checks, function,
                tuple(block for block in blocks if block.file == file and kernel.first_line <= block.line <= last),
                tests_of({kernel.name, function}, cases), tuple(sorted(own)),
                tuple(record for record in records if record.tunable in own),
                tuple(row for row in rows if kernel.name in row.kernels),
            )  # fmt: skip


def _named_after(kernel: str, functions: Iterable[str]) -> str:
    """The function that a kernel is named after: `sum` of `sum_columns_kernel`; the longest if there are several."""
    return max((function for function in functions if kernel.startswith(f"{function}_")), key=len, default="")


def _families(
    result: Found, kernels: Iterable[KernelFacts], cases: Sequence[Case], rows: Sequence[Measured]
) -> Iterator[Family]:
    """Functions in the order of `FAMILIES`; a kernel belongs to the family of its function, else to its file."""
    own: dict[str, list[KernelFacts]] = {family: [] for family, _ in result.functions.values()}
    for kernel in kernels:
        family = result.functions[kernel.function][0] if kernel.function else kernel.module.rpartition(".")[2]
        own.setdefault(family, []).append(kernel)
    docs = {module.name.rpartition(".")[2]: first_paragraph(module.names.get("__doc__")) for module in result.modules}
    for family, members in own.items():
        functions = (
            Function(
                name, signature_of(function), first_paragraph(function.__doc__),
                tuple(sorted(member.name for member in members if member.function == name)),
                f"{name}_backward" if f"{name}_backward" in result.functions else "",
                tests_of({name}, cases), tuple(row for row in rows if row.row.split()[0] == name),
            )
            for name, (where, function) in result.functions.items() if where == family
        )  # fmt: skip
        yield Family(family, docs.get(family, ""), tuple(functions), tuple(members))
