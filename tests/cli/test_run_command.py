"""`tileproof run`: text from tiny models, and one line for each thing that can be wrong."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from generating_samples import CONFIG, quick_read_rate, write_model

from support.checkpoints import random_weights, write_folder, write_gguf, write_json
from support.cli_samples import Ran
from tileproof.cli import run as command
from tileproof.cli.chat import pictures
from tileproof.cli.chat.completion import Interrupts, Thoughts
from tileproof.cli.chat.memory_rate import outside_load, read_rate
from tileproof.cli.chat.model_options import suggested
from tileproof.cli.chat.terminal import format_bytes, format_count
from tileproof.llm import LLM
from tileproof.llm.engine.loop import Loop

Run = Callable[..., Ran]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Hugging Face with a random model."""
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "read_rate", quick_read_rate)


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    """The same model, to be broken."""
    result = tmp_path / "broken"
    result.mkdir()
    for file in model.iterdir():
        (result / file.name).write_bytes(file.read_bytes())
    return result


def run(tileproof: Run, model: Path, *words: str) -> Ran:
    return tileproof("run", "--model", str(model), "--device", "cpu", *words)


def test_text_goes_to_the_output_and_figures_to_the_error_stream(tileproof: Run, model: Path) -> None:
    words = ("--prompt", "the lazy dog", "--max-new-tokens", "12")
    ran = run(tileproof, model, *words)
    assert ran.code == 0, ran.err
    assert ran.out.strip()
    assert "loaded tiny, " in ran.err
    for message in ("weights", "prompt ", " tokens/s", "% of the ", "GB/s that this machine reads"):
        assert message in ran.err
    quiet = run(tileproof, model, *words, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, ran.out, "")


def test_json_is_one_object_with_the_text_its_tokens_and_figures(tileproof: Run, model: Path) -> None:
    ran = run(tileproof, model, "--prompt", "the lazy dog", "--max-new-tokens", "12", "--json", "--quiet")
    result = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert len(result["tokens"]) == result["new_tokens"] <= 12
    assert result["finish"] in ("stop", "length")
    assert result["share"] == pytest.approx(result["bytes_per_second"] / result["read_rate"])
    llm = LLM(model, device="cpu", max_batch=1)
    assert llm.text.decode(result["tokens"]) == result["text"]


def test_what_ended_a_text_is_told(tileproof: Run, model: Path) -> None:
    arguments = ("--prompt", "the dog", "--raw-prompt")
    two = run(tileproof, model, *arguments, "--max-new-tokens", "2")
    assert "after 2 tokens: --max-new-tokens was reached" in two.err
    assert "tokens: --max-seq-len was reached" in run(tileproof, model, *arguments, "--max-seq-len", "12").err


def test_the_prompt_is_put_into_the_template_or_taken_as_it_is(tileproof: Run, model: Path) -> None:
    short = ("--max-new-tokens", "1", "--json", "--quiet")
    counts = [
        json.loads(run(tileproof, model, "--prompt", "fox", *words, *short).out)["prompt_tokens"]
        for words in (["--raw-prompt"], [], ["--no-thinking"], ["--system", "dog"])
    ]
    assert counts[0] < counts[1] < counts[2]
    assert counts[3] > counts[1]


def test_the_prompt_is_read_from_the_input(tileproof: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("the lazy dog"))
    words = ("--max-new-tokens", "4", "--quiet")
    piped = run(tileproof, model, "--prompt", "-", *words)
    assert (piped.code, piped.out) == (0, run(tileproof, model, "--prompt", "the lazy dog", *words).out)


def test_a_seed_draws_the_same_text_again_and_another_draws_another(tileproof: Run, model: Path) -> None:
    words = ("--prompt", "the", "--sample", "--temperature", "5", "--max-new-tokens", "8", "--seed")
    texts = [run(tileproof, model, *words, seed).out for seed in ("1", "1", "2")]
    assert texts[0] == texts[1] != texts[2]
    drawn = run(tileproof, model, "--prompt", "the", "--sample", "--max-new-tokens", "2")
    assert "sampling with temperature 0.7, top p 0.95, seed " in drawn.err


