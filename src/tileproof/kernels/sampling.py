"""Logits to tokens: sampling, penalties and biases, masks of structured output, and logprobs.

A token is -1 where a row has a NaN, or nothing above -inf: such a row has no distribution, and -1 is an entry that no
table holds. Tokens are `Index` entries, so kernels that look them up need no test. The state of a sequence (which
tokens its prompt has, how often each was generated, its biases) is in rows of tables that stay where they are: `slots`
maps rows of logits to rows of the tables. A mask has a bit for each token. Logprobs are computed in f32; a row that is
all -inf, or has NaN or +inf, has logprobs of NaN.

In the helpers of sampling a row is a tuple of the logits, its number, its greatest logit and the scale that turns
logits into exponents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, InOut, Out, Schedule, T, U, Unique, bf16, f16, f32, i32, i64, u64
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import choose
from .heuristics import (
    ALONE,
    WHOLE,
    direct,
    is_split,
    lane_choice,
    lane_space,
    row_tiles,
    split_size,
    tile_size,
)
from .numerics import wide
from .reductions import (
    element_at,
    element_of,
    first_of,
    key_of,
    keys_of,
    lane_step,
    merge_greatest,
    position_of,
    sort_key,
    without_key,
)
from .softmaxes import merge_rows

LOG2_E: Final = math.log2(math.e)
GREATEST: Final = 3.4e38
"""Just below what f32 holds: times 0 it is 0."""
LAST: Final = (1 << 32) - 1
"""After every position in a key, and below every key."""
ALL: Final = (1 << 64) - 1
"""Above every key but that of a NaN at 0."""
MOST_STEPS: Final = 1 << 60
"""Positions of random numbers have to fit 62 bits."""


def rank(x: Any) -> Any:
    """Logits as u32 of the same order, in as few bits as they have."""
    key = sort_key(x.to(f32))
    if x.dtype == bf16:
        found = key >> 16
    elif x.dtype == f16:
        found = key >> 13
    else:
        found = key
    return found


def threshold_of(place: Any, x: Any) -> Any:
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


def value_of(x: Any, top: Any, scale: Any, is_count: Any) -> Any:
    """What tokens are worth: 1 where they are counted, else their weight."""
    if is_count:
        value = tp.where(x == x, 1.0, 0.0)
    else:
        value = weight_of(x, top, scale)
    return value


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
    total, level, above = zeros, threshold_of(bar, logits), threshold_of(bar + 1, logits)
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
        bars = threshold_of(one, logits), threshold_of(two, logits), threshold_of(three, logits)
        for v in tp.tiles(V=size):
            part = logits[r, v].to(f32)
            value = value_of(part, top, scale, is_count)
            first = plus(first, tp.where(part >= bars[0], value, 0.0))
            second = plus(second, tp.where(part >= bars[1], value, 0.0))
            third = plus(third, tp.where(part >= bars[2], value, 0.0))
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


def negligible_logit(row: Any, weight: Any) -> Any:
    """A logit such that all tokens below it have less than this weight together, and half of it to spare."""
    _, _, top, scale = row
    return top + tp.minimum(tp.log2(weight * 0.5 / tp.dim("V").to(f32)), 0.0) / scale


def needed_of(row: Any, bar: Any, edge: Any, goal: Any, is_count: Any, size: Any, zeros: Any) -> Any:
    """How many of the tokens level with the bar it takes to reach the goal, at least 1; and how many there are."""
    logits, r, top, scale = row
    above, level, each = zeros, zeros, tp.zeros((), f32)
    least, next_one = threshold_of(bar, logits), threshold_of(bar + 1, logits)
    for v in tp.tiles(V=size):
        part = logits[r, v].to(f32)
        value = value_of(part, top, scale, is_count)
        is_level = (part >= least) & (part < next_one) & is_up_to(v, edge, size)
        above = plus(above, tp.where(part >= next_one, value, 0.0))
        level = plus(level, tp.where(is_level, 1.0, 0.0))
        each = tp.maximum(each, tp.where(is_level, value, 0.0).max())
    return tp.maximum(tp.ceil((goal - above.sum()) / each), 1.0), level.sum()


def crossing_of(row: Any, kept: Any, target: Any, otherwise: Any, is_draw: Any, size: Any) -> Any:
    """Where a running sum crosses a number: of the weights of tokens that stay, or of ones for those at the bar."""
    (logits, r, top, scale), (bar, edge, floor) = row, kept
    run, is_found = tp.zeros((), f32), tp.zeros((), bool)
    least, above = threshold_of(bar, logits), threshold_of(bar + 1, logits)
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


def drawn_from_few(keys: Any, settings: Any, uniform: Any, otherwise: Any) -> Any:
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
    is_hit = (share > 0) & (run > share.sum() * uniform)
    hit = tp.where(is_hit, at, LAST).min()
    return tp.where(hit < LAST, hit, otherwise)


def drawn_from_many(row: Any, settings: Any, lowest: Any, uniform: Any, drawn: Any, size: Any, zeros: Any) -> Any:
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
                target *= uniform
                is_sought = is_draw
            else:
                start, top = bar, rank(row[2].to(lowest.dtype))
                if ~is_count:
                    start = tp.clip(rank(negligible_logit(row, target * (1.0 - p)).to(lowest.dtype)), bar, top)
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
                    keys = tp.where(part >= bar, key_of(part, w.elements), 0).fill(0)
                    key, least = keys.max(), kept.min()
                    while key > least:
                        kept = tp.where(kept == least, key, kept)
                        keys = tp.where(keys == key, 0, keys)
                        key, least = keys.max(), kept.min()
                    bar = tp.where(least > LAST, tp.maximum(bar, element_of(least, part)), bar)
    return tp.where((kept > LAST) & (kept < ALL), kept, 0)


# The greatest.


@tp.kernel(deny_checks=True)
def greedy_kernel(
    token: Out[Index["V"], "R"], logits: In[T, "R V"], *, SV: int = 0, BV: int = 1024
) -> None:
    """The first of the greatest of each row; none if that is NaN or -inf. SV columns may be a program's."""
    for r, z in tp.parallel(R=tp.each, V=tp.split(SV)):
        lanes: Any = tp.full((BV,), -tp.inf, logits.dtype), tp.zeros((BV,), i32)
        for v in z.tiles(BV):
            lanes = lane_step(lanes, logits[r, v].fill(-tp.inf), v.number)
        best, first = first_of(lanes, BV)
        greatest, position = tp.join((best, first if SV == 0 else z.start + first), over=z, by=merge_greatest)
        token[r] = token_of(greatest, position)  # type: ignore[index]


