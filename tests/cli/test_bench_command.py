"""`tileproof bench`: figures of a tiny model, as a table and as files, and runs beside a busy machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from generating_samples import CONFIG, quick_read_rate, write_model

from support.checkpoints import tiny
from support.cli_samples import Ran
from tileproof.cli import bench
from tileproof.cli.chat import pictures, sweeps
from tileproof.cli.chat.sweeps import Task, measured
from tileproof.llm import LLM, ModelConfig, ModelError
from tileproof.llm.models.shapes import SHAPES, random_model, shape

Run = Callable[..., Ran]
QUICK = ("--tg", "4", "--context", "3", "--pp", "8", "--repeat", "2", "--device", "cpu")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs beside the tests is not looked at, and memory is measured in a moment."""
    monkeypatch.setattr(sweeps, "outside_load", lambda began: 0.0)
    monkeypatch.setattr(bench, "read_rate", quick_read_rate)


def test_a_table_is_printed_and_files_are_written(tileproof: Run, model: Path, tmp_path: Path) -> None:
    ran = tileproof("bench", "--model", str(model), *QUICK, "--into", str(tmp_path / "into"))
    assert ran.code == 0, ran.err
    assert "| tg 4 at 3 |" in ran.out
    assert "| pp 8 |" in ran.out
    assert "tg 4 at 3: " in ran.err
    assert "GB/s that this machine reads" in ran.err
    names = {path.name for path in (tmp_path / "into").iterdir()}
    assert names == {f"tiny-bf16-cpu.{ending}" for ending in (("json", "md", "png")[: 2 + pictures.can_draw()])}
    assert (tmp_path / "into" / "tiny-bf16-cpu.md").read_text() == ran.out
    decode, prefill = json.loads((tmp_path / "into" / "tiny-bf16-cpu.json").read_text())["rows"]
    assert (decode["kind"], decode["tokens"], decode["context"], len(decode["rates"])) == ("tg", 4, 3, 2)
    assert decode["share"] == pytest.approx(decode["best"] * decode["bytes_per_token"] / decode["read_rate"])
    assert (prefill["kind"], prefill["tokens"]) == ("pp", 8)


@pytest.mark.slow
def test_json_and_8_bit_weights(tileproof: Run, model: Path) -> None:
    ran = tileproof("bench", "--model", str(model), *QUICK, "--quantize", "int8", "--json", "--quiet", "--pp", "none")
    result = json.loads(ran.out)
    assert (ran.code, ran.err, result["kind"], len(result["rows"])) == (0, "", "int8", 1)


def test_a_shape_needs_no_model(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES, "little", CONFIG)
    ran = tileproof("bench", "--shape", "little", *QUICK)
    assert (ran.code, "random weights in the shape of little" in ran.err) == (0, True), ran.err


def test_loaded_runs_are_run_again_and_else_the_row_is_marked(
    tileproof: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = iter([0.9, 0.0, 0.5, 0.05])
    llm = LLM(model, device="cpu", max_batch=1)
    monkeypatch.setattr(sweeps, "outside_load", lambda began: next(loads))
    row = measured(llm, Task("tg", 2, 3), 2)
    assert (len(row.rates), row.rejected, row.is_loaded, row.outside) == (2, 2, False, 0.05)
    assert row.line().endswith("; 2 loaded runs left out")
    monkeypatch.setattr(sweeps, "outside_load", lambda began: 0.7)
    ran = tileproof("bench", "--model", str(model), *QUICK, "--tg", "none")
    assert (ran.code, "LOADED, others used 0.7 cores" in ran.err, "loaded: 0.7 cores" in ran.out) == (1, True, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "x", "--shape", "qwen3-4b"], "leave out --shape"),
        (["--shape", "qwen3-4"], "did you mean qwen3-4b?"),
        (["--shape", "smollm2-135m", "--tg", "many"], "--tg many: write numbers"),
        (["--shape", "smollm2-135m", "--tg", "none", "--pp", "none"], "nothing is left to measure"),
        (["--shape", "smollm2-135m", "--repeat", "0"], "at least 1"),
        (["--model", "no/such/model"], "no/such/model"),
        (["--shape", "huge"], "huge takes 3723.0 GiB on cpu"),
    ],
)
def test_what_is_typed_wrongly_is_said_with_its_cure(
    tileproof: Run, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SHAPES, "huge", replace(SHAPES["qwen3-32b"], name="huge", num_hidden_layers=4096))
    ran = tileproof("bench", *words)
    assert (ran.code, ran.out, message in ran.err) == (2, "", True), ran.err


def test_a_row_that_does_not_fit_is_refused_before_any_is_measured(tileproof: Run, model: Path) -> None:
    ran = tileproof("bench", "--model", str(model), *QUICK, "--pp", "8,500")
    assert (ran.code, "pp 500 takes 501 tokens, and there is room for 160" in ran.err) == (2, True), ran.err


# Shapes.


def test_shapes_have_the_parameters_that_are_published() -> None:
    millions = {name: round(config.parameters / 1e6) for name, config in SHAPES.items()}
    assert millions == {
        "smollm2-135m": 135, "qwen3-0.6b": 596, "llama-3.2-1b": 1236, "qwen3-1.7b": 1721, "qwen3-4b": 4022,
        "qwen3-8b": 8191, "qwen3-14b": 14768, "qwen3-32b": 32762,
    }  # fmt: skip
    assert SHAPES["smollm2-135m"].parameters == 134_515_008
    assert SHAPES["qwen3-0.6b"].parameters == 596_049_920


def test_a_shape_that_is_not_known_is_refused() -> None:
    with pytest.raises(ModelError) as raised:
        shape("gpt-2")
    assert "there are smollm2-135m" in raised.value.line


@pytest.mark.parametrize("config", [tiny("qwen3"), tiny("llama")], ids=lambda config: config.family)
@pytest.mark.parametrize("quantize", [None, "int8"])
def test_random_weights_have_the_shapes_and_the_spread_of_a_model(config: ModelConfig, quantize: Any) -> None:
    result, weights = random_model(config, quantize=quantize)
    assert result is config
    first, second = weights.layers
    kv = config.num_key_value_heads * config.head_dim
    assert (first.qkv.rows, first.qkv.columns) == (
        config.num_attention_heads * config.head_dim + 2 * kv,
        config.hidden_size,
    )
    assert (first.output.rows, first.down.columns) == (config.hidden_size, config.intermediate_size)
    assert (weights.head.values is weights.table) == (config.tie_word_embeddings and quantize is None)
    assert (first.q_norm is None) == (config.family == "llama")
    values = first.gate_up.values.numpy().astype("f4")
    if quantize:
        assert first.gate_up.scale is not None
        values = values * first.gate_up.scale.numpy().repeat(64, axis=1)[:, : config.hidden_size]
    assert values.std() * config.hidden_size**0.5 == pytest.approx(1, rel=0.05)
    assert not (first.qkv.values.numpy() == second.qkv.values.numpy()).all()
    assert (values[0] != values[1]).any()
