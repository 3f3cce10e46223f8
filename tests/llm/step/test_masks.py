"""Steps with masks: each sequence samples a token that its mask allows, and those without one any token."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.checkpoints import tiny
from support.step_ops import Make
from tileproof.language.dtypes import F32
from tileproof.llm.step.buffers import Arena, InputBuffers, planned
from tileproof.llm.step.ir import Buffer, Sampling, Step, StepClass
from tileproof.llm.step.kernels import launch
from tileproof.llm.step.sampler import Penalties, add_sampling

CONFIG = tiny(tokens=301, vocab_size=330)
"""Neither is a multiple of 32."""
KIND = StepClass(4, 4, 8, is_decode=True, has_masks=True)


class Sampler:
    """The end of a step, alone."""

    def __init__(self, kind: StepClass, device: str) -> None:
        self.inputs = InputBuffers(kind, device, CONFIG.vocab_size)
        self.step, self._logits = Step(kind), Buffer((kind.sequences, CONFIG.vocab_size), F32)
        self.step.add(Make(out=self._logits))
        penalties = Penalties(CONFIG, device, kind.sequences)
        self._sampled = add_sampling(self.step, self._logits, CONFIG, self.inputs.device, penalties)
        self._tensors = Arena(device).tensors(planned(self.step.ops))

    def run(self, logits: Any) -> list[int]:
        self._tensors[self._logits].copy_from(logits)
        self.inputs.send()
        for op in self.step.ops[1:]:
            launch(op, self._tensors)
        tokens: list[int] = self._tensors[self._sampled].numpy().tolist()
        return tokens


def mask_of(*tokens: int) -> Any:
    words = np.zeros(-(-CONFIG.vocab_size // 32), np.uint32)
    for token in tokens:
        words[token // 32] |= np.uint32(1 << token % 32)
    return words.view(np.int32)


@pytest.mark.parametrize("sampling", ["greedy", "sample"])
def test_a_sequence_samples_what_its_mask_allows(sampling: Sampling, device: str) -> None:
    sampler = Sampler(replace(KIND, sampling=sampling), device)
    host = sampler.inputs.host
    logits = np.random.default_rng(0).standard_normal((4, CONFIG.vocab_size)).astype(np.float32)
    best = logits[:, : CONFIG.tokens].argmax(axis=1).tolist()
    host.masks[:2] = mask_of(300), mask_of(31, 32)
    host.mask_rows[:] = 0, -1, 1, -1
    first, second, third, fourth = sampler.run(logits)
    assert (first, second, third, fourth) == (300, best[1], max(31, 32, key=lambda token: logits[2, token]), best[3])
    host.masks[0] = mask_of(7)  # another mask in the same row, and a sequence that has lost its own
    host.mask_rows[:] = 0, 0, -1, -1
    assert sampler.run(logits) == [7, 7, best[2], best[3]]
    sampler.inputs.clear()
    assert sampler.run(logits) == best


def test_penalties_come_before_the_mask(device: str) -> None:
    sampler = Sampler(replace(KIND, has_penalties=True), device)
    assert [op.name for op in sampler.step.ops[1:]] == ["penalize", "mask_logits", "greedy", "count_tokens"]


def test_a_class_without_masks_has_neither_their_operation_nor_their_inputs(device: str) -> None:
    sampler = Sampler(replace(KIND, has_masks=False), device)
    assert [op.name for op in sampler.step.ops[1:]] == ["greedy"]
    assert (sampler.inputs.host.masks, sampler.inputs.device.mask_rows) == (None, None)


def test_a_run_of_several_tokens_takes_no_mask(device: str) -> None:
    with pytest.raises(AssertionError, match="the mask of the next token"):
        Sampler(replace(KIND, decode_steps=2), device)
