"""Launches that are like an earlier one.

What an earlier launch decided by element types, shapes, strides and constants alone is remembered: which code runs, and
all words of its arguments but addresses and scalars. What depends on addresses and contents is looked at every time.
Whatever is unusual or in doubt is left to the full launch, which says what is wrong; contents that an index tensor must
not have, and checks that fail in the kernel, are reported as there.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from tileproof.analysis.terms import Scalar, everything
from tileproof.analysis.verdict import Compare, Fits
from tileproof.backends.cpu.pool import ARENAS, Pool
from tileproof.backends.cpu.queue import STEP, copy_of, step_of
from tileproof.backends.cpu.running import NOBODY, Loaded, beginning_of, is_row_by_row
from tileproof.backends.cpu.target import Target
from tileproof.frontend.operations import limits
from tileproof.frontend.signature import ContentOf, Signature
from tileproof.ir.types import Access
from tileproof.language.dtypes import DType

from .arguments import Bound
from .check import Proved
from .contracts import check_complete, check_contents
from .cpu_streams import caller, current
from .host_arrays import plain_array
from .leases import Outdated, Span, Work, ledger_of
from .owned import Knowing
from .storage import Block
from .tensors import Tensor

_ALIGNMENT: Final = 64
_MOST: Final = 256
"""How many launches of a kernel are remembered."""
_ledger: Final = ledger_of(None)
"""The leases of the CPU."""


class Foreign(NamedTuple):
    """Of a tensor that another library owns: the size of its elements, and its bytes before and behind the first."""

    size: int
    before: int
    behind: int


@dataclass(slots=True)
class Repeat:
    """What an earlier launch found."""

    found: Proved
    signature: Signature
    target: Target
    loaded: Loaded
    words: array[int]
    """A step of a queue, the words of the arguments, addresses and scalars missing, and room for a report."""
    tensors: tuple[tuple[int, int, bool, bool, Foreign], ...]
    """Of each tensor: its position, its word, whether it is written, whether it is read, and what counts if it is not
    one of ours."""
    names: tuple[tuple[int, str], ...]
    """The positions and names of tensors."""
    apart: tuple[tuple[int, int], ...]
    """Pairs of tensors, by their places in `tensors`, that must not overlap because one of them is written."""
    scalars: tuple[tuple[int, int, Callable[[Any], int | None]], ...]
    """Of each scalar: its position, its word, and how its bits are made; None for one to be looked at closely."""
    watch: Callable[[], bool]
    """Whether what the kernel captured is still what it was; it may doubt without reason."""
    programs: int
    dimensions: dict[str, int]
    has_contents: bool
    written: tuple[int, ...]
    """The positions of tensors that are written."""

    def is_of(self, found: Proved, target: Target, loaded: Loaded, bound: Bound) -> bool:
        """Whether a launch with arguments of the same kinds finds the same."""
        is_same = self.found is found and self.target is target and self.loaded is loaded
        return is_same and self.dimensions == bound.dimensions


class Launched(Work):
    """A launch like an earlier one: its words are filled in, and nothing has run."""

    __slots__ = ("is_own", "kept", "repeat", "words")

    def __init__(self, repeat: Repeat, words: array[int], reads: list[Span], writes: list[Span], keep: object,
                 is_own: bool) -> None:  # fmt: skip
        # Written out, because a call of the one above takes as long as all of this.
        self.name, self.reads, self.writes, self.keep = repeat.signature.name, reads, writes, keep
        self.turn = self.number = 0
        self.guards, self.note, self.views = (), None, None
        self.repeat, self.words = repeat, words
        self.kept: object = None
        """What the steps of a graph use besides: values that tensors begin as, and room for what pieces find."""
        self.is_own = is_own
        """Whether nobody else can reach its memory, so that it may be in flight."""

    def is_current(self) -> bool:
        args: Any = self.keep
        if self.is_own:
            for position, _ in self.repeat.names:
                if args[position].block.lent:
                    return False
        return not self.guards or super().is_current()

    def given(self) -> None:
        if self.note is not None:
            self.note()
            return
        args: Any = self.keep
        for position in self.repeat.written:
            tensor = args[position]
            if type(tensor) is Tensor:
                if tensor.block.written is None:
                    tensor.block.version += 1
                else:
                    tensor.note_write()

    def written(self) -> Sequence[Span]:
        args: Any = self.keep
        return [
            (int(low), int(high))
            for position in self.repeat.written
            if type(args[position]) is Tensor and args[position].block.account is not None
            for low, high in args[position].runs
        ]

    def failure(self) -> BaseException | None:
        words = self.words
        if words[-5] == NOBODY:
            return None
        return self.failure_in(words[-6:])

    def failure_in(self, record: Sequence[int]) -> BaseException:
        """What a failed check reported there."""
        return self.repeat.loaded.failure(record, self.repeat.dimensions, {})


def key_of(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What a launch is remembered by; None if it has arguments of other kinds."""
    parts: list[Any] = []
    for argument in args:
        kind = type(argument)
        if kind is Tensor:
            parts.append(argument.key)
        elif kind is np.ndarray:
            parts.append((argument.dtype, argument.shape, argument.strides))
        elif kind is int or kind is float:
            parts.append(kind)
        elif (array := plain_array(argument)) is not None:
            parts.append((array.dtype, array.shape, array.strides))
        else:
            return None
    for name, value in named.items():
        if type(value) is not int and type(value) is not bool:
            return None
        parts.append((name, type(value), value))
    return tuple(parts)


