"""Values of users as messages print them.

Python raises `ValueError` when it converts an integer of thousands of digits to text, and that would replace the
message; a number of hundreds of digits is unreadable. Every message that prints a number, a shape or another value that
a user passed formats it here.
"""

from __future__ import annotations

import math
import re
from typing import Final

_DIGITS: Final = 40
"""Integers of up to so many digits are printed in full."""
_LETTERS: Final = 200
"""Longer texts are shortened to so many characters."""
_MOST_BYTES: Final = 2**100
_SIZE: Final = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


def formatted(value: object) -> str:
    """A value as Python writes it; a long number by its size, the middle of a long text left out."""
    if type(value) is int:
        return str(value) if abs(value) < 10**_DIGITS else _by_size(value)
    if type(value) is tuple:
        return f"({', '.join(map(formatted, value))}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join(map(formatted, value))}]"
    try:
        text = repr(value)
    except ValueError:  # there is a long number somewhere in it
        text = f"an object of type {type(value).__name__}"
    return shortened(text)


def shortened(text: str) -> str:
    """A text without its middle, if it is long."""
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS // 2]}...{text[-_LETTERS // 4 :]}"


def _by_size(number: int) -> str:
    exponent = math.floor(math.log10(abs(number)))
    return f"about {'-' if number < 0 else ''}10**{exponent}"


def in_words(count: int) -> str:
    """A number of bytes with a unit, such as `1.5 GiB`."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}" if count < _MOST_BYTES else f"{formatted(count // size)} {unit}"
    return f"{count} bytes"


def bytes_of(text: str) -> int | None:
    """The bytes meant by `2GB`, `1.5 GiB` or `1000000`; None if it is no size."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    number, unit, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** " KMGT".index(unit.upper() or " "))
