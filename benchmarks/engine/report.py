"""Lines of the engine's results: what a model did on an H200, and what both engines did on the CPU."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from tileproof.llm.models.config import ModelConfig
from tileproof.llm.models.shapes import shape

from ..harness.page import Section
from ..harness.result import Figure, Goal, Line, Results, Unit
from ..harness.row import BANDWIDTH, PRODUCTS

OURS: Final = "tileproof"
GRAPH: Final = "tileproof, graph alone"
PROMPT_PEER: Final = "cuBLAS + cuDNN"
GOALS: Final = {"qwen3-4b": (400.0, 500.0), "qwen3-32b": (62.0, 64.0)}
"""Tokens per second at contexts up to 512: asked for, and the project's goal."""
AHEAD: Final = 1.10
INT8: Final = 1.5
PREFILL: Final = 0.95
JUDGED_CONTEXTS: Final = (128, 512)
JUDGED_PROMPTS: Final = (512, 2048, 8192)
What = Literal["tg", "pp", "chain"]


@dataclass(frozen=True, slots=True)
class Row:
    """One contestant at one size."""

    what: What
    """Decode, prefill, or only the GEMVs of a decode step."""
    who: str
    weights: str
    context: int
    """Tokens before, or of the prompt."""
    rounds: tuple[float, ...] = ()
    """Tokens per second of each round, from the first token to the last, or of the prompt."""
    steps: tuple[float, float, float] | None = None
    """Milliseconds of a step: a tenth took less, half, nine tenths."""
    tokens: int = 0
    """Tokens of all rounds together."""
    bytes_per_token: float = 0.0
    nodes: int | None = None
    first: float | None = None
    """Seconds to the first token, of the median round."""
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.rounds) if self.rounds else 0.0

    @property
    def figure(self) -> Figure:
        """Seconds for a token, or for the prompt."""
        tokens = self.context if self.what == "pp" else 1
        return Figure(self.who, tuple(tokens / each for each in self.rounds))


