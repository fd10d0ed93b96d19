"""What a model can take in besides text."""

import pytest

from kimi_tui.base.content import ContentPart, ImageURLPart, MediaURL, TextPart, VideoURLPart
from kimi_tui.base.errors import ModelNotSupported
from kimi_tui.base.message import Message, user_message
from kimi_tui.llm.provider import LLM
from kimi_tui.soul.senses import perceived, require_understood
from tests.soul.model import Model

IMAGE = ImageURLPart(MediaURL("data:image/png;base64,AA=="))
FILM = VideoURLPart(MediaURL("data:video/mp4;base64,AA=="))


def llm(*capabilities: str) -> LLM:
    return LLM(
        chat_provider=Model(),
        kind="scripted",
        name="m",
        max_context_size=1000,
        capabilities=frozenset(capabilities),
    )


@pytest.mark.parametrize(("part", "capability"), [(IMAGE, "image_in"), (FILM, "video_in")])
def test_a_medium_that_the_model_can_not_take_is_an_error_that_names_the_way_out(
    part: ContentPart, capability: str
) -> None:
    request = user_message((TextPart("see"), part))
    with pytest.raises(ModelNotSupported) as refusal:
        require_understood(request, llm())
    assert "m can't take" in refusal.value.what
    assert capability in refusal.value.hint
    require_understood(request, llm(capability))


def test_text_is_understood_by_every_model() -> None:
    require_understood(user_message("hi"), llm())


def test_a_model_that_sees_gets_the_history_as_it_is() -> None:
    history = [user_message((TextPart("see"), IMAGE, FILM))]
    assert perceived(history, {"image_in", "video_in"}) == tuple(history)


def test_a_model_that_does_not_gets_a_note_where_a_medium_was_also_in_results() -> None:
    history = [
        user_message((TextPart("see"), IMAGE)),
        Message("assistant", (TextPart("a cat"),)),
        Message("tool", (IMAGE,), tool_call_id="c1"),
    ]
    seen = perceived(history, {"video_in"})
    assert not any(isinstance(part, ImageURLPart) for message in seen for part in message.content)
    assert seen[0].text.startswith("see<system>")
    assert "images" in seen[2].text
    assert seen[2].tool_call_id == "c1"
    assert seen[1] is history[1]
