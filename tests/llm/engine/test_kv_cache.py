"""Size of the KV cache: as requested, or a share of free memory, and never too small for one sequence."""

from __future__ import annotations

import pytest

from support.checkpoints import tiny
from tileproof.diagnostics.codes import Code
from tileproof.llm.engine.kv_cache import page_bytes, page_count
from tileproof.llm.errors import ModelError
from tileproof.llm.step.ir import PAGE

CONFIG = tiny()
SIZE = page_bytes(CONFIG)


def rejected(longest: int, memory: int | None, free: int) -> None:
    with pytest.raises(ModelError) as caught:
        page_count(CONFIG, longest, memory, 4, free)
    assert caught.value.diagnostics[0].code is Code.MODEL_MEMORY


def test_memory_that_is_given_is_filled_with_pages() -> None:
    assert page_count(CONFIG, 2 * PAGE, 5 * SIZE + 1, 4, 0) == 5
    assert page_count(CONFIG, PAGE + 1, 2 * SIZE, 4, 0) == 2
    rejected(PAGE + 1, 2 * SIZE - 1, 100 * SIZE)


def test_of_what_is_free_a_share_is_taken_and_enough_for_one_sequence() -> None:
    assert page_count(CONFIG, PAGE + 1, None, 4, 100 * SIZE) == 8
    assert page_count(CONFIG, PAGE, None, 100, 100 * SIZE) == 25
    assert page_count(CONFIG, PAGE, None, 100, 100 * SIZE, is_gpu=True) == 85
    assert page_count(CONFIG, PAGE + 1, None, 4, 2 * SIZE) == 2
    rejected(PAGE + 1, None, 2 * SIZE - 1)
