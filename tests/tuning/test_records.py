"""Records: written and read, chosen by nearness, refused when stale."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tileproof as tp
from samples.tuned_kernels import DOUBLE, SCALED, double_by_adding_kernel, double_kernel, scaled_kernel
from tileproof.tuning import Choice, Tunable, choices, records
from tileproof.tuning.provenance import Provenance, instruction_set, recorded_target
from tileproof.tuning.records import FORMAT, SHIPPED, Entry, Record, RecordError, file_of, read, read_as_it_is, write

TARGET = "sm_90"
FAST = Choice(double_kernel, {"B": 256})
OTHER = Choice(double_by_adding_kernel, {"B": 128})


def origin(tunable: Tunable = DOUBLE, **changed: str) -> Provenance:
    return replace(Provenance.of(tunable.kernels, TARGET, "a GPU"), **changed)


def entry(n: int, choice: Choice = FAST, element: str = "bf16") -> Entry:
    return Entry.of(element, {"N": n}, choice, 1e-3, 2e-3)


def kept(folder: Path, *entries: Entry, tunable: Tunable = DOUBLE, **changed: str) -> Path:
    path = file_of(folder, tunable.name, TARGET)
    write(path, Record(tunable.name, TARGET, origin(tunable, **changed), entries))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(records.VARIABLE, str(tmp_path))
    return tmp_path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    laid = Choice(double_kernel, {"B": 128}, tp.Schedule(persistent=True, group=8, tma=False))
    path = kept(tmp_path, entry(100), entry(64, laid, "f32"))
    record = read(path, DOUBLE.kernels)
    assert record.entries == (entry(100), entry(64, laid, "f32"))
    assert record.provenance == origin()
    assert record.entries[1].schedule == {"persistent": True, "group": 8, "tma": False}
    assert record.entries[1].choice(DOUBLE.kernels) == laid


def test_a_file_has_a_line_for_each_shape_in_order(tmp_path: Path) -> None:
    path = kept(tmp_path, entry(100), entry(64))
    lines = [line for line in path.read_text().splitlines() if '"sizes"' in line]
    assert [json.loads(line.rstrip(","))["sizes"]["N"] for line in lines] == [64, 100]
    assert json.loads(path.read_text())["format"] == FORMAT


def test_of_entries_of_the_same_sizes_the_last_one_counts(tmp_path: Path) -> None:
    path = kept(tmp_path, entry(64), replace(entry(128), note="put in by hand"), entry(64, OTHER))
    content = read(path, DOUBLE.kernels).entries
    assert [(each.kernel, each.note) for each in content] == [
        ("double_by_adding_kernel", ""), ("double_kernel", "put in by hand")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"source": "other"}, "the kernels of `double` have changed"),
        ({"assembler": "1.2.3"}, "with the compiler 1.2.3"),
    ],
)
def test_a_stale_file_is_refused(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    path = kept(tmp_path, entry(64), **changed)
    with pytest.raises(RecordError, match="is stale") as raised:
        read(path, DOUBLE.kernels)
    assert str(path) in str(raised.value)
    assert message in str(raised.value)
    assert "tileproof tune double" in str(raised.value)


def test_a_patch_of_the_compiler_makes_nothing_stale(tmp_path: Path) -> None:
    major, minor, *_ = origin().assembler.split(".")
    path = kept(tmp_path, entry(64), assembler=f"{major}.{minor}.99999")
    assert len(read(path, DOUBLE.kernels).entries) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged"), ("[]", "is damaged"), ("{}", "is damaged"), ('{"format": 99}', "has format 99"),
        ('{"format": 1, "tunable": "double", "target": "sm_90", "provenance": {}, "entries": []}', "is damaged"),
        ('{"format": 1, "tunable": "double", "target": "cpu", "entries": [{"schedule": {"warps": 3}}]}', "is damaged"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = file_of(tmp_path, "double", TARGET)
    path.write_text(text)
    with pytest.raises(RecordError, match=message):
        read_as_it_is(path)


def test_a_file_under_the_name_of_another_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path, entry(64))
    with pytest.raises(RecordError, match="right name"):
        read(path.rename(file_of(tmp_path, "double", "sm_80")), DOUBLE.kernels)


def test_a_kernel_that_is_no_more_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path, replace(entry(64), kernel="gone_kernel"))
    with pytest.raises(RecordError, match="`gone_kernel`, no kernel of `double`"):
        read(path, DOUBLE.kernels)


def test_a_launch_falls_back_to_the_default_with_one_warning(folder: Path) -> None:
    path = kept(folder, entry(64), source="other")
    with pytest.warns(RuntimeWarning, match="stale") as caught:
        assert DOUBLE.choose(TARGET, "bf16", {"N": 64}) == DOUBLE.default({"N": 64}, TARGET)
    assert len(caught) == 1
    assert str(path) in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DOUBLE.choose(TARGET, "bf16", {"N": 65}) == DOUBLE.default({"N": 65}, TARGET)


def test_a_launch_uses_a_record(folder: Path) -> None:
    kept(folder, entry(64))
    assert DOUBLE.choose(TARGET, "bf16", {"N": 64}) == FAST
    assert DOUBLE.choose(TARGET, "bf16", {"N": 64}).launched is FAST.launched
    assert DOUBLE.choose(TARGET, "f32", {"N": 64}) == DOUBLE.default({"N": 64}, TARGET)
    assert DOUBLE.choose("sm_80", "bf16", {"N": 64}) == DOUBLE.default({"N": 64}, "sm_80")


@pytest.mark.parametrize(
    ("tuned", "asked", "chosen"),
    [
        ([100, 120], 100, 100),  # its own sizes
        ([70, 120], 100, 120),  # the nearest of its class, 128
        ([60, 200], 100, 60),  # no entry of its class: the nearest of those beside it
        ([200, 300], 100, 200),
        ([300], 100, None),  # 512 is two classes away
        ([16], 100, None),
        ([], 100, None),
    ],
)
def test_the_nearest_class_is_chosen(folder: Path, tuned: list[int], asked: int, chosen: int | None) -> None:
    def choice(n: int) -> Choice:
        return Choice(double_kernel, {"B": n})

    tunable = Tunable(
        "double", DOUBLE.kernels, DOUBLE.default, lambda sizes, target: [choice(n) for n in (16, 60, 70, *tuned)]
    )
    if tuned:
        kept(folder, *(entry(n, choice(n)) for n in tuned), tunable=tunable)
    expected = DOUBLE.default({"N": asked}, TARGET) if chosen is None else choice(chosen)
    assert tunable.choose(TARGET, "bf16", {"N": asked}) == expected


def test_exact_dimensions_have_to_be_equal(folder: Path) -> None:
    kept(folder, Entry.of("bf16", {"N": 100}, Choice(scaled_kernel, {"B": 128}), 1.0, 2.0), tunable=SCALED)
    assert SCALED.choose(TARGET, "bf16", {"N": 100}).constants == {"B": 128}
    assert SCALED.choose(TARGET, "bf16", {"N": 101}).constants == {"B": 64}


def test_a_choice_that_is_not_worth_a_try_here_is_not_taken(folder: Path) -> None:
    def space(sizes: Any, target: str) -> Any:
        return choices(double_kernel, "B=256" if sizes["N"] % 2 == 0 else "B=128")

    tunable = Tunable("double", DOUBLE.kernels, DOUBLE.default, space)
    kept(folder, entry(64), tunable=tunable)
    assert tunable.choose(TARGET, "bf16", {"N": 62}) == FAST
    assert tunable.choose(TARGET, "bf16", {"N": 61}) == tunable.default({"N": 61}, TARGET)


def test_records_of_the_user_win_over_those_that_are_shipped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    monkeypatch.setattr(records, "SHIPPED", shipped)
    kept(shipped, entry(64, OTHER), entry(4096, OTHER))
    kept(folder, entry(64))
    assert DOUBLE.choose(TARGET, "bf16", {"N": 64}) == FAST
    assert DOUBLE.choose(TARGET, "bf16", {"N": 4096}) == OTHER


def test_the_name_of_the_cpu_says_its_instructions() -> None:
    from tileproof.backends.cpu.target import host

    assert recorded_target("cpu") == instruction_set(host())
    assert recorded_target("cpu").startswith("cpu-")
    assert recorded_target("sm_90") == "sm_90"


def test_shipped_records_are_fresh() -> None:
    from tileproof.cli.tune import library

    known = library()
    for path in sorted(SHIPPED.glob("*.json")):
        record = read_as_it_is(path)
        assert read(path, known[record.tunable].kernels).entries
