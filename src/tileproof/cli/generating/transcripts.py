"""Chats as files: JSON with the messages, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

from tileproof.llm import Message

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
        "messages": [{"role": each.role, "content": each.content} for each in messages],
    }
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        raise TranscriptError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        if partial.exists():
            partial.unlink()


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
    found = []
    for number, each in enumerate(entries, start=1):
        role: Any = each.get("role") if isinstance(each, dict) else None
        content = each.get("content") if isinstance(each, dict) else None
        if role not in _ROLES or not isinstance(content, str):
            raise TranscriptError(f"{path} is not a chat: message {number} has no role and content")
        found.append(Message(role, content))
    return found
