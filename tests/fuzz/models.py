"""Random files of models, tokenizers and chat templates against the loaders.

    python -m tests.fuzz.models --seconds 60 [--kind gguf] [--seed S] [--count N]

A file is either rejected with a `ModelError` of one printable line, or it loads, and what is loaded is what independent
code reads from it. Each kind runs in a process with limits: a case that crashes, takes more than 10 s of processor time
or more than 1 GB of memory is reported by its seed, as is one that raises anything else. `--seed` and `--count 1` run
it again, and keep its files.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import ml_dtypes
import numpy as np
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fuzz import model_texts
from fuzz.model_files import Gguf, as_json, changed, changed_gguf, changed_safetensors, damaged, parsed_gguf
from support.checkpoints import TEMPLATE, random_weights, tiny, write_folder, write_gguf
from support.model_reader import Tensors, read_folder, read_gguf
from tileproof.llm.errors import ModelError
from tileproof.llm.loader.checkpoint import Checkpoint, open_model
from tileproof.llm.loader.load import load
from tileproof.llm.models.rope import rope_speeds
from tileproof.llm.models.weights import ModelWeights
from tileproof.llm.tokenizer import worker_process
from tileproof.llm.tokenizer.messages import Message
from tileproof.llm.tokenizer.templates import ChatTemplate
from tileproof.llm.tokenizer.text import Text

SECONDS: Final = 10
"""Processor time that a case may take."""
MEMORY: Final = 1 << 30
"""Memory that a case may take beyond that of the process."""
BATCH: Final = 100
"""Cases of each kind that a process tries."""
PROMPT: Final = "Hello, wörld! <|im_end|> aab\n\n 123  日本"
CHAT: Final = (Message("system", "Be <brief>."), Message("user", "Hé < 日本 <|im_end|>"))


class Wrong(Exception):
    """What was loaded is not what the files hold, or the error is not fit to print."""


# Files to change.


@cache
def folder_of(number: int) -> Path:
    """A folder that is whole."""
    family = ("qwen3", "llama")[number % 2]
    config = tiny(family, tie_word_embeddings=number % 3 == 0)  # type: ignore[arg-type]
    path = Path(tempfile.mkdtemp(dir=_room()))
    dtype = ("bf16", "f16", "f32")[number % 3]
    return write_folder(path, config, random_weights(config), 1 + 2 * (number // 3 % 2), dtype)  # type: ignore[arg-type]


@cache
def gguf_of(number: int) -> Gguf:
    """A GGUF file that is whole."""
    config = tiny(("qwen3", "llama")[number % 2], tie_word_embeddings=number % 3 == 0)  # type: ignore[arg-type]
    kind = ("F32", "F16", "BF16", "Q8_0", "Q4_1")[number % 5]
    path = write_gguf(_room() / f"{number}.gguf", config, random_weights(config), kind)  # type: ignore[arg-type]
    return parsed_gguf(path.read_bytes())


@cache
def _room() -> Path:
    """A folder for files, in memory if there is such a place."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="tileproof-fuzz-", dir=place))


def _copied(number: int) -> Path:
    path = _room() / "case"
    shutil.rmtree(path, ignore_errors=True)
    return Path(shutil.copytree(folder_of(number), path))


# Cases: each writes files, and tries them. True if they were loaded.


def safetensors(rng: random.Random) -> bool:
    """Weights of a folder, or their index."""
    path = _copied(rng.randrange(6))
    index = path / "model.safetensors.index.json"
    if index.is_file() and rng.random() < 0.4:
        table = json.loads(index.read_text())
        places = table["weight_map"]
        name, other = rng.choice(list(places)), rng.choice(list(places))
        match rng.randrange(5):
            case 0:
                places[name] = places[other]
            case 1:
                del places[name]
            case 2:
                places[name] = rng.choice(
                    ("../x", "/dev/zero", "", "x" * 300, "config.json", "tokenizer.json", ".", "a\0b")
                )
            case 3:
                places[rng.choice((f"{name}x", "model.layers.0.mlp.up_proj.bias"))] = places[name]
            case _:
                table = changed(rng, table)
        index.write_bytes(as_json(rng, table))
    else:
        file = rng.choice(sorted(path.glob("*.safetensors")))
        file.write_bytes(changed_safetensors(rng, file.read_bytes()))
    return _model(path)


