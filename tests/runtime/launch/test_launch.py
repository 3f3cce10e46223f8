"""A launch is four calls in order, and none after the one that rejects it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Out, f32
from tileproof.diagnostics.codes import Code
from tileproof.runtime.device.host_device import HostDevice
from tileproof.runtime.launch import launch

Calls = list[str]
X = np.arange(64, dtype=np.float32)


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=16):
        y[n] = x[n] * 2


@tp.kernel
def racing(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=16):
        y[0] = x[n].sum()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls of a launch, each noted when it begins; they do what they always do."""
    noted = Calls()

    def noting(place: Any, name: str) -> None:
        call: Callable[..., Any] = getattr(place, name)

        def noted_call(*args: Any) -> Any:
            noted.append(name)
            return call(*args)

        monkeypatch.setattr(place, name, noted_call)

    for name in ("bind", "compile", "check"):
        noting(launch, name)
    noting(HostDevice, "launch")
    for kernel in (double, racing):
        kernel.forget()
    return noted


def test_an_accepted_launch_is_bound_compiled_checked_and_given_to_its_device(calls: Calls) -> None:
    y = np.zeros_like(X)
    double(y, X)
    assert calls == ["bind", "compile", "check", "launch"]
    np.testing.assert_array_equal(y, 2 * X)


def test_a_kernel_that_is_not_proved_is_not_launched(calls: Calls) -> None:
    y = np.zeros_like(X)
    for _ in range(2):
        with pytest.raises(tp.KernelError) as caught:
            racing(y, X)
        assert caught.value.diagnostics
    assert calls == ["bind", "compile"] * 2
    assert not y.any()


def test_a_launch_that_lacks_what_the_proof_assumes_is_not_given_to_its_device(calls: Calls) -> None:
    y = X.copy()
    with pytest.raises(tp.LaunchError) as caught:
        double(y, y)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [Code.ALIASED]
    assert calls == ["bind", "compile", "check"]
    np.testing.assert_array_equal(y, X)


def test_arguments_that_do_not_fit_are_not_compiled_for(calls: Calls) -> None:
    with pytest.raises(tp.LaunchError):
        double(np.zeros(3, np.float32), X)
    assert calls == ["bind"]
