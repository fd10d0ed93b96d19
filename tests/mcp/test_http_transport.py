"""Remote servers: streamable HTTP and SSE, tokens, sign-in, and unreachable addresses."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.result import text_content
from kimi_tui.mcp.server_config import RemoteServer
from kimi_tui.mcp.sign_in import sign_in_to_server
from kimi_tui.mcp.sign_in_page import SignInPage
from kimi_tui.mcp.token_store import TokenStore, token_path
from tests.mcp.odd_servers import ProgressList, connect_server
from tests.mcp.remote_servers import ForgottenSessions, free_socket, serve_greeter
from tests.tools.call_context import build_context

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


async def call_greet(server) -> str:
    return text_content(
        (await server.call_tool("greet", {"name": "Ada"}, build_context(), ProgressList())).content
    )


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_tool_is_called_over(tmp_path, transport):
    async with (
        serve_greeter(transport) as url,
        connect_server(RemoteServer(name="r", url=url, transport=transport), tmp_path) as server,
    ):
        assert server.features.title.startswith("greeter")
        assert await call_greet(server) == "Hello, Ada!"


async def test_a_token_in_a_header_is_accepted_and_a_missing_one_reported(tmp_path):
    async with serve_greeter("http", token="sesame") as url:
        config = RemoteServer(name="r", url=url, headers={"Authorization": "Bearer sesame"})
        async with connect_server(config, tmp_path) as server:
            assert await call_greet(server) == "Hello, Ada!"
        async with connect_server(RemoteServer(name="r", url=url), tmp_path) as server:
            assert server.state == "unauthorized"
            assert "kimi-tui mcp auth r" in str(server.error)


async def test_an_unreachable_address_is_reported(tmp_path):
    sock, address = free_socket()
    sock.close()
    async with connect_server(RemoteServer(name="r", url=f"{address}/mcp"), tmp_path) as server:
        assert server.state == "failed"
        assert "Can't reach the server" in str(server.error)


async def test_an_http_error_is_reported_with_its_status(tmp_path):
    async with (
        serve_greeter("http") as url,
        connect_server(RemoteServer(name="r", url=f"{url}/elsewhere"), tmp_path) as server,
    ):
        assert server.state == "failed"
        assert "404" in str(server.error)


SESSION_NOT_FOUND = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "No session"}}'


@pytest.mark.parametrize("error_body", [b"", SESSION_NOT_FOUND])
async def test_a_session_that_the_server_forgot_is_started_again_and_the_call_repeated(tmp_path, error_body):
    sessions = ForgottenSessions(error_body)
    async with (
        serve_greeter("http", sessions=sessions) as url,
        connect_server(RemoteServer(name="r", url=url), tmp_path) as server,
    ):
        for expected in (1, 2, 3):
            assert await call_greet(server) == "Hello, Ada!"
            assert sessions.count == expected
            assert server.error is None
            sessions.forget()


async def test_calls_that_find_the_session_expired_together_share_the_new_one(tmp_path):
    sessions = ForgottenSessions(SESSION_NOT_FOUND)
    async with (
        serve_greeter("http", sessions=sessions) as url,
        connect_server(RemoteServer(name="r", url=url), tmp_path) as server,
    ):
        assert await call_greet(server) == "Hello, Ada!"
        sessions.forget()
        assert await asyncio.gather(*(call_greet(server) for _ in range(5))) == ["Hello, Ada!"] * 5
        assert sessions.count == 2


class VisitedPage(SignInPage):
    """A sign-in page that a user visits."""

    def __init__(self) -> None:
        self.visits: list[asyncio.Future[None]] = []

    async def show(self, url: str) -> None:
        self.announce(url)

    def announce(self, url: str) -> None:
        self.visits.append(asyncio.ensure_future(self.visit(url)))

    async def visit(self, url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            page = await client.get(url)
            assert "signed in" in page.text


class RefusedPage(VisitedPage):
    """A sign-in page on which the user refuses."""

    async def visit(self, url: str) -> None:
        redirect_uri = httpx2.URL(url).params["redirect_uri"]
        async with httpx2.AsyncClient() as client:
            await client.get(f"{redirect_uri}?error=access_denied&error_description=Not+today")


async def test_sign_in_stores_private_tokens_that_later_connections_use(tmp_path):
    page = VisitedPage()
    async with serve_greeter("http", oauth=True) as url:
        remote = RemoteServer(name="r", url=url, oauth=True)
        async with connect_server(remote, tmp_path) as server:
            assert server.state == "unauthorized"
            assert not page.visits, "the browser isn't opened without a request"
        await sign_in_to_server(remote, data_dir=tmp_path, page=page)
        await asyncio.gather(*page.visits)
        assert len(page.visits) == 1
        path = token_path(tmp_path, url)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.is_relative_to(tmp_path / "credentials")
        async with connect_server(RemoteServer(name="r", url=url), tmp_path) as server:
            assert await call_greet(server) == "Hello, Ada!"
        invalidate_tokens(path)
        async with connect_server(remote, tmp_path) as server:
            assert server.state == "unauthorized"
        assert TokenStore(path).clear()
        assert not TokenStore(path).has_tokens


async def test_the_reason_of_a_refused_sign_in_is_reported(tmp_path):
    page = RefusedPage()
    async with serve_greeter("http", oauth=True) as url:
        with pytest.raises(McpServerError, match="Not today"):
            await sign_in_to_server(RemoteServer(name="r", url=url, oauth=True), data_dir=tmp_path, page=page)
        await asyncio.gather(*page.visits)


def invalidate_tokens(path: Path) -> None:
    """Replace the tokens with ones the server doesn't know."""
    entries = json.loads(path.read_text())
    for entry in entries.values():
        for key in ("access_token", "refresh_token"):
            if key in entry["value"]:
                entry["value"][key] = "stale"
    path.write_text(json.dumps(entries))
