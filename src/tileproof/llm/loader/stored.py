"""Tensors where they lie in files, read piece by piece so that no file is ever in memory as a whole."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import ml_dtypes
import numpy as np

from tileproof.diagnostics.codes import Code

from ..errors import refused

PIECE: Final = 1 << 19
"""About how many elements are read at a time: they stay in the cache while they are worked on, and take little."""
NEIGHBOURS: Final = 2 << 20
PLAIN: Final[Mapping[str, Any]] = {
    "BF16": np.dtype(ml_dtypes.bfloat16), "F16": np.dtype(np.float16), "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}  # fmt: skip
"""Kinds of elements that need no decoding."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor in a file."""

    name: str
    """What the file calls it."""
    file: Path
    shape: tuple[int, ...]
    kind: str
    """What its elements are: BF16, F32, Q8_0."""
    offset: int
    nbytes: int
    interleaved: int = 0
    """If not 0, how many rows are a head whose two halves take turns: files for llama.cpp turn heads in that order."""

    @property
    def rows(self) -> int:
        return self.shape[0] if len(self.shape) > 1 else 1

    def __str__(self) -> str:
        return f"`{self.name}` in {self.file}"


class OpenFiles:
    """The files of a model, mapped into memory while tensors are read."""

    def __init__(self) -> None:
        self._maps: dict[Path, mmap.mmap] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for mapped in self._maps.values():
            with suppress(BufferError):  # an array over it outlives an error; the map goes when that does
                mapped.close()
        self._maps.clear()

    def pieces(self, tensor: Stored) -> Iterator[tuple[int, Any]]:
        """Rows of a tensor as arrays of a plain kind, each with the number of its first row.

        A tensor of one axis is one row. What was read is let go of: its pages count as memory of the process.
        """
        mapped = self._mapped(tensor)
        row = tensor.nbytes // tensor.rows if tensor.rows else 0
        count = max(1, PIECE // max(tensor.shape[-1] if tensor.shape else 1, 1))
        if tensor.interleaved:
            count = max(1, count // tensor.interleaved) * tensor.interleaved
        for first in range(0, tensor.rows, count):
            last = min(first + count, tensor.rows)
            start = tensor.offset + first * row
            raw = np.frombuffer(mapped, np.uint8, (last - first) * row, start)
            yield first, _in_order(_decoded(raw, tensor, last - first), tensor.interleaved)
            del raw
            _let_go(mapped, start, (last - first) * row)

    def _mapped(self, tensor: Stored) -> mmap.mmap:
        mapped = self._maps.get(tensor.file)
        if mapped is None:
            mapped = self._maps[tensor.file] = mapped_file(tensor.file)
        if tensor.offset + tensor.nbytes > len(mapped):
            raise refused(Code.MODEL_FILE, f"{tensor} ends behind the end of the file", "download the file again")
        return mapped


def mapped_file(path: Path) -> mmap.mmap:
    """A file as memory that is read when it is looked at."""
    try:
        if path.exists() and not path.is_file():  # to open a pipe waits for who writes to it
            message = f"{path} is a folder, a pipe or a device"
            raise refused(Code.MODEL_FILE, message, "put a file in its place")
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise refused(Code.MODEL_FILE, f"there is no file {path}", "download the model again, as a whole") from None
    except ValueError:
        raise refused(Code.MODEL_FILE, f"{path} is empty", "download it again") from None
    except OSError as error:
        cure = "look at its permissions, and whether it is a file"
        raise refused(Code.MODEL_FILE, f"{path} cannot be read: {error.strerror}", cure) from None


def refuse_pointer(path: Path, start: bytes) -> None:
    """Refuses the small text that git keeps in place of a large file."""
    if start.startswith(b"version https://git-lfs"):
        message = f"{path} holds no weights: it is the pointer that git keeps for a large file"
        raise refused(Code.MODEL_FILE, message, "get the file itself: `git lfs pull`")


def _decoded(raw: Any, tensor: Stored, rows: int) -> Any:
    columns = tensor.shape[-1] if tensor.shape else 1
    plain = PLAIN.get(tensor.kind)
    if plain is not None:
        return raw.view(plain).reshape(rows, columns)
    return _dequantised(raw.reshape(rows, -1), tensor)


def _dequantised(blocks: Any, tensor: Stored) -> Any:
    """Blocks of 4 to 8 bits as rows of f32: the one use of the `gguf` package."""
    try:
        from gguf import GGMLQuantizationType, dequantize
    except ImportError:
        message = f"{tensor} is stored as {tensor.kind}, which the package gguf decodes, and that is not installed"
        raise refused(Code.MISSING_PACKAGE, message, "pip install 'tileproof[llm]'") from None
    return dequantize(blocks, GGMLQuantizationType[tensor.kind])


def _in_order(values: Any, depth: int) -> Any:
    """Rows with the first half of each head before the second."""
    if not depth:
        return values
    return values.reshape(-1, depth // 2, 2, values.shape[-1]).swapaxes(1, 2).reshape(values.shape)


def _let_go(mapped: mmap.mmap, start: int, length: int) -> None:
    """Gives back pages that were read, and those around them: a page that is missing brings its neighbours along."""
    first = max(start - NEIGHBOURS, 0) // mmap.PAGESIZE * mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, first, min(start + length + NEIGHBOURS, len(mapped)) - first)
