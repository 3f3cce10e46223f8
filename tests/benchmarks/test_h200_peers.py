"""The contestants of the suite for an H200: peers compute what the engine computes, and all take turns."""
# ruff: noqa: E402 - torch has to be there first

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from benchmarks.engine import ours, race, report, weights, worker
from benchmarks.engine.compiled import Compiled
from benchmarks.engine.decoding import State, Turn
from benchmarks.engine.plan import Plan
from benchmarks.engine.report import GRAPH, OURS, PROMPT_PEER
from benchmarks.engine.run import Run, percentiles

from tileproof.llm import LLM
from tileproof.llm.models.shapes import shape
from tileproof.llm.request import Request

PEER = "compiled (gpt-fast style)"
SMALL = replace(
    shape("qwen3-0.6b"), num_hidden_layers=2, hidden_size=128, num_attention_heads=4, num_key_value_heads=2,
    head_dim=32, intermediate_size=256, vocab_size=300, tokens=290,
)  # fmt: skip


def test_peers_compute_what_the_engine_computes() -> None:
    shared = weights.made(SMALL, "cpu")
    llm = LLM.of(SMALL, shared.ours(), max_seq_len=128, max_batch=1)
    prompt = ours.text_of(llm, 9, 1)
    tokens, places = ours.judged(llm, prompt, 4, 8)
    text = [*prompt, *tokens[:-1]]
    peer = Compiled(shared, State(SMALL, 64, "cpu"), is_compiled=False)
    assert worker.agreement(peer, text, places)[0] < 0.15
    small = LLM.of(SMALL, shared.ours_int8(), max_seq_len=128, max_batch=1)
    assert ours.judged(small, prompt, 1, 1)[1][0][0][1] == pytest.approx(places[0][0][1], abs=0.2)
    shared.layers[0].k_norm.mul_(torch.linspace(0.2, 2, SMALL.head_dim))
    assert worker.agreement(peer, text, places)[0] > 0.02, "another model is told apart"


def test_transformers_computes_what_the_peers_compute() -> None:
    pytest.importorskip("transformers")
    from benchmarks.engine.transformers import Transformers

    shared, text = weights.made(SMALL, "cpu"), [7, 200, 31, 4, 5]
    mine = Compiled(shared, State(SMALL, 64, "cpu"), is_compiled=False).logits_of(text, 3)
    theirs = Transformers(shared, 64, is_compiled=False).logits_of(text, 3)
    assert torch.nn.functional.cosine_similarity(mine, theirs).min() > 0.999


def test_the_engine_takes_turns_as_a_contestant() -> None:
    llm = LLM.of(SMALL, weights.made(SMALL, "cpu").ours(), max_seq_len=128, max_batch=1)
    engine = ours.Ours(llm, OURS)
    engine.begin(20)
    turn = engine.turn(24)
    assert turn.tokens == 24
    assert turn.first is not None
    assert turn.seconds > 0
    assert percentiles(turn.steps) == tuple(sorted(percentiles(turn.steps) or ()))
    graph = ours.OurGraph(llm, GRAPH)
    graph.begin(20)
    assert engine.nodes == graph.nodes + 1  # the engine's own graph also advances the inputs of the next step
    assert graph.turn(8).tokens == 8
    assert ours.prefill_alone(llm, 20, 2) > 0
    assert ours.prefill(llm, 20, iter((1, 2, 3)), 2) > 0
    parts = ours.parts_of(llm, 20)
    assert sum(each["calls"] for each in parts["parts"]) >= 2 * 5


def test_every_window_has_as_many_runs_as_the_others() -> None:
    assert [ours.window_of(turns) for turns in (1, 2, 3, 5, 8)] == [8, 8, 9, 10, 8]


def test_rows_are_on_disk_when_they_are_done_and_who_fails_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Steady:
        nodes = 7

        def __init__(self, name: str, fails: bool = False) -> None:
            self.name, self._fails = name, fails

        def begin(self, context: int) -> None:
            pass

        def turn(self, tokens: int) -> Turn:
            if self._fails:
                raise RuntimeError("out of memory")
            return Turn(tokens, tokens * 2e-3, (2e-3,) * tokens)

        def end(self) -> None:
            pass

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    run = Run(Plan("qwen3-4b", str(tmp_path / "found.json"), rounds=3, tokens=32), SMALL)
    contestants = [(Steady(OURS), 4096, "bf16"), (Steady(PEER, fails=True), 4096, "bf16"),
                   (Steady("short"), 64, "bf16"), (Steady("other"), 4096, "bf16")]  # fmt: skip
    worker.decode(run, contestants, {"bf16": 1000}, (128,), 1.0)
    result = report.model_of(json.loads((tmp_path / "found.json").read_text(encoding="utf-8")))
    first, peer, other = result.rows
    assert first.rounds == pytest.approx((500,) * 3)
    assert first.tokens == other.tokens == 3 * 32, "turns are of equal length"
    assert first.steps == pytest.approx((2, 2, 2))
    cached = SMALL.num_hidden_layers * 4 * SMALL.num_key_value_heads * SMALL.head_dim
    assert first.bytes_per_token == 1000 + cached * (128 + 16)
    assert (peer.who, peer.rounds, peer.note) == (PEER, (), "not measured: it fails")
    assert not result.is_whole


def test_prompts_are_raced_and_kept_as_tokens_per_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = weights.made(SMALL, "cpu")
    llm = LLM.of(SMALL, shared.ours(), max_seq_len=128, max_batch=1)
    for name in ("synchronize", "empty_cache"):
        monkeypatch.setattr(torch.cuda, name, lambda: None)
    monkeypatch.setattr(worker.chains, "products_of_a_prompt", lambda shared, length: lambda: time.sleep(2e-3))
    for name in ("TURN", "WARMING"):
        monkeypatch.setattr(race, name, 0.02)
    run = Run(Plan("qwen3-4b", str(tmp_path / "found.json"), rounds=2), SMALL)
    worker.prompts(run, shared, llm, (20,))
    assert [(row.what, row.who, row.context, len(row.rounds)) for row in run.rows] == [
        ("pp", who, 20, 2) for who in (OURS, GRAPH, PROMPT_PEER)
    ]
    assert 0 < run.rows[2].median <= 20 / 2e-3


def test_the_graph_of_a_prompt_is_timed_with_random_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = LLM.of(SMALL, weights.made(SMALL, "cpu").ours(), max_seq_len=128, max_batch=1)
    read, real = list[int](), Request.tokens
    def tokens(self: Request, start: int, stop: int) -> Any:
        read.extend(real(self, start, stop))
        return real(self, start, stop)
    monkeypatch.setattr(Request, "tokens", tokens)
    assert ours.prefill_alone(llm, 100, 1) > 0
    assert len(read) == 100
    assert len(set(read)) > 20
