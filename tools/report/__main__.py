"""`python -m tools.report`: whether each kernel of a library is safe, and why, for who does not take it on trust."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from tileproof.cli.command_line import Progress, UsageError, open_streams, wants_color
from tileproof.compiler.cache import write_whole

from .facts import Report, written
from .gathering import Sources, report_on
from .page import page
from .table import summary, text

EXAMPLES = """\
examples:
  python -m tools.report                           the kernels that come with tileproof, as a table
  python -m tools.report --open                    the same as a page, in the browser
  python -m tools.report mine.kernels --out r.html a package of yours, into a file
  python -m tools.report examples --format json    a folder, for a program
  python -m tools.report --junit results.xml       with what `pytest --junit-xml results.xml` found

Every kernel is proved, or read from the kernel cache if it was proved before: the verdict, what settles each access,
what is left for the launch and for run time. The page is one file, works without a network and can be printed. Tests
are those of --junit that name a kernel or its function; benchmarks are those of the checkout the library lies in,
unless --results says where; tuning records are those that launches would use.

The exit code is 0 if every kernel could be looked at and none is refused, 1 if not, 2 if the command is wrong.
"""
DEFAULT = "tileproof.kernels"
FILE = "tileproof-report.html"
_FORMATS = {".html": "html", ".htm": "html", ".json": "json", ".txt": "text"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (that of the process unless given); gives the exit code."""
    open_streams()
    try:
        return _run(_parser().parse_args(arguments))
    except UsageError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.report",
        description="Looks at every kernel of a library: is it safe, and why; which tests, records and benchmarks are "
        "there. Launches nothing.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("targets", metavar="PACKAGE_OR_FOLDER", nargs="*", default=[DEFAULT], help=f"(default: {DEFAULT})")
    option("--format", choices=("text", "html", "json"), help="(default: by the name of --out, else text)")
    option("--out", metavar="FILE", help="where to write it; .html, .json and .txt choose the format")
    option("--open", action="store_true", help=f"show the page in a browser; without --out it is {FILE}")
    option("--junit", metavar="FILE", help="results of tests, as `pytest --junit-xml FILE` writes them")
    option("--results", metavar="DIR", help="the folder of benchmark results")
    option("--jobs", metavar="N", type=int, help="how many kernels to prove at a time (default: one for each core)")
    return parser


def _run(options: argparse.Namespace) -> int:
    chosen, out = _chosen(options)
    if options.jobs is not None and options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs}: at least one must run")
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
    progress = Progress()
    sources = Sources(options.junit, options.results)
    report = report_on(tuple(dict.fromkeys(options.targets)), sources, jobs=options.jobs, step=progress.step)
    progress.clear()
    result = _made(report, chosen, out is None)
    if out is None:
        print(result, end="")
    else:
        try:
            write_whole(out, result.encode())
        except OSError as error:
            raise UsageError(f"--out {out}: {error.strerror or error}") from None
        print(summary(report))
        print(f"written: {out}")
    if options.open and out is not None and not webbrowser.open(out.resolve().as_uri()):
        print("no browser could be started here: open the file yourself")
    return 0 if report.is_clean else 1


def _chosen(options: argparse.Namespace) -> tuple[str, Path | None]:
    """The format, and the file it goes to."""
    out = None if options.out is None else Path(options.out)
    if options.open:
        if options.format not in (None, "html"):
            raise UsageError(f"--open shows a page, not {options.format}: leave --format out")
        return "html", out or Path(FILE)
    if options.format is not None:
        return options.format, out
    return ("text" if out is None else _FORMATS.get(out.suffix, "html")), out


def _made(report: Report, chosen: str, is_shown: bool) -> str:
    match chosen:
        case "html":
            return page(report)
        case "json":
            return json.dumps(written(report), indent=1, ensure_ascii=False) + "\n"
        case _:
            return text(report, is_shown and wants_color(sys.stdout))


if __name__ == "__main__":
    sys.exit(main())