def gguf(rng: random.Random) -> bool:
    """A GGUF file: model, tokenizer and template."""
    path = _room() / "case.gguf"
    path.write_bytes(changed_gguf(rng, gguf_of(rng.randrange(30))))
    return _model(path)


def config(rng: random.Random) -> bool:
    """Settings of a folder."""
    path = _copied(rng.randrange(6))
    name = rng.choice(("config.json", "config.json", "config.json", "generation_config.json", "tokenizer_config.json"))
    settings = json.loads((path / name).read_text())
    change = model_texts.changed_config if name == "config.json" else changed
    (path / name).write_bytes(as_json(rng, change(rng, settings)))
    return _model(path)


def tokenizers(rng: random.Random) -> bool:
    """The tokenizer of a folder."""
    path = _copied(rng.randrange(2))
    table = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    (path / "tokenizer.json").write_bytes(as_json(rng, model_texts.changed_tokenizer(rng, table)))
    if rng.random() < 0.3:
        settings = json.loads((path / "tokenizer_config.json").read_text())
        (path / "tokenizer_config.json").write_bytes(as_json(rng, changed(rng, settings)))
    try:
        open_model(path)
    except ModelError as error:
        _demand_printable(error)
    return _text(Text.open(path))


def templates(rng: random.Random) -> bool:
    """A chat template, which gives what jinja2 alone gives."""
    source = model_texts.template(rng) if rng.random() < 0.9 else _damaged_template(rng)
    messages = [{"role": each.role, "content": each.content} for each in CHAT]
    text = ChatTemplate(source, bos="<s>", eos="</s>").render(messages)
    if "random" in source or "lipsum" in source or "strftime" in source or len(text) > 100_000:
        return True
    plain = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    plain.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    source = source.replace("{% generation %}", "{% if 1 %}").replace("{% endgeneration %}", "{% endif %}")
    variables = {"tools": None, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}
    if "<" not in text.replace("<s>", "").replace("</s>", "") and " at 0x" not in text:
        wanted = plain.from_string(source).render(messages=messages, **variables)
        if text != wanted:
            raise Wrong(f"{text!r} in place of {wanted!r}")
    return True


def _damaged_template(rng: random.Random) -> str:
    return damaged(rng, TEMPLATE.encode()).decode("utf-8", "surrogateescape")


KINDS: Final[dict[str, Callable[[random.Random], bool]]] = {
    "safetensors": safetensors, "gguf": gguf, "config": config, "tokenizer": tokenizers, "template": templates,
}  # fmt: skip


# What is right.


def _model(path: Path) -> bool:
    """A model and its tokenizer: both are tried, whatever becomes of the other."""
    opened: Checkpoint | None = None
    try:
        opened = open_model(path)
        weights = load(opened)
    except ModelError as error:
        _demand_printable(error)
        is_loaded = False
    else:
        _demand_same(opened, weights)
        is_loaded = True
    try:
        _text(Text.open(path, None if opened is None else opened.settings))
    except ModelError as error:
        _demand_printable(error)
    return is_loaded


def _text(text: Text) -> bool:
    tokens = text.encode(PROMPT)
    if not all(0 <= token < text.tokens for token in tokens):
        raise Wrong(f"tokens {tokens} of {text.tokens}")
    text.decode(tokens)
    for token in tokens[:50]:
        text.piece(token)
    text.token(0)
    text.chat_prompt(CHAT)
    return True


def _demand_printable(error: ModelError) -> None:
    (found,) = error.diagnostics
    if not found.help or not error.line.isprintable() or len(error.line) > 2000:
        raise Wrong(f"an error of {len(error.line)} characters: {error.line[:300]!r}")


