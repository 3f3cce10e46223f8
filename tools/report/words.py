"""What a report says in sentences, for terminals and pages alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .facts import KernelFacts, Library, Measured, Outcome, Tested, Tuned

RUNG_WORDS: Final = {
    1: ("construction", "the index walks exactly this dimension, or is the program's own point", "nothing"),
    2: ("proof", "arithmetic over exact integers, for all sizes", "nothing"),
    3: ("contract", "a fact of the signature, such as what an index tensor holds",
        "a compare, or one look over an index tensor, at launch"),
    4: ("launch", "a compare of extents that the checker derived", "one compare at launch"),
    5: ("pre-check", "a test at the start of a program; stores wait for it", "about 1% while it runs"),
    6: ("in place", "a test where the index is used; stores wait for it", "2 to 8% while it runs"),
}  # fmt: skip
"""Rungs: their name, what settles an obligation there, and what that costs."""
GOAL_WORDS: Final = {
    "inside": "no access leaves its tensor",
    "apart": "no two programs touch one element, if one of them writes",
    "covered": "every element of an output is written",
    "fits": "index arithmetic does not overflow 64 bits",
    "nonempty": "there is an element to choose from",
}
STATE_WORDS: Final = {
    "proved": "proved",
    "checked": "safe, with checks at run time",
    "unsafe": "unsafe: its author vouches for it",
    "refused": "refused",
}
STATES: Final = ("refused", "unsafe", "checked", "proved")
"""The worst first."""


def count(number: int, noun: str, none: str = "no") -> str:
    """`1 kernel`, `2 kernels`, `no kernels`."""
    return f"{number or none} {noun}{'' if number == 1 else 's'}"


def headline(library: Library) -> str:
    """The verdict in a sentence."""
    kernels = list(library.kernels)
    counts = {state: sum(kernel.state == state for kernel in kernels) for state in STATES}
    if not kernels:
        return "No kernels were found."
    if counts["proved"] == len(kernels) == 1:
        return "The one kernel is proved safe before it runs."
    if counts["proved"] == len(kernels):
        return f"All {len(kernels)} kernels are proved safe before they run."
    messages = [f"{counts['proved']} of {count(len(kernels), 'kernel')} {_are(counts['proved'])} proved"]
    if counts["checked"]:
        messages.append(f"{counts['checked']} {'keeps' if counts['checked'] == 1 else 'keep'} checks for run time")
    messages += [f"{counts[word]} {_are(counts[word])} {word}" for word in ("unsafe", "refused") if counts[word]]
    return ", ".join(messages) + "."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def sentences(library: Library) -> list[str]:
    """The verdict at greater length."""
    kernels = list(library.kernels)
    audited = library.audited
    result = count(len(audited.blocks), "unsafe block", "No")
    messages = [f"{result} in {count(audited.files, 'file')} of {', '.join(audited.folders)}."]
    messages += [f"The block at {it.file}:{it.line} ({it.holder}) says: {it.reason}." for it in audited.blocks]
    checked = [kernel for kernel in kernels if kernel.proof.checks]
    if kernels and not checked:
        messages.append("No kernel keeps a check for run time.")
    for kernel in checked:
        reasons = "; ".join(dict.fromkeys(f"{check.what}: {check.reason}" for check in kernel.proof.checks))
        messages.append(f"{kernel.name} keeps {count(len(kernel.proof.checks), 'check')} for run time: {reasons}.")
    messages += _held([kernel for kernel in kernels if kernel.proof.accepted])
    compares = sum(bool(kernel.proof.compares or kernel.proof.contracts) for kernel in kernels)
    contents = sum(bool(kernel.proof.contents) for kernel in kernels)
    if compares or contents:
        messages.append(
            f"At launch, before anything runs, {count(compares, 'kernel')} compare{'s' * (compares == 1)} extents, "
            f"and {contents or 'none'} look{'s' * (contents == 1)} over index tensors."
        )
    return messages


def _held(accepted: Sequence[KernelFacts]) -> list[str]:
    """For what proofs hold."""
    if not accepted:
        return []
    some = sum(kernel.proof.scope not in ("", "for all constants") for kernel in accepted)
    more = f"; {some} of them for the tile sizes they have by default, the others for all tile sizes" if some else ""
    return [f"Proofs hold for all sizes of arrays{more or ' and all tile sizes'}."]


def verdict(kernel: KernelFacts) -> str:
    """`proved, for all constants`."""
    if kernel.state == "refused":
        return "refused"
    lines = {"unsafe": "unsafe", "proved": "proved"}.get(kernel.state)
    lines = lines or f"proved but for {count(len(kernel.proof.checks), 'check')} at run time"
    return f"{lines}, {kernel.proof.scope}" if kernel.proof.scope else lines


def tests_in_short(tested: Sequence[Tested]) -> str:
    """`120 passed`."""
    return outcome_words(sum((each.outcome for each in tested), Outcome())) if tested else "-"


def outcome_words(outcome: Outcome) -> str:
    """`120 passed, 1 failed`."""
    parts = (f"{number} {word}" for word in ("failed", "passed", "skipped") if (number := getattr(outcome, word)))
    return ", ".join(parts) or "not run"


def tuned_in_short(tuned: Sequence[Tuned]) -> str:
    """`sm_90: 12 shapes`."""
    return ", ".join(
        f"{each.target}: {'stale' if each.stale else count(each.shapes, 'shape')}" for each in tuned
    ) or "default"  # fmt: skip


def measured_in_short(rows: Sequence[Measured]) -> str:
    """`0.98 to 1.10 x cuBLAS`, over all rows."""
    ratios = sorted(row.ratio for row in rows if row.ratio is not None)
    if not ratios:
        shares = sorted(row.of_limit for row in rows if row.of_limit is not None)
        return f"{shares[-1]:.0%} of the limit" if shares else "-"
    low, high = f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}"
    return f"{low} x" if low == high else f"{low} to {high} x"
