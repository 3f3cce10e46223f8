"""`LLM`: a model that is loaded, and what can be asked of it."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from collections.abc import Sequence as Several
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

import tileproof as tp
from tileproof.backends.cuda.driver import device_count
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.values import shown
from tileproof.language.dtypes import BF16
from tileproof.runtime.streams import device_name, device_number

from .engine.async_decode import Flight, turns_for
from .engine.kv_cache import PagePool
from .engine.logprobs import logprob_of
from .engine.runner import Runner, demand_token
from .engine.scheduler import Piece, Scheduler
from .errors import ModelError, refused
from .generating import Generation
from .loader.checkpoint import open_model
from .loader.find import resolve
from .loader.load import load
from .memory import free_memory, pages_for, return_freed_memory
from .models.config import ModelConfig
from .models.decoder import Caches, Decoder
from .models.rope import rope_angles
from .models.weights import ModelWeights
from .profiling import Profile, profiled
from .request import Sequence
from .sampling import Chunk, Completion, Message, SamplingParams
from .step.fusion import Fusion
from .step.ir import PAGE
from .step.kernels import fusions_of
from .step.penalties import Penalties
from .tokenizer.text import Text

Progress = Callable[[int, int, str], None]
Prompt = str | Several[int]
LONGEST = 4096
"""The context that is made room for, unless more is asked for."""
GREEDY = SamplingParams()


class LLM:
    """A model and its engine: loaded once, asked often.

    Example:
        llm = LLM("path/to/model")
        print(llm.generate("The capital of France is", SamplingParams(max_new_tokens=8)).text)
    """

    def __init__(
        self, model: str | Path, *, device: str = "auto", quantize: Literal["int8"] | None = None,
        max_seq_len: int | None = None, memory: int | None = None, max_batch: int = 8, chunk: int = 512,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        """Loads a model: a Hugging Face folder, a GGUF file, or the name of one that `tileproof models` finds.

        `max_seq_len` is the longest text, prompt included; `memory` are the bytes of the cache, `max_batch` texts are
        generated at a time, and prompts are read in pieces of `chunk` tokens.
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
        self._make(config, weights, text, where, max_seq_len, memory, max_batch, chunk)
        return_freed_memory()
        self.load_seconds = time.perf_counter() - began

    @classmethod
    def of(
        cls, config: ModelConfig, weights: ModelWeights, text: Text | None = None, *, device: str = "cpu",
        max_seq_len: int | None = None, memory: int | None = None, max_batch: int = 8, chunk: int = 512,
        fusions: Several[Fusion] | None = None, is_graph: bool = True,
    ) -> LLM:  # fmt: skip
        """An engine for weights that are there already."""
        _demand_counts(max_batch=max_batch, chunk=chunk, memory=memory)
        self = cls.__new__(cls)
        self.load_seconds = 0.0
        self._make(config, weights, text, device, max_seq_len, memory, max_batch, chunk, fusions, is_graph)
        return self

    def _make(
        self, config: ModelConfig, weights: ModelWeights, text: Text | None, device: str, max_seq_len: int | None,
        memory: int | None, max_batch: int, chunk: int, fusions: Several[Fusion] | None = None, is_graph: bool = True,
    ) -> None:  # fmt: skip
        self.config, self.weights, self.device = config, weights, device
        self._text = text
        self.max_seq_len = _longest(config, max_seq_len)
        pages = pages_for(config, self.max_seq_len, memory, max_batch, free_memory(device), device != "cpu")
        shape = config.num_hidden_layers, pages, config.num_key_value_heads, PAGE, config.head_dim
        cos, sin = rope_angles(config, -(-self.max_seq_len // PAGE) * PAGE)
        caches = Caches(
            tp.zeros(shape, BF16, device), tp.zeros(shape, BF16, device), tp.from_numpy(cos, device),
            tp.from_numpy(sin, device),
        )  # fmt: skip
        decoder = Decoder(config, weights, caches, device)
        penalties = Penalties(config, device, max_batch)
        longest = -(-self.max_seq_len // PAGE)
        table = fusions_of(device) if fusions is None else fusions
        self.runner = Runner(
            decoder, penalties, max(chunk, max_batch), longest, table, is_graph, is_ahead=device != "cpu",
            turns=turns_for(weights.nbytes),
        )  # fmt: skip
        self.pool = PagePool(pages)
        self.scheduler = Scheduler(self.pool, max_batch, self.runner.budget)
        self._under_way: dict[Sequence, Generation] = {}
        self._flight: Flight | None = None
        self._lock = threading.RLock()
        self._waiting: deque[object] = deque()
        """A mark for each thread that waits for a turn."""
        self._left: list[Generation] = []
        """Texts whose callers have left; the next to have a turn ends them."""
        self._is_torn = False
        """Whether something was left in the middle of a step, such as by Ctrl-C."""

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
            "cache": runner.decoder.caches.nbytes,
            "activations": runner.arena.nbytes,
        }

    # Asking.

    @overload
    def generate(self, prompts: str, params: SamplingParams = ...) -> Completion: ...
    @overload
    def generate(self, prompts: Several[int], params: SamplingParams = ...) -> Completion: ...
    @overload
    def generate(
        self, prompts: list[str] | list[list[int]], params: SamplingParams | Several[SamplingParams] = ...
    ) -> list[Completion]: ...
    def generate(self, prompts: Any, params: Any = GREEDY) -> Any:
        """The text behind a prompt, or a list of texts behind a list of them. Prompts are text or tokens."""
        is_text = isinstance(prompts, str | bytes)
        if not is_text and not isinstance(prompts, Several | np.ndarray):
            raise _no_prompt(prompts)
        if is_text or (len(prompts) and isinstance(prompts[0], int | np.integer)):
            return self.generate([prompts], params)[0]
        settings = list(params) if isinstance(params, list | tuple) else [params] * len(prompts)
        if len(settings) != len(prompts):
            raise refused(
                Code.SAMPLING, f"{len(settings)} settings for {len(prompts)} prompts", "pass one, or one for each"
            )
        asked = [self._begin(self._tokens(each), its) for each, its in zip(prompts, settings, strict=True)]
        with self._giving_up(asked):
            self._add(asked)
            while any(each.finish is None for each in asked):
                with self._turn():
                    self._step_for(asked)
                for each in asked:
                    each.demand()
        return [each.completion() for each in asked]

    def stream(
        self, prompt: Prompt | Several[Message], params: SamplingParams = GREEDY, *,
        thinking: bool | None = None,
    ) -> Iterator[Chunk]:  # fmt: skip
        """The same piece by piece, for a prompt or a chat. Closing the iterator ends the text."""
        asked: Any = prompt
        is_chat = isinstance(asked, list | tuple) and any(isinstance(each, Message) for each in asked)
        tokens = self.text.chat_prompt(asked, thinking=thinking) if is_chat else self._tokens(asked)
        return self._streamed(self._begin(tokens, params))

    def _streamed(self, asked: Generation) -> Iterator[Chunk]:
        with self._giving_up([asked]):
            self._add([asked])
            is_over = False
            while not is_over:
                with self._turn():
                    self._step_for([asked])
                    is_over = asked.finish is not None
                    chunk = asked.chunk()
                asked.demand()
                if chunk is not None:
                    yield chunk

    def chat(
        self, messages: Several[Message], params: SamplingParams = GREEDY, *,
        thinking: bool | None = None,
    ) -> Completion:  # fmt: skip
        """The answer to a chat, by the model's own template. `thinking` is for models that know it."""
        return self.generate(self.text.chat_prompt(messages, thinking=thinking), params)

    def logits(self, tokens: Several[int]) -> Any:
        """The logits behind every token, (len(tokens), config.tokens), f32."""
        found = self._checked(tokens, 0)
        with self._turn():
            return np.concatenate(list(self._logits(found)))

    def perplexity(self, text: Prompt) -> float:
        """How surprised the model is by a text: the exponential of the mean negative logprob of its tokens."""
        tokens = self._checked(self._tokens(text), 0, self.config.tokens)  # what is padding has no logit
        if len(tokens) < 2:
            raise refused(Code.PROMPT, "a text of one token has no perplexity", "pass a longer text")
        total, at = 0.0, 1
        with self._turn(), closing(self._logits(tokens)) as pieces:
            for rows in pieces:
                wide = rows[: len(tokens) - at].astype(np.float64)
                top = wide.max(axis=1)
                norms = top + np.log(np.exp(wide - top[:, None]).sum(axis=1))
                total += float((norms - wide[np.arange(len(wide)), tokens[at : at + len(wide)]]).sum())
                at += len(rows)
        return math.exp(total / (len(tokens) - 1))

    def _logits(self, tokens: tuple[int, ...]) -> Generator[Any]:
        """Logits of a text, some rows at a time, in pages of its own."""
        sequence = Sequence(tokens, SamplingParams())
        taken = self.pool.take(sequence.pages_for(len(tokens)))
        if taken is None:
            raise refused(Code.MODEL_MEMORY, "all pages are in use by other texts", "finish them, or raise `memory`")
        sequence.pages = taken
        try:
            while sequence.waiting:
                count = min(sequence.waiting, 64)
                yield self.runner.logits(Piece(sequence, sequence.computed, count))
        finally:
            self.pool.give_back(sequence.pages)

    def profile(self, rows: int = 1, context: int = 128) -> Profile:
        """Where the time of a step goes: of one row behind so many tokens, or of a piece of a prompt."""
        length = context + rows
        if rows < 1 or context < 0:
            raise refused(Code.PROMPT, f"{rows} rows behind {context} tokens are no step", "ask for at least 1 row")
        sequence = Sequence((0,) * length, SamplingParams(), computed=context)
        with self._turn():
            taken = self.pool.take(sequence.pages_for(length)) if length <= self.max_seq_len else None
            if taken is None:
                cure = "raise max_seq_len or `memory`"
                raise refused(Code.MODEL_MEMORY, f"there is no room for {length} tokens", cure)
            sequence.pages = taken
            try:
                return profiled(self.runner.prepared([Piece(sequence, context, rows)]), length)
            finally:
                self.pool.give_back(taken)

    # Turns: threads may share an engine, and whoever steps brings the texts of all further.

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Has the engine to itself: nobody else's step is half done, and who left is gone."""
        if self._has_turn:
            cure = "ask when the step is done: not in a callback, nor in a handler of signals"
            raise refused(Code.PROMPT, "the engine is asked in the middle of a step of its own", cure)
        mark = object()
        self._waiting.append(mark)
        try:
            with self._lock:
                self._waiting.remove(mark)
                self._clear_up()
                try:
                    yield
                except ModelError:  # what was asked cannot be done, and was not begun
                    raise
                except BaseException:
                    self._is_torn = True
                    raise
                finally:
                    self._clear_up()
        finally:
            if mark in self._waiting:
                self._waiting.remove(mark)
        if self._waiting:
            time.sleep(1e-4)  # a thread that steps again and again would not let others in

    @property
    def _has_turn(self) -> bool:
        """Whether this thread is in the middle of a step: the lock knows, and no interrupt parts it from its word."""
        has: bool = self._lock._is_owned()  # type: ignore[attr-defined]
        return has

    def _add(self, asked: Several[Generation]) -> None:
        with self._turn():
            for each in asked:
                self.scheduler.add(each.sequence)
                self._under_way[each.sequence] = each

    def _leave(self, asked: Several[Generation]) -> None:
        """Ends texts that are not done: now, or, in the middle of a step, behind it.

        An iterator that is dropped may be closed anywhere: where garbage is collected.
        """
        self._left += [each for each in asked if each.sequence in self._under_way]
        if self._left and not self._has_turn and self._lock.acquire(blocking=False):
            try:
                self._clear_up()
            finally:
                self._lock.release()

    def _clear_up(self) -> None:
        """Ends texts whose callers have left. What was torn begins again: texts go on from the tokens they have."""
        was_torn, self._is_torn = self._is_torn, True  # until this is done
        if was_torn:
            self._flight = None
            self.scheduler.restart(self._under_way)
            self.runner.penalties.restart(self._under_way)
        while self._left:
            asked = self._left[0]  # more may come meanwhile
            self._end(asked)
            self._left.remove(asked)
            asked.cancel()
        self._is_torn = False

    # Steps.

    def _step_for(self, asked: Several[Generation]) -> None:
        """A step, unless texts are done: the steps of others bring them further, too."""
        if any(each.finish is None for each in asked):
            self._step()

    def _step(self) -> None:
        """Brings all that are under way a step further: with one run, or with tokens of runs that were begun before."""
        if self._flight is not None:
            self._land(self._flight)
            return
        pieces = self.scheduler.plan()
        now = time.perf_counter()
        for piece in pieces:
            piece.sequence.started = piece.sequence.started or now
            self.runner.penalties.begin(piece.sequence)
        self._flight = self.runner.flight(pieces, self.max_seq_len, self.scheduler.reserve)
        if self._flight is not None:
            self._land(self._flight)
            return
        step, chosen = self.runner.run(pieces)
        for number, (piece, token) in enumerate(zip(pieces, chosen.tolist(), strict=True)):
            if not piece.is_last:
                continue
            sequence = piece.sequence
            sequence.first = sequence.first or sequence.last
            if sequence.params.logprobs is not None and token >= 0:
                count, tokens = sequence.params.logprobs, self.config.tokens
                sequence.logprobs.append(logprob_of(step.logits, number, token, count, tokens, self.device))
            self._push(sequence, token)

    def _land(self, flight: Flight) -> None:
        """Reads the tokens that were begun first, when others are under way behind them."""
        if self._goes_on(flight):
            more = self.scheduler.reserve(flight.sequences, flight.ahead + flight.step.kind.turns)
            if more is not None:
                flight.go_on(more > 0)
                self.runner.count += 1
        for turn in flight.tokens():
            now = time.perf_counter()
            for sequence, token in zip(flight.sequences, turn, strict=True):
                if sequence not in self._under_way:
                    continue  # it ended before, or its caller left
                sequence.computed += 1
                sequence.last = now
                sequence.first = sequence.first or now
                self._push(sequence, token)
        if flight.is_over:
            self._flight = None

    def _goes_on(self, flight: Flight) -> bool:
        """Whether the same sequences decode on, and nobody else could begin."""
        is_same = all(each in self._under_way for each in flight.sequences)
        return is_same and not self.scheduler.can_admit and flight.can_go_on(self.max_seq_len)

    def _push(self, sequence: Sequence, token: int) -> None:
        asked = self._under_way[sequence]
        try:
            demand_token(token)
            asked.push(token)
        except Exception as error:  # of this text: the others in the step go on, and its own caller is told
            asked.fail(error)
        if asked.finish is not None:
            self._end(asked)

    def _end(self, asked: Generation) -> None:
        self.scheduler.remove(asked.sequence)
        self.runner.penalties.end(asked.sequence)
        self._under_way.pop(asked.sequence, None)

    def _giving_up(self, asked: Several[Generation]) -> _GivingUp:
        return _GivingUp(self, asked)

    def _begin(self, tokens: Several[int], params: SamplingParams) -> Generation:
        prompt = self._checked(tokens, 1)
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
        ends = self.config.eos_token_ids
        return Generation.of(Sequence(prompt, params), self._text, ends, self.max_seq_len)

    def _tokens(self, prompt: Prompt) -> Several[int]:
        if not isinstance(prompt, str):
            return prompt
        if not prompt:
            raise refused(Code.PROMPT, "the prompt is empty", "pass some text")
        return self.text.encode(prompt)

    def _checked(self, tokens: Any, more: int, known: int | None = None) -> tuple[int, ...]:
        """Tokens that are tokens, and leave room for so many more."""
        known = self.config.vocab_size if known is None else known
        if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
            raise _no_prompt(tokens)
        given = list(tokens)
        wrong = next((each for each in given if not isinstance(each, int | np.integer) or isinstance(each, bool)), None)
        if wrong is not None:
            raise refused(
                Code.PROMPT, f"the prompt holds {wrong!r}", "pass text, tokens, or, to `chat` and `stream`, messages"
            )
        found = tuple(map(int, given))
        if not found:
            raise refused(Code.PROMPT, "the prompt has no tokens", "pass some text")
        if min(found) < 0 or max(found) >= known:
            wrong = next(token for token in found if not 0 <= token < known)
            raise refused(
                Code.PROMPT, f"the prompt holds token {wrong}", f"tokens are 0 to {self.config.tokens - 1}"
            )
        if len(found) + more > self.max_seq_len:
            cure = f"shorten it, or raise max_seq_len (the model was made for {self.config.max_position_embeddings})"
            raise refused(
                Code.PROMPT, f"the prompt has {len(found)} tokens, and there is room for {self.max_seq_len}", cure
            )
        return found


class _GivingUp:
    """Ends texts that are not done when their caller leaves, for whatever reason."""

    def __init__(self, llm: LLM, asked: Several[Generation]) -> None:
        self._llm, self._asked = llm, asked

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._llm._leave(self._asked)


def _no_prompt(given: object) -> ModelError:
    cure = "pass text or a list of tokens; messages, in a list, are for `chat` and `stream`"
    return refused(Code.PROMPT, f"a prompt is of the type {type(given).__name__}", cure)


def device_of(name: str) -> str:
    """Where a model goes: "auto" is the first GPU, or the CPU where there is none."""
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
            raise refused(Code.PROMPT, f"{name} is {shown(value)}", cure)


def _longest(config: ModelConfig, asked: int | None) -> int:
    if asked is None:
        return min(config.max_position_embeddings, LONGEST)
    if not isinstance(asked, int) or not 1 <= asked <= config.max_position_embeddings:
        raise refused(
            Code.PROMPT, f"max_seq_len is {shown(asked)}, and the model was made for {config.max_position_embeddings}",
            f"use 1 to {config.max_position_embeddings}",
        )  # fmt: skip
    return asked
