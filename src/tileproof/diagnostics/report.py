"""Diagnostics as JSON, for editors and coding agents."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tileproof.diagnostics.quick_dataclasses import dataclass

from .codes import Code, page
from .errors import Diagnostic, Edit, display_path
from .spans import Span

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Proof:
    """An obligation of a kernel, and the rung that discharges it."""

    goal: str
    what: str
    span: Span
    rung: int
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked kernel: whether it was accepted, for which constants, and why."""

    file: str
    kernel: str
    accepted: bool
    scope: str = ""
    proofs: tuple[Proof, ...] = ()


def to_json(diagnostics: Sequence[Diagnostic], checked: Sequence[Checked] = ()) -> str:
    """A document with every finding and every checked kernel.

    Lines and columns count from 1 (in characters), ends are exclusive; what has no place has null there.
    """
    document: Json = {
        "format": 1,
        "kernels": [
            {
                "file": display_path(kernel.file),
                "kernel": kernel.kernel,
                "accepted": kernel.accepted,
                "scope": kernel.scope,
                "discharged": [_proof(proof) for proof in kernel.proofs],
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
        "by": proof.by,
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
        "file": display_path(span.source.name),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _edit(edit: Edit) -> Json:
    return {
        "file": display_path(edit.span.source.name),
        "start": {"line": edit.span.line, "column": edit.span.column},
        "end": {"line": edit.span.end_line, "column": edit.span.end_column},
        "replacement": edit.replacement,
    }


def to_sarif(diagnostics: Sequence[Diagnostic], *, version: str) -> str:
    """A SARIF log of one run by tileproof `version`. Its rules are the codes that occur."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics}, key=lambda code: code.id)
    driver: Json = {"name": "tileproof", "version": version, "rules": [_rule(code) for code in codes]}
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in diagnostics],
    }
    log: Json = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2, ensure_ascii=False)


def _rule(code: Code) -> Json:
    return {
        "id": code.id,
        "name": "".join(word.capitalize() for word in code.name.split("_")),
        "shortDescription": {"text": code.title},
        "help": {"text": f"Run `tileproof explain {code.id}`.", "markdown": page(code)},
        "defaultConfiguration": {"level": "error"},
    }


def _result(diagnostic: Diagnostic, rule: int) -> Json:
    notes = [f"note: {note}" for note in diagnostic.notes]
    if diagnostic.help:
        notes.append(f"help: {diagnostic.help}")
    result: Json = {
        "ruleId": diagnostic.code.id,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": "\n".join([diagnostic.message, *notes])},
        "locations": [],
    }
    if diagnostic.span is not None:
        location = _location(diagnostic.span, diagnostic.label)
        if diagnostic.kernel:
            location["logicalLocations"] = [{"name": diagnostic.kernel, "kind": "function"}]
        result["locations"] = [location]
    related = [_location(label.span, label.text) for label in diagnostic.labels]
    related += [_location(frame.span, f"called from `{frame.function}`") for frame in diagnostic.stack]
    if related:
        result["relatedLocations"] = [{"id": number, **location} for number, location in enumerate(related)]
    if diagnostic.edit is not None:
        result["fixes"] = [_fix(diagnostic.edit, diagnostic.help)]
    return result


def _location(span: Span, text: str) -> Json:
    location: Json = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(span.source.name)}, "region": _region(span)}
    }
    if text:
        location["message"] = {"text": text}
    return location


def _region(span: Span) -> Json:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(edit: Edit, description: str) -> Json:
    replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
    change = {"artifactLocation": {"uri": _uri(edit.span.source.name)}, "replacements": [replacement]}
    return {"description": {"text": description or "apply the edit"}, "artifactChanges": [change]}


def _uri(name: str) -> str:
    path = display_path(name)
    return Path(path).as_uri() if os.path.isabs(path) else quote(path.replace(os.sep, "/"))
