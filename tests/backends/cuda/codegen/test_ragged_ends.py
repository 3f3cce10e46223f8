"""Where a tensor may end in the middle of what the copy engine moves at a time, the copy engine is not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Out, f32
from tileproof.backends.cuda.codegen.program import Request
from tileproof.backends.cuda.codegen.state import Target
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.types import Block, Op
from tileproof.language.kernel import Schedule
from tileproof.runtime.launch.launch import prepare


@tp.kernel
def move(y: Out[f32, "M N"], x: In[f32, "M N"], *, BM: int = 4, BN: int = 16) -> None:
    for m, n in tp.parallel(M=BM, N=BN):
        y[m, n] = x[m, n] * 2


def lowered(columns: int) -> list[Op]:
    """The operations of a launch on rows that begin at multiples of 64 elements."""
    y, x = (np.zeros((8, 64), np.float32)[:, :columns] for _ in range(2))
    proved, bound = prepare(move, (y, x), {})
    space = running.launch_space(proved.ready, bound.dimensions, lambda name: bound.tensors[name])
    addresses = dict.fromkeys(bound.tensors, 256)
    specialization = running.specialization_for(
        proved.ready, bound.tensors, addresses, bound.dimensions, space.programs
    )
    request = Request(proved.ready, specialization, Target("sm_90"), Schedule(), "move").lowered()
    (entry,) = decode(request.bytecode).entries
    return list(every(entry.body))


def every(block: Block) -> Any:
    for op in block.ops:
        yield op
        for region in op.regions:
            if region is not None:
                yield from every(region)


@pytest.mark.parametrize("columns", [13, 15, 17, 30])
def test_a_ragged_end_is_stored_element_by_element(columns: int) -> None:
    ops = lowered(columns)
    assert [op.name for op in ops if op.name.startswith("store")] == ["store_ptr_tko"]
    (load,) = (op for op in ops if op.name == "load_view_tko")
    assert load.attributes["hints"] == {"sm_90": {"allow_tma": False}}


@pytest.mark.parametrize("columns", [12, 16, 20, 32])
def test_an_end_at_a_multiple_of_16_bytes_is_stored_whole(columns: int) -> None:
    ops = lowered(columns)
    assert [op.name for op in ops if op.name.startswith("store")] == ["store_view_tko"]
    assert not any("allow_tma" in str(op.attributes.get("hints")) for op in ops)
