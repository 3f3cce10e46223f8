"""The process of a server: it listens, loads the model, serves, and ends when it is told to.

The socket listens before the model is loaded, so that balancers of load see 503 and not a refused connection. The first
SIGTERM or Ctrl-C lets running requests finish; the second ends the process at once.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

from ..async_llm import AsyncLLM
from ..llm import LLM
from .app import LOG, application
from .connections import Connections, connection_type
from .service import Service

_RESERVE: Final = 256
"""File descriptors that are not for connections."""
_BACKLOG: Final = 2048


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Port 0 takes any that is free."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Where clients find it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    service: Service, listener: socket.socket, load: Callable[[], LLM], loaded: Callable[[LLM], None]
) -> None:
    """Serves until it is told to end. What `load` raises is raised.

    `loaded` is called when the model is there, before its steps are compiled.
    """
    asyncio.run(_serve(service, listener, load, loaded))


async def _serve(
    service: Service, listener: socket.socket, load: Callable[[], LLM], loaded: Callable[[LLM], None]
) -> None:
    connections = Connections(service.limits, _raise_file_limit(service.limits.max_connections))
    server = _Server(uvicorn.Config(
        application(service), http=connection_type(connections), ws="none", lifespan="off", log_config=None,
        access_log=False, server_header=False, timeout_keep_alive=int(service.limits.idle_timeout), backlog=_BACKLOG,
        timeout_graceful_shutdown=10,  # a step that is compiled ends before its requests do
    ))  # fmt: skip
    told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    with _signals(told):
        serving = asyncio.create_task(server.serve([listener]))
        loading = asyncio.create_task(asyncio.to_thread(load))
        try:
            await asyncio.wait((loading, told, serving), return_when=asyncio.FIRST_COMPLETED)
            if loading.done():
                llm = loading.result()
                engine = AsyncLLM(llm, max_queue=service.limits.max_queue)
                service.open(engine)
                loaded(llm)
                warming = asyncio.create_task(_warm(service, engine))
                await asyncio.wait((told, serving), return_when=asyncio.FIRST_COMPLETED)
                warming.cancel()
                service.close()
                LOG.info("shutting down: %d requests may take up to %g s more; a second signal ends them",
                         engine.stats.running + engine.stats.waiting, service.limits.drain_timeout)  # fmt: skip
                if not await engine.drain(service.limits.drain_timeout):
                    LOG.warning("some requests were not finished in time")
        finally:
            service.close()
            server.should_exit = True
            await serving


async def _warm(service: Service, engine: AsyncLLM) -> None:
    """Compiles what requests will need. Those that come meanwhile are served between two compilations."""
    if service.options.warms_up:
        began = time.perf_counter()
        await engine.warm()
        LOG.info("steps are compiled, after %.1f s", time.perf_counter() - began)


class _Server(uvicorn.Server):
    """uvicorn's server, which leaves signals alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def _signals(told: asyncio.Future[None]) -> Iterator[None]:
    """Notes the first signal that ends a process; the second does end it."""
    loop = asyncio.get_running_loop()
    ends = signal.SIGINT, signal.SIGTERM

    def note() -> None:
        for each in ends:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        if not told.done():
            told.set_result(None)

    for each in ends:
        loop.add_signal_handler(each, note)
    try:
        yield
    finally:
        for each in ends:
            loop.remove_signal_handler(each)


def _raise_file_limit(wanted: int) -> int:
    """Asks for a file descriptor for each connection, and gives the number of connections for which there is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= wanted + _RESERVE:
        most = max(soft, wanted + _RESERVE)
    else:
        most = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(min(wanted, most - _RESERVE), 1)


def log_to_stderr(level: str) -> None:
    """Writes what happens to the error stream."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("tileproof.server", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
    LOG.setLevel(level.upper())
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
