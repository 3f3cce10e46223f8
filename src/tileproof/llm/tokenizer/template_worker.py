"""The program of the process that renders chat templates: `worker` calls it.

Templates come with models and may do anything that the sandbox of jinja2 allows, also without end. Limits of the
operating system hold for all of it, and need a process of their own. The program starts in 50 ms because it imports
jinja2 and nothing of tileproof.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

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


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """What a template writes, or why it writes nothing; without variables, what it reads."""
    variables, characters = request["variables"], request["characters"]
    try:
        template, names = _compiled(request["source"])
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
