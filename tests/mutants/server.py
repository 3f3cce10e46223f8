"""Mutants of the server: keys, names of hosts, limits, checks of bodies, and clients that leave."""

from __future__ import annotations

from .mutant import Mutant

_ACCESS = "tests/llm/server/test_access.py::"
_FIELD = "tests/llm/server/test_errors.py::test_a_mistake_in_a_field_names_it"
_REQUEST = "tests/llm/server/test_errors.py::test_a_mistake_of_the_request_has_a_status_and_a_code"
_SERVER = "src/tileproof/llm/server/"

SERVER = [
    Mutant(
        _SERVER + "auth.py",
        "        if not any(matches):",
        "        if not sent:",
        _ACCESS + "test_a_request_needs_one_of_the_keys[headers1-401]",
        "A server with keys answers nobody without one of them.",
    ),
    Mutant(
        _SERVER + "auth.py",
        'if scheme.lower() == "bearer" else',
        "if token else",
        _ACCESS + "test_a_request_needs_one_of_the_keys[headers2-401]",
        "A key is sent as a bearer token.",
    ),
    Mutant(
        _SERVER + "auth.py",
        'frozenset({"/health", "/ping",',
        'frozenset({"/health", "/v1/models", "/ping",',
        _ACCESS + "test_a_request_needs_one_of_the_keys[headers0-401]",
        "Without a key only health and the page are answered.",
    ),
    Mutant(
        _SERVER + "auth.py",
        "if not (is_loopback(name) or name.lower() in allowed):",
        "if not name:",
        _REQUEST + "[GET-/v1/models-None-headers11-403-host_not_allowed]",
        "A web page cannot reach a server without keys by a name of its own.",
    ),
    Mutant(
        _SERVER + "auth.py",
        "return ipaddress.ip_address(name).is_loopback",
        "return bool(ipaddress.ip_address(name))",
        _REQUEST + "[GET-/v1/models-None-headers12-403-host_not_allowed]",
        "An address of the network is no loopback address.",
    ),
    Mutant(
        _SERVER + "endpoint.py",
        'client = "" if self.service.options.shares_prefixes else self.client',
        'client = ""',
        _ACCESS + "test_cached_prompts_are_shared_between_requests_of_one_key_and_salt_alone",
        "Clients with different keys share no cached prompts.",
    ),
    Mutant(
        _SERVER + "endpoint.py",
        "return f\"{client}:{own or ''}\"",
        'return f"{client}:"',
        _ACCESS + "test_cached_prompts_are_shared_between_requests_of_one_key_and_salt_alone",
        "Requests with different salts share no cached prompts.",
    ),
    Mutant(
        _SERVER + "page/files.py",
        "script-src 'self'; style-src",
        "script-src 'self' 'unsafe-inline'; style-src",
        "tests/llm/server/test_page.py::test_the_policy_allows_the_server_itself_and_nothing_else[/]",
        "No text that a model writes runs as a script of the page.",
    ),
    Mutant(
        _SERVER + "bodies.py",
        'if kind != "application/json":',
        "if not kind:",
        _REQUEST + "[POST-/v1/chat/completions-{}-headers7-415-unsupported_media_type]",
        "A web page of another origin cannot send a body unasked.",
    ),
    Mutant(
        _SERVER + "bodies.py",
        "            if size > limits.max_body:",
        "            if size > 10 * limits.max_body:",
        _ACCESS + "test_a_body_over_the_limit_is_rejected_and_not_read",
        "A body of unknown length is not read beyond the limit.",
    ),
    Mutant(
        _SERVER + "app.py",
        "if self._running > self._service.limits.max_requests and path not in OPEN_PATHS:",
        "if self._running > 2 * self._service.limits.max_requests and path not in OPEN_PATHS:",
        _ACCESS + "test_too_many_requests_at_a_time_are_429_and_health_is_answered",
        "No more requests are answered at a time than may be.",
    ),
    Mutant(
        "src/tileproof/llm/async_llm.py",
        "if len(self._streams) >= self.max_queue",
        "if len(self._streams) > self.max_queue",
        _ACCESS + "test_a_full_queue_is_429_with_the_time_to_wait",
        "No more sequences wait than may.",
    ),
    Mutant(
        _SERVER + "generation.py",
        "    if count > most:",
        "    if count > 8 * most:",
        _FIELD + "[/v1/completions-fields13-n-limit]",
        "A request has no more sequences than it may.",
    ),
    Mutant(
        _SERVER + "sse.py",
        '    while (await receive())["type"] != "http.disconnect":\n        pass',
        "    await asyncio.Event().wait()",
        _ACCESS + "test_a_client_that_leaves_ends_its_request[True]",
        "A client that leaves ends its request.",
    ),
    Mutant(
        "src/tileproof/llm/engine/engine.py",
        "                    request.cancel()\n                    self.loop.end(request)",
        "                    pass",
        _ACCESS + "test_a_client_that_leaves_ends_its_request[False]",
        "A request that is aborted is not computed further.",
    ),
    Mutant(
        _SERVER + "connections.py",
        "        if self.count > self._most:",
        "        if self.count > 10 * self._most:",
        _ACCESS + "test_connections_that_send_nothing_leave_room_for_those_that_do",
        "Connections that send nothing are closed for those that do.",
    ),
    Mutant(
        _SERVER + "service.py",
        "if self._engine is None or self.phase is not Phase.READY:",
        "if self._engine is None:",
        _ACCESS + "test_sigterm_lets_answers_finish_and_takes_no_more",
        "A server that shuts down takes no requests.",
    ),
    Mutant(
        _SERVER + "service.py",
        "if name is not None and name not in (self.options.model, *self.options.aliases):",
        'if name == "":',
        _REQUEST + '[POST-/v1/completions-{"prompt": "x", "model": "gpt"}-headers9-404-model_not_found]',
        "A request for another model is not answered by this one.",
    ),
    Mutant(
        _SERVER + "schemas/common.py",
        "strict=True, extra",
        "strict=False, extra",
        _FIELD + "[/v1/completions-fields7-temperature-a number]",
        "A field of another type is an error.",
    ),
    Mutant(
        _SERVER + "schemas/common.py",
        "if value not in self.unsupported[name]:",
        "if value is None:",
        _FIELD + "[/v1/completions-fields12-suffix-not supported]",
        "A field that would change the answer and cannot be honored is an error.",
    ),
    Mutant(
        _SERVER + "schemas/common.py",
        "elif name not in known and (meant := near_miss(name, known)):",
        'elif name not in known and (meant := near_miss(name, known)) == "":',
        _FIELD + "[/v1/completions-fields9-temprature-did you mean temperature?]",
        "A misspelled field is an error.",
    ),
    Mutant(
        _SERVER + "schemas/chat.py",
        'case "required" if not names:',
        'case "required" if names is None:',
        _FIELD + "[/v1/chat/completions-fields28-tool_choice-no tools]",
        "A call of a tool is required only where there are tools.",
    ),
]