@tp.kernel(deny_checks=True)
def greedy_tiles_kernel(token: Out[Index["V"], "R"], logits: In[T, "R V"], *, BV: int = 4096) -> None:
    """The same. Only maxima of tiles are kept, and the place is sought in the best tile, which takes a CPU less."""
    for r in tp.parallel(R=tp.each):
        best, first = greatest_of(logits, r, BV)
        token[r] = token_of(best, first)  # type: ignore[index]


def greatest_of(logits: Any, r: Any, size: Any) -> Any:
    """The greatest logit of a row, NaN if there is one, and where it is first, if it is a number."""
    best, start = tp.full((), -tp.inf, logits.dtype), 0
    for v in tp.tiles(V=size):
        top = logits[r, v].max()
        wins = ~(top <= best) & (best == best)
        best, start = tp.where(wins, top, best), tp.where(wins, v.start, start)
    return best, place_of(best, logits, r, tp.maximum(start, 0), size)


def place_of(value: Any, logits: Any, r: Any, start: Any, size: Any) -> Any:
    """Where in a tile of a row a value is first; the end of the row if nowhere."""
    first = tp.dim("V") - 1
    for v in tp.tiles(V=size, start=start, stop=start + size):
        first = tp.minimum(first, tp.where(logits[r, v] == value, v.elements, tp.dim("V") - 1).min())
    return first


def token_of(best: Any, position: Any) -> Any:
    """The position of the greatest logit as a token."""
    return tp.where(best > -tp.inf, tp.clip(position, 0, tp.dim("V") - 1), -1)


