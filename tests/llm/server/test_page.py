"""The page without a browser: how its files are sent, and that they name only one another."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.servers import Server
from tileproof.llm.server import page
from tileproof.llm.server.auth import OPEN_PATHS
from tileproof.llm.server.page.files import PAGE_PATHS

FOLDER = Path(page.__file__).parent
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir() if path.suffix not in (".py", "")}
API_PATHS = {"metrics", "openapi.json"}


class References(HTMLParser):
    """What an HTML file refers to, and what a content security policy would block in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attributes if name in ("href", "src", "action", "srcset")]
        self.inline += [f"{tag} {name}" for name, _ in attributes if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in dict(attributes)):
            self.inline.append(tag)


def test_all_files_are_sent_without_a_key() -> None:
    assert set(PAGE_PATHS.values()) == TEXTS.keys()
    assert PAGE_PATHS.keys() <= OPEN_PATHS


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/engine", "text/html; charset=utf-8"),
        ("/page/main.js", "text/javascript; charset=utf-8"),
        ("/page/style.css", "text/css; charset=utf-8"),
        ("/page/icon.svg", "image/svg+xml"),
    ],
)
def test_a_file_has_its_type_and_is_sent_again_only_if_it_has_changed(server: Server, path: str, kind: str) -> None:
    answer = server.ask("GET", path)
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    assert answer.headers["cache-control"] == "no-cache"
    again = server.ask("GET", path, headers={"If-None-Match": f'"other", W/{answer.headers["etag"]}'})
    assert (again.status, again.body) == (304, b"")
    assert server.ask("GET", path, headers={"If-None-Match": '"other"'}).body == answer.body


@pytest.mark.parametrize("path", ["/", "/page/main.js"])
def test_the_policy_allows_the_server_itself_and_nothing_else(server: Server, path: str) -> None:
    headers = server.ask("GET", path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy.pop("require-trusted-types-for") == "'script'"
    assert set(policy.values()) == {"'self'", "'none'"}
    assert (policy["default-src"], policy["script-src"], policy["frame-ancestors"]) == ("'none'", "'self'", "'none'")
    assert headers["x-content-type-options"] == "nosniff"


def test_files_of_the_page_refer_to_one_another_alone() -> None:
    known = {path.removeprefix("/") for path in PAGE_PATHS} | API_PATHS | {"./"}
    html = References(TEXTS["index.html"])
    assert {each for each in html.found if not each.startswith("#")} <= known
    assert html.inline == []
    for name, text in TEXTS.items():
        imported = re.findall(r"\bfrom \"(.*?)\"|\bimport\(?\s*\"(.*?)\"", text)
        assert {f"page/{one or other}".replace("/./", "/") for one, other in imported} <= known, name
        assert set(re.findall(r"\w+://[^\"\s]*", text)) <= {"http://www.w3.org/2000/svg"}, name
        assert re.findall(r"\burl\(|@import", text) == [], name


def test_no_text_becomes_markup_or_a_script() -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|DOMParser|setHTML"
    assert [name for name, text in TEXTS.items() if re.search(ways, text)] == []


def test_the_model_tells_the_page_which_settings_it_has(server: Server) -> None:
    model = server.ask("GET", "/v1/models").json["data"][0]
    assert model["can_switch_thinking"] is True
    assert model["sampling"] == {}
