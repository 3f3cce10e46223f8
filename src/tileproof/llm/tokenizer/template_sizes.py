"""How large a result of a chat template would be, known before it is made: few operations make much of little."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

LEFT_OUT: Final = frozenset(
    {"batch", "center", "filesizeformat", "forceescape", "pprint", "random", "slice", "urlize", "wordwrap", "xmlattr"}
)
"""Filters for pages of the web, which templates of models do not use."""
SPELLING: Final = frozenset(
    {"capitalize", "e", "escape", "format", "indent", "join", "lower", "replace", "safe", "string", "striptags", "sum",
     "title", "tojson", "trim", "truncate", "upper", "urlencode", "wordcount"}
)  # fmt: skip
"""Filters that write out all of what they are given."""
_MOST: Final = 1 << 20
"""The largest number that an operation is given: a width, a count, a number of digits."""
_PART: Final = 64
"""Characters that a part of a list counts for: looking at it takes time, too."""
_WIDE: Final = re.compile(r"%[^%a-zA-Z]*(?:\*|\d{5,})|\{[^{}]*(?:\{|:[^{}]*\d{5,})")
"""A width in a format that is large, or that is no part of it."""


def size_of(value: Any, most: int) -> int:
    """About how many characters something has when it is written; more than `most` if that is all one has to know.

    What is in it twice counts twice, as it is written twice.
    """
    if isinstance(value, str):
        return len(value)
    size, pending = 0, [value]
    while pending and size <= most:
        each = pending.pop()
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping | list | tuple | set | frozenset):
            size += _PART * len(each)
            if size <= most:
                pending += [part for pair in each.items() for part in pair] if isinstance(each, Mapping) else each
        else:
            size += 1
    return size


def filtered_size(name: str, value: Any, arguments: Sequence[Any], most: int) -> int:
    """About the size of what a filter makes."""
    if _has_large_number(arguments):
        return most + 1
    if name not in SPELLING:
        return 0
    whole = size_of(value, most) + size_of(list(arguments), most)
    match name, value, arguments:
        case "replace", str(), [old, new, *_]:
            return _replaced(value, str(old), str(new))
        case "indent", str(), [width, *_]:
            return whole + (value.count("\n") + 1) * (len(width) if isinstance(width, str) else int(width))
        case "join", (list() | tuple() | str()), [str(between), *_]:
            return whole + len(value) * len(between)
        case "format", str(), _ if _WIDE.search(value):
            return most + 1
        case "tojson", _, _:
            return whole * (1 + max((each for each in arguments if type(each) is int), default=0))
    return whole


def called_size(function: Any, arguments: Sequence[Any], most: int) -> int:
    """About the size of what a function or a method makes."""
    if _has_large_number(arguments):
        return most + 1
    text = getattr(function, "__self__", None)
    if not isinstance(text, str):
        return 0
    match getattr(function, "__name__", ""), list(arguments):
        case "replace", [str(old), str(new), *_]:
            return _replaced(text, old, new)
        case "join", [several]:
            parts = several if isinstance(several, list | tuple | str) else []
            return size_of(parts, most) + len(parts) * len(text)
        case "expandtabs", found:
            return len(text) + text.count("\t") * (found[0] if found and type(found[0]) is int else 8)
        case ("format" | "format_map"), found:
            return most + 1 if _WIDE.search(text) else len(text) + size_of(found, most)
        case ("split" | "rsplit" | "splitlines"), _ if len(text) > _MOST:  # many small texts are large
            return most + 1
        case "translate", _:
            return most + 1
    return 0


def formatted_size(text: str, arguments: Any, most: int) -> int:
    """About the size of `text % given`."""
    return most + 1 if _WIDE.search(text) else len(text) + size_of(arguments, most)


def _replaced(text: str, old: str, new: str) -> int:
    return len(text) + text.count(old) * len(new)


def _has_large_number(arguments: Sequence[Any]) -> bool:
    return any(isinstance(each, int) and abs(each) > _MOST for each in arguments)
