"""The GPU book without a GPU: what it launches, that its checks find what is wrong, and how a run goes."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.gpu_peers import Tools  # noqa: E402
from torch_standing_in import standing_in  # noqa: E402

from benchmarks import gpu, gpu_chain, gpu_launches, gpu_report, gpu_row, gpu_rows, gpu_timing, recording  # noqa: E402
from tileproof import kernels  # noqa: E402
from tileproof.runtime.ahead import Launch, plan_launch  # noqa: E402

ROWS = gpu_rows.rows()
SMALL = gpu_rows.rows(True)
ONE_OF_EACH = {row.name.split()[0] + (row.name.split()[1] if row.group == "attention" else ""): row.name
               for row in reversed(ROWS.values())}  # fmt: skip


# What there is.


def test_the_matmul_table_has_all_its_products() -> None:
    table = [row for row in ROWS.values() if row.group in ("matmul", "linear")]
    assert len(table) == 68
    assert {row.size for row in table if row.group == "matmul"} == {"2048^3", "4096^3", "8192^3", "16384 x 8192 x 8192"}
    assert ROWS["linear 32B gate_up 16"].arrays["w"].shape == (51200, 5120)


def test_every_row_has_a_small_one_of_its_kind() -> None:
    assert {row.group for row in SMALL.values()} == {row.group for row in ROWS.values()}
    assert {name.split()[0] for name in SMALL} == {name.split()[0] for name in ROWS}


def test_a_row_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(SystemExit, match="no row has sofmax in its name; there are matmul, linear"):
        gpu_rows.names(["sofmax"])
    assert gpu_rows.names(["4B o 16", "chain"]) == ["linear 4B o 16", "chain 4B", "chain 32B"]
    assert gpu_rows.names()[:2] == ["matmul 2048", "matmul 4096"]
    assert gpu_rows.names(["decode"])[:2] == ["decode 1 x 8192", "decode 8 x 8192"]


def test_weights_do_not_stay_in_the_cache() -> None:
    for row in ROWS.values():
        assert row.sets * row.bytes >= 150 << 20, row.name
    assert ROWS["matmul 8192"].sets == 1


# Launches.


def test_stand_ins_lie_as_tensors_do_and_index_tensors_hold_positions() -> None:
    made = gpu_launches.stand_ins(ROWS["paged 8 x 8192"])
    assert made.k.shape == (1024, 8, 64, 128)
    assert made.k.dtype.name == "bfloat16"
    assert sorted(made.table.reshape(-1).tolist()) == list(range(1024))
    assert made.k.__array_interface__["data"][0] % 256 == 0


@pytest.mark.parametrize("name", ONE_OF_EACH.values())
def test_a_row_is_proved_for_a_gpu_and_lowers(name: str) -> None:
    found = gpu_launches.launches_of_row(name)
    assert found
    for kernel, args, constants in found:
        plan = plan_launch(Launch(name, kernel, args, constants), ["sm_90"])
        assert plan.variants[0].request().lowered().bytecode.startswith(b"\x7fTileIR")


def test_the_chain_launches_every_product_and_some_early() -> None:
    found = gpu_launches.launches_of_row("chain 4B")
    assert len(found) == 2 * (4 * 2 + 1)
    shapes = {args[1].shape for _, args, _ in found}
    assert shapes == {(6144, 2560), (2560, 4096), (19456, 2560), (2560, 9728), (151936, 2560)}
    assert {bool(kernel.schedule and kernel.schedule.dependent) for kernel, *_ in found} == {False, True}
    assert len(gpu_chain.shapes("32B")) == 64 * 4 + 1


def test_launches_for_the_bundle_have_names_of_their_own() -> None:
    names = [name for name, *_ in gpu_launches.launches(["add", "rope"])]
    assert any(name.startswith("add: add_kernel BN=") for name in names)
    assert any(name.startswith("rope: copy_index") for name in names)


def test_recording_lets_go() -> None:
    found: list[Any] = []
    x, y = np.ones(8, np.float32), np.empty(8, np.float32)
    with recording.recorded(found, runs=False):
        kernels.add(x, x, out=y)
    kernels.add(x, x, out=y)
    assert len(found) == 1
    assert y.tolist() == [2.0] * 8


# Limits.


def test_memory_limits_vectors_and_arithmetic_limits_matrices() -> None:
    assert ROWS["matvec 4B qkv"].is_streaming
    assert ROWS["matvec 4B qkv"].limit == pytest.approx(2 * (6144 * 2560 + 6144 + 2560) / 4.8e12)
    assert not ROWS["matmul 2048"].is_streaming
    assert ROWS["matmul 8192"].limit == pytest.approx(2 * 8192**3 / 989e12)


def test_a_causal_mask_halves_the_operations() -> None:
    assert ROWS["attention causal 8192"].operations == 4 * 32 * 128 * 8192**2 / 2
    assert ROWS["attention full 4096"].operations == 4 * 4 * 32 * 128 * 4096**2


# Results, on the CPU, with the checks that judge those of a GPU.


@pytest.mark.parametrize("name", SMALL)
def test_a_function_and_its_peers_pass_the_check_and_a_wrong_result_does_not(name: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    row, tools = SMALL[name], Tools(torch, without=["torch.compile"])
    args = gpu_row.on_torch(row, torch, "cpu")
    assert gpu_row.problem_of(row, partial(row.call, kernels, args), args, torch) == ""
    for peer in tools.of(row):
        if peer.name not in ("cuDNN", "flash", "torch histc"):  # which are for GPUs
            assert gpu_row.problem_of(row, partial(peer.way, tools, args), args, torch) == "", peer.name
    if any(each.is_output for each in row.arrays.values()):
        assert "WRONG" in gpu_row.problem_of(row, lambda: None, args, torch)


def test_a_result_that_is_a_little_off_is_wrong() -> None:
    torch = pytest.importorskip("torch")
    row = SMALL["softmax 256"]
    args = gpu_row.on_torch(row, torch, "cpu")

    def off() -> Any:
        return kernels.softmax(args.x) * 1.05

    assert gpu_row.problem_of(row, off, args, torch).startswith("WRONG: relative error 5")
    assert "its shape is" in gpu_row.problem_of(row, lambda: args.x[:2], args, torch)


# A run, with the CPU in place of the GPU. Times are not looked at.


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> gpu.Session:
    torch = standing_in(pytest.importorskip("torch"))
    monkeypatch.setattr(gpu_timing, "_WARM", 0.0)
    monkeypatch.setattr(gpu_timing, "_TURN", 1e-4)
    return gpu.Session(torch, Tools(torch, without=["torch.compile"]), 2)


def quick(name: str) -> gpu_row.Row:
    row = SMALL[name]
    return replace(row, rotated=2 * row.bytes, has_twin=False)


def test_a_row_is_timed_with_its_peers_and_yardsticks(session: gpu.Session) -> None:
    line = gpu.run_row(quick("rms_norm 256"), session)
    assert line.problem == ""
    assert line.tileproof is not None
    assert [len(each.rounds) for each in (line.tileproof, *line.everybody, *line.yardsticks.values())] == [2, 2, 2]
    assert line.how[0].startswith("rms_norm_kernel ")
    assert line.absent["torch.compile"] == "left out"
    assert "tileproof replayed from a tp.Graph" in line.notes


def test_a_function_that_is_missing_or_wrong_is_reported_and_not_timed(session: gpu.Session) -> None:
    gone = gpu.run_row(replace(quick("add"), call=lambda tk, a: tk.no_such_function(a.x)), session)
    assert gone.verdict.startswith("FAILED: AttributeError")
    wrong = gpu.run_row(replace(quick("add"), call=lambda tk, a: tk.mul(a.x, a.y, out=a.out)), session)
    assert wrong.verdict.startswith("WRONG: relative error")
    assert (gone.tileproof, wrong.tileproof) == (None, None)


def test_a_peer_that_fails_leaves_the_others(session: gpu.Session) -> None:
    row = quick("add")
    broken = gpu_row.Peer("torch", "broken", lambda t, a: t.torch.no_such_function(a.x))
    line = gpu.run_row(replace(row, peers=(broken, *row.peers)), session)
    assert [each.name for each in line.everybody] == ["torch"]
    assert any(note.startswith("broken: FAILED") for note in line.notes)


def test_what_was_found_is_on_disk_after_every_row(
    session: gpu.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "rows", lambda: {name: quick(name) for name in ("add", "mul")})
    seen: list[int] = []
    save = gpu_report.save
    monkeypatch.setattr(gpu_report, "save", lambda to, found: seen.append(len(found.lines)) or save(to, found))
    lines = gpu._run(["add", "mul"], session, tmp_path, minutes=None)
    assert seen == [1, 2]
    assert [line.name for line in gpu_report.kept(tmp_path).lines] == ["add", "mul"] == [line.name for line in lines]


def test_no_row_begins_after_the_time_is_up(session: gpu.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "rows", lambda: {"add": quick("add")})
    assert gpu._run(["add"], session, None, minutes=-1.0) == []


def test_the_chain_is_checked_and_timed_in_both_forms(
    session: gpu.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"tiny": {"qkv": (96, 64), "o": (64, 64), "gate_up": (128, 64), "down": (64, 64)}}
    monkeypatch.setattr(gpu_chain, "MODELS", small)
    monkeypatch.setattr(gpu_chain, "HEADS", {"tiny": (160, 64)})
    monkeypatch.setattr(gpu_chain, "LAYERS", {"tiny": 2})
    monkeypatch.setattr(gpu_chain, "GOALS", {"tiny": 1.0})
    line = gpu_chain.measured("tiny", session.torch, 2)
    assert line.problem == ""
    assert [each.name for each in line.forms] == ["plain launches", "dependent launches"]
    assert line.judged(line.goals[0]).startswith("met: ")
    assert [each.name for each in line.everybody] == ["cuBLAS"]
