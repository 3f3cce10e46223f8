"""Many launches from many threads, in forked processes, and while the interpreter ends. Longer: `stress_runs.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    arguments = {**os.environ, "PYTHONPATH": path, **environment}
    return subprocess.run([sys.executable, *words], env=arguments, capture_output=True, text=True, timeout=300)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("pool", ["1", "3"])
def test_launches_from_many_threads_are_right(pool: str) -> None:
    done = run(str(TESTS / "fuzz" / "stress_runs.py"), "--launches", "800", TILEPROOF_THREADS=pool)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none wrong" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_forked_amid_launches_can_launch() -> None:
    done = run(str(TESTS / "fuzz" / "stress_runs.py"), "--launches", "600", "--forks", TILEPROOF_THREADS="3")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_forked_while_another_thread_compiles_can_compile(tmp_path: Path) -> None:
    code = """
import os, threading, numpy as np, tileproof as tp
from fuzz import stress_runs
from pathlib import Path
from support.source_files import load_file
text = '''
import tileproof as tp
from tileproof import In, Out, f32
@tp.kernel
def k(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for i in tp.parallel(N=16):
        y[i] = x[i] * FACTOR
'''
done, right = threading.Event(), []
def launch(factor):
    x, y = np.ones(20, np.float32), np.zeros(20, np.float32)
    path = Path(os.environ["TILEPROOF_CACHE_DIR"]) / f"kernel_{factor}.py"
    path.write_text(text.replace("FACTOR", str(factor)))
    with tp.backend("cpu"):
        load_file(path).k(y, x)
    assert (y == factor).all()
def go():
    try:
        for factor in range(2, 40):
            launch(factor)
        right.append(True)
    finally:
        done.set()
launch(1)
thread = threading.Thread(target=go)
thread.start()
number = 100
while not done.is_set():
    number += 1
    stress_runs.forked(lambda: launch(number))
thread.join()
assert right
"""
    done = run("-c", code, TILEPROOF_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_printing_launches_lose_no_line() -> None:
    done = run("-c", "from fuzz import stress_runs; stress_runs.prints(20)", TILEPROOF_THREADS="3")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_interpreter_can_end_while_a_thread_launches() -> None:
    code = """
import threading, time, tileproof as tp
from fuzz import stress_runs
works = stress_runs.works()
started = threading.Event()
def go():
    with tp.backend("cpu"):
        while True:
            for work in works:
                work()
            started.set()
threads = [threading.Thread(target=go, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
started.wait()
print("ends")
"""
    for _ in range(3):
        done = run("-c", code, TILEPROOF_THREADS="3")
        assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr
