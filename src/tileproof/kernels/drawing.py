"""What a draw from a row of logits is made of: weights, bars for tokens to reach, and where a sum crosses a number.

Helpers of the kernels of `sample`. A row is a tuple of the logits, its number, its greatest logit and the scale that
makes exponents of logits.
"""

from __future__ import annotations

import math
from typing import Any, Final

import tileproof as tp
from tileproof import bf16, f16, f32, i32, u64

from .ordering import element_at, element_of, keyed, ordered, position_of

LOG2_E: Final = math.log2(math.e)
GREATEST: Final = 3.4e38
"""Just below what f32 holds: times 0 it is 0."""
LAST: Final = (1 << 32) - 1
"""Behind every position in a key, and below every key."""
ALL: Final = (1 << 64) - 1
"""Above every key but that of a NaN at 0."""
MOST_STEPS: Final = 1 << 60
"""Positions of random numbers have to fit 62 bits."""


def rank(x: Any) -> Any:
    """Logits as u32 of the same order, in as few bits as they have."""
    key = ordered(x.to(f32))
    if x.dtype == bf16:
        found = key >> 16
    elif x.dtype == f16:
        found = key >> 13
    else:
        found = key
    return found


def worthy(place: Any, x: Any) -> Any:
    """A number that elements like those of x reach if and only if their rank reaches this one."""
    if x.dtype == bf16:
        key = place << 16
    elif x.dtype == f16:
        key = place << 13
    else:
        key = place
    return element_at(key, tp.zeros(()))


def weight_of(x: Any, top: Any, scale: Any) -> Any:
    """exp((x - top) / temperature) for a scale of log2(e) / temperature: 1 for the greatest, 0 for -inf."""
    v = x.to(f32)
    is_nothing = (v == -tp.inf) | (top == tp.inf)
    return tp.where(v == top, 1.0, tp.where(is_nothing, 0.0, tp.exp2((v - top) * scale)))


def worth_of(x: Any, top: Any, scale: Any, is_count: Any) -> Any:
    """What tokens are worth: 1 where they are counted, else their weight."""
    if is_count:
        worth = tp.where(x == x, 1.0, 0.0)
    else:
        worth = weight_of(x, top, scale)
    return worth


def plus(total: Any, part: Any) -> Any:
    """One more tile in a total, which is kept for each lane apart, or in one number."""
    if total.shape[0] == 1:
        found = total + part.sum(keepdims=True)
    else:
        found = total + part.fill(0)
    return found


def is_up_to(v: Any, edge: Any, size: Any) -> Any:
    """Which elements of a tile are no later than a position."""
    return tp.arange(size, i32) <= (edge - v.start).to(i32)


def mass_of(row: Any, size: Any, zeros: Any) -> Any:
    """The weight of all tokens."""
    (logits, r, top, scale), total = row, zeros
    for v in tp.tiles(V=size):
        total = plus(total, weight_of(logits[r, v], top, scale))
    return total.sum()


def total_of(row: Any, kept: Any, size: Any, zeros: Any) -> Any:
    """The weight of the tokens that stay."""
    (logits, r, top, scale), (bar, edge, floor) = row, kept
    total, level, above = zeros, worthy(bar, logits), worthy(bar + 1, logits)
    for v in tp.tiles(V=size):
        part = logits[r, v].to(f32)
        weight = weight_of(part, top, scale)
        stays = (part >= above) | ((part >= level) & is_up_to(v, edge, size))
        total = plus(total, tp.where(stays & ~(weight < floor), weight, 0.0))
    return total.sum()


