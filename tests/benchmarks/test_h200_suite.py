"""The engine's suite for an H200: its peers compute what we compute, its goals, its page, and its command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks.engine import h200, race, report, warming
from benchmarks.engine.plan import Plan
from benchmarks.engine.report import GRAPH, H200, OURS, PROMPT_PEER, Model, Row, lines_of, results_of
from benchmarks.engine.run import TooSlow, boxed
from benchmarks.harness import page, result

from tileproof.cli.main import main
from tileproof.llm.models.shapes import shape

PEER = "compiled (gpt-fast style)"
SMALL = replace(
    shape("qwen3-0.6b"),
    num_hidden_layers=2,
    hidden_size=128,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    intermediate_size=256,
    vocab_size=300,
    tokens=290,
)


def tg(who: str, speed: float, context: int = 128, weights: str = "bf16") -> Row:
    rounds = tuple(speed * each for each in (0.98, 1.0, 1.01))
    return Row("tg", who, weights, context, rounds, (2.1, 2.2, 2.4), 768, 8.1e9, 255, 0.004)


def model(*rows: Row, name: str = "qwen3-4b", is_whole: bool = True) -> Model:
    parts = {"context": 512, "seconds": 2.2e-3, "parts": [
        {"name": "linear 6144x2560", "calls": 36, "seconds": 4e-4, "bytes": 1, "kernels": ["a"]},
        {"name": "norm", "calls": 73, "seconds": 1e-5, "bytes": 1, "kernels": ["b"]},
    ]}  # fmt: skip
    return Model(name, 36, is_whole, 4.25e12, rows, parts, {"memory": "weights 8.05 GB"})


GOOD = model(tg(OURS, 420), tg(GRAPH, 440), tg(PEER, 350), Row("tg", "proxy", "bf16", 0, note="not measured: no"))


def verdicts(of: Model) -> list[str]:
    return [verdict for line in lines_of(of) for verdict in map(line.judged, line.goals)]


def test_goals_are_judged_by_the_figures_of_the_same_run() -> None:
    assert verdicts(GOOD) == ["met: 2.381 ms for <= 2.500 ms", f"met: 1.20 for >= 1.10 x {PEER}"]
    slow = model(tg(OURS, 380), tg(PEER, 350))
    assert verdicts(slow) == ["MISSED: 2.632 ms for <= 2.500 ms", f"MISSED: 1.09 for >= 1.10 x {PEER}"]
    assert verdicts(model(tg(OURS, 380), is_whole=False)) == []
    large = model(tg(OURS, 63), tg(OURS, 94, weights="int8"), name="qwen3-32b")
    assert verdicts(large) == ["met: 15.873 ms for <= 16.129 ms", "MISSED: 1.49 for >= 1.50 x bf16"]


def test_prefill_is_judged_by_the_graph_against_the_products_alone() -> None:
    rows = (Row("pp", GRAPH, "bf16", 512, (1e5,)), Row("pp", PROMPT_PEER, "bf16", 512, (1.05e5,)),
            Row("pp", GRAPH, "bf16", 256, (1e5,)), Row("pp", PROMPT_PEER, "bf16", 256, (3e5,)))  # fmt: skip
    assert verdicts(model(*rows)) == ["met: 0.9524 for >= 0.95 x cuBLAS + cuDNN"], "of the lengths asked for alone"
    delayed = (replace(rows[0], rounds=(0.9e5,)), rows[1], Row("pp", OURS, "bf16", 512, (2e5,)))
    assert verdicts(model(*delayed)) == ["MISSED: 0.86 for >= 0.95 x cuBLAS + cuDNN"], "by `generate` nothing is judged"


def test_prefill_has_the_operations_of_its_gemms_attention_and_head() -> None:
    gemms, attention = 128 * 256 + 128 * 128 + 3 * 128 * 256, 128 * 100**2
    assert report.prefill_operations(SMALL, 2, 100) == 2 * (2 * (100 * gemms + attention) + 300 * 128)


def test_a_model_comes_back_from_its_data_and_makes_a_page_with_pictures(tmp_path: Path) -> None:
    assert report.model_of(json.loads(json.dumps(GOOD.data()))) == GOOD
    file = result.save(tmp_path / "h200" / H200.file, results_of([GOOD], {"GPU": "NVIDIA H200"}))
    (built,) = page.write_pages([H200], tmp_path)
    text = built.read_text(encoding="utf-8")
    for part in (
        "| qwen3-4b decode 128 |  | 2.381 ms | compiled (gpt-fast style) 2.857 ms, read 1.906 ms | 1.20 x compiled",
        "| 71% | 3.0% | 3402 | 2.100 / 2.200 / 2.400 | 255 | 4.0 ms |", "Not measured: proxy: not measured: no.",
        "### Qwen3-4B, one decode step", "| qwen3-4b norm | 73 calls | 10.00 us |", "| memory | weights 8.05 GB |",
    ):  # fmt: skip
        assert part in text
    if page.picture.can_draw():
        assert sorted(each.name for each in file.parent.glob("*.png")) == ["engine-decode.png", "engine-peers.png"]


def test_the_command_makes_a_page_of_data_and_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = result.save(tmp_path / "engine.json", results_of([GOOD], {}))
    assert main(["bench", "--suite", "h200", "--from", str(data), "--save", str(tmp_path / "page")]) == 0
    assert f"met: 1.20 for >= 1.10 x {PEER}" in capsys.readouterr().out
    assert (tmp_path / "page" / "engine.md").exists()
    monkeypatch.setattr(h200, "NEEDS", ("torch_that_is_not_there",))
    assert main(["bench", "--suite", "h200", "--quick"]) == 2
    assert "torch_that_is_not_there cannot be imported" in capsys.readouterr().err
    assert main(["bench", "--rounds", "2"]) == 2
    assert "unrecognized arguments: --rounds 2" in capsys.readouterr().err


def test_a_process_is_asked_for_its_share_of_the_time(tmp_path: Path) -> None:
    both = h200.plans(h200.options(["--minutes", "10"]), tmp_path)
    assert sum(each.seconds for each in both) < 600
    (quick,) = h200.plans(h200.options(["--models", "qwen3-4b", "--quick", "--without", "int8"]), tmp_path)
    assert quick.prompts == (512,)
    assert quick.without == ("int8",)
    assert Plan.of(json.loads(json.dumps(asdict(quick)))) == quick
    assert quick.capacity >= max(quick.contexts) + quick.tokens


class Race:
    """Contestants of known speed, on a clock of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
        self.now, self.turns = 0.0, list[tuple[str, int]]()
        self.contestants = {name: partial(self.turn, name, once) for name, once in seconds.items()}
        monkeypatch.setattr(race, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def turn(self, name: str, once: float, runs: int) -> float:
        self.turns.append((name, runs))
        self.now += (1 + runs) * once
        return runs * once


def test_turns_of_a_race_are_of_equal_length_in_an_order_by_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    them = Race(monkeypatch, a=0.01, b=0.02, c=0.9)
    result = race.race(them.contestants, rounds=6, seconds=100)
    assert them.turns[:3] == [("a", 1), ("b", 1), ("c", 1)], "how long a run takes"
    timed = [(name, runs) for name, runs in them.turns[3:] if runs in {15, 7, 1}]
    orders = {"".join(name for name, _ in timed[start : start + 3]) for start in range(0, 18, 3)}
    assert all(sorted(order) == list("abc") for order in orders), "all take part in each round"
    assert len(orders) > 2
    assert dict(timed) == {"a": 15, "b": 7, "c": 1}
    assert result == {"a": pytest.approx([0.01] * 6), "b": pytest.approx([0.02] * 6), "c": pytest.approx([0.9] * 6)}


def test_a_turn_is_behind_work_of_its_own_and_no_round_begins_late(monkeypatch: pytest.MonkeyPatch) -> None:
    them = Race(monkeypatch, a=0.004, b=0.006, c=0.2)
    result = race.race(them.contestants, rounds=9, seconds=1.2)
    first_round = {("a", 25), ("a", 37), ("b", 16), ("b", 25), ("c", 1)}
    assert set(them.turns[3:8]) == first_round, "a tenth of a second of what was just seen, unless one run is more"
    for before, timed in ((("a", 25), ("a", 37)), (("b", 16), ("b", 25))):
        assert them.turns[them.turns.index(before) + 1] == timed
    assert [len(each) for each in result.values()] == [2, 2, 2], "a round takes 0.9 s, and all of one is taken"
    assert len(race.race(them.contestants, rounds=9, seconds=0)["a"]) == 1, "there is one round in any case"
    race.race({"a": them.contestants["a"]}, rounds=1, seconds=0, turns=2)
    assert them.turns[-2:] == [("a", 50), ("a", 75)], "a long turn is twice as long"


def test_runs_of_a_turn_are_waited_for_together_behind_one_that_is_not_timed() -> None:
    done: list[str] = []
    assert race.timed(lambda: done.append("run"), lambda: done.append("wait"), 3) >= 0
    assert done == ["run", "wait", "run", "run", "run", "wait"]


def test_what_is_stopped_is_told_as_such_whatever_it_makes_of_it() -> None:
    def compile_() -> None:
        try:
            time.sleep(20)
        except Exception as error:
            raise RuntimeError("the backend failed") from error

    with pytest.raises(TooSlow, match="given up after 1 s"), boxed(1):
        compile_()
    with pytest.raises(RuntimeError, match="of its own"), boxed(20):
        raise RuntimeError("a failure of its own")


# Compilers.

PIECES = "second_half first_half logits step"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is to be compiled by each process, which only sleeps for a minute."""
    begun: list[str] = []
    real = subprocess.Popen

    def popen(command: list[str], **more: Any) -> subprocess.Popen[str]:
        begun.append(" ".join(command[4:]))
        return real([sys.executable, "-c", "import time; time.sleep(60)"], **more)

    monkeypatch.setattr(warming.subprocess, "Popen", popen)
    return begun


def test_one_process_compiles_one_piece_after_another_and_is_stopped_in_time(commands: list[str]) -> None:
    work = warming.Warming(Plan("qwen3-4b", "x"))
    assert not work.is_over
    work.wait(0)
    assert work.is_over
    assert commands == [PIECES]


def test_who_is_left_out_is_not_compiled(commands: list[str]) -> None:
    warming.Warming(Plan("qwen3-4b", "x", without=("compiled",))).wait(0)
    nothing = warming.Warming(Plan("qwen3-4b", "x", without=("compiled", "proxy")))
    assert nothing.is_over
    nothing.wait(60)
    assert commands == ["step"]
