"""Attacks: functions that try to break a promise, each in a process of its own, where a crash ends nothing else.

`@attack` makes a function a test. A server imports the libraries once and forks a process for each attack, so that an
attack takes milliseconds to begin. What the function prints and raises, and the signal that ends it, fail the test.
An attack runs a few rounds; with TILEPROOF_ATTACK_SECONDS set, it runs for so long.
"""

from __future__ import annotations

import atexit
import faulthandler
import functools
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

SECONDS: Final = float(os.environ.get("TILEPROOF_ATTACK_SECONDS", "0"))
_HANG: Final = 120
"""After so many seconds more than it was given an attack is taken to hang."""
_MOST: Final = 2000
"""So many times more rounds than were asked for: on a busy machine the other side may get no turn for seconds."""
_PROCESSORS: Final = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def attack(body: Callable[..., None]) -> Callable[..., None]:
    """A test that runs the function in a process of its own; its arguments are texts and numbers."""

    @functools.wraps(body)
    def test(**arguments: Any) -> None:
        __tracebackhide__ = True
        status, output = _server().run(body.__code__.co_filename, body.__name__, arguments)
        if status < 0:
            pytest.fail(f"the attack was ended by {signal.Signals(-status).name}\n{output}", pytrace=False)
        if status:
            pytest.fail(output, pytrace=False)

    return test


class Rounds:
    """The rounds of an attack, and how they ended.

    There are more of them than asked for, up to a limit, where no launch came to its end yet, or where there were fewer
    than `each` writes for each that was asked for: the other side may be without a processor for a while.
    """

    def __init__(self, count: int, writes: Callable[[], int] | None = None, each: int = 1) -> None:
        self.count, self._writes, self._each = count, writes, each
        self.done = 0
        """How many went well."""

    def __iter__(self) -> Iterator[int]:
        end = time.monotonic() + SECONDS
        number = 0
        while number < self.count or time.monotonic() < end:
            yield number
            number += 1
        while not (self.done and self._has_written(self._each * self.count)) and number < _MOST * self.count:
            yield number
            number += 1
        assert self.done, f"none of {number} launches came to its end"
        assert self._has_written(1), f"nothing was written during {number} launches"

    def _has_written(self, count: int) -> bool:
        return self._writes is None or self._writes() >= count

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """A launch and what is demanded of its results: an error of ours is as good."""
        from tileproof import KernelError, TileproofError

        try:
            yield
        except KernelError:
            raise
        except TileproofError:
            return
        self.done += 1


def move_away() -> None:
    """Moves this thread from the processor of the thread that launches: or they would seldom run at once."""
    others = _PROCESSORS - os.sched_getaffinity(0) if _PROCESSORS else None
    if others:
        os.sched_setaffinity(0, others)


class _Server:
    """A process that runs attacks, one after another, in processes that it forks off."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from fuzz.attacks import serve; serve()"], cwd=Path(__file__).parents[1], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        atexit.register(self._end)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def run(self, path: str, name: str, arguments: dict[str, Any]) -> tuple[int, str]:
        """How an attack ended: its status, below 0 for a signal, and what it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([path, name, arguments]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the process that runs attacks ended"
        status, output = json.loads(answer)
        return status, output


@functools.cache
def _server() -> _Server:
    return _Server()


def serve() -> None:
    """Runs the attacks that are named on standard input."""
    os.environ["TILEPROOF_THREADS"] = "1"  # other processors are the attackers'
    for name in ("numpy", "tileproof", "tileproof.runtime.launch.cpu_launches", "torch"):
        if importlib.util.find_spec(name):
            importlib.import_module(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as output:
            child = os.fork()
            if not child:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                _run(*json.loads(line))
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            output.seek(0)
            print(json.dumps([status, output.read()]), flush=True)


def _run(path: str, name: str, arguments: dict[str, Any]) -> None:
    """Does an attack, and ends the process."""
    if _PROCESSORS:
        os.sched_setaffinity(0, {random.choice(tuple(_PROCESSORS))})
    faulthandler.enable()
    faulthandler.dump_traceback_later(SECONDS + _HANG, exit=True)
    sys.setswitchinterval(1e-5)
    sys.path.insert(0, str(Path(path).parent))
    status = 1
    try:
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        getattr(module, name).__wrapped__(**arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
