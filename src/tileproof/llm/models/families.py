"""The families of models that are known. A new one is a file beside this one, and its name here."""

from __future__ import annotations

from typing import Final

from ..step.ir import Buffer, Inputs, Step, StepClass
from .decoder import Decoder
from .llama import LLAMA, Family
from .qwen3 import QWEN3

FAMILIES: Final[dict[str, Family]] = {family.name: family for family in (QWEN3, LLAMA)}


def build_step(decoder: Decoder, kind: StepClass, inputs: Inputs) -> tuple[Step, Buffer]:
    """The operations of a step of a model, and its logits."""
    return FAMILIES[decoder.config.family].build_step(decoder, kind, inputs)
