"""Who computes next: first come, first served, in chunks, with pages that run out."""

from __future__ import annotations

import random

import pytest

from tileproof.llm.engine.kv_cache import PagePool, next_key
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
        counts.append([(chunk.start, chunk.size) for chunk in chunks])
        done(chunks)
    assert counts == [[(0, 64)], [(64, 64)], [(128, 22)], [(150, 1)]]


def test_decode_goes_before_prefill_and_short_prompts_before_long_ones() -> None:
    scheduler = Scheduler(PagePool(100), max_running=4, token_budget=64)
    first, second, third = request_of(10), request_of(80), request_of(30)
    scheduler.add(first)
    done(scheduler.schedule())
    scheduler.add(second)
    scheduler.add(third)
    chunks = scheduler.schedule()
    assert [(chunk.request, chunk.size) for chunk in chunks] == [(first, 1), (third, 30), (second, 33)]
    done(chunks)
    assert [(chunk.request, chunk.size) for chunk in scheduler.schedule()] == [(first, 1), (third, 1), (second, 47)]


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
    assert (chunk.request, chunk.start, chunk.size) == (late, 0, late.length)


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
        assert sum(chunk.size for chunk in chunks) <= 100
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


def test_a_long_prompt_waits_for_no_more_tokens_than_it_has() -> None:
    scheduler = Scheduler(PagePool(1000), max_running=64, token_budget=64)
    long, before_long = request_of(640), 0
    scheduler.add(long)
    for _ in range(60):
        scheduler.add(request_of(64))  # one more of them than a step can compute, for ever
        chunks = scheduler.schedule()
        before_long += sum(chunk.size for chunk in chunks if chunk.request is not long and chunk.size > 1)
        done(chunks)
        if long.generated:
            break
    assert long.generated
    assert before_long <= 640 + 64, "but for the rest of a step"


def test_priorities_go_before_everything_else() -> None:
    scheduler = Scheduler(PagePool(100), max_running=1, token_budget=64)
    requests = [request_of(length) for length in (8, 40, 20)]
    requests[1].priority, requests[2].priority = -1, 1
    for request in requests:
        scheduler.add(request)
    served = []
    while scheduler.waiting:
        (chunk,) = scheduler.schedule()
        served.append(chunk.request)
        scheduler.remove(chunk.request)
    assert served == [requests[1], requests[0], requests[2]]


def test_a_step_beside_decode_is_as_long_as_the_latency_allows() -> None:
    scheduler = Scheduler(PagePool(100), max_running=4, token_budget=512, latency=0.1)
    first = request_of(10)
    scheduler.add(first)
    done(scheduler.schedule())
    for _ in range(20):
        scheduler.pace.note(512, 0.5)  # about 1,024 tokens a second
    scheduler.add(request_of(1000))
    assert [chunk.size for chunk in scheduler.schedule()] == [1, 101]
    scheduler.remove(first)
    assert [chunk.size for chunk in scheduler.schedule()] == [512], "nobody waits for the next token"


def test_requests_that_begin_alike_share_full_pages() -> None:
    pool = PagePool(12)
    scheduler = Scheduler(pool, max_running=4, token_budget=512)

    def add(length: int, salt: str | None = "") -> Request:
        request = Request(tuple(range(length)), SamplingParams(), salt=salt)
        scheduler.add(request)
        return request

    def step() -> list[tuple[int, int]]:
        chunks = scheduler.schedule()
        done(chunks)
        for chunk in chunks:
            scheduler.name_pages(chunk.request, chunk.start)
        return [(chunk.start, chunk.size) for chunk in chunks]

    first = add(3 * PAGE + 5)
    assert step() == [(0, 3 * PAGE + 5)]
    second, other, alone = add(3 * PAGE), add(3 * PAGE, "other"), add(PAGE, None)
    assert step() == [(3 * PAGE + 5, 1), (0, PAGE), (3 * PAGE - 8, 8), (0, 3 * PAGE)]
    assert second.pages[:2] == first.pages[:2], "its last token is computed in any case, for its logits"
    assert not set(second.pages[2:] + other.pages + alone.pages) & set(first.pages)
    assert scheduler.copies == [(first.pages[2], second.pages[2])]
    assert (second.cached_tokens, other.cached_tokens, alone.cached_tokens) == (3 * PAGE - 8, 0, 0)
    for request in (first, second, other, alone):
        scheduler.remove(request)
    assert pool.free == pool.count
    scheduler.copies.clear()
    again = add(4 * PAGE)
    assert step() == [(3 * PAGE, PAGE)], "the first five tokens of its last page are no beginning that has a name"
    assert (again.cached_tokens, scheduler.copies) == (3 * PAGE, [])


