"""`tileproof serve`: serves a model over HTTP, by the APIs of OpenAI and Anthropic."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tileproof.diagnostics.values import bytes_of

from .chat.model import chosen_model, run_command
from .chat.model_options import Place, add_model_options, place_of, suggested
from .chat.terminal import Notes
from .command_line import Commands, UsageError, add_command

if TYPE_CHECKING:
    from tileproof.llm import LLM
    from tileproof.llm.server.options import ServerOptions

EXAMPLES = """\
examples:
  tileproof serve                                       the smallest model found here, on http://127.0.0.1:8000
  tileproof serve --model smollm2 --port 9000
  tileproof serve --model models/Qwen3-0.6B --max-seq-len 16384 --max-num-seqs 64
  TILEPROOF_API_KEY=$(openssl rand -hex 24) tileproof serve --host 0.0.0.0
  tileproof serve --host 0.0.0.0 --api-key-file keys.txt    one key a line; # begins a comment

then:
  curl http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{"messages": [{"role": "user", "content": "What is the capital of France?"}]}'
  OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none    for clients of OpenAI
  ANTHROPIC_BASE_URL=http://127.0.0.1:8000 ANTHROPIC_API_KEY=none    for clients of Anthropic

GET /health is 503 while the model is loaded and 200 after, /metrics is for Prometheus, /openapi.json describes all.

Only this machine is served unless --host says otherwise; other machines should need a key. The log names requests and
counts tokens; it has no prompts unless --log-prompts is given. docs/serving.md has the limits and what they protect.