def bar_of(row: Any, low: Any, high: Any, goal: Any, is_count: Any, size: Any, zeros: Any) -> Any:
    """The highest bar from low to high such that tokens worth the goal reach it, or one that just these reach.

    They do reach `low`. Each pass over the row leaves a quarter of the interval.
    """
    logits, r, top, scale = row
    while low < high:
        step = ((high - low) >> 2) + 1
        one, two = low + step, low + tp.minimum(step * 2, high - low)
        three = low + tp.minimum(step * 3, high - low)
        first, second, third = zeros, zeros, zeros
        bars = worthy(one, logits), worthy(two, logits), worthy(three, logits)
        for v in tp.tiles(V=size):
            part = logits[r, v].to(f32)
            worth = worth_of(part, top, scale, is_count)
            first = plus(first, tp.where(part >= bars[0], worth, 0.0))
            second = plus(second, tp.where(part >= bars[1], worth, 0.0))
            third = plus(third, tp.where(part >= bars[2], worth, 0.0))
        reach_one, reach_two, reach_three = first.sum(), second.sum(), third.sum()
        if reach_three >= goal:
            low, reached = three, reach_three
        elif reach_two >= goal:
            low, high, reached = two, three - 1, reach_two
        elif reach_one >= goal:
            low, high, reached = one, two - 1, reach_one
        else:
            high, reached = one - 1, goal + 1
        high = tp.where(is_count & (reached == goal), low, high)
    return low


def dispensable(row: Any, weight: Any) -> Any:
    """A logit such that all tokens below it have less than this weight together, and half of it to spare."""
    _, _, top, scale = row
    return top + tp.minimum(tp.log2(weight * 0.5 / tp.dim("V").to(f32)), 0.0) / scale


def needed_of(row: Any, bar: Any, edge: Any, goal: Any, is_count: Any, size: Any, zeros: Any) -> Any:
    """How many of the tokens level with the bar it takes to reach the goal, at least 1; and how many there are."""
    logits, r, top, scale = row
    above, level, each = zeros, zeros, tp.zeros((), f32)
    least, next_one = worthy(bar, logits), worthy(bar + 1, logits)
    for v in tp.tiles(V=size):
        part = logits[r, v].to(f32)
        worth = worth_of(part, top, scale, is_count)
        is_level = (part >= least) & (part < next_one) & is_up_to(v, edge, size)
        above = plus(above, tp.where(part >= next_one, worth, 0.0))
        level = plus(level, tp.where(is_level, 1.0, 0.0))
        each = tp.maximum(each, tp.where(is_level, worth, 0.0).max())
    return tp.maximum(tp.ceil((goal - above.sum()) / each), 1.0), level.sum()


def crossing_of(row: Any, kept: Any, target: Any, otherwise: Any, is_draw: Any, size: Any) -> Any:
    """Where a running sum crosses a number: of the weights of tokens that stay, or of ones for those at the bar."""
    (logits, r, top, scale), (bar, edge, floor) = row, kept
    run, is_found = tp.zeros((), f32), tp.zeros((), bool)
    least, above = worthy(bar, logits), worthy(bar + 1, logits)
    for v in tp.tiles(V=size):
        if ~is_found:
            value = logits[r, v].to(f32)
            weight = weight_of(value, top, scale)
            is_level = (value >= least) & (value < above) & is_up_to(v, edge, size)
            is_in = (is_level | (is_draw & (value >= above))) & ~(weight < floor)
            share = tp.where(is_in, tp.where(is_draw, weight, 1.0), 0.0)
            part = share.sum()
            if run + part > target:
                is_hit = (share > 0) & (run + share.cumsum() > target)
                hit = tp.where(is_hit, tp.arange(size, i32), size).min()
                otherwise, is_found = tp.where(hit < size, v.start + hit, otherwise), hit < size
            run += part
    return otherwise


def drawn_of(keys: Any, settings: Any, chance: Any, otherwise: Any) -> Any:
    """A draw from the greatest keys of a row in any order, 0 where there is none; top-p may leave some, min-p too.

    Top-p is a part of the total, or where that is infinite, of what the keys weigh.
    """
    top, scale, p, total, floor = settings
    weight = tp.where(keys > 0, weight_of(element_of(keys, top), top, scale), 0.0)
    goal = tp.where(total < tp.inf, total, weight.sum()) * p
    before = tp.where(keys[:, None] > keys[None, :], weight[:, None], 0.0).sum(axis=0)
    is_in = (before < goal) | (keys == keys.max()) | ~(p < 1)
    share = tp.where(is_in & ~(weight < floor), weight, 0.0)
    at = position_of(keys)
    run = tp.where(at[:, None] <= at[None, :], share[:, None], 0.0).sum(axis=0)
    is_hit = (share > 0) & (run > share.sum() * chance)
    hit = tp.where(is_hit, at, LAST).min()
    return tp.where(hit < LAST, hit, otherwise)


