"""`tileproof bench`: the speed of prefill and decode on this machine, against its memory bandwidth."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .chat.memory_rate import read_rate
from .chat.model import chosen_model, opened, run_command
from .chat.model_options import Place, add_model_options, place_of
from .chat.sweep_report import Report, file_names, write
from .chat.sweeps import Row, measured, planned
from .chat.terminal import Notes, format_bytes, format_count
from .command_line import Commands, UsageError, add_command

if TYPE_CHECKING:
    from tileproof.llm import LLM

EXAMPLES = """\
examples:
  tileproof bench --model smollm2                                decode and prefill, a table
  tileproof bench --model smollm2 --quantize int8 --into results the same with 8-bit weights, kept as files
  tileproof bench --shape qwen3-0.6b --tg 64 --pp 512            random weights in a published shape: no model is needed
  tileproof bench --shape qwen3-4b --context 128,4096 --pp none  decode alone, at a short and a long context
  tileproof bench --model smollm2 --json > bench.json
  tileproof bench --suite h200 --save results                    the engine on an H200 next to its peers, ten minutes

`tg N at C` decodes N tokens at context C; `pp N` is the prefill of a prompt of N tokens, up to the first token after
it. Each is run --repeat times; the table has the best and the median. GB/s counts the weights, and the keys and values
in the cache, for each token; its share is of the rate at which a kernel that does nothing else reads memory, the best
of those measured before, between and after the rows.

A run during which other processes used more than a tenth of a core does not count and is repeated; where every run was
like that, the row is marked as loaded. The exit code is 0, 1 if a row is loaded, 2 for wrong usage, 130
after Ctrl-C.
"""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Measures tokens per second of decode (tg) and prefill (pp)."
    parser = add_command(commands, "bench", summary, description, EXAMPLES)
    option = parser.add_argument
    add_model_options(parser)
    option("--shape", metavar="NAME", help="random weights in the shape of a published model, such as qwen3-0.6b")
    option("--tg", metavar="N,...", default="128", help="tokens to decode (default: %(default)s; or none)")
    option("--context", metavar="N,...", default="128,512", help="contexts to decode at (default: %(default)s)")
    option("--pp", metavar="N,...", default="128,512", help="lengths of prompts (default: %(default)s; or none)")
    option("--repeat", metavar="N", type=int, default=5, help="runs of each (default: %(default)s)")
    option("--into", metavar="DIR", help="write JSON, Markdown and a picture into this folder")
    option("--json", action="store_true", help="print an object for the table")
    option("--quiet", action="store_true", help="print the table and nothing else, errors excepted")
    suite = "the engine on an H200 next to its peers; all that follows is for it: --suite h200 --help"
    option("--suite", metavar="h200 ...", nargs=argparse.REMAINDER, help=suite)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if options.suite is not None:
        return suite_main(options.suite)(options.suite[1:])
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    contexts = numbers("context", options.context) or [1]
    plan = planned(numbers("tg", options.tg), contexts, numbers("pp", options.pp))
    if options.repeat < 1:
        raise UsageError(f"--repeat {options.repeat}: at least 1")
    if not plan:
        raise UsageError("nothing is left to measure: give --tg or --pp a number")
    if options.model and options.shape:
        raise UsageError("--model has weights of its own: leave out --shape, or --model")
    into = _folder(options.into)
    notes = Notes(quiet=options.quiet)
    llm = _opened(options, place_of(options), notes)
    for point in plan:
        if point.places > llm.max_seq_len:
            room = f"there is room for {llm.max_seq_len}"
            raise UsageError(f"{point} takes {point.places} tokens, and {room}: raise --max-seq-len")
    rows: list[Row] = []
    limit = read_rate(llm.device)
    for point in plan:
        row = measured(llm, point, options.repeat)
        limit = max(limit, read_rate(llm.device))
        rows.append(replace(row, read_rate=limit))
        notes.note(rows[-1].line())
    rows = [replace(row, read_rate=limit) for row in rows]
    report = Report.of(llm, rows)
    print(report.as_json() if options.json else report.as_markdown(), flush=True)
    if into is not None:
        for line in write(report, into, file_names(report)):
            notes.note(line)
    if report.is_loaded:
        notes.warn("the machine was busy with something else: rows marked as loaded are slower than they would be")
    return 1 if report.is_loaded else 0


def numbers(name: str, text: str) -> list[int]:
    """`128,512` as numbers; none for `none`."""
    if text.strip().lower() == "none":
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 19 and int(part) > 0 for part in parts):
        raise UsageError(f"--{name} {text}: write numbers from 1, such as 128,512, or none")
    return [int(part) for part in parts]


def _folder(text: str | None) -> Path | None:
    if text is None:
        return None
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--into {path}: {error.strerror}") from None
    return path


def _opened(options: argparse.Namespace, place: Place, notes: Notes) -> LLM:
    if options.shape is None:
        return opened(chosen_model(options.model, notes), place, notes)
    from tileproof.llm import LLM
    from tileproof.llm.llm import device_of
    from tileproof.llm.models.shapes import random_model, shape

    device = device_of(place.device)
    began = time.perf_counter()
    shape(options.shape)
    notes.note(f"random weights in the shape of {options.shape}: its text means nothing, its speed does")
    config, weights = random_model(options.shape, device, place.quantize)
    llm = LLM.of(config, weights, device=device, max_seq_len=place.max_seq_len, memory=place.memory, max_batch=1)
    kept = f"{format_bytes(weights.nbytes)} of weights, {format_count(config.parameters)} parameters"
    notes.note(f"made {kept}, in {time.perf_counter() - began:.1f} s")
    return llm


def suite_main(words: Sequence[str]) -> Callable[[Sequence[str]], int]:
    """The function that runs a suite of benchmarks/engine: the first word names it, the others are its options."""
    if list(words[:1]) != ["h200"]:
        raise UsageError(f"--suite {' '.join(words[:1])}: there is no such suite; there is h200")
    for root in (Path.cwd(), Path(__file__).resolve().parents[3]):
        if (root / "benchmarks" / "engine" / "h200.py").is_file() and str(root) not in sys.path:
            sys.path.insert(0, str(root))
    try:
        main: Callable[[Sequence[str]], int] = import_module("benchmarks.engine.h200").main
    except ModuleNotFoundError as error:
        if error.name not in ("benchmarks", "benchmarks.engine", "benchmarks.engine.h200"):
            raise
        raise UsageError("suites are not installed with tileproof: run the command in a checkout") from None
    return main