def test_sampling_follows_the_models_own_settings(copy: Path) -> None:
    assert suggested(copy) == {}  # it says do_sample, and no number
    write_json(copy / "generation_config.json", {"temperature": 0.6, "top_k": 20, "top_p": 0.8, "eos_token_id": 1})
    assert suggested(copy) == {"temperature": 0.6, "top_k": 20, "top_p": 0.8}
    (copy / "generation_config.json").write_text("[")
    assert suggested(copy) == {}


def test_a_profile_is_a_table_and_a_picture_that_replaces_nothing(
    tileproof: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--prompt", "the", "--max-new-tokens", "2", "--profile")
    Path("profile.png").write_bytes(b"mine")
    ran = run(tileproof, model, *words)
    assert ran.code == 0, ran.err
    assert "us each" in ran.err
    assert "attention" in ran.err
    if pictures.can_draw():
        assert Path("profile-2.png").read_bytes().startswith(b"\x89PNG")
        assert "profile-2.png is written" in ran.err
    else:
        assert "pip install matplotlib" in ran.err
    assert Path("profile.png").read_bytes() == b"mine"
    result = run(tileproof, model, *words, "--profile-out", "profile.png")
    assert (result.code, "is there already" in result.err) == (2, True)
    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    assert not pictures.can_draw()


def test_gguf_and_8_bit_weights_run_too(tileproof: Run, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", CONFIG, random_weights(CONFIG), "Q8_0")
    ran = run(tileproof, path, "--prompt", "the", "--max-new-tokens", "4", "--quantize", "int8")
    assert (ran.code, "tokens/s" in ran.err) == (0, True), ran.err


# What is wrong is said in one line, and nothing is printed or written.


def missing_tensor(path: Path) -> str:
    weights = random_weights(CONFIG)
    del weights["model.layers.1.mlp.down_proj.weight"]
    write_folder(path, CONFIG, weights)
    return "model.layers.1.mlp.down_proj.weight"


def corrupt_header(path: Path) -> str:
    file = path / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[8:20] = b"{not a json "
    file.write_bytes(data)
    return "model.safetensors"


def truncated(path: Path) -> str:
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    return "model.safetensors"


def unknown_architecture(path: Path) -> str:
    settings = json.loads((path / "config.json").read_text())
    write_json(path / "config.json", settings | {"architectures": ["MambaForCausalLM"], "model_type": "mamba"})
    return "MambaForCausalLM"


def malformed_template(path: Path) -> str:
    settings = json.loads((path / "tokenizer_config.json").read_text())
    write_json(path / "tokenizer_config.json", settings | {"chat_template": "{% for message in %}"})
    return "template"


def weights_that_are_no_numbers(path: Path) -> str:
    weights = random_weights(CONFIG)
    weights["model.layers.0.mlp.up_proj.weight"][3, 5] = ml_dtypes.bfloat16(np.nan)
    write_folder(path, CONFIG, weights)
    return "model.layers.0.mlp.up_proj.weight"


@pytest.mark.parametrize(
    "breaking",
    [missing_tensor, corrupt_header, truncated, unknown_architecture, malformed_template, weights_that_are_no_numbers],
)
def test_a_broken_model_ends_with_a_line_that_names_the_fault(
    tileproof: Run, copy: Path, breaking: Callable[[Path], str]
) -> None:
    named = breaking(copy)
    one_line(run(tileproof, copy, "--prompt", "the"), named)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prompt", ""], "--prompt has no text"),
        (["--prompt", "  \n"], "--prompt has no text"),
        (["--prompt", "dog " * 400], "there is room for 160"),
        (["--prompt", "the", "--raw-prompt", "--system", "dog"], "leave out --raw-prompt"),
        (["--prompt", "the", "--raw-prompt", "--no-thinking"], "--no-thinking is for the chat template"),
        (["--prompt", "the", "--max-seq-len", "100000"], "max_seq_len is 100000, and the model was made for 160"),
        (["--prompt", "the", "--max-seq-len", "0"], "at least 2"),
        (["--prompt", "the", "--memory", "1kB"], "set memory to "),
        (["--prompt", "the", "--memory", "much"], "this is no size"),
        (["--prompt", "the", "--temperature", "-1"], "temperature"),
        (["--prompt", "the", "--top-p", "2"], "top_p is 2.0"),
        (["--prompt", "the", "--sample", "--seed", str(2**63)], "seed is 9223372036854775808"),
        (["--prompt", "the", "--top-k", str(2**31)], "top_k is 2147483648"),
        (["--prompt", "the", "--memory", "9" * 400], "this is no size"),
        (["--prompt", "the", "--max-new-tokens", "0"], "max_new_tokens is 0"),
        (["--prompt", "the", "--stop", ""], "stop string is empty"),
        (["--prompt", "the", "--profile-out", "x.png"], "add --profile"),
    ],
)
def test_what_cannot_be_done_ends_with_a_line_that_helps(
    tileproof: Run, model: Path, words: list[str], message: str
) -> None:
    one_line(run(tileproof, model, *words), message)