def test_a_prompt_that_parts_within_a_page_copies_its_beginning() -> None:
    pool = PagePool(8)
    scheduler = Scheduler(pool, max_running=4, token_budget=512)

    def started(*tokens: int) -> Request:
        request = Request(tokens, SamplingParams(), salt="")
        scheduler.add(request)
        chunks = scheduler.schedule()
        done(chunks)
        for chunk in chunks:
            scheduler.name_pages(chunk.request, chunk.start)
        return request

    head = tuple(range(PAGE + 21))
    first = started(*head)
    second = started(*head, 1, 2, 3)
    assert (second.cached_tokens, scheduler.copies) == (PAGE + 16, [(first.pages[1], second.pages[1])])
    assert second.pages[0] == first.pages[0]
    third = started(*head[: PAGE + 15], 0)
    assert (third.cached_tokens, scheduler.copies[1:]) == (PAGE + 8, [(first.pages[1], third.pages[1])])
    short = started(*head[:30])
    assert (short.cached_tokens, scheduler.copies[2:]) == (24, [(first.pages[0], short.pages[0])])
    for request in (first, second, third, short):
        scheduler.remove(request)
    assert pool.free == pool.count


def test_tokens_that_are_not_computed_yet_are_not_known() -> None:
    scheduler = Scheduler(PagePool(8), max_running=4, token_budget=82)
    first, second = (Request(tuple(range(PAGE + 50)), SamplingParams(), salt="") for _ in range(2))
    for request in (first, second):
        scheduler.add(request)
        chunks = scheduler.schedule()
        done(chunks)
        for chunk in chunks:
            scheduler.name_pages(chunk.request, chunk.start)
    assert (first.computed, second.cached_tokens) == (PAGE + 50, PAGE + 16)


def test_requests_that_begin_alike_and_come_together_compute_their_beginning_once() -> None:
    scheduler = Scheduler(PagePool(64), max_running=8, token_budget=150)
    requests = [Request((*range(200), number), SamplingParams(), salt="") for number in range(3)]
    requests.append(Request((*range(200), 3), SamplingParams(), salt=None))
    for request in requests:
        scheduler.add(request)
    seen = []
    for _ in range(3):
        chunks = scheduler.schedule()
        done(chunks)
        for chunk in chunks:
            scheduler.name_pages(chunk.request, chunk.start)
        seen.append([(requests.index(chunk.request), chunk.start, chunk.size) for chunk in chunks])
    assert seen == [
        [(0, 0, 150)],
        [(0, 150, 51), (3, 0, 99)],
        [(0, 201, 1), (1, 200, 1), (2, 200, 1), (3, 99, 102)],
    ]


def test_pages_that_were_kept_longest_are_taken_first() -> None:
    pool = PagePool(3)
    for number, page in enumerate(pool.take(3) or []):
        pool.name(page, b"", [number] * PAGE)
        pool.give_back([page])
    keys = [next_key(b"", [number] * PAGE) for number in range(3)]
    assert pool.share(keys[:1]) == [0]
    pool.give_back([0])
    assert pool.take(1) == [1]
    assert [pool.known([key]) for key in keys] == [1, 0, 1]
    assert [pool.beginning(b"", [number] * (PAGE - 1)) for number in range(3)] == [(0, 56), None, (2, 56)]
    pool.give_back([1])
    assert pool.take(2) == [1, 0], "page 2 was used last"


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(8))
def test_shared_pages_are_never_written_and_none_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    pool = PagePool(10)
    scheduler = Scheduler(pool, max_running=4, token_budget=100)
    contents: dict[int, list[int]] = {}  # what a cache would hold, token by token
    heads = [[chance.randint(0, 1)] * PAGE for _ in range(20)]
    tails = [[chance.randint(0, 1)] * chance.randint(1, 150) for _ in range(20)]
    texts = [Request((*head, *tail), SamplingParams(), salt="") for head, tail in zip(heads, tails, strict=True)]
    coming = list(texts)
    for _ in range(3000):
        if not (coming or scheduler.waiting or scheduler.running):
            break
        if coming and chance.random() < 0.3:
            scheduler.add(coming.pop())
        chunks = scheduler.schedule()
        for source, to in scheduler.copies:
            contents[to] = list(contents[source])
        scheduler.copies.clear()
        for chunk in chunks:
            tokens = [*chunk.request.prompt, *chunk.request.generated]
            for position in range(chunk.start, chunk.stop):
                page = contents.setdefault(chunk.request.pages[position // PAGE], [-1] * PAGE)
                page[position % PAGE] = tokens[position]
        for chunk in chunks:
            tokens = [*chunk.request.prompt, *chunk.request.generated]
            cached = [contents[page] for page in chunk.request.pages[: -(-chunk.stop // PAGE)]]
            assert [token for page in cached for token in page][: chunk.stop] == tokens[: chunk.stop]
        done(chunks)
        for chunk in chunks:
            scheduler.name_pages(chunk.request, chunk.start)
        for text in list(scheduler.running):
            if len(text.generated) >= 70 or chance.random() < 0.01:
                scheduler.remove(text)
    assert not coming
    assert not (scheduler.waiting)
    assert not (scheduler.running)
    assert pool.free == pool.count
    assert scheduler.cached_tokens > 0
