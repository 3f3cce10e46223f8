"""The kernel cache: right bytes or none, whatever happens to its files, its folder, or the processes that use it."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from tileproof.compiler import cache as module
from tileproof.compiler.cache import DEFAULT_LIMIT, Cache, CacheWarning, default, digest

KEY, OTHER = digest("one"), digest("two")
DATA = b"native code" * 100
HEADER = module._HEADER.size
thorough = settings(max_examples=examples(400), deadline=None, database=None, derandomize=True)


@pytest.fixture(autouse=True)
def _a_process_that_has_not_warned() -> Iterator[None]:
    """Each test begins without warnings given or caches made; one that does not expect a warning fails on it."""
    module._warn.cache_clear()
    module._cache_for.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        yield


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kernels", 1 << 20)


def file_of(cache: Cache, key: str) -> Path:
    assert cache.directory is not None
    return cache.directory / key[:2] / f"{key[2:]}.tpk"


def drafts(cache: Cache) -> list[Path]:
    assert cache.directory is not None
    return list(cache.directory.rglob("*.tmp"))


def used_ago(cache: Cache, key: str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file_of(cache, key), (then, then))


def kept(cache: Cache, keys: list[str]) -> list[int]:
    """The positions of the keys that are in the cache; asking for them is no use of them."""
    return [number for number, key in enumerate(keys) if file_of(cache, key).exists()]


# Entries.


@thorough
@given(data=st.binary(max_size=20_000))
def test_what_is_put_is_got(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = Cache(tmp_path_factory.getbasetemp() / "any_bytes", 1 << 20)
    cache.put(KEY, data)
    assert cache.get(KEY) == data


def test_another_process_finds_it(cache: Cache) -> None:
    cache.put(KEY, DATA)
    assert Cache(cache.directory, cache.limit).get(KEY) == DATA


def test_the_newest_bytes_of_a_key_count(cache: Cache) -> None:
    cache.put(KEY, b"old")
    cache.put(KEY, DATA)
    assert (cache.get(KEY), cache.info().entries) == (DATA, 1)


def test_an_unknown_key_is_a_miss(cache: Cache) -> None:
    assert cache.get(KEY) is None
    cache.put(OTHER, DATA)
    assert cache.get(KEY) is None


@pytest.mark.parametrize("key", ["", "abc", KEY.upper(), KEY + "0", KEY + "\n", "../" + KEY[3:], "é" * 64])
def test_only_a_digest_is_a_key(cache: Cache, key: str) -> None:
    with pytest.raises(ValueError, match="is not a key of the cache"):
        cache.get(key)
    with pytest.raises(ValueError, match="is not a key of the cache"):
        cache.put(key, DATA)


def test_a_flip_of_any_bit_is_a_miss_and_the_file_goes(cache: Cache) -> None:
    cache.put(KEY, b"code")
    path = file_of(cache, KEY)
    right = path.read_bytes()
    for bit in range(8 * len(right)):
        wrong = bytearray(right)
        wrong[bit // 8] ^= 1 << bit % 8
        path.write_bytes(wrong)
        path.chmod(0o600)
        assert (cache.get(KEY), path.exists()) == (None, False), f"bit {bit}"


def test_a_file_cut_or_grown_is_a_miss_and_goes(cache: Cache) -> None:
    cache.put(KEY, b"code")
    path = file_of(cache, KEY)
    right = path.read_bytes()
    for wrong in (*(right[:length] for length in range(len(right))), right + b"\0", right * 2, bytes(len(right))):
        path.write_bytes(wrong)
        path.chmod(0o600)
        assert (cache.get(KEY), path.exists()) == (None, False), f"{len(wrong)} bytes"


def test_the_entry_of_another_key_is_a_miss(cache: Cache) -> None:
    cache.put(OTHER, DATA)
    file_of(cache, KEY).parent.mkdir(exist_ok=True)
    file_of(cache, OTHER).rename(file_of(cache, KEY))
    assert (cache.get(KEY), file_of(cache, KEY).exists()) == (None, False)


def test_the_entry_of_another_format_is_a_miss(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, DATA)
    monkeypatch.setattr(module, "_FORMAT", module._FORMAT + 1)
    assert cache.get(KEY) is None


def test_a_file_of_any_length_is_not_read_before_its_header_is_right(cache: Cache) -> None:
    cache.put(KEY, DATA)
    os.truncate(file_of(cache, KEY), 1 << 40)
    assert (cache.get(KEY), file_of(cache, KEY).exists()) == (None, False)


def test_a_file_that_others_may_write_to_is_a_miss(cache: Cache) -> None:
    cache.put(KEY, DATA)
    file_of(cache, KEY).chmod(0o622)
    assert (cache.get(KEY), file_of(cache, KEY).exists()) == (None, False)


@pytest.mark.parametrize(
    "make", [os.mkdir, os.mkfifo, lambda path: os.symlink(path, path)], ids=["folder", "pipe", "loop"]
)
def test_what_is_no_file_is_a_miss_and_makes_way(cache: Cache, make: Callable[[Path], None]) -> None:
    path = file_of(cache, KEY)
    path.parent.mkdir(parents=True, mode=0o700)
    make(path)
    assert cache.get(KEY) is None
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA


def test_a_process_without_free_files_keeps_the_entry(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_free(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    cache.put(KEY, DATA)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", none_free)
        assert cache.get(KEY) is None
    assert cache.get(KEY) == DATA


def test_hits_and_misses_are_counted(cache: Cache) -> None:
    cache.put(KEY, DATA)
    for key in (KEY, OTHER, KEY):
        cache.get(key)
    info = cache.info()
    assert (info.path, info.entries, info.bytes) == (cache.directory, 1, HEADER + len(DATA))
    assert (info.limit, info.hits, info.misses, info.problem) == (1 << 20, 2, 1, "")


def test_clear_removes_entries_and_drafts_and_nothing_else(cache: Cache) -> None:
    cache.put(KEY, DATA)
    cache.put(OTHER, b"")
    assert cache.directory is not None
    draft = file_of(cache, KEY).with_name(f"draft-{'0' * 24}.tmp")
    foreign = [cache.directory / "notes.tpk", file_of(cache, KEY).with_name("notes.tpk")]
    for path in (draft, *foreign):
        path.write_text("mine")
    assert cache.clear() == (2, 2 * HEADER + len(DATA))
    assert (cache.get(KEY), cache.info().entries, draft.exists()) == (None, 0, False)
    assert all(path.exists() for path in foreign)
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA


def test_a_cache_without_a_folder_keeps_nothing() -> None:
    cache = Cache(None, 1 << 20)
    cache.put(KEY, DATA)
    assert (cache.get(KEY), cache.clear(), cache.info().entries, cache.info().path) == (None, (0, 0), 0, None)


# The limit.


def filled(cache: Cache, count: int) -> list[str]:
    """Keys of entries of 1000 bytes each, the first used longest ago."""
    keys = [digest(number) for number in range(count)]
    for age, key in enumerate(reversed(keys)):
        cache.put(key, bytes(1000 - HEADER))
        used_ago(cache, key, 1000 + age)
    return keys


def test_beyond_the_limit_the_least_recently_used_go(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 16_000)
    keys = filled(cache, 16)
    assert kept(cache, keys) == list(range(16))
    cache.put(KEY, bytes(1000 - HEADER))
    assert kept(cache, keys) == list(range(3, 16))
    assert cache.info().bytes == 14_000


def test_a_hit_counts_as_a_use(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 16_000)
    keys = filled(cache, 16)
    assert cache.get(keys[0]) is not None
    cache.put(KEY, bytes(1000 - HEADER))
    assert kept(cache, keys) == [0, *range(4, 16)]


def test_a_use_is_recorded_once_a_minute(cache: Cache) -> None:
    cache.put(KEY, DATA)
    for ago, written in ((30, False), (90, True), (-90, True)):
        used_ago(cache, KEY, ago)
        before = file_of(cache, KEY).stat().st_mtime_ns
        cache.get(KEY)
        assert (file_of(cache, KEY).stat().st_mtime_ns != before) is written, f"{ago} seconds"


def test_what_was_just_written_stays_even_if_it_seems_the_oldest(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 3_000)
    keys = filled(cache, 2)
    for key in keys:
        used_ago(cache, key, -5000)
    cache.put(KEY, bytes(2900 - HEADER))
    assert kept(cache, [*keys, KEY]) == [2]


def test_what_alone_exceeds_the_limit_is_not_stored(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1000)
    cache.put(OTHER, bytes(400 - HEADER))
    cache.put(KEY, bytes(1001 - HEADER))
    assert kept(cache, [KEY, OTHER]) == [1]
    cache.put(KEY, bytes(1000 - HEADER))
    assert kept(cache, [KEY, OTHER]) == [0]


def test_the_limit_holds_through_many_puts_with_few_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path, 100_000)
    scans = 0
    scan = Cache._files

    def counted(self: Cache) -> Iterator[Any]:
        nonlocal scans
        scans += 1
        return scan(self)

    monkeypatch.setattr(Cache, "_files", counted)
    for number in range(1000):
        cache.put(digest(number), bytes(1000 - HEADER))
    assert scans < 1000 / 5
    assert 80_000 < cache.info().bytes <= 100_000
    assert cache.get(digest(999)) is not None


def test_what_other_processes_put_counts_too(tmp_path: Path) -> None:
    """Each of eight puts less than the limit, so what it put itself is no reason to evict."""
    caches = [Cache(tmp_path, 100_000) for _ in range(8)]
    for number in range(400):
        caches[number % 8].put(digest(number), bytes(1000 - HEADER))
    assert caches[0].info().bytes <= 2 * 100_000


@pytest.mark.slow
def test_many_processes_that_put_one_entry_each_keep_the_limit(tmp_path: Path) -> None:
    for number in range(600):
        Cache(tmp_path, 300_000).put(digest(number), bytes(1000 - HEADER))
    assert Cache(tmp_path, 0).info().bytes <= 300_000 * 9 // 8


def test_one_entry_does_not_list_a_large_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path, 1 << 30)
    for number in range(100):
        cache.put(digest(number), DATA)
    listed: list[str] = []
    inside = module._listed
    monkeypatch.setattr(module, "_listed", lambda folder: listed.append(folder) or inside(folder))
    Cache(tmp_path, 1 << 30).put(KEY, DATA)
    assert listed == [str(file_of(cache, KEY).parent)]


def test_stale_drafts_are_swept_and_fresh_ones_left(cache: Cache) -> None:
    path = file_of(cache, KEY)
    path.parent.mkdir(parents=True, mode=0o700)
    stale, fresh = (path.with_name(f"draft-{digit * 24}.tmp") for digit in "ab")
    for draft, age in ((stale, 3700), (fresh, 3500)):
        draft.write_bytes(DATA)
        os.utime(draft, (time.time() - age, time.time() - age))
    cache.put(KEY, DATA)
    assert drafts(cache) == [fresh]


# Folders that cannot be used.


def warned(work: Callable[[], object]) -> str:
    """The one warning that some work gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    (warning,) = caught
    assert issubclass(warning.category, CacheWarning)
    return str(warning.message)


