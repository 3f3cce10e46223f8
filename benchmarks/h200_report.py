"""What the suite found: rows with goals, as data and as the page h200's engine.md."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from .tables import markdown

FILE: Final = "engine.json"
PAGE: Final = "engine.md"
PICTURES: Final = (
    ("Tokens per second over context", "engine-decode.png"),
    ("Share of the bandwidth", "engine-bandwidth.png"),
    ("Where a step goes", "engine-step.png"),
)
DATASHEET: Final = 4.8e12
"""Bytes that an H200 reads in a second, by its datasheet."""
OURS: Final = "tileproof"
GRAPH: Final = "tileproof, graph alone"
PROMPT_PEER: Final = "cuBLAS + cuDNN, products alone"
GOALS: Final = {"qwen3-4b": (400.0, 500.0), "qwen3-32b": (62.0, 64.0)}
"""Tokens per second at contexts up to 512: asked for, and the project's goal."""
AHEAD: Final = 1.10
INT8: Final = 1.5
PREFILL: Final = 0.95
JUDGED_PROMPTS: Final = (512, 2048, 8192)
What = Literal["tg", "pp", "chain"]


@dataclass(frozen=True, slots=True)
class Row:
    """One contestant at one size."""

    what: What
    """Tokens one by one, a prompt, or only the matrix products of a token."""
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
    def bytes_per_second(self) -> float:
        return self.median * self.bytes_per_token


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
        found = (each for each in self.rows if each.rounds and (each.what, each.who) == (what, who))
        return next((each for each in found if (each.context, each.weights) == (context, weights)), None)

    def peers(self, context: int) -> list[Row]:
        """Those of others who decode, at a context."""
        return [each for each in self.rows if each.what == "tg" and each.context == context and each.rounds
                and not each.who.startswith(OURS)]  # fmt: skip

    def goals(self) -> Iterator[tuple[bool, str]]:
        """What was asked for, whether it is reached, and the figures; nothing is asked of a model that is cut."""
        if not self.is_whole:
            return
        asked, wished = GOALS.get(self.name, (0.0, 0.0))
        for context in (128, 512):
            ours = self.row("tg", OURS, context)
            if ours is None:
                continue
            if asked:
                said = f"{self.name}: {ours.median:.1f} tokens/s at {context}, asked for {asked:g}"
                yield ours.median >= asked, f"{said}, the project's goal is {wished:g}"
            for peer in self.peers(context):
                ratio = ours.median / peer.median
                yield ratio >= AHEAD, f"{self.name}: {ratio:.2f}x {peer.who} at {context}, asked for {AHEAD:g}x"
            small = self.row("tg", OURS, context, "int8")
            if small is not None and self.name == "qwen3-32b":
                ratio = small.median / ours.median
                yield ratio >= INT8, f"{self.name}: 8-bit weights {ratio:.2f}x bf16 at {context}, asked for {INT8:g}x"
        for length in JUDGED_PROMPTS:
            rows = [self.row("pp", who, length) for who in (OURS, GRAPH, PROMPT_PEER)]
            if rows[1] is not None and rows[2] is not None:
                alone = rows[1].median / rows[2].median
                said = f"{self.name}: prompt of {length}, our graph {alone:.3f}x the products alone in one graph"
                said += f", asked for {PREFILL:g}x"
                if rows[0] is not None:
                    said += f"; by `generate`, in turns of its own, {rows[0].median / rows[2].median:.3f}x"
                yield alone >= PREFILL, said


@dataclass(frozen=True, slots=True)
class Found:
    """All of a run."""

    models: tuple[Model, ...]
    machine: Mapping[str, str] = field(default_factory=dict)


# Data.


def written(found: Found) -> str:
    """The data as text."""
    return json.dumps({"format": 1, **asdict(found)}, indent=1) + "\n"


def read(text: str) -> Found:
    """What was found, from the data."""
    data = json.loads(text)
    return Found(tuple(map(model_of, data["models"])), data["machine"])


def model_of(given: Mapping[str, Any]) -> Model:
    """A model, from its data."""
    plain = {**given, "rows": tuple(map(_row, given["rows"]))}
    return Model(**plain)


def _row(given: Mapping[str, Any]) -> Row:
    steps = given["steps"]
    return Row(**{**given, "rounds": tuple(given["rounds"]), "steps": None if steps is None else tuple(steps)})


# Tables.

