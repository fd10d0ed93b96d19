"""Servers at an address: streamable HTTP and SSE, tokens, sign-ins, and addresses where nobody is."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from kimi_tui.tools.mcp.answer import words_of
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server_config import RemoteServer
from kimi_tui.tools.mcp.signing_in import sign_in
from kimi_tui.tools.mcp.token_file import TokenFile, token_path
from tests.mcp.odd import one_connected
from tests.mcp.remote_servers import free_socket, greeting_server
from tests.tools.calls import running_call

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


async def greeted(server) -> str:
    return words_of(
        (await server.call("greet", {"name": "Ada"}, running_call(), on_progress=lambda *_: None)).pieces
    )


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_tool_is_called_over(tmp_path, transport):
    async with (
        greeting_server(transport) as url,
        one_connected(RemoteServer(name="r", url=url, transport=transport), tmp_path) as server,
    ):
        assert server.offer.title.startswith("greeter")
        assert await greeted(server) == "Hello, Ada!"


async def test_a_token_in_a_header_opens_the_door_and_none_is_told_so(tmp_path):
    async with greeting_server("http", token="sesame") as url:
        open_door = RemoteServer(name="r", url=url, headers={"Authorization": "Bearer sesame"})
        async with one_connected(open_door, tmp_path) as server:
            assert await greeted(server) == "Hello, Ada!"
        async with one_connected(RemoteServer(name="r", url=url), tmp_path) as server:
            assert server.state == "unauthorized"
            assert "kimi-tui mcp auth r" in str(server.problem)


async def test_nobody_at_the_address_is_told(tmp_path):
    sock, address = free_socket()
    sock.close()
    async with one_connected(RemoteServer(name="r", url=f"{address}/mcp"), tmp_path) as server:
        assert server.state == "failed"
        assert "It can't be reached" in str(server.problem)


async def test_an_address_without_a_server_behind_it_is_told(tmp_path):
    async with (
        greeting_server("http") as url,
        one_connected(RemoteServer(name="r", url=f"{url}/elsewhere"), tmp_path) as server,
    ):
        assert server.state == "failed"
        assert "404" in str(server.problem)


async def test_signing_in_keeps_tokens_for_the_user_alone_that_later_connections_use(tmp_path):
    visited: list[str] = []

    async def browser(url: str) -> None:
        visited.append(url)

        async def visit() -> None:
            async with httpx2.AsyncClient(follow_redirects=True) as client:
                page = await client.get(url)
                assert "signed in" in page.text

        visiting.append(asyncio.ensure_future(visit()))

    visiting: list[asyncio.Future[None]] = []
    async with greeting_server("http", oauth=True) as url:
        remote = RemoteServer(name="r", url=url, oauth=True)
        async with one_connected(remote, tmp_path) as server:
            assert server.state == "unauthorized"
            assert not visited, "nobody is sent to a browser unasked"
        await sign_in(remote, share_dir=tmp_path, show=browser)
        await asyncio.gather(*visiting)
        assert len(visited) == 1
        path = token_path(tmp_path, url)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.is_relative_to(tmp_path / "credentials")
        async with one_connected(RemoteServer(name="r", url=url), tmp_path) as server:
            assert await greeted(server) == "Hello, Ada!"
        spoil(path)
        async with one_connected(remote, tmp_path) as server:
            assert server.state == "unauthorized"
        assert TokenFile(path).forget()
        assert not TokenFile(path).has_tokens


async def test_a_sign_in_that_the_user_refuses_is_told(tmp_path):
    async def browser(url: str) -> None:
        back = httpx2.URL(url).params["redirect_uri"]
        visiting.append(
            asyncio.ensure_future(_get(f"{back}?error=access_denied&error_description=Not+today"))
        )

    visiting: list[asyncio.Future[None]] = []
    async with greeting_server("http", oauth=True) as url:
        with pytest.raises(McpProblem, match="Not today"):
            await sign_in(RemoteServer(name="r", url=url, oauth=True), share_dir=tmp_path, show=browser)
        await asyncio.gather(*visiting)


async def _get(url: str) -> None:
    async with httpx2.AsyncClient() as client:
        await client.get(url)


def spoil(path: Path) -> None:
    """Make the tokens such as the server doesn't know."""
    entries = json.loads(path.read_text())
    for entry in entries.values():
        for key in ("access_token", "refresh_token"):
            if key in entry["value"]:
                entry["value"][key] = "stale"
    path.write_text(json.dumps(entries))
