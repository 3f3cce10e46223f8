"""Opening a model: what it is and where its tensors are, before any of them is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from ..models.config import ModelConfig
from . import layout
from .gguf_files import KINDS, is_first_part
from .gguf_models import gguf_model, name_in_gguf
from .hugging_face import folder_config, folder_tensors
from .stored import OpenFiles, Stored


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model in files: all its tensors are there, with the shapes that its sizes ask for."""

    path: Path
    """The folder of Hugging Face, or the GGUF file."""
    config: ModelConfig
    tensors: Mapping[str, Stored]
    """By the names that Hugging Face gives them."""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of a GGUF file everything it says, the tokenizer too."""

    @property
    def nbytes(self) -> int:
        """Bytes of its tensors in the files."""
        return sum(tensor.nbytes for tensor in self.tensors.values())


def open_model(path: str | Path) -> Checkpoint:
    """A model by its path: a folder of Hugging Face, a GGUF file, or a folder with one GGUF file."""
    place = _model_path(in_home(path))
    if place.is_file():
        config, tensors, settings = gguf_model(place)
        return Checkpoint(place, config, _demanded(config, tensors, place), settings)
    tensors = folder_tensors(place)
    config = _with_own_head(folder_config(place), tensors)
    return Checkpoint(place, config, _demanded(config, tensors, place))


def in_home(path: str | Path) -> Path:
    """A path with ~ for somebody's folder; where nobody has that name, or no folder, it stays as it is written."""
    return Path(os.path.expanduser(path))  # that of `Path` raises


def _model_path(path: Path) -> Path:
    if path.is_file():
        if path.suffix == ".gguf":
            return path
        if path.name in ("config.json", "model.safetensors", "model.safetensors.index.json"):
            return path.parent
        raise refused(Code.MODEL_FILE, f"{path} is no model", "name a folder with a config.json, or a .gguf file")
    if not path.is_dir():
        raise refused(Code.MODEL_FILE, f"there is no file or folder {path}", "`tileproof models` lists what is here")
    if (path / "config.json").is_file():
        return path
    files = sorted(each for each in path.glob("*.gguf") if is_first_part(each))
    if len(files) == 1:
        return files[0]
    if files:
        some = ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
        raise refused(Code.MODEL_FILE, f"{path} has {len(files)} models: {some}", "name one of the files")
    message = f"{path} is no folder of a model: it has no config.json and no .gguf file"
    raise refused(Code.MODEL_FILE, message, "name the folder that has one; `tileproof models` lists what is here")


def _with_own_head(config: ModelConfig, tensors: Mapping[str, Stored]) -> ModelConfig:
    """A model whose files have a head of its own uses it, though its settings say that the table is the head.

    So does transformers. Many files of tied models repeat the table as the head, so the two are compared.
    """
    table, head = tensors.get(layout.TABLE), tensors.get(layout.HEAD)
    if not config.tie_word_embeddings or table is None or head is None or _is_equal(table, head):
        return config
    return replace(config, tie_word_embeddings=False)


def _is_equal(one: Stored, other: Stored) -> bool:
    """Whether two tensors have the same bits."""
    if (one.shape, one.kind) != (other.shape, other.kind) or len(one.shape) != 2 or one.kind not in KINDS:
        return False
    with OpenFiles() as files:
        pairs = zip(files.pieces(one), files.pieces(other), strict=True)
        return all(np.array_equal(mine.view(np.uint8), its.view(np.uint8)) for (_, mine), (_, its) in pairs)


def _demanded(config: ModelConfig, tensors: Mapping[str, Stored], place: Path) -> dict[str, Stored]:
    """The tensors that a model of these sizes has, and no others."""
    wanted: dict[str, Stored] = {}
    for name, shape in layout.model_shapes(config):
        if name not in tensors:
            raise _missing(name, tensors, place)
        tensor = wanted[name] = tensors[name]
        if tensor.shape != shape:
            message = f"{tensor} has the shape {tensor.shape}, and by the model's settings it has {shape}"
            raise refused(Code.MODEL_TENSOR, message, "the settings and the weights are not of one model")
        if tensor.kind not in KINDS:
            message = f"{tensor} has elements of {tensor.kind}, which are no weights"
            raise refused(Code.MODEL_KIND, message, "use the model in bf16, f16 or f32, or as a GGUF file")
    for name, tensor in tensors.items():
        if name not in wanted and not layout.is_spare(name, config):
            _refuse_extra(config, name, tensor)
    return wanted


def _missing(name: str, tensors: Mapping[str, Stored], place: Path) -> ModelError:
    """The error for a tensor that is not there, or there under another name."""
    others = {tensor.file for tensor in tensors.values()}
    where = others.pop() if len(others) == 1 else place
    if name.removeprefix("model.") in tensors:
        message = f"tensors in {where} are called `{name.removeprefix('model.')}` and the like, without `model.`"
        cure = "save the model with `AutoModelForCausalLM`, which writes the whole names"
        return refused(Code.MODEL_TENSOR, message, cure)
    stem = name.removesuffix("weight")
    packed = next((each for each in tensors if each.startswith(stem) and each != f"{stem}bias"), None)
    if packed is not None:
        message = f"{tensors[packed]} has the weights of `{name}`, quantised in a way that is not known"
        return refused(Code.MODEL_KIND, message, 'use the model in bf16, with quantize="int8" if memory is short')
    named = name if place.is_dir() else name_in_gguf(name)
    return refused(Code.MODEL_TENSOR, f"`{named}` is missing in {where}", "download the model again, as a whole")


def _refuse_extra(config: ModelConfig, name: str, tensor: Stored) -> None:
    """Refuses a tensor that would be left out, and the model be another without it."""
    layer = re.match(r"model\.layers\.([0-9]{1,9})\.", name)
    if layer is not None and int(layer[1]) >= config.num_hidden_layers:
        message = (
            f"{tensor} belongs to layer {layer[1]}, and by the settings the model has {config.num_hidden_layers} layers"
        )
        raise refused(Code.MODEL_TENSOR, message, "the settings and the weights are not of one model")
    what = "a bias" if name.endswith(".bias") else "not part"
    message = f"{tensor} is {what} of models of the family {config.family} as they are known"
    raise refused(Code.MODEL_KIND, message, "use a model without it")
