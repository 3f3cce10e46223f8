"""Where texts end, where memory ends, and what must not depend on anything: the edges of the engine."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.reference_model import nearness, reference_logits
from support.checkpoints import SPECIALS, tiny, tokenizer, write_folder
from support.engines import (
    decoded_logits,
    engine_of,
    engine_with,
    in_8_bits,
    logits_in_pieces,
    model_weights,
    page_bytes,
    poisoned,
    sure_beginning,
)
from support.model_cases import Case, by_name
from tileproof.llm import LLM, Chunk, Message, ModelError, SamplingParams
from tileproof.llm.engine.async_decode import AsyncDecode
from tileproof.llm.engine.runner import Runner
from tileproof.llm.engine.scheduler import Scheduler
from tileproof.llm.evaluation import token_logprobs
from tileproof.llm.request import Request

CASE = by_name("qwen3, tied")
LONG = {"max_new_tokens": 24, "ignore_eos": True}


@cache
def engine(device: str) -> LLM:
    return engine_of(CASE, device, max_seq_len=192)


@pytest.fixture(scope="module")
def talking(device: str, tmp_path_factory: pytest.TempPathFactory) -> LLM:
    """The same model with its tokenizer."""
    path = write_folder(tmp_path_factory.mktemp("model"), CASE.config, CASE.weights)
    return LLM(path, device=device, max_seq_len=192)


# Where a text ends.


@pytest.mark.parametrize("end", CASE.config.eos_token_ids)
def test_every_end_token_ends_a_text_even_as_its_first(talking: LLM, end: int) -> None:
    done = talking.generate(CASE.tokens(9), SamplingParams(logit_bias={end: 1e4}))
    assert (done.tokens, done.text, done.finish) == ((end,), "", "stop")


def test_an_end_token_is_a_token_like_others_where_it_is_ignored(talking: LLM) -> None:
    end = CASE.config.eos_token_ids[0]
    done = talking.generate(CASE.tokens(9), SamplingParams(max_new_tokens=3, logit_bias={end: 1e4}, ignore_eos=True))
    assert (done.tokens, done.finish) == ((end,) * 3, "length")


def test_tokens_that_are_asked_to_end_a_text_do(talking: LLM) -> None:
    plain = talking.generate(CASE.tokens(9), SamplingParams(**LONG))
    token = plain.tokens[5]
    done = talking.generate(CASE.tokens(9), SamplingParams(**LONG, stop_token_ids=(token,)))
    assert done.tokens == plain.tokens[: plain.tokens.index(token) + 1]
    assert done.finish == "stop"


def test_a_text_of_one_token(talking: LLM) -> None:
    one = talking.generate(CASE.tokens(9), SamplingParams(max_new_tokens=1))
    assert (len(one.tokens), one.finish) == (1, "length")
    assert one.tokens == talking.generate(CASE.tokens(9), SamplingParams(**LONG)).tokens[:1]


def bytes_only(*pieces: str) -> dict[int, float]:
    """A bias that leaves nothing but the tokens of some bytes."""
    known = tokenizer(CASE.config.family, CASE.config.tokens)
    return {known.token_to_id(piece): 1e3 for piece in pieces}


def test_a_stop_string_is_found_across_tokens_and_inside_of_characters(talking: LLM) -> None:
    """The text is of é, half of which is a token, and of a and b."""
    halves = tokenizer(CASE.config.family, CASE.config.tokens).pre_tokenizer.pre_tokenize_str("é")[0][0]
    bias = bytes_only(*halves, "a", "b")
    params = {"max_new_tokens": 60, "logit_bias": bias, "ignore_eos": True}
    plain = talking.generate(CASE.tokens(12), SamplingParams(**params, temperature=1.0, seed=5))
    assert set(plain.text) <= {"é", "a", "b", "\ufffd"}
    places = [place for place in range(1, len(plain.text) - 2) if "é" in plain.text[place : place + 2]]
    assert places, "the text has no é to stop at"
    stop = plain.text[places[-1] : places[-1] + 2]
    for streamed in (False, True):
        asked = SamplingParams(**params, temperature=1.0, seed=5, stop=("zzz", stop))
        if streamed:
            chunks = list(talking.stream(CASE.tokens(12), asked))
            text, finish = "".join(chunk.text for chunk in chunks), chunks[-1].finish
        else:
            done = talking.generate(CASE.tokens(12), asked)
            text, finish = done.text, done.finish
        assert text == plain.text[: plain.text.index(stop)]
        assert finish == "stop"


def test_a_chat_is_its_prompt_and_a_stream_is_the_text(talking: LLM) -> None:
    chat = [Message("user", "What is a tile?")]
    params = SamplingParams(**LONG)
    done = talking.chat(chat, params)
    assert done.prompt_tokens == tuple(talking.text.chat_prompt(chat))
    chunks = list(talking.stream(chat, params))
    assert "".join(chunk.text for chunk in chunks) == done.text
    assert tuple(token for chunk in chunks for token in chunk.tokens) == done.tokens
    assert talking.text.token(done.prompt_tokens[0]) == SPECIALS[1]


# Which tokens can be chosen.


@pytest.mark.sweep(1)
@pytest.mark.parametrize("params", [
    SamplingParams(**LONG), SamplingParams(**LONG, temperature=2.0, seed=1),
    SamplingParams(**LONG, temperature=1.0, top_k=1, seed=1), SamplingParams(**LONG, repetition_penalty=1.3),
], ids=["greedy", "chance", "first of one", "penalized"])  # fmt: skip
def test_rows_of_padding_are_never_chosen(params: SamplingParams, device: str) -> None:
    case = by_name("llama, untied")
    weights = case.weights
    head = weights["lm_head.weight"]
    head[case.config.tokens :] = head[:1] * 0 + np.sign(head[:1].astype(np.float32)).astype(head.dtype) * 8
    head[case.config.tokens] = -head[case.config.tokens]  # one of the two is the likeliest of all
    llm = engine_with(case, weights, device, max_seq_len=192)
    done = llm.generate(case.tokens(9), params)
    assert max(done.tokens) < case.config.tokens
    assert llm.generate(case.tokens(9), SamplingParams(max_new_tokens=1, logprobs=64)).logprobs[0].logprob <= 0
    right = reference_logits(case.config, weights, case.tokens(9))[-1]
    assert right.argmax() >= case.config.tokens, "the padding does not stand out"


def test_of_equal_logits_the_lowest_token_is_chosen(device: str) -> None:
    case = by_name("llama, untied")
    prompts = [case.tokens(length) for length in (5, 20)]
    plain = engine_of(case, device, max_seq_len=192)
    first = [plain.generate(prompt, SamplingParams(max_new_tokens=1)) for prompt in prompts]
    weights = case.weights
    (winner,) = first[0].tokens
    twin = next(token for token in range(case.config.tokens) if token not in {each.tokens[0] for each in first})
    low, high = sorted((winner, twin))
    weights["lm_head.weight"][twin] = weights["lm_head.weight"][winner]
    llm = engine_with(case, weights, device, max_seq_len=192)
    assert llm.generate(prompts[0], SamplingParams(max_new_tokens=1)).tokens == (low,)
    both = llm.generate([prompts[0], prompts[1]], SamplingParams(max_new_tokens=1, ignore_eos=True))
    assert both[0].tokens == (low,)
    assert high not in both[0].tokens


def test_penalties_and_biases_reach_the_tokens(device: str) -> None:
    llm, prompt = engine(device), CASE.tokens(9)
    forced = llm.generate(prompt, SamplingParams(max_new_tokens=5, logit_bias={7: 1000.0}, ignore_eos=True))
    assert forced.tokens == (7,) * 5
    varied = SamplingParams(max_new_tokens=12, presence_penalty=1000.0, ignore_eos=True)
    assert len(set(llm.generate(prompt, varied).tokens)) == 12


# Where memory ends.


def test_a_cache_can_be_filled_to_its_last_place_and_not_beyond(device: str) -> None:
    llm = poisoned(engine_of(CASE, device, max_seq_len=128, max_batch=1, memory=page_bytes(CASE.config, 2)))
    assert llm.pool.count == 2
    for length, room in ((100, 28), (127, 1)):
        done = llm.generate(CASE.tokens(length), SamplingParams(max_new_tokens=99, ignore_eos=True))
        assert (len(done.tokens), done.finish) == (room, "length")
        assert llm.pool.free == 2
    before = [cache.numpy().view(np.uint16).copy() for cache in llm.runner.decoder.cache.keys]
    with pytest.raises(ModelError, match="max_seq_len"):
        llm.generate([CASE.tokens(9), CASE.tokens(128)], SamplingParams(**LONG))
    assert llm.pool.free == 2
    for cache_of, kept in zip(llm.runner.decoder.cache.keys, before, strict=True):
        np.testing.assert_array_equal(cache_of.numpy().view(np.uint16), kept)


def test_a_page_that_another_text_used_is_as_good_as_a_new_one(device: str) -> None:
    params = SamplingParams(**LONG)
    llm = engine_of(CASE, device, max_seq_len=128, max_batch=1, memory=page_bytes(CASE.config, 2))
    fresh = llm.generate(CASE.tokens(70), params).tokens
    llm.generate(CASE.tokens(100), params)
    assert llm.generate(CASE.tokens(70), params).tokens == fresh


def test_texts_that_were_sent_away_for_want_of_pages_come_out_the_same(device: str) -> None:
    case = by_name("qwen3, calm")
    prompts = [case.tokens(length) for length in (50, 60, 40, 63)]
    params = SamplingParams(max_new_tokens=80, ignore_eos=True)
    tight = engine_of(case, device, max_seq_len=192, max_batch=4, memory=page_bytes(case.config, 6))
    made = tight.generate(prompts, params)
    assert tight.scheduler.preemptions > 0
    assert tight.pool.free == 6
    for prompt, text in zip(prompts, made, strict=True):
        assert len(text.tokens) == 80
        alone = tight.generate(prompt, params).tokens
        sure = sure_beginning(case, prompt, alone, 0.05)
        assert text.tokens[:sure] == alone[:sure]


def test_a_text_can_be_left_at_any_step(device: str) -> None:
    llm, rng = engine(device), np.random.default_rng(0)
    params = SamplingParams(max_new_tokens=20, ignore_eos=True)
    prompts = [CASE.tokens(length) for length in (70, 30)]
    whole = llm.generate(prompts, params)[1].tokens
    sure = sure_beginning(CASE, prompts[1], whole, 0.25)
    for leaving in rng.integers(0, 20, 50):
        leaver, stayer = llm.stream(prompts[0], params), llm.stream(prompts[1], params)
        for _ in range(int(leaving)):
            next(leaver, None)
        kept = [next(stayer)]
        leaver.close()
        kept += list(stayer)
        tokens = tuple(token for chunk in kept for token in chunk.tokens)
        assert tokens[:sure] == whole[:sure]
        assert kept[-1].finish == "length"
        assert is_at_rest(llm)


def test_weights_that_are_not_numbers_are_told_of(device: str) -> None:
    weights = CASE.weights
    weights["model.norm.weight"][3] = np.nan
    llm = engine_with(CASE, weights, device, max_seq_len=192)
    with pytest.raises(ModelError, match="NaN"):
        llm.generate(CASE.tokens(5))
    assert llm.pool.free == llm.pool.count


HI = Message("user", "Hi")


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        *(("generate", wrong, "type") for wrong in (b"abc", 5, None, HI, [HI], [[1], 5], iter([1]))),
        *(("generate", wrong, "holds") for wrong in ([[1.5]], [True, 1], [["a"]], [-1], [320])),
        ("stream", [1.5], "holds"),
        *(("stream", wrong, "type") for wrong in (HI, None, b"abc", [HI, 5])),
        *((call, [1, 1.5], "holds 1.5") for call in ("logits", "perplexity")),
        ("logits", "text", "type"),
        ("perplexity", [1, 310], "holds token 310"),
        ("profile", 0, "no step"),
    ],
)
def test_what_is_no_prompt_is_refused_by_what_it_is(call: str, given: Any, said: str, talking: LLM) -> None:
    with pytest.raises(ModelError, match=said):
        getattr(talking, call)(given)


@pytest.mark.parametrize("params", ["x", None, 5, ["x"]])
def test_settings_of_another_type_are_refused(params: Any, talking: LLM) -> None:
    with pytest.raises(ModelError, match="the settings are of the type"):
        talking.generate([1, 2], params)


def test_a_bias_that_bans_every_token_is_named(talking: LLM) -> None:
    with pytest.raises(ModelError, match="logit_bias bans all 300 tokens"):
        talking.generate([1, 2], SamplingParams(logit_bias=dict.fromkeys(range(300), float("-inf"))))
    one = dict.fromkeys(range(299), float("-inf"))
    assert set(talking.generate([1, 2], SamplingParams(4, logit_bias=one, ignore_eos=True)).tokens) == {299}


@pytest.mark.parametrize("device", ["tpu", "cpu:1", 3])
def test_a_device_that_there_is_not_is_named(device: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no device"):
        LLM(tmp_path, device=device)


@pytest.mark.parametrize(
    "options",
    [{"max_batch": 0}, {"max_batch": 1.5}, {"max_seq_len": 2.5}, {"max_seq_len": 0}, {"chunk": 0}, {"chunk": -5},
     {"chunk": "x"}, {"memory": "1GB"}, {"memory": 0}],
)  # fmt: skip
def test_an_engine_that_cannot_be_made_says_which_option_is_wrong(options: dict[str, Any], device: str) -> None:
    with pytest.raises(ModelError, match=next(iter(options))):
        engine_of(CASE, device, **options)


# Who shares an engine.


def is_at_rest(llm: LLM) -> bool:
    """Whether nothing is left of any request, once the engine has ended what was aborted."""
    llm.engine.wait()
    return llm.pool.free == llm.pool.count and not llm.scheduler.running and not llm.scheduler.waiting


def test_a_prompt_may_have_several_completions(talking: LLM) -> None:
    params = SamplingParams(max_tokens=6, temperature=1.0, seed=5, ignore_eos=True)
    prompt = CASE.tokens(30)
    drafts = talking.generate(prompt, params, n=3)
    alone = [talking.generate(prompt, replace(params, seed=5 + number)) for number in range(3)]
    assert [each.tokens[0] for each in drafts] == [each.tokens[0] for each in alone]
    assert len({each.tokens for each in drafts}) == 3
    assert [len(each) for each in talking.generate([prompt, prompt[:9]], params, n=2)] == [2, 2]
    assert len(talking.generate("the fox", params, n=1)) == 1
    with pytest.raises(ModelError, match="n is 0"):
        talking.generate(prompt, params, n=0)


def test_a_prompt_has_logprobs(talking: LLM) -> None:
    prompt = CASE.tokens(70)
    first, *others = talking.prompt_logprobs(prompt, 3)
    assert first is None
    logits = talking.logits(prompt)[:-1].astype(np.float64)
    wanted = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert [each.token for each in others if each] == prompt[1:]
    for row, each in zip(wanted, others, strict=True):
        assert each is not None
        assert each.logprob == pytest.approx(row[each.token], abs=1e-6)
        assert [token for token, _ in each.top] == np.argsort(-row, kind="stable")[:3].tolist()
    assert is_at_rest(talking)


def test_threads_share_an_engine(device: str) -> None:
    llm, params = engine(device), SamplingParams(max_new_tokens=12, ignore_eos=True)
    prompts = [CASE.tokens(length) for length in (70, 30, 9)]
    alone = [llm.generate(prompt, params).tokens for prompt in prompts]

    def made(number: int) -> tuple[int, ...]:
        if number % 2:
            return llm.generate(prompts[number], params).tokens
        return tuple(token for chunk in llm.stream(prompts[number], params) for token in chunk.tokens)

    with ThreadPoolExecutor(len(prompts)) as pool:
        found = list(pool.map(made, range(len(prompts))))
    for prompt, tokens, whole in zip(prompts, found, alone, strict=True):
        sure = sure_beginning(CASE, prompt, whole, 0.25)
        assert (len(tokens), tokens[:sure]) == (12, whole[:sure])
    assert is_at_rest(llm)


def test_a_text_that_fails_takes_no_other_along(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm, params = engine(device), SamplingParams(max_new_tokens=12, ignore_eos=True)
    failing, other = llm.stream(CASE.tokens(70), params), llm.stream(CASE.tokens(30), params)
    push = Request.push

    def pushed(self: Request, token: int) -> None:
        if len(self.prompt) == 70:
            raise ValueError("odd")
        push(self, token)

    monkeypatch.setattr(Request, "push", pushed)
    assert sum(len(chunk.tokens) for chunk in other) == 12
    with pytest.raises(ValueError, match="odd"):
        list(failing)
    assert is_at_rest(llm)


class Failing:
    """Makes decode steps fail, by the lengths of the prompts in them."""

    def __init__(self, fails: Callable[[set[int]], bool], monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[set[int]] = []
        begin = AsyncDecode.begin

        def begun(decode: AsyncDecode) -> None:
            lengths = {len(request.prompt) for request in decode.requests}
            begin(decode)
            if fails(lengths):
                self.steps.append(lengths)
                raise MemoryError("no memory")

        monkeypatch.setattr(AsyncDecode, "begin", begun)


def test_a_step_that_fails_ends_the_request_that_fails_alone(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = engine_of(CASE, device, max_seq_len=192, max_batch=2)
    params = SamplingParams(max_new_tokens=12, ignore_eos=True, presence_penalty=0.5)
    whole = [llm.generate(CASE.tokens(length), params).tokens for length in (50, 70)]
    failing = Failing(lambda lengths: 30 in lengths, monkeypatch)
    requests = [llm.request(CASE.tokens(length), params) for length in (30, 50, 70)]
    llm.engine.submit(requests)
    llm.engine.wait()
    assert failing.steps == [{30, 50}, {30}]
    assert str(requests[0].failure) == "no memory"
    assert [each.completion().tokens for each in requests[1:]] == whole
    assert is_at_rest(llm)


def test_a_step_that_fails_once_ends_nobody(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = engine_of(CASE, device, max_seq_len=192, max_batch=2)
    params = SamplingParams(max_new_tokens=12, ignore_eos=True, presence_penalty=0.5)
    whole = [llm.generate(CASE.tokens(length), params).tokens for length in (70, 50)]
    failing = Failing(lambda lengths: len(lengths) == 2 and not failing.steps, monkeypatch)
    requests = [llm.request(CASE.tokens(length), params) for length in (70, 50)]
    llm.engine.submit(requests)
    llm.engine.wait()
    assert failing.steps == [{70, 50}]
    assert [each.completion().tokens for each in requests] == whole
    assert is_at_rest(llm)


def test_requests_that_fail_together_alone_are_ended_in_time_and_those_that_wait_go_on(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = engine_of(CASE, device, max_seq_len=192, max_batch=2)
    params = SamplingParams(max_new_tokens=12, ignore_eos=True, presence_penalty=0.5)
    whole = llm.generate(CASE.tokens(70), params).tokens
    failing = Failing(lambda lengths: lengths == {30, 50}, monkeypatch)
    requests = [llm.request(CASE.tokens(length), params) for length in (30, 50, 70)]
    llm.engine.submit(requests)
    llm.engine.wait()
    assert failing.steps == [{30, 50}] * 3
    assert [str(each.failure) for each in requests] == ["no memory", "no memory", "None"]
    assert [len(each.generated) for each in requests] == [7, 7, 12], "two of each trial, one of each prefill"
    assert requests[2].completion().tokens == whole
    assert is_at_rest(llm)


def test_a_step_that_fails_leaves_others_their_pages(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that `prompt_logprobs` has while it lets requests go between."""
    llm = engine_of(CASE, device, max_seq_len=192, max_batch=2, prefix_cache=True)
    prompt = CASE.tokens(150)
    wanted = llm.prompt_logprobs(prompt)
    Failing(lambda lengths: True, monkeypatch)
    blocks = token_logprobs(llm.runner, llm.pool, tuple(prompt), 0)
    logprobs = [None, *llm.engine.call(lambda: next(blocks))]
    with pytest.raises(MemoryError, match="no memory"):
        llm.generate(CASE.tokens(100), SamplingParams(max_new_tokens=5, ignore_eos=True))
    logprobs += llm.engine.call(lambda: [each for block in blocks for each in block])
    assert logprobs == wanted
    assert is_at_rest(llm)


