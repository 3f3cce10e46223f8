"""What the engine's benchmark found: rows with goals, as data, as tables, and as the page llm.md."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from .tables import markdown

FILE: Final = "llm.json"
PAGE: Final = "llm.md"
PICTURE: Final = "llm.png"
DECODE: Final = 1.2
"""How many times as fast as llama.cpp tokens are to come, unless memory is the limit."""
OF_LIMIT: Final = 0.9
"""The part of the read limit that will do instead."""
PREFILL: Final = 1.0
MEMORY: Final = 1.15
"""How many times weights and cache the peak of memory may be."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The quiet rounds of one contestant, in tokens or bytes per second."""

    rounds: tuple[float, ...]
    loaded: int = 0
    """Turns that others disturbed."""
    outside: float = 0.0
    """The most cores that others used in a round that counts."""
    is_loaded: bool = False
    """Whether there was no quiet round, and these are what others disturbed."""

    @property
    def best(self) -> float:
        return max(self.rounds)

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def shown(self, unit: float = 1.0) -> str:
        digits, remark = 0 if self.best / unit >= 100 else 1, ", loaded" if self.is_loaded else ""
        return f"{self.best / unit:.{digits}f} ({self.median / unit:.{digits}f}){remark}"


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of a process: what it was made of before the model came, and its peak."""

    base: int
    peak: int
    weights: int
    cache: int

    @property
    def ratio(self) -> float:
        """What the model brought, by what it needs."""
        return (self.peak - self.base) / (self.weights + self.cache)


@dataclass(frozen=True, slots=True)
class Side:
    """One engine with one model."""

    decode: Figure
    prefill: Figure
    streamed: int
    """Bytes of weights that a token reads."""
    memory: Memory
    loaded: float
    """Seconds of loading."""
    perplexity: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A model in one precision, by both engines."""

    model: str
    ours: str
    theirs: str
    tileproof: Side
    peer: Side
    read: Figure
    """Bytes per second that this machine reads at most, in the same rounds."""
    same_first: tuple[int, int] | None = None
    """In how many places of how many the two engines have the same likeliest token."""
    largest_difference: float | None = None
    """Between two logprobs of the same token of the text."""

    @property
    def decode_ratio(self) -> float:
        return self.tileproof.decode.best / self.peer.decode.best

    @property
    def prefill_ratio(self) -> float:
        return self.tileproof.prefill.best / self.peer.prefill.best

    def of_limit(self, side: Side) -> float:
        """How near decoding is to only reading the weights."""
        return side.decode.best * side.streamed / self.read.best

    @property
    def missed(self) -> list[str]:
        """Goals that are not reached, with what is."""
        return [said for what, said in self._short() if not self.is_unsure(what)]

    @property
    def unsure(self) -> list[str]:
        """What cannot be judged: the machine was never quiet."""
        return [what for what in ("decode", "prefill") if self.is_unsure(what)]

    def is_unsure(self, what: str) -> bool:
        """Whether a goal rests on figures that others disturbed."""
        figures: tuple[Figure, ...] = ()
        if what == "decode":
            figures = self.tileproof.decode, self.peer.decode, self.read
        elif what == "prefill":
            figures = self.tileproof.prefill, self.peer.prefill
        return any(figure.is_loaded for figure in figures)

    def _short(self) -> Iterator[tuple[str, str]]:
        limit = self.of_limit(self.tileproof)
        if self.decode_ratio < DECODE and limit < OF_LIMIT:
            said = f"{self.decode_ratio:.2f} x llama.cpp and {limit:.2f} of the read limit"
            yield "decode", f"decode: {said}, not {DECODE:g} or {OF_LIMIT:g}"
        if self.prefill_ratio < PREFILL:
            yield "prefill", f"prefill: {self.prefill_ratio:.2f} x llama.cpp, not {PREFILL:g}"
        if self.tileproof.memory.ratio > MEMORY:
            yield "memory", f"memory: {self.tileproof.memory.ratio:.2f} x weights and cache, not {MEMORY:g}"


