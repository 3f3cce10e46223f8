"""Every launch that the tests of this folder make, so that a tool can compile for a machine that cannot.

Arrays are numpy arrays that stand for device arrays; `support/device_arrays.py` makes the copies that lie on a GPU as
they lie here, so what the code relies on is the same: strides, and addresses up to 16 bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parents[1]
# Tools import this file too, and they do not know where tests find what they import.
if str(_TESTS) not in sys.path:
    sys.path.append(str(_TESTS))

import tileproof as tp  # noqa: E402
from samples.chain_launches import chains  # noqa: E402
from samples.check_launches import checks  # noqa: E402
from samples.edge_launches import edges  # noqa: E402
from samples.example_launches import examples  # noqa: E402
from samples.host_launches import in_flight  # noqa: E402
from samples.index_launches import checked_indices  # noqa: E402
from samples.launch import Make  # noqa: E402
from samples.layout_launches import large, layouts, schedules  # noqa: E402
from samples.library_launches import library  # noqa: E402
from samples.limit_launches import limits  # noqa: E402
from samples.operation_launches import axis_operations, corpus, element_operations, movements  # noqa: E402
from samples.sum_launches import sums  # noqa: E402
from samples.torch_launches import torch_operators  # noqa: E402


def groups() -> dict[str, dict[str, Make]]:
    """All launches by what they try, and by name."""
    return {
        "examples": examples(),
        "elements": element_operations(),
        "axes": axis_operations(),
        "movements": movements(),
        "corpus": corpus(),
        "layouts": layouts(),
        "edges": edges(),
        "limits": limits(),
        "large": large(),
        "schedules": schedules(),
        "sums": sums(),
        "checks": checks(),
        "checked indices": checked_indices(),
        "chains": chains(),
        "torch": torch_operators(),
        "in flight": in_flight(),
        "library": library(),
    }


def launches() -> Iterator[tuple[str, tp.Kernel, Sequence[Any], dict[str, Any]]]:
    """The name, kernel, arguments and constants of each."""
    for group in groups().values():
        for name, make in group.items():
            yield name, *make()
