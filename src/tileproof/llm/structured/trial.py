"""A child process that compiles grammars first, under limits of time, memory and stack that only a process has.

What a client sends may take minutes and gigabytes to compile, or overflow the stack. In the child it ends the child.
What the child has compiled takes this process about as much, and this process has more stack.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

from .grammar import Grammar, unusable
from .guidance import Vocabulary, compiled, follow, serialized, tokenizer_of

SECONDS: Final = 1.0
"""Of the processor, for a grammar."""
BYTES: Final = 128 << 20
"""Of memory, for a grammar."""
STACK: Final = 2 << 20
"""Bytes of stack in the child. Threads of this process have 8 MB, unless the system has another default."""
PATIENCE: Final = 60.0
"""Seconds by the clock until a child that neither answers nor ends is stopped."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A grammar that compiles."""

    text: str
    """In the words of llguidance."""
    nbytes: int
    """About what it takes when it is compiled."""


class Trial:
    """Compiles grammars in a child process, which starts when it is first needed. One thread uses it at a time."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._child: subprocess.Popen[bytes] | None = None
        self._is_fresh = True

    def start(self) -> None:
        """Starts the child, unless it runs."""
        if self._child is not None and self._child.poll() is None:
            return
        self.close()
        paths = os.pathsep.join(path for path in sys.path if path)
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths}, start_new_session=True,
        )  # fmt: skip
        self._is_fresh = True
        weakref.finalize(self, _end, self._child)
        assert self._child.stdin is not None
        pickle.dump(self._vocabulary, self._child.stdin)
        self._child.stdin.flush()
        if self._answer(self._child) is None:
            raise unusable("grammar", "the process that compiles grammars does not start", "see its error log")

    def run(self, grammar: Grammar) -> Passed:
        """Compiles a grammar; ModelError where that fails or takes too much.

        A child that has compiled others may have less memory left. What ends one that has is tried again in a new one.
        """
        self.start()
        was_fresh, self._is_fresh = self._is_fresh, False
        child = self._child
        assert child is not None
        assert child.stdin is not None
        answer = None
        with suppress(BrokenPipeError):
            child.stdin.write(json.dumps(asdict(grammar)).encode() + b"\n")
            child.stdin.flush()
            answer = self._answer(child)
        if answer is None:
            self.close()
            ended = child.returncode
            if not was_fresh and ended != -signal.SIGPROF:
                return self.run(grammar)
            if ended == -signal.SIGPROF:
                raise unusable(grammar.kind, f"it takes more than {SECONDS:g} s to compile")
            raise unusable(grammar.kind, f"it nests too deeply, or takes more than {BYTES >> 20} MB to compile")
        if "why" in answer:
            raise unusable(grammar.kind, answer["why"])
        return Passed(**answer)

    def close(self) -> None:
        """Ends the child."""
        if self._child is not None:
            _end(self._child)
            self._child = None

    @staticmethod
    def _answer(child: subprocess.Popen[bytes]) -> dict[str, Any] | None:
        """The next answer of the child; None where it ends, or takes longer than anyone waits."""
        assert child.stdout is not None
        if not select.select([child.stdout], [], [], PATIENCE)[0]:
            return None
        line = child.stdout.readline()
        answer: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return answer


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends a child, and waits until the system has forgotten it."""
    child.kill()
    with suppress(BrokenPipeError), child:  # which it may not have read to the end
        pass


# In the child.


def _serve() -> None:
    """Compiles grammars from the standard input until it ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    tokenizer = tokenizer_of(pickle.load(requests))

    def answer(document: dict[str, Any]) -> None:
        answers.write(json.dumps(document).encode() + b"\n")
        answers.flush()

    limit = _memory(0) + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer({})
    for line in requests:
        before = _memory(1)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        try:
            text = serialized(Grammar(**json.loads(line)))
            matcher = compiled(tokenizer, text)
            follow(matcher)
        except (ValueError, MemoryError) as error:
            found: dict[str, Any] = {"why": str(error) or f"it takes more than {BYTES >> 20} MB to compile"}
        else:
            found = asdict(Passed(text, max(_memory(1) - before, 0) + len(text)))
            del matcher
        signal.setitimer(signal.ITIMER_PROF, 0)
        answer(found)


def _memory(column: int) -> int:
    """Bytes of this process: of addresses (0), or in memory (1)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[column]) * resource.getpagesize()


if __name__ == "__main__":
    threading.stack_size(STACK)
    thread = threading.Thread(target=_serve)
    thread.start()
    thread.join()
