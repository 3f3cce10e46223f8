"""Text and tokens: the tokenizer of a model and its chat template."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..loader.gguf_files import is_first_part
from ..loader.gguf_header import read_header
from ..loader.gguf_models import ENDS
from ..loader.settings import read_table, read_text
from .gguf_vocabulary import KNOWN_PATTERNS, gguf_vocabulary
from .messages import Message
from .tokenizer_worker import digest_of
from .worker_process import TOKENIZERS, Stopped

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from .templates import ChatTemplate

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """A tokenizer.json, and the digest of what it held when it was opened."""

    path: Path
    digest: str


class Text:
    """The tokenizer and chat template of a model.

    Example:
        text = Text.open(Path("models/Qwen3-0.6B"))
        text.decode(text.encode("Hello"))
    """

    def __init__(
        self, tokenizer: Tokenizer | None, *, name: str = "the model", bos: int | None = None, eos: int | None = None,
        begins: bool = False, template: str | None = None, file: TokenizerFile | None = None,
    ) -> None:  # fmt: skip
        """A text for a tokenizer. `begins` says whether plain prompts begin with `bos`.

        With `file` another process tokenizes, which may be stopped.

        Without a tokenizer tokens have no text, and what needs one is TP1004.
        """
        self.name = name
        self._file = file
        self.bos = bos
        """The token that texts begin with, if there is one."""
        self._tokenizer, self._begins, self._source = tokenizer, begins and bos is not None, template
        self._lock = threading.Lock()
        self.piece: Callable[[int], bytes] = cache(self._find_piece)
        """The bytes that a token adds to a text after other tokens; none for a special token."""
        self._template: ChatTemplate | None = None
        self.tokens: int = sys.maxsize
        """How many ids are tokens, if that is known. A model may have rows beyond them."""
        self.eos: tuple[int, ...] = ()
        """Every token that ends a text or a turn, that of the files first."""
        self._special: dict[int, str] = {}
        self._bytes: dict[str, int] | None = None
        if tokenizer is None:
            return
        added = tokenizer.get_added_tokens_decoder()
        self._special = {token: each.content for token, each in added.items() if each.special}
        ends = (tokenizer.token_to_id(end) for end in ENDS)
        self.eos = tuple(
            dict.fromkeys(token for token in (eos, *ends) if token is not None and (token == eos or token in added))
        )
        self.tokens = _tokens(tokenizer)
        self._bytes = _byte_of_character() if "ByteLevel" in str(tokenizer.decoder) else None

    @classmethod
    def open(cls, path: Path, settings: Mapping[str, Any] | None = None) -> Text:
        """The text of a Hugging Face folder (tokenizer.json, tokenizer_config.json) or of a GGUF file.

        One that has no tokenizer gives a text that can encode and decode nothing.

        `settings` are those of the GGUF file, where it was read already.
        """
        if path.is_dir() and not (path / "tokenizer.json").is_file():
            files = [file for file in path.glob("*.gguf") if is_first_part(file)]
            if len(files) == 1:
                return _open_gguf(files[0], settings)
        return _open_folder(path) if path.is_dir() else _open_gguf(path, settings)

    def encode(self, text: str, *, special: bool = True, start: bool = True) -> list[int]:
        """The tokens of a text, with the bos token in front where the model wants it and `start` is True.

        With `special` the names of special tokens in the text (<|im_start|>) become these tokens. Without it they are
        plain text: text that others wrote must not end a turn. Names of other added tokens (<think>) are tokens in
        both.
        """
        tokenizer = self._demanded()
        try:
            if self._file is not None:
                tokens: list[int] = self._reply({"text": text, "special": special})["tokens"]
            else:
                with self._lock, _rejecting(f"the tokenizer of {self.name} fails"):
                    tokenizer.encode_special_tokens = not special
                    tokens = tokenizer.encode(text, add_special_tokens=False).ids
        except (TypeError, UnicodeEncodeError) as error:
            raise refused(Code.PROMPT, "the prompt is not valid Unicode", "take out lone surrogates") from error
        if start and self._begins and self.bos is not None and tokens[:1] != [self.bos]:
            return [self.bos, *tokens]
        return tokens

    def decode(self, tokens: Iterable[int], *, special: bool = False) -> str:
        """The text of tokens, without the special ones unless `special`. Rows beyond the tokens have no text."""
        tokenizer = self._demanded()
        try:
            if self._file is not None:
                text: str = self._reply({"tokens": list(map(int, tokens)), "special": special})["text"]
            else:
                with _rejecting(f"the tokenizer of {self.name} fails"):
                    text = tokenizer.decode(list(tokens), skip_special_tokens=not special)
        except (OverflowError, TypeError) as error:
            cure = f"tokens are whole numbers from 0 to {self.tokens - 1}"
            raise refused(Code.PROMPT, f"tokens to decode are wrong: {error}", cure) from error
        return text

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the process that tokenizes replies, with the error of `tokenizers` if there is one."""
        assert self._file is not None
        try:
            reply = TOKENIZERS.reply({"path": str(self._file.path), "digest": self._file.digest, **request})
        except Stopped as stopped:
            cure = "shorten the prompt; the patterns of most models take far less"
            raise refused(Code.PROMPT, f"the tokenizer of {self.name} {stopped}", cure) from None
        except OSError as error:
            message = f"the process that tokenizes cannot be started: {error.strerror}"
            raise refused(Code.PROMPT, message, "pass tokens") from None
        if "invalid" in reply:
            raise TypeError(reply["invalid"])
        with _rejecting(f"the tokenizer of {self.name} fails"):
            if "why" in reply:
                raise Exception(reply["why"])
        return reply

    def token(self, token: int) -> str:
        """The text of one token, special or not; half a character shows as U+FFFD."""
        return self._special.get(token) or self.piece(token).decode("utf-8", "replace")

    def chat_prompt(
        self, messages: Sequence[Message | Mapping[str, Any]], *, thinking: bool | None = None,
        continue_last: bool = False, tools: Sequence[Mapping[str, Any]] = (),
        variables: Mapping[str, Any] | None = None,
    ) -> list[int]:  # fmt: skip
        """The tokens of a chat, up to where the model answers. Messages may be dicts, as OpenAI's API has them.

        `thinking` switches the thinking of models that can do both; None leaves it to them. Asking a model to think
        that has no such switch is TP1005, asking it not to think is not. With `continue_last` the last message is the
        beginning of the answer. `tools` are JSON objects as OpenAI's API has them, for templates that take them, and
        `variables` are others that the template may read. Special tokens spelled in any of these stay plain text.
        """
        from .chat_prompts import chat_parts

        self._demanded()
        names = self._special.values()
        parts = chat_parts(
            self.template, messages, names, thinking=thinking, continue_last=continue_last, tools=tools,
            variables=variables,
        )  # fmt: skip
        tokens: list[int] = []
        for part in parts:
            text = part.text
            tokens += self._trusted(text) if part.is_trusted else self.encode(text, special=False, start=False)
        if not tokens:
            raise refused(Code.PROMPT, "the chat template made an empty prompt", "use --raw-prompt for a plain prompt")
        return tokens

    def _trusted(self, text: str) -> list[int]:
        """Tokens of a text in which special tokens are those that it spells, letter by letter.

        A tokenizer may bring text into another form before it looks for them, in which more of them are spelled.
        """
        tokens = self.encode(text, start=False)
        names = sorted(self._special.values(), key=len, reverse=True)
        pieces = re.split(f"({'|'.join(map(re.escape, names))})", text) if names else [text]
        if sum(token in self._special for token in tokens) <= len(pieces) // 2:
            return tokens
        return [
            token for place, piece in enumerate(pieces)
            for token in self.encode(piece, special=place % 2 == 1, start=False)
        ]  # fmt: skip

    @property
    def has_tokenizer(self) -> bool:
        """Whether text has tokens, and tokens have text."""
        return self._tokenizer is not None

    @property
    def template(self) -> ChatTemplate:
        """The chat template, compiled when it is first needed."""
        from .templates import ChatTemplate, no_template

        if self._source is None:
            raise no_template(self.name)
        if self._template is None:
            known = self._demanded().id_to_token
            bos, eos = (None if each is None else known(each) for each in (self.bos, self._end))
            self._template = ChatTemplate(self._source, bos=bos, eos=eos)
        return self._template

    def _demanded(self) -> Tokenizer:
        """The tokenizer, or TP1004 where there is none."""
        if self._tokenizer is None:
            cure = "pass tokens; or save a tokenizer.json with `AutoTokenizer.from_pretrained(...).save_pretrained()`"
            raise refused(Code.PROMPT, f"{self.name} has no tokenizer", cure)
        return self._tokenizer

    @property
    def _end(self) -> int | None:
        return self.eos[0] if self.eos else None

    def _find_piece(self, token: int) -> bytes:
        is_text = 0 <= token < self.tokens and token not in self._special
        if not is_text or self._tokenizer is None:
            return b""
        text = self._tokenizer.id_to_token(token)
        if text is None:
            return b""
        if self._bytes is not None:
            known = self._bytes
            return bytes(map(known.__getitem__, text)) if all(each in known for each in text) else text.encode()
        if byte := _BYTE.fullmatch(text):
            return bytes.fromhex(byte[1])
        # Decoders for words leave out the space in front of a text, so the token is decoded behind another.
        before = self.encode("a", start=False)
        return self.decode([*before, token]).removeprefix(self.decode(before)).encode()


