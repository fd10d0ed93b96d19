"""What fastmcp, the protocol or HTTP say went wrong, in our words."""

from collections.abc import Sequence

import httpx2
import mcp_types
from mcp import MCPError
from pydantic import ValidationError

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.remote import Exchange

_UNAUTHORIZED = (401, 403)
_LASTING = (400, 404, 405, 406, 410, 415, 421, 426, 501, 505)


def problem_of(error: Exception, *, name: str, exchange: Exchange, is_refused: bool) -> McpProblem:
    """What happened with the server `name`: the cause that fastmcp wraps tells more than the wrapping.

    `is_refused` says that its sign-in was not good enough.
    """
    status = exchange.failed_status
    if is_refused:
        return _unauthorized(name)
    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, McpProblem):
            return cause
        if isinstance(cause, httpx2.HTTPStatusError):
            status = cause.response.status_code
    if status in _UNAUTHORIZED:
        return _unauthorized(name)
    if status:
        return McpProblem(
            f"The server answered with HTTP status {status}.",
            hint="Check its url and headers.",
            persistence="lasting" if status in _LASTING else "passing",
        )
    return _problem_in_words(causes, exchange.failure)


def _causes(error: BaseException | None) -> list[BaseException]:
    """`error`, what it was raised from, and what groups among them hold."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        each = waiting.pop(0)
        if each is None or each in found:
            continue
        found.append(each)
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
        waiting += [each.__cause__, each.__context__]
    return found


def _problem_in_words(causes: Sequence[BaseException], failure: str) -> McpProblem:
    for cause in causes:
        match cause:
            case ValidationError():
                first = cause.errors(include_url=False)[0]
                where = ".".join(str(part) for part in first["loc"][-4:])
                return McpProblem(
                    f"It answered with what the protocol doesn't allow: {where}: {plain_line(first['msg'])}.",
                    hint="Tell whoever makes the server.",
                    persistence="lasting",
                )
            case MCPError(code=code) if code == mcp_types.CONNECTION_CLOSED:
                return McpProblem(
                    "The connection broke.", hint="It is made again; then try once more.", breaks=True
                )
            case MCPError(code=mcp_types.INVALID_REQUEST) if "Session terminated" in cause.error.message:
                return McpProblem(
                    "It has forgotten the session.", hint="A new one begins; then try once more.", breaks=True
                )
            case MCPError():
                return McpProblem(f"It says: {plain_line(cause.error.message)[:500]}")
            case httpx2.RequestError():
                failure = failure or plain_line(str(cause)) or type(cause).__name__
            case _:
                pass
    if failure:
        return McpProblem(
            f"It can't be reached: {failure}.", hint="Check its url, and the network.", breaks=True
        )
    last = causes[0]
    return McpProblem(
        f"{plain_line(str(last))[:500] or type(last).__name__}", hint="The log has the details."
    )


def _unauthorized(name: str) -> McpProblem:
    return McpProblem(
        "It wants to know who you are.",
        hint=f"Sign in with `kimi-tui mcp auth {name}` or /mcp auth {name}, or give it a header.",
        persistence="unauthorized",
    )
