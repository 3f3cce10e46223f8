"""Which launches are like an earlier one: the specification of the native code, and what is done without it."""

from __future__ import annotations

import math
import struct
from typing import Any

from . import readers
from .plan import CPU, LONG, OnCpu, OpenTensor, Plan, ScalarArgument, TensorArgument
from .plans import Plans
from .readers import Seen, Used
from .structures import FAR, LARGEST, LOWEST, Division, From, StateData, StoredAs


def match(plans: Plans, args: tuple[Any, ...]) -> bytes | None:
    """What a launch like an earlier one is to be given, as 64-bit words: which plan, how many programs, the words of
    the plan, the bytes that each tensor uses, and the dimensions of an open plan. None if no plan fits.

    Tensors of torch on the CPU are to be kept from changing by the caller.
    """
    if type(plans) is not Plans or type(args) is not tuple:
        return None
    seen: list[Any] = [argument if type(argument) in (bool, int, float) else readers.see(argument) for argument in args]
    if any(value is None or (type(value) is int and not -LONG <= value < LONG) for value in seen):
        return None
    for place, plan in enumerate(plans.kept):
        words = match_one(plan, seen)
        if words is not None:
            return struct.pack(f"<{len(words) + 1}Q", place, *words)
    return None


def match_one(plan: Plan, seen: list[Any]) -> list[int] | None:
    """The same of one plan, but for its place."""
    cpu = plan.cpu
    if cpu is None or not cpu.is_open:
        matched = _match_fixed(plan, seen)
        if matched is None:
            return None
        words, spans, programs, extents = *matched, 0 if cpu is None else cpu.programs, list[int]()
    else:
        filled = _match_open(plan, cpu, seen)
        if filled is None:
            return None
        words, spans, programs, extents = filled
    return [programs, *words, *(bound for low, high, _ in spans for bound in (low, high)), *extents]


def _match_open(plan: Plan, cpu: OnCpu, seen: list[Any]) -> tuple[list[int], list[Used], int, list[int]] | None:
    if len(plan.arguments) != len(seen):
        return None
    words, spans = list(plan.words), list[Used]()
    extents: list[int | None] = [None] * len(cpu.dimensions)
    for argument, value in zip(plan.arguments, seen, strict=True):
        if isinstance(argument, OpenTensor):
            span = _fits_open(cpu, argument, value, extents) if isinstance(value, Seen) else None
            if span is None or not _notes(span, spans):
                return None
            word = value.address
        else:
            assert isinstance(argument, ScalarArgument)
            bits = bits_of(argument, value) if type(value) is argument.python_type else None
            if bits is None:
                return None
            word = bits
        if argument.word is not None:
            words[argument.word] = word
    known = [extent if extent is not None else -1 for extent in extents]
    programs = _fill_in(plan, cpu, seen, known, words)
    return None if programs is None else (words, spans, programs, [extent % 2**64 for extent in known])


def _fits_open(cpu: OnCpu, argument: OpenTensor, seen: Seen, extents: list[int | None]) -> Used | None:
    """The bytes of a tensor if code for any shape is right for it; its extents are noted."""
    is_same = seen.element == argument.code if type(seen.element) is int else seen.element is argument.storage
    if not is_same or len(seen.shape) != len(argument.axes) or seen.device != CPU:
        return None
    size = argument.itemsize
    if (argument.is_written and not seen.is_writable) or seen.address % size:
        return None
    before, behind, amount = 0, size, size
    for axis, extent, stride in reversed(list(zip(argument.axes, seen.shape, seen.strides, strict=True))):
        if axis.dimension < 0:
            if extent != axis.extent:
                return None
        elif extents[axis.dimension] is None:
            if extent >= FAR:
                return None
            extents[axis.dimension] = extent
        elif extents[axis.dimension] != extent:
            return None
        amount *= extent
        if amount > LARGEST:
            return None
        if extent <= 1:
            continue
        if stride % size or (stride == size) is not axis.is_unit:
            return None
        if argument.is_written and abs(stride) < before + behind:
            return None
        length = stride * (extent - 1)
        before, behind = (before - length, behind) if length < 0 else (before, behind + length)
        if before + behind >= LARGEST:
            return None
    if argument.is_large is not None and argument.is_large is not (amount >= cpu.cache):
        return None
    if not amount:
        return seen.address, seen.address, argument.is_written
    low, high = seen.address - before, seen.address + behind
    if low < LOWEST or high >= 2**64:
        return None
    if seen.state:
        state = StateData.from_address(seen.state)
        fills = argument.is_written and not argument.is_read and amount == high - low
        if state.unwritten and not (fills and (low, high) == (state.low, state.high)):
            return None
    return low, high, argument.is_written


