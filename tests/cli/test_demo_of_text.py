"""`make demo`: what it prints, with a tiny model in place of the real one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from generating_samples import quick_read_rate, write_model

from tileproof.llm import SamplingParams

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo_text.py"


def test_questions_are_answered_and_figures_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location("demo_text", DEMO)
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert demo.QUESTIONS[0][0] == "What is the capital of France?"
    model = write_model(tmp_path / "tiny")
    monkeypatch.setattr(demo, "resolve", lambda name: model)
    monkeypatch.setattr(demo, "CONTEXT", 160)
    monkeypatch.setattr(demo, "QUESTIONS", [("the dog", SamplingParams(max_new_tokens=4))] * 2)
    monkeypatch.setattr(demo, "read_rate", lambda: quick_read_rate("cpu"))
    demo.main()
    printed = capsys.readouterr()
    assert printed.out.count("> the dog\n") == 2
    assert "tokens/s" in printed.out
    assert "GB/s that this machine reads" in printed.out
    assert "loaded tiny" in printed.err
