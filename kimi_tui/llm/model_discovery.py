"""Discovery of a server's models, and of model servers on this machine. Doesn't use the SDKs.

Sources: OpenAI's `GET /v1/models`, which vLLM extends with `max_model_len`, llama.cpp with `meta.n_ctx` and
`meta.n_ctx_train`, OpenRouter and Together with `context_length`, Groq with `context_window` and Mistral with
`max_context_length`. Ollama's `POST /api/show`; LM Studio's `GET
/api/v0/models`.
"""

import asyncio
import json
import os
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from kimi_tui.base.errors import ChatProviderError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.llm.connection_test import check_key_accepted
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.errors import connection_error

TIMEOUT_S = 1.5
"""Timeout for servers on this machine. A running server responds immediately."""
_MAX_BYTES = 4_000_000
_MAX_ERROR_BYTES = 10_000
_MAX_MODELS = 500
_MAX_SIZE_QUERIES = 40
"""Maximum number of queries for context sizes. Ollama needs one per model; the other models have no size."""
_INVALID_RESPONSE = (HTTPException, ValueError, RecursionError)
_NON_CHAT_MODELS = ("embed", "bge-", "rerank", "whisper", "tts-", "dall-e")


@dataclass(frozen=True, slots=True)
class AvailableModel:
    """A server's model, with the server's information about it."""

    name: str
    max_context_size: int | None = None
    """Context window in tokens; None if the server doesn't report it."""
    price: Mapping[str, float] | None = None
    """US dollars per million `input`, `output` and `cached` tokens."""
    capabilities: frozenset[str] | None = None
    """A subset of `thinking` and `image_in`."""


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A program that serves models, and its default address."""

    name: str
    address: str
    """URL without a path."""


@dataclass(frozen=True, slots=True)
class DiscoveredServer:
    """A server that responded with a list of models."""

    name: str
    base_url: str
    models: tuple[AvailableModel, ...]


def known_servers(environ: Mapping[str, str] = os.environ) -> tuple[KnownServer, ...]:
    """Return the default addresses of common local servers. OLLAMA_HOST overrides Ollama's."""
    return (
        KnownServer("Ollama", _ollama_address(environ.get("OLLAMA_HOST", ""))),
        KnownServer("LM Studio", "http://127.0.0.1:1234"),
        KnownServer("vLLM", "http://127.0.0.1:8000"),
        KnownServer("llama.cpp", "http://127.0.0.1:8080"),
    )


async def discover_servers(servers: Sequence[KnownServer]) -> tuple[DiscoveredServer, ...]:
    """Query all `servers` concurrently and return those that list models."""
    responses = await asyncio.gather(*(asyncio.to_thread(_probe_server, server) for server in servers))
    return tuple(server for server in responses if server is not None)


async def fetch_models(
    base_url: str, *, api_key: str = "", timeout_s: float = 10.0
) -> tuple[AvailableModel, ...]:
    """Return the models that the server at `base_url` lists; empty if the server has no list.

    Raises ApiKeyRejected if the server rejects the key, and ChatProviderError if it can't be reached.
    """
    try:
        return await asyncio.to_thread(_fetch_models, base_url, api_key, timeout_s)
    except HTTPError as error:
        check_key_accepted(error.code, await asyncio.to_thread(_read_error, error))
        return ()
    except OSError as error:
        raise _unreachable_error(
            error, Endpoint(kind="openai", base_url=base_url, model="", api_key=api_key)
        ) from error
    except _INVALID_RESPONSE:
        return ()


def _unreachable_error(error: OSError, endpoint: Endpoint) -> ChatProviderError:
    """Return the error that an SDK's request would raise for the same failure."""
    import httpx2  # slow to import

    reason = error.reason if isinstance(error, URLError) else error
    kind = httpx2.ConnectTimeout if isinstance(reason, TimeoutError) else httpx2.ConnectError
    failure = kind(str(reason))
    failure.__cause__ = reason if isinstance(reason, OSError) else error
    return connection_error(failure, endpoint)


