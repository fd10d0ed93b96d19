"""Reader of streamed responses for both protocols. Handles all ways in which a stream can fail."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import groupby, islice
from time import monotonic
from typing import Any, Protocol

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.errors import ChatProviderError
from kimi_tui.llm.lenient_json import loads_lenient
from kimi_tui.llm.provider import StreamPart
from kimi_tui.llm.transport import errors
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.http_errors import stream_error
from kimi_tui.llm.transport.read_throttle import ReadThrottle
from kimi_tui.llm.transport.sse import DONE, BodyKind, SseEvent, SseParser

TRAILING_EVENTS_TIMEOUT_S = 5.0
"""Seconds to wait for the usage report after the server declared the response complete."""

MAX_EVENT_BYTES = 256_000_000
"""Maximum size of one event, or of a response that isn't a stream. Larger ones are an error of the server."""

_BATCH_SIZE = 64
"""Events to process before yielding to the event loop, for instance to handle a key."""

_CLOSE_TIMEOUT_S = 0.2
"""Seconds to wait, after the last event, for the end of the body. Only then can the connection be reused."""


class StreamedResponse(Protocol):
    """The methods of the HTTP client's responses that this module uses."""

    def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """Iterate over the body as it arrives."""
        ...

    async def aclose(self) -> None:
        """Close the response and its connection."""
        ...


