"""The bytecode of every example is what it was. After a change that is meant:

    python tests/backends/cuda/goldens.py
"""

from __future__ import annotations

import pytest
from goldens import FOLDER, LOCATED, disassembler, expected, path_of

from samples.example_launches import FOLDER as EXAMPLES
from samples.example_launches import NAMES

needs_disassembler = pytest.mark.skipif(disassembler() is None, reason="the disassembler is not installed")


@needs_disassembler
@pytest.mark.parametrize("name", NAMES)
def test_the_bytecode_of_an_example_is_what_it_was(name: str) -> None:
    assert expected(name) == path_of(name).read_text(encoding="utf-8"), "python tests/backends/cuda/goldens.py"


def test_every_text_belongs_to_an_example() -> None:
    assert {path.stem for path in FOLDER.glob("*.mlir")} == set(NAMES)


def test_operations_say_which_line_of_the_source_they_come_from() -> None:
    lines = (EXAMPLES / f"{LOCATED}.py").read_text(encoding="utf-8").splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if "a[n] + b[n]" in text)
    text = path_of(LOCATED).read_text(encoding="utf-8")
    for part in ("c[n]", "a[n]", "b[n]"):
        assert f'loc("{LOCATED}.py":{line}:{lines[line - 1].index(part) + 1})' in text
