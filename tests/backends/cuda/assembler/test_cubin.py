"""What is read from the machine code of a kernel, and what is no machine code."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from samples.assembler_modules import SMALLEST, assembled, doubling, product
from tileproof.backends.cuda.assembler.cubin import Remark, Resources, resources_of, warnings_of
from tileproof.backends.cuda.tileir.types import BF16


@pytest.fixture(scope="module")
def cubin() -> bytes:
    return assembled(doubling("double"), "sm_90").cubin


def test_the_smallest_kernel_takes_next_to_nothing() -> None:
    (read,) = resources_of(assembled(SMALLEST, "sm_90").cubin)
    assert (read.entry, read.arch, read.shared_bytes) == ("k", "sm_90", 0)
    assert read.threads > 0
    assert 0 < read.registers < 32


@pytest.mark.sweep(2)
@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_the_architecture_is_read(arch: str) -> None:
    (read,) = resources_of(assembled(doubling("double"), arch).cubin)
    assert read.arch == arch


def test_a_cluster_is_read() -> None:
    (read,) = resources_of(assembled(doubling("double", cluster=2), "sm_90").cubin)
    assert read.cluster == (2, 1, 1)


def test_shared_memory_and_threads_are_read() -> None:
    (read,) = resources_of(assembled(product(BF16), "sm_90").cubin)
    assert read.shared_bytes > 10_000
    assert (read.threads % 128, read.cluster, read.spill_bytes) == (0, (1, 1, 1), 0)


def test_spills_are_read_and_told() -> None:
    (read,) = result = resources_of(assembled(product(BF16, 128, 256), "sm_90").cubin)
    assert read.spill_bytes > 0
    message, *_ = warnings_of(result, ())
    assert message.startswith(f"product: {read.spill_bytes} bytes per thread")


def test_what_runs_well_is_not_told() -> None:
    quiet = Resources("k", "sm_90", 255, 0, 200_000, 256, (1, 1, 1))
    remarks = (Remark("mma", 3, "a matrix product on tensor cores"), Remark("load", 4, "a plain load", missed=True))
    assert warnings_of((quiet,), remarks) == ()


@pytest.mark.parametrize(("line", "start"), [(12, "line 12: the matrix product"), (0, "the matrix product")])
def test_a_product_without_tensor_cores_is_told(line: int, start: str) -> None:
    (message,) = warnings_of((), (Remark("mma", line, "by FMA", missed=True),))
    assert message.startswith(start)


def flagged(cubin: bytes, flags: int, version: int) -> bytes:
    changed = bytearray(cubin)
    changed[8] = version
    struct.pack_into("<I", changed, 48, flags)
    return bytes(changed)


def test_files_of_older_toolkits_keep_the_architecture_elsewhere(cubin: bytes) -> None:
    (read,) = resources_of(flagged(cubin, 0x00560556, 7))
    assert read.arch == "sm_86"


@pytest.mark.parametrize("data", [b"", b"\x7fEL", b"PTX text, not code", SMALLEST])
def test_what_is_no_elf_file_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no cubin: it is not an ELF file"):
        resources_of(data)


def test_a_program_for_the_cpu_is_refused() -> None:
    program = Path(sys.executable).resolve().read_bytes()
    assert program.startswith(b"\x7fELF")
    with pytest.raises(ValueError, match="another machine"):
        resources_of(program)


def test_no_cut_of_a_cubin_passes_for_one(cubin: bytes) -> None:
    for length in range(0, len(cubin) - 1, 61):
        with pytest.raises(ValueError, match="cubin"):
            resources_of(cubin[:length])


def test_no_change_of_one_byte_breaks_the_reader(cubin: bytes) -> None:
    rejected = 0
    for place in range(0, len(cubin), 7):
        changed = bytearray(cubin)
        changed[place] ^= 0xFF
        try:
            resources_of(bytes(changed))
        except ValueError:
            rejected += 1
    assert rejected > 0
