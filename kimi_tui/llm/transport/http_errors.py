"""Conversion of HTTP error responses to errors with a readable message and a hint."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from kimi_tui.base.errors import APIStatusError, ContextTooLong
from kimi_tui.base.message_text import msg
from kimi_tui.llm.lenient_json import loads_lenient
from kimi_tui.llm.transport.context_limit import is_context_limit
from kimi_tui.llm.transport.endpoint import Endpoint

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
    "invalid_prompt": 400,
    "bio_policy": 400,
    "misalignment_policy_violation": 400,
    "invalid_image": 400,
    "invalid_image_format": 400,
    "invalid_base64_image": 400,
    "image_too_large": 400,
    "image_file_too_large": 400,
    "unsupported_image_media_type": 400,
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
"""HTTP status that corresponds to an error type, for errors that arrive inside a stream."""


@dataclass(frozen=True, slots=True)
class ServerMessage:
    """A server's description of its error."""

    message: str = ""
    codes: str = ""
    """The error's type and code, for classification."""
    status: int | None = None
    """HTTP status in the body; None without one."""

    def __str__(self) -> str:
        return f"{self.message} {self.codes}"


def parse_server_message(body: str) -> ServerMessage:
    """Parse the body of an error response: JSON in any known shape, a web page, or plain text."""
    try:
        return parse_error_object(loads_lenient(body))
    except ValueError:
        if "<html" not in body[:1000].lower():
            return ServerMessage(body)
        title = _TITLE.search(body)
        return ServerMessage(title.group(1) if title else "")


def parse_error_object(payload: Any) -> ServerMessage:
    """Parse an error object.

    Known shapes: `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}` and `{"detail": ...}`.
    """
    if isinstance(payload, list):
        payload = payload[0] if payload else ""
    if not isinstance(payload, dict):
        return ServerMessage("" if payload is None else str(payload))
    inner = payload.get("error") or payload
    if not isinstance(inner, dict):
        return ServerMessage(str(inner))
    message = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False)
    names = [str(inner[key]) for key in ("type", "code") if isinstance(inner.get(key), str | int)]
    numbers = [int(inner[key]) for key in ("code", "status", "status_code") if _is_status(inner.get(key))]
    by_type = [_STATUS_OF_TYPE[name] for name in names if name in _STATUS_OF_TYPE]
    return ServerMessage(message, " ".join(names), next(iter((*numbers, *by_type)), None))


def status_error(
    endpoint: Endpoint, status: int, server_message: ServerMessage, headers: Mapping[str, str] | None = None
) -> APIStatusError:
    """Return the error to raise for a response with `status`."""
    text = str(server_message)
    retry_after = retry_after_s(headers or {})
    if status == 413 or (status in {400, 422, 500} and is_context_limit(text)):
        return context_too_long(endpoint, status)
    what, hint = _describe_status(endpoint, status, server_message, retry_after)
    return APIStatusError(what, status_code=status, hint=hint, retry_after=retry_after)


def context_too_long(endpoint: Endpoint, status: int = 400) -> ContextTooLong:
    """Return the error for a request that exceeds the context window, alone or with its response."""
    return ContextTooLong(
        msg(
            "The conversation is too long for {model} at {host} ({status}).",
            model=endpoint.model,
            host=endpoint.host,
            status=status,
        ),
        status_code=status,
        hint="Run /compact, or switch to a model with a larger context window.",
    )


def stream_error(endpoint: Endpoint, payload: Any) -> APIStatusError:
    """Return the error for an error object inside a stream. The default status is 500."""
    message = parse_error_object(payload)
    default_status = 400 if is_context_limit(str(message)) else 500
    return status_error(endpoint, message.status or default_status, message)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait according to Retry-After (seconds or an HTTP date) or retry-after-ms.

    None without such a header.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _valid_wait(float(milliseconds) / 1000)
        value = headers.get("retry-after", "")
        return _valid_wait(float(value)) if value else None
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _valid_wait((moment - datetime.now(UTC)).total_seconds())


def _valid_wait(seconds: float) -> float | None:
    return max(0.0, seconds) if isfinite(seconds) else None


def _is_status(value: Any) -> bool:
    return str(value).isdecimal() and 400 <= int(value) <= 599


def _describe_status(
    endpoint: Endpoint, status: int, server_message: ServerMessage, retry_after: float | None
) -> tuple[str, str]:
    host, text = endpoint.host, str(server_message)
    quote = endpoint.redact(server_message.message)
    period = "" if quote.endswith((".", "!", "?", "。", "！", "？", "…")) else "."
    because = f": {quote}{period}" if quote else "."
    if status == 402 or (status in {400, 403, 429} and _NO_CREDIT.search(text)):
        return (
            msg("The account at {host} has no credit left ({status}).", host=host, status=status),
            "Add credit, or choose another model with --model.",
        )
    if status == 404 or (status in {400, 403} and _UNKNOWN_MODEL.search(text)):
        if _UNKNOWN_MODEL.search(text) or endpoint.model in server_message.message:
            return (
                msg(
                    "{host} has no model named “{model}” ({status}).",
                    host=host,
                    model=endpoint.model,
                    status=status,
                ),
                "Check the model name in config.toml, or choose another model with --model.",
            )
        return msg(
            "No chat API at {address} ({status}).", address=endpoint.address, status=status
        ), _base_url_advice(endpoint)
    match status:
        case 401 if endpoint.api_key:
            return msg("{host} rejected the API key (401).", host=host), endpoint.key_advice
        case 401:
            return msg("{host} requires an API key, and none is set (401).", host=host), endpoint.key_advice
        case 403:
            return msg(
                "{host} denied access (403){reason}", host=host, reason=because
            ), "Check the permissions and region of the API key."
        case 405:
            return msg("No chat API at {address} (405).", address=endpoint.address), _base_url_advice(
                endpoint
            )
        case 408 | 504:
            return msg(
                "{host} timed out waiting for the model ({status}){reason}",
                host=host,
                status=status,
                reason=because,
            ), "Try again in a moment."
        case 429:
            return msg("Rate limit of {host} reached (429){reason}", host=host, reason=because), _wait_advice(
                retry_after
            )
        case 503 | 529:
            return msg(
                "{host} is overloaded ({status}){reason}", host=host, status=status, reason=because
            ), _wait_advice(retry_after)
        case _ if status >= 500:
            return msg(
                "{host} failed ({status}){reason}", host=host, status=status, reason=because
            ), "This is a server error. Try again in a moment."
        case _:
            return (
                msg(
                    "{host} rejected the request ({status}){reason}", host=host, status=status, reason=because
                ),
                "Try another model, or revert to an earlier checkpoint.",
            )


def _base_url_advice(endpoint: Endpoint) -> str:
    if endpoint.kind == "anthropic":
        return "Check base_url. The path /v1/messages is added to it."
    if endpoint.kind == "openai_responses":
        return (
            "Check base_url: the path /responses is added to it. If the server lacks the Responses API, use "
            'type = "openai".'
        )
    return "Check base_url. It usually ends in /v1, and the path /chat/completions is added to it."


def _wait_advice(retry_after: float | None) -> str:
    if retry_after:
        return (
            msg("Try again in {seconds:.0f} s.", seconds=retry_after)
            if retry_after >= 1
            else "Try again in a moment."
        )
    return "Try again in a moment."
