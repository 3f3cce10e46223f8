"""Generates text for eight sequences at once, where z3 cannot be imported.

    python text_without_z3.py MODEL

Every kernel is proved in this process: proofs on disk are not used. Prints, as JSON, the texts and their lengths in
tokens.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.abc import MetaPathFinder
from typing import Any

os.environ["TILEPROOF_CACHE_DIR"] = "off"

PROMPTS = (
    "The capital of France is", "One, two, three,", "Water boils at", "def add(a, b):", "Once upon a time",
    "The opposite of hot is", "Roses are red,", "To be or not",
)  # fmt: skip


class WithoutZ3(MetaPathFinder):
    """Refuses to import z3, as a machine without it does."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "z3":
            raise ModuleNotFoundError("there is no z3 here", name="z3")


def main() -> None:
    sys.meta_path.insert(0, WithoutZ3())
    from tileproof.llm import LLM, SamplingParams

    llm = LLM(sys.argv[1], device="cpu", max_seq_len=64, max_batch=len(PROMPTS))
    outputs = llm.generate(list(PROMPTS), SamplingParams(max_new_tokens=3))
    print(json.dumps([[output.text, len(output.tokens)] for output in outputs]))


if __name__ == "__main__":
    main()
