"""One model of the suite, in a process of its own: all contestants on the same weights, in turns.

What was found is in a file after every row, so that a run that is stopped leaves what it has.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

import torch

from tileproof.llm import LLM
from tileproof.llm.models.shapes import shape

from ..harness.text import first_line
from . import chains, ours
from .compiled import Compiled
from .decoding import State, Turn
from .plan import Plan
from .proxy import Proxy, fastest_gemvs
from .race import LONG, race, timed
from .report import GRAPH, JUDGED_PROMPTS, OURS, PROMPT_PEER, Row
from .run import Run, attempt, boxed, bytes_per_token, clocks, percentiles
from .transformers import CAPACITY, Transformers
from .warming import Warming
from .weights import Shared, made

DEVICE: Final = "cuda:0"
SHORT: Final = 512
"""The longest context of transformers, whose cost is that of the whole static cache."""
LONG_INT8: Final = 8192
"""The longest context with 8-bit weights: both sets of weights are in memory."""
_PREPARING: Final = 0.68
"""The part of the time until which peers may be compiled."""
_LEAST: Final = 25.0
"""Seconds that a peer is given in any case: what was compiled beforehand is only read."""
_SHORT_ROUNDS: Final = 0.78
"""The part until which rounds of short contexts may be begun: goals are about them."""
_LONG_ROUNDS: Final = 0.95
"""The same of long ones; in between are the prompts that goals are about."""
_PROMPT_SECONDS: Final = 5.0
"""After which no more rounds of a prompt begin; twice that in a long run, half in a short one."""
_JUDGED: Final = 8
"""Places at which logits are compared, and how many of the likeliest tokens at each."""
_TOP: Final = 16
_APART: Final = 0.35
"""How far logprobs of bf16 models may lie apart; those of another model lie whole numbers apart."""


class Contestant(Protocol):
    """Somebody who decodes."""

    name: str
    nodes: int | None

    def begin(self, context: int) -> None: ...
    def turn(self, tokens: int) -> Turn: ...
    def end(self) -> None: ...


# Decoding.


def agreement(model: Any, tokens: Sequence[int], places: Sequence[Sequence[tuple[int, float]]]) -> tuple[float, int]:
    """How far a peer's logprobs of our likeliest tokens lie from ours at most, and where its likeliest is ours."""
    theirs = model.logits_of(tokens, len(places)).log_softmax(-1)
    apart, same = 0.0, 0
    for row, top in zip(theirs, places, strict=True):
        apart = max(apart, max(abs(float(row[token]) - logprob) for token, logprob in top))
        same += int(row.argmax()) == top[0][0]
    return apart, same


def is_the_same(run: Run, peer: Any, tokens: Sequence[int], places: Sequence[Sequence[tuple[int, float]]]) -> bool:
    """Whether a peer computes what we compute; says so in the facts."""
    apart, same = agreement(peer, tokens, places)
    run.facts[f"logprobs, {peer.name}"] = f"{apart:.3f} apart at most, {same} of {len(places)} first choices the same"
    run.tell(f"{peer.name}: {run.facts[f'logprobs, {peer.name}']}")
    return apart < _APART


def peers_of(run: Run, shared: Shared, llm: LLM) -> list[tuple[Any, int, str]]:
    """Those who compute what we compute, the longest context of each, and the kind of their weights."""
    prompt = ours.text_of(llm, 16, 99)
    tokens, places = ours.judged(llm, prompt, _JUDGED, _TOP)
    text = [*prompt, *tokens[:-1]]
    longest = max(run.plan.contexts)
    state = State(run.config, run.plan.capacity, DEVICE)
    makers: dict[str, tuple[str, int, Callable[[], Any]]] = {
        "proxy": (Proxy.name, longest, lambda: Proxy(shared, state)),
        "compiled": (Compiled.name, longest, lambda: Compiled(shared, state)),
        "transformers": (Transformers.name, SHORT, lambda: Transformers(shared, CAPACITY)),
    }
    results: list[tuple[Any, int, str]] = []
    for name, (label, most, make) in makers.items():
        if not run.has(name):
            run.keep(Row("tg", label, "bf16", 0, note="left out"))
            continue
        if name == "transformers" and run.plan.is_short:
            run.keep(Row("tg", label, "bf16", 0, note="left out: compiling it takes longer than this run"))
            continue
        began = time.monotonic()
        try:
            with boxed(max(min(run.plan.boxed, run.left(_PREPARING)), _LEAST)):
                peer = make()
                is_right = is_the_same(run, peer, text, places)
            if is_right:
                results.append((peer, most, "bf16"))
            else:
                run.keep(Row("tg", label, "bf16", 0, note="computes something else: not timed"))
        except Exception as error:  # whatever is wrong with a peer, the others can still be measured
            run.tell(f"{label}: {first_line(error)}")
            run.keep(Row("tg", label, "bf16", 0, note=f"not measured: {first_line(error, 60)}"))
        run.facts[f"seconds until the first step, {label}"] = f"{time.monotonic() - began:.1f}"
    return results