def use(cache: Cache) -> None:
    """Uses a cache a few times, which must keep nothing."""
    for _ in range(3):
        cache.put(KEY, DATA)
        assert cache.get(KEY) is None


def test_the_folder_is_made_for_its_owner_alone(cache: Cache) -> None:
    cache.put(KEY, DATA)
    assert cache.directory is not None
    for path, mode in ((cache.directory, 0o700), (file_of(cache, KEY).parent, 0o700), (file_of(cache, KEY), 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777], ids=oct)
def test_a_folder_that_others_may_write_to_is_refused(cache: Cache, mode: int) -> None:
    cache.put(KEY, DATA)
    assert cache.directory is not None
    cache.directory.chmod(mode)
    message = warned(lambda: use(cache))
    assert f"not kept in {cache.directory}: others may write to it" in message
    assert "`chmod 700` closes it" in message
    assert (cache.clear(), file_of(cache, KEY).exists()) == ((0, 0), True)
    assert cache.info().problem.startswith("others may write to it")
    cache.directory.chmod(0o755)
    assert cache.get(KEY) == DATA


def test_a_folder_of_another_user_is_refused(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, DATA)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "it belongs to another user, and what is in it would run as you" in warned(lambda: use(cache))


def test_a_file_in_place_of_the_folder_costs_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert "it is not a folder" in warned(lambda: Cache(tmp_path / "file", 1000).get(KEY))
    assert "File exists" in warned(lambda: Cache(tmp_path / "file", 10_000).put(KEY, DATA))
    assert "Not a directory" in warned(lambda: use(Cache(tmp_path / "file" / "below", 10_000)))
    assert Cache(tmp_path / "file" / "below", 1000).info().problem == "Not a directory"