def _open_gguf(path: Path, settings: Mapping[str, Any] | None) -> Text:
    values = settings or read_header(path).values
    if "tokenizer.ggml.model" not in values:
        return Text(None, name=path.name)
    _demand_packages()
    vocabulary = gguf_vocabulary(values, str(path))
    template = values.get("tokenizer.chat_template")
    return Text(
        vocabulary.tokenizer, name=path.name, bos=vocabulary.bos, eos=vocabulary.eos, begins=vocabulary.begins,
        template=template if isinstance(template, str) else None,
    )  # fmt: skip


def _open_folder(path: Path) -> Text:
    file = path / "tokenizer.json"
    if not file.exists():
        return Text(None, name=path.name)
    _demand_packages()
    from tokenizers import Tokenizer

    from .templates import default_template

    told = read_text(file)
    with _rejecting(f"{file} cannot be read"):
        tokenizer = Tokenizer.from_str(told)
    tokenizer.no_padding()  # a file may ask for either, for training: a prompt is neither cut nor filled up
    tokenizer.no_truncation()
    settings = path / "tokenizer_config.json"
    config = read_table(settings).values if settings.exists() else {}
    bos, eos = (_named_token(tokenizer, config.get(f"{each}_token")) for each in ("bos", "eos"))
    begins = config.get("add_bos_token")
    if not isinstance(begins, bool):
        with _rejecting(f"{file} cannot be read"):
            begins = bos is not None and tokenizer.encode("").ids[:1] == [bos]
    own = path / "chat_template.jinja"
    template = read_text(own) if own.exists() else default_template(config.get("chat_template"))
    with _rejecting(f"{file} cannot be read"):
        own_file = None if _is_bounded(tokenizer) else TokenizerFile(file.absolute(), digest_of(told))
    return Text(tokenizer, name=path.name, bos=bos, eos=eos, begins=begins, template=template, file=own_file)