def test_a_model_that_is_not_there_is_said_so(tileproof: Run, tmp_path: Path) -> None:
    one_line(run(tileproof, tmp_path / "nothing", "--prompt", "the"), "nothing")


def test_a_model_that_does_not_fit_the_memory_is_said_so(
    tileproof: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tileproof.llm.llm as engine

    monkeypatch.setattr(engine, "free_memory", lambda device: 10_000)
    one_line(run(tileproof, model, "--prompt", "the"), "set max_seq_len to ")


def test_a_gpu_that_is_not_there_is_said_so(tileproof: Run, model: Path) -> None:
    from tileproof.backends.cuda.device.driver import device_count

    if device_count():
        pytest.skip("there is a GPU")
    ran = tileproof("run", "--model", str(model), "--device", "cuda", "--prompt", "the")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err


def one_line(ran: Ran, message: str) -> None:
    """Exit code 2, nothing on the output, and in the end one line that says what is wrong."""
    lines = [line for line in ran.err.splitlines() if not line.startswith("loaded ")]
    assert (ran.code, ran.out, len(lines)) == (2, "", 1), ran.err
    assert lines[0].startswith("tileproof run: ")
    assert message in lines[0], lines[0]


def test_logprobs_and_biases(tileproof: Run, model: Path) -> None:
    words = ("--prompt", "the", "-n", "4", "--json", "--quiet")
    plain = json.loads(run(tileproof, model, *words, "--logprobs", "2").out)
    assert [each["token"] for each in plain["logprobs"]] == plain["tokens"]
    assert [len(each["top"]) for each in plain["logprobs"]] == [2] * 4
    banned = json.loads(run(tileproof, model, *words, f"--logit-bias={plain['tokens'][0]}:-inf").out)
    assert banned["tokens"][0] == plain["logprobs"][0]["top"][1][0], "the second likeliest"
    assert "logprobs" not in banned
    one_line(run(tileproof, model, "--prompt", "the", "--logprobs", "2"), "add --json")
    assert "'2' is no token and number" in run(tileproof, model, "--prompt", "the", "--logit-bias", "2").err


# Ctrl-C.


def test_ctrl_c_ends_at_once_without_a_trace_and_cancels(
    tileproof: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines: list[Any] = []
    real = Loop.step

    def step(self: Any) -> None:
        engines.append(self)
        if len(engines) == 4:
            raise KeyboardInterrupt
        real(self)

    monkeypatch.setattr(Loop, "step", step)
    ran = run(tileproof, model, "--prompt", "the lazy dog", "--max-new-tokens", "50")
    assert ran.code == 130
    assert ran.err.endswith("\nstopped\n")
    assert "Traceback" not in ran.err
    assert engines[0].requests == {}
    assert len(engines) == 4


def test_a_real_ctrl_c_ends_the_process(tmp_path: Path) -> None:
    config = replace(CONFIG, max_position_embeddings=16384)
    model = write_folder(tmp_path / "endless", config, random_weights(config))
    words = [sys.executable, "-m", "tileproof", "run", "--model", str(model), "--device", "cpu", "--prompt", "a",
             "--max-new-tokens", "100000", "--max-seq-len", "16384"]  # fmt: skip
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        program.stdout.read(1)
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=120)
    assert (program.returncode, err.endswith("\nstopped\n")) == (130, True)
    assert "Traceback" not in err


def test_a_ctrl_c_that_something_swallows_is_raised_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts() as interrupts:
        interrupts.check()
        with suppress(KeyboardInterrupt):  # as a finaliser does
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert signal.getsignal(signal.SIGINT) is before


# Pieces.


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_thinking_is_told_from_the_answer_however_the_text_is_cut(size: int) -> None:
    text = "<think>\nfirst < second\n</think>\n\nthe <b>answer</b> <thin"
    thoughts = Thoughts()
    results: dict[str, str] = {"thinking": "", "answer": ""}
    for part, piece in cut(thoughts, text, size):
        results[part] += piece
    assert results == {"thinking": "first < second\n", "answer": "the <b>answer</b> <thin"}


def cut(thoughts: Thoughts, text: str, size: int) -> Iterator[tuple[str, str]]:
    for at in range(0, len(text), size):
        yield from thoughts.push(text[at : at + size])
    yield from thoughts.finish()


def test_thinking_that_the_prompt_began_ends_in_the_text() -> None:
    assert Thoughts(inside=True).push("hm</think>\nyes") == [("thinking", "hm"), ("answer", "yes")]


def test_sizes_are_shown_with_three_or_four_figures() -> None:
    assert [format_bytes(each) for each in (12, 98_362_432, 1_192_000_000)] == ["12 B", "98.4 MB", "1.19 GB"]
    assert [format_count(each) for each in (134_515_008, 4_022_468_096, 999)] == ["134.5 M", "4.02 B", "999"]


def test_the_read_rate_is_that_of_a_machine() -> None:
    assert 1e8 < read_rate(tries=2, size=16 << 20) < 1e13


def test_outside_load_is_not_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from tileproof.cli.chat import memory_rate

    clock = iter([(10.0, 100.0, 5.0), (12.0, 104.0, 6.0), (12.0, 101.0, 6.0)])
    monkeypatch.setattr(memory_rate, "now", lambda: next(clock))
    began = memory_rate.now()
    assert outside_load(began) == pytest.approx(1.49)
    assert outside_load(began) == 0


def test_a_prompt_may_be_in_a_file_and_options_have_the_names_of_other_engines(
    tileproof: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEPROOF_THREADS", "1")  # which --threads sets, and what the test leaves restores
    (tmp_path / "prompt.txt").write_text("the lazy dog", encoding="utf-8")
    words = ("--max-new-tokens", "8", "--quiet", "--threads", "1", "--frequency-penalty", "0.5")
    plain = run(tileproof, model, "-p", "the lazy dog", *words)
    assert plain.code == 0, plain.err
    assert run(tileproof, model, "-f", str(tmp_path / "prompt.txt"), *words).out == plain.out
    missing = run(tileproof, model, "-f", str(tmp_path / "other.txt"), *words)
    assert (missing.code, missing.out) == (2, "")
    assert "No such file" in missing.err
    assert run(tileproof, model, "-p", "a", "--threads", "0").code == 2
