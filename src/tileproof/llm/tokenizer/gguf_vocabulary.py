"""The tokenizer that a GGUF file holds: a vocabulary, merges, kinds of tokens and the name of a pre-tokenizer.

The name stands for the way in which text is split before merging, which the file does not spell out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tileproof.diagnostics.codes import Code

from ..errors import refused

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CONTROL, _USER_DEFINED, _UNUSED = 3, 4, 5
_GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORDS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True)
class Splitting:
    """What the name of a pre-tokenizer stands for."""

    patterns: tuple[str, ...]
    """Each splits the pieces that those before it have left; both what it matches and what lies between are pieces."""
    has_whole_words: bool = False
    """Whether a piece that is a token as a whole stays one, whatever the merges say."""
    begins: bool = False
    """Whether texts begin with the bos token where the file does not say."""
    is_composed: bool = False
    """Whether characters are composed first (NFC)."""


_LLAMA: Final = Splitting((_WORDS % "{1,3}",), has_whole_words=True, begins=True)
_DIGITS: Final = Splitting((r"\p{N}", _GPT2))
SPLITTINGS: Final[Mapping[str, Splitting]] = {
    "default": Splitting((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")),
    "deepseek-r1-qwen": Splitting((_WORDS % "",)),
    "gpt-2": Splitting((_GPT2,)),
    "llama-bpe": _LLAMA,
    "llama-v3": _LLAMA,
    "llama3": _LLAMA,
    "qwen2": Splitting((_WORDS % "",), is_composed=True),
    "smollm": _DIGITS,
    "starcoder": _DIGITS,
}
KNOWN_PATTERNS: Final = frozenset(pattern for each in SPLITTINGS.values() for pattern in each.patterns)
"""Their time grows as the length of the text does. A tokenizer that has others runs in a process of its own."""


@dataclass(frozen=True, slots=True)
class GgufVocabulary:
    """What a file says about its tokens."""

    tokenizer: Tokenizer
    bos: int | None
    eos: int | None
    begins: bool
    """Whether texts begin with the bos token."""


def gguf_vocabulary(values: Mapping[str, Any], name: str) -> GgufVocabulary:
    """The tokenizer of the file `name` from the values of its header."""
    model = values.get("tokenizer.ggml.model")
    if model != "gpt2":
        raise refused(
            Code.MODEL_KIND, f"{name} has a tokenizer of the kind `{model}`, and only `gpt2` (byte-level BPE) is known",
            "use the Hugging Face folder of the model, which has a tokenizer.json",
        )  # fmt: skip
    kind = values.get("tokenizer.ggml.pre")
    if not isinstance(kind, str) or kind not in SPLITTINGS:
        found = "no name of a pre-tokenizer (`tokenizer.ggml.pre`)" if kind is None else f"the pre-tokenizer `{kind}`"
        raise refused(
            Code.MODEL_KIND, f"{name} has {found}, and known are {', '.join(SPLITTINGS)}",
            "use the Hugging Face folder of the model, which has a tokenizer.json",
        )  # fmt: skip
    splitting = SPLITTINGS[kind]
    tokens, merges = (_strings(values, f"tokenizer.ggml.{each}", name) for each in ("tokens", "merges"))
    bos, eos = (_token(values, f"tokenizer.ggml.{each}_token_id", len(tokens)) for each in ("bos", "eos"))
    kinds = values.get("tokenizer.ggml.token_type")
    kinds = kinds if isinstance(kinds, list) else []
    if len(kinds) != len(tokens):
        raise refused(Code.MODEL_FILE, f"{name} has {len(tokens)} tokens and {len(kinds)} kinds", "download it again")
    try:
        tokenizer = _tokenizer(tokens, kinds, merges, splitting, {bos, eos})
    except Exception as error:  # `tokenizers` raises nothing narrower
        raise refused(Code.MODEL_FILE, f"the tokenizer in {name} is damaged: {error}", "download it again") from error
    return GgufVocabulary(
        tokenizer, bos, eos, bool(values.get("tokenizer.ggml.add_bos_token", splitting.begins)) and bos is not None
    )


def _tokenizer(
    tokens: list[str], kinds: list[int], merges: list[str], splitting: Splitting, special: set[int | None]
) -> Tokenizer:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    last = len(tokens) - 1
    while last >= 0 and (kinds[last] == _UNUSED or tokens[last] == f"[PAD{last}]"):  # old files have these as kind 4
        last -= 1
    vocabulary: dict[str, int] = {}
    for token, text in enumerate(tokens[: last + 1]):
        if vocabulary.setdefault(text, token) != token:
            raise ValueError(f"tokens {vocabulary[text]} and {token} are both {text!r}")
    pairs = [(each[: each.index(" ", 1)], each[each.index(" ", 1) + 1 :]) for each in merges]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs, ignore_merges=splitting.has_whole_words))
    if splitting.is_composed:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in splitting.patterns),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    added = [
        AddedToken(tokens[token], special=kinds[token] == _CONTROL or token in special, normalized=False)
        for token in range(last + 1)
        if kinds[token] in (_CONTROL, _USER_DEFINED) or token in special
    ]
    tokenizer.add_tokens(added)
    return tokenizer


def _token(values: Mapping[str, Any], key: str, count: int) -> int | None:
    """The token that a value names, if there is one."""
    token = values.get(key)
    return token if isinstance(token, int) and 0 <= token < count else None


def _strings(values: Mapping[str, Any], key: str, name: str) -> list[str]:
    strings = values.get(key)
    if isinstance(strings, list) and strings and isinstance(strings[0], str):
        return strings
    raise refused(Code.MODEL_FILE, f"{name} has no {key}", "download it again")
