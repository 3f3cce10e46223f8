"""The loop of a chat: a turn, an answer, and what the user says about them with commands."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, get_args, get_type_hints

from tileproof.cli.command_line import count, suggestion, wants_color
from tileproof.compiler.cache import write_whole
from tileproof.diagnostics.errors import TileproofError
from tileproof.llm import Message, SamplingParams
from tileproof.llm.loader.checkpoint import in_home

from .completion import Answer, Thoughts, begins_thinking
from .figures import Figures
from .memory_rate import read_rate
from .model import line_of
from .model_options import format_sampling, within
from .terminal import Notes, dim

if TYPE_CHECKING:
    from tileproof.llm import LLM

HELP = """\
/help              this
/clear             clear the chat; the system message stays
/system TEXT       the system message; without a text, none
/save FILE         write the chat into a file
/load FILE         continue a chat from a file
/set               print the sampling parameters
/set NAME VALUE    change one: temperature, top-k, top-p, min-p, repetition-penalty, presence-penalty, seed,
                   max-new-tokens, thinking (on, off or auto)
/retry             answer the last question again
/stats             the speed of the answers
/exit              end, as Ctrl-D does
A line that ends with \\ continues on the next one. A line that begins with // is sent with one / less."""
COMMANDS = ("help", "clear", "system", "save", "load", "set", "retry", "stats", "exit")
_NUMBERS = {
    "temperature": float, "top_k": int, "top_p": float, "min_p": float, "repetition_penalty": float,
    "presence_penalty": float, "seed": int, "max_new_tokens": int,
}  # fmt: skip
_SWITCH = {"on": True, "true": True, "off": False, "false": False, "auto": None}
_LEAST = 64
"""Places of the context that an answer must have; turns are dropped until it has."""


