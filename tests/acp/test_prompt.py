"""Tests of the conversion of prompts."""

import base64

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from kimi_tui.acp.prompt import to_user_input
from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart


def text(content: str) -> TextContentBlock:
    return TextContentBlock(type="text", text=content)


def test_text_alone_is_a_string() -> None:
    assert to_user_input([text("fix "), text("it")]) == "fix it"


def test_an_image_keeps_its_position() -> None:
    image = ImageContentBlock(type="image", mime_type="image/png", data="QUJD")
    assert to_user_input([text("see "), image, text(" there")]) == (
        TextPart("see "),
        ImageURLPart(MediaURL("data:image/png;base64,QUJD")),
        TextPart(" there"),
    )


def test_a_file_link_becomes_its_path_and_other_links_become_markdown() -> None:
    file = ResourceContentBlock(type="resource_link", name="a b.py", uri="file:///src/a%20b.py#L3-9")
    page = ResourceContentBlock(type="resource_link", name="docs", uri="https://x.org/d")
    assert to_user_input([text("compare "), file, text(" and "), page]) == (
        "compare `/src/a b.py` (L3-9) and [docs](https://x.org/d)"
    )


def test_the_content_of_an_embedded_resource_follows_the_text() -> None:
    resource = EmbeddedResourceContentBlock(
        type="resource", resource=TextResourceContents(uri="file:///a.py", text="x = 1")
    )
    assert to_user_input([text("fix "), resource, text(" please")]) == (
        'fix `/a.py` please\n\n<context ref="/a.py">\nx = 1\n</context>'
    )


def test_embedded_bytes_become_an_image_or_are_omitted_with_a_note() -> None:
    data = base64.b64encode(b"abc").decode()
    image = BlobResourceContents(uri="file:///p.png", mime_type="image/png", blob=data)
    archive = BlobResourceContents(uri="file:///a.zip", mime_type="application/zip", blob=data)
    user_input = to_user_input(
        [EmbeddedResourceContentBlock(type="resource", resource=it) for it in (image, archive)]
    )
    assert isinstance(user_input, tuple)
    assert [type(part).__name__ for part in user_input] == ["TextPart", "ImageURLPart", "TextPart"]
    assert isinstance(user_input[2], TextPart)
    assert "3 bytes of application/zip" in user_input[2].text


def test_audio_is_omitted_with_a_note() -> None:
    audio = AudioContentBlock(type="audio", mime_type="audio/wav", data="QUJD")
    user_input = to_user_input([audio])
    assert isinstance(user_input, str)
    assert "audio" in user_input
