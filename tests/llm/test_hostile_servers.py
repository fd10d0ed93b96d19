"""Servers that break off anywhere, never end a line, or hold the line and say nothing."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import APIConnectionError, APIEmptyResponseError, ChatProviderError
from kimi_tui.llm.answer_stream import AnswerParser, answer_parts
from kimi_tui.llm.chat_stream import ChatStream
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.messages_stream import MessagesStream
from kimi_tui.llm.provider import ProviderKind
from kimi_tui.llm.statuses import server_words, status_failure
from tests.llm import anthropic_wire, openai_wire
from tests.llm.answers import Answer, Call
from tests.llm.conversations import Reply, ask, provider_for
from tests.patience import PATIENCE_S

OPENAI = Endpoint(kind="openai", base_url="http://127.0.0.1/v1", model="m")
ANTHROPIC = Endpoint(kind="anthropic", base_url="http://127.0.0.1", model="m")
ANSWER = Answer(text="grün 🚪 yes", thinking="hm", tool_calls=(Call("ReadFile", {"path": "a b"}),), piece=20)
DIALECTS: dict[str, tuple[Endpoint, Callable[[], AnswerParser], bytes]] = {
    "openai": (OPENAI, lambda: ChatStream(OPENAI), b"".join(openai_wire.events(ANSWER))),
    "anthropic": (ANTHROPIC, lambda: MessagesStream(ANTHROPIC), b"".join(anthropic_wire.events(ANSWER))),
}


class Body:
    """A response's body that ends after some chunks, as if the connection had been closed."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    async def aclose(self) -> None:
        pass


async def reply_to(dialect: str, *chunks: bytes, into: Reply, longest_event: int = 10**9) -> None:
    endpoint, make_parser, _ = DIALECTS[dialect]
    parts = answer_parts(Body(*chunks), make_parser(), endpoint, longest_event=longest_event)  # type: ignore[arg-type]
    async for part in parts:
        into.parts.append(part)


async def failure_of(dialect: str, *chunks: bytes, into: Reply) -> ChatProviderError | None:
    try:
        await reply_to(dialect, *chunks, into=into)
    except ChatProviderError as error:
        return error
    return None


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_cut_at_any_byte_is_whole_or_an_error_that_may_pass(dialect: str) -> None:
    whole = DIALECTS[dialect][2]
    wanted = Reply()
    await reply_to(dialect, whole, into=wanted)
    assert (wanted.text, wanted.calls) == ("grün 🚪 yes", [("ReadFile", '{"path": "a b"}')])
    finished = 0
    for length in range(len(whole)):
        reply = Reply()
        error = await failure_of(dialect, whole[:length], into=reply)
        if error is not None:
            assert isinstance(error, APIConnectionError | APIEmptyResponseError)
            assert error.retryable
            assert error.hint
            assert wanted.text.startswith(reply.text)
        else:
            finished += 1
            assert (reply.text, reply.thought, reply.calls) == (wanted.text, wanted.thought, wanted.calls)
    assert finished < len(whole) / 2


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_that_comes_byte_by_byte_is_the_same(dialect: str) -> None:
    whole = DIALECTS[dialect][2]
    one, other = Reply(), Reply()
    await reply_to(dialect, whole, into=one)
    await reply_to(dialect, *(whole[at : at + 1] for at in range(len(whole))), into=other)
    assert (one.message, one.usage) == (other.message, other.usage)


@pytest.mark.parametrize(
    "endless", [b"data: " + b"x" * 100, b"data: x\n" * 100, b": ping\n" * 100, b"{" + b" " * 100, b"<html>"]
)
async def test_bytes_without_end_are_given_up_before_they_fill_the_memory(endless: bytes) -> None:
    with pytest.raises(ChatProviderError, match="without an end") as caught:
        await reply_to("openai", *[endless] * 1000, into=Reply(), longest_event=5_000)
    assert caught.value.hint
    assert not caught.value.retryable


async def test_a_long_answer_in_many_events_is_not_without_end() -> None:
    reply = Reply()
    start, *rest = openai_wire.events(Answer(text="word " * 500, piece=5))
    await reply_to("openai", start, *rest, into=reply, longest_event=1_000)
    assert reply.text == "word " * 500


def test_every_status_is_told_in_a_sentence_with_what_to_do() -> None:
    for status in range(300, 600):
        error = status_failure(OPENAI, status, server_words("<html>no</html>"), {})
        assert error.status_code == status
        assert error.what.strip()
        assert error.hint.strip()
        assert "\n" not in str(error)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@asynccontextmanager
async def holding(said: bytes, *, more: bytes = b"") -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A server that says `said` to each request, then `more` again and again; and whether one came."""
    asked, over = asyncio.Event(), asyncio.Event()
    conversations: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversations.append(asyncio.ensure_future(serve(reader, writer)))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        asked.set()
        while more and not over.is_set():
            writer.write(more)
            await asyncio.sleep(0.001)
        await over.wait()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked
    finally:
        over.set()
        await asyncio.wait(conversations)
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("said", "more"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nx-a: ", b"b"),
        (HEAD, b":"),
        (HEAD + b"data: {", b"x"),
        (HEAD, b": ping\n\n"),
    ],
    ids=["silent", "trickling headers", "trickling body", "endless line", "pings alone"],
)
async def test_an_interruption_ends_at_once_whatever_the_server_holds_back(
    kind: ProviderKind, said: bytes, more: bytes
) -> None:
    async with holding(said, more=more) as (url, asked):
        provider = provider_for(kind, url, idle_timeout_s=1000.0)
        task = asyncio.ensure_future(ask(provider))
        await asked.wait()
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=PATIENCE_S)
        assert done
        assert task.cancelled()
        await provider.aclose()


async def test_a_server_that_never_takes_the_connection_is_given_up_and_can_be_interrupted() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as closed_ear:
        url = f"http://127.0.0.1:{closed_ear.getsockname()[1]}/v1"
        provider = provider_for("openai", url, idle_timeout_s=0.2)
        with pytest.raises(ChatProviderError) as caught:
            await ask(provider)
        assert caught.value.retryable
        assert "idle_timeout_s" in caught.value.hint
        await provider.aclose()


async def test_trickling_bytes_are_no_silence_and_an_answer_after_them_counts() -> None:
    events = [b": wait\n\n"] * 50 + openai_wire.events(Answer(text="at last"))
    reply = Reply()
    await reply_to("openai", *events, into=reply)
    assert reply.message.content == (TextPart("at last"),)
