"""Models in GGUF files: what their settings mean, and what their tensors are called elsewhere.

Of some families the rows of queries and keys are stored for rotating neighbors. They are marked here, and put back in
halves when they are read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..models.config import ModelConfig, RopeScaling
from ..models.families import FAMILIES
from ..models.rope import rope_speeds
from . import layout
from .gguf_files import GgufFile, read_gguf
from .settings import DEEPEST, Settings, checked
from .stored import OpenFiles, Stored

UNUSED, CONTROL = 5, 3
"""Types of tokens: padding, and those that are no text."""
ENDS: Final = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|eom_id|>")
"""Tokens that end a turn or a text: a file names only one or two."""
LAYER: Final = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip
WHOLE: Final = {"token_embd.weight": layout.TABLE, "output_norm.weight": layout.NORM, "output.weight": layout.HEAD}
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,8}")
"""Of a layer, as llama.cpp writes it: `blk.00.` would be a second name of the first."""
_STRETCHES: Final = "rope_freqs.weight"


def gguf_model(path: Path) -> tuple[ModelConfig, dict[str, Stored], dict[str, Any]]:
    """What a model is, its tensors under their names elsewhere, and all settings of the file."""
    file = read_gguf(path)
    family = _family(file)
    settings = Settings(file.path, {
        key.removeprefix(f"{family}."): value for key, value in file.settings.items()
        if key.startswith((f"{family}.", "tokenizer."))
    })  # fmt: skip
    config = _config(file, family, settings)
    tensors, is_interleaved = {}, FAMILIES[family].is_interleaved_in_gguf
    for name, tensor in file.tensors.items():
        if name == _STRETCHES:
            continue
        known = _known_name(name)
        if known is None:
            message = f"{tensor} is not part of models of the family {family} as they are known"
            raise refused(Code.MODEL_KIND, message, "use a model without it")
        is_rotated = known.endswith((".q_proj.weight", ".k_proj.weight"))
        tensors[known] = replace(tensor, interleaved=config.head_dim) if is_rotated and is_interleaved else tensor
    return config, tensors, file.settings


def _family(file: GgufFile) -> str:
    architecture = file.settings.get("general.architecture")
    if isinstance(architecture, str) and architecture in FAMILIES:
        return architecture
    known = " and ".join(f"`{each}`" for each in FAMILIES)
    message = f"{file.path} holds a model of architecture {architecture!r}"
    raise refused(Code.MODEL_KIND, message, f"models of architecture {known} are known")


def _config(file: GgufFile, family: str, settings: Settings) -> ModelConfig:
    for name, what, cure in (
        ("expert_count", "a mixture of experts", "use a dense model"),
        ("attention.sliding_window", "a sliding window", "use a model whose layers all attend to the whole text"),
    ):
        if settings.values.get(name):
            raise settings.unknown(f"{what} (`{name}` is {settings.values[name]!r})", cure)
    width, heads = settings.whole("embedding_length"), settings.whole("attention.head_count")
    depth = settings.whole("attention.key_length", max(width // heads, 1))
    for name in ("attention.value_length", "rope.dimension_count"):
        if settings.whole(name, depth) != depth:
            what = f"`{name}` {settings.values[name]} with heads of {depth}"
            raise settings.unknown(what, "use a model whose keys and values are alike, and turned as a whole")
    theta = settings.number("rope.freq_base", 10000.0)
    table = file.tensors.get("token_embd.weight")
    rows = table.shape[0] if table is not None else settings.whole("vocab_size")
    return checked(
        ModelConfig(
            family=family,
            name=file.path.stem,
            num_hidden_layers=settings.whole("block_count"),
            hidden_size=width,
            num_attention_heads=heads,
            num_key_value_heads=settings.whole("attention.head_count_kv", heads),
            head_dim=depth,
            intermediate_size=settings.whole("feed_forward_length"),
            vocab_size=rows,
            tokens=_tokens(settings, rows),
            rms_norm_eps=settings.number("attention.layer_norm_rms_epsilon"),
            rope_theta=theta,
            max_position_embeddings=settings.whole("context_length"),
            rope_scaling=_scaling(file, settings, depth, theta),
            tie_word_embeddings="output.weight" not in file.tensors,
            has_qk_norm=FAMILIES[family].has_qk_norm,
            bos_token_id=settings.token("tokenizer.ggml.bos_token_id"),
            eos_token_ids=_ends(settings),
        ),
        settings,
    )


def _tokens(settings: Settings, rows: int) -> int:
    """How many tokens there are before the padding at the end."""
    kinds = settings.values.get("tokenizer.ggml.token_type")
    texts = settings.values.get("tokenizer.ggml.tokens")
    if not isinstance(texts, list):
        return rows
    if not all(isinstance(text, str) for text in texts):
        raise settings.wrong("`tokenizer.ggml.tokens` holds something other than strings")
    count = len(texts)
    if isinstance(kinds, list) and len(kinds) == count:
        while count and kinds[count - 1] == UNUSED:
            count -= 1
    return count


def _ends(settings: Settings) -> tuple[int, ...]:
    named = (settings.token(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    ends = [token for token in named if token is not None]
    kinds, texts = (settings.values.get(f"tokenizer.ggml.{name}") for name in ("token_type", "tokens"))
    special: dict[Any, int] = {}
    if isinstance(kinds, list) and isinstance(texts, list):
        special = {texts[place]: place for place, kind in enumerate(kinds[: len(texts)]) if kind == CONTROL}
    return tuple(dict.fromkeys((*ends, *(special[text] for text in ENDS if text in special))))


def _scaling(file: GgufFile, settings: Settings, depth: int, theta: float) -> RopeScaling | None:
    """How angles are stretched. A factor without a type is linear, and had another name once, as llama.cpp has it."""
    named = next((name for name in ("rope.scaling.factor", "rope.scale_linear") if name in settings.values), None)
    is_scaled = named is not None and settings.values[named] not in (0, 1)
    kind = settings.values.get("rope.scaling.type", "linear" if is_scaled else "none")
    if _STRETCHES in file.tensors:
        if kind != "none" and is_scaled:
            what = f"`{_STRETCHES}` and `{named}`, two ways to stretch angles"
            raise settings.unknown(what, "use a model with one of them")
        return _llama3(file.tensors[_STRETCHES], settings, depth, theta)
    if kind == "none":
        return None
    factor = settings.number(named or "rope.scaling.factor")
    if kind == "linear":
        return RopeScaling("linear", factor)
    if kind != "yarn":
        raise settings.unknown(f"`rope.scaling.type` {kind!r}", "use a model with linear, llama3, yarn or no scaling")
    if settings.number("rope.scaling.attn_factor", 1.0) != 1:
        raise settings.unknown("a variant of yarn (`rope.scaling.attn_factor`)", "use plain yarn, or another model")
    trained = settings.whole("rope.scaling.original_context_length", settings.whole("context_length"))
    slow = settings.number("rope.scaling.yarn_beta_slow", 1)
    return RopeScaling("yarn", factor, slow, settings.number("rope.scaling.yarn_beta_fast", 32), trained)


def _llama3(tensor: Stored, settings: Settings, depth: int, theta: float) -> RopeScaling:
    """The settings of Llama 3, of which such a file keeps only what comes of them: they are tried, and compared."""
    what = f"angles of its own (`{_STRETCHES}`)"
    refusal = settings.unknown(what, "use a model whose angles are those of Llama 3, or plain")
    if tensor.shape != (depth // 2,) or depth > DEEPEST:
        raise refusal
    with OpenFiles() as files:
        stretches = np.concatenate([piece.astype(np.float64).reshape(-1) for _, piece in files.pieces(tensor)])
    plain, _ = rope_speeds(depth, theta, None)
    if np.isfinite(stretches).all():
        for trained in (8192, *(2**power for power in range(6, 21) if power != 13)):
            tried = RopeScaling("llama3", float(stretches.max()), 1.0, 4.0, trained)
            speeds, _ = rope_speeds(depth, theta, tried)
            if np.allclose(plain / speeds, stretches, rtol=1e-4):
                return tried
    raise refusal


def name_in_gguf(name: str) -> str:
    """What a GGUF file calls a tensor of Hugging Face."""
    whole = {known: own for own, known in WHOLE.items()}
    if name in whole:
        return whole[name]
    number, _, part = name.removeprefix("model.layers.").removesuffix(".weight").partition(".")
    own = next(own for own, known in LAYER.items() if known == part)
    return f"blk.{number}.{own}.weight"


def _known_name(name: str) -> str | None:
    """What Hugging Face calls a tensor, if it has a name there. No two tensors of a file are called alike."""
    if name in WHOLE:
        return WHOLE[name]
    match name.split("."):
        case ["blk", number, part, end] if part in LAYER and _NUMBER.fullmatch(number):
            return f"{layout.layer_prefix(int(number))}{LAYER[part]}.{end}"
    return None
