"""transformers as an oracle, where it and torch are installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy.typing as npt

from support.checkpoints import Weights, config_json
from tileproof.llm.models.config import ModelConfig

Array = npt.NDArray[Any]


def logits_of(path: Path, tokens: Sequence[int], dtype: str) -> Array:
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
            result: Array = model(torch.tensor([list(tokens)])).logits[0].float().numpy()
    finally:
        torch.set_num_threads(threads)
    return result


def random_model(config: ModelConfig, tokens: Sequence[int], device: str) -> tuple[Weights, Array, Array]:
    """A model of any size that is made on a device: its weights in bf16, and its logits in f32 and in bf16.

    Weights are such that no layer drowns the one before it and greedy texts differ from token to token.
    """
    import torch
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    settings = CONFIG_MAPPING[config.family].from_dict(config_json(config))
    with torch.device(device), torch.no_grad():
        model = AutoModelForCausalLM.from_config(settings, dtype=torch.bfloat16).eval()
        chance = torch.Generator(device).manual_seed(1)
        for name, values in model.named_parameters():
            if values.ndim == 1:
                values.uniform_(0.5, 1.5, generator=chance)
            else:
                gain = 2.0 if name.endswith(("embed_tokens.weight", "lm_head.weight")) else 0.5
                values.normal_(0.0, gain / values.shape[1] ** 0.5, generator=chance)
        weights = {
            name: values.detach().cpu().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
            for name, values in model.named_parameters()
        }
        arguments = torch.tensor([list(tokens)])
        rounded = model(arguments).logits[0].float().cpu().numpy()
        exact = model.float()(arguments).logits[0].cpu().numpy()
    return weights, exact, rounded
