"""Every launch that the tests of this folder make, so that a tool can compile for a machine that cannot.

Arrays are numpy arrays that stand for device arrays; `support/device_arrays.py` makes the copies that lie on a GPU as
they lie here, so what the code relies on is the same: strides, and addresses up to 16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import launching  # first: it knows where the others lie
from example_launches import examples
from operation_launches import axis_operations, corpus, element_operations, movements

import tileproof as tp


def groups() -> dict[str, dict[str, launching.Make]]:
    """All launches by what they try, and by name."""
    return {
        "examples": examples(),
        "elements": element_operations(),
        "axes": axis_operations(),
        "movements": movements(),
        "corpus": corpus(),
    }


def launches() -> Iterator[tuple[str, tp.Kernel, Sequence[Any], dict[str, Any]]]:
    """The name, kernel, arguments and constants of each."""
    for group in groups().values():
        for name, make in group.items():
            yield name, *make()
