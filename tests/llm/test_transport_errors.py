import asyncio
from typing import Self

import pytest

from kimi_tui.base.errors import APIConnectionError, APITimeoutError, ChatProviderError
from kimi_tui.llm.provider import ProviderKind
from tests.llm.conversations import ask, provider_for
from tests.llm.servers import (
    CERTIFICATE,
    AnthropicServer,
    Fault,
    OpenAIServer,
    ScriptedResponse,
    ScriptedServer,
)
from tests.ports import unused_port

KINDS: tuple[ProviderKind, ...] = ("openai", "anthropic")


class SilentServer:
    """Reads a request and sends nothing. Then closes the connection, or keeps it open."""

    def __init__(self, *, closes: bool = True) -> None:
        self._closes = closes
        self._over = asyncio.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if not self._closes:
            await self._over.wait()
        writer.close()


async def failure_at(base_url: str, kind: ProviderKind = "openai", **settings) -> ChatProviderError:
    provider = provider_for(kind, base_url, **settings)
    with pytest.raises(ChatProviderError) as caught:
        await ask(provider)
    await provider.aclose()
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
async def test_the_error_for_a_server_that_isn_t_running_names_it(kind: ProviderKind):
    with unused_port() as port:
        error = await failure_at(f"http://127.0.0.1:{port}/v1", kind)
    assert isinstance(error, APIConnectionError)
    assert f"127.0.0.1:{port}" in error.what
    assert "Start the server" in error.hint
    assert error.retryable


@pytest.mark.parametrize(("kind", "server"), [("openai", OpenAIServer), ("anthropic", AnthropicServer)])
async def test_the_error_is_marked_as_dropped_if_the_server_has_responded_before(
    kind: ProviderKind, server: type[ScriptedServer]
):
    async with server([ScriptedResponse(text="hello")]) as there:
        address = there.base_url
        provider = provider_for(kind, address)
        await ask(provider)
    with pytest.raises(APIConnectionError):
        await ask(provider)  # perhaps over the connection that broke
    with pytest.raises(APIConnectionError) as caught:
        await ask(provider)
    await provider.aclose()
    assert caught.value.dropped
    assert not (await failure_at(address, kind)).dropped, "one that never answered may not be there"


@pytest.mark.parametrize("kind", KINDS)
async def test_the_error_for_an_unknown_host_names_it(kind: ProviderKind):
    error = await failure_at("https://no-such-host.invalid/v1", kind)
    assert isinstance(error, APIConnectionError)
    assert "no-such-host.invalid" in error.what
    assert "base_url" in error.hint


@pytest.mark.parametrize("kind", KINDS)
async def test_the_hint_for_https_to_an_http_server_suggests_http(kind: ProviderKind):
    async with OpenAIServer([]) as server:
        error = await failure_at(f"https://127.0.0.1:{server.port}/v1", kind)
    assert isinstance(error, APIConnectionError)
    assert "http://" in error.hint


async def test_the_hint_for_an_untrusted_certificate_says_how_to_trust_it():
    async with OpenAIServer([], tls=True) as server:
        error = await failure_at(server.base_url)
    assert isinstance(error, APIConnectionError)
    assert "certificate" in error.what
    assert "SSL_CERT_FILE" in error.hint


@pytest.mark.parametrize(
    ("fault", "kind", "idle_timeout_s"),
    [(Fault.stall_after(2), APITimeoutError, 0.5), (Fault.cut_after(2), APIConnectionError, 100)],
    ids=["stall", "cut"],
)
async def test_the_error_for_a_broken_response_over_tls_does_not_mention_encryption(
    fault: Fault, kind: type[ChatProviderError], idle_timeout_s: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    async with OpenAIServer([fault], tls=True) as server:
        error = await failure_at(server.base_url, idle_timeout_s=idle_timeout_s)
    assert type(error) is kind
    assert "encrypted" not in error.what


@pytest.mark.parametrize("kind", KINDS)
async def test_the_hint_for_an_invalid_proxy_names_the_variables(
    kind: ProviderKind, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    error = await failure_at("http://127.0.0.1:1/v1", kind)
    assert "ALL_PROXY" in error.hint


async def test_a_closed_connection_without_a_response_is_retryable():
    async with SilentServer() as server:
        error = await failure_at(server.base_url)
    assert isinstance(error, APIConnectionError)
    assert error.retryable


async def test_no_first_byte_within_the_idle_timeout_is_a_timeout():
    async with SilentServer(closes=False) as server:
        error = await failure_at(server.base_url, idle_timeout_s=0.2)
    assert isinstance(error, APITimeoutError)


async def test_a_connection_error_and_its_causes_do_not_contain_the_key():
    with unused_port() as port:
        error = await failure_at(f"http://127.0.0.1:{port}/v1", api_key="sk-very-secret-key")
    seen: BaseException | None = error
    while seen is not None:
        assert "sk-very-secret-key" not in str(seen)
        seen = seen.__cause__ or seen.__context__


async def test_a_status_error_and_its_causes_do_not_contain_the_key():
    def echo(request):
        return Fault.status_is(400, {"message": f"bad {request.headers['authorization']}"})

    async with OpenAIServer([echo]) as server:
        error = await failure_at(server.base_url, api_key="sk-very-secret-key")
    assert "[key]" in error.what
    seen: BaseException | None = error
    while seen is not None:
        assert "sk-very-secret-key" not in str(seen)
        seen = seen.__cause__ or seen.__context__


async def test_the_connection_is_reused_after_an_error():
    async with OpenAIServer([Fault.status_is(429), ScriptedResponse(text="a")]) as server:
        provider = provider_for("openai", server.base_url)
        with pytest.raises(ChatProviderError):
            await ask(provider)
        await ask(provider)
        await provider.aclose()
        assert server.connections == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_the_error_for_a_broken_proxy_names_the_proxy(kind: ProviderKind, monkeypatch):
    with unused_port() as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:secret@127.0.0.1:{port}")
        error = await failure_at("https://models.example/v1", kind)
    assert isinstance(error, APIConnectionError)
    assert f"the proxy http://127.0.0.1:{port} for models.example: connection refused" in error.what
    assert "HTTPS_PROXY" in error.hint
    assert "secret" not in str(error)


@pytest.mark.parametrize(("kind", "server"), [("openai", OpenAIServer), ("anthropic", AnthropicServer)])
async def test_a_redirect_to_another_server_carries_no_key(kind: ProviderKind, server: type[ScriptedServer]):
    async with server([ScriptedResponse(text="hello")] * 2) as other:
        path = "/chat/completions" if kind == "openai" else "/v1/messages"
        async with RedirectingServer(other.base_url + path) as first:
            provider = provider_for(
                kind, first.base_url, api_key="sk-secret-1", headers={"X-Team": "secret-2"}
            )
            await ask(provider)
            await provider.aclose()
        (request,) = other.requests
    assert "secret" not in str(request.headers)
    assert b"sk-secret-1" in first.received


class RedirectingServer(SilentServer):
    """Answers each request with a redirect that keeps the method and the body."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self._target = target
        self.received = b""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received += await reader.readuntil(b"\r\n\r\n")
        writer.write(
            f"HTTP/1.1 307 Moved\r\nLocation: {self._target}\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()
