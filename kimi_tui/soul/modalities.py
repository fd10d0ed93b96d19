"""Checks and replacements for media that a model doesn't support."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, VideoURLPart, system_note
from kimi_tui.base.errors import ModelNotSupported
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.llm.provider import LLM

_REQUIRED_CAPABILITY: dict[type, tuple[str, str]] = {
    ImageURLPart: ("image_in", msg("images")),
    VideoURLPart: ("video_in", msg("videos")),
}
"""Maps a type of part to the required capability and the display name of the medium."""


def require_supported_media(request: Message, llm: LLM) -> None:
    """Raise ModelNotSupported if `request` contains media that the model doesn't support."""
    for part in request.content:
        capability, name = _REQUIRED_CAPABILITY.get(type(part), ("", ""))
        if capability and capability not in llm.capabilities:
            raise ModelNotSupported(
                msg("The model {model} doesn't support {input}.", model=llm.name, input=name),
                hint=msg(
                    "Choose another model and send the message again, or send text only. If the model "
                    "supports {input}, add {capability} to its capabilities in the config.",
                    input=name,
                    capability=capability,
                ),
            )


def drop_unsupported_media(history: Sequence[Message], capabilities: Collection[str]) -> tuple[Message, ...]:
    """Return `history` with unsupported media replaced by notes.

    Such media can be in the conversation if the user has switched models.
    """
    missing = tuple(
        kind for kind, (capability, _) in _REQUIRED_CAPABILITY.items() if capability not in capabilities
    )
    affected = {at for at, message in enumerate(history) for part in message.content if type(part) in missing}
    if not affected:  # the usual case, which must be fast because this runs at each step
        return tuple(history)
    return tuple(
        replace(message, content=tuple(_replace_if_missing(part, missing) for part in message.content))
        if at in affected
        else message
        for at, message in enumerate(history)
    )


def _replace_if_missing(part: ContentPart, unsupported: tuple[type, ...]) -> ContentPart:
    if not isinstance(part, unsupported):
        return part
    _, name = _REQUIRED_CAPABILITY[type(part)]
    return system_note(f"An attachment was omitted here, because you don't support {name}.")
