"""Web server of the page: exchanges a token for a cookie, and connects the page to a program in a terminal.

Every address begins with the id of a token. A request without it gets an empty 404, whatever it asks for. The
id also keeps the cookie from other servers on this machine: browsers separate cookies by path, not by port.
"""

import asyncio
import contextlib
import importlib.util
import json
import logging
import socket
from pathlib import Path
from typing import Any, Protocol

from aiohttp import WSMsgType, web

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.web.request_guard import is_local_host, is_own_page
from kimi_tui.web.terminal_process import TerminalProcess
from kimi_tui.web.viewer_input import is_viewer_input
from kimi_tui.web.web_token_store import LIFETIME_S, WebToken, WebTokenStore

logger = logging.getLogger(__name__)

COOKIE = "kimi_tui"
_STATIC = Path(__file__).with_name("static")
_MAX_BODY_BYTES = 4096
_MAX_INPUT_BYTES = 4 << 20
_MAX_PAGES = 16
_HEARTBEAT_S = 20.0
_REVOCATION_S = 1.0
"""Seconds between two checks that the token of an open page hasn't been revoked."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""`unsafe-inline` for styles: the terminal of textual.js sets some. Scripts are ours only."""
_CONTENT_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


class PagePrograms(Protocol):
    """Provides the program that a page shows."""

    def build(self, token: WebToken) -> TerminalProcess:
        """Return the program for the holder of `token`. It isn't started yet."""
        ...


class PageServer:
    """Serves pages on loopback until it is stopped."""

    def __init__(self, *, tokens: WebTokenStore, programs: PagePrograms) -> None:
        self._tokens = tokens
        self._programs = programs
        self._textual_files = find_textual_files()
        self._open_pages = 0

    @contextlib.asynccontextmanager
    async def listen(self, port: int) -> Any:
        """Serve on `port` of 127.0.0.1, or on a free one for 0. Yields the port. Raises UsageError."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            listener.close()
            raise UsageError(
                msg("Can't listen on port {port}: {reason}.", port=port, reason=error),
                hint="Choose another one with --port.",
            ) from error
        app = web.Application(client_max_size=_MAX_BODY_BYTES, middlewares=[_guard])
        app.router.add_get("/{id}/", self._send_page)
        app.router.add_post("/{id}/pair", self._pair)
        app.router.add_get("/{id}/socket", self._connect)
        app.router.add_get("/{id}/{name}", self._send_file)
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield listener.getsockname()[1]
        finally:
            await runner.cleanup()

    # requests

    def _find_token(self, request: web.Request) -> WebToken | None:
        """Return the token that the request's cookie proves."""
        return self._tokens.find(request.match_info["id"], request.cookies.get(COOKIE, ""))

    def _check_id(self, request: web.Request) -> None:
        if not self._tokens.has(request.match_info["id"]):
            raise web.HTTPNotFound

    async def _send_page(self, request: web.Request) -> web.StreamResponse:
        self._check_id(request)
        return _file_response(_STATIC / ("page.html" if self._find_token(request) else "pair.html"))

    async def _send_file(self, request: web.Request) -> web.StreamResponse:
        self._check_id(request)
        name = request.match_info["name"]
        if name == "pair.js":
            return _file_response(_STATIC / name)
        if self._find_token(request) is None:
            raise web.HTTPNotFound
        match name:
            case "page.js" | "page.css":
                return _file_response(_STATIC / name)
            case "textual.js":
                return _file_response(self._textual_files / "js" / name)
            case "xterm.css":
                return _file_response(self._textual_files / "css" / name)
            case _:
                raise web.HTTPNotFound

    async def _pair(self, request: web.Request) -> web.StreamResponse:
        self._check_id(request)
        if not is_own_page(request.headers) or request.content_type != "application/json":
            raise web.HTTPNotFound
        try:
            secret = (await request.json())["token"]
        except (ValueError, KeyError, TypeError):
            raise web.HTTPNotFound from None
        token_id = request.match_info["id"]
        if not isinstance(secret, str) or self._tokens.find(token_id, secret) is None:
            raise web.HTTPNotFound
        response = web.Response(status=204)
        response.set_cookie(
            COOKIE, secret, path=f"/{token_id}/", httponly=True, samesite="Strict", max_age=int(LIFETIME_S)
        )
        return response

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        token = self._find_token(request)
        if token is None or not is_own_page(request.headers) or self._open_pages >= _MAX_PAGES:
            raise web.HTTPNotFound
        page = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=_MAX_INPUT_BYTES)
        if not page.can_prepare(request):
            raise web.HTTPNotFound
        await page.prepare(request)
        program = self._programs.build(token)
        self._open_pages += 1
        try:
            await program.start(_size(request, "width", 80), _size(request, "height", 24))
            async with asyncio.TaskGroup() as group:
                output = group.create_task(self._send_output(page, program))
                revocation = group.create_task(self._close_when_revoked(page, token))
                await self._handle_input(page, program, token)
                output.cancel()
                revocation.cancel()
        finally:
            self._open_pages -= 1
            await program.close()
            await page.close()
        return page

    # an open page

    async def _send_output(self, page: web.WebSocketResponse, program: TerminalProcess) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await program.read():
                await page.send_bytes(data)
        await page.close()

    async def _close_when_revoked(self, page: web.WebSocketResponse, token: WebToken) -> None:
        """Close the page when its token is revoked or expires."""
        while True:  # only while a page is open
            if not self._tokens.has(token.id):
                await page.close()
                return
            await asyncio.sleep(_REVOCATION_S)

    async def _handle_input(
        self, page: web.WebSocketResponse, program: TerminalProcess, token: WebToken
    ) -> None:
        """Handle the messages of textual.js until the page is closed."""
        async for message in page:
            if message.type != WSMsgType.TEXT:
                continue
            match _parse_message(message.data):
                case ["stdin", str(text)]:
                    if not token.is_viewer or is_viewer_input(text):
                        await program.write(text.encode("utf-8", "replace"))
                case ["resize", {"width": int(columns), "height": int(lines)}]:
                    program.resize(columns, lines)
                case ["ping", str(text)]:
                    await page.send_json(["pong", text[:20]])
                case _:
                    continue


def find_textual_files() -> Path:
    """Return the directory of textual-serve's files for browsers. Raises KimiTuiError."""
    spec = importlib.util.find_spec("textual_serve")
    if spec is None or not spec.submodule_search_locations:
        raise KimiTuiError(
            "The files for browsers aren't installed.", hint='Run `pip install "kimi-tui[web]"`.'
        )
    return Path(spec.submodule_search_locations[0]) / "static"


@web.middleware
async def _guard(request: web.Request, handler: Any) -> web.StreamResponse:
    """Refuse requests for other hosts, hide errors, and add headers to every response."""
    try:
        if not is_local_host(request.headers):
            raise web.HTTPNotFound
        response: web.StreamResponse = await handler(request)
    except web.HTTPException as error:
        response = web.Response(status=404 if error.status < 500 else 500)
    except KimiTuiError as error:
        logger.warning("a request failed: %s", error)
        response = web.Response(status=500)
    if not response.prepared:
        response.headers.update(_HEADERS)
        response.headers["Server"] = ""
    return response


def _file_response(path: Path) -> web.Response:
    return web.Response(body=path.read_bytes(), content_type=_CONTENT_TYPES[path.suffix], charset="utf-8")


def _size(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else default


def _parse_message(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