def greedy(logits: Any, vocabulary: int | None = None, out: Any = None) -> Any:
    """The token with the greatest logit of each row, as i32: the lowest of equals, and always below `vocabulary`.

    -1 where a row has a NaN or nothing above -inf.

    Example:
        >>> tk.greedy(np.array([[0, 3, 3, 9]], np.float32), vocabulary=3).tolist()
        [1]
    """
    rows = _real(logits, vocabulary)
    token = arrays.output_for(out, logits, (rows.shape[0],), i32)
    choose(GREEDY, rows, R=rows.shape[0], V=rows.shape[1])(token, rows)
    return token


def _real(logits: Any, vocabulary: int | None) -> Any:
    """The columns that are tokens: kernels are not even shown the others."""
    return logits if vocabulary is None else logits[:, :vocabulary]


# Sampling.


@tp.kernel(deny_checks=True)
def sample_kernel(
    token: Out[Index["V"], "R"], logits: In[T, "R V"], seed: In[i64, "R"], step: In[U, "R"], temperature: In[f32, "R"],
    top_k: In[i32, "R"], top_p: In[f32, "R"], min_p: In[f32, "R"], *, BV: int = 1024, KEPT: int = 64, BL: int = 256,
) -> None:  # fmt: skip
    """One token of each row, as `sample` says: a program for each row, which passes over it some times.

    Where top-k or top-p leave up to KEPT tokens, these are taken out one after another, as `top_k_kernel` does.
    """
    for r in tp.parallel(R=tp.each):
        lanes: Any = tp.full((BV,), -tp.inf, logits.dtype), tp.zeros((BV,), i32)
        lowest = tp.full((BV,), tp.inf, logits.dtype)
        for v in tp.tiles(V=BV):
            part = logits[r, v]
            lanes = lane_step(lanes, part.fill(-tp.inf), v.number)
            lowest = tp.minimum(lowest, part.fill(tp.inf))
        best, position = first_of(lanes, BV)
        drawn = token_of(best, position)
        if (best > -tp.inf) & (temperature[r] > 0):
            row = logits, r, best.to(f32), tp.minimum(LOG2_E / temperature[r], GREATEST)
            k, p, zeros = top_k[r], top_p[r], tp.zeros((BV,))
            uniform, least_share = tp.random(seed[r], step[r].to(i64) % MOST_STEPS), tp.minimum(min_p[r], 1.0)
            is_all, is_counted = (k <= 0) | (k >= tp.dim("V")), (k > 0) & (k <= KEPT)
            kept, count, gathered, total, is_few = tp.zeros((KEPT,), u64), 0, 0.0, tp.inf, is_counted
            if is_counted | (is_all & (p < 1)):
                if ~is_counted:
                    total = mass_of(row, BV, zeros)
                goal, limit = total * tp.where(is_counted, 1.0, p), tp.where(is_counted, k, KEPT)
                keys = keys_of((lanes[0].to(f32), lanes[1]), BV, tp.dim("V"))
                key = keys.max()
                while (count < limit) & (key > 0) & (gathered < goal):
                    kept = tp.where(tp.arange(KEPT, i32) == count, key, kept)
                    gathered += weight_of(element_of(key, zeros), best.to(f32), row[3])
                    keys = without_key(keys, key, (logits, r, f32), BL)
                    key, count = keys.max(), count + 1
                is_few = is_counted | ~(gathered < goal)
            if is_few:
                drawn = drawn_from_few(kept, (best.to(f32), row[3], p, total, least_share), uniform, drawn)
            else:
                drawn = drawn_from_many(row, (k, p, least_share), lowest.min(), uniform, drawn, BV, zeros)
        token[r] = tp.clip(drawn, -1, tp.dim("V") - 1)  # type: ignore[index]


