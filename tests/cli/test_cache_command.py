"""`tileproof cache`: where compiled kernels are, what they take, and that they are gone after a clear."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli_samples import Ran
from tileproof.backends.cuda.device.loaded_code import Code
from tileproof.compiler import cache as runtime
from tileproof.compiler.cache import Cache, digest
from tileproof.compiler.proofs import write_entry
from tileproof.diagnostics.values import in_words

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a process that has not warned of anything."""
    runtime._warn.cache_clear()
    runtime._cache_for.cache_clear()
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.delenv("TILEPROOF_CACHE_LIMIT", raising=False)
    return tmp_path / "kernels"


@pytest.fixture
def three(folder: Path) -> int:
    """Puts three entries into the cache; gives their bytes."""
    cache = Cache(folder, 1 << 30)
    for number in range(3):
        cache.put(digest(number), bytes(1000))
    return cache.info().bytes


def test_info_is_a_small_table(tileproof: Run, folder: Path, three: int) -> None:
    ran = tileproof("cache", "info")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"folder  {folder}",
        f"holds   3 entries, {three / 1024:.1f} KiB",
        "cubins  0 entries, 0 bytes",
        "limit   1.0 GiB",
        "state   works",
    ]


def test_info_makes_no_folder(tileproof: Run, folder: Path) -> None:
    assert "holds   0 entries, 0 bytes\n" in tileproof("cache", "info").out
    assert not folder.exists()


def test_info_as_json(tileproof: Run, folder: Path, three: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_LIMIT", "2GB")
    assert json.loads(tileproof("cache", "info", "--format", "json").out) == {
        "format": 1,
        "path": str(folder),
        "entries": 3,
        "bytes": three,
        "cubins": 0,
        "cubin_bytes": 0,
        "limit": 2 * 10**9,
        "problem": "",
    }


def test_code_for_a_gpu_is_counted(tileproof: Run, folder: Path, three: int) -> None:
    code = Code("k", "sm_90", bytes(5000), (), (), 0, (), False, False, False, 1, (), 0.5)
    Cache(folder, 1 << 30).put(digest("code"), write_entry(code, ()))
    message = json.loads(tileproof("cache", "info", "--format", "json").out)
    assert (message["entries"], message["cubins"], message["cubin_bytes"]) == (4, 1, message["bytes"] - three)
    assert "cubins  1 entry, 5." in tileproof("cache", "info").out


def test_clear_says_what_was_removed(tileproof: Run, folder: Path, three: int) -> None:
    ran = tileproof("cache", "clear")
    assert (ran.code, ran.out, ran.err) == (0, f"removed 3 entries, {in_words(three)}, from {folder}\n", "")
    assert tileproof("cache", "clear").out == f"removed 0 entries, 0 bytes, from {folder}\n"
    assert Cache(folder, 1 << 30).get(digest(0)) is None


def test_path_is_the_folder_alone(tileproof: Run, folder: Path) -> None:
    ran = tileproof("cache", "path")
    assert (ran.code, ran.out, ran.err) == (0, f"{folder}\n", "")


def test_a_cache_that_is_off_is_said_to_be(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", "off")
    path, info, clear = tileproof("cache", "path"), tileproof("cache", "info"), tileproof("cache", "clear")
    assert (path.code, path.out) == (1, "")
    assert path.err.startswith("tileproof cache: there is no cache: TILEPROOF_CACHE_DIR turns it off")
    assert info.out.startswith("folder  none\n")
    assert "state   keeps nothing: TILEPROOF_CACHE_DIR turns it off" in info.out
    assert (clear.code, clear.out.startswith("there is no cache: ")) == (0, True)
    assert json.loads(tileproof("cache", "info", "--format", "json").out)["path"] is None


def test_a_folder_open_to_others_is_neither_used_nor_cleared(tileproof: Run, folder: Path, three: int) -> None:
    folder.chmod(0o777)
    assert "state   keeps nothing: others may write to it" in tileproof("cache", "info").out
    ran = tileproof("cache", "clear")
    assert (ran.code, "could not be cleared: others may write to it" in ran.out) == (1, True)
    folder.chmod(0o700)
    assert Cache(folder, 1 << 30).info().entries == 3


def test_a_wrong_limit_is_said_in_a_line(tileproof: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_LIMIT", "lots")
    ran = tileproof("cache", "info")
    assert (ran.code, "limit   1.0 GiB\n" in ran.out) == (0, True)
    assert ran.err.startswith("tileproof cache: TILEPROOF_CACHE_LIMIT is `lots`, which is not a size")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [[], ["shrink"], ["path", "--format", "json"]], ids=" ".join)
def test_wrong_usage(tileproof: Run, arguments: list[str]) -> None:
    ran = tileproof("cache", *arguments)
    assert (ran.code, ran.out) == (2, "")


def test_help_teaches_with_examples(tileproof: Run) -> None:
    ran = tileproof("cache", "--help")
    assert ran.code == 0
    for text in ("tileproof cache clear", "TILEPROOF_CACHE_DIR=", "TILEPROOF_CACHE_LIMIT=2GB", "yours alone"):
        assert text in ran.out


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (3_500_000, "3.3 MiB"),
        (1 << 30, "1.0 GiB"),
        (5 << 40, "5120.0 GiB"),
    ],
)
def test_sizes_are_shown_for_people(size: int, text: str) -> None:
    assert in_words(size) == text


def cache_line(ran: Ran) -> str:
    """What `tileproof doctor` says of the cache."""
    before, _, after = ran.out.partition("kernel cache")
    return before.rpartition("\n")[2] + "kernel cache" + after.partition("\n")[0]


def test_doctor_tells_of_the_cache(tileproof: Run, folder: Path, three: int) -> None:
    line = cache_line(tileproof("doctor"))
    assert line == f"  ok kernel cache             {folder}: 3 entries, {in_words(three)} of 1.0 GiB"


def test_doctor_tells_of_a_cache_that_cannot_be_used(tileproof: Run, folder: Path, three: int) -> None:
    folder.chmod(0o777)
    ran = tileproof("doctor")
    assert ran.code == 0
    assert cache_line(ran).startswith(f"  -- kernel cache             {folder}: others may write to it")
    assert "cure: TILEPROOF_CACHE_DIR names another folder" in ran.out
