"""Folders of Hugging Face: `config.json`, the tokenizer's files, and weights in one file of safetensors or several."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, Final

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..models.config import ModelConfig, RopeScaling
from ..models.families import FAMILIES
from ..models.rope import yarn_factor
from .safetensors_files import stored_in
from .settings import LARGEST, Settings, checked, read_json, read_table
from .stored import Stored

_ARCHITECTURES: Final = {family.architecture: family.name for family in FAMILIES.values()}
_ALONE, _INDEX = "model.safetensors", "model.safetensors.index.json"


def folder_config(folder: Path) -> ModelConfig:
    """What a model is, by its `config.json`, with the tokens of the other files beside it."""
    settings = read_table(folder / "config.json")
    family = _family(settings)
    _refuse_what_is_missing(settings)
    width, heads = settings.whole("hidden_size"), settings.whole("num_attention_heads")
    context = settings.whole("max_position_embeddings")
    theta, scaling = _rope(settings, context)
    if scaling is not None and scaling.kind == "yarn":
        context = max(context, int(min(scaling.trained * scaling.factor, LARGEST)))
    vocabulary = settings.whole("vocab_size")
    return checked(
        ModelConfig(
            family=family,
            name=folder_name(folder),
            num_hidden_layers=settings.whole("num_hidden_layers"),
            hidden_size=width,
            num_attention_heads=heads,
            num_key_value_heads=settings.whole("num_key_value_heads", heads),
            head_dim=settings.whole("head_dim", max(width // heads, 1)),
            intermediate_size=settings.whole("intermediate_size"),
            vocab_size=vocabulary,
            tokens=_tokens(folder / "tokenizer.json", vocabulary),
            rms_norm_eps=settings.number("rms_norm_eps", 1e-6),
            rope_theta=theta,
            max_position_embeddings=context,
            rope_scaling=scaling,
            tie_word_embeddings=settings.flag("tie_word_embeddings"),
            has_qk_norm=FAMILIES[family].has_qk_norm,
            bos_token_id=settings.token("bos_token_id"),
            eos_token_ids=_ends(folder, settings),
        ),
        settings,
    )


def folder_tensors(folder: Path) -> dict[str, Stored]:
    """The tensors of a folder, wherever they lie."""
    if (folder / _INDEX).exists():
        return _sharded(folder / _INDEX)
    if (folder / _ALONE).exists():
        return stored_in(folder / _ALONE)
    others = sorted(path.name for path in folder.iterdir() if path.suffix in {".bin", ".pth", ".pt", ".safetensors"})
    there = f"; it has {', '.join(others[:3])}" if others else ""
    cure = "download the model in the form of safetensors"
    raise refused(Code.MODEL_FILE, f"{folder} has no {_ALONE}, and no {_INDEX}{there}", cure)


def folder_name(folder: Path) -> str:
    """What a model is called: the name of its folder, or of its repository in the cache of Hugging Face."""
    here = folder.absolute()
    if here.parent.name == "snapshots" and here.parents[1].name.startswith("models--"):
        return here.parents[1].name.removeprefix("models--").replace("--", "/")
    return here.name


def _family(settings: Settings) -> str:
    named = settings.values.get("architectures")
    if not named:
        kind = settings.values.get("model_type")
        known = FAMILIES.get(kind) if isinstance(kind, str) else None
        named = [kind if known is None else known.architecture]
    architecture = named[0] if isinstance(named, list) else named
    cure = f"models of {' and '.join(_ARCHITECTURES)} are known"
    if not isinstance(architecture, str) or architecture not in _ARCHITECTURES:
        raise refused(Code.MODEL_KIND, f"{settings.file} describes a model of {architecture!r}", cure)
    family, kind = _ARCHITECTURES[architecture], settings.values.get("model_type")
    if kind not in (None, family):  # transformers goes by this one
        message = (
            f"{settings.file} names two kinds of models: `architectures` {architecture!r}, and `model_type` {kind!r}"
        )
        raise refused(Code.MODEL_KIND, message, f"{cure}; if it is one of them, set `model_type` to {family!r}")
    return family


def _refuse_what_is_missing(settings: Settings) -> None:
    """Refuses settings of a known family that the engine does not have: they would be left out, and nobody told."""
    values = settings.values
    for name in ("attention_bias", "mlp_bias"):
        if settings.flag(name):
            raise settings.unknown(f"biases (`{name}` is true)", "use a model whose layers have none")
    if values.get("hidden_act", "silu") != "silu":
        raise settings.unknown(f"`hidden_act` {values['hidden_act']!r}", "use a model with silu")
    kinds = values.get("layer_types") or []
    is_whole = isinstance(kinds, list) and all(kind == "full_attention" for kind in kinds)
    if settings.flag("use_sliding_window") or not is_whole:
        what = "a sliding window of attention (`use_sliding_window`, `layer_types`)"
        raise settings.unknown(what, "use a model whose layers all attend to the whole text")
    quantised = values.get("quantization_config")
    if quantised:
        how = quantised.get("quant_method", "some way") if isinstance(quantised, dict) else quantised
        what = f"weights that were quantised by {how} (`quantization_config`)"
        raise settings.unknown(what, 'use the model in bf16, with quantize="int8" if memory is short')
    for name in ("num_experts", "num_local_experts"):
        if values.get(name):
            raise settings.unknown(f"a mixture of experts (`{name}` is {values[name]!r})", "use a dense model")


def _rope(settings: Settings, context: int) -> tuple[float, RopeScaling | None]:
    """Theta and scaling, in the spelling of transformers 5 (`rope_parameters`) or the one before."""
    values = settings.values
    parameters, old = values.get("rope_parameters") or values.get("rope_scaling") or {}, values.get("rope_scaling")
    if not isinstance(parameters, dict):
        raise settings.wrong(f"`rope_parameters` is {parameters!r}")
    # One was added by hand, and means something.
    if isinstance(old, dict) and old and _stretch(old) != _stretch(parameters):
        raise settings.wrong("`rope_parameters` and `rope_scaling` differ; leave one of them")
    rope = Settings(settings.file, parameters)
    theta = rope.number("rope_theta", settings.number("rope_theta", 10000.0))
    if parameters.get("partial_rotary_factor", values.get("partial_rotary_factor") or 1) != 1:
        raise settings.unknown("heads of which only a part is turned (`partial_rotary_factor`)", "use another model")
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    if kind in ("default", None):
        if parameters.get("factor") not in (None, 1):
            raise settings.wrong(f"its `factor` of {parameters['factor']!r} for long texts has no `rope_type`")
        return theta, None
    if kind == "linear":
        return theta, RopeScaling("linear", rope.number("factor"))
    trained = rope.whole("original_max_position_embeddings", context)
    if kind == "llama3":
        low, high = rope.number("low_freq_factor"), rope.number("high_freq_factor")
        if low >= high:
            raise settings.wrong(f"`low_freq_factor` is {low}, and `high_freq_factor` {high}")
        return theta, RopeScaling("llama3", rope.number("factor"), low, high, trained)
    if kind == "yarn":
        factor = rope.number("factor", max(settings.whole("max_position_embeddings") / trained, 1.0))
        _refuse_other_yarn(rope, factor)
        return theta, RopeScaling("yarn", factor, rope.number("beta_slow", 1), rope.number("beta_fast", 32), trained)
    raise settings.unknown(f"`rope_type` {kind!r}", "use a model with linear, llama3, yarn or no scaling")


def _stretch(rope: dict[str, Any]) -> tuple[Any, Any]:
    return rope.get("rope_type", rope.get("type")) or "default", rope.get("factor")


def _refuse_other_yarn(rope: Settings, factor: float) -> None:
    """Yarn scales by its factor alone here; files may ask for another scale of the scores."""
    plain = yarn_factor(factor)
    is_other = not math.isclose(rope.number("attention_factor", plain), plain, rel_tol=1e-6)
    if is_other or rope.values.get("mscale") or rope.values.get("truncate") is False:
        what = "a variant of yarn (`attention_factor`, `mscale`, `truncate`)"
        raise rope.unknown(what, "use plain yarn, or another model")


def _ends(folder: Path, settings: Settings) -> tuple[int, ...]:
    """Every end token, by either file: generation_config.json often names more."""
    ends = settings.tokens("eos_token_id")
    path = folder / "generation_config.json"
    if path.exists():
        ends += read_table(path).tokens("eos_token_id")
    return tuple(dict.fromkeys(ends))


def _tokens(path: Path, vocabulary: int) -> int:
    """How many rows of the table are tokens: what is not in the tokenizer is padding.

    A tokenizer may have tokens without a row, which prompts must not hold; transformers loads such models too.
    """
    if not path.exists():
        return vocabulary
    tokenizer: Any = read_json(path)
    match tokenizer:
        case {"model": {"vocab": dict(vocab)}}:
            numbers = list(vocab.values())
        case {"model": {"vocab": list(vocab)}}:  # of unigram models: pairs of a text and its score
            numbers = [len(vocab) - 1]
        case _:
            raise refused(Code.MODEL_FILE, f"{path} is no tokenizer", "download it again")
    added = tokenizer.get("added_tokens")
    numbers += [entry.get("id") for entry in added if isinstance(entry, dict)] if isinstance(added, list) else []
    return min(max((number for number in numbers if type(number) is int), default=vocabulary - 1) + 1, vocabulary)


def _sharded(index: Path) -> dict[str, Stored]:
    places: Any = read_table(index).values.get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(file, str) for file in places.values()):
        raise refused(Code.MODEL_FILE, f"{index} does not say in which files the tensors are", "download it again")
    files: dict[str, dict[str, Stored]] = {}
    for name, file in places.items():
        if file in files:
            continue
        if Path(file).name != file:
            raise refused(Code.MODEL_FILE, f"{index} names the file {file!r}, in another folder", "download it again")
        if not os.path.isfile(index.parent / file):  # that of `Path` raises for names that are too long
            message = f"{index.parent / file} is missing, which {index.name} names for `{name}`"
            raise refused(Code.MODEL_FILE, message, "download the model again, as a whole")
        files[file] = stored_in(index.parent / file)
    for name, file in places.items():
        if name not in files[file]:
            message = f"`{name}` is not in {index.parent / file}, where {index.name} says it is"
            raise refused(Code.MODEL_TENSOR, message, "download the model again: its files are not of one version")
    by_name: dict[str, Stored] = {}
    for tensor in (each for tensors in files.values() for each in tensors.values()):  # the index may leave some out
        if tensor.name in by_name:
            message = f"{tensor} is in {by_name[tensor.name].file.name}, too"
            raise refused(Code.MODEL_TENSOR, message, "download the model again: its files are not of one version")
        by_name[tensor.name] = tensor
    return by_name
