"""What a server offers: its models, asked for without an SDK, and the servers of this machine.

Sources: OpenAI's `GET /v1/models`, to which vLLM adds `max_model_len`, llama.cpp `meta.n_ctx` and
`meta.n_ctx_train`; Ollama's `POST /api/show`; LM Studio's `GET /api/v0/models`.
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
from urllib.parse import urlsplit

from kimi_tui.base.terminal import plain_line

PATIENCE_S = 1.5
"""For a server of this machine, which answers at once or not at all."""
_MOST_BYTES = 4_000_000
_MOST_MODELS = 500
_MOST_SHOWN = 40
"""Of Ollama's models so many are asked about one by one."""
_NOT_FOR_TALKING = ("embed", "bge-", "rerank", "whisper", "tts-", "dall-e")


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model of a server, and how many tokens it holds, if the server says so."""

    name: str
    max_context_size: int | None = None


@dataclass(frozen=True, slots=True)
class UsualServer:
    """A program that serves models, and where it does so unless it is told otherwise."""

    name: str
    address: str
    """Without a path."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answers."""

    name: str
    base_url: str
    models: tuple[OfferedModel, ...]


def usual_servers(environ: Mapping[str, str] = os.environ) -> tuple[UsualServer, ...]:
    """Where the servers that people run at home are; Ollama's follows OLLAMA_HOST, as Ollama does."""
    return (
        UsualServer("Ollama", _ollama(environ.get("OLLAMA_HOST", ""))),
        UsualServer("LM Studio", "http://127.0.0.1:1234"),
        UsualServer("vLLM", "http://127.0.0.1:8000"),
        UsualServer("llama.cpp", "http://127.0.0.1:8080"),
    )


async def found_servers(usual: Sequence[UsualServer]) -> tuple[FoundServer, ...]:
    """Those that answer with models, all asked at the same time."""
    found = await asyncio.gather(*(asyncio.to_thread(_found, server) for server in usual))
    return tuple(server for server in found if server is not None)


async def offered_models(
    base_url: str, *, api_key: str = "", patience_s: float = 10.0
) -> tuple[OfferedModel, ...]:
    """The models that the server at `base_url` names; none when it doesn't."""
    return await asyncio.to_thread(_listed, base_url, api_key, patience_s)


def _ollama(host: str) -> str:
    """`OLLAMA_HOST` in any of the forms that Ollama takes, as an address; everywhere means here."""
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


def _found(server: UsualServer) -> FoundServer | None:
    base_url = f"{server.address}/v1"
    models = _listed(base_url, "", PATIENCE_S)
    if not models:
        return None
    match server.name:
        case "Ollama":
            models = tuple(
                OfferedModel(it.name, _size_in_ollama(server.address, it.name)) if n < _MOST_SHOWN else it
                for n, it in enumerate(models)
            )
        case "LM Studio":
            sizes = _sizes_in_lm_studio(server.address)
            models = tuple(OfferedModel(it.name, sizes.get(it.name, it.max_context_size)) for it in models)
        case _:
            pass
    return FoundServer(server.name, base_url, models)


def _listed(base_url: str, api_key: str, patience_s: float) -> tuple[OfferedModel, ...]:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    data = _answer(f"{base_url.rstrip('/')}/models", headers=headers, patience_s=patience_s)
    entries = data.get("data") if isinstance(data, dict) else None
    found = [
        OfferedModel(plain_line(entry["id"]), _size(entry))
        for entry in (entries if isinstance(entries, list) else [])[:_MOST_MODELS]
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]
    ]
    return tuple(it for it in found if not any(part in it.name.lower() for part in _NOT_FOR_TALKING))


def _size(entry: Mapping[str, Any]) -> int | None:
    meta = entry.get("meta")
    inner = meta if isinstance(meta, dict) else {}
    return _whole(entry.get("max_model_len"), inner.get("n_ctx"), inner.get("n_ctx_train"))


def _size_in_ollama(address: str, model: str) -> int | None:
    """What is set for the model (`num_ctx`), else what it was made for."""
    data = _answer(f"{address}/api/show", body={"model": model})
    if not isinstance(data, dict):
        return None
    parameters, info = data.get("parameters"), data.get("model_info")
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, number = line.partition(" ")
        if name == "num_ctx" and number.strip().isdecimal():
            return _whole(int(number))
    sizes = info.items() if isinstance(info, dict) else ()
    return _whole(*(size for name, size in sizes if name.endswith(".context_length")))


def _sizes_in_lm_studio(address: str) -> dict[str, int]:
    """What each model is loaded with, else what it can hold."""
    data = _answer(f"{address}/api/v0/models")
    entries = data.get("data") if isinstance(data, dict) else None
    sizes: dict[str, int] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            size = _whole(entry.get("loaded_context_length"), entry.get("max_context_length"))
            if size is not None:
                sizes[entry["id"]] = size
    return sizes


def _whole(*candidates: object) -> int | None:
    return next(
        (it for it in candidates if isinstance(it, int) and not isinstance(it, bool) and it > 0), None
    )


def _answer(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    patience_s: float = PATIENCE_S,
) -> Any:
    """The JSON that the server answers with; None when it is none, or nobody answers."""
    data = None if body is None else json.dumps(body).encode()
    more = {"Content-Type": "application/json"} if data is not None else {}
    try:
        request = urllib.request.Request(url, data=data, headers={**(headers or {}), **more})
        with _opener(url).open(request, timeout=patience_s) as response:
            return json.loads(_body(response, until=time.monotonic() + patience_s))
    except (OSError, HTTPException, ValueError, RecursionError):
        return None


def _body(response: HTTPResponse, *, until: float) -> bytes:
    """All of it. Raises TimeoutError for one that comes drop by drop, ValueError for one without end."""
    body = b""
    while piece := response.read1(65_536):
        body += piece
        if time.monotonic() > until:
            raise TimeoutError
        if len(body) > _MOST_BYTES:
            raise ValueError("the answer is too long")
    return body


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Past every proxy for this machine; a key is sent to no other address than the one that was named."""
    here = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
    proxies = [urllib.request.ProxyHandler({})] if here else []
    return urllib.request.build_opener(*proxies, _NoRedirect())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing."""