HEADS: Final = (
    "context", "who", "weights", "tokens/s", "rounds from, to", "ours by theirs", "step ms, p10 / p50 / p90", "GB/s",
    "of 4.8 TB/s", "of the read rate", "nodes", "first token ms",
)  # fmt: skip
PROMPT_HEADS: Final = ("prompt", "who", "tokens/s", "rounds from, to", "by products alone", "ms")
CHAIN_HEADS: Final = ("who", "ms", "tokens/s", "GB/s", "of 4.8 TB/s", "of the read rate", "nodes")


def decode_table(model: Model) -> list[tuple[str, ...]]:
    """Rows of decoding, by context."""
    rows = []
    for row in sorted((each for each in model.rows if each.what == "tg"), key=lambda each: each.context):
        if not row.rounds:
            rows.append((str(row.context or "-"), row.who, row.weights, row.note, *[""] * 8))
            continue
        ours, rate = model.row("tg", OURS, row.context), row.bytes_per_second
        is_peer = not row.who.startswith(OURS)
        ratio = f"{ours.median / row.median:.2f}x" if ours is not None and is_peer else ""
        steps = "-" if row.steps is None else " / ".join(f"{each:.3f}" for each in row.steps)
        rows.append((
            str(row.context), row.who, row.weights, _speed(row.median), _range(row.rounds), ratio, steps,
            f"{rate / 1e9:.0f}", _percent(rate / DATASHEET), _percent(rate / model.read_rate),
            "-" if row.nodes is None else str(row.nodes), "-" if row.first is None else f"{1e3 * row.first:.1f}",
        ))  # fmt: skip
    return rows


def prompt_table(model: Model) -> list[tuple[str, ...]]:
    """Rows of prompts."""
    rows = []
    for row in sorted((each for each in model.rows if each.what == "pp"), key=lambda each: each.context):
        if not row.rounds:
            rows.append((str(row.context), row.who, row.note, "", "", ""))
            continue
        peer = model.row("pp", PROMPT_PEER, row.context)
        ratio = f"{row.median / peer.median:.2f}x" if peer is not None and row is not peer else ""
        rows.append((str(row.context), row.who, f"{row.median:.0f}", _range(row.rounds), ratio,
                     f"{1e3 * row.context / row.median:.2f}"))  # fmt: skip
    return rows


def chain_table(model: Model) -> list[tuple[str, ...]]:
    """Rows of products alone."""
    return [
        (row.who, f"{1e3 / row.median:.3f}", _speed(row.median), f"{row.bytes_per_second / 1e9:.0f}",
         _percent(row.bytes_per_second / DATASHEET), _percent(row.bytes_per_second / model.read_rate),
         "-" if row.nodes is None else str(row.nodes))
        for row in model.rows if row.what == "chain" and row.rounds
    ]  # fmt: skip


def summary(found: Found) -> list[str]:
    """Each goal, and whether it is met."""
    return [f"{'met' if met else 'MISSED'}: {said}" for model in found.models for met, said in model.goals()]


def _speed(value: float) -> str:
    return f"{value:.1f}"


def _range(rounds: Sequence[float]) -> str:
    digits = 1 if max(rounds) < 1000 else 0
    return f"{min(rounds):.{digits}f}, {max(rounds):.{digits}f}" if len(rounds) > 1 else "one round"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


# The page.

_METHOD: Final = """\
Random weights, N(0, 1 / inputs), in the shapes of the published models; batch 1; bf16 activations, sums in f32 (cuBLAS
may add partial sums in bf16); the likeliest token is chosen. All contestants of a model are in one process, read the
same weights in the same memory, and take turns, round by round. Before anything is timed, the logits of every
contestant are compared with ours behind the same tokens.

- **tileproof** is `LLM.stream`: host, choice of the token and every token handed to the caller are in it; tokens per
  second from the first token to the last. Steps are the times of some eight tokens, by as many: tokens are read
  some at a time. *graph alone* is the engine's captured step, replayed.
- **compiled (gpt-fast style)** is a torch model written for `torch.compile` (`max-autotune-no-cudagraphs`, coordinate
  descent tuning), merged weights, attention by the split kernel of the proxy, in a CUDA graph that feeds token and
  position back on the GPU. Its host does nothing but replay.
- **proxy** is cuBLAS for the products and kernels in Triton for the rest, in such a graph. It launches what serving
  engines launch at batch 1, and is none of them.
- **transformers** is its Qwen3 with a static cache and `torch.compile(mode="reduce-overhead")`, each step called from
  Python. Compiling it takes about a minute: a shorter run leaves it out.
- GB/s counts the weights and, at the mean length of the text, keys and values for each token. The read rate is that
  of `torch.sum` in the same process.
- A prompt is read by `LLM.generate` with one new token, sampling and host included; *graph alone* are the steps it
  takes, replayed. Beside them stand only the merged products by cuBLAS and attention by cuDNN of all layers in one CUDA
  graph, of the same shapes: behind the last attention it is the last row alone that both go on with. No norms, no
  rotation, no SiLU, no cache are in it. Under load the GPU lowers its clock, so
  both graphs take turns of equal length in an order drawn by lot: 0.1 s of work that is not timed, at least a
  run, then as many runs as fit in 0.15 s, at least one, by the clock of the host; twice as long where a goal is judged.
  They are waited for together. `generate`, which waits for each of its own runs, has turns apart from them, ahead.
  Decoding, all make the same number of tokens in a turn, but our graph alone: 32, behind 24 that are not timed.
- Caches of peers hold random numbers when they are timed; ours is filled by the prompt."""

