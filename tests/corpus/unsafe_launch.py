"""Wrong launches of good kernels: shared memory that is written, index tensors that hold what they may not, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .case import Case, Launches, blank, counts, floats, ints, one
from .safe_arithmetic import cubed_places, nameless_axis, other_dimension, required_room, scalar_offset, separated
from .safe_contents import copied, extremes, gathered_or_zero, numbered_segments, permuting, two_levels, unique_grid
from .safe_examples import MODULES
from .safe_walks import guarded_total, required_witness, residual, softmax_in_place, take_and_clear


def example(name: str) -> Any:
    """The kernel of an example."""
    return getattr(MODULES[name], name)


def changed(name: str, *changes: tuple[int, Any], **sizes: int) -> Launches:
    """A launch of an example for each change: the argument at a place, replaced."""
    launches = []
    for place, value in changes:
        arguments, constants = MODULES[name].arguments(**sizes)
        arguments[place] = value(arguments) if callable(value) else value
        launches.append((arguments, constants))
    return launches


def copies_in_place() -> Launches:
    """An output that overlaps itself, or its input by all, one or some elements, reversed or interleaved."""
    line, frame = floats(12), floats(3, 5)
    windows, repeated = as_strided(floats(8), (3, 4), (8, 4)), as_strided(floats(4), (3, 4), (0, 4))
    return [
        *one(windows, floats(3, 4)),
        *one(repeated, floats(3, 4)),
        *one(line.reshape(3, 4), line.reshape(3, 4)),
        *one(frame[:, 1:], frame[:, :-1]),
        *one(frame[:, :4], frame[::-1, :4]),
        *one(line[0:6:2].reshape(3, 1), line[4::-2].reshape(3, 1)),
        *one(frame[:, 0::2], frame[:, 0:3]),
    ]


def added_in_place() -> Launches:
    """The output is an operand, or begins where one ends, less one element."""
    line = floats(9)
    return one(line, line, floats(9)) + one(line[4:], floats(5), line[:5])


def transposed_in_place() -> Launches:
    """A square and its own transpose."""
    square = floats(6, 6)
    return one(square, square.T) + one(square.T, square)


def shared_totals() -> Launches:
    """Both totals in one array."""
    arguments, constants = MODULES["layer_norm_backward"].arguments(N=3, D=4)
    arguments[2] = arguments[1]
    return [(arguments, constants)]


def shared_caches() -> Launches:
    """Keys and values in one array, and new keys that lie in the cache."""
    return changed(
        "append_attention",
        (2, lambda arguments: arguments[1]),
        (4, lambda arguments: arguments[1][:, :2]),
        G=1, R=1, C=9, N=2, D=4, pos=3,
    )  # fmt: skip


def counted_over_itself() -> Launches:
    """Counters that lie in the tensor that is counted."""
    memory = np.zeros(20, np.int32)
    return one(memory[:5], memory[4:], BN=4)


def halves_that_meet() -> Launches:
    """Two outputs with one element in common."""
    memory = blank(4)
    return one(memory[:3], memory[2:], floats(5))


def taken_over() -> Launches:
    """What is cleared and what is taken, in one array, seen as other bytes of it."""
    memory = blank(7)
    return one(memory[:6], memory[1:]) + one(memory.view(np.uint8)[4:].view(np.float32), memory[:6])


def rows_on_themselves() -> Launches:
    """Rows that all lie on the first."""
    return one(as_strided(floats(6), (2, 6), (0, 4)))


def more_of_itself() -> Launches:
    """A residual added to itself, shifted by a row."""
    memory = floats(4, 6)
    return one(memory[1:], memory[:3])


def appended(*slots: tuple[int, ...]) -> Launches:
    """Three tokens into two pages of three, at each of the slots given."""
    return changed("paged_append", *((4, ints(*entries)) for entries in slots), P=2, G=1, S=3, D=2, N=3)


CASES = [
    Case(copied, copies_in_place, "alias"),
    Case(example("add"), added_in_place, "alias"),
    Case(example("transpose"), transposed_in_place, "alias"),
    Case(example("matmul"), lambda: changed("matmul", (2, lambda a: a[0]), M=4, N=4, K=4), "alias"),
    Case(example("layer_norm_backward"), shared_totals, "alias"),
    Case(example("append_attention"), shared_caches, "alias"),
    Case(example("histogram"), counted_over_itself, "alias"),
    Case(separated, halves_that_meet, "alias"),
    Case(take_and_clear, taken_over, "alias"),
    Case(softmax_in_place, rows_on_themselves, "alias"),
    Case(residual, more_of_itself, "alias"),
    Case(
        example("embedding"),
        lambda: changed("embedding", (2, ints(0, 6)), (2, ints(-1, 0)), (2, np.array([0, 1 << 40])), N=2, V=6, D=4),
        "contents",
    ),
    Case(two_levels, lambda: one(blank(2), floats(4), ints(3, 4), ints(0, 1)), "contents"),
    Case(
        gathered_or_zero,
        lambda: one(blank(2), floats(3), ints(-2, 0)) + one(blank(2), floats(3), ints(3, 0)),
        "contents",
    ),
    Case(
        example("embedding_backward"),
        lambda: changed("embedding_backward", (2, ints(0, 3)), (2, ints(-2, 1)), N=2, V=3, D=4),
        "contents",
    ),
    Case(extremes, lambda: one(blank(2), blank(2), floats(3), ints(0, 2, 1)), "contents"),
    Case(example("scatter_rows"), lambda: changed("scatter_rows", (2, ints(4, 1, 4)), V=5, N=3, D=4), "contents"),
    Case(example("paged_append"), lambda: appended((0, 6, 1), (2, 5, 2), (0, -2, 1)), "contents"),
    Case(unique_grid, lambda: one(blank(4, 5), floats(2, 2), ints(3, 0), ints(4, 4)), "contents"),
    Case(
        permuting,
        lambda: one(blank(3), floats(3), ints(0, 2, 0)) + one(blank(3), floats(3), ints(0, -1, 2)),
        "contents",
    ),
    Case(
        numbered_segments,
        lambda: [launch for off in ((0, 4, 2, 6), (1, 6), (0, 5), (0, 7)) for launch in one(counts(6), ints(*off))],
        "contents",
    ),
    Case(
        example("grouped_matmul"),
        lambda: changed("grouped_matmul", (3, ints(0, 3, 2)), (3, ints(-1, 2, 4)), E=2, N=4, K=3, F=2),
        "contents",
    ),
    Case(
        example("paged_attention"),
        lambda: changed("paged_attention", (4, np.array([[0, -1]])), (4, np.array([[0, 3]])), B=1, G=1, P=3, S=2, L=2),
        "contents",
    ),
    Case(other_dimension, lambda: one(blank(5), floats(4)), "sizes"),
    Case(nameless_axis, lambda: one(blank(5), floats(4)), "sizes"),
    Case(scalar_offset, lambda: one(blank(5), floats(7), 3) + one(blank(5), floats(7), -1), "sizes"),
    Case(required_room, lambda: one(blank(9), floats(5), 5) + one(blank(9), floats(5), -1), "sizes"),
    Case(required_witness, lambda: one(blank(3), floats(3, 0)), "sizes"),
    Case(guarded_total, lambda: one(blank(2, 3, 0), blank(2, 3), floats(2, 3, 0)), "sizes"),
    Case(cubed_places, lambda: one(blank(3), floats(0, 2**40)), "sizes"),
]
