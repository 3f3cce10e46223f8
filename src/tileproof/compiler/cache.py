"""Compiled kernels kept on disk, so that a process finds what an earlier one compiled.

What the cache promises, whatever happens to its files:

- *Right or nothing.* A file says whose it is, how long it is and what its bytes add up to. One that is not exactly what
  was put under the key is a miss, and is removed.
- *Whole or nothing.* An entry is written next to its place and then renamed into it, so processes that write, read and
  evict at once see whole entries. A process that is killed leaves at most a draft, which nobody reads and which is
  swept later. Nothing is forced to the disk: what a power failure leaves half-written is not right, so it is a miss.
- *Never in the way.* A folder that cannot be used costs a warning, once, and time to compile; never an error.
- *Yours alone.* Entries are native code that runs as you. A folder of another user, or one that others may write to,
  is not used.
- *Bounded.* Beyond the limit, what was not used for longest goes first.

The cache of the process reads *layers* before its folder: entries that a bundle brought, which are only read.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import struct
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.values import bytes_of


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file in place of what lies there; if something fails, that is still there.

    A device or a pipe, such as /dev/stdout, is written to: a file must not take its place.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


DEFAULT_LIMIT = 1 << 30
"""Bytes of all entries together, where TILEPROOF_CACHE_LIMIT does not say."""

_HEADER = struct.Struct("<8sI32sQ32s")
_MAGIC = b"tileproo"
_FORMAT = 1
_KEY = re.compile(r"[0-9a-f]{64}")
_FOLDER = re.compile(r"[0-9a-f]{2}")
_FOLDERS = 256
_ENTRY = re.compile(r"[0-9a-f]{62}\.tpk")
_DRAFT = re.compile(r"draft-[0-9a-f]{24}\.tmp")

_STALE = 3600.0
"""Seconds after which a draft has no writer any more."""
_RECENT = 60.0
"""A use is recorded if the last recorded one is longer ago than these seconds: most hits write nothing."""
_SLACK = 8
"""An eviction frees one part in so many beyond what it must, so that the next entries need none."""
_NOT_ITS_FAULT = (errno.ENOENT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Why an entry cannot be opened though it may be a good one: it is not there, or the system ran out of something."""
_HEAD = 256
"""Bytes at the start of an entry, that name its kind."""
_VARIABLES = ("TILEPROOF_CACHE_DIR", "TILEPROOF_CACHE_LIMIT", "XDG_CACHE_HOME", "HOME")


class CacheWarning(UserWarning):
    """The cache, or a setting of it, cannot be used; kernels are compiled instead."""


@dataclass(frozen=True, slots=True)
class Info:
    """How a cache is."""

    path: Path | None
    entries: int
    bytes: int
    limit: int
    hits: int
    """Of this process, as are the misses."""
    misses: int
    problem: str
    """Why nothing is kept; empty if all is well."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the cache: an entry or a draft."""

    path: str
    size: int
    used: float
    is_entry: bool


