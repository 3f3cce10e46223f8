"""Tiny random models for tests: their sizes, weights under Hugging Face names, and writers of folders and GGUF files.

A test that compares tokens needs weights that decide something: with those of a fresh model every prompt gives one
token again and again. Here matrices have a gain of about two, tables spread the logits, and no norm is one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import ml_dtypes
import numpy as np

from tileproof.llm.models.config import ModelConfig, RopeScaling

Weights = dict[str, Any]
"""Arrays of bf16 by the names that Hugging Face gives them."""

SPECIALS: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
"""The last tokens of the vocabulary, in this order."""
TEMPLATE: Final = (
    "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}"
    "{%- endif %}"
)
"""ChatML, with the empty thought that turns thinking off."""
TEXT: Final = (
    "the quick brown fox jumps over the lazy dog and then the other dog",
    "a tile is a part of a tensor; a kernel reads tiles, computes with tiles, and writes tiles",
    "there is more than one way to write this, and all of them are the same in the end",
    "question: what is the capital of France? answer: the capital of France is Paris.",
    "numbers such as 1, 22 and 333 stand for themselves; so do spaces    and\n\nnew lines",
)
"""What the tokenizer is trained on."""
STORED: Final[dict[str, tuple[str, Any]]] = {
    "bf16": ("BF16", np.dtype(ml_dtypes.bfloat16)),
    "f16": ("F16", np.dtype(np.float16)),
    "f32": ("F32", np.dtype(np.float32)),
}
QWEN: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen splits text before it is made tokens."""


def tiny(family: Literal["qwen3", "llama"] = "qwen3", **changes: Any) -> ModelConfig:
    """A model of some ten thousand weights; `changes` replace what it has.

    tiny("llama", tie_word_embeddings=False, rope_scaling=RopeScaling("llama3", 8.0, trained=64))
    """
    tokens = changes.get("tokens", 300)
    first, end = tokens - len(SPECIALS), tokens - len(SPECIALS) + 2
    is_qwen = family == "qwen3"
    model_config = ModelConfig(
        family=family, name=f"tiny-{family}", num_hidden_layers=2, hidden_size=64 if is_qwen else 128,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32,
        intermediate_size=192, vocab_size=320, tokens=tokens, rms_norm_eps=1e-6 if is_qwen else 1e-5,
        rope_theta=1e6 if is_qwen else 1e4,
        max_position_embeddings=512, tie_word_embeddings=is_qwen, has_qk_norm=is_qwen,
        bos_token_id=None if is_qwen else first,
        eos_token_ids=(end, first) if is_qwen else (end,),
    )  # fmt: skip
    return replace(model_config, **changes)


def shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the tensors of a model, as Hugging Face has them."""
    width, inner, q, kv = (
        config.hidden_size,
        config.intermediate_size,
        config.num_attention_heads * config.head_dim,
        config.num_key_value_heads * config.head_dim,
    )
    results: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (config.vocab_size, width)}
    for number in range(config.num_hidden_layers):
        layer = f"model.layers.{number}."
        results |= {
            f"{layer}input_layernorm.weight": (width,),
            f"{layer}self_attn.q_proj.weight": (q, width),
            f"{layer}self_attn.k_proj.weight": (kv, width),
            f"{layer}self_attn.v_proj.weight": (kv, width),
            f"{layer}self_attn.o_proj.weight": (width, q),
            f"{layer}post_attention_layernorm.weight": (width,),
            f"{layer}mlp.gate_proj.weight": (inner, width),
            f"{layer}mlp.up_proj.weight": (inner, width),
            f"{layer}mlp.down_proj.weight": (width, inner),
        }
        if config.has_qk_norm:
            results[f"{layer}self_attn.q_norm.weight"] = (config.head_dim,)
            results[f"{layer}self_attn.k_norm.weight"] = (config.head_dim,)
    results["model.norm.weight"] = (width,)
    if not config.tie_word_embeddings:
        results["lm_head.weight"] = (config.vocab_size, width)
    return results


def random_weights(config: ModelConfig, seed: int = 0) -> Weights:
    """Weights of bf16 for which greedy texts differ from token to token, equal for equal seeds."""
    rng = np.random.default_rng(seed)
    result: Weights = {}
    for name, shape in shapes(config).items():
        if len(shape) == 1:
            values = rng.uniform(0.5, 1.5, shape)
        elif name in ("model.embed_tokens.weight", "lm_head.weight"):
            values = rng.standard_normal(shape) * 4 / np.sqrt(config.hidden_size)
        else:
            values = rng.standard_normal(shape) * 2 / np.sqrt(shape[1])
        result[name] = values.astype(np.float32).astype(ml_dtypes.bfloat16)
    return result


# Hugging Face folders.


def write_folder(
    path: Path, config: ModelConfig, weights: Weights, shards: int = 1, dtype: Literal["bf16", "f16", "f32"] = "bf16"
) -> Path:
    """Writes a model as a folder of Hugging Face, and gives the folder."""
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / "config.json", config_json(config))
    ends = list(config.eos_token_ids)
    write_json(
        path / "generation_config.json", {"bos_token_id": config.bos_token_id, "eos_token_id": ends, "do_sample": True}
    )
    tokenizer(config.family, config.tokens).save(str(path / "tokenizer.json"))
    names = {"bos_token": None if config.bos_token_id is None else SPECIALS[0], "eos_token": SPECIALS[2]}
    write_json(path / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "chat_template": TEMPLATE,
        "model_max_length": config.max_position_embeddings,
        "add_bos_token": False, "pad_token": SPECIALS[0], **names,
    })  # fmt: skip
    if shards == 1:
        write_safetensors(path / "model.safetensors", weights, dtype)
        return path
    files = [f"model-{number + 1:05}-of-{shards:05}.safetensors" for number in range(shards)]
    places = {name: files[place * shards // len(weights)] for place, name in enumerate(weights)}
    for file in files:
        write_safetensors(path / file, {name: weights[name] for name in weights if places[name] == file}, dtype)
    total = sum(array.size for array in weights.values()) * STORED[dtype][1].itemsize
    write_json(path / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": places})
    return path


def config_json(config: ModelConfig) -> dict[str, Any]:
    """The `config.json` of a model, as transformers 5 writes it."""
    is_qwen = config.family == "qwen3"
    results: dict[str, Any] = {
        "architectures": ["Qwen3ForCausalLM" if is_qwen else "LlamaForCausalLM"], "attention_bias": False,
        "attention_dropout": 0.0, "bos_token_id": config.bos_token_id, "dtype": "bfloat16",
        "eos_token_id": config.eos_token_ids[0] if config.eos_token_ids else None, "head_dim": config.head_dim,
        "hidden_act": "silu",
        "hidden_size": config.hidden_size, "initializer_range": 0.2, "intermediate_size": config.intermediate_size,
        "max_position_embeddings": config.max_position_embeddings, "model_type": config.family,
        "num_attention_heads": config.num_attention_heads,
        "num_hidden_layers": config.num_hidden_layers, "num_key_value_heads": config.num_key_value_heads,
        "pad_token_id": None,
        "rms_norm_eps": config.rms_norm_eps, "rope_parameters": rope_json(config),
        "tie_word_embeddings": config.tie_word_embeddings,
        "transformers_version": "5.22.2", "use_cache": True, "vocab_size": config.vocab_size,
    }  # fmt: skip
    if is_qwen:
        results |= {"layer_types": ["full_attention"] * config.num_hidden_layers,
        "max_window_layers": config.num_hidden_layers,
                 "sliding_window": None, "use_sliding_window": False}  # fmt: skip
    else:
        results |= {"mlp_bias": False, "pretraining_tp": 1}
    return results


def rope_json(config: ModelConfig) -> dict[str, Any]:
    """What transformers calls `rope_parameters`."""
    scaling = config.rope_scaling
    if scaling is None:
        return {"rope_theta": config.rope_theta, "rope_type": "default"}
    results = {"rope_theta": config.rope_theta, "rope_type": scaling.kind, "factor": scaling.factor}
    match scaling.kind:
        case "llama3":
            results |= {"low_freq_factor": scaling.low, "high_freq_factor": scaling.high}
            results["original_max_position_embeddings"] = scaling.trained
        case "yarn":
            results |= {"beta_slow": scaling.low, "beta_fast": scaling.high}
            results["original_max_position_embeddings"] = scaling.trained
    return results


def change_settings(folder: Path, **changes: Any) -> Path:
    """Changes settings of `config.json`; those that become `...` are taken out."""
    path = folder / "config.json"
    values = json.loads(path.read_text()) | changes
    write_json(path, {key: value for key, value in values.items() if value is not ...})
    return folder


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def write_safetensors(path: Path, weights: Weights, dtype: Literal["bf16", "f16", "f32"] = "bf16") -> None:
    """A file of tensors: the length of a header, the header, and the elements."""
    name, storage = STORED[dtype]
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for key, array in weights.items():
        end = place + array.size * storage.itemsize
        header[key] = {"dtype": name, "shape": list(array.shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in weights.values():
            file.write(array.astype(storage).tobytes())


@cache
def tokenizer(family: str, tokens: int) -> Any:
    """A byte-level BPE tokenizer of so many tokens, split as the family splits text."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    parts = (
        [pre_tokenizers.Split(Regex(QWEN), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
        if family == "qwen3"
        else [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=tokens - len(SPECIALS), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIALS])
    assert tokenizer.get_vocab_size() == tokens, f"{tokens} tokens cannot be had of so little text"
    return tokenizer


# GGUF files.


def write_gguf(
    path: Path, config: ModelConfig, weights: Weights, kind: Literal["F32", "F16", "BF16", "Q8_0", "Q4_1"] = "F32"
) -> Path:
    """Writes a model as llama.cpp reads it, the tokenizer inside, and gives the file. Tables of Q4_1 are Q8_0."""
    import gguf

    writer = gguf.GGUFWriter(str(path), config.family)
    writer.add_name(config.name)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    scaling = config.rope_scaling
    if scaling is not None and scaling.kind != "llama3":
        writer.add_rope_scaling_type(gguf.RopeScalingType(scaling.kind))
        writer.add_rope_scaling_factor(scaling.factor)
        if scaling.kind == "yarn":
            writer.add_rope_scaling_orig_ctx_len(scaling.trained)
    _add_tokens(writer, config)
    if scaling is not None and scaling.kind == "llama3":
        writer.add_tensor("rope_freqs.weight", _stretches(config, scaling))
    for name, array in weights.items():
        values = array.astype(np.float32)
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(name.split(".")[-2])
        if heads is not None and config.family == "llama":
            values = interleaved(values, heads)
        wanted = kind
        if array.ndim == 1:
            wanted = "F32"
        elif kind == "Q4_1" and name in ("model.embed_tokens.weight", "lm_head.weight"):
            wanted = "Q8_0"
        stored = gguf.GGMLQuantizationType[wanted]
        data = values if wanted == "F32" else gguf.quantize(values, stored)
        writer.add_tensor(gguf_name(name), data, raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def interleaved(rows: Any, heads: int) -> Any:
    """Rows of heads in the order of files for llama.cpp: the two halves of a head take turns."""
    return rows.reshape(heads, 2, -1, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)


def gguf_name(name: str) -> str:
    """What a tensor of Hugging Face is called in a GGUF file."""
    known = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    parts = {
        "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    }  # fmt: skip
    stem = name.removesuffix(".weight")
    if stem in known:
        return f"{known[stem]}.weight"
    _, _, number, rest = stem.split(".", 3)
    return f"blk.{number}.{parts[rest]}.weight"


def _add_tokens(writer: Any, config: ModelConfig) -> None:
    result = tokenizer(config.family, config.tokens)
    merges = [" ".join(pair) for pair in json.loads(result.to_str())["model"]["merges"]]
    padding = range(config.tokens, config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2" if config.family == "qwen3" else "smollm")
    writer.add_token_list([*map(result.id_to_token, range(config.tokens)), *(f"[PAD{token}]" for token in padding)])
    normal = config.tokens - len(SPECIALS)
    writer.add_token_types([1] * normal + [3] * len(SPECIALS) + [5] * len(padding))
    writer.add_token_merges(merges)
    writer.add_pad_token_id(normal)
    if config.bos_token_id is not None:
        writer.add_bos_token_id(config.bos_token_id)
    writer.add_eos_token_id(config.eos_token_ids[0])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def _stretches(config: ModelConfig, scaling: RopeScaling) -> Any:
    """By how much each angle of Llama 3 is slowed: 1 for the fast ones, the factor for the slow ones."""
    waves = 2 * np.pi * config.rope_theta ** (np.arange(0, config.head_dim, 2) / config.head_dim)
    share = np.clip((scaling.trained / waves - scaling.low) / (scaling.high - scaling.low), 0, 1)
    return (1 / ((1 - share) / scaling.factor + share)).astype(np.float32)
