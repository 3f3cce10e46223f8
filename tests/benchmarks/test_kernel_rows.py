"""Rows on both devices without a GPU: what they launch, that checks find what is wrong, and how a run goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.harness import gpu_clock, recording, result, row
from benchmarks.harness.device import cpu_slug
from benchmarks.harness.row import Peer, Place, Row
from benchmarks.kernels import bench, launches
from benchmarks.kernels.peers import Tools
from benchmarks.kernels.rows import names, rows

from oracles.torch_stand_in import standing_in
from tileproof import kernels
from tileproof.runtime.launch.ahead_of_time import Launch, plan_launch

ROOT = Path(__file__).resolve().parents[2]
ROWS = rows()
ON_CPU = rows(Place("cpu", small=True))
ON_GPU = rows(Place("gpu", small=True))
ONE_OF_EACH = {each.name.split()[0] + (each.name.split()[1] if each.group == "attention" else ""): each.name
               for each in reversed(ROWS.values())}  # fmt: skip


# What there is.


def test_the_matmul_table_has_all_its_products() -> None:
    table = [each for each in ROWS.values() if each.group in ("matmul", "linear")]
    assert len(table) == 68
    squares = {each.size for each in table if each.group == "matmul"}
    assert squares == {"2048^3", "4096^3", "8192^3", "16384 x 8192 x 8192"}
    assert ROWS["linear 32B gate_up 16"].arrays["w"].shape == (51200, 5120)


def test_every_row_has_a_small_one_of_its_kind() -> None:
    for place, small in (("gpu", ON_GPU), ("cpu", ON_CPU)):
        large = rows(Place(place))
        assert {each.group for each in small.values()} == {each.group for each in large.values()}
        assert {name.split()[0] for name in small} == {name.split()[0] for name in large}


def test_a_row_that_does_not_exist_is_rejected_by_name() -> None:
    with pytest.raises(SystemExit, match="no row has sofmax in its name; there are matmul, linear"):
        names(["sofmax"])
    assert names(["4B o 16", "chain"]) == ["linear 4B o 16", "chain 4B", "chain 32B"]
    assert names()[:2] == ["matmul 2048", "matmul 4096"]
    assert names(["decode"])[:2] == ["decode 1 x 8192", "decode 8 x 8192"]
    assert names(["matmul_int8"], Place("cpu")) == ["matmul int8"]


def test_weights_do_not_stay_in_the_cache() -> None:
    for each in ROWS.values():
        assert each.is_host or each.sets(each.rotated) * each.bytes >= 150 << 20, each.name
    assert ROWS["matmul 8192"].sets(150 << 20) == 1


def test_memory_limits_vectors_and_arithmetic_limits_matrices() -> None:
    assert ROWS["matvec 4B qkv"].limit == pytest.approx(2 * (6144 * 2560 + 6144 + 2560) / 4.8e12)
    assert ROWS["matmul 8192"].limit == pytest.approx(2 * 8192**3 / 989e12)
    assert ROWS["attention causal 8192"].operations == 4 * 32 * 128 * 8192**2 / 2
    assert ROWS["attention full 4096"].operations == 4 * 4 * 32 * 128 * 4096**2


# Launches.


def test_stand_ins_lie_as_tensors_do_and_index_tensors_hold_positions() -> None:
    result = row.stand_ins(ROWS["paged 8 x 8192"])
    assert result.k.shape == (1024, 8, 64, 128)
    assert result.k.dtype.name == "bfloat16"
    assert sorted(result.table.reshape(-1).tolist()) == list(range(1024))
    assert result.k.__array_interface__["data"][0] % 256 == 0


@pytest.mark.parametrize("name", ONE_OF_EACH.values())
def test_a_row_is_proved_for_a_gpu_and_lowers(name: str) -> None:
    result = launches.launches_of_row(name)
    assert result
    for kernel, args, constants in result:
        plan = plan_launch(Launch(name, kernel, args, constants), ["sm_90"])
        assert plan.variants[0].request().lowered().bytecode.startswith(b"\x7fTileIR")


def test_the_chain_launches_every_product_and_some_early() -> None:
    result = launches.launches_of_row("chain 4B")
    shapes = {args[1].shape for _, args, _ in result}
    assert shapes == {(6144, 2560), (2560, 4096), (19456, 2560), (2560, 9728), (151936, 2560)}
    assert {bool(kernel.schedule and kernel.schedule.dependent) for kernel, *_ in result} == {False, True}
    assert ROWS["chain 32B"].operations == sum(2 * n * k for n, k in 64 * [
        (10240, 5120), (5120, 8192), (51200, 5120), (5120, 25600)] + [(151936, 5120)])  # fmt: skip


def test_launches_for_the_bundle_have_names_of_their_own() -> None:
    results = [name for name, *_ in launches.launches(["add", "rope"])]
    assert any(name.startswith("add: add_kernel BN=") for name in results)
    assert any(name.startswith("rope: copy_index") for name in results)


def test_recording_lets_go() -> None:
    results: list[Any] = []
    x, y = np.ones(8, np.float32), np.empty(8, np.float32)
    with recording.recorded(results, runs=False):
        kernels.add(x, x, out=y)
    kernels.add(x, x, out=y)
    assert len(results) == 1
    assert y.tolist() == [2.0] * 8


# Results, with the checks that judge those of a run.


@pytest.mark.parametrize("name", ON_CPU)
def test_a_function_and_numpy_pass_the_check_and_a_wrong_result_does_not(name: str) -> None:
    one, tools = ON_CPU[name], Tools(None, device="cpu")
    args = row.on_numpy(one)
    assert row.problem_of(one, partial(one.call, kernels, args), args, np) == ""
    for peer in tools.of(one):
        assert row.problem_of(one, partial(peer.way, tools, args), args, np) == "", peer.name
    if any(array.is_output for array in one.arrays.values()):
        assert "WRONG" in row.problem_of(one, lambda: None, args, np)


@pytest.mark.parametrize("name", ON_GPU)
def test_a_function_and_its_peers_pass_the_check_of_a_gpu(name: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    one, tools = ON_GPU[name], Tools(torch, without=["torch.compile"])
    args = row.on_torch(one, torch, "cpu")
    for form in one.forms.values() or (one.call,):
        assert row.problem_of(one, partial(form, kernels, args), args, torch) == ""
    for peer in tools.of(one):
        if peer.name not in ("cuDNN", "flash", "Triton", "torch histc"):  # which are for GPUs
            assert row.problem_of(one, partial(peer.way, tools, args), args, torch) == "", peer.name
    if any(array.is_output for array in one.arrays.values()):
        assert "WRONG" in row.problem_of(one, lambda: None, args, torch)


def test_a_result_that_is_a_little_off_is_wrong() -> None:
    one = ON_CPU["softmax"]
    args = row.on_numpy(one)
    assert row.problem_of(one, lambda: kernels.softmax(args.x) * 1.05, args, np).startswith("WRONG: relative error 5")
    assert "its shape is" in row.problem_of(replace(one, along=()), lambda: args.x[:2], args, np)


# A run on a GPU, with the CPU in its place. Times are not looked at.


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> bench.Gpu:
    torch = standing_in(pytest.importorskip("torch"))
    monkeypatch.setattr(gpu_clock, "_WARM", 0.0)
    monkeypatch.setattr(gpu_clock, "_TURN", 1e-4)
    monkeypatch.setattr(bench.Gpu, "machine", lambda self: {"GPU": "NVIDIA H200"})
    return bench.Gpu(torch, Tools(torch, without=["torch.compile"]), 2)


def quick(name: str) -> Row:
    one = ON_GPU[name]
    return replace(one, rotated=2 * one.bytes, has_twin=False)


def test_a_row_is_timed_with_its_peers_and_yardsticks(gpu: bench.Gpu) -> None:
    (line,) = bench.run_row(quick("rms_norm 256"), gpu)
    assert line.problem == ""
    assert line.tileproof is not None
    assert [len(each.rounds) for each in (line.tileproof, *line.everybody, *line.yardsticks.values())] == [2, 2, 2]
    assert line.how[0].startswith("rms_norm_kernel ")
    assert line.absent["torch.compile"] == "left out"
    assert "tileproof replayed from a tp.Graph" in line.notes


def test_the_chain_is_timed_in_both_forms_and_the_faster_counts(gpu: bench.Gpu) -> None:
    (line,) = bench.run_row(ON_GPU["chain 4B"], gpu)
    assert line.problem == ""
    assert line.tileproof is not None
    assert [form.name for form in line.forms] == ["plain launches", "dependent launches"]
    assert line.tileproof.value == min(form.value for form in line.forms)
    assert [each.name for each in line.everybody] == ["cuBLAS"]


def test_of_a_launch_the_hosts_time_is_taken(gpu: bench.Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_LAUNCHES", 20)
    monkeypatch.setattr(bench, "_BATCH", 5)
    (line,) = bench.run_row(ON_GPU["launch"], gpu)
    assert (line.problem, line.limit, [*line.peers], [*line.yardsticks]) == ("", None, ["torch"], ["Python call"])
    assert line.tileproof is not None
    assert len(line.tileproof.rounds) == 4
    assert line.goals[0].wanted("s") == "<= 0.60 x torch"


def test_a_function_that_is_missing_or_wrong_is_reported_and_not_timed(gpu: bench.Gpu) -> None:
    (gone,) = bench.run_row(replace(quick("add"), call=lambda tk, a: tk.no_such_function(a.x)), gpu)
    assert gone.verdict.startswith("FAILED: AttributeError")
    (wrong,) = bench.run_row(replace(quick("add"), call=lambda tk, a: tk.mul(a.x, a.y, out=a.out)), gpu)
    assert wrong.verdict.startswith("WRONG: relative error")
    assert (gone.tileproof, wrong.tileproof) == (None, None)


def test_a_peer_that_fails_leaves_the_others(gpu: bench.Gpu) -> None:
    one = quick("add")
    broken = Peer("torch", "broken", lambda t, a: t.torch.no_such_function(a.x))
    (line,) = bench.run_row(replace(one, peers=(*one.peers, broken)), gpu)
    assert [each.name for each in line.everybody] == ["torch"]
    assert any(note.startswith("broken: FAILED") for note in line.notes)


def test_what_was_found_is_on_disk_after_every_row(
    gpu: bench.Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    save = result.save
    monkeypatch.setattr(result, "save", lambda to, result: seen.append(len(result.lines)) or save(to, result))
    wanted = {name: quick(name) for name in ("add", "mul")}
    lines = bench.run_rows(wanted, gpu, tmp_path / "gpu.json")
    assert seen == [1, 2]
    kept = result.kept(tmp_path / "gpu.json")
    assert [line.name for line in kept.lines] == ["add", "mul"] == [line.name for line in lines]
    assert bench.run_rows(wanted, gpu, None, minutes=-1.0) == []


# A run on the CPU, in a process of its own where torch cannot be imported.

CHOSEN = ("saxpy", "rms_norm", "matvec", "matmul_int8", "launch")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a run printed, and the folder it saved into, where people had written something."""
    folder = tmp_path_factory.mktemp("bench")
    saved = folder / "results" / cpu_slug()
    saved.mkdir(parents=True)
    (saved / "tried.md").write_text("# cpu\n\nNothing yet.\n", encoding="utf-8")
    (folder / "torch.py").write_text("raise ImportError\n", encoding="utf-8")
    options = ("--small", "--seconds", "0", "--threads", "1", "2", "--save", str(saved.parent), "--rows", *CHOSEN)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "cpu", *options], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, saved


def test_every_row_has_a_line_for_each_number_of_threads(made: tuple[str, Path]) -> None:
    rows = json.loads((made[1] / "cpu.json").read_text(encoding="utf-8"))["rows"]
    wanted = names(CHOSEN, Place("cpu", small=True))
    assert [(each["name"], each["threads"]) for each in rows] == [(name, count) for name in wanted for count in (1, 2)]
    for each in rows:
        assert "problem" not in each
        assert "torch" not in each.get("peers", {})
        assert each["of_limit"] > 0
        assert each["how"]
        assert set(each["facts"]) == {"front end + proof + lowering + LLVM", "load"}
        assert sum(line.startswith(each["name"]) for line in made[0].splitlines()) >= 2


def test_the_page_of_the_machine_shows_them(made: tuple[str, Path]) -> None:
    page = (made[1] / "README.md").read_text(encoding="utf-8")
    assert "[What was tried](tried.md)" in page
    assert page.count("| rms_norm | 6 x 256 f32 |") == 2
