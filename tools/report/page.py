"""A report as a page: one file that needs nothing else, not even a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

from .facts import RUNGS, Family, Function, Library, Report
from .markup import chip, code, framed, listed, prose, table
from .page_kernel import details, row
from .words import (
    GOAL_WORDS,
    RUNG_WORDS,
    STATE_WORDS,
    STATES,
    count,
    headline,
    measured_in_short,
    sentences,
    tests_in_short,
)

_HERE: Final = Path(__file__).parent
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""What a browser lets the page load: nothing."""
_COLUMNS: Final = (
    "kernel",
    "family",
    "verdict",
    "holds for",
    *map(str, RUNGS),
    "at launch",
    "tests",
    "tuned",
    "best peer",
)

_RUNGS: Final = """\
<h2>What settles an access</h2>
<p>Before a kernel may run, each of its accesses owes something. It is settled by the first rung that can, the cheapest
first; what none can settle is an error, and the kernel does not run.</p>
"""
_ALL: Final = """\
<h2>All kernels</h2>
<p><em>1</em> to <em>6</em> count what each rung settles; <em>at launch</em> counts compares, and looks over index
tensors; <em>tests</em> are runs of tests that name it or its function; <em>best peer</em> is how many times as fast it
is as the fastest of others, over all sizes.</p>
"""
_TESTED: Final = """\
<p>What could not be settled before is tested by the running kernel. Where a test fails, the program stores nothing
more, and the next access to the outputs raises.</p>
"""
_DATA: Final = """\
<h2>Indices from data</h2>
<p>These kernels index by what an array holds. The element type of that array says what it must hold, and a launch looks
before anything runs: <code>Index</code> that every entry is -1 or below the extent, <code>Unique</code> also that none
is there twice, <code>Offsets</code> that entries rise from 0 to the extent.</p>
"""
_MADE: Final = """\
<h2>How this page was made</h2>
<p>By <code>python -m tools.report</code>, which reads and proves kernels and launches none. Every line can be had
again with <code>tileproof check --explain FILE</code> and <code>tileproof audit</code>. A proof is about
memory and races: that results are right, tests say. A kernel is shown for one choice of element types; a launch proves
it for its own types and tile sizes before it runs, and refuses what it cannot prove.</p>
"""


def page(report: Report) -> str:
    """The whole page."""
    title = ", ".join(f"{library.name} {library.version}".strip() for library in report.libraries)
    body = "".join(_library(library) for library in report.libraries)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>tileproof report: {escape(title)}</title>"
        f"<style>{_text('page.css')}</style></head><body>"
        f"{_bar(title)}<main>{body}{_footer(report)}</main>"
        f"<script>{_text('page.js')}</script></body></html>\n"
    )


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8").strip()


def _bar(title: str) -> str:
    options = "".join(f'<option value="{word}">{escape(STATE_WORDS[word])}</option>' for word in reversed(STATES))
    return (
        '<header class="bar"><p class="title"><a href="#top">tileproof report</a> <span>'
        f'{escape(title)}</span></p><form role="search" onsubmit="return false">'
        '<label for="filter">Filter</label>'
        '<input id="filter" type="search" placeholder="kernel, function or family" autocomplete="off">'
        '<label for="state">Verdict</label>'
        f'<select id="state"><option value="">any verdict</option>{options}</select>'
        '<button type="button" id="unfold">Unfold all</button>'
        '<output id="count" for="filter state"></output></form></header>'
    )


def _library(library: Library) -> str:
    own = slug(library.name)
    parts = (
        *_verdict(library), *_problems(library), *_kernels(library, own), *_run_time(library, own),
        *_contents(library, own), *(each for family in library.families for each in _family(family, library, own)),
        *_audit(library),
    )  # fmt: skip
    return f'<article id="{own}">{"".join(parts)}</article>'


# The verdict.


def _verdict(library: Library) -> Iterator[str]:
    kernels = list(library.kernels)
    worst = next((word for word in STATES if any(kernel.state == word for kernel in kernels)), "proved")
    if library.audited.blocks and worst in ("proved", "checked"):
        worst = "unsafe"
    named = escape(f"{library.name} {library.version}".strip())
    yield f'<section class="verdict {worst}" id="top"><p class="name">{named}</p>'
    yield f"<h1>{escape(headline(library))}</h1>"
    yield listed(map(prose, sentences(library)), "sentences")
    figures = (
        (len(kernels), "kernels"),
        (len(list(library.functions)), "functions"),
        (len(library.audited.blocks), "unsafe blocks"),
        (sum(bool(kernel.proof.checks) for kernel in kernels), "with checks at run time"),
        (sum(len(kernel.proof.settled) for kernel in kernels), "obligations settled"),
    )
    yield '<dl class="figures">'
    yield from (f"<div><dt>{escape(noun)}</dt><dd>{number}</dd></div>" for number, noun in figures)
    yield "</dl></section>"
    yield _rungs(library)