def decode(
    run: Run, contestants: Sequence[tuple[Any, int, str]], streamed: dict[str, int], contexts: Sequence[int],
    part: float,
) -> None:  # fmt: skip
    """Some contexts; at each everybody takes a turn in every round, until so much of the time is gone."""
    plan = run.plan
    for number, context in enumerate(contexts):
        if number and run.left(part) < 0:
            run.keep(Row("tg", OURS, "bf16", context, note="not measured: time is short"))
            continue
        taking: list[tuple[Contestant, str]] = []
        for each, most, kind in contestants:
            if context > most:
                continue
            try:
                with nullcontext() if each.name.startswith(OURS) else boxed(plan.boxed):
                    each.begin(context)
                taking.append((each, kind))
            except Exception as error:
                run.tell(f"{each.name} at {context}: {first_line(error)}")
                run.keep(Row("tg", each.name, kind, context, note=f"not measured: {first_line(error, 90)}"))
        turns: dict[int, list[Turn]] = {id(each): [] for each, _ in taking}
        until = time.monotonic() + run.left(part) / (len(contexts) - number)
        for turn in range(plan.rounds):
            if turn and time.monotonic() > until:
                run.tell(f"at {context}: {turn} rounds of {plan.rounds}, time is short")
                break
            for place in range(len(taking)):
                each = taking[(turn + place) % len(taking)][0]
                torch.cuda.synchronize()
                # Whoever runs longer in a row is measured slower, so all who are compared have the same number.
                tokens = min(plan.tokens, 32) if each.name == GRAPH else plan.tokens
                with attempt(run, f"{each.name} at {context}"):
                    turns[id(each)].append(each.turn(tokens))
        for each, kind in taking:
            each.end()
            if not turns[id(each)]:
                run.keep(Row("tg", each.name, kind, context, note="not measured: it fails"))
                continue
            run.keep(decoded(run, each, kind, context, turns[id(each)], streamed[kind]))
            run.tell(f"at {context}: {each.name}, {kind}: {run.rows[-1].median:.1f} tokens/s")


def decoded(run: Run, each: Contestant, kind: str, context: int, turns: Sequence[Turn], streamed: int) -> Row:
    """The row of a contestant."""
    middle = context + turns[0].tokens / 2 if each.name != GRAPH else context
    firsts = [turn.first for turn in turns if turn.first is not None]
    return Row(
        "tg", each.name, kind, context, tuple(turn.tokens / turn.seconds for turn in turns),
        percentiles([step for turn in turns for step in turn.steps]), sum(turn.tokens for turn in turns),
        bytes_per_token(run.config, streamed, middle), each.nodes, statistics.median(firsts) if firsts else None,
    )  # fmt: skip


# Products alone, and prompts.


def roofs(run: Run, shared: Shared, llm: LLM) -> None:
    """Only the GEMVs of a step: by cuBLAS, and by us."""
    streamed = llm.weights.streamed
    graph, nodes = chains.gemvs_of_a_step(shared, fastest_gemvs(shared))
    chain, count = ours.matvec_chain(llm.weights, llm.device)

    def theirs(times: int) -> float:
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(times):
            graph.replay()
        torch.cuda.synchronize()
        return time.perf_counter() - began

    rounds: dict[str, list[float]] = {"cuBLAS": [], OURS: []}
    for _ in range(run.plan.rounds):
        for name, seconds_of in (("cuBLAS", theirs), (OURS, chain)):
            seconds_of(2)
            rounds[name].append(20 / seconds_of(20))
    for name, how_many in (("cuBLAS", nodes), (OURS, count)):
        run.keep(Row("chain", name, "bf16", 0, tuple(rounds[name]), None, 20 * run.plan.rounds, streamed, how_many))
        run.tell(f"products alone, {name}: {1e3 / run.rows[-1].median:.3f} ms")


def prompts(run: Run, shared: Shared, llm: LLM, lengths: Sequence[int]) -> None:
    """Prompts of some lengths, beside the products that they need, in turns of equal length.

    By `generate` they are timed apart: there the GPU waits for the host at times, and draws another power.
    """
    for length in lengths:
        if run.left() < 0:
            run.keep(Row("pp", OURS, "bf16", length, note="not measured: time is short"))
            continue
        try:
            seconds = _PROMPT_SECONDS * (0.5 if run.plan.is_short else 2)
            alone = {
                GRAPH: partial(ours.prefill_alone, llm, length),
                PROMPT_PEER: partial(timed, chains.products_of_a_prompt(shared, length), torch.cuda.synchronize),
            }
            result = race({OURS: partial(ours.prefill, llm, length, itertools.count())}, run.plan.rounds, seconds / 3)
            result |= race(alone, run.plan.rounds, seconds, LONG if length in JUDGED_PROMPTS else 1)
        except Exception as error:
            run.tell(f"prompt of {length}: {first_line(error)}")
            run.keep(Row("pp", OURS, "bf16", length, note=f"not measured: {first_line(error, 90)}"))
            continue
        run.keep(*(Row("pp", who, "bf16", length, tuple(length / each for each in result[who])) for who in result))
        first, second, third = (row.median for row in run.rows[-3:])
        run.tell(f"prompt of {length}: {first / third:.3f} x cuBLAS and cuDNN, the graph alone {second / third:.3f} x")
        torch.cuda.empty_cache()


