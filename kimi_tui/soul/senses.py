"""What a model can take in besides text, and what becomes of media for one that can't."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kimi_tui.base.content import ContentPart, ImageURLPart, VideoURLPart, system_note
from kimi_tui.base.errors import ModelNotSupported
from kimi_tui.base.message import Message
from kimi_tui.llm.provider import LLM

_NEEDS: dict[type, tuple[str, str]] = {
    ImageURLPart: ("image_in", "images"),
    VideoURLPart: ("video_in", "films"),
}
"""Kinds of parts, each with the capability that it needs and what people call it."""


def require_understood(request: Message, llm: LLM) -> None:
    """Raises ModelNotSupported when `request` holds what the model of `llm` can't take in."""
    for part in request.content:
        capability, name = _NEEDS.get(type(part), ("", ""))
        if capability and capability not in llm.capabilities:
            raise ModelNotSupported(
                f"The model {llm.name} can't take {name}.",
                hint="Choose another model and send the message again, or send it as text. "
                f"If it can, add {capability} to its capabilities in the config.",
            )


def perceived(history: Sequence[Message], capabilities: Collection[str]) -> tuple[Message, ...]:
    """`history` as a model of these capabilities gets it: a note stands for each medium that it can't take.

    The conversation may have been held with another model before.
    """
    missing = tuple(kind for kind, (capability, _) in _NEEDS.items() if capability not in capabilities)
    concerned = {
        at for at, message in enumerate(history) for part in message.content if type(part) in missing
    }  # mostly nothing, which is to cost a long conversation little at each step
    if not concerned:
        return tuple(history)
    return tuple(
        replace(message, content=tuple(_or_note(part, missing) for part in message.content))
        if at in concerned
        else message
        for at, message in enumerate(history)
    )


def _or_note(part: ContentPart, missing: tuple[type, ...]) -> ContentPart:
    if not isinstance(part, missing):
        return part
    _, name = _NEEDS[type(part)]
    return system_note(f"What was here is left out, since you can't take {name}.")