def _demand_same(opened: Checkpoint, weights: ModelWeights) -> None:
    """What was loaded is what the files hold."""
    config = opened.config
    settings, tensors = read_gguf(opened.path) if opened.path.is_file() else read_folder(opened.path)
    if opened.path.is_file():
        family = settings["general.architecture"]
        settings = {key.removeprefix(f"{family}."): value for key, value in settings.items()}
        heads, width = settings["attention.head_count"], settings["embedding_length"]
        wanted = {
            "family": family, "num_hidden_layers": settings["block_count"], "hidden_size": width,
            "num_attention_heads": heads, "num_key_value_heads": settings.get("attention.head_count_kv", heads),
            "head_dim": settings.get("attention.key_length", width // heads),
            "intermediate_size": settings["feed_forward_length"],
            "rms_norm_eps": settings["attention.layer_norm_rms_epsilon"],
            "rope_theta": settings.get("rope.freq_base", 1e4), "max_position_embeddings": settings["context_length"],
            "bos_token_id": settings.get("tokenizer.ggml.bos_token_id"),
        }  # fmt: skip
        ends = {settings["tokenizer.ggml.eos_token_id"]} if "tokenizer.ggml.eos_token_id" in settings else set()
    else:
        settings = {key: value for key, value in settings.items() if value is not None}
        heads, width = settings["num_attention_heads"], settings["hidden_size"]
        rope = settings.get("rope_parameters") or settings.get("rope_scaling") or {}
        theta = rope.get("rope_theta")
        wanted = {
            "num_hidden_layers": settings["num_hidden_layers"], "hidden_size": width, "num_attention_heads": heads,
            "num_key_value_heads": settings.get("num_key_value_heads", heads),
            "head_dim": settings.get("head_dim", width // heads), "intermediate_size": settings["intermediate_size"],
            "rms_norm_eps": settings.get("rms_norm_eps", 1e-6), "vocab_size": settings["vocab_size"],
            "bos_token_id": settings.get("bos_token_id"),
            "rope_theta": settings.get("rope_theta", 1e4) if theta is None else theta,
        }  # fmt: skip
        kind = rope.get("rope_type", rope.get("type"))
        if kind in (None, "default", "linear"):
            exponents = -np.arange(0, config.head_dim, 2) / config.head_dim
            speeds, _ = rope_speeds(config.head_dim, config.rope_theta, config.rope_scaling)
            factor = rope["factor"] if kind == "linear" else 1
            if not np.allclose(speeds, wanted["rope_theta"] ** exponents / factor, rtol=1e-9, atol=0):
                raise Wrong(f"angles of {rope}")
        elif config.rope_scaling is None or config.rope_scaling.kind != kind:
            raise Wrong(f"{config.rope_scaling} in place of {rope}")
        ends = settings.get("eos_token_id", [])
        ends = set(ends) if isinstance(ends, list) else {ends}
    for name, value in wanted.items():
        found = getattr(config, name)
        if found != (float(value) if isinstance(found, float) else value):
            raise Wrong(f"{name} is {found!r}, and in the file {value!r}")
    if not ends <= set(config.eos_token_ids):
        raise Wrong(f"texts end with {config.eos_token_ids}, and in the file {ends}")
    loaded = _loaded(opened, weights)
    for name, array in tensors.items():
        if name not in loaded:
            if name == "lm_head.weight" and np.array_equal(array, tensors["model.embed_tokens.weight"]):
                continue
            if name.endswith(("rotary_emb.inv_freq", "rope_freqs.weight")):
                continue
            raise Wrong(f"{name} is left out")
        if not np.array_equal(loaded[name], array.astype(ml_dtypes.bfloat16).astype(np.float32)) and not (
            array.ndim == 1 and np.array_equal(loaded[name], array)
        ):
            raise Wrong(f"{name} has other elements")
    missing = loaded.keys() - tensors.keys()
    if missing - ({"lm_head.weight"} if config.tie_word_embeddings else set()):
        raise Wrong(f"the files have no {missing}")


def _loaded(opened: Checkpoint, weights: ModelWeights) -> Tensors:
    """Weights of an engine under the names that Hugging Face gives them."""
    config = opened.config
    q, kv = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    made: Tensors = {"model.embed_tokens.weight": weights.table, "model.norm.weight": weights.norm}
    if not config.tie_word_embeddings:
        made["lm_head.weight"] = weights.head.values
    for number, layer in enumerate(weights.layers):
        qkv, gate_up = layer.qkv.values, layer.gate_up.values
        parts = {
            "input_layernorm": layer.attention_norm, "self_attn.q_proj": qkv[:q],
            "self_attn.k_proj": qkv[q : q + kv], "self_attn.v_proj": qkv[q + kv :],
            "self_attn.q_norm": layer.q_norm, "self_attn.k_norm": layer.k_norm,
            "self_attn.o_proj": layer.output.values, "post_attention_layernorm": layer.feed_norm,
            "mlp.gate_proj": gate_up[: config.intermediate_size], "mlp.up_proj": gate_up[config.intermediate_size :],
            "mlp.down_proj": layer.down.values,
        }  # fmt: skip
        made |= {f"model.layers.{number}.{name}.weight": each for name, each in parts.items() if each is not None}
    return {name: tensor.numpy().astype(np.float32) for name, tensor in made.items()}


# Running.


def tried(kind: str, seed: int) -> str:
    """What becomes of one case: `loaded`, `rejected`, or what is wrong."""
    try:
        return "loaded" if KINDS[kind](random.Random(f"{kind} {seed}")) else "rejected"
    except ModelError as error:
        try:
            _demand_printable(error)
        except Wrong as wrong:
            return f"WRONG: {wrong}"
        return "rejected"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place is not None else "?"
        return f"WRONG: {type(error).__name__} at {where}: {str(error)[:300]!r}"


def work(kinds: Sequence[str], seed: int, count: int) -> None:
    """Tries cases one after the other, each named before it runs. A case without end is killed by a signal."""
    worker_process.SECONDS = 0.2  # type: ignore[misc]
    _demand_same(opened := open_model(folder_of(0)), load(opened))  # all that is imported late is here
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        for each in range(seed, seed + count):
            for kind in kinds:
                print(kind, each, end=" ", flush=True)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                result = tried(kind, each)
                signal.setitimer(signal.ITIMER_PROF, 0)
                print(result, flush=True)
    finally:
        if len(kinds) * count > 1:
            shutil.rmtree(_room(), ignore_errors=True)
        else:
            print(f"its files are in {_room()}", file=sys.stderr)


def batch(kinds: Sequence[str], seed: int, count: int) -> list[tuple[str, int, str]]:
    """What becomes of cases in a process of their own: kind, seed and outcome of those that ran."""
    command = [sys.executable, __file__, "--seed", str(seed), "--count", str(count), "--work", "--kind", *kinds]
    panics = None if len(kinds) * count == 1 else subprocess.DEVNULL
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=panics, text=True, errors="replace")
    ran = []
    for line in done.stdout.splitlines():
        kind, number, outcome = line.split(" ", 2)
        ran.append((kind, int(number), outcome or f"WRONG: the process ends with {done.returncode}"))
    return ran or [(kinds[0], seed, f"WRONG: the process ends with {done.returncode}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="of the first case")
    parser.add_argument("--count", type=int, help="cases of each kind")
    parser.add_argument("--work", action="store_true", help="try them in this process")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else time.time_ns() // 1000 % 10**10
    if options.work:
        work(options.kind, first, options.count or BATCH)
        return 0
    totals = {kind: Counter[str]() for kind in options.kind}
    seed, last = first, math.inf if options.count is None else first + options.count
    until = time.monotonic() + options.seconds
    while seed < last and time.monotonic() < until:
        for kind, number, outcome in batch(options.kind, seed, int(min(BATCH, last - seed))):
            totals[kind][outcome.partition(":")[0]] += 1
            seed = number + 1
            if outcome.startswith("WRONG"):
                print(kind, number, outcome, flush=True)
    for kind, seen in totals.items():
        print(f"{kind}: {seen.total()} cases from seed {first}, {dict(seen)}")
    return 1 if any(seen["WRONG"] for seen in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