@tp.kernel(deny_checks=True)
def sample_gathered_kernel(
    token: Out[Index["V"], "R"], logits: In[T, "R V"], seed: In[i64, "R"], step: In[U, "R"], temperature: In[f32, "R"],
    top_k: In[i32, "R"], top_p: In[f32, "R"], min_p: In[f32, "R"], *, BV: int = 2048, LANES: int = 256, KEPT: int = 128,
    BL: int = 128,
) -> None:  # fmt: skip
    """The same. Where up to KEPT tokens stay, one pass gathers them all, and hardly looks at what is below.

    What it has to look at is told by LANES numbers, the greatest of so many parts of the row.
    """
    for r in tp.parallel(R=tp.each):
        best, position = greatest_of(logits, r, BV)
        drawn = token_of(best, position)
        if (best > -tp.inf) & (temperature[r] > 0):
            row = logits, r, best.to(f32), tp.minimum(LOG2_E / temperature[r], GREATEST)
            k, p, total, zeros = top_k[r], top_p[r], tp.inf, tp.zeros((1,))
            uniform, least_share = tp.random(seed[r], step[r].to(i64) % MOST_STEPS), tp.minimum(min_p[r], 1.0)
            is_all, is_counted = (k <= 0) | (k >= tp.dim("V")), (k > 0) & (k <= KEPT)
            kept, is_few = tp.zeros((KEPT,), u64), is_counted
            if is_counted | (is_all & (p < 1)):
                if ~is_counted:
                    total = mass_of(row, BV, zeros)
                lanes, limit = tp.full((LANES,), -tp.inf, logits.dtype), tp.where(is_counted, k, KEPT)
                for v in tp.tiles(V=LANES):
                    lanes = tp.maximum(lanes, logits[r, v].fill(-tp.inf))
                kept = gathered_of((logits, r), level_of(lanes, limit), limit, KEPT, (BV, BL))
                weight = tp.where(kept > 0, weight_of(element_of(kept, tp.zeros(())), best.to(f32), row[3]), 0.0)
                is_few = is_counted | ~(weight.sum() < total * p)
            if is_few:
                drawn = drawn_from_few(kept, (best.to(f32), row[3], p, total, least_share), uniform, drawn)
            else:
                lowest = tp.full((), tp.inf, logits.dtype)
                for v in tp.tiles(V=BV):
                    lowest = tp.minimum(lowest, logits[r, v].min())
                drawn = drawn_from_many(row, (k, p, least_share), lowest, uniform, drawn, BV, zeros)
        token[r] = tp.clip(drawn, -1, tp.dim("V") - 1)  # type: ignore[index]


def sample(
    logits: Any, seed: Any, step: Any, temperature: Any, top_k: Any, top_p: Any, min_p: Any,
    vocabulary: int | None = None, out: Any = None,
) -> Any:  # fmt: skip
    """One sampled token of each row, as i32. Every setting is an array with an element for each row.

    In this order, each on what the one before has left:

    1. Logits are divided by `temperature` (f32). At 0 or less the token is that of `greedy`.
    2. `top_k` (i32): the k greatest stay, all if k is 0 or less.
    3. `top_p` (f32): the fewest greatest stay whose probabilities, as softmax gives them now, add up to p at least; all
       if p is 1 or more, one if it is 0 or less.
    4. `min_p` (f32): those stay that have at least min_p times the probability of the greatest.
    5. One of the rest is drawn by its probability.

    Of equal logits the lower token counts as the greater, so k and p are exact; weights are added up in f32. The draw
    is decided by `seed` (i64) and `step` (i32 or i64) alone, not by the place in the batch or its size. Tokens from
    `vocabulary` on do not take part. A token is -1 where a row has a NaN or nothing above -inf; several of +inf are
    equally likely.

    Example:
        >>> one = np.ones(1, np.float32)
        >>> tk.sample(np.array([[0, 9, 8]], np.float32), np.array([7]), np.array([0]), one, np.array([1], np.int32),
        ...           one, 0 * one).tolist()
        [1]
    """
    rows = _real(logits, vocabulary)
    token = arrays.output_for(out, logits, (rows.shape[0],), i32)
    choice = choose(SAMPLE, rows, V=rows.shape[1])
    choice(token, rows, seed, step, temperature, top_k, top_p, min_p)
    return token


# Choices.


def _greedy_default(sizes: Sizes, target: str) -> Choice:
    rows, columns = sizes["R"], sizes["V"]
    if target == "cpu":
        return Choice(greedy_tiles_kernel, {"BV": tile_size(columns, 4096)})
    if is_split(rows, columns):
        return Choice(greedy_kernel, {"SV": split_size(rows, columns, 2048), "BV": 2048}, direct(8))
    return Choice(greedy_kernel, {"BV": tile_size(columns, 1024 if columns <= WHOLE else 2048)}, direct(8))