class Cache:
    """Bytes by key, in a folder; without a folder it keeps nothing. Keys are what `digest` gives."""

    def __init__(
        self, directory: Path | None, limit: int = DEFAULT_LIMIT, layers: Sequence[Mapping[str, bytes]] = ()
    ) -> None:
        self.directory = None if directory is None else Path(os.path.abspath(directory))
        self.limit = limit
        self._layers = layers
        self._hits = 0
        self._misses = 0
        self._stored: int | None = None
        """About how many bytes all entries have; None before the first put."""
        self._unseen = 0
        """Bytes this process put since then. Others put too, so `_stored` is found anew now and then."""

    def get(self, key: str) -> bytes | None:
        """What was put under a key, or None."""
        data = next((layer[key] for layer in self._layers if key in layer), None)
        if data is None:
            data = self._read(key)
        if data is None:
            self._misses += 1
        else:
            self._hits += 1
            _note(key, data)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keeps bytes under a key, if the folder can be used and the limit leaves room for them."""
        folder, name = _place(key)
        _note(key, data)
        size = _HEADER.size + len(data)
        if self.directory is None or size > self.limit:
            return
        path = self.directory / folder / name
        if problem := _prepare(self.directory) or _write(path, _header(key, data), data):
            _warn_unused(self.directory, problem)
        else:
            self._make_room(str(path), size)

    def info(self) -> Info:
        """The folder, how much is in it, and how this process fared. Does not warn: `problem` tells."""
        sizes = [file.size for file in self._files() if file.is_entry]
        return Info(self.directory, len(sizes), sum(sizes), self.limit, self._hits, self._misses, self._problem())

    def heads(self) -> Iterator[tuple[bytes, int]]:
        """Of each entry the first of its bytes, and how many it has; only to tell what is kept."""
        for file in self._files():
            if file.is_entry:
                with suppress(OSError), _opened(file.path) as number:
                    yield os.read(number, _HEADER.size + _HEAD)[_HEADER.size :], file.size

    def clear(self, keep: Iterable[str] = ()) -> tuple[int, int]:
        """Removes every draft, and every entry but some; gives how many entries went, and their bytes."""
        entries = total = 0
        kept = {f"{self.directory}/{folder}/{name}" for folder, name in map(_place, keep)}
        for file in self._files():
            if file.path not in kept and _remove(file.path) and file.is_entry:
                entries += 1
                total += file.size
        return entries, total

    def _problem(self) -> str:
        if self.directory is None:
            return "TILEPROOF_CACHE_DIR turns it off, or there is no home folder"
        if problem := _refusal(self.directory):
            return problem
        existing = next(parent for parent in (self.directory, *self.directory.parents) if os.path.lexists(parent))
        effective = os.access in os.supports_effective_ids
        can_write = os.access(existing, os.W_OK | os.X_OK, effective_ids=effective)
        return "" if can_write else "no permission to write"

    def _read(self, key: str) -> bytes | None:
        folder, name = _place(key)
        if self.directory is None:
            return None
        if problem := _refusal(self.directory):
            _warn_unused(self.directory, problem)
            return None
        path = f"{self.directory}/{folder}/{name}"
        try:
            with _opened(path) as number:
                data = _checked(number, key)
        except OSError as error:
            if error.errno in _NOT_ITS_FAULT:
                return None
            data = None
        if data is None:
            _remove(path)
        return data

    def _make_room(self, written: str, size: int) -> None:
        """Evicts what was not used for longest until the limit holds, but not what was just written."""
        if self._stored is None:
            # Keys spread evenly, so the folder of this one stands for all: a full cache is not listed for one kernel.
            self._stored = _FOLDERS * sum(entry.size for entry in _entries(_files_in(os.path.dirname(written))))
        else:
            self._stored += size
        self._unseen += size
        if self._stored <= self.limit and self._unseen <= self.limit // _SLACK:
            return
        entries = sorted(_entries(self._files()), key=lambda entry: entry.used)
        total = sum(entry.size for entry in entries)
        wanted = total if total <= self.limit else self.limit - self.limit // _SLACK
        for entry in entries:
            if total <= wanted:
                break
            if entry.path != written:
                _remove(entry.path)  # or another process has, which is as good
                total -= entry.size
        self._stored, self._unseen = total, 0

    def _files(self) -> Iterator[_File]:
        """All files that a cache made, and no others: the folder may hold more than the cache."""
        if self.directory is None or _refusal(self.directory):
            return
        for folder in _listed(str(self.directory)):
            if _FOLDER.fullmatch(folder.name):
                yield from _files_in(folder.path)


def _files_in(folder: str) -> Iterator[_File]:
    """The entries and drafts in one of the folders."""
    for file in _listed(folder):
        is_entry = _ENTRY.fullmatch(file.name) is not None
        if is_entry or _DRAFT.fullmatch(file.name):
            with suppress(OSError):
                status = file.stat(follow_symlinks=False)
                yield _File(file.path, status.st_size, status.st_mtime, is_entry)


def _entries(files: Iterator[_File]) -> Iterator[_File]:
    """The entries among some files; drafts that no process can still be writing are removed."""
    now = time.time()
    for file in files:
        if file.is_entry:
            yield file
        elif now - file.used > _STALE:
            _remove(file.path)


def _place(key: str) -> tuple[str, str]:
    """Folder and name of the file for a key."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"`{key}` is not a key of the cache: `digest` makes them")
    return key[:2], f"{key[2:]}.tpk"


