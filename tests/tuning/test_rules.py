"""Rules that strike candidates out, on figures and on what a kernel really compiles to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tuned_kernels import product_kernel

from tileproof.language.schedule import Schedule
from tileproof.tuning import Choice, Tunable, choices
from tileproof.tuning.compiling import built
from tileproof.tuning.rules import LIMITS, Facts, Machine, struck
from tileproof.tuning.tuner import tasks_of

MACHINE = Machine(132, LIMITS["sm_90"])
PLAIN = Facts("default", "a", 1000)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (Facts("one", "a", 1000), "compiles to the same as default"),
        (Facts("one", "b", 1000, shared=300_000), "needs 300000 bytes of shared memory"),
        (Facts("one", "b", 1000, registers=70_000), "needs 70000 registers"),
        (Facts("one", "b", 1000, 4, True, shared=100_000), "asks for 4 programs"),
        (Facts("one", "b", 1000, 4, True, registers=32_768), "asks for 4 programs"),
        (Facts("one", "b", 1000, 4, False, shared=100_000), None),
        (Facts("one", "b", 1000, spilled=100), "spills 100 bytes"),
        (Facts("one", "b", 1000, spilled=16), None),
        (Facts("one", "b", 1000, small_boxes=0.9), "by TMA in boxes under 1024"),
        (Facts("one", "b", 1000, small_boxes=0.2), None),
        (Facts("one", "b", 40), "has 40 blocks for 132 units"),
        (Facts("one", "b", 70), None),
        (Facts("one", "b", 1000), None),
    ],
)
def test_a_rule_says_why(one: Facts, said: str | None) -> None:
    found = struck([PLAIN, one], MACHINE, "default")
    assert set(found) == (set() if said is None else {"one"})
    assert said is None or said in found["one"]


@pytest.mark.parametrize("change", [{"spilled": 100}, {"small_boxes": 0.9}, {"blocks": 40}])
def test_where_none_is_better_all_are_tried(change: dict[str, float]) -> None:
    both = [replace(PLAIN, **change), replace(PLAIN, label="one", identity="b", **change)]  # type: ignore[arg-type]
    assert struck(both, MACHINE, "default") == {}


def test_the_default_always_stays() -> None:
    assert struck([replace(PLAIN, spilled=100), Facts("one", "b", 1000)], MACHINE, "default") == {}


def test_a_rule_looks_at_what_the_rules_before_it_left() -> None:
    few = [replace(PLAIN, blocks=30), Facts("small", "b", 40), Facts("full", "c", 200, spilled=200)]
    assert set(struck(few, MACHINE, "default")) == {"full"}


def product(*schedules: Schedule, tiles: str) -> Tunable:
    default = Choice(product_kernel, {"BM": 128, "BN": 128, "BK": 64})
    space = [*choices(product_kernel, tiles, *schedules)]
    return Tunable("product", (product_kernel,), lambda *_: default, lambda *_: space)


def reasons(tunable: Tunable, **sizes: int) -> dict[str, str]:
    tasks = tasks_of(tunable, [sizes], "bf16", "sm_90")
    (found,) = built(tasks, "sm_90", workers=2)
    return {**found.refused, **struck(found.facts, MACHINE, tasks[0].default.label)}


def test_large_persistent_tiles_spill_on_an_h100() -> None:
    found = reasons(product(Schedule(persistent=True), tiles="BM=256,BN=256,BK=64"), M=4096, N=4096, K=4096)
    assert list(found) == ["product_kernel BM=256 BN=256 BK=64 persistent"]
    assert "spills" in found["product_kernel BM=256 BN=256 BK=64 persistent"]


def test_few_large_tiles_leave_the_machine_idle() -> None:
    found = reasons(product(tiles="BM=64,BN=32,BK=64 BM=64,BN=256,BK=64"), M=64, N=8192, K=256)
    assert {label: "for 132 units" in reason for label, reason in found.items()} == {
        "product_kernel BM=64 BN=256 BK=64": True
    }


def test_small_boxes_are_seen_in_the_kernel() -> None:
    tasks = tasks_of(product(tiles="BM=16,BN=16,BK=16"), [{"M": 512, "N": 512, "K": 512}], "bf16", "sm_90")
    (found,) = built(tasks, "sm_90", workers=2)
    by_label = {each.label: each.small_boxes for each in found.facts}
    assert by_label["product_kernel BM=128 BN=128 BK=64"] == 0.0
    assert by_label["product_kernel BM=16 BN=16 BK=16"] == 1.0


def test_the_cpu_pays_no_attention_to_schedules() -> None:
    tunable = product(Schedule(), Schedule(persistent=True), tiles="BM=64,BN=64,BK=64")
    tasks = tasks_of(tunable, [{"M": 64, "N": 64, "K": 64}], "f32", "cpu")
    (found,) = built(tasks, "cpu")
    assert struck(found.facts, Machine(1), tasks[0].default.label) == {
        "product_kernel BM=64 BN=64 BK=64 persistent": "compiles to the same as product_kernel BM=64 BN=64 BK=64"
    }
