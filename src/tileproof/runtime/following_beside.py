"""Launches on a GPU that are like an earlier one, where the native code cannot follow it: several streams are at work.

Then the ledger has to be asked whom a launch waits for. The launch is work of a stream like any other; only what it is
given to the driver as comes from a plan, and is not found out anew. While something is poisoned, and wherever anything
is unusual, the full launch decides.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, TypeAlias

from tileproof.diagnostics.errors import LaunchError

from . import choice
from .cuda_streams import CudaStream, current_cuda_stream, torch_cuda
from .devices import current_stream
from .fast import Join, Plan, Plans, TensorArgument, checking, joins, readers
from .fast.layout import LOWEST, StateData
from .fast.plan import LONG, Packed, ScalarArgument
from .leases import Outdated, Span, Work, raise_again
from .streams import chosen_stream
from .tensors import Tensor

Word: TypeAlias = tuple[int, int]
"""Which of the driver's parameters, and its value."""


class Followed(Work):
    """A launch that follows a plan."""

    __slots__ = ("exact",)

    exact: tuple[Span, ...] | None
    """What it writes of tensors of our own, without gaps, if that is not all that it writes."""

    def written(self) -> Any:
        return self.writes if self.exact is None else self.exact


class Broken(Followed):
    """A launch of which the driver took the first of two calls, for what is said of its memory."""

    __slots__ = ("error",)

    error: LaunchError

    def failure(self) -> BaseException | None:
        return self.error


class _Refused(Outdated):
    """A launch is not started: the full one says why, or does it."""


class _Wanted:
    """What a plan wants of a tensor, in the form in which tensors of our own tell it."""

    __slots__ = ("argument", "fills", "is_dense", "is_read", "is_written", "key", "misaligned", "word")

    def __init__(self, argument: TensorArgument, device: int) -> None:
        self.argument = argument
        self.key = (argument.storage, argument.shape, argument.strides, device)
        self.fills, self.is_read, self.is_written = argument.fills, argument.is_read, argument.is_written
        self.is_dense = sum(argument.reach) == math.prod(argument.shape) * argument.itemsize
        self.misaligned = argument.alignment - 1
        self.word = argument.word


class Ready:
    """A plan, and what all launches that follow it use one after another: the lock of the ledger is held."""

    __slots__ = ("_words", "arguments", "call", "context", "join", "plan", "words")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        count = max(len(plan.words), 1)
        self.words = (ctypes.c_uint64 * count)(*plan.words)
        first = ctypes.addressof(self.words)
        places = self._words = (ctypes.c_void_p * count)(*(first + 8 * place for place in range(count)))
        start = checking.driver_at(plan.entry, plan.releases_gil)
        given = plan.function, *plan.grid, *plan.block, plan.shared_bytes
        self.call: Callable[[int], int] = lambda stream: start(*given, stream, places, None)
        self.join = None if plan.join is None else _Joining(plan, plan.join, places)
        self.context = _asking(plan)
        self.arguments = tuple(
            _Wanted(each, plan.device[1]) if isinstance(each, TensorArgument) else each for each in plan.arguments
        )

    def is_in_context(self) -> bool:
        """Whether the context that the plan was made in is current."""
        if self.context is None:
            return True
        ask, found, place = self.context
        return not ask(place) and (found.value or 0) == self.plan.context


class _Joining:
    """The calls of a plan that come round the first one."""

    __slots__ = ("call", "join")

    def __init__(self, plan: Plan, join: Join, places: Any) -> None:
        self.join = join
        start = joins.early_at(join.early) if join.early else checking.driver_at(plan.entry, plan.releases_gil)
        given = join.function, *join.grid, *plan.block, plan.shared_bytes
        self.call: Callable[[int], int] = lambda stream: start(*given, stream, places, None)

    def taken(self, stream: int) -> int:
        """The address of new memory between the two calls; 0 if there is none."""
        place = ctypes.c_uint64()
        if joins.allocate_at(self.join.allocate)(ctypes.addressof(place), self.join.nbytes, stream):
            return 0
        return place.value

    def give_back(self, address: int, stream: int) -> None:
        """Gives it back when the stream comes to it. What goes wrong here the next launch meets too."""
        joins.release_at(self.join.release)(address, stream)


def _asking(plan: Plan) -> tuple[Callable[[int], int], ctypes.c_void_p, int] | None:
    if not plan.context_entry:
        return None
    found = ctypes.c_void_p()
    return checking.context_at(plan.context_entry), found, ctypes.addressof(found)


