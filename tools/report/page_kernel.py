"""A kernel on the page: a line that unfolds into all that is known about it."""

from __future__ import annotations

from html import escape

from .facts import KernelFacts, Library, Measured, Settled, Tested, Tuned
from .markup import chip, code, listed, prose, source, state, table
from .words import GOAL_WORDS, count, measured_in_short, outcome_words, tests_in_short, tuned_in_short, verdict


def details(kernel: KernelFacts, library: Library, anchor: str) -> str:
    """The whole of it."""
    parts = [
        *_refusal(kernel),
        *_unsafe(kernel),
        *_checks(kernel),
        *_accesses(kernel),
        *_launch(kernel),
        *_part("Source", source(kernel.source, kernel.line, _own(kernel)) + _place(kernel), is_folded=True),
        *_part("Tests", _tests(kernel.tested, library)),
        *_part("Tuning", _tuning(kernel)),
        *_part("Benchmarks", _benchmarks(kernel.measured, library)),
    ]
    function = f"Beneath {code(kernel.function)}." if kernel.function else ""
    words = " ".join((kernel.name, kernel.module, kernel.doc, kernel.function)).lower()
    return (
        f'<details class="kernel" id="{anchor}" data-words="{escape(words)}" data-state="{kernel.state}">'
        f"<summary><code>{escape(kernel.name)}</code> {state(kernel.state, verdict(kernel))} "
        f'<span class="rungs">{rungs(kernel)}</span> <span class="doc">{prose(kernel.doc)}</span></summary>'
        f'<div class="inside"><p class="serves">{function}{_elements(kernel)}</p>{"".join(parts)}</div></details>'
    )


def row(kernel: KernelFacts, family: str, anchor: str) -> str:
    """The kernel as a line of the table of all kernels. Numbers to sort by stand beside what is shown."""
    proof = kernel.proof
    words = " ".join((kernel.name, kernel.module, family, kernel.function)).lower()
    counts = "".join(
        f'<td class="number" data-sort="{number}">{f"<b class=r{rung}>{number}</b>" if number else "·"}</td>'
        for rung, number in proof.rungs.items()
    )
    launch = proof.at_launch
    order = {"refused": 0, "unsafe": 1, "checked": 2, "proved": 3}[kernel.state]
    tests = sum(len(each.tests) for each in kernel.tested)
    ratios = [each.ratio for each in kernel.measured if each.ratio is not None]
    scope = proof.scope.removeprefix("for ") or ("" if kernel.state == "refused" else "all sizes")
    return (
        f'<tr data-words="{escape(words)}" data-state="{kernel.state}">'
        f'<th scope="row"><a href="#{anchor}">{escape(kernel.name)}</a></th>'
        f"<td>{escape(family)}</td>"
        f'<td data-sort="{order}">{state(kernel.state)}</td><td class="scope">{escape(scope)}</td>{counts}'
        f'<td class="number" data-sort="{launch}">{launch or "·"}</td>'
        f'<td class="number" data-sort="{tests}">{escape(tests_in_short(kernel.tested))}</td>'
        f"<td>{escape(tuned_in_short(kernel.tuned))}</td>"
        f'<td class="number" data-sort="{min(ratios) if ratios else -1}">'
        f"{escape(measured_in_short(kernel.measured))}</td></tr>"
    )


def rungs(kernel: KernelFacts) -> str:
    """How many obligations each rung settles, where it settles any."""
    return "".join(chip(rung, f"{rung}: {number}") for rung, number in kernel.proof.rungs.items() if number)


def _elements(kernel: KernelFacts) -> str:
    if not kernel.proof.elements:
        return ""
    return f" Shown here for {code(kernel.proof.elements)}; a launch proves it for the types it is given."


def _part(title: str, inner: str, *, is_folded: bool = False) -> list[str]:
    if is_folded:
        return [f"<details><summary>{title}</summary>{inner}</details>"]
    return [f"<h4>{title}</h4>{inner}"]


def _refusal(kernel: KernelFacts) -> list[str]:
    if kernel.proof.accepted:
        return []
    findings = (f'<pre tabindex="0">{escape(finding)}</pre>' for finding in kernel.proof.findings)
    return _part("Why it is refused", "".join(findings))


def _unsafe(kernel: KernelFacts) -> list[str]:
    if not kernel.is_unsafe:
        return []
    blocks = [f"{code(f'{each.file}:{each.line}')} says: {prose(each.reason)}" for each in kernel.unsafe]
    raw = [f"{code(each)} is taken on trust" for each in kernel.proof.raw]
    return _part("Unsafe blocks", listed([*blocks, *raw]))


