"""`tileproof run`: generates a completion with a model, streams it, and prints its speed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileproof.llm import Message, SamplingParams

from .chat import profiles
from .chat.completion import Answer
from .chat.memory_rate import read_rate
from .chat.model import chosen_model, opened, run_command
from .chat.model_options import add_model_options, add_sampling_options, format_sampling, place_of, sampling_of
from .chat.terminal import Notes
from .command_line import Commands, UsageError, add_command

if TYPE_CHECKING:
    from tileproof.llm import LLM

EXAMPLES = """\
examples:
  tileproof run --prompt "What is the capital of France?"        the smallest model found here
  tileproof run --model smollm2 --prompt "Tell me a story." --sample --max-new-tokens 400
  tileproof run --model models/Qwen3-0.6B --prompt "2 + 2?" --no-thinking --system "Answer with a number."
  tileproof run --model model.gguf --raw-prompt --prompt "def fibonacci(n):" --stop $'\\n\\n'
  git diff | tileproof run --prompt - --system "Summarize this change."
  tileproof run --model smollm2 --prompt Hi --profile            where the time goes, as a table and a picture
  tileproof run --prompt Hi --json --quiet > answer.json         for a program

The text is streamed to the standard output, all else to the error stream: what was loaded, the speed of prefill and
decode, and the share of this machine's memory bandwidth, measured in the same process. The prompt is put into the chat
template of the model; with --raw-prompt the model continues it as it is.

Decoding is greedy unless --sample or a number such as --temperature is given. --sample alone samples as the model's
generation_config.json says, else with temperature 0.7 and top-p 0.95; the seed is printed, to sample the same again.

The exit code is 0, or 2 if the model, the prompt or a setting cannot be used, or 130 after Ctrl-C.
"""
NEW_TOKENS = 256


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Generates text with a Qwen3 or Llama model. Every kernel that runs is proved safe."
    parser = add_command(commands, "run", summary, description, EXAMPLES)
    option = parser.add_argument
    prompts = parser.add_mutually_exclusive_group(required=True)
    prompts.add_argument("-p", "--prompt", metavar="TEXT", help="the prompt; - reads it from the standard input")
    prompts.add_argument("-f", "--prompt-file", metavar="FILE", help="a file with the prompt")
    option("--system", metavar="TEXT", help="a system message before the prompt")
    option("--raw-prompt", action="store_true", help="continue the prompt as it is, without the chat template")
    option("--thinking", action=argparse.BooleanOptionalAction, help="whether a model that can think does so first")
    add_model_options(parser)
    add_sampling_options(parser, new_tokens=NEW_TOKENS)
    option("--logprobs", metavar="N", type=int, help="with --json, the logprobs of tokens, and of the N likeliest")
    option("--profile", action="store_true", help="print the time of each operation of a decode step, and draw it")
    option("--profile-out", metavar="FILE", help="the picture (default: profile.png, or the next name that is free)")
    option("--json", action="store_true", help="print one object at the end, with the text, its tokens and figures")
    option("--quiet", action="store_true", help="print the text and nothing else, errors excepted")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.logprobs is not None and not options.json:
        raise UsageError("--logprobs is part of the object that --json prints: add --json")
    picture = _picture(options)
    place = place_of(options)
    prompt = _prompt(options)
    notes = Notes(quiet=options.quiet)
    path = chosen_model(options.model, notes)
    params = replace(sampling_of(options, path), logprobs=options.logprobs)
    llm = opened(path, place, notes)
    tokens = prompt_tokens(llm, prompt, options)
    if params.temperature:
        notes.note(f"sampling with {format_sampling(params)}")
    answer = Answer(llm, tokens, params)
    with closing(answer.stream()) as pieces:
        for piece in pieces:
            notes.begin_text()
            if not options.json:
                sys.stdout.write(piece)
                sys.stdout.flush()
    if not options.json and not answer.text.endswith("\n"):
        print(flush=True)
    _report(options, notes, llm, answer, params)
    if options.profile:
        profile = llm.profile(context=min(len(tokens) + len(answer.tokens), llm.max_seq_len - 1))
        for line in profiles.lines(profile):
            print(line, file=sys.stderr)
        print(profiles.draw(llm.config.name, profile, picture), file=sys.stderr)
    return 0


def _report(options: argparse.Namespace, notes: Notes, llm: LLM, answer: Answer, params: SamplingParams) -> None:
    """Prints the figures: as lines, or as an object."""
    if notes.is_quiet and not options.json:
        return
    figures = answer.figures(read_rate(llm.device))
    if answer.finish == "length":
        limit = "--max-new-tokens" if len(answer.tokens) >= params.max_new_tokens else "--max-seq-len"
        notes.note(f"stopped after {len(answer.tokens)} tokens: {limit} was reached")
    for line in figures.lines():
        notes.note(line)
    if options.json:
        document: dict[str, Any] = {
            "format": 1, "model": llm.config.name, "text": answer.text, "tokens": answer.tokens,
            "finish": answer.finish, "seed": params.seed, "load_seconds": llm.load_seconds, "memory": dict(llm.memory),
        }  # fmt: skip
        if options.logprobs is not None:
            document["logprobs"] = [asdict(each) for each in answer.logprobs]
        print(json.dumps(document | figures.as_json(), indent=2, ensure_ascii=False))


def prompt_tokens(llm: LLM, prompt: str, options: argparse.Namespace) -> Sequence[int]:
    """The prompt as tokens: as it is, or in the model's chat template."""
    if options.raw_prompt:
        return llm.text.encode(prompt)
    system = [Message("system", options.system)] if options.system else []
    return llm.text.chat_prompt([*system, Message("user", prompt)], thinking=options.thinking)


def _prompt(options: argparse.Namespace) -> str:
    if options.raw_prompt and (options.system or options.thinking is not None):
        option = "--system" if options.system else "--thinking" if options.thinking else "--no-thinking"
        raise UsageError(f"{option} is for the chat template: leave out --raw-prompt")
    source = options.prompt_file or ("the standard input" if options.prompt == "-" else "--prompt")
    try:
        if options.prompt_file:
            prompt = Path(options.prompt_file).read_text(encoding="utf-8")
        else:
            prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    except UnicodeDecodeError as error:
        raise UsageError(f"{source} is not UTF-8 text: {error.reason}") from None
    except OSError as error:
        raise UsageError(f"--prompt-file {source}: {error.strerror}") from None
    if not prompt.strip():
        raise UsageError(f'{source} has no text: say what to answer, such as --prompt "What is the capital of France?"')
    return prompt


def _picture(options: argparse.Namespace) -> Path:
    """Where the picture of a profile goes; one that is there is not replaced."""
    if options.profile_out is None:
        return profiles.free_name(Path("profile.png"))
    path = Path(options.profile_out)
    if not options.profile:
        raise UsageError("--profile-out is where the picture of --profile goes: add --profile")
    if path.exists():
        raise UsageError(f"--profile-out {path}: this file is there already; name another, or remove it")
    if not path.parent.is_dir():
        raise UsageError(f"--profile-out {path}: there is no folder {path.parent}")
    return path
