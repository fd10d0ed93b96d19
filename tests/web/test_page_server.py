"""The page in a browser: who has the link gets in, and everybody else learns nothing."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from kimi_tui.web.page_server import COOKIE, PageServer
from kimi_tui.web.terminal_process import TerminalProcess
from kimi_tui.web.web_token_store import LIFETIME_S, WebToken, WebTokenStore

ECHO = """
import os, sys, tty
tty.setraw(0)
os.write(1, b"size %d %d|" % os.get_terminal_size(0))
while data := os.read(0, 100):
    os.write(1, b"<" + data.replace(b"\\x1b", b"ESC") + b">")
"""


class EchoPrograms:
    """Programs that report the size of their terminal, then repeat what is typed."""

    def __init__(self) -> None:
        self.started: list[TerminalProcess] = []

    def build(self, token: WebToken) -> TerminalProcess:
        process = TerminalProcess((sys.executable, "-c", ECHO), env={}, cwd="/")
        self.started.append(process)
        return process


@dataclass
class Site:
    """A server with one token, and a client that is no browser."""

    url: str
    port: int
    token: WebToken
    secret: str
    store: WebTokenStore
    client: aiohttp.ClientSession
    programs: EchoPrograms

    @property
    def own_page(self) -> dict[str, str]:
        return {"Origin": f"http://127.0.0.1:{self.port}"}

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"{COOKIE}={self.secret}"}

    def address(self, name: str = "") -> str:
        return f"{self.url}/{self.token.id}/{name}"

    async def status(self, name: str = "", *, method: str = "GET", **options: Any) -> tuple[int, bytes]:
        async with self.client.request(method, self.address(name), **options) as response:
            return response.status, await response.read()


@asynccontextmanager
async def open_site(data_dir: Path, *, is_viewer: bool = False) -> AsyncIterator[Site]:
    store, programs = WebTokenStore(data_dir), EchoPrograms()
    token, secret = store.create(is_viewer=is_viewer, session="")
    async with (
        PageServer(tokens=store, programs=programs).listen(0) as port,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
    ):
        yield Site(f"http://127.0.0.1:{port}", port, token, secret, store, client, programs)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as site:
        yield site


async def read_until(page: aiohttp.ClientWebSocketResponse, end: str) -> str:
    text = ""
    async with asyncio.timeout(20):
        while end not in text:
            text += (await page.receive_bytes()).decode()
    return text


async def test_the_link_opens_the_app_at_the_size_of_the_page(site: Site) -> None:
    status, body = await site.status()
    assert status == 200
    assert b"pair.js" in body
    async with site.client.post(
        site.address("pair"), json={"token": site.secret}, headers=site.own_page
    ) as response:
        cookie = response.headers["Set-Cookie"]
        assert response.status == 204
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", f"Path=/{site.token.id}/"))
    page = await site.status(headers=site.cookie)
    assert b"viewport" in page[1]
    async with site.client.ws_connect(
        site.address("socket?width=54&height=40"), headers={**site.cookie, **site.own_page}
    ) as socket:
        assert await read_until(socket, "|") == "size 54 40|"
        await socket.send_json(["stdin", "hé"])
        assert await read_until(socket, ">") == "<hé>"
        await socket.send_json(["ping", "7"])
        assert await socket.receive_json() == ["pong", "7"]


async def test_everything_that_the_page_loads_is_on_this_server(site: Site) -> None:
    for name in ("", "page.js", "page.css", "textual.js", "xterm.css"):
        async with site.client.get(site.address(name), headers=site.cookie) as response:
            assert response.status == 200, name
            policy = response.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self';" in policy
            if name in ("", "page.js", "page.css"):
                assert b"://" not in (await response.read()).replace(b"ws://${location.host}", b"")


async def test_closing_the_page_ends_its_program(site: Site) -> None:
    async with site.client.ws_connect(
        site.address("socket"), headers={**site.cookie, **site.own_page}
    ) as socket:
        await read_until(socket, "|")
    async with asyncio.timeout(20):
        while site.programs.started[0].is_running:
            await asyncio.sleep(0.02)


async def test_a_viewer_scrolls_but_types_nothing(tmp_path: Path) -> None:
    async with (
        open_site(tmp_path, is_viewer=True) as site,
        site.client.ws_connect(site.address("socket"), headers={**site.cookie, **site.own_page}) as socket,
    ):
        await read_until(socket, "|")
        for text in ("rm", "\x03", "\r", "\x1b[Arm", "\x1b", "\x1b[<0;1;1M", "\x1b[200~rm\x1b[201~"):
            await socket.send_json(["stdin", text])
        await socket.send_json(["stdin", "\x1b[5~\x1b[<64;10;10M"])
        assert await read_until(socket, ">") == "<ESC[5~ESC[<64;10;10M>"


async def test_a_revoked_link_closes_its_page(site: Site) -> None:
    async with site.client.ws_connect(
        site.address("socket"), headers={**site.cookie, **site.own_page}
    ) as socket:
        await read_until(socket, "|")
        WebTokenStore(site.store.path.parent).revoke("all")
        async with asyncio.timeout(20):
            message = await socket.receive()
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


# probes: each learns nothing but that there is no such address

NOTHING = (404, b"")


@pytest.mark.parametrize(
    "path", ["/", "/favicon.ico", "/0000000000000000/", "/pair", "/../etc/passwd", "/%2e%2e/"]
)
async def test_an_address_without_the_id_of_a_token_does_not_exist(site: Site, path: str) -> None:
    async with site.client.get(site.url + path, headers=site.cookie) as response:
        assert (response.status, await response.read()) == NOTHING
        assert response.headers.get("Server", "") == ""


@pytest.mark.parametrize("name", ["page.js", "page.css", "textual.js", "xterm.css", "page.html", "socket"])
@pytest.mark.parametrize("cookie", ["", f"{COOKIE}=", f"{COOKIE}=wrong", "other=x"])
async def test_without_the_token_nothing_of_the_app_is_sent(site: Site, name: str, cookie: str) -> None:
    assert await site.status(name, headers={"Cookie": cookie, **site.own_page}) == NOTHING


async def test_without_the_token_the_page_does_not_name_the_app(site: Site) -> None:
    for name in ("", "pair.js"):
        _, body = await site.status(name)
        assert b"kimi" not in body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
async def test_a_foreign_host_that_resolves_to_this_machine_is_refused(site: Site, host: str) -> None:
    headers = {**site.cookie, "Host": host, "Origin": f"http://{host}"}
    for name in ("", "pair.js", "page.js", "socket"):
        assert await site.status(name, headers=headers) == NOTHING
    assert await site.status("pair", method="POST", json={"token": site.secret}, headers=headers) == NOTHING


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1:{port}"],
)
async def test_a_foreign_page_can_neither_pair_nor_connect(site: Site, origin: str) -> None:
    headers = {**site.cookie, "Origin": origin.format(port=site.port)}
    assert await site.status("pair", method="POST", json={"token": site.secret}, headers=headers) == NOTHING
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await site.client.ws_connect(site.address("socket"), headers=headers)
    assert refused.value.status == 404
    assert site.programs.started == []


@pytest.mark.parametrize("site_relation", ["cross-site", "same-site", "none"])
async def test_the_browsers_own_report_of_a_foreign_page_counts(site: Site, site_relation: str) -> None:
    headers = {**site.cookie, **site.own_page, "Sec-Fetch-Site": site_relation}
    assert await site.status("pair", method="POST", json={"token": site.secret}, headers=headers) == NOTHING
    assert await site.status("socket", headers=headers) == NOTHING


@pytest.mark.parametrize(
    "body",
    [b"", b"token=x", b"[]", b"{}", b'{"token":1}', b'{"token":"wrong"}', b"\xff", b'"' + b"x" * 9000],
)
async def test_an_invalid_pairing_is_refused(site: Site, body: bytes) -> None:
    headers = {**site.own_page, "Content-Type": "application/json"}
    assert await site.status("pair", method="POST", data=body, headers=headers) == NOTHING


async def test_a_form_of_a_foreign_page_cannot_pair(site: Site) -> None:
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {**site.own_page, "Content-Type": content_type}
        data = b'{"token":"' + site.secret.encode() + b'"}'
        assert await site.status("pair", method="POST", data=data, headers=headers) == NOTHING


async def test_the_secret_in_the_query_is_no_way_in(site: Site) -> None:
    assert b"pair.js" in (await site.status(f"?token={site.secret}"))[1]


async def test_revoked_and_expired_tokens_are_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    old = site.token
    other, _ = site.store.create(is_viewer=False, session="")
    site.store.revoke(old.id)
    assert await site.status(headers=site.cookie) == NOTHING
    monkeypatch.setattr("time.time", lambda: other.created + LIFETIME_S + 1)
    async with site.client.get(f"{site.url}/{other.id}/") as response:
        assert (response.status, await response.read()) == NOTHING


async def test_the_cookie_of_one_link_does_not_open_another(site: Site) -> None:
    other, _ = site.store.create(is_viewer=False, session="")
    async with site.client.get(f"{site.url}/{other.id}/page.js", headers=site.cookie) as response:
        assert (response.status, await response.read()) == NOTHING


async def test_the_server_listens_on_this_machine_only(site: Site) -> None:
    with pytest.raises(OSError, match=r"refused|Connect"):
        await asyncio.open_connection("127.0.0.2", site.port)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_other_methods_do_not_exist(site: Site, method: str) -> None:
    assert await site.status("pair", method=method, headers=site.cookie) == NOTHING