def _rungs(library: Library) -> str:
    counts = {rung: sum(kernel.proof.rungs[rung] for kernel in library.kernels) for rung in RUNGS}
    total = sum(counts.values())
    bar = "".join(
        f'<span class="r{rung}" style="flex-grow:{number}" title="rung {rung}: {number}"></span>'
        for rung, number in counts.items() if number
    )  # fmt: skip
    rows = [
        (chip(rung), escape(what), escape(cost), f"<b>{counts[rung]}</b>")
        for rung, (_, what, cost) in RUNG_WORDS.items()
    ]
    goals = "".join(f"<dt>{word}</dt><dd>{escape(message)}</dd>" for word, message in GOAL_WORDS.items())
    text = f'<div class="share" role="img" aria-label="{_said(counts)}">{bar}</div>' if total else ""
    return (
        f"<section>{_RUNGS}{text}{table(('rung', 'settled by', 'costs', 'obligations'), rows, 'Rungs', 'rungs')}"
        f'<dl class="goals">{goals}</dl></section>'
    )


def _said(counts: dict[int, int]) -> str:
    return ", ".join(f"rung {rung}: {number}" for rung, number in counts.items())


def _problems(library: Library) -> Iterator[str]:
    if library.problems:
        yield f'<section class="problems"><h2>Not looked at</h2>{listed(map(prose, library.problems))}</section>'


# Kernels.


def _kernels(library: Library, own: str) -> Iterator[str]:
    heads = "".join(
        f'<th scope="col" aria-sort="none"><button type="button">{escape(each)}</button></th>' for each in _COLUMNS
    )
    rows = "".join(
        row(kernel, family.name, _anchor(own, kernel.name)) for family in library.families for kernel in family.kernels
    )
    yield f"<section>{_ALL}"
    yield framed(f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>", "All kernels", "kernels sortable")
    yield "</section>"


def _run_time(library: Library, own: str) -> Iterator[str]:
    yield "<section><h2>Checks at run time</h2>"
    rows = [
        (_link(own, kernel.name), str(check.line), code(check.what), chip(check.rung), prose(check.reason),
         prose(kernel.doc))
        for kernel in library.kernels for check in kernel.proof.checks
    ]  # fmt: skip
    if rows:
        yield _TESTED
        yield table(("kernel", "line", "access", "where", "reason", "the kernel says"), rows, "Checks at run time")
    else:
        yield "<p>None: nothing is left for a running kernel to test.</p>"
    yield "</section>"


def _contents(library: Library, own: str) -> Iterator[str]:
    rows = []
    for kernel in library.kernels:
        for content in kernel.proof.contents:
            accesses = dict.fromkeys(
                one.what for one in kernel.proof.settled if f"{content.tensor} holds" in one.reason
            )  # fmt: skip
            message = ", ".join(map(code, accesses)) or "no access alone: for <code>get</code>, arithmetic or segments"
            rows.append((_link(own, kernel.name), code(content.tensor), code(content.type), message))
    if rows:
        yield f"<section>{_DATA}"
        yield table(("kernel", "array", "holds", "settles"), rows, "Indices from data")
        yield "</section>"


def _family(family: Family, library: Library, own: str) -> Iterator[str]:
    yield f'<section class="family"><h2>{escape(family.name)}</h2><p>{prose(family.doc)}</p>'
    if family.functions:
        rows = [_function(function, own) for function in family.functions]
        heads = ("function", "what it does", "kernels", "gradient", "tests", "best peer")
        yield table(heads, rows, f"Functions of {family.name}", "functions")
    yield "<h3>Kernels</h3>"
    yield from (details(kernel, library, _anchor(own, kernel.name)) for kernel in family.kernels)
    yield "</section>"


def _function(function: Function, own: str) -> tuple[str, ...]:
    return (
        f"{code(function.name)}<small>{escape(function.signature)}</small>", prose(function.doc),
        " ".join(_link(own, name) for name in function.kernels),
        code(function.gradient) if function.gradient else "", escape(tests_in_short(function.tested)),
        escape(measured_in_short(function.measured)),
    )  # fmt: skip


# The rest.


def _audit(library: Library) -> Iterator[str]:
    audited = library.audited
    yield "<section><h2>Audit</h2>"
    yield f"<p>{count(audited.files, 'file')} below {', '.join(map(code, audited.folders))} "
    yield f"{'was' if audited.files == 1 else 'were'} read for <code>tp.unsafe</code> blocks, in which an author "
    yield f"vouches for what is not proved: <b>{count(len(audited.blocks), 'block')}</b>.</p>"
    rows = [(code(f"{block.file}:{block.line}"), escape(block.holder), prose(block.reason)) for block in audited.blocks]
    if rows:
        yield table(("place", "in", "reason"), rows, "Unsafe blocks")
    yield "</section>"


def _footer(report: Report) -> str:
    versions = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in report.versions.items())
    places = []
    for library in report.libraries:
        tests = f"tests of {code(library.junit)}" if library.junit else "no results of tests"
        results = f"benchmarks in {code(library.results)}" if library.results else "no benchmarks"
        records = f"tuning records: {', '.join(map(escape, library.records))}"
        places.append(f"{code(library.name)}: {tests}; {results}; {records}")
    return (
        f"<footer>{_MADE}{listed(places)}"
        f'<dl class="versions"><dt>made on</dt><dd>{escape(report.date)}</dd>{versions}</dl></footer>'
    )


def _link(own: str, name: str) -> str:
    return f'<a href="#{_anchor(own, name)}"><code>{escape(name)}</code></a>'


def _anchor(own: str, name: str) -> str:
    return f"{own}--{slug(name)}"


def slug(text: str) -> str:
    """A name that can stand behind a `#`."""
    return re.sub(r"\W+", "-", text).strip("-") or "library"
