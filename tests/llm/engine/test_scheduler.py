"""Who computes next: first come, first served, in chunks, with pages that run out."""

from __future__ import annotations

import random

import pytest

from tileproof.llm.engine.kv_cache import PagePool
from tileproof.llm.engine.scheduler import ScheduledChunk, Scheduler
from tileproof.llm.request import Request
from tileproof.llm.sampling import SamplingParams
from tileproof.llm.step.ir import PAGE


def request_of(length: int) -> Request:
    return Request(tuple(range(length)), SamplingParams())


def done(chunks: list[ScheduledChunk]) -> None:
    """What a step leaves: tokens in the cache, and one more token behind the last chunk."""
    for chunk in chunks:
        is_last = chunk.is_last
        chunk.request.computed = chunk.stop
        if is_last:
            chunk.request.generated.append(7)


def test_a_long_prompt_is_computed_in_chunks_of_the_budget() -> None:
    scheduler = Scheduler(PagePool(100), max_running=4, token_budget=64)
    scheduler.add(request_of(150))
    counts = []
    for _ in range(4):
        chunks = scheduler.schedule()
        counts.append([(chunk.start, chunk.count) for chunk in chunks])
        done(chunks)
    assert counts == [[(0, 64)], [(64, 64)], [(128, 22)], [(150, 1)]]


def test_texts_under_way_go_before_prompts_and_prompts_fill_what_is_left() -> None:
    scheduler = Scheduler(PagePool(100), max_running=4, token_budget=64)
    first, second, third = request_of(10), request_of(80), request_of(30)
    scheduler.add(first)
    done(scheduler.schedule())
    scheduler.add(second)
    scheduler.add(third)
    chunks = scheduler.schedule()
    assert [(chunk.request, chunk.count) for chunk in chunks] == [(first, 1), (second, 63)]
    done(chunks)
    assert [(chunk.request, chunk.count) for chunk in scheduler.schedule()] == [(first, 1), (second, 17), (third, 30)]


def test_no_more_texts_run_than_may() -> None:
    scheduler = Scheduler(PagePool(100), max_running=2, token_budget=64)
    for _ in range(3):
        scheduler.add(request_of(5))
    assert len(scheduler.schedule()) == 2
    assert len(scheduler.waiting) == 1


def test_the_last_that_came_gives_its_pages_back_and_is_computed_again() -> None:
    pool = PagePool(3)
    scheduler = Scheduler(pool, max_running=2, token_budget=512)
    early, late = request_of(PAGE - 1), request_of(PAGE)
    scheduler.add(early)
    scheduler.add(late)
    done(scheduler.schedule())
    assert (early.length, late.length) == (PAGE, PAGE + 1)
    done(scheduler.schedule())
    assert len(late.pages) == 2
    chunks = scheduler.schedule()  # early needs a second page, and there is none
    assert [chunk.request for chunk in chunks] == [early]
    assert late in scheduler.waiting
    assert not late.pages
    assert late.computed == 0
    assert scheduler.preemptions == 1
    done(chunks)
    scheduler.remove(early)
    (chunk,) = scheduler.schedule()
    assert (chunk.request, chunk.start, chunk.count) == (late, 0, late.length)


def test_a_newcomer_sends_nobody_away() -> None:
    scheduler = Scheduler(PagePool(2), max_running=2, token_budget=512)
    scheduler.add(request_of(PAGE))
    done(scheduler.schedule())
    scheduler.add(request_of(2 * PAGE))
    assert len(scheduler.schedule()) == 1
    assert scheduler.preemptions == 0


def test_pages_are_given_back_once() -> None:
    pool = PagePool(4)
    taken = pool.take(2)
    assert taken == [0, 1]
    assert pool.free == 2
    assert pool.take(3) is None
    assert pool.free == 2
    pool.give_back(taken)
    with pytest.raises(ValueError, match="twice"):
        pool.give_back(taken)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_and_goes_everybody_finishes_and_no_page_is_lost_or_shared(seed: int) -> None:
    chance = random.Random(seed)
    pool = PagePool(8)
    scheduler = Scheduler(pool, max_running=4, token_budget=100)
    texts = [request_of(chance.randint(1, 300)) for _ in range(12)]
    wanted = {text: chance.randint(1, 100) for text in texts}
    coming, steps = list(texts), 0
    while coming or scheduler.waiting or scheduler.running:
        steps += 1
        assert steps < 5000
        if coming and chance.random() < 0.3:
            scheduler.add(coming.pop())
        chunks = scheduler.schedule()
        assert sum(chunk.count for chunk in chunks) <= 100
        assert len({chunk.request for chunk in chunks}) == len(chunks)
        held = [page for text in texts for page in text.pages]
        assert len(held) == len(set(held)) == pool.count - pool.free
        assert all(len(chunk.request.pages) * PAGE >= chunk.stop for chunk in chunks)
        done(chunks)
        for text in list(scheduler.running):
            if len(text.generated) >= wanted[text] or chance.random() < 0.002:
                scheduler.remove(text)
    assert pool.free == pool.count


def test_pages_that_are_taken_ahead_belong_to_one_text() -> None:
    pool = PagePool(5)
    scheduler = Scheduler(pool, max_running=2, token_budget=512)
    texts = [request_of(PAGE), request_of(PAGE)]
    for text in texts:
        scheduler.add(text)
    scheduler.schedule()
    assert scheduler.reserve(texts, PAGE) == 2
    assert sorted(page for text in texts for page in text.pages) == [0, 1, 2, 3]
    assert [len(text.pages) for text in texts] == [2, 2]
    assert scheduler.reserve(texts, 2 * PAGE) is None
    assert [len(text.pages) for text in texts] == [2, 2]
    assert pool.free == 1
