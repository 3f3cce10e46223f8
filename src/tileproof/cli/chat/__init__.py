"""`tileproof chat`: a chat with a model in the terminal."""

from __future__ import annotations

import argparse
import sys

from tileproof.cli.command_line import Commands, add_command
from tileproof.llm import Message

from .model import chosen_model, opened, run_command
from .model_options import add_model_options, add_sampling_options, format_sampling, place_of, sampling_of
from .session import Chat
from .terminal import Notes

EXAMPLES = """\
examples:
  tileproof chat                                      with the smallest model found here
  tileproof chat --model smollm2 --system "You are a pirate."
  tileproof chat --model models/Qwen3-4B --quantize int8 --no-thinking
  printf 'Hello\\nWhat did I say?\\n' | tileproof chat --quiet      a line is a message; answers go to the output

In the chat, a line that ends with \\ continues on the next one. /help lists the commands: /clear, /system, /save,
/load, /set, /retry, /stats, /exit. Ctrl-C stops the answer, Ctrl-D ends the chat. Thinking is printed dim, and left out
of later prompts. When the chat outgrows the context, the oldest messages are left out, and a line reports it.

Tokens are sampled as the model's generation_config.json says, else with temperature 0.7 and top-p 0.95; --temperature 0
is greedy. The exit code is 0, or 2 if the model or a setting cannot be used.
"""
NEW_TOKENS = 1024


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "chat", summary, "Chats with a Qwen3 or Llama model in the terminal.", EXAMPLES)
    option = parser.add_argument
    option("--system", metavar="TEXT", help="a system message before the chat")
    option("--thinking", action=argparse.BooleanOptionalAction, help="whether a model that can think does so first")
    add_model_options(parser)
    add_sampling_options(parser, new_tokens=NEW_TOKENS)
    option("--quiet", action="store_true", help="print answers and nothing else, errors excepted")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    place = place_of(options)
    notes = Notes(quiet=options.quiet)
    path = chosen_model(options.model, notes)
    params = sampling_of(options, path, samples=True)
    llm = opened(path, place, notes)
    history = [Message("system", options.system)] if options.system else []
    # A model without a chat template, or with one that fails, is found out before the user has typed a line.
    llm.text.chat_prompt([*history, Message("user", "Hi")], thinking=options.thinking)
    chat = Chat(llm, params, history, thinking=options.thinking, notes=notes, draws_seed=options.seed is None)
    notes.note(f"{format_sampling(params)}; /help lists commands, Ctrl-C stops an answer, Ctrl-D ends")
    return chat.run(sys.stdin)
