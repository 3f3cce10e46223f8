"""All facts of a library together."""

from __future__ import annotations

import inspect
import json
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType

from tileproof.language.kernel import Kernel
from tileproof.runtime.cache import default, digest
from tileproof.runtime.proofs import fingerprint
from tileproof.tuning import Tunable
from tileproof.tuning.provenance import assembler_version

from ..audit import Block, examine
from ..usage import UsageError, installed_version
from .facts import (
    FORMAT,
    Audited,
    Family,
    Function,
    KernelFacts,
    Library,
    Measured,
    Proof,
    Report,
    Tuned,
    Unsafe,
    read,
    written,
)
from .finding import Found, Module, files_below, find, first_words, functions_of, reached, signature_of
from .measuring import record_folders, records_of, rows_in
from .proving import Step, proofs_of
from .testing import Tests, tests_in


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look for what the library itself does not hold; what is not given is looked for in its checkout."""

    tests: str | None = None
    junit: str | None = None
    results: str | None = None


def report_on(targets: Sequence[str], sources: Sources, *, jobs: int | None = None, step: Step | None = None) -> Report:
    """The facts about some libraries."""
    found = [find(target) for target in targets]
    libraries = tuple(_library(each, sources, jobs, step) for each in found)
    return Report(libraries, versions(), date.today().isoformat())


def versions() -> dict[str, str]:
    """What looked at the kernels, and what compiles them."""
    found = {
        "tileproof": f"{installed_version()}, its files {fingerprint()[:12]}",
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "assembler for GPUs": assembler_version("sm_90") or "not installed",
        "llvmlite, for CPUs": assembler_version("cpu") or "not installed",
    }
    for package in ("z3-solver", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _library(found: Found, sources: Sources, jobs: int | None, step: Step | None) -> Library:
    kernels = [pair for module in found.modules for pair in module.kernels]
    proofs = proofs_of(kernels, found.root, jobs=jobs, step=step)
    functions = functions_of(found)
    audited = _audited(found)
    tests = _folder(sources.tests, "--tests", found, "tests")
    results = _folder(sources.results, "--results", found, "benchmarks/results")
    known = {name for family in functions.values() for name in family} | {kernel.name for _, kernel in kernels}
    modules = {found.name, *(module.name for module in found.modules)}
    junit = None if sources.junit is None else Path(sources.junit)
    if junit is not None and tests is None:
        raise UsageError(f"--junit {junit}: say with --tests where the tests are, of which it has the results")
    tested = Tests() if tests is None else tests_in(tests, tests.parent, modules, known, junit)
    made = _Making(
        found, functions, tested, [] if results is None else rows_in(results), audited.blocks,
        {kernel.function: proof for (_, kernel), proof in zip(kernels, proofs, strict=True)},
    )  # fmt: skip
    return Library(
        found.name, found.version, made.families(), audited, tuple(dict.fromkeys(found.problems)),
        "" if tests is None else _shown(tests), "" if junit is None else junit.name,
        "" if results is None else _shown(results), record_folders(),
    )  # fmt: skip


def _audited(found: Found) -> Audited:
    """What the audit finds in the whole package, kept under the text of all its files: most do not change."""
    texts = tuple((found.shown(file), _bytes(file)) for file in files_below(found.top))
    key = digest("audit", FORMAT, fingerprint(), texts)
    kept = default().get(key)
    if kept is not None:
        with suppress(ValueError, KeyError, TypeError):
            return read(Audited, json.loads(kept))
    audit = examine([str(found.top)])
    found.problems += [each.message for each in audit.problems]
    blocks = tuple(_unsafe(block, found) for block in audit.blocks)
    audited = Audited((found.shown(found.top),), audit.files, blocks)
    if not audit.problems:
        default().put(key, json.dumps(written(audited)).encode())
    return audited


def _bytes(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _unsafe(block: Block, found: Found) -> Unsafe:
    reason = " ".join((block.reason or block.written).split()) or "none is given"
    return Unsafe(found.shown(block.file), block.line, f"{block.kind} {block.name}".strip(), reason)


def _folder(given: str | None, option: str, found: Found, usual: str) -> Path | None:
    """A folder that was given, or that of the checkout the library lies in."""
    if given is not None:
        if not Path(given).is_dir():
            raise UsageError(f"{option} {given}: there is no such folder")
        return Path(given).resolve()
    for above in (found.root, *found.root.parents)[:3]:
        if (above / "pyproject.toml").is_file():
            return above / usual if (above / usual).is_dir() else None
    return None


def _shown(folder: Path) -> str:
    """Its last two parts: enough to know it by, and nothing about the machine."""
    return "/".join(folder.parts[-2:])


class _Making:
    """Facts of functions and kernels, put together."""

    def __init__(
        self, found: Found, functions: dict[str, dict[str, FunctionType]], tests: Tests, rows: list[Measured],
        blocks: tuple[Unsafe, ...], proofs: dict[FunctionType, Proof],
    ) -> None:  # fmt: skip
        self._found, self._functions, self._tests, self._rows = found, functions, tests, rows
        self._blocks, self._proofs = blocks, proofs
        self._reached = {name: reached(each) for family in functions.values() for name, each in family.items()}
        self._serves: dict[FunctionType, list[str]] = {}
        for name, (kernels, _) in self._reached.items():
            for kernel in kernels:
                self._serves.setdefault(kernel, []).append(name)
        self._tunables: dict[str, Tunable] = {}
        for module in found.modules:
            listed = module.names.get("TUNABLES", ())
            self._tunables |= {each.name: each for each in listed if isinstance(each, Tunable)}
        self._tuned = records_of(self._tunables)
        self._family_of = {name: family for family, names in functions.items() for name in names}

    def families(self) -> tuple[Family, ...]:
        """All of them; a kernel belongs to that of the function it is named after."""
        kernels: dict[str, list[KernelFacts]] = {name: [] for name in self._functions}
        docs: dict[str, str] = {}
        for module in self._found.modules:
            short = module.name.rpartition(".")[2]
            docs[short] = first_words(module.names.get("__doc__") and _Doc(module.names["__doc__"]))
            for _, kernel in module.kernels:
                facts = self._kernel(kernel, module)
                family = self._family_of.get(facts.functions[0], short) if facts.functions else short
                kernels.setdefault(family, []).append(facts)
        return tuple(
            Family(name, docs.get(name, ""), tuple(map(self._function, self._functions.get(name, ()))), tuple(own))
            for name, own in kernels.items()
            if own or self._functions.get(name)
        )

    def _function(self, name: str) -> Function:
        function = self._functions[self._family_of[name]][name]
        kernels, tunables = self._reached[name]
        gradient = f"{name}_backward"
        names = tuple(kernel.__name__ for kernel in kernels if kernel in self._proofs)
        return Function(
            name, signature_of(function), first_words(function), tuple(sorted(names)),
            gradient if gradient in self._family_of else "",
            self._tests.of({name}), tuple(sorted(tunables)),
            tuple(row for row in self._rows if row.row.split()[0] == name and set(row.kernels) & set(names)),
        )  # fmt: skip

    def _kernel(self, kernel: Kernel, module: Module) -> KernelFacts:
        serves = sorted(self._serves.get(kernel.function, ()), key=partial(_distance, kernel.name))
        tunables = {
            name: each for name, each in self._tunables.items()
            if any(one.function is kernel.function for one in each.kernels)
        }  # fmt: skip
        file = self._found.shown(module.file)
        source = inspect.getblock(kernel.source_lines[kernel.first_line - 1 :])
        last = kernel.first_line + len(source) - 1
        own = tuple(each for each in self._blocks if each.file == file and kernel.first_line <= each.line <= last)
        tuned: tuple[Tuned, ...] = tuple(each for each in self._tuned if each.tunable in tunables)
        return KernelFacts(
            kernel.name, module.name, file, kernel.first_line, first_words(kernel.function),
            tuple(line.rstrip("\n") for line in source), self._proofs[kernel.function], kernel.deny_checks,
            tuple(serves), own, self._tests.of({kernel.name, *serves}), tuple(tunables), tuned,
            tuple(row for row in self._rows if kernel.name in row.kernels),
        )  # fmt: skip


def _distance(kernel: str, function: str) -> tuple[bool, int, str]:
    """The function a kernel is named after comes first."""
    return (not kernel.startswith(function), -len(function), function)


class _Doc:
    """The docstring of a module, for whoever wants a thing that has one."""

    def __init__(self, text: str) -> None:
        self.__doc__ = text