PUBLISHED: Final = """\
| engine | GPU | model | share of datasheet bandwidth, batch 1 |
|---|---|---|---|
| Grout | RTX 5090 | Qwen3-4B | 75-78% |
| SGLang | RTX 5090 | Qwen3-4B | 74-76% |
| vLLM | RTX 5090 | Qwen3-4B | 73-75% |
| Grout | B200 | Qwen3-32B | 65% |
| vLLM | B200 | Qwen3-32B | 63% |
| SGLang | B200 | Qwen3-32B | 62% |

None of these was run here. Shares are of the same formula, weights and keys and values read for each token, but not of
the same task: the shorter a step, the harder a high share, because launches and dependencies do not shrink with it.
Qwen3-4B takes at least 4.5 ms on an RTX 5090 and 1.7 ms on an H200, so an equal share is not equal engineering. Grout
computes in fp16, with sums in fp16 on GPUs other than sm_100; ours are bf16 with sums in f32."""


def page(found: Found, tried: str, pictures: Sequence[tuple[str, str]]) -> str:
    """The page."""
    lines = ["# The engine on an H200", "", f"Made by `tileproof bench --suite h200` from {FILE} beside it.", ""]
    lines += [_METHOD, ""]
    for title, name in pictures:
        lines += [f"![{title}]({name})", ""]
    lines += ["## Goals", "", "  \n".join(summary(found)) or "No goal was judged.", ""]
    for model in found.models:
        cut = "" if model.is_whole else f", cut to {model.layers} layers: these figures are for a look only"
        lines += [f"## {model.name}{cut}", ""]
        lines += ["### Decoding", "", markdown(HEADS, decode_table(model)), ""]
        if chain_table(model):
            lines += ["### Only the products of a token", "", markdown(CHAIN_HEADS, chain_table(model)), ""]
        if prompt_table(model):
            lines += ["### Prompts", "", markdown(PROMPT_HEADS, prompt_table(model)), ""]
        facts = [(name, str(value)) for name, value in model.facts.items()]
        lines += ["### The run", "", markdown(("what", "figure"), facts), ""]
    lines += ["## What others publish", "", PUBLISHED, ""]
    lines += ["## What was tried", "", tried, ""] if tried else []
    lines += ["## The machine", "", markdown(("what", "here"), list(found.machine.items())), ""]
    return "\n".join(lines)


def kept(folder: Path) -> Found | None:
    """What an earlier run left."""
    file = folder / FILE
    return read(file.read_text(encoding="utf-8")) if file.exists() else None


def joined(before: Found | None, later: Found) -> Found:
    """With the models of a later run in place of those of the same name."""
    if before is None:
        return later
    anew = {model.name: model for model in later.models}
    models = [anew.pop(model.name, model) for model in before.models]
    return Found((*models, *anew.values()), later.machine)


def write_page(folder: Path) -> Path | None:
    """Makes the page and its pictures anew from the data; None if there is none."""
    from .book import drawn_or_kept, tried
    from .h200_picture import draw

    found = kept(folder)
    if found is None:
        return None
    pictures = drawn_or_kept(folder, PICTURES, lambda: draw(folder, found))
    (folder / PAGE).write_text(page(found, tried(folder).get("engine", ""), pictures), encoding="utf-8")
    return folder / PAGE
