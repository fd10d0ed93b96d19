"""Mapping of fastmcp, protocol and HTTP errors to McpServerError."""

from collections.abc import Sequence

import httpx2
import mcp_types
from mcp import MCPError
from pydantic import ValidationError

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.http_transport import HttpExchange

_UNAUTHORIZED = (401, 403)
_PERMANENT = (400, 404, 405, 406, 410, 415, 421, 426, 501, 505)


def map_error(
    error: Exception, *, name: str, exchange: HttpExchange, is_auth_refused: bool
) -> McpServerError:
    """Return the error for the server `name`.

    Causes are preferred, because fastmcp wraps them in less specific exceptions. `is_auth_refused`: whether
    the server refused the user's tokens.
    """
    status = exchange.failed_status
    if is_auth_refused:
        return _unauthorized_error(name)
    causes = _collect_causes(error)
    for cause in causes:
        if isinstance(cause, McpServerError):
            return cause
        if isinstance(cause, MCPError) and cause.error.message in exchange.expiry_messages - {""}:
            return McpServerError(
                "The server ended the session.",
                hint="Try again when kimi-tui has reconnected.",
                closes_connection=True,
                is_session_expired=True,
            )
        if isinstance(cause, httpx2.HTTPStatusError):
            status = cause.response.status_code
    if status in _UNAUTHORIZED:
        return _unauthorized_error(name)
    if status:
        return McpServerError(
            f"The server returned HTTP status {status}.",
            hint="Check its URL and headers.",
            persistence="permanent" if status in _PERMANENT else "transient",
        )
    return _describe_causes(causes, exchange.failure)


def _collect_causes(error: BaseException | None) -> list[BaseException]:
    """Return `error`, its causes and contexts, and the members of exception groups among them."""
    causes: list[BaseException] = []
    queue = [error]
    while queue:
        each = queue.pop(0)
        if each is None or each in causes:
            continue
        causes.append(each)
        if isinstance(each, BaseExceptionGroup):
            queue += each.exceptions
        queue += [each.__cause__, each.__context__]
    return causes


def _describe_causes(causes: Sequence[BaseException], failure: str) -> McpServerError:
    for cause in causes:
        match cause:
            case ValidationError():
                first = cause.errors(include_url=False)[0]
                where = ".".join(str(part) for part in first["loc"][-4:])
                return McpServerError(
                    f"The server sent an invalid response: {where}: {sanitize_line(first['msg'])}.",
                    hint="Report it to the server's developers.",
                    persistence="permanent",
                )
            case MCPError(code=code) if code == mcp_types.CONNECTION_CLOSED:
                return McpServerError(
                    "The connection was lost.",
                    hint="Try again when kimi-tui has reconnected.",
                    closes_connection=True,
                )
            case MCPError():
                return McpServerError(f"The server reports: {sanitize_line(cause.error.message)[:500]}")
            case httpx2.RequestError():
                failure = failure or sanitize_line(str(cause)) or type(cause).__name__
            case _:
                pass
    if failure:
        return McpServerError(
            f"Can't reach the server: {failure}.",
            hint="Check its URL and your network connection.",
            closes_connection=True,
        )
    last = causes[0]
    return McpServerError(
        f"{sanitize_line(str(last))[:500] or type(last).__name__}", hint="See the log for details."
    )


def _unauthorized_error(name: str) -> McpServerError:
    return McpServerError(
        "The server requires authentication.",
        hint=f"Sign in with `kimi-tui mcp auth {name}` or /mcp auth {name}, or set a header.",
        persistence="unauthorized",
    )
