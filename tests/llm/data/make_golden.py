"""Makes golden.npz: logits of transformers in f32 for every tiny model, and how far its bf16 is from them.

    PYTHONPATH=src:tests python tests/llm/data/make_golden.py

Needs torch and transformers. Weights and tokens come from seeded generators, so only some rows of logits are kept.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from oracles.hugging_face import logits_of
from oracles.reference_model import nearness, reference_logits
from support.checkpoints import write_folder
from support.model_cases import CASES, COUNT, STORED, key

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Writes the file, and says what is in it."""
    kept: dict[str, np.ndarray] = {}
    for case in CASES:
        tokens = case.tokens(COUNT)
        with tempfile.TemporaryDirectory() as folder:
            path = write_folder(Path(folder), case.config, case.weights)
            exact, rounded = logits_of(path, tokens, "float32"), logits_of(path, tokens, "bfloat16")
        reference = reference_logits(case.config, case.weights, tokens)
        near, far = nearness(exact, reference), nearness(rounded, reference)
        kept[key(case)] = exact[STORED].astype(np.float32)
        kept[f"{key(case)}-bf16"] = np.array([far.distance, far.cosine, far.divergence])
        print(f"{case.name}: f32 {near.distance:.1e} from the reference, bf16 {far}")
    np.savez_compressed(HERE / "golden.npz", **kept)


if __name__ == "__main__":
    main()
