"""The tensors of GGUF files: where they lie, in one file or several, and how their elements are kept.

Tensors lie in the order of the header, without overlap, and fill the file but for alignment, as llama.cpp demands it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from tileproof.diagnostics.codes import Code

from ..errors import refused
from .gguf_header import GgufHeader, GgufTensor, read_header
from .stored import Stored, mapped_file, refuse_pointer

BLOCKS: Final = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136), 28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66),
}  # fmt: skip
"""Kinds of elements by their numbers: the name, how many are one block, and its bytes."""
KINDS: Final = frozenset(kind for kind, _, _ in BLOCKS.values())
_OTHERS: Final = {
    4: "Q4_2", 5: "Q4_3", 9: "Q8_1", 15: "Q8_K", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 31: "Q4_0_4_4",
    32: "Q4_0_4_8", 33: "Q4_0_8_8", 36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8", 39: "MXFP4", 40: "NVFP4",
}  # fmt: skip
"""Kinds that are not read, for the message."""
_PART: Final = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")


@dataclass(frozen=True, slots=True)
class GgufFile:
    """What a GGUF file says of itself: settings by their keys, and tensors by their names."""

    path: Path
    settings: dict[str, Any]
    tensors: dict[str, Stored]


def read_gguf(path: Path) -> GgufFile:
    """A GGUF file, or all files of a model that was split: the first of them has the settings."""
    split = _PART.fullmatch(path.name)
    if split is None or int(split[3]) < 2:
        return _read(path)
    files = [path.with_name(f"{split[1]}-{number:05}-of-{split[3]}.gguf") for number in range(1, int(split[3]) + 1)]
    parts = [_read(file) for file in files]
    tensors: dict[str, Stored] = {}
    for part in parts:
        for name, tensor in part.tensors.items():
            if name in tensors:
                _refuse(part.path, f"`{name}` stands in {tensors[name].file.name} too")
            tensors[name] = tensor
    return GgufFile(files[0], parts[0].settings, tensors)


def is_first_part(path: Path) -> bool:
    """Whether a file is a model, or the first file of one."""
    split = _PART.fullmatch(path.name)
    return split is None or int(split[2]) == 1


def _read(path: Path) -> GgufFile:
    with mapped_file(path) as mapped:
        size = len(mapped)
        refuse_pointer(path, mapped[:64])
    header = read_header(path)
    tensors: dict[str, Stored] = {}
    for entry in header.tensors:
        if entry.name in tensors:
            _refuse(path, f"`{entry.name}` stands in it twice")
        tensors[entry.name] = _stored(path, entry)
    _demand_filled(path, header, tensors.values(), size)
    return GgufFile(path, header.values, tensors)


def _demand_filled(path: Path, header: GgufHeader, tensors: Iterable[Stored], size: int) -> None:
    """Rejects spans that overlap, leave gaps or end elsewhere than the file: a tensor would have another's bytes."""
    end = header.data
    for tensor in tensors:
        if tensor.offset != end:
            _refuse(path, f"`{tensor.name}` begins at byte {tensor.offset}, and the one before it ends at {end}")
        if end + tensor.nbytes > size:
            _refuse(path, f"`{tensor.name}` ends at byte {end + tensor.nbytes}, and the file at {size}")
        end += -(-tensor.nbytes // header.alignment) * header.alignment
    if size > end:
        _refuse(path, f"{size - end} bytes follow the last tensor")


def _stored(path: Path, entry: GgufTensor) -> Stored:
    if entry.kind not in BLOCKS:
        kind = _OTHERS.get(entry.kind, f"type {entry.kind} of GGUF")
        message = f"`{entry.name}` in {path} is stored as {kind}, which is not known"
        raise refused(Code.MODEL_KIND, message, f"use a file with elements of {', '.join(sorted(KINDS))}")
    kind, block, size = BLOCKS[entry.kind]
    columns = entry.shape[-1] if entry.shape else 1
    if columns % block:
        _refuse(path, f"rows of `{entry.name}` have {columns} elements, not a multiple of the {block} of {kind}")
    return Stored(entry.name, path, entry.shape, kind, entry.offset, math.prod(entry.shape) // block * size)


def _refuse(path: Path, why: str) -> NoReturn:
    raise refused(Code.MODEL_FILE, f"{path} cannot be read: {why}", "the file is damaged: download it again")
