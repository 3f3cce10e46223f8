"""`tileproof chat`: turns, commands, and a context that fills up, with lines instead of a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from generating_samples import CONFIG, quick_read_rate, write_model

from support.checkpoints import random_weights, write_folder, write_json
from support.cli_samples import Ran
from tileproof.cli.chat import session as chatting
from tileproof.cli.chat.session import TranscriptError, load, save
from tileproof.llm import LLM, Message
from tileproof.llm.engine.loop import Loop

Talk = Callable[..., Ran]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def talk(
    tileproof: Callable[..., Ran], model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Ran]:
    """A chat with these lines; greedy, with short answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chatting, "read_rate", quick_read_rate)

    def run(*lines: str, options: tuple[str, ...] = ()) -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        usual = ("--device", "cpu", "--temperature", "0", "--max-new-tokens", "5")
        return tileproof("chat", "--model", str(model), *usual, *options)

    return run


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The prompts that the engine gets."""
    results: list[list[int]] = []
    real = LLM.request

    def request(self: LLM, prompt: Any, *rest: Any, **named: Any) -> Any:
        results.append(list(prompt))
        return real(self, prompt, *rest, **named)

    monkeypatch.setattr(LLM, "request", request)
    return results


def test_each_line_is_answered_with_those_before_it(talk: Talk, asked: list[list[int]]) -> None:
    ran = talk("the dog", "the fox")
    assert ran.code == 0, ran.err
    assert len(asked) == 2
    assert asked[1][: len(asked[0])] == asked[0]
    assert ran.err.count("5 tokens, ") == 2
    assert "tokens/s" in ran.err
    assert "/help lists commands" in ran.err


def test_a_backslash_joins_lines_and_two_slashes_are_one(talk: Talk, asked: list[list[int]], model: Path) -> None:
    talk("the dog \\", "and the fox", "//clear", options=("--quiet",))
    text = LLM(model, device="cpu", max_batch=1).text
    assert "the dog \nand the fox" in text.decode(asked[0])
    assert "user\n/clear" in text.decode(asked[1])


def test_quiet_leaves_the_answers_alone(talk: Talk) -> None:
    loud, quiet = talk("the dog"), talk("the dog", options=("--quiet",))
    assert (quiet.out, quiet.err) == (loud.out, "")


def test_clear_retry_and_system_change_what_is_sent(talk: Talk, asked: list[list[int]]) -> None:
    again = ("/clear", "the dog")
    ran = talk("the dog", "/retry", *again, "/system be a fox", *again, "/system", *again)
    assert ran.code == 0, ran.err
    first, retried, cleared, message, untold = asked
    assert first == retried == cleared == untold
    assert len(message) > len(first)


def test_settings_are_changed_and_shown(talk: Talk) -> None:
    ran = talk("/set", "/set temperature 0.5", "/set top-k 7", "/set thinking off", "/set max-new-tokens 2", "the dog")
    for message in ("greedy; at most 5 tokens", "temperature 0.5, top k 7", "thinking off", "2 tokens, "):
        assert message in ran.err
    assert ran.code == 0


WRONG = {
    "/nothing": "there is no /nothing",
    "/sav x": "did you mean `save`?",
    "/set temprature 1": "did you mean `temperature`?",
    "/set temperature": "give temperature a value",
    "/set temperature warm": "this is no float",
    "/set temperature -1": "temperature is -1",
    "/set seed 99999999999999999999": "seed is 99999999999999999999",
    "/retry": "nothing was asked yet",
    "/stats": "nothing was answered yet",
    "/save": "name a file",
    "/load": "name a file",
    "/load nothing.json": "nothing.json cannot be read",
    "/load ~no-such-user/chat.json": "~no-such-user/chat.json cannot be read",
    "/save no/such/folder.json": "cannot be written",
}


def test_commands_that_are_wrong_say_so_and_the_chat_goes_on(talk: Talk) -> None:
    ran = talk(*WRONG, options=("--quiet",))
    assert (ran.code, ran.out) == (0, "")
    for line, message in zip(ran.err.splitlines(), WRONG.values(), strict=True):
        assert message in line


def test_help_and_stats_and_exit(talk: Talk, asked: list[list[int]]) -> None:
    ran = talk("/help", "the dog", "/stats", "/exit", "the fox")
    assert "/system TEXT" in ran.err
    assert "1 answers, " in ran.err
    assert "of the 160 that fit" in ran.err
    assert len(asked) == 1


def test_a_chat_is_saved_and_goes_on_later(talk: Talk, asked: list[list[int]], tmp_path: Path) -> None:
    assert talk("the dog", "/save chat.json", "the fox", "/save chat.json").code == 0
    document = json.loads((tmp_path / "chat.json").read_text())
    assert [each["role"] for each in document["messages"]] == ["user", "assistant"] * 2
    before = (tmp_path / "chat.json").read_text()
    ran = talk("/save chat.json", "/load chat.json", "a tile")
    assert "chat.json is there already" in ran.err
    assert (tmp_path / "chat.json").read_text() == before
    assert asked[2][: len(asked[1])] == asked[1]
    assert [path.name for path in tmp_path.iterdir()] == ["chat.json"]


def test_the_oldest_turns_are_left_out_when_the_context_is_full(talk: Talk, asked: list[list[int]]) -> None:
    line = "the quick brown fox jumps over the lazy dog"
    ran = talk(*[line] * 12, options=("--system", "a dog"))
    assert ran.code == 0, ran.err
    assert "the context of 160 tokens is full: the 2 oldest messages are left out" in ran.err
    assert max(len(each) for each in asked) <= 160 - 40
    assert len({tuple(each[:4]) for each in asked}) == 1  # what the system was told stays


def test_a_line_that_cannot_fit_is_refused_and_the_chat_goes_on(talk: Talk, asked: list[list[int]]) -> None:
    ran = talk("the dog", "dog " * 300, "the dog")
    assert (ran.code, "there is room for 160" in ran.err) == (2, True), ran.err
    assert len(asked[2]) > len(asked[0])
    assert len(asked[2]) < 160


def test_ctrl_c_stops_the_answer_and_not_the_chat(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    real, steps = Loop.step, iter(range(100))

    def step(self: LLM) -> None:
        if next(steps) == 3:
            raise KeyboardInterrupt
        real(self)

    monkeypatch.setattr(Loop, "step", step)
    ran = talk("the dog", "the fox")
    assert ran.code == 0, ran.err
    assert ", stopped" in ran.err
    assert ran.err.count("5 tokens, ") == 1


def test_a_model_without_a_template_is_refused_before_anything_is_typed(
    tileproof: Callable[..., Ran], model: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    write_folder(broken, CONFIG, random_weights(CONFIG))
    settings = json.loads((broken / "tokenizer_config.json").read_text())
    write_json(broken / "tokenizer_config.json", settings | {"chat_template": "{{ raise_exception('no') }}"})
    ran = tileproof("chat", "--model", str(broken), "--device", "cpu", "--quiet")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err


def test_on_a_terminal_lines_are_typed_after_a_mark(model: Path, tmp_path: Path) -> None:
    own, other = pty.openpty()
    command = [sys.executable, "-m", "tileproof", "chat", "--model", str(model), "--device", "cpu", "--max-new-tokens",
               "3", "--temperature", "0"]  # fmt: skip
    environment = os.environ | {"TERM": "xterm", "HOME": str(tmp_path)}
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment) as program:
        os.close(other)
        os.write(own, b"the dog\n/exit\n")
        text = b""
        while True:
            try:
                piece = os.read(own, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        assert program.wait(timeout=20) == 0
    os.close(own)
    assert b">\x1b[0m " in text
    assert b"3 tokens, " in text


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, "[1]", '[{"role": "king", "content": "x"}]', '{"messages": 1}', "3"],
    ids=["open", "deep", "number", "king", "none", "no table"],
)  # fmt: skip
def test_a_file_that_is_no_chat_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "chat.json").write_text(text)
    with pytest.raises(TranscriptError, match="is not a chat"):
        load(tmp_path / "chat.json")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    messages = [Message("system", "é"), Message("user", "a\nb"), Message("assistant", "")]
    save(tmp_path / "chat.json", "tiny", messages, replaces=False)
    assert load(tmp_path / "chat.json") == messages
