"""tileproof on another processor: examples, kernels of the corpus and the engine as aarch64 code, under `qemu-aarch64`.

`python tools/aarch64_root.py` makes the Python that runs them; see there what it needs. The fast tier keeps none of
these: a start of that Python takes seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from support.checkpoints import random_weights, tiny, write_folder
from tileproof.llm import LLM, SamplingParams

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "build" / "aarch64"
PROMPT = (3, 1, 4, 1, 5, 9, 2, 6)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="qemu-aarch64 is not installed (qemu-user)"),
    pytest.mark.skipif(not (BUILT / "site").is_dir(), reason="run tools/aarch64_root.py first"),
]


def run(tmp_path: Path, *words: str | Path) -> str:
    """What a program prints as aarch64 code."""
    libraries = ":".join(str(BUILT / "root" / folder / "aarch64-linux-gnu") for folder in ("usr/lib", "lib"))
    settings = {
        "PYTHONPATH": ":".join(map(str, (ROOT / "src", ROOT / "tests", BUILT / "site"))),
        "PYTHONHOME": str(BUILT / "root" / "usr"),
        "LD_LIBRARY_PATH": libraries,
        "TILEPROOF_CACHE_DIR": str(tmp_path / "cache"),
    }
    given = [word for name, value in settings.items() for word in ("-E", f"{name}={value}")]
    python = BUILT / "root" / "usr" / "bin" / "python3.11"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = ["qemu-aarch64", "-cpu", "max", "-L", BUILT / "root", *given, python, *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["add", "matmul", "softmax", "attention", "kv_append", "histogram"])
def test_an_example_agrees_with_numpy(tmp_path: Path, name: str) -> None:
    assert "agrees with numpy" in run(tmp_path, ROOT / "examples" / f"{name}.py")


def test_kernels_of_the_corpus_give_what_they_give_on_the_interpreter(tmp_path: Path) -> None:
    program = """
        import numpy as np
        import tileproof as tp
        from samples.operation_launches import corpus

        tried = 0
        for name, make in corpus().items():
            kernel, arguments, constants = make()
            results = []
            for backend in ("cpu", "interpreter"):
                given = [np.array(each) if isinstance(each, np.ndarray) else each for each in arguments]
                try:
                    with tp.backend(backend):
                        kernel(*given, **constants)
                except tp.TileproofError as error:
                    results.append(error.diagnostics[0].code)
                    continue
                results.append([each for each in given if isinstance(each, np.ndarray)])
            one, other = results
            if isinstance(one, list) and isinstance(other, list):
                for got, wanted in zip(one, other, strict=True):
                    np.testing.assert_allclose(
                        got.astype(np.float64), wanted.astype(np.float64), rtol=2e-2, atol=1e-2, err_msg=name
                    )
            else:
                assert one == other, (name, one, other)
            tried += 1
        print(tried)
    """
    assert int(run(tmp_path, "-c", dedent(program))) >= 10


def test_the_engine_generates_what_it_does_here(tmp_path: Path) -> None:
    config = tiny()
    folder = write_folder(tmp_path / "model", config, random_weights(config))
    params = SamplingParams(max_new_tokens=6, ignore_eos=True)
    expected = LLM(folder).generate([list(PROMPT)], params)[0].tokens
    program = f"""
        from tileproof.llm import LLM, SamplingParams

        params = SamplingParams(max_new_tokens=6, ignore_eos=True)
        print(*LLM({str(folder)!r}).generate([list({PROMPT!r})], params)[0].tokens)
    """
    assert tuple(map(int, run(tmp_path, "-c", dedent(program)).split())) == tuple(expected)