def _greedy_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(greedy_tiles_kernel, "BV=1024 BV=2048 BV=4096 BV=8192")
        return
    yield from choices(greedy_kernel, "BV=512 BV=1024 BV=2048 BV=4096", direct(4), direct(8))
    pieces = "SV=4096,BV=1024 SV=4096,BV=2048 SV=8192,BV=1024 SV=8192,BV=2048 SV=10240,BV=2048 SV=16384,BV=2048"
    yield from choices(greedy_kernel, pieces, direct(4), direct(8), Schedule(occupancy=4))


def _sample_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return Choice(sample_gathered_kernel, {})
    return lane_choice(sample_kernel, "V", sizes["V"], 4096, Schedule(warps=8), KEPT=64)


def _sample_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    columns = sizes["V"]
    if target == "cpu":
        yield from choices(sample_gathered_kernel, "KEPT=64 KEPT=128 KEPT=256 BV=1024 BV=4096 BV=4096,LANES=512")
        return
    for size in sorted({tile_size(columns, size) for size in (256, 512, 1024, 2048, 4096)}):
        yield from (lane_choice(sample_kernel, "V", columns, size, each, KEPT=64) for each in ALONE)
        yield from (lane_choice(sample_kernel, "V", columns, size, each, KEPT=128) for each in ALONE[:2])


def _settings(rng: Any, arguments: dict[str, Any]) -> None:
    """Settings as people use them."""
    for name, value in (("temperature", 0.8), ("top_k", 50), ("top_p", 0.9), ("min_p", 0.0)):
        arguments[name][...] = value


GREEDY: Final = Tunable(
    "greedy", (greedy_kernel, greedy_tiles_kernel), _greedy_default, _greedy_space
)
SAMPLE: Final = Tunable(
    "sample", (sample_kernel, sample_gathered_kernel), _sample_default, _sample_space, inputs=_settings
)
"""By the vocabulary alone: were tiles chosen by the number of rows too, a token could depend on its neighbours."""


# Logits.


def penalize(logit: Any, known: Any, settings: Any) -> Any:
    """Logits by what is known of their tokens: first by repetition, then for each use and for any, then by the bias."""
    (is_prompt, count, favour), (repetition, presence, frequency) = known, settings
    x, is_used = wide(logit), count > 0
    repeated = tp.where(x > 0, x / repetition.to(x.dtype), x * repetition.to(x.dtype))
    x = tp.where(is_prompt | is_used, repeated, x)
    x -= count.to(x.dtype) * frequency.to(x.dtype)
    x -= tp.where(is_used, presence.to(x.dtype), 0)
    return x + favour.to(x.dtype)


@tp.kernel(deny_checks=True)
def penalized_kernel(
    y: Out[T, "R V"], logits: In[T, "R V"], prompt: In[U, "R V"], counts: In[i32, "R V"], bias: In[f32, "R V"],
    repetition: In[f32, "R"], presence: In[f32, "R"], frequency: In[f32, "R"], *, BV: int = 2048,
) -> None:  # fmt: skip
    """Each logit as `penalize` says, with a row of the tables for each row of logits."""
    for r, v in tp.parallel(R=tp.each, V=BV):
        known = prompt[r, v].to(bool), counts[r, v], bias[r, v]
        y[r, v] = penalize(logits[r, v], known, (repetition[r], presence[r], frequency[r]))


@tp.kernel(deny_checks=True)
def penalized_slots_kernel(
    y: Out[T, "R V"], logits: In[T, "R V"], prompt: In[U, "S V"], counts: In[i32, "S V"], bias: In[f32, "S V"],
    repetition: In[f32, "R"], presence: In[f32, "R"], frequency: In[f32, "R"], slots: In[Index["S"], "R"], *,
    BV: int = 2048,
) -> None:  # fmt: skip
    """The same with row slots[r] of the tables; without one logits stay as they are."""
    for r, v in tp.parallel(R=tp.each, V=BV):
        at = slots[r], v
        known = prompt.get(at, False if prompt.dtype == bool else 0).to(bool), counts.get(at, 0), bias.get(at, 0)
        y[r, v] = penalize(logits[r, v], known, (repetition[r], presence[r], frequency[r]))


