"""`tileproof serve`: one line for each thing that can be wrong before it serves."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli_samples import Ran
from support.servers import write_model

Run = Callable[..., Ran]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_model(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-body", "much"], "write 16MiB"),
        (["--api-key-file", "/nowhere"], "No such file"),
        (["--metrics-prefix", "a b"], "letters, digits"),
        (["--max-queue", "0"], "at least 1"),
        (["--drain-timeout", "-1"], "above 0"),
        (["--port", "70000"], "0 to 65535"),
        (["--host", "256.1.1.1"], "cannot listen on --host 256.1.1.1"),
    ],
)
def test_a_wrong_option_is_named(model: str, tileproof: Run, options: list[str], message: str) -> None:
    ran = tileproof("serve", "--model", model, *options)
    assert ran.code == 2
    assert message in ran.err
    assert options[0] in ran.err


def test_a_port_in_use_is_named(model: str, tileproof: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = tileproof("serve", "--model", model, "--port", str(taken.getsockname()[1]))
    assert ran.code == 2
    assert "Address already in use; --port chooses another port" in ran.err


def test_a_file_without_keys_does_not_let_everyone_in(model: str, tileproof: Run, tmp_path: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("# none yet\n\n")
    ran = tileproof("serve", "--model", model, "--api-key-file", str(keys))
    assert ran.code == 2
    assert "there is no key in it" in ran.err


def test_other_machines_without_a_key_are_warned_of(
    model: str, tileproof: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TILEPROOF_API_KEY", raising=False)
    warning = "without a key; set TILEPROOF_API_KEY"
    with socket.create_server(("0.0.0.0", 0)) as taken:  # so that it ends after the warning
        command = ("serve", "--model", model, "--host", "0.0.0.0", "--port", str(taken.getsockname()[1]))
        assert warning in tileproof(*command).err
        monkeypatch.setenv("TILEPROOF_API_KEY", "secret")
        assert warning not in tileproof(*command).err


def test_a_model_that_cannot_be_loaded_ends_the_server(tileproof: Run, tmp_path: Path) -> None:
    broken = write_model(tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\0" * 100)
    ran = tileproof("serve", "--model", str(broken), "--port", "0")
    assert ran.code == 2
    assert "model.safetensors" in ran.err
