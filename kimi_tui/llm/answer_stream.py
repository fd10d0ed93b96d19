"""The answer stream: a response of either dialect read to its end, with every way in which it can break."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Protocol

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.errors import ChatProviderError
from kimi_tui.llm import failures
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.event_stream import DONE, BodyKind, Event, EventSplitter
from kimi_tui.llm.gathering import Gathering
from kimi_tui.llm.json_text import parsed
from kimi_tui.llm.provider import StreamPart
from kimi_tui.llm.statuses import stream_failure

if TYPE_CHECKING:
    import httpx2

AFTERTHOUGHT_S = 5.0
"""Seconds that a server has, once it has said that its answer is complete, for the usage report to follow."""

LONGEST_EVENT = 256_000_000
"""Bytes of one event, or of an answer that is no stream, after which a server counts as broken."""

_BITE = 64
"""Events that are taken in at once; then others have their turn, a key for instance."""

_HANG_UP_S = 0.2
"""Seconds that a server has, after the last event, to end the body, so that the connection can be used
again."""


class AnswerParser(Protocol):
    """Turns the JSON objects of one answer into parts."""

    @property
    def is_complete(self) -> bool:
        """Whether the server has said that the answer is complete; usage may still follow."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing can follow any more."""
        ...

    def event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """The parts of one event. Raises ChatProviderError."""
        ...

    def document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """The parts of a whole answer that came as one JSON document. Raises ChatProviderError."""
        ...

    def end(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """What remains to be said when the stream is over; `was_ended` is whether the dialect's end mark
        came.

        Raises ChatProviderError when that was no whole answer.
        """
        ...


async def answer_parts(
    response: "httpx2.Response",
    parser: AnswerParser,
    endpoint: Endpoint,
    *,
    afterthought_s: float = AFTERTHOUGHT_S,
    longest_event: int = LONGEST_EVENT,
) -> AsyncGenerator[StreamPart, None]:
    """The parts of the answer in `response`, which is closed at the end.

    Raises APIConnectionError for a connection that breaks and for what can't be read, APITimeoutError when
    not a byte came for the client's read time-out, APIStatusError for an error inside the stream,
    APIEmptyResponseError. Once the answer is complete, no failure of the connection counts any more.
    """
    splitter = EventSplitter()
    gathering = Gathering()
    was_ended = False
    try:
        async with aclosing(response.aiter_bytes()) as chunks:
            while not was_ended and not parser.is_over:
                chunk = await gathering.read(lambda: _next_chunk(chunks, parser, endpoint, afterthought_s))
                events = splitter.feed(chunk) if chunk is not None else splitter.finish()
                if splitter.held > longest_event:
                    raise failures.endless(endpoint, longest_event)
                for bite in _bites(events):
                    parts, was_ended, failure = _parts_of(bite, parser, endpoint)
                    for part in parts:
                        yield part
                    if failure is not None:
                        raise failure
                    if was_ended:
                        break
                    if len(bite) == _BITE:
                        await asyncio.sleep(0)
                if chunk is None:
                    break
            else:
                await _hang_up(chunks)
        for part in _rest(splitter, parser, endpoint):
            yield part
        for part in parser.end(was_ended=was_ended):
            yield part
    finally:
        await response.aclose()


def _bites(events: Iterable[Event]) -> Iterator[Sequence[Event]]:
    source = iter(events)
    while bite := tuple(islice(source, _BITE)):
        yield bite


def _parts_of(
    events: Iterable[Event], parser: AnswerParser, endpoint: Endpoint
) -> tuple[Sequence[StreamPart], bool, ChatProviderError | None]:
    """The parts of `events`, fragments that follow one another joined; whether the end mark came; and what
    broke the answer off behind them."""
    parts: list[StreamPart] = []
    try:
        for event in events:
            if event.data == DONE:
                return _joined(parts), True, None
            for payload in _payloads(event, endpoint):
                parts += parser.event(payload)
    except ChatProviderError as error:
        return _joined(parts), False, error
    return _joined(parts), False, None


def _joined(parts: Sequence[StreamPart]) -> Sequence[StreamPart]:
    """`parts` with a run of text, or of thoughts, as one: each costs all who follow the answer some work."""
    if len(parts) < 2:
        return parts
    joined: list[StreamPart] = []
    for kind, run in groupby(parts, type):
        if kind is TextPart:
            joined.append(TextPart("".join(part.text for part in run if isinstance(part, TextPart))))
        elif kind is ThinkPart:
            joined += _joined_thoughts(part for part in run if isinstance(part, ThinkPart))
        else:
            joined += run
    return joined


def _joined_thoughts(thoughts: Iterable[ThinkPart]) -> Iterator[ThinkPart]:
    """Thoughts up to a signature are one."""
    text: list[str] = []
    for thought in thoughts:
        text.append(thought.think)
        if thought.encrypted is not None:
            yield ThinkPart("".join(text), thought.encrypted)
            text.clear()
    if text:
        yield ThinkPart("".join(text))


async def _next_chunk(
    chunks: AsyncIterator[bytes], parser: AnswerParser, endpoint: Endpoint, afterthought_s: float
) -> bytes | None:
    """The next bytes; None at the end of the body."""
    try:
        if not parser.is_complete:
            return await anext(chunks, None)
        async with asyncio.timeout(afterthought_s):
            return await anext(chunks, None)
    except failures.transport_errors() as error:
        if parser.is_complete:
            return None
        raise failures.connection_failure(error, endpoint) from error


async def _hang_up(chunks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(_HANG_UP_S):
            async for _ in chunks:
                pass
    except failures.transport_errors():
        return


def _payloads(event: Event, endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    """The JSON objects of `event`: one, or one a line where a server forgets the blank lines between
    events."""
    try:
        values = [parsed(event.data)] if event.data else []
    except ValueError:
        values = _payloads_by_line(event, endpoint)
    for value in values:
        if event.is_error or (isinstance(value, dict) and _is_error(value)):
            raise stream_failure(endpoint, value)
    return [value for value in values if isinstance(value, dict)]


def _payloads_by_line(event: Event, endpoint: Endpoint) -> list[Any]:
    lines = [line for line in event.data.split("\n") if line.strip()]
    if event.is_error:
        raise stream_failure(endpoint, event.data)
    try:
        return [parsed(line) for line in lines]
    except ValueError:
        raise failures.garbled(endpoint, event.data) from None


def _is_error(payload: dict[str, Any]) -> bool:
    return bool(payload.get("error")) or payload.get("object") == "error" or payload.get("type") == "error"


def _rest(splitter: EventSplitter, parser: AnswerParser, endpoint: Endpoint) -> Sequence[StreamPart]:
    """What the body holds when it was no stream of events."""
    match splitter.kind:
        case BodyKind.EVENTS:
            if splitter.stray and not splitter.had_events:
                raise failures.garbled(endpoint, splitter.stray)
            return ()
        case BodyKind.UNKNOWN:
            raise failures.empty_answer(endpoint)
        case BodyKind.WEB_PAGE:
            raise failures.web_page(endpoint)
        case BodyKind.DOCUMENT:
            return _document_parts(splitter.document(), parser, endpoint)


def _document_parts(text: str, parser: AnswerParser, endpoint: Endpoint) -> Sequence[StreamPart]:
    try:
        payload = parsed(text)
    except ValueError:
        raise failures.garbled(endpoint, text) from None
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        raise failures.garbled(endpoint, text)
    if _is_error(payload):
        raise stream_failure(endpoint, payload)
    return parser.document(payload)
