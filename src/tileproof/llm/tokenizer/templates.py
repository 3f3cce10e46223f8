"""Chat templates: a program in a model's files that writes the prompt of a chat.

Templates come with models, so they run in a sandbox, in a process with limits on time and memory. Variables and
functions are those that `transformers` gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from .worker_process import TEMPLATES, Stopped

CHARACTERS: Final = 1 << 24
"""Of output."""
SOURCE: Final = 1 << 20
"""Of the template itself."""
_RAW = "use --raw-prompt for a plain prompt"


class ChatTemplate:
    """A template that is compiled."""

    def __init__(self, source: str, *, bos: str | None = None, eos: str | None = None) -> None:
        """Compiles a template, which is TP1005 if it is malformed. `bos` and `eos` are the texts of these tokens."""
        self.source = source
        self._tokens = {"bos_token": bos or "", "eos_token": eos or ""}
        if len(source) > SOURCE:
            raise _unbounded(f"is itself {len(source)} characters long")
        read = self._reply(None)["variables"]
        self.can_think: bool = "enable_thinking" in read
        """Whether the template knows of thinking, and lets it be switched."""
        self.takes_tools: bool = "tools" in read
        """Whether the template tells the model of tools."""

    def render(
        self, messages: Sequence[Mapping[str, Any]], *, thinking: bool | None = None, answers: bool = True,
        tools: Sequence[Mapping[str, Any]] = (), variables: Mapping[str, Any] | None = None,
    ) -> str:  # fmt: skip
        """The prompt of a chat, with the beginning of an answer if `answers`.

        `tools` are JSON objects as OpenAI's API has them, `variables` are others that the template may read.

        `thinking` is for templates that know of it, None leaves it to them. Without that, True is TP1005: the model
        would not do what was asked. False asks for nothing that such a model does, and is fine.
        """
        if thinking and not self.can_think:
            cure = "leave thinking alone: the chat template of this model has no switch for it"
            raise refused(Code.CHAT_TEMPLATE, "this model cannot be told to think", cure)
        switch = {} if thinking is None else {"enable_thinking": thinking}
        own = {"messages": messages, "tools": tools or None, "add_generation_prompt": answers, **self._tokens, **switch}
        text: str = self._reply({**(variables or {}), **own})["text"]
        return text

    def _reply(self, variables: Mapping[str, Any] | None) -> dict[str, Any]:
        """What the process that renders templates replies, unless it is an error."""
        try:
            reply = TEMPLATES.reply({"source": self.source, "variables": variables, "characters": CHARACTERS})
        except Stopped as stopped:
            raise _unbounded(str(stopped)) from None
        except OSError as error:
            message = f"the process that renders chat templates cannot be started: {error.strerror}"
            raise refused(Code.CHAT_TEMPLATE, message, _RAW) from None
        match reply:
            case {"long": True}:
                raise _unbounded(f"writes more than {CHARACTERS} characters")
            case {"line": line, "why": str(why)}:
                message = f"line {line} of the chat template is malformed: {_one_line(why).rstrip('.')}"
                raise refused(Code.CHAT_TEMPLATE, message, _RAW)
            case {"error": "", "why": str(why)}:  # the template speaks to the user, with `raise_exception`
                cure = "change the messages as it asks"
                raise refused(Code.CHAT_TEMPLATE, f"the chat template refuses: {_one_line(why)}", cure)
            case {"error": error, "why": str(why)}:
                message = f"the chat template fails with {error}: {_one_line(why) or 'no reason given'}"
                raise refused(Code.CHAT_TEMPLATE, message, _RAW)
        return reply


def default_template(templates: object) -> str | None:
    """The template for chats from a `chat_template`: a string, or a list of named ones."""
    if not isinstance(templates, list):
        return templates if isinstance(templates, str) else None
    entries = [entry for entry in templates if isinstance(entry, dict) and len(entry) == 2]
    named = {str(entry["name"]): str(entry["template"]) for entry in entries}
    if "default" in named or len(named) == 1:
        return named.get("default") or next(iter(named.values()))
    if not named:
        return None
    names = ", ".join(named)
    cure = f"write the one for chats to chat_template.jinja beside it, or {_RAW}"
    raise refused(Code.CHAT_TEMPLATE, f"none of the chat templates {names} is the default", cure)


def no_template(name: str) -> ModelError:
    """The error for a chat with a model that has no template."""
    return refused(Code.CHAT_TEMPLATE, f"{name} has no chat template: it was made to continue text, not to chat", _RAW)


def _unbounded(what: str) -> ModelError:
    return refused(Code.CHAT_TEMPLATE, f"the chat template {what}", f"{_RAW}; a template of a model takes far less")


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}..."
