"""The files of the page and the paths under which the server sends them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_ASSETS: Final = (
    "style.css", "icon.svg", "main.js", "api.js", "chat.js", "charts.js", "dom.js", "engine.js", "markdown.js",
    "settings.js", "store.js", "theme.js",
)  # fmt: skip
PAGE_PATHS: Final = {"/": "index.html", "/engine": "index.html", **{f"/page/{name}": name for name in _ASSETS}}
"""The file of each path. `/engine` is a view of the one page, so that an answer goes on while the engine is watched."""
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}  # fmt: skip
"""Without trusted types no string becomes markup or a script, whatever a model writes."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page as it is sent."""

    body: bytes
    media_type: str
    etag: str
    """Browsers keep the file and ask each time whether it is still this one: a new version shows at once."""


@cache
def page_file(path: str) -> PageFile:
    """The file of a path of the page."""
    file = Path(__file__).parent / PAGE_PATHS[path]
    body = file.read_bytes()
    return PageFile(body, _TYPES[file.suffix], f'"{hashlib.sha256(body).hexdigest()[:16]}"')
