"""Signing in to a server with OAuth: the user's browser comes back to a port of this machine with a code."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

from fastmcp.client.auth.oauth import OAuth
from mcp.shared.auth import AuthorizationCodeResult

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.token_file import TokenFile

_WAITING_S = 300.0
_LONGEST_REQUEST = 16 * 1024
_DONE = "You are signed in. Close this window and go back to kimi-tui."
_NOT_DONE = "That did not work. kimi-tui says why."

Show = Callable[[str], Awaitable[None]]
"""Shows the user the address to sign in at, and opens it where that can be done."""


class NotAuthorized(Exception):
    """The server wants the user to sign in, and nobody is asked to just now."""


class SignIn(OAuth):
    """Adds tokens to requests, and gets new ones; only with `show` is the user asked to sign in."""

    def __init__(self, url: str, tokens: TokenFile, *, show: Show | None = None) -> None:
        super().__init__(url, client_name="kimi-tui", token_storage=tokens, callback_host="127.0.0.1")
        self._show = show
        self._arriving: tuple[asyncio.Server, asyncio.Future[dict[str, str]]] | None = None
        self.was_refused = False
        """Whether the tokens were no (longer) good enough."""

    async def redirect_handler(self, authorization_url: str) -> None:
        """Have the user sign in. Raises NotAuthorized when nobody is asked to."""
        if self._show is None:
            self.was_refused = True
            raise NotAuthorized
        arrived: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

        async def answer(reader: StreamReader, writer: StreamWriter) -> None:
            await _answer(reader, writer, arrived)

        # before the user is sent away: the browser may be back in no time
        door = await asyncio.start_server(answer, "127.0.0.1", self.redirect_port, limit=_LONGEST_REQUEST)
        self._arriving = (door, arrived)
        try:
            await self._show(authorization_url)
        except BaseException:
            door.close()
            raise

    async def callback_handler(self) -> AuthorizationCodeResult:
        """Wait for the browser. Raises McpProblem when it brings no code, or doesn't come in time."""
        assert self._arriving is not None
        door, arrived = self._arriving
        try:
            async with asyncio.timeout(_WAITING_S):
                told = await arrived
        except TimeoutError:
            raise McpProblem(
                f"Nobody signed in within {_WAITING_S / 60:g} minutes.", hint="Try again.",
                persistence="unauthorized",
            ) from None  # fmt: skip
        finally:
            door.close()
        if "code" not in told:
            why = plain_line(told.get("error_description") or told.get("error") or "no code came back")
            raise McpProblem(f"The sign-in failed: {why}.", hint="Try again.", persistence="unauthorized")
        return AuthorizationCodeResult(code=told["code"], state=told.get("state"), iss=told.get("iss"))


async def _answer(
    reader: StreamReader, writer: StreamWriter, arrived: "asyncio.Future[dict[str, str]]"
) -> None:
    try:
        line = (await reader.readline()).decode("latin-1").split()
        address = urlsplit(line[1] if len(line) > 1 else "")
        told = {key: values[0] for key, values in parse_qs(address.query).items()}
        is_it = address.path == "/callback" and bool(told)
        page = (_DONE if "code" in told else _NOT_DONE) if is_it else "There is nothing here."
        body = f"<!doctype html><meta charset=utf-8><title>kimi-tui</title><p>{page}".encode()
        head = (
            f"HTTP/1.1 {'200 OK' if is_it else '404 Not Found'}\r\nContent-Type: text/html; charset=utf-8\r\n"
        )
        writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        if is_it and not arrived.done():
            arrived.set_result(told)
    except (OSError, ValueError):
        pass  # whoever that was has gone
    finally:
        writer.close()
