"""Media that a model supports or doesn't."""

import pytest

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, MediaURL, TextPart, VideoURLPart
from kimi_tui.base.errors import ModelNotSupported
from kimi_tui.base.message import Message, user_message
from kimi_tui.llm.provider import LLM
from kimi_tui.soul.modalities import drop_unsupported_media, require_supported_media
from tests.soul.fake_model import FakeModel

IMAGE = ImageURLPart(MediaURL("data:image/png;base64,AA=="))
VIDEO = VideoURLPart(MediaURL("data:video/mp4;base64,AA=="))


def llm(*capabilities: str) -> LLM:
    return LLM(
        chat_provider=FakeModel(),
        kind="scripted",
        name="m",
        max_context_size=1000,
        capabilities=frozenset(capabilities),
    )


@pytest.mark.parametrize(("part", "capability"), [(IMAGE, "image_in"), (VIDEO, "video_in")])
def test_an_unsupported_medium_is_an_error_with_a_hint(part: ContentPart, capability: str) -> None:
    request = user_message((TextPart("see"), part))
    with pytest.raises(ModelNotSupported) as raised:
        require_supported_media(request, llm())
    assert "m doesn't support" in raised.value.what
    assert capability in raised.value.hint
    require_supported_media(request, llm(capability))


def test_every_model_supports_text() -> None:
    require_supported_media(user_message("hi"), llm())


def test_a_model_that_supports_the_media_gets_the_unchanged_history() -> None:
    history = [user_message((TextPart("see"), IMAGE, VIDEO))]
    assert drop_unsupported_media(history, {"image_in", "video_in"}) == tuple(history)


def test_unsupported_media_are_replaced_with_notes_including_in_results() -> None:
    history = [
        user_message((TextPart("see"), IMAGE)),
        Message("assistant", (TextPart("a cat"),)),
        Message("tool", (IMAGE,), tool_call_id="c1"),
    ]
    filtered = drop_unsupported_media(history, {"video_in"})
    assert not any(isinstance(part, ImageURLPart) for message in filtered for part in message.content)
    assert filtered[0].text.startswith("see<system>")
    assert "images" in filtered[2].text
    assert filtered[2].tool_call_id == "c1"
    assert filtered[1] is history[1]
