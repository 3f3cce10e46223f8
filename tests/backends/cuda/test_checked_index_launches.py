"""The launches of checked copies as a GPU would run them: the same results, and code that the assembler takes."""

from __future__ import annotations

import pytest

from oracles.cuda_programs import assert_simulated, lowered
from oracles.tile_ir_operations import has_assembler
from samples.assembler_modules import compile_many
from samples.index_launches import checked_indices

LAUNCHES = checked_indices()
QUICK = [name for name in LAUNCHES if " in a row " in name or " in long rows int32" in name]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", QUICK)
def test_a_launch_of_a_copy_does_on_a_gpu_what_the_interpreter_does(name: str) -> None:
    assert assert_simulated(LAUNCHES[name]) == []


@pytest.mark.slow
@pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
def test_launches_of_copies_assemble_and_report_by_themselves_alone() -> None:
    variants = [lowered(*LAUNCHES[name]()).variant for name in LAUNCHES if " in a row int32 " in name]
    distinct = {variant.key: variant.request() for variant in variants}
    assert "" not in distinct, "a bundle could not hold them"
    for request, code in compile_many(list(distinct.values()), workers=2):
        assert not code.has_report, "nobody waits for a copy to end"
        assert len(code.stages) == (2 if request.kernel.name == "note_places" else 1)
