"""Every operation of the table is written, read back, assembled and printed by the vendor's tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tileir_samples import SAMPLES, assemble, disassemble, every_op, module, tool, written

from tileproof.backends.cuda.tileir.decode import decode, version_of
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.operation_table import CODES, OPERATIONS
from tileproof.backends.cuda.tileir.printer import show

CASES = [(name, version) for name in SAMPLES for version in written(name)]
needs_tools = pytest.mark.skipif(tool("tileiras") is None, reason="the assembler is not installed")


def test_the_samples_use_every_operation_of_the_table() -> None:
    used = {op.name for name in SAMPLES for entry in module(name).entries for op in every_op(entry.body)}
    assert used == set(OPERATIONS)


def test_no_two_operations_share_a_number() -> None:
    assert len(CODES) == len(OPERATIONS)
    assert max(CODES) < 0x80  # so that a number is always one byte


@pytest.mark.parametrize(("name", "version"), CASES)
def test_a_module_comes_back_as_it_was(name: str, version: tuple[int, int]) -> None:
    first = module(name)
    data = encode(first, version)
    again = decode(data)
    assert version_of(data) == version
    assert encode(again, version) == data
    assert show(again, locations=True) == show(first, locations=True)


@pytest.mark.sweep(2)
@needs_tools
@pytest.mark.parametrize(("name", "version"), CASES)
def test_the_assembler_takes_every_operation(name: str, version: tuple[int, int], tmp_path: Path) -> None:
    done = assemble(encode(module(name), version), tmp_path, "sm_100" if name == "scaled" else "sm_90")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "module.cubin").stat().st_size > 0


@needs_tools
@pytest.mark.parametrize("name", SAMPLES)
def test_the_disassembler_reads_the_operations_in_their_order(name: str, tmp_path: Path) -> None:
    """They print under the table's names, but for one that the disassembler has renamed."""
    sample, renamed = module(name), {"fpowf": "pow"}
    text = disassemble(encode(sample), tmp_path)
    printed = re.findall(r"^\s+(?:%[^=]*= )?([a-z][a-z0-9_]*)\b", text, re.MULTILINE)
    ours = [op.name for op in every_op(sample.entries[0].body)]
    assert [word for word in (renamed.get(word, word) for word in printed) if word in OPERATIONS] == ours


@needs_tools
def test_the_disassembler_sees_the_source_lines(tmp_path: Path) -> None:
    text = disassemble(encode(module("shapes")), tmp_path, "-g")
    assert 'loc("samples/kernels.py":1:1)' in text
    assert 'linkageName = "shapes"' in text
    last = len(module("shapes").entries[0].body.ops) + 1
    assert f'loc("samples/kernels.py":{last}:2)' in text


@needs_tools
def test_line_information_assembles(tmp_path: Path) -> None:
    done = assemble(encode(module("regions")), tmp_path, "sm_90", "--lineinfo")
    assert (done.returncode, done.stderr) == (0, "")
    assert b"kernels.py" in (tmp_path / "module.cubin").read_bytes()
