"""Which backend a launch runs on: the block says, else the environment, else the default; and what is no backend."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Out, f32
from tileproof.backends.interpreter import InterpreterBackend
from tileproof.diagnostics import Code, Diagnostic
from tileproof.runtime.device.host_device import CpuBackend
from tileproof.runtime.launch.backend_choice import BACKENDS, DEFAULT, VARIABLE, current


@pytest.fixture(autouse=True)
def nobody_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may themselves run under a chosen backend."""
    monkeypatch.delenv(VARIABLE, raising=False)


def rejection(ask: Callable[[], Any]) -> Diagnostic:
    """The one finding that asking raises."""
    with pytest.raises(tp.LaunchError) as caught:
        ask()
    (finding,) = caught.value.diagnostics
    assert finding.code is Code.NO_BACKEND
    return finding


def enter(name: Any) -> None:
    with tp.backend(name):
        pytest.fail("the block was entered")


def test_the_default_is_a_backend() -> None:
    assert current() == DEFAULT
    assert DEFAULT in BACKENDS


@pytest.mark.parametrize("name", BACKENDS)
def test_a_block_chooses(name: str) -> None:
    with tp.backend(name):
        assert current() == name
    assert current() == DEFAULT


def test_the_innermost_block_counts() -> None:
    with tp.backend("cpu"):
        with tp.backend("interpreter"):
            assert current() == "interpreter"
        assert current() == "cpu"


def test_a_block_that_raises_gives_the_choice_back() -> None:
    with tp.backend("interpreter"):
        with pytest.raises(ZeroDivisionError), tp.backend("cpu"):
            raise ZeroDivisionError
        assert current() == "interpreter"


def test_a_block_binds_its_own_context_only() -> None:
    before = copy_context()
    other = next(name for name in BACKENDS if name != DEFAULT)
    with tp.backend(other):
        assert before.run(current) == DEFAULT


@pytest.mark.parametrize("name", BACKENDS)
def test_the_environment_chooses_for_launches_outside_any_block(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, name)
    assert current() == name
    for inner in BACKENDS:
        with tp.backend(inner):
            assert current() == inner


def test_the_environment_may_change_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cpu", "interpreter", "cpu"):
        monkeypatch.setenv(VARIABLE, name)
        assert current() == name
    monkeypatch.delenv(VARIABLE)
    assert current() == DEFAULT


def test_an_empty_variable_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert current() == DEFAULT


def test_a_block_makes_a_wrong_variable_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "banana")
    with tp.backend("interpreter"):
        assert current() == "interpreter"


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("interpretr", 'did you mean tp.backend("interpreter")?'),
        ("CPU", 'did you mean tp.backend("cpu")?'),
        (" cpu", 'did you mean tp.backend("cpu")?'),
        ("cudaa", 'did you mean tp.backend("cuda")?'),
        ("banana", 'write tp.backend("auto")'),
        ("", 'write tp.backend("auto")'),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, help: str) -> None:
    finding = rejection(lambda: enter(name))
    assert (finding.message, finding.help) == (f"there is no backend {name!r}", help)
    assert finding.notes == ("backends here: auto, cpu, interpreter, cuda",)


def test_a_wrong_variable_is_named_at_every_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "interpreterr")
    for _ in range(2):
        finding = rejection(current)
        assert finding.message == "there is no backend 'interpreterr'"
        assert finding.notes[0] == "the environment variable TILEPROOF_BACKEND selects it"
        assert finding.help == "did you mean TILEPROOF_BACKEND=interpreter?"


def test_cuda_takes_no_arguments_of_the_host() -> None:
    x = np.ones(3, np.float32)
    with tp.backend("cuda"), pytest.raises(tp.LaunchError) as caught:
        double(np.empty_like(x), x)
    (finding,) = caught.value.diagnostics
    assert finding.code is Code.DEVICES_DIFFER
    assert finding.message == "the backend cuda was chosen, and the arguments of `double` are on the CPU"


@pytest.mark.parametrize("name", [None, 3, b"cpu"])
def test_a_backend_is_named_by_a_text(name: Any) -> None:
    with pytest.raises(TypeError, match="a backend is named by a text, not by"):
        enter(name)


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i] * 2


def test_a_launch_runs_on_the_chosen_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    for backend in (InterpreterBackend, CpuBackend):
        monkeypatch.setattr(backend, "compile", lambda self, *_: lambda *_: ran.append(type(self).__name__))
    x = np.ones(3, np.float32)
    with tp.backend("cpu"):
        double(np.empty_like(x), x)
    monkeypatch.setenv(VARIABLE, "interpreter")
    double(np.empty_like(x), x)
    assert ran == ["CpuBackend", "InterpreterBackend"]


def test_a_launch_under_a_wrong_variable_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "banana")
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    rejection(lambda: double(y, x))
    assert not y.any()
