"""Outputs that follow a grammar, alone and in batches with others, in the engine of a model with a tokenizer."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.checkpoints import write_folder
from support.engines import engine_of
from support.model_cases import by_name
from tileproof.llm import LLM, Grammar, ModelError, SamplingParams

CASE = by_name("qwen3, tied")
SCHEMA = {
    "type": "object", "properties": {"on": {"type": "boolean"}, "to": {"enum": ["a", "b"]}}, "required": ["on", "to"],
    "additionalProperties": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def llm(device: str, tmp_path_factory: pytest.TempPathFactory) -> LLM:
    path = write_folder(tmp_path_factory.mktemp("model"), CASE.config, CASE.weights)
    return LLM(path, device=device, max_seq_len=192, max_batch=4)


def test_each_output_of_a_batch_follows_its_own_grammar_and_others_are_free(llm: LLM) -> None:
    prompts = [CASE.tokens(length) for length in (5, 70, 30, 9)]
    free = SamplingParams(max_new_tokens=10, ignore_eos=True)
    params = [
        SamplingParams(max_new_tokens=100, grammar=Grammar.choice(["yes", "no"])),
        SamplingParams(max_new_tokens=100, grammar=Grammar.regex("(ab|c){3,5}"), temperature=1.0, seed=1),
        SamplingParams(max_new_tokens=100, grammar=Grammar.regex("[0-9]{3}-[0-9]{4}"), presence_penalty=0.5),
        free,
    ]
    yes, letters, digits, plain = llm.generate(prompts, params)
    assert yes.text in ("yes", "no")
    assert re.fullmatch("(ab|c){3,5}", letters.text)
    assert re.fullmatch("[0-9]{3}-[0-9]{4}", digits.text)
    assert [each.finish for each in (yes, letters, digits, plain)] == ["stop", "stop", "stop", "length"]
    assert plain.tokens[:3] == llm.generate(prompts[3], free).tokens[:3]
    llm.engine.wait()
    assert llm.pool.free == llm.pool.count


def test_a_schema_makes_json_that_it_allows(llm: LLM) -> None:
    params = SamplingParams(max_new_tokens=150, grammar=Grammar.json_schema(SCHEMA), temperature=1.0, seed=3)
    answer = json.loads(llm.generate(CASE.tokens(9), params).text)
    assert set(answer) == {"on", "to"}
    assert type(answer["on"]) is bool
    assert answer["to"] in ("a", "b")


def test_a_request_ends_where_grammar_and_bias_leave_no_token(llm: LLM) -> None:
    (token,) = llm.text.encode("y", special=False)
    bias = {token: -float("inf")}
    blocked = SamplingParams(max_new_tokens=10, grammar=Grammar.regex("y+"), logit_bias=bias)
    with pytest.raises(ModelError, match="the grammar allows no token"):
        llm.generate(CASE.tokens(9), blocked)
    assert llm.generate(CASE.tokens(9), SamplingParams(max_new_tokens=3, ignore_eos=True)).finish == "length"


@pytest.mark.parametrize("wanted", [{"stop": ("a",)}, {"grammar": Grammar.regex("a")}])
def test_what_needs_text_is_rejected_where_there_is_no_tokenizer(wanted: dict[str, Any], device: str) -> None:
    plain = engine_of(CASE, device, max_seq_len=192)
    with pytest.raises(ModelError, match="this model has no tokenizer"):
        plain.generate(CASE.tokens(9), SamplingParams(**wanted))


def test_settings_name_what_is_no_grammar() -> None:
    with pytest.raises(ModelError, match="grammar is"):
        SamplingParams(grammar="[a-z]+")  # type: ignore[arg-type]
