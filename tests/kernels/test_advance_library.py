"""What a step leaves for the next one, against numpy: tokens, positions, slots, and texts that stand still."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof.kernels.rotary import advance

PAGE = 8


def state(seed: int, rows: int, columns: int) -> dict[str, Any]:
    """Texts at all kinds of places, some of them dead, some at the end of their pages."""
    rng = np.random.default_rng(seed)
    positions = rng.integers(0, columns * PAGE, rows, dtype=np.int32)
    slots = np.where(rng.random(rows) < 0.3, -1, rng.integers(0, 1000, rows)).astype(np.int32)
    return {
        "tokens": rng.integers(0, 99, rows, dtype=np.int32), "positions": positions, "used": positions + np.int32(1),
        "slots": slots, "draws": rng.integers(0, 1 << 40, rows), "chosen": rng.integers(-1, 99, rows, dtype=np.int32),
        "table": rng.integers(-1, 50, (rows, columns), dtype=np.int32),
    }  # fmt: skip


def wanted(given: dict[str, Any]) -> dict[str, Any]:
    found = {name: array.copy() for name, array in given.items()}
    for r in range(len(given["tokens"])):
        at = int(given["positions"][r]) + 1
        page = given["table"][r, at // PAGE] if at // PAGE < given["table"].shape[1] else -1
        found["slots"][r] = -1
        if given["slots"][r] >= 0 and page >= 0:
            found["tokens"][r] = max(given["chosen"][r], 0)
            found["positions"][r], found["used"][r] = at, at + 1
            found["draws"][r] += 1
            found["slots"][r] = page * PAGE + at % PAGE
    return found


def moved(given: dict[str, Any], backend: str) -> tuple[dict[str, Any], Any]:
    found = {name: array.copy() for name, array in given.items()}
    names = "tokens", "positions", "used", "slots", "draws", "chosen", "table"
    with tp.backend(backend):
        said = advance(*(found[name] for name in names), page=PAGE, out=np.full_like(given["chosen"], -7))
    return found, said


@pytest.mark.sweep(3)
@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
@pytest.mark.parametrize(("seed", "rows", "columns"), [(0, 40, 3), (1, 1, 1), (2, 8, 5), (3, 0, 2)])
def test_texts_move_on_as_numpy_says(backend: str, seed: int, rows: int, columns: int) -> None:
    given = state(seed, rows, columns)
    found, said = moved(given, backend)
    for name, array in wanted(given).items():
        np.testing.assert_array_equal(found[name], array, name)
    np.testing.assert_array_equal(said, given["chosen"])


def test_a_table_of_nothing_stops_all_texts() -> None:
    given = state(4, 5, 2) | {"table": np.zeros((5, 0), np.int32)}
    found, _ = moved(given, "cpu")
    assert (found["slots"] == -1).all()
    assert (found["positions"] == given["positions"]).all()
