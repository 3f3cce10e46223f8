"""How long kernels take to compile: two layers of a model, whose kernels are those of all, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace

from tileproof.llm import LLM, SamplingParams
from tileproof.llm.models.shapes import shape

from . import h200_ours as ours
from .h200_weights import made

PROMPT = 512


def cold_and_warm(model: str, device: str) -> str:
    """Seconds to make a step of a prompt and one of a token, with an empty kernel cache and with a filled one."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.h200_cold", model, device]
        environment = {**os.environ, "TILEPROOF_CACHE_DIR": folder}
        found = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    cold, warm = (float(each.split()[-1]) for each in found)
    return f"{cold:.1f} cold, {warm:.1f} warm"


def main(arguments: Sequence[str]) -> int:
    """Prints the seconds that making the steps takes; `both`, with an empty cache and with a filled one."""
    model, *rest = arguments
    if rest[:1] == ["both"]:
        print(cold_and_warm(model, *rest[1:] or ["cuda:0"]))
        return 0
    device = rest[0] if rest else "cuda:0"
    config = replace(shape(model), num_hidden_layers=2)
    llm = LLM.of(config, made(config, device).ours(), device=device, max_seq_len=2 * PROMPT, max_batch=1, chunk=PROMPT)
    llm.generate(ours.text_of(llm, PROMPT, 1), SamplingParams(max_new_tokens=4, ignore_eos=True))
    print(llm.runner.compile_seconds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