class ResponseParser(Protocol):
    """Converts the JSON objects of one response to parts."""

    @property
    def is_complete(self) -> bool:
        """Whether the server declared the response complete. Usage may still follow."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing can follow."""
        ...

    def parse_event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of one event. Raises ChatProviderError."""
        ...

    def parse_document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of a response that arrived as one JSON document. Raises ChatProviderError."""
        ...

    def usage_parts(self) -> Sequence[StreamPart]:
        """Return the usage that the server reported, if any. Call this after the stream has ended."""
        ...

    def finish(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """Return the last parts, after the stream ended. `was_ended`: the protocol's end marker arrived.

        Raises ChatProviderError if the response isn't complete.
        """
        ...


async def response_parts(
    response: StreamedResponse,
    parser: ResponseParser,
    endpoint: Endpoint,
    *,
    trailing_timeout_s: float = TRAILING_EVENTS_TIMEOUT_S,
    max_event_bytes: int = MAX_EVENT_BYTES,
) -> AsyncGenerator[StreamPart, None]:
    """Yield the parts of `response`, and close it at the end.

    Connection failures after the response is complete are ignored.

    Raises: APIConnectionError for a broken connection or invalid data. APITimeoutError if no byte arrives
    within the client's read timeout. APIStatusError for an error inside the stream. APIEmptyResponseError.
    """
    sse = SseParser()
    throttle = ReadThrottle()
    was_ended = False
    try:
        async with aclosing(response.aiter_bytes()) as chunks:
            while not was_ended and not parser.is_over:
                if throttle.pause_s:
                    await asyncio.sleep(throttle.pause_s)
                started_at = monotonic()
                chunk = await _next_chunk(chunks, parser, endpoint, trailing_timeout_s)
                throttle.record_read(monotonic() - started_at, len(chunk or b""))
                events = sse.feed(chunk) if chunk is not None else sse.finish()
                if sse.pending_bytes > max_event_bytes:
                    raise errors.response_too_long(endpoint, max_event_bytes)
                for batch in _batches(events):
                    parts, was_ended, failure = _parse_events(batch, parser, endpoint)
                    for part in parts:
                        yield part
                    if failure is not None:
                        raise failure
                    if was_ended:
                        break
                    if len(batch) == _BATCH_SIZE:
                        await asyncio.sleep(0)
                if chunk is None:
                    break
            else:
                await _close_stream(chunks)
        for part in _parse_remainder(sse, parser, endpoint):
            yield part
        for part in parser.usage_parts():  # first, as a response that isn't complete costs as much
            yield part
        for part in parser.finish(was_ended=was_ended):
            yield part
    finally:
        await response.aclose()


def _batches(events: Iterable[SseEvent]) -> Iterator[Sequence[SseEvent]]:
    source = iter(events)
    while batch := tuple(islice(source, _BATCH_SIZE)):
        yield batch


def _parse_events(
    events: Iterable[SseEvent], parser: ResponseParser, endpoint: Endpoint
) -> tuple[Sequence[StreamPart], bool, ChatProviderError | None]:
    """Return the parts of `events`, whether the end marker arrived, and the error after the parts, if any.

    Consecutive fragments are joined.
    """
    parts: list[StreamPart] = []
    try:
        for event in events:
            if event.data == DONE:
                return _join_parts(parts), True, None
            for payload in _payloads(event, endpoint):
                parts += parser.parse_event(payload)
    except ChatProviderError as error:
        return _join_parts(parts), False, error
    return _join_parts(parts), False, None


def _join_parts(parts: Sequence[StreamPart]) -> Sequence[StreamPart]:
    """Return `parts` with consecutive text or thinking joined. Each part causes work in all consumers."""
    if len(parts) < 2:
        return parts
    joined: list[StreamPart] = []
    for kind, run in groupby(parts, type):
        if kind is TextPart:
            joined.append(TextPart("".join(part.text for part in run if isinstance(part, TextPart))))
        elif kind is ThinkPart:
            joined += _join_thoughts(part for part in run if isinstance(part, ThinkPart))
        else:
            joined += run
    return joined


def _join_thoughts(thoughts: Iterable[ThinkPart]) -> Iterator[ThinkPart]:
    """Join thoughts up to each signature."""
    text: list[str] = []
    for thought in thoughts:
        text.append(thought.think)
        if thought.encrypted is not None:
            yield ThinkPart("".join(text), thought.encrypted)
            text.clear()
    if text:
        yield ThinkPart("".join(text))


async def _next_chunk(
    chunks: AsyncIterator[bytes], parser: ResponseParser, endpoint: Endpoint, trailing_timeout_s: float
) -> bytes | None:
    """Return the next bytes, or None at the end of the body."""
    try:
        if not parser.is_complete:
            return await anext(chunks, None)
        async with asyncio.timeout(trailing_timeout_s):
            return await anext(chunks, None)
    except errors.transport_errors() as error:
        if parser.is_complete:
            return None
        raise errors.connection_error(error, endpoint) from error


async def _close_stream(chunks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            async for _ in chunks:
                pass
    except errors.transport_errors():
        return


def _payloads(event: SseEvent, endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    """Return the JSON objects of `event`: one object, or one per line if the server omits blank lines."""
    if not event.data:
        return ()
    try:
        value = loads_lenient(event.data)
        if type(value) is dict and not event.is_error and not _is_error(value):
            return (value,)
        values = [value]
    except ValueError:
        values = _payloads_by_line(event, endpoint)
    for value in values:
        if event.is_error or (isinstance(value, dict) and _is_error(value)):
            raise stream_error(endpoint, value)
    return [value for value in values if isinstance(value, dict)]


def _payloads_by_line(event: SseEvent, endpoint: Endpoint) -> list[Any]:
    lines = [line for line in event.data.split("\n") if line.strip()]
    if event.is_error:
        raise stream_error(endpoint, event.data)
    try:
        return [loads_lenient(line) for line in lines]
    except ValueError:
        raise errors.malformed_response(endpoint, event.data) from None


def _is_error(payload: dict[str, Any]) -> bool:
    return bool(payload.get("error")) or payload.get("object") == "error" or payload.get("type") == "error"


def _parse_remainder(sse: SseParser, parser: ResponseParser, endpoint: Endpoint) -> Sequence[StreamPart]:
    """Return the parts of a body that isn't an event stream."""
    match sse.kind:
        case BodyKind.EVENTS:
            if sse.stray_line and not sse.has_events:
                raise errors.malformed_response(endpoint, sse.stray_line)
            return ()
        case BodyKind.UNKNOWN:
            raise errors.empty_response(endpoint)
        case BodyKind.WEB_PAGE:
            raise errors.web_page_response(endpoint)
        case BodyKind.DOCUMENT:
            return _parse_document(sse.document(), parser, endpoint)


def _parse_document(text: str, parser: ResponseParser, endpoint: Endpoint) -> Sequence[StreamPart]:
    try:
        payload = loads_lenient(text)
    except ValueError:
        raise errors.malformed_response(endpoint, text) from None
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        raise errors.malformed_response(endpoint, text)
    if _is_error(payload):
        raise stream_error(endpoint, payload)
    return parser.parse_document(payload)
