"""The GPU benchmark without a GPU: what it launches, what its table says of recorded times, and how it takes turns."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
import tileproof as tp  # noqa: E402
from benchmarks import gpu_checking, gpu_kernels, gpu_launches, gpu_peers, gpu_report, gpu_rows, gpu_timing  # noqa: E402

RECORDED = (Path(__file__).parent / "gpu_recorded.json").read_text(encoding="utf-8")
CHOSEN = list(gpu_launches.row_launches(sweep=False))


@pytest.fixture
def lines() -> dict[str, Any]:
    """The recorded lines, by kernel."""
    return {line.kernel: line for line in gpu_report.read(RECORDED)[0]}


# Launches.


def test_stand_ins_have_the_shape_and_type_of_the_arguments_and_lie_apart() -> None:
    row = gpu_rows.ROWS["attention 8192"]
    made = gpu_launches.stand_ins(row.arguments)
    assert [each.shape for each in made[:4]] == [(32, 8192, 128)] * 2 + [(8, 8192, 128)] * 2
    assert made[0].dtype.name == "bfloat16"
    assert made[0].strides == (8192 * 128 * 2, 128 * 2, 2)
    assert made[4] == row.arguments[4]
    ends = [each.__array_interface__["data"][0] + each.nbytes for each in made[:4]]
    starts = [each.__array_interface__["data"][0] for each in made[:4]]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    assert all(start % 256 == 0 for start in starts)


def test_every_candidate_of_every_row_is_among_the_launches() -> None:
    names = [name for name, *_ in gpu_launches.launches()]
    assert len(names) == len(set(names)) == sum(len(row.candidates) for row in gpu_rows.ROWS.values()) + 2
    assert "matmul 4096: matmul 256x128x64 cluster=2 group=8" in names
    assert "host: add" in names
    assert len(list(gpu_launches.launches(sweep=False))) == len(gpu_rows.NAMES) + 1


def test_the_labels_of_candidates_tell_them_apart() -> None:
    for kind, found in gpu_kernels.CANDIDATES.items():
        assert len({each.label for each in found}) == len(found), kind


@pytest.mark.parametrize(("row", "each"), CHOSEN, ids=[row.name for row, _ in CHOSEN])
def test_a_chosen_candidate_is_proved_and_lowers(row: Any, each: Any) -> None:
    wanted = gpu_checking.variants(each, gpu_launches.stand_ins(row.arguments))
    assert wanted[0].schedule == each.schedule
    assert wanted[0].request().lowered().bytecode.startswith(b"\x7fTileIR")
    assert len(wanted) == (2 if row.kind == "gather" else 1)


def test_no_tile_of_a_row_is_short() -> None:
    for row, each in gpu_launches.row_launches():
        if row.kind in ("attention", "full_attention", "matmul", "matmul_nt"):
            facts = gpu_checking.variants(each, gpu_launches.stand_ins(row.arguments))[0].facts
            sizes = {size for name, size in each.tiles.items() if name != "BD"}
            assert sizes <= {size for _, size in facts.divided}, each.label


def test_a_row_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(SystemExit, match="no row has sofmax in its name; there are: add, softmax"):
        gpu_rows.chosen(["sofmax"])
    assert gpu_rows.chosen(["4B o", "launch"]) == ["matvec 4B o", "launch"]


# Limits.


def test_memory_limits_vectors_and_arithmetic_limits_matrices() -> None:
    assert gpu_rows.ROWS["matvec 4B qkv"].is_streaming
    assert gpu_rows.ROWS["matvec 4B qkv"].limit == pytest.approx(2 * (6144 * 2560 + 6144 + 2560) / 4.8e12)
    assert not gpu_rows.ROWS["matmul 2048"].is_streaming
    assert gpu_rows.ROWS["matmul 8192"].limit == pytest.approx(2 * 8192**3 / 989e12)


def test_a_causal_mask_halves_the_operations() -> None:
    causal, full = gpu_rows.ROWS["attention 8192"], gpu_rows.ROWS["full_attention 4096"]
    assert causal.operations == 4 * 32 * 128 * 8192**2 / 2
    assert full.operations == 4 * 4 * 32 * 128 * 4096**2


# The table.


def test_the_best_peer_is_named_and_the_goal_is_judged_by_its_own(lines: dict[str, Any]) -> None:
    line = lines["matvec 4B qkv"]
    assert line.best.name == "Triton"
    assert line.ratio == pytest.approx(8.95 / 9.15)
    assert line.reached == pytest.approx(9.45 / 9.15)
    assert line.verdict == "met: 1.03 for >= 1 x cuBLAS"


def test_a_missed_goal_is_said(lines: dict[str, Any]) -> None:
    assert lines["matmul 8192"].verdict == "MISSED: 0.93 for >= 0.95 x cuBLAS"
    assert "3 of 4 goals met" in gpu_report.summary(list(lines.values()))
    assert "MISSED: matmul 8192: 0.93 for >= 0.95 x cuBLAS" in gpu_report.summary(list(lines.values()))


def test_of_launches_less_is_better(lines: dict[str, Any]) -> None:
    line = lines["launch"]
    assert line.reached == pytest.approx(4.2 / 9.3)
    assert line.verdict == "met: 0.45 for <= 0.6 x torch"
    assert (line.rate, line.of_limit) == ("-", None)


def test_close_to_a_goal_enough_digits_are_shown(lines: dict[str, Any]) -> None:
    goal = gpu_rows.Goal(lines["matvec 4B qkv"].reached + 1e-4, "cuBLAS")
    line = gpu_report.Line(**{**vars(lines["matvec 4B qkv"]), "goal": goal})
    assert line.verdict.startswith("MISSED: 1.0328 for >= 1.03")


def test_a_wrong_result_is_not_timed(lines: dict[str, Any]) -> None:
    line = lines["matvec 32B down"]
    assert line.verdict == "WRONG: relative error 3.1e-01"
    assert (line.ratio, line.of_limit, line.is_met) == (None, None, None)
    assert "matvec 32B down: WRONG: relative error 3.1e-01" in gpu_report.summary([line])


def test_rates_are_of_what_limits_a_kernel(lines: dict[str, Any]) -> None:
    assert lines["add"].rate == "4.38 TB/s"
    assert lines["matmul 8192"].rate == "742 TFLOP/s"
    assert lines["add"].of_limit == pytest.approx(0.912, abs=1e-3)


def test_the_spread_covers_all_rounds_but_a_tenth_of_many(lines: dict[str, Any]) -> None:
    assert lines["add"].tileproof.spread == pytest.approx(4.0 / 735.5)
    assert lines["launch"].tileproof.spread == pytest.approx(0.2 / 4.2)


def test_the_twin_says_whether_there_was_anything_to_leave_out(lines: dict[str, Any]) -> None:
    cells = dict(zip(gpu_report.HEADS, lines["add"].cells, strict=True))
    assert cells["unsafe twin"] == "0.999, same code"
    assert dict(zip(gpu_report.HEADS, lines["gather"].cells, strict=True))["unsafe twin"] == "1.053"


def test_who_is_not_there_is_said(lines: dict[str, Any]) -> None:
    cells = dict(zip(gpu_report.HEADS, lines["gather"].cells, strict=True))
    assert (cells["torch"], cells["Triton"], cells["cuTile"]) == ("280.50 us", "not installed", "not carried")


# Files.


def test_all_files_are_made_from_the_data_and_what_people_wrote_survives(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found, machine = gpu_report.read(RECORDED)
    (tmp_path / "gpu.md").write_text(f"# An older page\n\n{gpu_report.TRIED}\n\nNothing yet.\n", encoding="utf-8")
    gpu_report.save(tmp_path, found, machine)
    page = (tmp_path / "gpu.md").read_text(encoding="utf-8")
    assert page.endswith(f"{gpu_report.TRIED}\n\nNothing yet.\n")
    assert "An older page" not in page
    assert "| matmul 8192 | 8192^3 | 1.481 ms | 1.381 ms (cuBLAS) |" in page
    assert (tmp_path / "gpu_roofline.png").read_bytes().startswith(b"\x89PNG")
    again, _ = gpu_report.read((tmp_path / "gpu.json").read_text(encoding="utf-8"))
    assert again == found
    assert json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))["rows"][0]["verdict"].startswith("met")


# Turns.


def clocked(captures: bool) -> tuple[Any, Callable[[str, float], Callable[[], None]]]:
    """What the timing needs of torch, on a clock that only calls move; a graph replays what it captured."""
    now, seen = [0.0], []
    captured: list[list[Callable[[], None]] | None] = [None]

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            self.at = 0.0

        def record(self) -> None:
            self.at = now[0]

        def synchronize(self) -> None:
            pass

        def elapsed_time(self, later: Any) -> float:
            return (later.at - self.at) * 1e3

    class Graph:
        def replay(self) -> None:
            for work in self.calls:  # type: ignore[attr-defined]
                work()

    @contextmanager
    def graph(made: Any, capture_error_mode: str) -> Iterator[None]:
        if not captures:
            raise RuntimeError("not while capturing")
        captured[0] = made.calls = []
        yield
        captured[0] = None

    def call(name: str, seconds: float) -> Callable[[], None]:
        def work() -> None:
            seen.append(name)
            now[0] += seconds

        return lambda: work() if captured[0] is None else captured[0].append(work)

    stream = SimpleNamespace(wait_stream=lambda other: None)
    cuda = SimpleNamespace(
        Event=Event, CUDAGraph=Graph, graph=graph, Stream=lambda: stream, current_stream=lambda: stream,
        stream=lambda given: nullcontext(), synchronize=lambda: None, seen=seen,
    )  # fmt: skip
    return SimpleNamespace(cuda=cuda), call


@pytest.mark.parametrize(("captures", "captured"), [(True, True), (False, True), (False, False)])
def test_the_time_of_one_launch_is_found(captures: bool, captured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_timing, "_WARM", 0.0)
    torch, call = clocked(captures)
    contestants = [
        gpu_timing.Contestant("slow", [call("slow", 0.004), call("slow", 0.006)]),
        gpu_timing.Contestant("fast", [call("fast", 0.001)] * 3),
    ]
    gpu_timing.race(contestants, torch, rounds=4, captured=captured)
    assert contestants[0].rounds == pytest.approx([0.005] * 4)
    assert contestants[1].rounds == pytest.approx([0.001] * 4)
    assert bool(contestants[0].note) is (captured and not captures)


def test_who_begins_moves_on_from_round_to_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(gpu_timing, "_prepare", lambda each, torch, captured: None)
    monkeypatch.setattr(gpu_timing, "_turn", lambda each, torch: seen.append(each.name) or 1.0)
    gpu_timing.race([gpu_timing.Contestant(name, []) for name in "abc"], None, rounds=3)
    assert "".join(seen) == "abcbcacab"


def test_the_host_is_timed_in_batches() -> None:
    torch, call = clocked(captures=True)
    taken = gpu_timing.host_times({"one": call("one", 0.0)}, torch, launches=20, batch=5)
    assert len(taken["one"]) == 4
    assert len(torch.cuda.seen) == 25


# Results, on the CPU, with the references that judge those of a GPU.

SMALL = {
    "add": ([(3000,)] * 3, "f32"), "softmax": ([(6, 256)] * 2, "bf16"),
    "rms_norm": ([(6, 256), (6, 256), (256,), 1e-6], "bf16"), "matmul": ([(128, 128), (128, 64), (64, 128)], "bf16"),
    "matmul_nt": ([(128, 128), (128, 64), (128, 64)], "bf16"), "matvec": ([(32,), (32, 512), (512,)], "bf16"),
    "attention": ([(4, 256, 32), (4, 256, 32), (2, 256, 32), (2, 256, 32), 32**-0.5 * 1.4426950408889634], "bf16"),
    "full_attention": ([(4, 128, 32), (4, 128, 32), (2, 128, 32), (2, 128, 32), 32**-0.5 * 1.4426950408889634], "bf16"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SMALL)
def test_a_kernel_gives_what_its_reference_says_and_a_wrong_result_is_found(kind: str) -> None:
    torch = pytest.importorskip("torch")
    given, element = SMALL[kind]
    arguments = tuple(gpu_rows.Array(each, element) if isinstance(each, tuple) else each for each in given)
    each = gpu_kernels.CANDIDATES[kind][0]
    row = gpu_rows.Row(kind, kind, "", arguments, 1.0, each.label)
    here = on_the_cpu(torch)
    args = gpu_peers.made_args(row, here)

    def launched() -> None:
        with tp.backend("cpu"):
            each.scheduled(*map(shared, args), **each.tiles)

    assert gpu_peers.problem_of(row, launched, args, here) == ""
    assert "were not written" in gpu_peers.problem_of(row, lambda: None, args, here)
    assert "relative error" in gpu_peers.problem_of(row, lambda: torch.randn(args[0].shape), args, here)


def on_the_cpu(torch: Any) -> Any:
    """torch, but that what is made for the GPU is made here."""
    plain = SimpleNamespace(**vars(torch))
    plain.cuda = SimpleNamespace(synchronize=lambda: None)
    for name in ("full", "randn", "randint"):
        setattr(plain, name, lambda *a, of=name, device=None, **k: getattr(torch, of)(*a, **k))
    return plain


def shared(tensor: Any) -> Any:
    """A numpy array on the memory of a tensor."""
    if isinstance(tensor, float):
        return tensor
    if str(tensor.dtype) == "torch.bfloat16":
        import ml_dtypes
        import torch

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    found: np.ndarray[Any, Any] = tensor.numpy()
    return found