class _Found:
    """What a launch that a plan fits gives to the driver, and the bytes that it uses."""

    __slots__ = ("broken", "has_gaps", "is_own", "keep", "reads", "states", "tensors", "words", "writes")

    def __init__(self) -> None:
        self.broken = 0
        """What the driver said to the second of two calls."""
        self.words: list[Word] = []
        self.reads: list[Span] = []
        self.writes: list[Span] = []
        self.tensors: list[Tensor] = []
        """Those of our own that are written."""
        self.states: list[int] | None = None
        """The same of other types that know what is true of their memory."""
        self.keep: list[object] | None = None
        """What must live until the launch is done."""
        self.is_own = True
        """Whether all tensors are of our own."""
        self.has_gaps = False
        """Whether more is in `writes` than what is written of tensors of our own."""

    def takes(self, span: Span, wanted: _Wanted) -> bool:
        """Notes bytes, unless they lie between those of another tensor and one of the two is written."""
        low, high = span
        reads, writes = self.reads, self.writes
        for start, end in writes:
            if low < end and start < high and low != high and start != end:
                return False
        if not wanted.is_written:
            reads.append(span)
            return True
        for start, end in reads:
            if low < end and start < high and low != high and start != end:
                return False
        if wanted.is_read:
            reads.append(span)
        writes.append(span)
        return True

    def keeps(self, owner: object) -> None:
        """Notes what must live."""
        self.keep = [*(self.keep or ()), owner]


def follow(name: str, plans: Plans, args: tuple[Any, ...]) -> bool:
    """Launches as an earlier launch, in order with all streams; False if none is like it, and nothing was done."""
    for packed in plans.packed:
        ready = _ready(packed)
        found = _matched(ready, args)
        if found is not None:
            return (found.is_own or checking.is_plain(plans, args)) and _give(name, ready, found)
    return False


def _ready(packed: Packed) -> Ready:
    found: Ready | None = packed.beside
    if found is None:
        found = packed.beside = Ready(packed.plan)
    return found


def _matched(ready: Ready, args: tuple[Any, ...]) -> _Found | None:
    """What a launch does with these arguments; None if they are not like those of the plan."""
    arguments = ready.arguments
    if len(arguments) != len(args):
        return None
    found = _Found()
    for wanted, given in zip(arguments, args, strict=True):
        if type(wanted) is _Wanted:
            if type(given) is Tensor and given.key == wanted.key:
                word = given.address
                if not _takes_own(found, wanted, given):
                    return None
            else:
                address = _takes_seen(found, wanted, given, ready.plan)
                if address is None:
                    return None
                word = address
        else:
            assert isinstance(wanted, ScalarArgument)
            if type(given) is not wanted.given or (type(given) is int and not -LONG <= given < LONG):
                return None
            bits = checking.bits_of(wanted, given)
            if bits is None:
                return None
            word = bits
        if wanted.word is not None:
            found.words.append((wanted.word, word))
    return found


def _takes_own(found: _Found, wanted: _Wanted, given: Tensor) -> bool:
    """Whether a tensor of our own of the right shape may be used; if so, it is noted."""
    block, span = given.block, given.span
    # Without a record each launch must look closer; memory that is lent is ordered with who it is lent to.
    if given._record is None or block.lent or given.address & wanted.misaligned:
        return False
    if block.written is not None and span[0] < span[1] and not (wanted.fills and span == block.span):
        return False
    if wanted.is_written:
        if not block.is_writeable:
            return False
        found.tensors.append(given)
        if not wanted.is_dense:
            found.has_gaps = True
    if block.account is None:
        found.keeps(block)
    return found.takes(span, wanted)


def _takes_seen(found: _Found, wanted: _Wanted, given: Any, plan: Plan) -> int | None:
    """The address of a tensor of any type that is read, if it may be used; if so, it is noted."""
    seen = readers.see(given)
    argument = wanted.argument
    if seen is None or not checking.fits(plan, argument, seen):
        return None
    before, behind = argument.reach
    low, high = seen.address - before, seen.address + behind
    if not argument.is_empty and (low < LOWEST or high >= 2**64):
        return None
    is_own = type(given) is Tensor
    if wanted.is_written:
        if is_own:
            found.tensors.append(given)
        elif seen.state:
            found.states = [*(found.states or ()), seen.state]
        found.has_gaps = found.has_gaps or not is_own or not wanted.is_dense
    if not is_own:
        found.is_own = False
        if not seen.is_of_torch:  # torch frees its memory in the order of its stream, which is this one
            found.keeps(given)
        elif chosen_stream(plan.device[1]) is not None:  # unless it is one of ours
            return None
    elif given.block.account is None:
        found.keeps(given.block)
    return seen.address if found.takes((low, high), wanted) else None


