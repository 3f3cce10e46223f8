"""The pictures of the pages: drawn by the script beside them, used, and described for those who cannot see them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from pages import PAGES, ROOT, load_file

FOLDER = ROOT / "docs" / "pictures"
DRAWN: dict[str, str] = load_file(FOLDER / "draw.py").drawn()


def test_the_script_draws_the_pictures_that_are_there() -> None:
    assert sorted(DRAWN) == sorted(path.name for path in FOLDER.glob("*.svg"))


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_the_script_draws(name: str) -> None:
    again = "python docs/pictures/draw.py draws it again"
    assert (FOLDER / name).read_text(encoding="utf-8") == DRAWN[name], again


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_stays_on_its_card(name: str) -> None:
    root = ElementTree.fromstring(DRAWN[name])
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert root.findtext("{*}title")
    for box in root.iterfind("{*}rect"):
        x, y, wide, tall = (float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + tall <= height
    for words in root.iterfind("{*}text"):
        length = len(words.text or "") * (6.7 if "small" in words.get("class", "") else 7.9)
        left = float(words.attrib["x"]) - {"start": 0, "middle": 0.5, "end": 1}[words.attrib["text-anchor"]] * length
        assert 0 <= left <= left + length <= width, words.text
        assert 0 < float(words.attrib["y"]) < height


def test_every_picture_is_used_and_described() -> None:
    used = [one for page in PAGES for one in re.findall(r"!\[([^\]]*)\]\((?:docs/)?pictures/(\S+)\)", page.read_text())]
    assert {name for _, name in used} == set(DRAWN)
    assert [name for words, name in used if len(words) < 20] == []