class Chat:
    """Turns of a user and answers of a model, on a terminal or with lines from elsewhere."""

    def __init__(
        self,
        llm: LLM,
        params: SamplingParams,
        history: Sequence[Message],
        *,
        thinking: bool | None,
        notes: Notes,
        draws_seed: bool,
    ) -> None:
        self._llm, self._params, self._history = llm, params, list(history)
        self._thinking, self._notes, self._draws_seed = thinking, notes, draws_seed
        self._color = wants_color(sys.stdout)
        self._figures: list[Figures] = []
        self._file: Path | None = None
        self._ends = self._failed = False

    def run(self, source: TextIO) -> int:
        """Takes turns until they end; gives the exit code, 2 if lines from elsewhere could not be answered."""
        for text in self._turns(source):
            if text.startswith("/") and not text.startswith("//"):
                self._command(text)
            elif text.strip():
                self._ask(text[1:] if text.startswith("//") else text)
            if self._ends:
                break
        return 2 if self._failed and not source.isatty() else 0

    # What the user says.

    def _turns(self, source: TextIO) -> Iterator[str]:
        """Lines, those that end with a backslash joined with the next."""
        reader = _typed() if source.isatty() else (line.rstrip("\n") for line in source)
        pending: list[str] = []
        for line in reader:
            if line is None:  # Ctrl-C: what was typed is not meant
                pending = []
                self._notes.note("Ctrl-D or /exit ends the chat")
            elif line.endswith("\\"):
                pending.append(line[:-1])
            else:
                yield "\n".join([*pending, line])
                pending = []
        if pending:
            yield "\n".join(pending)

    def _command(self, text: str) -> None:
        name, _, rest = text[1:].strip().partition(" ")
        rest = rest.strip()
        if name in ("quit", "q", "bye"):
            name = "exit"
        if name not in COMMANDS:
            self._notes.warn(f"there is no /{name}{suggestion(name, COMMANDS)}; /help lists commands")
            return
        try:
            getattr(self, f"_do_{name}")(rest)
        except (TranscriptError, ValueError) as error:
            self._notes.warn(str(error))
        except TileproofError as error:
            self._notes.warn(line_of(error))

    def _do_help(self, _: str) -> None:
        for line in HELP.splitlines():
            self._notes.note(line)

    def _do_exit(self, _: str) -> None:
        self._ends = True

    def _do_clear(self, _: str) -> None:
        self._history = self._system()
        self._notes.note("the chat is cleared")

    def _do_system(self, text: str) -> None:
        system = [Message("system", text)] if text else []
        self._history = system + self._history[len(self._system()) :]
        self._notes.note("the system message is set" if text else "there is no system message now")

    def _do_save(self, name: str) -> None:
        if not name:
            raise ValueError("name a file: /save chat.json")
        path = in_home(name)
        save(path, self._llm.config.name, self._history, replaces=self._file is not None and path == self._file)
        self._file = path
        self._notes.note(f"{path} is written: {self._turn_count()}")

    def _do_load(self, name: str) -> None:
        if not name:
            raise ValueError("name a file: /load chat.json")
        path = in_home(name)
        self._history = load(path)
        self._file = path
        self._notes.note(f"the chat continues from {path}: {self._turn_count()}")

    def _do_set(self, text: str) -> None:
        name, _, value = text.replace("=", " ").partition(" ")
        key, value = name.replace("-", "_"), value.strip()
        if key == "thinking" and value in _SWITCH:
            self._thinking = _SWITCH[value]
        elif key in _NUMBERS and value:
            try:
                number = _NUMBERS[key](value)
            except ValueError:
                raise ValueError(f"/set {name} {value}: this is no {_NUMBERS[key].__name__}") from None
            self._params = replace(self._params, **{key: number})
            self._draws_seed = self._draws_seed and key != "seed"
        elif name:
            known = [name.replace("_", "-") for name in (*_NUMBERS, "thinking")]
            if name not in known:
                raise ValueError(f"there is no setting {name}{suggestion(name, known)}; there are {', '.join(known)}")
            raise ValueError(f"give {name} a value: /set {name} {'on' if key == 'thinking' else '0.7'}")
        thinks = {None: "as the model does", True: "on", False: "off"}[self._thinking]
        most = f"at most {count(self._params.max_new_tokens, 'token')}"
        self._notes.note(f"{format_sampling(self._params)}; {most}; thinking {thinks}")

    def _do_retry(self, _: str) -> None:
        place = max((at for at, message in enumerate(self._history) if message.role == "user"), default=None)
        if place is None:
            raise ValueError("nothing was asked yet")
        question = self._history[place].content
        before, self._history = self._history, self._history[:place]
        if not self._ask(question):
            self._history = before

    def _do_stats(self, _: str) -> None:
        if not self._figures:
            raise ValueError("nothing was answered yet")
        decoded = sum(figure.new_tokens - 1 for figure in self._figures if figure.new_tokens > 1)
        seconds = sum(figure.decode_seconds for figure in self._figures)
        used = len(self._llm.text.chat_prompt(self._history, thinking=self._thinking)) if self._history else 0
        rate = read_rate(self._llm.device)
        rate = decoded / seconds if seconds else 0
        self._notes.note(f"{len(self._figures)} answers, {rate:.1f} tokens/s on the average")
        self._notes.note(f"the chat has {count(used, 'token')} of the {self._llm.max_seq_len} that fit")
        for line in replace(self._figures[-1], read_rate=rate).lines():
            self._notes.note(f"last answer: {line}")

    # What the model says.

    def _ask(self, text: str) -> bool:
        """Has a turn answered; whether it could be."""
        messages = [*self._history, Message("user", text)]
        try:
            kept, prompt = self._fitting(messages)
            if self._draws_seed and self._params.temperature:
                self._params = replace(self._params, seed=secrets.randbelow(2**31))
            room = self._llm.max_seq_len - len(prompt)
            answer = Answer(self._llm, prompt, within(self._params, room))
            answered = self._shown(answer, inside=begins_thinking(self._llm, prompt))
        except TileproofError as error:
            self._notes.warn(line_of(error))
            self._failed = True
            return False
        self._history = [*kept, Message("assistant", answered)]
        figures = answer.figures()
        self._figures.append(figures)
        how = {"length": ", cut off", "cancelled": ", stopped"}.get(answer.finish, "")
        speed = f", {figures.tokens_per_second:.1f} tokens/s" if figures.tokens_per_second else ""
        new = count(figures.new_tokens, "token")
        self._notes.note(f"{new}{speed}, the first after {figures.prefill_seconds:.2f} s{how}")
        return True

    def _shown(self, answer: Answer, *, inside: bool) -> str:
        """Prints an answer as it is made, thinking dim; gives it without the thinking. Ctrl-C ends it."""
        thoughts = Thoughts(inside=inside)
        answered, last = "", ""
        with closing(answer.stream()) as stream:
            try:
                for piece in stream:
                    self._notes.begin_text()
                    for part, text in thoughts.push(piece):
                        answered, last = self._put(part, text, answered, last)
                for part, text in thoughts.finish():
                    answered, last = self._put(part, text, answered, last)
            except KeyboardInterrupt:
                answer.finish = "cancelled"
        if not answered.endswith("\n"):
            print(flush=True)
        return answered.strip()

    def _put(self, part: str, text: str, answered: str, last: str) -> tuple[str, str]:
        """Writes a piece; gives the answer so far and which part was written last."""
        if part == "thinking":
            if self._color or not self._notes.is_quiet:
                stream = sys.stdout if self._color else sys.stderr
                stream.write(dim(text, dimmed=self._color))
                stream.flush()
            return answered, part
        if last == "thinking":
            (sys.stdout if self._color else sys.stderr).write("\n\n" * (not self._notes.is_quiet or self._color))
        sys.stdout.write(text)
        sys.stdout.flush()
        return answered + text, part

    def _fitting(self, messages: list[Message]) -> tuple[list[Message], list[int]]:
        """The messages that fit the context with room for an answer, and their tokens; the oldest turns go first."""
        system, turns = messages[: len(self._system())], messages[len(self._system()) :]
        room = self._llm.max_seq_len - min(_LEAST, self._llm.max_seq_len // 4)
        dropped = 0
        while True:
            kept = system + turns
            prompt = list(self._llm.text.chat_prompt(kept, thinking=self._thinking))
            if len(prompt) <= room or len(turns) == 1:
                break
            following = next((at for at, turn in enumerate(turns) if at and turn.role == "user"), len(turns) - 1)
            dropped += following
            turns = turns[following:]
        if dropped:
            full = f"the context of {self._llm.max_seq_len} tokens is full"
            self._notes.note(f"{full}: the {dropped} oldest message{'s are' if dropped > 1 else ' is'} left out")
        return kept, prompt

    def _turn_count(self) -> str:
        return count(sum(message.role == "user" for message in self._history), "turn")

    def _system(self) -> list[Message]:
        return self._history[:1] if self._history and self._history[0].role == "system" else []


def _typed() -> Iterator[str | None]:
    """Lines typed on a terminal, until Ctrl-D; None for Ctrl-C."""
    with suppress(ImportError):
        import readline  # noqa: F401 - what is typed can be edited, and is remembered
    mark = "\001\x1b[1m\002>\001\x1b[0m\002 " if wants_color(sys.stdout) else "> "
    while True:
        try:
            yield input(mark)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()
            yield None


_ROLES = get_args(get_type_hints(Message)["role"])


class TranscriptError(Exception):
    """A chat cannot be written or read. The text says why."""


def save(path: Path, model: str, messages: Sequence[Message], *, replaces: bool) -> None:
    """Writes a chat. A file that is there is replaced only if it `replaces` what was written before."""
    if path.exists() and not replaces:
        raise TranscriptError(f"{path} is there already: name another file")
    document = {
        "format": 1,
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
    }
    try:
        write_whole(path, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise TranscriptError(f"{path} cannot be written: {error.strerror}") from None


def load(path: Path) -> list[Message]:
    """The messages of a chat that was written."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise TranscriptError(f"{path} is not a chat: it is no JSON") from None
    entries = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise TranscriptError(f"{path} is not a chat: it has no messages")
    messages = []
    for number, entry in enumerate(entries, start=1):
        role: Any = entry.get("role") if isinstance(entry, dict) else None
        content = entry.get("content") if isinstance(entry, dict) else None
        if role not in _ROLES or not isinstance(content, str):
            raise TranscriptError(f"{path} is not a chat: message {number} has no role and content")
        messages.append(Message(role, content))
    return messages
