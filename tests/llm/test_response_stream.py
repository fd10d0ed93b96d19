import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIConnectionError, APITimeoutError
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.openai.stream import ChatStream
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.response_stream import response_parts

ENDPOINT = Endpoint(kind="openai", base_url="http://127.0.0.1/v1", model="m")
TEXT = b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n'
FINISH = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\n\n'


async def wait_forever() -> None:
    await asyncio.Event().wait()


class BrokenResponse:
    """A response whose body fails, or never ends, after some chunks."""

    def __init__(self, *chunks: bytes, then: Callable[[], object]) -> None:
        self._chunks = chunks
        self._then = then
        self.is_closed = False

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        outcome = self._then()
        if isinstance(outcome, BaseException):
            raise outcome
        await wait_forever()

    async def aclose(self) -> None:
        self.is_closed = True


async def parts_of(response: BrokenResponse) -> list[object]:
    return [
        part
        async for part in response_parts(response, ChatStream(ENDPOINT), ENDPOINT, trailing_timeout_s=0.01)
    ]


async def test_the_response_ends_even_if_the_server_keeps_the_stream_open_after_its_finish_reason():
    response = BrokenResponse(TEXT, FINISH, then=lambda: None)
    assert await parts_of(response) == [TextPart("hi")]
    assert response.is_closed


async def test_usage_after_the_finish_reason_is_read():
    response = BrokenResponse(TEXT, FINISH, USAGE, then=lambda: None)
    assert await parts_of(response) == [TextPart("hi"), TokenUsage(1, 2)]


@pytest.mark.parametrize("name", ["ReadError", "RemoteProtocolError", "ReadTimeout"])
async def test_a_connection_failure_after_the_finish_reason_is_ignored(name: str):
    import httpx2

    response = BrokenResponse(TEXT, FINISH, then=lambda: getattr(httpx2, name)("gone"))
    assert await parts_of(response) == [TextPart("hi")]


@pytest.mark.parametrize(
    ("name", "kind"), [("ReadError", APIConnectionError), ("ReadTimeout", APITimeoutError)]
)
async def test_a_connection_failure_before_the_finish_reason_is_an_error(name: str, kind: type[Exception]):
    import httpx2

    response = BrokenResponse(TEXT, then=lambda: getattr(httpx2, name)("gone"))
    with pytest.raises(kind):
        await parts_of(response)
    assert response.is_closed


async def test_nothing_is_read_after_the_end_marker():
    response = BrokenResponse(TEXT, b"data: [DONE]\n\ndata: nonsense\n\n", then=lambda: None)
    assert await parts_of(response) == [TextPart("hi")]