def prepared(repeat: Repeat, args: tuple[Any, ...], *, is_checked: bool = False) -> Launched | None:
    """A launch like the earlier one, about to run; None if it is not like it.

    `is_checked` says that the full launch has looked at contents, and at what was never written.
    """
    words = repeat.words[:]
    reads: list[Span] = []
    writes: list[Span] = []
    spans: list[Span] = []
    is_own = True
    for position, word, is_written, is_read, foreign in repeat.tensors:
        argument = args[position]
        if type(argument) is Tensor:
            block = argument.block
            if (block.written is not None and is_read and not is_checked) or (is_written and not block.is_writeable):
                return None
            if block.account is None or block.lent:  # it is shared
                is_own = False
            words[word] = argument.address
            span = argument.span
        else:
            array_given = plain_array(argument)
            if array_given is None:
                return None
            address = array_given.__array_interface__["data"][0]
            if address % foreign.size or (is_written and not array_given.flags.writeable):
                return None
            is_own = False
            words[word] = address
            span = address - foreign.before, address + foreign.behind
        spans.append(span)
        if is_read:
            reads.append(span)
        if is_written:
            writes.append(span)
    for one, other in repeat.apart:
        low, high = spans[one]
        start, end = spans[other]
        if low < end and start < high:
            return None
    for position, word, bits_of in repeat.scalars:
        bits = bits_of(args[position])
        if bits is None:
            return None
        words[word] = bits
    if not repeat.watch() and not repeat.found.is_current:
        return None
    launched = Launched(repeat, words, reads, writes, args, is_own)
    if repeat.has_contents and not is_checked:
        launched.guards = _check(repeat, args)
    return launched


def run(repeat: Repeat, args: tuple[Any, ...], pool: Pool) -> bool:
    """Runs a launch like the earlier one; False if it is not, and nothing was done."""
    launched = prepared(repeat, args)
    if launched is None or (_ledger.poisoned and any(map(_ledger.poison_in, launched.reads))):
        return False
    try:
        start(launched, pool)
    except Outdated:
        return False
    return True


def start(launched: Launched, pool: Pool) -> None:
    """Gives a launch to the current stream, or does it here if others can reach its memory."""
    repeat, words = launched.repeat, launched.words
    if not repeat.programs:
        return
    address = words.buffer_info()[0]
    words[2] = address + 8 * STEP
    words[6] = words[STEP] = address + 8 * (len(words) - 6)
    if launched.is_own:
        current().push(launched, words)
        return
    # The words go where they are used on this very thread, and what they show is looked at here.
    thread = caller()
    turn = thread.begin(launched)
    try:
        loaded = repeat.loaded
        arena = ARENAS.take(loaded.code.arena)
        pool.run(loaded.main, words[2], repeat.programs, words[4], loaded.code.arena, arena)
        ARENAS.give(arena)
        error = launched.failure()
        if error is not None:
            raise error
    except BaseException as error:
        thread.fail(turn, launched.written(), error)
        raise
    thread.reach(turn)


