"""`LLM`: a model that is loaded, and what it generates. Threads may share one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, overload

import numpy as np

import tileproof as tp
from tileproof.backends.base import device_name, device_number
from tileproof.backends.cuda.device.driver import device_count
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.values import formatted
from tileproof.language.dtypes import BF16

from . import evaluation
from .engine.async_decode import DEPTH, decode_steps_for
from .engine.engine import Engine
from .engine.kv_cache import PagePool, page_count
from .engine.loop import Loop
from .engine.runner import Runner
from .engine.scheduler import Scheduler
from .errors import ModelError, refused
from .evaluation import Profile
from .loader.checkpoint import open_model
from .loader.find import resolve
from .loader.load import load
from .memory import free_memory, return_freed_memory
from .models.config import ModelConfig
from .models.decoder import Decoder
from .models.rope import rope_angles
from .models.weights import ModelWeights
from .request import Chunk, Completion, Request, TokenLogprob, end_tokens
from .sampling import SamplingParams
from .step.buffers import KVCache
from .step.fusion import Fusion, fusions_of
from .step.ir import PAGE
from .step.sampler import Penalties
from .structured.compiler import GrammarCompiler
from .structured.grammar import FreeText, Grammar
from .structured.guidance import Matcher
from .tokenizer.detokenizer import Detokenizer
from .tokenizer.messages import Message
from .tokenizer.text import Text

Progress = Callable[[int, int, str], None]
Prompt = str | Sequence[int]
Messages = Sequence[Message | Mapping[str, Any]]
DEFAULT_MAX_SEQ_LEN = 4096
"""The context that memory is reserved for by default."""
LATENCY = 0.25
"""Seconds that a step with chunks of prompts takes at most, about, while requests decode."""
GREEDY = SamplingParams()


class LLM:
    """A model and its engine: loaded once, used often.

    Example:
        llm = LLM("path/to/model")
        print(llm.generate("The capital of France is", SamplingParams(max_new_tokens=8)).text)
    """

    def __init__(
        self, model: str | Path, *, device: str = "auto", quantize: Literal["int8"] | None = None,
        max_seq_len: int | None = None, memory: int | None = None, max_batch: int = 8, chunk: int = 512,
        latency: float = LATENCY, prefix_cache: bool = False, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        """Loads a model: a Hugging Face folder, a GGUF file, or the name of one that `tileproof models` lists.

        `max_seq_len` is the longest sequence, prompt included; `memory` are the bytes of the cache, `max_batch`
        requests run at a time, and prompts are computed in chunks of `chunk` tokens. While requests decode, chunks
        are cut so that a step takes about `latency` seconds. With `prefix_cache`, the cache keeps what it can of
        finished requests, and requests that begin alike compute their beginning once; the last bits of logits then
        depend on what was in the cache.
        """
        began = time.perf_counter()
        _demand_counts(max_batch=max_batch, chunk=chunk, memory=memory)
        where = device_of(device)
        path = resolve(model)
        opened = open_model(path)
        text = Text.open(path if path.is_dir() else opened.path, opened.settings)
        opened = replace(opened, settings={})  # a vocabulary in strings is large: it goes before the weights come
        weights = load(opened, device=where, quantize=quantize, progress=progress)
        config = replace(opened.config, tokens=min(opened.config.tokens, text.tokens))
        self._make(config, weights, text, where, max_seq_len, memory, max_batch, chunk, latency, prefix_cache)
        return_freed_memory()
        self.load_seconds = time.perf_counter() - began

    @classmethod
    def of(
        cls, config: ModelConfig, weights: ModelWeights, text: Text | None = None, *, device: str = "cpu",
        max_seq_len: int | None = None, memory: int | None = None, max_batch: int = 8, chunk: int = 512,
        latency: float = LATENCY, prefix_cache: bool = False, fusions: Sequence[Fusion] | None = None,
        is_graph: bool = True,
    ) -> LLM:  # fmt: skip
        """An engine for weights that are in memory."""
        _demand_counts(max_batch=max_batch, chunk=chunk, memory=memory)
        self = cls.__new__(cls)
        self.load_seconds = 0.0
        self._make(
            config, weights, text, device, max_seq_len, memory, max_batch, chunk, latency, prefix_cache, fusions,
            is_graph,
        )  # fmt: skip
        return self

    def _make(
        self, config: ModelConfig, weights: ModelWeights, text: Text | None, device: str, max_seq_len: int | None,
        memory: int | None, max_batch: int, chunk: int, latency: float, prefix_cache: bool,
        fusions: Sequence[Fusion] | None = None, is_graph: bool = True,
    ) -> None:  # fmt: skip
        self.config, self.weights, self.device = config, weights, device
        self._text = text
        self.max_seq_len = _max_seq_len(config, max_seq_len)
        is_gpu, longest = device != "cpu", -(-self.max_seq_len // PAGE)
        self.pool = PagePool(page_count(config, self.max_seq_len, memory, max_batch, free_memory(device), is_gpu))
        self.runner = Runner(
            Decoder(config, weights, _kv_cache(config, self.pool.count, longest, device), device),
            Penalties(config, device, max_batch), max(chunk, max_batch), longest,
            fusions_of(device) if fusions is None else fusions, is_graph, DEPTH if is_gpu else 1,
            decode_steps_for(weights.nbytes) if is_gpu else 1,
        )  # fmt: skip
        self.scheduler = Scheduler(self.pool, max_batch, self.runner.token_budget, latency)
        self.engine = Engine(Loop(self.runner, self.scheduler))
        self.prefix_cache = prefix_cache

    # What it is.

    @property
    def text(self) -> Text:
        """Its tokenizer and chat template."""
        if self._text is None:
            raise refused(Code.PROMPT, "this model has no tokenizer", "pass tokens")
        return self._text

    @property
    def memory(self) -> dict[str, int]:
        """Bytes, by what they hold."""
        runner = self.runner
        return {
            "weights": self.weights.nbytes,
            "cache": runner.decoder.cache.nbytes,
            "activations": runner.arena.nbytes,
        }

    # Generating.

    @overload
    def generate(self, prompts: str, params: SamplingParams = ..., *, n: None = None) -> Completion: ...
    @overload
    def generate(self, prompts: Sequence[int], params: SamplingParams = ..., *, n: None = None) -> Completion: ...
    @overload
    def generate(
        self, prompts: list[str] | list[list[int]], params: SamplingParams | Sequence[SamplingParams] = ..., *,
        n: None = None,
    ) -> list[Completion]: ...  # fmt: skip
    @overload
    def generate(self, prompts: str, params: SamplingParams = ..., *, n: int) -> list[Completion]: ...
    @overload
    def generate(self, prompts: Sequence[int], params: SamplingParams = ..., *, n: int) -> list[Completion]: ...
    @overload
    def generate(
        self, prompts: list[str] | list[list[int]], params: SamplingParams | Sequence[SamplingParams] = ..., *, n: int
    ) -> list[list[Completion]]: ...
    def generate(self, prompts: Any, params: Any = GREEDY, *, n: int | None = None) -> Any:
        """The completion of a prompt, or of each of a list of prompts. Prompts are text or tokens.

        With `n` there is a list of so many completions for each prompt. If they have a seed, it is `seed`, `seed + 1`,
        ...
        """
        is_text = isinstance(prompts, str | bytes)
        if not is_text and not isinstance(prompts, Sequence | np.ndarray):
            raise _no_prompt(prompts)
        if is_text or (len(prompts) and isinstance(prompts[0], int | np.integer)):
            return self.generate([prompts], params, n=n)[0]
        settings = list(params) if isinstance(params, list | tuple) else [params] * len(prompts)
        if len(settings) != len(prompts):
            raise refused(
                Code.SAMPLING, f"{len(settings)} settings for {len(prompts)} prompts", "pass one, or one for each"
            )
        if n is None:
            return self._completions([self.request(one, its) for one, its in zip(prompts, settings, strict=True)])
        _demand_counts(n=n)
        requests = []
        for prompt, its in zip(prompts, settings, strict=True):
            first = self.request(prompt, its)
            requests += [first, *(self.request(first.prompt, its.of_choice(number)) for number in range(1, n))]
        completions = self._completions(requests)
        return [completions[at : at + n] for at in range(0, len(completions), n)]

    def _completions(self, requests: Sequence[Request]) -> list[Completion]:
        """Runs requests, and waits until all are finished."""
        finished: SimpleQueue[Request] = SimpleQueue()
        for request in requests:
            request.on_finish = finished.put
        try:
            self.engine.submit(requests)
            for _ in requests:
                request = finished.get()
                if request.failure is not None:
                    raise request.failure
        finally:
            self.engine.abort([request for request in requests if request.finish is None])
        return [request.completion() for request in requests]

    def stream(
        self, prompt: Prompt | Messages, params: SamplingParams = GREEDY, *, thinking: bool | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Iterator[Chunk]:  # fmt: skip
        """The same chunk by chunk, for a prompt or a chat. Closing the iterator cancels the request."""
        messages: Any = prompt
        is_chat = isinstance(messages, list | tuple) and any(isinstance(each, Message | Mapping) for each in messages)
        tokens = self.text.chat_prompt(messages, thinking=thinking, tools=tools) if is_chat else messages
        return self.chunks(self.request(tokens, params))

    def chunks(self, request: Request) -> Iterator[Chunk]:
        """Runs a request, and gives what is generated as it comes."""
        chunks: SimpleQueue[Chunk] = SimpleQueue()
        request.on_chunk = chunks.put
        try:
            self.engine.submit([request])
            is_over = False
            while not is_over:
                chunk = chunks.get()
                if request.failure is not None:
                    raise request.failure
                yield chunk
                is_over = chunk.finish is not None
        finally:
            self.engine.abort([request] if request.finish is None else [])

    def chat(
        self, messages: Messages, params: SamplingParams = GREEDY, *, thinking: bool | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:  # fmt: skip
        """The answer to a chat, by the model's own template. `thinking` and `tools` are for templates that know them.

        Messages are `Message`s, or dicts such as {"role": "user", "content": "Hello"}; tools are dicts too, as
        OpenAI's API has them.
        """
        return self.generate(self.text.chat_prompt(messages, thinking=thinking, tools=tools), params)

    def matcher(self, grammar: Grammar | None, after: FreeText | None = None) -> Matcher | None:
        """What follows a grammar for one request: compiled, which may take seconds, or as it is remembered.

        With `after`, such as the thoughts of a model, the output follows it after that text.
        """
        return None if grammar is None else self.grammars.matcher(grammar, after)

    @cached_property
    def grammars(self) -> GrammarCompiler:
        """The compiled grammars of its requests."""
        return GrammarCompiler(self.text, self.config.vocab_size, self.config.eos_token_ids)

    # Evaluating.

    def logits(self, tokens: Sequence[int]) -> Any:
        """The logits after every token, (len(tokens), config.tokens), f32."""
        prompt = self.checked(tokens, 0)
        return self.engine.call(lambda: np.concatenate(list(evaluation.logits(self.runner, self.pool, prompt))))

    def perplexity(self, text: Prompt) -> float:
        """The exponential of the mean negative logprob of the tokens of a text."""
        tokens = self.checked(self._tokens(text), 0, self.config.tokens)  # what is padding has no logit
        if len(tokens) < 2:
            raise refused(Code.PROMPT, "a text of one token has no perplexity", "pass a longer text")
        return self.engine.call(lambda: evaluation.perplexity(self.runner, self.pool, tokens))

    def prompt_logprobs(self, prompt: Prompt, count: int = 0) -> list[TokenLogprob | None]:
        """The logprob of each token of a prompt after those before it, with the likeliest ones; of the first, None."""
        tokens = self.checked(self._tokens(prompt))
        blocks = evaluation.token_logprobs(self.runner, self.pool, tokens, count)
        logprobs: list[TokenLogprob | None] = [None]
        try:
            while (block := self.engine.call(lambda: next(blocks, None))) is not None:  # others are served in between
                logprobs += block
        finally:
            self.engine.call(blocks.close)
        return logprobs

    def profile(self, rows: int = 1, context: int = 128) -> Profile:
        """The time of each operation of a step of so many tokens at some context."""
        if rows < 1 or context < 0:
            raise refused(Code.PROMPT, f"{rows} tokens at context {context} are no step", "use at least 1 token")
        return self.engine.call(
            lambda: evaluation.profile(self.runner, self.pool, rows, context, self.max_seq_len)
        )

    # Prompts.

    def request(
        self, prompt: Prompt, params: SamplingParams, *, priority: int = 0, timeout: float | None = None,
        salt: str = "", matcher: Matcher | None = None,
    ) -> Request:  # fmt: skip
        """A request that the engine can run, or the error that says why not.

        Requests share pages of the cache only with those that have the same `salt`. `matcher` is for callers that have
        compiled the grammar already.
        """
        tokens = self.checked(self._tokens(prompt), 1)
        if not isinstance(params, SamplingParams):
            cure = "pass SamplingParams(...)"
            raise refused(Code.SAMPLING, f"the settings are of the type {type(params).__name__}", cure)
        wrong = [token for token in params.logit_bias if not 0 <= token < self.config.tokens]
        if wrong:
            raise refused(
                Code.SAMPLING, f"logit_bias names token {wrong[0]}", f"tokens are 0 to {self.config.tokens - 1}"
            )
        if sum(amount == -math.inf for amount in params.logit_bias.values()) == self.config.tokens:
            cure = "leave at least one token another number than -inf"
            raise refused(Code.SAMPLING, f"logit_bias bans all {self.config.tokens} tokens", cure)
        has_text = self._text is not None and self._text.has_tokenizer
        if (params.stop or params.grammar is not None) and not has_text:
            cure = "use `stop_token_ids`, or add the model's tokenizer.json"
            raise refused(Code.SAMPLING, "the output has no text, because this model has no tokenizer", cure)
        detokenizer = Detokenizer(self._text) if has_text else None
        return Request(
            tokens, params, end_tokens(params, self.config.eos_token_ids), self.max_seq_len, detokenizer, priority,
            salt=salt if self.prefix_cache else None,
            matcher=self.matcher(params.grammar) if matcher is None else matcher,
            deadline=0.0 if timeout is None else time.perf_counter() + timeout,
        )  # fmt: skip

    def _tokens(self, prompt: Prompt) -> Sequence[int]:
        if not isinstance(prompt, str):
            return prompt
        if not prompt:
            raise refused(Code.PROMPT, "the prompt is empty", "pass some text")
        return self.text.encode(prompt)

    def checked(self, tokens: Any, more: int = 0, known: int | None = None) -> tuple[int, ...]:
        """Tokens of the vocabulary that leave room for so many more."""
        known = self.config.vocab_size if known is None else known
        if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
            raise _no_prompt(tokens)
        values = list(tokens)
        wrong = next((one for one in values if not isinstance(one, int | np.integer) or isinstance(one, bool)), None)
        if wrong is not None:
            raise refused(
                Code.PROMPT, f"the prompt holds {wrong!r}", "pass text, tokens, or, to `chat` and `stream`, messages"
            )
        prompt = tuple(map(int, values))
        if not prompt:
            raise refused(Code.PROMPT, "the prompt has no tokens", "pass some text")
        if min(prompt) < 0 or max(prompt) >= known:
            wrong = next(token for token in prompt if not 0 <= token < known)
            raise refused(
                Code.PROMPT, f"the prompt holds token {wrong}", f"tokens are 0 to {self.config.tokens - 1}"
            )
        if len(prompt) + more > self.max_seq_len:
            cure = f"shorten it, or raise max_seq_len (the model was made for {self.config.max_position_embeddings})"
            raise refused(
                Code.PROMPT, f"the prompt has {len(prompt)} tokens, and there is room for {self.max_seq_len}", cure
            )
        return prompt


def _no_prompt(prompt: object) -> ModelError:
    cure = "pass text or a list of tokens; messages, in a list, are for `chat` and `stream`"
    return refused(Code.PROMPT, f"a prompt is of the type {type(prompt).__name__}", cure)


def device_of(name: str) -> str:
    """The device of a model: "auto" is the first GPU, or the CPU where there is none."""
    if name == "auto":
        return "cuda:0" if device_count() else "cpu"
    try:
        return device_name(device_number(name))
    except tp.LaunchError as error:
        raise ModelError(error.diagnostics[0]) from None


def _demand_counts(**options: object) -> None:
    """Rejects options of an engine that count something and do not, before a model is loaded for them."""
    for name, value in options.items():
        if name == "memory" and value is None:
            continue
        if not isinstance(value, int) or value < 1:
            cure = "pass bytes, such as 1 << 30" if name == "memory" else "use a whole number of at least 1"
            raise refused(Code.PROMPT, f"{name} is {formatted(value)}", cure)


def _max_seq_len(config: ModelConfig, max_seq_len: int | None) -> int:
    if max_seq_len is None:
        return min(config.max_position_embeddings, DEFAULT_MAX_SEQ_LEN)
    if not isinstance(max_seq_len, int) or not 1 <= max_seq_len <= config.max_position_embeddings:
        most = config.max_position_embeddings
        message = f"max_seq_len is {formatted(max_seq_len)}, and the model was made for {most}"
        raise refused(Code.PROMPT, message, f"use 1 to {most}")
    return max_seq_len


def _kv_cache(config: ModelConfig, pages: int, longest: int, device: str) -> KVCache:
    shape = config.num_hidden_layers, pages, config.num_key_value_heads, PAGE, config.head_dim
    keys, values = (tp.zeros(shape, BF16, device) for _ in range(2))
    # Memory of our own: replays of a graph that read memory of others are waited for.
    cos, sin = (tp.from_numpy(table, device) for table in rope_angles(config, longest * PAGE))
    return KVCache(keys, values, cos, sin)
