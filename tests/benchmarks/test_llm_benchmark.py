"""The engine's benchmark: which turns count, which goals are met, its page, and the files it makes models of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.engine import gguf_models, llm
from benchmarks.engine import llm_worker as worker
from benchmarks.engine.report import LLM, Side, Turns, cpu_lines
from benchmarks.harness import page, result
from benchmarks.harness.result import Line, Results

from oracles.llama_peer import LlamaCpp, log_softmax

SHAPE = gguf_models.Shape("small", "qwen3", 2, 64, 4, 2, 32, 128, 600, 1e6, 1e-6, 2048)


def side(decode: float, prefill: float, peak: int = 400_000_000) -> Side:
    rounds = np.linspace(0.9, 1.0, 5)
    return Side(Turns(tuple((decode * rounds).tolist())), Turns(tuple((prefill * rounds).tolist())), 270_000_000,
                100_000_000, peak, 270_000_000, 20_000_000, 1.5, 12.5)  # fmt: skip


def lines(ours: Side, theirs: Side, read: Turns = Turns((2.2e10,))) -> list[Line]:  # noqa: B008 - it is frozen
    return cpu_lines("SmolLM2-135M", ("bf16", "BF16"), ours, theirs, read, (9, 10), 0.1)


def test_a_goal_is_met_by_the_ratio_or_by_the_read_limit() -> None:
    assert [line.missed for line in lines(side(65, 400), side(50, 300))] == [[], [], []]
    assert [line.missed for line in lines(side(75, 400), side(74, 300))] == [[], [], []]
    assert all(line.missed for line in lines(side(55, 290, peak=500_000_000), side(50, 300)))
    busy = lines(side(55, 290), side(50, 300), Turns((2.2e10,), is_loaded=True))
    assert [line.name for line in busy if line.missed] == ["SmolLM2-135M bf16 prefill"]
    assert busy[0].verdict.startswith("not judged, loaded: ")


def test_lines_make_a_page(tmp_path: Path) -> None:
    (tmp_path / "cpu" / "tried.md").parent.mkdir()
    (tmp_path / "cpu" / "tried.md").write_text("# llm\n\nEverything was tried.\n", encoding="utf-8")
    actual = lines(side(65, 290), side(50, 300))
    result.save(tmp_path / "cpu" / LLM.file, Results(tuple(actual), ({"processor": "A processor"},)))
    (built,) = page.write_pages([LLM], tmp_path)
    text = built.read_text(encoding="utf-8")
    assert built.name == "llm.md"
    assert "| SmolLM2-135M bf16 decode | bf16 / BF16 | 15.385 ms (16.194 ms) | llama.cpp 20.000 ms (21" in text
    assert "| 1.30 x llama.cpp | 65.0 tok/s | 80% |" in text
    assert "| 12.500 / 12.500 | 9 of 10 | 0.100 |" in text
    assert "- SmolLM2-135M bf16 prefill: MISSED: 0.97 for >= 1.00 x llama.cpp" in text
    assert "[What was tried](tried.md)" in text


class Quiet:
    """A worker that answers at once; while it does, others use as much of a core as they are said to."""

    def __init__(self, loads: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = self.busy = self.own = 0.0
        self._loads: Iterator[float] = iter(loads)
        monkeypatch.setattr(llm.time, "perf_counter", lambda: self.clock)
        monkeypatch.setattr(llm.time, "process_time", lambda: 0.0)
        monkeypatch.setattr(llm.time, "sleep", lambda seconds: None)
        monkeypatch.setattr(llm, "_busy", lambda: self.busy)
        monkeypatch.setattr(llm, "wait_for_quiet", lambda: None)

    def spent(self) -> float:
        return self.own

    def ask(self, do: str, **more: Any) -> Any:
        load = next(self._loads)
        self.clock, self.busy, self.own = self.clock + 1, self.busy + 2 + load, self.own + 2
        return {"rate": load}


def test_a_loaded_turn_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, there = llm.Asked(), Quiet([0.5, 0.2, 0.05, 0.0], monkeypatch)
    for _ in range(2):
        asked.take(there, 12, "decode")  # type: ignore[arg-type]
    assert asked.turns == Turns((0.05, 0.0), outside=pytest.approx(0.05))
    never = llm.Asked()
    never.take(Quiet([1.0, 0.9, 0.8], monkeypatch), 3, "decode")  # type: ignore[arg-type]
    assert never.turns == Turns((1.0, 0.9, 0.8), is_loaded=True)


def test_a_turn_waits_for_others_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, busy, slept = [0.0], iter([0.0, 0.3, 0.3, 0.45, 0.45, 0.46]), []
    monkeypatch.setattr(llm.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(llm, "_busy", lambda: next(busy))

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(llm.time, "sleep", sleep)
    llm.wait_for_quiet()
    assert len(slept) == 3, "two looks while others were busy, and one when they were not"
    monkeypatch.setattr(llm, "_busy", lambda: clock[0])
    llm.wait_for_quiet()
    assert clock[0] == pytest.approx(0.9 + llm.WAIT, abs=0.31)


def test_places_of_which_nothing_is_told_are_not_compared() -> None:
    ours = {"first": [1, 2, 3], "logprobs": [-1.0, -2.0, -3.0]}
    theirs = {"first": [1, None, 4], "logprobs": [-1.25, None, -3.0]}
    assert llm.agreement(ours, theirs) == ((1, 2), 0.25)


@pytest.mark.parametrize("kind", ["BF16", "Q8_0"])
def test_a_random_model_is_the_same_for_both_engines(kind: Any, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "small.gguf"
    gguf_models.write_random(SHAPE, file, kind)
    tokens = np.random.default_rng(0).integers(256, 590, 30).tolist()
    ours = worker.Tileproof(str(file), "bf16")
    actual = ours.judge(tokens)
    theirs = log_softmax(LlamaCpp(file).logprobs(tokens, SHAPE.vocab_size))[:-1]
    right = theirs[np.arange(len(tokens) - 1), tokens[1:]]
    allowed = 0.1 if kind == "BF16" else 0.5  # llama.cpp rounds rows to 8 bits too
    assert np.abs(np.array(actual["logprobs"]) - right).max() < allowed
    assert ours.sizes()["streamed"] == 2 * (2 * (64 * 256 + 128 * 64 + 3 * 64 * 128) + 600 * 64)


def test_a_file_keeps_its_fields_and_values_in_another_element_type(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    first, second = tmp_path / "first.gguf", tmp_path / "second.gguf"
    gguf_models.write_random(SHAPE, first, "BF16")
    gguf_models.convert(first, second, "F32")
    one, other = gguf.GGUFReader(first), gguf.GGUFReader(second)
    for name, field in one.fields.items():
        if name not in ("general.file_type", "GGUF.kv_count"):
            assert other.fields[name].contents() == field.contents(), name
    for before, after in zip(one.tensors, other.tensors, strict=True):
        np.testing.assert_array_equal(gguf.dequantize(before.data, before.tensor_type), after.data, before.name)


def test_a_file_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "qwen3-0.6b-BF16.gguf").write_bytes(b"here")
    assert gguf_models.qwen3_small("BF16", tmp_path).read_bytes() == b"here"