def _give(name: str, ready: Ready, found: _Found) -> bool:
    """Gives a launch to the current stream; False if the driver refuses, or something else has to be looked at."""
    plan = ready.plan
    if not plan.has_programs:
        return False
    stream = _stream(plan.device[1])
    if stream is None:
        return False
    if stream.ledger.poisoned or (plan.join is not None and stream.is_recording):
        return False
    work = Followed(name, found.reads, found.writes, found.keep)
    work.exact = _exact(found) if found.has_gaps else None
    work.note = partial(_note_writes, found)
    stream.ledger.demand_free()
    try:
        stream.submit(work, partial(_start, ready, found, stream))
    except _Refused:
        return False
    work.note = None  # it holds memory that may go before the work is done
    if found.broken:
        assert plan.join is not None
        _break_off(name, plan.join.name, found, stream)
    return True


def _start(ready: Ready, found: _Found, stream: CudaStream) -> int:
    # The lock of the ledger is held.
    if stream.ledger.poisoned or not ready.is_in_context():
        raise _Refused
    words = ready.words
    for place, word in found.words:
        words[place] = word
    join, handle = ready.join, stream.handle
    if join is None:
        if ready.call(handle):
            raise _Refused
        return stream.turn + 1
    address = join.taken(handle)
    if not address:
        raise _Refused
    words[join.join.word] = address
    try:
        if ready.call(handle):
            raise _Refused
        found.broken = join.call(handle)
    finally:
        join.give_back(address, handle)
    return stream.turn + 1


def broke(
    name: str, second: str, arguments: tuple[TensorArgument | ScalarArgument, ...], device: int, args: tuple[Any, ...],
    stream: int, number: int,
) -> NoReturn:  # fmt: skip
    """Raises why a launch that the native code gave to a stream broke off: it was alone there, and has its leases."""
    found = _Found()
    found.broken = number
    for argument, given in zip(arguments, args, strict=True):
        if not isinstance(argument, TensorArgument):
            continue
        wanted = _Wanted(argument, device)
        if type(given) is Tensor:
            found.takes(given.span, wanted)
            if argument.is_written:
                found.tensors.append(given)
        elif (seen := readers.see(given)) is not None:
            before, behind = argument.reach
            found.takes((seen.address - before, seen.address + behind), wanted)
    _break_off(name, second, found, CudaStream.of(device, stream))


def _break_off(name: str, second: str, found: _Found, stream: CudaStream) -> NoReturn:
    """Raises why the driver took only the first call of a launch, and has what the launch was to write poisoned."""
    driver = stream.gpu.driver
    error = LaunchError(driver.failure(driver.api.CUresult(found.broken), f"launching `{second}`"))
    work = Broken(name, found.reads, found.writes, found.keep)
    work.error, work.exact = error, _exact(found)
    work.note = partial(_note_writes, found)
    with suppress(LaunchError):  # if the context is lost, nothing can be read any more
        stream.note(work)
    work.note = None
    raise_again(error)


def _note_writes(found: _Found) -> None:
    for tensor in found.tensors:
        tensor.note_write()
    for address in found.states or ():
        state = StateData.from_address(address)
        state.version += 1
        state.unwritten = 0


def _exact(found: _Found) -> tuple[Span, ...]:
    return tuple((low, high) for tensor in found.tensors for low, high in tensor.runs.tolist())


def _stream(device: int) -> CudaStream | None:
    """The current stream; None if torch's is another one, which has to wait before and after."""
    stream = current_cuda_stream(device)
    if "torch" in sys.modules and torch_cuda() is not None and current_stream(device) != stream.handle:
        return None
    return stream


def may_follow(named: dict[str, Any]) -> bool:
    """Whether a launch with these constants may follow another: nobody chose a backend, and all are whole numbers."""
    return choice.is_free() and all(type(value) is int for value in named.values())


__all__ = ["Broken", "Followed", "broke", "follow", "may_follow"]
