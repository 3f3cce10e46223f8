"""`/v1/completions`: shapes of answers, whole and in events."""

from __future__ import annotations

from typing import Any

import pytest

from support.servers import Server

PATH = "/v1/completions"
PROMPT = "the quick brown fox"


def choice(server: Server, **fields: Any) -> dict[str, Any]:
    """The only choice of an answer."""
    answer = server.post(PATH, **fields)
    assert answer.status == 200, answer.body
    (only,) = answer.json["choices"]
    return only


def test_an_answer_has_text_and_usage(server: Server) -> None:
    answer = server.post(PATH, prompt=PROMPT, max_tokens=4, temperature=0, ignore_eos=True).json
    assert answer["object"] == "text_completion"
    assert answer["id"].startswith("cmpl-")
    assert answer["choices"][0]["finish_reason"] == "length"
    usage = answer["usage"]
    assert usage["completion_tokens"] == 4
    assert usage["total_tokens"] == usage["prompt_tokens"] + 4
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}


def test_a_prompt_of_tokens_is_the_same_as_its_text(server: Server) -> None:
    tokens = server.post("/tokenize", prompt=PROMPT).json["tokens"]
    fields = {"max_tokens": 6, "temperature": 0}
    assert choice(server, prompt=tokens, **fields)["text"] == choice(server, prompt=PROMPT, **fields)["text"]
    assert server.post("/detokenize", tokens=tokens).json == {"prompt": PROMPT}


def test_the_events_of_a_stream_are_the_answer_in_pieces(server: Server) -> None:
    fields = {"prompt": PROMPT, "max_tokens": 8, "temperature": 0, "ignore_eos": True}
    whole = choice(server, **fields)
    answer = server.post(PATH, stream=True, stream_options={"include_usage": True}, **fields)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.body.endswith(b"data: [DONE]\n\n")
    *events, last = answer.events
    assert "".join(each["choices"][0]["text"] for each in events) == whole["text"]
    assert [each["choices"][0]["finish_reason"] for each in events] == [None] * (len(events) - 1) + ["length"]
    assert all(each["usage"] is None for each in events)
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 8


def test_each_of_several_prompts_has_n_choices_in_order(server: Server) -> None:
    fields = {"max_tokens": 3, "temperature": 0, "ignore_eos": True}
    prompts = [PROMPT, "a tile"]
    answer = server.post(PATH, prompt=prompts, n=2, **fields).json
    assert [each["index"] for each in answer["choices"]] == [0, 1, 2, 3]
    alone = [choice(server, prompt=prompt, **fields)["text"] for prompt in prompts for _ in range(2)]
    assert [each["text"] for each in answer["choices"]] == alone
    streamed = server.post(PATH, prompt=prompts, n=2, stream=True, **fields).events
    texts = ["".join(each["choices"][0]["text"] for each in streamed if each["choices"][0]["index"] == number)
             for number in range(4)]  # fmt: skip
    assert texts == alone


def test_choices_of_a_seed_differ_and_come_again(server: Server) -> None:
    fields = {"prompt": PROMPT, "n": 3, "seed": 7, "max_tokens": 12, "temperature": 1.5, "ignore_eos": True}
    first, second = (server.post(PATH, **fields).json["choices"] for _ in range(2))
    assert [each["text"] for each in first] == [each["text"] for each in second]
    assert len({each["text"] for each in first}) == 3


def test_a_stop_string_ends_the_text_and_is_named(server: Server) -> None:
    fields: dict[str, Any] = {"prompt": PROMPT, "max_tokens": 12, "temperature": 0, "ignore_eos": True}
    text = choice(server, **fields)["text"]
    stop = text[len(text) // 2 :][:2]
    stopped = choice(server, stop=stop, **fields)
    assert stopped["text"] == text[: text.index(stop)]
    assert (stopped["finish_reason"], stopped["stop_reason"]) == ("stop", stop)
    assert choice(server, stop=["\0\0\0", stop], **fields) == stopped


def test_a_stop_token_ends_the_text_and_is_named(server: Server) -> None:
    (token,) = server.post("/tokenize", prompt="x").json["tokens"]
    found = choice(server, prompt=PROMPT, logit_bias={str(token): 100}, stop_token_ids=[token], max_tokens=4)
    assert (found["text"], found["finish_reason"], found["stop_reason"]) == ("", "stop", token)


def test_logprobs_come_with_echo_for_the_prompt_too(server: Server) -> None:
    found = choice(server, prompt=PROMPT, echo=True, logprobs=2, max_tokens=2, temperature=0, ignore_eos=True)
    logprobs = found["logprobs"]
    count = len(server.post("/tokenize", prompt=PROMPT).json["tokens"])
    assert found["text"].startswith(PROMPT)
    assert len(logprobs["tokens"]) == count + 2
    assert logprobs["token_logprobs"][0] is None
    assert all(each <= 0 for each in logprobs["token_logprobs"][1:])
    assert logprobs["text_offset"][:2] == [0, len(logprobs["tokens"][0])]
    for token, logprob, top in zip(*(logprobs[name][count:] for name in ("tokens", "token_logprobs", "top_logprobs")),
                                   strict=True):  # fmt: skip
        assert top[token] == logprob == max(top.values())


def test_a_prompt_alone_is_evaluated_without_generating(server: Server) -> None:
    found = choice(server, prompt=PROMPT, echo=True, logprobs=1, max_tokens=0)
    assert found["text"] == PROMPT
    assert len(found["logprobs"]["tokens"]) == len(found["logprobs"]["token_logprobs"])
    by_number = choice(server, prompt=PROMPT, prompt_logprobs=1, max_tokens=1)["prompt_logprobs"]
    assert by_number[0] is None
    for entries, logprob in zip(by_number[1:], found["logprobs"]["token_logprobs"][1:], strict=True):
        assert any(each["logprob"] == pytest.approx(logprob, abs=1e-3) for each in entries.values())


def test_a_bias_decides_the_text(server: Server) -> None:
    (token,) = server.post("/tokenize", prompt="x").json["tokens"]
    found = choice(server, prompt=PROMPT, logit_bias={str(token): 100}, max_tokens=3, temperature=0)
    assert found["text"] == "xxx"


@pytest.mark.parametrize("top_k", [-1, 0])
def test_top_k_of_minus_one_and_of_zero_are_all(server: Server, top_k: int) -> None:
    fields = {"prompt": PROMPT, "max_tokens": 6, "seed": 3, "temperature": 1, "ignore_eos": True}
    assert choice(server, top_k=top_k, **fields)["text"] == choice(server, **fields)["text"]