def _ollama_address(host: str) -> str:
    """Return the URL for a value of `OLLAMA_HOST` in any form that Ollama accepts. Wildcard hosts become
    loopback.
    """
    default = "http://127.0.0.1:11434"
    if not host:
        return default
    parts = urlsplit(host if "://" in host else f"http://{host}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80 if "://" in host else 11434)
    except ValueError:
        return default
    name = parts.hostname or "127.0.0.1"
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{port}"


def _probe_server(server: KnownServer) -> DiscoveredServer | None:
    base_url = f"{server.address}/v1"
    try:
        models = _fetch_models(base_url, "", TIMEOUT_S)
    except (OSError, *_INVALID_RESPONSE):
        return None
    if not models:
        return None
    match server.name:
        case "Ollama":
            models = tuple(
                AvailableModel(it.name, _ollama_context_size(server.address, it.name))
                if n < _MAX_SIZE_QUERIES
                else it
                for n, it in enumerate(models)
            )
        case "LM Studio":
            sizes = _lm_studio_context_sizes(server.address)
            models = tuple(AvailableModel(it.name, sizes.get(it.name, it.max_context_size)) for it in models)
        case _:
            pass
    return DiscoveredServer(server.name, base_url, models)


def _fetch_models(base_url: str, api_key: str, timeout_s: float) -> tuple[AvailableModel, ...]:
    """Return the listed models. Raises OSError, and _INVALID_RESPONSE if the response isn't valid JSON."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    data = _request_json(f"{base_url.rstrip('/')}/models", headers=headers, timeout_s=timeout_s)
    entries = data.get("data") if isinstance(data, dict) else None
    models = [
        AvailableModel(
            sanitize_line(entry["id"]),
            _context_size(entry),
            _price(entry),
            _capabilities(entry),
        )
        for entry in (entries if isinstance(entries, list) else [])[:_MAX_MODELS]
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]
    ]
    return tuple(it for it in models if not any(part in it.name.lower() for part in _NON_CHAT_MODELS))


def _context_size(entry: Mapping[str, Any]) -> int | None:
    meta = entry.get("meta")
    inner = meta if isinstance(meta, dict) else {}
    return _first_int(
        entry.get("max_model_len"),
        inner.get("n_ctx"),
        inner.get("n_ctx_train"),
        *(entry.get(name) for name in ("context_length", "context_window", "max_context_length")),
    )


def _price(entry: Mapping[str, Any]) -> dict[str, float] | None:
    """Return OpenRouter's prices, which are strings in US dollars per token."""
    pricing = entry.get("pricing")
    if not isinstance(pricing, dict):
        return None
    prices: dict[str, float] = {}
    for key, name in (("input", "prompt"), ("output", "completion"), ("cached", "input_cache_read")):
        value = pricing.get(name)
        try:
            amount = float(value) * 1_000_000 if isinstance(value, str) else -1.0
        except ValueError:
            continue
        if 0 <= amount < 1_000_000:
            prices[key] = round(amount, 6)
    return prices if "input" in prices and "output" in prices else None


def _capabilities(entry: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the capabilities that OpenRouter reports for a model."""
    architecture, parameters = entry.get("architecture"), entry.get("supported_parameters")
    if not isinstance(architecture, dict) or not isinstance(parameters, list):
        return None
    modalities = architecture.get("input_modalities")
    takes_images = isinstance(modalities, list) and "image" in modalities
    return frozenset(
        {*(["image_in"] if takes_images else []), *(["thinking"] if "reasoning" in parameters else [])}
    )


def _ollama_context_size(address: str, model: str) -> int | None:
    """Return the model's configured context size (`num_ctx`), or its maximum."""
    data = _fetch_json(f"{address}/api/show", body={"model": model})
    if not isinstance(data, dict):
        return None
    parameters, info = data.get("parameters"), data.get("model_info")
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, number = line.partition(" ")
        if name == "num_ctx" and number.strip().isdecimal():
            return _first_int(int(number))
    sizes = info.items() if isinstance(info, dict) else ()
    return _first_int(*(size for name, size in sizes if name.endswith(".context_length")))


def _lm_studio_context_sizes(address: str) -> dict[str, int]:
    """Return each model's context size in tokens: the loaded size, otherwise the maximum."""
    data = _fetch_json(f"{address}/api/v0/models")
    entries = data.get("data") if isinstance(data, dict) else None
    sizes: dict[str, int] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            size = _first_int(entry.get("loaded_context_length"), entry.get("max_context_length"))
            if size is not None:
                sizes[entry["id"]] = size
    return sizes


def _first_int(*candidates: object) -> int | None:
    return next(
        (it for it in candidates if isinstance(it, int) and not isinstance(it, bool) and it > 0), None
    )


def _fetch_json(url: str, *, body: Mapping[str, Any] | None = None) -> Any:
    """Return the JSON in the response. None if the request fails or the response isn't JSON."""
    try:
        return _request_json(url, body=body)
    except (OSError, *_INVALID_RESPONSE):
        return None


def _request_json(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Any:
    """Return the JSON in the response. Raises OSError, and _INVALID_RESPONSE if it isn't valid JSON."""
    data = None if body is None else json.dumps(body).encode()
    content_type = {"Content-Type": "application/json"} if data is not None else {}
    request = urllib.request.Request(url, data=data, headers={**(headers or {}), **content_type})
    with _opener(url).open(request, timeout=timeout_s) as response:
        return json.loads(_read_body(response, deadline=time.monotonic() + timeout_s))


def _read_error(error: HTTPError) -> str:
    """Return the beginning of the response of a failed request."""
    try:
        return error.read(_MAX_ERROR_BYTES).decode(errors="replace")
    except (OSError, HTTPException):
        return ""


def _read_body(response: HTTPResponse, *, deadline: float) -> bytes:
    """Read the whole body. Raises TimeoutError after `deadline` and ValueError if the body is too long."""
    body = b""
    while chunk := response.read1(65_536):
        body += chunk
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(body) > _MAX_BYTES:
            raise ValueError("the response is too long")
    return body


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return an opener that follows no redirects, and uses no proxy for servers on this machine.

    A redirect could send the key to another server.
    """
    is_local = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
    proxies = [urllib.request.ProxyHandler({})] if is_local else []
    return urllib.request.build_opener(*proxies, _NoRedirect())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Don't follow the redirect."""