def _notes(span: Used, spans: list[Used]) -> bool:
    """Whether bytes do not lie between those of another tensor if one of them is written; notes them."""
    low, high, is_written = span
    for other_low, other_high, other_written in spans:
        if not (is_written or other_written) or low == high or other_low == other_high:
            continue
        if low < other_high and other_low < high:
            return False
    spans.append(span)
    return True


def _fill_in(plan: Plan, cpu: OnCpu, seen: list[Any], extents: list[int], words: list[int]) -> int | None:
    """Puts in the words that follow from extents and strides; how many programs there are, if the code is right."""
    for dimension, size, division in cpu.divided:
        extent = extents[dimension]
        is_divided = extent > 0 and extent % size == 0
        if extent > size if division is Division.AT_MOST else is_divided is not (division is Division.EXACT):
            return None
    programs = 1
    for word, kind, first, second, size in cpu.sources:
        match kind:
            case From.EXTENT:
                value = seen[first].shape[second]
            case From.STRIDE:
                argument, stride = plan.arguments[first], seen[first].strides[second]
                assert isinstance(argument, OpenTensor)
                # As C divides: strides of axes of one element may be anything.
                value = abs(stride) // argument.itemsize * (-1 if stride < 0 else 1)
            case From.DIMENSION:
                value = extents[first]
            case From.PLACES:
                value = max(-(-extents[first] // size), second)
                programs *= value
                if programs > LARGEST:
                    return None
            case From.PROGRAMS:
                value = programs = programs * size
                if programs > LARGEST:
                    return None
            case From.CHUNK:
                value = max(programs // cpu.chunks, 1)
        if word >= 0:
            words[word] = value % 2**64
    return programs


def _match_fixed(plan: Plan, seen: list[Any]) -> tuple[list[int], list[Used]] | None:
    """What the driver is to be given, and which bytes are used; None if the arguments are not like the plan's."""
    if len(plan.arguments) != len(seen):
        return None
    words = list(plan.words)
    spans: list[Used] = []
    for argument, value in zip(plan.arguments, seen, strict=True):
        if isinstance(argument, TensorArgument):
            if not (isinstance(value, Seen) and fits(plan, argument, value)):
                return None
            if not _is_apart(argument, value.address, spans):
                return None
            word = value.address
        else:
            assert isinstance(argument, ScalarArgument)
            bits = bits_of(argument, value) if type(value) is argument.python_type else None
            if bits is None:
                return None
            word = bits
        if argument.word is not None:
            words[argument.word] = word
    return words, spans


def fits(plan: Plan, argument: TensorArgument, seen: Seen) -> bool:
    """Whether a tensor is as a plan wants it, wherever others are."""
    if seen.state and not _is_ready(argument, seen):
        return False
    is_same = seen.element == argument.code if type(seen.element) is int else seen.element is argument.storage
    if not is_same or seen.shape != argument.shape or seen.device != plan.device:
        return False
    if argument.is_written and not seen.is_writable:
        return False
    if plan.cpu is None and ((seen.is_of_torch and plan.stream is not None) or seen.is_lent):
        return False
    if seen.address % argument.alignment:
        return False
    if argument.is_empty:
        return True
    steps = zip(argument.shape, argument.strides, seen.strides, strict=True)
    return all(extent == 1 or stride == step for extent, stride, step in steps)


def _is_apart(argument: TensorArgument, address: int, spans: list[Used]) -> bool:
    """Whether the bytes of a tensor are not between those of another if one of them is written; notes them."""
    before, behind = argument.reach
    low, high = address - before, address + behind
    if not argument.is_empty and (low < LOWEST or high >= 2**64):
        return False
    return _notes((low, high, argument.is_written), spans)


def bits_of(argument: ScalarArgument, value: bool | int | float) -> int | None:
    """What the driver is given for a number of the right type; None if it is not like those of the plan."""
    least, most = argument.range
    if argument.python_type is not float and not least <= value <= most:
        return None
    if argument.stored_as is StoredAs.WHOLE:
        return int(value) % 2**64
    real = float(value)
    if not (abs(real) <= argument.greatest or math.isinf(real)):
        return None
    packed = struct.pack("<f" if argument.stored_as is StoredAs.F32 else "<d", real)
    return int.from_bytes(packed, "little")


def _is_ready(argument: TensorArgument, seen: Seen) -> bool:
    """Whether memory of our own was written, or is now."""
    state = StateData.from_address(seen.state)
    if argument.is_empty or not state.unwritten:
        return True
    before, behind = argument.reach
    return argument.fills and (seen.address - before, seen.address + behind) == (state.low, state.high)
