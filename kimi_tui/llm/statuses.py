"""Statuses: what a server's error answer means, in our words, and what to do about it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from kimi_tui.base.errors import APIStatusError, ContextTooLong
from kimi_tui.llm.context_limit import is_context_limit
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.json_text import parsed

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded_current_quota|billing_error|credit balance|insufficient.{0,12}balance"
    r"|exceeded your current quota|account.{0,30}suspended|余额不足|欠费",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|model[^.]{0,80}(?:not found|does not exist|not exist|unknown|no such)"
    r"|(?:not found|unknown|no such|pull)[^.]{0,40}model|模型不存在",
    re.IGNORECASE,
)
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "rate_limit_reached_error": 429,
    "insufficient_quota": 429,
    "exceeded_current_quota_error": 429,
    "engine_overloaded_error": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status with which the servers that name these types send them, when they fail before the stream."""


@dataclass(frozen=True, slots=True)
class ServerWords:
    """What a server said about its error."""

    message: str = ""
    marks: str = ""
    """Its code and type, for telling errors apart."""
    status: int | None = None
    """The HTTP status that the words themselves name."""

    def __str__(self) -> str:
        return f"{self.message} {self.marks}"


def server_words(body: str) -> ServerWords:
    """What the body of an error answer says; JSON of any of the known shapes, a web page, or plain text."""
    try:
        return words_in(parsed(body))
    except ValueError:
        if "<html" not in body[:1000].lower():
            return ServerWords(body)
        title = _TITLE.search(body)
        return ServerWords(title.group(1) if title else "")


def words_in(payload: Any) -> ServerWords:
    """What an error object says: `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}`, `{"detail":
    ...}`."""
    if isinstance(payload, list):
        payload = payload[0] if payload else ""
    if not isinstance(payload, dict):
        return ServerWords("" if payload is None else str(payload))
    inner = payload.get("error") or payload
    if not isinstance(inner, dict):
        return ServerWords(str(inner))
    message = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False)
    names = [str(inner[key]) for key in ("type", "code") if isinstance(inner.get(key), str | int)]
    numbers = [int(inner[key]) for key in ("code", "status", "status_code") if _is_status(inner.get(key))]
    known = [_STATUS_OF_TYPE[name] for name in names if name in _STATUS_OF_TYPE]
    return ServerWords(message, " ".join(names), next(iter((*numbers, *known)), None))


def status_failure(
    endpoint: Endpoint, status: int, words: ServerWords, headers: Mapping[str, str] | None = None
) -> APIStatusError:
    """The error to raise for an answer of `status`."""
    text = str(words)
    retry_after = retry_after_s(headers or {})
    if status == 413 or (status in {400, 422, 500} and is_context_limit(text)):
        return context_too_long(endpoint, status)
    what, hint = _in_our_words(endpoint, status, words, retry_after)
    return APIStatusError(what, status_code=status, hint=hint, retry_after=retry_after)


def context_too_long(endpoint: Endpoint, status: int = 400) -> ContextTooLong:
    """The request, or the request and the answer to it, exceed the model's window."""
    return ContextTooLong(
        f"The conversation is too long for {endpoint.model} at {endpoint.host} ({status}).",
        status_code=status,
        hint="Run /compact, or switch to a model with a larger context.",
    )


def stream_failure(endpoint: Endpoint, payload: Any) -> APIStatusError:
    """The error to raise for an error object that arrived inside a stream; 500 when it names no status."""
    words = words_in(payload)
    return status_failure(endpoint, words.status or (400 if is_context_limit(str(words)) else 500), words)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that Retry-After (seconds or an HTTP date) or retry-after-ms asks to wait; None without
    them."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _wait(float(milliseconds) / 1000)
        value = headers.get("retry-after", "")
        return _wait(float(value)) if value else None
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _wait((moment - datetime.now(UTC)).total_seconds())


def _wait(seconds: float) -> float | None:
    return max(0.0, seconds) if isfinite(seconds) else None


def _is_status(value: Any) -> bool:
    return str(value).isdecimal() and 400 <= int(value) <= 599


def _in_our_words(
    endpoint: Endpoint, status: int, words: ServerWords, retry_after: float | None
) -> tuple[str, str]:
    host, text = endpoint.host, str(words)
    said = endpoint.quote(words.message)
    stop = "" if said.endswith((".", "!", "?", "。", "！", "？", "…")) else "."
    because = f": {said}{stop}" if said else "."
    if status == 402 or (status in {400, 403, 429} and _NO_CREDIT.search(text)):
        return (
            f"The account at {host} has no credit left ({status}).",
            "Top it up, or use another model with --model.",
        )
    if status == 404 or (status in {400, 403} and _UNKNOWN_MODEL.search(text)):
        if _UNKNOWN_MODEL.search(text) or endpoint.model in words.message:
            return (
                f"{host} knows no model “{endpoint.model}” ({status}).",
                "Check the model's name in config.toml, or choose another with --model.",
            )
        return f"There is no chat service at {endpoint.address} ({status}).", _base_url_advice(endpoint)
    match status:
        case 401 if endpoint.api_key:
            return f"{host} refused the API key (401).", endpoint.key_advice
        case 401:
            return f"{host} asks for an API key and none is set (401).", endpoint.key_advice
        case 403:
            return f"{host} refused this key or region (403){because}", "Check what the key may use."
        case 405:
            return f"There is no chat service at {endpoint.address} (405).", _base_url_advice(endpoint)
        case 408 | 504:
            return f"{host} gave up waiting for the model ({status}){because}", "Try again in a moment."
        case 429:
            return f"{host} takes no more requests for now (429){because}", _wait_advice(retry_after)
        case 503 | 529:
            return f"{host} is overloaded ({status}){because}", _wait_advice(retry_after)
        case _ if status >= 500:
            return f"{host} failed ({status}){because}", "That is the server's fault: try again in a moment."
        case _:
            return (
                f"{host} refused the request ({status}){because}",
                "Try another model, or revert to the step before what it refuses.",
            )


def _base_url_advice(endpoint: Endpoint) -> str:
    if endpoint.kind == "anthropic":
        return "Check base_url: the path /v1/messages is added to it."
    return "Check base_url: it usually ends in /v1, and the path /chat/completions is added to it."


def _wait_advice(retry_after: float | None) -> str:
    if retry_after:
        return f"It asks to wait {retry_after:.0f} s." if retry_after >= 1 else "It asks to wait a moment."
    return "Wait a little and try again."