def _is_bounded(tokenizer: Tokenizer) -> bool:
    """Whether time and memory grow as the text does: its patterns are known, and what replaces text is short."""

    def within(value: Any) -> Iterator[dict[str, Any]]:
        match value:
            case dict():
                yield value
                yield from within(list(value.values()))
            case list():
                for each in value:
                    yield from within(each)

    parts = (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder)
    tables = [table for part in parts if part is not None for table in within(json.loads(part.__getstate__()))]
    replacing = [table["content"] for table in tables if table.get("type") == "Replace"]
    patterns = {table["Regex"] for table in tables if "Regex" in table}
    return patterns <= KNOWN_PATTERNS and len(replacing) <= 2 and all(len(text) <= 4 for text in replacing)


def _tokens(tokenizer: Tokenizer) -> int:
    """One more than the last id. Where no id is left out that is how many there are; a copy of all tokens, which is
    as much memory as their tokenizer, is made only where one is."""
    count: int = tokenizer.get_vocab_size(with_added_tokens=True)
    if all(tokenizer.id_to_token(token) is not None for token in range(count)):
        return count
    return 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)


def _named_token(tokenizer: Tokenizer, entry: Any) -> int | None:
    """A token of a configuration: its text, or a record with it."""
    text = entry.get("content") if isinstance(entry, dict) else entry
    try:
        return tokenizer.token_to_id(text) if isinstance(text, str) else None
    except (TypeError, UnicodeEncodeError):  # a lone surrogate, which is in no token
        return None


@contextmanager
def _rejecting(what: str) -> Iterator[None]:
    """Rejects a tokenizer that fails. `tokenizers` raises plain exceptions, and panics, which are no `Exception`."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__module__ != "pyo3_runtime":
            raise
        why = " ".join(str(error).split())[:200]
        cure = "download tokenizer.json again, or use another model"
        raise refused(Code.MODEL_FILE, f"{what}: {why}", cure) from error


def _byte_of_character() -> dict[str, int]:
    """The byte for which each character of a byte-level vocabulary stands: itself if it can be seen, else 256 + n."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + n): byte for n, byte in enumerate(hidden)}


def _demand_packages() -> None:
    """Refuses to go on without them. They are looked for and not loaded: not everybody chats, and jinja2 is large."""
    for name in ("tokenizers", "jinja2"):
        if find_spec(name) is None:
            cure = "install it: pip install 'tileproof[llm]'"
            raise refused(Code.MISSING_PACKAGE, f"the package {name} is not installed", cure)
