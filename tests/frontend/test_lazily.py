"""An attribute that is computed once, also in a process that was forked while another thread computed it."""

import os
import threading

import pytest

from tileproof.frontend.signature import lazily


class Thing:
    """Counts how often its attribute is computed."""

    def __init__(self) -> None:
        self.times = 0
        self.started, self.goes_on = threading.Event(), threading.Event()
        self.goes_on.set()

    @lazily
    def answer(self) -> int:
        """Forty-two."""
        self.times += 1
        self.started.set()
        assert self.goes_on.wait(10)
        return 42


def test_it_is_computed_when_asked_for_and_once() -> None:
    thing = Thing()
    assert thing.times == 0
    assert (thing.answer, thing.answer, thing.times) == (42, 42, 1)
    assert Thing.answer.__doc__ == "Forty-two."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_does_not_wait_for_a_thread_it_has_not() -> None:
    busy = Thing()
    busy.goes_on.clear()
    thread = threading.Thread(target=lambda: busy.answer)
    thread.start()
    assert busy.started.wait(10)
    child = os.fork()
    if child == 0:
        signal = 3
        try:
            signal = 0 if Thing().answer == 42 else 1
        finally:
            os._exit(signal)
    busy.goes_on.set()
    thread.join()
    deadline = threading.Event()
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        deadline.wait(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked process waits for ever")
