"""Trying a model: one small request, and in plain words why it failed."""

import asyncio

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import APIStatusError, ChatProviderError, KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.llm.creation import create_provider
from kimi_tui.llm.provider import ProviderSettings

PATIENCE_S = 60.0
_REFUSED = (401, 403)
_UNKNOWN = 404


class KeyRefused(KimiTuiError):
    """The server doesn't take the key."""


class ModelUnknown(KimiTuiError):
    """The server answers, and knows no such model."""


async def try_model(settings: ProviderSettings, *, patience_s: float = PATIENCE_S) -> None:
    """Have the model say a word. Raises KeyRefused, ModelUnknown, and KimiTuiError for all else."""
    provider = create_provider(settings)
    stream = provider.generate("Answer in one word.", [], [Message("user", (TextPart("Say ok."),))])
    try:
        async with asyncio.timeout(patience_s):
            await anext(stream, None)
    except (ChatProviderError, TimeoutError) as error:
        raise _failure(error) from error
    finally:
        await stream.aclose()
        await provider.aclose()


def _failure(error: ChatProviderError | TimeoutError) -> KimiTuiError:
    if isinstance(error, APIStatusError):
        if error.status_code in _REFUSED:
            return KeyRefused(
                f"The server refused the key (HTTP {error.status_code}).",
                hint="Copy it once more, and see that it is for this provider and this address.",
            )
        if error.status_code == _UNKNOWN:
            return ModelUnknown(error.what, hint="Check the model's name, and the address.")
    if isinstance(error, ChatProviderError):
        return KimiTuiError(error.what, hint=error.hint)
    return KimiTuiError("The server didn't answer in time.", hint="Check the address, and try again.")
