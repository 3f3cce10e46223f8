"""The program of the process that renders chat templates; `template_process` starts it and talks to it.

Templates come with models and may do anything that the sandbox of jinja2 allows, also without end. Limits of the
operating system hold for all of it, and need a process of their own. The program starts in 50 ms because it imports
jinja2 and nothing of tileproof.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

_PREFIX: Final = 8
"""Bytes of the length in front of a request and of a reply."""
_SAID: Final = 1000
"""Characters of an error that are reported."""
_KEPT: Final = 4
"""Templates that stay compiled."""


class _Generation(Extension):
    """`{% generation %}` marks what an assistant says, for training; a prompt has it without marks."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:  # fmt: skip
    """Plain JSON; the filter of jinja2 is for web pages, and escapes."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: object) -> None:
    raise TemplateError(str(message))


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _environment() -> ImmutableSandboxedEnvironment:
    """Variables, functions and filters as `transformers` gives them to templates."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _raise, "strftime_now": _now}
    return environment


_ENVIRONMENT: Final = _environment()


@lru_cache(_KEPT)
def _compiled(source: str) -> tuple[Template, list[str]]:
    """A template and the variables that it reads."""
    parsed = _ENVIRONMENT.parse(source)
    return _ENVIRONMENT.from_string(parsed), sorted(meta.find_undeclared_variables(parsed))


def _reply(source: str, variables: dict[str, Any] | None, characters: int) -> dict[str, Any]:
    """What a template writes, or why it writes nothing; without variables, what it reads."""
    try:
        template, names = _compiled(source)
        if variables is None:
            return {"variables": names}
        pieces, written = [], 0
        for piece in template.generate(variables):
            written += len(piece)
            if written > characters:
                return {"long": True}
            pieces.append(piece)
        return {"text": "".join(pieces)}
    except MemoryError:
        raise
    except TemplateSyntaxError as error:
        return {"line": error.lineno, "why": (error.message or "")[:_SAID]}
    except Exception as error:  # a template raises whatever an operation in it raises, also when it is compiled
        name = "" if type(error) is TemplateError else type(error).__name__
        return {"error": name, "why": str(error)[:_SAID]}


def _read(count: int) -> bytes:
    """The next bytes from the parent; the process ends with the parent."""
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(0, view) :]


def _serve() -> None:
    """Answers one request after the other. The signal of a timer ends the process, whatever it is doing."""
    while True:
        request = json.loads(_read(int.from_bytes(_read(_PREFIX), "little")))
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        reply = _reply(request["source"], request["variables"], request["characters"])
        data = json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass")
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write(len(data).to_bytes(_PREFIX, "little"))
        _write(data)


def main(memory: str, out_of_memory: str) -> None:
    """Serves the parent at the standard input, a socket. Without memory the process ends, with that exit status."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the parent may ignore or block it, which is inherited
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        _serve()
    except (MemoryError, BrokenPipeError, ConnectionResetError) as error:
        os._exit(int(out_of_memory) if isinstance(error, MemoryError) else 0)
