"""Native code on disk: right among processes that compile, die or cannot write, and used only where its facts hold."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.source_files import load_text
from tileproof import In, Out, f32
from tileproof.backends.cpu.codegen import program
from tileproof.backends.cpu.device import loaded_code as running
from tileproof.backends.cpu.target import VARIABLE, host
from tileproof.compiler.cache import Cache
from tileproof.runtime.launch import cpu_launches, launch

KERNELS = '''
import os, sys, time
import numpy as np
import tileproof as tp
from tileproof import In, Out, f32, i32

@tp.kernel
def added(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=8):
        y[n] = x[n] + 1.0

@tp.kernel
def looked_up(y: Out[f32, "N"], x: In[f32, "N"], at: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[at[n]]

@tp.kernel
def product(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"]) -> None:
    for i, j in tp.parallel(M=8, N=16):
        s = tp.zeros((i, j))
        for k in tp.tiles(K=8):
            s = tp.mma(a[i, k], b[k, j], s)
        y[i, j] = s

def check() -> None:
    """Every kernel gives what numpy gives."""
    x = np.arange(20, dtype=np.float32)
    y = np.zeros(20, np.float32)
    added(y, x)
    assert (y == x + 1).all(), y
    looked_up(y, x, np.arange(20, dtype=np.int32)[::-1].copy())
    assert (y == x[::-1]).all(), y
    try:
        looked_up(y, x, np.arange(1, 21, dtype=np.int32))
    except tp.OutOfBounds as error:
        assert "n=19" in str(error) and "y[n] = x[at[n]]" in str(error), error
    else:
        raise AssertionError("nothing was raised")
    a = np.arange(40 * 9, dtype=np.float32).reshape(40, 9) % 7
    b = np.arange(9 * 33, dtype=np.float32).reshape(9, 33) % 5
    z = np.zeros((40, 33), np.float32)
    product(z, a, b)
    assert (z == a @ b).all(), z
'''


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "kept_kernels.py").write_text(KERNELS)
    return tmp_path


def started(folder: Path, code: str, cache: Path, *arguments: object) -> subprocess.Popen[str]:
    """A process that runs `code` with the kernels at hand."""
    settings = {"TILEPROOF_CACHE_DIR": str(cache), "TILEPROOF_BACKEND": "cpu", "TILEPROOF_VERIFY": "", "PYTHONPATH": ""}
    roots = os.pathsep.join([str(folder), str(Path(tp.__file__).parents[1])])
    return subprocess.Popen(
        [sys.executable, "-c", f"from kept_kernels import *\n{code}", *map(str, arguments)],
        env={**os.environ, **settings, "PYTHONPATH": roots}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def errors_of(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=120)
    return errors if process.returncode == 0 else f"{process.returncode}: {errors}"


def assert_all_are_right(cache: Path) -> None:
    """Every file is an entry, whole and under its key."""
    kept = Cache(cache)
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert files != []
    for path in files:
        assert path.suffix == ".tpk"
        assert kept.get(path.parent.name + path.stem) is not None


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once(script: Path) -> None:
    code = """
