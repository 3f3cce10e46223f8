"""What `/metrics` reports: the names of vLLM's metrics, so that dashboards made for it work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from ..engine.engine import EngineStats
from ..request import Request

_LABELS: Final = ("model_name", "engine")
_SECONDS: Final = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
                   40.0, 80.0, 160.0, 640.0, 2560.0)  # fmt: skip
_TOKENS: Final = tuple(digit * 10**power for power in range(6) for digit in (1, 2, 5))
_CHOICES: Final = (1, 2, 5, 10, 20, 50, 100)


class Metrics:
    """The metrics of a server: those of requests, which are counted here, and those that the engine keeps."""

    def __init__(self, prefix: str, model: str) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._prefix, self._values = prefix, (model, "0")
        ProcessCollector(registry=self._registry)

        def histogram(name: str, help: str, buckets: tuple[float, ...]) -> Histogram:
            full = f"{prefix}:{name}"
            return Histogram(full, help, _LABELS, buckets=buckets, registry=self._registry).labels(*self._values)

        self._first = histogram("time_to_first_token_seconds", "From arrival to the first token.", _SECONDS)
        self._between = histogram("inter_token_latency_seconds", "Between tokens of a request.", _SECONDS)
        self._each = histogram("request_time_per_output_token_seconds", "Mean between tokens, by request.", _SECONDS)
        self._whole = histogram("e2e_request_latency_seconds", "From arrival to the last token.", _SECONDS)
        self._queue = histogram("request_queue_time_seconds", "From arrival to the first step.", _SECONDS)
        self._prefill = histogram("request_prefill_time_seconds", "From the first step to the first token.", _SECONDS)
        self._decode = histogram("request_decode_time_seconds", "From the first token to the last.", _SECONDS)
        self._inference = histogram("request_inference_time_seconds", "From the first step to the last.", _SECONDS)
        self._prompt = histogram("request_prompt_tokens", "Tokens of a prompt.", _TOKENS)
        self._generated = histogram("request_generation_tokens", "Tokens generated for a request.", _TOKENS)
        self._most = histogram("request_params_max_tokens", "Most tokens that a request wants.", _TOKENS)
        self._choices = histogram("request_params_n", "Sequences that a request wants.", _CHOICES)
        labels = (*_LABELS, "finished_reason")
        name = f"{prefix}:request_success"
        self._success = Counter(name, "Finished requests, by reason.", labels, registry=self._registry)
        for reason in ("stop", "length", "abort"):
            self._success.labels(*self._values, reason)
        labels = ("method", "handler", "status")
        self._answers = Counter("http_requests", "HTTP requests, by answer.", labels, registry=self._registry)

    def watch(self, stats: Callable[[], EngineStats]) -> None:
        """Reports what an engine keeps, too."""
        self._registry.register(_EngineCollector(self._prefix, self._values, stats))

    def answered(self, method: str, handler: str, status: int) -> None:
        """An HTTP request has got its answer."""
        self._answers.labels(method, handler, str(status)).inc()

    def began(self, choices: int, max_tokens: int) -> None:
        """A request has been accepted."""
        self._choices.observe(choices)
        self._most.observe(max_tokens)

    def advanced(self, seconds: float, tokens: int) -> None:
        """A request has got some tokens, so long after those before."""
        for _ in range(tokens):
            self._between.observe(seconds / tokens)

    def finished(self, request: Request, finish: str) -> None:
        """A sequence is finished."""
        self._success.labels(*self._values, finish).inc()
        self._prompt.observe(len(request.prompt))
        self._generated.observe(len(request.generated))
        if not request.first_token:
            return
        self._first.observe(request.first_token - request.arrived)
        self._whole.observe(request.last_token - request.arrived)
        self._queue.observe(max(request.started - request.arrived, 0))
        self._prefill.observe(request.first_token - request.started)
        self._decode.observe(request.last_token - request.first_token)
        self._inference.observe(request.last_token - request.started)
        if len(request.generated) > 1:
            self._each.observe((request.last_token - request.first_token) / (len(request.generated) - 1))

    def page(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self._registry)


class _EngineCollector(Collector):
    def __init__(self, prefix: str, values: tuple[str, ...], stats: Callable[[], EngineStats]) -> None:
        self._prefix, self._values, self._stats = prefix, values, stats

    def collect(self) -> Iterator[Metric]:
        stats = self._stats()
        for name, help, value in (
            ("num_requests_running", "Sequences that run.", stats.running),
            ("num_requests_waiting", "Sequences that wait.", stats.waiting),
            ("kv_cache_usage_perc", "Share of the KV cache in use; 1 is all of it.", stats.cache_usage),
        ):
            gauge = GaugeMetricFamily(f"{self._prefix}:{name}", help, labels=_LABELS)
            gauge.add_metric(self._values, value)
            yield gauge
        for name, help, value in (
            ("prefix_cache_queries", "Tokens looked up in the prefix cache.", stats.prompt_tokens),
            ("prefix_cache_hits", "Tokens found in the prefix cache.", stats.cached_tokens),
            ("prompt_tokens", "Tokens of prompts that were computed.", stats.prefill_tokens),
            ("generation_tokens", "Tokens that were generated.", stats.generated_tokens),
            ("num_preemptions", "Sequences that lost their cache to others.", stats.preemptions),
            ("engine_steps", "Steps of the engine.", stats.steps),
        ):
            counter = CounterMetricFamily(f"{self._prefix}:{name}", help, labels=_LABELS)
            counter.add_metric(self._values, value)
            yield counter