def penalized(
    logits: Any, prompt: Any, counts: Any, bias: Any, repetition: Any, presence: Any, frequency: Any, slots: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    """Logits, "R V", changed by the tokens of each sequence. Settings are f32, with an element for each row.

    In this order:

    1. Tokens of the prompt (`prompt`, bool or u8) and of the output (`counts`, i32): a logit above 0 is divided by
       `repetition`, any other is multiplied by it.
    2. `frequency` times the count is taken away, and `presence` where there is one.
    3. `bias` (f32) is added; -inf bans a token.

    These three are tables, "R V", or with `slots` "S V": row slots[r] is that of logits[r], and several rows may share
    one. At -1 there is none, and the logits stay as they are.

    Example:
        >>> logits, one = np.array([[4, -4, 4]], np.float32), np.ones(1, np.float32)
        >>> counts = np.array([[0, 0, 2]], np.int32)
        >>> tk.penalized(logits, logits < 0, counts, 0 * logits, 2 * one, one / 2, one / 4).tolist()
        [[4.0, -8.0, 1.0]]
    """
    y = arrays.output_for(out, logits, logits.shape)
    arguments = y, logits, prompt, counts, bias, repetition, presence, frequency
    if slots is None:
        choose(PENALIZED, logits, R=logits.shape[0], V=logits.shape[1])(*arguments)
    else:
        sizes = {"R": logits.shape[0], "S": counts.shape[0], "V": logits.shape[1]}
        choose(PENALIZED_SLOTS, logits, **sizes)(*arguments, slots)
    return y


# Counts.


@tp.kernel(deny_checks=True)
def count_tokens_kernel(counts: InOut[i32, "R V"], tokens: In[Index["V"], "R"]) -> None:
    """One more of the token of each row; of none, nothing."""
    for r in tp.parallel(R=tp.each):
        counts[r, tokens[r]] = counts.get((r, tokens[r]), 0) + 1


@tp.kernel(deny_checks=True)
def count_tokens_slots_kernel(
    counts: InOut[i32, "S V"], tokens: In[Index["V"], "R"], slots: In[Unique["S"], "R"]
) -> None:
    """The same in row slots[r]."""
    for r in tp.parallel(R=tp.each):
        counts[slots[r], tokens[r]] = counts.get((slots[r], tokens[r]), 0) + 1


def count_tokens(counts: Any, tokens: Any, slots: Any = None) -> Any:
    """Adds 1 to counts[r, tokens[r]], or with `slots` to counts[slots[r], tokens[r]], in place. Gives `counts` (i32).

    A token or a slot of -1 counts nothing. No slot may be named twice, which the launch makes sure of.

    Example:
        >>> tk.count_tokens(np.zeros((2, 3), np.int32), np.array([2, -1], np.int32)).tolist()
        [[0, 0, 1], [0, 0, 0]]
    """
    if slots is None:
        count_tokens_kernel(counts, tokens)
    else:
        count_tokens_slots_kernel(counts, tokens, slots)
    return counts


# Choices.


def _known(rng: Any, arguments: dict[str, Any]) -> None:
    """Sequences of which every slot is in use."""
    arguments["repetition"][...] = 1.1
    if "slots" in arguments:
        slots = arguments["slots"]
        slots[...] = rng.integers(0, arguments["counts"].shape[0], slots.shape)


PENALIZED: Final = row_tiles("penalized", penalized_kernel, inputs=_known, types={"U": "u8"})
PENALIZED_SLOTS: Final = row_tiles(
    "penalized_slots", penalized_slots_kernel, inputs=_known, types={"U": "u8"}
)


@tp.kernel(deny_checks=True)
def mask_logits_kernel(
    y: Out[T, "R V"], logits: In[T, "R V"], masks: In[i32, "S V/32"], rows: In[Index["S"], "R"], *, BV: int = 2048
) -> None:
    """Logits whose bit in row rows[r] of the masks is set, and -inf for all others; without a row logits stay."""
    for r, v in tp.parallel(R=tp.each, V=BV):
        words = masks.get((rows[r], v.elements // 32), -1)
        is_allowed = (words >> (v.elements % 32).to(i32)) & 1 != 0
        y[r, v] = tp.where(is_allowed, logits[r, v], -tp.inf)


def mask_logits(logits: Any, masks: Any, rows: Any, out: Any = None) -> Any:
    """Logits, "R V", with -inf for each token that row rows[r] of `masks` does not allow.

    `masks` (i32) has 32 tokens in each word, "S V/32": bit v % 32 of word v // 32, the lowest first, allows token v.
    Several rows of logits may share a mask. Where `rows` has -1 there is none, and the logits stay as they are.

    Example:
        >>> logits = np.array([[3, 1, 2], [3, 1, 2]], np.float32)
        >>> tk.mask_logits(logits, np.array([[0b110]], np.int32), np.array([0, -1], np.int32)).tolist()
        [[-inf, 1.0, 2.0], [3.0, 1.0, 2.0]]
    """
    y = arrays.output_for(out, logits, logits.shape)
    sizes = {"R": logits.shape[0], "S": masks.shape[0], "V": logits.shape[1]}
    choose(MASK_LOGITS, logits, **sizes)(y, logits, masks, rows)
    return y


def _masked(rng: Any, arguments: dict[str, Any]) -> None:
    """A mask for each row."""
    arguments["masks"][...] = rng.integers(-(2**31), 2**31, arguments["masks"].shape)
    arguments["rows"][...] = rng.integers(0, arguments["masks"].shape[0], arguments["rows"].shape)


MASK_LOGITS: Final = row_tiles("mask_logits", mask_logits_kernel, inputs=_masked)


# Of one token.


def row_step(state: Any, part: Any) -> Any:
    """The greatest logit, and the sum of exp(x - greatest), with one more tile."""
    top, total = state
    higher = tp.maximum(top, part.max())
    return higher, total * tp.exp(top - higher) + tp.exp(part - higher).sum()


def logprob_of(logit: Any, token: Any, state: Any) -> Any:
    """The logprob of a token with this logit; NaN if it is none."""
    top, total = state
    return tp.where(token >= 0, logit - top - tp.log(total), tp.inf - tp.inf)


@tp.kernel(deny_checks=True)
def token_logprobs_kernel(
    y: Out[f32, "R"], logits: In[T, "R V"], tokens: In[Index["V"], "R"], *, SV: int = 0, BV: int = 2048
) -> None:
    """The logprob of the token of each row; each SV columns may be taken by programs of their own."""
    for r, z in tp.parallel(R=tp.each, V=tp.split(SV)):
        state: Any = tp.lowest, 0.0  # finite: a first tile of all -inf must not make NaN
        for v in z.tiles(BV):
            state = row_step(state, logits[r, v].to(f32))
        state = tp.join(state, over=z, by=merge_rows)
        y[r] = logprob_of(logits.get((r, tokens[r]), 0).to(f32), tokens[r], state)


def token_logprobs(logits: Any, tokens: Any, vocabulary: int | None = None, out: Any = None) -> Any:
    """The logprob of token tokens[r] in row r of logits, "R V", as f32: the log_softmax of the row there.

    Columns from `vocabulary` on do not take part. A token of -1 has a logprob of NaN.

    Example:
        >>> logprobs = tk.token_logprobs(np.zeros((1, 4), np.float32), np.array([2], np.int32))
        >>> np.exp(logprobs).round(3).tolist()
        [0.25]
    """
    rows = logits if vocabulary is None else logits[:, :vocabulary]
    y = arrays.output_for(out, logits, (rows.shape[0],), f32)
    choose(TOKEN_LOGPROBS, rows, R=rows.shape[0], V=rows.shape[1])(y, rows, tokens)
    return y


# Of the likeliest.


@tp.kernel(deny_checks=True)
def top_logprobs_kernel(
    logprob: Out[f32, "R K"], token: Out[Index["V"], "R K"], logits: In[T, "R V"], *, K: int, BV: int = 1024,
    BL: int = 256,
) -> None:  # fmt: skip
    """The logprobs of the K greatest of each row in falling order, taken out as in `top_k_kernel`, and their tokens."""
    for r in tp.parallel(R=tp.each):
        lanes: Any = tp.full((BV,), -tp.inf, f32), tp.zeros((BV,), i32)
        for v in tp.tiles(V=BV):
            lanes = lane_step(lanes, logits[r, v].to(f32).fill(-tp.inf), v.number)
        top, total = lanes[0].max(), 0.0
        for v in tp.tiles(V=BV):
            total += tp.exp(logits[r, v].to(f32) - top).sum()
        keys = keys_of(lanes, BV, tp.dim("V"))
        for k in tp.tiles(K=tp.each):
            best = keys.max()
            logprob[r, k] = element_of(best, lanes[0]) - top - tp.log(total)
            token[r, k] = tp.where(best == 0, -1, tp.clip(position_of(best), 0, tp.dim("V") - 1))  # type: ignore[index]
            keys = without_key(keys, best, (logits, r, f32), BL)


def top_logprobs(
    logits: Any, count: int, vocabulary: int | None = None, out: tuple[Any, Any] | None = None
) -> tuple[Any, Any]:
    """The greatest logprobs of each row of logits, "R V", in falling order as f32, "R K", and their tokens as i32.

    Of equal logits the lower token comes first. Columns from `vocabulary` on do not take part.

    Example:
        >>> logprobs, tokens = tk.top_logprobs(np.array([[0, 9, 0, 9]], np.float32), 3)
        >>> tokens.tolist()
        [[1, 3, 0]]
    """
    if arrays.element_of(logits).bits > 32:
        raise arrays.launch_error(Code.ARGUMENT_DTYPE, "top_logprobs takes up to 32 bits", "cast to f32 first")
    rows = logits if vocabulary is None else logits[:, :vocabulary]
    length, columns = rows.shape
    if not 0 <= count <= columns:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS, f"the {count} likeliest of {columns} tokens", f"ask for 0 to {columns}"
        )
    arguments = (None, None) if out is None else out
    logprob, token = (
        arrays.output_for(each, logits, (length, count), kind) for each, kind in zip(arguments, (f32, i32), strict=True)
    )
    if count:
        choose(TOP_LOGPROBS, rows, R=length, V=columns, K=count)(logprob, token, rows)
    return logprob, token


# Choices.


def _default(sizes: Sizes, target: str) -> Choice:
    rows, columns = sizes["R"], sizes["V"]
    if target != "cpu" and is_split(rows, columns):
        return Choice(token_logprobs_kernel, {"SV": split_size(rows, columns, 2048), "BV": 2048}, direct(8))
    held = Schedule() if target == "cpu" else direct(8)
    return Choice(token_logprobs_kernel, {"BV": tile_size(columns, 2048)}, held)


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(token_logprobs_kernel, "BV=512 BV=1024 BV=2048 BV=4096")
        return
    yield from choices(token_logprobs_kernel, "BV=1024 BV=2048 BV=4096", direct(4), direct(8))
    pieces = "SV=4096,BV=2048 SV=8192,BV=2048 SV=16384,BV=2048 SV=16384,BV=4096"
    yield from choices(token_logprobs_kernel, pieces, direct(4), direct(8))


def _top_default(sizes: Sizes, target: str) -> Choice:
    most, schedule = (1024, Schedule()) if target == "cpu" else (2048, Schedule(warps=8))
    return lane_choice(top_logprobs_kernel, "V", sizes["V"], most, schedule)


def _tokens(rng: Any, arguments: dict[str, Any]) -> None:
    """Any tokens."""
    tokens = arguments["tokens"]
    tokens[...] = rng.integers(0, arguments["logits"].shape[1], tokens.shape)


TOKEN_LOGPROBS: Final = Tunable("token_logprobs", (token_logprobs_kernel,), _default, _space, inputs=_tokens)
TOP_LOGPROBS: Final = Tunable(
    "top_logprobs", (top_logprobs_kernel,), _top_default,
    lambda sizes, target: lane_space(top_logprobs_kernel, "V", sizes["V"], target), exact=("K",),
)  # fmt: skip


TUNABLES: Final = (GREEDY, SAMPLE, PENALIZED, PENALIZED_SLOTS, MASK_LOGITS, TOKEN_LOGPROBS, TOP_LOGPROBS)
