"""Errors of kimi-tui as ACP errors. The message has the full text, because clients show only the message."""

from acp import RequestError
from pydantic import ValidationError

from kimi_tui.base.errors import KimiTuiError, ModelNotSet

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002


def request_error(error: KimiTuiError) -> RequestError:
    """Return `error` as the error response to a request."""
    code = AUTH_REQUIRED if isinstance(error, ModelNotSet) else INTERNAL_ERROR
    return RequestError(code, str(error))


def invalid_request(message: str) -> RequestError:
    """Return an error for a request that can't be fulfilled."""
    return RequestError(INVALID_PARAMS, message)


def invalid_params(method: str, error: ValidationError) -> RequestError:
    """Return an error that lists the invalid parameters of `method`."""
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'params'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False, include_context=False)[:5]
    )
    return invalid_request(f"Invalid parameters for {method}: {problems}.")