The first SIGTERM or Ctrl-C lets running requests finish, for --drain-timeout seconds; the second ends the process at
once. The exit code is 0 after a signal, or 2 if the model or an option cannot be used.
"""
KEYS = "TILEPROOF_API_KEY"


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Serves a model over HTTP: OpenAI's completions, chat and responses, Anthropic's messages."
    parser = add_command(commands, "serve", summary, description, EXAMPLES)
    add_model_options(parser)
    option = parser.add_argument_group("engine").add_argument
    option("--max-num-seqs", metavar="N", type=_count, default=32, help="sequences at a time (default: %(default)s)")
    option("--chunk", metavar="N", type=_count, default=512, help="tokens of a prefill chunk (default: %(default)s)")
    option("--latency", metavar="SECONDS", type=_seconds, default=0.25,
           help="target time of a step that prefills while others decode (default: %(default)s)")  # fmt: skip
    option("--no-prefix-cache", action="store_true", help="do not reuse the prefixes of earlier prompts")
    option("--no-warm-up", action="store_true", help="compile steps when a request needs them, not at the start")
    option("--share-prefix-cache", action="store_true", help="share cached prompts between clients of different keys")
    option = parser.add_argument_group("address and access").add_argument
    option("--host", default="127.0.0.1", help="where to listen (default: %(default)s, this machine alone)")
    option("--port", metavar="N", type=_port, default=8000, help="0 takes a free one (default: %(default)s)")
    option("--served-model-name", metavar="NAME", action="append", default=[],
           help="the name of the model in requests (default: its own); repeat it for aliases")  # fmt: skip
    option("--api-key-file", metavar="FILE", help=f"keys, one a line; {KEYS} in the environment is another")
    option("--allow-host", metavar="NAME", action="append", default=[],
           help="a further host name to accept without API keys, such as that of a reverse proxy")  # fmt: skip
    option("--allow-origin", metavar="URL", action="append", default=[],
           help="an origin whose web pages may call the server (CORS); * for any")  # fmt: skip
    option = parser.add_argument_group("limits").add_argument
    option("--max-body", metavar="SIZE", default="16MiB", help="largest request body (default: %(default)s)")
    option("--max-tokens", metavar="N", type=_count, help="most tokens of an answer (default: what the context holds)")
    option("--max-choices", metavar="N", type=_count, default=128,
           help="most sequences of a request: prompts times n (default: %(default)s)")  # fmt: skip
    option("--max-requests", metavar="N", type=_count, default=1024,
           help="most concurrent requests; further ones get 429 (default: %(default)s)")  # fmt: skip
    option("--max-queue", metavar="N", type=_count, default=1024,
           help="most waiting sequences; further ones get 429 (default: %(default)s)")  # fmt: skip
    option("--max-connections", metavar="N", type=_count, default=8192,
           help="most open connections; beyond, the longest idle one is closed (default: %(default)s)")  # fmt: skip
    option("--request-timeout", metavar="SECONDS", type=_seconds, help="time limit of a request (default: none)")
    option("--drain-timeout", metavar="SECONDS", type=_seconds, default=30.0,
           help="time that running requests have after SIGTERM (default: %(default)s)")  # fmt: skip
    option = parser.add_argument_group("log and metrics").add_argument
    option("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    option("--log-prompts", action="store_true", help="write requests with their prompts to the log")
    option("--metrics-prefix", metavar="NAME", default="vllm",
           help="prefix of the metrics, which have the names of vLLM (default: %(default)s)")  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    for name in ("starlette", "uvicorn", "pydantic", "prometheus_client"):
        if find_spec(name) is None:
            raise UsageError(f"the package {name} is not installed; install it: pip install 'tileproof[serve]'")
    from tileproof.llm.server.app import LOG
    from tileproof.llm.server.process import listen, log_to_stderr, serve, url_of
    from tileproof.llm.server.service import Service

    place = place_of(options)
    notes = Notes(quiet=False)
    path = chosen_model(options.model, notes)
    served = _server_options(options, path)
    log_to_stderr(options.log_level)
    try:
        listener = listen(options.host, options.port)
    except OSError as error:
        cure = "--port chooses another port"
        why = error.strerror or str(error)
        raise UsageError(f"cannot listen on --host {options.host} --port {options.port}: {why}; {cure}") from None
    with listener:
        url = url_of(listener)
        LOG.info("listening on %s, loading %s", url, served.model)

        def loaded(llm: LLM) -> None:
            notes.clear()
            LOG.info("ready after %.1f s: %s, context %d tokens, %d sequences at a time; OpenAI's API is at %s/v1",
                     llm.load_seconds, served.model, llm.max_seq_len, options.max_num_seqs, url)  # fmt: skip

        serve(Service(served), listener, lambda: _loaded(options, path, place, notes), loaded)
    LOG.info("stopped")
    return 0


def _loaded(options: argparse.Namespace, path: Path, place: Place, notes: Notes) -> LLM:
    from tileproof.llm import LLM

    return LLM(
        str(path), device=place.device, quantize=place.quantize, max_seq_len=place.max_seq_len, memory=place.memory,
        max_batch=options.max_num_seqs, chunk=options.chunk, latency=options.latency,
        prefix_cache=not options.no_prefix_cache, progress=notes.loading,
    )  # fmt: skip


def _server_options(options: argparse.Namespace, path: Path) -> ServerOptions:
    from tileproof.llm.server.auth import is_loopback
    from tileproof.llm.server.options import Limits, ServerOptions

    body = bytes_of(options.max_body)
    if not body:
        raise UsageError(f"--max-body {options.max_body}: this is no size; write 16MiB")
    keys = _keys(options)
    is_local = is_loopback(options.host)
    if not is_local and not keys:
        Notes(quiet=False).warn(
            f"warning: {options.host} lets other machines use this server without a key; set {KEYS}, or use "
            "--api-key-file, or leave out --host"
        )
    name = path.stem if path.suffix == ".gguf" else path.resolve().name
    names = options.served_model_name or [name]
    return ServerOptions(
        model=names[0], aliases=tuple(names[1:]), sampling=suggested(path), api_keys=keys,
        limits=Limits(
            max_body=body, max_tokens=options.max_tokens, max_choices=options.max_choices,
            max_requests=options.max_requests, max_queue=options.max_queue, max_connections=options.max_connections,
            request_timeout=options.request_timeout, drain_timeout=options.drain_timeout,
        ),
        allowed_hosts=tuple(host.lower() for host in options.allow_host) if is_local and not keys else None,
        allowed_origins=tuple(options.allow_origin), metrics_prefix=_prefix(options.metrics_prefix),
        shares_prefixes=options.share_prefix_cache, logs_prompts=options.log_prompts, warms_up=not options.no_warm_up,
    )  # fmt: skip


def _keys(options: argparse.Namespace) -> tuple[str, ...]:
    keys = [os.environ.get(KEYS, "").strip()]
    if options.api_key_file is not None:
        try:
            lines = Path(options.api_key_file).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"--api-key-file {options.api_key_file}: {why}") from None
        of_file = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not of_file:  # which would let everyone in
            raise UsageError(f"--api-key-file {options.api_key_file}: there is no key in it; write one a line")
        keys += of_file
    return tuple(dict.fromkeys(key for key in keys if key))


def _prefix(text: str) -> str:
    if not (text.isascii() and text.isidentifier()):
        raise UsageError(f"--metrics-prefix {text}: use letters, digits and _, such as tileproof")
    return text


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 16:  # the system would take another one without a word
        raise argparse.ArgumentTypeError(f"{text}: 0 to 65535")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text}: a number of seconds above 0")
    return value
