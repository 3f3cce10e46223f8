"""transformers as an oracle, where it and torch are installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt


def logits_of(path: Path, tokens: Sequence[int], dtype: str) -> npt.NDArray[Any]:
    """Logits after each token, of a folder that is loaded in an element type, on one thread."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype))
        with torch.no_grad():
            found: npt.NDArray[Any] = model(torch.tensor([list(tokens)])).logits[0].float().numpy()
    finally:
        torch.set_num_threads(threads)
    return found
