"""Connection test: one small request to a model, with a readable error if it fails."""

import asyncio

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIStatusError, ChatProviderError, KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.llm.factory import create_provider
from kimi_tui.llm.provider import ProviderSettings

TIMEOUT_S = 60.0
_AUTH_STATUSES = (401, 403)
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


def _to_error(error: ChatProviderError | TimeoutError) -> KimiTuiError:
    if isinstance(error, APIStatusError):
        if error.status_code in _AUTH_STATUSES:
            return ApiKeyRejected(
                msg("The server rejected the API key (HTTP {status}).", status=error.status_code),
                hint="Copy the key again, and check that it belongs to this provider and base URL.",
            )
        if error.status_code == _NOT_FOUND_STATUS:
            return UnknownModel(error.what, hint="Check the model name and the base URL.")
    if isinstance(error, ChatProviderError):
        return KimiTuiError(error.what, hint=error.hint)
    return KimiTuiError("The server timed out.", hint="Check the base URL and try again.")