# All of it.


def make_steps(run: Run, llm: LLM, small: LLM | None, warming: Warming) -> None:
    """Makes our steps while compilers work: those that goals are about, and of the others as many as there is time for.

    What is not made here is made when it is first needed, before it is timed.
    """
    plan = run.plan
    prompts_asked = [prompt for prompt in plan.prompts if prompt in JUDGED_PROMPTS]
    prompts_left = [prompt for prompt in plan.prompts if prompt not in JUDGED_PROMPTS]
    engines = [(llm, max(plan.contexts)), *([(small, LONG_INT8)] if small is not None else [])]
    tasks = [
        *((engine, [context], []) for context in plan.contexts if context <= SHORT for engine, _ in engines),
        (llm, [], prompts_asked),
        *((engine, [context], []) for context in plan.contexts if context > SHORT
          for engine, most in engines if context <= most),
        (llm, [], prompts_left),
    ]
    for engine, contexts, lengths in tasks:
        if warming.is_over and (lengths is not prompts_asked) and not (contexts and contexts[0] <= SHORT):
            break
        with attempt(run, f"steps at {contexts or lengths}"):
            ours.make_steps(engine, contexts, lengths, plan.tokens)
    run.tell(f"steps are made, {len(llm.runner.steps)} of bf16 in {llm.runner.compile_seconds:.1f} s")


def measure(plan: Plan) -> None:
    """Carries a plan out: what takes long beside each other, then what goals are about, then the rest."""
    config = shape(plan.model)
    if plan.layers is not None:
        config = replace(config, num_hidden_layers=plan.layers)
    run = Run(plan, config)
    run.facts["batch, activations, sums"] = "1, bf16, f32"
    run.facts["SM clock, memory clock, heat, power before"] = clocks()
    run.tell(f"weights of {config.num_hidden_layers} layers")
    shared = made(config, DEVICE)
    room = min(max((*plan.contexts, *plan.prompts)) + plan.tokens + 64, config.max_position_embeddings)
    llm = LLM.of(config, shared.ours(), device=DEVICE, max_seq_len=room, max_batch=1, chunk=8192)
    small: LLM | None = None
    with attempt(run, "8-bit weights"):
        if run.has("int8"):
            longest = min(room, LONG_INT8 + plan.tokens + 64)
            small = LLM.of(config, shared.ours_int8(), device=DEVICE, max_seq_len=longest, max_batch=1, chunk=2048)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    run.tell("compilers of peers begin")
    warming = Warming(plan)
    make_steps(run, llm, small, warming)
    warming.wait(run.left(_PREPARING))
    run.tell("compilers of peers have ended")
    run.read_rate = chains.read_rate()
    torch.cuda.empty_cache()
    contestants: list[tuple[Any, int, str]] = [
        (ours.Ours(llm, OURS), room, "bf16"), (ours.OurGraph(llm, GRAPH), room, "bf16"), *peers_of(run, shared, llm),
    ]  # fmt: skip
    streamed = {"bf16": llm.weights.streamed}
    if small is not None:
        streamed["int8"] = small.weights.streamed
        contestants += [(ours.Ours(small, OURS), LONG_INT8, "int8"), (ours.OurGraph(small, GRAPH), LONG_INT8, "int8")]
    run.facts["memory"] = ", ".join(f"{name} {size / 1e9:.2f} GB" for name, size in llm.memory.items())
    decode(run, contestants, streamed, [context for context in plan.contexts if context <= SHORT], _SHORT_ROUNDS)
    with attempt(run, "products alone"):
        if run.has("chains"):
            roofs(run, shared, llm)
    prompts(run, shared, llm, [prompt for prompt in plan.prompts if prompt in JUDGED_PROMPTS])
    with attempt(run, "parts of a step"):
        run.parts = ours.parts_of(llm, min(SHORT, max(plan.contexts)))
    free, total = torch.cuda.mem_get_info()
    run.facts["memory of the GPU in use, all contestants"] = f"{(total - free) / 1e9:.1f} GB"
    run.facts["SM clock, memory clock, heat, power after"] = clocks()
    run.facts["seconds to make all steps (bf16)"] = f"{llm.runner.compile_seconds:.1f}, {len(llm.runner.steps)} classes"
    decode(run, contestants, streamed, [context for context in plan.contexts if context > SHORT], _LONG_ROUNDS)
    prompts(run, shared, llm, [prompt for prompt in plan.prompts if prompt not in JUDGED_PROMPTS])
    run.facts["seconds of the run"] = f"{time.monotonic() - run.began:.0f}"
    run.keep()
    run.tell("done")


def main(arguments: Sequence[str]) -> int:
    """Reads a plan as JSON, and carries it out."""
    measure(Plan.of(json.loads(arguments[0])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
