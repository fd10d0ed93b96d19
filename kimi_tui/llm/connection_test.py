"""Connection test: one small request to a model, with a readable error if it fails."""

import asyncio
import re

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIStatusError, ChatProviderError, KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.provider import ProviderSettings

TIMEOUT_S = 60.0
_AUTH_STATUSES = (401, 403)
_BAD_REQUEST_STATUS = 400
_INVALID_KEY = re.compile(r"api[ _]key.{0,20}(?:invalid|not valid)|invalid api[ _]key", re.IGNORECASE)
"""Error messages that Gemini and others send with status 400 for an invalid key."""
_NOT_FOUND_STATUS = 404


class ApiKeyRejected(KimiTuiError):
    """The server rejected the API key."""


class UnknownModel(KimiTuiError):
    """The server doesn't have the model."""


async def check_model(settings: ProviderSettings, *, timeout_s: float = TIMEOUT_S) -> None:
    """Send the model a minimal prompt and wait for its first output.

    Raises ApiKeyRejected, UnknownModel, and KimiTuiError for every other failure.
    """
    provider = create_provider(settings)
    stream = provider.generate("Answer in one word.", [], [Message("user", (TextPart("Say ok."),))])
    try:
        async with asyncio.timeout(timeout_s):
            await anext(stream, None)
    except (ChatProviderError, TimeoutError) as error:
        raise _to_error(error) from error
    finally:
        await stream.aclose()
        await provider.aclose()


def check_key_accepted(status: int, message: str) -> None:
    """Raise ApiKeyRejected if the server's HTTP `status` and `message` say that it rejected the key."""
    if status in _AUTH_STATUSES or (status == _BAD_REQUEST_STATUS and _INVALID_KEY.search(message)):
        raise ApiKeyRejected(
            msg("The server rejected the API key (HTTP {status}).", status=status),
            hint="Copy the key again, and check that it belongs to this provider and base URL.",
        )


def _to_error(error: ChatProviderError | TimeoutError) -> KimiTuiError:
    if isinstance(error, APIStatusError):
        try:
            check_key_accepted(error.status_code, str(error.what))
        except ApiKeyRejected as rejection:
            return rejection
        if error.status_code == _NOT_FOUND_STATUS:
            return UnknownModel(error.what, hint="Check the model name and the base URL.")
    if isinstance(error, ChatProviderError):
        return KimiTuiError(error.what, hint=error.hint)
    return KimiTuiError("The server timed out.", hint="Check the base URL and try again.")
