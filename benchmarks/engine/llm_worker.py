"""One contestant of the engine's benchmark, in a process of its own: it does what lines of JSON ask, and answers so.

python -m benchmarks.engine.llm_worker tileproof FILE bf16 | int8
python -m benchmarks.engine.llm_worker llama.cpp FILE
python -m benchmarks.engine.llm_worker read
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

CONTEXT: Final = 1024
"""Tokens of the longest text, for everybody."""
THREADS: Final = 2
_READ: Final = 512 << 20
"""Bytes that the limit is measured on: far more than any cache holds."""


class Contestant(Protocol):
    """What can be asked."""

    def decode(self, prompt: Sequence[int], new: int) -> dict[str, Any]:
        """Tokens per second behind a prompt, the first one not counted."""

    def prefill(self, prompt: Sequence[int]) -> dict[str, Any]:
        """Tokens per second of a prompt, up to the first token behind it."""

    def judge(self, tokens: Sequence[int]) -> dict[str, Any]:
        """The logprob of every token but the first, and the likeliest token in its place."""

    def sizes(self) -> dict[str, int]:
        """Bytes that a token reads at least, and those of weights and cache."""


class Tileproof:
    """This engine."""

    def __init__(self, file: str, kind: str) -> None:
        from tileproof.llm import LLM

        quantize: Any = "int8" if kind == "int8" else None
        self._llm = LLM(file, device="cpu", quantize=quantize, max_seq_len=CONTEXT, max_batch=1)

    def decode(self, prompt: Sequence[int], new: int) -> dict[str, Any]:
        done = self._generate(prompt, new)
        return {"rate": done.tokens_per_second, "tokens": len(done.tokens)}

    def prefill(self, prompt: Sequence[int]) -> dict[str, Any]:
        return {"rate": len(prompt) / self._generate(prompt, 1).prefill_seconds, "tokens": len(prompt)}

    def judge(self, tokens: Sequence[int]) -> dict[str, Any]:
        import numpy as np

        logits = self._llm.logits(list(tokens))[:-1].astype(np.float64)
        top = logits.max(axis=1)
        norms = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        own = logits[np.arange(len(logits)), list(tokens[1:])] - norms
        return {"logprobs": own.tolist(), "first": logits.argmax(axis=1).tolist()}

    def sizes(self) -> dict[str, int]:
        llm = self._llm
        return {"streamed": llm.weights.streamed, "weights": llm.weights.nbytes, "cache": llm.memory["cache"]}

    def _generate(self, prompt: Sequence[int], new: int) -> Any:
        from tileproof.llm import SamplingParams

        return self._llm.generate(list(prompt), SamplingParams(max_new_tokens=new, ignore_eos=True))


class LlamaCpp:
    """llama.cpp, by the package `xllamacpp`, with all that makes it fast here."""

    def __init__(self, file: str) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = file
        params.n_ctx, params.n_parallel, params.n_batch, params.n_ubatch = CONTEXT, 1, 512, 512
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
        params.warmup, params.verbosity, params.cache_ram_mib = True, -1, 0
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
        self._server = xllamacpp.Server(params)
        self._file = file

    def decode(self, prompt: Sequence[int], new: int) -> dict[str, Any]:
        result = self._ask(prompt, max_tokens=new)["timings"]
        return {"rate": result["predicted_per_second"], "tokens": result["predicted_n"]}

    def prefill(self, prompt: Sequence[int]) -> dict[str, Any]:
        result = self._ask(prompt, max_tokens=1)["timings"]
        return {"rate": result["prompt_per_second"], "tokens": result["prompt_n"]}

    def judge(self, tokens: Sequence[int]) -> dict[str, Any]:
        logprobs, first = [], []
        for end in range(1, len(tokens)):
            # It tells nothing of the prompt: each token is forced, which leaves its logprob alone.
            forced: dict[str, Any] = {"logit_bias": [[tokens[end], 1e6]], "n_probs": 1, "cache_prompt": True}
            choice = self._ask(tokens[:end], max_tokens=1, **forced)["choices"][0]
            if choice["logprobs"] is None:  # a token that ends inside a character
                logprobs.append(None)
                first.append(None)
            else:
                (message,) = choice["logprobs"]["content"]
                logprobs.append(message["logprob"])
                first.append(message["top_logprobs"][0]["id"])
        return {"logprobs": logprobs, "first": first}

    def sizes(self) -> dict[str, int]:
        import gguf

        reader = gguf.GGUFReader(self._file)
        matrices = sum(tensor.n_bytes for tensor in reader.tensors if len(tensor.shape) == 2)
        kept = sum(tensor.n_bytes for tensor in reader.tensors)
        named = {name.partition(".")[2]: field for name, field in reader.fields.items()}
        layers, groups = (int(named[name].contents()) for name in ("block_count", "attention.head_count_kv"))
        depth = int(named[key].contents()) if (key := "attention.key_length") in named else int(
            named["embedding_length"].contents()) // int(named["attention.head_count"].contents())  # fmt: skip
        return {"streamed": matrices, "weights": kept, "cache": layers * 2 * groups * depth * CONTEXT * 2}

    def _ask(self, prompt: Sequence[int], **more: Any) -> Any:
        plain = {"prompt": list(prompt), "temperature": 0, "ignore_eos": True, "cache_prompt": False}
        return self._server.handle_completions({**plain, **more})


class Read:
    """A loop that only reads memory, on as many threads: no engine can stream weights faster."""

    def __init__(self) -> None:
        import numpy as np

        from ..harness.cpu_limits import reading

        self._probes = [reading(np.ones(_READ // 4, np.float32), streams) for streams in (1, 2, 4, 8)]

    def read(self) -> dict[str, Any]:
        """Bytes per second, by the best way."""
        results = []
        for probe in self._probes:
            for _ in range(2):
                began = time.perf_counter()
                probe()
                results.append(probe.work / (time.perf_counter() - began))
        return {"rate": max(results)}


def peak_memory() -> int:
    """The most bytes that this process ever had in memory."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(match[1]) * 1024 if match else 0


def contestant(kind: str, *rest: str) -> Callable[[], Any]:
    """Imports what it needs, and gives what loads it."""
    match kind:
        case "tileproof":
            import numpy as np
            import tokenizers  # noqa: F401 - so that the model is all that is left to load

            import tileproof.kernels as tk
            import tileproof.llm.llm  # noqa: F401

            tk.add(np.ones(64, np.float32), np.ones(64, np.float32))
            return lambda: Tileproof(*rest)
        case "llama.cpp":
            import xllamacpp  # noqa: F401

            return lambda: LlamaCpp(*rest)
        case "read":
            return Read
    raise SystemExit(f"no contestant is called {kind}")


def main(arguments: Sequence[str]) -> int:
    """Answers until there are no more lines."""
    os.environ["TILEPROOF_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(THREADS)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print is no answer
    make = contestant(*arguments)
    base = peak_memory()
    began = time.perf_counter()
    here = make()
    loaded = time.perf_counter() - began
    print(json.dumps({"loaded": loaded, "base": base, "after_loading": peak_memory()}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        name = asked.pop("do")
        answer = getattr(here, name)(**asked)
        if name == "sizes":
            answer |= {"base": base, "peak": peak_memory()}
        print(json.dumps(answer), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
