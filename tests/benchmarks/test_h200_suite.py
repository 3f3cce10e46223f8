"""The engine's suite for an H200: its peers compute what we compute, its goals, its page, and its command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tileproof.cli.main import main
from tileproof.llm import LLM
from tileproof.llm.models.shapes import shape
from tileproof.llm.request import Request

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.h200_plan import Plan  # noqa: E402
from benchmarks.h200_report import GRAPH, OURS, PROMPT_PEER, Found, Model, Row  # noqa: E402
from benchmarks.h200_run import TooSlow, boxed  # noqa: E402

from benchmarks import h200, h200_race, h200_report, h200_warming  # noqa: E402

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


def test_goals_are_judged_by_the_figures_of_the_same_run() -> None:
    assert all(met for met, _ in GOOD.goals())
    assert len(list(GOOD.goals())) == 2
    slow = model(tg(OURS, 380), tg(PEER, 350))
    assert [(met, said.partition(",")[0]) for met, said in slow.goals()] == [
        (False, "qwen3-4b: 380.0 tokens/s at 128"), (False, f"qwen3-4b: 1.09x {PEER} at 128"),
    ]  # fmt: skip
    assert list(model(tg(OURS, 380), is_whole=False).goals()) == []
    large = model(tg(OURS, 63), tg(OURS, 94, weights="int8"), name="qwen3-32b")
    assert [met for met, _ in large.goals()] == [True, False]


def test_prompts_are_judged_against_the_products_alone() -> None:
    rows = (Row("pp", GRAPH, "bf16", 512, (1e5,)), Row("pp", PROMPT_PEER, "bf16", 512, (1.05e5,)),
            Row("pp", GRAPH, "bf16", 256, (1e5,)), Row("pp", PROMPT_PEER, "bf16", 256, (3e5,)))  # fmt: skip
    assert [met for met, _ in model(*rows).goals()] == [True], "only the lengths that were asked for"
    behind = (replace(rows[0], rounds=(0.9e5,)), rows[1], Row("pp", OURS, "bf16", 512, (2e5,)))
    assert [met for met, _ in model(*behind).goals()] == [False], "what was not raced does not count"


def test_figures_come_back_from_their_data_and_make_a_page(tmp_path: Path) -> None:
    found = Found((GOOD,), {"GPU": "NVIDIA H200"})
    assert h200_report.read(h200_report.written(found)) == found
    (tmp_path / "tried.md").write_text("# engine\n\nEverything was tried.\n", encoding="utf-8")
    page = h200.save(tmp_path, found)
    assert page is not None
    text = page.read_text(encoding="utf-8")
    assert "| 128 | compiled (gpt-fast style) | bf16 | 350.0 | 343.0, 353.5 | 1.20x |" in text
    assert "| 70.9% | 80.0% | 255 | 4.0 |" in text
    assert "| - | proxy | bf16 | not measured: no |" in text
    assert "Everything was tried." in text
    assert "None of these was run here" in text
    assert h200_report.write_page(tmp_path / "nowhere") is None


def test_pictures_are_drawn_of_what_is_there(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    h200.save(tmp_path, Found((GOOD,), {}))
    assert sorted(each.name for each in tmp_path.glob("*.png")) == sorted(name for _, name in h200_report.PICTURES)


def test_a_later_run_replaces_a_model_of_the_same_name(tmp_path: Path) -> None:
    other = replace(GOOD, name="qwen3-32b")
    h200.save(tmp_path, Found((GOOD, other), {"date": "before"}))
    h200.save(tmp_path, Found((replace(GOOD, layers=4),), {"date": "after"}))
    kept = h200_report.kept(tmp_path)
    assert kept is not None
    assert [(each.name, each.layers) for each in kept.models] == [("qwen3-4b", 4), ("qwen3-32b", 36)]


def test_the_command_makes_a_page_of_data_and_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "engine.json"
    data.write_text(h200_report.written(Found((GOOD,), {})), encoding="utf-8")
    assert main(["bench", "--suite", "h200", "--from", str(data), "--save", str(tmp_path / "page")]) == 0
    assert "met: qwen3-4b: 1.20x compiled" in capsys.readouterr().out
    assert (tmp_path / "page" / "engine.md").exists()
    monkeypatch.setattr(h200, "NEEDS", ("torch_that_is_not_there",))
    assert main(["bench", "--suite", "h200", "--quick"]) == 2
    assert "torch_that_is_not_there cannot be imported" in capsys.readouterr().err
    assert main(["bench", "--rounds", "2"]) == 2
    assert "add --suite h200" in capsys.readouterr().err


def test_a_process_is_asked_for_its_share_of_the_time(tmp_path: Path) -> None:
    both = h200.plans(h200.options(["--minutes", "10"]), tmp_path)
    assert sum(each.seconds for each in both) < 600
    (quick,) = h200.plans(h200.options(["--models", "qwen3-4b", "--quick", "--without", "int8"]), tmp_path)
    assert quick.prompts == (512,)
    assert set(quick.without) == {"int8", "cold"}
    assert Plan.of(json.loads(json.dumps(asdict(quick)))) == quick
    assert quick.capacity >= max(quick.contexts) + quick.tokens


def test_peers_compute_what_the_engine_computes() -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.h200_compiled import Compiled
    from benchmarks.h200_decoding import State
    from benchmarks.h200_worker import agreement

    from benchmarks import h200_ours, h200_weights

    shared = h200_weights.made(SMALL, "cpu")
    llm = LLM.of(SMALL, shared.ours(), max_seq_len=128, max_batch=1)
    prompt = h200_ours.text_of(llm, 9, 1)
    tokens, places = h200_ours.judged(llm, prompt, 4, 8)
    text = [*prompt, *tokens[:-1]]
    peer = Compiled(shared, State(SMALL, 64, "cpu"), is_compiled=False)
    assert agreement(peer, text, places)[0] < 0.15
    small = LLM.of(SMALL, shared.ours_int8(), max_seq_len=128, max_batch=1)
    assert h200_ours.judged(small, prompt, 1, 1)[1][0][0][1] == pytest.approx(places[0][0][1], abs=0.2)
    shared.layers[0].k_norm.mul_(torch.linspace(0.2, 2, SMALL.head_dim))
    assert agreement(peer, text, places)[0] > 0.02, "another model is told apart"


def test_transformers_computes_what_the_peers_compute() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks.h200_compiled import Compiled
    from benchmarks.h200_decoding import State
    from benchmarks.h200_transformers import Transformers

    from benchmarks import h200_weights

    shared, text = h200_weights.made(SMALL, "cpu"), [7, 200, 31, 4, 5]
    ours = Compiled(shared, State(SMALL, 64, "cpu"), is_compiled=False).logits_of(text, 3)
    theirs = Transformers(shared, 64, is_compiled=False).logits_of(text, 3)
    assert torch.nn.functional.cosine_similarity(ours, theirs).min() > 0.999


def test_the_engine_takes_turns_as_a_contestant() -> None:
    pytest.importorskip("torch")
    from benchmarks.h200_run import percentiles

    from benchmarks import h200_ours, h200_weights

    llm = LLM.of(SMALL, h200_weights.made(SMALL, "cpu").ours(), max_seq_len=128, max_batch=1)
    ours = h200_ours.Ours(llm, OURS)
    ours.begin(20)
    turn = ours.turn(24)
    assert turn.tokens == 24
    assert turn.first is not None
    assert turn.seconds > 0
    assert percentiles(turn.steps) == tuple(sorted(percentiles(turn.steps) or ()))
    graph = h200_ours.OurGraph(llm, GRAPH)
    graph.begin(20)
    assert graph.nodes == ours.nodes
    assert graph.turn(8).tokens == 8
    assert h200_ours.prefill_alone(llm, 20, 2) > 0
    assert h200_ours.prefill(llm, 20, iter((1, 2, 3)), 2) > 0
    parts = h200_ours.parts_of(llm, 20)
    assert sum(each["calls"] for each in parts["parts"]) >= 2 * 5


def test_every_window_has_as_many_runs_as_the_others() -> None:
    pytest.importorskip("torch")
    from benchmarks import h200_ours

    assert [h200_ours.window_of(turns) for turns in (1, 2, 3, 5, 8)] == [8, 8, 9, 10, 8]


def test_rows_are_on_disk_when_they_are_done_and_who_fails_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.h200_decoding import Turn
    from benchmarks.h200_run import Run

    from benchmarks import h200_worker

    class Steady:
        nodes = 7

        def __init__(self, name: str, fails: bool = False) -> None:
            self.name, self._fails = name, fails

        def begin(self, context: int) -> None:
            pass

        def turn(self, tokens: int) -> Turn:
            if self._fails:
                raise RuntimeError("out of memory")
            return Turn(tokens, tokens * 2e-3, (2e-3,) * tokens)

        end = lambda self: None  # noqa: E731

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    run = Run(Plan("qwen3-4b", str(tmp_path / "found.json"), rounds=3, tokens=32), SMALL)
    contestants = [(Steady(OURS), 4096, "bf16"), (Steady(PEER, fails=True), 4096, "bf16"),
                   (Steady("short"), 64, "bf16"), (Steady("other"), 4096, "bf16")]  # fmt: skip
    h200_worker.decode(run, contestants, {"bf16": 1000}, (128,), 1.0)
    found = h200_report.model_of(json.loads((tmp_path / "found.json").read_text(encoding="utf-8")))
    ours, peer, other = found.rows
    assert ours.rounds == pytest.approx((500,) * 3)
    assert ours.tokens == other.tokens == 3 * 32, "turns are of equal length"
    assert ours.steps == pytest.approx((2, 2, 2))
    assert ours.bytes_per_token == 1000 + SMALL.num_hidden_layers * 4 * SMALL.num_key_value_heads * SMALL.head_dim * (
        128 + 16
    )
    assert (peer.who, peer.rounds, peer.note) == (PEER, (), "not measured: it fails")
    assert not found.is_whole


class Race:
    """Contestants of known speed, on a clock of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
        self.now, self.turns = 0.0, list[tuple[str, int]]()
        self.contestants = {name: partial(self.turn, name, once) for name, once in seconds.items()}
        monkeypatch.setattr(h200_race, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def turn(self, name: str, once: float, runs: int) -> float:
        self.turns.append((name, runs))
        self.now += (1 + runs) * once
        return runs * once


def test_turns_of_a_race_are_of_equal_length_in_an_order_by_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    race = Race(monkeypatch, a=0.01, b=0.02, c=0.9)
    found = h200_race.race(race.contestants, rounds=6, seconds=100)
    assert race.turns[:3] == [("a", 1), ("b", 1), ("c", 1)], "how long a run takes"
    timed = [(name, runs) for name, runs in race.turns[3:] if runs in {15, 7, 1}]
    orders = {"".join(name for name, _ in timed[start : start + 3]) for start in range(0, 18, 3)}
    assert all(sorted(order) == list("abc") for order in orders), "all take part in each round"
    assert len(orders) > 2
    assert dict(timed) == {"a": 15, "b": 7, "c": 1}
    assert found == {"a": pytest.approx([0.01] * 6), "b": pytest.approx([0.02] * 6), "c": pytest.approx([0.9] * 6)}


def test_a_turn_is_behind_work_of_its_own_and_no_round_begins_late(monkeypatch: pytest.MonkeyPatch) -> None:
    race = Race(monkeypatch, a=0.004, b=0.006, c=0.2)
    found = h200_race.race(race.contestants, rounds=9, seconds=1.2)
    first_round = {("a", 25), ("a", 37), ("b", 16), ("b", 25), ("c", 1)}
    assert set(race.turns[3:8]) == first_round, "a tenth of a second of what was just seen, unless one run is more"
    for warming, timed in ((("a", 25), ("a", 37)), (("b", 16), ("b", 25))):
        assert race.turns[race.turns.index(warming) + 1] == timed
    assert [len(each) for each in found.values()] == [2, 2, 2], "a round takes 0.9 s, and all of one is taken"
    assert len(h200_race.race(race.contestants, rounds=9, seconds=0)["a"]) == 1, "there is one round in any case"
    h200_race.race({"a": race.contestants["a"]}, rounds=1, seconds=0, turns=2)
    assert race.turns[-2:] == [("a", 50), ("a", 75)], "a long turn is twice as long"


def test_runs_of_a_turn_are_waited_for_together_behind_one_that_is_not_timed() -> None:
    done: list[str] = []
    assert h200_race.timed(lambda: done.append("run"), lambda: done.append("wait"), 3) >= 0
    assert done == ["run", "wait", "run", "run", "run", "wait"]


def test_prompts_are_raced_and_kept_as_tokens_per_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.h200_run import Run

    from benchmarks import h200_weights, h200_worker

    shared = h200_weights.made(SMALL, "cpu")
    llm = LLM.of(SMALL, shared.ours(), max_seq_len=128, max_batch=1)
    for name in ("synchronize", "empty_cache"):
        monkeypatch.setattr(torch.cuda, name, lambda: None)
    monkeypatch.setattr(h200_worker.chains, "products_of_a_prompt", lambda shared, length: lambda: time.sleep(2e-3))
    for name in ("TURN", "WARMING"):
        monkeypatch.setattr(h200_race, name, 0.02)
    run = Run(Plan("qwen3-4b", str(tmp_path / "found.json"), rounds=2), SMALL)
    h200_worker.prompts(run, shared, llm, (20,))
    assert [(row.what, row.who, row.context, len(row.rounds)) for row in run.rows] == [
        ("pp", who, 20, 2) for who in (OURS, GRAPH, PROMPT_PEER)
    ]
    assert 20 / 0.2 < run.rows[2].median < 20 / 2e-3


def test_the_graph_of_a_prompt_is_timed_with_random_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from benchmarks import h200_ours, h200_weights

    llm = LLM.of(SMALL, h200_weights.made(SMALL, "cpu").ours(), max_seq_len=128, max_batch=1)
    read, real = list[int](), Request.tokens

    def tokens(self: Request, start: int, stop: int) -> Any:
        read.extend(real(self, start, stop))
        return real(self, start, stop)

    monkeypatch.setattr(Request, "tokens", tokens)
    assert h200_ours.prefill_alone(llm, 100, 1) > 0
    assert len(read) == 100
    assert len(set(read)) > 20


def test_a_form_of_a_prompt_is_raced_if_it_computes_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    from benchmarks import h200_chains, h200_prompts, h200_weights

    monkeypatch.setattr(h200_chains, "products_of_a_prompt", lambda shared, length: lambda: None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(h200_race, "TURN", 1e-4)
    monkeypatch.setattr(h200_race, "WARMING", 0.0)
    shared = h200_weights.made(SMALL, "cpu")
    forms = {
        name: LLM.of(SMALL, shared.ours(), max_seq_len=128, max_batch=1, fusions=fusions)
        for name, fusions in h200_prompts.FORMS.items()
    }
    other = LLM.of(replace(SMALL, rope_theta=3.0), shared.ours(), max_seq_len=128, max_batch=1)
    found = h200_prompts.raced({**forms, "other": other}, shared, 70, 2, 60)
    assert list(found) == [*forms, h200_prompts.PEER]
    assert "other: its logits lie" in capsys.readouterr().out


def test_a_race_of_forms_tells_what_each_takes_more_and_its_part_of_the_products() -> None:
    from benchmarks.h200_prompts import AGAIN, NOW, PEER, table

    found = {NOW: [2e-3, 2.1e-3, 2.2e-3], AGAIN: [2.2e-3, 2.2e-3], "other": [1.9e-3], PEER: [1.9e-3]}
    assert [line.split()[-8:] for line in table(found, 10)][1:] == [
        ["as", "it", "is", "2.100", "0.905x", "2.000", "to", "2.200"],
        ["is,", "again", "2.200", "+10.0", "0.864x", "2.200", "to", "2.200"],
        ["other", "1.900", "-20.0", "1.000x", "1.900", "to", "1.900"],
        ["+", "cuDNN,", "products", "alone", "1.900", "1.900", "to", "1.900"],
    ]


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


class Processes:
    """Processes that only take their time, and when each was there."""

    def __init__(self, patch: pytest.MonkeyPatch, **seconds: float) -> None:
        self.spans: dict[str, list[float]] = {}
        self._seconds, self._real = seconds, h200_warming._begun
        patch.setattr(h200_warming, "_begun", self.begun)
        patch.setattr(h200_warming, "_ended", self.ended(h200_warming._ended))

    def begun(self, command: list[str]) -> subprocess.Popen[str]:
        name = "cold" if "benchmarks.h200_cold" in command else " ".join(command[4:])
        self.spans[name] = [time.monotonic()]
        code = f"import time; time.sleep({self._seconds.get(name, 0.05)}); print('of', {name!r})"
        process = self._real([sys.executable, "-c", code])
        process.name = name  # type: ignore[attr-defined]
        return process

    def ended(self, real: Callable[..., str]) -> Callable[..., str]:
        def end(process: subprocess.Popen[str], seconds: float) -> str:
            said = real(process, seconds)
            self.spans[process.name].append(time.monotonic())  # type: ignore[attr-defined]
            return said

        return end


PIECES = "second_half first_half logits step"


def test_one_process_compiles_one_piece_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes(monkeypatch)
    warming = h200_warming.Warming(Plan("qwen3-4b", "x", seconds=300))
    assert warming.wait(60) == "of cold"
    assert warming.is_over
    spans = processes.spans
    assert list(spans) == [PIECES, "cold"]
    assert spans[PIECES][1] <= spans["cold"][0]


def test_who_is_left_out_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes(monkeypatch)
    h200_warming.Warming(Plan("qwen3-4b", "x", seconds=300, without=("compiled", "cold"))).wait(60)
    h200_warming.Warming(Plan("qwen3-4b", "x", seconds=300, without=("compiled", "proxy", "cold"))).wait(60)
    assert list(processes.spans) == ["step"]


def test_compilers_of_a_short_run_work_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes(monkeypatch, second_half=0.6)
    warming = h200_warming.Warming(Plan("qwen3-4b", "x", seconds=100, without=("cold",)))
    assert warming.wait(60) == "not measured in this run"
    assert list(processes.spans) == PIECES.split()
    assert processes.spans["step"][0] < processes.spans["second_half"][1]


def test_a_compiler_that_takes_too_long_is_stopped_and_none_begins_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes(monkeypatch, **{PIECES: 600})
    warming = h200_warming.Warming(Plan("qwen3-4b", "x", seconds=300))
    assert warming.wait(1) == "not measured in this run"
    assert warming.is_over
    assert list(processes.spans) == [PIECES]
