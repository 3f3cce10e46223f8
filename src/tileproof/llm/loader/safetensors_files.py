"""Files of safetensors: a header of JSON that says where each tensor lies, and the elements behind it.

The header is checked as a whole before anything is read by it: it fits the file, every tensor has the bytes that its
shape asks for, and together they fill the file without gaps.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final, NoReturn

from tileproof.diagnostics.codes import Code

from ..errors import refused
from .stored import Stored, mapped_file, refuse_pointer

LONGEST: Final = 1 << 24
"""Bytes of a header, enough for 100,000 tensors. Python needs up to 24 times as much for its JSON."""
SIZES: Final = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I64": 8, "I32": 4, "I16": 2, "I8": 1,
    "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1,
}  # fmt: skip
_AXES: Final = 8
_MOST: Final = (1 << 63) - 1
"""Of an extent or an offset: products of larger numbers take long, and cannot be printed."""
_AGAIN: Final = "the file is damaged: download it again"


def stored_in(path: Path) -> dict[str, Stored]:
    """The tensors of a file, by name."""
    with mapped_file(path) as mapped:
        size = len(mapped)
        refuse_pointer(path, mapped[:64])
        length = int.from_bytes(mapped[:8], "little")
        if size < 8 or length > min(LONGEST, size - 8):
            _refuse(path, f"a header of {length} bytes is announced, and the file has {size}")
        text = mapped[8 : 8 + length]
    tensors = [_entry(path, name, value, 8 + length) for name, value in _header(path, text).items()]
    _demand_filled(path, tensors, 8 + length, size)
    return {tensor.name: tensor for tensor in tensors}


def _header(path: Path, text: bytes) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            raise ValueError("a name stands in it twice")
        return table

    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        _refuse(path, f"its header is no JSON: {error}")
    if not isinstance(header, dict):
        _refuse(path, "its header is no table of tensors")
    header.pop("__metadata__", None)
    return header


def _entry(path: Path, name: str, value: Any, start: int) -> Stored:
    match value:
        case {"dtype": str(kind), "shape": list(shape), "data_offsets": [int(first), int(last)]} if (
            len(shape) <= _AXES and all(type(each) is int and 0 <= each <= _MOST for each in (*shape, first, last))
        ):
            pass
        case _:
            _refuse(path, f"its header says nothing sensible of `{name}`")
    if kind not in SIZES:
        _refuse(path, f"`{name}` has elements of {kind}, which are not known")
    nbytes = math.prod(shape) * SIZES[kind]
    if last - first != nbytes:
        what = f"`{name}`, of shape {tuple(shape)} and {kind}"
        _refuse(path, f"{what}, takes {nbytes} bytes, and its place has {last - first}")
    return Stored(name, path, tuple(shape), kind, start + first, nbytes)


def _demand_filled(path: Path, tensors: list[Stored], start: int, size: int) -> None:
    place = start
    for tensor in sorted(tensors, key=lambda each: (each.offset, each.nbytes)):
        if tensor.offset != place:
            how = "overlaps the one before it" if tensor.offset < place else "leaves a gap before it"
            _refuse(path, f"`{tensor.name}` {how}")
        place += tensor.nbytes
        if place > size:
            _refuse(path, f"`{tensor.name}` ends at byte {place}, and the file at {size}")
    if place != size:
        _refuse(path, f"{size - place} bytes stand behind the last tensor")


def _refuse(path: Path, why: str) -> NoReturn:
    raise refused(Code.MODEL_FILE, f"{path} cannot be read: {why}", _AGAIN)
