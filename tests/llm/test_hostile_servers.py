"""Servers that break off anywhere, never end a line, or keep the connection open without sending anything."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIConnectionError, APIEmptyResponseError, ChatProviderError
from kimi_tui.llm.anthropic.stream import MessagesStream
from kimi_tui.llm.openai.stream import ChatStream
from kimi_tui.llm.provider import ProviderKind
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.http_errors import parse_server_message, status_error
from kimi_tui.llm.transport.response_stream import ResponseParser, response_parts
from tests.llm import anthropic_wire, openai_wire
from tests.llm.conversations import CollectedResponse, ask, provider_for
from tests.llm.scripted_responses import Call, ScriptedResponse
from tests.timeouts import TEST_TIMEOUT_S

OPENAI = Endpoint(kind="openai", base_url="http://127.0.0.1/v1", model="m")
ANTHROPIC = Endpoint(kind="anthropic", base_url="http://127.0.0.1", model="m")
RESPONSE = ScriptedResponse(
    text="grün 🚪 yes", thinking="hm", tool_calls=(Call("ReadFile", {"path": "a b"}),), piece=20
)
DIALECTS: dict[str, tuple[Endpoint, Callable[[], ResponseParser], bytes]] = {
    "openai": (OPENAI, lambda: ChatStream(OPENAI), b"".join(openai_wire.events(RESPONSE))),
    "anthropic": (ANTHROPIC, lambda: MessagesStream(ANTHROPIC), b"".join(anthropic_wire.events(RESPONSE))),
}


class Body:
    """A response body that ends after some chunks, as if the connection was closed."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    async def aclose(self) -> None:
        pass


async def reply_to(dialect: str, *chunks: bytes, into: CollectedResponse, longest_event: int = 10**9) -> None:
    endpoint, make_parser, _ = DIALECTS[dialect]
    parts = response_parts(Body(*chunks), make_parser(), endpoint, max_event_bytes=longest_event)  # type: ignore[arg-type]
    async for part in parts:
        into.parts.append(part)


async def failure_of(dialect: str, *chunks: bytes, into: CollectedResponse) -> ChatProviderError | None:
    try:
        await reply_to(dialect, *chunks, into=into)
    except ChatProviderError as error:
        return error
    return None


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_response_cut_at_any_byte_is_complete_or_a_retryable_error(dialect: str) -> None:
    whole = DIALECTS[dialect][2]
    expected = CollectedResponse()
    await reply_to(dialect, whole, into=expected)
    assert (expected.text, expected.calls) == ("grün 🚪 yes", [("ReadFile", '{"path": "a b"}')])
    finished = 0
    for length in range(len(whole)):
        reply = CollectedResponse()
        error = await failure_of(dialect, whole[:length], into=reply)
        if error is not None:
            assert isinstance(error, APIConnectionError | APIEmptyResponseError)
            assert error.retryable
            assert error.hint
            assert expected.text.startswith(reply.text)
        else:
            finished += 1
            assert (reply.text, reply.thought, reply.calls) == (
                expected.text,
                expected.thought,
                expected.calls,
            )
    assert finished < len(whole) / 2


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_response_that_arrives_byte_by_byte_is_the_same(dialect: str) -> None:
    whole = DIALECTS[dialect][2]
    one, other = CollectedResponse(), CollectedResponse()
    await reply_to(dialect, whole, into=one)
    await reply_to(dialect, *(whole[at : at + 1] for at in range(len(whole))), into=other)
    assert (one.message, one.usage) == (other.message, other.usage)


@pytest.mark.parametrize(
    "endless", [b"data: " + b"x" * 100, b"data: x\n" * 100, b": ping\n" * 100, b"{" + b" " * 100, b"<html>"]
)
async def test_endless_events_fail_before_they_fill_the_memory(endless: bytes) -> None:
    with pytest.raises(ChatProviderError, match="without completing an event") as caught:
        await reply_to("openai", *[endless] * 1000, into=CollectedResponse(), longest_event=5_000)
    assert caught.value.hint
    assert not caught.value.retryable


async def test_a_long_response_in_many_events_does_not_fail() -> None:
    reply = CollectedResponse()
    start, *rest = openai_wire.events(ScriptedResponse(text="word " * 500, piece=5))
    await reply_to("openai", start, *rest, into=reply, longest_event=1_000)
    assert reply.text == "word " * 500


def test_every_status_has_a_message_and_a_hint() -> None:
    for status in range(300, 600):
        error = status_error(OPENAI, status, parse_server_message("<html>no</html>"), {})
        assert error.status_code == status
        assert error.what.strip()
        assert error.hint.strip()
        assert "\n" not in str(error)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@asynccontextmanager
async def hanging_server(start: bytes, *, more: bytes = b"") -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Yield the URL of a server that sends `start` to each request and then `more` repeatedly.

    Also yield an event that is set after the first request.
    """
    requested, over = asyncio.Event(), asyncio.Event()
    connections: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(asyncio.ensure_future(serve(reader, writer)))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(start)
        await writer.drain()
        requested.set()
        while more and not over.is_set():
            writer.write(more)
            await asyncio.sleep(0.001)
        await over.wait()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", requested
    finally:
        over.set()
        await asyncio.wait(connections)
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nx-a: ", b"b"),
        (HEAD, b":"),
        (HEAD + b"data: {", b"x"),
        (HEAD, b": ping\n\n"),
    ],
    ids=["silent", "trickling headers", "trickling body", "endless line", "pings alone"],
)
async def test_cancellation_takes_effect_immediately_while_the_server_hangs(
    kind: ProviderKind, start: bytes, more: bytes
) -> None:
    async with hanging_server(start, more=more) as (url, requested):
        provider = provider_for(kind, url, idle_timeout_s=1000.0)
        task = asyncio.ensure_future(ask(provider))
        await requested.wait()
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=TEST_TIMEOUT_S)
        assert done
        assert task.cancelled()
        await provider.aclose()


async def test_a_server_that_never_accepts_the_connection_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as unread_socket:
        url = f"http://127.0.0.1:{unread_socket.getsockname()[1]}/v1"
        provider = provider_for("openai", url, idle_timeout_s=0.2)
        with pytest.raises(ChatProviderError) as caught:
            await ask(provider)
        assert caught.value.retryable
        assert "idle_timeout_s" in caught.value.hint
        await provider.aclose()


async def test_a_response_after_keep_alive_comments_arrives() -> None:
    events = [b": wait\n\n"] * 50 + openai_wire.events(ScriptedResponse(text="at last"))
    reply = CollectedResponse()
    await reply_to("openai", *events, into=reply)
    assert reply.message.content == (TextPart("at last"),)
