"""The state of a server: its model once it is loaded, and what it may still take on."""

from __future__ import annotations

import time
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from ..async_llm import AsyncLLM
from .auth import Keys
from .errors import ApiError, unavailable
from .metrics import Metrics
from .options import ServerOptions


def installed_version() -> str:
    """The version of tileproof."""
    try:
        return version("tileproof")
    except PackageNotFoundError:
        return "0"


VERSION: Final = installed_version()


class Phase(Enum):
    """What a server does, as `/health` reports it."""

    LOADING = "the model is being loaded"
    READY = "ready"
    DRAINING = "the server is shutting down"


class Service:
    """A server's options, model and metrics, which its routes share."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.limits = options.limits
        self.keys = Keys(options.api_keys)
        self.metrics = Metrics(options.metrics_prefix, options.model)
        self.phase = Phase.LOADING
        self.created = int(time.time())
        self._engine: AsyncLLM | None = None

    def open(self, engine: AsyncLLM) -> None:
        """Takes requests from now on."""
        self._engine, self.phase = engine, Phase.READY
        self.metrics.watch(lambda: engine.stats)

    def close(self) -> None:
        """Takes no more requests."""
        self.phase = Phase.DRAINING

    @property
    def engine(self) -> AsyncLLM:
        """The engine, if requests can be taken."""
        if self._engine is None or self.phase is not Phase.READY:
            raise unavailable(self.phase.value)
        return self._engine

    def check_model(self, name: str | None) -> None:
        """Rejects the name of another model. A request without a name means the one there is."""
        if name is not None and name not in (self.options.model, *self.options.aliases):
            message = f"there is no model {name[:200]!r}; this server has {self.options.model!r}"
            raise ApiError(404, message, param="model", code="model_not_found")
