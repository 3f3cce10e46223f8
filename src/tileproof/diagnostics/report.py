"""Diagnostics as JSON, for editors and coding agents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tileproof.diagnostics.records import dataclass

from .diagnostic import Diagnostic, Edit, shown_path
from .spans import Span

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Proof:
    """An obligation of a kernel, and what settles it."""

    goal: str
    what: str
    span: Span
    rung: int
    settled_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A kernel that was looked at, whether it was accepted, for which constants, and why."""

    file: str
    kernel: str
    accepted: bool
    scope: str = ""
    proofs: tuple[Proof, ...] = ()


def to_json(diagnostics: Sequence[Diagnostic], checked: Sequence[Checked] = ()) -> str:
    """A document with every finding and every kernel looked at.

    Lines and columns count from 1 (in characters), ends are exclusive; what has no place has null there.
    """
    document: Json = {
        "format": 1,
        "kernels": [
            {
                "file": shown_path(kernel.file),
                "kernel": kernel.kernel,
                "accepted": kernel.accepted,
                "scope": kernel.scope,
                "settled": [_proof(proof) for proof in kernel.proofs],
            }
            for kernel in checked
        ],
        "findings": [finding(diagnostic) for diagnostic in diagnostics],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _proof(proof: Proof) -> Json:
    return {
        "goal": proof.goal,
        "what": proof.what,
        "line": proof.span.line,
        "column": proof.span.column,
        "rung": proof.rung,
        "by": proof.settled_by,
        "reason": proof.reason,
    }


def finding(diagnostic: Diagnostic) -> Json:
    """One diagnostic as plain data."""
    return {
        **_place(diagnostic.span),
        "code": diagnostic.code.id,
        "severity": "error",
        "title": diagnostic.code.title,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "kernel": diagnostic.kernel,
        "related": [{**_place(label.span), "text": label.text} for label in diagnostic.labels],
        "stack": [{**_place(frame.span), "function": frame.function} for frame in diagnostic.stack],
        "edit": None if diagnostic.edit is None else _edit(diagnostic.edit),
    }


def _place(span: Span | None) -> Json:
    if span is None:
        return dict.fromkeys(("file", "line", "column", "end_line", "end_column"))
    return {
        "file": shown_path(span.source.name),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _edit(edit: Edit) -> Json:
    return {
        "file": shown_path(edit.span.source.name),
        "start": {"line": edit.span.line, "column": edit.span.column},
        "end": {"line": edit.span.end_line, "column": edit.span.end_column},
        "replacement": edit.replacement,
    }