def steps_in(launched: Launched, bound: Bound, pool: Pool) -> array[int]:
    """The steps that run a launch, which stay good as long as the launch is kept; none if it has no programs."""
    words, repeat, loaded = launched.words, launched.repeat, launched.repeat.loaded
    if not repeat.programs and not loaded.combined:
        return array("Q")
    address = words.buffer_info()[0]
    words[2] = address + 8 * STEP
    words[6] = words[STEP] = address + 8 * (len(words) - 6)
    kept: list[Any] = []
    steps = array("Q")
    for tensor in loaded.combined:
        given = bound.tensors[tensor.name]
        kept.append(np.full(given.shape, beginning_of(tensor), given.dtype))
        place = words[STEP + loaded.words.places[tensor.name, "pointer"]]
        steps.extend(copy_of(place, kept[-1].ctypes.data, given.nbytes))
    if loaded.code.has_after:
        kept.append(np.empty(loaded.code.piece * repeat.programs + _ALIGNMENT, np.uint8))
        words[STEP + loaded.words.places["space"]] = -(-kept[-1].ctypes.data // _ALIGNMENT) * _ALIGNMENT
    steps.extend(words[:STEP])
    if loaded.code.has_after:
        total = loaded.joins(repeat.dimensions)
        steps.extend(step_of(loaded.after, words[2], total, pool.chunk(total), loaded.code.arena, words[6]))
    launched.kept = kept
    return steps


def _check(repeat: Repeat, args: tuple[Any, ...]) -> Sequence[tuple[Block, int]]:
    """Looks at the contents of index tensors; the memory of ours that was looked at, and its version."""
    arrays, own = {}, {}
    for position, name in repeat.names:
        argument = args[position]
        if type(argument) is Tensor:
            own[name] = argument
            arrays[name] = argument._array
        else:
            arrays[name] = plain_array(argument)
    bound, known = Bound(arrays, dimensions=repeat.dimensions), Knowing(own)
    check_contents(repeat.signature, bound, repeat.found.holes, known)
    check_complete(repeat.signature, bound, repeat.found.verdict.complete, known)
    return known.guards


def remember(
    found: Proved, signature: Signature, target: Target, bound: Bound, loaded: Loaded, args: tuple[Any, ...],
    pool: Pool, *, in_graph: bool = False,
) -> Repeat | None:  # fmt: skip
    """What there is to remember of a launch that went well; None if others like it need the full way.

    A graph repeats the very same launch: what scalars decide stays decided, and there may be several steps.
    """
    if not (loaded.is_native if in_graph else loaded.is_plain) or len(args) != len(signature.arguments):
        return None
    if not in_graph and any(looks_at_scalars(compare) for compare in found.verdict.compares):
        return None
    total = loaded.programs(bound.dimensions)
    if loaded.combined and not _is_one_share(loaded, bound, total):
        return None
    positions = {parameter.name: number for number, parameter in enumerate(signature.arguments)}
    tensors = []
    for tensor in signature.tensors:
        given = bound.tensors[tensor.name]
        before, behind = _reach(given)
        word = STEP + loaded.words.places[tensor.name, "pointer"]
        is_written, is_read = tensor.access is not Access.IN, tensor.access in (Access.IN, Access.INOUT)
        foreign = Foreign(given.itemsize, before, behind)
        tensors.append((positions[tensor.name], word, is_written, is_read, foreign))
    scalars = []
    for parameter in loaded.scalars:
        dtype = parameter.type.dtype
        scalars.append((positions[parameter.name], STEP + loaded.words.places[parameter.name], _bits(dtype)))
    values = loaded.fixed_words(bound.tensors, bound.dimensions)
    assert loaded.words.places["record"] == 0
    if loaded.combined:
        values[loaded.words.places["shares"]] = 1
    items = 1 if loaded.combined else total
    step = step_of(loaded.main, 0, items, pool.chunk(items), loaded.code.arena, 0)
    is_written_at = [each[2] for each in tensors]
    return Repeat(
        found, signature, target, loaded, array("Q", [*step, *values, 0, NOBODY, 0, 0, 0, 0]), tuple(tensors),
        tuple((positions[tensor.name], tensor.name) for tensor in signature.tensors),
        tuple(pair for pair in combinations(range(len(tensors)), 2) if any(is_written_at[place] for place in pair)),
        tuple(scalars), found.watch, total, dict(bound.dimensions),
        any(isinstance(tensor.element, ContentOf) for tensor in signature.tensors),
        tuple(positions[tensor.name] for tensor in signature.tensors if tensor.access is not Access.IN),
    )  # fmt: skip


def _is_one_share(loaded: Loaded, bound: Bound, programs: int) -> bool:
    """Whether programs combine into the tensors themselves, and not into copies of them."""
    whole = all(is_row_by_row(bound.tensors[tensor.name]) for tensor in loaded.combined)
    return whole and loaded.shares(bound.tensors, programs) == 1


def looks_at_scalars(compare: Compare | Fits) -> bool:
    """Whether what a launch compares may depend on more than extents."""
    if isinstance(compare, Fits):
        return True
    return any(isinstance(atom, Scalar) for fact in compare.broken for atom in everything(fact.term))


def _reach(given: Any) -> tuple[int, int]:
    """How many bytes an array has before its first element, and from there on."""
    before = behind = 0
    if not given.size:
        return 0, 0
    for stride, extent in zip(given.strides, given.shape, strict=True):
        length = stride * (extent - 1)
        before, behind = (before - length, behind) if length < 0 else (before, behind + length)
    return before, behind + given.itemsize


def _bits(dtype: DType) -> Callable[[Any], int | None]:
    """How a number becomes the bits of a scalar; it gives None for a number that may not fit."""
    least, most = limits(dtype) if dtype.is_integer else (0, 0)
    if dtype.name in ("f32", "f64"):
        code, greatest = ("f" if dtype.name == "f32" else "d"), limits(dtype)[1]

        def of_float(value: Any) -> int | None:
            if not -greatest <= value <= greatest:
                return None
            return int.from_bytes(array(code, (value,)).tobytes(), "little")

        return of_float
    if dtype.is_integer:
        mask = 2**dtype.bits - 1

        def of_whole(value: Any) -> int | None:
            return value & mask if type(value) is int and least <= value <= most else None

        return of_whole
    return lambda _: None


def note(memory: dict[Any, Repeat | None], key: Any, repeat: Repeat | None) -> None:
    """Remembers, and forgets the oldest of too many."""
    if len(memory) >= _MOST:
        memory.pop(next(iter(tuple(memory))), None)  # a copy: other threads may note meanwhile
    memory[key] = repeat
