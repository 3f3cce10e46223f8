"""The kernel cache among processes: some are killed, some write at once, some have no room or no permission."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tileproof.compiler.cache import Cache, digest

HEAD = """
import os, signal, sys, warnings
from pathlib import Path
from tileproof.compiler.cache import Cache, digest
warnings.simplefilter("always")
"""
KEY, DATA = digest("one"), b"native code" * 100


def command(script: str, *arguments: object) -> list[str]:
    """What runs a script in a process of its own."""
    return [sys.executable, "-c", HEAD + dedent(script), *map(str, arguments)]


def child(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a script; its warnings and errors are in `stderr`."""
    return subprocess.run(command(script, *arguments), capture_output=True, text=True)


def drafts(folder: Path) -> list[Path]:
    return list(folder.rglob("*.tmp"))


def test_a_writer_killed_before_the_rename_changes_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1 << 20)
    cache.put(KEY, DATA)
    done = child(
        """
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        Cache(Path(sys.argv[1]), 1 << 20).put(sys.argv[2], b"newer" * 1000)
        """,
        tmp_path,
        KEY,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (len(drafts(tmp_path)), cache.get(KEY), cache.info().entries) == (1, DATA, 1)


def test_writers_killed_at_any_time_leave_every_entry_right(tmp_path: Path) -> None:
    """Twenty writers replace large entries until they are killed; none is ever missing, since it was there before."""
    done = child(
        """
        import random, time
        cache = Cache(Path(sys.argv[1]), 1 << 30)
        entries = {digest(n): bytes([n]) * (2 << 20) for n in range(4)}
        for key, data in entries.items():
            cache.put(key, data)
        pauses = random.Random(7)
        for _ in range(20):
            writer = os.fork()
            if writer == 0:
                for n in range(10_000):
                    cache.put(digest(n % 4), entries[digest(n % 4)])
                os._exit(1)
            time.sleep(pauses.uniform(0.001, 0.03))
            os.kill(writer, signal.SIGKILL)
            assert os.waitpid(writer, 0) == (writer, signal.SIGKILL)
            for key, data in entries.items():
                assert cache.get(key) == data
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    cache = Cache(tmp_path, 1 << 30)
    assert [cache.get(digest(n)) for n in range(4)] == [bytes([n]) * (2 << 20) for n in range(4)]


@pytest.mark.slow
def test_processes_that_put_get_evict_and_clear_at_once_see_right_bytes(tmp_path: Path) -> None:
    script = """
        import random
        warnings.simplefilter("error")
        choices = random.Random(int(sys.argv[2]))
        keys = [digest(n) for n in range(40)]
        cache = Cache(Path(sys.argv[1]), 60_000)
        for step in range(1500):
            n = choices.randrange(40)
            if choices.random() < 0.4:
                cache.put(keys[n], bytes([n]) * (100 * n))
            elif choices.random() < 0.005:
                cache.clear()
            else:
                assert cache.get(keys[n]) in (None, bytes([n]) * (100 * n))
        print(cache.info().hits)
        """
    workers = [
        subprocess.Popen(
            command(script, tmp_path / "shared", seed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for seed in range(4)
    ]
    for worker in workers:
        out, err = worker.communicate()
        assert (worker.returncode, err) == (0, "")
        assert int(out) > 100
    assert drafts(tmp_path) == []
    assert Cache(tmp_path / "shared", 60_000).info().bytes <= 2 * 60_000


def test_a_full_disk_costs_one_warning_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = child(
        """
        import resource
        cache = Cache(Path(sys.argv[1]), 1 << 30)
        cache.put(digest("small"), b"fits")
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        for n in range(3):
            cache.put(digest(n), bytes(100_000))
            assert cache.get(digest(n)) is None
        assert cache.get(digest("small")) == b"fits"
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr.count("CacheWarning:")) == (0, 1), done.stderr
    assert f"not kept in {tmp_path}: File too large" in done.stderr
    assert (drafts(tmp_path), Cache(tmp_path, 0).info().entries) == ([], 1)


def test_without_permission_there_is_one_warning_and_no_failure() -> None:
    """A process without the rights of root, to which permissions mean something."""
    done = child(
        """
        import tempfile
        if os.geteuid() == 0:
            os.seteuid(65534)
        with tempfile.TemporaryDirectory() as folder:
            cache = Cache(Path(folder, "kernels"), 1 << 20)
            cache.put(digest("old"), b"old")
            cache.put(digest("closed"), b"closed")
            (closed,) = cache.directory.glob(f"*/{digest('closed')[2:]}.tpk")
            closed.chmod(0)
            assert cache.get(digest("closed")) is None and not closed.exists()
            shut = [cache.directory, *cache.directory.iterdir()]
            for each in shut:
                each.chmod(0o500)
            for n in range(3):
                cache.put(digest(n), b"new")
                assert cache.get(digest(n)) is None
            assert cache.get(digest("old")) == b"old"
            assert cache.info().problem == "no permission to write"
            assert cache.clear() == (0, 0)
            cache.directory.chmod(0)
            assert cache.get(digest("old")) is None
            for each in shut:
                each.chmod(0o700)
        """
    )
    assert (done.returncode, done.stderr.count("CacheWarning:")) == (0, 1), done.stderr
    assert "Permission denied" in done.stderr
