"""`AsyncLLM`: any number of streams at a time, each with its own tokens; what is aborted or late ends alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from functools import cache
from typing import Any

import pytest

from support.engines import engine_of, page_bytes
from support.model_cases import by_name
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import TileproofError
from tileproof.llm import LLM, AsyncLLM, ModelError, SamplingParams
from tileproof.llm.async_llm import QueueFull
from tileproof.llm.engine.engine import RequestTimeout

CASE = by_name("qwen3, calm")
PARAMS = SamplingParams(max_new_tokens=12, ignore_eos=True)
ENDLESS = SamplingParams(max_new_tokens=100_000, ignore_eos=True)


@cache
def model(device: str) -> LLM:
    return engine_of(CASE, device, max_seq_len=512, max_batch=4)


def run(main: Coroutine[Any, Any, None], llm: LLM) -> None:
    """Runs a coroutine; afterwards nothing is left of any request."""
    asyncio.run(asyncio.wait_for(main, 60))
    llm.engine.wait()
    assert llm.pool.free == llm.pool.count
    assert not (llm.scheduler.running)
    assert not (llm.scheduler.waiting)
    assert not (llm.engine.loop.requests)


async def tokens_of(llm: AsyncLLM, prompt: list[int], params: SamplingParams = PARAMS) -> tuple[int, ...]:
    return tuple([token async for chunk in llm.stream(prompt, params) for token in chunk.tokens])


def test_each_stream_gets_its_own_tokens_one_at_a_time(device: str) -> None:
    llm = model(device)
    prompts = [CASE.tokens(length) for length in (5, 70, 30, 9, 100, 12)]
    alone = [llm.generate(prompt, PARAMS).tokens for prompt in prompts]

    async def main() -> None:
        engine = AsyncLLM(llm)
        together = await asyncio.gather(*(tokens_of(engine, prompt) for prompt in prompts))
        assert [each[:3] for each in together] == [each[:3] for each in alone]
        assert [len(each) for each in together] == [12] * 6
        sizes = [len(chunk.tokens) async for chunk in engine.stream(prompts[0], PARAMS)]
        assert sum(sizes) == 12
        assert max(sizes) <= llm.runner.decode_steps
        done = await engine.generate(prompts[1], PARAMS)
        assert (done.tokens, done.finish) == (alone[1], "length")

    run(main(), llm)


def test_an_aborted_request_ends_and_others_go_on(device: str) -> None:
    llm = model(device)

    async def main() -> None:
        engine = AsyncLLM(llm)
        stream = engine.stream(CASE.tokens(20), ENDLESS, request_id="mine")
        other = asyncio.create_task(tokens_of(engine, CASE.tokens(30)))
        await anext(stream)
        assert engine.abort("mine")
        chunks = [chunk async for chunk in stream]
        assert chunks[-1].finish == "cancelled"
        assert len(await other) == 12
        assert not engine.abort("mine")

    run(main(), llm)


def test_a_cancelled_reader_ends_its_request(device: str) -> None:
    llm = model(device)

    async def main() -> None:
        engine = AsyncLLM(llm)
        reader = asyncio.create_task(tokens_of(engine, CASE.tokens(20), ENDLESS))
        while not llm.scheduler.running:
            await asyncio.sleep(0)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader

    run(main(), llm)


def test_a_request_fails_at_its_deadline_and_no_other_does(device: str) -> None:
    llm = model(device)

    async def main() -> None:
        engine = AsyncLLM(llm)
        late = engine.stream(CASE.tokens(20), ENDLESS, timeout=1e-9)
        assert len(await tokens_of(engine, CASE.tokens(30))) == 12
        with pytest.raises(RequestTimeout, match="not finished after"):
            await late.completion()

    run(main(), llm)


def test_what_cannot_be_run_is_rejected_at_once(device: str) -> None:
    llm = model(device)

    async def main() -> None:
        engine = AsyncLLM(llm, max_queue=0)
        with pytest.raises(ModelError, match="there is room for 512"):
            engine.stream(CASE.tokens(600), PARAMS)
        streams = [engine.stream(CASE.tokens(5), ENDLESS, request_id=str(number)) for number in range(4)]
        with pytest.raises(QueueFull, match="requests are waiting"):
            engine.stream(CASE.tokens(5), PARAMS)
        for stream in streams:
            await stream.aclose()
            assert (await stream.completion()).finish == "cancelled"
        first = engine.stream(CASE.tokens(5), ENDLESS, request_id="a")
        with pytest.raises(ModelError, match="there is a request 'a' already"):
            engine.stream(CASE.tokens(5), PARAMS, request_id="a")
        assert not await engine.drain(0.0)
        with pytest.raises(ModelError, match="shut down"):
            engine.stream(CASE.tokens(5), PARAMS)
        assert (await first.completion()).finish == "cancelled"

    run(main(), llm)


def test_an_event_loop_that_is_closed_ends_its_requests(device: str) -> None:
    llm = model(device)

    async def begin() -> None:
        AsyncLLM(llm).stream(CASE.tokens(20), ENDLESS)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
    loop.close()

    async def nothing() -> None: ...

    run(nothing(), llm)


def test_the_logprobs_of_a_prompt_are_those_of_its_logits(device: str) -> None:
    llm = model(device)
    tokens = CASE.tokens(150)

    async def main() -> None:
        first, *rest = await AsyncLLM(llm).prompt_logprobs(tokens, 3)
        assert first is None
        assert [each.token for each in rest if each is not None] == tokens[1:]
        assert all(each is not None and each.top[0][1] >= each.logprob for each in rest)

    run(main(), llm)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_begins_with_no_requests_and_the_parent_goes_on(device: str) -> None:
    """A child may not use memory that kernels of its parent write (TP0620); it neither hangs nor goes on with it."""
    if device != "cpu":
        pytest.skip("CUDA contexts do not survive a fork")
    llm = model(device)
    stream = llm.stream(CASE.tokens(20), SamplingParams(max_new_tokens=100, ignore_eos=True))
    next(stream)
    child = os.fork()
    if not child:
        code = 2
        try:
            rested = not llm.engine.loop.requests and llm.pool.free == llm.pool.count
            code = 0 if rested and len(llm.generate(CASE.tokens(9), PARAMS).tokens) == 12 else 1
        except TileproofError as error:
            code = 0 if error.diagnostics[0].code is Code.FORKED else 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(len(chunk.tokens) for chunk in stream) == 99


def test_equal_beginnings_are_computed_once(device: str) -> None:
    memory = page_bytes(CASE.config, 8)
    llm = engine_of(CASE, device, max_seq_len=512, max_batch=4, memory=memory, prefix_cache=True)
    head, tails = CASE.tokens(200), [CASE.tokens(length)[-length:] for length in (9, 40)]
    plain = model(device)
    for tail in tails:
        done, alone = llm.generate(head + tail, PARAMS), plain.generate(head + tail, PARAMS)
        assert done.tokens[:3] == alone.tokens[:3]
    assert done.cached_tokens == 200, "three pages are shared, and 8 tokens of the next are copied"
    assert llm.scheduler.prefill_tokens == len(head + tails[0]) + len(head + tails[1]) - 200
    llm.generate(CASE.tokens(500)[::-1], PARAMS)  # takes all pages
    assert llm.generate(head, PARAMS).cached_tokens == 0
