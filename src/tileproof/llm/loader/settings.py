"""Settings of a model as its files tell them: read by name, with an error that says which is missing or wrong."""

from __future__ import annotations

import json
import math
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.values import formatted

from ..errors import ModelError, refused
from ..models.config import ModelConfig
from ..models.rope import rope_speeds

LARGEST: Final = (1 << 63) - 1
"""Of a whole number: the largest that sizes of tensors can be counted with."""
LONGEST: Final = 36_000_000
"""Bytes of a file of text: the largest tokenizers have 33 million. Python needs up to 24 times as much for its JSON."""
DEEPEST: Final = 1 << 16
"""Elements that a head may have: more are a number that was damaged."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A table of settings, and the file that it is from."""

    file: Path
    values: Mapping[str, Any]

    def whole(self, name: str, default: int | None = None, least: int = 1) -> int:
        """A whole number."""
        value = self._found(name, default)
        if type(value) is not int or not least <= value <= LARGEST:
            raise self.wrong(f"`{name}` is {formatted(value)}, not a whole number from {least} to 2**63 - 1")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A number above 0."""
        value = self._found(name, default)
        if type(value) not in (int, float) or not 0 < value <= sys.float_info.max:
            raise self.wrong(f"`{name}` is {formatted(value)}, not a number above 0")
        return float(value)

    def flag(self, name: str) -> bool:
        """Whether something is so; not, if nothing is said."""
        value = self._found(name, False)
        if type(value) is not bool:
            raise self.wrong(f"`{name}` is {formatted(value)}, not true or false")
        return value

    def token(self, name: str) -> int | None:
        """A token id, if there is one."""
        value = self.values.get(name)
        if value is not None and (type(value) is not int or value < 0):
            raise self.wrong(f"`{name}` is {formatted(value)}, not a token")
        return value

    def tokens(self, name: str) -> tuple[int, ...]:
        """Token ids: none, one, or a list."""
        value = self.values.get(name)
        ids = [] if value is None else value if isinstance(value, list) else [value]
        if not all(type(token) is int and token >= 0 for token in ids):
            raise self.wrong(f"`{name}` is {formatted(value)}, not a token or a list of tokens")
        return tuple(ids)

    def wrong(self, why: str) -> ModelError:
        """The error for settings that make no model."""
        return refused(Code.MODEL_FILE, f"{self.file} cannot be used: {why}", "download it again, or ask its publisher")

    def unknown(self, what: str, cure: str) -> ModelError:
        """The error for a setting that models here do not have."""
        return refused(Code.MODEL_KIND, f"{self.file} asks for {what}", cure)

    def _found(self, name: str, default: Any) -> Any:
        value = self.values.get(name)
        if value is None:
            value = default
        if value is None:
            raise self.wrong(f"it does not say `{name}`")
        return value


def read_text(path: Path) -> str:
    """What a file of text says, if it is one and of no more than `LONGEST` bytes."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # to open a pipe waits for who writes to it
            raise refused(Code.MODEL_FILE, f"{path} is a folder, a pipe or a device", "put a file in its place")
        if found.st_size > LONGEST:
            message = f"{path} has {found.st_size} bytes, and at most {LONGEST} are read"
            raise refused(Code.MODEL_FILE, message, "the file is damaged: download it again")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise refused(Code.MODEL_FILE, f"there is no file {path}", "download the model again, as a whole") from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise refused(Code.MODEL_FILE, message, "look at its permissions, and whether it is a file") from None
    except ValueError as error:
        raise refused(Code.MODEL_FILE, f"{path} is no text: {error}", "download it again") from None


def read_json(path: Path) -> Any:
    """What a file of JSON says."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refused(Code.MODEL_FILE, f"{path} is no JSON: {error}", "download it again") from None


def read_table(path: Path) -> Settings:
    """The settings in a file of JSON."""
    values = read_json(path)
    if not isinstance(values, dict):
        raise refused(Code.MODEL_FILE, f"{path} is no table of settings", "download it again")
    return Settings(path, values)


def _has_angles(config: ModelConfig) -> bool:
    try:
        with np.errstate(all="ignore"):
            speeds, factor = rope_speeds(config.head_dim, config.rope_theta, config.rope_scaling)
    except (ArithmeticError, ValueError):
        return False
    return bool(np.isfinite(speeds).all()) and math.isfinite(factor)


def checked(config: ModelConfig, settings: Settings) -> ModelConfig:
    """A model whose sizes go together."""
    if config.num_attention_heads % config.num_key_value_heads:
        raise settings.wrong(
            f"{config.num_attention_heads} heads of queries cannot share {config.num_key_value_heads} of keys"
        )
    if config.head_dim % 2 or config.head_dim > DEEPEST:
        raise settings.wrong(f"heads of {config.head_dim} elements cannot be turned in pairs")
    if not _has_angles(config):
        raise settings.wrong(f"theta {config.rope_theta:g} and its scaling make no angles")
    if config.tokens > config.vocab_size:
        raise settings.wrong(f"its tokenizer has {config.tokens} tokens, and its table {config.vocab_size} rows")
    for token in (*config.eos_token_ids, *(() if config.bos_token_id is None else (config.bos_token_id,))):
        if token >= config.vocab_size:
            raise settings.wrong(f"token {token} begins or ends texts, and the table has {config.vocab_size} rows")
    return config
