"""OAuth sign-in to a server: the user's browser is redirected to a local port with an authorization code."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from fastmcp.client.auth.oauth import OAuth
from mcp.shared.auth import AuthorizationCodeResult

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.sign_in_page import SignInPage
from kimi_tui.mcp.token_store import TokenStore

_SIGN_IN_TIMEOUT_S = 300.0
_MAX_REQUEST_BYTES = 16 * 1024
_SIGNED_IN_TEXT = "You are signed in. Close this window and return to kimi-tui."
_SIGN_IN_FAILED_TEXT = "Sign-in failed. Return to kimi-tui for details."


class NotAuthorized(Exception):
    """Raised if the server requires a sign-in during a connection that isn't interactive."""


class McpOAuth(OAuth):
    """Adds tokens to requests and refreshes the tokens. Asks the user to sign in only if `page` is given."""

    def __init__(
        self, url: str, tokens: TokenStore, *, scopes: Sequence[str] = (), page: SignInPage | None = None
    ) -> None:
        super().__init__(
            url,
            client_name="kimi-tui",
            scopes=list(scopes) or None,
            token_storage=tokens,
            callback_host="127.0.0.1",
        )
        self._page = page
        self._callback_server: tuple[asyncio.Server, asyncio.Future[dict[str, str]]] | None = None
        self.was_refused = False
        """Whether the server refused the stored tokens."""

    async def redirect_handler(self, authorization_url: str) -> None:
        """Show the sign-in page to the user. Raises NotAuthorized if the connection isn't interactive."""
        if self._page is None:
            self.was_refused = True
            raise NotAuthorized
        result: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

        async def handle_callback(reader: StreamReader, writer: StreamWriter) -> None:
            await _handle_callback(reader, writer, result)

        # Listen before the browser opens: the redirect may follow immediately.
        server = await asyncio.start_server(
            handle_callback, "127.0.0.1", self.redirect_port, limit=_MAX_REQUEST_BYTES
        )
        self._callback_server = (server, result)
        try:
            await self._page.show(authorization_url)
        except BaseException:
            server.close()
            raise

    async def callback_handler(self) -> AuthorizationCodeResult:
        """Wait for the browser's redirect and return its code. Raises McpServerError."""
        assert self._callback_server is not None
        server, result = self._callback_server
        try:
            async with asyncio.timeout(_SIGN_IN_TIMEOUT_S):
                query = await result
        except TimeoutError:
            raise McpServerError(
                f"The sign-in timed out after {_SIGN_IN_TIMEOUT_S / 60:g} minutes.", hint="Try again.",
                persistence="unauthorized",
            ) from None  # fmt: skip
        finally:
            server.close()
        if "code" not in query:
            reason = sanitize_line(
                query.get("error_description") or query.get("error") or "no authorization code received"
            )
            raise McpServerError(f"Sign-in failed: {reason}.", hint="Try again.", persistence="unauthorized")
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def _handle_callback(
    reader: StreamReader, writer: StreamWriter, result: "asyncio.Future[dict[str, str]]"
) -> None:
    try:
        request_line = (await reader.readline()).decode("latin-1").split()
        url = urlsplit(request_line[1] if len(request_line) > 1 else "")
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        is_callback = url.path == "/callback" and bool(query)
        result_text = _SIGNED_IN_TEXT if "code" in query else _SIGN_IN_FAILED_TEXT
        page = result_text if is_callback else "Not found."
        body = f"<!doctype html><meta charset=utf-8><title>kimi-tui</title><p>{page}".encode()
        status = "200 OK" if is_callback else "404 Not Found"
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        if is_callback and not result.done():
            result.set_result(query)
    except (OSError, ValueError):
        pass  # the client disconnected or sent an invalid request
    finally:
        writer.close()