@dataclass(frozen=True, slots=True)
class Found:
    """All of a run."""

    lines: tuple[Line, ...]
    machine: Mapping[str, str] = field(default_factory=dict)


# Tables.

SPEED_HEADS: Final = ("model", "weights", "tileproof tok/s", "llama.cpp tok/s", "ratio", "of the read limit", "goal")
PREFILL_HEADS: Final = ("model", "weights", "tileproof tok/s", "llama.cpp tok/s", "ratio", "goal")
MEMORY_HEADS: Final = ("model", "weights", "engine", "weights + cache", "before loading", "peak", "ratio", "load")
JUDGED_HEADS: Final = ("model", "weights", "perplexity, tileproof", "llama.cpp", "same first choice", "most apart")


def decode_table(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    return [(
        line.model, f"{line.ours} / {line.theirs}", line.tileproof.decode.shown(), line.peer.decode.shown(),
        f"{line.decode_ratio:.2f}x", f"{line.of_limit(line.tileproof):.2f} / {line.of_limit(line.peer):.2f}",
        _goal(line, "decode"),
    ) for line in lines]  # fmt: skip


def prefill_table(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    return [(
        line.model, f"{line.ours} / {line.theirs}", line.tileproof.prefill.shown(), line.peer.prefill.shown(),
        f"{line.prefill_ratio:.2f}x", _goal(line, "prefill"),
    ) for line in lines]  # fmt: skip


def memory_table(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    return [
        (line.model, kind, name, _mb(side.memory.weights + side.memory.cache), _mb(side.memory.base),
         _mb(side.memory.peak), f"{side.memory.ratio:.2f}", f"{side.loaded:.1f} s")
        for line in lines
        for name, kind, side in (("tileproof", line.ours, line.tileproof), ("llama.cpp", line.theirs, line.peer))
    ]  # fmt: skip


def judged_table(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    return [(
        line.model, f"{line.ours} / {line.theirs}", _number(line.tileproof.perplexity), _number(line.peer.perplexity),
        "-" if line.same_first is None else f"{line.same_first[0]} of {line.same_first[1]}",
        "-" if line.largest_difference is None else f"{line.largest_difference:.3f}",
    ) for line in lines]  # fmt: skip


def _goal(line: Line, what: str) -> str:
    if line.is_unsure(what):
        return "not judged: loaded"
    missed = [each for each in line.missed if each.startswith(what)]
    return f"MISSED: {missed[0].partition(': ')[2]}" if missed else "met"


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3f}" if value < 1e5 else f"{value:.3g}"


def summary(lines: Sequence[Line]) -> str:
    """Which goals are missed."""
    missed = [f"MISSED: {line.model}, {line.ours}: {each}" for line in lines for each in line.missed]
    unsure = [f"not judged, loaded: {line.model}, {line.ours}: {each}" for line in lines for each in line.unsure]
    return "\n".join(missed + unsure) or "no goal is missed"


def page(found: Found, tried: str, has_picture: bool) -> str:
    """The page."""
    lines = found.lines
    read = max((line.read.best for line in lines), default=0.0)
    rounds = min((len(line.tileproof.decode.rounds) for line in lines), default=0)
    loaded = sum(f.loaded for line in lines for s in (line.tileproof, line.peer) for f in (s.decode, s.prefill))
    outside = max(
        (f.outside for line in lines for s in (line.tileproof, line.peer) for f in (s.decode, s.prefill)), default=0.0
    )
    return "\n".join([
        "# The engine against llama.cpp", "",
        "Made by `python -m benchmarks llm` from llm.json beside it.", "",
        "Both engines take turns on the same two threads, each in a process of its own that stays. Rates are of the",
        f"best round, in brackets of the median one, of at least {rounds} that count; ratios are of the best. Decoding",
        "is of single tokens behind a prompt; prefill is of 512 tokens, up to the first token behind them. The read",
        f"limit is a loop in the same rounds that only reads memory, {read / 1e9:.1f} GB/s at best; beside it stands",
        "which part of it an engine reaches by the bytes of weights that a token needs, tileproof's and llama.cpp's.",
        "The model of Qwen3's shape has random weights. llama.cpp comes from the wheel of `xllamacpp`, which is built",
        "for AVX2: it uses neither AVX-512 nor VNNI, which this machine has and tileproof uses. Flash attention is on,",
        "which is faster here than off.", "",
        *([f"![Tokens per second]({PICTURE})", ""] if has_picture else []),
        "## Decoding", "", markdown(SPEED_HEADS, decode_table(lines)), "",
        "## A prompt of 512 tokens", "", markdown(PREFILL_HEADS, prefill_table(lines)), "",
        "## Memory", "",
        "The ratio is the peak of the process less what it had before the model was loaded (Python, libraries, and for",
        "tileproof a first small kernel), by weights and cache.", "",
        markdown(MEMORY_HEADS, memory_table(lines)), "",
        "## Are they the same model?", "",
        "Perplexity of one text, the likeliest token at each of its places, and the largest difference between the",
        "logprobs that the two give one token of the text. To random weights the text means nothing.", "",
        markdown(JUDGED_HEADS, judged_table(lines)), "",
        "## Goals", "", summary(lines).replace("\n", "  \n"), "",
        *(["## What was tried", "", tried, ""] if tried else []),
        "## The machine", "", markdown(("what", "here"), [*found.machine.items()]), "",
        f"{loaded} turns during which other processes used more than a tenth of a core were thrown away and repeated;"
        f" in those that count others used up to {outside:.2f} cores. A figure without a quiet turn is said to be"
        " loaded.", "",
    ])  # fmt: skip


# Data.


def written(found: Found) -> str:
    """The data as text."""
    rows = [
        {**asdict(line), "decode_ratio": line.decode_ratio, "prefill_ratio": line.prefill_ratio,
         "of_limit": line.of_limit(line.tileproof), "missed": line.missed}
        for line in found.lines
    ]  # fmt: skip
    return json.dumps({"machine": dict(found.machine), "rows": rows}, indent=1) + "\n"


def read(text: str) -> Found:
    """What was found, from the data."""
    data = json.loads(text)
    return Found(tuple(map(_line, data["rows"])), data["machine"])


def _line(given: Mapping[str, Any]) -> Line:
    same = given["same_first"]
    return Line(
        given["model"], given["ours"], given["theirs"], _side(given["tileproof"]), _side(given["peer"]),
        _figure(given["read"]), None if same is None else (same[0], same[1]), given["largest_difference"],
    )  # fmt: skip


def _side(given: Mapping[str, Any]) -> Side:
    plain = {name: given[name] for name in ("streamed", "loaded", "perplexity")}
    return Side(_figure(given["decode"]), _figure(given["prefill"]), memory=Memory(**given["memory"]), **plain)


def _figure(given: Mapping[str, Any]) -> Figure:
    return Figure(tuple(given["rounds"]), given["loaded"], given["outside"], given["is_loaded"])


def kept(folder: Path) -> Found | None:
    """What an earlier run left."""
    file = folder / FILE
    return read(file.read_text(encoding="utf-8")) if file.exists() else None


def joined(before: Found | None, later: Found) -> Found:
    """With the lines of a later run in place of those of the same models."""
    if before is None:
        return later
    anew = {(line.model, line.ours): line for line in later.lines}
    lines = [anew.pop((line.model, line.ours), line) for line in before.lines]
    return Found((*lines, *anew.values()), later.machine)


def write_page(folder: Path) -> Path | None:
    """Makes llm.md and llm.png anew from llm.json; None if there is none."""
    from .book import drawn_or_kept, tried
    from .llm_picture import draw

    found = kept(folder)
    if found is None:
        return None
    pictures = drawn_or_kept(folder, (("Tokens per second", PICTURE),), lambda: draw(folder / PICTURE, found.lines))
    (folder / PAGE).write_text(page(found, tried(folder).get("llm", ""), bool(pictures)), encoding="utf-8")
    return folder / PAGE