def thrown(row: Any, settings: Any, lowest: Any, chance: Any, drawn: Any, size: Any, zeros: Any) -> Any:
    """A draw from a row of which many tokens may stay: those above a bar, or level with it and no later than an edge.

    Top-k and top-p both raise the bar, by what tokens are worth, and the last turn draws: three turns of one loop,
    because they have most code in common. Sums are kept in as many numbers as there are zeros, 1 or one for each lane.
    What was drawn stays if rounding lets the sum end before it crosses.
    """
    (k, p, least_share), bar, edge = settings, rank(lowest), tp.dim("V") - 1
    for turn in range(3):
        is_count, is_draw = turn == 0, turn == 2
        if is_draw | (is_count & (k > 0) & (k < tp.dim("V"))) | ((turn == 1) & (p < 1)):
            floor = tp.where(is_draw, least_share, 0.0)
            target = k.to(f32)
            if ~is_count:
                target = total_of(row, (bar, edge, floor), size, zeros)
            if is_draw:
                target *= chance
                is_sought = is_draw
            else:
                start, top = bar, rank(row[2].to(lowest.dtype))
                if ~is_count:
                    start = tp.clip(rank(dispensable(row, target * (1.0 - p)).to(lowest.dtype)), bar, top)
                target *= tp.where(is_count, 1.0, tp.maximum(p, 0.0))
                low = bar_of(row, start, top, target, is_count, size, zeros)
                edge = tp.where(low > bar, tp.dim("V") - 1, edge)
                bar = low
                needed, level = needed_of(row, bar, edge, target, is_count, size, zeros)
                is_sought, target = needed < level, needed - 0.5
            if is_sought:
                found = crossing_of(row, (bar, edge, floor), target, tp.where(is_draw, drawn, edge), is_draw, size)
                drawn, edge = tp.where(is_draw, found, drawn), tp.where(is_draw, edge, found)
    return drawn


# The greatest of a row in one pass.


def level_of(lanes: Any, count: Any) -> Any:
    """A number that at least so many of the elements reach, of which lanes keep the greatest."""
    level, left = lanes.max(), lanes
    for _ in range(1, count):
        left = tp.where(left == level, -tp.inf, left)
        level = left.max()
    return level


def gathered_of(row: Any, level: Any, count: Any, most: Any, sizes: Any) -> Any:
    """Keys of the greatest elements of a row, so many up to `most`, in any order; at least so many reach the level.

    Places that are free hold numbers below all keys, no two alike, so that the least is always the one to give up, and
    those that are not asked for the greatest number there is.
    """
    (logits, r), (large, small) = row, sizes
    kept = tp.where(tp.arange(most, i32) < count, tp.arange(most, i32).to(u64), ALL)
    bar = level.to(f32)
    for v in tp.tiles(V=large):
        if logits[r, v].max().to(f32) >= bar:
            for w in v.tiles(small):
                part = logits[r, w].to(f32)
                if part.max() >= bar:
                    keys = tp.where(part >= bar, keyed(part, w.elements), 0).fill(0)
                    key, least = keys.max(), kept.min()
                    while key > least:
                        kept = tp.where(kept == least, key, kept)
                        keys = tp.where(keys == key, 0, keys)
                        key, least = keys.max(), kept.min()
                    bar = tp.where(least > LAST, tp.maximum(bar, element_of(least, part)), bar)
    return tp.where((kept > LAST) & (kept < ALL), kept, 0)