# Files.


def _header(key: str, data: bytes) -> bytes:
    """What stands before the bytes of an entry. Compared as a whole, so a change of any bit is seen."""
    return _HEADER.pack(_MAGIC, _FORMAT, bytes.fromhex(key), len(data), sha256(data).digest())


def entry_bytes(key: str, data: bytes) -> bytes:
    """An entry as its file is: the bytes, after what they are verified by."""
    return _header(key, data) + data


def parse_entry(entry: bytes) -> tuple[str, bytes] | None:
    """The key and the bytes of an entry, if it is exactly what `entry_bytes` gives."""
    header, data = entry[: _HEADER.size], entry[_HEADER.size :]
    key = header[12:44].hex()
    return (key, data) if len(key) == 64 and header == _header(key, data) else None


def file_of(key: str) -> str:
    """The file of an entry, as it is named from the folder of the cache."""
    return "/".join(_place(key))


def _prepare(directory: Path) -> str:
    """Makes the folder where it is not there yet; gives what is wrong with it."""
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return _refusal(directory)


def _write(path: Path, *parts: bytes) -> str:
    """Writes a file; gives what went wrong."""
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        _replace(path, *parts)
    except FileNotFoundError:
        pass  # the folder was cleared under our hands, which is its owner's right
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _replace(path: Path, *parts: bytes) -> None:
    """Makes a file under another name, then gives it its own."""
    draft = f"{path.parent}/draft-{os.urandom(12).hex()}.tmp"
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(number, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(draft, path)
    except BaseException:
        _remove(draft)
        raise


@contextmanager
def _opened(path: str) -> Iterator[int]:
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe, which is no entry, would wait for its writer
    try:
        yield number
    finally:
        os.close(number)


def _checked(number: int, key: str) -> bytes | None:
    """The bytes of an open entry if it is right; its use is recorded."""
    status = os.fstat(number)
    size = status.st_size - _HEADER.size
    if size < 0 or _of_others(status):
        return None
    with open(number, "rb", closefd=False) as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or _HEADER.unpack(header)[:4] != (_MAGIC, _FORMAT, bytes.fromhex(key), size):
            return None  # not worth reading: a file of any length may stand here
        data = file.read(size)
    if header != _header(key, data):
        return None
    if abs(time.time() - status.st_mtime) > _RECENT:
        with suppress(OSError):
            os.utime(number)
    return data


def _remove(path: str) -> bool:
    """Removes a file or an empty folder; says whether it did."""
    try:
        os.unlink(path)
    except OSError:
        try:
            os.rmdir(path)
        except OSError:
            return False
    return True


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _of_others(status: os.stat_result) -> bool:
    return status.st_uid != os.geteuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _refusal(directory: Path) -> str:
    """Why a folder must not be used; empty if it may, or is not there yet."""
    try:
        status = os.stat(directory)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if status.st_uid != os.geteuid():
        return "it belongs to another user, and what is in it would run as you"
    if _of_others(status):
        return "others may write to it, and what is in it would run as you; `chmod 700` closes it"
    return ""


def _warn_unused(directory: Path, problem: str) -> None:
    _warn(
        f"compiled kernels are not kept in {directory}: {problem}. "
        "TILEPROOF_CACHE_DIR names another folder; `off` does without one."
    )


@lru_cache(maxsize=64)
def _warn(message: str) -> None:
    """Warns once in a process."""
    warnings.warn(message, CacheWarning, stacklevel=2)


# The cache of the process.


def default() -> Cache:
    """The cache that the environment names: the same object until the environment changes."""
    return _cache_for(*(os.environ.get(name) for name in _VARIABLES))


@lru_cache(maxsize=8)
def _cache_for(directory: str | None, limit: str | None, *places: str | None) -> Cache:
    """The cache for the values of the variables; `places`, which `_home_cache` reads, tell settings apart."""
    return Cache(_directory(directory), _limit(limit), _layers)


_layers: list[Mapping[str, bytes]] = []
"""What the cache of the process asks before its folder, latest first; `add_layer` alone writes it."""
_records: list[dict[str, bytes]] = []
"""Those of `recorded` that are under way."""


def add_layer(entries: Mapping[str, bytes]) -> None:
    """Has the cache of the process find these entries, before any of its folder."""
    if not any(layer is entries for layer in _layers):
        _layers.insert(0, entries)


@contextmanager
def recorded() -> Iterator[dict[str, bytes]]:
    """All entries that are found or put while the block runs: what another process would need to do the same."""
    record: dict[str, bytes] = {}
    _records.append(record)
    try:
        yield record
    finally:
        _records[:] = [other for other in _records if other is not record]


def _note(key: str, data: bytes) -> None:
    for record in _records:
        record[key] = data


def _directory(named: str | None) -> Path | None:
    if named is not None and named.strip().lower() in ("", "off"):
        return None
    try:
        return Path(named).expanduser() if named is not None else _home_cache()
    except RuntimeError:
        _warn("compiled kernels are not kept: there is no home folder. TILEPROOF_CACHE_DIR names a folder for them.")
        return None


def _home_cache() -> Path:
    """Where the system wants caches. XDG_CACHE_HOME counts if it is absolute, as its specification says."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return base / "tileproof"


def _limit(text: str | None) -> int:
    """Bytes meant by `2GB`, `1.5 GiB` or `1000000`."""
    if text is None or not text.strip():
        return DEFAULT_LIMIT
    limit = bytes_of(text)
    if limit is None:
        _warn(f"TILEPROOF_CACHE_LIMIT is `{text}`, which is not a size such as 500MB or 2GiB; the limit is 1 GiB.")
        return DEFAULT_LIMIT
    return limit


# Keys.

_PARTS = (type(None), bool, int, float, str, bytes, tuple, dict)


def digest(*parts: object) -> str:
    """A key made of all that decides what is kept: equal parts, and only those, give equal keys.

    Parts are str, bytes, int, float, bool, None, and tuples and dicts of such. Types count (`True` is not `1`), floats
    count by their bits, the order of a dict does not.

        key = digest("cpu", text_of_the_ir, ("avx2", "fma"), {"B": 1024})
    """
    return sha256(_encoded(parts)).hexdigest()


def _encoded(part: object) -> bytes:
    """A part as bytes: a letter for its type, the length, the content; so no two parts, or rows of them, are alike."""
    if type(part) not in _PARTS:  # a subclass, such as an Enum or a numpy scalar, means more than its bytes say
        raise TypeError(f"a key cannot be made of a {type(part).__name__}")
    content = b""
    match part:
        case bool():
            letter = b"t" if part else b"f"
        case int():
            letter, content = b"i", part.to_bytes(part.bit_length() // 8 + 1, "little", signed=True)
        case float():
            letter, content = b"d", struct.pack("<d", part)
        case str():
            letter, content = b"s", part.encode("utf-8", "surrogatepass")
        case bytes():
            letter, content = b"b", part
        case tuple():
            letter, content = b"(", b"".join(map(_encoded, part))
        case dict():
            letter, content = b"{", b"".join(sorted(map(_encoded, part.items())))
        case _:
            letter = b"n"
    return letter + struct.pack("<Q", len(content)) + content
