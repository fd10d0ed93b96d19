"""Our errors as the protocol's: the sentences stand in the message, since that is what clients show."""

from acp import RequestError
from pydantic import ValidationError

from kimi_tui.base.errors import KimiTuiError, ModelNotSet

INVALID_PARAMS = -32602
INTERNAL = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002


def request_error(error: KimiTuiError) -> RequestError:
    """`error` as the answer to a request."""
    code = AUTH_REQUIRED if isinstance(error, ModelNotSet) else INTERNAL
    return RequestError(code, str(error))


def invalid(message: str) -> RequestError:
    """That a request asks for what can't be."""
    return RequestError(INVALID_PARAMS, message)


def unfit(method: str, error: ValidationError) -> RequestError:
    """That the parameters of `method` don't fit, and which."""
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'params'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False, include_context=False)[:5]
    )
    return invalid(f"The parameters of {method} don't fit: {problems}.")