def _checks(kernel: KernelFacts) -> list[str]:
    if not kernel.proof.checks:
        return []
    rows = [(str(it.line), code(it.what), chip(it.rung, ""), prose(it.reason)) for it in kernel.proof.checks]
    return _part("Checks at run time", table(("line", "access", "where", "reason"), rows, "Checks at run time"))


def _accesses(kernel: KernelFacts) -> list[str]:
    settled = kernel.proof.settled
    if not settled:
        return []
    rows = [
        (_line(each, kernel), code(each.what), _goal(each.goal), chip(each.rung), prose(each.reason))
        for each in settled
    ]
    inner = table(("line", "access", "owes", "settled by", "reason"), rows, f"Accesses of {kernel.name}", "accesses")
    return [f"<details><summary>Every access: {count(len(settled), 'obligation')}</summary>{inner}</details>"]


def _goal(goal: str) -> str:
    return f'<span title="{escape(GOAL_WORDS.get(goal, ""))}">{escape(goal)}</span>'


def _line(settled: Settled, kernel: KernelFacts) -> str:
    if settled.file != kernel.file:
        return f"{settled.line}<small>{escape(settled.file.rpartition('/')[2])}</small>"
    is_own = kernel.line <= settled.line < kernel.line + len(kernel.source)
    return str(settled.line) if is_own else f"{settled.line}<small>helper</small>"


def _own(kernel: KernelFacts) -> list[Settled]:
    return [each for each in kernel.proof.settled if each.file == kernel.file]


def _launch(kernel: KernelFacts) -> list[str]:
    proof = kernel.proof
    items = [f"{code(it.tensor)} holds {code(it.type)}{_settles(kernel, it.tensor)}" for it in proof.contents]
    items += [f"{code(each)} names every element" for each in proof.complete]
    items += [f"{prose(contract)}, as the kernel demands" for contract in proof.contracts]
    items += [prose(compare) for compare in proof.compares]
    return _part("Looked at by a launch, before anything runs", listed(items)) if items else []


def _settles(kernel: KernelFacts, tensor: str) -> str:
    """The accesses that rest on what an index tensor holds."""
    accesses = dict.fromkeys(each.what for each in kernel.proof.settled if f"{tensor} holds" in each.reason)
    return f", which settles {', '.join(map(code, accesses))}" if accesses else ""


def _place(kernel: KernelFacts) -> str:
    return f'<p class="place">{escape(kernel.file)}, line {kernel.line}</p>'


def _tests(tested: tuple[Tested, ...], library: Library) -> str:
    if not library.junit:
        return "<p>No results were given.</p>"
    if not tested:
        return "<p>No test names it.</p>"
    items = (
        f"<details><summary>{code(each.file)}: {count(len(each.tests), 'test')}, {outcome_words(each.outcome)}"
        f"</summary><p>{', '.join(map(code, each.tests))}</p></details>"
        for each in tested
    )
    return listed(items, "plain")


def _tuning(kernel: KernelFacts) -> str:
    if not kernel.tunables:
        return "<p>Nothing about it is tuned.</p>"
    named = ", ".join(map(code, kernel.tunables))
    if not kernel.tuned:
        return f"<p>One of the choices of {named}. No records: sizes and schedule are the default ones.</p>"
    return f"<p>One of the choices of {named}.</p>" + listed(map(_record, kernel.tuned))


def _record(tuned: Tuned) -> str:
    if tuned.stale:
        return f"{code(tuned.tunable)} on {code(tuned.target)}: stale, not used: {prose(tuned.stale)}"
    return (
        f"{code(tuned.tunable)} on {code(tuned.target)}: {count(tuned.shapes, 'shape')}, "
        f"{escape(tuned.device)}, {escape(tuned.date)}"
    )


def _benchmarks(rows: tuple[Measured, ...], library: Library) -> str:
    if not library.results:
        return "<p>Not in this installation.</p>"
    if not rows:
        return "<p>No row of the results launched it.</p>"
    return benchmark_table(rows)


def benchmark_table(rows: tuple[Measured, ...]) -> str:
    """Rows of the book."""
    cells = [
        (
            escape(each.row), escape(each.size),
            "-" if each.ratio is None else f"{each.ratio:.2f} x {escape(each.peer)}",
            "-" if each.of_limit is None else f"{each.of_limit:.0%}", escape(each.verdict),
            escape(", ".join(filter(None, (each.device, each.date)))),
        )
        for each in rows
    ]  # fmt: skip
    return table(("row", "size", "against the best peer", "of the limit", "goals", "measured on"), cells, "Benchmarks")
