"""What is said of a case: the codes it is refused with, and which of them name its fault."""

from __future__ import annotations

import tileproof as tp
from tileproof.analysis.verdict import Verdict
from tileproof.compiler.compile import verdict
from tileproof.frontend.signature import parse
from tileproof.runtime.launch.binding import bind
from tileproof.runtime.launch.contracts import check_compares

from .case import Case

CODES = {
    "race": ("TP0801", "TP0802", "TP0803"),
    "bounds": ("TP0811", "TP0812", "TP0813", "TP0814", "TP0815"),
    "coverage": ("TP0821", "TP0822"),
    "dimension": ("TP03",),
    "access": ("TP01", "TP05"),
    "alias": ("TP0610",),
    "contents": ("TP0607",),
    "sizes": ("TP0605",),
}
"""How the codes that name a fault begin."""
OF_THE_LAUNCH = ("alias", "contents", "sizes")
"""Faults of the arguments, not of the kernel."""
FIRST_CHECK = 5
"""The first rung that costs something while a kernel runs."""


def launched(case: Case) -> list[list[str]]:
    """The codes each launch is refused with, empty for one that runs."""
    refused: list[list[str]] = []
    for arguments, constants in case.launches():
        try:
            case.kernel(*arguments, **constants)
        except tp.LaunchError as error:
            refused.append([diagnostic.code.id for diagnostic in error.diagnostics])
        else:
            refused.append([])
    return refused


def runs(case: Case, answer: Verdict) -> bool:
    """Whether every launch of a case has the sizes and scalars that a proof asks for."""
    signature = parse(case.kernel).signature
    try:
        for arguments, constants in case.launches():
            check_compares(signature, bind(signature, tuple(arguments), constants), answer)
    except tp.LaunchError:
        return False
    return True


def found(case: Case) -> bool:
    """Whether an unsafe case is refused for its own fault; where the launch is at fault, every one of its launches."""
    assert case.fault is not None
    own = CODES[case.fault]
    if case.fault in OF_THE_LAUNCH:
        return all(any(code.startswith(own) for code in codes) for codes in launched(case))
    answer = verdict(case.kernel, {})
    return not answer.accepted and any(finding.code.id.startswith(own) for finding in answer.findings)
