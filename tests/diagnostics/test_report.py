"""What programs read: JSON and SARIF."""

from __future__ import annotations

import json
import os

import pytest

from tileproof.diagnostics import Code, Diagnostic, Edit, Frame, Label, Source, Span, to_json, to_sarif
from tileproof.diagnostics.report import Checked, Proof

SOURCE = Source(os.path.abspath("some folder/k.py"), ("c[k, i] = 1\n", "f(c)\n"))
FULL = Diagnostic(
    Code.WRONG_DIMENSION,
    "axis 0 is M",
    Span(SOURCE, 1, 3, 1, 4),
    "walks K",
    labels=(Label(Span(SOURCE, 1, 1, 1, 2), "the tensor"),),
    notes=("first", "second"),
    help="swap them",
    edit=Edit(Span(SOURCE, 1, 3, 1, 7), "i, k"),
    stack=(Frame("outer", Span(SOURCE, 2, 1, 2, 5)),),
    kernel="matmul",
)
PROOF = Proof("in bounds", "c[k, i]", Span(SOURCE, 1, 1, 1, 8), 2, "proof", "k < K")
BARE = Diagnostic(Code.NO_FILE, "gone")


def test_json_holds_all_of_a_finding() -> None:
    place = {"file": "some folder/k.py", "line": 1, "column": 3, "end_line": 1, "end_column": 4}
    assert json.loads(to_json([FULL], [Checked(SOURCE.name, "matmul", False, "for BM=2", (PROOF,))])) == {
        "format": 1,
        "kernels": [
            {
                "file": "some folder/k.py",
                "kernel": "matmul",
                "accepted": False,
                "scope": "for BM=2",
                "discharged": [
                    {
                        "goal": "in bounds",
                        "what": "c[k, i]",
                        "line": 1,
                        "column": 1,
                        "rung": 2,
                        "by": "proof",
                        "reason": "k < K",
                    }
                ],
            }
        ],
        "findings": [
            {
                **place,
                "code": "TP0301",
                "severity": "error",
                "title": Code.WRONG_DIMENSION.title,
                "message": "axis 0 is M",
                "label": "walks K",
                "notes": ["first", "second"],
                "help": "swap them",
                "kernel": "matmul",
                "related": [{**place, "column": 1, "end_column": 2, "text": "the tensor"}],
                "stack": [
                    {**place, "line": 2, "end_line": 2, "column": 1, "end_column": 5, "function": "outer"}
                ],
                "edit": {
                    "file": "some folder/k.py",
                    "start": {"line": 1, "column": 3},
                    "end": {"line": 1, "column": 7},
                    "replacement": "i, k",
                },
            }
        ],
    }


def test_json_has_the_same_keys_for_a_finding_without_a_place() -> None:
    full, bare = json.loads(to_json([FULL, BARE]))["findings"]
    assert full.keys() == bare.keys()
    assert (bare["file"], bare["line"], bare["edit"], bare["related"]) == (None, None, None, [])


def test_sarif_has_rules_results_and_fixes() -> None:
    log = json.loads(to_sarif([FULL, BARE, FULL], version="1.2"))
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (log["version"], driver["name"], driver["version"]) == ("2.1.0", "tileproof", "1.2")
    rules = [(rule["id"], rule["name"]) for rule in driver["rules"]]
    assert rules == [("TP0301", "WrongDimension"), ("TP0901", "NoFile")]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 1, 0]
    result = run["results"][0]
    lines = result["message"]["text"].splitlines()
    assert lines == ["axis 0 is M", "note: first", "note: second", "help: swap them"]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "some%20folder/k.py"},
        "region": {"startLine": 1, "startColumn": 3, "endLine": 1, "endColumn": 4},
    }
    related = [location["message"]["text"] for location in result["relatedLocations"]]
    assert related == ["the tensor", "called from `outer`"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": "i, k"}
    assert run["results"][1]["locations"] == []


def test_sarif_names_files_outside_the_folder_by_uri(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = json.loads(to_sarif([FULL], version="0"))["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
