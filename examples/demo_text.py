"""Text from a real model on this machine's CPU: every kernel that runs was proved safe before its first launch."""

import sys
from contextlib import closing

from tileproof.cli.chat.completion import Answer
from tileproof.cli.chat.memory_rate import read_rate
from tileproof.cli.chat.model import line_of, opened
from tileproof.cli.chat.model_options import Place
from tileproof.cli.chat.terminal import Notes
from tileproof.diagnostics import TileproofError
from tileproof.llm import Message, SamplingParams
from tileproof.llm.loader.find import resolve

MODEL = "smollm2"
CONTEXT = 2048
QUESTIONS = (
    ("What is the capital of France?", SamplingParams(max_new_tokens=48)),
    ("Name three planets of the solar system.", SamplingParams(max_new_tokens=48)),
    ("Why is the sky blue? Answer in two sentences.", SamplingParams(max_new_tokens=96, repetition_penalty=1.1)),
    ("Write a haiku about the sea.", SamplingParams(max_new_tokens=64)),
)


def main() -> None:
    notes = Notes()
    print("SmolLM2-135M-Instruct, 135 million parameters, in bf16. The first run compiles and proves the kernels.\n")
    llm = opened(resolve(MODEL), Place("cpu", None, CONTEXT, None), notes)
    tokens = seconds = 0.0
    for question, params in QUESTIONS:
        print(f"\n> {question}", flush=True)
        answer = Answer(llm, llm.text.chat_prompt([Message("user", question)]), params)
        with closing(answer.stream()) as pieces:
            for piece in pieces:
                notes.begin_text()
                print(piece, end="", flush=True)
        print()
        figures = answer.figures()
        tokens += figures.new_tokens - figures.first_tokens
        seconds += figures.decode_seconds
    speed, limit = tokens / seconds, read_rate()
    reached = speed * llm.weights.streamed
    print(f"\n{speed:.1f} tokens/s: {reached / 1e9:.1f} GB/s of weights, {100 * reached / limit:.0f} % of the "
          f"{limit / 1e9:.1f} GB/s that this machine reads")  # fmt: skip
    print('Next: .venv/bin/tileproof chat, or .venv/bin/tileproof run --prompt "..."')


if __name__ == "__main__":
    try:
        main()
    except TileproofError as error:
        sys.exit(line_of(error))
    except KeyboardInterrupt:
        sys.exit(130)