open(sys.argv[1] + str(os.getpid()), "w").close()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.001)
check()
"""
    here, go = script / "here", script / "go"
    here.mkdir()
    workers = [started(script, code, script / "cache", f"{here}/", go) for _ in range(4)]
    while len(list(here.iterdir())) < 4:
        assert all(worker.poll() is None for worker in workers), [errors_of(worker) for worker in workers]
        time.sleep(0.005)
    go.touch()
    assert [errors_of(worker) for worker in workers] == [""] * 4
    assert_all_are_right(script / "cache")
    before = sorted((script / "cache").rglob("*.tpk"))
    assert errors_of(started(script, "check()", script / "cache")) == ""
    assert sorted((script / "cache").rglob("*.tpk")) == before


@pytest.mark.slow
def test_processes_killed_while_they_compile(script: Path) -> None:
    """Each finds what those before it left, compiles the rest, and is killed somewhere in between."""
    pauses, killed = random.Random(5), 0
    for number in range(9):
        if number % 3 == 0:
            Cache(script / "cache").clear()
        process = started(script, 'print("ready", flush=True)\ncheck()', script / "cache")
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(pauses.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert errors == ""
        killed += process.returncode == -signal.SIGKILL
    assert killed > 0
    entries = list((script / "cache").rglob("*.tpk"))
    kept = Cache(script / "cache")
    assert [kept.get(path.parent.name + path.stem) is not None for path in entries] == [True] * len(entries)
    assert errors_of(started(script, "check()\ncheck()", script / "cache")) == ""


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda data: data[: len(data) // 2],
    "a bit": lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
    "zeros": lambda data: bytes(len(data)),
}


def test_damaged_code_is_compiled_anew(script: Path) -> None:
    cache = script / "cache"
    assert errors_of(started(script, "check()", cache)) == ""
    whole = {path: path.read_bytes() for path in sorted(cache.rglob("*.tpk"))}
    assert len(whole) >= len(DAMAGE)
    for (path, data), damaged in zip(whole.items(), cycle(DAMAGE.values())):
        path.write_bytes(damaged(data))
    assert errors_of(started(script, "check()", cache)) == ""
    assert {path.name for path in cache.rglob("*.tpk")} == {path.name for path in whole}
    assert_all_are_right(cache)


@pytest.mark.slow
def test_a_disk_that_is_full(script: Path) -> None:
    code = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\ncheck()\ncheck()"
    errors = errors_of(started(script, code, script / "cache"))
    assert (errors.count("CacheWarning:"), errors.count("Traceback")) == (1, 0), errors
    assert not list((script / "cache").rglob("*.tmp"))
    assert errors_of(started(script, "check()", script / "cache")) == ""


def test_a_folder_that_cannot_be_written(script: Path) -> None:
    file = script / "file"
    file.write_text("")
    errors = errors_of(started(script, "check()\ncheck()", file / "cache"))
    assert (errors.count("CacheWarning:"), errors.count("Traceback")) == (1, 0), errors


# Within one process.


@tp.kernel
def shared(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int, N: int) -> None:
    for i in tp.parallel(M=4):
        y[i, :] = a[i, :] @ b[:, :]


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    shared.forget()
    with tp.backend("cpu"):
        yield


def multiplied(m: int) -> running.Code:
    """Launches the product with so many rows; gives the code that ran, the first of its kind in this kernel."""
    random_ = np.random.default_rng(m)
    a, b = (random_.integers(-9, 9, shape).astype(np.float32) for shape in ((m, 8), (8, 16)))
    y = np.full((m, 16), 77, np.float32)
    before = set(loaded(shared))
    shared(y, a, b)
    np.testing.assert_array_equal(y, a @ b)
    (result,) = set(loaded(shared)) - before
    return result.code


def loaded(kernel: tp.Kernel) -> list[running.Loaded]:
    proved = launch._proved.of(kernel).values()
    return [each for result in proved for each in cpu_launches._loaded_ones.of(result).values()]


@pytest.mark.parametrize("order", [(4, 64), (64, 4)])
def test_code_that_packs_beforehand_is_kept_apart(order: tuple[int, int], cpu: None) -> None:
    """One program needs nothing packed for others; sixteen do. All other facts of the launches are the same."""
    assert {m: len(multiplied(m).packs) for m in order} == {4: 0, 64: 1}


def test_code_for_one_processor_is_not_run_as_another(cpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [multiplied(64).name]
    monkeypatch.setenv(VARIABLE, "neon" if host().is_arm else "sse2")
    names.append(multiplied(64).name)
    assert names[0] != names[1]


def test_kernels_of_one_text_share_code_but_not_their_places(cpu: None) -> None:
    """Loaded once; each reports where it was written itself."""
    modules = [load_text(KERNELS) for _ in range(2)]
    x, at = np.ones(5, np.float32), np.array([0, 1, 5, 0, 0], np.int32)
    files, codes = [], []
    for module in modules:
        for _ in range(2):
            with pytest.raises(tp.OutOfBounds) as caught:
                module.looked_up(np.zeros(5, np.float32), x, at)
            (diagnostic,) = caught.value.diagnostics
            assert diagnostic.span is not None
            files.append(diagnostic.span.source.name)
        codes += [each.main for each in loaded(module.looked_up)]
    assert files == [module.__file__ for module in modules for _ in range(2)]
    assert len(codes) == 2
    assert codes[0] == codes[1]


@pytest.mark.parametrize("is_same", [False, True])
def test_a_launch_that_comes_while_another_is_compiled(
    is_same: bool, cpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of a handler of a signal, on the same thread."""
    module = load_text(KERNELS.replace("+ 1.0", f"+ {1.5 + is_same}"))  # which nobody has compiled
    x, y, z = np.ones(20, np.float32), np.zeros(20, np.float32), np.zeros(20, np.float32)
    real, came = program.compile_kernel, list[bool]()

    def handle() -> None:
        if is_same:
            module.added(z, x)
        else:
            module.looked_up(z, x, np.zeros(20, np.int32))

    def compile_kernel(*args: Any) -> running.Code:
        if not came:
            came.append(True)
            handle()
        return real(*args)

    monkeypatch.setattr(program, "compile_kernel", compile_kernel)
    thread = threading.Thread(target=lambda: module.added(y, x), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert came == [True]
    assert (z == (x + 1.5 + is_same if is_same else x)).all()
    assert (y == x + 1.5 + is_same).all()
