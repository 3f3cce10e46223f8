"""Who computes next: first come, first served, in pieces, with pages that run out."""

from __future__ import annotations

import random

import pytest

from tileproof.llm.pages import PagePool
from tileproof.llm.requests import SamplingParams
from tileproof.llm.schedule import Piece, Scheduler
from tileproof.llm.sequence import Sequence
from tileproof.llm.step import PAGE


def sequence(length: int) -> Sequence:
    return Sequence(tuple(range(length)), SamplingParams())


def done(pieces: list[Piece]) -> None:
    """What a step leaves: tokens in the cache, and one more token behind the last piece."""
    for piece in pieces:
        is_last = piece.is_last
        piece.sequence.computed = piece.stop
        if is_last:
            piece.sequence.generated.append(7)


def test_a_long_prompt_is_computed_in_pieces_of_the_budget() -> None:
    scheduler = Scheduler(PagePool(100), most=4, budget=64)
    scheduler.add(sequence(150))
    counts = []
    for _ in range(4):
        pieces = scheduler.plan()
        counts.append([(piece.start, piece.count) for piece in pieces])
        done(pieces)
    assert counts == [[(0, 64)], [(64, 64)], [(128, 22)], [(150, 1)]]


def test_texts_under_way_go_before_prompts_and_prompts_fill_what_is_left() -> None:
    scheduler = Scheduler(PagePool(100), most=4, budget=64)
    first, second, third = sequence(10), sequence(80), sequence(30)
    scheduler.add(first)
    done(scheduler.plan())
    scheduler.add(second)
    scheduler.add(third)
    pieces = scheduler.plan()
    assert [(piece.sequence, piece.count) for piece in pieces] == [(first, 1), (second, 63)]
    done(pieces)
    assert [(piece.sequence, piece.count) for piece in scheduler.plan()] == [(first, 1), (second, 17), (third, 30)]


def test_no_more_texts_run_than_may() -> None:
    scheduler = Scheduler(PagePool(100), most=2, budget=64)
    for _ in range(3):
        scheduler.add(sequence(5))
    assert len(scheduler.plan()) == 2
    assert len(scheduler.waiting) == 1


def test_the_last_that_came_gives_its_pages_back_and_is_computed_again() -> None:
    pool = PagePool(3)
    scheduler = Scheduler(pool, most=2, budget=512)
    early, late = sequence(PAGE - 1), sequence(PAGE)
    scheduler.add(early)
    scheduler.add(late)
    done(scheduler.plan())
    assert (early.length, late.length) == (PAGE, PAGE + 1)
    done(scheduler.plan())
    assert len(late.pages) == 2
    pieces = scheduler.plan()  # early needs a second page, and there is none
    assert [piece.sequence for piece in pieces] == [early]
    assert late in scheduler.waiting
    assert not late.pages
    assert late.computed == 0
    assert scheduler.preemptions == 1
    done(pieces)
    scheduler.remove(early)
    (piece,) = scheduler.plan()
    assert (piece.sequence, piece.start, piece.count) == (late, 0, late.length)


def test_a_newcomer_sends_nobody_away() -> None:
    scheduler = Scheduler(PagePool(2), most=2, budget=512)
    scheduler.add(sequence(PAGE))
    done(scheduler.plan())
    scheduler.add(sequence(2 * PAGE))
    assert len(scheduler.plan()) == 1
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


@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_and_goes_everybody_finishes_and_no_page_is_lost_or_shared(seed: int) -> None:
    chance = random.Random(seed)
    pool = PagePool(8)
    scheduler = Scheduler(pool, most=4, budget=100)
    texts = [sequence(chance.randint(1, 300)) for _ in range(12)]
    wanted = {text: chance.randint(1, 100) for text in texts}
    coming, steps = list(texts), 0
    while coming or scheduler.waiting or scheduler.running:
        steps += 1
        assert steps < 5000
        if coming and chance.random() < 0.3:
            scheduler.add(coming.pop())
        pieces = scheduler.plan()
        assert sum(piece.count for piece in pieces) <= 100
        assert len({piece.sequence for piece in pieces}) == len(pieces)
        held = [page for text in texts for page in text.pages]
        assert len(held) == len(set(held)) == pool.count - pool.free
        assert all(len(piece.sequence.pages) * PAGE >= piece.stop for piece in pieces)
        done(pieces)
        for text in list(scheduler.running):
            if len(text.generated) >= wanted[text] or chance.random() < 0.002:
                scheduler.remove(text)
    assert pool.free == pool.count


def test_pages_that_are_taken_ahead_belong_to_one_text() -> None:
    pool = PagePool(5)
    scheduler = Scheduler(pool, most=2, budget=512)
    texts = [sequence(PAGE), sequence(PAGE)]
    for text in texts:
        scheduler.add(text)
    scheduler.plan()
    assert scheduler.reserve(texts, PAGE) == 2
    assert sorted(page for text in texts for page in text.pages) == [0, 1, 2, 3]
    assert [len(text.pages) for text in texts] == [2, 2]
    assert scheduler.reserve(texts, 2 * PAGE) is None
    assert [len(text.pages) for text in texts] == [2, 2]
    assert pool.free == 1
