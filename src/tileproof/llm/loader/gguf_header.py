"""The header of a GGUF file: its values and where its tensors lie.

`gguf.GGUFReader` makes several numpy arrays for each string, which takes seconds for a vocabulary. Here a string is a
slice of the mapped file.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused

_PLAIN: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LONGEST = 1 << 22
"""Elements of all arrays: more are a number that was damaged, of which Python would make a list. The largest
vocabularies with their merges have a third of that."""
_LARGEST = 1 << 26
"""Bytes of a header."""
_MOST = 1 << 16
"""Keys, and tensors."""
_DEEPEST = 4
"""Arrays may hold arrays; files that people use do not go beyond two."""


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """A tensor of a file."""

    name: str
    shape: tuple[int, ...]
    """Outermost axis first, as numpy has it; the file has it the other way round."""
    kind: int
    """The number of its element type, a `gguf.GGMLQuantizationType`."""
    offset: int
    """Of its first byte, from the start of the file."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """All that a file says before its data."""

    values: dict[str, Any]
    tensors: tuple[GgufTensor, ...]
    data: int
    """Where the first tensor begins, from the start of the file."""
    alignment: int
    """Every tensor begins at a multiple of so many bytes after that."""


def read_header(path: Path) -> GgufHeader:
    """The header of a file, or TP1001 when it is not GGUF or ends too early."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return _Cursor(mapped).header()
    except OSError as error:
        raise refused(Code.MODEL_FILE, f"{path} cannot be read: {error.strerror}", "check the path") from error
    except (ValueError, struct.error, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise _corrupt(path, error) from error


def _corrupt(path: Path, error: Exception) -> ModelError:
    why = str(error) if type(error) is ValueError else "its header ends too early or is damaged"
    return refused(Code.MODEL_FILE, f"{path} is not a GGUF file that can be read: {why}", "download it again")


class _Cursor:
    """Reads one value after another."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped, self._at, self._end = mapped, 0, min(len(mapped), _LARGEST)
        self._elements = 0

    def header(self) -> GgufHeader:
        if self._bytes(4) != b"GGUF":
            raise ValueError("it does not begin with GGUF")
        version = self._one("I")
        if version not in (2, 3):
            raise ValueError(f"it is of version {version}, and 2 and 3 are known")
        count, values = self._one("Q"), self._one("Q")
        if max(count, values) > _MOST:
            raise ValueError(f"it has {count} tensors and {values} keys, and at most {_MOST} of each are read")
        found: dict[str, Any] = {}
        for _ in range(values):
            key = self._string()
            if key in found:
                raise ValueError(f"it has `{key}` twice")
            found[key] = self._value(self._one("I"))
        described = [self._tensor() for _ in range(count)]
        align = found.get("general.alignment", 32)
        if type(align) is not int or align < 1 or align & (align - 1):
            raise ValueError(f"its alignment is {align!r}, not a power of two")
        data = -(-self._at // align) * align
        tensors = tuple(GgufTensor(name, shape, kind, data + offset) for name, shape, kind, offset in described)
        return GgufHeader(found, tensors, data, align)

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string()
        axes = self._one("I")
        if axes > 8:
            raise ValueError(f"its tensor {name} has {axes} axes")
        shape = self._many("Q", axes)
        return name, tuple(reversed(shape)), self._one("I"), self._one("Q")

    def _value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._one("I"), self._one("Q")
            self._elements += count
            if self._elements > _LONGEST:
                raise ValueError(f"it has arrays of {self._elements} elements, and at most {_LONGEST} are read")
            if inner in _PLAIN:
                return list(self._many(_PLAIN[inner], count))
            if inner == _STRING:
                return self._strings(count)
            if count > self._end - self._at or depth == _DEEPEST:
                raise ValueError("its header ends too early or is damaged")
            return [self._value(inner, depth + 1) for _ in range(count)]
        if kind not in _PLAIN:
            raise ValueError(f"it has a value of kind {kind}, which is not known")
        return self._one(_PLAIN[kind])

    def _string(self) -> str:
        return self._bytes(self._one("Q")).decode()

    def _strings(self, count: int) -> list[str]:
        """The same many times over: most of a header are tokens."""
        mapped, at, end, length_at = self._mapped, self._at, self._end, struct.Struct("<Q").unpack_from
        strings = []
        for _ in range(count):
            first = at + 8
            at = first + length_at(mapped, at)[0]
            if at > end:
                raise ValueError("its header ends too early or is damaged")
            strings.append(mapped[first:at].decode())
        self._at = at
        return strings

    def _bytes(self, count: int) -> bytes:
        first, last = self._at, self._at + count
        if last > self._end:
            raise ValueError("its header ends too early or is damaged")
        self._at = last
        return self._mapped[first:last]

    def _one(self, kind: str) -> Any:
        return self._many(kind, 1)[0]

    def _many(self, kind: str, count: int) -> tuple[Any, ...]:
        return struct.unpack(f"<{count}{kind}", self._bytes(count * struct.calcsize(f"<{kind}")))