@dataclass(frozen=True, slots=True)
class Model:
    """All rows of a model."""

    name: str
    layers: int
    is_whole: bool
    """Whether it has all its layers."""
    read_rate: float
    """Bytes per second that torch's sum reads in the same process."""
    rows: tuple[Row, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Where the time of a step goes."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Memory, seconds of compiling, clocks, how near peers' logits are."""

    def row(self, what: What, who: str, context: int, weights: str = "bf16") -> Row | None:
        """The row, if it was measured."""
        result = (row for row in self.rows if row.rounds and (row.what, row.who) == (what, who))
        return next((each for each in result if (each.context, each.weights) == (context, weights)), None)

    def data(self) -> dict[str, Any]:
        return asdict(self)


def model_of(values: Mapping[str, Any]) -> Model:
    """A model, from its data."""
    rows = (
        Row(**{**row, "rounds": tuple(row["rounds"]), "steps": None if row["steps"] is None else tuple(row["steps"])})
        for row in values["rows"]
    )
    return Model(**{**values, "rows": tuple(rows)})


def results_of(models: Sequence[Model], machine: Mapping[str, str]) -> Results:
    """A run for each model."""
    lines = [line.but(run=number) for number, model in enumerate(models) for line in lines_of(model)]
    cut = [{} if model.is_whole else {"cut": f"to {model.layers} layers: for a look only"} for model in models]
    runs = [{**machine, "model": model.name, **less, **{name: str(value) for name, value in model.facts.items()}}
            for model, less in zip(models, cut, strict=True)]  # fmt: skip
    return Results(tuple(lines), tuple(runs))


def lines_of(model: Model) -> list[Line]:
    """Decode by context, prefill by length, the GEMVs of a decode step alone, and the parts of a step."""
    lines = []
    for weights, who, suffix in (("bf16", OURS, ""), ("bf16", GRAPH, " graph"), ("int8", OURS, " int8"),
                                 ("int8", GRAPH, " int8 graph")):  # fmt: skip
        rows = [row for row in model.rows if (row.what, row.weights, row.who) == ("tg", weights, who)]
        for row in sorted(rows, key=lambda each: each.context):
            lines.append(_decode(model, row, suffix))
    for who, suffix in ((OURS, ""), (GRAPH, " graph")):
        rows = [row for row in model.rows if (row.what, row.who) == ("pp", who)]
        for row in sorted(rows, key=lambda each: each.context):
            lines.append(_prefill(model, row, suffix))
    ours, peer = model.row("chain", OURS, 0), model.row("chain", "cuBLAS", 0)
    if ours is not None:
        peers = {} if peer is None else {peer.who: (peer.figure,)}
        lines.append(_streaming(model, f"{model.name} GEMVs of a decode step", "products", ours, peers))
    for part in model.parts.get("parts", ()):
        each = f"{1e6 * part['seconds'] / part['calls']:.1f} us"
        lines.append(Line(f"{model.name} {part['name']}", f"{model.name} step", f"{part['calls']} calls", None, "B/s",
                          bytes=part["bytes"], limit=part["bytes"] / BANDWIDTH or None,
                          tileproof=Figure(OURS, (max(part["seconds"], 1e-9),)),
                          facts={"each": each, "kernels": ", ".join(part["kernels"])}))  # fmt: skip
    return lines


def _streaming(model: Model, name: str, group: str, row: Row, peers: Mapping[str, tuple[Figure, ...]],
               goals: Sequence[Goal] = (), **more: Any) -> Line:  # fmt: skip
    """A line about tokens one by one, of which the bytes that each reads are the limit."""
    facts = {
        "GB/s": f"{row.bytes_per_token * row.median / 1e9:.0f}",
        "step ms, p10 / p50 / p90": "-" if row.steps is None else " / ".join(f"{step:.3f}" for step in row.steps),
        "nodes": "-" if row.nodes is None else str(row.nodes),
        "first token": "-" if row.first is None else f"{1e3 * row.first:.1f} ms",
    }
    return Line(
        name, f"{model.name} {group}", unit="tok/s", tokens=1, bytes=row.bytes_per_token,
        limit=row.bytes_per_token / BANDWIDTH, tileproof=row.figure, peers=peers,
        yardsticks={"read": Figure("read", (row.bytes_per_token / model.read_rate,))}, facts=facts,
        goals=tuple(goals) if model.is_whole else (), **more,
    )  # fmt: skip


def _decode(model: Model, row: Row, suffix: str) -> Line:
    name = f"{model.name} decode{suffix} {row.context}"
    if not row.rounds:
        return Line(name, f"{model.name} decode", problem=row.note)
    beside = [each for each in model.rows if each.what == "tg" and each.context in (row.context, 0)
              and not each.who.startswith(OURS)] if not suffix else []  # fmt: skip
    peers = {each.who: (each.figure,) for each in beside if each.rounds}
    absent = {each.who: each.note for each in beside if not each.rounds}
    nodes = [f"{each.who}: {each.nodes} nodes" for each in beside if each.nodes]
    goals: list[Goal] = []
    if row.context in JUDGED_CONTEXTS and not suffix:
        asked, wished = GOALS.get(model.name, (0.0, 0.0))
        goals = [*([Goal(1 / asked, "at most")] if asked else []), *(Goal(AHEAD, who) for who in peers)]
        nodes += [f"the project's goal is {wished:g} tok/s"] if wished else []
    whole = model.row("tg", OURS, row.context)
    if suffix == " int8" and whole is not None:
        peers = {"bf16": (Figure("bf16", whole.figure.rounds),)}
        goals = [Goal(INT8, "bf16")] if model.name == "qwen3-32b" and row.context in JUDGED_CONTEXTS else []
    return _streaming(model, name, "decode", row, peers, goals, absent=absent, notes=tuple(nodes))


def _prefill(model: Model, row: Row, suffix: str) -> Line:
    name, group = f"{model.name} prefill{suffix} {row.context}", f"{model.name} prefill"
    if not row.rounds:
        return Line(name, group, problem=row.note)
    peer = next((each for each in model.rows if each.what == "pp" and each.who.startswith(PROMPT_PEER)
                 and each.context == row.context and each.rounds), None)  # fmt: skip
    goals = (Goal(PREFILL, PROMPT_PEER),) if suffix and row.context in JUDGED_PROMPTS and model.is_whole else ()
    operations = prefill_operations(shape(model.name), model.layers, row.context)
    return Line(
        name, group, unit="tok/s", tokens=row.context, operations=operations, limit=operations / PRODUCTS,
        tileproof=row.figure, goals=goals,
        peers={} if peer is None else {PROMPT_PEER: (Figure(PROMPT_PEER, peer.figure.rounds),)},
        facts={"TFLOP/s": f"{operations / row.figure.value / 1e12:.0f}"},
    )  # fmt: skip


def prefill_operations(config: ModelConfig, layers: int, length: int) -> float:
    """Of the GEMMs of all tokens, causal attention, and the head of the last token."""
    q, kv = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    weights = config.hidden_size * (2 * q + 2 * kv + 3 * config.intermediate_size)
    attention = 2.0 * q * length**2
    return layers * (2.0 * weights * length + attention) + 2.0 * config.vocab_size * config.hidden_size


_KINDS: Final = ("decode", "prefill", "products", "step")
H200: Final = Section(
    "engine.json", "The engine",
    "Random weights in the shapes of the published models; batch 1; bf16, sums in f32; greedy. Made by `tileproof "
    "bench --suite h200`; [the contestants, and how they take turns](../../../docs/h200.md). *graph* is the "
    "engine's captured step, replayed. The limit of decode is 4.8 TB/s for weights, keys and values; `read` is the "
    "rate of `torch.sum`. The limit of prefill is 989 TFLOP/s of bf16; its peer is only the GEMMs and attention, in "
    "one graph.",
    {f"{model} {kind}": f"{title}, {what}"
     for model, title in (("qwen3-4b", "Qwen3-4B"), ("qwen3-32b", "Qwen3-32B"))
     for kind, what in zip(_KINDS, ("decode", "prefill", "only the GEMVs of a decode step",
                                    "one decode step at context 512, each kind of operation alone"), strict=True)},
    pictures=(
        ("Tokens per second", "engine-decode.png", "curves", ("qwen3-4b decode", "qwen3-32b decode")),
        ("Against peers", "engine-peers.png", "ratios",
         tuple(f"{model} {kind}" for model in GOALS for kind in _KINDS[:3])),
    ),
    page="engine.md",
)  # fmt: skip


# On the CPU, against llama.cpp.

LLAMA: Final = "llama.cpp"
LLM: Final = Section(
    "llm.json", "The engine against llama.cpp",
    "Both engines take turns on the same two threads, each in a process of its own that stays. Figures are of the "
    "best round, in brackets of the median one. Decode is of single tokens at a context of 128; prefill is of 512 "
    "tokens, up to the first new token. `read` is a loop in the same rounds that only reads as many bytes of "
    "memory. Turns during which other processes used more than a tenth of a core were thrown away and repeated. The "
    "model of Qwen3's shape has random weights, to which the text of the perplexity means nothing. llama.cpp comes "
    "from the wheel of `xllamacpp`, which is built for AVX2: it uses neither AVX-512 nor VNNI. Flash attention is "
    "on, which is faster here than off. Memory is the peak of the process less what it had before the model was "
    "loaded.",
    {"decode": "Decode", "prefill": "Prefill, 512 tokens", "memory": "Memory"},
    pictures=(("Against llama.cpp", "llm.png", "ratios", ()),), page="llm.md",
)  # fmt: skip
_DECODE, _OF_LIMIT, _PREFILL_GOAL, _MEMORY = 1.2, 0.9, 1.0, 1.15


@dataclass(frozen=True, slots=True)
class Turns:
    """The rounds of one question to one engine, in tokens or bytes per second."""

    rounds: tuple[float, ...]
    is_loaded: bool = False
    outside: float = 0.0

    def figure(self, name: str, tokens: float = 1) -> Figure:
        """Seconds for so many tokens: of the best round, and of the median one."""
        middle = tokens / statistics.median(self.rounds)
        return Figure(name, (tokens / max(self.rounds),), middle, self.is_loaded, self.outside)


@dataclass(frozen=True, slots=True)
class Side:
    """One engine with one model."""

    decode: Turns
    prefill: Turns
    streamed: int
    """Bytes of weights that a token reads."""
    base: int
    """Bytes of the process before the model came."""
    peak: int
    weights: int
    cache: int
    loading: float
    """Seconds."""
    perplexity: float | None = None


def cpu_lines(model: str, kinds: tuple[str, str], ours: Side, theirs: Side, read: Turns, same: tuple[int, int] | None,
              apart: float | None, prompt: int = 512) -> list[Line]:  # fmt: skip
    """A model in one precision, ours and llama.cpp's, by both engines."""
    name, size = f"{model} {kinds[0]}", " / ".join(kinds)

    def line(what: str, of: Any, unit: Unit, goal: Goal, **more: Any) -> Line:
        figures: dict[str, Any] = {"tileproof": of(OURS, ours), "peers": {LLAMA: (of(LLAMA, theirs),)}}
        return Line(f"{name} {what}", what, size, unit=unit, goals=(goal,), **figures, **more)

    floor = Figure("read", (ours.streamed / max(read.rounds),), None, read.is_loaded, read.outside)
    facts = {
        "perplexity, tileproof / llama.cpp": f"{_number(ours.perplexity)} / {_number(theirs.perplexity)}",
        "same first choice": "-" if same is None else f"{same[0]} of {same[1]}",
        "logprobs apart at most": "-" if apart is None else f"{apart:.3f}",
    }
    needed = ours.weights + ours.cache
    return [
        line("decode", lambda who, side: side.decode.figure(who), "tok/s", Goal(_DECODE, LLAMA, or_limit=_OF_LIMIT),
             tokens=1, bytes=ours.streamed, yardsticks={"read": floor}, facts=facts),
        line("prefill", lambda who, side: side.prefill.figure(who, prompt), "tok/s", Goal(_PREFILL_GOAL, LLAMA),
             tokens=prompt),
        line("memory", lambda who, side: Figure(who, (float(side.peak - side.base),)), "B",
             Goal(_MEMORY * needed, "at most"), limit=needed,
             facts={"seconds of loading": f"{ours.loading:.1f} / {theirs.loading:.1f}"}),
    ]  # fmt: skip


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3f}" if value < 1e5 else f"{value:.3g}"
