"""`/`, `/engine` and the files that they load."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from ..endpoint import Call, Endpoint
from ..page.files import PAGE_PATHS, SECURITY_HEADERS, page_file


async def page(call: Call, body: None) -> Response:
    """A file of the page, or 304 if the browser has it."""
    file = page_file(call.request.url.path)
    headers = {**SECURITY_HEADERS, "Cache-Control": "no-cache", "ETag": file.etag}
    known = [tag.strip().removeprefix("W/") for tag in call.request.headers.get("if-none-match", "").split(",")]
    if file.etag in known:
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.media_type)


ENDPOINTS: Final = tuple(Endpoint("GET", path, "The page", page) for path in PAGE_PATHS)