def test_a_scheduler_that_fails_ends_its_requests(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = engine_of(CASE, device, max_seq_len=192)

    def failing(*_: object) -> bool:
        raise ValueError("odd")

    with monkeypatch.context() as patch:
        patch.setattr(Scheduler, "_admit", failing)
        with pytest.raises(ValueError, match="odd"):
            llm.generate(CASE.tokens(9), SamplingParams(max_new_tokens=2))
    assert len(llm.generate(CASE.tokens(9), SamplingParams(max_new_tokens=2, ignore_eos=True)).tokens) == 2
    assert is_at_rest(llm)


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_a_preempted_request_goes_on_from_the_tokens_it_has(penalty: float, device: str) -> None:
    """The second prefill goes from its prompt into the tokens that it has."""
    llm, params = engine(device), SamplingParams(max_new_tokens=12, ignore_eos=True, presence_penalty=penalty)
    prompt = CASE.tokens(30)
    whole = llm.generate(prompt, params).tokens
    request, restarted = llm.request(prompt, params), []

    def restart(chunk: Chunk) -> None:  # the engine calls it between two steps
        if not restarted:
            restarted.append(chunk)
            llm.engine.loop.restart()

    request.on_chunk = restart
    llm.engine.submit([request])
    llm.engine.wait()
    assert restarted
    tokens = request.completion().tokens
    sure = sure_beginning(CASE, prompt, whole, 0.25) if not penalty else 1
    assert (len(tokens), tokens[:sure]) == (12, whole[:sure])
    assert is_at_rest(llm)


def test_an_iterator_may_be_collected_in_the_middle_of_a_step(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm, params = engine(device), SamplingParams(max_new_tokens=6, ignore_eos=True)
    whole = llm.generate(CASE.tokens(9), params).tokens
    prepare = Runner.prepare

    def collecting(self: Runner, *given: Any) -> Any:
        gc.collect()
        return prepare(self, *given)

    monkeypatch.setattr(Runner, "prepare", collecting)
    cycle: list[Any] = [llm.stream(CASE.tokens(70), params)]
    cycle.append(cycle)
    next(cycle[0])
    del cycle
    assert llm.generate(CASE.tokens(9), params).tokens[:1] == whole[:1]
    assert is_at_rest(llm)


def test_an_engine_is_not_asked_in_the_middle_of_a_step(device: str) -> None:
    llm = engine_of(CASE, device, max_seq_len=192)
    llm.runner.on_compile = lambda _: llm.generate(CASE.tokens(5)) and None
    with pytest.raises(ModelError, match="in the middle of a step"):
        llm.generate(CASE.tokens(9))
    llm.runner.on_compile = None
    assert len(llm.generate(CASE.tokens(9), SamplingParams(max_new_tokens=3, ignore_eos=True)).tokens) == 3
    assert is_at_rest(llm)


# What must not matter.


def test_a_graph_gives_the_bits_of_launches_one_by_one(device: str) -> None:
    tokens = CASE.tokens(100)
    eager = engine_of(CASE, device, max_seq_len=192, is_graph=False)
    np.testing.assert_array_equal(decoded_logits(engine(device), tokens), decoded_logits(eager, tokens))
    np.testing.assert_array_equal(engine(device).logits(tokens), eager.logits(tokens))
    engine(device).generate(CASE.tokens(40), SamplingParams(**LONG, temperature=1.0, seed=1))
    np.testing.assert_array_equal(decoded_logits(engine(device), tokens), decoded_logits(eager, tokens))


def test_only_replays_whose_tokens_lie_on_the_host_are_waited_for(talking: LLM, device: str) -> None:
    """Those of decode steps on a CPU, which are read at once: no other memory of theirs may be that of the host."""
    talking.generate("hello", SamplingParams(**LONG))
    assert talking.runner.steps
    for kind, step in talking.runner.steps.items():
        assert step.graph is not None
        assert step.graph._is_awaited() == (device == "cpu" and kind.decode_steps > 0)
        shared = [block for block, _ in step.graph._outputs if block.is_shared]
        assert len(shared) == (device == "cpu" and kind.decode_steps > 0)
        assert not any(tensor.block.is_shared for tensor, _, _ in step.graph._read_first)


def test_two_engines_give_equal_bits(device: str) -> None:
    tokens = CASE.tokens(80)
    other = engine_of(CASE, device, max_seq_len=192)
    np.testing.assert_array_equal(engine(device).logits(tokens), other.logits(tokens))


def test_two_runs_give_the_same_texts_and_the_same_logits(device: str) -> None:
    llm, prompts = engine(device), [CASE.tokens(length) for length in (3, 70, 15, 33)]
    for params in (SamplingParams(**LONG), SamplingParams(**LONG, temperature=0.8, top_p=0.9, seed=4)):
        first, again = (llm.generate(prompts, params) for _ in range(2))
        assert [each.tokens for each in first] == [each.tokens for each in again]
    np.testing.assert_array_equal(llm.logits(prompts[1]), llm.logits(prompts[1]))


FUSED = {
    "cpu": {"norm_linear", "norm_linear_silu", "linear_add", "add_norm", "rotate_append"},
    "cuda": {
        "split_linear_add_norm_split", "split_linear_silu_split", "norm_split_row", "split_linear_silu",
        "split_linear_add", "linear_silu", "prompt_attention", "new_token_attention", "append_layers", "linear_add",
        "add_norm", "rotate_append",
    },
}  # fmt: skip
"""What the tables of fusions make, and the pass after them."""


def test_fused_operations_give_what_the_single_ones_do(device: str) -> None:
    plain_names, fused_names = set[str](), set[str]()
    sizes = {"hidden_size": 512, "num_attention_heads": 8, "head_dim": 64, "tie_word_embeddings": False}
    wide, odd = (Case(f"wide, {n}", tiny("qwen3", intermediate_size=n, **sizes), is_calm=True) for n in (512, 192))
    cases = (by_name("qwen3, tied"), False), (by_name("llama, untied"), False), (wide, True), (odd, True)
    for case, is_small in cases:
        weights, tokens = model_weights(case.config, case.weights, device), case.tokens(140)
        weights = in_8_bits(weights) if is_small else weights
        plain, fused = (
            LLM.of(case.config, weights, device=device, max_seq_len=192, fusions=fusions) for fusions in ((), None)
        )
        one, other = (logits_in_pieces(llm, tokens, (140,)) for llm in (plain, fused))
        assert nearness(one, other).distance < 3e-2
        one, other = (decoded_logits(llm, tokens[:70]) for llm in (plain, fused))
        assert nearness(one, other).distance < 3e-2
        names = [{op.name for step in llm.runner.steps.values() for op in step.ops} for llm in (plain, fused)]
        plain_names |= names[0]
        fused_names |= names[1]
    assert fused_names - plain_names == FUSED[device.partition(":")[0]], "some are seen by nobody"


def test_a_seed_draws_its_text_in_any_row_of_a_batch(device: str) -> None:
    llm = engine_of(CASE, device, max_seq_len=192, max_batch=4)
    prompts = [CASE.tokens(length) for length in (20, 21, 22, 23)]
    params = [SamplingParams(**LONG, temperature=1.0, top_k=3, seed=seed) for seed in (7, 8, 9, 10)]
    made = llm.generate(prompts, params)
    turned = llm.generate(prompts[::-1], params[::-1])[::-1]
    assert [each.tokens for each in made] == [each.tokens for each in turned]
    # Logits of a batch of another size differ in their last bits, and so, rarely, does a draw.
    alone = [llm.generate(prompt, its).tokens[:8] for prompt, its in zip(prompts, params, strict=True)]
    assert sum(one == each.tokens[:8] for one, each in zip(alone, made, strict=True)) >= 3
    other = llm.generate(prompts[0], SamplingParams(**LONG, temperature=1.0, top_k=3, seed=70))
    assert other.tokens[:8] != alone[0]


@pytest.mark.slow
def test_a_context_of_thousands_is_as_near_as_a_short_one(device: str) -> None:
    case = Case("long", tiny("llama", num_hidden_layers=1, max_position_embeddings=4096), is_calm=True)
    tokens = case.tokens(2100)
    llm = poisoned(engine_of(case, device, max_seq_len=2176, max_batch=1))
    right = reference_logits(case.config, case.weights, tokens)[:, : case.config.tokens]
    done = llm.generate(tokens[:2090], SamplingParams(max_new_tokens=1, logprobs=8, ignore_eos=True))
    logprobs = right[2089] - np.log(np.exp(right[2089]).sum())
    assert [value for _, value in done.logprobs[0].top] == pytest.approx(np.sort(logprobs)[::-1][:8], abs=0.05)
    assert nearness(llm.logits(tokens)[-64:], right[-64:]).is_parity