def test_a_folder_removed_under_our_hands_is_made_again(cache: Cache) -> None:
    cache.put(KEY, DATA)
    file_of(cache, KEY).unlink()
    file_of(cache, KEY).parent.rmdir()
    assert cache.directory is not None
    cache.directory.rmdir()
    assert cache.get(KEY) is None
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA


# The environment.


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment that says nothing but HOME."""
    for name in module._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch


@pytest.mark.parametrize(("system", "folder"), [("linux", ".cache"), ("darwin", "Library/Caches")])
def test_without_settings_it_is_where_the_system_keeps_caches(
    bare: pytest.MonkeyPatch, tmp_path: Path, system: str, folder: str
) -> None:
    bare.setattr(sys, "platform", system)
    assert (default().directory, default().limit) == (tmp_path / folder / "tileproof", 1 << 30)


def test_the_environment_is_read_again_when_it_changes(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = default()
    assert default() is before
    bare.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default().directory == tmp_path / "xdg" / "tileproof"
    bare.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "mine"))
    assert default().directory == tmp_path / "mine"
    bare.setenv("TILEPROOF_CACHE_LIMIT", "5")
    assert default().limit == 5
    bare.setenv("HOME", str(tmp_path / "elsewhere"))
    bare.setenv("TILEPROOF_CACHE_DIR", "~/kernels")
    assert default().directory == tmp_path / "elsewhere" / "kernels"


def test_a_relative_xdg_folder_is_ignored(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("XDG_CACHE_HOME", "caches")
    assert default().directory == tmp_path / ".cache" / "tileproof"


def test_a_relative_folder_stays_where_it_was_named(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.chdir(tmp_path)
    bare.setenv("TILEPROOF_CACHE_DIR", "kernels")
    cache = default()
    bare.chdir("/")
    assert cache.directory == tmp_path / "kernels"


@pytest.mark.parametrize("value", ["", "off", "OFF", " "])
def test_it_can_be_turned_off(bare: pytest.MonkeyPatch, value: str) -> None:
    bare.setenv("TILEPROOF_CACHE_DIR", value)
    assert default().directory is None
    use(default())


def test_without_a_home_there_is_no_cache_and_one_warning(bare: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    bare.setattr(Path, "home", homeless)
    assert "there is no home folder. TILEPROOF_CACHE_DIR names a folder" in warned(lambda: use(default()))
    assert default().directory is None


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("2GB", 2 * 10**9),
        ("2GiB", 2 << 30),
        ("1.5 gib", 3 << 29),
        ("500mb", 500 * 10**6),
        ("64K", 64_000),
        ("64Ki", 65_536),
        (" 1TB ", 10**12),
        ("100b", 100),
        ("123456", 123_456),
        ("0", 0),
        ("", DEFAULT_LIMIT),
    ],
)
def test_a_limit_is_a_size(bare: pytest.MonkeyPatch, text: str, limit: int) -> None:
    bare.setenv("TILEPROOF_CACHE_LIMIT", text)
    assert default().limit == limit


@pytest.mark.parametrize("text", ["lots", "-1", "2 GBs", "1e9", "GB", "1..5G", "٣GB", "9" * 19])
def test_a_limit_that_is_no_size_costs_a_warning(bare: pytest.MonkeyPatch, text: str) -> None:
    bare.setenv("TILEPROOF_CACHE_LIMIT", text)
    assert f"TILEPROOF_CACHE_LIMIT is `{text}`, which is not a size" in warned(default)
    assert default().limit == DEFAULT_LIMIT
