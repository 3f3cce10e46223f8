"""Steps of one row with 8-bit weights in which the row is taken apart for tensor cores, as on a GPU."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracles.reference_model import nearness
from support.engines import decoded_logits
from tileproof.llm import LLM
from tileproof.llm.models.decoder import Decoder
from tileproof.llm.models.shapes import random_model, shape
from tileproof.llm.step.fusion import Fusion, fusions_of

CONFIG = replace(
    shape("qwen3-0.6b"),
    num_hidden_layers=2,
    hidden_size=512,
    num_attention_heads=8,
    num_key_value_heads=2,
    head_dim=64,
    intermediate_size=1024,
    vocab_size=320,
    tokens=320,
)
TOKENS = list(range(7, 19))


def engine(device: str, fusions: tuple[Fusion, ...] | None = None) -> LLM:
    config, weights = random_model(CONFIG, device, "int8")
    return LLM.of(config, weights, device=device, max_seq_len=64, max_batch=1, fusions=fusions)


def names_of(llm: LLM) -> list[str]:
    return [op.name for kind, step in llm.runner.steps.items() if kind.is_decode for op in step.ops]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("is_fused", [False, True])
def test_a_row_taken_apart_gives_the_logits_of_the_row(
    is_fused: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Decoder, "splits_rows", property(lambda self: False))
    whole = decoded_logits(engine(device, ()), TOKENS)
    monkeypatch.setattr(Decoder, "splits_rows", property(lambda self: True))
    parted = engine(device, fusions_of("cuda:0") if is_fused else ())
    # On a CPU the row itself is rounded to 8 bits, which the parts are not.
    assert nearness(whole, decoded_logits(parted, TOKENS)).distance < 3e-2
    found = names_of(parted)
    made = {"norm_split_row", "split_linear_add_norm_split", "split_linear_silu_split"}
    assert made & set(found) == (made if is_fused else set())
    assert ("norm" in found) != is_fused
    assert "split_row" in found


def test_a_row_is_taken_apart_on_a_gpu_only(device: str) -> None:
    llm = engine(device)
    decoded_logits(llm, TOKENS)
    assert ("norm_split_row" in names_of(llm)) == (device != "cpu")
