"""llama.cpp as a second oracle: logprobs of the next token, from a GGUF file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

PLAIN: Final = 40
"""A token that is one letter of ASCII in every byte-level vocabulary here."""


class LlamaCpp:
    """A model in llama.cpp, on one thread, computing in f32 where the file is of f32."""

    def __init__(self, path: Path, context: int = 512, threads: int = 1) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx, params.n_parallel, params.n_ubatch = context, 1, 512
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.warmup, params.fit_params, params.verbosity = False, False, -1
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self._server = xllamacpp.Server(params)

    def next_logprobs(self, tokens: Sequence[int], vocabulary: int) -> npt.NDArray[Any]:
        """The logprob of every token of the vocabulary after these."""
        # Nothing is told of a token that ends inside a character: a plain one is forced, which leaves logprobs alone.
        forced = {"temperature": 0, "logit_bias": [[PLAIN, 1e6]], "max_tokens": 1, "cache_prompt": True}
        answer = self._answer({"prompt": [*map(int, tokens)], "n_probs": vocabulary, **forced})
        result = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        array = np.full(vocabulary, -np.inf)
        array[[each["id"] for each in result]] = [each["logprob"] for each in result]
        return array

    def logprobs(self, tokens: Sequence[int], vocabulary: int, first: int = 1) -> npt.NDArray[Any]:
        """What follows each beginning of at least `first` tokens: (n - first + 1, vocabulary)."""
        return np.stack([self.next_logprobs(tokens[:end], vocabulary) for end in range(first, len(tokens) + 1)])

    def greedy(self, tokens: Sequence[int], count: int) -> list[int]:
        """The likeliest tokens, one after another."""
        asked = {"prompt": [*map(int, tokens)], "max_tokens": count, "temperature": 0, "n_probs": 1}
        content = self._answer({**asked, "ignore_eos": True})["choices"][0]["logprobs"]["content"]
        return [each["id"] for each in content]

    def _answer(self, asked: dict[str, Any]) -> Any:
        return self._server.handle_completions(asked)


def log_softmax(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Logprobs of logits, in float64."""
    shifted = np.asarray(logits, np.float64)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
