"""`pytest --tileproof-check`: one test for each kernel of the collected files, which fails with its findings.

pytest loads this file in every run, so what it needs of tileproof is imported when an option asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tileproof import Kernel
    from tileproof.diagnostics import Diagnostic


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("tileproof", "tileproof: kernels as tests")
    group.addoption(
        "--tileproof-check",
        action="store_true",
        help="check every kernel of the files collected, as `tileproof check` does; `-m tileproof` runs nothing else. "
        "Example: pytest --tileproof-check src tests",
    )
    group.addoption(
        "--tileproof-deny-checks",
        action="store_true",
        help="the same, and fail a kernel that leaves a check for run time, as @tp.kernel(deny_checks=True) does",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known."""
    config.addinivalue_line("markers", "tileproof: a kernel checked by --tileproof-check")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Takes the Python files that define kernels, test files among them; others are never imported."""
    asked = parent.config.getoption("tileproof_check") or parent.config.getoption("tileproof_deny_checks")
    if not asked or file_path.suffix != ".py" or not _has_kernels(file_path):
        return None
    return KernelFile.from_parent(parent, path=file_path)


def _has_kernels(path: Path) -> bool:
    """Whether the source makes kernels at its top level, or is broken and speaks of tileproof."""
    from tileproof.cli.audit import kernel_makers, parse
    from tileproof.cli.kernel_file import read_source
    from tileproof.diagnostics import Diagnostic

    source = read_source(path)
    if isinstance(source, Diagnostic) or not any("kernel" in line for line in source.lines):
        return False
    tree = parse(source)
    if isinstance(tree, Diagnostic):
        return any("tileproof" in line for line in source.lines)
    return any(_is_ours(maker, path) for maker in kernel_makers(tree))


def _is_ours(maker: str, path: Path) -> bool:
    """Whether a decorator is `tp.kernel`, or may be, because it comes from the package that the file is in."""
    return maker == "tileproof.kernel" or maker.startswith(".") or maker.partition(".")[0] in path.parts


class KernelFile(pytest.File):
    """A file with kernels."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each kernel; a file that cannot be imported is an error of the collection."""
        from tileproof.cli.kernel_file import load
        from tileproof.diagnostics import render_all

        loaded = load(str(self.path))
        if loaded.problems:
            raise self.CollectError(render_all(loaded.problems))
        for kernel in loaded.kernels:
            if self.config.getoption("tileproof_deny_checks"):
                kernel.deny_checks = True
            yield KernelItem.from_parent(self, name=kernel.name, kernel=kernel)


class Refused(Exception):
    """A kernel has findings."""

    def __init__(self, findings: list[Diagnostic]) -> None:
        super().__init__(findings)
        self.findings = findings


class KernelItem(pytest.Item):
    """A kernel, which passes if nothing is found wrong with it."""

    def __init__(self, *, kernel: Kernel, **others: Any) -> None:
        super().__init__(**others)
        self.kernel = kernel
        self.add_marker("tileproof")

    def runtest(self) -> None:
        """Checks the kernel for all sizes."""
        from tileproof import TileproofError, check

        try:
            findings = check(self.kernel)
        except TileproofError as error:
            findings = list(error.diagnostics)
        if findings:
            raise Refused(findings)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings as `tileproof check` prints them: a traceback would show tileproof, not the mistake."""
        if not isinstance(excinfo.value, Refused):
            return super().repr_failure(excinfo, style)
        from tileproof.diagnostics import render_all

        codes = sorted({finding.code.id for finding in excinfo.value.findings})
        see = "\n".join(f"see: tileproof explain {code}" for code in codes)
        return f"{render_all(excinfo.value.findings)}\n\n{see}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place of the kernel and the headline of its report."""
        return self.path, self.kernel.first_line - 1, f"kernel {self.name}"
